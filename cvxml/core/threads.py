"""How many threads BLAS may use."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> AbstractContextManager[Any]:
    """Several BLAS threads gain little on small matrices, and stall when the machine is shared."""
    limits: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limits


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # finding the libraries takes milliseconds: once is enough
