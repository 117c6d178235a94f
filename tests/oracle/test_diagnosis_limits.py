"""Where a diagnosis or a verdict would be too much: next to nothing, saturated, overflowing, near by luck."""

from __future__ import annotations

import time
import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core import backend
from cvxml.core.clock import look
from cvxml.core.method import Method
from cvxml.core.misreading import (
    FEW_KEPT,
    MOST_KEPT,
    CheckedInputs,
    Misreading,
    OtherProblem,
    Question,
    TakesTooLong,
    is_improved,
)
from cvxml.core.pairs import MAX_POINTS_LISTED
from cvxml.core.report import Verdict
from cvxml.core.saved import SavedSolution
from cvxml.methods import get, lmnn
from cvxml.methods.mlsvm import misreadings_problem
from cvxml.oracle import diagnose, explanations, judge, likeliest
from cvxml.oracle.asked import Asked
from cvxml.oracle.diagnose import NEARER, PART, Diagnosis, by_chance, luck, numbers, unnamed
from cvxml.oracle.explanations import Explanation, left_out_before, misreadings
from cvxml.oracle.judge import Judge, Left
from cvxml.oracle.likeliest import SAME, left_unless_improved
from cvxml.oracle.saved import recertify
from tests.instances import checked, objective_of, random_data, real_data
from tests.oracle.test_diagnosis import LAM, K, data, judged, mistaken
from validation import wrong

# methods with misreadings of all kinds: another weight, other rows, another loss, and problems for a back end
SCREENED = ("mlsvm", "lmnn", "frobmetric", "itml", "boostmetric", "mmc", "scml")


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The solves from now on: the name of the method, or of the back end."""
    solves: list[str] = []
    solve, back_end = Method.solve, backend.solve_problem

    def ours(self: Method[Any], *given: Any, **options: Any) -> Any:
        solves.append(self.id)
        return solve(self, *given, **options)

    def theirs(problem: Any, solver: str, *exponential: bool) -> Any:
        solves.append(solver)
        return back_end(problem, solver, *exponential)

    monkeypatch.setattr(Method, "solve", ours)
    monkeypatch.setattr(misreadings_problem, "solve_problem", theirs)
    monkeypatch.setattr(lmnn, "solve_problem", theirs)
    return solves


def judge_of(method: str, metric: Any) -> Judge:
    X, y = real_data("wine", 30)
    X = X[:, :3]
    return Judge(Asked(method, X, y, {}, get(method).instance(X, y), metric), None)


@pytest.mark.slow
def test_a_better_metric_excludes_a_misreading_without_a_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """1.05 times the optimum solves none of the 20 misreadings. The solves that remain try features and weights."""
    X, y, _ = data()
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K, tol=1e-9).metric
    solves = counted(monkeypatch)
    report = judged(X, y, 1.05 * best)
    assert "factor" in report.diagnosis[0]
    assert set(solves) == {"mlsvm"}
    assert len(solves) <= 15


@pytest.mark.parametrize("method", ["mlsvm", "lmnn", "frobmetric", "itml"])
def test_the_zero_metric_takes_no_solve_but_that_of_the_verdict(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No name can hold for it (`luck`): it has no number that a match could be measured by."""
    X, y = real_data("wine", 40)
    X = X[:, :3]
    assert luck(Explanation(Left(0.0), ""), Left(1.0), 1e-6, numbers(np.zeros((3, 3))), 1) >= 1
    solves = counted(monkeypatch)
    report = cvxml.check(method, X, y, np.zeros((3, 3)))
    assert report.verdict is Verdict.REFUTED
    assert solves == [method]
    assert "metric is 0" in report.notes[-1]


@pytest.mark.slow
@pytest.mark.parametrize("method", SCREENED)
def test_what_is_excluded_before_a_solve_has_a_gap_of_no_use(method: str) -> None:
    """Against the slow way, which solves every other problem: the same gaps, or one too large to matter."""
    warnings.simplefilter("ignore")  # as in `diagnose`
    rng = np.random.default_rng(8)
    X, y = real_data("wine", 30)
    X = X[:, :3]
    best = cvxml.solve(method, X, y, tol=1e-9).metric
    excluded = 0
    for metric in (1.05 * best, 0.5 * best, best + 0.05 * np.trace(best) * np.diag(rng.random(3))):
        given = get(method).instance(X, y)
        metric = get(method).allowed(given, metric)
        asked = Asked(method, X, y, {}, given, metric, diagnosed="all")
        fast, slow = Judge(asked, None), Judge(asked, None)
        own = slow.certain(metric)
        fast.enough = max(own.share / PART, NEARER * asked.tol)
        fast.enough_to_name = max(own.share / NEARER, NEARER * asked.tol)
        read, all_read = dict[str, Explanation](), dict[str, Explanation]()
        assert len([*misreadings(fast, metric, read)]) == len([*misreadings(slow, metric, all_read)])
        for name, one in read.items():
            other = all_read[name]
            if one.left.share == np.inf != other.left.share:
                excluded += 1
                assert other.left.share > fast.enough_to_name
            else:
                assert one.left.share == pytest.approx(other.left.share, rel=1e-3, abs=1e-6)
    assert excluded > 0


@pytest.mark.parametrize("method", [*SCREENED, "gmml", "sdml", "mcml", "lsml"])
def test_in_a_solved_problem_our_solution_excludes_a_metric_without_a_proof(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only if its gap is too large. The user's problem is solved here, and the metric is beside its optimum."""
    of_optimum = judge_of(method, None)
    best = of_optimum.better
    for step in (1e-4, 1e-2, 1.0):
        metric = get(method).allowed(
            of_optimum.given, best + step * np.trace(best) * np.diag([1.0, 0.0, 0.5])
        )
        share = of_optimum.left(metric).share
        for enough, excluded in ((0.3 * share, True), (3 * share, False)):
            if SAME / share < 0.1 and share < 0.1:  # an improvement is relative to the objective
                with of_optimum.asking_only(enough):
                    left = left_unless_improved(of_optimum, metric, of_optimum.itself)
                assert left.share in ([np.inf, share] if excluded else [share])
    other = of_optimum.itself._replace(X=1.5 * of_optimum.X + np.eye(*of_optimum.X.shape))
    of_optimum.left(best, other)  # solves it
    solved = of_optimum.solution_of(other) is not None
    proofs = list[Any]()
    monkeypatch.setattr(type(get(method)), "certify", lambda *_: proofs.append(1))
    monkeypatch.setattr(likeliest, "tried_before_a_solve", None)  # our solution is enough
    with of_optimum.asking_only(1e-9):
        assert left_unless_improved(of_optimum, metric, of_optimum.itself) == judge.NOTHING_KNOWN
        if solved:
            allowed = get(method).allowed(of_optimum.inputs(other), best)
            assert left_unless_improved(of_optimum, allowed, other) == judge.NOTHING_KNOWN
    assert not proofs


@pytest.mark.parametrize(
    ("method", "misreading"),
    [
        ("frobmetric", "sum"),
        ("schultz_joachims", "mean"),
        ("lsml", "sum"),
        ("itml", "mean"),
    ],
)
def test_the_misreading_that_a_program_solves_is_read_first(method: str, misreading: str) -> None:
    """And once it may be named, the others take no solve, because none of them may be named beside it."""
    X, y = real_data("wine", 40)
    X = X[:, :3]
    module = get(method)
    of_problem = module.MISREADINGS[misreading].problem
    assert of_problem is not None
    other = of_problem(Question(X, y, cvxml.solve(method, X, y).metric, 1e-6, {}))
    assert other is not None
    metric = cvxml.solve(method, other.X, other.y, tol=1e-10, **other.params).metric
    judge = Judge(Asked(method, X, y, {}, module.instance(X, y), metric), None)
    read: dict[str, Explanation] = {}
    assert [*misreadings(judge, metric, read)]
    assert next(iter(read)) == misreading
    assert read[misreading].left.share <= 1e-6
    report = cvxml.check(method, X, y, metric)
    assert any(module.MISREADINGS[misreading].sentence in line for line in report.diagnosis)


def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the later parts of the search out, which these tests do not need."""
    for name in (
        "of_other_features",
        "other_weights",
        "multiples_at_weights",
        "two_misreadings",
        "misread_weights",
    ):
        monkeypatch.setattr(diagnose, name, lambda *_: iter(()))


def test_after_a_name_only_what_may_be_named_is_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = list[float]()

    def misreadings_after(judge: Judge, *_: Any) -> Any:
        limits.append(judge.enough)
        return iter(())

    monkeypatch.setattr(diagnose, "misreadings", misreadings_after)
    nothing_else(monkeypatch)
    X, y, _ = data()
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K, tol=1e-9).metric
    assert judged(X, y, 1.3 * best).diagnosis  # a factor
    assert judged(X, y, best + np.diag([0.2, 0.0, 0.0])).verdict is Verdict.REFUTED
    named, unnamed = limits
    assert named == NEARER * 1e-6 < unnamed


@pytest.mark.parametrize(("method", "first"), [("mlsvm", "of_representation"), ("nca", "misreadings")])
def test_what_takes_longer_is_tried_later(method: str, first: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slip takes one proof, or a whole descent if the method is not convex."""
    order = list[str]()
    for name in ("of_representation", "misreadings"):
        monkeypatch.setattr(diagnose, name, lambda *_, name=name: order.append(name) or iter(()))
    nothing_else(monkeypatch)
    X, y, _ = data()
    cvxml.check(method, X, y, np.diag([1.0, 2.0, 3.0]))
    assert order[0] == first


@pytest.mark.parametrize("part", [explanations.WRITTEN, explanations.RESCALED])
def test_slips_that_were_left_out_are_tried_again(part: str) -> None:
    judge = judge_of("mlsvm", np.diag([1.0, 2.0, 3.0]))
    every = {name: Explanation(Left(1.0), "") for name in get("mlsvm").MISREADINGS}
    assert judge.asked.candidate is not None
    assert not [*left_out_before(judge, judge.asked.candidate, every)]
    judge.leave_out(part)
    assert [*left_out_before(judge, judge.asked.candidate, every)]
    assert not judge.left_out


def test_no_gap_is_not_tested_for_chance() -> None:
    """Also if the gap of the matrix itself is not known: then there is nothing that it could be compared with."""
    assert not diagnose._is_reportable(Explanation(Left(np.inf), ""), Left(np.inf), 1e-6)
    assert diagnose._is_reportable(Explanation(Left(0.5), ""), Left(np.inf), 1e-6)


def never_ends(*_: Any, **__: Any) -> Any:
    while True:
        look()


def ends_early(*_: Any, **__: Any) -> Any:
    """Returns the best metric so far, which is no optimum, with the dual variables of the zero metric."""
    try:
        never_ends()
    except KeyboardInterrupt:
        return np.eye(3), {"R": np.zeros((3, 3))}


@pytest.mark.parametrize(("method", "work"), [("mmc", never_ends), ("nca", never_ends), ("nca", ends_early)])
def test_a_gap_of_its_own_ends_in_time(method: str, work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of a misreading, or of a convex step. The misreading is then one of the parts that are left out."""
    judge = judge_of(method, np.eye(3))
    slow = Misreading("slow", left=work)
    if method == "nca":
        monkeypatch.setattr(type(get(method)), "improve", work)
        monkeypatch.setattr(type(get(method)), "certify", None)
        slow = Misreading("slow", problem=lambda q: OtherProblem(q.X, q.y, {**q.params, "criterion": "g"}))
    monkeypatch.setattr(type(get(method)), "MISREADINGS", {"slow": slow})
    judge.end = time.process_time() + 0.1
    assert not [*misreadings(judge, np.eye(3), {})]
    assert judge.left_out == ["slow"]


def test_an_explanation_whose_test_of_chance_ends_early_is_not_used() -> None:
    judge = judge_of("mmc", np.eye(3))

    def again(_: Any) -> Left:
        with judge.in_time(judge.end):
            never_ends()
        return Left(1.0)

    judge.end = time.process_time() + 0.05
    assert by_chance(judge, Explanation(Left(0.0), "", again=again), [np.eye(3)])


def test_the_gap_in_the_problem_of_the_user_is_computed_in_any_case() -> None:
    judge = judge_of("nca", np.diag([1.0, 2.0, 3.0]))
    judge.end = 0.0
    assert judge.late
    assert np.isfinite(judge.left(np.diag([1.0, 2.0, 3.0])).share)


def test_the_inputs_of_a_problem_are_checked_once_while_it_is_asked_about() -> None:
    counted = list[str]()

    def instance(X: Any, y: Any, *, name: str = "none") -> str:
        counted.append(name)
        return name

    inputs, X, same = CheckedInputs(), np.eye(2), {"name": "a"}
    question = Question(X, None, np.eye(2), 1e-6, same, inputs=inputs)
    assert [question.checked(instance) for _ in range(3)] == ["a"] * 3
    assert counted == ["a"]
    assert inputs.of(lambda *_, **__: "another function", X, None, same) == "another function"
    for k in range(MOST_KEPT):
        assert question._replace(params={"name": f"{k}"}).checked(instance) == f"{k}"
        assert question.checked(instance) == "a"  # what is asked for again stays
    assert counted.count("a") == 1
    assert question._replace(X=X.copy()).checked(instance) == "a"  # equal objects are not the same ones
    assert question._replace(inputs=None).checked(instance) == "a"
    assert counted.count("a") == 3
    assert len(inputs._kept) == MOST_KEPT
    inputs.of(instance, np.zeros((MAX_POINTS_LISTED + 1, 1)), None, same)
    assert len(inputs._kept) == FEW_KEPT


@pytest.mark.slow
def test_a_search_without_time_says_so_and_all_of_it_can_be_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, lists = data()
    metric = mistaken(X, y, lists, share=1.0)
    monkeypatch.setattr(judge, "SOLVES", 0.0)
    monkeypatch.setattr(judge, "SECONDS", 0.0)
    report = judged(X, y, metric)
    assert report.diagnosis == ()
    assert "left out" in report.notes[-1]
    assert "--diagnose-all" in report.notes[-1]
    report = judged(X, y, metric, diagnosed="all")
    assert any(get("mlsvm").MISREADINGS["sum"].sentence in line for line in report.diagnosis)
    assert not any("left out" in note for note in report.notes)


class Clock:
    """A processor clock that only misreadings move, by a second each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seconds: float):
        self.now, self.read = 0.0, 0
        monkeypatch.setattr(time, "process_time", lambda: self.now)
        monkeypatch.setattr(judge, "SECONDS", seconds)
        read = explanations._read

        def ticking(*given: Any, **options: Any) -> Any:
            self.now += 1.0
            self.read += 1
            return read(*given, **options)

        monkeypatch.setattr(explanations, "_read", ticking)


def test_misreadings_leave_time_for_another_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = data()
    metric = cvxml.solve("mlsvm", X, y, lam=30 * LAM, n_neighbors=K, tol=1e-9).metric
    count = len(get("mlsvm").MISREADINGS)
    clock = Clock(monkeypatch, seconds=count)
    report = judged(X, y, metric)
    assert 0 < clock.read < count
    assert any("lam = " in line for line in report.diagnosis)


@pytest.mark.parametrize("last", ["misreading", "features"])
def test_what_was_left_out_uses_the_time_that_no_weight_needs(
    last: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is time for everything, but what fits comes late: a misreading, or the features, which come last."""
    X, y, _ = data()
    misread = get("mlsvm").MISREADINGS
    points = X / X.std(axis=0) if last == "features" else X
    k = K if last == "features" else K + 1
    metric = cvxml.solve("mlsvm", points, y, lam=LAM, n_neighbors=k, tol=1e-9).metric
    clock = Clock(monkeypatch, seconds=len(misread) + 2)
    report = judged(X, y, metric)
    named = "z-scored" if last == "features" else misread["more"].sentence
    assert any(named in line for line in report.diagnosis)
    assert not any("left out" in note for note in report.notes)
    assert clock.read <= len(misread) + 1


def test_a_weight_is_named_without_its_interval_if_the_time_is_too_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, _ = data()
    metric = cvxml.solve("mlsvm", X, y, lam=30 * LAM, n_neighbors=K, tol=1e-9).metric

    def too_long(*_: Any) -> Any:
        raise TakesTooLong("late")

    monkeypatch.setattr(explanations, "around", too_long)
    report = judged(X, y, metric)
    assert any("lam = " in line for line in report.diagnosis)


def test_an_explanation_that_there_is_no_time_to_test_is_not_used() -> None:
    def late(_: Any) -> Left:
        raise TakesTooLong("late")

    explained = Explanation(Left(0.0), "", again=late)
    assert by_chance(judge_of("mlsvm", np.eye(3)), explained, [np.eye(3)])


def test_a_test_of_chance_asks_only_for_gaps_that_matter() -> None:
    judge, limits = judge_of("mlsvm", np.eye(3)), list[float]()

    def again(_: Any) -> Left:
        limits.append(judge.enough)
        return Left(1.0)

    assert not by_chance(judge, Explanation(Left(1e-7), "", again=again), [np.eye(3)])
    assert limits == [pytest.approx(NEARER * 1e-7)]
    assert judge.enough == np.inf


def test_a_back_end_is_not_called_if_it_takes_longer_than_the_time_left() -> None:
    question = Question(np.zeros((1, 60)), None, np.eye(60), 1e-6, {}, seconds=2.0)
    question.check_back_end(700, 10)
    question._replace(seconds=np.inf).check_back_end(10**6, 600)
    with pytest.raises(TakesTooLong):
        question.check_back_end(700, 60)


def test_how_to_look_for_misreadings_is_one_of_three() -> None:
    X, y, _ = data()
    for given in ("some", "ALL", 2, None):
        with pytest.raises(ValueError, match="diagnosed"):
            cvxml.check("mlsvm", X, y, np.eye(3), diagnosed=given)  # type: ignore[arg-type]


@pytest.mark.slow
def test_next_to_nothing_is_not_zero_where_the_optimum_is_zero() -> None:
    """There is no scale that a solver's rounding could be a share of: it is judged as any matrix."""
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, size=(30, 2)).astype(float), np.arange(30) % 2
    noise = np.array([[3e-16, 1.6e-15], [1.6e-15, 1e-17]])
    for size in (1.0, 1e11):
        report = cvxml.check("mlsvm", X, y, size * noise, lam=LAM)
        assert report.verdict is Verdict.REFUTED
        assert report.feasibility is not None
        assert not report.feasibility.feasible
    report = cvxml.check("mlsvm", X, y, noise @ noise.T, lam=LAM)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "tie" in report.reasons[0]
    lists = cvxml.solve("mlsvm", X, y, n_neighbors=4).neighbors
    report = cvxml.check("mlsvm", X, y, noise @ noise.T, lam=LAM, neighbors=lists)
    assert report.verdict is Verdict.REFUTED
    assert "zero matrix" in report.reasons[0]
    assert cvxml.check("mlsvm", X, y, 0 * noise, lam=LAM).verdict is Verdict.CERTIFIED


@pytest.mark.slow
def test_a_saturated_metric_is_no_multiple_of_a_stationary_one() -> None:
    """f is flat where all probabilities are 0 or 1: a huge multiple of anything looks stationary there."""
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(c, 1.0, (n, 2)) for c, n in ((0.0, 3), (0.7, 4), (1.4, 3))])
    y = np.repeat([0, 1, 2], [3, 4, 3])
    for _ in range(10):
        report = cvxml.check(
            "nca", X, y, components=0.2 * rng.standard_normal((1, 2)), criterion="f", n_components=1
        )
        assert report.verdict is Verdict.REFUTED
        assert report.diagnosis == ()


@pytest.mark.slow
def test_what_is_as_good_as_zero_gets_no_diagnosis() -> None:
    X, y, _ = data()
    for size in (1e-9, 1e-12):
        assert judged(X, y, size * np.eye(3)).diagnosis == ()


@pytest.mark.slow
def test_a_step_of_gerrymandering_ends_where_its_metric_is_next_to_nothing() -> None:
    """Newton rounds there once went on for ever: an off-diagonal slip made ||W||^2 tiny beside F."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((15, 3)), np.arange(15) % 3
    X[:, 0] += 0.5 * y
    for factor in (0.5, 0.1, 1e-3):
        W = cvxml.solve("ssvm", X, y, C=0.3, n_neighbors=3, tol=1e-9).metric * factor
        of, given = checked("ssvm", X, y, C=0.3, n_neighbors=3)
        better, _ = of.improve(given, W, tol=1e-7, early=True)
        before, after = (objective_of("ssvm", X, y, M, C=0.3, n_neighbors=3) for M in (W, better))
        assert after <= before * (1 + 1e-12)


def test_a_right_metric_with_a_wrong_value_is_not_diagnosed() -> None:
    X, y, _ = data()
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K, tol=1e-9)
    given = {"lam": LAM, "n_neighbors": K, "claimed_objective": 2 * best.objective}
    report = cvxml.check("mlsvm", X, y, best.metric, **given)
    assert report.verdict is Verdict.REFUTED
    assert "claimed objective" in report.reasons[0]
    assert report.diagnosis == ()


@pytest.mark.parametrize("lam", [pytest.param(1e-180, marks=pytest.mark.slow), 1e160])
def test_weights_whose_squares_are_no_numbers_are_diagnosed_without_a_crash(lam: float) -> None:
    X, y, _ = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = cvxml.check("mlsvm", X, y, np.eye(3), lam=lam, n_neighbors=K)
    assert report.verdict is not Verdict.CERTIFIED


def test_a_matrix_whose_norm_overflows_is_no_metric() -> None:
    X, y = [[0.0, 0, 0], [1, 0, 0], [3, 0, 0]], [0, 0, 1]
    bad = np.diag([0.125, -1.7e308, -1.7e308])
    for exact in (False, True):
        report = cvxml.check("mlsvm", X, y, bad, lam=1.0, neighbors=[[1, 2], [], []], exact=exact)
        assert report.verdict is Verdict.REFUTED
    with pytest.raises(ValueError, match=r"^metric.*1e-06"):
        cvxml.evaluate("mlsvm", X, y, bad, lam=1.0, neighbors=[[1, 2], [], []])


@pytest.mark.slow
def test_what_the_data_do_not_see_does_not_hide_what_they_see() -> None:
    """A feature that is constant takes any weight; the norm it gives must not make a negative eigenvalue small."""
    rng = np.random.default_rng(0)
    X, y = np.c_[rng.standard_normal((14, 2)), np.zeros(14)], np.arange(14) % 2
    X[:, 0] += y
    best = cvxml.solve("nca", X, y, criterion="g", init="identity", tol=1e-10).metric
    huge = best + np.diag([0.0, 0.0, 6e7])
    values, vectors = np.linalg.eigh(best[:2, :2])
    huge[:2, :2] -= (values[0] + 5.0) * np.outer(vectors[:, 0], vectors[:, 0])
    for exact in (False, True):
        report = cvxml.check("nca", X, y, huge, criterion="g", exact=exact)
        assert report.verdict is not Verdict.CERTIFIED, report
    best = cvxml.solve("nca", X, y, criterion="g", init="identity", tol=1e-10)
    saved = SavedSolution(
        "nca", dict(best.params), X, best.y, [], huge, {k: np.asarray(v) for k, v in best.dual.items()}
    )
    for exact in (False, True):
        assert recertify(saved, 1e-6, exact).verdict is not Verdict.CERTIFIED


def test_a_large_antisymmetric_matrix_is_not_zero() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, size=(30, 2)).astype(float), np.arange(30) % 2
    assert cvxml.solve("mlsvm", X, y, lam=LAM).certificate.scale == 0
    report = cvxml.check("mlsvm", X, y, np.array([[0.0, 5.0], [-5.0, 0.0]]), lam=LAM)
    assert report.verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("size", "verdict"),
    [(5e-324, Verdict.INCONCLUSIVE), (1e-310, Verdict.INCONCLUSIVE), (1e-160, Verdict.INCONCLUSIVE)],
)
def test_a_metric_that_underflows_is_judged(size: float, verdict: Verdict) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 2)), np.arange(12) % 2
    report = cvxml.check("ssvm", X, y, size * np.eye(2), C=0.3)
    assert report.verdict is verdict
    assert cvxml.check("ssvm", X, y, np.zeros((2, 2)), C=0.3).verdict is Verdict.CERTIFIED
    with pytest.raises(ValueError, match="double precision"):
        cvxml.check("ssvm", X, y, np.eye(2), C=1e-160)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_what_a_misreading_explains_hardly_better_is_not_named(seed: int) -> None:
    """Noise of a hundredth leaves about 1e-4 of the scale; the best multiple of it leaves hardly less."""
    X, y, _ = data()
    rng = np.random.default_rng(seed)
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K, tol=1e-9).metric
    values, vectors = np.linalg.eigh(best)
    M = (vectors * np.sqrt(np.maximum(values, 0))) + 3e-4 * rng.standard_normal((3, 3))
    report = cvxml.check("mlsvm", X, y, M @ M.T, lam=LAM, n_neighbors=K)
    assert report.verdict is Verdict.CLOSE
    assert report.diagnosis == ()
    assert report.nearest == ()


def test_a_metric_near_to_one_of_many_optima_by_luck_is_not_named() -> None:
    """For an indefinite B all metrics with tr A^-1 B = 0 are optimal: one in a thousand is near to one."""
    X, y = random_data(4, n=30, d=3)
    query = [2.0, -1.0, 0.5]
    B = cvxml.evaluate("glml", X, y, np.eye(3), query=query).B
    values, vectors = np.linalg.eigh(B)
    assert values[0] < 0 < values[-1]
    signs = np.where(values < 0, (values > 0).sum() / (values < 0).sum(), 1.0)
    M = (vectors * (np.abs(1 / values) * signs * np.where(values > 0, 1 + 2e-3, 1.0))) @ vectors.T
    near = np.linalg.inv(M)
    near /= np.linalg.det(near) ** (1 / 3)
    share = abs(np.trace(np.linalg.inv(near) @ B)) / np.linalg.norm(np.linalg.inv(near))
    assert 1e-5 < share < 1e-3
    wrong = np.linalg.inv(near)
    report = cvxml.check("glml", X, y, wrong, query=query, tol="loose")
    assert report.verdict is Verdict.REFUTED
    assert report.diagnosis == ()


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", ["no_cone", "squared", "mean"])
@pytest.mark.parametrize("seed", range(5))
def test_any_prices_bound_the_misread_problems(seed: int, kind: str) -> None:
    """Weak duality, the hinge squared, a mean, or the cone left out: garbage, the best prices, and these doubled."""
    from cvxml.methods.mlsvm.misreadings import _bound, losses, mean_losses, usable_rows
    from cvxml.methods.mlsvm.misreadings_problem import duals
    from cvxml.methods.mlsvm.neighborhood import instance

    X, y, lists = data()
    rng = np.random.default_rng(seed)
    given = instance(X, y, lam=LAM, n_neighbors=K)
    N, n = given.N, len(X)
    garbage = [
        rng.exponential(10.0 ** rng.uniform(-4, 1), sum(len(listed[i]) for i in N.usable))
        for listed in (N.impostors, N.targets)
    ]
    best = duals(X, N, LAM, kind)
    tried = [(*garbage,), best, tuple(2 * values for values in best)]
    bound = max(_bound(X, N, LAM, kind, u, w, np.zeros((3, 3))) for u, w in tried)
    margins, power = mean_losses if kind == "mean" else losses, 2 if kind == "squared" else 1
    how = {"far": cp.mean if kind == "mean" else cp.max, "cone": kind != "no_cone", "power": power}
    for A in (np.zeros((3, 3)), mistaken(X, y, lists, **how)):
        hinge = np.maximum(0.0, 1 + margins(X, usable_rows(N), A)) ** power
        assert bound <= LAM / 2 * np.sum(A**2) + hinge.sum() / n + 1e-9


@pytest.mark.slow
def test_a_large_metric_is_refuted_and_its_squares_are_no_reason_to_fail() -> None:
    X, y = [[0.0, 0], [1, 0], [0, 3], [1, 4], [5, 5]], [0, 0, 1, 1, 1]
    report = cvxml.check("mcml", X, y, 1e60 * np.eye(2))
    assert report.verdict is Verdict.REFUTED


@pytest.mark.slow
def test_a_tolerance_of_a_larger_scale_names_no_misreading() -> None:
    """ITML with a small gamma: near the prior every metric is optimal to 1e-3 of the scale of some other problem."""
    X, y = datasets.load("iris")
    X, y = datasets.standardize(X)[::8], y[::8]
    rng = np.random.default_rng(0)
    best = cvxml.solve("itml", X, y, gamma=1e-4).metric
    reports = []
    for _ in range(3):
        noise = rng.normal(size=(4, 4)) * 1.5e-3
        reports.append(cvxml.check("itml", X, y, best + noise + noise.T, gamma=1e-4, tol="loose"))
    assert any(report.verdict in ("refuted", "close") for report in reports)
    for report in reports:
        assert report.diagnosis == ()
        assert report.nearest == ()


@pytest.mark.slow
def test_next_to_an_optimum_of_nothing_no_factor_and_no_transform_is_named() -> None:
    """With impostors that weigh next to nothing 0 is optimal, and so is 1e-9 times anything."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(16, 2)), np.arange(16) % 2
    for size in (1e-3, 1.0):
        report = cvxml.check("lmnn", X, y, size * np.array([[1.0, 0.3], [0.3, 2.0]]), mu=0.01, n_neighbors=2)
        assert report.verdict == "refuted"
        assert report.diagnosis == ()


@pytest.mark.slow
def test_a_metric_that_is_not_exact_is_no_factor_of_one() -> None:
    X, y = datasets.load("iris")
    X, y = datasets.standardize(X)[::5], y[::5]
    best = cvxml.solve("dml_eig", X, y, tol=1e-11).metric
    report = cvxml.check("dml_eig", X, y, (1 - 3e-8) * best, tol="strict")
    assert report.verdict == "close"
    assert report.diagnosis == ()
    assert report.nearest == ()
    slip = cvxml.check("dml_eig", X, y, 0.999 * best, tol="strict")
    assert any("factor: 1.001 times" in line for line in slip.diagnosis)


# --- programs that are wrong in a way that no misreading lists ------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("t", [0.98, 0.02, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("d", [3, 4])
def test_a_wrong_geometric_mean_is_no_answer_for_another_weight(d: int, t: float) -> None:
    """With D = sum v v^T / |v|, the arithmetic mean, and a multiple of the optimum with noise."""
    X, y = random_data(3, n=20, d=d, classes=3)
    S, D = wrong.sums(X, y, {})
    best = wrong.geometric_mean(np.linalg.inv(S), D, t)
    assert cvxml.check("gmml", X, y, best, weight=t).verdict is Verdict.CERTIFIED
    rng, asked = np.random.default_rng(0), {"weight": t}
    metrics = [wrong.unit_differences(X, y, asked), wrong.arithmetic_mean(X, y, asked)]
    for size in (1e-3, 1e-2, 3e-2):
        turn = np.eye(d) + size / d * rng.standard_normal((d, d))
        metrics.append(1.25 * turn @ best @ turn.T)
    for k, metric in enumerate(metrics):
        report = cvxml.check("gmml", X, y, metric, weight=t)
        assert all("factor" in line and k > 1 for line in report.diagnosis), str(report)
        assert not report.nearest, str(report)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "n"), [(4, 9), (3, 12), (3, 30), (4, 30)])
def test_a_balanced_ldml_is_no_answer_for_another_b(seed: int, n: int) -> None:
    X, y = random_data(seed, n=n, d=3, classes=3)
    report = cvxml.check("ldml", X, y, wrong.balanced(X, y, {}))
    assert report.verdict in (Verdict.REFUTED, Verdict.CLOSE)
    assert all("class means" in line for line in report.diagnosis), str(report)  # that is the mistake
    assert not report.nearest, str(report)


@pytest.mark.slow
def test_a_small_factor_is_named_where_our_solution_is_as_fine() -> None:
    """1.003 times the optimum leaves about 1e-5 of the scale, of which a solution to 1e-7 leaves a hundredth."""
    X, y, _ = data()
    best = cvxml.solve("mlsvm", X, y, lam=LAM, n_neighbors=K, tol=1e-12).metric
    said = cvxml.check("mlsvm", X, y, 1.003 * best, lam=LAM, n_neighbors=K).diagnosis
    factors = [float(line.split("factor: ")[1].split()[0]) for line in said if "factor: " in line]
    assert factors == [pytest.approx(1 / 1.003, rel=1e-5)], said


@pytest.mark.slow
@pytest.mark.parametrize("c", [3.0, 1.0, 7.0])
def test_any_metric_of_one_number_is_no_answer_to_a_misreading_that_normalises_it(c: float) -> None:
    """The misreading with a budget of its own finds any diag(c, 0) optimal, where the first feature alone counts."""
    X, y = random_data(8, n=20, d=2)
    for metric in (np.diag([c, 0.0]), np.diag([0.0, c])):
        report = cvxml.check("mmc:diagonal", X, y, metric)
        assert report.verdict is Verdict.REFUTED
        assert not report.diagnosis, str(report)


def test_a_metric_whose_squares_overflow_is_refuted_and_no_misreading_is_tried() -> None:
    X, y = random_data(3, n=12, d=2)
    report = cvxml.check("lmnn", X, y, 1e160 * np.eye(2), n_neighbors=1)
    assert report.verdict == "refuted"
    assert not report.diagnosis
    assert any("1e+150" in note for note in report.notes)


@pytest.mark.parametrize(("enough", "improved"), [(0.0, True), (1.9, True), (2.1, False), (np.inf, False)])
def test_a_misreading_is_excluded_if_a_better_metric_proves_a_larger_gap(
    enough: float, improved: bool
) -> None:
    """The gap of 2 I in ||M - I||^2 is 2; with a scale of 1 that is the relative gap."""
    metric = 2 * np.eye(2)
    question = Question(np.zeros((1, 2)), None, metric, 1e-6, {}, optimum=np.eye(2), enough=enough)

    def objective(M: Any) -> float:
        return float(np.sum((M - np.eye(2)) ** 2))

    assert is_improved(objective, question, metric, 1.0) is improved
    assert not is_improved(objective, question, metric, 0.0)


def test_an_optimum_is_not_excluded() -> None:
    question = Question(np.zeros((1, 2)), None, np.eye(2), 1e-6, {}, optimum=3 * np.eye(2), enough=1e-6)
    assert not is_improved(lambda M: float(np.sum((M - np.eye(2)) ** 2)), question, np.eye(2), 1.0)


def test_the_time_of_a_search_ends_unless_all_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "SECONDS", 0.0)
    X, y, _ = data()
    asked = Asked("mlsvm", X, y, {}, get("mlsvm").instance(X, y), np.eye(X.shape[1]))
    assert Judge(asked, None, seconds=0.0).late
    assert not Judge(asked, None, seconds=1e6).late
    assert not Judge(asked._replace(diagnosed="all"), None, seconds=0.0).late


@pytest.mark.parametrize(("times", "told"), [(None, False), (0.5, False), (1.0, False), (30.0, True)])
def test_a_note_tells_how_many_times_smaller_a_gap_is_only_if_it_is_smaller(
    times: float | None, told: bool
) -> None:
    X, y, _ = data()
    asked = Asked("mlsvm", X, y, {}, get("mlsvm").instance(X, y), np.eye(X.shape[1]))
    note = unnamed(asked, Diagnosis(times=times))
    assert (f"{times:g} times smaller" in note if times else False) is told
