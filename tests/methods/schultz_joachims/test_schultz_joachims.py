"""Schultz and Joachims: by hand, against cvxpy from scratch, from KKT, kernels, 0 and the other end, misreadings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from tests.instances import random_data, real_data
from tests.methods.frobmetric.test_frobmetric import LINE, triplets
from tests.recomputed import assert_proved, assert_refused

ID = "schultz_joachims"


def rows(X: Any, found: Any, A: Any) -> FloatArray:
    """h_t of every triplet (m, r)."""
    Z = np.asarray(X) @ A
    i, j, l = np.asarray(found).T
    return np.asarray((Z[i] - Z[l]) ** 2 - (Z[i] - Z[j]) ** 2)


def value(h: FloatArray, C: float, A: Any, w: Any) -> float:
    """The objective by w^T L w."""
    L = (A.T @ A) ** 2
    return float(w @ L @ w) / 2 + C * float(np.maximum(0, 1 - h @ w).sum())


@pytest.mark.parametrize("C", [1e-3, 0.01, 1.0, 100.0])
def test_on_a_line_by_hand(C: float) -> None:
    """The margins are 8, 3, 1.75, 10 times M: the derivative, which rises, is followed to where it is 0."""
    X, y = LINE
    h = np.array([8.0, 3.0, 1.75, 10.0])
    low, high = 0.0, C * h.sum()
    for _ in range(200):
        M = (low + high) / 2
        low, high = (M, high) if C * float((M * h < 1) @ h) > M else (low, M)
    solution = cvxml.solve(ID, X, y, C=C, n_neighbors=1, tol=1e-9)
    assert solution.status is Status.CONVERGED
    assert solution.metric[0, 0] == pytest.approx(high, rel=1e-4)
    assert solution.objective == pytest.approx(value(h[:, None], C, np.eye(1), np.array([high])), rel=1e-8)


def test_what_is_no_combination_counts_in_the_radius() -> None:
    """Judged is the diagonal, which is next to optimal; the matrix itself is further away."""
    X, y = random_data(4, n=12, d=3, classes=2)
    best = cvxml.solve(ID, X, y, tol=1e-9)
    off = 0.1 * np.linalg.norm(best.metric) * (np.ones((3, 3)) - np.eye(3))
    proof = get(ID).certify(get(ID).instance(X, y), best.metric + off, best.dual)
    assert proof.gap <= 1e-8 * proof.scale
    assert proof.radius >= np.linalg.norm(off) * (1 - 1e-9)


def test_where_no_margin_is_reached_the_radius_is_the_distance() -> None:
    """Of 1/2 ||M||^2 less a linear function the gap is half of the squared distance."""
    X, y = random_data(4, n=12, d=3, classes=2)
    best = cvxml.solve(ID, X, y, C=1e-6, tol=1e-9)
    away = 0.1 * np.linalg.norm(best.metric)
    proof = cvxml.certify(ID, X, y, 1.1 * best.metric, best.dual, C=1e-6)
    assert away <= proof.radius <= 1.001 * away


def directions(kind: str, X: FloatArray) -> FloatArray | None:
    """A of several shapes; None: the features."""
    d, rng = X.shape[1], np.random.default_rng(5)
    return {
        "features": None,
        "few": rng.standard_normal((d, 2)),
        "many": rng.integers(-3, 4, (d, 3 * d)) + np.tile(np.eye(d), 3),
        "points": X.T,
        "twice": np.hstack([np.eye(d), np.eye(d)]),
    }[kind]


@pytest.mark.quick(9)
@pytest.mark.parametrize("kind", ["features", "few", "many", "points", "twice"])
@pytest.mark.parametrize(
    "data", [random_data(2, n=16, d=3, classes=2), real_data("iris", 24), real_data("wine", 16)]
)
def test_against_cvxpy_from_scratch(data: tuple[Any, Any], kind: str) -> None:
    (X, y), C, k = data, 0.05, 2
    A = directions(kind, X)
    own = np.eye(X.shape[1]) if A is None else A
    h = rows(X, triplets(y, X, k), own)
    w = cp.Variable(own.shape[1], nonneg=True)
    norm = cp.sum_squares(own @ cp.diag(w) @ own.T) / 2
    optimum = cp.Problem(cp.Minimize(norm + C * cp.sum(cp.pos(1 - h @ w)))).solve(cp.CLARABEL)
    solution = cvxml.solve(ID, X, y, C=C, A=A, n_neighbors=k, tol=1e-8)
    assert solution.lower_bound - 1e-5 <= optimum <= solution.objective + 1e-5
    weights = cvxml.evaluate(ID, X, y, solution.metric, C=C, A=A, n_neighbors=k).w
    assert solution.objective == pytest.approx(value(h, C, own, weights), rel=1e-9)


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    "X",
    [
        pytest.param(np.outer(np.arange(12.0) ** 2 % 7, [1.0, 2.0, -1.0]), id="collinear"),
        pytest.param(np.repeat(np.random.default_rng(0).integers(0, 4, (6, 3)), 2, axis=0) * 1.0, id="twins"),
        pytest.param(np.ones((12, 2)), id="all equal"),
        pytest.param(np.random.default_rng(1).standard_normal((12, 20)), id="more features"),
    ],
)
@pytest.mark.parametrize("kind", ["features", "points"])
def test_degenerate_points(X: FloatArray, kind: str) -> None:
    """Points for columns are moved, so that none is 0."""
    rng = np.random.default_rng(3)
    found = np.unique([rng.permutation(12)[:3] for _ in range(25)], axis=0)
    own = np.eye(X.shape[1]) if kind == "features" else (X + 0.5).T
    h, w = rows(X, found, own), cp.Variable(own.shape[1], nonneg=True)
    norm = cp.sum_squares(own @ cp.diag(w) @ own.T) / 2
    optimum = cp.Problem(cp.Minimize(norm + 2.0 * cp.sum(cp.pos(1 - h @ w)))).solve(cp.CLARABEL)
    solution = cvxml.solve(ID, X, None, C=2.0, A=own, triplets=found, tol=1e-8)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(optimum, rel=1e-5)
    report = cvxml.check(ID, X, None, solution.metric, exact=True, C=2.0, A=own, triplets=found)
    assert report.verdict is Verdict.CERTIFIED


class Known(NamedTuple):
    """An instance whose optimum follows from its construction, without any solver."""

    X: FloatArray
    triplets: list[list[int]]
    C: float
    w: FloatArray
    objective: float


def from_kkt(seed: int) -> Known:
    """Each triplet has points of its own that differ in one feature k; l is at b from i: h = b^2 there, and 0 else.

    w_k = a b^2: a price 0 < a < C needs the margin w_k b^2 = 1, so a = b^-4; at the price C the margin C b^4 is below
    1. A triplet on the first feature keeps its margin; in the last feature j is further than l, and its weight is 0.
    """
    rng = np.random.default_rng(seed)
    C = float(10 ** rng.uniform(-1, 1))
    prices, margins = (
        C * np.array([*rng.uniform(0.1, 0.9, 2), 1, 1]),
        np.array([1, 1, *rng.uniform(0.2, 0.9, 2)]),
    )
    b = (margins / prices) ** 0.25
    w = np.array([*(margins / b**2), 0.0])
    away = [*(b * np.eye(5)[:, :4]).T, 1.3 / np.sqrt(w[0]) * np.eye(5)[0], np.zeros(5)]
    points, listed = [], []
    for k, e in enumerate(away):
        centre = rng.standard_normal(5)
        near = np.eye(5)[4] if k == 5 else np.zeros(5)
        points += [centre, centre + near, centre - e]
        listed.append([3 * k, 3 * k + 1, 3 * k + 2])
    objective = float(w @ w) / 2 + C * float((1 - margins).sum()) + C
    return Known(np.array(points), listed, C, w, objective)


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(6))
def test_from_kkt(seed: int) -> None:
    known = from_kkt(seed)
    given: dict[str, Any] = {"C": known.C, "triplets": known.triplets}
    solution = cvxml.solve(ID, known.X, None, tol=1e-9, **given)
    assert solution.objective == pytest.approx(known.objective, rel=1e-8)
    M = np.diag(known.w)
    assert np.linalg.norm(solution.metric - M) <= solution.certificate.radius * (1 + 1e-6) + 1e-9
    assert cvxml.check(ID, known.X, None, M, **given).verdict is Verdict.CERTIFIED
    for factor, verdict in ((1.002, Verdict.CLOSE), (1.05, Verdict.REFUTED)):
        wrong = cvxml.check(ID, known.X, None, factor * M, diagnosed=False, **given)
        assert wrong.verdict is verdict


def test_columns_there_twice_share_a_weight_and_the_metric_is_the_same() -> None:
    X, y = real_data("iris", 30)
    plain = cvxml.solve(ID, X, y, C=0.1, tol=1e-9)
    twice = cvxml.solve(ID, X, y, C=0.1, A=directions("twice", X), tol=1e-9)
    both = plain.certificate.radius + twice.certificate.radius
    assert np.linalg.norm(plain.metric - twice.metric) <= both
    # a rotation of all columns is another problem
    turned = cvxml.solve(ID, X, y, C=0.1, A=np.linalg.qr(X[:4].T)[0], tol=1e-9)
    assert np.linalg.norm(plain.metric - turned.metric) > both


def test_a_small_C_has_a_closed_form() -> None:
    """Every price is C where no margin of C (sum h)_+ is beyond 1."""
    X, y = real_data("wine", 20)
    h = rows(X, triplets(y, X, 2), np.eye(13))
    plus = np.maximum(h.sum(axis=0), 0)
    C = 0.99 / float((h @ plus).max())
    solution = cvxml.solve(ID, X, y, C=C, n_neighbors=2, tol=1e-9)
    np.testing.assert_allclose(np.diag(solution.metric), C * plus, rtol=1e-4, atol=1e-9)
    assert cvxml.check(ID, X, y, np.diag(C * plus), C=C, n_neighbors=2).verdict is Verdict.CERTIFIED


def test_zero_is_optimal_where_no_feature_gains() -> None:
    """Only 0 is certified then, which is decided in rationals."""
    X, given = [[0.0], [1.0], [3.0], [2.0]], {"triplets": [[0, 2, 1], [0, 1, 3], [1, 2, 3]]}
    h = rows(X, given["triplets"], np.eye(1))
    assert float(h.sum()) < 0 < float(h.max())
    solution = cvxml.solve(ID, X, None, **given)
    assert solution.metric[0, 0] == 0
    assert solution.gap == 0
    assert cvxml.check(ID, X, None, [[0.0]], exact=True, **given).verdict is Verdict.CERTIFIED
    for other in (1e-9, 1.0):
        assert cvxml.check(ID, X, None, [[other]], **given).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("kind", ["features", "few", "many"])
def test_any_prices_bound_any_metric(kind: str) -> None:
    X, y = random_data(3, n=14, d=3, classes=2)
    rng, method, A = np.random.default_rng(0), get(ID), directions(kind, X)
    own = np.eye(3) if A is None else A
    found = triplets(y, X, 2)
    given = method.instance(X, y, n_neighbors=2, A=A)
    for size in 10.0 ** rng.uniform(-4, 2, 20):
        price = size * rng.standard_normal(len(found))
        w = rng.random(own.shape[1]) * 10.0 ** rng.uniform(-3, 1)
        M = own @ np.diag(w) @ own.T
        proof = method.certify(given, M, {"price": price, "triplets": np.array(found)})
        assert proof.lower_bound <= method.objective(given, M) * (1 + 1e-12)
        assert proof.gap >= -proof.rounding


@pytest.mark.parametrize("kind", ["features", "few"])
def test_what_is_not_of_the_form_is_refused(kind: str) -> None:
    """FrobMetric's optimum, which is better than any of the form."""
    X, y = real_data("iris", 30)
    A, found = directions(kind, X), triplets(y, X, 3)
    psd = cvxml.solve("frobmetric", X, y, C=0.1 * len(found), tol=1e-9)
    report = cvxml.check(ID, X, y, psd.metric, C=0.1, A=A, diagnosed=False)
    assert report.verdict is Verdict.REFUTED
    assert "not a metric" in report.reasons[0]
    assert "distance to the nearest" in report.reasons[0]
    assert report.witness is None or report.witness.better_by > 0
    with pytest.raises(ValueError, match="not a metric of this method"):
        cvxml.evaluate(ID, X, y, psd.metric, C=0.1, A=A)
    assert psd.objective <= cvxml.solve(ID, X, y, C=0.1, A=A).objective


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda C, m, A: {"C": C / m, "A": A}, "the mean over triplets where there is their sum"),
        (lambda C, m, A: {"C": C / 2, "A": A}, "half of it"),
        (lambda C, m, A: {"C": C}, "weights of the features"),
    ],
)
def test_a_misreading_is_named(mistake: Any, says: str) -> None:
    """The columns are the features and others, so that a metric of features is of the form."""
    X, y = real_data("iris", 30)
    C, A = 0.1, np.hstack([np.eye(4), X[:6].T])
    other = cvxml.solve(ID, X, y, tol=1e-9, **mistake(C, len(triplets(y, X, 3)), A))
    report = cvxml.check(ID, X, y, other.metric, C=C, A=A)
    assert report.verdict is Verdict.REFUTED
    assert any(says in line for line in report.diagnosis)


def test_exactly_the_interval_holds_the_optimum() -> None:
    """Margins 3 w_0 + 8 w_1, C = 1/100: all prices are C, w = (3, 8)/100, and 1/100 - 73/20000 is the optimum."""
    X = [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]]
    given: dict[str, Any] = {"C": 0.01, "triplets": [[0, 1, 2]]}
    report = cvxml.check(ID, X, None, np.diag([0.03, 0.08]), exact=True, **given)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is not None
    assert report.exact.lower_bound <= report.exact.objective
    assert float(report.exact.lower_bound) == pytest.approx(0.01 - 73 / 20000, rel=1e-9)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"C": 0}, "C must"),
        ({"C": 1e-200}, "C s\\^4"),
        ({"A": np.eye(3)}, "vectors of 2 features"),
        ({"A": np.zeros((2, 1))}, "the columns of A: vector 0"),
        ({"A": [1.0, 2.0]}, "vectors of 2 features"),
        ({"n_neighbors": 9}, "lower n_neighbors"),
        ({"triplets": [[0, 1, 12]]}, "outside"),
    ],
)
def test_bad_parameters(params: dict[str, Any], says: str) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    with pytest.raises(ValueError, match=says):
        cvxml.solve(ID, X, y, **params)


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["features", "many", "twice"])
def test_a_saved_file_is_proved_without_the_package(kind: str, tmp_path: Path) -> None:
    X, y = real_data("iris", 24)
    path = tmp_path / "solution.json"
    solution = cvxml.solve(ID, X, y, C=0.2, A=directions(kind, X), n_neighbors=1, tol=1e-8)
    solution.save(path)
    assert_proved(path)
    beside = np.zeros_like(solution.metric)
    beside[0, 1] = beside[1, 0] = 1e-3
    assert_refused(path, metric=(solution.metric + beside).tolist())


@pytest.mark.parametrize("unit", [1e-150, 1e-200, 1e-300])
def test_a_feature_that_no_weight_could_use_has_none(unit: float) -> None:
    X, y = random_data(0, n=12, d=3, classes=2)
    without = cvxml.solve(ID, X[:, 1:], y, n_neighbors=1, tol=1e-8)
    solution = cvxml.solve(ID, X * [unit, 1.0, 1.0], y, n_neighbors=1, tol=1e-8)
    assert solution.status is Status.CONVERGED
    assert solution.metric[0, 0] == 0
    assert solution.objective == pytest.approx(without.objective, rel=1e-6)
