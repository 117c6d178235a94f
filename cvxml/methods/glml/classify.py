"""Nearest neighbours of many queries, each by a metric of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray

BYTES = 200_000_000  # of the largest arrays of a batch


def batches(q: int, n: int, d: int) -> Iterator[slice]:
    """Slices of q queries whose metrics and mapped points stay within `BYTES`."""
    size = max(1, BYTES // (8 * d * (n + 16 * d)))
    for start in watched(range(0, q, size)):
        yield slice(start, min(start + size, q))


def squared_distances(X: FloatArray, Q: FloatArray, A: FloatArray) -> FloatArray:
    """(x_i - q)^T A_q (x_i - q), (q, n), for a metric A (q, d, d) of each query.

    By products: x^T A x - 2 x^T A q + q^T A q with X and Q centred alike, so a distance is off by rounding of the
    largest of these, not of itself; `nearest` computes those that matter again.
    """
    q, d = Q.shape
    centre = X.mean(axis=0)
    X, Q = X - centre, Q - centre
    XA = X @ A.transpose(1, 0, 2).reshape(d, q * d)  # one product: (n, q d)
    squares = np.einsum("nqd,nd->qn", XA.reshape(len(X), q, d), X)
    pulled = (A @ Q[:, :, None])[:, :, 0]
    total: FloatArray = squares - 2 * pulled @ X.T + np.sum(pulled * Q, axis=1)[:, None]
    return total


def nearest(X: FloatArray, Q: FloatArray, A: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Squared distances and indices (q, k) of the k nearest rows of X, nearest first, equal ones by index."""
    D = squared_distances(X, Q, A)
    k = min(k, len(X))
    few = min(len(X), k + 8)
    candidates = np.sort(np.argpartition(D, few - 1, axis=1)[:, :few], axis=1)
    to = X[candidates] - Q[:, None, :]
    exact = np.einsum("qkd,qkd->qk", to @ A, to)
    order = np.argsort(exact, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(exact, order, axis=1), np.take_along_axis(candidates, order, axis=1)
