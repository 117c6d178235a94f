"""The objective of MMC from its definition, and what an implementer compares line by line.

Written as the paper reads, one pair after another; nothing here is fast and nothing is shared with the solver or the
certificate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cvxml.metric import FloatArray
from cvxml.pairs import Pairs


def objective(X: FloatArray, pairs: Pairs, A: FloatArray) -> float:
    """-sum over dissimilar pairs of ||x_i - x_j||_A at the metric `A` (d, d)."""
    return -math.fsum(math.sqrt(squared(X, A, i, j)) for i, j in pairs.dissimilar)


def squared(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """||x_i - x_j||_A^2 = (x_i - x_j)^T A (x_i - x_j), never below 0."""
    return max(0.0, float((X[i] - X[j]) @ A @ (X[i] - X[j])))


def evaluate(X: FloatArray, pairs: Pairs, A: FloatArray) -> dict[str, Any]:
    """Intermediates at `A` (d, d).

    objective; D_similar, D_dissimilar: squared distances of the pairs; spent: the sum over similar pairs, at most 1;
    distances: of the dissimilar pairs; c: one over them (inf at 0); S: sum_similar X_ij (d, d); gradient: of the
    objective, -1/2 sum_t c_t X_t over the pairs at positive distance; scaled_objective: that of A / spent, which no
    multiple of A within the budget goes below.
    """
    D_similar = np.array([squared(X, A, i, j) for i, j in pairs.similar])
    D_dissimilar = np.array([squared(X, A, i, j) for i, j in pairs.dissimilar])
    S = np.zeros_like(A)
    for i, j in pairs.similar:
        S += np.outer(X[i] - X[j], X[i] - X[j])
    gradient = np.zeros_like(A)
    for (i, j), D_ij in zip(pairs.dissimilar, D_dissimilar, strict=True):
        if D_ij > 0:
            gradient -= np.outer(X[i] - X[j], X[i] - X[j]) / (2 * math.sqrt(D_ij))
    value, spent = objective(X, pairs, A), math.fsum(D_similar)
    with np.errstate(divide="ignore"):
        c = 1 / np.sqrt(D_dissimilar)
    return {
        "objective": value,
        "spent": spent,
        "scaled_objective": value / math.sqrt(spent) if spent > 0 else 0.0,
        "D_similar": D_similar,
        "D_dissimilar": D_dissimilar,
        "distances": np.sqrt(D_dissimilar),
        "c": c,
        "S": S,
        "gradient": gradient,
    }
