"""Rows of a loss: v_t = sum_p B_tp D_p over pairs p = (i, j) of points, the distances of a metric.

A row is known by a key, an integer. Prices are numbers of some rows; the price of a row that is not named is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, real_array
from cvxml.family.proved import EPS, Distances

BLOCK = 2**21  # rows at a time
MOST = 1e100  # of a price: sums of more could overflow


class Prices(NamedTuple):
    """A price for each of some rows, which are named once each."""

    a: Any  # (t,) floats, or fractions for exact arithmetic
    key: IntArray  # (t,)


class Weights(NamedTuple):
    """sum_p w_p X_p, with X_ij = (x_i - x_j)(x_i - x_j)^T."""

    pairs: IntArray  # (p, 2)
    w: FloatArray  # (p,)


class Block(NamedTuple):
    """Rows at a metric, none of whose groups is split."""

    v: FloatArray
    off: FloatArray  # what each v may be off by
    a: FloatArray  # prices
    groups: slice = slice(None)  # which they are, where v is of groups (g, n)


class Entries(NamedTuple):
    """B of some rows: entry k is sign_k, of the row row_k, at the pair pairs_k."""

    row: IntArray
    pairs: IntArray  # (e, 2)
    sign: FloatArray


class View(Protocol):
    """Points as a metric sees them."""

    def pairs(self, index: IntArray) -> Distances:
        """D of the pairs (p, 2), and what each may be off by."""

    def from_points(self, i: IntArray) -> Distances:
        """D of the points i (m,) from all others (m, n), and what each may be off by."""

    def sharp_from_points(self, i: IntArray) -> Distances:
        """The same by differences: slower, and no digit is lost where points are next to each other."""


class Rows(Protocol):
    """What the theorem needs of the rows of a loss."""

    def blocks(self, view: View, prices: Prices) -> Iterator[Block]:
        """All rows at a metric."""

    def weights(self, prices: Prices) -> Weights:
        """G = sum_t a_t V_t."""

    def inside(self, labels: IntArray, prices: Prices) -> Prices:
        """Without the rows that have a pair of two labels (n,)."""

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """v of all rows from the distances of every two points, integers of any unit."""


class MarginRows(Rows, Protocol):
    """Rows that a solver lets in one after the other."""

    def exist(self) -> Any:
        """True for every key that is that of a row, up to the largest."""

    def within(self, labels: IntArray) -> Any:
        """By key: True where every pair of the row has points of one label (n,)."""

    def margins(self, D: FloatArray) -> FloatArray:
        """v by key, from the distances of every two points (n, n), for solvers."""

    def entries(self, key: IntArray) -> Entries:
        """B of the rows named, in their order."""


class PairRows(NamedTuple):
    """v_t = D of the t-th pair over `unit`; the key is t."""

    listed: IntArray  # (p, 2)
    unit: Any = 1.0  # a float, or a fraction for exact arithmetic

    def blocks(self, view: View, prices: Prices) -> Iterator[Block]:
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
        return Weights(self.listed[prices.key], prices.a if self.unit == 1 else prices.a / self.unit)

    def inside(self, labels: IntArray, prices: Prices) -> Prices:
        """See `Rows`."""
        keep = self.within(labels)[prices.key]
        return Prices(prices.a[keep], prices.key[keep])

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """See `Rows`."""
        unit = Fraction(self.unit)
        return (D[i][j] / unit for i, j in self.listed.tolist())

    def exist(self) -> Any:
        """See `Rows`."""
        return np.ones(len(self.listed), dtype=bool)

    def within(self, labels: IntArray) -> Any:
        """See `Rows`."""
        i, j = labels[self.listed].T
        return i == j

    def margins(self, D: FloatArray) -> FloatArray:
        """See `Rows`."""
        v: FloatArray = D[self.listed[:, 0], self.listed[:, 1]]
        return v

    def entries(self, key: IntArray) -> Entries:
        """See `Rows`."""
        return Entries(np.arange(len(key)), self.listed[key], np.ones(len(key)))


class Triplets(NamedTuple):
    """v = D_il - D_ij for each target (i, j) and the points l that count as its impostors; key: target n + l."""

    targets: IntArray  # (p, 2)
    impostors: Any  # (p, n) True where l counts

    def blocks(self, view: View, prices: Prices) -> Iterator[Block]:
        """Some targets at a time."""
        p, n = self.impostors.shape
        order = np.argsort(prices.key)
        key, a = prices.key[order], prices.a[order]
        D_ij, off_ij = view.pairs(self.targets)
        for rows in np.array_split(np.arange(p), 1 + p * n // BLOCK):
            if len(rows) == 0:
                continue
            first, last = np.searchsorted(key, [rows[0] * n, (rows[-1] + 1) * n])
            price = np.zeros(len(rows) * n)
            price[key[first:last] - rows[0] * n] = a[first:last]
            D_il, off = view.from_points(self.targets[rows, 0])
            counts = self.impostors[rows]
            v = D_il - D_ij[rows, None]
            off = off + (off_ij[rows] + 2 * EPS * D_ij[rows])[:, None] + 2 * EPS * D_il
            yield Block(v[counts], off[counts], price.reshape(len(rows), n)[counts])

    def named(self, prices: Prices) -> IntArray:
        """The triplets (t, 3) of i, j, l that have a price."""
        row, l = np.divmod(prices.key, self.impostors.shape[1])  # noqa: E741 (the paper's l)
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
        keep = self.within(labels)[prices.key]
        return Prices(prices.a[keep], prices.key[keep])

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """See `Rows`."""
        for (i, j), counts in zip(self.targets.tolist(), self.impostors, strict=True):
            yield from (D[i][l] - D[i][j] for l in np.flatnonzero(counts).tolist())  # noqa: E741

    def exist(self) -> Any:
        """See `Rows`."""
        return self.impostors.ravel()

    def within(self, labels: IntArray) -> Any:
        """See `Rows`: with a target every point has one label."""
        return (labels[self.targets[:, 0], None] == labels).ravel()

    def margins(self, D: FloatArray) -> FloatArray:
        """See `Rows`."""
        i, j = self.targets.T
        v: FloatArray = (D[i] - D[i, j][:, None]).ravel()
        return v

    def entries(self, key: IntArray) -> Entries:
        """See `Rows`."""
        t = np.arange(len(key))
        i, j, l = self.named(Prices(np.zeros(len(key)), key)).T  # noqa: E741
        pairs = np.stack([np.concatenate([i, i]), np.concatenate([l, j])], axis=1)
        return Entries(np.concatenate([t, t]), pairs, np.repeat([1.0, -1.0], len(key)))


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

    def blocks(self, view: View, prices: Prices) -> Iterator[Block]:
        """Some points at a time."""
        a, step = self.table(prices), max(1, BLOCK // self.n)
        for first in range(0, len(self.points), step):
            groups = slice(first, first + step)
            D, off = view.sharp_from_points(self.points[groups])
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
