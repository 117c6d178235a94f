"""Rows of a loss: v_t = sum_p B_tp D_p over pairs p = (i, j) of points, the distances of a metric.

A row is known by a key, an integer. Prices are numbers of some rows; the price of a row that is not named is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray, real_array
from cvxml.core.targets import OtherClasses
from cvxml.core.threads import side_by_side
from cvxml.numbers.rounding import Distances, Products

BLOCK = 2**21  # rows at a time
UNSEEN = 1e-180  # a squared distance that is as good as 0
MOST = 1e100  # of a price: sums of more could overflow


class Prices(NamedTuple):
    """A price for each of some rows, which are named once each."""

    a: Any  # (t,) floats, or fractions for exact arithmetic
    key: IntArray  # (t,)


class Weights(NamedTuple):
    """sum_p w_p X_p, with X_ij = (x_i - x_j)(x_i - x_j)^T."""

    pairs: IntArray  # (p, 2)
    w: FloatArray  # (p,)


def joined(parts: Sequence[Weights]) -> Weights:
    """Their sum."""
    if len(parts) == 1:
        return parts[0]
    return Weights(np.concatenate([G.pairs for G in parts]), np.concatenate([G.w for G in parts]))


class Block(NamedTuple):
    """Rows at a metric, none of whose groups is split."""

    v: FloatArray
    off: FloatArray  # what each v may be off by
    a: FloatArray  # prices
    groups: slice = slice(None)  # which they are, where v is of groups (g, n)


class Entries(NamedTuple):
    """B of some rows: entry k is sign_k, of the row row_k, at the pair pairs_k; +1 or -1 where rows have no unit."""

    row: IntArray
    pairs: IntArray  # (e, 2)
    sign: FloatArray


class View(Protocol):
    """Points as a metric sees them."""

    def pairs(self, index: IntArray) -> Distances:
        """D of the pairs (p, 2), and what each may be off by."""


class WideView(View, Protocol):
    """The same, for rows that look at all points from one."""

    def products(self) -> Products:
        """D of every two points, by products."""

    def from_points(self, i: IntArray) -> Distances:
        """D of the points i (m,) from all others (m, n) by differences: no digit is lost between close points."""


class Rows(Protocol):
    """What the theorem needs of the rows of a loss."""

    def blocks(self, view: Any, prices: Prices, kept: float = math.inf) -> Iterator[Block]:
        """The rows at a metric, a `View`: those that have a price, and those whose v may be less than `kept`."""

    def weights(self, prices: Prices) -> Weights:
        """G = sum_t a_t V_t."""

    def inside(self, labels: IntArray, prices: Prices) -> Prices:
        """Without the rows that have a pair of two labels (n,)."""

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """v of all rows from the distances of every two points, integers of any unit."""


@runtime_checkable
class WithEntries(Protocol):
    """Rows that can be named one by one."""

    def entries(self, key: IntArray) -> Entries:
        """B of the rows named, in their order."""


class MarginRows(Rows, WithEntries, Protocol):
    """Rows that a solver lets in one after the other. z (n, r): images of the points, whose distances count."""

    def within(self, labels: IntArray, key: IntArray) -> Any:
        """Of the rows named: True where every pair has points of one label (n,)."""

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        """v of the rows named."""

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        """Keys and v of all rows with v < below."""

    @property
    def size(self) -> int:
        """About as large as the work of one look at them is."""

    def sample(self, every: int) -> Self:
        """About one in so many of them, evenly; keys are those of the sample."""


class Nearest(MarginRows, Protocol):
    """Rows of a least margin."""

    def least(self, z: FloatArray) -> float:
        """The least v of all rows that is positive."""


class Plain(NamedTuple):
    """Images z (n, r), for solvers: nothing is said of rounding."""

    z: FloatArray

    def pairs(self, index: IntArray) -> Distances:
        """See `View`."""
        D = between(self.z, *index.T)
        return Distances(D, np.zeros(len(D)))

    def products(self) -> Products:
        """See `WideView`."""
        lengths = np.sum(self.z**2, axis=1)
        return Products(self.z, self.z, lengths, np.zeros(len(self.z)))

    def from_points(self, i: IntArray) -> Distances:
        """See `WideView`."""
        between = self.products()
        D = np.maximum(0.0, between.length[i, None] + between.length - 2 * self.z[i] @ self.z.T)
        return Distances(D, np.zeros_like(D))


def between(z: FloatArray, i: Any, k: Any) -> FloatArray:
    """Squared distances of the images i and k (t,), some at a time."""
    D = np.empty(len(i))
    for first in watched(range(0, len(i), BLOCK // 8)):
        some = slice(first, first + BLOCK // 8)
        D[some] = np.sum((z[i[some]] - z[k[some]]) ** 2, axis=1)
    return D


class PairRows(NamedTuple):
    """v_t = D of the t-th pair over `unit`; the key is t."""

    listed: IntArray  # (p, 2)
    unit: Any = 1.0  # a float, or a fraction for exact arithmetic

    def blocks(self, view: View, prices: Prices, kept: float = math.inf) -> Iterator[Block]:
        """All at once: a loss may look at their least."""
        D, off = view.pairs(self.listed)
        a = np.zeros(len(D))
        a[prices.key] = prices.a
        if self.unit == 1:
            yield Block(D, off, a)
        else:
            yield Block(D / self.unit, (off + 2 * EPS * np.abs(D)) / self.unit, a)

    def weights(self, prices: Prices) -> Weights:
        """a_t X_t over the unit."""
        return Weights(self._of(prices.key), prices.a if self.unit == 1 else prices.a / self.unit)

    def _of(self, key: IntArray) -> IntArray:
        """Pairs (t, 2): all of them are the list itself, of which a regularizer may know something already."""
        whole = len(key) == len(self.listed) and bool((key[1:] > key[:-1]).all())
        return self.listed if whole else self.listed[key]

    def inside(self, labels: IntArray, prices: Prices) -> Prices:
        """See `Rows`."""
        keep = self.within(labels, prices.key)
        return prices if keep.all() else Prices(prices.a[keep], prices.key[keep])

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """See `Rows`."""
        unit = Fraction(self.unit)
        return (D[i][j] / unit for i, j in self.listed.tolist())

    def within(self, labels: IntArray, key: IntArray) -> Any:
        """See `MarginRows`."""
        i, j = labels[self._of(key)].T
        return i == j

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        """See `MarginRows`."""
        return between(z, *self._of(key).T) / float(self.unit)

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        """See `MarginRows`."""
        v = between(z, *self.listed.T) / float(self.unit)
        key = np.flatnonzero(v < below)
        return key, v[key]

    def keys(self) -> IntArray:
        """Of all rows."""
        return np.arange(len(self.listed))

    def entries(self, key: IntArray) -> Entries:
        """See `WithEntries`."""
        return Entries(np.arange(len(key)), self.listed[key], np.full(len(key), 1 / float(self.unit)))

    def least(self, z: FloatArray) -> float:
        """See `Nearest`."""
        v = between(z, *self.listed.T) / float(self.unit)
        return float(np.min(v, where=v > UNSEEN, initial=math.inf))

    @property
    def size(self) -> int:
        """The number of pairs."""
        return len(self.listed)

    def sample(self, every: int) -> PairRows:
        """See `MarginRows`."""
        return PairRows(self.listed[::every], self.unit)


def triplet_entries(i: IntArray, j: IntArray, l: IntArray) -> Entries:
    """Of v = D_il - D_ij for triplets, each (t,)."""
    t = np.arange(len(i))
    pairs = np.stack([np.concatenate([i, i]), np.concatenate([l, j])], axis=1)
    return Entries(np.concatenate([t, t]), pairs, np.repeat([1.0, -1.0], len(i)))


class Triplets(NamedTuple):
    """v = D_il - D_ij for each target (i, j) and the points l that count as its impostors; key: target n + l."""

    targets: IntArray  # (p, 2)
    impostors: Any  # (p, n) True where l counts

    def blocks(self, view: WideView, prices: Prices, kept: float = math.inf) -> Iterator[Block]:
        """Some points at a time; then what has a price and is further away."""
        order = np.argsort(prices.key)
        priced, a = prices.key[order], prices.a[order]
        away = np.ones(len(priced), dtype=bool)
        for key, v, off in self._near(view, kept):
            if len(priced) == 0:
                yield Block(v, off, np.zeros(len(v)))
                continue
            place = np.minimum(np.searchsorted(priced, key), len(priced) - 1)
            has = priced[place] == key
            away[place[has]] = False
            yield Block(v, off, np.where(has, a[place], 0.0))
        if away.any():
            i, j, l = self.named(Prices(a, priced[away])).T
            near, near_off = view.pairs(np.stack([i, j], axis=1))
            far, far_off = view.pairs(np.stack([i, l], axis=1))
            yield Block(far - near, near_off + far_off + 2 * EPS * (near + far), a[away])

    def _near(self, view: WideView, kept: float) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Key, v, and what it may be off by, of the rows with v < kept, and of some others.

        One product of matrices tells which points are near enough to another one to be looked at.
        """
        n = self.impostors.shape[1]
        D_ij, off_ij = view.pairs(self.targets)
        by_point = np.argsort(self.targets[:, 0], kind="stable")
        points, first, count = np.unique(self.targets[by_point, 0], return_index=True, return_counts=True)
        with np.errstate(over="ignore", invalid="ignore"):
            limit = kept + np.maximum.reduceat((D_ij + 2 * off_ij)[by_point], first)
        between = view.products()

        def look(some: IntArray) -> list[tuple[IntArray, FloatArray, FloatArray]]:
            found = []
            own, l, D, off = between.below(points[some], limit[some])
            for extra in watched(range(int(count[some].max()))):
                has = count[some][own] > extra
                row = by_point[first[some][own[has]] + extra]
                keep = self.impostors[row, l[has]]
                row, at = row[keep], np.flatnonzero(has)[keep]
                v = D[at] - D_ij[row]
                moved = off[at] + (off_ij[row] + 2 * EPS * D_ij[row]) + 2 * EPS * np.abs(D[at])
                # what is no number stays
                low = ~(v - moved - 2 * EPS * (1 + np.abs(v)) >= kept)
                found.append((row[low] * n + l[at[low]], v[low], moved[low]))
            return found

        parts = np.array_split(np.arange(len(points)), 1 + len(points) * n // BLOCK)
        for found in side_by_side(look, [some for some in parts if len(some)]):
            yield from found

    def named(self, prices: Prices) -> IntArray:
        """The triplets (t, 3) of i, j, l that have a price."""
        row, l = np.divmod(prices.key, self.impostors.shape[1])
        return np.concatenate([self.targets[row], l[:, None]], axis=1)

    def read(self, dual: Mapping[str, Any]) -> Prices:
        """The positive prices of "price" (t,) with "triplets" (t, 3) of i, j, l; what is no row is dropped.

        Raises ValueError for a dual that is none.
        """
        n = self.impostors.shape[1]
        price, triplets = _checked(dual, n)
        known = self.targets @ (n, 1)
        order = np.argsort(known)
        wanted = triplets[:, :2] @ (n, 1)
        row = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
        keep = (known[row] == wanted) & (price > 0) & self.impostors[row, triplets[:, 2]]
        key, place = np.unique(row[keep] * n + triplets[keep, 2], return_inverse=True)
        summed = np.bincount(place, np.minimum(price[keep], MOST), minlength=len(key))
        return Prices(summed.astype(np.float64), key)

    def weights(self, prices: Prices) -> Weights:
        """a_t (X_il - X_ij)."""
        triplets = self.named(prices)
        return Weights(
            np.concatenate([triplets[:, [0, 2]], triplets[:, :2]]), np.concatenate([prices.a, -prices.a])
        )

    def inside(self, labels: IntArray, prices: Prices) -> Prices:
        """See `Rows`."""
        keep = self.within(labels, prices.key)
        return Prices(prices.a[keep], prices.key[keep])

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """See `Rows`."""
        for (i, j), counts in zip(self.targets.tolist(), self.impostors, strict=True):
            yield from (D[i][l] - D[i][j] for l in np.flatnonzero(counts).tolist())

    def within(self, labels: IntArray, key: IntArray) -> Any:
        """See `MarginRows`: with a target every point has one label."""
        row, l = np.divmod(key, self.impostors.shape[1])
        return labels[self.targets[row, 0]] == labels[l]

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        """See `MarginRows`."""
        row, l = np.divmod(key, self.impostors.shape[1])
        i, j = self.targets[row].T
        return between(z, i, l) - between(z, i, j)

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        """See `MarginRows`."""
        key, v, _ = zip(*self._near(Plain(z), below), strict=True)
        keys, values = np.concatenate(key), np.concatenate(v)
        low = values < below
        return keys[low], values[low]

    @property
    def size(self) -> int:
        """The number of targets."""
        return len(self.targets)

    def sample(self, every: int) -> Triplets:
        """See `MarginRows`: all rows of one point in so many."""
        points = np.unique(self.targets[:, 0])[::every]
        rows = np.isin(self.targets[:, 0], points)
        some = self.impostors.of(rows) if isinstance(self.impostors, OtherClasses) else self.impostors[rows]
        return Triplets(self.targets[rows], some)

    def keys(self) -> IntArray:
        """Of all rows, which may be many."""
        return np.flatnonzero(np.asarray(self.impostors))

    def entries(self, key: IntArray) -> Entries:
        """See `WithEntries`."""
        return triplet_entries(*self.named(Prices(np.zeros(len(key)), key)).T)


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

    def inside(self, labels: IntArray, prices: Prices) -> Prices:
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


def _checked(dual: Mapping[str, Any], n: int) -> tuple[FloatArray, IntArray]:
    """Price (t,) and triplets (t, 3) of n points."""
    try:
        price, triplets = real_array(dual["price"], "dual 'price'"), np.asarray(dual["triplets"])
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(
            f'the dual must be a mapping with "price" and "triplets"; there is no {error}'
        ) from None
    if triplets.size == 0:
        triplets = triplets.reshape(0, 3).astype(np.intp)
    if price.ndim != 1 or triplets.shape != (len(price), 3) or triplets.dtype.kind not in "iu":
        raise ValueError(
            "dual 'price' must be one number a triplet, with triplets of shape (t, 3) and integers; "
            f"got shapes {price.shape} and {triplets.shape}, dtype {triplets.dtype}"
        )
    if len(triplets) and (triplets.min() < 0 or triplets.max() >= n):
        raise ValueError(f"dual 'triplets' names a point outside 0..{n - 1}")
    return price, triplets.astype(np.intp)
