"""Ctrl-C during a solve: the first one ends the solver, which keeps its best metric; a second one ends everything.

An algorithm catches the KeyboardInterrupt of the first Ctrl-C. If no caller can use its metric, as in the `fit` of an
estimator, the solve raises KeyboardInterrupt again (`nothing_kept`).
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_keeps: ContextVar[bool] = ContextVar("keeps", default=True)


class _Second(BaseException):
    """The second Ctrl-C. It does not inherit from KeyboardInterrupt, because algorithms catch KeyboardInterrupt."""


def keeps() -> bool:
    """Return True if a solve returns its best metric after Ctrl-C, and False if it raises KeyboardInterrupt.

    False in the context `nothing_kept`.
    """
    return _keeps.get()


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Return a context in which `keeps` is False: Ctrl-C ends a solve with KeyboardInterrupt."""
    token = _keeps.set(False)
    try:
        yield
    finally:
        _keeps.reset(token)


@contextmanager
def second_raises() -> Iterator[None]:
    """Return a context in which a second Ctrl-C raises KeyboardInterrupt, although algorithms catch the first one.

    The context has an effect only in the main thread, and only if Ctrl-C still has Python's default handler.
    """
    own = signal.default_int_handler
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not own
    ):
        yield
        return
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            raise _Second
        pressed = True
        raise KeyboardInterrupt

    try:
        try:
            signal.signal(signal.SIGINT, press)
            yield
        finally:  # a Ctrl-C just before the first call is raised by it, and the handler would stay
            try:
                signal.signal(signal.SIGINT, own)
            finally:
                signal.signal(signal.SIGINT, own)
    except _Second:
        raise KeyboardInterrupt from None
