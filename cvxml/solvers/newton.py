"""Linear algebra of the Newton steps in cone_dual.py: the derivative of P_+, and a regularised linear system.

P_+ replaces the negative eigenvalues of a symmetric matrix by 0. The dual objective of cone_dual.py is smooth on a face
of the feasible set, except for kinks of P_+(G). With G = Q diag(g) Q^T the derivative of P_+ is

    E -> Q ( Omega o (Q^T E Q) ) Q^T,   Omega_ab = ((g_a)_+ - (g_b)_+) / (g_a - g_b),

where o is the product entry by entry. In the basis Q the Hessian on the face is therefore B B^T. B has one row for each
direction within the face, and one column for each pair a <= b with Omega_ab > 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import blas, lapack

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.work import FACTORISING, doing

MAX_ENTRIES = 1.5e8  # entries of B: 1.2 GB


class Derivative(NamedTuple):
    """The derivative of P_+ at one G, divided by lam, as weights (q,) on pairs (a, b) of eigenvectors.

    A pair a <= b with Omega_ab > 0 has the weight sqrt(Omega_ab / lam), times sqrt(2) if a < b. Other pairs are left
    out. lam: the weight of the squared norm in the problem.
    """

    weights: FloatArray
    a: IntArray
    b: IntArray


def derivative(values: FloatArray, lam: float) -> Derivative:
    """The derivative of P_+ at a matrix G with the eigenvalues `values` (d,), divided by lam."""
    a, b = np.triu_indices(len(values))
    positive = np.maximum(values, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        omega = np.where(
            (values[a] > 0) == (values[b] > 0),
            (values[a] > 0) * 1.0,
            np.maximum(positive[a], positive[b]) / (np.abs(values[a]) + np.abs(values[b])),
        )
    keep = omega > 0
    a, b = a[keep], b[keep]
    return Derivative(np.sqrt(omega[keep] * np.where(a == b, 1.0, 2.0)) / np.sqrt(lam), a, b)


def solve_regularised(B: FloatArray, g: FloatArray) -> FloatArray:
    """(B B^T + I)^-1 g, from the smaller of the two Gram matrices of B."""
    if B.shape[0] <= B.shape[1]:
        return _cholesky_solve(blas.dsyrk(1.0, B.T, trans=1, lower=1), g)
    inner = _cholesky_solve(blas.dsyrk(1.0, B.T, lower=1), B.T @ g)
    result: FloatArray = g - B @ inner
    return result


def _cholesky_solve(gram: FloatArray, g: FloatArray) -> FloatArray:
    """(gram + I)^-1 g. Only the lower triangle of gram is read, and gram is overwritten."""
    gram[np.diag_indices_from(gram)] += 1.0
    with doing(FACTORISING):
        _, solution, failed = lapack.dposv(
            gram, g, lower=1, overwrite_a=1
        )  # has less overhead than cho_solve
    if failed:
        raise np.linalg.LinAlgError("a matrix of Newton's equations is not positive definite")
    result: FloatArray = solution
    return result
