"""Percentiles of more numbers than fit into memory."""

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

    rows: returns arrays of them, the same ones at each call. total: how many numbers there are in all arrays.
    """

    rows: Callable[[], Iterator[FloatArray]]
    total: int


def percentiles(numbers: Numbers, at: Sequence[float], most: int = 2**23) -> list[float]:
    """Return the percentiles `at`, as np.percentile does.

    Up to `most` numbers are held in memory. If there are more, they are read twice, and few of them are held.
    """
    rows, total = numbers
    if total <= most:
        return [float(value) for value in np.percentile(np.concatenate(list(rows())), at)]
    positions = [p / 100 * (total - 1) for p in at]  # between two ranks, counted from 0
    ends = [(int(position), min(int(position) + 1, total - 1)) for position in positions]
    found = _of_ranks(rows, sorted({rank for both in ends for rank in both}))
    return [
        float(np.quantile([found[below], found[above]], position - below))
        for position, (below, above) in zip(positions, ends, strict=True)
    ]


def _of_ranks(rows: Callable[[], Iterator[FloatArray]], ranks: Sequence[int]) -> dict[int, float]:
    """For each rank, counted from 0, the number that has this rank.

    Floats >= 0 have the order of their bits, read as integers. So the counts of the numbers by their first bits tell
    with which bits the number of a rank begins. Only numbers with such a beginning are then collected, equal ones once.
    """
    counts = np.zeros(2 ** (63 - SHIFT), dtype=np.int64)
    for block in watched(_blocks(rows())):
        counts += np.bincount(_first_bits(block), minlength=len(counts))
    up_to = np.cumsum(counts)
    beginnings = np.searchsorted(up_to, ranks, side="right")
    chosen = np.unique(beginnings)
    parts = [_collected(block, chosen) for block in watched(_blocks(rows()))]
    values = np.concatenate([part[0] for part in parts])
    order = np.argsort(values)
    collected = np.cumsum(np.concatenate([part[1] for part in parts])[order])
    found = {}
    for rank, beginning in zip(ranks, beginnings, strict=True):
        smaller = up_to[beginning] - counts[chosen[chosen <= beginning]].sum()  # and not collected
        found[rank] = float(values[order][np.searchsorted(collected, rank - smaller, side="right")])
    return found


def _collected(block: FloatArray, chosen: IntArray) -> tuple[FloatArray, IntArray]:
    """The different numbers of the block that begin with one of the chosen bits, and how often each occurs."""
    first = _first_bits(block)
    among = first == chosen[0]
    for bits in chosen[1:]:  # np.isin takes several times as long
        among |= first == bits
    return np.unique(block[among], return_counts=True)


def _first_bits(block: FloatArray) -> IntArray:
    bits: IntArray = block.view(np.int64) >> SHIFT
    return bits


def _blocks(rows: Iterator[FloatArray]) -> Iterator[FloatArray]:
    """The same numbers in larger arrays."""
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
