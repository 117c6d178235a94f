"""Matrices proved psd by being squares: M M^T for a metric, L L^T for what is missing. Exact; needs python-flint.

M and L are found by floating point (eigenvectors), or given: how good they are decides how wide an interval is, not
whether it is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import look, watched
from cvxml.core.exact import flint, integers, root_upward, scaled, sum_of_squares
from cvxml.core.metric import FloatArray, IntArray, examine, real_array

Points = Sequence[Sequence[int]]


def whole(array: FloatArray) -> tuple[Any, int]:
    """The floats (p, q) as a matrix of flint's integers, and the exponent of two they are to be multiplied with."""
    rows, exponent = integers(array)
    return flint().fmpz_mat(rows), exponent


def from_the_first(X: FloatArray) -> tuple[Any, int]:
    """Points (n, d) as integers, the first in the origin, and the exponent of two they are to be multiplied with."""
    rows, exponent = whole(X)
    points = np.array(rows.tolist(), dtype=object)
    return flint().fmpz_mat((points - points[0]).tolist()), exponent


def basis_of(points: Any) -> list[int]:
    """Features that are a basis of all of them, of points of integers with the first in the origin, exactly."""
    reduced, _, rank = (points.transpose() * points).rref()
    return [next(j for j in range(reduced.ncols()) if reduced[i, j] != 0) for i in range(rank)]


def symmetric_whole(array: FloatArray) -> tuple[Any, int]:
    """(M + M^T) / 2 of floats (d, d), exactly: integers, and the exponent of two they are to be multiplied with."""
    rows, exponent = whole(array)
    return rows + rows.transpose(), exponent - 1


def root_of(A: FloatArray, root: ArrayLike | None = None) -> FloatArray:
    """M with M M^T near `A` (d, d); `root` (d, r) itself where it is given. Raises ValueError for another shape."""
    if root is not None:
        return given_rows(root, len(A), "root")
    values, vectors = np.linalg.eigh(examine(A)[0])
    M: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return M


def distance_to_square(A: FloatArray, M: FloatArray) -> float:
    """An upper bound of ||A - M M^T||."""
    rows, M_at = whole(M)
    given, A_at = whole(A)
    low = min(2 * M_at, A_at)
    difference = rows * rows.transpose() * (1 << (2 * M_at - low)) - given * (1 << (A_at - low))
    return root_upward(scaled(sum_of_squares(difference), 2 * low))


def missing_to_psd(G: Any, at: int) -> FloatArray:
    """L (d, d) with L L^T near P_+(-G), for integers G and an exponent."""
    d = G.nrows()
    largest = max((abs(int(entry)) for entry in G.entries()), default=0)
    shift = largest.bit_length() - 60
    shift += (shift + at) % 2  # then the root of the unit is a power of two
    G = G * (1 << max(-shift, 0))
    rough = np.array([[float(int(G[i, j]) >> max(shift, 0)) for j in range(d)] for i in range(d)])
    values, vectors = np.linalg.eigh((rough + rough.T) / 2)
    L: FloatArray = vectors * np.ldexp(np.sqrt(np.maximum(-values, 0.0)), (shift + at) // 2)
    return L


def weighted_outer(points: Points, weights: Mapping[tuple[int, int], int]) -> Any:
    """sum of weight (x_i - x_j)(x_i - x_j)^T over the pairs (i, j), for points of integers."""
    fmpz_mat, d = flint().fmpz_mat, len(points[0])
    used = [(pair, weight) for pair, weight in weights.items() if weight]
    if not used:
        return fmpz_mat(d, d)
    edges = [[a - b for a, b in zip(points[i], points[j], strict=True)] for (i, j), _ in used]
    heavy = [[weight * a for a in edge] for edge, (_, weight) in zip(edges, used, strict=True)]
    return fmpz_mat(edges).transpose() * fmpz_mat(heavy)


def within_groups(X: FloatArray, group: IntArray, weights: Sequence[int]) -> tuple[Any, int]:
    """sum_c weight_c (x_i - x_j)(x_i - x_j)^T over every two points of group c: integers, times 2^exponent.

    X (n, d); group (n,), codes c. Of n_c points it is n_c sum x x^T - (sum x)(sum x)^T.
    """
    points, at = whole(X)
    look()
    rows, fmpz_mat = np.array(points.tolist(), dtype=object), flint().fmpz_mat
    look()
    sums = np.zeros((len(weights), X.shape[1]), dtype=object)
    np.add.at(sums, group, rows)
    look()
    weight = np.array(weights, dtype=object)
    heavy = rows * (weight * np.bincount(group, minlength=len(weights)))[group][:, None]
    look()
    total = points.transpose() * fmpz_mat(heavy.tolist())
    return total - fmpz_mat(sums.tolist()).transpose() * fmpz_mat((sums * weight[:, None]).tolist()), 2 * at


def rationals(matrix: Any, unit: Fraction, diagonal: float = 0.0) -> Any:
    """unit times integers (d, d), and a float added to the diagonal, as flint's rationals."""
    module = flint()
    one = module.fmpz_mat(np.eye(matrix.nrows(), dtype=int).tolist())
    own = module.fmpq_mat(matrix) * module.fmpq(unit.numerator, unit.denominator)
    return own + module.fmpq_mat(one) * module.fmpq(*diagonal.as_integer_ratio())


def is_singular(A: FloatArray) -> bool:
    """True if the floats A (d, d), as rational numbers, are a singular matrix."""
    return bool(np.isfinite(A).all()) and int(whole(A)[0].det()) == 0


def is_psd(M: Any) -> bool:
    """Of a symmetric matrix of integers: its roots are real, so it is if its characteristic polynomial alternates."""
    coefficients = M.charpoly().coeffs()
    d = len(coefficients) - 1
    return all((-1) ** (d - k) * int(c) >= 0 for k, c in enumerate(coefficients))


def is_definite(M: Any) -> bool:
    """Of a symmetric matrix of integers."""
    return int(M.det()) > 0 and is_psd(M)


def all_distances(images: Any) -> list[list[int]]:
    """The squared distances of every two rows of a matrix of integers, from their products: nothing cancels."""
    products = [[int(entry) for entry in row] for row in watched((images * images.transpose()).tolist())]
    lengths = [row[i] for i, row in enumerate(products)]
    return [
        [a + b - 2 * product for b, product in zip(lengths, row, strict=True)]
        for a, row in watched(zip(lengths, products, strict=True))
    ]


def of_sum(row: Mapping[Any, int], s: int) -> dict[Any, int]:
    """The weights >= 0 scaled to the sum `s`, to the last unit: rounding is made up for in the largest of them."""
    before = sum(row.values())
    scaled_row = {j: value * s // before for j, value in row.items()} if before else dict(row)
    largest = max(scaled_row, key=lambda j: scaled_row[j])
    scaled_row[largest] += s - sum(scaled_row.values())
    return scaled_row


def given_rows(array: ArrayLike, d: int, name: str) -> FloatArray:
    """A finite matrix (d, r), as floats. Raises ValueError for anything else."""
    values = real_array(array, name)
    if values.ndim != 2 or len(values) != d or values.shape[1] == 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} must be a finite matrix of {d} rows, got shape {values.shape}")
    return values
