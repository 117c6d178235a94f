"""A regularised semismooth Newton step on the face of the compact dual that holds v.

Once accelerated gradient has found which u_ij and w_il are positive, the dual is smooth on the face they
span, up to the (semismooth) projection P_+. With G = Q diag(g) Q^T the derivative of P_+ is
    E -> Q ( Omega o (Q^T E Q) ) Q^T,   Omega_ab = ((g_a)_+ - (g_b)_+) / (g_a - g_b),
so in the basis Q the Hessian on the face is B B^T: one row of B for each direction within the face, one
column for each pair a <= b with Omega_ab > 0. The step solves (B B^T + I / (sigma step)) z = -gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve
from scipy.sparse import csr_array

from cvxml.methods.mlsvm.dual import CompactDual
from cvxml.metric import FloatArray, IntArray

MAX_ENTRIES = 1.5e8  # of B: 1.2 GB


class Face(NamedTuple):
    """Orthonormal directions within the face: `basis` (m, p) over the p entries (row[p], column[p]) of v."""

    basis: Any  # csr_array, acts on the matrices X_ij themselves, impostors and targets alike
    row: IntArray
    column: IntArray
    basis_row: IntArray  # (m,): the row of v that a direction belongs to


def face_of(v: FloatArray, problem: CompactDual) -> Face:
    """The face of the feasible set that holds v.

    A row below the cap may move while sum u = sum w: in signed terms sign * v, its positive entries move with
    zero sum. A row at the cap has two such groups, u and w. A group of m entries has m - 1 directions: the
    Helmert contrasts.
    """
    positive = v > 0
    at_cap = problem.at_cap(v)
    row, column = np.nonzero(positive)
    group = 2 * row + (problem.down[row, column] & at_cap[row])
    order = np.argsort(group, kind="stable")
    row, column, group = row[order], column[order], group[order]
    _, first, which = np.unique(group, return_index=True, return_inverse=True)
    rank = np.arange(len(group)) - first[which]
    entry = np.flatnonzero(rank > 0)
    k = rank[entry]
    length = k + 1
    ends = np.concatenate([[0], np.cumsum(length)])
    offset = np.arange(ends[-1]) - np.repeat(ends[:-1], length)
    columns = np.repeat(entry - k, length) + offset
    norm = np.repeat(1 / np.sqrt(k * (k + 1.0)), length)
    values = np.where(offset == np.repeat(k, length), -np.repeat(k, length), 1.0) * norm
    basis = csr_array((values, columns, ends), shape=(len(entry), len(row)))
    return Face(basis, row, column, row[entry])


def newton_direction(
    problem: CompactDual,
    v: FloatArray,
    D: FloatArray,
    values: FloatArray,
    vectors: FloatArray,
    reach: float,
) -> FloatArray | None:
    """The step from v, in the shape of v; None if the face is a point or too large to factorise.

    D: distances at v; `values`, `vectors`: eigen-decomposition of G at v. `reach` is sigma times the
    first-order step: large values give the plain Newton step.
    """
    face = face_of(v, problem)
    weights, a, b = _derivative_weights(values, problem.lam)
    m = face.basis.shape[0]
    if m == 0 or len(a) == 0 or max(m, len(face.row)) * len(a) > MAX_ENTRIES:
        return None
    XQ = problem.X @ vectors
    edges = XQ[problem.rows[face.row]] - XQ[problem.J[face.row, face.column]]
    products = np.take(edges, a, axis=1)
    products *= np.take(edges, b, axis=1)
    products *= weights
    size = np.sqrt(reach * problem.steps[face.basis_row, 0])
    B = face.basis @ products
    B *= size[:, None]
    # sign * gradient; at the cap the reward is the same for all directions and would only cost digits
    rewarded = problem.up & ~problem.at_cap(v)[:, None]
    signed = (D - rewarded)[face.row, face.column]
    z = -_solve_regularised(B, (face.basis @ signed) * size) * size
    direction = np.zeros_like(v)
    direction[face.row, face.column] = face.basis.T @ z
    return problem.sign * direction


def _derivative_weights(values: FloatArray, lam: float) -> tuple[FloatArray, IntArray, IntArray]:
    """sqrt(Omega_ab / lam), doubled off the diagonal, for the pairs a <= b where it is not zero."""
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
    return np.sqrt(omega[keep] * np.where(a == b, 1.0, 2.0) / lam), a, b


def _solve_regularised(B: FloatArray, g: FloatArray) -> FloatArray:
    """(B B^T + I)^-1 g by the smaller of the two Gram matrices."""
    if B.shape[0] <= B.shape[1]:
        return _cholesky_solve(blas.dsyrk(1.0, B.T, trans=1, lower=1), g)
    inner = _cholesky_solve(blas.dsyrk(1.0, B.T, lower=1), B.T @ g)
    result: FloatArray = g - B @ inner
    return result


def _cholesky_solve(gram: FloatArray, g: FloatArray) -> FloatArray:
    gram[np.diag_indices_from(gram)] += 1.0
    factor = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    result: FloatArray = cho_solve(factor, g, check_finite=False)
    return result
