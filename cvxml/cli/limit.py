"""A time limit for work that does not check the clock between its steps."""

from __future__ import annotations

import signal
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from cvxml.core.clock import TimeUp
from cvxml.core.inputs import check_positive


@contextmanager
def limited(seconds: float | None) -> Iterator[None]:
    """Return a context that raises TimeUp in its `with` block after `seconds`, at the next line of Python.

    seconds: None for no limit; ValueError if it is not above 0. TimeUp (core/clock.py) is raised in the main thread, as
    KeyboardInterrupt is after Ctrl-C. This also works where Ctrl-C is ignored, for example in
    the background of a script.
    """
    if seconds is None:
        yield
        return
    up, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def end() -> None:
        up.set()
        interrupt_main()

    def interrupted(number: int, frame: FrameType | None) -> None:
        if up.is_set():
            raise TimeUp
        if callable(before):
            before(number, frame)

    # a longer wait is an OverflowError in the thread of the timer
    timer = threading.Timer(min(check_positive(seconds, "--time-limit"), threading.TIMEOUT_MAX), end)
    try:  # the timer may end at any line below
        signal.signal(signal.SIGINT, interrupted)
        timer.start()
        yield
    except KeyboardInterrupt:  # a solver may have replaced TimeUp by another KeyboardInterrupt
        if up.is_set():
            raise TimeUp from None
        raise
    finally:
        # If the interrupt is pending, `signal.signal` raises it and keeps the handler. There is only one interrupt, so
        # the second call succeeds.
        try:
            timer.cancel()
            if timer.is_alive():  # it may be in `end` already
                timer.join()
            signal.signal(signal.SIGINT, before)
        finally:
            signal.signal(signal.SIGINT, before)
