"""A time limit: the search ends as an interrupt would end it, with a status of its own. No clock is waited for."""

from __future__ import annotations

import dataclasses
import json
import math
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core import run
from cvxml.core.clock import (
    GRACE,
    Deadline,
    OutOfTime,
    TimeUp,
    finishing,
    limited,
    look,
    processor_time_until,
)
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.progress import Progress
from cvxml.core.result import Dual, Status, Step
from cvxml.core.run import Callback, Found, Interrupted, Keep, Watch, interruptible, silent, untried
from cvxml.methods import get, names
from cvxml.methods.nca.solver import Solver
from tests.cli.commands import Cli
from tests.instances import CLOSED_FORM, methods_with, real_data
from tests.methods.test_interrupt import PARAMS, WITH_STEPS, stop_at


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A clock that stands still; called, it moves on by so many seconds."""
    now = [0.0]

    def move(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    return move


def ticking(clock: Callable[[float], None]) -> tuple[Callback, list[Step]]:
    """A callback for which a second goes by at each step, and the steps that it was told of."""
    told: list[Step] = []

    def callback(step: Step) -> None:
        told.append(step)
        clock(1.0)

    return callback, told


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", WITH_STEPS)
@pytest.mark.parametrize("steps", [1, 3])
def test_it_ends_where_an_interrupt_would(
    method: str, steps: int, clock: Callable[[float], None], recwarn: pytest.WarningsRecorder
) -> None:
    points, y = real_data("wine", 60)
    given: dict[str, Any] = {"tol": 1e-9, **PARAMS.get(method, {})}
    interrupted = cvxml.solve(method, points, y, callback=stop_at(steps), **given)
    if interrupted.status is not Status.INTERRUPTED:
        pytest.skip("has fewer steps")
    recwarn.clear()
    callback, told = ticking(clock)
    stopped = cvxml.solve(method, points, y, callback=callback, time_limit=steps, **given)
    assert stopped.status is Status.TIME_LIMIT
    assert len(told) == len(stopped.history) == steps
    assert np.array_equal(stopped.metric, interrupted.metric)
    assert stopped.lower_bound == interrupted.lower_bound <= stopped.objective
    assert any("stopped at time_limit" in str(warned.message) for warned in recwarn)


@pytest.mark.quick(5)
@pytest.mark.parametrize("method", names())
def test_one_that_is_not_reached_changes_nothing(method: str, clock: Callable[[float], None]) -> None:
    points, y = real_data("iris", 45)
    given = PARAMS.get(method, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nca has no optimum here
        free = cvxml.solve(method, points, y, **given)
        limited = cvxml.solve(method, points, y, time_limit=1.0, **given)
    assert (free.status, free.n_iter) == (limited.status, limited.n_iter)
    assert np.array_equal(free.metric, limited.metric)


@pytest.fixture
def looks(
    monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]
) -> Callable[[int | None], list[int]]:
    """Called with a number: the time is up at the look of that number. Returns a list that counts looks."""
    real, counted = Deadline.look, [0, 0]

    def look(self: Deadline) -> None:
        counted[0] += 1
        if counted[0] == counted[1]:
            clock(150.0)
        real(self)

    def at(number: int | None) -> list[int]:
        counted[:] = [0, number or 0]
        return counted

    monkeypatch.setattr(Deadline, "look", look)
    return at


# how a solve may end of itself on these data, or by the clock
ENDED = (Status.TIME_LIMIT, Status.CONVERGED, Status.STATIONARY, Status.NOT_ATTAINED, Status.AT_INFINITY)


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", names())
def test_the_time_may_be_up_at_any_look(method: str, looks: Callable[[int | None], list[int]]) -> None:
    """While the problem is built, in the midst of a step and at its end: a certified answer, or a sentence."""
    points, y = real_data("wine", 60 if method in ("glml", "boostmetric") else 40)
    given = {"time_limit": 100.0, **PARAMS.get(method, {})}
    counted = looks(None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cvxml.solve(method, points, y, **given)
        total = counted[0]
        for number in sorted({1, 2, total // 4, total // 2, total - 1} - {0, -1}):
            looks(number)
            try:
                solution = cvxml.solve(method, points, y, **given)
            except OutOfTime:
                continue
            assert solution.lower_bound <= solution.objective + solution.certificate.rounding
            assert solution.status in ENDED


@pytest.mark.parametrize("method", ["mlsvm", *methods_with("triplets")])
def test_the_clock_is_looked_at_while_neighbours_are_searched(
    method: str, looks: Callable[[int | None], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cvxml.core.neighbors._BLOCK", 1)
    points, y = real_data("wine", 40)
    counted = looks(None)
    with limited(100.0, "late"):
        get(method).instance(points, y)
    assert counted[0] >= len(points) / 2
    looks(len(points) // 2)
    with pytest.raises(OutOfTime, match=r"time_limit.* 100 s.*built"):
        cvxml.solve(method, points, y, time_limit=100.0)


IN_BLOCKS = {
    "mcml": "cvxml.methods.mcml.all_softmaxes.BLOCK",
    "mmc": "cvxml.family.unlisted.all_pairs.BLOCK",
    "dml_eig": "cvxml.family.unlisted.all_pairs.BLOCK",
    "lmnn": "cvxml.family.rows.triplets.BLOCK",
    "nca": "cvxml.methods.nca.descent.BLOCK",
    "itml": "cvxml.core.pairs.BLOCK",
    "ldml": "cvxml.core.pairs.BLOCK",
}


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", IN_BLOCKS)
def test_the_clock_is_looked_at_within_a_pass_over_all_points(
    method: str, looks: Callable[[int | None], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One step has as many looks as it has blocks."""
    monkeypatch.setattr("cvxml.core.pairs.MAX_POINTS_LISTED", 20)
    monkeypatch.setattr("cvxml.methods.mcml.MAX_POINTS_LISTED", 20)
    points, y = real_data("wine", 60)
    found = []
    for block in (10**9, 60):
        with monkeypatch.context() as within:
            within.setattr(IN_BLOCKS[method], block)
            counted = looks(None)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                cvxml.solve(method, points, y, time_limit=100.0, max_iter=1)
            found.append(counted[0])
    assert found[1] >= found[0] + len(points) / 2


def test_a_limit_within_another_one_ends_no_later_and_there_is_time_to_finish(
    clock: Callable[[float], None],
) -> None:
    with limited(10.0, "outer") as outer:
        with limited(100.0, "inner") as inner:
            assert inner.until == outer.until
        with limited(3.0, "inner") as inner:
            assert inner.until < outer.until
        clock(11.0)
        with pytest.raises(TimeUp):
            look()
        look()  # it is told once
        with finishing(outer, "late"):
            look()  # there are nine seconds
        clock(9.0)
        for _ in range(2):
            with pytest.raises(TimeUp):
                look()
        with pytest.raises(OutOfTime, match="late"), finishing(outer, "late"):
            look()
    look()  # there is no limit


@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, TimeUp])
def test_an_interrupt_of_another_is_no_end_of_the_limit(interrupt: type[BaseException]) -> None:
    """The user's own, or that of the command line (cvxml/cli/limit.py)."""

    def end() -> None:
        with limited(1e9, "late"):
            raise interrupt

    with pytest.raises(interrupt) as ended:
        end()
    assert type(ended.value) is interrupt


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_certificate_that_takes_too_long_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, clock: Callable[[float], None]
) -> None:
    """At most as long as the limit, or 10 s, and the notes are left out where the certificate took that long."""
    points, y = real_data("wine", 20)
    module = get("nca")
    certify, notes = module.certify, module.notes

    def slow(*asked: Any, seconds: float) -> Any:
        clock(seconds)
        look()
        return certify(*asked)

    def noted(*asked: Any) -> Any:
        clock(20.0)
        look()
        return notes(*asked)

    with monkeypatch.context() as within:
        within.setattr(module, "certify", partial(slow, seconds=GRACE - 1))
        solution = cvxml.solve("nca", points[:, :2], y, time_limit=1.0)
        assert solution.lower_bound <= solution.objective
        within.setattr(module, "certify", partial(slow, seconds=GRACE + 2))
        with pytest.raises(OutOfTime, match="certificate"):
            cvxml.solve("nca", points[:, :2], y, time_limit=1.0)
    monkeypatch.setattr(module, "notes", noted)
    assert "left out" in cvxml.solve("nca", points[:, :2], y, time_limit=10.0).notes[-1]


def test_what_is_proved_by_then_is_proved(clock: Callable[[float], None]) -> None:
    """The step at which the time is up may be the last."""
    points, y = real_data("wine", 60)
    for method in ("lmnn", "mlsvm", "glml"):
        best = cvxml.solve(method, points, y)
        callback, told = ticking(clock)
        same = cvxml.solve(method, points, y, callback=callback, time_limit=len(best.history))
        assert same.status is Status.CONVERGED
        assert len(told) == len(best.history)


@pytest.mark.parametrize("method", ["nca", "ssvm"])
def test_a_start_that_was_not_tried_is_named(method: str, clock: Callable[[float], None]) -> None:
    points, y = real_data("wine", 60)
    callback, _ = ticking(clock)
    with pytest.warns(match="time_limit"):
        stopped = cvxml.solve(
            method, points, y, init=["identity", "random"], callback=callback, time_limit=1, **PARAMS.get(method, {})
        )  # fmt: skip
    assert "stopped before these starts were tried: random" in stopped.notes
    assert untried(["a", "b", "c"], 1) == ("stopped before these starts were tried: b, c",)
    assert untried(["a"], 1) == ()


@pytest.mark.parametrize("method", ["nca", "ssvm"])
def test_literal_steps_end_too(method: str, clock: Callable[[float], None]) -> None:
    points, y = real_data("wine", 8)
    callback, told = ticking(clock)
    given = {"C": 1.0, "n_neighbors": 1} if method == "ssvm" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopped = cvxml.solve(
            method, points[:, :2], y, solver="clarabel", tol=1e-12, callback=callback, time_limit=1, **given
        )
    assert len(told) == 1
    assert stopped.status is Status.TIME_LIMIT


@pytest.mark.slow
def test_branch_and_bound_has_a_limit_without_one(clock: Callable[[float], None]) -> None:
    points, y = real_data("wine", 12)
    given: dict[str, Any] = {"solver": "global", "C": 1.0, "n_neighbors": 3}
    for limit, steps in (({}, 600), ({"time_limit": 1000.0}, 1000)):
        told = []

        def callback(step: Step, told: list[Step] = told, each: float = 100.0) -> None:
            told.append(step)
            clock(each)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solution = cvxml.solve("ssvm", points, y, callback=callback, **given, **limit)
        assert len(told) <= steps / 100
        assert solution.status in (Status.TIME_LIMIT, Status.CONVERGED)
        assert solution.status is Status.TIME_LIMIT or len(told) < steps / 100


def test_between_what_is_told_the_time_is_looked_at(clock: Callable[[float], None]) -> None:
    """An algorithm that tells of few steps, and of each metric that it has."""

    def algorithm(keep: Keep, told: Callback) -> Found:
        assert told is not None
        keep(np.eye(1), {})
        told(Step(0, 0.0, 1.0, 0.0, 1.0))
        for k in range(2, 10):
            clock(1.0)
            keep(k * np.eye(1), {})
        raise AssertionError("nobody judged")

    watch = Watch(Deadline(3.0), None)
    with pytest.raises(Interrupted) as ended:
        interruptible(watch, algorithm)
    assert ended.value.found.metric == 4.0
    assert watch.named(ended.value.found).status is Status.TIME_LIMIT


def test_only_the_time_is_called_so() -> None:
    found = Found(np.eye(1), {}, Status.INTERRUPTED, 1)
    watch = Watch(Deadline(1e9), None)
    watch.look()
    assert watch.named(found).status is Status.INTERRUPTED  # the user did it
    over = Watch(Deadline(0.0), None)
    with pytest.raises(TimeUp):
        over(Step(0, 0.0, 1.0, 0.0, 1.0))
    assert over.named(found).status is Status.TIME_LIMIT
    assert over.named(found._replace(status=Status.STALLED)).status is Status.STALLED
    assert silent(None) is None
    assert silent(stop_at(1)) is None
    with pytest.raises(TimeUp):
        silent(over)(Step(0, 0.0, 1.0, 0.0, 1.0))  # type: ignore[misc]


@pytest.mark.parametrize("limit", [0, -1.0, float("nan"), "1", True])
def test_what_is_no_limit_is_refused(limit: Any) -> None:
    points, y = real_data("iris", 15)
    with pytest.raises(ValueError, match="time_limit must be"):
        cvxml.solve("mlsvm", points, y, time_limit=limit)
    with pytest.raises(ValueError, match="time_limit must be"):
        cvxml.check("mlsvm", points, y, np.eye(4), time_limit=limit)


CONVEX = [name for name in names() if get(name).CLAIM == "optimal" and name not in CLOSED_FORM]


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", CONVEX)
def test_check_says_what_it_found_by_then(method: str, clock: Callable[[float], None]) -> None:
    """At the first step: what is optimal is not refuted, and nothing is certified that is not."""
    points, y = real_data("iris", 60)
    given = PARAMS.get(method, {})
    best = cvxml.solve(method, points, y, tol=1e-8, **given).metric
    callback, told = ticking(clock)
    report = cvxml.check(method, points, y, best, callback=callback, time_limit=1, **given)
    assert len(told) == 1
    assert report.verdict == "inconclusive"
    assert any("raise time_limit" in reason for reason in report.reasons)
    worse = cvxml.check(
        method, points, y, 3 * best + np.eye(len(best)), time_limit=1, callback=callback, **given
    )
    assert worse.verdict in ("inconclusive", "refuted")
    assert cvxml.check(method, points, y, best, time_limit=1, **given).verdict == "certified"


def test_a_witness_of_the_first_steps_refutes(clock: Callable[[float], None]) -> None:
    """Where it is better by more than what is allowed; no misreading is looked for any more."""
    points, y = real_data("wine", 60)
    callback, told = ticking(clock)
    report = cvxml.check("mlsvm", points, y, 100 * np.eye(13), time_limit=1, callback=callback)
    assert len(told) == 1
    assert report.verdict == "refuted"
    assert report.witness is not None
    assert report.witness.better_by > 0
    assert report.diagnosis == ()
    assert "no misreading is named: not all were tried before time_limit" in report.notes


def test_a_large_scale_of_what_is_not_optimal_certifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tolerance is a share of our own solution's scale, which is any number until that is optimal."""
    points, y = real_data("wine", 60)
    module = get("mlsvm")
    solve, best = module.solve, cvxml.solve("mlsvm", points, y, tol=1e-10)
    near = best.metric + 1e-2 * np.linalg.norm(best.metric) / 13 * np.eye(13)

    def cut(given: Any, **params: Any) -> Any:
        huge = 1e4 * best.metric
        solution = solve(given, **{**params, "time_limit": None})
        certificate = module.certify(given, huge, solution.dual)
        return type(solution)(
            **{**vars(solution), "metric": huge, "certificate": certificate, "status": Status.TIME_LIMIT}
        )

    monkeypatch.setattr(module, "solve", cut)
    report = cvxml.check("mlsvm", points, y, near, diagnosed=False, time_limit=1.0)
    assert report.gap is not None
    assert report.gap <= 1e-6 * report.scale  # of the scale that is no optimum's
    assert report.verdict == "inconclusive"
    assert cvxml.check("mlsvm", points, y, best.metric, time_limit=1.0).verdict == "certified"


STATIONARY = [name for name in names() if get(name).CLAIM == "stationary"]


@pytest.mark.quick(3)
@pytest.mark.parametrize("method", STATIONARY)
def test_the_time_of_a_check_may_be_up_at_any_look(
    method: str, looks: Callable[[int | None], list[int]]
) -> None:
    """During the descent from the metric, its step, and the certificate."""
    points, y = real_data("wine", 30)
    given = {**PARAMS.get(method, {}), "time_limit": 100.0, "diagnosed": False}
    metric = np.diag(np.linspace(1.0, 2.0, points.shape[1]))
    counted = looks(None)
    free = cvxml.check(method, points, y, metric, **given)
    total = counted[0]
    assert free.verdict == "refuted"
    looks(2)
    early = cvxml.check(method, points, y, metric, **given)
    assert early.verdict == "inconclusive"
    assert any("raise time_limit" in reason for reason in early.reasons)
    for number in (total // 2, 3 * total // 4, total - 1):
        looks(number)
        late = cvxml.check(method, points, y, metric, **given)
        assert late.verdict == "refuted"  # by a better metric, which was found before
        assert late.objective == free.objective


def overlapping() -> tuple[FloatArray, IntArray]:
    """Two classes of one feature, for which NCA has a stationary metric."""
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 1))
    return points, (points[:, 0] + rng.normal(size=40) > 0).astype(int)


def test_no_step_begins_after_the_limit_that_ended_the_descent(
    looks: Callable[[int | None], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    points, y = overlapping()
    best = cvxml.solve("nca", points, y).metric
    steps: list[int] = []
    step = Solver.minimise_step
    monkeypatch.setattr(Solver, "minimise_step", lambda *given: steps.append(1) or step(*given))
    looks(7)  # during the descent
    report = cvxml.check("nca", points, y, best, time_limit=100.0)
    assert steps == []
    assert report.verdict == "inconclusive"
    assert report.objective is not None
    assert any("raise time_limit" in reason for reason in report.reasons)
    looks(None)
    assert cvxml.check("nca", points, y, best, time_limit=100.0).verdict == "certified"
    assert steps


def test_a_check_ends_if_its_certificate_takes_as_long_as_the_limit_again(
    clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    points, y = overlapping()
    module = get("nca")
    certify = module.certify

    def slow(*given: Any) -> Any:
        for _ in range(3):
            clock(100.0)
            look()
        return certify(*given)

    monkeypatch.setattr(module, "certify", slow)
    report = cvxml.check("nca", points, y, np.eye(1), time_limit=100.0, diagnosed=False)
    assert report.verdict == "inconclusive"
    assert report.objective is None


@pytest.mark.slow
def test_check_of_a_claim_to_be_optimal_says_that_the_time_was_up(clock: Callable[[float], None]) -> None:
    points, y = real_data("wine", 30)
    best = cvxml.solve("ssvm", points, y, tol=1e-8, C=1.0).metric
    callback, told = ticking(clock)
    report = cvxml.check("ssvm", points, y, best, claim="optimal", callback=callback, time_limit=1, C=1.0)
    assert len(told) == 1
    assert report.verdict == "inconclusive"
    assert any("that was tried" in reason for reason in report.reasons)
    assert report.reasons[-1].startswith("the search for a proof ended at time_limit")


@pytest.mark.parametrize("method", ["lmnn", "mcml"])
def test_on_the_command_line(
    cli: Cli, method: str, clock: Callable[[float], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Progress, "__call__", lambda self, step: clock(1.0))
    points, y = real_data("wine", 60)
    np.savez("wine.npz", X=points, y=y)
    answer = cli("solve", method, "wine.npz", "--time-limit", "1", "--json", "--out", "s.json")
    assert answer.code == 3
    assert json.loads(answer.out)["status"] == "TIME_LIMIT"
    assert cvxml.load("s.json").claimed["status"] == "TIME_LIMIT"
    resumed = cli("solve", method, "wine.npz", "--warm-start", "s.json")
    assert resumed.code == 0
    np.save("m.npy", cvxml.solve(method, points, y, tol=1e-8).metric)
    checked = cli("check", method, "wine.npz", "--metric", "m.npy", "--time-limit", "1", "--json")
    assert checked.code == 3
    assert "time_limit" in json.loads(checked.out)["reasons"][-1]
    assert cli("check", method, "wine.npz", "--metric", "m.npy", "--time-limit", "0").code == 2


def test_a_limit_of_processor_time_ends_a_solve_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds within its block only, and in the blocks within the block."""
    points, y = real_data("wine", 60)
    now = [0.0]
    monkeypatch.setattr(time, "process_time", lambda: now[0])

    def solved(end: float, inner: float = math.inf) -> cvxml.Solution:
        now[0] = 0.0

        def tick(_: Step) -> None:
            now[0] += 1.0

        with processor_time_until(end), processor_time_until(inner):
            return cvxml.solve("itml", points, y, tol=1e-9, callback=tick)

    best = solved(math.inf)
    assert best.status is Status.CONVERGED
    for limits in ((3.0,), (3.0, math.inf), (100.0, 3.0)):
        with pytest.warns(match="time_limit"):
            stopped = solved(*limits)
        assert stopped.status is Status.TIME_LIMIT
        assert len(stopped.history) == 3 < len(best.history)
        assert stopped.lower_bound <= stopped.objective
    with pytest.raises(OutOfTime):
        solved(0.0)
    assert solved(math.inf).status is Status.CONVERGED


def test_the_look_is_of_one_clock(clock: Callable[[float], None]) -> None:
    """`run` itself takes the seconds of its history from where the limit is looked at."""

    class Still:
        def metric(self) -> FloatArray:
            return np.eye(1)

        def dual(self) -> Dual:
            return {}

        def step(self) -> bool:
            clock(1.0)
            return True

    points, y = real_data("iris", 15)
    best = cvxml.solve("mlsvm", points, y).certificate
    never = dataclasses.replace(best, gap=best.scale)  # nothing is proved
    with pytest.raises(Interrupted) as ended:
        run.run(Still(), lambda M, dual: never, 1e-6, 100, Watch(Deadline(5.0), None), "still")
    assert [step.seconds for step in ended.value.found.history] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert ended.value.found.history[0].scale == best.scale
