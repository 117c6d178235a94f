"""Symmetric matrices (d, d) as vectors (d (d + 1) / 2,) with the same inner product. Used by solvers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cvxml.core.metric import FloatArray, IntArray

ROOT2 = float(np.sqrt(2))


@lru_cache(maxsize=4)
def triangle(d: int) -> tuple[IntArray, IntArray]:
    """Row and column indices of the upper triangle of a matrix (d, d), row by row."""
    rows, columns = np.triu_indices(d)
    return rows, columns


def svec(S: FloatArray) -> FloatArray:
    """The upper triangle of S (d, d), row by row, with entries off the diagonal times sqrt 2.

    Then <S, T> = svec(S) svec(T).
    """
    rows, columns = triangle(len(S))
    vector: FloatArray = S[rows, columns] * np.where(rows == columns, 1.0, ROOT2)
    return vector


def smat(v: FloatArray, d: int) -> FloatArray:
    """The symmetric matrix S (d, d) with svec(S) = v."""
    rows, columns = triangle(d)
    S = np.zeros((d, d))
    S[rows, columns] = v / np.where(rows == columns, 1.0, ROOT2)
    S[columns, rows] = S[rows, columns]
    return S


def squares(E: FloatArray) -> FloatArray:
    """The rows svec(e e^T), (t, d (d + 1) / 2), for the rows e of E (t, d). Such a row times svec(S) is e^T S e."""
    rows, columns = triangle(E.shape[1])
    features = np.ascontiguousarray(E.T)  # indexing its rows is several times faster than columns of E
    F: FloatArray = features[rows]
    F *= features[columns]
    F *= np.where(rows == columns, 1.0, ROOT2)[:, None]
    return F.T


def weighted(E: FloatArray, w: FloatArray) -> FloatArray:
    """The sum (d, d) of w e e^T over the rows e of E (t, d) with their weights w (t,)."""
    S: FloatArray = E.T @ (w[:, None] * E)
    return (S + S.T) / 2


def quadratic(E: FloatArray, S: FloatArray) -> FloatArray:
    """The values e^T S e (t,) of all rows e of E (t, d), for a matrix S (d, d)."""
    values: FloatArray = np.einsum("tj,tj->t", E @ S, E)
    return values


def congruence(H: FloatArray) -> FloatArray:
    """The matrix (p, p), p = d (d + 1) / 2, of the map S -> H S H on vectors svec(S), for symmetric H, S (d, d)."""
    rows, columns = triangle(len(H))
    scale = np.where(rows == columns, 1.0, ROOT2)
    left = H[np.ix_(rows, rows)] * H[np.ix_(columns, columns)]
    right = H[np.ix_(rows, columns)] * H[np.ix_(columns, rows)]
    both: FloatArray = (left + right) / 2 * scale[:, None] * scale
    return both


def weighted_pairs(X: FloatArray, pairs: IntArray, w: FloatArray) -> FloatArray:
    """The sum (d, d) of w (x_i - x_j)(x_i - x_j)^T over the pairs (p, 2) of points X (n, d) with weights w (p,)."""
    return weighted(X[pairs[:, 0]] - X[pairs[:, 1]], np.asarray(w, dtype=float))
