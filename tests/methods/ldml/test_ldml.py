"""LDML: against scikit-learn, separable pairs, weights, misreadings, files."""

from __future__ import annotations

import dataclasses
import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from sklearn.linear_model import LogisticRegression

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from cvxml.methods.ldml.logistic_path import ACROSS
from cvxml.oracle.saved import recertify
from tests.cli.commands import Cli
from tests.instances import NOT_OPTIMAL, assert_named, fractions, random_data, real_data

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


def test_the_bound_of_prices_near_the_optimum_is_near_it() -> None:
    """Mixed with strict ones, where they are not feasible."""
    X, y = random_data(4, n=14, d=3, classes=2)
    for b in ("free", 2.0):
        solution, rng = cvxml.solve("ldml", X, y, b=b, tol=1e-8), np.random.default_rng(0)
        noisy = solution.dual["a"] + 1e-6 * rng.standard_normal(len(solution.dual["a"]))
        proof = cvxml.certify("ldml", X, y, solution.metric, {"a": noisy}, b=b)
        assert proof.rel_gap <= 1e-3


# ---------------------------------------------------------------- no optimum


def test_separable_pairs_have_no_optimum_where_b_is_free() -> None:
    """And the metric that is returned proves it, in rationals: more of it is better for ever."""
    X, y = APART["X"], APART["y"]
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, y)
    assert solution.status is Status.NOT_ATTAINED
    assert "prove" in solution.notes[0]
    assert not solution.certificate.proves(1e-3)
    near, far = differences(fractions(X), y)
    M = fractions(solution.metric)
    assert max(e @ M @ e for e in near) < min(e @ M @ e for e in far)
    found = [cvxml.evaluate("ldml", X, y, t * solution.metric).objective for t in (1.0, 2.0, 4.0)]
    assert found[0] > found[1] > found[2]
    for metric in ([[1.0]], [[100.0]], solution.metric):
        assert cvxml.check("ldml", X, y, metric).verdict is not Verdict.CERTIFIED
    assert cvxml.solve("ldml", X, y, b=1.0).status is Status.CONVERGED  # a distance has to be near b


@pytest.mark.parametrize("exact", [False, True])
def test_where_pairs_just_meet_a_metric_next_to_the_infimum_is_not_certified(
    exact: bool, tmp_path: Path
) -> None:
    """A similar and a dissimilar pair at 1, another dissimilar pair at 4: the infimum is 2 log 2.

    For b = M the objective exceeds it by log(1 + exp(-3 M)), which is 1e-13 at M = 10.
    """
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3]]}
    given: dict[str, Any] = {"X": [[0.0], [1.0], [2.0], [4.0]], "y": None, "pairs": pairs}
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", **given)
    proof = cvxml.certify("ldml", **given, metric=[[10.0]], dual={"a": [0.5, 0.5, 0.0]})
    assert proof.objective == pytest.approx(2 * math.log(2), rel=1e-12)
    assert proof.proves(1e-6)  # it is as near to the infimum
    report = cvxml.check("ldml", **given, metric=[[10.0]], exact=exact, diagnosed=False)
    assert report.verdict is Verdict.INCONCLUSIVE
    solution.save(tmp_path / "solution.json")
    content = json.loads((tmp_path / "solution.json").read_text())
    content |= {"metric": [[10.0]], "status": "CONVERGED", "dual": {"a": [0.5, 0.5, 0.0]}}
    content |= {"objective": proof.objective, "lower_bound": proof.lower_bound}
    (tmp_path / "solution.json").write_text(json.dumps(content))
    assert recertify(cvxml.load(tmp_path / "solution.json"), 1e-6, exact).verdict is Verdict.INCONCLUSIVE


def test_both_reasons_why_no_metric_attains_the_infimum_are_told() -> None:
    """Separable pairs; a dissimilar pair that moves at no cost, which counts at any b; and neither."""
    X = [[*x, 0.0] for x in LINE["X"]] + [[0.0, 1.0]]
    pairs = {**LINE["pairs"], "dissimilar": [*LINE["pairs"]["dissimilar"], [0, 5]]}
    separable = METHOD.instance(APART["X"], APART["y"])
    free, given = (METHOD.instance(X, None, pairs=pairs, b=b) for b in ("free", 1.0))
    assert METHOD.unattained(separable) != ""
    for moving in (free, given):
        assert METHOD.unattained(moving) == ACROSS.format(count=1) != METHOD.unattained(separable)
    for attained in (METHOD.instance(LINE["X"], None, pairs=LINE["pairs"]), METHOD.instance(**APART, b=1.0)):
        assert METHOD.unattained(attained) == ""


@pytest.mark.parametrize("solver", ["fast", "clarabel"])
def test_flowers_are_separable(solver: str) -> None:
    X, y = real_data("iris", 12)
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, y, solver=solver)
    assert solution.status is Status.NOT_ATTAINED
    assert solution.lower_bound == 0


def test_where_pairs_just_meet_there_is_no_optimum_and_where_all_are_equally_far_there_is() -> None:
    """Similar pairs at 1, dissimilar ones at 1 and at 4; and all pairs at 1, where every M is optimal."""
    pairs = {"similar": [[0, 1]], "dissimilar": [[1, 2], [2, 3]]}
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", [[0.0], [1.0], [2.0], [4.0]], None, pairs=pairs)
    assert solution.status is Status.NOT_ATTAINED
    for M in (0.0, 10.0):
        assert cvxml.check("ldml", LINE["X"], None, [[M]], pairs=LINE["pairs"]).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("b", ["free", 1.0])
def test_a_dissimilar_pair_that_moves_at_no_cost(b: Any) -> None:
    """Only it differs in the second feature: the infimum is that of the others, and is approached."""
    X = [[*x, 0.0] for x in LINE["X"]] + [[0.0, 1.0]]
    pairs = {**LINE["pairs"], "dissimilar": [*LINE["pairs"]["dissimilar"], [0, 5]]}
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", X, None, pairs=pairs, b=b)
    assert solution.status is Status.NOT_ATTAINED
    assert any("1 dissimilar" in line for line in solution.notes)
    assert solution.lower_bound <= BEST + 1e-9
    assert solution.objective >= BEST - 1e-9
    if b == 1.0:
        assert solution.lower_bound == pytest.approx(BEST, abs=1e-4)


@pytest.mark.quick(1)
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
    assert "attains" in report.reasons[0]
    wrong = cvxml.check("ldml", X, None, 0.5 * solution.metric, pairs=pairs, b=1.0, exact=exact)
    assert wrong.verdict is Verdict.REFUTED
    solution.save(tmp_path / "solution.json")
    told = (tmp_path / "solution.json").read_text()
    assert '"NOT_ATTAINED"' in told
    (tmp_path / "solution.json").write_text(told.replace('"NOT_ATTAINED"', '"CONVERGED"'))
    again = recertify(cvxml.load(tmp_path / "solution.json"), 1e-6, exact)
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "attains" in again.reason


def test_an_infimum_that_needs_an_unbounded_entry_is_not_certified() -> None:
    """The best M_11 would be negative, and at M_11 = 0 the best M_12 is not 0. No psd matrix has both."""
    X = [[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [2, 1]]
    pairs = {
        "similar": [[0, 3], [1, 3], [0, 4], [0, 5]],
        "dissimilar": [[2, 3], [1, 4], [2, 4], [1, 5], [2, 5]],
    }
    c, t = np.array([0, 0, 1, 2, 0, 1, 1, 2, 2]), np.repeat([1, -1], [4, 5])
    infimum = minimize(lambda v: np.logaddexp(0, t * (2 * v[0] * c - v[1])).sum(), [0.0, 0.0]).fun
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("ldml", X, None, pairs=pairs)
    assert solution.status not in (Status.CONVERGED, Status.STATIONARY)
    assert solution.lower_bound <= infimum
    values = []
    for M_11 in (1e-2, 1e-4, 1e-6):
        M = np.array([[M_11, 0.35], [0.35, 0.35**2 / M_11]])
        values.append(cvxml.evaluate("ldml", X, None, M, pairs=pairs).objective)
        report = cvxml.check("ldml", X, None, M, pairs=pairs, tol="loose", diagnosed=False)
        assert report.verdict is not Verdict.CERTIFIED
    assert values[0] > values[1] > values[2] > infimum
    assert values[2] - infimum < 1e-4


def test_a_loss_that_underflows_is_not_certified() -> None:
    """The objective is exp(-1e5) at one metric and exp(-2e5) at the other, and both are 0 in double precision."""
    pairs = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    X = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    for far in (2e5, 3e5):
        report = cvxml.check("ldml", X, None, np.diag([0.0, far]), pairs=pairs, b=1e5)
        assert report.verdict is not Verdict.CERTIFIED


# ---------------------------------------------------------------- misreadings, input, files


# a misreading, the b of the program that makes it, and the b that is asked for
OTHER_B = [
    ("tiny_b", 1e-3, "free"),
    ("no_b", 0.0, 2.0),
    ("unit_b", 1.0, 4.0),
    ("learnt", "free", 1.0),
    ("another_b", 3.0, 1.0),
    ("another_b", 3.0, "free"),
    ("exchanged", 1.0, 1.0),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "theirs", "asked"), OTHER_B)
def test_a_misreading_is_named(name: str, theirs: Any, asked: Any) -> None:
    X, y = random_data(8, 14, 3, 2)  # in three features: with one, every metric is optimal for some b
    pairs, exchanged = None, None
    if name == "exchanged":
        rows = np.random.default_rng(0).permutation(np.transpose(np.triu_indices(14, 1)))
        pairs = {"similar": rows[:20].tolist(), "dissimilar": rows[20:40].tolist()}
        exchanged = {"similar": pairs["dissimilar"], "dissimilar": pairs["similar"]}
    wrong = cvxml.solve("ldml", X, y, b=theirs, tol=1e-10, pairs=exchanged).metric
    report = assert_named("ldml", name, X, y, wrong, b=asked, pairs=pairs)
    if name == "another_b":
        (said,) = (line for line in report.diagnosis if METHOD.MISREADINGS[name].sentence in line)
        assert float(said.split("b = ")[1].split()[0]) == pytest.approx(3.0, rel=1e-3)


# a misreading, the weights that its program gives to a similar pair, a dissimilar one and a point with itself, and
# what is asked for; the numbers of similar pairs, of dissimilar ones and of points are s, q and n
WEIGHED: list[tuple[str, Any, dict[str, Any]]] = [
    ("ordered", lambda s, q, n: (2, 2, 1), {}),
    ("means", lambda s, q, n: (1 / s, 1 / q, 0), {}),
    ("means", lambda s, q, n: (1 / s, 1 / q, 0), {"b": 2.0}),
    # as mildml_evalg_sparse.c has it: twice the two means, and the points over the number of similar pairs
    ("authors", lambda s, q, n: (2 / s, 2 / q, 1 / s), {}),
    ("sum", lambda s, q, n: (1, 1, 0), {"losses": "means", "self_pairs": 0.5}),
    ("ordered", lambda s, q, n: (2, 2, 1), {"losses": "means"}),
    ("unweighted", lambda s, q, n: (1, 1, 0), {"weights": np.arange(1.0, 92.0)}),
]


def theirs(X: Any, y: Any, w: tuple[float, float, float], b: float | None = None) -> FloatArray:
    """The optimum of somebody who weighs similar pairs, dissimilar pairs and points with themselves so."""
    near, far = differences(X, y)
    M, threshold = cp.Variable((X.shape[1],) * 2, PSD=True), cp.Variable() if b is None else b
    losses = w[0] * cp.sum(cp.hstack([cp.logistic(e @ M @ e - threshold) for e in near]))
    losses += w[1] * cp.sum(cp.hstack([cp.logistic(threshold - e @ M @ e) for e in far]))
    losses += w[2] * len(X) * cp.logistic(-threshold)
    cp.Problem(cp.Minimize(losses)).solve(cp.CLARABEL)
    return np.asarray(M.value)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "w", "asked"), WEIGHED, ids=[name for name, *_ in WEIGHED])
def test_losses_that_count_otherwise_are_named_alone(name: str, w: Any, asked: dict[str, Any]) -> None:
    """The metric is optimal for another given b too where points count with themselves; that is not the mistake."""
    X, y = random_data(8, 14, 3, 2)
    near, far = differences(X, y)
    wrong = theirs(X, y, w(len(near), len(far), len(X)), asked.get("b"))
    report = cvxml.check("ldml", X, y, wrong, **asked)
    assert report.verdict is Verdict.REFUTED
    assert [METHOD.MISREADINGS[name].sentence in line for line in report.diagnosis] == [True], str(report)


@pytest.mark.slow
def test_the_authors_program_on_iris_is_named() -> None:
    """Its optimum is 1.1e-3 above that of a sum over pairs, which was taken for a run that stopped early."""
    X, y = real_data("iris")
    X, y = X[::3], y[::3]
    near, far = differences(X, y)
    program = {"losses": "means", "self_pairs": 0.5}
    metric = cvxml.solve("ldml", X, y, tol=1e-8, **program).metric
    report = assert_named("ldml", "authors", X, y, metric)
    assert report.rel_gap == pytest.approx(1.1e-3, rel=0.05)
    assert len(report.diagnosis) == 1
    assert cvxml.check("ldml", X, y, metric, **program).verdict is Verdict.CERTIFIED
    # the objective of the program, at its b
    b = cvxml.evaluate("ldml", X, y, metric, **program).b
    of_near = np.mean([math.log1p(math.exp(e @ metric @ e - b)) for e in near])
    of_far = np.mean([math.log1p(math.exp(b - e @ metric @ e)) for e in far])
    of_points = len(X) * math.log1p(math.exp(-b)) / len(near)
    found = cvxml.evaluate("ldml", X, y, metric, **program).objective
    assert 2 * found == pytest.approx(2 * of_near + 2 * of_far + of_points, rel=1e-12)


def test_a_point_with_itself_matters_only_where_b_is_free() -> None:
    X, y = random_data(8, 14, 3, 2)
    plain, with_points = (cvxml.solve("ldml", X, y, b=2.0, self_pairs=w, tol=1e-8) for w in (0.0, 0.5))
    constant = 0.5 * len(X) * math.log1p(math.exp(-2.0))
    assert with_points.objective == pytest.approx(plain.objective + constant, rel=1e-8)
    for w in (0.0, 0.5):
        report = cvxml.check("ldml", X, y, plain.metric, b=2.0, self_pairs=w)
        assert report.verdict is Verdict.CERTIFIED
    free = cvxml.solve("ldml", X, y, tol=1e-8)
    report = cvxml.check("ldml", X, y, free.metric, self_pairs=0.5, diagnosed=False)
    assert report.verdict in NOT_OPTIMAL


def test_weights_of_whole_numbers_are_pairs_that_are_there_so_often() -> None:
    """For class means the sum over a kind is divided by the sum of its weights."""
    X, y = random_data(8, 8, 2, 2)
    near, far = differences(X, y)
    w = np.arange(len(near) + len(far)) % 3 + 1.0
    for losses in ("sum", "means"):
        found = cvxml.solve("ldml", X, y, losses=losses, weights=w, b=2.0, tol=1e-8)
        values = [
            [math.log1p(math.exp(t * (e @ found.metric @ e - 2.0))) for e in kind]
            for t, kind in ((1, METHOD.instance(X, y).similar), (-1, METHOD.instance(X, y).dissimilar))
        ]
        often = [np.repeat(v, k.astype(int)) for v, k in zip(values, np.split(w, [len(near)]), strict=True)]
        total = sum(v.sum() if losses == "sum" else v.mean() for v in often)
        assert found.objective == pytest.approx(total, rel=1e-12)


def test_pairs_at_one_distance_have_no_optimum_where_points_count_with_themselves() -> None:
    """M and b grow together: only the loss of the points falls, to 0. With b given there is an optimum."""
    with pytest.warns(match="not attained"):
        solution = cvxml.solve("ldml", LINE["X"], None, pairs=LINE["pairs"], self_pairs=0.5)
    assert solution.status is Status.NOT_ATTAINED
    assert solution.lower_bound <= BEST < solution.objective + 1e-12
    given = cvxml.solve("ldml", LINE["X"], None, pairs=LINE["pairs"], self_pairs=0.5, b=1.0)
    assert given.status is Status.CONVERGED


@pytest.mark.slow
def test_plain_distances_are_refuted() -> None:
    """The program of somebody who minimises the loss of distances, not squared, in one feature."""
    X, y = random_data(3, n=14, d=1, classes=2)
    X[:, 0] += 1.5 * y
    near, far = differences(X, y)
    label = np.repeat([0, 1], [len(near), len(far)])
    plain = np.abs(np.concatenate([near, far]))
    slope = float(LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(plain, label).coef_[0, 0])
    assert cvxml.check("ldml", X, y, [[slope**2]]).verdict is Verdict.REFUTED


def test_similar_pairs_that_are_all_equal_are_refused() -> None:
    pairs = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    with pytest.raises(ValueError, match="equal"):
        cvxml.solve("ldml", [[0.0], [0.0], [1.0]], None, pairs=pairs)


WEIGHINGS: list[dict[str, Any]] = [
    {"losses": losses, "weights": weights, "self_pairs": self_pairs}
    for losses in ("sum", "means")
    for weights in (None, [0.5, 1.0, 3.0, 1.0, 0.25])
    for self_pairs in (0.0, 0.7)
]


def weighed_loss(X: Any, pairs: Any, weighing: dict[str, Any], M: Any, b: float) -> float:
    """One probability after another, of two similar pairs and three dissimilar ones."""
    w, self_pairs = weighing["weights"] or [1.0] * 5, weighing["self_pairs"]
    of = [sum(w[:2]), sum(w[2:])] if weighing["losses"] == "means" else [1.0, 1.0]

    def p(i: int, j: int) -> float:
        return float(1 / (1 + math.exp((X[i] - X[j]) @ M @ (X[i] - X[j]) - b)))

    near = sum(c * math.log(p(*pair)) for c, pair in zip(w[:2], pairs["similar"], strict=True)) / of[0]
    far = sum(c * math.log(1 - p(*pair)) for c, pair in zip(w[2:], pairs["dissimilar"], strict=True)) / of[1]
    return -near - far - sum(self_pairs * math.log(p(i, i)) for i in range(len(X))) / of[0]


@pytest.mark.parametrize("b", [0.8, "free"])
@pytest.mark.parametrize("weighing", WEIGHINGS, ids=str)
def test_every_weighing_is_one_problem_in_all_places(weighing: dict[str, Any], b: Any) -> None:
    """The literal problem and its dual, the objective, the intermediates and the bound, at any metric and prices."""
    X, rng = random_data(5, n=6, d=2)[0], np.random.default_rng(0)
    pairs: Any = {"similar": [[0, 1], [2, 3]], "dissimilar": [[0, 2], [1, 4], [3, 5]]}
    given = METHOD.instance(X, None, pairs=pairs, b=b, **weighing)
    M = np.array([[0.5, 0.2], [0.2, 0.3]])
    if b == "free":
        losses = minimize_scalar(
            lambda t: weighed_loss(X, pairs, weighing, M, t), bounds=(-50, 50), method="bounded"
        )
        value, at = losses.fun, losses.x
    else:
        value, at = weighed_loss(X, pairs, weighing, M, b), b
    found = METHOD.evaluate(given, M)
    assert found["objective"] == pytest.approx(value, rel=1e-9)
    assert found["b"] == pytest.approx(at, abs=1e-4)
    literal = METHOD.problem(given)
    for variable in literal.variables():
        variable.save_value(M if variable.name() == "M" else np.array(found["b"]))
    assert literal.objective.value == pytest.approx(value, rel=1e-9)
    E = 1e-6 * np.array([[1.0, 2.0], [2.0, -1.0]])
    change = METHOD.objective(given, M + E) - METHOD.objective(given, M - E)
    assert float(np.sum(found["gradient"] * 2 * E)) == pytest.approx(change, rel=1e-4)
    dual = METHOD.dual(given)
    (a,) = dual.variables()
    (duals,) = METHOD.read(given, {"a": rng.random(given.rows)})
    loss = METHOD.member(given).terms[0].loss
    repaired = loss.to_domain(duals.a)
    a.save_value(np.abs(repaired))
    assert dual.objective.value == pytest.approx(loss.bound(repaired).value, rel=1e-9)
    linear = dual.constraints[-1] if b == "free" else dual.constraints[1]
    assert linear.violation().max() <= 1e-9


@pytest.mark.parametrize("self_pairs", [0.0, 0.5])
def test_weights_of_class_means_are_rounded_a_few_times_however_many_pairs_there_are(
    self_pairs: float,
) -> None:
    """The proof allows for a few units in the last place of each weight."""
    X, y = random_data(4, n=80, d=2, classes=2)
    w = 0.1 + np.random.default_rng(0).random(80 * 79 // 2)
    given = METHOD.instance(X, y, losses="means", weights=w, self_pairs=self_pairs)
    found, exact = (METHOD.member(given, number).terms[0].loss.w for number in (float, Fraction))
    assert len(found) == len(w) + (self_pairs > 0)
    for own, true in zip(found.tolist(), exact.tolist(), strict=True):
        assert abs(Fraction(own) - true) <= Fraction(2 * np.finfo(float).eps) * true


def test_the_estimator_takes_pairs() -> None:
    model = cvxml.LDML(2.0).fit(LINE["X"], pairs=LINE["pairs"])
    assert model.get_mahalanobis_matrix()[0, 0] == pytest.approx(2 + math.log(3), abs=1e-2)


def test_weights_reach_the_problem_from_a_shell_a_fit_and_a_file(cli: Cli, tmp_path: Path) -> None:
    listed = np.random.default_rng(0).permutation(80).reshape(40, 2).tolist()
    pairs, w = {"similar": listed[:20], "dissimilar": listed[20:]}, np.arange(1.0, 41.0)
    program: dict[str, Any] = {"losses": "means", "self_pairs": 0.5}
    rows = [[*pair, sign] for sign, kind in ((1, "similar"), (-1, "dissimilar")) for pair in pairs[kind]]
    np.savetxt(tmp_path / "pairs.csv", rows, fmt="%d", delimiter=",")
    np.savetxt(tmp_path / "w.csv", w)
    told = ("--pairs", str(tmp_path / "pairs.csv"), "--weights", str(tmp_path / "w.csv"), "--b", "2")
    told += ("--losses", "means", "--self-pairs", "0.5", "--out", str(tmp_path / "s.json"))
    answer = cli("solve", "ldml", "iris", "--standardize", *told, "--json")
    X, y = real_data("iris")
    known = cvxml.solve("ldml", X, None, b=2.0, pairs=pairs, weights=w, **program)
    assert json.loads(answer.out)["objective"] == pytest.approx(known.objective, rel=1e-6)
    model = cvxml.LDML(2.0, **program).fit(X, pairs=pairs, weights=w)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), known.metric, atol=1e-9)
    assert cvxml.certify_estimator(model, X).verdict is Verdict.CERTIFIED
    saved = cvxml.load(tmp_path / "s.json")
    assert recertify(saved, 1e-6).verdict is Verdict.CERTIFIED
    others = {name: value for name, value in saved.params.items() if name != "weights"}
    other = recertify(dataclasses.replace(saved, params=others), 1e-6)
    assert other.verdict is not Verdict.CERTIFIED
    with pytest.raises(ValueError, match="weights"):
        cvxml.LDML().fit(X, y, weights=w)
