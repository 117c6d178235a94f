"""SCML: against a linear programme from scratch, degenerate points, the basis that is made, 0, misreadings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.methods.scml import basis_of
from tests.core.test_bases import UNLIKE
from tests.instances import NOT_OPTIMAL, assert_named, random_data, real_data
from tests.methods.frobmetric.test_frobmetric import triplets
from tests.methods.schultz_joachims.test_schultz_joachims import POINTS, rows
from validation import recompute

ID = "scml"
METHOD: Any = get(ID)


def by_simplex(h: FloatArray, beta: float) -> tuple[float, FloatArray]:
    """The optimum and weights, by the simplex method on w and the slacks."""
    m, K = h.shape
    cost = np.concatenate([np.full(K, beta), np.full(m, 1 / m)]) / beta  # its tolerances are absolute
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    A = -np.hstack([h, np.eye(m)])
    found = linprog(cost, A_ub=A, b_ub=-np.ones(m), method="highs-ds", options=tight)
    assert found.success
    return beta * float(found.fun), np.asarray(found.x[:K])


def basis(kind: str, X: FloatArray) -> FloatArray:
    """Vectors of several shapes and lengths."""
    d, rng = X.shape[1], np.random.default_rng(5)
    return {
        "features": np.eye(d),
        "few": rng.standard_normal((2, d)),
        "many": rng.integers(-3, 4, (3 * d, d)) + np.tile(np.eye(d), (3, 1)),
        "points": X[:9] + 0.1,
        "multiples": np.vstack([np.eye(d), -2 * np.eye(d)]),
    }[kind]


@pytest.mark.quick(6)
@pytest.mark.parametrize("kind", ["features", "few", "many", "points", "multiples", "made"])
@pytest.mark.parametrize("beta", [1e-4, 0.02])
@pytest.mark.parametrize("points", ["drawn", "collinear", "twins", "more features"])
def test_against_the_simplex_method(points: str, beta: float, kind: str) -> None:
    """Triplets at random: some have H = 0, or j further than l."""
    X, rng = POINTS[points], np.random.default_rng(3)
    found = np.unique([rng.permutation(12)[:3] for _ in range(25)], axis=0)
    B = basis_of(X, found, 30) if kind == "made" else basis(kind, X)
    h = rows(X, found, B.T)
    optimum, w = by_simplex(h, beta)
    given: dict[str, Any] = {"beta": beta, "basis": B, "triplets": found}
    tol = (
        1e-8 if beta > 1e-3 else 1e-7
    )  # at a small beta the last digit of the gap depends on the BLAS kernel
    solution = cvxml.solve(ID, X, None, tol=tol, **given)
    assert solution.status is Status.CONVERGED
    assert solution.lower_bound - 1e-7 <= optimum <= solution.objective + 1e-7
    own = cvxml.evaluate(ID, X, None, solution.metric, **given).w
    value = beta * own.sum() + np.maximum(0, 1 - h @ own).mean()
    assert solution.objective == pytest.approx(value, rel=1e-9)
    # what the simplex method found is certified, by M alone
    report = cvxml.check(ID, X, None, B.T @ np.diag(w) @ B, exact=True, **given)
    assert report.verdict is Verdict.CERTIFIED


def test_where_no_triplet_says_anything_zero_is_optimal() -> None:
    """All H are 0: l is j's twin. Without a basis there is none to make where all points are equal."""
    X = np.array([[0.0, 1.0], [2.0, 3.0], [2.0, 3.0]])
    solution = cvxml.solve(ID, X, None, triplets=[[0, 1, 2]])
    assert not solution.metric.any()
    assert solution.objective == solution.lower_bound == 1
    same = np.ones((3, 2))
    with pytest.raises(ValueError, match="give basis"):
        cvxml.solve(ID, same, None, triplets=[[0, 1, 2]])
    assert cvxml.solve(ID, same, None, triplets=[[0, 1, 2]], basis=np.eye(2)).objective == 1


@pytest.mark.parametrize("above", [True, False])
def test_zero_is_optimal_from_a_beta_on(above: bool) -> None:
    X, y = random_data(2, n=16, d=3, classes=2)
    B = basis("points", X)
    most = float(rows(X, triplets(y, X, 2), B.T).mean(axis=0).max())
    given: dict[str, Any] = {"beta": most * (1.001 if above else 0.999), "basis": B, "n_neighbors": 2}
    solution = cvxml.solve(ID, X, y, tol=1e-9, **given)
    assert solution.metric.any() != above
    report = cvxml.check(ID, X, y, np.zeros((3, 3)), tol="strict", exact=True, **given)
    assert report.verdict is (Verdict.CERTIFIED if above else Verdict.CLOSE)


def test_the_basis_that_is_made() -> None:
    """By hand: the pairs 01, 02, 04, 13, 23 in this order; 3 is 1's twin. Of four directions, two: first and third."""
    X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0], [3.0, 4.0], [1.0, 0.0]])
    found = np.array([[1, 0, 3], [2, 3, 0], [0, 4, 1]])
    expected = np.array([[-0.6, -0.8], [0.0, -1.0], [-1.0, 0.0], [-3 / 13**0.5, -2 / 13**0.5]])
    np.testing.assert_allclose(basis_of(X, found, 9), expected)
    np.testing.assert_allclose(basis_of(X, found, 2), expected[[0, 2]])
    np.testing.assert_allclose(basis_of(1e-200 * X, found, 9), expected)
    # the order of the triplets does not matter
    np.testing.assert_array_equal(basis_of(X, found[::-1], 9), basis_of(X, found, 9))
    given = get(ID).instance(*real_data("iris", 40), n_basis=17)
    assert given.basis.shape == (17, 4)
    np.testing.assert_allclose(np.linalg.norm(given.basis, axis=1), 1)
    assert get(ID).instance(*real_data("iris", 60)).basis.shape == (80, 4)


def test_a_metric_is_judged_by_the_least_weights_that_give_it() -> None:
    """e_1 costs 1 for what 2 e_1 costs a quarter: no weights of e_1 alone are optimal, but their metric is."""
    X, y = random_data(2, n=16, d=3, classes=2)
    B = np.vstack([np.eye(3), 2 * np.eye(3)])
    given: dict[str, Any] = {"beta": 0.05, "n_neighbors": 2}
    alone = cvxml.solve(ID, X, y, basis=2 * np.eye(3), tol=1e-9, **given)
    report = cvxml.check(ID, X, y, alone.metric, basis=B, tol="strict", **given)
    assert report.verdict is Verdict.CERTIFIED
    assert report.objective == pytest.approx(alone.objective, rel=1e-9)
    dear = cvxml.solve(ID, X, y, basis=np.eye(3), tol=1e-9, **given)
    assert dear.objective > alone.objective * 1.01


def test_what_is_no_combination_is_refused() -> None:
    X, y = real_data("iris", 24)
    B = basis("few", X)
    assert cvxml.check(ID, X, y, np.eye(4), basis=B, diagnosed=False).verdict is Verdict.REFUTED
    with pytest.raises(ValueError, match="metric"):
        cvxml.evaluate(ID, X, y, np.eye(4), basis=B)


@pytest.mark.quick(1)
@pytest.mark.parametrize("misreading", ["sum", "trace", "features"])
def test_a_misreading_is_named(misreading: str) -> None:
    """The features are in the basis, so that a metric of features is a combination."""
    X, y = real_data("iris", 24)
    B = np.vstack([np.eye(4), 0.3 * X[:6]])
    asked: dict[str, Any] = {"beta": 0.05, "basis": B}
    mistake: dict[str, Any] = {
        "sum": {"beta": 0.05 / len(triplets(y, X, 3))},
        "trace": {"basis": B / np.linalg.norm(B, axis=1, keepdims=True)},
        "features": {"basis": np.eye(4)},
    }[misreading]
    other = cvxml.solve(ID, X, y, tol=1e-9, **{**asked, **mistake})
    assert_named(ID, misreading, X, y, other.metric, **asked)


@pytest.mark.parametrize("kind", ["many", "multiples"])
def test_a_saved_metric_is_proved_without_the_package(kind: str) -> None:
    X, y = real_data("iris", 24)
    solution = cvxml.solve(ID, X, y, beta=0.01, basis=basis(kind, X), n_neighbors=1, tol=1e-8)
    content = solution.to_dict()
    _, _, gap, _, scale = recompute.recompute(content)
    assert gap <= 1e-6 * scale
    _, _, gap, _, scale = recompute.recompute({**content, "metric": (1.1 * solution.metric).tolist()})
    assert gap > 1e-4 * scale
    with pytest.raises(ValueError, match="metric"):
        recompute.recompute({**content, "metric": (solution.metric - np.eye(4)).tolist()})


def test_an_optimum_whose_least_sum_of_weights_is_not_found_is_not_refuted() -> None:
    # the mean of the triplets is Y with b^T Y b = 1 for the first and the last vector, less for the others
    B = np.array([[-512.0, 512.0], [1 / 64, -1 / 32], [-0.5, 0.5], [0.25, -0.5]])
    Y = np.linalg.solve(B[[0, 3]] ** 2, [1.0, 1.0])
    assert Y[0] < 0 < Y[1]
    assert (B**2 @ Y <= 1 + 1e-12).all()
    X = np.zeros((6, 2))
    X[1, 0], X[5, 1] = np.sqrt(-2 * Y[0]), np.sqrt(2 * Y[1])
    asked: dict[str, Any] = {"beta": 1.0, "basis": B, "triplets": [[0, 1, 2], [3, 4, 5]]}
    w = np.array([2.0**-22, 0, 0, 2.0**-26])
    M = B.T @ (B * w[:, None])
    h = rows(X, asked["triplets"], B.T) @ w
    # as at 0, and no metric is better
    assert w.sum() + np.maximum(0, 1 - h).mean() == pytest.approx(1, abs=1e-12)
    assert cvxml.check(ID, X, [0, 0, 1] * 2, 0 * M, **asked).verdict is Verdict.CERTIFIED
    for tol in ("normal", "strict"):
        assert cvxml.check(ID, X, [0, 0, 1] * 2, M, **asked, tol=tol).verdict not in NOT_OPTIMAL
    # what is worse by more than the sum may be is refuted as before
    worse = np.outer(B[0], B[0])
    assert cvxml.check(ID, X, [0, 0, 1] * 2, worse, **asked).verdict is Verdict.REFUTED


@pytest.mark.parametrize("power", [18, 20, 22, 26])
@pytest.mark.parametrize("beta", [1.0, 3.0])
def test_a_sum_of_weights_that_is_not_the_least_is_above_it_by_no_more_than_is_said(
    beta: float, power: int
) -> None:
    """Two of these vectors make M with weights of the sum 2^-16 + 2^-power; the weights that are found have more."""
    own = np.array([2.0**-16, 0.0, 0.0, 2.0**-power])
    M = UNLIKE.T @ (UNLIKE * own[:, None])
    given = METHOD.instance(
        np.vstack([np.zeros(2), np.eye(2)]), None, beta=beta, basis=UNLIKE, triplets=[[0, 1, 2]]
    )
    found = METHOD.evaluate(given, M)["w"]
    np.testing.assert_allclose(UNLIKE.T @ (UNLIKE * found[:, None]), M, rtol=1e-6)
    excess = found.sum() - own.sum()
    assert excess > 0.2 * own.sum()
    # the weights that are found are those of M but for its rounding
    above = METHOD.above(given, M) / beta
    assert excess - 1e-6 * own.sum() <= above <= found.sum() * (1 + 1e-9)


def test_nothing_is_above_the_least_sum_of_weights_where_it_is_found() -> None:
    """Of the features alone there are no two sums that give the same matrix."""
    given = METHOD.instance(np.vstack([np.zeros(2), np.eye(2)]), None, basis=np.eye(2), triplets=[[0, 1, 2]])
    assert METHOD.above(given, np.diag([1.0, 2.0])) <= 1e-12
    assert METHOD.above(given, np.zeros((2, 2))) == 0
