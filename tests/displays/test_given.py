"""The labels that a display takes, in the forms in which users have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.displays._given import labels_of, metric_of
from tests.instances import random_data

BOOLS = np.array([True, False, True])


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (BOOLS[:, None], BOOLS.tolist()),
        ([["u"], ["v"], ["u"]], ["u", "v", "u"]),
        (list(BOOLS), BOOLS.tolist()),
        ([np.str_("u"), "v", "u"], ["u", "v", "u"]),
        (None, [0, 0, 0]),
    ],
)
def test_labels_come_as_a_column_or_as_a_list_of_numpy_values(y: Any, expected: list[Any]) -> None:
    assert labels_of(y, 3).tolist() == expected


@pytest.mark.parametrize("y", [np.ones((3, 2)), [1, "u", 2], [1.0, np.nan, 2.0], np.ones(4)])
def test_other_labels_are_refused(y: Any) -> None:
    with pytest.raises(ValueError, match=r"^y "):
        labels_of(y, 3)


def test_a_picture_that_can_draw_the_local_metrics_is_named_for_glml_only() -> None:
    for model, named in ((cvxml.GLML(alpha=0.1), True), (cvxml.PLML(2, 2, graph_neighbors=2), False)):
        with pytest.raises(ValueError, match=r"\bmetric_at\b") as caught:
            metric_of(model.fit(*random_data(0, n=20, d=2, classes=2)))
        assert ("LocalMetricDisplay" in str(caught.value)) is named
