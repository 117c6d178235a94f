"""LDML: by hand, against scikit-learn and cvxpy, b given and free, separable pairs, misreadings."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.oracle.saved import recertify
from tests.instances import fractions, random_data, real_data
from tests.recomputed import assert_proved, dual_of, recompute

METHOD: Any = get("ldml")
# one similar and three dissimilar pairs, all at the distance M: M - b is log 3, whatever b is
LINE: dict[str, Any] = {
    "X": [[0.0], [1.0], [2.0], [3.0], [4.0]],
    "pairs": {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3], [3, 4]]},
}
BEST = math.log(4) + 3 * math.log(4 / 3)
# separable: similar pairs at distance 1, dissimilar ones at 2 and more
APART: dict[str, Any] = {"X": [[0.0], [1.0], [3.0], [4.0]], "y": [0, 0, 1, 1]}


def differences(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    """Of similar and of dissimilar pairs."""
    near = [X[i] - X[j] for i in range(len(X)) for j in range(i) if y[i] == y[j]]
    far = [X[i] - X[j] for i in range(len(X)) for j in range(i) if y[i] != y[j]]
    return np.array(near), np.array(far)


def value(X: Any, y: Any, M: Any, b: float) -> float:
    """The negative log likelihood, of probabilities."""
    near, far = differences(X, y)
    p = [1 / (1 + math.exp(e @ M @ e - b)) for e in near]
    q = [1 - 1 / (1 + math.exp(e @ M @ e - b)) for e in far]
    return -sum(map(math.log, p + q))


# ---------------------------------------------------------------- the optimum


@pytest.mark.parametrize("b", [-0.5, 0.0, 2.0])
def test_on_a_line_by_hand(b: float) -> None:
    solution = cvxml.solve("ldml", LINE["X"], None, pairs=LINE["pairs"], b=b, tol=1e-9)
    assert solution.status is Status.CONVERGED
    assert solution.objective == pytest.approx(BEST, rel=1e-8)
    assert solution.metric[0, 0] == pytest.approx(b + math.log(3), rel=1e-3)


def test_where_b_forbids_it_zero_is_best() -> None:
    """At b = -3 the distance would be negative: M = 0, log(1 + e^3) + 3 log(1 + e^-3)."""
    solution = cvxml.solve("ldml", LINE["X"], None, pairs=LINE["pairs"], b=-3.0, tol=1e-8)
    assert solution.objective == pytest.approx(
        math.log1p(math.exp(3)) + 3 * math.log1p(math.exp(-3)), rel=1e-7
    )
    report = cvxml.check("ldml", LINE["X"], None, [[0.0]], pairs=LINE["pairs"], b=-3.0)
    assert report.verdict is Verdict.CERTIFIED


def test_one_feature_is_a_logistic_regression() -> None:
    """Of the label on the squared difference; its slope is the metric where it is positive."""
    X, y = random_data(3, n=14, d=1, classes=2)
    X[:, 0] += 1.5 * y
    near, far = differences(X, y)
    squares = np.concatenate([near, far]) ** 2
    label = np.repeat([0, 1], [len(near), len(far)])
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(squares, label)
    slope = float(model.coef_[0, 0])
    assert slope > 0
    solution = cvxml.solve("ldml", X, y, tol=1e-9)
    assert solution.metric[0, 0] == pytest.approx(slope, rel=1e-3)
    b = cvxml.evaluate("ldml", X, y, solution.metric).b
    assert b == pytest.approx(-float(model.intercept_[0]), rel=1e-3)
    assert solution.objective == pytest.approx(value(X, y, solution.metric, b), rel=1e-12)


@pytest.mark.parametrize("b", ["free", 1.0])
def test_against_cvxpy_from_scratch(b: Any) -> None:
    """Of exponentials: each loss the least s with exp(-s) + exp(z - s) <= 1."""
    X, y = random_data(2, n=9, d=2, classes=2)
    near, far = differences(X, y)
    M, at = cp.Variable((2, 2), PSD=True), cp.Variable()
    s = cp.Variable(len(near) + len(far))
    z = [e @ M @ e - at for e in near] + [at - e @ M @ e for e in far]
    rows = [cp.exp(-s[k]) + cp.exp(z[k] - s[k]) <= 1 for k in range(len(z))]
    rows += [] if b == "free" else [at == b]
    optimum = cp.Problem(cp.Minimize(cp.sum(s)), rows).solve(cp.CLARABEL)
    solution = cvxml.solve("ldml", X, y, b=b, tol=1e-8)
    assert solution.lower_bound - 1e-4 <= optimum <= solution.objective + 1e-4


def test_any_prices_bound_any_metric() -> None:
    X, y = random_data(3, n=10, d=3, classes=2)
    rng = np.random.default_rng(0)
    for b in ("free", -1.0, 0.0, 3.0):
        given = METHOD.instance(X, y, b=b)
        for size in 10.0 ** rng.uniform(-3, 1, 12):
            L = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-2, 0.5)
            proof = METHOD.certify(given, L @ L.T, {"a": size * rng.standard_normal(45)})
            assert 0 <= proof.lower_bound <= METHOD.objective(given, L @ L.T) * (1 + 1e-12)
            assert proof.gap >= -proof.rounding


def test_the_bound_of_prices_near_the_optimum_is_near_it() -> None:
    """Mixed with strict ones, where they are not feasible."""
    X, y = random_data(4, n=14, d=3, classes=2)
    for b in ("free", 2.0):
        solution, rng = cvxml.solve("ldml", X, y, b=b, tol=1e-8), np.random.default_rng(0)
        noisy = solution.dual["a"] + 1e-6 * rng.standard_normal(len(solution.dual["a"]))
        proof = cvxml.certify("ldml", X, y, solution.metric, {"a": noisy}, b=b)
        assert proof.rel_gap <= 1e-3


@pytest.mark.parametrize("b", ["free", 2.0])
def test_exactly_the_interval_holds_the_optimum(b: Any) -> None:
    M = 2 + math.log(3)
    report = cvxml.check("ldml", LINE["X"], None, [[M]], pairs=LINE["pairs"], b=b, exact=True)
    assert report.verdict is Verdict.CERTIFIED
    assert report.exact is not None
    slip = 1 + 1e-14  # of the logarithms here
    assert float(report.exact.lower_bound) / slip <= BEST <= float(report.exact.objective) * slip
    assert report.exact.gap <= Fraction(1, 10**6)


# ---------------------------------------------------------------- no optimum


def test_separable_pairs_have_no_optimum_where_b_is_free() -> None:
    """And the metric that is returned proves it, in rationals: more of it is better for ever."""
    X, y = APART["X"], APART["y"]
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, y)
    assert solution.status is Status.NOT_ATTAINED
    assert "rational numbers prove" in solution.notes[0]
    assert not solution.certificate.proves(1e-3)
    near, far = differences(fractions(X), y)
    M = fractions(solution.metric)
    assert max(e @ M @ e for e in near) < min(e @ M @ e for e in far)
    found = [cvxml.evaluate("ldml", X, y, t * solution.metric).objective for t in (1.0, 2.0, 4.0)]
    assert found[0] > found[1] > found[2]
    for metric in ([[1.0]], [[100.0]], solution.metric):
        assert cvxml.check("ldml", X, y, metric).verdict is not Verdict.CERTIFIED
    assert cvxml.solve("ldml", X, y, b=1.0).status is Status.CONVERGED  # a distance has to be near b


@pytest.mark.parametrize("solver", ["fast", "clarabel"])
def test_flowers_are_separable(solver: str) -> None:
    X, y = real_data("iris", 15)
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, y, solver=solver)
    assert solution.status is Status.NOT_ATTAINED
    assert solution.lower_bound == 0


def test_where_pairs_just_meet_there_is_no_optimum_either() -> None:
    """Similar pairs at 1, dissimilar ones at 1 and at 4: separated, though not strictly."""
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3]]}
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", [[0.0], [1.0], [2.0], [4.0]], None, pairs=pairs)
    assert solution.status is Status.NOT_ATTAINED


@pytest.mark.parametrize("b", ["free", 1.0])
def test_a_dissimilar_pair_that_moves_at_no_cost(b: Any) -> None:
    """Only it differs in the second feature: the infimum is that of the others, and is approached."""
    X = [[*x, 0.0] for x in LINE["X"]] + [[0.0, 1.0]]
    pairs = {**LINE["pairs"], "dissimilar": [*LINE["pairs"]["dissimilar"], [0, 5]]}
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, None, pairs=pairs, b=b)
    assert solution.status is Status.NOT_ATTAINED
    assert any("1 dissimilar pairs differ in directions" in line for line in solution.notes)
    assert solution.lower_bound <= BEST + 1e-9
    assert solution.objective >= BEST - 1e-9
    if b == 1.0:
        assert solution.lower_bound == pytest.approx(BEST, abs=1e-4)


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_near_an_infimum_that_is_not_attained_is_not_certified(exact: bool, tmp_path: Path) -> None:
    """By `check`, nor as a file: no metric is optimal, which is proved."""
    X = [[*x, 0.0] for x in LINE["X"]] + [[0.0, 1.0]]
    pairs = {**LINE["pairs"], "dissimilar": [*LINE["pairs"]["dissimilar"], [0, 5]]}
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, None, pairs=pairs, b=1.0)
    assert solution.certificate.proves(1e-6)  # of the infimum
    report = cvxml.check("ldml", X, None, solution.metric, pairs=pairs, b=1.0, exact=exact)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "no metric attains the infimum" in report.reasons[0]
    wrong = cvxml.check("ldml", X, None, 0.5 * solution.metric, pairs=pairs, b=1.0, exact=exact)
    assert wrong.verdict is Verdict.REFUTED
    solution.save(tmp_path / "solution.json")
    told = (tmp_path / "solution.json").read_text()
    assert '"NOT_ATTAINED"' in told
    (tmp_path / "solution.json").write_text(told.replace('"NOT_ATTAINED"', '"CONVERGED"'))
    again = recertify(cvxml.load(tmp_path / "solution.json"), 1e-6, exact)
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "no metric attains the infimum" in again.reason


def test_a_loss_that_underflows_is_not_certified() -> None:
    """The objective is exp(-1e5) at one metric and exp(-2e5) at the other, and both are 0 in double precision."""
    pairs = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    for far in (2e5, 3e5):
        report = cvxml.check("ldml", X, None, np.diag([0.0, far]), pairs=pairs, b=1e5)
        assert report.verdict is not Verdict.CERTIFIED


def test_all_pairs_equally_far_have_an_optimum() -> None:
    """Separated in the weak sense, with nothing to gain: the optimum is attained, at any M."""
    solution = cvxml.solve("ldml", LINE["X"], None, pairs=LINE["pairs"], tol=1e-8)
    assert solution.objective == pytest.approx(BEST, rel=1e-7)
    for M in (0.0, 1.0, 10.0):
        assert cvxml.check("ldml", LINE["X"], None, [[M]], pairs=LINE["pairs"]).verdict is Verdict.CERTIFIED


# ---------------------------------------------------------------- misreadings, input, files


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("theirs", "asked", "says"),
    [
        (1e-3, "free", "b = 1e-3"),
        (0.0, 2.0, "b = 0"),
        (1.0, 4.0, "b = 1 "),
        ("free", 1.0, "the best b where one was given"),
    ],
)
def test_another_b_is_named(theirs: Any, asked: Any, says: str) -> None:
    X, y = random_data(4, n=16, d=2, classes=2)
    X[:, 0] += y
    other = cvxml.solve("ldml", X, y, b=theirs, tol=1e-9)
    report = cvxml.check("ldml", X, y, other.metric, b=asked)
    assert report.verdict is Verdict.REFUTED
    assert any(says in line for line in report.diagnosis)


def test_exchanged_pairs_are_named() -> None:
    X, _ = random_data(4, n=16, d=2, classes=2)
    rng = np.random.default_rng(0)
    rows = [sorted(rng.permutation(16)[:2].tolist()) for _ in range(60)]
    rows = [list(pair) for pair in dict.fromkeys(map(tuple, rows))]
    pairs = {"similar": rows[:20], "dissimilar": rows[20:40]}
    other = cvxml.solve(
        "ldml", X, None, b=1.0, tol=1e-9, pairs={"similar": rows[20:40], "dissimilar": rows[:20]}
    )
    report = cvxml.check("ldml", X, None, other.metric, b=1.0, pairs=pairs)
    assert report.verdict is Verdict.REFUTED
    assert any("pairs exchanged" in line for line in report.diagnosis)


def test_plain_distances_are_refuted() -> None:
    """The program of somebody who minimises the loss of distances, not squared, in one feature."""
    X, y = random_data(3, n=14, d=1, classes=2)
    X[:, 0] += 1.5 * y
    near, far = differences(X, y)
    label = np.repeat([0, 1], [len(near), len(far)])
    plain = np.abs(np.concatenate([near, far]))
    slope = float(LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(plain, label).coef_[0, 0])
    assert cvxml.check("ldml", X, y, [[slope**2]]).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"b": "best"}, "b must be a number, or"),
        ({"b": float("nan")}, "b must"),
        ({"b": 1e9}, "b must be within"),
        ({"pairs": {"similar": [[0, 1]], "dissimilar": []}}, "no dissimilar pair"),
        ({"pairs": {"similar": [], "dissimilar": [[0, 1]]}}, "no similar pair"),
        ({"pairs": {"similar": [[0, 12]], "dissimilar": [[0, 1]]}}, "outside"),
    ],
)
def test_bad_parameters(params: dict[str, Any], says: str) -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    with pytest.raises(ValueError, match=says):
        cvxml.solve("ldml", X, y, **params)


def test_similar_pairs_that_are_all_equal_are_refused() -> None:
    pairs = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    with pytest.raises(ValueError, match="are equal"):
        cvxml.solve("ldml", [[0.0], [0.0], [1.0]], None, pairs=pairs)


def test_the_estimator_takes_pairs() -> None:
    model = cvxml.LDML(2.0).fit(LINE["X"], pairs=LINE["pairs"])
    assert model.get_mahalanobis_matrix()[0, 0] == pytest.approx(2 + math.log(3), abs=1e-2)


@pytest.mark.quick(1)
@pytest.mark.parametrize("b", ["free", 2.0])
def test_a_saved_file_is_proved_without_the_package(b: Any, tmp_path: Path) -> None:
    X, y = random_data(5, n=10, d=3, classes=2)
    path = tmp_path / "solution.json"
    cvxml.solve("ldml", X, y, b=b, tol=1e-7).save(path)
    assert_proved(path)
    dual = dual_of(path)
    for k, share in enumerate((2.0, 0.5)):
        dual["a"][0] = share
        code, said = recompute(path, dual=dual)
        assert code != 0
        assert "leaves what is allowed" in said if k == 0 else "balance" in said or b != "free"


@pytest.mark.parametrize("asked", [1.0, "free"])
def test_another_b_is_named_with_its_value(asked: Any) -> None:
    """In three features: with one, every metric is optimal for some b."""
    X, y = random_data(8, 14, 3, 2)
    theirs = cvxml.solve("ldml", X, y, b=3.0, tol=1e-10).metric
    report = cvxml.check("ldml", X, y, theirs, b=asked)
    assert report.verdict is Verdict.REFUTED
    (said,) = (line for line in report.diagnosis if "another b" in line)
    assert float(said.split("b = ")[1].split()[0]) == pytest.approx(3.0, rel=1e-3)
    assert said.endswith(f"(asked: {asked:g})" if asked != "free" else "(asked: free)")
