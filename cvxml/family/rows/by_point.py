"""Rows of points: v is the squared distance from one point to every point, and these rows are a group."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.rows.base import BLOCK, Block, Entries, Prices, Weights, WideView


class ByPoint(NamedTuple):
    """v_k = D_ik for some points i and all n points k, i itself too; a group a point; key: n group + k."""

    points: IntArray  # (g,)
    n: int

    def table(self, prices: Prices) -> FloatArray:
        """All of them (g, n)."""
        a = np.zeros(len(self.points) * self.n, dtype=prices.a.dtype)
        a[prices.key] = prices.a
        return a.reshape(len(self.points), self.n)

    def prices(self, table: FloatArray) -> Prices:
        """Of all rows, from (g, n)."""
        return Prices(table.ravel(), np.arange(table.size))

    def blocks(self, view: WideView, prices: Prices, kept: float = math.inf) -> Iterator[Block]:
        """Some points at a time."""
        a, step = self.table(prices), max(1, BLOCK // self.n)
        for first in watched(range(0, len(self.points), step)):
            groups = slice(first, first + step)
            D, off = view.from_points(self.points[groups])
            yield Block(D, off, a[groups], groups)

    def weights(self, prices: Prices) -> Weights:
        """a_ik + a_ki of the pairs i < k."""
        both = np.zeros((self.n, self.n), dtype=prices.a.dtype)
        both[self.points] = self.table(prices)
        both = both + both.T
        pairs = np.argwhere(np.triu(both != 0, 1))
        return Weights(pairs, both[pairs[:, 0], pairs[:, 1]])

    def within_span(self, labels: IntArray, prices: Prices) -> Prices:
        """All rows: -inf, which is no price, where the labels are two."""
        inside = labels[self.points][:, None] == labels
        return self.prices(np.where(inside, self.table(prices), -np.inf))

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int]:
        """See `Rows`."""
        return (d for i in self.points.tolist() for d in D[i])

    def entries(self, key: IntArray) -> Entries:
        """See `WithEntries`."""
        group, k = np.divmod(key, self.n)
        return Entries(np.arange(len(key)), np.stack([self.points[group], k], axis=1), np.ones(len(key)))
