"""The lesson weight, without a browser, against computations of its own."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cvxml
from tests.lessons.run import lesson, run


@pytest.mark.slow
@pytest.mark.parametrize(("took", "asked"), [(5.0, 1.0), (0.2, 5.0)])
def test_the_weight_is_named_and_the_line_touches_there(took: float, asked: float) -> None:
    shown = run("weight", took=took, asked=asked, stopped=1e-9)
    assert shown["report"].verdict == "refuted"
    said = re.search(r"C = (\S+) .*from (\S+) to (\S+) ", shown["report"].diagnosis[0])
    assert said is not None
    named, low, high = map(float, said.groups())
    assert low <= named <= high
    assert low <= took <= high
    assert named == pytest.approx(took, rel=0.02)
    span = lesson("weight").SPAN
    assert span[int(np.argmin(shown["left"]))] == took
    assert np.all(shown["line"] >= shown["bounds"] - 1e-9)
    X, y, M = shown["X"], shown["y"], shown["theirs"]
    for C in (0.5, 7.0):
        objective = cvxml.evaluate("frobmetric", X, y, M, C=C).objective
        assert shown["norm"] + C * shown["missed"] == pytest.approx(objective)


@pytest.mark.slow
def test_the_weight_that_was_asked_for_is_certified() -> None:
    assert run("weight", took=1.0, asked=1.0, stopped=1e-9)["report"].verdict == "certified"
