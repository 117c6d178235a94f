"""Show progress: one line that is overwritten on a terminal, or a few lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from cvxml.core.short_repr import escaped

FIRST = 10.0  # seconds until the first line of a log; the time doubles for each further line


class Progress:
    """Show progress such as a Step: a callback for `cvxml.solve` and `cvxml.check`.

    On a terminal and in a notebook, each text overwrites the line before it, and the end of the `with` block ends the
    line. Elsewhere, lines are written after 10 seconds, 20, 40 and so on.

    stream: default `sys.stderr`. clock: a function that returns seconds.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.perf_counter):
        self.stream = sys.stderr if stream is None else stream
        # the stream of a notebook's kernel is not a terminal, but it handles carriage returns
        self.live = self.stream.isatty() or type(self.stream).__module__.startswith("ipykernel")
        self.clock, self.began, self.next, self.shown = clock, clock(), FIRST, 0

    def __call__(self, what: object) -> None:
        """Show `what` as text; in a log only if the next line is due."""
        text = escaped(str(what))
        if self.live:
            self.stream.write(f"\r{text:<{self.shown}}")
            self.stream.flush()
            self.shown = len(text)
            return
        seconds = self.clock() - self.began
        if text and seconds >= self.next:
            self.stream.write(f"{text}\n")
            self.stream.flush()
            while self.next <= seconds:
                self.next *= 2

    def erase(self) -> None:
        """Erase the line, so that other output can use it."""
        if self.live and self.shown:
            self.stream.write(f"\r{'':<{self.shown}}\r")
            self.stream.flush()
            self.shown = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the line."""
        if self.live and self.shown:
            self.stream.write("\n")
            self.stream.flush()
