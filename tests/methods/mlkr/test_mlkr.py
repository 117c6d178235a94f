"""MLKR: the gradient, the convex step and its dual, what is stationary, the infimum, its mistakes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.backend import solve_problem
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.methods.mlkr import certify, misreadings, solve
from tests.instances import assert_named, checked, objective_of, random_data


def data(seed: int = 0, n: int = 14, d: int = 3) -> tuple[FloatArray, FloatArray]:
    """Targets that depend on two features, and on noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(n)


X, Y = data()
BEST = cvxml.solve("mlkr", X, Y, tol=1e-9)


def error(A: FloatArray, X: FloatArray = X, y: FloatArray = Y) -> float:
    """The leave-one-out error, by scipy's softmax."""
    E = X @ A.T
    D = np.sum((E[:, None] - E) ** 2, axis=2)
    np.fill_diagonal(D, np.inf)
    return float(np.sum((softmax(-D, axis=1) @ y - y) ** 2))


# ---------------------------------------------------------------- the problem


def test_two_points_predict_each_other() -> None:
    assert objective_of("mlkr", [[0.0], [5.0]], [1.0, 3.0], [[2.0]]) == 8.0
    assert objective_of("mlkr", X, Y, np.diag([1.0, 4.0, 9.0])) == pytest.approx(error(np.diag([1.0, 2, 3])))


@pytest.mark.parametrize("m", [None, 1, 2])
def test_the_solution_is_a_stationary_point_of_the_error(m: int | None) -> None:
    points, y = data(0 if m is None else 2)
    found = cvxml.solve("mlkr", points, y, n_components=m, tol=1e-9)
    assert found.status is Status.STATIONARY
    A = found.components
    assert A is not None
    assert error(A, points, y) == pytest.approx(found.objective, rel=1e-9)
    for unit in 1e-5 * np.eye(A.size).reshape(-1, *A.shape):
        assert abs(error(A + unit, points, y) - error(A - unit, points, y)) / 2e-5 < 1e-6
    # another descent, from nearby, comes back
    start = A + 1e-3 * np.random.default_rng(0).standard_normal(A.shape)
    near = minimize(lambda a: error(a.reshape(A.shape), points, y), start.ravel())
    assert near.fun == pytest.approx(found.objective, rel=1e-6)


def test_gradients_are_those_of_the_error() -> None:
    at = cvxml.evaluate("mlkr", X, Y, np.diag([0.5, 0.3, 0.2]) + 0.1)
    rng = np.random.default_rng(0)
    E = rng.standard_normal(at.A.shape)
    step = (error(at.A + 1e-6 * E) - error(at.A - 1e-6 * E)) / 2e-6
    assert np.sum(at.gradient_A * E) == pytest.approx(step, rel=1e-6)
    assert at.scale_derivative == pytest.approx(
        (error(1.000001 * at.A) - error(0.999999 * at.A)) / 2e-6, rel=1e-6
    )
    value, gradient = solve.value_and_gradient(X, Y, at.A)
    assert value == pytest.approx(at.objective, rel=1e-12)
    np.testing.assert_allclose(gradient, at.gradient_A, atol=1e-10)


# ---------------------------------------------------------------- the convex step


@pytest.mark.slow
def test_the_step_touches_the_error_and_lies_above_it_and_its_dual_is_its_own() -> None:
    points, y = data(1, n=8, d=2)
    of, given = checked("mlkr", points, y)
    Q0 = np.array([[0.3, 0.06], [0.06, 0.15]])
    step, dual = of.problem(given, Q0), of.dual(given, Q0)
    (Q,) = step.variables()
    rng = np.random.default_rng(0)
    Q.value = Q0
    assert step.objective.value == pytest.approx(of.objective(given, Q0), rel=1e-9)
    for _ in range(20):
        root = rng.standard_normal((2, 2)) * 10 ** rng.uniform(-1, 0.5)
        Q.value = root @ root.T
        assert step.objective.value >= of.objective(given, Q.value) * (1 - 1e-12)
    for problem in (step, dual):
        assert problem.is_dcp()
        solve_problem(problem, "clarabel", True)
    assert dual.value == pytest.approx(step.value, rel=1e-5)
    assert of.objective(given, Q.value) <= step.value * (1 + 1e-9) < of.objective(given, Q0)
    # a stationary metric is the answer of its own step
    best = cvxml.solve("mlkr", points, y, tol=1e-9)
    own = cvxml.problem("mlkr", points, y, at=best.metric)
    solve_problem(own, "clarabel", True)
    assert own.value == pytest.approx(best.objective, rel=1e-5)


# ---------------------------------------------------------------- what is stationary


def test_the_certificate_is_the_gradient_in_coordinates_of_unit_covariance() -> None:
    Q = np.diag([0.5, 0.3, 0.2]) + 0.1
    at = cvxml.evaluate("mlkr", X, Y, Q)
    root = np.linalg.cholesky(np.cov(X.T, bias=True))
    A = at.A @ root
    gradient = at.gradient_A @ np.linalg.inv(root).T
    proof = cvxml.certify("mlkr", X, Y, Q, {})
    found = proof.stationarity
    assert found is not None
    assert found.gradient == pytest.approx(max(np.linalg.norm(A), 1) * np.linalg.norm(gradient), rel=1e-9)
    assert found.scale_derivative == pytest.approx(at.scale_derivative, rel=1e-9)
    G = np.linalg.inv(root) @ at.gradient_Q @ np.linalg.inv(root).T
    least = max(np.linalg.norm(A), 1) ** 2 * max(0.0, -np.linalg.eigvalsh(G)[0])
    assert found.dc_residual == pytest.approx(least, rel=1e-6)
    assert (proof.kind, proof.lower_bound) == ("stationary", 0.0)


@pytest.mark.parametrize("m", [1, 2])
def test_of_limited_rank_no_row_is_free_unless_one_is_0(m: int) -> None:
    X, y = data(2)
    found = cvxml.solve("mlkr", X, y, n_components=m, tol=1e-9)
    assert found.certificate.stationarity.dc_residual == 0
    short = found.metric if m == 1 else np.outer(found.components[0], found.components[0])
    proof = cvxml.certify("mlkr", X, y, short, {}, n_components=m + 1 if m == 1 else m)
    assert proof.stationarity.dc_residual > 0


def test_zero_is_stationary_to_first_order_and_not_certified() -> None:
    proof = cvxml.certify("mlkr", X, Y, np.zeros((3, 3)), {})
    assert proof.stationarity.gradient == 0
    assert proof.stationarity.dc_residual > 0
    assert cvxml.check("mlkr", X, Y, np.zeros((3, 3)), diagnosed=False).verdict is Verdict.REFUTED


def test_zero_is_certified_where_it_is_a_local_minimum() -> None:
    """Each point is near one of the other target, so every multiple of the metric has a larger error."""
    points, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([1.0, 0.0, 1.0, 0.0])
    least = error(np.zeros((1, 1)), points, y)
    assert all(error(np.array([[a]]), points, y) > least for a in np.geomspace(1e-3, 30, 40))
    proof = cvxml.certify("mlkr", points, y, np.zeros((1, 1)), {})
    assert proof.proves(1e-9)
    assert proof.scale == pytest.approx(least)
    away = cvxml.check("mlkr", points, y, np.array([[0.1]]), diagnosed=False)
    assert away.verdict is Verdict.REFUTED


def test_dependent_features_change_nothing() -> None:
    X = np.round(data()[0] * 2**20) / 2**20  # sums of which are exact
    more = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    start = np.column_stack([BEST.components, np.zeros((3, 2))])
    found = cvxml.solve("mlkr", more, Y, tol=1e-9, n_components=3, init=start)
    assert found.status is Status.STATIONARY
    assert found.objective == pytest.approx(BEST.objective, rel=1e-4)
    Q = np.zeros((5, 5))
    Q[:3, :3] = np.diag([0.5, 0.3, 0.2]) + 0.1
    here, there = (
        cvxml.certify("mlkr", *each, {}).stationarity for each in ((X, Y, Q[:3, :3]), (more, Y, Q))
    )
    assert there.gradient == pytest.approx(here.gradient, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-8, 1024.0])
def test_units_of_single_features_and_of_targets_do_not_matter(unit: float) -> None:
    T = np.diag([unit, 1.0, 1.0])
    other = cvxml.solve("mlkr", X @ T, 7 * Y + 3, tol=1e-9, init=BEST.components @ np.linalg.inv(T))
    assert other.status is Status.STATIONARY
    assert other.objective == pytest.approx(49 * BEST.objective, rel=1e-9)


# ---------------------------------------------------------------- infinity


def test_where_nearest_neighbours_have_their_targets_no_metric_is_optimal() -> None:
    points = [[0.0], [0.1], [5.0], [5.1], [9.0], [9.2]]
    with pytest.warns(ConvergenceWarning):
        found = cvxml.solve("mlkr", points, [1.0, 1.0, 2.5, 2.5, 0.0, 0.0])
    assert found.status is Status.NOT_ATTAINED
    assert 0 <= found.objective < 1e-3  # which underflows
    assert not found.certificate.proves(1e-3)


def test_a_tie_is_no_neighbour_with_its_target() -> None:
    for last in (2.5, 9.0):  # where that is the neighbour of the third point only the second has a tie
        _, given = checked("mlkr", [[0.0], [1.0], [2.0], [last]], [1.0, 1.0, 2.0, 2.0])
        assert not certify.tends_to_0(given, np.eye(1))
    _, given = checked("mlkr", [[0.0], [1.0], [2.5], [3.0]], [1.0, 1.0, 2.0, 2.0])
    assert certify.tends_to_0(given, np.eye(1))


def test_what_is_nearest_at_less_than_0_proves_nothing() -> None:
    """Four points at one place, of which the partners are far apart in directions with an eigenvalue of -1e-8."""
    cross = np.array([[0.0, 10, 0], [0.0, -10, 0], [0.0, 0, 10], [0.0, 0, -10]])
    points = np.concatenate([cross, cross + np.array([100.0, 0, 0])])
    _, given = checked("mlkr", points, [1.0, 1.0, 2.0, 2.0, 5.0, 5.0, 7.0, 7.0])
    assert not certify.tends_to_0(given, np.diag([1.0, -1e-8, -1e-8]))
    assert certify.tends_to_0(given, np.diag([1e-4, 1.0, 2.0])) is False
    _, paired = checked("mlkr", cross + np.outer([0.0, 1, 50, 51], [1.0, 0, 0]), [1.0, 1, 2, 2])
    assert certify.tends_to_0(paired, np.diag([1.0, 0.0, 0.0]))
    assert not certify.tends_to_0(paired, np.zeros((3, 3)))


def test_what_doubles_see_of_infinity_is_not_said_to_be_proved() -> None:
    """In the note, and in the status: no root of a metric is looked at in integers there."""
    _, given = checked("mlkr", [[0.0], [0.1], [5.0], [5.1], [5.3]], [1.0, 1.0, 2.0, 2.0, 3.0])
    (said,) = get("mlkr").remarks(given, np.array([[1e4]]))
    assert "double precision" in said
    assert "double precision" in Status.AT_INFINITY.sentence


def test_a_run_to_infinity_is_not_called_stationary() -> None:
    """One point has a neighbour of another target, whatever the multiple: F tends to what that costs, from above."""
    points = [[0.0], [0.1], [5.0], [5.1], [5.3]]
    y = [1.0, 1.0, 2.5, 2.5, 4.0]
    with pytest.warns(ConvergenceWarning):
        found = cvxml.solve("mlkr", points, y)
    assert found.status is Status.AT_INFINITY
    far = cvxml.certify("mlkr", points, y, 1e4 * np.eye(1), {})
    assert far.stationarity.gradient < 1e-9
    assert not far.proves(1e-3)


# ---------------------------------------------------------------- targets


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (None, "y is None"),
        (["a"] * 14, "y"),
        (np.ones(13), "13"),
        (np.ones((14, 2)), "one-dimensional"),
        ([math.nan] * 14, "NaN"),
        (np.ones(14), "the same"),
    ],
)
def test_what_are_no_targets(y: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        cvxml.solve("mlkr", X, y)


@pytest.mark.parametrize(
    ("option", "value"),
    [("init", "lda"), ("init", np.zeros((3, 3))), ("random_state", -1), ("solver", "clarabel")],
)
def test_what_solve_does_not_take(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=option):
        cvxml.solve("mlkr", X, Y, **{option: value})


def test_the_estimator_predicts_better_than_euclid() -> None:
    points, y = data(5, n=40, d=4)
    model = cvxml.MLKR(2).fit(points, y)
    assert model.transform(points).shape == (40, 2)
    assert error(model.components_, points, y) < 0.7 * error(np.eye(4), points, y)
    assert not hasattr(model, "classes_")


# ---------------------------------------------------------------- misreadings, made here without the package


def wrong_error(a: FloatArray, kind: str, X: FloatArray = X, y: FloatArray = Y) -> float:
    E = X @ a.reshape(3, 3).T
    D = np.sum((E[:, None] - E) ** 2, axis=2)
    if kind == "plain":
        D = np.sqrt(np.maximum(D, 0.0))
    if kind == "half":
        D = D / 2
    np.fill_diagonal(D, np.inf)
    error = softmax(-D, axis=1) @ y - y
    return float(np.sum(error**2))


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["half", "plain"])
def test_a_mistake_is_named(kind: str) -> None:
    points, y = data(6)
    start = math.sqrt(2) * cvxml.solve("mlkr", points, y).components.ravel()
    found = minimize(wrong_error, start, (kind, points, y), method="BFGS", options={"gtol": 1e-9})
    A = found.x.reshape(3, 3)
    assert_named("mlkr", kind, points, y, A.T @ A)


@pytest.mark.parametrize("kind", sorted(misreadings.MISREADINGS))
def test_what_a_misreading_computes_is_its_own_error_and_gradient(kind: str) -> None:
    _, given = checked("mlkr", X, Y)
    root = given.at.to
    Q = np.diag([0.5, 0.3, 0.2]) + 0.1
    F, G = misreadings._misread(given, Q, kind)
    E = np.diag([1.0, -0.5, 0.3]) + 0.2

    def at(Q: FloatArray) -> float:
        return wrong_error(np.linalg.cholesky(root @ Q @ root.T).T.ravel(), kind)

    assert pytest.approx(at(Q), rel=1e-9) == F
    slope = (at(Q + 1e-6 * E) - at(Q - 1e-6 * E)) / 2e-6
    assert np.sum(G * E) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("size", [1e-170, 1e160])
def test_targets_beyond_double_precision_are_refused(size: float) -> None:
    X = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(ValueError, match="rescale y"):
        cvxml.solve("mlkr", X, size * np.arange(10), n_components=1)


@pytest.mark.parametrize("unit", [2.0**-190, 2.0**-30, 2.0**10, 2.0**40, 2.0**190])
def test_the_unit_of_the_targets_changes_nothing(unit: float) -> None:
    """s y has the objective s^2 F, and the same stationary metrics."""
    points, _ = random_data(3, n=24, d=3)
    y = np.sin(points[:, 0]) + 0.3 * points[:, 1]
    one, other = (cvxml.solve("mlkr", points, s * y) for s in (1.0, unit))
    assert other.status is one.status
    assert other.objective == one.objective * unit**2
    np.testing.assert_array_equal(other.metric, one.metric)
