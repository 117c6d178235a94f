"""Rows of a loss: v_t = sum_p B_tp D_p over pairs p = (i, j) of points, the distances of a metric.

A row is known by a key, an integer. Prices are numbers of some rows; the price of a row that is not named is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.numbers.rounding import Distances, Products

BLOCK = 2**21  # rows at a time
UNSEEN = 1e-180  # a squared distance that is as good as 0
MAX_DUAL = 1e100  # dual variables are clipped here, because sums of larger numbers could overflow


class Duals(NamedTuple):
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
    error: FloatArray  # what each v may be off by
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

    def blocks(self, view: Any, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """The rows at a metric, a `View`: those that have a price, and those whose v may be less than `kept`."""

    def weights(self, duals: Duals) -> Weights:
        """G = sum_t a_t V_t."""

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
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
