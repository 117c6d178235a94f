"""What every test has, those in tests/ and those beside the scripts of validation/."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

from cvxml.core.threads import one_blas_thread

os.environ["MPLBACKEND"] = "Agg"  # pictures in memory, no windows
# The same examples every time; --hypothesis-profile=search looks for others.
settings.register_profile("same", derandomize=True)
settings.register_profile("search", derandomize=False)
settings.load_profile("same")


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """The tests run side by side: more BLAS threads than cores only wait for each other."""
    with one_blas_thread():
        yield


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No picture outlives its test."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
