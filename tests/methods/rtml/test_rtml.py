"""RTML: by hand, against cvxpy from scratch, from KKT, FrobMetric without a width, 0 and the other end, misreadings."""

from __future__ import annotations

import json
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
from tests.cli.commands import Cli
from tests.instances import random_data, real_data
from tests.methods.frobmetric.test_frobmetric import LINE, triplets
from tests.recomputed import assert_proved, assert_refused, dual_of


def outer(X: Any, found: Any) -> list[FloatArray]:
    """H_t of every triplet."""
    X = np.asarray(X)
    return [np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j]) for i, j, l in found]


def value(H: list[FloatArray], lam: float, width: float, M: Any) -> float:
    """The objective: the loss as the area below its slope, which rises from 0 to 1 over the width."""
    total = lam / 2 * float(np.sum(np.square(M)))
    for h in H:
        missed = 1 - float(np.sum(h * M))
        inside = min(max(missed, 0.0), width)
        total += (inside**2 / (2 * width) if width else 0.0) + max(0.0, missed - width)
    return total


@pytest.mark.parametrize("width", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("lam", [0.1, 10.0, 300.0, 1e4])
def test_on_a_line_by_hand(lam: float, width: float) -> None:
    """The margins are 8, 3, 1.75, 10 times M: the derivative, which rises, is followed to where it is 0."""
    X, y = LINE
    h = np.array([8.0, 3.0, 1.75, 10.0])

    def derivative(M: float) -> float:
        slope = (M * h < 1) * 1.0 if width == 0 else np.clip((1 - M * h) / width, 0, 1)
        return lam * M - float(slope @ h)

    low, high = 0.0, h.sum() / lam
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if derivative(middle) < 0 else (low, middle)
    solution = cvxml.solve("rtml", X, y, lam=lam, width=width, n_neighbors=1, tol=1e-9)
    assert solution.status is Status.CONVERGED
    assert solution.metric[0, 0] == pytest.approx(high, rel=1e-4)
    H = outer(X, triplets(y, X, 1))
    assert solution.objective == pytest.approx(value(H, lam, width, [[high]]), rel=1e-8)


@pytest.mark.parametrize("width", [0.05, 1.0])
@pytest.mark.parametrize("data", [random_data(2, n=16, d=3, classes=2), real_data("iris", 24)])
def test_against_cvxpy_from_scratch(data: tuple[Any, Any], width: float) -> None:
    """The loss as the least cost of a slack that is paid squared up to the width, and then straight."""
    (X, y), lam, k = data, 3.0, 2
    H = outer(X, triplets(y, X, k))
    M, slack = cp.Variable((X.shape[1],) * 2, PSD=True), cp.Variable(len(H), nonneg=True)
    margins = cp.hstack([cp.trace(M @ h) for h in H])
    cost = cp.sum_squares(slack) / (2 * width) + cp.sum(cp.pos(1 - margins - slack))
    optimum = cp.Problem(cp.Minimize(cost + lam / 2 * cp.sum_squares(M))).solve(cp.CLARABEL)
    solution = cvxml.solve("rtml", X, y, lam=lam, width=width, n_neighbors=k, tol=1e-8)
    assert solution.lower_bound - 1e-5 <= optimum <= solution.objective + 1e-5
    assert solution.objective == pytest.approx(value(H, lam, width, solution.metric), rel=1e-12)


class Known(NamedTuple):
    """An instance whose optimum follows from its construction, without any solver."""

    X: FloatArray
    triplets: list[list[int]]
    lam: float
    width: float
    M: FloatArray
    objective: float


def from_kkt(seed: int, d: int = 5) -> Known:
    """Each triplet has points of its own, l away along an axis q_k of its own, j along one where M* is 0.

    M* = sum alpha_k q_k q_k^T, and beta_k is how far l is: the margin is v = alpha beta^2, and a beta^2 = lam alpha. So
    a price a and a margin v that belong together give beta^4 = lam v / a:
      within the width 0 < a < 1 and v = 1 - width a;  on the straight part a = 1 and v < 1 - width.
    A last triplet, along the first axis, keeps its margin and has no price.
    """
    rng = np.random.default_rng(seed)
    lam, width = float(10 ** rng.uniform(-2, 2)), float(rng.uniform(0.05, 0.9))
    q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    prices = np.array([*rng.uniform(0.1, 0.9, 2), 1.0, 1.0])
    margins = np.where(prices < 1, 1 - width * prices, (1 - width) * rng.uniform(0.2, 0.9, 4))
    beta = (lam * margins / prices) ** 0.25
    alpha = margins / beta**2
    away = [*(b * q[:, k] for k, b in enumerate(beta)), 1.3 * q[:, 0] / np.sqrt(alpha[0])]
    points, listed = [], []
    for k, b in enumerate(away):
        centre = rng.standard_normal(d)
        points += [centre, centre + rng.uniform(0.1, 1) * q[:, -1], centre - b]
        listed.append([3 * k, 3 * k + 1, 3 * k + 2])
    M = (q[:, :4] * alpha) @ q[:, :4].T
    lost = np.where(prices < 1, (1 - margins) ** 2 / (2 * width), 1 - margins - width / 2)
    return Known(np.array(points), listed, lam, width, M, lam / 2 * float(alpha @ alpha) + float(lost.sum()))


@pytest.mark.parametrize("seed", range(8))
def test_from_kkt(seed: int) -> None:
    known = from_kkt(seed)
    given: dict[str, Any] = {"lam": known.lam, "width": known.width, "triplets": known.triplets}
    solution = cvxml.solve("rtml", known.X, None, tol=1e-9, **given)
    assert solution.objective == pytest.approx(known.objective, rel=1e-8)
    assert np.linalg.norm(solution.metric - known.M) <= solution.certificate.radius * (1 + 1e-6) + 1e-9
    report = cvxml.check("rtml", known.X, None, known.M, **given)
    assert report.verdict is Verdict.CERTIFIED
    for factor, verdict in ((1.01, Verdict.CLOSE), (1.2, Verdict.REFUTED)):
        wrong = cvxml.check("rtml", known.X, None, factor * known.M, diagnosed=False, **given)
        assert wrong.verdict is verdict


def test_without_a_width_it_is_frobmetric() -> None:
    """1/2 ||M||^2 + C/m sum of hinges is 1/lam of it, with C = m / lam."""
    X, y = real_data("iris", 30)
    m, lam = len(triplets(y, X, 2)), 5.0
    ours = cvxml.solve("rtml", X, y, lam=lam, width=0, n_neighbors=2, tol=1e-9)
    theirs = cvxml.solve("frobmetric", X, y, C=m / lam, n_neighbors=2, tol=1e-9)
    assert ours.objective == pytest.approx(lam * theirs.objective, rel=1e-8)
    both = ours.certificate.radius + theirs.certificate.radius
    assert np.linalg.norm(ours.metric - theirs.metric) <= both
    narrow = cvxml.solve("rtml", X, y, lam=lam, width=1e-6, n_neighbors=2, tol=1e-9)
    assert narrow.objective == pytest.approx(ours.objective, abs=m * 1e-6)  # a loss is width / 2 less at most


@pytest.mark.parametrize("width", [0.0, 0.05, 1.0])
def test_a_large_lam_has_a_closed_form(width: float) -> None:
    """Every price is 1 where no margin of P_+(sum H) / lam is beyond 1 - width."""
    X, y = real_data("wine", 20)
    H = outer(X, triplets(y, X, 2))
    values, vectors = np.linalg.eigh(sum(H))
    plus = (vectors * np.maximum(values, 0)) @ vectors.T
    most = max(float(np.sum(h * plus)) for h in H)
    # at width 1 the margins must not be above 0, which they are
    lam = 1.01 * most / (1 - width) if width < 1 else 1e9
    solution = cvxml.solve("rtml", X, y, lam=lam, width=width, n_neighbors=2, tol=1e-9)
    report = cvxml.check("rtml", X, y, plus / lam, lam=lam, width=width, n_neighbors=2)
    if width < 1:
        np.testing.assert_array_equal(solution.dual["price"], np.ones(len(H)))
        assert report.verdict is Verdict.CERTIFIED
    else:
        assert solution.dual["price"].min() < 1
        assert solution.objective <= value(H, lam, width, plus / lam)


@pytest.mark.parametrize("width", [0.0, 0.05, 1.0])
def test_zero_is_optimal_where_the_sum_of_H_has_no_positive_eigenvalue(width: float) -> None:
    """Only 0 is certified then, which is decided in rationals, whatever the width."""
    X, given = [[0.0], [1.0], [3.0], [2.0]], {"width": width, "triplets": [[0, 2, 1], [0, 1, 3], [1, 2, 3]]}
    H = outer(X, given["triplets"])
    assert float(sum(H)[0, 0]) < 0 < float(H[1][0, 0])
    solution = cvxml.solve("rtml", X, None, **given)
    assert solution.metric[0, 0] == 0
    assert solution.gap == 0
    assert cvxml.check("rtml", X, None, [[0.0]], exact=True, **given).verdict is Verdict.CERTIFIED
    for other in (1e-9, 1.0):
        assert cvxml.check("rtml", X, None, [[other]], **given).verdict is not Verdict.CERTIFIED


def test_any_prices_bound_any_metric() -> None:
    X, y = random_data(3, n=14, d=3, classes=2)
    rng, method = np.random.default_rng(0), get("rtml")
    found = triplets(y, X, 2)
    for width in (0.0, 0.05, 1.0):
        given = method.instance(X, y, n_neighbors=2, width=width)
        for size in 10.0 ** rng.uniform(-4, 2, 20):
            price = size * rng.standard_normal(len(found))
            L = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-3, 1)
            proof = method.certify(given, L @ L.T, {"price": price, "triplets": np.array(found)})
            assert proof.lower_bound <= method.objective(given, L @ L.T) * (1 + 1e-12)
            assert proof.gap >= -proof.rounding


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("mistake", "says"),
    [
        (lambda lam, found: {"lam": lam * len(found)}, "the mean over triplets where there is their sum"),
        (lambda lam, found: {"lam": 2 * lam}, "half of it"),
        (lambda lam, found: {"width": 0}, "the hinge where it is smoothed"),
    ],
)
def test_a_misreading_is_named(mistake: Any, says: str) -> None:
    X, y = real_data("iris", 30)
    lam, width = 5.0, 0.3
    params = {"lam": lam, "width": width, **mistake(lam, triplets(y, X, 3))}
    other = cvxml.solve("rtml", X, y, tol=1e-9, **params)
    report = cvxml.check("rtml", X, y, other.metric, lam=lam, width=width)
    assert report.verdict is Verdict.REFUTED
    assert any(says in line for line in report.diagnosis)


def test_exactly_the_interval_holds_the_optimum() -> None:
    """One triplet of margin 8 M, lam = 32, width 1/2: M = 1/10 and the optimum is 1/5."""
    X, given = [[0.0], [1.0], [3.0]], {"lam": 32.0, "width": 0.5, "triplets": [[0, 1, 2]]}
    report = cvxml.check("rtml", X, None, [[0.1]], exact=True, **given)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is not None
    assert report.exact.lower_bound <= report.exact.objective
    assert 5 * report.exact.lower_bound <= 1
    assert float(report.exact.lower_bound) == pytest.approx(0.2, rel=1e-9)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"lam": 0}, "lam must"),
        ({"lam": 1e-200}, "lam / s\\^4"),
        ({"width": -0.1}, "width must"),
        ({"width": 1.5}, "width must"),
        ({"width": 1e-300}, "width must"),
        ({"width": "0.1"}, "width must"),
        ({"n_neighbors": 9}, "lower n_neighbors"),
        ({"triplets": [[0, 1, 12]]}, "outside"),
    ],
)
def test_bad_parameters(params: dict[str, Any], says: str) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    with pytest.raises(ValueError, match=says):
        cvxml.solve("rtml", X, y, **params)


@pytest.mark.parametrize("estimator", [cvxml.RTML(7.0), cvxml.FrobMetric(7.0)])
def test_the_estimators_take_triplets(estimator: Any) -> None:
    X, y = real_data("iris", 30)
    found = triplets(y, X, 1)[:20]
    model = estimator.fit(X, triplets=found)
    method, weight = ("rtml", "lam") if isinstance(estimator, cvxml.RTML) else ("frobmetric", "C")
    known = cvxml.solve(method, X, None, triplets=found, **{weight: 7.0})
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), known.metric, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("header", ["", "i,j,l\n"])
def test_triplets_are_rows_of_a_table(cli: Cli, tmp_path: Path, header: str) -> None:
    """0, 1, 2 in the first line is a triplet, and no header."""
    found = [[0, 1, 2], *triplets(real_data("iris")[1], real_data("iris")[0], 1)[:20]]
    path = tmp_path / "t.csv"
    path.write_text(header + "".join(f"{i},{j},{l}\n" for i, j, l in found))
    answer = cli("solve", "rtml", "iris", "--standardize", "--triplets", str(path), "--lam", "7", "--json")
    known = cvxml.solve("rtml", *real_data("iris"), triplets=found, lam=7)
    assert json.loads(answer.out)["objective"] == pytest.approx(known.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "says"), [("0,1.5,2\n", "1.5 is no index"), ("0,1,nan\n", "nan is no index")]
)
def test_what_is_no_index_is_refused(cli: Cli, tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    answer = cli("solve", "rtml", "iris", "--triplets", str(path))
    assert answer.code == 2
    assert says in answer.err


@pytest.mark.quick(1)
@pytest.mark.parametrize("width", [0.0, 0.05, 1.0])
def test_a_saved_file_is_proved_without_the_package(width: float, tmp_path: Path) -> None:
    X, y = real_data("iris", 24)
    path = tmp_path / "solution.json"
    cvxml.solve("rtml", X, y, lam=7.0, width=width, n_neighbors=1).save(path)
    assert_proved(path)
    dual = dual_of(path)
    dual["price"][0] += 1.0
    assert_refused(path, "a price leaves what is allowed", dual=dual)
