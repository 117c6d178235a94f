"""The state of a long computation, such as "proving", which the line of progress shows (core/progress.py)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token

# the names of the states
BUILDING = "building the problem"
SEARCHING = "searching"
FACTORISING = "factorising"
PROVING = "proving"
DIAGNOSING = "looking for mistakes"


class Work:
    """The state of the work that a line of progress follows; "" if it has no name."""

    def __init__(self) -> None:
        self.state = ""


_followed: ContextVar[Work | None] = ContextVar("work", default=None)


def follow(work: Work) -> Token[Work | None]:
    """Let `doing` tell its states to `work`, until `unfollow` is called with the result."""
    return _followed.set(work)


def unfollow(token: Token[Work | None]) -> None:
    _followed.reset(token)


@contextmanager
def doing(state: str) -> Iterator[None]:
    """Name the state of the work in the block. Without a line of progress, it does not act."""
    work = _followed.get()
    if work is None:
        yield
        return
    before, work.state = work.state, state
    try:
        yield
    finally:
        work.state = before
