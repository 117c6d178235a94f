"""What a regularizer makes of numbers that may be off: the worst of them is what counts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cvxml.family.geometry.span_coordinates import Ground
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import Surplus, product
from cvxml.family.regularizers.budget import Budget, Within
from cvxml.family.regularizers.diagonal import DiagonalBudget
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import View, Weights
from cvxml.numbers.rounding import Distances, points

X = np.array([[0.0], [1.0], [3.0]])
PAIRS = np.array([[0, 1]])


def test_a_multiple_is_feasible_wherever_rounding_has_put_both_matrices() -> None:
    linear = Linear(X, Weights(PAIRS, np.ones(1)), "points differ")
    images = points(X, np.eye(1))
    linear.__dict__["ground"] = Ground(np.zeros(3, np.intp), 1, images, 0.5, "")
    linear._on_ground = lambda G: Surplus(np.array([[2.0]]), 0.5)  # type: ignore[method-assign]
    t = linear.best_multiple(Weights(PAIRS, np.ones(1)), ConjugateOnRay(lambda t: t, np.inf))
    assert 0.2 * (1 - 1e-12) <= t < 0.2


def test_what_may_not_be_psd_is_not_proved_to_be() -> None:
    assert Surplus(np.diag([1e-3, 1.0]), 1e-4).psd
    assert not Surplus(np.diag([1e-3, 1.0]), 1e-2).psd
    assert not Surplus(np.diag([1e-3, 1.0]), np.nan).psd
    assert not Surplus(np.diag([np.nan, 1.0]), 0.0).psd


@pytest.mark.parametrize("seed", range(8))
def test_a_product_is_off_by_its_roundings_and_by_what_distances_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2 * int(rng.integers(1, 20))
    D, w = rng.random(n), rng.standard_normal(n)
    w[1::2], D[1::2] = -w[::2], D[::2] * (1 + 1e-12)  # what is left of the terms is next to nothing
    error = rng.random(n) * 10.0 ** -rng.integers(3, 18) * (seed % 2)

    class Exact:
        def pairs(self, index: object) -> Distances:
            return Distances(D, error)

    view: View = Exact()  # type: ignore[assignment]
    value, moved = product(view, Weights(np.zeros((n, 2), np.intp), w))
    for sign in (-1.0, 1.0):
        true = sum(
            (
                Fraction(a) * (Fraction(b) + Fraction(c))
                for a, b, c in zip(w.tolist(), D.tolist(), (error * sign * np.sign(w)).tolist(), strict=True)
            ),
            Fraction(0),
        )
        assert abs(true - Fraction(value)) <= Fraction(moved)


def test_distances_within_a_budget_are_off_by_what_it_is() -> None:
    budget = Budget(X, PAIRS, np.zeros(3, np.intp), 1)
    view = budget.judge(np.array([[7.0]])).view
    assert isinstance(view, Within)
    rough = replace(view, judged=view.judged._replace(share=0.1))
    (D, error), (_, more) = view.pairs(np.array([[0, 2]])), rough.pairs(np.array([[0, 2]]))
    assert D[0] == pytest.approx(9.0)
    assert error[0] < 1e-12
    assert more[0] >= 0.1 * D[0]


def test_what_is_kept_of_pairs_is_of_these_pairs() -> None:
    """Of a metric and its pairs, whichever were asked for before."""
    rng = np.random.default_rng(0)
    points_of, similar = rng.standard_normal((6, 2)), np.array([[0, 1], [2, 3], [4, 5]])
    some, others = np.array([[0, 2], [1, 4]]), np.array([[3, 5], [0, 2]])
    diagonal, full = DiagonalBudget(points_of, similar), Budget(points_of, similar, np.zeros(6, np.intp), 2)
    for budget in (diagonal, full, diagonal):
        for A in (np.diag([0.01, 0.03]), np.diag([0.02, 0.001])):
            view = budget.judge(A).view
            for pairs in (some, others, some, some.copy()):
                direct = [(points_of[i] - points_of[j]) @ A @ (points_of[i] - points_of[j]) for i, j in pairs]
                D, error = view.pairs(pairs)
                assert np.abs(D - direct).max() <= error.max() + 1e-15
                assert error.max() < 1e-14
