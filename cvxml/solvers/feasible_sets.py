"""Feasible sets of the solver in cone_dual.py: boxes, simplices, and rows with two sides of equal sum.

box_dual.py needs boxes, for example 0 <= a_t <= C. Gerrymandering needs a simplex for each row of v, and MLSVM rows
with two sides. A set provides the projection, the directions that stay on the face of a point, and the length of a
Newton step. The face of a point holds the feasible points at which the same constraints are active. Arrays v have one
fixed shape. In all methods, `slope` is the gradient of the objective at v.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import look
from cvxml.core.metric import FloatArray, IntArray

FEW = 10_000  # a basis with at most this many entries is stored as a dense matrix
OWN = 0.5  # a Newton step moves a row by about this fraction of its cap, if no other row opposes it


class Face(NamedTuple):
    """Orthonormal directions that stay on the face of a point.

    entries: the indices of the p entries of v that move, one array (p,) for each axis of v.

    basis: an array or csr_array (m, p) with a row for each direction; None if each entry moves alone.
    """

    entries: tuple[IntArray, ...]
    basis: Any = None

    @property
    def size(self) -> int:
        """The number of directions."""
        return len(self.entries[0]) if self.basis is None else int(self.basis.shape[0])

    def along(self, values: FloatArray) -> FloatArray:
        """The components (m, ...) of `values` (p, ...) along the directions."""
        components: FloatArray = values if self.basis is None else self.basis @ values
        return components

    def back(self, z: FloatArray) -> FloatArray:
        """The entries (p,) of the combination of the directions with weights z (m,)."""
        entries: FloatArray = z if self.basis is None else self.basis.T @ z
        return entries


class FeasibleSet(ABC):
    """A closed convex set with an easy projection. longest: an upper bound of the range of each entry."""

    longest: float  # an upper bound of each entry's range

    @abstractmethod
    def project(self, v: FloatArray, at: FloatArray | None = None) -> FloatArray:
        """The feasible point nearest to v. With `at`: the nearest one that is 0 wherever `at` is 0."""

    @abstractmethod
    def moves(self, v: FloatArray, slope: FloatArray) -> np.ndarray:
        """A mask of the entries of v that a Newton step may move."""

    @abstractmethod
    def face(self, v: FloatArray, slope: FloatArray, moves: np.ndarray) -> Face:
        """The directions that stay on the face of v, restricted to the entries in the mask `moves`."""

    def reach(self, v: FloatArray, slope: FloatArray, most: FloatArray) -> FloatArray:
        """The length of a Newton step for each entry of v. Here it is `most`; a subclass may return less.

        most: broadcast against v. If the objective is linear along an entry, the step is minus the gradient times the
        length. If it is curved, the step is shorter.
        """
        return np.broadcast_to(most, v.shape)


class Boxes(FeasibleSet):
    """low <= v <= high, entry by entry."""

    def __init__(self, low: FloatArray, high: FloatArray):
        self.low, self.high = low, high
        self.longest = float(np.max(high - low, initial=0.0))

    def project(self, v: FloatArray, at: FloatArray | None = None) -> FloatArray:
        """Clip v. `at` is not used, because a Newton step does not change entries that are fixed."""
        return np.clip(v, self.low, self.high)

    def moves(self, v: FloatArray, slope: FloatArray) -> np.ndarray:
        """A mask of the entries strictly between their bounds, or at a bound with the negative gradient inwards."""
        free: np.ndarray = (v > self.low) & (v < self.high)
        free |= (v == self.low) & (slope < 0)
        free |= (v == self.high) & (slope > 0)
        return free & (self.low < self.high)

    def face(self, v: FloatArray, slope: FloatArray, moves: np.ndarray) -> Face:
        """The directions that change one entry each, for the entries in both `moves` and `self.moves(v, slope)`."""
        return Face(np.nonzero(moves & self.moves(v, slope)))


class Simplices(FeasibleSet):
    """v >= 0 and sum v = 1 in each row; entries outside the mask `real` (n, columns) are 0."""

    longest = 1.0

    def __init__(self, real: np.ndarray):
        self.real = real

    def project(self, v: FloatArray, at: FloatArray | None = None) -> FloatArray:
        return project_simplices(v, self.real if at is None else at > 0)

    def moves(self, v: FloatArray, slope: FloatArray) -> np.ndarray:
        """A mask of the positive entries, in rows with at least two positive entries."""
        positive = v > 0
        moves: np.ndarray = positive & (positive.sum(axis=1) > 1)[:, None]
        return moves

    def face(self, v: FloatArray, slope: FloatArray, moves: np.ndarray) -> Face:
        """The directions that change the positive entries of a row, and keep the sum of the row."""
        row, column = np.nonzero(moves & (v > 0))
        return grouped(row, (row, column))


class TwoSides(FeasibleSet):
    """Rows v >= 0 with two sides: the entries with sign > 0 and those with sign < 0. Both have the same sum <= cap.

    sign: in the shape of v. Entries with sign 0 are 0.
    """

    def __init__(self, sign: FloatArray, cap: float):
        self.sign, self.cap = sign, cap
        self.up, self.down = sign > 0, sign < 0
        self.longest = cap

    def project(self, v: FloatArray, at: FloatArray | None = None) -> FloatArray:
        return project_rows(v, self.sign if at is None else np.where(at > 0, self.sign, 0.0), self.cap)

    def total(self, v: FloatArray) -> FloatArray:
        """The sum of the entries with sign > 0 in each row."""
        total: FloatArray = np.where(self.up, v, 0.0).sum(axis=1)
        return total

    def full(self, total: FloatArray) -> np.ndarray:
        """A mask (rows,) of the rows at the cap. total (rows,): the sum of one side of each row."""
        full: np.ndarray = total >= self.cap * (1 - 1e-13)
        return full

    def at_cap(self, v: FloatArray) -> np.ndarray:
        return self.full(self.total(v))

    def moves(self, v: FloatArray, slope: FloatArray) -> np.ndarray:
        """A mask of the positive entries, in rows in which some of them can move; `slope` has no influence.

        These are rows with at least two positive entries. If the sums of the row are at their limit `cap`, two of them
        must be on the same side.
        """
        u, w = (v > 0) & self.up, (v > 0) & self.down
        most = np.where(self.at_cap(v), np.maximum(u.sum(axis=1), w.sum(axis=1)), (u | w).sum(axis=1))
        moves: np.ndarray = (u | w) & (most > 1)[:, None]
        return moves

    def face(self, v: FloatArray, slope: FloatArray, moves: np.ndarray) -> Face:
        """The directions that change the positive entries of a row, and keep its constraints.

        At the cap, the sum of each side stays the same. Below the cap, the signed sum over both sides stays zero.
        """
        row, column = np.nonzero(moves & (v > 0))
        group = 2 * row + (self.down[row, column] & self.at_cap(v)[row])
        return grouped(group, (row, column), self.sign[row, column])

    def reach(self, v: FloatArray, slope: FloatArray, most: FloatArray) -> FloatArray:
        """The length of a Newton step for each entry of v: `most`, or less in a row that would move too far.

        In a row without curvature, the entries move by about half of the cap at most. The objective has a small
        curvature in rows with short differences of points. Without the limit, such a row would move by many times the
        cap, and other rows would move to balance it. The projection would then leave both kinds of rows at wrong
        points.
        """
        signed, positive = self.sign * slope, v > 0
        u, w = _spread(signed, positive & self.up), _spread(signed, positive & self.down)
        uneven = np.where(self.at_cap(v), np.maximum(u, w), _spread(signed, positive))
        with np.errstate(divide="ignore"):
            reach = np.minimum(most, (OWN * self.cap / uneven)[:, None])
        return np.broadcast_to(reach, v.shape)


def _spread(values: FloatArray, members: np.ndarray) -> FloatArray:
    """The largest minus the smallest value in each row, among the entries in the mask `members`; 0 without members."""
    largest = np.where(members, values, -np.inf).max(axis=1)
    return np.where(members.any(axis=1), largest - np.where(members, values, np.inf).min(axis=1), 0.0)


def grouped(group: IntArray, entries: tuple[IntArray, ...], sign: FloatArray | None = None) -> Face:
    """Orthonormal directions that keep the sum of each group of entries, or the signed sum if `sign` (p,) is given.

    They are Helmert contrasts: m - 1 directions for a group of m entries.

    group (p,): the number of the group of each entry. entries: the indices of the p entries, one array (p,) for each
    axis of v.
    """
    order = np.argsort(group, kind="stable")
    _, first, which = np.unique(group[order], return_index=True, return_inverse=True)
    rank = np.arange(len(group)) - first[which]
    entry = np.flatnonzero(rank > 0)
    k = rank[entry]
    length = k + 1
    ends = np.concatenate([[0], np.cumsum(length)])
    offset = np.arange(ends[-1]) - np.repeat(ends[:-1], length)
    columns = np.repeat(entry - k, length) + offset
    norm = np.repeat(1 / np.sqrt(k * (k + 1.0)), length)
    values = np.where(offset == np.repeat(k, length), -np.repeat(k, length), 1.0) * norm
    if sign is not None:
        values *= sign[order][columns]
    shape = len(entry), len(group)
    if len(entry) * len(group) <= FEW:  # a small sparse matrix takes longer to make than to use
        basis = np.zeros(shape)
        basis[np.repeat(np.arange(len(entry)), length), columns] = values
    else:
        basis = csr_array((values, columns, ends), shape=shape)
    return Face(tuple(each[order] for each in entries), basis)


def project_simplices(q: FloatArray, real: Any = True) -> FloatArray:
    """Project each row on { q >= 0, sum q = 1 }; entries outside the mask `real` become 0.

    An entry q becomes max(q - threshold, 0). With Q_k the sum of the k largest entries of the row, the threshold is
    max_k (Q_k - 1) / k. It lies within 1 of the largest entry. The largest entry is subtracted first, so that huge
    entries keep their digits.
    """
    q = np.where(real, q, -np.inf)
    q = np.maximum(q - q.max(axis=1, keepdims=True), -2.0)
    descending = -np.sort(np.where(real, -q, np.inf), axis=1)
    sums = np.cumsum(descending, axis=1) - 1
    threshold = (sums / np.arange(1, q.shape[1] + 1)).max(axis=1, keepdims=True)
    projected: FloatArray = np.where(real, np.maximum(q - threshold, 0.0), 0.0)
    return projected


def project_rows(v: FloatArray, sign: FloatArray, cap: float) -> FloatArray:
    """Project each row on { v >= 0, sum over sign > 0 = sum over sign < 0 <= cap }; entries of sign 0 become 0.

    Let a and b be the entries of the two sides of a row. For a given sum s of each side, both sides are projected on a
    simplex. The results are (a - alpha)_+ with alpha(s) = max_k (A_k - s) / k, and (b - beta)_+ with
    beta(s) = max_m (B_m - s) / m. A_k is the sum of the k largest entries of a, and B_m that of b. Without the limits
    0 <= s <= cap, the best s has alpha(s) + beta(s) = 0. This is s = max_km (m A_k + k B_m) / (k + m), which is then
    clipped to [0, cap]. The largest entry of each side is subtracted first, so that the sums keep their digits if v is
    many times the cap.
    """
    sides = np.stack([sign > 0, sign < 0])
    sums, most = _largest_sums(v, sides)
    width_u, width_w = np.maximum(1, np.count_nonzero(sides, axis=2).max(axis=1, initial=0)).tolist()
    s = _balanced_total(sums[0, :, :width_u], sums[1, :, :width_w], most[0] + most[1])
    s = np.minimum(np.maximum(s, 0.0), cap)[:, None]
    alpha, beta = ((sums - s) / np.arange(1, sums.shape[2] + 1)).max(axis=2, keepdims=True)
    left = (v - np.where(sides[0], most[0], most[1])) - np.where(sides[0], alpha, beta)
    projected: FloatArray = np.where(sign != 0, np.maximum(left, 0.0), 0.0)
    return projected


def _largest_sums(v: FloatArray, sides: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """For each side of each row, the sum of the k largest entries minus k times the largest, for k = 1, 2, ...

    Returns these sums (2, rows, width), and the largest entries (2, rows, 1). The sum is -inf if a side has fewer than
    k entries. The largest entry is 0 if a side has no entry. sides (2, rows, columns): the masks of the entries of both
    sides.
    """
    width = max(int(np.count_nonzero(sides, axis=2).max(initial=0)), 1)
    ascending = np.sort(np.where(sides, -v, np.inf), axis=2)[:, :, :width]
    first = ascending[:, :, :1]
    first = np.where(first < np.inf, first, 0.0)
    sums: FloatArray = -np.cumsum(ascending - first, axis=2)
    return sums, -first


def _balanced_total(A: FloatArray, B: FloatArray, most: FloatArray) -> FloatArray:
    """For each row, the sum s (rows,) that both sides have after a projection without the cap.

    It is max_km (m A_k + k B_m + k m most) / (k + m). A_k, in a column of A, is the sum of the k largest entries of the
    first side minus k times the largest. B_m is the same for the second side. most (rows, 1): the largest entry of the
    first side plus that of the second side. If the maximum is negative, the result is some number <= 0.
    """
    k, m = np.arange(1.0, A.shape[1] + 1), np.arange(1.0, B.shape[1] + 1)
    if len(k) * len(m) <= 100:  # all pairs at once
        both = k[:, None] + m
        total: FloatArray = (
            A[:, :, None] * (m / both)
            + B[:, None, :] * (k[:, None] / both)
            + most[:, :, None] * (k[:, None] * m / both)
        ).max(axis=(1, 2))
        return total
    # alpha(s) + beta(s) is convex, piecewise linear and decreasing: Newton's method from s = 0 increases to its zero
    rows, s = np.arange(len(A)), np.full(len(A), 0.0)
    while True:
        look()
        at_k = ((A - s[:, None]) / k).argmax(axis=1)
        at_m = ((B - s[:, None]) / m).argmax(axis=1)
        k_, m_ = k[at_k], m[at_m]
        zero = (m_ * A[rows, at_k] + k_ * B[rows, at_m] + k_ * m_ * most[:, 0]) / (k_ + m_)
        if not (zero > s).any():
            return s
        s = np.maximum(s, zero)
