"""The objective of MCML from its definition, and everything an implementer compares line by line, by the paper's names.

One point after another; nothing here is fast and nothing is shared with the solver or the certificate.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import logsumexp

from cvxml.metric import FloatArray, IntArray


def objective(X: FloatArray, y: IntArray, A: FloatArray) -> float:
    """sum_i [ mean_{j in class(i), j != i} D_A(i,j) + log sum_{k != i} exp(-D_A(i,k)) ] at A (d, d)."""
    return math.fsum(term(X, y, A, i) for i in range(len(X)) if mates(y, i))


def term(X: FloatArray, y: IntArray, A: FloatArray, i: int) -> float:
    """What i adds: the mean of -log p_A(j|i) over the others of its class."""
    mean = math.fsum(distance(X, A, i, j) for j in mates(y, i)) / len(mates(y, i))
    return float(logsumexp([mean - distance(X, A, i, k) for k in range(len(X)) if k != i]))


def distance(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """D_A(i,j) = (x_i - x_j)^T A (x_i - x_j)."""
    return float((X[i] - X[j]) @ A @ (X[i] - X[j]))


def mates(y: IntArray, i: int) -> list[int]:
    """The others of the class of i."""
    return [j for j in range(len(y)) if j != i and y[j] == y[i]]


def evaluate(X: FloatArray, y: IntArray, A: FloatArray) -> dict[str, Any]:
    """Intermediates at A (d, d).

    p0, p_A (n, n), row i the distributions over j given i (rows of zeros: i is alone in its class); KL (n,) of the two;
    objective = sum KL + sum_i log(n_c - 1); terms (n,) of the objective; gradient (d, d) of the objective;
    scale_derivative, that of the objective at t A by t at 1; nearest (n,), and accuracy of it; alone: points dropped.
    """
    n, d = X.shape
    p0, p_A, KL, terms = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), np.zeros(n)
    gradient = np.zeros((d, d))
    nearest = np.zeros(n, dtype=np.intp)
    for i in range(n):
        D = np.array([math.inf if k == i else distance(X, A, i, k) for k in range(n)])
        nearest[i] = int(D.argmin())
        same = mates(y, i)
        if not same:
            continue
        p0[i, same] = 1 / len(same)
        log_p = -D - logsumexp(-D)
        p_A[i] = np.exp(log_p)
        KL[i] = sum(p0[i, j] * (math.log(p0[i, j]) - log_p[j]) for j in same)
        terms[i] = term(X, y, A, i)
        for k in range(n):
            gradient += (p0[i, k] - p_A[i, k]) * np.outer(X[i] - X[k], X[i] - X[k])
    return {
        "objective": objective(X, y, A),
        "p0": p0,
        "p_A": p_A,
        "KL": KL,
        "terms": terms,
        "gradient": gradient,
        "scale_derivative": float(np.sum(gradient * A)),
        "nearest": nearest,
        "accuracy": float(np.mean(y[nearest] == y)),
        "alone": sum(not mates(y, i) for i in range(n)),
    }
