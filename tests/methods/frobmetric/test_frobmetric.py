"""FrobMetric: its misreadings, and a warm start."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.result import Status
from tests.instances import assert_named, real_data

ID = "frobmetric"


def triplets(y: Any, X: Any, k: int) -> list[tuple[int, int, int]]:
    """The k nearest of the class with the k nearest of the rest, point by point; the index decides a tie."""
    found = []
    for i in range(len(X)):
        near = sorted(range(len(X)), key=lambda j: (sum((X[i] - X[j]) ** 2), j))
        own = [j for j in near if y[j] == y[i] and j != i][:k]
        rest = [l for l in near if y[l] != y[i]][:k]
        found += [(i, j, l) for j in own for l in rest]
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize("misreading", ["sum", "no_half"])
def test_a_misreading_is_named(misreading: str) -> None:
    X, y = real_data("iris", 30)
    C = {"sum": 0.05 * len(triplets(y, X, 3)), "no_half": 0.05 / 2}[misreading]
    assert_named(ID, misreading, X, y, cvxml.solve(ID, X, y, C=C, tol=1e-9).metric, C=0.05)


def test_a_solution_of_a_larger_tolerance_saves_steps() -> None:
    X, y = real_data("wine", 60)
    first = cvxml.solve(ID, X, y, tol=1e-3)
    cold = cvxml.solve(ID, X, y, tol=1e-9)
    warm = cvxml.solve(ID, X, y, tol=1e-9, warm_start=first)
    assert warm.status.name == cold.status.name == "CONVERGED"
    assert warm.n_iter < cold.n_iter


def test_a_step_that_rounding_hides_ends_the_search() -> None:
    """The step is lost in rounding, but the images differ by their rounding: no step is short enough."""
    points = [[0, 0], [1, 0.5], [0.2, 1], [2, 3], [1.5, 0.3], [2.5, 1.1], [0.6, 0.4], [3, 2]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        solution = cvxml.solve("frobmetric", points, [0, 0, 0, 1, 1, 1, 0, 1], C=1e20, time_limit=30)
    assert solution.status is not Status.TIME_LIMIT
