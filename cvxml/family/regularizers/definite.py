"""Positive definite matrices of floats, each entry of which may be off: that they are, their log det and divergence.

With S = L L^T by Cholesky's method, which is off by (d + 2) eps |L| |L|^T, and W near L^-1, a true matrix T within
`error` of S has W T W^T = I + E; ||E|| < 1/2 proves that T is definite, and T^-1 = W^T (I + E)^-1 W. log det is
concave and tr - log det convex: on the way from L L^T to T they change by no more than the difference times the largest
slope there is within `error`, entry by entry: |T^-1| and |I - T^-1|.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from cvxml.core.metric import EPS, FloatArray
from cvxml.numbers.sums import Approximate
from cvxml.numbers.vocabulary import log_excess


class Definite(NamedTuple):
    """What is known of all matrices within `error` of one, all of which are positive definite."""

    L: FloatArray  # lower triangular
    W: FloatArray  # near L^-1
    inverse: FloatArray  # |T^-1|, at least
    from_one: FloatArray  # |I - T^-1|, at least
    own: FloatArray  # what rounding is in L L^T, and in what is computed from it

    def log_det(self, error: FloatArray) -> Approximate:
        """log det T for a T that is off by `error`, no more than was said."""
        logs = np.log(self.L.diagonal() ** 2)
        moved = float(np.sum(self.inverse * (error + self.own))) + 8 * EPS * float(np.abs(logs).sum())
        return Approximate(float(logs.sum()), moved)

    def divergence(self, error: FloatArray) -> Approximate:
        """D_ld(T, I) = tr T - log det T - d, as a sum of terms that are not negative."""
        value = float(np.sum(log_excess(self.L.diagonal() ** 2)) + np.sum(np.tril(self.L, -1) ** 2))
        moved = float(np.sum(self.from_one * (error + self.own)))
        return Approximate(value, moved + 4 * few(len(self.L)) * value)


def definite(S: FloatArray, error: FloatArray) -> Definite | None:
    """Of a symmetric S (d, d) that may be off by `error`, entry by entry; None where it is not proved definite."""
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
    """What a sum of d products is off by, of these summed without signs, with room for a few more roundings."""
    return (d + 4) * EPS
