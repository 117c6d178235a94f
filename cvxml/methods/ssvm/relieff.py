"""ReliefF weights of the features, for the diagonal start of the paper (section 6).

Kononenko's weights with n_neighbors hits and as many misses of each other class, these weighted by their
prior, over all n points in order (no sampling), differences relative to each feature's range. Clipped at 0;
all 1 where nothing is left.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.nearest import nearest


def relieff(X: FloatArray, y: IntArray, R: int, n_neighbors: int = 10) -> FloatArray:
    """The weights (d,), not negative. Neighbours are Euclidean in range-scaled features."""
    n, d = X.shape
    spread = np.ptp(X, axis=0)
    unit = X / np.where(spread > 0, spread, 1.0)
    prior = np.bincount(y, minlength=R) / n
    near = nearest(unit, y, R, np.eye(d), min(n_neighbors, n - 1))
    weights = np.zeros(d)
    for c in range(R):
        J = near.J[:, c]
        found = J >= 0
        apart = np.abs(unit[:, None, :] - unit[np.where(found, J, 0)]) * found[:, :, None]
        mean = apart.sum(axis=1) / np.maximum(found.sum(axis=1), 1)[:, None]
        share = np.where(y == c, -1.0, prior[c] / (1 - prior[y]))
        weights += share @ mean / n
    clipped: FloatArray = np.maximum(weights, 0.0)
    return clipped if clipped.any() else np.ones(d)
