"""The matrix T (d, r) of a metric of LFDA, from the range of the metric and the embedding."""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray, in_units

EMBEDDINGS = ("plain", "weighted", "orthonormal")


def axes(S_w: FloatArray, M: FloatArray, r: int) -> FloatArray:
    """T (d, r), the eigenvectors of M (d, d) with the r largest eigenvalues, computed in units of the diagonal of S_w.

    T spans the range of M up to rounding. The certificate stays valid for any T.
    """
    unit = np.exp2(np.round(np.log2(np.diag(S_w)) / 2))
    own = in_units(M / 2 + M.T / 2, unit)[0]
    T: FloatArray = np.linalg.eigh(own)[1][:, ::-1][:, :r] / unit[:, None]
    return T


def transformation(S_w: FloatArray, S_b: FloatArray, T: FloatArray, embedding: str) -> FloatArray:
    """The matrix T (d, r) that the embedding has for the range of the given T (d, r)."""
    values, vectors = eigen(T.T @ S_w @ T, T.T @ S_b @ T)
    T = T @ vectors[:, ::-1]
    if embedding == "orthonormal":
        return np.asarray(np.linalg.qr(T)[0], dtype=np.float64)
    return T * np.sqrt(np.maximum(values[::-1], 0)) if embedding == "weighted" else T


def eigen(S_w: FloatArray, S_b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The eigenvalues l of S_b v = l S_w v in ascending order (d,), and the eigenvectors V (d, d), V^T S_w V = I."""
    root = np.sqrt(np.diag(S_w))
    L = np.linalg.cholesky(S_w / root[:, None] / root) * root[:, None]
    values, vectors = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, S_b).T))
    return values, np.linalg.solve(L.T, vectors)
