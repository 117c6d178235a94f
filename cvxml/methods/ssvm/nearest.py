"""The k nearest points of every class, of every point: all that the inferences need.

A set of H_r(tau) of least cost takes the nearest points of each class, at most k of them. Distances go through
matrix products, a block of points and a class at a time; those chosen are then computed again as sums of
squared differences, so that near ones keep their digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray, psd_root

BLOCK = 400_000  # distances at a time: 3 MB, which a cache holds


class Nearest(NamedTuple):
    """Distances and indices, nearest first; inf and -1 where a class has fewer than k others."""

    D: FloatArray  # (n, R, k)
    J: IntArray  # (n, R, k)


def mapped(X: FloatArray, T: FloatArray) -> FloatArray:
    """X in coordinates (n, m) whose Euclidean distance is that of T T^T, T (d, m); centred."""
    coordinates: FloatArray = (X - X.mean(axis=0)) @ T
    return coordinates


def nearest(
    X: FloatArray,
    y: IntArray,
    R: int,
    W: FloatArray,
    k: int,
    rows: IntArray | None = None,
    root: FloatArray | None = None,
) -> Nearest:
    """The k nearest of each of R classes in the metric W (d, d), for the points `rows` (default: all of X).

    A point is never its own neighbour. Of points at equal distance the one of lower index comes first. root: that of W,
    where it is known already.
    """
    Z = mapped(X, psd_root(W) if root is None else root)
    rows = np.arange(len(Z)) if rows is None else rows
    J = _candidates(Z, y, R, k, rows)
    D = np.empty(J.shape)
    step = max(1, BLOCK // max(1, R * k * Z.shape[1]))
    for start in watched(range(0, len(rows), step)):
        block = slice(start, start + step)
        difference = Z[rows[block], None, None] - Z[J[block]]
        D[block] = np.einsum("nrkd,nrkd->nrk", difference, difference)
    D[J < 0] = np.inf
    order = np.lexsort((J, D), axis=2)
    return Nearest(np.take_along_axis(D, order, axis=2), np.take_along_axis(J, order, axis=2))


def _candidates(Z: FloatArray, y: IntArray, R: int, k: int, rows: IntArray) -> IntArray:
    """The k nearest of each class by a matrix product, (rows, R, k); -1 where there are fewer."""
    J = np.full((len(rows), R, k), -1, dtype=np.intp)
    by_class = np.argsort(y, kind="stable")
    place = np.empty(len(Z), dtype=np.intp)
    place[by_class] = np.arange(len(Z))
    # one product gives ||z_j||^2 - 2 <z_i, z_j>, the squared distance up to ||z_i||^2, which changes no order
    left = np.column_stack([Z[rows], np.ones(len(rows))])
    right = np.column_stack([-2 * Z, np.einsum("nd,nd->n", Z, Z)])[by_class]
    ends = np.cumsum(np.bincount(y, minlength=R)).tolist()
    for c, (first, last) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        step = max(1, BLOCK // max(1, last - first))
        for start in watched(range(0, len(rows) if last > first else 0, step)):
            block = slice(start, start + step)
            away = left[block] @ right[first:last].T
            itself = np.flatnonzero(y[rows[block]] == c)
            away[itself, place[rows[block][itself]] - first] = np.inf
            _take_smallest(away, by_class[first:last], J[block, c])
    return J


def _take_smallest(away: FloatArray, members: IntArray, J: IntArray) -> None:
    """Write the members of the smallest entries of each row of `away` (overwritten) into J (rows, k)."""
    each = np.arange(len(away))
    for t in watched(range(min(J.shape[1], len(members)))):
        column = away.argmin(axis=1)
        J[:, t] = np.where(away[each, column] < np.inf, members[column], -1)
        away[each, column] = np.inf
