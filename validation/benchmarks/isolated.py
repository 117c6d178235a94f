"""A part in a process of its own, with one BLAS thread: no other part's memory, caches or threads."""

from __future__ import annotations

import multiprocessing
import os
import platform
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import date
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any, TypeVar

from validation.experiments.tasks import Result, Task

T = TypeVar("T")
PACKAGES = ("cvxml", "numpy", "scipy", "scikit-learn", "cvxpy", "scs", "clarabel")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def of(name: str) -> ModuleType:
    """The module of a benchmark."""
    return import_module(f"validation.benchmarks.{name}")


def alone(name: str, task: Task) -> Result:
    """`measure(task)` of a benchmark in a new process.

    With seconds "wall" and "cpu", "peak", GiB of memory, "date" and "versions".
    """
    return apart(part, name, task)


def apart(call: Callable[..., T], *arguments: Any) -> T:
    """What a call returns, made in a new process."""
    context = multiprocessing.get_context("spawn")
    with one_thread(), ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(call, *arguments).result()


def part(name: str, task: Task) -> Result:
    """The same, here."""
    module, wall, cpu = of(name), time.perf_counter(), processor()
    result: Result = module.measure(task)
    took = {"wall": time.perf_counter() - wall, "cpu": processor() - cpu}
    made = {"date": date.today().isoformat(), "versions": versions()}
    return {**result, **took, **made, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def versions() -> dict[str, str]:
    """Of what is measured, and of what it is measured with."""
    return {"python": platform.python_version()} | {name: version(name) for name in PACKAGES}


def processor() -> float:
    """Seconds of processor time of this process and those it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


@contextmanager
def one_thread() -> Iterator[None]:
    """Processes that start meanwhile have one BLAS thread."""
    kept = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in kept.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
