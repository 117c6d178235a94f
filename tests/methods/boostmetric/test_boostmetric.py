"""BoostMetric: by hand, against cvxpy from scratch, v* from both sides, below and at v*, misreadings."""

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
from cvxml.family.threshold import BELOW
from cvxml.methods import get
from cvxml.methods.boostmetric import threshold
from cvxml.oracle.saved import recertify
from tests.instances import fractions, random_data, real_data
from tests.methods.frobmetric.test_frobmetric import triplets
from tests.methods.rtml.test_rtml import outer
from tests.recomputed import assert_proved, assert_refused, dual_of, recompute

# margins 8 and 0 times X: the derivative of log(1 + exp(-8 X)) + v X is 0 where exp(8 X) = 8 / v - 1
LINE: tuple[Any, list[list[int]]] = ([[0.0], [1.0], [3.0], [-1.0]], [[0, 1, 2], [0, 1, 3]])
METHOD: Any = get("boostmetric")


def value(H: list[FloatArray], v: float, M: Any) -> float:
    """The objective, term by term."""
    return math.log(sum(math.exp(-float(np.sum(h * M))) for h in H)) + v * float(np.trace(M))


def best_of_v(X: Any, found: Any) -> float:
    """v* as the largest of the least margins of a metric of trace 1."""
    H = outer(X, found)
    M, least = cp.Variable(H[0].shape, PSD=True), cp.Variable()
    margins = [cp.trace(M @ h) >= least for h in H]
    return float(cp.Problem(cp.Maximize(least), [*margins, cp.trace(M) == 1]).solve(cp.CLARABEL))


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("v", [0.5, 2.0, 3.9])
def test_on_a_line_by_hand(v: float) -> None:
    X, found = LINE
    solution = cvxml.solve("boostmetric", X, None, v=v, triplets=found, tol=1e-9)
    assert solution.status is Status.CONVERGED
    expected = math.log(8 / v - 1) / 8
    assert solution.metric[0, 0] == pytest.approx(expected, rel=1e-3)
    assert solution.objective == pytest.approx(value(outer(X, found), v, [[expected]]), abs=1e-8)


@pytest.mark.parametrize(
    ("data", "v"), [(random_data(2, n=16, d=3, classes=2), 0.2), (real_data("iris", 24), 1.0)]
)
def test_against_cvxpy_from_scratch(data: tuple[Any, Any], v: float) -> None:
    """The logarithm as the least s with sum exp(-margin - s) <= 1."""
    X, y = data
    H = outer(X, triplets(y, X, 1))
    M, s = cp.Variable((X.shape[1],) * 2, PSD=True), cp.Variable()
    terms = [cp.exp(-cp.trace(M @ h) - s) for h in H]
    optimum = cp.Problem(cp.Minimize(s + v * cp.trace(M)), [sum(terms) <= 1]).solve(cp.CLARABEL)
    solution = cvxml.solve("boostmetric", X, y, v=v, n_neighbors=1, tol=1e-8)
    assert solution.lower_bound - 1e-5 <= optimum <= solution.objective + 1e-5
    assert solution.objective == pytest.approx(value(H, v, solution.metric), rel=1e-12)


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_zero_is_optimal_from_the_largest_eigenvalue_of_the_mean_of_H(share: float) -> None:
    X, y = real_data("iris", 24)
    H = outer(X, triplets(y, X, 2))
    v = share * float(np.linalg.eigvalsh(np.mean(H, axis=0))[-1])
    report = cvxml.check("boostmetric", X, y, np.zeros((4, 4)), v=v, n_neighbors=2)
    assert report.verdict is (Verdict.CERTIFIED if share > 1 else Verdict.CLOSE)  # 7e-4 of the scale


def test_any_prices_bound_any_metric() -> None:
    X, y = random_data(3, n=14, d=3, classes=2)
    rng, found = np.random.default_rng(0), triplets(y, X, 2)
    given = METHOD.instance(X, y, n_neighbors=2, v=0.3)
    for size in 10.0 ** rng.uniform(-4, 2, 20):
        price = size * rng.standard_normal(len(found))
        L = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-3, 1)
        proof = METHOD.certify(given, L @ L.T, {"price": price, "triplets": np.array(found)})
        assert -math.inf < proof.lower_bound <= METHOD.objective(given, L @ L.T) + 1e-12
        assert proof.gap >= -proof.rounding


def test_exactly_the_interval_holds_the_optimum() -> None:
    """log(4/3) + log(3)/4, at log(3)/8."""
    X, found = LINE
    optimum = math.log(4 / 3) + math.log(3) / 4
    report = cvxml.check("boostmetric", X, None, [[math.log(3) / 8]], v=2.0, triplets=found, exact=True)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is not None
    assert float(report.exact.lower_bound) <= optimum <= float(report.exact.objective) * (1 + 1e-15)
    assert report.exact.gap <= Fraction(1, 10**6)


def test_a_constant_feature_costs_its_trace() -> None:
    """No point differs in it; a metric that has it is worse by v times that."""
    X, found = LINE
    X = [[x[0], 5.0] for x in X]
    best = cvxml.solve("boostmetric", X, None, v=2.0, triplets=found, tol=1e-9)
    assert best.objective == pytest.approx(math.log(4 / 3) + math.log(3) / 4, abs=1e-8)
    beside = best.metric + np.diag([0.0, 0.25])
    proof = cvxml.certify("boostmetric", X, None, beside, best.dual, v=2.0, triplets=found)
    assert proof.gap == pytest.approx(0.5, abs=1e-6)


# ---------------------------------------------------------------- v*


@pytest.mark.parametrize(
    "data", [real_data("iris", 24), real_data("wine", 20), random_data(5, n=14, d=3, classes=2)]
)
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
            with pytest.raises(ValueError, match=r"is below v.*no optimum"):
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


def test_at_v_star_the_infimum_is_not_attained() -> None:
    """Margins 8 and 3: at v = 3 it is log 1 = 0, approached as X grows."""
    X, found = [[0.0], [1.0], [3.0], [2.0]], [[0, 1, 2], [0, 1, 3]]
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("boostmetric", X, None, v=3.0, triplets=found)
    assert solution.status is Status.NOT_ATTAINED
    assert "no metric attains" in solution.notes[0]
    for M in ([[0.0]], [[1.0]], [[100.0]]):
        assert cvxml.check("boostmetric", X, None, M, v=3.0, triplets=found).verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("v", [3.0, 2.5])
def test_exact_arithmetic_ends_in_a_word_at_v_star_and_below(v: float, tmp_path: Path) -> None:
    """No bound is proved of any prices, whatever a file has; labels were not given, and are not asked for."""
    X, found = [[0.0], [1.0], [3.0], [2.0]], [[0, 1, 2], [0, 1, 3]]
    with pytest.warns(match="not attained"):
        cvxml.solve("boostmetric", X, None, v=3.0, triplets=found).save(tmp_path / "solution.json")
    content = json.loads((tmp_path / "solution.json").read_text())
    content["params"]["v"] = v
    content["status"] = "CONVERGED"
    for metric in (0.0, 1.0, 100.0):
        content["metric"] = [[metric]]
        (tmp_path / "solution.json").write_text(json.dumps(content))
        for exact in (False, True):
            again = recertify(cvxml.load(tmp_path / "solution.json"), 1e-3, exact)
            assert again.verdict is not Verdict.CERTIFIED
            if v == 3:
                report = cvxml.check("boostmetric", X, None, [[metric]], v=v, triplets=found, exact=exact)
                assert report.verdict is Verdict.INCONCLUSIVE


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


def test_where_every_metric_is_as_good_nothing_is_claimed() -> None:
    """One triplet of margin 8 at v = 8: the objective is 0 everywhere, and v* is 8."""
    given: dict[str, Any] = {"v": 8.0, "triplets": [[0, 1, 2]]}
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("boostmetric", LINE[0], None, **given)
    assert "next to v*" in solution.notes[0]
    assert cvxml.check("boostmetric", LINE[0], None, [[1.0]], **given).verdict is Verdict.INCONCLUSIVE


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


@pytest.mark.parametrize("share", [1.0, 1 / 96])
def test_the_sum_or_mean_of_exponentials_is_named(share: float) -> None:
    X, y = real_data("iris", 24)
    H = outer(X, triplets(y, X, 2))
    assert len(H) == 96
    M, v = cp.Variable((4, 4), PSD=True), 0.5
    cost = share * sum(cp.exp(-cp.trace(M @ h)) for h in H) + v * cp.trace(M)
    cp.Problem(cp.Minimize(cost)).solve(cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10)
    report = cvxml.check("boostmetric", X, y, M.value, v=v, n_neighbors=2)
    assert report.verdict is Verdict.REFUTED
    word = "the sum of exponentials" if share == 1 else "the mean of exponentials"
    assert any(word in line for line in report.diagnosis)


def test_another_v_is_named() -> None:
    X, y = real_data("iris", 30)
    theirs = cvxml.solve("boostmetric", X, y, v=0.2, tol=1e-9)
    report = cvxml.check("boostmetric", X, y, theirs.metric, v=0.4)
    assert report.verdict is Verdict.REFUTED
    (said,) = (line for line in report.diagnosis if "another v" in line)
    assert said.endswith(" (asked: 0.4)")
    assert float(said.split("v = ")[1].split()[0]) == pytest.approx(0.2, rel=1e-3)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"v": 0}, "v must"),
        ({"v": -1.0}, "v must"),
        ({"v": "1"}, "v must"),
        ({"v": 1e-200}, "v / s\\^2"),
        ({"n_neighbors": 9}, "lower n_neighbors"),
        ({"triplets": [[0, 1, 12]]}, "outside"),
    ],
)
def test_bad_parameters(params: dict[str, Any], says: str) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    with pytest.raises(ValueError, match=says):
        cvxml.solve("boostmetric", X, y, **params)


def test_the_estimator_takes_triplets() -> None:
    X, y = real_data("iris", 30)
    found = triplets(y, X, 1)[:20]
    model = cvxml.BoostMetric(2.0).fit(X, triplets=found)
    known = cvxml.solve("boostmetric", X, None, triplets=found, v=2.0)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), known.metric, rtol=1e-9, atol=1e-12)


@pytest.mark.quick(1)
@pytest.mark.parametrize("solver", ["fast", "clarabel"])
def test_a_saved_file_is_proved_without_the_package(solver: str, tmp_path: Path) -> None:
    X, y = real_data("iris", 24)
    path = tmp_path / "solution.json"
    tol = 1e-6 if solver == "fast" else 1e-4
    cvxml.solve("boostmetric", X, y, v=1.0, n_neighbors=1, solver=solver, tol=tol).save(path)
    if solver == "fast":
        assert_proved(path)
    assert "leave" not in recompute(path).text
    dual = dual_of(path)
    dual["price"][0] += 1.0
    assert_refused(path, "u leaves the simplex", dual=dual)
