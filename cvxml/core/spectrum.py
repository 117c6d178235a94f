"""Eigenvalues of a matrix that is similar to a symmetric one, in balls (core/balls.py)."""

from __future__ import annotations

from typing import Any

from cvxml.core.balls import TooFewBits, total
from cvxml.core.exact import flint


def inverted(A: Any) -> Any:
    """Of balls. Raises TooFewBits where it is not known."""
    try:
        return A.inv()
    except ZeroDivisionError as error:
        raise TooFewBits("a matrix is next to singular") from error


def eigenvectors(of: Any) -> tuple[list[Any], Any]:
    """Eigenvalues and the eigenvectors beside each other, near the true ones: nothing is proved."""
    values, vectors = flint().acb_mat(of).eig(right=True, algorithm="approx")
    return [each.real for each in values], vectors


def enclosed(of: Any) -> list[Any]:
    """The eigenvalues, all of which are real: balls, in the order of `eigenvectors`.

    In coordinates in which it is next to diagonal: Gershgorin's discs that touch each other hold as many eigenvalues as
    they are, none further from a centre than all their diameters. Raises TooFewBits where too little is known.
    """
    d, R = of.nrows(), eigenvectors(of)[1]
    M = inverted(R) * flint().acb_mat(of) * R
    beside = total([abs(M[i, j]) for i in range(d) for j in range(d) if j != i])
    wide = flint().arb(0, 2 * beside)  # not through a float, in which a small one is 5e-324
    return [M[i, i].real + wide for i in range(d)]
