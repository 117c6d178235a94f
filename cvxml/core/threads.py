"""Threads: limit BLAS to one thread, and work on parts of large tables in parallel."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from cvxml.core.clock import look, watched

Part = TypeVar("Part")
Result = TypeVar("Result")


class _OneBlasThread:
    """The BLAS limit of the process, shared by all `with one_blas_thread()` blocks.

    The limit is set when a block begins and no other is open. It is removed when the last open block ends.
    """

    def __init__(self) -> None:
        self.lock, self.blocks = Lock(), 0
        self.limit: Any = None  # the limit of threadpoolctl, which remembers the original numbers of threads

    def begin(self) -> None:
        with self.lock:
            if self.blocks == 0:
                self.limit = _thread_pools().limit(limits=1, user_api="blas")
            self.blocks += 1

    def end(self) -> None:
        with self.lock:
            self.blocks -= 1
            if self.blocks == 0:
                self.limit.restore_original_limits()
                self.limit = None


_ONE = _OneBlasThread()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in the `with` block.

    More threads help little on small matrices, and stall on a shared machine. The number of BLAS threads holds for the
    whole process. Blocks may be nested, and may overlap in several threads.
    """
    _ONE.begin()
    try:
        yield
    finally:
        _ONE.end()


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes milliseconds, so it is done once


def cores() -> int:
    """Return the number of cores that this process may use.

    It is at most OMP_NUM_THREADS, which joblib sets in its processes.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(_cores(), int(asked)) if asked.isdecimal() and int(asked) > 0 else _cores()


@cache
def _cores() -> int:
    import joblib  # takes a tenth of a second to load

    return int(joblib.cpu_count())


def side_by_side(work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """Yield work(part) for each part, in the order of `parts`; the parts run in parallel.

    Because of this order, a sum of the results has the same rounding with any number of threads. There is one thread
    for each of the `cores`, with at most two parts per core in progress or waiting. With one core, or for a single
    part, no thread is started. The clock is checked between two parts (core/clock.py).
    """
    rest = iter(parts)
    first = list(islice(rest, 2))
    if len(first) < 2 or cores() == 1:
        yield from map(work, watched(chain(first, rest)))
        return
    with ThreadPoolExecutor(cores()) as pool:

        def begin(part: Part) -> Future[Result]:
            # the context holds numpy's handling of overflows
            return pool.submit(copy_context().run, work, part)

        under_way = deque(map(begin, first))
        under_way.extend(map(begin, islice(rest, 2 * cores() - len(first))))
        try:
            while under_way:
                yield under_way.popleft().result()
                if under_way:
                    look()
                under_way.extend(map(begin, islice(rest, 1)))
        finally:  # after an interrupt or an error
            for future in under_way:
                future.cancel()
