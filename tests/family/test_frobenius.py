"""lam/2 ||M||^2: its bound, its part of the gap and its distances, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from cvxml.core.exact import scaled
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.frobenius import Flat, Frobenius, weighted_sum
from cvxml.family.rows.base import Weights
from cvxml.numbers.rational import judged, matrix, plane
from cvxml.numbers.vocabulary import fraction

SEEDS = pytest.mark.parametrize("seed", range(10))


def nasty(seed: int) -> tuple[np.ndarray, Weights, float]:
    """Points with features of other units, some next to each other; prices of all sizes; lam."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((9, 3)) * 10.0 ** rng.integers(-6, 7, 3)
    X[5] = X[4] * (1 + 1e-15)
    if seed % 3 == 0:
        X[:, 2] = X[:, 0] + X[:, 1]
    pairs = np.array([(i, j) for i in range(9) for j in range(9) if i != j])
    w = rng.standard_normal(len(pairs)) * 10.0 ** rng.integers(-8, 1, len(pairs))
    return X, Weights(pairs, w if seed % 4 else -np.abs(w)), float(10.0 ** rng.integers(-12, 13))


def exact_weights(G: Weights) -> Weights:
    return Weights(G.pairs, np.array([Fraction(w) for w in G.w.tolist()], dtype=object))


def size(X: np.ndarray, G: Weights) -> float:
    """sum |w| |e|^2: the norm of G is no larger, and rounding is a share of it."""
    return float(np.abs(G.w) @ np.sum((X[G.pairs[:, 0]] - X[G.pairs[:, 1]]) ** 2, axis=1))


def metrics(X: np.ndarray, seed: int) -> list[np.ndarray]:
    """Psd as rational numbers are: squares of few digits; 0; one that is next to singular."""
    rng = np.random.default_rng(seed)
    unit = 2.0 ** -np.round(np.log2(np.abs(X).max(axis=0)))
    R = np.round(rng.standard_normal((3, 3)) * 64) / 64
    r = np.round(rng.standard_normal((3, 1)) * 64) / 64
    return [(M @ M.T) * unit * unit[:, None] for M in (R, r, 0 * R)]


@SEEDS
def test_the_bound_is_that_of_fractions_but_for_rounding(seed: int) -> None:
    X, G, lam = nasty(seed)
    found = Frobenius(X, lam).bound(G)
    exact = Frobenius(X, Fraction(lam)).exact_bound(plane(X), exact_weights(G))
    assert abs(Fraction(found.value) - exact) <= Fraction(found.error)
    assert found.error <= 1e-13 * size(X, G) ** 2 / lam + 1e-250


@SEEDS
def test_the_sum_of_the_pairs_lies_in_its_enclosure(seed: int) -> None:
    X, G, _ = nasty(seed)
    found, at, ulp = weighted_sum(X, G), plane(X), Fraction(1, 2**52)
    for share in (1 + ulp, Fraction(1), 1 - ulp):  # weights are rounded too
        own = Weights(G.pairs, np.array([Fraction(w) * share for w in G.w.tolist()], dtype=object))
        S, common = at.outer(own.pairs, own.w.tolist())
        exact = matrix(S, scaled(1, 2 * at.at) / common)
        for k, true in np.ndenumerate(exact):
            assert abs(fraction(true) - Fraction(found.mid[k])) <= Fraction(found.rad[k])
    assert found.rad.max() <= 1e-13 * size(X, G) + 1e-250


@SEEDS
def test_no_metric_is_below_the_bound_and_the_excess_is_what_it_is_above(seed: int) -> None:
    X, G, lam = nasty(seed)
    regularizer, exact = Frobenius(X, lam), Frobenius(X, Fraction(lam))
    at, weights = plane(X), exact_weights(G)
    r = exact.exact_bound(at, weights)
    for A in metrics(X, seed):
        metric = judged(A)
        assert metric.distance == 0
        D = exact.exact_distances(at, metric)
        value = exact.exact_value(metric, D)
        excess = value - D.total(G.pairs, weights.w.tolist()) - r
        assert excess >= 0
        look = regularizer.judge(A)
        assert look.finite
        assert look.zero == (not A.any())
        own, beyond = regularizer.value(look.view), regularizer.excess(look.view, G)
        assert abs(Fraction(own.value) - value) <= Fraction(own.error)
        room = Fraction(beyond.error) + Fraction(regularizer.bound(G).error)
        assert abs(Fraction(beyond.value) - excess) <= room
        assert beyond.error <= 1e-13 * (lam * float(np.sum(A**2)) + size(X, G) ** 2 / lam) + 1e-250


@SEEDS
def test_distances_are_those_of_the_metric_as_it_is(seed: int) -> None:
    X, _, lam = nasty(seed)
    every = np.array([(i, j) for i in range(9) for j in range(9)])
    for A in metrics(X, seed):
        exact = plane(X).distances(judged(A))
        view = Frobenius(X, lam).judge(A).view
        direct = view.pairs(every)
        i, j, D, error = view.products().below(np.arange(9), np.full(9, np.inf))
        products = dict(
            zip(zip(i.tolist(), j.tolist(), strict=True), zip(D, error, strict=True), strict=True)
        )
        for (i, j), D, error in zip(every.tolist(), direct.D, direct.error, strict=True):
            true = exact.D[i][j] * exact.unit
            assert abs(Fraction(D) - true) <= Fraction(error)
            by_product, reach = products[i, j]
            assert abs(Fraction(by_product) - true) <= Fraction(reach)
        assert direct.error.max() <= 1e-13 * max(direct.D.max(), 1e-280)


def test_the_metric_of_the_prices_has_no_excess_and_the_radius_holds() -> None:
    X, G, _ = nasty(1)
    X, lam = X / np.abs(X).max(axis=0), 0.25
    regularizer = Frobenius(X, lam)
    e = X[G.pairs[:, 0]] - X[G.pairs[:, 1]]
    values, vectors = np.linalg.eigh((e * G.w[:, None]).T @ e)
    best = (vectors * np.maximum(values, 0)) @ vectors.T / lam
    assert regularizer.excess(regularizer.judge(best).view, G).value < 1e-15 * np.sum(best**2)
    away = best + np.diag([1.0, 2.0, 3.0])
    excess = regularizer.excess(regularizer.judge(away).view, G)
    assert math.sqrt(14) <= regularizer.radius(excess.value + excess.error)
    assert regularizer.radius(excess.value) <= 2 * excess.value + 100
    larger = Frobenius(1024 * X, lam * 1024.0**4)
    assert larger.radius(excess.value) == pytest.approx(regularizer.radius(excess.value) / 1024**2)


@SEEDS
def test_what_is_reached_is_the_projection(seed: int) -> None:
    X, G, lam = nasty(seed)
    found, error = Frobenius(X, lam).reached(G)
    edges = X[G.pairs[:, 0]] - X[G.pairs[:, 1]]
    values, vectors = np.linalg.eigh((edges * G.w[:, None]).T @ edges)
    near = 1e-13 * size(X, G) / lam
    np.testing.assert_allclose(found, (vectors * np.maximum(values, 0)) @ vectors.T / lam, atol=near)
    assert 0 <= error <= 10 * near


def test_the_multiple_is_the_best() -> None:
    X, G, lam = nasty(1)
    regularizer = Frobenius(X, lam)
    paid = -regularizer.bound(G).value
    t = regularizer.best_multiple(G, ConjugateOnRay(lambda t: 6 * paid * t, math.inf))
    assert t == pytest.approx(3)
    assert regularizer.best_multiple(G, ConjugateOnRay(lambda t: 6 * paid * t, 2.0)) == 2.0
    assert regularizer.best_multiple(G, ConjugateOnRay(lambda t: 2 * paid * t, 5.0)) == 1.0


def test_what_is_not_psd_is_judged_as_its_projection() -> None:
    X, _, lam = nasty(1)
    look = Frobenius(X / np.abs(X).max(axis=0), lam).judge(np.diag([1.0, 1.0, -0.5]))
    assert not look.feasibility.feasible
    np.testing.assert_allclose(np.diag(look.view.A) / look.view.A[0, 0], [1, 1, 0], atol=1e-14)


def test_a_metric_that_overflows_has_no_figures() -> None:
    X, G, lam = nasty(1)
    regularizer = Frobenius(X, lam)
    assert not regularizer.judge(np.full((3, 3), 1e304)).finite
    look = regularizer.judge(np.full((3, 3), 1e200))
    with np.errstate(over="ignore", invalid="ignore"):
        assert regularizer.value(look.view).value == math.inf
        assert not math.isfinite(regularizer.excess(look.view, G).value)


def test_a_square_that_is_given_is_used() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    G = Weights(np.array([[0, 1], [0, 2]]), np.array([Fraction(2), Fraction(-1, 3)], dtype=object))
    for square, left in (([[0.0], [0.0]], 4 + Fraction(1, 9)), ([[0.0], [0.5]], 4 + Fraction(1, 144))):
        found = Frobenius(X, Fraction(1, 2)).exact_bound(plane(X), G, square)
        assert found == -left
    assert Frobenius(X, Fraction(1, 2)).exact_bound(plane(X), G) == pytest.approx(-4, abs=1e-12)


@SEEDS
def test_distances_of_a_known_matrix_are_off_by_their_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, R = rng.standard_normal((6, 3)) + 10.0 ** rng.integers(0, 6), np.round(rng.standard_normal((3, 3)) * 8)
    view, metric = Flat(X, R @ R.T, np.zeros((3, 3))), judged(R @ R.T)
    exact = plane(X).distances(metric)
    pairs = np.array([(i, j) for i in range(6) for j in range(6)])
    _, _, *by_products = view.products().below(np.arange(6), np.full(6, np.inf))
    for D, error in (view.pairs(pairs), by_products):
        for (i, j), d, o in zip(pairs.tolist(), D.tolist(), error.tolist(), strict=True):
            assert abs(exact.D[i][j] * exact.unit - Fraction(d)) <= Fraction(o)


def test_a_matrix_that_is_psd_but_for_rounding_is_as_far_from_one_that_is() -> None:
    """Along (1, -1) it is -2^-46: no psd matrix is nearer than that, entry by entry."""
    X = np.array([[0.0, 0.0], [1.0, -1.0]])
    looked = Frobenius(X, 1.0).judge(np.array([[1.0, 1 + 2.0**-47], [1 + 2.0**-47, 1.0]]))
    assert looked.feasibility.exact
    assert looked.view.error.sum() >= 2.0**-46 * looked.view.A[0, 0]
    of, size = Frobenius(X, 1.0), np.abs(looked.view.A) * looked.view.error
    assert of.value(looked.view).error >= of.weight * float(size.sum())  # the norm of one and of the other
    D, error = looked.view.pairs(np.array([[0, 1]]))
    assert D[0] + error[0] >= 0


def test_a_diagonal_entry_that_is_rounding_costs_no_more_than_rounding() -> None:
    """In the middle of the diagonal stands half of what a psd matrix with this row would have there."""
    a, b = 1e-3, 9e-12
    A = np.array([[a, b, 9 * a], [b, b * b / a / 2, 9 * b], [9 * a, 9 * b, 81 * a]])
    looked = Frobenius(np.eye(3), 1.0, features=False).judge(A)
    assert looked.feasibility.feasible
    assert b * b / a / 2 <= looked.view.error.sum() <= 1e-14 * np.abs(looked.view.A).sum()


def test_the_radius_counts_what_was_projected_away() -> None:
    of = Frobenius(np.array([[0.0, 0.0], [1.0, -1.0]]), 2.0)
    looked = of.judge(np.array([[1.0, 2e-7], [0.0, 1.0]]))
    assert of.around(looked, 0.0) == pytest.approx(np.sqrt(2) * 1e-7)
    assert of.around(looked, 1e-6) == pytest.approx(np.sqrt(2) * 1e-7 + 1e-3)


def test_what_stands_for_a_matrix_that_is_not_psd_is_as_far_as_is_said() -> None:
    assert judged(np.array([[2.0, 1.0], [1.0, 2.0]])).distance == 0
    assert 1 <= judged(np.array([[1.0, 2.0], [2.0, 1.0]])).distance < 1 + 1e-12
    assert judged(np.eye(2), root=2 * np.eye(2)).distance == pytest.approx(np.sqrt(18))
