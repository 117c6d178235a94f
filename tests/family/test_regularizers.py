"""What a regularizer makes of numbers that may be off: the worst of them is what counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cvxml.core.bases import combined
from cvxml.family.geometry.span_coordinates import Ground
from cvxml.family.losses.base import ConjugateOnRay, as_sum
from cvxml.family.regularizers.base import ExactView, Surplus, product
from cvxml.family.regularizers.budget import Budget, Within
from cvxml.family.regularizers.combinations import NormOfCombination, SumOfWeights
from cvxml.family.regularizers.diagonal import DiagonalBudget, DiagonalLinear
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.regularizers.linear import Linear
from cvxml.family.regularizers.trace import Trace
from cvxml.family.rows.base import View, Weights
from cvxml.methods.ldml.no_regularizer import Free
from cvxml.numbers.rational import plane
from cvxml.numbers.rounding import Distances, points
from cvxml.numbers.vocabulary import fraction

X = np.array([[0.0], [1.0], [3.0]])
PAIRS = np.array([[0, 1]])


def test_a_multiple_is_feasible_wherever_rounding_has_put_both_matrices() -> None:
    linear = Linear(X, Weights(PAIRS, np.ones(1)), "points differ")
    images = points(X, np.eye(1))
    linear.__dict__["ground"] = Ground(np.zeros(3, np.intp), 1, images, 0.5, "")
    linear._on_ground = lambda G: Surplus(np.array([[2.0]]), 0.5)  # type: ignore[method-assign]
    t = linear.best_multiple(Weights(PAIRS, np.ones(1)), ConjugateOnRay(lambda t: t, np.inf))
    assert 0.2 * (1 - 1e-12) <= t < 0.2


# each: a regularizer of constants that are floats, or fractions for exact mode
FORMULAS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "frobenius": lambda X, pairs, number: Frobenius(X, number(1 / 3)),
    "linear": lambda X, pairs, number: Linear(X, Weights(pairs, np.full(len(pairs), 2 / 3)), "points differ"),
    "trace": lambda X, pairs, number: Trace(X, number(1e9 / 3)),
    "budget": lambda X, pairs, number: Budget(X, pairs[:8], np.zeros(len(X), np.intp), X.shape[1]),
    "diagonal budget": lambda X, pairs, number: DiagonalBudget(X, pairs[:8]),
    "diagonal": lambda X, pairs, number: DiagonalLinear(
        X, Weights(pairs, np.full(len(pairs), 2 / 3)), "points differ"
    ),
    "sum of weights": lambda X, pairs, number: SumOfWeights(X, B, number(1e9 / 3)),
    "norm": lambda X, pairs, number: NormOfCombination(X, B),
    "free": lambda X, pairs, number: Free(X, pairs),
}
B = np.array([[1.0, 0.5, 0.0], [0.0, 0.25, -1.0], [1.0, 1.0, 1.0], [0.5, 0.0, 2.0]])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", FORMULAS)
def test_value_bound_and_excess_fit_together_as_rationals_and_in_enclosures(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points_of = rng.standard_normal((7, 3)) * 10.0 ** rng.integers(-2, 3, 3)
    pairs = np.array([(i, j) for i in range(7) for j in range(i)])
    negative = name == "free" or (
        seed == 3 and name != "budget"
    )  # the level of a budget is then a wide enclosure of 0
    G = Weights(pairs, -rng.random(21) if negative else rng.uniform(-0.6, 0.6, 21))
    own = Weights(pairs, np.array([Fraction(w) for w in G.w.tolist()], dtype=object))
    R = np.round(rng.standard_normal((3, 3)) * 64) / 64
    A = combined(B, np.round(rng.random(4) * 64) / 64) if "weights" in name or name == "norm" else R @ R.T
    A = np.diag(np.diag(A)) if "diagonal" in name else A
    of, exact = (FORMULAS[name](points_of, pairs, number) for number in (float, Fraction))
    metric, at = exact.exact_metric(A, None), plane(points_of)
    D = exact.exact_distances(at, metric)
    of_metric, image = ExactView(metric, D), exact.exact_image(at, own, None)
    value, paid = fraction(exact.value_at(of_metric)), D.total(pairs, own.w.tolist())
    r, excess = fraction(exact.conjugate_at(image)), fraction(exact.excess_at(of_metric, image))
    assert excess == value - paid - r >= 0
    assert (value, r) == (exact.exact_value(metric, D), exact.exact_bound(at, own))

    view = of.judge(A).view
    v, k, beyond = of.value(view), of.bound(G), of.excess(view, G)
    assert abs(Fraction(v.value) - value) <= Fraction(v.error)
    assert abs(Fraction(k.value) + Fraction(beyond.value) - (value - paid)) <= Fraction(
        k.error + beyond.error
    )
    assert k.value == pytest.approx(float(r), rel=1e-6, abs=k.error)
    size = float(value - r) + float(np.abs(G.w) @ np.abs(view.pairs(pairs).D))
    assert max(v.error, k.error, beyond.error) <= 1e-12 * size


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
    value, moved = as_sum(product(view, Weights(np.zeros((n, 2), np.intp), w)))
    for sign in (-1.0, 1.0):
        true = sum(
            (
                Fraction(a) * (Fraction(b) + Fraction(c))
                for a, b, c in zip(w.tolist(), D.tolist(), (error * sign * np.sign(w)).tolist(), strict=True)
            ),
            Fraction(0),
        )
        assert abs(true - Fraction(value)) <= Fraction(moved)
    rounded = (
        Fraction(x) * Fraction(d) * Fraction(3, 2**52) for x, d in zip(w.tolist(), D.tolist(), strict=True)
    )
    assert sum(map(abs, rounded), Fraction(0)) <= Fraction(moved)  # three roundings of each weight


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
