"""The objective F of MLKR and its intermediate values, computed row by row from the definition in floats.

F = sum_i (y_i - yhat_i)^2, where yhat_i = sum_j p_ij y_j is the prediction at point i, and Q = A^T A is the metric.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, low_rank_components
from cvxml.methods.mlkr.instance import Instance


def objective(given: Instance, Q: FloatArray) -> float:
    return float(evaluate(given, Q)["objective"])


def evaluate(given: Instance, Q: FloatArray) -> dict[str, Any]:
    """Intermediate values at Q (d, d), by name.

    objective: F. A (m, d): A^T A = Q if the rank of Q is at most m. p (n, n): the weights p_ij. yhat (n,): the
    predictions. gradient_Q (d, d) and gradient_A (m, d): dF/dQ and dF/dA. scale_derivative: dF(tA)/dt at t = 1. nearest
    (n,): the index of a nearest neighbour. limit: the limit of F for large multiples of Q if no point has tied nearest
    neighbours.
    """
    X, y, n = given.X, given.y, len(given.X)
    A = low_rank_components(Q, given.m)
    p, yhat, nearest = np.zeros((n, n)), np.zeros(n), np.zeros(n, dtype=np.intp)
    G = np.zeros_like(Q)
    for i in range(n):
        D = np.array([np.sum((A @ (X[i] - X[k])) ** 2) if k != i else np.inf for k in range(n)])
        p[i] = np.exp(D.min() - D)
        p[i] /= p[i].sum()
        yhat[i] = p[i] @ y
        nearest[i] = D.argmin()
        for j in range(n):
            c_ij = 2 * (yhat[i] - y[i]) * p[i, j] * (yhat[i] - y[j])
            G += c_ij * np.outer(X[i] - X[j], X[i] - X[j])
    return {
        "objective": float(np.sum((y - yhat) ** 2)),
        "A": A,
        "p": p,
        "yhat": yhat,
        "gradient_Q": G,
        "gradient_A": 2 * A @ G,
        "scale_derivative": 2 * float(np.sum(G * Q)),
        "nearest": nearest,
        "limit": float(np.sum((y - y[nearest]) ** 2)),
    }
