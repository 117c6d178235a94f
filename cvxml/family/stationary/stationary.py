"""How stationary A^T A is, in balls (core/balls.py): of an F whose gradient by Q = A^T A is a sum of X_ij.

In coordinates in which the points have unit covariance C, with G = dF/dQ: |A|^2 = tr QC, |dF/dA|^2 = 4 tr QG C^-1 G.
Where features depend on each other C is that of a basis of them, which exact ranks find. To first order a step of A no
longer than max(|A|, 1), or a row of that length where one is free, leads nowhere below F - max(gradient, free).
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

NOTHING = 1e-290  # a scale that nothing can be a share of
PLENTY = 4  # times what the scale derivative is summed from: more than any distance, except where all is flat
# Two distances are taken for equal where they differ by less than 1/CLOSE of the least or 1/ROUNDING of the largest.
CLOSE, ROUNDING = 10**9, 1 << 46


class FirstOrder(NamedTuple):
    """Of a metric: balls, but for the last."""

    length: Any  # |A|^2
    gradient: Any  # |dF/dA|^2
    slope: Any  # dF(tA)/dt at t = 1
    free: float  # above what a free direction wins for a unit of it; 0 where none is free


def first_order(points: tuple[Any, int], Q: Squares, weights: Any, m: int) -> FirstOrder:
    """At the precision of now. points (n, d), integers times 2^exponent; weights (n, n), balls, of the X_ij in G."""
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
    """sum weights_ij (e_i - e_j)(e_i - e_j)^T, (n, n), of balls."""
    n = weights.nrows()
    both = weights + weights.transpose()
    sums = both * flint().arb_mat(n, 1, [1] * n)
    for i in range(n):
        both[i, i] = both[i, i] - sums[i, 0]
    return -both


def nearest(row: Sequence[int], i: int, largest: int) -> list[int]:
    """The points that are nearest to i, or all but that; largest: of all distances."""
    least = min(D for k, D in enumerate(row) if k != i)
    near = least + max(least // CLOSE, largest // ROUNDING)
    return [k for k, D in enumerate(row) if k != i and near >= D]


def turns(D: list[list[int]], unit: int, weights: Any) -> Any:
    """The sum of the sizes of what the slope is a sum of, at |A| = 1 where |A| is less. D: times 2^unit."""
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
    """Above what steps of A no longer than max(|A|, 1) win: by the gradient, by a free row."""
    size = root_upward(max(ends(of.length)[1], Fraction(1)))
    gradient = size * root_upward(max(ends(of.gradient)[1], Fraction(0)))
    return gradient * (1 + EPS), size * size * of.free * (1 + 4 * EPS)


def resolved(objective: Any, scales: Sequence[Fraction]) -> Fraction:
    """The least of the scales; 0 where that is no more than rounding of the objective, a ball."""
    least = min(scales)
    return least if least > max(abs(end) for end in ends(objective)) / ROUNDING else Fraction(0)


def interval(
    Q: FloatArray, M: FloatArray, objective: Any, left: tuple[float, float], scale: Fraction
) -> Exact:
    """Of the first-order step at M M^T, which stands for Q (d, d), with what `won_at_most` says."""
    if math.isinf(max(left)):
        raise ValueError("no bound is proved for the gain of a free row: scale the features")
    low, high = ends(objective)
    bound = low - Fraction(max(left))
    return Exact(bound, high, distance_to_square(Q, M), scale, of_step=True, step="first-order step")


def root_of_rank(Q: FloatArray, m: int, at: Coordinates, root: ArrayLike | None = None) -> FloatArray:
    """M (d, r) with M M^T next to Q (d, d), r at most m; `root` itself where it is given.

    Raises ValueError if its rank is above m.
    """
    M = components(Q, m, at).T if root is None else given_rows(root, len(Q), "root")
    if (rank := int(whole(M)[0].rank())) > m:
        raise ValueError(f"root is of rank {rank}, and n_components={m} is asked for")
    return M


def components(Q: FloatArray, m: int, at: Coordinates) -> FloatArray:
    """The A (rows, d), m rows at most, next to a root of Q (d, d), of which all is proved."""
    inside = examine_rank(Q, m, at)[0]
    return root_inside(inside) @ at.to.T if inside.any() else np.zeros((1, len(Q)))


def root_inside(inside: FloatArray) -> FloatArray:
    """A (rank, r) of a metric (r, r) in the coordinates: of an eigenvalue that is rounding it would have the root."""
    values, vectors = np.linalg.eigh(inside)
    used = values > len(values) * EPS * max(values[-1], 0.0)
    A: FloatArray = (np.sqrt(values[used]) * vectors[:, used]).T
    return A


def squared(A: FloatArray) -> Squares:
    """A^T A (d, d) of A (m, d), exactly."""
    rows, at = whole(A)
    return Squares(rows.transpose() * rows, 2 * at, 0.0)


def _of_pencil(A: FloatArray, C: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of (A, C), rising, and their vectors: of C near singular, whatever comes."""
    size = np.sqrt(np.diag(C))
    w, V = np.linalg.eigh(C / np.outer(size, size))
    W = V / np.sqrt(np.maximum(w, EPS * w[-1])) / size[:, None]
    values, vectors = np.linalg.eigh(W.T @ A @ W)
    return values, W @ vectors


def _rank_is_used(m: int, A: Any, C: Any) -> bool:
    """True if it is less than the points could use, and m eigenvalues of a metric are proved to be above INVISIBLE.

    A: C M C, of the metric M. Then no row of A is free. By vectors in whose span the metric is that large.
    """
    if m >= C.nrows():
        return False
    columns = balls(*whole(_of_pencil(floats(A), floats(C))[1][:, -m:]))
    rows = columns.transpose()
    return pivots(rows * A * columns - rows * C * columns * ball(INVISIBLE)) is not None


def _won(G: Any, C: Any) -> float:
    """A number t with G + t C proved psd, next to the least: what is won by a unit of the best direction."""
    guess = max(0.0, -float(_of_pencil(floats(G), floats(C))[0][0]))
    least = float(np.abs(floats(G)).max() / np.abs(floats(C)).max())
    tried = [guess * (1 + more) + least * more for more in (2.0**-60, 2.0**-50, 2.0**-40, 2.0**-30, 2.0**-20)]
    # far out G is 0 but for the radius of its balls, of which the middle says nothing
    widest = max(float(entry.abs_upper()) for entry in G.entries()) / float(np.diag(floats(C)).min())
    for t in (*tried, 2.0**20 * widest):
        if pivots(G + C * ball(t)) is not None:
            return t
    return math.inf
