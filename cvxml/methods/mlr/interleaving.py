"""The worst ranking of a query: the exact separation oracle of five measures, by one dynamic programme.

A ranking y swaps a relevant point i and an irrelevant j where j comes first. Sought is, over all of them, the largest
    loss(y) - 2/(P N) sum of (D_qj - D_qi) over the pairs that y swaps.
Within the relevant points, and within the others, nearest first loses nothing: what is left to choose is how many
irrelevant ones, g_1 <= .. <= g_P, are before each relevant one. As the loss is a sum too (core/ranking.py),
    best_p(g) = max_{h <= g} best_{p-1}(h) - earned(p, g) - 2/(P N) sum_{j <= g} (D_qj - D_qp),
and a running maximum is all that a step takes: P N steps a query.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.queries import Queried
from cvxml.core.ranking import earned, earned_exactly

BLOCK = 2**24  # numbers of a table at a time


class Worst(NamedTuple):
    """Of each query the worst ranking."""

    value: FloatArray  # (Q,) its loss less what it costs; not negative but for rounding
    order: IntArray  # (Q, n - 1) the other points, first to last
    error: FloatArray  # (Q,) by how much another may be worse


class Alike(NamedTuple):
    """Queries with as many relevant points."""

    place: IntArray  # (m,) among all queries
    plus: IntArray  # (m, P) relevant points
    minus: IntArray  # (m, N) the others
    earned: FloatArray  # (P, N + 1)


class Interleavings:
    """All rankings of all queries."""

    def __init__(self, asked: Queried, measure: str, k: int):
        self.asked, self.measure, self.k = asked, measure, k
        self.relevant = asked.relevant[asked.queries]  # (Q, n)
        self.P = self.relevant.sum(axis=1)  # (Q,)
        self.N = len(asked.X) - 1 - self.P
        self.unit: FloatArray = 2 / (self.P * self.N)  # (Q,) what a swap counts

    @cached_property
    def alike(self) -> list[Alike]:
        """All queries, in parts."""
        parts, n = [], len(self.asked.X)
        others = ~self.relevant
        others[np.arange(len(others)), self.asked.queries] = False
        for P in np.unique(self.P).tolist():
            N = n - 1 - P
            places, table = np.flatnonzero(self.P == P), earned(self.measure, self.k, P, N)
            size = max(1, BLOCK // (P * (N + 1)))
            for first in watched(range(0, len(places), size)):
                some = places[first : first + size]
                plus = np.nonzero(self.relevant[some])[1].reshape(len(some), P)
                minus = np.nonzero(others[some])[1].reshape(len(some), N)
                parts.append(Alike(some, plus, minus, table))
        return parts

    def worst(self, D: FloatArray, error: Any = 0.0) -> Worst:
        """At distances D (Q, n) of all points from the queries, each of which may be off."""
        Q, n = D.shape
        found = Worst(np.empty(Q), np.empty((Q, n - 1), dtype=np.intp), np.empty(Q))
        for part in self.alike:
            value, order, size = _worst_of(part, D)
            found.value[part.place], found.order[part.place] = value, order
            found.error[part.place] = 4 * (n + 16) * EPS * (1 + size)
        moved = np.broadcast_to(error, D.shape)
        others = ~self.relevant
        found.error[:] += 4 * (_mean(moved, self.relevant) + _mean(moved, others))
        return found

    def exactly(self, D: Sequence[Sequence[int]], unit: Fraction) -> Iterator[Fraction]:
        """The largest value of each query, at distances D (n, n) times a unit; where that is no fraction, more."""
        tables: dict[int, list[list[Fraction]]] = {}
        for q in self.asked.queries.tolist():
            plus, minus = self.asked.sides(q)
            P, N = len(plus), len(minus)
            if P not in tables:
                tables[P] = earned_exactly(self.measure, self.k, P, N, up=False)
            yield _largest(
                sorted(D[q][i] for i in plus), sorted(D[q][j] for j in minus), tables[P], 2 * unit / (P * N)
            )


def _mean(D: FloatArray, where: Any) -> FloatArray:
    mean: FloatArray = np.sum(D, axis=1, where=where) / where.sum(axis=1)
    return mean


def _worst_of(part: Alike, D: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Value, order, and a size that rounding errors are in proportion to."""
    (m, P), N, rows = part.plus.shape, part.minus.shape[1], np.arange(len(part.place))
    plus, near = _nearest_first(part.plus, D[part.place])
    minus, far = _nearest_first(part.minus, D[part.place])
    before = np.concatenate([np.zeros((m, 1)), np.cumsum(far, axis=1)], axis=1)
    g, unit = np.arange(N + 1), 2 / (P * N)
    best, best_at = np.zeros((m, N + 1)), np.empty((P, m, N + 1), dtype=np.int32)
    for p in range(P):
        most = np.maximum.accumulate(best, axis=1)
        best_at[p] = np.maximum.accumulate(np.where(best == most, g, 0), axis=1)
        best = most - part.earned[p] - unit * (before - g * near[:, p : p + 1])
    at = best.argmax(axis=1)
    value = 1 + best[rows, at]
    order = np.empty((m, P + N), dtype=np.intp)
    swapped = np.empty((m, P), dtype=np.intp)
    for p in range(P - 1, -1, -1):
        swapped[:, p] = at
        at = best_at[p][rows, at]
    is_plus = np.zeros((m, P + N), dtype=bool)
    is_plus[rows[:, None], swapped + np.arange(P)] = True
    order[is_plus], order[~is_plus] = plus.ravel(), minus.ravel()
    return value, order, near.mean(axis=1) + far.mean(axis=1)


def _nearest_first(points: IntArray, D: FloatArray) -> tuple[IntArray, FloatArray]:
    own = np.take_along_axis(D, points, axis=1)
    order = np.argsort(own, axis=1, kind="stable")
    return np.take_along_axis(points, order, axis=1), np.take_along_axis(own, order, axis=1)


def _largest(near: list[int], far: list[int], table: list[list[Fraction]], unit: Fraction) -> Fraction:
    """The same programme for one query, without rounding."""
    before = [0]
    for D in far:
        before.append(before[-1] + D)
    best = [Fraction(1)] * len(before)
    for D, own in zip(near, table, strict=True):
        most, values = best[0], []
        for g, value in enumerate(best):
            most = max(most, value)
            values.append(most - own[g] - unit * (before[g] - g * D))
        best = values
    return max(best)
