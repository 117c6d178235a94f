"""Positive definiteness, log det and divergence of a matrix of floats, with a bound of the error of each entry.

Let S = L L^T be a Cholesky decomposition; its rounding error is at most (d + 2) eps |L| |L|^T. Let W be close to
L^-1, and T any matrix within `error` of S. Then W T W^T = I + E, and ||E|| < 1/2 proves that T is positive definite.
T^-1 = W^T (I + E)^-1 W then has entrywise bounds too.

log det has the gradient T^-1, and tr - log det has the gradient I - T^-1. From L L^T to T, each function changes by at
most the sum of products over the entries: the absolute difference, times an upper bound of the absolute gradient. The
upper bounds hold for all matrices within `error`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from cvxml.core.metric import EPS, FloatArray
from cvxml.numbers.sums import Approximate
from cvxml.numbers.vocabulary import log_excess


class Definite(NamedTuple):
    """Bounds for all matrices T within `error` of S. All of them are positive definite.

    L: the Cholesky factor of S. W: close to L^-1. inverse, from_one (d, d): upper bounds of |T^-1| and of |I - T^-1|.
    own (d, d): a bound of the rounding error of L L^T, and of results computed from L.
    """

    L: FloatArray  # lower triangular
    W: FloatArray  # close to L^-1
    inverse: FloatArray  # (d, d) upper bound of |T^-1|
    from_one: FloatArray  # (d, d) upper bound of |I - T^-1|
    own: FloatArray  # (d, d) rounding error of L L^T, and of results computed from L

    def log_det(self, error: FloatArray) -> Approximate:
        """log det T for every T within `error` of S, as a value with an error bound.

        `error` must be at most the one given to `definite`.
        """
        logs = np.log(self.L.diagonal() ** 2)
        moved = float(np.sum(self.inverse * (error + self.own))) + 8 * EPS * float(np.abs(logs).sum())
        return Approximate(float(logs.sum()), moved)

    def divergence(self, error: FloatArray) -> Approximate:
        """D_ld(T, I) = tr T - log det T - d for every T within `error` of S, as a value with an error bound.

        The value is a sum of nonnegative terms. `error` must be at most the one given to `definite`.
        """
        value = float(np.sum(log_excess(self.L.diagonal() ** 2)) + np.sum(np.tril(self.L, -1) ** 2))
        moved = float(np.sum(self.from_one * (error + self.own)))
        return Approximate(value, moved + 4 * few(len(self.L)) * value)


def definite(S: FloatArray, error: FloatArray) -> Definite | None:
    """The bounds for a symmetric S (d, d) with the entrywise error bounds `error` (d, d).

    Returns None if positive definiteness is not proved for all matrices within `error`.
    """
    d = len(S)
    if not (np.isfinite(S).all() and np.isfinite(error).all() and (S.diagonal() > 0).all()):
        return None
    try:
        L: FloatArray = np.asarray(np.linalg.cholesky(S), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    own = few(d) * np.abs(L) @ np.abs(L).T
    W = solve_triangular(L, np.eye(d), lower=True)
    size = np.abs(W)
    missing = np.linalg.norm(W @ S @ W.T - np.eye(d))
    rounded = np.linalg.norm(size @ (error + own + 3 * few(d) * np.abs(S)) @ size.T)
    share = float(missing + rounded)
    if not share < 0.5:
        return None
    lengths = np.linalg.norm(W, axis=0)
    wrong = (share / (1 - share) + 2 * few(d)) * np.outer(lengths, lengths)
    inverse = W.T @ W
    return Definite(L, W, np.abs(inverse) + wrong, np.abs(np.eye(d) - inverse) + wrong, 2 * own)


def few(d: int) -> float:
    """The error bound of a sum of d products in floats, relative to the sum of their absolute values.

    It has room for a few more roundings.
    """
    return (d + 4) * EPS
