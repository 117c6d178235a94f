"""A matrix T (d, r) with a given range, for each embedding of LFDA. A metric of LFDA is T T^T.

With the scatter matrices S_w within and S_b between classes, the embeddings are
    "plain"         T^T S_w T = I, with the columns of T the solutions v of S_b v = l S_w v, restricted to the range
    "weighted"      the same, with each column times the root of its l
    "orthonormal"   T^T T = I
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from cvxml.core.metric import EPS, FloatArray, in_units

EMBEDDINGS = ("plain", "weighted", "orthonormal")
NOTHING = (
    8 * EPS
)  # eigenvalues of a metric up to d times this share of the largest one count as rounding errors


def axes(S_w: FloatArray, S_b: FloatArray, M: FloatArray, r: int) -> FloatArray:
    """A matrix T (d, r) whose range is that of a metric M (d, d), up to rounding. A certificate is valid for any T.

    T has the eigenvectors of M for the r largest eigenvalues, computed with the features in units of the diagonal of
    S_w. A weighted metric has a lower rank than r if l_r = 0. Then T also has the best directions for the objective,
    out of those v with v^T S_w T = 0.
    """
    unit = np.exp2(np.round(np.log2(np.diag(S_w)) / 2))
    values, vectors = np.linalg.eigh(in_units(M / 2 + M.T / 2, unit)[0])
    T: FloatArray = vectors[:, ::-1][:, :r] / unit[:, None]
    rank = np.count_nonzero(values[-r:] > NOTHING * len(M) * values[-1])
    if 0 < rank < r:
        with suppress(np.linalg.LinAlgError):  # S_w may be singular in double precision
            T = completed(S_w, S_b, T[:, :rank], r)
    return T


def completed(S_w: FloatArray, S_b: FloatArray, T: FloatArray, r: int) -> FloatArray:
    """T (d, q) with r - q more columns: the best ones for the objective that are S_w-orthogonal to T."""
    L = root(S_w)
    others = np.linalg.qr(L.T @ T, mode="complete")[0][:, T.shape[1] :]
    between = np.linalg.solve(L, np.linalg.solve(L, S_b).T)
    best = np.linalg.eigh(others.T @ between @ others)[1][:, ::-1][:, : r - T.shape[1]]
    return np.hstack([T, np.linalg.solve(L.T, others @ best)])


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
    L = root(S_w)
    values, vectors = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, S_b).T))
    return values, np.linalg.solve(L.T, vectors)


def root(S_w: FloatArray) -> FloatArray:
    """The lower triangular L (d, d) with S_w = L L^T."""
    length = np.sqrt(np.diag(S_w))
    L = np.linalg.cholesky(S_w / length[:, None] / length) * length[:, None]
    return np.asarray(L, dtype=np.float64)
