"""The weights of PLML: objective and bound against slow ones in fractions and cvxpy, the solver, bad input."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cvxml.core.backend import solve_problem
from cvxml.core.metric import unit_scale
from cvxml.methods.plml import weights as plml
from cvxml.methods.plml.instance import k_means, nearest_graph
from cvxml.methods.plml.method import instance as checked_instance
from cvxml.methods.plml.problem import weights_dual, weights_problem
from cvxml.methods.plml.weights import Smooth
from tests.instances import fractions, random_data, real_data

SEEDS = pytest.mark.parametrize("seed", range(4))


def smooth(seed: int, n: int = 12, d: int = 3, m: int = 3) -> Smooth:
    """Seed 1: more anchors than directions, one of them twice. Seed 2: no graph. Seed 3: features of any size."""
    rng = np.random.default_rng(seed)
    X, _ = random_data(seed, n=n, d=1 if seed == 1 else d)
    X = X * 10.0 ** rng.integers(-2, 3, X.shape[1]) + 50 if seed == 3 else X
    U = X[: m - 1].repeat([2] + [1] * (m - 2), axis=0) if seed == 1 else X[rng.permutation(n)[:m]]
    return Smooth(X, U, nearest_graph(X, 3), 0.5, 0.0 if seed == 2 else 2.0)


def exactly(given: Smooth, W: Any) -> Fraction:
    """g by its definition, in fractions: the Laplacian as a matrix."""
    X, U, s, W = (fractions(A) for A in (given.X, given.U, given.similarity, W))
    fit = ((X - W @ U) ** 2).sum()
    near = sum(W[i, b] * ((X[i] - U[b]) ** 2).sum() for i in range(len(X)) for b in range(len(U)))
    L = np.diag(s.sum(axis=1)) - s
    return fit + Fraction(given.lam1) * near + Fraction(given.lam2) * np.trace(W.T @ L @ W)


def tangent(given: Smooth, V: Any) -> Fraction:
    """g(V) - <grad g(V), V> + sum_i min_b grad g(V)_ib, the gradient by its definition."""
    X, U, s, exact = (fractions(A) for A in (given.X, given.U, given.similarity, V))
    G = np.array([[((x - u) ** 2).sum() for u in U] for x in X])
    L = np.diag(s.sum(axis=1)) - s
    slope = 2 * (exact @ U - X) @ U.T + Fraction(given.lam1) * G + 2 * Fraction(given.lam2) * L @ exact
    least: Fraction = exactly(given, V) - (slope * exact).sum() + sum(min(row) for row in slope.tolist())
    return least


def dyadic(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Weights in 64ths, which add up to 1 exactly."""
    W = np.floor(64 * rng.dirichlet(np.ones(m), n))
    W[:, 0] += 64 - W.sum(axis=1)
    return W / 64


@SEEDS
def test_objective_and_bound_are_those_of_fractions(seed: int) -> None:
    given, rng = smooth(seed), np.random.default_rng(seed)
    shape = len(given.X), len(given.U)
    W, V = dyadic(rng, *shape), rng.standard_normal(shape)
    proof = plml.certify(given, W, V)
    value, bound = exactly(given, W), tangent(given, V)
    assert proof.objective == float(value)
    assert proof.lower_bound == float(bound)
    for exact, float_ in ((value, proof.objective), (bound, proof.lower_bound)):
        assert abs(Fraction(float_) - exact) <= Fraction(proof.value_rounding) <= max(value, -bound) / 10**12
    assert Fraction(proof.gap) >= value - bound > 0
    assert plml.objective(given, W) == pytest.approx(float(value), rel=1e-12)
    assert plml.exact_bound(given, V) == bound
    assert proof.feasibility.feasible


def test_rounding_covers_a_bound_that_is_far_below() -> None:
    """V is a thousand times too large, so that the bound is a million times the value, and loses more digits."""
    given = smooth(0)
    W = dyadic(np.random.default_rng(0), len(given.X), len(given.U))
    proof = plml.certify(given, W, 1000 * W)
    assert -proof.lower_bound > 1000 * proof.objective
    assert abs(Fraction(proof.lower_bound) - tangent(given, 1000 * W)) <= Fraction(proof.value_rounding)


@SEEDS
def test_the_solver_is_proved_cvxpy_agrees_and_no_V_lifts_the_bound(seed: int) -> None:
    given, rng = smooth(seed), np.random.default_rng(seed)
    W = plml.solve(given)
    proof = plml.certify(given, W)
    assert proof.proves(1e-8)
    for problem in (weights_problem(given), weights_dual(given)):
        solve_problem(problem, "clarabel")
        assert problem.value == pytest.approx(proof.objective, rel=1e-6)
    for size in (1e-3, 1.0, 1e3, 1e100):
        V = W + size * rng.standard_normal(W.shape)
        assert plml.exact_bound(given, V) <= Fraction(proof.objective) * (1 + Fraction(1, 10**12))


def test_weights_that_are_not_optimal_or_no_weights_are_not_proved() -> None:
    given = smooth(0)
    W = plml.solve(given)
    even = np.full(W.shape, 1 / 3)
    assert not plml.certify(given, even).proves(1e-6)
    assert plml.certify(given, even, W).gap < plml.certify(given, even).gap  # a better tangent
    for wrong in (2 * W, W - 0.1, W / 2):
        proof = plml.certify(given, wrong)
        assert not proof.feasibility.feasible
        assert not proof.proves(1.0)


@pytest.mark.parametrize("size", [1e160, 1e300])
def test_what_is_beyond_all_floats_is_not_proved(size: float) -> None:
    far = Smooth(np.array([[0.0], [1.0]]), np.array([[size], [0.0]]), np.zeros((2, 2)), 1.0, 0.0)
    proof = plml.certify(far, np.array([[0.5, 0.5], [0.0, 1.0]]))
    assert proof.objective == proof.gap == np.inf
    assert proof.lower_bound < 0
    assert not proof.proves(1.0)
    # a bound that is far below all floats
    assert plml.certify(far, np.array([[0.0, 1.0]] * 2), 1e100 * np.ones((2, 2))).gap == np.inf


def test_anchors_may_be_far_but_not_out_of_reach() -> None:
    X, y = random_data(0, n=8, d=2, classes=2)
    with pytest.raises(ValueError, match="anchors"):
        checked_instance(X, y, anchors=[[1e200, 0.0], [0.0, 0.0]], n_neighbors=1)
    assert checked_instance(X, y, anchors=[[1e20, 0.0], [0.0, 0.0]], n_neighbors=1).W[:, 1].min() == 1


def test_one_anchor_or_equal_ones_leave_nothing_to_gain() -> None:
    X, _ = random_data(0, n=6, d=2)
    one = Smooth(X, X[:1], nearest_graph(X, 2), 1.0, 1.0)
    np.testing.assert_array_equal(plml.solve(one), np.ones((6, 1)))
    assert plml.certify(one, np.ones((6, 1))).gap == 0
    equal = Smooth(X, X[[0, 0]], nearest_graph(X, 2), 1.0, 1.0)
    assert plml.certify(equal, np.full((6, 2), 0.5)).gap == 0
    assert plml.certify(equal, dyadic(np.random.default_rng(0), 6, 2)).gap > 0  # the graph
    assert plml.certify(equal, np.eye(2)[[0] * 6]).gap == 0  # not unique


def test_means_and_graph() -> None:
    X, _ = real_data("iris", 30)
    U = k_means(X, 3, 0)
    near = np.argmin(np.sum((X[:, None] - U) ** 2, axis=2), axis=1)
    np.testing.assert_allclose(U, [X[near == b].mean(axis=0) for b in range(3)], atol=1e-12)
    np.testing.assert_array_equal(k_means(X, 3, 0), U)
    np.testing.assert_allclose(k_means(1024 * X, 3, 0), 1024 * U, rtol=1e-12)
    D = np.sum((X[:, None] - X) ** 2, axis=2) + np.diag(np.full(30, np.inf))
    nearest = np.argsort(D, axis=1, kind="stable")[:, :2]
    expected = [[j in nearest[i] or i in nearest[j] for j in range(30)] for i in range(30)]
    np.testing.assert_array_equal(nearest_graph(X, 2), np.array(expected) * 1.0)
    with pytest.raises(ValueError, match="2 different"):
        k_means(X[[0, 1, 1, 0]], 3, 0)


def test_weights_next_to_the_simplex_gain_nothing_by_what_is_negative() -> None:
    """0 is the least value, at the anchor where both points are; less than that is no value of weights."""
    given = Smooth(np.zeros((2, 1)), np.array([[0.0], [1.0]]), np.zeros((2, 2)), 1.0, 0.0)
    proof = plml.certify(given, np.array([[1 + 1e-9, -1e-9], [1.0, 0.0]]))
    assert proof.feasibility.feasible
    assert proof.feasibility.distance >= 1e-9
    assert proof.objective == 0
    assert proof.lower_bound <= 0 <= proof.gap


@pytest.mark.parametrize("shrunk", [1.0, 30.0, 100.0, 300.0])
def test_a_large_lam2_is_solved_too(shrunk: float) -> None:
    """Gradients alone leave 2 % of g at a hundredth of the size, where lam2 weighs 10^4 times as much."""
    X, y = real_data("iris", 60)
    given = checked_instance(X / shrunk, y)
    assert given.of_weights is not None
    assert given.of_weights.proves(1e-8)
    assert given.unsolved == ""


@SEEDS
def test_the_weights_with_the_least_gap_are_returned(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """No weights have the gap 0 up to rounding, so the solver ends at its limit of iterations."""
    gap, seen = plml._Gradients.gap, []

    def told(self: Any, W: np.ndarray) -> float:
        seen.append(gap(self, W))
        return seen[-1]

    monkeypatch.setattr(plml, "MAX_ITER", 400)
    monkeypatch.setattr(plml._Gradients, "gap", told)
    given = smooth(seed)
    W = plml.solve(given, tol=-1.0)
    assert len(seen) == 400 / plml.OFTEN
    assert gap(plml._Gradients(given), W) == min(seen)


@SEEDS
@pytest.mark.parametrize("length", [1.0, 2.0**-36])
def test_a_change_of_g_has_its_digits_where_it_is_tiny(seed: int, length: float) -> None:
    given, rng = smooth(seed), np.random.default_rng(seed)
    W, other = (dyadic(rng, len(given.X), 3) for _ in range(2))
    new = W + length * (other - W)  # rows add up to 1 exactly
    expected = float(exactly(given, new) - exactly(given, W)) / unit_scale(given.X) ** 2
    assert plml._Gradients(given).change(W, new) == pytest.approx(expected, rel=1e-9, abs=0)


def test_a_system_without_a_solution_moves_nothing() -> None:
    """Equal anchors and no graph: every entry of the system is 0. No warning, and no weights that are no numbers."""
    X = np.random.default_rng(0).standard_normal((5, 2))
    at = plml._Gradients(Smooth(X, np.zeros((3, 2)), np.zeros((5, 5)), 1.0, 1.0))
    W = np.full((5, 3), 1 / 3)
    at.near = at.near + np.array([0.0, 0.1, 0.2])  # what is to be won, along which nothing curves
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not np.isfinite(at.newton(W)).all()
        assert plml._newton(at, W, 1e-10) is W


def test_a_newton_step_ends_at_the_least_of_its_face() -> None:
    """With all weights inside the simplices one step solves the system with a multiplier for each row."""
    rng = np.random.default_rng(0)
    n, m = 6, 3
    S = np.triu(rng.random((n, n)), 1)
    given = Smooth(rng.standard_normal((n, 2)), rng.standard_normal((m, 2)), S + S.T, 0.5, 2.0)
    at, W = plml._Gradients(given), np.full((n, m), 1 / m)
    hessian = 2 * np.kron(np.eye(n), at.U @ at.U.T) + 2 * np.kron(at.L, np.eye(m))
    sums = np.kron(np.eye(n), np.ones((1, m)))  # of every row of weights
    H = np.block([[hessian, sums.T], [sums, np.zeros((n, n))]])
    solved = np.linalg.solve(H, np.concatenate([-at.gradient(W).ravel(), np.zeros(n)]))
    np.testing.assert_allclose(at.newton(W).ravel(), solved[: n * m], rtol=1e-8, atol=1e-9)
