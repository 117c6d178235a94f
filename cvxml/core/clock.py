"""The time limit of a solve: long work checks the clock between its blocks, and ends once the limit is over.

`limited` begins a time limit, and `look` checks it. Long work calls `look` after each block of about a second or
less; `side_by_side` (core/threads.py) and `watched` call it themselves. Without a time limit, `look` does not act.
When the limit is over, `look` raises TimeUp. An algorithm that has a metric then returns its best one, as after
Ctrl-C. `look` raises TimeUp only once, so that the algorithm can finish its metric and the certificate can be
computed. This work gets as much time as the limit, and at least 10 s. After that, `look` raises TimeUp again.

`processor_time_until` limits the processor time of the solves in a `with` block. It is for optional work that is ended
when it takes long. It uses processor time, so that the same work is ended on a busy machine as on an idle one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

GRACE = 10.0  # least number of seconds to finish the metric and its certificate after the time limit


class TimeUp(KeyboardInterrupt):
    """The time limit is over: an algorithm ends as if the user had pressed Ctrl-C."""


class OutOfTime(TimeoutError):
    """The time limit was over before a metric and its certificate were computed."""


class Deadline:
    """A time limit that ends `seconds` from now, or at the time `before` if that is earlier.

    Times are values of `time.perf_counter()`.

    until: the time when the limit is over.
    up: True once `look` has raised TimeUp.
    last: the time when the metric and its certificate must be finished.
    """

    def __init__(self, seconds: float, before: float = math.inf):
        self.until = min(time.perf_counter() + seconds, before)
        self.last = self.until + max(seconds, GRACE)
        self.up = False

    def look(self) -> None:
        """Raise TimeUp if this time limit is over, or the processor-time limit set by `processor_time_until`."""
        end = _processor_end.get()
        # the processor's clock is slow to read
        if time.perf_counter() >= self.until or (end < math.inf and time.process_time() >= end):
            self.up = True
            raise TimeUp


Part = TypeVar("Part")
_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)
_processor_end: ContextVar[float] = ContextVar("processor_end", default=math.inf)


def look() -> None:
    """Raise TimeUp if the current time limit is over.

    After it has raised TimeUp once, it does not raise again before `Deadline.last`.
    """
    deadline = _current.get()
    if deadline is None or (deadline.up and time.perf_counter() < deadline.last):
        return
    deadline.look()


def watched(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts one after the other, and check the clock between two parts."""
    for k, part in enumerate(parts):
        if k:
            look()
        yield part


def limited(seconds: float, late: str) -> AbstractContextManager[Deadline]:
    """Return a context with a time limit of `seconds`. If an outer time limit ends earlier, this one ends with it.

    In the `with` block, `look` raises TimeUp when the limit is over. If the block does not catch it, the context raises
    OutOfTime. late: the beginning of its message.
    """
    around = _current.get()
    return _within(Deadline(seconds, math.inf if around is None else around.until), late)


@contextmanager
def finishing(ended: Deadline, late: str) -> Iterator[Deadline]:
    """Return a context for the work after a search with the time limit `ended`: metric and certificate are finished.

    The work must end at the time `ended.last`. If it takes longer, the context raises OutOfTime. late: the beginning of
    its message. A limit of the processor time does not hold for this work.
    """
    token = _processor_end.set(math.inf)
    try:
        with _within(Deadline(math.inf, ended.last), late) as deadline:
            yield deadline
    finally:
        _processor_end.reset(token)


@contextmanager
def processor_time_until(end: float) -> Iterator[None]:
    """Return a context in which every solve ends when `time.process_time()` reaches `end`, if not earlier.

    A solve then returns its best metric with the status TIME_LIMIT.
    """
    token = _processor_end.set(min(end, _processor_end.get()))
    try:
        yield
    finally:
        _processor_end.reset(token)


@contextmanager
def _within(deadline: Deadline, late: str) -> Iterator[Deadline]:
    token = _current.set(deadline)
    try:
        yield deadline
    except TimeUp:
        if not deadline.up:
            raise
        raise OutOfTime(f"{late}: raise time_limit, or give fewer points or features") from None
    finally:
        _current.reset(token)
