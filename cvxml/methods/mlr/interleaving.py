"""The worst ranking of each query: an exact separation oracle for five measures, by one dynamic programme.

There are n points and Q queries. Query q has P relevant points i and N irrelevant points j. D_qi is the squared
distance of q and i. A ranking y swaps i and j if j comes first. The worst ranking maximizes the value

    loss(y) - 2/(P N) sum of (D_qj - D_qi) over the swapped pairs.

Some worst ranking has its relevant points sorted from near to far, and its irrelevant points too. So only the numbers
g_1 <= .. <= g_P are left to choose, where g_p irrelevant points are before the p-th relevant point. The loss is 1 minus
a sum over p: earned(p, g_p) is the part of the measure that is due to the p-th relevant point (core/ranking.py). So the
best value for the first p relevant points with g_p = g is

    best_p(g) = max_{h <= g} best_{p-1}(h) - earned(p, g) - 2/(P N) sum_{j <= g} (D_qj - D_qp).

With a running maximum this takes P N operations for each query.
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

BLOCK = 2**24  # numbers of a table that are computed at a time


class Worst(NamedTuple):
    """The worst ranking of each query.

    value (Q,): its value (module docstring). order (Q, n - 1): all points other than the query, first to last. error
    (Q,): the exact largest value is at most value + error.
    """

    value: FloatArray  # (Q,) loss minus the sum over swapped pairs; >= 0 up to rounding
    order: IntArray  # (Q, n - 1) the other points, first to last
    error: FloatArray  # (Q,) error bound: the exact maximum is at most value + error


class Alike(NamedTuple):
    """m queries with the same number P of relevant points. They have the same table `earned`.

    place (m,): their positions among all Q queries. plus (m, P), minus (m, N): their relevant and irrelevant points.

    earned (P, N + 1): in row p - 1 and column g, the part of the measure due to the p-th relevant point after g
    irrelevant ones.
    """

    place: IntArray  # (m,) their positions among all queries
    plus: IntArray  # (m, P) relevant points
    minus: IntArray  # (m, N) irrelevant points
    earned: FloatArray  # (P, N + 1), see core/ranking.py


class Interleavings:
    """All rankings of all Q queries in `asked`, with the loss of `measure`. k: the number of places that count."""

    def __init__(self, asked: Queried, measure: str, k: int):
        self.asked, self.measure, self.k = asked, measure, k
        self.relevant = asked.relevant[asked.queries]  # (Q, n)
        self.P = self.relevant.sum(axis=1)  # (Q,)
        self.N = len(asked.X) - 1 - self.P
        self.unit: FloatArray = 2 / (self.P * self.N)  # (Q,) the weight of a swap

    @cached_property
    def alike(self) -> list[Alike]:
        """All queries, in groups with equal P. Large groups are divided into parts of limited size, to save memory."""
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
        """The worst rankings at squared distances D (Q, n) of all points from the queries.

        error: bounds of the errors of D, a number or (Q, n).
        """
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
        """Yield, for each query, the value (module docstring) of its worst ranking, for squared distances D * unit.

        D (n, n): integers. For ndcg, which is not rational, the results are upper bounds.
        """
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
    """The worst rankings of the m queries in `part`, at squared distances D (Q, n) of all points from all queries.

    Returns their values (m,), their orders (m, n - 1), and a size (m,) to which the rounding errors are in proportion.
    The size is the mean distance of the relevant points plus that of the irrelevant points.
    """
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
    """Return the value of the worst ranking of one query, by the dynamic programme in exact arithmetic.

    near, far: sorted squared distances of the relevant and of the irrelevant points. table: earned(p, g), with one row
    for each p.

    unit: the weight 2/(P N) of a swap, times the unit of the distances.
    """
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
