"""Proved bounds for the eigenvalues of a matrix that is similar to a symmetric one. GMML and LFDA use them.

Numbers are balls: intervals of python-flint, each of which contains the exact value (core/balls.py).
"""

from __future__ import annotations

from typing import Any

from cvxml.core.balls import TooFewBits, total
from cvxml.core.exact import flint


def inverted(A: Any) -> Any:
    """Return the inverse of a matrix of balls. Raises TooFewBits if the balls are too wide to prove it invertible."""
    try:
        return A.inv()
    except ZeroDivisionError as error:
        raise TooFewBits(
            "a matrix is too close to singular: its inverse has no proved error bound at this precision"
        ) from error


def eigenvectors(of: Any) -> tuple[list[Any], Any]:
    """Return the real parts of approximate eigenvalues, and a matrix with approximate eigenvectors as columns.

    Neither has an error bound. of: a square matrix of balls.
    """
    values, vectors = flint().acb_mat(of).eig(right=True, algorithm="approx")
    return [each.real for each in values], vectors


def enclosed(of: Any) -> list[Any]:
    """Return a ball around each eigenvalue of the matrix `of` (d, d), in the order of `eigenvectors`.

    of: a matrix of balls; its eigenvalues must be real.

    M is the matrix in the basis of its approximate eigenvectors, so it is nearly diagonal. The i-th ball has the centre
    M_ii, and its radius is the sum of the diameters of all Gershgorin discs of M. A connected group of discs holds as
    many eigenvalues as discs, and no two points of the group are further apart than this radius.

    Raises TooFewBits if the precision is too low.
    """
    d, R = of.nrows(), eigenvectors(of)[1]
    M = inverted(R) * flint().acb_mat(of) * R
    beside = total([abs(M[i, j]) for i in range(d) for j in range(d) if j != i])
    wide = flint().arb(0, 2 * beside)  # as a ball: a float would round a tiny radius to 5e-324
    return [M[i, i].real + wide for i in range(d)]
