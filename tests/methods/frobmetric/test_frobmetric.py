"""FrobMetric: by hand, against cvxpy from scratch, from KKT, its bound for any prices, its misreadings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from tests.instances import random_data, real_data
from tests.recomputed import assert_proved, assert_refused, dual_of

LINE = ([[0.0], [1.0], [3.0], [4.5]], [0, 0, 1, 1])  # one target and one impostor a point


def triplets(y: Any, X: Any, k: int) -> list[tuple[int, int, int]]:
    """The k nearest of the class with the k nearest of the rest, point by point; the index decides a tie."""
    X, y, found = np.asarray(X), np.asarray(y), []
    for i in range(len(X)):
        near = sorted(range(len(X)), key=lambda j: (np.sum((X[i] - X[j]) ** 2), j))
        own = [j for j in near if y[j] == y[i] and j != i][:k]
        rest = [l for l in near if y[l] != y[i]][:k]
        found += [(i, j, l) for j in own for l in rest]
    return found


def value(X: Any, y: Any, k: int, C: float, M: Any) -> float:
    """The objective, one triplet after another."""
    X, losses = np.asarray(X), []
    for i, j, l in triplets(y, X, k):
        far, near = X[i] - X[l], X[i] - X[j]
        losses.append(max(0.0, 1 - far @ M @ far + near @ M @ near))
    return float(np.sum(np.square(M)) / 2 + C * np.mean(losses))


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 100.0])
def test_on_a_line_by_hand(C: float) -> None:
    """The margins are 8, 3, 1.75, 10 times X: the minimum of a parabola and four hinges, each a candidate."""
    X, y = LINE
    h = np.array([3.0**2 - 1, 2.0**2 - 1, 2.0**2 - 1.5**2, 3.5**2 - 1.5**2])
    kinks = 1 / h
    slopes = [C / 4 * h[kinks >= kink].sum() for kink in kinks]
    best = min(
        [0.0, *kinks, *slopes, C / 4 * h.sum()],
        key=lambda x: x**2 / 2 + C / 4 * np.maximum(0, 1 - h * x).sum(),
    )
    solution = cvxml.solve("frobmetric", X, y, C=C, n_neighbors=1, tol=1e-9)
    assert solution.status is Status.CONVERGED
    assert solution.metric[0, 0] == pytest.approx(best, rel=1e-4)
    assert solution.objective == pytest.approx(value(X, y, 1, C, np.array([[best]])), rel=1e-8)


@pytest.mark.parametrize("data", [random_data(2, n=16, d=3, classes=2), real_data("iris", 24)])
def test_against_cvxpy_from_scratch(data: tuple[Any, Any]) -> None:
    (X, y), C, k = data, 2.0, 2
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    H = [
        np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        for i, j, l in triplets(y, X, k)
    ]
    losses = cp.sum(cp.hstack([cp.pos(1 - cp.trace(M @ h)) for h in H]))
    optimum = cp.Problem(cp.Minimize(cp.sum_squares(M) / 2 + C / len(H) * losses)).solve(cp.CLARABEL)
    solution = cvxml.solve("frobmetric", X, y, C=C, n_neighbors=k, tol=1e-8)
    assert solution.lower_bound - 1e-6 <= optimum <= solution.objective + 1e-6
    assert solution.objective == pytest.approx(value(X, y, k, C, solution.metric), rel=1e-12)


def test_any_prices_bound_any_metric() -> None:
    X, y = random_data(3, n=14, d=3, classes=2)
    rng, method = np.random.default_rng(0), get("frobmetric")
    given = method.instance(X, y, n_neighbors=2)
    found = given.triplets()
    for size in 10.0 ** rng.uniform(-4, 2, 30):
        price = size * rng.standard_normal(len(found))
        L = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-3, 1)
        proof = method.certify(given, L @ L.T, {"price": price, "triplets": found})
        assert proof.lower_bound <= method.objective(given, L @ L.T) * (1 + 1e-12)
        assert proof.gap >= -proof.rounding


@pytest.mark.parametrize(
    ("C", "says"),
    [
        (lambda C, m: C * m, "the sum over triplets where there is their mean"),
        (lambda C, m: C / 2, "half of it"),
    ],
)
def test_a_misreading_is_named(C: Any, says: str) -> None:
    X, y = real_data("iris", 30)
    m = len(triplets(y, X, 3))
    other = cvxml.solve("frobmetric", X, y, C=C(0.05, m), tol=1e-9)
    report = cvxml.check("frobmetric", X, y, other.metric, C=0.05)
    assert report.verdict is Verdict.REFUTED
    assert any(says in line for line in report.diagnosis)


def test_exactly_the_interval_holds_the_optimum() -> None:
    X, y = LINE
    report = cvxml.check("frobmetric", X, y, [[1 / 1.75]], C=100.0, n_neighbors=1, exact=True)
    assert report.verdict is Verdict.CERTIFIED  # the last kink: nothing is missed there, and less misses it
    assert report.exact is not None
    assert float(report.exact.lower_bound) == pytest.approx(1 / 1.75**2 / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("params", "says"),
    [({"C": 0}, "C must"), ({"n_neighbors": 9}, "lower n_neighbors"), ({"n_neighbors": 0}, "n_neighbors")],
)
def test_bad_parameters(params: dict[str, Any], says: str) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    with pytest.raises(ValueError, match=says):
        cvxml.solve("frobmetric", X, y, **params)


def test_explicit_triplets_win_and_are_checked() -> None:
    X, y = random_data(1, n=12, d=2, classes=2)
    found = triplets(y, X, 2)
    default = cvxml.solve("frobmetric", X, y, n_neighbors=2, tol=1e-9)
    given = cvxml.solve("frobmetric", X, None, triplets=found, tol=1e-9)
    assert given.objective == pytest.approx(default.objective, rel=1e-8)
    for bad, says in (
        ([[0, 1]], "rows of three"),
        ([[0, 1, 12]], "outside"),
        ([[0, 0, 1]], "own neighbour"),
        ([[0, 1, 2], [0, 1, 2]], "twice"),
    ):
        with pytest.raises(ValueError, match=says):
            cvxml.solve("frobmetric", X, None, triplets=bad)


@pytest.mark.parametrize("C", [0.1, 7.0])
def test_a_saved_file_is_proved_without_the_package(C: float, tmp_path: Path) -> None:
    X, y = real_data("iris", 24)
    path = tmp_path / "solution.json"
    cvxml.solve("frobmetric", X, y, C=C, n_neighbors=1).save(path)
    assert_proved(path)
    dual = dual_of(path)
    dual["price"][0] += 1.0
    assert_refused(path, "C/m", dual=dual)
