"""A matrix T (d, r) with a given range, for each embedding of LFDA. A metric of LFDA is T T^T.

With the scatter matrices S_w within and S_b between classes, the embeddings are
    "plain"         T^T S_w T = I, with the columns of T the solutions v of S_b v = l S_w v, restricted to the range
    "weighted"      the same, with each column times the root of its l
    "orthonormal"   T^T T = I
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray, in_units

EMBEDDINGS = ("plain", "weighted", "orthonormal")


def axes(S_w: FloatArray, M: FloatArray, r: int) -> FloatArray:
    """A matrix T (d, r) with the range of a metric M (d, d) of rank r, up to rounding.

    Let U be diagonal with U_kk near the root of S_w,kk. The columns of U T are the eigenvectors of U M U for the r
    largest eigenvalues. Rounding errors of T do no harm, because a certificate is valid for any T.
    """
    unit = np.exp2(np.round(np.log2(np.diag(S_w)) / 2))
    own = in_units(M / 2 + M.T / 2, unit)[0]
    T: FloatArray = np.linalg.eigh(own)[1][:, ::-1][:, :r] / unit[:, None]
    return T


def transformation(S_w: FloatArray, S_b: FloatArray, T: FloatArray, embedding: str) -> FloatArray:
    """The matrix (d, r) with the range of T (d, r) that satisfies the condition of `embedding` in the module docstring.

    embedding: "plain", "weighted" or "orthonormal".
    """
    values, vectors = eigen(T.T @ S_w @ T, T.T @ S_b @ T)
    T = T @ vectors[:, ::-1]
    if embedding == "orthonormal":
        return np.asarray(np.linalg.qr(T)[0], dtype=np.float64)
    return T * np.sqrt(np.maximum(values[::-1], 0)) if embedding == "weighted" else T


def eigen(S_w: FloatArray, S_b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues l of S_b v = l S_w v, in ascending order (d,), and the eigenvectors as the columns of V (d, d).

    They satisfy V^T S_w V = I.
    """
    root = np.sqrt(np.diag(S_w))
    L = np.linalg.cholesky(S_w / root[:, None] / root) * root[:, None]
    values, vectors = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, S_b).T))
    return values, np.linalg.solve(L.T, vectors)
