"""Matrices of integers for exact proofs. Uses python-flint.

Every matrix of floats is a matrix of integers times a power of two. A square, such as M M^T (a metric) or L L^T (the
slack of a psd constraint), is psd for all M and L. M and L come from eigenvectors in floating point, or from the user.
Their accuracy decides the width of the resulting interval for the optimum, but not its correctness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import cholesky_is_positive, precision
from cvxml.core.clock import look, watched
from cvxml.core.exact import flint, integers, root_upward, scaled, sum_of_squares
from cvxml.core.metric import FloatArray, IntArray, examine, real_array

Points = Sequence[Sequence[int]]
MANY = 16  # rows from which a factorization in balls is tried before the characteristic polynomial


def whole(array: FloatArray) -> tuple[Any, int]:
    """Return floats (p, q) as a matrix of flint integers, and the exponent of the power of two that multiplies them."""
    rows, exponent = integers(array)
    return flint().fmpz_mat(rows), exponent


def from_the_first(X: FloatArray) -> tuple[Any, int]:
    """Return points (n, d) minus the first point, as flint integers, and the exponent of two that multiplies them."""
    rows, exponent = whole(X)
    points = np.array(rows.tolist(), dtype=object)
    return flint().fmpz_mat((points - points[0]).tolist()), exponent


def basis_of(points: Any) -> list[int]:
    """Return indices of features whose columns are a basis of the span of all columns, exactly.

    points: flint integers (n, d), with the first point at the origin.
    """
    # P and P^T P have the same row space, and so the same reduced form; the smaller one is much faster
    small = points if points.nrows() < points.ncols() else points.transpose() * points
    reduced, _, rank = small.rref()
    return [next(j for j in range(reduced.ncols()) if reduced[i, j] != 0) for i in range(rank)]


def symmetric_whole(array: FloatArray) -> tuple[Any, int]:
    """Return (M + M^T) / 2 of floats M (d, d), exactly: flint integers and the exponent of two that multiplies them."""
    rows, exponent = whole(array)
    return rows + rows.transpose(), exponent - 1


def root_of(A: FloatArray, root: ArrayLike | None = None) -> FloatArray:
    """Return a matrix M with M M^T near `A` (d, d): the given `root` (d, r), or else a computed one (d, d).

    Raises ValueError if `root` has another shape, NaN or infinity.
    """
    if root is not None:
        return given_rows(root, len(A), "root")
    values, vectors = np.linalg.eigh(examine(A)[0])
    M: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return M


def distance_to_square(A: FloatArray, M: FloatArray) -> float:
    """Return an upper bound of the Frobenius distance ||A - M M^T||."""
    difference, at = difference_to_square(A, M)
    return root_upward(scaled(sum_of_squares(difference), 2 * at))


def difference_to_square(A: FloatArray, M: FloatArray) -> tuple[Any, int]:
    """Return M M^T - A (d, d), exactly: flint integers, and the exponent of two that multiplies them."""
    rows, M_at = whole(M)
    given, A_at = whole(A)
    low = min(2 * M_at, A_at)
    return rows * rows.transpose() * (1 << (2 * M_at - low)) - given * (1 << (A_at - low)), low


def missing_to_psd(G: Any, at: int) -> FloatArray:
    """Return floats L (d, d) such that G 2^at + L L^T is psd up to rounding.

    G: (d, d), flint integers. L L^T is near -G 2^at with its negative eigenvalues replaced by 0.
    """
    d = G.nrows()
    largest = max((abs(int(entry)) for entry in G.entries()), default=0)
    shift = largest.bit_length() - 60
    # makes the exponent even, so that the square root of the unit is a power of two
    shift += (shift + at) % 2
    G = G * (1 << max(-shift, 0))
    rough = np.array([[float(int(G[i, j]) >> max(shift, 0)) for j in range(d)] for i in range(d)])
    values, vectors = np.linalg.eigh((rough + rough.T) / 2)
    L: FloatArray = vectors * np.ldexp(np.sqrt(np.maximum(-values, 0.0)), (shift + at) // 2)
    return L


def weighted_outer(points: Points, weights: Mapping[tuple[int, int], int]) -> Any:
    """Return the sum over pairs (i, j) of weights[i, j] (x_i - x_j)(x_i - x_j)^T, a matrix (d, d) of flint integers.

    points: the x_i, as n lists of d integers.
    """
    fmpz_mat, d = flint().fmpz_mat, len(points[0])
    used = [(pair, weight) for pair, weight in weights.items() if weight]
    if not used:
        return fmpz_mat(d, d)
    edges = [[a - b for a, b in zip(points[i], points[j], strict=True)] for (i, j), _ in used]
    heavy = [[weight * a for a in edge] for edge, (_, weight) in zip(edges, used, strict=True)]
    return fmpz_mat(edges).transpose() * fmpz_mat(heavy)


def within_groups(X: FloatArray, group: IntArray, weights: Sequence[int]) -> tuple[Any, int]:
    """Return the sum of weights[c] (x_i - x_j)(x_i - x_j)^T over all groups c and all pairs i < j of points of c.

    X: (n, d), the points x_i.
    group: (n,), the group 0, 1, ... of each point.
    weights: one integer for each group.

    The result is exact: a matrix (d, d) of flint integers, and the exponent of the power of two that multiplies it. For
    a group of m points, the sum of (x_i - x_j)(x_i - x_j)^T is m sum_i x_i x_i^T - (sum_i x_i)(sum_i x_i)^T.
    """
    integer_rows, at = integers(X)
    look()
    rows, fmpz_mat = np.array(integer_rows, dtype=object), flint().fmpz_mat
    look()
    sums = np.zeros((len(weights), X.shape[1]), dtype=object)
    np.add.at(sums, group, rows)
    look()
    weight = np.array(weights, dtype=object)
    heavy = rows * (weight * np.bincount(group, minlength=len(weights)))[group][:, None]
    look()
    total = fmpz_mat(integer_rows).transpose() * fmpz_mat(heavy.tolist())
    return total - fmpz_mat(sums.tolist()).transpose() * fmpz_mat((sums * weight[:, None]).tolist()), 2 * at


def rationals(matrix: Any, unit: Fraction, diagonal: float = 0.0) -> Any:
    """Return unit * matrix + diagonal * I (d, d) as flint rationals, for a matrix of flint integers."""
    module = flint()
    one = module.fmpz_mat(np.eye(matrix.nrows(), dtype=int).tolist())
    own = module.fmpq_mat(matrix) * module.fmpq(unit.numerator, unit.denominator)
    return own + module.fmpq_mat(one) * module.fmpq(*diagonal.as_integer_ratio())


def is_singular(A: FloatArray) -> bool:
    """Return True if the floats A (d, d), as rational numbers, are a singular matrix."""
    return bool(np.isfinite(A).all()) and int(whole(A)[0].det()) == 0


def is_psd(M: Any) -> bool:
    """Return True if a symmetric matrix of flint integers is psd.

    For 16 or more rows, a factorization in balls is tried first. It is much faster, and proves most positive definite
    matrices. If it fails, the characteristic polynomial decides. M is psd if and only if its coefficients alternate in
    sign (zeros allowed), because the eigenvalues of M are real.
    """
    if M.nrows() >= MANY and _is_proved_definite(M):
        return True
    coefficients = M.charpoly().coeffs()
    d = len(coefficients) - 1
    return all((-1) ** (d - k) * int(c) >= 0 for k, c in enumerate(coefficients))


def is_definite(M: Any) -> bool:
    if M.nrows() >= MANY and _is_proved_definite(M):
        return True
    return int(M.det()) > 0 and is_psd(M)


def _is_proved_definite(M: Any) -> bool:
    """Return True if balls prove a symmetric matrix of flint integers positive definite; False if they do not."""
    with precision():
        return cholesky_is_positive(flint().arb_mat(M))


def all_distances(images: Any) -> list[list[int]]:
    """Return the squared distances of all pairs of rows of a matrix of flint integers, as n lists of n integers."""
    return from_products(images * images.transpose())


def from_products(P: Any) -> list[list[int]]:
    """Return P_ii + P_jj - 2 P_ij for all i and j, the squared distances of points with inner products P (n, n).

    P: flint integers. The result has n lists of n integers.
    """
    products = [[int(entry) for entry in row] for row in watched(P.tolist())]
    lengths = [row[i] for i, row in enumerate(products)]
    return [
        [a + b - 2 * product for b, product in zip(lengths, row, strict=True)]
        for a, row in watched(zip(lengths, products, strict=True))
    ]


def of_sum(row: Mapping[Any, int], s: int) -> dict[Any, int]:
    """Return the weights in `row`, {key: integer >= 0}, scaled to the sum `s` and rounded down.

    Then the largest weight is increased by the remainder, so the sum is exactly `s`. `row` must not be empty.
    """
    before = sum(row.values())
    scaled_row = {j: value * s // before for j, value in row.items()} if before else dict(row)
    largest = max(scaled_row, key=lambda j: scaled_row[j])
    scaled_row[largest] += s - sum(scaled_row.values())
    return scaled_row


def given_rows(array: ArrayLike, d: int, name: str) -> FloatArray:
    """Return `array` as a finite matrix (d, r) of floats, r >= 1. Raises ValueError for other input.

    name: what the message calls `array`.
    """
    values = real_array(array, name)
    if values.ndim != 2 or len(values) != d or values.shape[1] == 0 or not np.isfinite(values).all():
        held = "" if np.isfinite(values).all() else ", with NaN or infinity"
        raise ValueError(f"{name} must be a finite matrix of {d} rows, got shape {values.shape}{held}")
    return values
