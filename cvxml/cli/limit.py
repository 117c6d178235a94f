"""An end after so many seconds to whatever is under way: for work that has no steps at which it looks at the time."""

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
    """Raise TimeUp in the block once `seconds` are over, at the next line of Python; never where it is None.

    It comes as Ctrl-C does, in the main thread, and also where that is ignored, as in the background of a script.
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

    timer = threading.Timer(check_positive(seconds, "--time-limit"), end)
    signal.signal(signal.SIGINT, interrupted)
    timer.start()
    try:
        yield
    except KeyboardInterrupt:  # of which a solver may have made another one
        if up.is_set():
            raise TimeUp from None
        raise
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
