"""LSML: from KKT, equal points, weights, draws, misreadings, files."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.quadruplets import drawn
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.solvers import logdet_path
from tests.cli.commands import Cli
from tests.instances import assert_named, own_misreadings, random_data, real_data

# one comparison that counts: a near pair 3 along the first axis, a far one 1 along the other
CROSSED = [[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 9.0]]
ROWS = [[0, 1, 0, 2], [0, 2, 0, 3]]


def value(X: Any, rows: Any, w: Any, A_0: Any, M: Any) -> float:
    """The objective, one comparison after another, its divergence by eigenvalues."""
    X = np.asarray(X)
    ratio = np.linalg.eigvals(np.linalg.inv(A_0) @ M).real
    total = float(np.sum(ratio - 1 - np.log(ratio)))
    for (a, b, c, d), weight in zip(rows, w, strict=True):
        near, far = (math.sqrt(e @ M @ e) for e in (X[a] - X[b], X[c] - X[d]))
        total += weight * max(0.0, near - far) ** 2
    return total


class Known(NamedTuple):
    """An instance whose optimum follows from its construction, without any solver."""

    X: FloatArray
    rows: list[list[int]]
    w: FloatArray
    prior: FloatArray
    M: FloatArray


def from_kkt(seed: int, d: int = 4, q: int = 9) -> Known:
    """Any metric M is optimal for the prior P^-1, P = M^-1 - sum w (s U - s/(1-s) V), if that is positive definite.

    Every quadruplet has four points of its own; differences are so small that P is near M^-1.
    """
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((d, d))
    M, P = root @ root.T + 0.1 * np.eye(d), np.zeros((d, d))
    w = rng.uniform(0, 1, q)
    w /= w.sum()
    size, points = 0.5 / np.sqrt(np.linalg.norm(M, 2)), []
    P += np.linalg.inv(M)
    for weight in w:
        a, b = size * rng.standard_normal((2, d))
        u, v = a @ M @ a, b @ M @ b
        points += [p := rng.standard_normal(d), p + a, p := rng.standard_normal(d), p + b]
        a, b = points[-4] - points[-3], points[-2] - points[-1]
        s = max(0.0, 1 - math.sqrt(v / u))
        P -= weight * (s * np.outer(a, a) - s / (1 - s) * np.outer(b, b))
    assert np.linalg.eigvalsh(P)[0] > 0
    prior = np.linalg.inv(P)
    rows = [[4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3] for k in range(q)]
    return Known(np.array(points), rows, w, (prior + prior.T) / 2, M)


@pytest.mark.parametrize("seed", range(4))
def test_from_kkt(seed: int) -> None:
    known = from_kkt(seed)
    given: dict[str, Any] = {"quadruplets": known.rows, "weights": known.w, "prior": known.prior}
    solution = cvxml.solve("lsml", known.X, None, tol=1e-9, **given)
    assert 0 < np.count_nonzero(solution.dual["s"]) < len(known.w)
    best = value(known.X, known.rows, known.w, known.prior, known.M)
    assert solution.objective == pytest.approx(best, rel=1e-8)
    assert np.linalg.norm(solution.metric - known.M) <= solution.certificate.radius * (1 + 1e-6) + 1e-9
    assert cvxml.check("lsml", known.X, None, known.M, **given).verdict is Verdict.CERTIFIED
    for factor, verdict in ((1.004, Verdict.CLOSE), (1.1, Verdict.REFUTED)):
        wrong = cvxml.check("lsml", known.X, None, factor * known.M, diagnosed=False, **given)
        assert wrong.verdict is verdict


@pytest.mark.parametrize(
    ("row", "says", "duals"),
    [([0, 2, 0, 3], "prior", [0.0]), ([0, 1, 4, 5], "equal points", [1.0])],
    ids=["not violated", "far pair of equal points"],
)
def test_the_price_of_one_comparison_is_told(row: list[int], says: str, duals: list[float]) -> None:
    solution = cvxml.solve("lsml", [*CROSSED, [5, 5], [5, 5]], None, quadruplets=[row], tol=1e-9)
    assert solution.dual["s"] == pytest.approx(duals)
    assert any(says in note for note in solution.notes)


def test_a_near_pair_of_equal_points_costs_nothing() -> None:
    """But its share of the weight."""
    X = [*CROSSED, CROSSED[0]]
    with_twins = cvxml.solve("lsml", X, None, quadruplets=[ROWS[0], [0, 4, 0, 1]], tol=1e-9)
    without = cvxml.solve("lsml", X, None, quadruplets=ROWS, tol=1e-9)  # of which the second is kept
    assert with_twins.objective == pytest.approx(without.objective, rel=1e-8)


def test_only_the_proportions_of_weights_count() -> None:
    X, y = real_data("iris", 30)
    rows = get("lsml").instance(X, y, n_quadruplets=12).quadruplets.tolist()
    w = np.arange(12)
    once = cvxml.solve("lsml", X, None, quadruplets=rows, weights=w, tol=1e-9)
    assert once.params["weights"] == pytest.approx(w / 66)
    assert w.tolist() == list(range(12))  # and is not touched
    again = cvxml.solve("lsml", X, None, quadruplets=rows, weights=0.7 * w, tol=1e-9)
    assert again.objective == pytest.approx(once.objective, rel=1e-8)
    repeated = [row for row, times in zip(rows, w.tolist(), strict=True) for _ in range(times)]
    listed = cvxml.solve("lsml", X, None, quadruplets=repeated, tol=1e-9)
    assert listed.objective == pytest.approx(once.objective, rel=1e-8)
    stored = get("lsml").instance(X, None, quadruplets=rows, weights=once.params["weights"])
    np.testing.assert_array_equal(stored.weights, once.params["weights"])  # to the bit


def test_the_sum_has_the_weights_as_they_are() -> None:
    """Of weights that sum to 1 it is the mean; of others the optimum is another."""
    X, y = real_data("iris", 30)
    rows = get("lsml").instance(X, y, n_quadruplets=12).quadruplets.tolist()
    given: dict[str, Any] = {"quadruplets": rows, "losses": "sum"}
    ones, w = np.ones(12), np.arange(12.0)
    for weights, own in ((None, ones), (ones, ones), (w, w), (w / 66, w / 66)):
        found = cvxml.solve("lsml", X, None, weights=weights, tol=1e-9, **given)
        assert found.objective == pytest.approx(value(X, rows, own, np.eye(4), found.metric), rel=1e-9)
        best = value(X, rows, own, np.eye(4), literal(X, rows, own, np.eye(4)))
        assert found.lower_bound <= best
        assert best == pytest.approx(found.objective, rel=1e-5, abs=1e-6)
    mean = cvxml.solve("lsml", X, None, quadruplets=rows, weights=w, tol=1e-9)
    assert found.objective == pytest.approx(mean.objective, rel=1e-8)
    with pytest.raises(ValueError, match="weights"):
        cvxml.solve("lsml", X, None, weights=1e250 * w, **given)


@pytest.mark.parametrize("weights", [None, np.full(25, 1 / 25), 2.0 * np.arange(25)])
def test_the_sum_is_named_however_the_weights_are_given(weights: Any) -> None:
    """Equal ones, also those of a saved solution, stand for 1 each; others for themselves."""
    X, y = real_data("iris", 30)
    rows = get("lsml").instance(X, y, n_quadruplets=25).quadruplets.tolist()
    own = np.ones(25) if weights is None or weights.sum() < 2 else weights
    wrong = cvxml.solve("lsml", X, None, quadruplets=rows, weights=own, losses="sum", tol=1e-9).metric
    assert_named("lsml", "sum", X, None, wrong, quadruplets=rows, weights=weights)


def test_the_prices_of_a_metric_need_no_solver() -> None:
    X, y = real_data("wine", 30)
    best = cvxml.solve("lsml", X, y, tol=1e-9)
    for share in (1e-3, 1e-2):
        near = best.metric + share * np.diag(np.diag(best.metric))
        proof = cvxml.certify("lsml", X, y, near, {"s": cvxml.evaluate("lsml", X, y, near).s})
        assert proof.lower_bound <= best.objective
        assert best.objective - proof.lower_bound <= 100 * share**2


@pytest.mark.parametrize("few", [{}, {"n_quadruplets": 12}], ids=["many", "few"])
def test_every_way_to_the_newton_step_leads_to_the_optimum(
    few: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = random_data(2, n=14, d=6)
    plain = cvxml.solve("lsml", X, y, tol=1e-9, **few)
    for limits in ({"MOST_SQUARE": 0}, {"MOST_PAIRS": 0}, {"MOST_SQUARE": 0, "MOST_PAIRS": 0}):
        with monkeypatch.context() as patched:  # with both at 0 by conjugate gradients
            for name, limit in limits.items():
                patched.setattr(logdet_path, name, limit)
            other = cvxml.solve("lsml", X, y, tol=1e-9, **few)
        assert other.objective == pytest.approx(plain.objective, rel=1e-8)


@pytest.mark.parametrize("unit", [1e-3, 1e3])
def test_features_in_any_units_beside_the_prior(unit: float) -> None:
    """Where all costs more than the divergence the metric is small, and is found in a few steps more."""
    X, y = real_data("wine", 60)
    solution = cvxml.solve("lsml", unit * X, y, tol=1e-8)
    assert solution.status is Status.CONVERGED
    assert solution.n_iter < 60


# ---- misreadings


def literal(X: Any, rows: Any, w: Any, P: Any) -> FloatArray:
    """The optimum of tr P M - log det M + sum w (sqrt u - sqrt v)_+^2 for any w, through cvxpy."""
    X = np.asarray(X)
    M, more = cp.Variable((X.shape[1],) * 2, PSD=True), cp.Variable(len(rows), nonneg=True)
    losses: list[Any] = []
    for k, (a, b, c, d) in enumerate(rows):
        u, v = ((X[i] - X[j]) @ M @ (X[i] - X[j]) for i, j in ((a, b), (c, d)))
        losses.append(w[k] * (u + more[k] + v - 2 * cp.geo_mean(cp.hstack([u + more[k], v]))))
    cp.Problem(cp.Minimize(cp.trace(P @ M) - cp.log_det(M) + cp.sum(losses))).solve(cp.CLARABEL)
    return np.asarray(M.value)


def asked(name: str) -> tuple[Any, dict[str, Any]]:
    """What is asked for, checked, and as parameters."""
    X, y = real_data("iris", 30)
    params: dict[str, Any] = {"n_quadruplets": 25, "prior": np.diag([2.0, 0.5, 1.0, 3.0]) + 0.2}
    if name == "unweighted":
        params["weights"] = np.arange(25.0)
    if name == "mean":
        params["losses"] = "sum"
    return get("lsml").instance(X, y, **params), params


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", own_misreadings("lsml"))
def test_a_misreading_is_named(name: str) -> None:
    p, params = asked(name)
    rows, w, P = p.quadruplets, p.weights, np.linalg.inv(p.prior)
    instead: dict[str, Any] = {
        "sum": (rows, 25 * w, P),
        "mean": (rows, w / 25, P),
        "inverse_prior": (rows, w, p.prior),
        "identity_prior": (rows, w, np.eye(4)),
        "covariance_prior": (rows, w, np.cov(p.X.T)),
        "exchanged": (rows[:, [2, 3, 0, 1]], w, P),
        "unweighted": (rows, np.full(25, 1 / 25), P),
    }
    assert_named("lsml", name, *real_data("iris", 30), literal(p.X, *instead[name]), **params)


# ---- inputs


def test_what_is_drawn_from_labels() -> None:
    """Every pair of one class, and every ordered pair of two classes, is as likely; the same seed draws the same."""
    y = np.array([0, 0, 0, 1, 1, 2])
    rows = drawn(y, 6000, 5)
    near, far = np.sort(rows[:, :2], axis=1), rows[:, 2:]
    assert (y[near[:, 0]] == y[near[:, 1]]).all()
    assert (near[:, 0] != near[:, 1]).all()
    assert (y[far[:, 0]] != y[far[:, 1]]).all()
    for pairs, kinds in ((near, 4), (far, 22)):
        count = Counter(map(tuple, pairs.tolist()))
        assert len(count) == kinds
        expected = 6000 / kinds
        assert max(abs(times - expected) for times in count.values()) <= 5 * math.sqrt(expected)
    np.testing.assert_array_equal(rows, drawn(y, 6000, 5))
    assert (rows != drawn(y, 6000, 6)).any()
    X, labels = real_data("iris", 30)
    assert len(get("lsml").instance(X, labels).quadruplets) == 20 * 9


def test_neither_labels_nor_quadruplets() -> None:
    with pytest.raises(ValueError, match="quadruplets"):
        cvxml.solve("lsml", CROSSED, None)
    with pytest.raises(ValueError, match="single point"):
        cvxml.solve("lsml", CROSSED, [0, 1, 2, 3])


def test_quadruplets_and_weights_are_rows_of_tables(cli: Cli, tmp_path: Path) -> None:
    X, y = real_data("iris")
    rows, w = drawn(y, 30, 0), np.arange(1.0, 31.0)
    np.savetxt(tmp_path / "q.csv", rows, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    np.savetxt(tmp_path / "w.csv", w)
    told = ("--quadruplets", str(tmp_path / "q.csv"), "--weights", str(tmp_path / "w.csv"))
    answer = cli("solve", "lsml", "iris", "--standardize", *told, "--json")
    known = cvxml.solve("lsml", X, None, quadruplets=rows, weights=w)
    assert json.loads(answer.out)["objective"] == pytest.approx(known.objective, rel=1e-9)


def test_the_estimator_takes_quadruplets() -> None:
    X, y = real_data("iris", 30)
    rows, w = drawn(y, 30, 1), np.arange(1.0, 31.0)
    model = cvxml.LSML().fit(X, quadruplets=rows, weights=w)
    known = cvxml.solve("lsml", X, None, quadruplets=rows, weights=w)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), known.metric, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="weights"):
        cvxml.LSML().fit(X, y, weights=w)
