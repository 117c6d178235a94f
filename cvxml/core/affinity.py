"""Local scaling: how near two points of a class are, as each of them sees distances; sums over pairs weighted by it.

A_ij = exp(-D_ij / (s_i s_j)), D squared distances and s_i the distance of i to the K-th nearest of its class; 0 where a
scale is 0. Distances are integers, so that a scale of 0 is a fact; the rest is balls (core/balls.py).
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
    """The points of a class."""

    points: Any  # (n_c, d), flint's integers times 2^at, the first of them in the origin
    at: int
    D: list[list[int]]  # (n_c, n_c), integers times 4^at
    nearest: list[int]  # (n_c,) the K-th smallest of D to another point

    @property
    def scaled(self) -> list[int]:
        """The points whose scale is not 0."""
        return [i for i, D in enumerate(self.nearest) if D > 0]


def members(X: FloatArray, codes: IntArray, k: int) -> list[Members]:
    """Of every class, each of more than k points."""
    sizes = np.bincount(codes)
    check_room(
        INTEGER * int(np.sum(sizes**2)) + (2 * INTEGER + 3 * BALL) * int(sizes.max()) ** 2,
        f"exact distances of every two points of a class, up to {sizes.max()} points,",
    )
    points, at = whole(X)
    rows = np.array(points.tolist(), dtype=object)
    found = []
    for c in watched(range(int(codes.max()) + 1)):
        own = rows[codes == c]
        around = flint().fmpz_mat((own - own[0]).tolist())
        D = all_distances(around)
        # the first of a row, when sorted, is the distance of the point to itself
        found.append(Members(around, at, D, [sorted(row)[k] for row in D]))
    return found


def local_scatter(of: Members) -> Any:
    """The sum of A_ij (x_i - x_j)(x_i - x_j)^T over every two points of a class, (d, d) balls at the precision of now.

    With the row sums a of A it is X^T (diag a - A) X.
    """
    arb_mat, inside = flint().arb_mat, of.scaled
    if len(inside) < 2:
        return arb_mat(of.points.ncols(), of.points.ncols())
    L = arb_mat(len(inside), len(inside))
    for a, i in watched(enumerate(inside)):
        for b, j in enumerate(inside[:a]):
            product = ball(flint().fmpz(of.nearest[i] * of.nearest[j]))
            A = (-ball(flint().fmpz(of.D[i][j])) / product.sqrt()).exp()
            L[a, b] = L[b, a] = -A
            L[a, a] += A
            L[b, b] += A
    points = of.points.tolist()
    X = arb_mat([[ball(entry, of.at) for entry in points[i]] for i in inside])
    return X.transpose() * L * X
