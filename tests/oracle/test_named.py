"""What a program did that nobody listed, or that had not arrived: other weights, nearest misreadings, close."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray
from cvxml.core.report import Report, Verdict
from cvxml.methods import get, names
from cvxml.oracle import weights
from cvxml.oracle.asked import Asked
from cvxml.oracle.diagnose import by_chance, numbers, told, turned
from cvxml.oracle.explanations import Explanation, best_factor, misreadings
from cvxml.oracle.judge import Judge, Left
from cvxml.oracle.likeliest import improvement
from cvxml.oracle.reference import Reference
from tests.instances import random_data
from tests.oracle.test_diagnosis import LAM, K, data

ASKED: dict[str, dict[str, Any]] = {
    "mlsvm": {"lam": 0.1},
    "lmnn": {"mu": 0.5},
    "itml": {"gamma": 1.0},
    "frobmetric": {"C": 1.0},
    "scml": {"beta": 0.01},
    "schultz_joachims": {"C": 0.01},
}


def points(method: str = "") -> tuple[FloatArray, Any]:
    """Two long classes side by side, in four features; of iris for MLSVM, so that lam counts."""
    if method == "mlsvm":
        X, y = datasets.load("iris")
        return datasets.standardize(X)[::4], y[::4]
    rng = np.random.default_rng(4)
    y = np.arange(36) % 2
    X = rng.standard_normal((36, 4)) * [1.0, 2.0, 0.6, 1.0]
    X[:, 0] += 2 * y
    return X, y


def noisy(M: FloatArray, size: float) -> FloatArray:
    """A psd matrix that is off by about `size` of the norm."""
    E = np.random.default_rng(0).standard_normal(M.shape)
    turn = np.eye(len(M)) + size * E / np.linalg.norm(E)
    return turn @ M @ turn.T


def lines(report: Report) -> list[str]:
    return [*report.diagnosis, *map(str, report.nearest)]


@pytest.mark.quick(1)
@pytest.mark.parametrize("by", [0.3, 3.0])
@pytest.mark.parametrize("method", ASKED)
def test_another_weight_is_named_with_its_value(method: str, by: float) -> None:
    """To 2 %, or as one of an interval in which all are optimal to the tolerance."""
    X, y = points(method)
    ((name, asked),) = ASKED[method].items()
    most = get(method).WEIGHTS[name]
    used = asked * by if np.isinf(most) else asked * by / (asked * by + most - asked)
    theirs = cvxml.solve(method, X, y, **{name: used}, tol=1e-8).metric
    report = cvxml.check(method, X, y, theirs, **{name: asked})
    assert report.verdict is Verdict.REFUTED
    said = [line for line in report.diagnosis if f"for {name} = " in line]
    assert said, str(report)
    found, low, high = (
        float(said[0].split(word)[1].split()[0].strip(";")) for word in (f"{name} = ", "from ", " to ")
    )
    assert found == pytest.approx(used, rel=0.02) or low <= used <= high
    assert low <= found <= high


def test_a_ratio_that_is_a_number_of_the_problem_is_named() -> None:
    X, y = points("mlsvm")
    theirs = cvxml.solve("mlsvm", X, y, lam=0.1 / len(X[0]), tol=1e-8).metric
    said = lines(cvxml.check("mlsvm", X, y, theirs, lam=0.1))
    assert any("1/d" in line for line in said), said


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", ["mlsvm", "lmnn", "itml"])
@pytest.mark.parametrize("share", [1e-4, 3e-3])
def test_a_right_program_that_stopped_early_is_close(method: str, share: float) -> None:
    """Errors in some direction, of the size that leaves the share."""
    X, y = points(method)
    best = cvxml.solve(method, X, y, **ASKED[method], tol=1e-8)
    small, large = 1e-6, 1.0
    for _ in range(40):
        size = np.sqrt(small * large)
        proof = cvxml.certify(method, X, y, noisy(best.metric, size), best.dual, **ASKED[method])
        small, large = (size, large) if proof.gap < share * proof.scale else (small, size)
    report = cvxml.check(method, X, y, noisy(best.metric, small), **ASKED[method])
    assert report.verdict is Verdict.CLOSE, str(report)
    assert not report.diagnosis
    share = report.gap / report.scale
    assert any(f"{100 * share:.2g} %" in line for line in report.reasons)


@pytest.mark.slow
def test_the_point_itself_among_its_targets_is_first_though_the_program_stopped_early() -> None:
    X, y = points()
    lists = [[i, *listed[:2]] for i, listed in enumerate(nearest(X, y))]
    theirs = of_targets(X, y, lists)
    report = cvxml.check("lmnn", X, y, noisy(theirs, 0.02))
    assert report.verdict is Verdict.REFUTED
    assert report.nearest
    assert get("lmnn").MISREADINGS["self"].sentence in report.nearest[0].sentence, str(report)


def nearest(X: FloatArray, y: Any) -> list[list[int]]:
    """The three of its class that are nearest, for each point."""
    D = np.sum((X[:, None] - X) ** 2, axis=2)
    np.fill_diagonal(D, np.inf)
    D[np.not_equal.outer(y, y)] = np.inf
    return [[int(j) for j in np.argsort(row, kind="stable")[:3]] for row in D]


def of_targets(X: FloatArray, y: Any, lists: list[list[int]]) -> FloatArray:
    """LMNN's optimum where targets may be points themselves, by cvxpy from scratch."""
    import cvxpy as cp

    M = cp.Variable((X.shape[1],) * 2, PSD=True)

    def D(i: Any, j: Any) -> Any:
        E = X[i] - X[j]
        return np.einsum("ta,tb->tab", E, E).reshape(len(E), -1) @ cp.vec(M, order="C")

    i, j = np.array([(i, j) for i, listed in enumerate(lists) for j in listed]).T
    far = np.array(
        [(i, j, k) for i, listed in enumerate(lists) for j in listed for k in np.flatnonzero(y != y[i])]
    ).T
    hinge = cp.pos(1 + D(far[0], far[1]) - D(far[0], far[2]))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum(D(i, j)) + 0.5 * cp.sum(hinge)))
    problem.solve(solver="CLARABEL")
    found: FloatArray = M.value
    return found


@pytest.mark.slow
def test_two_weights_are_named_where_one_explains_too_little() -> None:
    X, y = points()
    pairs = {
        kind: [[i, i + step] for i in range(0, 30, 3)] for kind, step in (("similar", 2), ("dissimilar", 1))
    }
    theirs = cvxml.solve("sdml", X, y, pairs=pairs, eta=0.015, lam=0.05, tol=1e-9).metric
    # without a limit of its time, because the search is long for a slow machine
    asked: dict[str, Any] = {"pairs": pairs, "eta": 0.005, "lam": 0.02, "diagnosed": "all"}
    (said,) = cvxml.check("sdml", X, y, theirs, **asked).diagnosis
    eta, lam = (float(said.split(f"{name} = ")[1].split()[0]) for name in ("eta", "lam"))
    assert eta == pytest.approx(0.015, rel=0.02)
    assert lam == pytest.approx(0.05, rel=0.02)


@pytest.mark.slow
def test_two_weights_are_named_with_their_own_values_or_not_at_all() -> None:
    """Both that are asked are larger. The search may end at two others, 4e-5 of the scale from the optimum."""
    X, y = random_data(0, n=16, d=3, classes=3)
    params = {"n_neighbors": 2, "n_anchors": 1}
    theirs = cvxml.solve("plml", X, y, alpha1=0.5, alpha2=0.2, tol=1e-9, **params).metric
    for said in cvxml.check("plml", X, y, theirs, **params).diagnosis:
        assert float(said.split("alpha1 = ")[1].split()[0]) == pytest.approx(0.5, rel=1e-2)
        assert float(said.split(" and alpha2 = ")[1].split()[0]) == pytest.approx(0.2, rel=1e-2)


@pytest.mark.slow
def test_two_weights_are_not_looked_for_where_a_tangent_shows_that_none_explains_the_metric(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = random_data(0, n=12, d=3, classes=3)
    params = {"n_neighbors": 2, "n_anchors": 1}
    tried, looks = Judge.tried, []
    monkeypatch.setattr(Judge, "tried", lambda *given: looks.append(given) or tried(*given))
    report = cvxml.check("plml", X, y, np.eye(3), **params)
    assert report.verdict is Verdict.REFUTED
    assert not report.diagnosis
    # without the tangent there are 72; a multiple for another weight takes nine each
    assert len(looks) <= 12 + 2 * 9


@pytest.mark.slow
def test_two_misreadings_at_once_are_named() -> None:
    """K + 1 neighbours and lam/2 without its half."""
    X, y, _ = data()
    theirs = cvxml.solve("mlsvm", X, y, lam=2 * LAM, n_neighbors=K + 1, tol=1e-8).metric
    report = cvxml.check("mlsvm", X, y, theirs, lam=LAM, n_neighbors=K)
    said = " / ".join(lines(report))
    known = get("mlsvm").MISREADINGS
    assert known["more"].sentence in said, str(report)
    assert known["lam"].sentence in said or "lam = 0.1" in said, str(report)


@pytest.mark.slow
def test_random_metrics_are_near_to_nothing() -> None:
    for method in ("mlsvm", "frobmetric", "itml"):
        X, y = points(method)
        rng, best = np.random.default_rng(1), cvxml.solve(method, X, y, **ASKED[method]).metric
        for _ in range(6):
            factor = rng.standard_normal(best.shape)
            wrong = factor @ factor.T * np.linalg.norm(best) / np.linalg.norm(factor @ factor.T)
            report = cvxml.check(method, X, y, wrong, **ASKED[method])
            assert not lines(report), str(report)


def test_what_chance_would_find_is_not_told() -> None:
    """With few directions a fit of one number is near to many errors; with many to hardly any."""
    own = Left(0.5, 0.5)
    for share, p, is_told in ((4e-6, 2, False), (4e-6, 55, True), (1e-9, 3, True), (0.3, 55, False)):
        found = [Explanation(Left(share, share), "", fitted=1)]
        assert told(found, own, 1e-5, p).found == is_told, (share, p)
    for tol, is_told in (
        (1e-6, True),
        (1e-3, False),
    ):  # one number may be met by chance, if not to many digits
        assert told([Explanation(Left(0.0, 0.0), "")] * 10, own, tol, 1).found == is_told
    full = np.eye(3) + np.ones((3, 3))
    assert [numbers(M) for M in (np.eye(3), full, np.ones((3, 3)), np.diag([1.0, 0.0, 1e-9]))] == [3, 6, 3, 1]


@pytest.mark.parametrize("share", [1e-9, 1e-7])
def test_a_fitted_number_is_told_only_where_nothing_without_one_explains_the_metric(share: float) -> None:
    """What leaves too much to be named takes nothing away."""
    own = Left(0.5, 0.5)
    fitted, plain = (
        Explanation(Left(share, share), "fitted", fitted=1),
        Explanation(Left(share, share), "plain"),
    )
    worse = Explanation(Left(0.02, 0.02), "worse")
    for found, expected in (
        ([fitted, plain], ["plain"]),
        ([fitted], ["fitted"]),
        ([fitted, worse], ["fitted"]),
        ([plain, plain._replace(sentence="another")], ["plain", "another"]),
    ):
        named = told(found, own, 1e-6, 10).named
        assert [line.split()[-1] for line in named] == expected


def test_what_the_same_error_turned_explains_as_well_is_not_told() -> None:
    """A misreading that is as content with every metric near the optimum says nothing of one of them."""
    X, y = points("mlsvm")
    optimum = cvxml.solve("mlsvm", X, y, **ASKED["mlsvm"])
    metric = optimum.metric + np.outer(X[0], X[0]) * 0.01
    asked = Asked("mlsvm", X, y, ASKED["mlsvm"], get("mlsvm").instance(X, y, **ASKED["mlsvm"]), metric)
    known = Reference(optimum, tight=True)
    judge = Judge(asked, known)

    def near(other: FloatArray) -> Left:
        return Left(float(np.sum((other - metric) ** 2)))

    others, error = turned(judge), np.linalg.norm(metric - optimum.metric)
    assert (
        max(np.linalg.norm(other - judge.better) for other in others) <= (1 + 1e-6) * error
    )  # the cone is convex
    assert min(np.linalg.norm(other - metric) for other in others) > 0.1 * error
    explained = Explanation(Left(0.0), "", again=near)
    assert not by_chance(judge, explained, others)
    assert by_chance(judge, explained._replace(left=Left(1e-3), again=lambda _: Left(2e-3)), others)
    assert by_chance(judge, explained._replace(again=lambda _: Left(0.0)), others)  # not unique
    assert turned(Judge(asked._replace(candidate=metric - 2 * np.eye(4)), known)) == []


def test_what_a_metric_next_to_0_explains_as_well_is_not_told() -> None:
    own = Left(0.5, 0.5)
    for nothing, is_told in ((1e-4, False), (0.5, True)):
        assert told([Explanation(Left(1e-4, 1e-4, nothing=nothing), "")], own, 1e-6, 8).found == is_told


def test_a_number_next_to_what_was_asked_is_told_only_where_it_is_exact() -> None:
    for share, is_told in ((1e-5, False), (1e-9, True)):
        found = [Explanation(Left(share, share), "", 1, slight=True)]
        assert told(found, Left(5e-3, 5e-3), 1e-6, 8).found == is_told


def of(share: float, sentence: str = "it", **told_of: Any) -> Explanation:
    """What leaves that share of its scale, of an optimum that is unique unless it is said not to be."""
    left = Left(share, told_of.pop("gap", share), **told_of.pop("left", {}))
    return Explanation(left, sentence, **told_of)


@pytest.mark.parametrize(
    ("share", "own", "how", "said"),
    [
        (1e-9, 0.5, {}, "it"),
        (1e-4, 0.5, {}, "0.0001"),
        (4e-4, 0.05, {}, "possibly"),  # a hundred times less than in the problem asked
        (4e-5, 0.05, {}, "4e-05"),  # a thousand times less
        (8e-4, 0.05, {}, None),  # ten times less: a program that differs otherwise leaves as little
        (2e-3, 5.0, {}, "most likely"),  # but not as near as 1e-3
        (6e-3, 0.05, {}, None),
        (6e-3, 0.05, {"gap": None}, None),
        (0.2, 5.0, {}, None),  # far
        (1e-5, 0.5, {"left": {"unique": False}}, "most likely"),  # perhaps near to one of many optima by luck
        (6e-4, 0.5, {"left": {"unique": False}}, None),
        (9e-7, 0.5, {"left": {"unique": False}}, "it"),
        (1e-4, 0.5, {"gap": 0.1}, None),  # less of a larger scale
        (1e-4, 0.5, {"gap": 0.04}, "0.0001"),
        (9e-7, 5e-4, {"slight": True}, None),  # as well as next to everything is
        (4e-7, 5e-4, {"slight": True}, "it"),
        (9e-7, 5e-4, {}, "possibly"),  # as near as that is a problem that differs little
        (4e-7, 5e-4, {}, "it"),
        # a number that was fitted: next to nothing must be left of what is to be explained
        (9e-7, 0.05, {"fitted": 1}, None),
        (4e-7, 0.05, {"fitted": 1}, "it"),
        (1e-4, 0.5, {"fitted": 1}, None),
        (1e-2, 0.5, {"fitted": 1}, None),
        # another number that was not
        (6e-4, 0.5, {"number": True}, None),
        (4e-4, 0.5, {"number": True}, "0.0004"),
        (4e-4, 0.5, {"number": True, "exactly": True}, "most likely"),
        (2e-3, 5.0, {"number": True}, None),
        (1e-9, math.inf, {"gap": None}, "it"),
        (1e-2, math.inf, {"gap": None}, None),
    ],
)
def test_how_certain_the_words_are(share: float, own: float, how: dict[str, Any], said: str | None) -> None:
    found = told([of(share, **how)], Left(own, own), 1e-6, 8)
    if said is None:
        assert not found.found
    elif said in ("possibly", "most likely"):
        assert not found.named
        assert str(found.nearest[0]).startswith(f"{said} it (")
    else:
        (sentence,) = found.named
        assert sentence == said if said == "it" else said in sentence
        assert sentence.startswith("it")
        assert not found.nearest


def test_the_note_has_the_factor_of_the_best_problem() -> None:
    own = Left(0.5, 0.5)
    for shares, times in (([0.01, 0.04], 50), ([0.6], None), ([], None)):
        assert told([of(share) for share in shares], own, 1e-6, 8).times == (
            None if times is None else pytest.approx(times)
        )
    # a fitted number explains much of every error
    fitted = [of(0.01), of(1e-4, fitted=1, fit="0.5 times it")]
    found = told(fitted, own, 1e-6, 8)
    assert found.times == pytest.approx(50)
    assert found.fitted.startswith("0.5 times it ")
    assert "0.0001" in found.fitted
    for how in ({"slight": True}, {"left": {"nothing": 1e-4}}, {"gap": 0.4}):  # explains too little
        assert not told([of(1e-4, fitted=1, fit="0.5 times it", **how)], own, 1e-6, 8).fitted
    assert not told([of(1e-2, fitted=1, fit="0.5 times it")], own, 1e-6, 8).fitted  # 50 times less
    two = [of(1e-4, fitted=1, fit="a"), of(9e-5, fitted=2, fit="b")]
    assert told(two, own, 1e-6, 8).fitted.startswith("A ")  # the second number explains little more
    unknown = told([Explanation(Left(math.inf), "")], own, 1e-6, 8)
    assert (unknown.times, unknown.unlisted) == (None, "")


@pytest.mark.parametrize(
    ("share", "how", "own", "rule"),
    [
        (0.01, {}, 0.5, "100 times"),
        (1e-3, {"number": True}, 0.5, "1,000 times"),
        (2e-3, {"number": True}, 5.0, "1,000 times"),
        (1e-3, {"left": {"unique": False}}, 0.5, "1,000 times"),
        (1e-3, {"choices": 10**9}, 0.5, ""),  # chosen: not counted
    ],
)
def test_the_rule_that_the_best_problem_does_not_meet_is_told(
    share: float, how: dict[str, Any], own: float, rule: str
) -> None:
    found = told([of(share, **how)], Left(own, own), 1e-6, 8)
    assert not found.found
    assert rule in found.unlisted
    assert bool(rule) == bool(found.unlisted)


def test_a_problem_that_fails_a_test_of_chance_is_told_as_such() -> None:
    own = Left(0.5, 0.5)
    assert "chance" in told([], own, 1e-6, 8, dropped=[of(1e-4)]).unlisted  # by turned errors
    assert "chance" in told([of(4e-3)], own, 1e-6, 2).unlisted  # two numbers are too few


@pytest.mark.parametrize(
    ("share", "beside", "is_listed"),
    [
        (1e-4, 0.5, True),
        (1e-4, 5e-3, False),  # 50 times smaller
        (2e-3, 0.5, True),
        (2e-3, 0.1, False),
        (1e-4, 0.0, False),
        (1e-4, math.inf, False),
    ],
)
def test_what_is_no_metric_is_compared_with_the_nearest_metric(
    share: float, beside: float, is_listed: bool
) -> None:
    several = {"unique": share > 1e-3}  # a smaller gap of a unique optimum is a name
    own, gap = Left(math.inf), None if math.isinf(beside) else beside
    found = told([of(share, left=several)], own, 1e-6, 8, Left(beside, gap))
    assert found.found is is_listed
    assert not found.named
    if is_listed:
        assert found.nearest[0].asked == beside
    else:
        assert bool(found.unlisted) is (beside > 0)


def test_the_nearest_three_are_told_and_what_is_exact_alone() -> None:
    shares = {"c": 4e-3, "a": 1e-3, "d": 4.5e-3, "b": 2e-3}
    found = told([of(share, name) for name, share in shares.items()], Left(0.5, 0.5), 1e-6, 8)
    assert [each.sentence for each in found.nearest] == ["a", "b", "c"]
    exact = told([of(1e-4, "near"), of(1e-9, "a"), of(1e-9, "a"), of(1e-8, "b")], Left(0.5, 0.5), 1e-6, 8)
    assert exact[:2] == (("a", "b"), ())


def test_in_few_features_more_must_be_explained_and_more_the_more_is_tried() -> None:
    """With three numbers of a metric, a share s of what is wrong is left by chance as often as s^(3/2)."""
    own = Left(0.5, 0.5)
    for share, tried, is_told in ((0.0095, 1, False), (0.0035, 1, True), (0.0035, 2, False)):
        assert told([of(share)] * tried, own, 1e-6, 3).found == is_told


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("method", "params", "misreading", "fitted"),
    [
        ("gmml", {"weight": 0.3}, "another_weight", 1),
        ("ldml", {}, "another_b", 1),
        ("boostmetric", {}, "no_log", 1),
        ("frobmetric", {}, "no_half", 0),
        ("lmnn", {}, "k_more", 0),
        ("rca", {}, "mean", 0),
    ],
)
def test_a_number_that_follows_from_the_metric_is_a_fitted_one(
    method: str, params: dict[str, Any], misreading: str, fitted: int
) -> None:
    """Whether or not the misreading says so."""
    X, y = random_data(3, n=24, d=3, classes=3)
    given = get(method).instance(X, y, **params)
    metric = get(method).allowed(given, noisy(np.diag([1.0, 2.0, 3.0]), 0.3))
    judge = Judge(Asked(method, X, y, params, given, metric), None)
    read: dict[str, Explanation] = {}
    assert any(misreading in read for _ in misreadings(judge, metric, read))
    assert read[misreading].fitted == fitted


@pytest.mark.parametrize("method", ["itml", "lsml", "gmml", "sdml"])
def test_a_metric_of_infinite_cost_solves_no_problem(method: str) -> None:
    X, y = random_data(3, n=24, d=3, classes=3)
    given, metric = get(method).instance(X, y), np.diag([1.0, 2.0, 0.0])
    judge = Judge(Asked(method, X, y, {}, given, metric), None)
    assert improvement(judge, metric, judge.itself).best == math.inf


@pytest.mark.parametrize("method", [name for name in names() if get(name).CLAIM == "optimal"])
def test_a_misreading_that_fits_a_number_names_a_parameter(method: str) -> None:
    for misreading in get(method).MISREADINGS.values():
        assert not misreading.fits or misreading.fits in get(method).PARAMETERS


# --- a multiple of the optimum for another weight ------------------------------------------------------------------


def with_margin(X: FloatArray, y: Any, margin: float, C: float) -> FloatArray:
    """FrobMetric with another margin than 1, by cvxpy from scratch."""
    import cvxpy as cp

    i, j, l = np.array(
        [(i, j, l) for i, near in enumerate(nearest(X, y)) for j in near for l in strangers(X, y, i)]
    ).T
    M = cp.Variable((X.shape[1],) * 2, PSD=True)
    H = np.einsum("ta,tb->tab", X[i] - X[l], X[i] - X[l]) - np.einsum("ta,tb->tab", X[i] - X[j], X[i] - X[j])
    hinge = cp.pos(margin - H.reshape(len(H), -1) @ cp.vec(M, order="C"))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(M) / 2 + C / len(H) * cp.sum(hinge)))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    found: FloatArray = M.value
    return found


def strangers(X: FloatArray, y: Any, i: int) -> list[int]:
    """The three points of other classes that are nearest to point i."""
    D = np.where(y == y[i], np.inf, np.sum((X - X[i]) ** 2, axis=1))
    return [int(l) for l in np.argsort(D, kind="stable")[:3]]


@pytest.mark.slow
@pytest.mark.parametrize("margin", [0.5, 2.0])
def test_another_margin_is_named_as_a_multiple_and_a_weight(margin: float) -> None:
    """m times the optimum for C / m is that for a margin of m."""
    X, y = points()
    assert cvxml.check("frobmetric", X, y, with_margin(X, y, 1.0, 1.0)).verdict is Verdict.CERTIFIED
    (said,) = cvxml.check("frobmetric", X, y, with_margin(X, y, margin, 1.0)).diagnosis
    times, weight = (float(word) for word in re.findall(r"(\S+) times .* C = (\S+) ", said)[0])
    assert times == pytest.approx(margin, rel=1e-3)
    assert weight == pytest.approx(1 / margin, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("method", ASKED)
def test_a_multiple_for_another_weight_is_named_with_numbers_that_hold(method: str) -> None:
    """Where several pairs of numbers explain the metric any of them may be named."""
    X, y = points(method)
    ((name, asked),) = ASKED[method].items()
    theirs = 1.5 * cvxml.solve(method, X, y, **{name: 0.6 * asked}, tol=1e-10).metric
    (said, *_) = cvxml.check(method, X, y, theirs, **{name: asked}).diagnosis
    times = float(said.split(" times ")[0].split()[-1]) if " times " in said else 1.0
    if "factor" in said:  # that it is to be multiplied with
        times = 1 / times
    weight = float(said.split(f"{name} = ")[1].split()[0]) if f"{name} = " in said else asked
    report = cvxml.check(method, X, y, theirs / times, **{name: weight}, tol=1e-5)
    assert report.verdict is Verdict.CERTIFIED, said


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", ["mlsvm", "frobmetric", "lmnn"])
@pytest.mark.parametrize("theirs", [0, 1])
def test_a_standardization_with_another_ddof_is_named(method: str, theirs: int) -> None:
    X, y = points(method)
    X, other = ((X - X.mean(axis=0)) / X.std(axis=0, ddof=ddof) for ddof in (1 - theirs, theirs))
    wrong = cvxml.solve(method, other, y, tol=1e-10).metric
    report = cvxml.check(method, X, y, wrong)
    assert report.verdict is not Verdict.CERTIFIED
    assert any(f"ddof = {theirs}" in line.split(",")[0] for line in report.diagnosis), str(report)


# --- the search, on functions whose answer is known --------------------------------------------------------------


def quadratic(best: float, least: float = 0.0) -> weights.Try:
    """What is left: least + (w / best - 1)^2, of a scale of 1."""
    return lambda w: weights.Tried(w, least + (w / best - 1) ** 2, 1.0, 2 * (w / best - 1) / best)


@pytest.mark.parametrize("best", [1e-3, 0.3, 1.0, 7.0, 2e4])
def test_the_least_is_found_from_afar(best: float) -> None:
    tried = weights.least(1.0, np.inf, 1e-12, quadratic(best))
    found = min(tried, key=lambda each: each.share)
    assert found.weight == pytest.approx(best, rel=1e-3, abs=1e-6)
    low, high = weights.around(tried, np.inf, 1e-6, quadratic(best))
    assert low < best < high
    for end in (low, high):
        assert abs(end / best - 1) <= 1e-3 * (1 + 1e-9)  # what is claimed is so
    assert high / best - low / best >= 1e-3  # and not much less than may be claimed


def test_rounding_counts_at_the_ends() -> None:
    """With rounding of nine tenths of what may be left, the interval is a root of ten shorter."""

    def at(w: float) -> weights.Tried:
        return quadratic(0.3)(w)._replace(rounding=9e-7)

    tried = weights.least(1.0, np.inf, 1e-12, at)
    for end in weights.around(tried, np.inf, 1e-6, at):
        assert abs(end / 0.3 - 1) <= np.sqrt(1e-7) * (1 + 1e-9)


def test_ends_are_shown_with_digits_that_are_no_further_out() -> None:
    low, high = weights.inward((0.12345612, 0.98765498))
    assert (low, high) == (0.123457, 0.987654)
    assert [f"{end:.6g}" for end in (low, high)] == ["0.123457", "0.987654"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["mlsvm", "lmnn", "itml", "scml"])
def test_the_ends_that_are_told_are_weights_for_which_the_metric_is_certified(method: str) -> None:
    X, y = points(method)
    ((name, asked),) = ASKED[method].items()
    most = get(method).WEIGHTS[name]
    used = asked * 3 if np.isinf(most) else asked * 3 / (asked * 3 + most - asked)
    theirs = cvxml.solve(method, X, y, **{name: used}, tol=1e-8).metric
    said = next(s for s in cvxml.check(method, X, y, theirs, **{name: asked}).diagnosis if f"{name} = " in s)
    low, high, enough = (
        float(said.split(word)[1].split()[0].strip(";")) for word in ("from ", " to ", " at most ")
    )
    for end in (low, high):
        proof = cvxml.certify(
            method, X, y, theirs, cvxml.solve(method, X, y, tol=1e-9, **{name: end}).dual, **{name: end}
        )
        # the scale is that of two solutions
        assert proof.gap <= enough * proof.scale * (1 + 1e-3)


def test_the_best_factor_is_where_the_objective_is_least() -> None:
    M = np.diag([1.0, 2.0])
    for best in (0.1, 1.0, 30.0):

        def objective(A: FloatArray, best: float = best) -> float:
            return float(np.sum((A - best * M) ** 2))

        assert best_factor(objective, M, 3 * best * M) == pytest.approx(best, rel=1e-6)
    with pytest.raises(ValueError, match="0"):
        best_factor(np.trace, M, 0 * M)


def test_a_metric_that_no_weight_explains_takes_few_tries() -> None:
    count = []

    def at(w: float) -> weights.Tried:
        count.append(w)
        return quadratic(3.0, least=0.5)(w)

    assert min((each.share for each in weights.least(1.0, np.inf, 1e-9, at)), default=1.0) > 0.1
    assert len(count) <= 8


def test_weights_stay_below_their_limit() -> None:
    seen = []

    def at(w: float) -> weights.Tried:
        seen.append(w)
        return quadratic(0.999)(w)

    tried = weights.least(0.5, 1.0, 1e-12, at)
    assert all(0 < w < 1 for w in seen)
    assert min(tried, key=lambda each: each.share).weight == pytest.approx(0.999, rel=1e-3)


def test_what_is_explained_in_part_at_most_is_left_after_few_tries() -> None:
    """A tangent tells that nothing beyond the bracket, or down to 0, is near."""
    count = []

    def at(w: float) -> weights.Tried:
        count.append(w)
        return weights.Tried(w, 0.5 + 0.01 * w, 1.0, 0.01)

    assert weights.least(1.0, np.inf, 1e-9, at) == ()
    assert count == [1.0]


@pytest.mark.parametrize(("best", "least", "most"), [(1e-3, 0.0, 30), (2e4, 0.0, 30), (0.3, 0.05, 8)])
def test_a_steep_slope_and_what_no_weight_explains_whole_take_few_tries(
    best: float, least: float, most: int
) -> None:
    """Where the slope is (w / best)^4 - 1, false position alone stands still; to 1.2 times the least is enough."""
    count = []

    def at(w: float) -> weights.Tried:
        count.append(w)
        x = w / best
        return weights.Tried(w, least + (x**5 - 1) / 5 - (x - 1), 1.0, (x**4 - 1) / best)

    found = min(weights.least(1.0, np.inf, 1e-9, at), key=lambda each: each.share)
    assert found.weight == pytest.approx(best, rel=1e-3 if least == 0 else 0.1)
    assert len(count) <= most


def test_a_slope_that_keeps_its_sign_ends_at_the_farthest_weight() -> None:
    tried = weights.least(1.0, np.inf, 1e-9, lambda w: weights.Tried(w, 1 / w, 1.0, -1 / w**2))
    assert 1e3 < tried[-1].weight <= 1e6


class Points(NamedTuple):
    X: FloatArray
    count: int = 23


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (0.199, 0.201, "2"),
        (0.2005, 0.2006, None),  # 2 is not between
        (0.20001, 0.20003, "2"),  # but for rounding
        (0.21, 0.22, None),
        (0.0499, 0.0501, "1/2"),
        (0.69, 0.71, "n"),
        (0.1 / 7.01, 0.1 / 6.99, "1/n"),
        (0.3, 0.3, "d"),
        (4.9, 4.9, "n^2"),
        (4.2, 4.2, "n (n - 1)"),
        (2.1, 2.1, "n (n - 1)/2"),
        (0.1 / 23, 0.1 / 23, "triplets"),
    ],
)
def test_a_ratio_in_words(low: float, high: float, said: str | None) -> None:
    """To 0.1, of seven points in three features."""
    found = weights.ratio((low, high), 0.1, math.inf, Points(np.zeros((7, 3))))
    if said is None:
        assert found == []
    else:
        (sentence,) = found
        assert sentence.endswith(f" {said}")


@pytest.mark.parametrize(
    ("method", "points", "way"),
    [
        # L^T L, and two slips of svec, undo what the way to the identity has done
        ("lsml", "drawn(7)", 0.3),
        ("lsml", "drawn(7)", 0.5),
        # with six points every metric is near optimal at a small C, which leaves the loss out
        pytest.param("mlr", "wine[6] z", 0.01, marks=pytest.mark.slow),
    ],
)
def test_what_stopped_on_its_way_from_the_identity_is_called_nothing_else(
    method: str, points: str, way: float
) -> None:
    example = next(each for each in get(method).EXAMPLES if str(each.points) == points)
    X, y = datasets.of_example(example)
    best = cvxml.solve(method, X, y, **example.params).metric
    metric = (1 - way) * best + way * np.trace(best) / len(best) * np.eye(len(best))
    report = cvxml.check(method, X, y, metric, **example.params)
    assert (report.verdict, report.diagnosis, report.nearest) == ("refuted", (), ())


@pytest.mark.parametrize(("method", "early"), [("gmml", False), ("frobmetric", True)])
def test_a_closed_form_is_not_told_that_it_stopped_early(method: str, early: bool) -> None:
    X, y = random_data(9, n=40, d=4)
    metric = cvxml.solve(method, X, y, **get(method).SMALL).metric
    report = cvxml.check(method, X, y, 1.003 * metric, diagnosed=False, **get(method).SMALL)
    assert report.verdict is Verdict.CLOSE, str(report)
    assert any("early" in line for line in report.reasons) is early
