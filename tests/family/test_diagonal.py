"""A budget of diagonal metrics: its bound is never above that of fractions, whatever rounds or underflows."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.diagonal import DiagonalBudget, DiagonalLinear, examine_diagonal
from cvxml.family.rows.base import Weights
from cvxml.numbers.rational import plane
from tests.family.test_frobenius import exact_weights

SIMILAR, OTHER = np.array([[0, 1]]), np.array([[0, 2]])


def test_the_largest_share_is_no_less_than_that_of_fractions() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        X = np.array([[0.0], [rng.random() + 0.5], [rng.random() + 0.5]])
        budget, G = DiagonalBudget(X, SIMILAR), Weights(OTHER, rng.random(1) + 0.5)
        exact = budget.exact_bound(plane(X), exact_weights(G))
        found = budget.bound(G)
        assert exact - 2 * Fraction(found.error) <= Fraction(found.value) <= exact
        assert found.error <= 1e-13 * abs(found.value)


def test_many_pairs_round_as_often() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((2001, 1)) + 0.1
    pairs = np.array([(i, 2000) for i in range(2000)])
    budget, G = DiagonalBudget(X, pairs[:1000]), Weights(pairs[1000:], rng.random(1000))
    found, exact = budget.bound(G), budget.exact_bound(plane(X), exact_weights(G))
    assert Fraction(found.value) <= exact
    assert found.error >= 1000 * 2.0**-53 * abs(found.value)  # a sum of them may be off by that


@pytest.mark.parametrize("size", [1e-155, 1e-162, 1e-170, 1e-200])
def test_differences_whose_squares_underflow_are_paid_for(size: float) -> None:
    X = np.array([[0.0], [1.0], [size]])
    budget, G = DiagonalBudget(X, SIMILAR), Weights(OTHER, np.ones(1))
    assert Fraction(budget.bound(G).value) <= budget.exact_bound(plane(X), exact_weights(G)) < 0


def test_prices_that_only_pull_bound_by_0() -> None:
    X = np.array([[0.0], [1.0], [3.0]])
    budget, G = DiagonalBudget(X, SIMILAR), Weights(OTHER, -np.ones(1))
    assert budget.exact_bound(plane(X), exact_weights(G)) == 0
    assert -1e-13 <= budget.bound(G).value <= 0


@pytest.mark.parametrize(("wide", "A"), [(1e-3, [[1e6, 0.5], [0.5, 1.0]]), (1e6, [[1e-6, 0.5], [0.5, 1.0]])])
def test_what_is_off_the_diagonal_counts_in_every_unit(wide: float, A: list[list[float]]) -> None:
    """Next to nothing beside the largest entry, in the units given, or of the features."""
    similar = np.array([[wide, 0.0], [0.0, 1.0]])
    assert not examine_diagonal(np.array(A), similar)[1]._diagonal
    assert examine_diagonal(np.diag(np.diag(A)), similar)[1]._diagonal


def test_a_diagonal_metric_is_next_to_none_in_units_of_a_feature_that_is_wide() -> None:
    similar = np.diag([1.0, 1.0, 1e6])
    A = np.eye(3)
    A[0, 1] = A[1, 0] = 0.5
    assert not examine_diagonal(A, similar)[1]._diagonal


def test_the_longest_multiple_is_feasible_in_fractions() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        X = rng.random((3, 1)) * 10.0 ** rng.integers(-3, 4) + 10.0 ** rng.integers(0, 8)
        linear = DiagonalLinear(X, Weights(SIMILAR, rng.random(1) + 0.5), "points differ")
        w = rng.random(1) + 0.5
        t = linear.best_multiple(Weights(OTHER, w), ConjugateOnRay(lambda t: t, np.inf))
        if linear.undecided or t == 0:
            continue
        exact = DiagonalLinear(X, exact_weights(linear.C), "points differ")
        for share, feasible in ((1.0, True), (1 + 1e-9, False)):
            G = exact_weights(Weights(OTHER, w * t * share))
            assert (exact.exact_bound(plane(X), G) is not None) == feasible


def test_what_is_judged_exactly_has_no_negative_entry() -> None:
    X = np.array([[0.0, 0.0], [1.0, 1.0], [3.0, 2.0]])
    metric = DiagonalBudget(X, SIMILAR).exact_metric(np.array([[0.5, 0.1], [0.1, -1e-9]]), None)
    assert [int(x) < 0 for x in metric.V.entries()] == [False] * 4
    assert metric.distance >= np.sqrt(0.02)


def test_distances_in_a_diagonal_metric_are_off_by_their_digits() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        X = np.vstack([np.zeros(2), np.diag(rng.random(2) + 0.5), rng.random(2)])
        m = rng.random(2) / 8
        (D,), (error,) = (
            DiagonalBudget(X, np.array([[0, 1], [0, 2]])).judge(np.diag(m)).view.pairs(np.array([[0, 3]]))
        )
        exact = sum(Fraction(a) * Fraction(x) ** 2 for a, x in zip(m.tolist(), X[3].tolist(), strict=True))
        assert abs(Fraction(D) - exact) <= Fraction(error)
        assert error < 1e-14
