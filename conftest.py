"""What every test has, those in tests/ and those beside the scripts of validation/."""

from __future__ import annotations

import os

# The tests run side by side, each with one thread, and so do the programs that they start. Libraries read this when
# they are loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc
import json
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext
from inspect import ismethod
from zlib import crc32

import pytest
from hypothesis import settings

import cvxml.oracle.check  # loaded within a test it would keep the constants that the test changed
from cvxml.core.threads import one_blas_thread
from cvxml.methods import METHODS

# The names that a test finds must not depend on the speed of the machine.
cvxml.oracle.judge.SECONDS = math.inf
os.environ["MPLBACKEND"] = "Agg"  # pictures in memory, no windows
# The same examples every time; --hypothesis-profile=search looks for others.
settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options for a landing; `.ci/landing.py` says what they are for."""
    group = parser.getgroup("cvxml")
    group.addoption("--part", metavar="K/N", help="run the K-th of N parts of the slow tests")
    group.addoption(
        "--touched",
        metavar="SHARE:PLACE,...",
        action="append",
        default=[],
        help="with --part: run this share (0 to 1) of the slow tests of these places besides",
    )
    group.addoption(
        "--durations-file", metavar="FILE", help="append [test, seconds, failed] of each test, a line each"
    )


def pytest_configure(config: pytest.Config) -> None:
    """With --durations-file, and not in the workers of xdist, write the durations."""
    path = config.getoption("--durations-file")
    if path and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(path))


class Durations:
    """Appends the seconds of each test, setup and teardown included, and whether it failed, to a file."""

    def __init__(self, path: str):
        self.path = path
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Sum the phases of a test, and write the line of the test after the last."""
        test = report.nodeid
        self.seconds[test] += report.duration
        if report.failed:
            self.failed.add(test)
        if report.when == "teardown":
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps([test, self.seconds.pop(test), test in self.failed]) + "\n")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow what `quick(n)` leaves out; with --part, deselect the slow tests of the other parts."""
    mark_slow(items)
    part = config.getoption("--part")
    if part:
        touched = config.getoption("--touched")
        chosen = [in_part(item, part, touched) for item in items]
        config.hook.pytest_deselected(
            items=[item for item, kept in zip(items, chosen, strict=True) if not kept]
        )
        items[:] = [item for item, kept in zip(items, chosen, strict=True) if kept]


def pytest_collection_finish() -> None:
    """Keep the collected tests out of the garbage collector, which would look through all of them again and again."""
    gc.collect()
    gc.freeze()


def mark_slow(items: list[pytest.Item]) -> None:
    """Of a test with the mark quick(n) only n of its parameters stay quick, spread evenly: the others are slow.

    A test with the mark `full` is slow too.
    """
    parametrized: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker("slow")
        if item.get_closest_marker("quick"):
            parametrized[item.nodeid.split("[")[0]].append(item)
    for each in parametrized.values():
        (n,) = each[0].get_closest_marker("quick").args
        for k in set(range(len(each))) - spread(n, len(each)):
            each[k].add_marker("slow")


def spread(n: int, count: int) -> set[int]:
    """Return n of the places 0..count - 1, from the first to the last; all if n is larger."""
    return {round(k * (count - 1) / max(1, n - 1)) for k in range(n)} if n < count else set(range(count))


def in_part(item: pytest.Item, part: str, touched: list[str]) -> bool:
    """True for a quick test, for one of this part, and for the share of the tests of places that changed."""
    if not item.get_closest_marker("slow"):
        return True
    number = crc32(item.nodeid.encode())
    k, n = map(int, part.split("/"))
    if number % n == k:
        return True
    drawn = (number // n + k * 7919) % 1000  # another draw at each turn
    for one in touched:
        share, places = one.split(":", 1)
        if places and item.nodeid.startswith(tuple(places.split(","))) and drawn < 1000 * float(share):
            return True
    return False


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """The tests run side by side: more BLAS threads than cores only wait for each other.

    Where OPENBLAS_NUM_THREADS is set it says how many: what must hold with several is tried with several.
    """
    with nullcontext() if "OPENBLAS_NUM_THREADS" in os.environ else one_blas_thread():
        yield


@pytest.fixture(autouse=True)
def methods_as_written() -> Iterator[None]:
    """No change of a method outlives its test.

    `monkeypatch` of pytest 8 leaves the old function on the object of the method. Then a later test that changes the
    class changes nothing.
    """
    yield
    forget_changes()


def forget_changes() -> None:
    """Delete what `monkeypatch` left on the objects of the methods."""
    for place in METHODS.values():
        module, name = place.split(":")
        if module not in sys.modules:
            continue
        method = getattr(sys.modules[module], name)
        for attribute, value in list(vars(method).items()):
            if ismethod(value) and value.__self__ is method:
                delattr(method, attribute)


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No picture outlives its test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
