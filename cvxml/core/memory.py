"""Checks that large arrays fit into memory, made before the arrays, so that no work is lost.

Sizes are in bytes. The literal problem is the problem as the paper states it, given to cvxpy.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FLOAT = 8  # bytes of a float or an index
# bytes for each entry of the d x d coefficients of one constraint: cvxpy copies them several times; a lower estimate
COPIED = 8 * FLOAT
MANY_ROWS = 10_000  # a literal problem with as many constraints is announced by a warning
SECONDS_PER_ROW = 1e-3  # a lower estimate for cvxpy and a back end; measured were 1 to 6 ms
INTEGER = 48  # bytes of a Python integer in a list
BALL = 48  # bytes of one entry of a ball matrix (core/balls.py)
# Measured bytes for each entry of points (n, d) in exact arithmetic, and for each of a matrix (d, d) with its inverse
EXACT_POINT, EXACT_SUM = 250, 3000
METRICS = 4  # the least number of matrices of the size of the metric that a solve holds at the same time
COPIES_OF_BITS = 6  # copies of the extra bits of an exact entry that exist at the same time
SMALL_REQUEST = 2**24  # bytes; smaller requests are not checked
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class TooLarge(ValueError):
    """The data do not fit into memory."""


class LargeLiteralProblem(UserWarning):
    """A literal problem has so many constraints that cvxpy takes long."""


def check_room(needed: int, what: str, instead: str = "give fewer points") -> None:
    """Raise TooLarge if `needed` bytes are more than `available` returns; do nothing if it returns None.

    what: the words for the array in the message. instead: the remedy in the message.
    """
    there = available()
    if there is not None and needed > there:
        raise TooLarge(
            f"{what} would take {said(needed)} of memory at least, and {said(there)} are free: {instead}"
        )


def check_exact(n: int, d: int, matrices: bool = True, more_bits: int = 0) -> None:
    """Check the memory for exact arithmetic on points (n, d). Raises TooLarge.

    matrices: True if a matrix (d, d) and its inverse are needed too.
    more_bits: bits of an entry of the points beyond those of a float.

    The check is needed because FLINT, the library of exact arithmetic, ends the process when memory runs out.
    """
    of_points = n * d * (EXACT_POINT + COPIES_OF_BITS * more_bits // 8)
    needed = of_points + matrices * d**2 * EXACT_SUM
    if needed > SMALL_REQUEST:
        check_room(
            needed,
            f"exact arithmetic on {n} points in {d} features",
            "give fewer features (the first principal components, say), or fewer points",
        )


def check_metric(d: int) -> None:
    """Check the memory for a metric (d, d), which every solve makes. Raises TooLarge."""
    needed = METRICS * FLOAT * d**2
    if needed > SMALL_REQUEST:
        check_room(
            needed,
            f"a metric of {d} x {d}",
            "give fewer features (the first principal components, say)",
        )


@contextmanager
def enough_memory() -> Iterator[None]:
    """Return a context that replaces a MemoryError of its `with` block by TooLarge.

    The message has the size of the array if numpy reports it.
    """
    try:
        yield
    except MemoryError as error:
        shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
        array = "an array"
        if shape is not None and dtype is not None:
            array = f"an array {shape} of {said(math.prod(shape) * dtype.itemsize)}"
        there = available()
        free = "" if there is None else f", and {said(there)} are free"
        raise TooLarge(f"{array} does not fit into the memory{free}: give fewer points or features") from None


def check_literal(rows: int, d: int, stacklevel: int = 5) -> None:
    """Check the memory for the literal problem in cvxpy: `rows` constraints on a metric (d, d).

    stacklevel: that of `warnings.warn`, so that the warning names the line of the user's call.

    Raises TooLarge. Warns (LargeLiteralProblem) with an estimate if the problem fits into memory but takes long.
    """
    needed = rows * d**2 * COPIED
    instead = 'take solver="fast", or give fewer points or features'
    check_room(needed, f"the literal problem, of {rows} rows on a metric of {d} x {d},", instead)
    if rows >= MANY_ROWS:
        seconds = rows * SECONDS_PER_ROW
        warnings.warn(
            f"the literal problem has {rows} constraints on a metric of {d} x {d}. To solve it, cvxpy takes about "
            f"{in_words(seconds)} and {said(needed)}, often many times more. To stop: Ctrl-C; then take cvxml.solve "
            'with solver="fast", or give fewer points or features',
            LargeLiteralProblem,
            stacklevel=stacklevel,
        )


def in_words(seconds: float) -> str:
    """Return a duration in a rounded unit, for example "10 s", "25 min" or "3 h"."""
    for size, unit, most in ((1, "s", 120), (60, "min", 120)):
        if seconds < size * most:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 3600:.0f} h"


def available() -> int | None:
    """Return the number of bytes that this process may still take, or None if the system reports no number.

    It is the free memory of the machine, or the rest of the limit of the process if that is less. A system without
    /proc/meminfo reports the total memory only, which then counts in place of the free memory.
    """
    known = [size for size in (_of_machine(), _of_process()) if size is not None]
    return min(known) if known else None


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:  # other systems report the total memory, which is too much by the part that others use
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _of_process() -> int | None:
    """Return the bytes left under the limit of the address space (ulimit -v); None without a limit, or if unknown."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        return max(0, limit - int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize())
    except (ImportError, OSError, ValueError):
        return None


def said(size: int) -> str:
    """Return a number of bytes in words, for example "1.5 GB"."""
    for unit, name in UNITS:
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
