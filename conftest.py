"""What every test has, those in tests/ and those beside the scripts of validation/."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from hypothesis import settings

from cvxml.core.threads import one_blas_thread

os.environ["MPLBACKEND"] = "Agg"  # pictures in memory, no windows
# The same examples every time; --hypothesis-profile=search looks for others.
settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with the mark quick(n) only n of its parameters stay quick, spread evenly: the others are slow."""
    parametrized: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("quick"):
            parametrized[item.nodeid.split("[")[0]].append(item)
    for each in parametrized.values():
        (n,) = each[0].get_closest_marker("quick").args
        for k in set(range(len(each))) - {k * len(each) // n for k in range(n)}:
            each[k].add_marker("slow")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """The tests run side by side: more BLAS threads than cores only wait for each other.

    Where OPENBLAS_NUM_THREADS is set it says how many: what must hold with several is tried with several.
    """
    with nullcontext() if "OPENBLAS_NUM_THREADS" in os.environ else one_blas_thread():
        yield


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No picture outlives its test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
