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
    """The current state of the work, "" if it has no name. A line of progress reads it."""

    def __init__(self) -> None:
        self.state = ""


_followed: ContextVar[Work | None] = ContextVar("work", default=None)


def follow(work: Work) -> Token[Work | None]:
    """Make `work` the place where `doing` writes the state, until `unfollow` is called with the result."""
    return _followed.set(work)


def unfollow(token: Token[Work | None]) -> None:
    _followed.reset(token)


@contextmanager
def doing(state: str) -> Iterator[None]:
    """Set the state of the work to `state` in the `with` block. Without a line of progress, do nothing."""
    work = _followed.get()
    if work is None:
        yield
        return
    before, work.state = work.state, state
    try:
        yield
    finally:
        work.state = before
