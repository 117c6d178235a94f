"""Rows of rankings, and their values in a metric.

The row of a ranking y of a query q has the value

    v = <M, psi(q, y*) - psi(q, y)> = 2/(P N) sum of (D_qj - D_qi) over the pairs i, j that y swaps.

Query q has P relevant points i and N irrelevant points j, and y swaps i and j if j comes first. The ranking y* swaps no
pair, and psi are the features of a ranking (methods/mlr/__init__.py). D_qi is the squared distance in M. n is the
number of points, m the number of rankings in a list, and Q the number of queries. There are too many rankings to list.
A list with the worst rankings at a metric has the same objective there as all rankings. Dual variables of a list are
dual variables of all rankings, with 0 for the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.inputs import indexed_dual
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.ranking import earned_exactly
from cvxml.core.result import Dual
from cvxml.family.rows.base import Block, Duals, View, Weights
from cvxml.methods.mlr.interleaving import Interleavings, Worst
from cvxml.numbers.rounding import doubled

PAIRS = 2**18  # number of distances computed at a time


class Rankings:
    """A list of m rankings. The key of a ranking, which `Duals` refer to, is its position in the list.

    all_of: the queries, their relevant points and the measure. place (m,): the position of the query among all queries.
    order (m, n - 1): all other points, as ranked.
    """

    def __init__(self, all_of: Interleavings, place: IntArray, order: IntArray):
        self.all_of, self.place, self.order = all_of, place, order

    @property
    def query(self) -> IntArray:
        return self.all_of.asked.queries[self.place]

    @cached_property
    def _plus(self) -> Any:
        """(m, n - 1) True if the point at this place of the ranking is relevant."""
        return self.all_of.relevant[self.place[:, None], self.order]

    @cached_property
    def swaps(self) -> FloatArray:
        """(m, n) for each ranking and point, the number of swapped pairs with the point; negative if it is relevant."""
        plus, minus = self._plus, ~self._plus
        later = self.all_of.P[self.place][:, None] - np.cumsum(plus, axis=1)
        counts = np.where(plus, -np.cumsum(minus, axis=1), later)
        found = np.zeros((len(self.place), len(self.all_of.asked.X)))
        np.put_along_axis(found, self.order, counts.astype(np.float64), axis=1)
        return found

    @cached_property
    def unit(self) -> FloatArray:
        """(m,) the weight 2/(P N) of a swap."""
        return self.all_of.unit[self.place]

    def _before(self, rows: Any) -> IntArray:
        """Return the number of irrelevant points before each relevant point, an array (r, P) for r of the rankings.

        rows (m,): a mask of these r rankings; their queries must have the same P.
        """
        before: IntArray = np.cumsum(~self._plus[rows], axis=1)[self._plus[rows]]
        return before.reshape(int(np.count_nonzero(rows)), -1)

    @cached_property
    def loss(self) -> FloatArray:
        found = np.empty(len(self.place))
        for part in self.all_of.alike:
            rows = np.isin(self.place, part.place)
            if rows.any():
                found[rows] = 1 - part.earned[np.arange(part.plus.shape[1]), self._before(rows)].sum(axis=1)
        return found

    @cached_property
    def all_swapped(self) -> Any:
        """(m,) True if no ranking of the query has a larger loss.

        The loss is the largest possible if every relevant point adds as much to the measure as it would add behind all
        irrelevant points. The float table `Alike.earned` decides this without error: two of its entries are equal if
        and only if the exact entries are equal.
        """
        found = np.empty(len(self.place), dtype=bool)
        for part in self.all_of.alike:
            rows = np.isin(self.place, part.place)
            if rows.any():
                own = part.earned[np.arange(part.plus.shape[1]), self._before(rows)]
                found[rows] = (own == part.earned[:, -1]).all(axis=1)
        return found

    def exact_loss(self, up: bool) -> list[Fraction]:
        """The losses as fractions. For ndcg, which is not rational: upper bounds if `up`, else lower bounds."""
        tables: dict[int, list[list[Fraction]]] = {}
        found, of = [], self.all_of
        for flags, place in zip(self._plus.tolist(), self.place.tolist(), strict=True):
            P, N = int(of.P[place]), int(of.N[place])
            if P not in tables:
                tables[P] = earned_exactly(of.measure, of.k, P, N, not up)
            loss, g, p = Fraction(1), 0, 0
            for plus in flags:
                if plus:
                    loss -= tables[P][p][g]
                    p += 1
                else:
                    g += 1
            found.append(loss)
        return found

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        a = np.zeros(len(self.place))
        a[duals.key] = duals.a
        D, error = distances(view, self.all_of)
        v, moved = np.empty(len(a)), np.empty(len(a))
        for place in np.unique(self.place).tolist():
            rows = self.place == place
            own = self.swaps[rows] * self.unit[rows][:, None]
            size = np.abs(own)
            v[rows] = own @ D[place]
            moved[rows] = size @ (error[place] + (own.shape[1] + 8) * EPS * np.abs(D[place]))
        yield Block(v, moved * (1 + 1e-6), a)

    def weights(self, duals: Duals) -> Weights:
        """Return G = sum_t a_t (psi(q, y*) - psi(q, y)), for the dual variables a_t of some rankings t.

        G is returned as a list of pairs (query, point), each pair once, with their weights.
        """
        place = self.place[duals.key]
        pairs, weights = [], []
        for own in np.unique(place).tolist():
            rows = place == own
            a, counts = duals.a[rows], self.swaps[duals.key[rows]]
            if duals.a.dtype == object:
                w = _whole_times(a, counts, Fraction(2, int(self.all_of.P[own] * self.all_of.N[own])))
            else:
                w = self.all_of.unit[own] * doubled((counts * a[:, None]).T)
            used = np.flatnonzero(w != 0)
            pairs.append(np.stack([np.full(len(used), self.all_of.asked.queries[own]), used], axis=1))
            weights.append(w[used])
        if not pairs:
            return Weights(np.zeros((0, 2), dtype=np.intp), np.zeros(0, dtype=duals.a.dtype))
        return Weights(np.concatenate(pairs), np.concatenate(weights))

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """Return `duals` unchanged: with the trace as regularizer, any row may have a positive dual variable.

        labels: not used.
        """
        return duals

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[Fraction]:
        for place, q, swaps in zip(self.place.tolist(), self.query.tolist(), self.swaps, strict=True):
            unit = Fraction(2, int(self.all_of.P[place] * self.all_of.N[place]))
            yield unit * sum(int(count) * D[q][j] for j, count in enumerate(swaps) if count)


def _whole_times(a: Any, counts: FloatArray, unit: Fraction) -> Any:
    """The fractions unit * sum_t a_t counts_tj (n,), for fractions a (t,) and whole numbers `counts` (t, n).

    They are computed with a common denominator.
    """
    common = math.lcm(*(price.denominator for price in a))
    whole = np.array([int(price * common) for price in a], dtype=object)
    sums = whole @ counts.astype(np.int64).astype(object)
    return np.array([unit * total / common for total in sums], dtype=object)


def distances(view: View, all_of: Interleavings) -> Any:
    """Return the squared distances D (Q, n) of all points from the queries, and bounds (Q, n) of their errors.

    view: the points under a metric. all_of: the queries.
    """
    queries, n = all_of.asked.queries, len(all_of.asked.X)
    D, error = np.empty((len(queries), n)), np.empty((len(queries), n))
    step = max(1, PAIRS // n)
    for first in watched(range(0, len(queries), step)):
        some = queries[first : first + step]
        index = np.stack([np.repeat(some, n), np.tile(np.arange(n), len(some))], axis=1)
        own = view.pairs(index)
        D[first : first + step] = own.D.reshape(-1, n)
        error[first : first + step] = own.error.reshape(-1, n)
    return D, error


def with_worst(rows: Rankings, found: Worst) -> Rankings:
    """The list `rows`, followed by the worst ranking of each query."""
    places = np.concatenate([rows.place, np.arange(len(found.order))])
    return Rankings(rows.all_of, places, np.concatenate([rows.order, found.order]))


def read(all_of: Interleavings, dual: Dual) -> tuple[FloatArray, Rankings]:
    """Return the dual variables (m,) and their rankings.

    dual: "price" (m,) and "rankings" (m, n), each row a query and all other points, as ranked. Raises ValueError if the
    dual has another form, if a price is NaN, or if a row is not a ranking of a query.
    """
    n = len(all_of.asked.X)
    mu, index = indexed_dual(dual, "price", "rankings", (n,) * n)
    if np.isnan(mu).any():
        raise ValueError("dual 'price' holds NaN; every entry must be a number")
    if (np.sort(index, axis=1) != np.arange(n)).any():
        raise ValueError(
            f"dual 'rankings' must be rows of a query and all {n - 1} other points, each of them once"
        )
    place = np.searchsorted(all_of.asked.queries, index[:, 0])
    place = np.minimum(place, len(all_of.asked.queries) - 1)
    if len(wrong := np.flatnonzero(all_of.asked.queries[place] != index[:, 0])):
        raise ValueError(
            f"dual 'rankings' has a row for point {index[wrong[0], 0]}, which is not a query; the first entry of a row "
            "must be a point with relevant and irrelevant points"
        )
    return mu, Rankings(all_of, place, index[:, 1:])


def named(rows: Rankings, duals: Duals) -> Dual:
    """Return the rows with a positive dual variable as arrays: "price" (m,) and "rankings" (m, n).

    Each row of "rankings" is a query and then all other points, as ranked.
    """
    used = duals.a > 0
    key = duals.key[used]
    return {"price": duals.a[used], "rankings": np.column_stack([rows.query[key], rows.order[key]])}
