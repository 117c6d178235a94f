"""Pairs as an input, of every method that takes them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import cvxml
from tests.instances import methods_with, random_data

BAD: dict[str, tuple[Any, str]] = {
    "both": ({"similar": [[0, 1]], "dissimilar": [[1, 0]]}, "dissimilar"),
    "twice": ({"similar": [[0, 1], [1, 0]], "dissimilar": [[2, 3]]}, "twice"),
    "self": ({"similar": [[0, 0]], "dissimilar": [[2, 3]]}, "with itself"),
    "range": ({"similar": [[0, 99]], "dissimilar": [[2, 3]]}, "outside 0..13"),
    "float": ({"similar": [[0, 1.5]], "dissimilar": [[2, 3]]}, "integer indices"),
    "list": ([[0, 1]], "pairs must"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("method", methods_with("pairs"))
def test_what_is_no_list_of_pairs_is_refused(method: str, case: str) -> None:
    X, y = random_data(7, n=14, d=3, classes=2)
    pairs, says = BAD[case]
    for call in (cvxml.solve, cvxml.problem):
        with pytest.raises(ValueError, match=re.escape(says)):
            call(method, X, y, pairs=pairs)
    with pytest.raises(ValueError, match=re.escape(says)):
        cvxml.check(method, X, y, np.eye(3), pairs=pairs)


@pytest.mark.parametrize("method", methods_with("pairs"))
def test_pairs_by_labels_and_the_same_pairs_in_another_order_are_one(method: str) -> None:
    X, y = random_data(7, n=14, d=3)
    j, i = np.triu_indices(len(X), 1)
    index, same = np.stack([i, j], axis=1)[::-1], (y[:, None] == y)[i, j][::-1]
    pairs = {"similar": index[same].tolist(), "dissimilar": index[~same].tolist()}
    by_labels = cvxml.solve(method, X, y, tol=1e-10)
    given = cvxml.solve(method, X, None, pairs=pairs, tol=1e-10)
    assert given.objective == pytest.approx(by_labels.objective, rel=1e-9)
    assert given.params["pairs"] == pairs
    assert by_labels.params["pairs"] is None


def test_more_pairs_than_fit_in_memory_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cvxml.core.pairs.MAX_POINTS_LISTED", 5)
    monkeypatch.setattr("cvxml.core.pairs.MAX_POINTS_ALL_PAIRS", 10)
    X, y = random_data(7, n=14, d=3)
    for method in ("mmc", "dml_eig"):
        solution = cvxml.solve(method, X, y, tol=1e-4)
        with pytest.raises(ValueError, match=r"pairs.* 10 "):
            cvxml.evaluate(method, X, y, solution.metric)
        wrong = cvxml.check(method, X, y, 0.3 * solution.metric)
        assert wrong.verdict == "refuted"
