"""How many threads BLAS may use, and work on parts of large tables that numpy does side by side."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cache
from itertools import islice
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Several BLAS threads gain little on small matrices, and stall when the machine is shared."""
    limits: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limits


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes milliseconds: once is enough


def cores() -> int:
    """Those that this process may use; fewer where OMP_NUM_THREADS says so, as it does within joblib's processes."""
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(_cores(), int(asked)) if asked.isdecimal() and int(asked) > 0 else _cores()


@cache
def _cores() -> int:
    return int(joblib.cpu_count())


def side_by_side(work: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """What `work` makes of each part, in their order, so that sums of it are the same on every machine.

    On a thread for each of the `cores`, with two parts for each under way at most. One part needs no thread.
    """
    rest = iter(parts)
    first = list(islice(rest, 2))
    if len(first) < 2 or cores() == 1:
        yield from map(work, first)
        yield from map(work, rest)
        return
    with ThreadPoolExecutor(cores()) as pool:

        def begin(part: Part) -> Future[Result]:
            # how numpy treats overflows is a matter of the context
            return pool.submit(copy_context().run, work, part)

        under_way = deque(map(begin, first))
        under_way.extend(map(begin, islice(rest, 2 * cores() - len(first))))
        try:
            while under_way:
                yield under_way.popleft().result()
                under_way.extend(map(begin, islice(rest, 1)))
        finally:  # the user's interrupt, or an error
            for future in under_way:
                future.cancel()
