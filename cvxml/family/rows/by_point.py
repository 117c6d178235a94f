"""Rows in groups: the group of a point i has one row for each point k, and v is the squared distance D_ik.

base.py explains rows, their keys, and dual variables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.rows.base import BLOCK, Block, Duals, Entries, Weights, WideView


class ByPoint(NamedTuple):
    """v_k = D_ik for some points i and all n points k, including i.

    points (g,): the points i, one group for each. The key of a row is n times the number of its group, plus k.
    """

    points: IntArray  # (g,)
    n: int

    def table(self, duals: Duals) -> FloatArray:
        """The dual variables of all rows as a table (g, n); 0 for rows that `duals` does not list."""
        a = np.zeros(len(self.points) * self.n, dtype=duals.a.dtype)
        a[duals.key] = duals.a
        return a.reshape(len(self.points), self.n)

    def duals(self, table: FloatArray) -> Duals:
        """The dual variables of all rows, from a table (g, n)."""
        return Duals(table.ravel(), np.arange(table.size))

    def blocks(self, view: WideView, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """All rows, some points at a time.

        view: the points under a metric. duals: the dual variables that the blocks contain. kept: not used.
        """
        a, step = self.table(duals), max(1, BLOCK // self.n)
        for first in watched(range(0, len(self.points), step)):
            groups = slice(first, first + step)
            D, error = view.from_points(self.points[groups])
            yield Block(D, error, a[groups], groups)

    def weights(self, duals: Duals) -> Weights:
        """The matrix sum a_ik (x_i - x_k)(x_i - x_k)^T as weights on pairs: a_ik + a_ki on the pair i < k."""
        both = np.zeros((self.n, self.n), dtype=duals.a.dtype)
        both[self.points] = self.table(duals)
        both = both + both.T
        pairs = np.argwhere(np.triu(both != 0, 1))
        return Weights(pairs, both[pairs[:, 0], pairs[:, 1]])

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """The dual variables of all rows, with -inf for a pair of points with different labels (n,).

        LogSumExp.to_domain turns -inf into 0.
        """
        inside = labels[self.points][:, None] == labels
        return self.duals(np.where(inside, self.table(duals), -np.inf))

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int]:
        return (d for i in self.points.tolist() for d in D[i])

    def entries(self, key: IntArray) -> Entries:
        group, k = np.divmod(key, self.n)
        return Entries(np.arange(len(key)), np.stack([self.points[group], k], axis=1), np.ones(len(key)))
