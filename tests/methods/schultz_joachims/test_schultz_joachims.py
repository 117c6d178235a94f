"""Schultz and Joachims: against cvxpy from scratch, the radius, what is of the form, misreadings, a saved metric."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from tests.instances import assert_named, random_data, real_data
from tests.methods.frobmetric.test_frobmetric import triplets
from validation import recompute

ID = "schultz_joachims"
X, Y = random_data(4, n=12, d=3, classes=2)


def rows(X: Any, found: Any, A: Any) -> FloatArray:
    """h_t of every triplet (m, r)."""
    Z = np.asarray(X) @ A
    i, j, l = np.asarray(found).T
    return np.asarray((Z[i] - Z[l]) ** 2 - (Z[i] - Z[j]) ** 2)


def directions(kind: str, X: FloatArray) -> FloatArray:
    """A of several shapes; points are moved, so that none is 0."""
    d, rng = X.shape[1], np.random.default_rng(5)
    return {
        "features": np.eye(d),
        "few": rng.standard_normal((d, 2)),
        "many": rng.integers(-3, 4, (d, 3 * d)) + np.tile(np.eye(d), 3),
        "points": (X + 0.5).T,
        "twice": np.hstack([np.eye(d), np.eye(d)]),
    }[kind]


POINTS = {
    "drawn": X,
    "wine": real_data("wine", 12)[0],
    "collinear": np.outer(np.arange(12.0) ** 2 % 7, [1.0, 2.0, -1.0]),
    "twins": np.repeat(np.random.default_rng(0).integers(0, 4, (6, 3)), 2, axis=0) * 1.0,
    "all equal": np.ones((12, 2)),
    "more features": np.random.default_rng(1).standard_normal((12, 20)),
}


@pytest.mark.quick(5)
@pytest.mark.parametrize("kind", ["features", "few", "many", "points", "twice"])
@pytest.mark.parametrize("points", POINTS)
def test_against_cvxpy_from_scratch(points: str, kind: str) -> None:
    """Triplets at random: some have H = 0, or j further than l."""
    X, rng, C = POINTS[points], np.random.default_rng(3), 0.5
    found = np.unique([rng.permutation(12)[:3] for _ in range(25)], axis=0)
    A = directions(kind, X)
    h, w = rows(X, found, A), cp.Variable(A.shape[1], nonneg=True)
    norm = cp.sum_squares(A @ cp.diag(w) @ A.T) / 2
    optimum = cp.Problem(cp.Minimize(norm + C * cp.sum(cp.pos(1 - h @ w)))).solve(cp.CLARABEL)
    given: dict[str, Any] = {"C": C, "A": A, "triplets": found}
    solution = cvxml.solve(ID, X, None, tol=1e-8, **given)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(optimum, rel=1e-5)
    own = cvxml.evaluate(ID, X, None, solution.metric, **given).w
    value = float(own @ (A.T @ A) ** 2 @ own) / 2 + C * float(np.maximum(0, 1 - h @ own).sum())
    assert solution.objective == pytest.approx(value, rel=1e-9)
    report = cvxml.check(ID, X, None, solution.metric, exact=True, **given)
    assert report.verdict is Verdict.CERTIFIED


def test_what_is_no_combination_counts_in_the_radius() -> None:
    """Judged is the diagonal, which is next to optimal; the matrix itself is further away."""
    best = cvxml.solve(ID, X, Y, tol=1e-9)
    error = 0.1 * np.linalg.norm(best.metric) * (np.ones((3, 3)) - np.eye(3))
    proof = get(ID).certify(get(ID).instance(X, Y), best.metric + error, best.dual)
    assert proof.gap <= 1e-8 * proof.scale
    assert proof.radius >= np.linalg.norm(error) * (1 - 1e-9)


def test_where_no_margin_is_reached_the_radius_is_the_distance() -> None:
    """Of 1/2 ||M||^2 less a linear function the gap is half of the squared distance."""
    best = cvxml.solve(ID, X, Y, C=1e-6, tol=1e-9)
    away = 0.1 * np.linalg.norm(best.metric)
    proof = cvxml.certify(ID, X, Y, 1.1 * best.metric, best.dual, C=1e-6)
    assert away <= proof.radius <= 1.001 * away


def test_columns_there_twice_share_a_weight_and_the_metric_is_the_same() -> None:
    plain = cvxml.solve(ID, X, Y, C=0.1, tol=1e-9)
    twice = cvxml.solve(ID, X, Y, C=0.1, A=directions("twice", X), tol=1e-9)
    both = plain.certificate.radius + twice.certificate.radius
    assert np.linalg.norm(plain.metric - twice.metric) <= both
    # a rotation of all columns is another problem
    turned = cvxml.solve(ID, X, Y, C=0.1, A=np.linalg.qr(X[:3].T)[0], tol=1e-9)
    assert np.linalg.norm(plain.metric - turned.metric) > both


@pytest.mark.parametrize("kind", ["features", "few"])
def test_what_is_not_of_the_form_is_refused(kind: str) -> None:
    """FrobMetric's optimum, which is better than any of the form."""
    A = directions(kind, X)
    psd = cvxml.solve("frobmetric", X, Y, C=0.1 * len(triplets(Y, X, 3)), tol=1e-9)
    report = cvxml.check(ID, X, Y, psd.metric, C=0.1, A=A, diagnosed=False)
    assert report.verdict is Verdict.REFUTED
    assert report.witness is None or report.witness.better_by > 0
    with pytest.raises(ValueError, match="metric"):
        cvxml.evaluate(ID, X, Y, psd.metric, C=0.1, A=A)
    assert psd.objective <= cvxml.solve(ID, X, Y, C=0.1, A=A).objective


@pytest.mark.quick(1)
@pytest.mark.parametrize("misreading", ["mean", "no_half", "features"])
def test_a_misreading_is_named(misreading: str) -> None:
    """The columns are the features and others, so that a metric of features is of the form."""
    X, y = real_data("iris", 24)
    A = np.hstack([np.eye(4), X[:6].T])
    mistake = {
        "mean": {"C": 0.1 / len(triplets(y, X, 3)), "A": A},
        "no_half": {"C": 0.1 / 2, "A": A},
        "features": {"C": 0.1},
    }[misreading]
    other = cvxml.solve(ID, X, y, tol=1e-9, **mistake)
    assert_named(ID, misreading, X, y, other.metric, C=0.1, A=A)


@pytest.mark.parametrize("kind", ["many", "twice"])
def test_a_saved_metric_is_proved_without_the_package_if_it_is_of_the_form(kind: str) -> None:
    solution = cvxml.solve(ID, X, Y, C=0.2, A=directions(kind, X), n_neighbors=1, tol=1e-8)
    content = solution.to_dict()
    _, _, gap, _, scale = recompute.recompute(content)
    assert gap <= 1e-6 * scale
    beside = np.zeros_like(solution.metric)
    beside[0, 1] = beside[1, 0] = 0.1 * np.linalg.norm(solution.metric)
    if kind == "twice":  # whose metrics are diagonal
        with pytest.raises(ValueError, match="metric"):
            recompute.recompute({**content, "metric": (solution.metric + beside).tolist()})


@pytest.mark.parametrize("unit", [1e-150, 1e-200, 1e-300])
def test_a_feature_that_no_weight_could_use_has_none(unit: float) -> None:
    X, y = random_data(0, n=12, d=3, classes=2)
    without = cvxml.solve(ID, X[:, 1:], y, n_neighbors=1, tol=1e-8)
    solution = cvxml.solve(ID, X * [unit, 1.0, 1.0], y, n_neighbors=1, tol=1e-8)
    assert solution.status is Status.CONVERGED
    assert solution.metric[0, 0] == 0
    assert solution.objective == pytest.approx(without.objective, rel=1e-6)


def test_the_norm_is_half_the_sum_of_squares() -> None:
    """With A = I the metric is diagonal."""
    assert cvxml.evaluate("schultz_joachims", X, Y, np.diag([3.0, 1.0, 2.0]), n_neighbors=2).norm == 7.0


def test_the_report_has_the_distance_to_the_metrics_of_the_method() -> None:
    """A full matrix is judged among the diagonal ones. Its part off the diagonal has the norm 0.02."""
    X, y = random_data(0, n=16, d=2, classes=2)
    for off, told in ((0.02 / np.sqrt(2), True), (0.0, False)):
        matrix = np.eye(2) + off * (1 - np.eye(2))
        report = cvxml.check("schultz_joachims", X, y, matrix, n_neighbors=2, diagnosed=False)
        assert ("0.02" in str(report.feasibility)) is told
