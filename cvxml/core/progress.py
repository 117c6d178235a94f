"""Show progress: one line that is overwritten on a terminal, or a few lines in a log."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from contextvars import Token
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self, TextIO

from cvxml.core.result import Step
from cvxml.core.short_repr import escaped
from cvxml.core.work import Work, follow, unfollow

EVERY = 1.0  # seconds between two lines on a terminal, if there is no news
FIRST = 10.0  # seconds until the first line of a log; the time doubles for each further line


class Progress:
    """A callback for `cvxml.solve` and `cvxml.check` that shows progress in one line.

    The line has the last Step, the elapsed time, and the state, for example "factorising" or "proving". In a `with`
    block it is renewed every second, also while a step takes long. While a back end of cvxpy holds Python's lock, it is
    not renewed.

    On a terminal and in a notebook, each line overwrites the one before it, and the end of the `with` block ends the
    line. In a log file, a line is written after 10, 20, 40, ... seconds.

    stream: default `sys.stderr`. clock: a function that returns seconds.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    with cvxml.Progress() as tell:  # one line on stderr
        solution = cvxml.solve("lmnn", X, y, callback=tell)
    print(solution.status.value)  # -> converged
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.perf_counter):
        self.stream = sys.stderr if stream is None else stream
        # the stream of a notebook's kernel is not a terminal, but it handles carriage returns
        self.live = self.stream.isatty() or type(self.stream).__module__.startswith("ipykernel")
        self.clock, self.began, self.next, self.shown = clock, clock(), FIRST, 0
        self.text, self.hidden = "", False
        self.work, self.lock, self.over = Work(), Lock(), Event()
        self.thread: Thread | None = None
        self.following: Token[Work | None] | None = None

    def __call__(self, what: object) -> None:
        """Show `what` as text; in a log only if the next line is due."""
        with self.lock:
            self.text, self.hidden = escaped(_brief(what) if isinstance(what, Step) else str(what)), False
            self._show()

    def tick(self) -> None:
        """Show the last text again, with the current time and state. After `erase`, do nothing until the next text."""
        with self.lock:
            if not self.hidden:
                self._show()

    def erase(self) -> None:
        """Erase the line, so that other output can use it until the next text."""
        with self.lock:
            self.hidden = True
            if self.live and self.shown:
                self.stream.write(f"\r{'':<{self.shown}}\r")
                self.stream.flush()
                self.shown = 0

    def _show(self) -> None:
        seconds = self.clock() - self.began
        line = self._line(seconds)
        if self.live:
            self.stream.write(f"\r{line:<{self.shown}}")
            self.stream.flush()
            self.shown = len(line)
        elif seconds >= self.next:
            self.stream.write(f"{line}\n")
            self.stream.flush()
            while self.next <= seconds:
                self.next *= 2

    def _line(self, seconds: float) -> str:
        """Return the text, the time and the state, in one line of the terminal."""
        state = f", {self.work.state}" if self.work.state else ""
        end = f"({_time(seconds)}{state})"
        room = shutil.get_terminal_size().columns - 1 - len(end) - 2
        text = self.text[: max(room, 10)] if self.live else self.text
        return f"{text}  {end}" if text else end

    def __enter__(self) -> Self:
        self.over.clear()
        self.following = follow(self.work)
        self.thread = Thread(target=self._tick_until_over, daemon=True)
        self.thread.start()
        return self

    def _tick_until_over(self) -> None:
        while not self.over.wait(EVERY):
            try:
                self.tick()
            except (OSError, ValueError):  # the stream is closed
                return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        if self.thread is not None:
            self.thread.join()
        if self.following is not None:
            unfollow(self.following)
        if self.live and self.shown:
            self.stream.write("\n")
            self.stream.flush()


def _brief(step: Step) -> str:
    """Return a step in few words, without its time, because the line shows the time."""
    return f"iteration {step.iteration}  {step.gap_in_words()}  objective {step.objective:.8g}"


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
