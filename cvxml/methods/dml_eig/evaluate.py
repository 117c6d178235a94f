"""DML-eig from its definition: one pair after another, nothing shared with the solver or the certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cvxml.metric import FloatArray
from cvxml.pairs import Pairs


def objective(X: FloatArray, pairs: Pairs, A: FloatArray) -> float:
    """-min over dissimilar pairs of (x_i - x_j)^T A (x_i - x_j)."""
    return -min(_squared(X, A, i, j) for i, j in pairs.dissimilar)


def evaluate(X: FloatArray, pairs: Pairs, A: FloatArray) -> dict[str, Any]:
    """Intermediates at A (d, d).

    objective; D_similar, D_dissimilar: squared distances of the pairs; spent: the sum over similar pairs, at most 1;
    nearest: the dissimilar pair (2,) at the least distance; X_S (d, d); scaled_objective: that of A / spent.
    """
    D_similar = np.array([_squared(X, A, i, j) for i, j in pairs.similar])
    D_dissimilar = np.array([_squared(X, A, i, j) for i, j in pairs.dissimilar])
    X_S = np.zeros_like(A)
    for i, j in pairs.similar:
        X_S += np.outer(X[i] - X[j], X[i] - X[j])
    value, spent = objective(X, pairs, A), math.fsum(D_similar)
    return {
        "objective": value,
        "spent": spent,
        "scaled_objective": value / spent if spent > 0 else math.nan,
        "nearest": pairs.dissimilar[int(D_dissimilar.argmin())],
        "D_similar": D_similar,
        "D_dissimilar": D_dissimilar,
        "X_S": X_S,
    }


def _squared(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    return max(0.0, float((X[i] - X[j]) @ A @ (X[i] - X[j])))
