"""What is told of what is under way: a line that is overwritten, or few lines of a log."""

from __future__ import annotations

import io

import numpy as np

import cvxml
from cvxml.core.progress import Progress
from tests.cli.commands import X, Y


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class OutStream(io.StringIO):
    """As a notebook's kernel has it: no terminal."""

    __module__ = "ipykernel.iostream"


def told(stream: io.StringIO, at: list[float]) -> str:
    """What is written of steps at these seconds."""
    times = iter([0.0, *at])
    with Progress(stream, lambda: next(times)) as tell:
        for second in at:
            tell(f"{second:g}")
    return stream.getvalue()


def test_a_log_gets_few_lines() -> None:
    assert told(io.StringIO(), [1, 9, 10, 11, 19, 25, 39, 41, 500, 600, 700]) == ("10\n25\n41\n500\n700\n")
    assert told(io.StringIO(), [1, 2, 3]) == ""


def test_a_terminal_and_a_notebook_get_one_line() -> None:
    for stream in (Terminal(), OutStream()):
        assert told(stream, [1, 2]) == "\r1\r2\n"


def test_the_line_can_be_erased() -> None:
    stream = Terminal()
    with Progress(stream) as tell:
        tell("longer")
        tell("short")
        tell.erase()
        tell.erase()  # there is nothing more
    assert stream.getvalue() == "\rlonger\rshort \r     \r"
    with Progress(stream := Terminal()):
        pass
    assert stream.getvalue() == ""


def test_it_is_a_callback() -> None:
    with Progress(stream := Terminal()) as tell:
        solution = cvxml.solve("mlsvm", X, Y, callback=tell)
    assert stream.getvalue().count("\riteration") == len(solution.history)
    with Progress(stream := Terminal()) as tell:
        cvxml.check("mlsvm", X, Y, np.eye(3), callback=tell, diagnosed=False)
    assert "\riteration" in stream.getvalue()
