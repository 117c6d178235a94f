"""Pairs as an input, of every method that takes them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.integer_matrices import whole
from cvxml.core.pairs import _by_differences, _by_laplacian, _check_each, _check_kind, paired
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


def test_pairs_are_checked_together_as_one_after_the_other() -> None:
    """The same arrays and the same messages, for pairs of every form and with every fault."""

    def outcome(check: Any, given: Any, n: int) -> Any:
        try:
            checked = check(given, "similar", n)
            return checked.dtype, checked.tolist()
        except ValueError as error:
            return str(error)

    rng, correct = np.random.default_rng(3), 0
    for trial in range(600):
        n, few = int(rng.integers(1, 7)), int(rng.integers(0, 4))
        array = rng.integers(-1 if trial % 3 == 0 else 0, n + (trial % 4 == 0), (few, 2))
        pairs = array.tolist()
        forms = (
            *(
                array,
                array.astype(np.int8),
                array.astype(np.uint8),
                array.astype(bool),
                array.astype(float),
                array.T,
                pairs,
            ),
            *(
                [tuple(pair) for pair in pairs],
                [[True, j] for _, j in pairs],
                [[np.int64(i), j] for i, j in pairs],
            ),
            *([*pairs, [10**30, 0]], [*pairs, [0]], [*pairs, 0], tuple(pairs), "01", None),
        )
        for given in forms:
            together = outcome(_check_kind, given, n)
            assert together == outcome(_check_each, given, n)
            correct += isinstance(together, tuple)
    assert correct > 300


def test_a_laplacian_is_not_made_for_few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would need memory for the square of the number of points."""
    monkeypatch.setattr("cvxml.core.pairs._by_laplacian", None)
    few = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    assert paired(np.eye(20), None, few).sum_of_squares("similar")[0][0, 0] > 0
    with pytest.raises(TypeError):
        paired(np.eye(2), None, {"similar": [[0, 1]], "dissimilar": []}).sum_of_squares("similar")


@pytest.mark.parametrize("seed", range(6))
def test_the_sum_over_pairs_is_exact_by_differences_and_by_the_laplacian(seed: int) -> None:
    """Against fractions, for a few pairs, many, and none; also for points of very different sizes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 3)) * 10.0 ** rng.integers(-9, 9, (9, 1))
    every = np.stack(np.triu_indices(9, 1), axis=1)
    points, at = whole(X)
    for count in (0, 1, 5, 36):
        listed = rng.permutation(every)[:count]
        listed = np.where(rng.random((count, 1)) < 0.5, listed, listed[:, ::-1])
        slow = np.zeros((3, 3), dtype=object)
        for i, j in listed:
            e = np.array([Fraction(a) - Fraction(b) for a, b in zip(X[i], X[j], strict=True)])
            slow = slow + np.outer(e, e)
        given = paired(X, None, {"similar": listed, "dissimilar": []})
        for found, unit in (
            (_by_differences(points, listed), 2 * at),
            (_by_laplacian(points, listed), 2 * at),
            given.sum_of_squares("similar"),
        ):
            assert [[int(a) * Fraction(2) ** unit for a in row] for row in found.tolist()] == slow.tolist()


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
