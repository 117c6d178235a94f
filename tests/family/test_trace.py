"""The trace and triplets in one group: twins of rows and derivatives, bounds, and which v have an optimum."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.family.regularizers.trace import Trace
from cvxml.family.rows.base import Duals, Plain
from cvxml.family.rows.triplets import Triplets
from cvxml.methods.boostmetric.one_group import Together
from cvxml.methods.boostmetric.threshold import AT, BELOW, gains, sides
from cvxml.methods.boostmetric.trace_path import OverTriplets, differences
from cvxml.numbers import rational
from tests.family.derivatives import assert_derivatives
from tests.instances import fractions, random_data


def listed(seed: int, n: int = 8, m: int = 12) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.unique([rng.permutation(n)[:3] for _ in range(m)], axis=0)


def outer_sum(X: FloatArray, rows: np.ndarray, a: FloatArray) -> FloatArray:
    """sum a_t H_t, triplet by triplet."""
    total = np.zeros((X.shape[1],) * 2)
    for (i, j, l), price in zip(rows.tolist(), a, strict=True):
        total += price * (np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j]))
    return total


def test_rows_together_are_those_of_triplets() -> None:
    X, _ = random_data(0, n=8, d=3, classes=2)
    found = listed(1)
    rows = Together(found)
    pairs, place = np.unique(found[:, :2], axis=0, return_inverse=True)
    impostors = np.zeros((len(pairs), len(X)), dtype=bool)
    impostors[place.reshape(-1), found[:, 2]] = True
    twin, a = Triplets(pairs, impostors), np.random.default_rng(0).random(len(found))
    duals = Duals(a, np.arange(len(found)))
    (block,) = rows.blocks(Plain(X), duals)
    margins = np.concatenate(
        [other.v for other in twin.blocks(Plain(X), Duals(np.zeros(0), np.zeros(0, int)))]
    )
    np.testing.assert_allclose(np.sort(block.v.ravel()), np.sort(margins), atol=1e-12)
    np.testing.assert_array_equal(block.a, a[None])
    G = rows.weights(duals)
    D = X[G.pairs[:, 0]] - X[G.pairs[:, 1]]
    np.testing.assert_allclose(D.T @ (G.w[:, None] * D), outer_sum(X, found, a), atol=1e-12)


def test_a_triplet_with_a_pair_of_two_labels_has_no_price() -> None:
    rows, labels = Together(np.array([[0, 1, 2], [0, 1, 3], [2, 0, 1], [0, 3, 1]])), np.array([0, 0, 0, 1])
    found = rows.within_span(labels, Duals(np.ones(4), np.arange(4)))
    np.testing.assert_array_equal(found.a, [1, -np.inf, 1, -np.inf])


def test_a_row_is_off_by_what_either_of_its_pairs_is() -> None:
    """By the far pair alone, where the near one is a point twice; in a metric of floats, which are fractions."""
    X, _ = random_data(0, n=8, d=3, classes=2)
    X[1], root = X[0], np.random.default_rng(0).standard_normal((3, 3))
    M, rows = root @ root.T, Together(np.array([[0, 1, far] for far in range(2, 8)]))
    (block,) = rows.blocks(
        Trace(X, 1.0).judge((M + M.T) / 2).view, Duals(np.zeros(0), np.zeros(0, dtype=np.intp))
    )
    x, exact = fractions(X), fractions((M + M.T) / 2)
    for v, error, own in zip(block.v[0].tolist(), block.error[0].tolist(), x[2:], strict=True):
        assert abs(Fraction(v) - (x[0] - own) @ exact @ (x[0] - own)) <= Fraction(error)


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_the_trace_is_that_of_eigenvalues(seed: int) -> None:
    """Feasible, and the longest multiple, whether or not the features differ; in floats and in integers."""
    X, _ = random_data(seed, n=8, d=3, classes=2)
    X = np.column_stack([X, np.full(8, 7.0)])
    found, rng = listed(seed), np.random.default_rng(seed)
    a = rng.random(len(found))
    G = Together(found).weights(Duals(a, np.arange(len(found))))
    top = float(np.linalg.eigvalsh(outer_sum(X, found, a))[-1])
    exactly = G._replace(w=np.array([Fraction(w) for w in G.w.tolist()], dtype=object))
    for share in (0.999, 1.001):
        trace = Trace(X, share * top)
        assert trace.surplus(G).psd == (share > 1)
        bound = Trace(X, Fraction(share * top)).exact_bound(rational.plane(X), exactly)
        assert (bound == 0) if share > 1 else bound is None
    root = rng.standard_normal((4, 2))
    judged = Trace(X, 0.3).judge(root @ root.T)
    value, error = Trace(X, 0.3).value(judged.view)
    assert abs(value - 0.3 * np.sum(root**2)) <= 1e-12 + error
    gap, error = Trace(X, 2 * top).excess(judged.view, G)
    left = 2 * top * np.eye(4) - outer_sum(X, found, a)
    assert abs(gap - np.sum(left * (root @ root.T))) <= 1e-10 + error


@pytest.mark.parametrize("seed", range(4))
def test_the_value_covers_the_matrix_that_the_distances_belong_to(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, R = rng.standard_normal((8, 5)), rng.standard_normal((5, 5 - seed % 2))
    judged = Trace(X, 1.0).judge(R @ R.T)
    value, error = Trace(X, 1.0).value(judged.view)
    trace = sum((Fraction(x) ** 2 for x in judged.view.sight.root.ravel().tolist()), Fraction(0))
    assert 0 < abs(trace - Fraction(value)) <= Fraction(error) <= Fraction(1, 10**13) * trace


def test_derivatives_are_those_of_differences_of_values() -> None:
    X, _ = random_data(4, n=8, d=3, classes=2)
    of, rng = differences(X, Together(listed(4))), np.random.default_rng(4)
    f = OverTriplets(of, lambda trace: (0.7 * trace + 0.2 * trace**2, 0.7 + 0.4 * trace, 0.4))
    G = rng.standard_normal((3, 3))
    assert_derivatives(f, G, rng, first=1e-6, second=1e-4)
    M = of.outside(G @ G.T)
    np.testing.assert_allclose(of.inside(M), G @ G.T, atol=1e-10)
    rows = listed(4)
    for (i, j, l), margin in zip(rows.tolist(), f.margins(G @ G.T), strict=True):
        far, near = X[i] - X[l], X[i] - X[j]
        assert far @ M @ far - near @ M @ near == pytest.approx(margin, abs=1e-10)


def test_one_feature_has_a_v_star_by_hand() -> None:
    """The least margin of the metric 1: 3; more so with a feature that is constant, where it is no less than 0."""
    X, rows = np.array([[0.0], [1.0], [3.0], [2.0]]), Together(np.array([[0, 1, 2], [0, 1, 3]]))
    *_, last = sides(X, rows)
    assert last.lower == pytest.approx(3, abs=1e-6)
    assert last.upper == pytest.approx(3, abs=1e-6)
    one = np.ones((1, 1))
    assert gains(X, rows, one, math.nextafter(3.0, 0.0)) == BELOW
    assert gains(X, rows, one, 3.0) == AT
    assert gains(X, rows, one, math.nextafter(3.0, 4.0)) == ""
    assert gains(X, Together(rows.listed[1:]), one, 3.0) == ""  # nothing is gained
    assert gains(X, rows, 0 * one, -1.0) == ""
    for other in (rows, Together(rows.listed[:, [0, 2, 1]])):
        *_, last = sides(np.column_stack([X, np.full(4, 2.0)]), other)
        assert last.lower == pytest.approx(3.0 if other is rows else 0.0, abs=1e-6)
        assert last.lower <= last.upper + 1e-9
