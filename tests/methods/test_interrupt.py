"""Ctrl-C: what was found so far comes back with its proof, from every method that has an algorithm."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import cvxml
from cvxml.core.result import Status, Step
from cvxml.core.run import Callback, Found, Interrupted, Keep, Watch, interruptible
from cvxml.methods import get, names
from cvxml.methods.mlsvm.solver import no_duals, solve_dual
from cvxml.oracle.saved import recertify
from tests.cli.commands import Cli, X, Y
from tests.instances import CLOSED_FORM, real_data

PARAMS: dict[str, dict[str, Any]] = {
    "ssvm": {"C": 1.0},
    "mmc": {},
    "kernel_mlsvm": {"kernel": "rbf"},
    "boostmetric": {"v": 1.0},
}
WITH_STEPS = [name for name in names() if name not in CLOSED_FORM]
LATER = [  # whose callback comes at every iterate, and whose objective falls from one to the next
    name for name in WITH_STEPS if name not in ("ssvm", "mcml", "nca", "mlkr")
]


AFTER = {"lsml": 2, "sdml": 2, "dml_eig": 15}  # steps, until there is a better metric


def stop_at(call: int) -> Any:
    """A callback that is the user's Ctrl-C at this call."""
    calls = []

    def callback(step: Step) -> None:
        calls.append(step)
        if len(calls) == call:
            raise KeyboardInterrupt

    return callback


@pytest.mark.quick(6)
@pytest.mark.parametrize("method", WITH_STEPS)
def test_an_interrupt_at_once_is_a_solution_with_a_bound(method: str) -> None:
    points, y = real_data("wine", 60)
    with pytest.warns(match="interrupted"):
        stopped = cvxml.solve(method, points, y, callback=stop_at(1), tol=1e-9, **PARAMS.get(method, {}))
    assert stopped.status is Status.INTERRUPTED
    assert len(stopped.history) == 1
    assert np.isfinite(stopped.objective)
    assert stopped.lower_bound <= stopped.objective


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", LATER)
def test_a_later_interrupt_keeps_more_and_can_be_resumed(method: str) -> None:
    points, y = real_data("wine", 60)
    given = PARAMS.get(method, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first, later = (
            cvxml.solve(method, points, y, callback=stop_at(call), tol=1e-9, **given)
            for call in (1, AFTER.get(method, 4))
        )
        resumed = cvxml.solve(method, points, y, warm_start=later, tol=1e-6, **given)
    assert later.status is Status.INTERRUPTED
    assert later.objective <= first.objective
    assert later.objective - later.lower_bound < first.objective - first.lower_bound
    assert resumed.status in (Status.CONVERGED, Status.STATIONARY)
    assert resumed.lower_bound <= later.objective


@pytest.mark.parametrize("call", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("early", [False, True])
def test_an_interrupt_on_the_way_to_a_lam_that_is_next_to_nothing(
    monkeypatch: pytest.MonkeyPatch, call: int, early: bool
) -> None:
    """Of the solver inside at a larger lam, or where the metric 0 is proved: no further one is begun.

    early: the path to lam ends early, so that lam itself is tried too.
    """
    points, y = real_data("wine", 60)
    if early:
        rng = np.random.default_rng(4)
        points, y = rng.standard_normal((30, 4)), rng.integers(0, 2, 30)
    calls, ended = [], []

    def stopped(problem: Any, starts: Any, tol: float, max_iter: int, callback: Any = None) -> Any:
        calls.append(max_iter)
        found = solve_dual(problem, starts, tol, max_iter, stop_at(1) if len(calls) == call else callback)
        ended.append(found[1])
        return found

    monkeypatch.setattr("cvxml.methods.mlsvm.solver.solve_dual", stopped)
    with pytest.warns(match="interrupted"):
        solution = cvxml.solve("mlsvm", points, y, lam=1e-15)
    assert ended[call - 1] is Status.INTERRUPTED
    assert solution.status is Status.INTERRUPTED
    assert calls[call:] in ([], [0])  # at most a look at where it stands
    assert solution.lower_bound <= solution.objective


@pytest.mark.parametrize("call", [2, 50])
@pytest.mark.parametrize("seed", [3, 19])
def test_an_interrupt_never_returns_a_kernel_metric_with_a_larger_gap_than_zero(seed: int, call: int) -> None:
    """Kernel values of 1e13: the rounding of the entries of phi is far above the objective."""
    rng = np.random.default_rng(seed)
    points, y = rng.standard_normal((16, 4)) * [1e-1, 1e1, 2e3, 1e-1], np.arange(16) % 2
    zero = cvxml.certify("kernel_mlsvm", points, y, np.zeros((16, 16)), no_duals())
    with pytest.warns(match="interrupted"):
        stopped = cvxml.solve("kernel_mlsvm", points, y, callback=stop_at(call))
    assert stopped.certificate.gap <= zero.gap


def test_an_interrupt_where_a_kernel_s_metric_0_is_proved_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """At this gamma all points are one in the feature space."""
    points, y = real_data("wine", 30)
    given: dict[str, Any] = {"kernel": "rbf", "gamma": 1e-300}
    calls: list[int] = []

    def counted(*asked: Any) -> Any:
        calls.append(len(calls))
        return solve_dual(
            *asked[:4], stop_at(1) if len(calls) == at else asked[4] if len(asked) > 4 else None
        )

    monkeypatch.setattr("cvxml.methods.mlsvm.solver.solve_dual", counted)

    def solved(call: int) -> Any:
        nonlocal at
        at = call
        calls.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return cvxml.solve("kernel_mlsvm", points, y, **given)

    at = 0
    assert not solved(0).metric.any()
    assert len(calls) > 2  # the problem itself, and those that may prove its 0
    for call in range(1, len(calls) + 1):
        solution = solved(call)
        assert not solution.metric.any()
        assert solution.status is Status.INTERRUPTED, call
        assert len(calls) == call  # no further solve is begun


@pytest.fixture
def default_handler() -> Iterator[None]:
    """Python's own handler of Ctrl-C, which a suite in the background may ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def press(step: Step | None = None) -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("default_handler")
def test_a_second_ctrl_c_is_raised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one comes while the metric of the first one is proved, where an interrupt is caught too."""
    points, y = real_data("wine", 30)
    points = points[:, :3] * [1.0, 1e7, 1.0]  # then the search runs in other coordinates
    of = get("rtml")
    certify, pressed = of.certify, []

    def interrupted(*given: Any) -> Any:
        if pressed == [1]:
            pressed.append(2)
            press()
        return certify(*given)

    def first(step: Step) -> None:
        if not pressed:
            pressed.append(1)
            press()

    monkeypatch.setattr(of, "certify", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cvxml.solve("rtml", points, y, tol=1e-9, callback=first)
    assert pressed == [1, 2]
    with pytest.warns(match="interrupted"):
        assert cvxml.solve("rtml", points, y, tol=1e-9, callback=press).status is Status.INTERRUPTED


@pytest.mark.parametrize("name", ["LMNN", "MLSVM", "NCA", "PLML"])
def test_ctrl_c_ends_fit_and_a_search_over_it(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Without a warning, because no solution remains that could be continued."""
    points, y = real_data("wine", 60)
    steps: list[Step] = []

    def interrupted(self: Watch, step: Step) -> None:
        steps.append(step)
        raise KeyboardInterrupt

    monkeypatch.setattr(Watch, "__call__", interrupted)
    estimator = getattr(cvxml, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(points, y)
    assert len(steps) == 1
    transforms = hasattr(estimator, "transform")
    classifier = make_pipeline(estimator, KNeighborsClassifier()) if transforms else estimator
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(classifier, points, y, cv=2)
    assert len(steps) == 2  # one fit was interrupted, and no further one was begun


def test_before_the_first_metric_there_is_nothing_to_keep() -> None:
    def algorithm(keep: Keep, told: Callback) -> Found:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        interruptible(None, algorithm)
    assert not isinstance(caught.value, Interrupted)


@pytest.mark.quick(7)
@pytest.mark.parametrize("method", [name for name in names() if "clarabel" in get(name).SOLVERS])
def test_of_a_back_end_nothing_is_kept(cli: Cli, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """A metric without prices would have no bound."""

    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cvxpy.Problem.solve", interrupt)
    answer = cli("solve", method, "data.json", "--solver", "clarabel", "--out", "s.json")
    assert (answer.code, answer.out) == (130, "")
    assert "interrupted" in answer.err
    assert not Path("s.json").exists()


@pytest.mark.quick(8)
@pytest.mark.parametrize(
    "method", [name for name in WITH_STEPS if name not in ("nca", "mlkr")]
)  # judged without a solve
def test_an_interrupt_ends_check(cli: Cli, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Though a solver takes it for its own: no verdict rests on a reference that was cut short."""
    solve = get(method).solve
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.save("m.npy", cvxml.solve(method, X, Y).metric)

    def interrupted(*given: Any, **params: Any) -> Any:
        return solve(*given, **{**params, "callback": stop_at(1)})

    monkeypatch.setattr(get(method), "solve", interrupted)
    claim = ["--claim", "optimal"] if get(method).CLAIM == "stationary" else []
    answer = cli("check", method, "data.json", "--metric", "m.npy", *claim)
    assert (answer.code, answer.out) == (130, "")
    assert "interrupted" in answer.err


def ctrl_c(arguments: list[str], folder: Path, after: str) -> tuple[int, str, str]:
    """`python -m cvxml ARGUMENTS` at a terminal, with Ctrl-C once it has shown `after`: code, output, errors."""
    ours, theirs = pty.openpty()
    root = str(Path(cvxml.__file__).parents[1])
    with open(folder / "out", "w") as out:
        child = subprocess.Popen(
            [sys.executable, "-m", "cvxml", *arguments],
            cwd=folder, stdout=out, stderr=theirs, env={**os.environ, "PYTHONPATH": root},
            # a suite that runs in the background is one that ignores Ctrl-C, and so would its children
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
    os.close(theirs)
    shown, sent = "", False
    with suppress(OSError):  # where the other end is closed
        while more := os.read(ours, 4096).decode():
            shown += more
            if after in shown and not sent:
                child.send_signal(signal.SIGINT)
                sent = True
    os.close(ours)
    return child.wait(timeout=120), (folder / "out").read_text(), shown


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a terminal of its own")
@pytest.mark.parametrize("method", ["lmnn", "itml"])
def test_ctrl_c_in_a_shell_saves_what_there_is(tmp_path: Path, method: str) -> None:
    """On a problem of some ten seconds, at the first step that is shown."""
    words = ["solve", method, "waveform", "--out", "s.json", "--tol", "1e-9", "--json"]
    code, out, shown = ctrl_c(words, tmp_path, after="iteration ")
    assert code == 130, shown
    assert "data: waveform: 400 points, 21 features" in shown
    assert "Traceback" not in shown
    printed, saved = json.loads(out), json.loads((tmp_path / "s.json").read_text())
    assert printed == saved
    assert saved["status"] == "INTERRUPTED"
    assert saved["lower_bound"] <= saved["objective"]
    again = recertify(cvxml.load(tmp_path / "s.json"), 1e-6)
    assert again.verdict == "inconclusive"
    assert again.certificate.objective == pytest.approx(saved["objective"])
    assert again.certificate.lower_bound == pytest.approx(saved["lower_bound"])


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a terminal of its own")
def test_ctrl_c_in_a_check_is_one_line(tmp_path: Path) -> None:
    np.save(tmp_path / "m.npy", np.eye(21))
    code, out, shown = ctrl_c(["check", "lmnn", "waveform", "--metric", "m.npy"], tmp_path, after="data: ")
    assert (code, out) == (130, "")
    lines = shown.splitlines()
    assert len(lines) == 2
    assert lines[1] == "cvxml: interrupted; no result is kept"
