"""Enclosures of the eigenvalues of a matrix that is similar to a symmetric one, as balls (core/balls.py)."""

from __future__ import annotations

from typing import Any

from cvxml.core.balls import TooFewBits, total
from cvxml.core.exact import flint


def inverted(A: Any) -> Any:
    """Return the inverse of a matrix of balls. Raises TooFewBits if they do not prove it invertible."""
    try:
        return A.inv()
    except ZeroDivisionError as error:
        raise TooFewBits("a matrix is too close to singular to be inverted with a proof") from error


def eigenvectors(of: Any) -> tuple[list[Any], Any]:
    """Return approximate eigenvalues, and the matrix of approximate eigenvectors as columns, without a proof."""
    values, vectors = flint().acb_mat(of).eig(right=True, algorithm="approx")
    return [each.real for each in values], vectors


def enclosed(of: Any) -> list[Any]:
    """Return balls that contain the eigenvalues, all of which are real, in the order of `eigenvectors`.

    The matrix is nearly diagonal in the basis of its approximate eigenvectors. Gershgorin discs that touch form a
    group. A group contains as many eigenvalues as discs. So each of its eigenvalues is within the sum of the
    diameters of all its discs from the centre of any of them. Raises TooFewBits if the precision is too low.
    """
    d, R = of.nrows(), eigenvectors(of)[1]
    M = inverted(R) * flint().acb_mat(of) * R
    beside = total([abs(M[i, j]) for i in range(d) for j in range(d) if j != i])
    wide = flint().arb(0, 2 * beside)  # as a ball: a float would round a tiny radius to 5e-324
    return [M[i, i].real + wide for i in range(d)]
