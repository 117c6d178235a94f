"""What the regularised semismooth Newton steps of two or more methods share.

The problems are  min_v  a ||P_+(image(v))||^2 - <c, v>  over products of simplices and the like, the image a symmetric
d x d matrix. On a face the objective is smooth up to P_+: with image = Q diag(g) Q^T its derivative is
    E -> Q ( Omega o (Q^T E Q) ) Q^T,   Omega_ab = ((g_a)_+ - (g_b)_+) / (g_a - g_b),
so in the basis Q the Hessian on the face is B B^T: one row of B for each direction within the face, one column for
each pair a <= b with Omega_ab > 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, cho_factor, cho_solve
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray, IntArray

MAX_ENTRIES = 1.5e8  # of B: 1.2 GB


class Contrasts(NamedTuple):
    """Orthonormal directions of zero sum within each group of entries."""

    basis: Any  # csr_array (m, p): directions by entries, these in the order of `order`
    order: IntArray  # (p,): the entries, group by group
    leader: IntArray  # (m,): an entry (of 0..p-1, in the new order) that a direction belongs to


def contrasts(group: IntArray) -> Contrasts:
    """For p entries with group labels (p,): the Helmert contrasts, a group of m entries having m - 1 of them."""
    order = np.argsort(group, kind="stable")
    _, first, which = np.unique(group[order], return_index=True, return_inverse=True)
    rank = np.arange(len(group)) - first[which]
    entry = np.flatnonzero(rank > 0)
    k = rank[entry]
    length = k + 1
    ends = np.concatenate([[0], np.cumsum(length)])
    offset = np.arange(ends[-1]) - np.repeat(ends[:-1], length)
    columns = np.repeat(entry - k, length) + offset
    norm = np.repeat(1 / np.sqrt(k * (k + 1.0)), length)
    values = np.where(offset == np.repeat(k, length), -np.repeat(k, length), 1.0) * norm
    return Contrasts(csr_array((values, columns, ends), shape=(len(entry), len(group))), order, entry)


def derivative_weights(values: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """sqrt(Omega_ab), times sqrt(2) off the diagonal, for the pairs a <= b where it is not zero."""
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
    return np.sqrt(omega[keep] * np.where(a == b, 1.0, 2.0)), a, b


def solve_regularised(B: FloatArray, g: FloatArray) -> FloatArray:
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
