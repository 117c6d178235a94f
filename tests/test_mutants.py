"""Breaks of the code behind "proved" that mutation testing found unseen (validation/mutants.md), seen here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import coordinates
from cvxml.methods import get, get_exact
from cvxml.methods.glml.certify import best_dual, certify_at
from cvxml.methods.nca import instance, rows
from cvxml.metric import FloatArray
from cvxml.oracle import asked, convex, exactly
from cvxml.report import Verdict
from cvxml.result import Certificate, Solution
from tests.instances import mlsvm_from_kkt, random_data

TOL = 1e-3  # "loose"
P = mlsvm_from_kkt(3)
GIVEN: dict[str, Any] = {"lam": P.lam, "neighbors": P.neighbors}
ASKED = asked.Asked("mlsvm", P.X, P.y, None, None, None, "optimal", "loose", True, False, GIVEN)
CERTIFIED, REFUTED, INCONCLUSIVE = Verdict.CERTIFIED, Verdict.REFUTED, Verdict.INCONCLUSIVE
TURN: FloatArray = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]


def multiple(t: float, reference: Solution) -> Certificate:
    return get("mlsvm").certify(P.X, P.y, t * P.A, reference.dual, **GIVEN)


def known() -> tuple[Solution, Solution]:
    """Our own metric, and the same with a bound of 0: what a solver that stopped early leaves."""
    best = cvxml.solve("mlsvm", P.X, P.y, tol=1e-9, **GIVEN)
    dual = {name: 0 * values for name, values in best.dual.items()}
    proof = replace(best.certificate, gap=best.objective, lower_bound=0.0, dual=dual)
    return best, replace(best, certificate=proof)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("share", [0.98, 1.02])
def test_a_tolerance_is_a_share_of_the_scale_of_the_reference(share: float, exact: bool) -> None:
    """tol / scale for tol * scale; the scale of the candidate, which is 1.06 times as large here."""
    best, _ = known()
    t = 0.1
    for _ in range(60):  # the gap is all but quadratic in t
        t *= (share * TOL * best.certificate.scale / multiple(1 + t, best).gap) ** 0.5
    report = cvxml.check("mlsvm", P.X, P.y, (1 + t) * P.A, tol="loose", exact=exact, **GIVEN)
    assert report.verdict is (CERTIFIED if share < 1 else REFUTED)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_exact_arithmetic_has_the_scales_of_the_certificates(share: float) -> None:
    """The scale of our own for that of a local metric; nothing but 0 where the optimum is 0."""
    X, y = random_data(0, n=24, d=3, classes=2)
    best = cvxml.solve("mlsvm", X, y, lam=0.1)
    assert best.certificate.scale == 0
    asked = ASKED._replace(X=X, y=y, params={"lam": 0.1})
    assert exactly.judge_exactly(asked, 1e-12 * np.eye(3), best).verdict is REFUTED
    assert exactly.judge_exactly(asked, np.zeros((3, 3)), best).verdict is CERTIFIED
    assert cvxml.check("mlsvm", X, y, np.zeros((3, 3)), lam=0.1).rel_gap == 0
    X[y == 1] *= [2.0, 0.5, 1.0]
    best, t = cvxml.solve("glml", X, y, query=X[0]), 1e-4
    assert best.lower_bound == 0
    for _ in range(20):  # the cosine is all but linear in t
        A = best.metric + t * np.linalg.norm(best.metric) * np.eye(3)
        A /= np.linalg.det(A) ** (1 / 3)
        t *= share * TOL / get("glml").certify(X, y, A, best.dual, query=X[0]).rel_gap
    local = ASKED._replace(method="glml", X=X, y=y, params={"query": X[0]})
    assert exactly.judge_exactly(local, A, best).verdict is (CERTIFIED if share < 1 else REFUTED)


def test_what_is_not_shown_is_not_said() -> None:
    """Sums of objectives, gaps or roundings for differences; `or` for `and`; conditions negated or left out."""
    best, loose = known()
    near, far = multiple(1, best), multiple(3, loose)
    rough, blind = replace(best.certificate, rounding=near.scale), replace(near, rounding=near.scale)
    assert exactly.judge_exactly(ASKED, 1.001 * P.A, loose).verdict is INCONCLUSIVE
    for proof, reference, verdict in (
        (multiple(1.001, loose), loose.certificate, INCONCLUSIVE), (multiple(1.1, best), rough, INCONCLUSIVE),
        (multiple(4, best), rough, REFUTED), (near, near, CERTIFIED), (blind, near, INCONCLUSIVE),
        (near, blind, INCONCLUSIVE), (far, replace(near, gap=np.inf), INCONCLUSIVE),
        (replace(near, gap=np.nan), near, INCONCLUSIVE), (replace(far, gap=np.inf), near, REFUTED),
    ):  # fmt: skip
        assert convex._judge(proof, replace(best, certificate=reference), near.scale, TOL, 0)[0] is verdict
        assert convex._may_be_judged_exactly(near, verdict, 1) == (verdict is CERTIFIED)  # one tie
    value = best.objective
    for said, candidate, whose, verdict in (
        (value, None, loose, INCONCLUSIVE), (value, None, best, CERTIFIED), (value, near, best, CERTIFIED),
        (value + 2 * TOL * near.scale, None, best, REFUTED), (-value, near, loose, REFUTED),
    ):  # fmt: skip
        claim = ASKED._replace(value=said)
        assert convex._judge_value(claim, candidate, whose, near.scale, 0, CERTIFIED, [])[0] is verdict
    for judged, gain in ((None, value), (far, far.objective - value)):
        report = convex._report(ASKED._replace(value=2 * value), REFUTED, [], loose, judged, 1.0, (), None)
        assert (report.witness or pytest.fail("no witness")).better_by == pytest.approx(gain, rel=1e-6)
    for A in (None, P.A):
        with pytest.raises(ValueError, match=r"nothing to check|not both"):
            cvxml.check("mlsvm", P.X, P.y, A, components=A, **GIVEN)


@pytest.mark.parametrize("eps", [1.0, 1e-3, 1e-5])
@pytest.mark.parametrize("case", ["mlsvm lam .1", "mlsvm lam 1e-6", "ssvm C .1", "ssvm C 1e6", "glml", "nca"])
def test_a_certificate_is_the_exact_one_but_for_its_rounding(case: str, eps: float) -> None:
    """A part of a gap that is left out, and terms left out of an allowance or so large that it hides things."""
    method, *given = case.split()
    params: dict[str, Any] = {given[0]: float(given[1])} if given else {}
    X, y = random_data(7, n=24, d=3, classes=2 + (method == "glml"))
    X[:8:2] += 1e3 * (case == "ssvm C 1e6")  # far from all but each other
    X = X * (1 + y[:, None]) if method == "glml" else X * [eps, 1.0, 1.0] @ TURN
    A, rng = np.eye(3) + np.outer(TURN[0], TURN[0]) / eps, np.random.default_rng(1)
    pairs = np.argwhere(np.ones((24, 24)))
    dual = {"u": rng.random(576) / 24, "u_index": pairs, "w": rng.random(576) / 24, "w_index": pairs}
    nearest = np.argsort(((X[:, None] - X) ** 2).sum(axis=2), axis=1)
    order = nearest if case == "ssvm C .1" else pairs.sum(axis=1).reshape(24, 24) % 24
    dual |= {"q": rng.random(24), "q_index": np.c_[np.arange(24), order[:, 1:4]], "R": A, "interior": A}
    if method == "glml":
        A, params = TURN.T @ np.diag([20.0, 1.0, 0.05]) @ TURN, {"query": [2.0 * (eps == 1), 0.0, 0.0]}
        dual = dict(cvxml.solve(method, X, y, **params).dual)
    if method == "nca" and eps == 1:
        best = cvxml.solve(method, X, y, criterion="g")
        A, dual, params = 0.3 * best.metric, dict(best.dual), {"criterion": "g"}
    whole = get(method).certify(X, y, A, dual, **params)
    proof, exact = whole.step or whole, get_exact(method).exact(X, y, A, dual, **params)
    assert abs(float(exact.objective) - proof.objective) <= proof.rounding
    assert proof.lower_bound <= float(exact.lower_bound) + proof.rounding
    assert float(exact.gap) <= proof.gap + proof.rounding
    assert proof.rounding <= 1e-9 * (abs(proof.objective) + proof.gap + proof.scale)
    if method != "nca":  # whose certificate keeps a distance from the edge of the cone
        assert proof.gap <= float(exact.gap) + proof.rounding
        assert proof.scale == pytest.approx(float(exact.scale), rel=1e-6)
    if method == "mlsvm":  # lam-strongly convex
        assert proof.radius == pytest.approx((2 * proof.gap / params["lam"]) ** 0.5, rel=1e-6)


@pytest.mark.parametrize("far", [1, 2])
def test_rounding_covers_pairs_that_are_long_and_close(far: int) -> None:
    """The lengths of the targets (1), or of the impostors (2), left out of what distances may be off by."""
    X = np.array([[0.0, 0.0], [0.0, 2e-3], [0.0, 1e-3]])
    X[far, 0] = 1
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    nothing: dict[str, Any] = {name: [] for name in ("u", "u_index", "w", "w_index")}
    data = X @ turn, [0, 0, 1], 1e6 * np.outer(turn[1], turn[1]), nothing
    given: dict[str, Any] = {"lam": 1e-30, "neighbors": [[1, 2], [], []]}
    exact, proof = get_exact("mlsvm").exact(*data, **given), get("mlsvm").certify(*data, **given)
    assert abs(float(exact.objective) - proof.objective) <= proof.rounding


def test_weights_on_what_is_no_set_are_refused_or_dropped() -> None:
    """-1 taken for the last point; the index n, or one NaN among numbers, let through; a set with the point itself."""
    X, y = random_data(7, n=24, d=3)

    def step(q: Any, sets: Any, skew: float = 0) -> Certificate:
        A = np.eye(3) + skew * np.eye(3, k=1)
        return get("ssvm").certify(X, y, A, {"q": q, "q_index": sets}).step or pytest.fail("no step")

    for last, q in ((-1, 1.0), (24, 1.0), (4, np.nan)):
        with pytest.raises(ValueError, match=r"outside 0..23|NaN"):
            step([q, 1.0], [[0, 1, 2, last], [1, 2, 3, 4]])
    for improper in ([0, 0, 1, 2], [0, 1, 1, 2]):
        assert step([1.0], [improper]).gap == step([], []).gap
    assert step([], [], 1e-7).radius > step([], []).radius


@pytest.mark.parametrize("m", [1, 2, 3])
def test_every_row_in_use_counts_in_the_gradient_of_nca(m: int) -> None:
    """Rows with a zero entry left out of the gradient; factors of it; a rank that is looked at by `or`, or in units."""
    X, y = random_data(7, n=24, d=3, classes=2)
    p, at = instance.instance(X, y, criterion="g", n_components=m), coordinates.coordinates(X)
    Q, line = np.diag([0.0, 1.0, 0.5]) * (np.arange(3) > 2 - m), np.diag([25.0, 0.0, 0.0])
    metric = rows.Metric(p, at.outside(Q), at)
    first, G = metric.first_order(), metric.G.Z
    assert first.length == pytest.approx(np.trace(Q) ** 0.5, rel=1e-6)
    assert first.gradient == pytest.approx(2 * np.trace(G @ Q @ G) ** 0.5, rel=1e-6)
    up, down = (rows.Metric(p, at.outside((1 + h) ** 2 * Q), at).objective for h in (1e-6, -1e-6))
    assert first.slope == pytest.approx((up - down) / 2e-6, rel=1e-6)
    given: dict[str, Any] = {"criterion": "g", "n_components": m}
    of_line = rows.Metric(p, at.outside(line), at).G.Z
    dual, least = {"R": line, "interior": line}, np.linalg.eigvalsh(of_line)[0]
    whole = get("nca").certify(X, y, at.outside(line), dual, **given)
    found = whole.stationarity or pytest.fail("no stationarity")
    assert found.dc_residual == pytest.approx(-25 * min(0.0, least) * (m > 1), rel=1e-6)
    for rank in range(4):
        proof = get("nca").certify(X, y, at.outside(np.diag((np.arange(3) < rank) * 1e-4)), dual, **given)
        assert proof.feasibility.feasible == (rank <= m)
        assert proof.rounding > 0


def test_a_local_certificate_says_no_more_than_it_knows() -> None:
    """An allowance below 0 in many dimensions; a radius of 0; -B judged unlike B; bounds from a singular metric."""
    for d in (3, 100):
        L = np.random.default_rng(0).standard_normal((d, 2 * d))
        B = L @ L.T / np.linalg.norm(L @ L.T)
        A = B / np.exp(np.linalg.slogdet(B)[1] / d)
        proof = certify_at(B, A, *best_dual(B))
        assert proof.radius > 0 < proof.rounding <= 1e-9 * proof.scale
        assert certify_at(-B, A, *best_dual(-B)).lower_bound == pytest.approx(proof.lower_bound, rel=1e-12)
        assert certify_at(B - np.eye(d) / d**0.5, A, 0, 0).rounding > 0
    edge = np.diag([1.0, 1.0, 1e-17])
    nothing = certify_at(edge, edge * 0, *best_dual(edge))
    assert (nothing.lower_bound, nothing.gap, nothing.radius) == (0, np.inf, np.inf)
    assert best_dual(edge, 1e-16) == best_dual(-edge, 1e-16) == (0, 0)
