"""Percentiles of more numbers than fit into memory, for example of the distances of all pairs of many points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray

SHIFT = 42  # leaves the first 21 bits of a float >= 0 after its sign: the exponent, and 10 binary digits
BLOCK = 2**22  # numbers that are counted together


class Numbers(NamedTuple):
    """Floats >= 0 that are computed again whenever they are read.

    rows: a function that returns arrays of the numbers, the same ones at each call.

    total: how many numbers all arrays have; `percentiles` holds them in memory only if `total` is small enough.
    """

    rows: Callable[[], Iterator[FloatArray]]
    total: int


def percentiles(numbers: Numbers, at: Sequence[float], most: int = 2**23) -> list[float]:
    """Return the percentiles `at` (0 to 100) of the numbers, as np.percentile does.

    Up to `most` numbers are held in memory. If there are more, they are read twice. In the second pass, only the
    distinct numbers that differ from a percentile by up to about a thousandth of it are held in memory.
    """
    rows, total = numbers
    if total <= most:
        return [float(value) for value in np.percentile(np.concatenate(list(rows())), at)]
    return _counted(rows, at)


def _counted(rows: Callable[[], Iterator[FloatArray]], at: Sequence[float]) -> list[float]:
    """Return the percentiles `at` without a list of all numbers.

    rows: a function that returns arrays of the numbers, the same ones at each call. Floats >= 0 have the same order as
    their bits, read as integers. In a first pass, all numbers are counted by their first bits. The counts give the
    first bits of the number at each wanted rank. In a second pass, only the numbers with these first bits are
    collected, equal ones once.
    """
    counts = np.zeros(2 ** (63 - SHIFT), dtype=np.int64)
    for block in watched(_blocks(rows())):
        counts += np.bincount(_first_bits(block), minlength=len(counts))
    up_to = np.cumsum(counts)
    last = int(up_to[-1]) - 1  # ranks are counted from 0
    positions = [p / 100 * last for p in at]
    ranks = np.array([(int(position), min(int(position) + 1, last)) for position in positions])
    beginnings = np.searchsorted(up_to, ranks, side="right")
    chosen = np.unique(beginnings)
    parts = [_collected(block, chosen) for block in watched(_blocks(rows()))]
    values = np.concatenate([part[0] for part in parts])
    order = np.argsort(values)
    values, collected = values[order], np.cumsum(np.concatenate([part[1] for part in parts])[order])
    chosen_up_to = np.cumsum(counts[chosen])[np.searchsorted(chosen, beginnings)]
    not_collected = up_to[beginnings] - chosen_up_to  # of the smaller numbers
    ends = values[np.searchsorted(collected, ranks - not_collected, side="right")]
    return [
        float(np.quantile(both, position - int(position)))
        for both, position in zip(ends, positions, strict=True)
    ]


def _collected(block: FloatArray, chosen: IntArray) -> tuple[FloatArray, IntArray]:
    """The distinct numbers of the block whose first bits (`_first_bits`) are among `chosen`, and their counts."""
    first = _first_bits(block)
    among = first == chosen[0]
    for bits in chosen[1:]:  # np.isin takes several times as long
        among |= first == bits
    return np.unique(block[among], return_counts=True)


def _first_bits(block: FloatArray) -> IntArray:
    """The 64 bits of each float >= 0, read as an integer and shifted right by `SHIFT`. The order is kept."""
    bits: IntArray = block.view(np.int64) >> SHIFT
    return bits


def _blocks(rows: Iterator[FloatArray]) -> Iterator[FloatArray]:
    """Yield the numbers of `rows` in arrays of at least `BLOCK` numbers; the last array may be shorter."""
    collected: list[FloatArray] = []
    size = 0
    for row in rows:
        collected.append(row)
        size += len(row)
        if size >= BLOCK:
            yield np.concatenate(collected)
            collected, size = [], 0
    if collected:
        yield np.concatenate(collected)
