"""What is told of what is under way: a line that is overwritten, or few lines of a log."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

import cvxml
from cvxml.core import progress
from cvxml.core.progress import Progress
from cvxml.core.result import Step
from cvxml.core.work import Work, doing
from tests.cli.commands import X, Y


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class OutStream(io.StringIO):
    """As a notebook's kernel has it: no terminal."""

    __module__ = "ipykernel.iostream"


class Clock:
    """Seconds that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(stream: io.StringIO, at: list[float], clock: Clock | None = None) -> str:
    """What is written of steps at these seconds."""
    clock = clock or Clock()
    tell = Progress(stream, clock)
    for second in at:
        clock.now = second
        tell(f"step {second:g}")
    return stream.getvalue()


def test_a_log_gets_few_lines() -> None:
    lines = told(io.StringIO(), [1, 9, 10, 11, 19, 25, 39, 41, 500, 600, 700]).splitlines()
    assert [line.split()[1] for line in lines] == ["10", "25", "41", "500", "700"]
    assert told(io.StringIO(), [1, 2, 3]) == ""


def test_a_terminal_and_a_notebook_get_one_line() -> None:
    for stream in (Terminal(), OutStream()):
        assert re.fullmatch(r"\rstep 1 [^\r\n]*\rstep 2 [^\r\n]*", told(stream, [1, 2]))
        with Progress(stream) as tell:
            tell("end")
        assert stream.getvalue().endswith("\n")


def test_the_line_can_be_erased() -> None:
    """And it is not written again by itself before the next text, because other output is in its place."""
    tell = Progress(stream := Terminal(), Clock())
    tell("longer")
    tell("short")
    tell.erase()
    written = stream.getvalue()
    *_, longer, short, blank, end = written.split("\r")
    assert len(longer) <= len(short)
    assert len(short.rstrip()) <= len(blank)
    assert blank.isspace()
    assert end == ""
    tell.erase()
    tell.tick()
    assert stream.getvalue() == written
    tell("next")
    assert stream.getvalue().startswith(written + "\rnext")
    with Progress(stream := Terminal()):
        pass
    assert stream.getvalue() == ""


@pytest.mark.parametrize(("kind", "most"), [(Terminal, 1000), (io.StringIO, 4)])
def test_without_news_the_time_goes_on(kind: Callable[[], io.StringIO], most: int) -> None:
    """A step that takes a minute: on a terminal a line at least every two seconds, in a log few lines."""
    clock = Clock()
    tell = Progress(stream := kind(), clock)
    shown: list[float] = []
    for second in np.arange(0, 60, progress.EVERY):
        clock.now, before = float(second), stream.tell()
        if second == 1:
            tell(Step(7, 1.0, 12.5, 12.0, 0.5, scale=10.0))
        tell.tick()
        if stream.tell() > before:
            shown.append(clock.now)
    lines = [line for line in re.split(r"[\r\n]", stream.getvalue()) if line]
    assert 1 < len(shown) <= most
    assert all("iteration 7 " in line and "5.00e-02" in line for line in lines[3:])
    assert f"{int(shown[-1])} s" in lines[-1]
    if kind is Terminal:
        assert max(np.diff([0.0, *shown, 60.0])) <= 2


def test_the_state_is_that_of_the_work_in_the_block() -> None:
    tell = Progress(stream := Terminal(), Clock())
    for state in ("factorising", "proving"):
        with tell, doing("searching"), doing(state):
            tell("text")
        assert state in stream.getvalue().split("\r")[-1]
        assert "searching" not in stream.getvalue().split("\r")[-1]
    assert tell.work.state == ""
    with doing("searching"):  # no line follows this work
        pass


class Remembering(Work):
    """Work that remembers its states."""

    def __init__(self) -> None:
        self.states: list[str] = []

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)
        if name == "state":
            self.states.append(str(value))

    state = ""


@pytest.mark.slow
def test_a_solve_and_a_check_name_their_states() -> None:
    tell = Progress(Terminal())
    tell.work = work = Remembering()
    with tell:
        solution = cvxml.solve("mlsvm", X, Y, callback=tell)
        assert {"building the problem", "searching", "factorising", "proving"} <= set(work.states)
        cvxml.check("mlsvm", X, Y, solution.metric[::-1, ::-1], callback=tell)
    assert "looking for mistakes" in work.states


def test_a_long_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    tell = Progress(stream := Terminal(), Clock())
    tell("x" * 500)
    assert len(stream.getvalue()) <= 60


def test_a_thread_shows_the_time_until_the_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.001)
    before = threading.active_count()
    tell = Progress(stream := Terminal(), Clock())
    for state in ("factorising", "proving"):  # the same line may follow one block after another
        with tell, doing(state):
            until = time.perf_counter() + 20
            while state not in stream.getvalue() and time.perf_counter() < until:
                time.sleep(0.001)
        assert state in stream.getvalue()
        assert threading.active_count() == before


def test_it_is_a_callback() -> None:
    with Progress(stream := Terminal()) as tell:
        solution = cvxml.solve("mlsvm", X, Y, callback=tell)
    assert stream.getvalue().count("\riteration") >= len(solution.history)
    with Progress(stream := Terminal()) as tell:
        cvxml.check("mlsvm", X, Y, np.eye(3), callback=tell, diagnosed=False)
    assert "\riteration" in stream.getvalue()


def test_a_step_without_a_bound_says_so() -> None:
    step = Step(0, 0.0, 1.0, -np.inf, np.inf, scale=1.0)
    assert "inf" not in str(step)
    assert "2.00e+00" in str(Step(0, 0.0, 3.0, 1.0, 2.0))
