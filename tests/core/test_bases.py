"""Which combination of vectors a matrix stands for: found again, least, refused, whatever the units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from cvxml.core import bases
from cvxml.core.bases import (
    above_least,
    as_combination,
    check_bases,
    combined,
    is_identity,
    nearest,
    squares,
    weighted,
)
from cvxml.core.metric import FloatArray


def drawn(seed: int, K: int, d: int) -> tuple[FloatArray, FloatArray, FloatArray, Any]:
    """Points (n, d), vectors (K, d) of lengths of their own, weights of which some are 0."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((K, d)) * rng.uniform(0.2, 5, (K, 1))
    return rng.standard_normal((20, d)), B, rng.random(K) * (rng.random(K) < 0.5), rng


def least_sum(B: FloatArray, M: FloatArray) -> float:
    """By a linear program: each entry of the matrix once, and of norm 1, which solvers need."""
    size, upper = np.linalg.norm(M) or 1.0, np.triu(np.ones_like(M)).ravel() == 1
    found = linprog(np.ones(len(B)), A_eq=squares(B).T[upper], b_eq=M.ravel()[upper] / size, bounds=(0, None))
    assert found.success
    return float(found.fun) * size


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("K", "d"), [(1, 1), (3, 4), (6, 3), (40, 4)])
def test_a_combination_is_found_again_by_weights_of_the_least_sum(seed: int, K: int, d: int) -> None:
    X, B, w, _ = drawn(seed, K, d)
    found = weighted(combined(B, w), B, X)
    assert (found.w >= 0).all()
    assert found.feasibility.feasible
    np.testing.assert_allclose(combined(B, found.w), combined(B, w), atol=1e-12 * np.linalg.norm(found.M))
    assert found.w.sum() == pytest.approx(least_sum(B, combined(B, w)), rel=1e-6, abs=1e-9)
    assert found.w.sum() <= w.sum() * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_vectors_of_one_length_say_the_sum(seed: int) -> None:
    X, B, w, _ = drawn(seed, 30, 3)
    B = B / np.linalg.norm(B, axis=1)[:, None]
    assert weighted(combined(B, w), B, X).w.sum() == pytest.approx(np.trace(combined(B, w)), rel=1e-10)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_no_combination_is_no_metric(seed: int) -> None:
    """The least squares are those of a slow twin: no direction in which a weight may move is better."""
    X, B, w, rng = drawn(seed, 5, 4)
    root = rng.standard_normal((4, 4))
    A = combined(B, w) + root @ root.T
    found = weighted(A, B, X)
    assert not found.feasibility.feasible
    assert "nearest" in str(found.feasibility)
    with pytest.raises(ValueError, match=r"^metric.*1e-06"):
        as_combination(A, B, X, "metric")
    V, target = squares(B).T, A.ravel()
    nearest_w = nearest(V, target)
    slope = V.T @ (V @ nearest_w - target)
    assert slope.min() >= -1e-9 * np.abs(V.T @ target).max()
    assert np.abs(slope * nearest_w).max() <= 1e-9 * np.abs(V.T @ target).max() * (1 + nearest_w.max())


@pytest.mark.parametrize("seed", range(8))
def test_a_large_problem_is_reduced_to_one_with_the_same_answer(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 7))
    _, B, w, rng = drawn(seed, int(rng.integers(1, d * d // 2)), d)
    V, target = squares(B).T, combined(B, w).ravel() + 0.1 * rng.standard_normal(d * d)
    whole = nearest(V, target)
    monkeypatch.setattr(bases, "MANY", 0)
    reduced = nearest(V, target)
    scale = np.linalg.norm(target)
    assert np.linalg.norm(V @ reduced - target) <= np.linalg.norm(V @ whole - target) + 1e-12 * scale
    np.testing.assert_allclose(V @ reduced, V @ whole, atol=1e-9 * scale)  # the nearest point is unique


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5])
def test_a_matrix_off_by_little_is_judged_as_the_combination_beside_it(size: float) -> None:
    X, B, w, rng = drawn(1, 5, 4)
    M = combined(B, w)
    error = rng.standard_normal((4, 4))
    found = weighted(M + size * np.linalg.norm(M) * error / np.linalg.norm(error), B, X)
    assert found.feasibility.feasible == (size < 1e-6)
    assert found.feasibility.away <= size * np.linalg.norm(M) * (1 + 1e-6) + 1e-12
    assert ("nearest" in str(found.feasibility)) == (size > 0)


def test_with_the_features_it_is_the_diagonal_and_nothing_is_searched() -> None:
    X = np.random.default_rng(0).standard_normal((9, 3)) * [1.0, 1e3, 1e-3]
    A = np.diag([0.1, 3e-9, 7e5])
    found = weighted(A, np.eye(3), X)
    assert np.array_equal(found.M, A)
    assert found.feasibility.away == 0
    other = weighted(A + 1e-3 * np.ones((3, 3)), np.eye(3), X).feasibility
    # a share of 1e-9 of the norm in these units; the entry (0, 1) is large in those of the features
    assert other.away < 1e-6 * other.norm
    assert not other.feasible
    assert "diagonal" in str(other)


def test_units_of_features_do_not_matter() -> None:
    X, B, w, _ = drawn(3, 12, 4)
    unit = np.array([1e-7, 1.0, 1e3, 1e7])
    M = combined(B * unit, w)
    found = weighted(M, B * unit, X / unit)
    assert found.feasibility.feasible
    size = np.sqrt(np.diag(M))
    np.testing.assert_allclose(found.M / size / size[:, None], M / size / size[:, None], atol=1e-12)


def test_a_direction_without_weight_uses_no_vector_that_has_it() -> None:
    B = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    X = np.random.default_rng(0).standard_normal((5, 2))
    assert weighted(np.diag([3.0, 0.0]), B, X).w.tolist() == [3.0, 0.0, 0.0]
    assert not weighted(np.zeros((2, 2)), B, X).w.any()
    assert weighted(np.zeros((2, 2)), B, X).feasibility.feasible
    away = weighted(np.diag([3.0, 0.0]), B[1:], X)
    assert not away.w.any()
    assert not away.feasibility.feasible
    assert not weighted(np.array([[3.0, 1.0], [1.0, 0.0]]), B, X).feasibility.feasible


@pytest.mark.parametrize(
    ("basis", "says"),
    [
        (np.eye(3), "2 features"),
        (np.zeros((0, 2)), "2 features"),
        (np.ones(2), "2 features"),
        ([[1.0, np.nan]], "NaN"),
        ([[1.0, 0.0], [0.0, 0.0]], r"^basis.*vector 1.* 0"),
        ([[1e20, 0.0]], r"^basis.*vector 0.*1e\+20"),
        ([["a", "b"]], "real numbers"),
    ],
)
def test_what_are_no_vectors(basis: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_bases(basis, 2, "basis")


def test_the_features_are_told_from_others() -> None:
    assert is_identity(np.eye(3))
    assert not is_identity(np.eye(3)[:2])
    assert not is_identity(np.eye(3)[[1, 0, 2]])


def test_entries_that_have_no_digits_are_within_the_cone():
    M, B = np.full((2, 2), 5e-324), np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert weighted(M, B, np.eye(2)).feasibility.feasible


# short and long vectors of two directions: the least weights of what the first and the last make are their own
UNLIKE = np.array([[-512.0, 512.0], [1 / 64, -1 / 32], [-0.5, 0.5], [0.25, -0.5]])


@pytest.mark.parametrize("power", [10, 16, 18, 20, 22])
def test_what_a_sum_is_above_the_least_is_bounded(power: int) -> None:
    least = 2.0**-16 + 2.0**-power
    M = combined(UNLIKE, np.array([2.0**-16, 0.0, 0.0, 2.0**-power]))
    w = weighted(M, UNLIKE, np.eye(2)).w
    above = above_least(w, UNLIKE)
    assert w.sum() - least <= above + 1e-6 * least  # the weights are those of M but for its rounding
    assert above <= w.sum() * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_of_any_weights_the_least_is_not_missed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    B = np.round(4 * rng.standard_normal((8, 3)))
    B = np.vstack([B[B.any(axis=1)], 10.0 ** rng.uniform(-2, 2) * B[B.any(axis=1)]])
    w = rng.exponential(size=len(B)) * (rng.random(len(B)) < 0.5)
    V, size = squares(B).T, np.sum(B**2, axis=1)
    found = linprog(1 / size, A_eq=V / size, b_eq=V @ w, method="highs").fun
    assert found == pytest.approx(w.sum() - above_least(w, B), rel=1e-5)
    assert above_least(np.zeros(len(B)), B) == 0
