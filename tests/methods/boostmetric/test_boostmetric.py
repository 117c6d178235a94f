"""BoostMetric: 0 and the trace, v* from both sides, below and at v*, misreadings."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.methods.boostmetric import threshold
from cvxml.methods.boostmetric.threshold import BELOW
from cvxml.oracle.saved import recertify
from tests.instances import assert_named, fractions, random_data, real_data
from tests.methods.frobmetric.test_frobmetric import triplets
from tests.methods.rtml.test_rtml import outer

LINE = [[0.0], [1.0], [3.0], [-1.0]]  # the triplets 0, 1, 2 and 0, 1, 3 have the margins 8 and 0 times X
METHOD: Any = get("boostmetric")


def best_of_v(X: Any, found: Any) -> float:
    """v* as the largest of the least margins of a metric of trace 1."""
    H = outer(X, found)
    M, least = cp.Variable(H[0].shape, PSD=True), cp.Variable()
    margins = [cp.trace(M @ h) >= least for h in H]
    return float(cp.Problem(cp.Maximize(least), [*margins, cp.trace(M) == 1]).solve(cp.CLARABEL))


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_zero_is_optimal_from_the_largest_eigenvalue_of_the_mean_of_H(share: float) -> None:
    X, y = real_data("iris", 24)
    H = outer(X, triplets(y, X, 2))
    v = share * float(np.linalg.eigvalsh(np.mean(H, axis=0))[-1])
    report = cvxml.check("boostmetric", X, y, np.zeros((4, 4)), v=v, n_neighbors=2, diagnosed=False)
    assert report.verdict is (Verdict.CERTIFIED if share > 1 else Verdict.CLOSE)  # 7e-4 of the scale


def test_a_constant_feature_costs_its_trace() -> None:
    """No point differs in it; a metric that has it is worse by v times that."""
    X, given = [[x[0], 5.0] for x in LINE], {"v": 2.0, "triplets": [[0, 1, 2], [0, 1, 3]]}
    best = cvxml.solve("boostmetric", X, None, tol=1e-9, **given)
    beside = best.metric + np.diag([0.0, 0.25])
    proof = cvxml.certify("boostmetric", X, None, beside, best.dual, **given)
    assert proof.gap == pytest.approx(2.0 * 0.25, abs=1e-6)


# ---------------------------------------------------------------- v*


@pytest.mark.parametrize("data", [real_data("wine", 20), random_data(5, n=14, d=3, classes=2)])
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_v_star_lies_between_its_sides(data: tuple[Any, Any]) -> None:
    """Each side is what its own witness proves; the value is that of a back end."""
    X, y = data
    found = METHOD.instance(X, y, n_neighbors=2).triplets().tolist()
    low, high, M, u = threshold(X, y, n_neighbors=2)
    H = outer(X, found)
    assert np.trace(M) == pytest.approx(1)
    assert min(float(np.sum(h * M)) for h in H) == pytest.approx(low, abs=1e-9)
    assert np.linalg.eigvalsh(np.tensordot(u, H, 1))[-1] == pytest.approx(high, abs=1e-9)
    assert low <= high <= low + 1e-4
    assert best_of_v(X, found) == pytest.approx(low, abs=1e-4)


@pytest.mark.slow
def test_below_v_star_there_is_no_optimum_and_nothing_that_looks_like_one() -> None:
    X, y = real_data("wine", 40)
    low, high, M, _ = threshold(X, y)
    for v in (1e-7, 0.999 * low):
        for act in (
            lambda v=v: cvxml.solve("boostmetric", X, y, v=v),
            lambda v=v: cvxml.solve("boostmetric", X, y, v=v, solver="clarabel"),
            lambda v=v: cvxml.check("boostmetric", X, y, M, v=v),
            lambda v=v: cvxml.BoostMetric(v).fit(X, y),
        ):
            with pytest.raises(ValueError, match=r"v\*"):
                act()
        assert cvxml.evaluate("boostmetric", X, y, M, v=v).unbounded_below == pytest.approx(low, rel=1e-6)
        proof = cvxml.certify("boostmetric", X, y, M, {"price": np.ones(1), "triplets": [[0, 1, 2]]}, v=v)
        assert proof.lower_bound == -math.inf
        assert not proof.proves(1e-3)
    assert cvxml.solve("boostmetric", X, y, v=1.001 * high).status is Status.CONVERGED


def test_the_direction_proves_it_in_rationals() -> None:
    """Of a root of the metric as it is, every margin is above v times the trace; so the objective falls for ever."""
    X, y = real_data("wine", 40)
    v, found = 1.0, triplets(y, X, 3)
    values, vectors = np.linalg.eigh(threshold(X, y).metric)
    root = fractions(vectors * np.sqrt(np.maximum(values, 0)))
    z, trace = fractions(X) @ root, np.sum(root * root)
    margins = [np.sum((z[i] - z[l]) ** 2) - np.sum((z[i] - z[j]) ** 2) for i, j, l in found]
    assert min(margins) > v * trace
    given = METHOD.instance(X, y, v=v)
    M = (root @ root.T).astype(float)
    falls = [METHOD.objective(given, t * M) for t in (1.0, 10.0, 100.0)]
    assert falls[0] > falls[1] > falls[2]


@pytest.mark.quick(1)
@pytest.mark.parametrize("v", [3.0, 2.5])
def test_nothing_is_certified_at_v_star_or_below(v: float, tmp_path: Path) -> None:
    """Margins 8 and 3: at v = 3 the infimum is log 1 = 0, approached as X grows. A file may claim any v and metric."""
    X, found = [[0.0], [1.0], [3.0], [2.0]], [[0, 1, 2], [0, 1, 3]]
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("boostmetric", X, None, v=3.0, triplets=found)
    assert solution.status is Status.NOT_ATTAINED
    solution.save(tmp_path / "s.json")
    content = json.loads((tmp_path / "s.json").read_text())
    for metric in ([[0.0]], [[1.0]], [[100.0]]):
        content |= {"metric": metric, "params": {**content["params"], "v": v}, "status": "CONVERGED"}
        (tmp_path / "s.json").write_text(json.dumps(content))
        for exact in (False, True):
            again = recertify(cvxml.load(tmp_path / "s.json"), 1e-3, exact)
            assert again.verdict is not Verdict.CERTIFIED
            if v == 3:
                report = cvxml.check("boostmetric", X, None, metric, v=v, triplets=found, exact=exact)
                assert report.verdict is Verdict.INCONCLUSIVE


def test_a_small_gap_to_an_infimum_that_is_not_attained_certifies_nothing(tmp_path: Path) -> None:
    """Margins 8 and 3 at v = 3: all weight on the margin 3 proves the bound 0 exactly. No metric attains it."""
    X, found = [[0.0], [1.0], [3.0], [2.0]], [[0, 1, 2], [0, 1, 3]]
    with pytest.warns(match="not attained"):
        cvxml.solve("boostmetric", X, None, v=3.0, triplets=found).save(tmp_path / "s.json")
    content = json.loads((tmp_path / "s.json").read_text())
    content |= {"metric": [[30.0]], "dual": {"price": [1.0], "triplets": [[0, 1, 3]]}}
    content |= dict.fromkeys(("objective", "lower_bound", "gap", "rel_gap", "radius"))
    (tmp_path / "s.json").write_text(json.dumps(content))
    again = recertify(cvxml.load(tmp_path / "s.json"), 1e-9, exact=True)
    assert again.exact is not None
    assert again.exact.gap < 1e-60
    assert again.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(("v", "attained"), [(2.5, False), (3.0, False), (3.5, True), (9.0, True)])
def test_where_no_metric_is_optimal_a_reason_is_told(v: float, attained: bool) -> None:
    """Margins 8 and 3: v* is 3."""
    triplets = [[0, 1, 2], [0, 1, 3]]
    given = METHOD.instance([[0.0], [1.0], [3.0], [2.0]], None, v=v, triplets=triplets)
    assert (METHOD.unattained(given) == "") == attained


def test_what_is_below_v_star_by_rounding_alone_is_not_refused() -> None:
    """Of one triplet on a line v* is a rational number, and v the least float that is no less."""
    for seed in range(8):
        x = np.sort(np.random.default_rng(seed).random(3))
        own, near, far = (Fraction(value) for value in x.tolist())
        star = (far - own) ** 2 - (near - own) ** 2
        v = float(star)
        v = v if Fraction(v) >= star else math.nextafter(v, math.inf)
        given = METHOD.instance(x[:, None], None, triplets=[[0, 1, 2]], v=v)
        assert METHOD.decided(given).what != BELOW


@pytest.mark.parametrize(("v", "proved"), [(1.0, True), (8.0, False)])
def test_a_certificate_tells_whether_v_is_below_v_star(v: float, proved: bool) -> None:
    """One triplet of margin 8: v* is 8."""
    given: dict[str, Any] = {"v": v, "triplets": [[0, 1, 2]]}
    dual = {"price": [1.0], "triplets": [[0, 1, 2]]}
    found = cvxml.certify("boostmetric", LINE, None, [[1.0]], dual, **given)
    assert found.lower_bound == -math.inf
    assert ("below v*" in found.undecided) == proved


def test_where_every_metric_is_as_good_nothing_is_claimed() -> None:
    """One triplet of margin 8 at v = 8: the objective is 0 everywhere, and v* is 8."""
    given: dict[str, Any] = {"v": 8.0, "triplets": [[0, 1, 2]]}
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("boostmetric", LINE, None, **given)
    assert "v*" in solution.notes[0]
    assert "v*" in solution.certificate.undecided
    report = cvxml.check("boostmetric", LINE, None, [[1.0]], **given)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "v*" in report.reasons[0]
    assert "overflow" not in str(report)


def boosted(H: Any, rounds: int) -> FloatArray:
    """Rounds of boosting by rank-one metrics, with exact line search by bisection."""
    H, M = np.asarray(H), np.zeros_like(H[0])
    for _ in range(rounds):
        u = np.exp(-np.tensordot(H, M, 2))
        q = np.linalg.eigh(np.tensordot(u / u.sum(), H, 1))[1][:, -1]
        margins, low, high = np.einsum("a,tab,b->t", q, H, q), 0.0, 10.0
        for _ in range(60):
            step = (low + high) / 2
            w = u * np.exp(-step * margins)
            low, high = (step, high) if w @ margins > 1e-7 * w.sum() else (low, step)
        M = M + low * np.outer(q, q)
    return M


def test_boosting_at_a_tiny_v_arrives_nowhere() -> None:
    """Its own metric proves that there is no optimum; more rounds go further down."""
    X, y = real_data("wine", 40)
    H = outer(X, triplets(y, X, 3))
    found = [cvxml.evaluate("boostmetric", X, y, boosted(H, rounds), v=1e-7) for rounds in (30, 60, 120)]
    assert found[0].objective > found[1].objective > found[2].objective
    assert found[2].unbounded_below > 1e-7
    assert found[0].trace < found[1].trace < found[2].trace


# ---------------------------------------------------------------- misreadings, input, files


@pytest.mark.quick(1)
@pytest.mark.parametrize("misreading", ["no_log", "mean"])
def test_a_misreading_is_named(misreading: str) -> None:
    """The sum or the mean of the exponentials, by cvxpy."""
    X, y = real_data("iris", 15)
    H = outer(X, triplets(y, X, 2))
    share = {"no_log": 1.0, "mean": 1 / len(H)}[misreading]
    M, v = cp.Variable((4, 4), PSD=True), 0.5
    margins = np.reshape(H, (len(H), 16)) @ cp.vec(M, order="C")
    cost = share * cp.sum(cp.exp(-margins)) + v * cp.trace(M)
    cp.Problem(cp.Minimize(cost)).solve(cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    assert_named("boostmetric", misreading, X, y, M.value, v=v, n_neighbors=2)


@pytest.mark.slow
def test_another_v_is_named_with_its_value() -> None:
    X, y = real_data("iris", 24)
    theirs = cvxml.solve("boostmetric", X, y, v=0.4, n_neighbors=2, tol=1e-9)
    report = assert_named("boostmetric", "another_v", X, y, theirs.metric, v=0.8, n_neighbors=2)
    (said,) = (line for line in report.diagnosis if "v = " in line)
    assert float(said.split("v = ")[1].split()[0]) == pytest.approx(0.4, rel=1e-3)
