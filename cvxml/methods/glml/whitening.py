"""T with T S T^T = I, and a proved bound of what is missing to that."""

from __future__ import annotations

import math

import numpy as np

from cvxml.core.metric import EPS, FloatArray

ENOUGH = 100  # the least singular value must be more than this many times the rounding error


def whitening(S: FloatArray) -> FloatArray:
    """T (d, d), lower triangular, with T S T^T = I up to rounding. Raises LinAlgError where none is found."""
    T: FloatArray = np.linalg.inv(np.linalg.cholesky(S))
    return np.tril(T)


def whitening_of(D: FloatArray, ridge: float) -> FloatArray | None:
    """The same of S = D^T D / n + ridge I, from the rows of D (n, d): D has the square root of the condition of S.

    None where double precision has no inverse of the rows either.
    """
    n, d = D.shape
    rows = np.vstack([D / math.sqrt(n), math.sqrt(ridge) * np.eye(d)])
    unit = np.linalg.norm(rows, axis=0)
    if not unit.all():
        return None
    R = np.linalg.qr(rows / unit, mode="r")
    values = np.linalg.svd(R, compute_uv=False)
    if len(R) < d or values[-1] <= ENOUGH * d * EPS * values[0]:
        return None
    T: FloatArray = np.tril(np.linalg.inv(R).T / unit)
    return T


def departure(T: FloatArray, S: FloatArray, off: FloatArray | float = 0.0) -> float:
    """A bound of ||T S* T^T - I||_F for every S* (d, d) within `off` of the symmetric S, entry by entry.

    Below 1 it proves that all of them are positive definite. The products are off by 2 (d + 1) eps of their sizes.
    """
    d, size = len(S), np.abs(T)
    with np.errstate(all="ignore"):
        missing = np.abs(T @ S @ T.T - np.eye(d))
        allowed = 2 * (d + 2) * EPS * np.abs(S) + off
        bound = float(np.linalg.norm(missing + size @ allowed @ size.T)) * (1 + (d + 8) * EPS)
    return bound if math.isfinite(bound) else math.inf
