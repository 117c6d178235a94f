"""Progress, told as whoever looks can take it: in one line that is overwritten, or in few lines of a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TextIO

from cvxml.core.short_repr import escaped

FIRST = 10.0  # seconds until the first line of a log; the next ones come after twice as many each


class Progress:
    """Tells of what is under way, such as a Step: a callback of `cvxml.solve` and `cvxml.check`.

    On a terminal and in a notebook it is one line, which the next overwrites and the end of the block ends; elsewhere
    lines of their own, after 10 seconds, 20, 40 and so on.
    """

    def __init__(self, stream: TextIO | None = None, clock: Callable[[], float] = time.perf_counter):
        self.stream = sys.stderr if stream is None else stream
        # a notebook's kernel says that it is no terminal, and takes carriage returns all the same
        self.live = self.stream.isatty() or type(self.stream).__module__.startswith("ipykernel")
        self.clock, self.began, self.next, self.shown = clock, clock(), FIRST, 0

    def __call__(self, what: object) -> None:
        """Tell it, or in a log do so now and then."""
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
        """Leave nothing of the line, so that others may write there."""
        if self.live and self.shown:
            self.stream.write(f"\r{'':<{self.shown}}\r")
            self.stream.flush()
            self.shown = 0

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the line."""
        if self.live and self.shown:
            self.stream.write("\n")
            self.stream.flush()
