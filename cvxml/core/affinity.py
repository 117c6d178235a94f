"""Affinities of the points of one class by local scaling, and their scatter matrix, in exact arithmetic.

Local Fisher discriminant analysis (LFDA) uses them.

The affinity is A_ij = exp(-D_ij / (s_i s_j)). D_ij is the squared distance, and the scale s_i is the distance of point
i to its K-th nearest neighbour in its class. A_ij = 0 if one of the two scales is 0.

The points are integers times a power of two. Their squared distances are exact, so it is certain whether a scale is 0.
The affinities are balls, intervals that contain the exact value (core/balls.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cvxml.core.balls import ball
from cvxml.core.clock import watched
from cvxml.core.exact import flint
from cvxml.core.integer_matrices import all_distances, whole
from cvxml.core.memory import BALL, INTEGER, check_room
from cvxml.core.metric import FloatArray, IntArray


class Members(NamedTuple):
    """The points of one class, shifted so that the first one is the origin, and their squared distances.

    The arrays `points` (n_c, d), D (n_c, n_c) and `nearest` (n_c,) hold integers; n_c is the number of points. The
    integer `at` is an exponent: the coordinates of the shifted points are points * 2^at. Their squared distances are
    D * 4^at, and nearest * 4^at holds the squared distance of each point to its K-th nearest other point.
    """

    points: Any  # (n_c, d) flint integers times 2^at, shifted so that the first point is the origin
    at: int
    D: list[list[int]]  # (n_c, n_c) squared distances, integers times 4^at
    nearest: list[int]  # (n_c,) squared distance to the K-th nearest other point, integers times 4^at

    @property
    def scaled(self) -> list[int]:
        """Return the indices of the points with s_i > 0."""
        return [i for i, D in enumerate(self.nearest) if D > 0]


def members(X: FloatArray, codes: IntArray, k: int) -> list[Members]:
    """Return the points of each class with their squared distances, in the order of the class codes.

    X: (n, d), the points.
    codes: (n,), the class code of each point, 0..R-1 for R classes.
    k: the K of the scale s_i; every class must have more than k points.

    Raises TooLarge if the squared distances do not fit into memory.
    """
    sizes = np.bincount(codes)
    check_room(
        INTEGER * int(np.sum(sizes**2)) + (2 * INTEGER + 3 * BALL) * int(sizes.max()) ** 2,
        f"exact distances of all pairs of points of a class, up to {sizes.max()} points,",
    )
    points, at = whole(X)
    rows = np.array(points.tolist(), dtype=object)
    found = []
    for c in watched(range(int(codes.max()) + 1)):
        own = rows[codes == c]
        around = flint().fmpz_mat((own - own[0]).tolist())
        D = all_distances(around)
        # the first entry of a sorted row is the distance of the point to itself, 0
        found.append(Members(around, at, D, [sorted(row)[k] for row in D]))
    return found


def local_scatter(of: Members) -> Any:
    """Return the sum of A_ij (x_i - x_j)(x_i - x_j)^T over all pairs i < j of points of the class `of`.

    The result is a matrix (d, d) of balls at the current precision. The sum is X^T (diag(a) - A) X, where the x_i are
    the rows of X, and a holds the row sums of A.
    """
    arb_mat, inside = flint().arb_mat, of.scaled
    if len(inside) < 2:
        return arb_mat(of.points.ncols(), of.points.ncols())
    narrow = [1 / ball(flint().fmpz(of.nearest[i])).sqrt() for i in inside]  # 1 / s_i
    L = [[ball(0)] * len(inside) for _ in inside]
    for a, i in watched(enumerate(inside)):
        row, distances = L[a], of.D[i]
        for b, j in enumerate(inside[:a]):
            A = (-(narrow[a] * narrow[b]) * flint().fmpz(distances[j])).exp()
            row[b] = L[b][a] = -A
            row[a] += A
            L[b][b] += A
    points = of.points.tolist()
    X = arb_mat([[ball(entry, of.at) for entry in points[i]] for i in inside])
    return X.transpose() * arb_mat(L) * X
