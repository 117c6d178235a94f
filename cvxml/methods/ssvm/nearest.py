"""The k nearest points of every class, of every point: all that the inferences need.

A set of H_r(tau) of least cost takes the nearest points of each class, at most k of them. Distances go through
matrix products, a block of points and a class at a time; those chosen are then computed again as sums of
squared differences, so that near ones keep their digits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.metric import FloatArray, IntArray

BLOCK = 400_000  # distances at a time: 3 MB, which a cache holds


class Nearest(NamedTuple):
    """Distances and indices, nearest first; inf and -1 where a class has fewer than k others."""

    D: FloatArray  # (n, R, k)
    J: IntArray  # (n, R, k)


def mapped(X: FloatArray, W: FloatArray) -> FloatArray:
    """X in coordinates (n, rank W) whose Euclidean distance is that of the psd part of W; centred."""
    values, vectors = np.linalg.eigh(W)
    keep = values > 0
    coordinates: FloatArray = (X - X.mean(axis=0)) @ (vectors[:, keep] * np.sqrt(values[keep]))
    return coordinates


def nearest(
    X: FloatArray, y: IntArray, R: int, W: FloatArray, k: int, rows: IntArray | None = None
) -> Nearest:
    """The k nearest of each of R classes in the metric W (d, d), for the points `rows` (default: all of X).

    A point is never its own neighbour. Of points at equal distance the one of lower index comes first.
    """
    Z = mapped(X, W)
    rows = np.arange(len(Z)) if rows is None else rows
    D, J = np.full((len(rows), R, k), np.inf), np.full((len(rows), R, k), -1, dtype=np.intp)
    # one product gives ||z_j||^2 - 2 <z_i, z_j>, the squared distance up to ||z_i||^2, which changes no order
    by_class = np.argsort(y, kind="stable")
    place = np.empty(len(Z), dtype=np.intp)
    place[by_class] = np.arange(len(Z))
    left = np.column_stack([Z[rows], np.ones(len(rows))])
    right = np.column_stack([-2 * Z, np.einsum("nd,nd->n", Z, Z)])[by_class]
    ends = np.cumsum(np.bincount(y, minlength=R))
    for c, (first, last) in enumerate(zip([0, *ends[:-1]], ends, strict=True)):
        step = max(1, BLOCK // max(1, last - first))
        for start in range(0, len(rows) if last > first else 0, step):
            block = slice(start, start + step)
            away = left[block] @ right[first:last].T
            itself = np.flatnonzero(y[rows[block]] == c)
            away[itself, place[rows[block][itself]] - first] = np.inf
            D[block, c], J[block, c] = _smallest(away, Z, rows[block], by_class[first:last], k)
    return Nearest(D, J)


def _smallest(
    away: FloatArray, Z: FloatArray, points: IntArray, members: IntArray, k: int
) -> tuple[FloatArray, IntArray]:
    """The k smallest of each row of `away` (overwritten), distances computed afresh, in order."""
    rows = np.arange(len(away))
    D, J = np.full((len(away), k), np.inf), np.full((len(away), k), -1, dtype=np.intp)
    for t in range(min(k, len(members))):
        column = away.argmin(axis=1)
        found = np.isfinite(away[rows, column])
        away[rows, column] = np.inf
        J[found, t] = members[column[found]]
        difference = Z[points[found]] - Z[J[found, t]]
        D[found, t] = np.einsum("nd,nd->n", difference, difference)
    order = np.lexsort((J, D), axis=1)
    return np.take_along_axis(D, order, axis=1), np.take_along_axis(J, order, axis=1)
