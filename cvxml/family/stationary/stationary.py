"""How far A^T A is from a stationary point of a function F, in balls: intervals with a proved radius (core/balls.py).

A (m, d) is a linear map, Q = A^T A its metric, and X_ij = (x_i - x_j)(x_i - x_j)^T. G = dF/dQ must be a weighted sum of
X_ij. Norms are taken in coordinates in which the points have unit covariance. With their covariance C this means
|A|^2 = tr QC and |dF/dA|^2 = 4 tr QG C^-1 G. If features depend on each other, C is the covariance of a basis of the
features, found by exact ranks.

A row of A is free if it is 0 or negligible (`INVISIBLE` in rank.py), and used otherwise. There are two kinds of steps.
A change of the used rows may have the length max(|A|, 1); it decreases F by at most g = max(|A|, 1) |dF/dA|, to first
order in A. If fewer than m rows are used, a free row may become a row of that length; it decreases F by at most a
number h, to first order in Q. Both at once, with this length in total, decrease F by at most g c + h s^2 with c^2 + s^2
= 1. This is at most 5/4 of the larger of g and h.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import ball, balls, ends, floats, pivots, total
from cvxml.core.clock import watched
from cvxml.core.exact import Exact, flint, root_upward
from cvxml.core.integer_matrices import basis_of, distance_to_square, given_rows, whole
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.spectrum import inverted
from cvxml.family.geometry.coordinates import Coordinates
from cvxml.family.stationary.rank import INVISIBLE, examine_rank
from cvxml.numbers.rational import Squares

NOTHING = 1e-290  # smallest scale that is reported, so that a relative gap never divides by 0
PLENTY = 4  # the scale is at most this times `turns`; this is small only where F is flat
# Distances are ties if they differ by at most 1/CLOSE of the smallest or 1/ROUNDING of the largest.
CLOSE, ROUNDING = 10**9, 1 << 46


class FirstOrder(NamedTuple):
    """First-order quantities of F at a metric, with A and the norms of the module docstring.

    length: |A|^2. gradient: |dF/dA|^2. slope: dF(tA)/dt at t = 1. These are balls. free: an upper bound of the decrease
    of F by a free row, per squared length of the row; 0 if no row is free.
    """

    length: Any  # |A|^2
    gradient: Any  # |dF/dA|^2
    slope: Any  # dF(tA)/dt at t = 1
    free: float  # upper bound of the decrease by a free row, per squared length; 0 if no row is free


def first_order(points: tuple[Any, int], Q: Squares, weights: Any, m: int) -> FirstOrder:
    """The first-order quantities of F at the metric Q, at the present precision of balls.

    points (n, d): integers, and the exponent of the power of two that multiplies them. m: the number of rows of A.
    weights (n, n): balls, with G = dF/dQ = sum weights_ij X_ij.
    """
    arb, arb_mat, n = flint().arb, flint().arb_mat, points[0].nrows()
    S, X, metric, basis = laplacian(weights), balls(*points), balls(Q.V, Q.at), basis_of(points[0])
    mean = arb_mat(1, n, [arb(1) / n] * n) * X
    around = arb_mat([[X[i, j] - mean[0, j] for j in range(X.ncols())] for i in range(n)])
    bases = arb_mat([[around[i, j] for j in basis] for i in range(n)])
    C, K, H = bases.transpose() * bases / n, bases.transpose() * around / n, bases.transpose() * S * X
    used = _rank_is_used(m, K * metric * K.transpose(), C)
    return FirstOrder(
        length=(around * metric * around.transpose()).trace() / n,
        gradient=4 * (metric * H.transpose() * inverted(C) * H).trace(),
        slope=2 * (S * X * metric * X.transpose()).trace(),
        free=0.0 if used else _won(bases.transpose() * S * bases, C),
    )


def laplacian(weights: Any) -> Any:
    """The matrix sum_ij weights_ij (e_i - e_j)(e_i - e_j)^T, (n, n), for unit vectors e_i, as balls."""
    n = weights.nrows()
    both = weights + weights.transpose()
    sums = both * flint().arb_mat(n, 1, [1] * n)
    for i in range(n):
        both[i, i] = both[i, i] - sums[i, 0]
    return -both


def nearest(row: Sequence[int], i: int, largest: int) -> list[int]:
    """The indices of the points other than i that are nearest to point i, including ties up to rounding.

    row: squared distances from i to all points, as integers. largest: the largest squared distance of any two points.
    """
    least = min(D for k, D in enumerate(row) if k != i)
    near = least + max(least // CLOSE, largest // ROUNDING)
    return [k for k, D in enumerate(row) if k != i and near >= D]


def turns(D: list[list[int]], unit: int, weights: Any) -> Any:
    """The sum of the absolute values 2 |weights_ij| D_ij of the terms of dF(tA)/dt at t = 1, a ball.

    It limits the scale that gaps are relative to (`PLENTY`). Here D_ij is a squared distance minus the smallest one
    from i to another point. If |A| < 1, the sum is divided by |A|^2: it is then the sum for the multiple of A with
    |A| = 1 and the same weights.

    D (n, n): squared distances as integers, which are multiplied by 2^unit. weights (n, n): balls, with
    dF/dQ = sum weights_ij X_ij.
    """
    n, parts = len(D), []
    for i, row in watched(enumerate(D)):
        least = min(each for k, each in enumerate(row) if k != i)
        parts += [
            abs(weights[i, k]) * ball(flint().fmpz(each - least), unit + 1)
            for k, each in enumerate(row)
            if k != i
        ]
    length = ball(flint().fmpz(sum(map(sum, D))), unit) / (2 * n * n)
    found = total(parts)
    return found / length if 0 < length < 1 else found


def won_at_most(of: FirstOrder) -> tuple[float, float]:
    """Upper bounds g and h of the decrease of F, to first order, by the two kinds of steps of length max(|A|, 1).

    g is for a change of the used rows, and h for a free row that becomes a row of this length. of: the first-order
    quantities at the metric.
    """
    size = root_upward(max(ends(of.length)[1], Fraction(1)))
    gradient = size * root_upward(max(ends(of.gradient)[1], Fraction(0)))
    return gradient * (1 + EPS), size * size * of.free * (1 + 4 * EPS)


def resolved(objective: Any, scales: Sequence[Fraction]) -> Fraction:
    """The smallest of `scales`, the candidates for the number that gaps are relative to.

    The result is 0 if the smallest one is at most 1 / `ROUNDING` of the objective (a ball), because rounding errors may
    then be as large.
    """
    least = min(scales)
    return least if least > max(abs(end) for end in ends(objective)) / ROUNDING else Fraction(0)


def interval(
    Q: FloatArray, M: FloatArray, objective: Any, left: tuple[float, float], scale: Fraction
) -> Exact:
    """The interval from the objective at the metric M M^T, minus a first-order decrease, up to the objective.

    M (d, r): M M^T stands for the metric Q (d, d). objective: a ball. left: bounds of the first-order decreases by a
    change of the used rows and by a free row (`won_at_most`); the larger one is subtracted.

    scale: the number that the gap is relative to. Raises ValueError if `left` is infinite.
    """
    if math.isinf(max(left)):
        raise ValueError(
            "no bound is proved for the gain of a step that adds a row to A: standardize the features, or divide the "
            "metric by a number if it is very large"
        )
    low, high = ends(objective)
    bound = low - Fraction(max(left))
    return Exact(bound, high, distance_to_square(Q, M), scale, of_step=True, step="first-order step")


def root_of_rank(Q: FloatArray, m: int, at: Coordinates, root: ArrayLike | None = None) -> FloatArray:
    """A matrix M (d, r), r <= m, with M M^T close to Q (d, d); `root` itself if it is given.

    at: coordinates of the points with unit covariance. Raises ValueError if the rank of `root` is above m.
    """
    M = components(Q, m, at).T if root is None else given_rows(root, len(Q), "root")
    if (rank := int(whole(M)[0].rank())) > m:
        raise ValueError(f"root has rank {rank}, above n_components={m}")
    return M


def components(Q: FloatArray, m: int, at: Coordinates) -> FloatArray:
    """A matrix A (rows, d), at most m rows, with A^T A close to Q (d, d). All proofs are made for this A.

    at: coordinates of the points with unit covariance. If A^T A would be 0, the result is a single row of zeros.
    """
    inside = examine_rank(Q, m, at)[0]
    return root_inside(inside) @ at.to.T if inside.any() else np.zeros((1, len(Q)))


def root_inside(inside: FloatArray) -> FloatArray:
    """A matrix A (rank, r) with A^T A equal to the metric `inside` (r, r), up to rounding.

    Eigenvalues within rounding of 0 are dropped, because the root of a rounding error is much larger than the error.
    """
    values, vectors = np.linalg.eigh(inside)
    used = values > len(values) * EPS * max(values[-1], 0.0)
    A: FloatArray = (np.sqrt(values[used]) * vectors[:, used]).T
    return A


def squared(A: FloatArray) -> Squares:
    """A^T A (d, d) for A (m, d), exactly."""
    rows, at = whole(A)
    return Squares(rows.transpose() * rows, 2 * at, 0.0)


def _pencil(A: FloatArray, C: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Increasing eigenvalues lambda of A v = lambda C v, and the eigenvectors v as columns, for A, C (r, r).

    They are inaccurate if C is nearly singular.
    """
    size = np.sqrt(np.diag(C))
    w, V = np.linalg.eigh(C / np.outer(size, size))
    W = V / np.sqrt(np.maximum(w, EPS * w[-1])) / size[:, None]
    values, vectors = np.linalg.eigh(W.T @ A @ W)
    return values, W @ vectors


def _rank_is_used(m: int, A: Any, C: Any) -> bool:
    """True if it is proved that no row of the linear map is free.

    C is the covariance of a basis of the features. A = K Q K^T is not the linear map: K is the covariance of this basis
    with all features. Both are balls. No row is free if m is below the rank of C, and m eigenvalues lambda of
    A v = lambda C v are above INVISIBLE. The proof: A - INVISIBLE C is positive definite on the span of m vectors v.
    """
    if m >= C.nrows():
        return False
    columns = balls(*whole(_pencil(floats(A), floats(C))[1][:, -m:]))
    rows = columns.transpose()
    return pivots(rows * A * columns - rows * C * columns * ball(INVISIBLE)) is not None


def _won(G: Any, C: Any) -> float:
    """A number t, close to the smallest, with G + t C proved psd; inf if none is found.

    It bounds the decrease of F by a free row, per squared length of that row. G = dF/dQ and C are matrices of balls.
    """
    guess = max(0.0, -float(_pencil(floats(G), floats(C))[0][0]))
    least = float(np.abs(floats(G)).max() / np.abs(floats(C)).max())
    tried = [guess * (1 + more) + least * more for more in (2.0**-60, 2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20)]
    # for a huge metric G is close to 0, and the radii of its balls exceed their midpoints
    widest = max(float(entry.abs_upper()) for entry in G.entries()) / float(np.diag(floats(C)).min())
    for t in (*tried, 2.0**20 * widest):
        if pivots(G + C * ball(t)) is not None:
            return t
    return math.inf
