"""The sum of weights and the norm of a combination: weak duality, parts of the gap, exact twins, wrong prices."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.bases import combined
from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers import combinations
from cvxml.family.regularizers.combinations import NormOfCombination, SumOfWeights, projected
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.theorem.theorem import prove
from cvxml.methods import get
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rational import plane
from tests.instances import fractions

KINDS = ["features", "few", "many"]


def drawn(seed: int, kind: str) -> tuple[FloatArray, FloatArray, Weights, Any]:
    """Points (12, 3), vectors, and G."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 3)) * 10.0 ** rng.integers(-2, 3)
    B = {"features": np.eye(3), "few": rng.standard_normal((2, 3)), "many": rng.standard_normal((11, 3))}[
        kind
    ]
    pairs = np.array([rng.permutation(12)[:2] for _ in range(20)])
    return X, B, Weights(pairs, rng.standard_normal(20)), rng


def dense(X: FloatArray, G: Weights) -> FloatArray:
    """G (d, d)."""
    E = X[G.pairs[:, 0]] - X[G.pairs[:, 1]]
    return np.asarray((E * G.w[:, None]).T @ E)


def slow_gains(X: FloatArray, B: FloatArray, G: Weights) -> FloatArray:
    return np.array([b @ dense(X, G) @ b for b in B])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_gains_are_those_of_the_matrix_and_of_rationals(kind: str, seed: int) -> None:
    X, B, G, _ = drawn(seed, kind)
    of = NormOfCombination(X, B)
    c, error = of.gains(G).mid, of.gains(G).rad
    np.testing.assert_allclose(c, slow_gains(X, B, G), atol=1e-12 * np.abs(dense(X, G)).max() * 20)
    for ours, wide, exact in zip(c.tolist(), error.tolist(), of.exact_gains(plane(X), G), strict=True):
        assert abs(Fraction(ours) - exact) <= wide
    assert (error <= 1e-12 * np.abs(dense(X, Weights(G.pairs, np.abs(G.w)))).max() * 100).all()


@pytest.mark.parametrize("share", [1 + 2.0**-50, 1 - 2.0**-50])
def test_gains_are_those_of_weights_that_are_rounded_a_few_times_more(share: float) -> None:
    X, B, G, _ = drawn(0, "features")
    of, w = NormOfCombination(X, B[:1]), np.abs(G.w)
    gains = of.gains(Weights(G.pairs, w))
    c, error = gains.mid, gains.rad
    others = np.array([Fraction(weight) * Fraction(share) for weight in w.tolist()])
    (exact,) = of.exact_gains(plane(X), Weights(G.pairs, others))
    assert abs(Fraction(float(c[0])) - exact) <= error[0]


def cancelling(seed: int, exact: bool) -> tuple[NormOfCombination, FloatArray, Weights]:
    """Vectors of different scale. Every pair is listed twice, and its two weights nearly cancel."""
    X, B, G, rng = drawn(seed, "many")
    B *= 10.0 ** rng.uniform(-2, 0, (len(B), 1))
    pairs, w = np.concatenate([G.pairs, G.pairs]), np.abs(G.w)
    return NormOfCombination(X, B), X, Weights(pairs, np.concatenate([w, w * (2.0**-35 - 1)]), exact)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_gains_that_cancel_are_within_their_error(seed: int, exact: bool) -> None:
    of, X, G = cancelling(seed, exact)
    c = of.gains(G)
    for ours, wide, value in zip(c.mid.tolist(), c.rad.tolist(), of.exact_gains(plane(X), G), strict=True):
        assert abs(Fraction(ours) - value) <= wide
    size = np.abs(G.w) @ ((X[G.pairs[:, 0]] - X[G.pairs[:, 1]]) @ of.B.T) ** 2
    assert (np.abs(c.mid) <= 1e-9 * size).all()
    assert (c.rad <= 1e-9 * np.abs(c.mid)).all() == exact
    if not exact:  # then the weights may be rounded a few times more
        for share in (1 + 2.0**-51, 1 - 2.0**-51):
            away = [Fraction(w) * Fraction(share if k % 2 else 1) for k, w in enumerate(G.w.tolist())]
            others = of.exact_gains(plane(X), Weights(G.pairs, np.array(away)))
            for ours, wide, value in zip(c.mid.tolist(), c.rad.tolist(), others, strict=True):
                assert abs(Fraction(ours) - value) <= wide


def test_gains_near_overflow_are_those_of_plain_arithmetic() -> None:
    """Halves of numbers near 1e300 overflow, so these gains keep their first error."""
    X, B = np.array([[1e75], [-1e75], [0.0]]), np.array([[1e75]])
    of = SumOfWeights(X, B, 1.0)
    G = Weights(np.array([[0, 1], [0, 2]]), np.array([1.0, -4 * (1 - 2.0**-30)]), exact=True)
    c = of.gains(G)
    (exact,) = of.exact_gains(plane(X), G)
    assert np.isfinite(c.mid).all()
    assert abs(Fraction(float(c.mid[0])) - exact) <= Fraction(float(c.rad[0]))


@pytest.mark.parametrize("seed", range(6))
def test_the_best_multiple_stays_feasible_where_gains_cancel(seed: int) -> None:
    """A multiple rounds every weight, which changes a gain by far more than its error."""
    of, X, G = cancelling(seed, True)
    largest = float(np.max(of.gains(G).mid))
    weights = SumOfWeights(X, of.B, largest / 3)
    t = weights.best_multiple(G, ConjugateOnRay(lambda t: t, 10.0))
    assert t == pytest.approx(1 / 3, rel=1e-3)
    assert weights.bound(Weights(G.pairs, G.w * t, exact=True)).value == 0


def test_a_multiple_is_not_taken_without_a_trial_of_its_own() -> None:
    """Every multiple rounds the weights in another way. Here the longest multiple of the loss is too long."""
    X, pairs = np.array([[0.0], [9.0], [171.0]]), np.array([[0, 1], [0, 2]])
    G = Weights(pairs, np.array([0.9127555772777217, -0.0025284088011761565]), exact=True)
    weights = SumOfWeights(X, np.eye(1), 3.012427918218728e-08)
    t = weights.best_multiple(G, ConjugateOnRay(lambda t: t, 7.0))
    assert t == pytest.approx(7, rel=1e-6)
    assert weights.bound(Weights(pairs, G.w * t, exact=True)).value == 0


@pytest.mark.parametrize("step", range(12))
def test_every_multiple_of_nearly_optimal_duals_has_a_bound(step: int) -> None:
    """As when a solution is certified again with other numbers. The gains cancel to 1e-7 of their terms."""
    X = np.random.default_rng(5).standard_normal((14, 2)) * 100
    method = get("scml")
    given = method.instance(X, np.arange(14) % 2, beta=1e-5, n_neighbors=1)
    family = method.member(given)  # type: ignore[attr-defined]
    solution = cvxml.solve("scml", X, np.arange(14) % 2, beta=1e-5, n_neighbors=1)
    (duals,) = method.read(given, solution.dual)  # type: ignore[attr-defined]
    for k in range(10 * step, 10 * step + 10):
        share = 1 - 10.0 ** -(2 + k / 10)
        bound = prove(family, [Duals(duals.a * share, duals.key)]).bound.value
        assert bound >= 0.98 * solution.lower_bound


@pytest.mark.parametrize(
    ("method", "name", "factor", "params"),
    [
        ("scml", "wine", None, {}),
        pytest.param("scml", "breast_cancer", None, {}, marks=pytest.mark.slow),
        ("schultz_joachims", "wine", 1e4, {"C": 1000.0}),
        ("schultz_joachims", "wine", 1e6, {"C": 1000.0}),
    ],
)
def test_features_with_their_units_are_certified(
    method: str, name: str, factor: float | None, params: dict[str, float]
) -> None:
    """All these stalled before the gains had error bounds for each entry. factor: of the first feature."""
    X, y = datasets.load(name)
    if factor is None:
        X, y = datasets.subsample(X, y, 150)
    else:
        X, y = datasets.subsample(datasets.standardize(X), y, 100)
        X[:, 0] *= factor
    assert cvxml.solve(method, X, y, **params).certificate.proves(1e-6)


def test_fractions_as_weights_are_not_exact_as_floats() -> None:
    """The exact gain is 0, and that of the rounded weights is not."""
    X, third = np.array([[0.0], [1.0], [1e6]]), Fraction(1, 3)
    w = np.array([third, -third / 10**12], dtype=object)
    G = Weights(np.array([[0, 1], [0, 2]]), w, exact=True)
    c = NormOfCombination(X, np.eye(1)).gains(G)
    assert abs(float(c.mid[0])) <= c.rad[0]


@pytest.mark.parametrize("w", [5e33, 1e90])
def test_squares_that_underflow_beside_large_weights_are_within_the_error(w: float) -> None:
    X = np.array([[0.0], [1.5e-162]])
    of, G = NormOfCombination(X, np.eye(1)), Weights(np.array([[0, 1]]), np.array([w]), exact=True)
    c = of.gains(G)
    (exact,) = of.exact_gains(plane(X), G)
    assert abs(Fraction(float(c.mid[0])) - exact) <= Fraction(float(c.rad[0]))


def test_gains_of_points_that_are_far_and_nearly_equal_are_counted_as_lost() -> None:
    """Of what is 2^-52 of a number beside 2^60 no digit is left in an image, though it has twice the digits."""
    X = np.array([[0.0, 0.0], [2.0**60, 1.0], [2.0**60, 1 + 2.0**-52]])
    of, G = NormOfCombination(X, np.array([[0.1, 0.3]])), Weights(np.array([[1, 2]]), np.ones(1))
    c, error = of.gains(G).mid, of.gains(G).rad
    (exact,) = of.exact_gains(plane(X), G)
    assert abs(Fraction(float(c[0])) - exact) > exact / 10**3
    assert abs(Fraction(float(c[0])) - exact) <= error[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_norm_has_the_bound_of_the_projection(kind: str, seed: int) -> None:
    """Its twin is a quadratic programme; the bound is no higher, and nearly as high."""
    X, B, G, rng = drawn(seed, kind)
    of, c = NormOfCombination(X, B), slow_gains(X, B, G)
    value, error = of.bound(G)
    w = cp.Variable(len(B), nonneg=True)
    size = float(np.abs(c).max())
    norm = cp.sum_squares(B.T @ cp.diag(w) @ B) / 2
    twin = size**2 * cp.Problem(cp.Minimize(norm - (c / size) @ w)).solve(cp.CLARABEL)
    assert value == pytest.approx(twin, rel=1e-5, abs=1e-7 * size**2)
    exact = of.exact_bound(plane(X), G)
    assert exact <= 0
    assert value - error <= float(exact) * (1 - 1e-12) + 1e-300
    for scale in (0.0, 1e-3, 1.0, 30.0):
        M = combined(B, scale * size * rng.random(len(B)) / np.sum(B**2, axis=1) ** 2)
        assert np.sum(M**2) / 2 - np.sum(dense(X, G) * M) >= value - error - 1e-12 * size**2
    # whatever is proposed: a hint that is no projection bounds as well, from below
    for hint in (np.zeros(len(B)), rng.random(len(B)) * size):
        other = of.exact_bound(plane(X), G, hint)
        assert other <= exact * (1 - Fraction(1, 10**9)) or other == exact or kind == "features"
        assert other <= Fraction(twin + 1e-6 * size**2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_part_of_the_gap_is_what_the_inequality_leaves(kind: str, seed: int) -> None:
    X, B, G, rng = drawn(seed, kind)
    M = combined(B, rng.random(len(B)))
    paid = float(np.sum(dense(X, G) * M))
    norm = NormOfCombination(X, B)
    judged = norm.judge(M)
    own, bound, beyond = norm.value(judged.view), norm.bound(G), norm.excess(judged.view, G)
    size = abs(bound.value) + own.value + abs(paid)
    assert own.value == pytest.approx(np.sum(M**2) / 2, rel=1e-12)
    assert beyond.value == pytest.approx(own.value - paid - bound.value, abs=1e-11 * size)
    assert beyond.value >= -beyond.error

    beta = float(max(slow_gains(X, B, G).max(), 1e-3)) * 1.01
    weights = SumOfWeights(X, B, beta)
    judged = weights.judge(M)
    own, beyond = weights.value(judged.view), weights.excess(judged.view, G)
    assert weights.bound(G).value == 0
    assert weights.exact_bound(plane(X), G) == 0
    assert beyond.value == pytest.approx(own.value - paid, abs=1e-11 * (own.value + abs(paid)))


@pytest.mark.parametrize("seed", range(5))
def test_prices_that_cost_more_than_beta_bound_nothing(seed: int) -> None:
    X, B, G, _ = drawn(seed, "many")
    c = slow_gains(X, B, G)
    if c.max() <= 0:
        G, c = Weights(G.pairs, -G.w), -c
    weights = SumOfWeights(X, B, float(c.max()) * (1 - 1e-9))
    assert weights.bound(G).value == -np.inf
    assert weights.exact_bound(plane(X), G) is None
    assert weights.exact_bound(plane(X), Weights(G.pairs, G.w * (1 - 1e-8))) == 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_what_a_sum_of_weights_leaves_is_within_its_rounding(kind: str, seed: int) -> None:
    """Where beta is next to the largest gain, of which nothing is left but rounding."""
    X, B, G, rng = drawn(seed, kind)
    exact = NormOfCombination(X, B).exact_gains(plane(X), G)
    of = SumOfWeights(X, B, abs(float(max(exact))))
    view: Any = of.judge(combined(B, (np.arange(len(B)) == np.argmax(exact)) * rng.random(len(B)))).view
    true = sum(
        (Fraction(w) * (Fraction(of.beta) - c) for w, c in zip(view.w.mid.tolist(), exact, strict=True)),
        Fraction(0),
    )
    found = of.excess(view, G)
    assert abs(Fraction(found.value) - true) <= Fraction(found.error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_the_norm_is_of_a_matrix_that_gains_no_less_than_the_prices(kind: str, seed: int) -> None:
    X, B, G, _ = drawn(seed, kind)
    if seed > 2:  # nothing cancels, so that prices are hardly off
        G = Weights(G.pairs[:1], np.abs(G.w[:1]))
    norm = NormOfCombination(X, B).image(G)
    for s, error, c in zip(
        norm.s.mid.tolist(),
        norm.s.rad.tolist(),
        NormOfCombination(X, B).exact_gains(plane(X), G),
        strict=True,
    ):
        assert Fraction(s) - Fraction(error) >= c


@pytest.mark.parametrize("seed", range(3))
def test_a_combination_lies_in_its_enclosure(seed: int) -> None:
    X, B, _, rng = drawn(seed, "many")
    view: Any = NormOfCombination(X, B).judge(combined(B, rng.random(len(B)))).view
    exact = (fractions(B).T * fractions(view.w.mid)) @ fractions(B)
    assert all(
        abs(true - Fraction(view.M.mid[k])) <= Fraction(view.M.rad[k]) for k, true in np.ndenumerate(exact)
    )


@pytest.mark.parametrize("above", [2.0**-60, 1e-290])
def test_an_excess_that_rounding_of_a_sum_hides_bounds_nothing(
    above: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """c = 1 with an error `above` may exceed beta = 1, although the sum of both is 1 as a float."""
    X, B, beta = np.eye(2), np.eye(2), 1.0
    regularizer, G = SumOfWeights(X, B, beta), Weights(np.array([[0, 1]]), np.array([0.5]))
    for c, proved in (
        (Enclosure(np.ones(2), np.full(2, above)), False),
        (Enclosure(np.full(2, 0.5), np.zeros(2)), True),
    ):
        monkeypatch.setattr(SumOfWeights, "gains", lambda *_, c=c: c)
        assert (regularizer.bound(G).value == 0.0) == proved
        assert (regularizer._tried(G, 1.0) > 0) == proved


def test_prices_at_the_limit_are_made_a_little_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    """c = beta = 1, with an error bound that is lost in the sum. So t = 1 is not proved to be feasible."""
    c = Enclosure(np.ones(2), np.full(2, 2.0**-60))
    monkeypatch.setattr(SumOfWeights, "_gains", lambda *_: combinations._Gains(c, np.zeros(2)))
    regularizer, G = SumOfWeights(np.eye(2), np.eye(2), 1.0), Weights(np.array([[0, 1]]), np.array([1.0]))
    assert 1 - 1e-9 < regularizer.best_multiple(G, ConjugateOnRay(lambda t: t, 7.0)) < 1


@pytest.mark.parametrize("seed", range(5))
def test_what_is_feasible_by_rounding_alone_bounds_nothing(seed: int) -> None:
    X, B, G, _ = drawn(seed, "many")
    G = Weights(G.pairs, np.abs(G.w))
    beta = float(max(NormOfCombination(X, B).exact_gains(plane(X), G)))
    for ulps in range(-3, 4):
        weights = SumOfWeights(X, B, beta * (1 + ulps * 2.0**-52))
        assert weights.bound(G).value == -np.inf or weights.exact_bound(plane(X), G) == 0


def test_prices_of_which_no_norm_is_found_bound_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one round, which rounding leaves a last bit short."""
    X, B, G, _ = drawn(3, "features")
    monkeypatch.setattr(combinations, "ROUNDS", 1)
    assert NormOfCombination(X, B).bound(Weights(G.pairs[:1], np.abs(G.w[:1]))).value == -np.inf


def test_how_far_a_matrix_is_from_a_combination_is_no_less_than_it_is() -> None:
    X, B, _, _ = drawn(0, "features")
    A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, -1.0]])
    assert Fraction(SumOfWeights(X, B, 1.0).exact_metric(A, None).distance) ** 2 >= Fraction(3, 2)


def test_the_projection_leaves_nothing_to_win() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        B, G = rng.standard_normal((9, 4)), rng.standard_normal((4, 4))
        G = G + G.T
        z = projected(B, G)
        slope = np.array([b @ (combined(B, z) - G) @ b for b in B])
        assert (z >= 0).all()
        assert slope.min() >= -1e-9
        assert abs(slope @ z) <= 1e-9


@pytest.mark.parametrize("of_sum", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_a_matrix_next_to_a_combination_costs_what_is_said_of_it(seed: int, of_sum: bool) -> None:
    """Far points, next to each other's distance: a matrix off the cone by 3e-14 of itself, in fractions.

    Nothing is said of how far it is from the cone, so that its own distances and norm are meant.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((8, 4)) + 1e4 * rng.standard_normal((8, 1))
    B, E = rng.standard_normal((3, 4)), rng.standard_normal((4, 4))
    A = combined(B, rng.random(3))
    A = A + 3e-14 * np.linalg.norm(A) * (E + E.T) / np.linalg.norm(E + E.T)
    of: Any = SumOfWeights(X, B, 0.5) if of_sum else NormOfCombination(X, B)
    judged = of.judge(A)
    assert "combination" not in str(judged.feasibility)
    exact, x = fractions(A), fractions(X)
    every = np.array([(i, j) for i in range(8) for j in range(8) if i != j])
    D, error = judged.view.pairs(every)
    products = judged.view.products()
    own, k, other, reach = products.below(np.arange(8), np.full(8, np.inf))
    table, wide = np.zeros((8, 8)), np.full((8, 8), np.nan)
    table[own, k], wide[own, k] = other, reach
    rows, far = judged.view.from_points(np.arange(8))
    for (i, j), value, moved in zip(every.tolist(), D.tolist(), error.tolist(), strict=True):
        true = (x[i] - x[j]) @ exact @ (x[i] - x[j])
        assert abs(true - Fraction(value)) <= moved
        assert abs(true - Fraction(float(table[i, j]))) <= wide[i, j]
        assert abs(true - Fraction(float(rows[i, j]))) <= far[i, j]
    if not of_sum:
        norm = of.value(judged.view)
        assert abs((exact**2).sum() / 2 - Fraction(norm.value)) <= norm.error
