"""How far the optimum within a budget may be: by hand, and where rounding is all there is of the curvature."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.diagonal import DiagonalBudget, examine_diagonal
from cvxml.methods.mmc.budget_radius import radius
from cvxml.numbers.span import cosets

SIMILAR = np.array([[0, 1]])


@pytest.mark.parametrize("unit", [1.0, 8.0])
@pytest.mark.parametrize("diagonal", [False, True])
def test_on_a_line_it_is_that_of_the_second_derivative(diagonal: bool, unit: float) -> None:
    """-sqrt(4 M), M <= 1 in these units: the second derivative is -1/4 16 D^-3/2, D <= 4, at least 1/2."""
    X = np.array([[0.0], [1.0], [2.0]]) * unit
    E = X[[2]] - X[[0]]
    within = DiagonalBudget(X, SIMILAR) if diagonal else Budget(X, SIMILAR, np.zeros(3, np.intp), 1)
    for A in (0.5, 1.0, 3.0):
        looked = within.judge(np.array([[A]]) / unit**2)
        for gap in (1e-9, 1e-3, 0.4):
            away = max(0.0, A - 1) / unit**2  # what is judged is within the budget
            exact = math.sqrt(2 * gap / 0.5) / unit**2 + away
            found = radius(E, within, looked, gap)
            assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-6)


def test_curvature_that_is_rounding_is_none() -> None:
    pairs = np.array([[0, 1], [0, 2]])
    for k in range(24, 45):
        X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0 + 2.0**-k], [1.0, 1.0 + 3 * 2.0**-k]])
        budgets = (DiagonalBudget(X, pairs), Budget(X, pairs, cosets(X, pairs).labels, 2))
        E = X[[3, 4]] - X[0]
        for within in budgets:
            assert radius(E, within, within.judge(np.eye(2) / 4), 1e-6) == math.inf
    E = X[[1, 2]] - X[0]
    assert radius(E, budgets[0], budgets[0].judge(np.eye(2) / 4), 1e-6) < 1


def test_what_is_judged_is_as_far_away_as_is_said() -> None:
    A = np.array([[0.3, 1e-7], [3e-7, -1e-8]])
    judged, found = examine_diagonal(A, np.eye(2))
    apart = float(np.linalg.norm(A - judged.matrix))
    assert apart <= found.away <= 1.5 * apart
    assert found.asymmetry == pytest.approx(2e-7)
