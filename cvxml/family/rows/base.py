"""Rows of a loss: v_t = sum_p B_tp D_p over pairs p = (i, j) of points, where D_p is a squared distance in a metric.

B_tp are constants: for example 1 and -1 for D_il - D_ij. X_p = (x_i - x_j)(x_i - x_j)^T, so D_p = <M, X_p> for the
metric M. Each row has an integer key. Dual variables are given for some rows by their keys; all other rows have the
dual variable 0.
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

BLOCK = 2**21  # rows handled at a time
UNSEEN = 1e-180  # a squared distance up to this counts as 0
MAX_DUAL = 1e100  # dual variables are clipped here, because sums of larger numbers could overflow


class Duals(NamedTuple):
    """Dual variables `a` (t,), and the `key` (t,) of the row of each. All other rows have the dual variable 0."""

    a: Any  # (t,) floats, or fractions for exact arithmetic
    key: IntArray  # (t,)


class Weights(NamedTuple):
    """The matrix sum_p w_p X_p, X_ij = (x_i - x_j)(x_i - x_j)^T, given by its weights on pairs.

    exact: True if every weight is a dual variable or its negative. If it is False, weights may be rounded a few times.
    """

    pairs: IntArray  # (p, 2)
    w: FloatArray  # (p,)
    exact: bool = False


def places(keys: IntArray, wanted: IntArray) -> tuple[IntArray, Any]:
    """Return the index in `keys` (t,) of each of `wanted` (m,), and a mask (m,) of those found.

    The `keys` are distinct, in any order. An index has no meaning where the mask is False.
    """
    if len(keys) == 0:
        return np.zeros(len(wanted), dtype=np.intp), np.zeros(len(wanted), dtype=bool)
    order = np.argsort(keys)
    at = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
    return at, keys[at] == wanted


def joined(parts: Sequence[Weights]) -> Weights:
    """The weights on pairs of the sum of several matrices."""
    if len(parts) == 1:
        return parts[0]
    return Weights(np.concatenate([G.pairs for G in parts]), np.concatenate([G.w for G in parts]))


class Block(NamedTuple):
    """The values v of some rows in a metric. All rows of one group of a loss are in the same block.

    error: bounds of the errors of v. a: the dual variables of the rows.

    groups: the groups in the block, if v is a table (g, n) of g groups with n rows each.
    """

    v: FloatArray
    error: FloatArray  # bounds of the errors of v
    a: FloatArray  # dual variables
    groups: slice = slice(None)  # the groups of the block, if v is a table (g, n) of groups


class Entries(NamedTuple):
    """The nonzero entries of B for some rows.

    Entry k belongs to row number row_k of these rows, and to the pair pairs_k of points. Its value sign_k is +1 or -1,
    divided by the unit of the rows if they have one.
    """

    row: IntArray
    pairs: IntArray  # (e, 2)
    sign: FloatArray


class View(Protocol):
    """The points under a metric: a view computes distances in it, with error bounds."""

    def pairs(self, index: IntArray) -> Distances:
        """Squared distances of the pairs (p, 2), with their error bounds."""


class WideView(View, Protocol):
    """A view that can also compute the distances from a point to all points at once, for rows that need them."""

    def products(self) -> Products:
        """Squared distances of all pairs of points, in a form that computes blocks of them by products of matrices."""

    def from_points(self, i: IntArray) -> Distances:
        """Squared distances (m, n) from the points i (m,) to all n points.

        A view with error bounds computes them from differences of images, so small distances keep their digits. `Plain`
        computes them by products, with rounding errors that it does not bound.
        """


class Rows(Protocol):
    """The operations on the rows of a loss that the theorem needs."""

    def blocks(self, view: Any, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """The rows in a metric, block by block: every row with a dual variable, and every row with v < kept.

        Some other rows may be included too. view: the points under the metric.
        """

    def weights(self, duals: Duals) -> Weights:
        """The matrix G = sum_t a_t V_t, V_t = sum_p B_tp X_p, as weights on pairs."""

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """The dual variables, without those of rows that have a pair of points with different labels.

        labels (n,): those of the regularizer, not class labels. A pair of points with different labels could make the
        bound of the regularizer -inf. `ByPoint` keeps these rows and gives them -inf, which its loss turns into 0.
        """

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        """The values v of all rows, in the order in which this object lists them.

        D (n, n): the squared distances of all pairs of points, as integers in some unit. v is in the same unit.
        """


@runtime_checkable
class WithEntries(Protocol):
    """Rows with entries that can be listed row by row."""

    def entries(self, key: IntArray) -> Entries:
        """The nonzero entries of B for the rows with these keys, row by row."""


class MarginRows(Rows, WithEntries, Protocol):
    """Rows for solvers that add rows one by one. They take images z (n, r) of the points, and compute v from these."""

    def within(self, labels: IntArray, key: IntArray) -> Any:
        """For each of the keys (t,) of rows: True if the two points of every pair of the row have equal labels.

        labels (n,): those of the regularizer, not class labels. A row with False must have the dual variable 0.
        """

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        """The values v (t,) of the rows with these keys (t,)."""

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        """The keys and the values v of all rows with v < below."""

    @property
    def size(self) -> int:
        """An estimate of the work of one pass over all rows."""

    def sample(self, every: int) -> Self:
        """An object with about every `every`-th row, evenly spread. A row may have another key there."""


class Nearest(MarginRows, Protocol):
    """Rows of a loss that needs the smallest value v."""

    def least(self, z: FloatArray) -> float:
        """The smallest v of all rows, for images z (n, r) of the points.

        `PairRows` leaves out every v up to `UNSEEN`, because such a value counts as 0; if no row is left, it returns
        inf.
        """


class Plain(NamedTuple):
    """A view by images z (n, r) of the points, for solvers. The error bounds are 0, because rounding is ignored."""

    z: FloatArray

    def pairs(self, index: IntArray) -> Distances:
        D = between(self.z, *index.T)
        return Distances(D, np.zeros(len(D)))

    def products(self) -> Products:
        lengths = np.sum(self.z**2, axis=1)
        return Products(self.z, self.z, lengths, np.zeros(len(self.z)))

    def from_points(self, i: IntArray) -> Distances:
        between = self.products()
        D = np.maximum(0.0, between.length[i, None] + between.length - 2 * self.z[i] @ self.z.T)
        return Distances(D, np.zeros_like(D))


def between(z: FloatArray, i: Any, k: Any) -> FloatArray:
    """Squared distances (t,) between z_i and z_k for the indices i (t,) and k (t,). Works on some pairs at a time."""
    D = np.empty(len(i))
    for first in watched(range(0, len(i), BLOCK // 8)):
        some = slice(first, first + BLOCK // 8)
        D[some] = np.sum((z[i[some]] - z[k[some]]) ** 2, axis=1)
    return D
