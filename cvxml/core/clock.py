"""The clock of a solve: long work looks at it between its blocks, and ends once the time limit is over.

`limited` begins a time limit, and `look` looks at it. Whoever works for long calls `look` after each block of about a
second or less; `side_by_side` (core/threads.py) and `watched` do so themselves. Outside a limit `look` does nothing.
The end comes as Ctrl-C does: an algorithm that has a metric returns the best one. It comes from `look` once, so that an
algorithm can finish the metric that it returns, and its certificate can be computed. For both there is as long again as
the limit, or 10 s: `look` raises the end again after that.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

GRACE = 10.0  # seconds at least, for the metric that a time limit ends with, and for its certificate


class TimeUp(KeyboardInterrupt):
    """The end of a time limit: an algorithm ends as at the user's interrupt."""


class OutOfTime(TimeoutError):
    """A time limit was over before there was a metric with its certificate."""


class Deadline:
    """The end of a time limit of `seconds` from now on, or `before` if that is earlier.

    up: True once somebody was told that it is over; last: the end of all that follows it.
    """

    def __init__(self, seconds: float, before: float = math.inf):
        self.until = min(time.perf_counter() + seconds, before)
        self.last = self.until + max(seconds, GRACE)
        self.up = False

    def look(self) -> None:
        """Raise TimeUp once it is over."""
        if time.perf_counter() >= self.until:
            self.up = True
            raise TimeUp


Part = TypeVar("Part")
_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def look() -> None:
    """Raise TimeUp where the current time limit is over: the first time that this is seen, and at its very last."""
    deadline = _current.get()
    if deadline is None or (deadline.up and time.perf_counter() < deadline.last):
        return
    deadline.look()


def watched(parts: Iterable[Part]) -> Iterator[Part]:
    """The parts, one after the other; the clock is looked at between two of them."""
    for k, part in enumerate(parts):
        if k:
            look()
        yield part


def limited(seconds: float, late: str) -> AbstractContextManager[Deadline]:
    """A time limit for the block. An earlier end of a limit around it holds too.

    Raises OutOfTime where the end leaves the block; late: its sentence.
    """
    around = _current.get()
    return _within(Deadline(seconds, math.inf if around is None else around.until), late)


def finishing(ended: Deadline, late: str) -> AbstractContextManager[Deadline]:
    """The time that is left after a time limit, for the block: see `limited`."""
    return _within(Deadline(math.inf, ended.last), late)


@contextmanager
def _within(deadline: Deadline, late: str) -> Iterator[Deadline]:
    token = _current.set(deadline)
    try:
        yield deadline
    except TimeUp:
        if not deadline.up:
            raise
        raise OutOfTime(f"{late}: raise time_limit, or give fewer points") from None
    finally:
        _current.reset(token)
