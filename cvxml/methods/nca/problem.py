"""The convex step of NCA at a metric Q0, its dual, and the case that is convex as a whole, literally.

The note prints f, g and their gradients, which stand in definitions.py as printed, and leaves the optimizer open. That
g is a difference of convex functions of Q, and what follows here, is not in it; nothing of it is corrected.

In Q = A^T A, with X_ij = (x_i - x_j)(x_i - x_j)^T, note 004's g is a difference of convex functions,

    g(Q) = sum_i [ log sum_j s_ij e^-<Q, X_ij>  -  log sum_{k != i} e^-<Q, X_ik> ],      s_ij = 1[same class, j != i],

and the first term, convex, lies above its tangent at Q0, with w_ij = s_ij p_ij / p_i there:

    log sum_j s_ij e^-<Q, X_ij>  >=  - sum_j w_ij <Q, X_ij> - sum_j w_ij log(w_ij / s_ij).

Put in, and with the sign changed, this is the step of CCCP, an exponential-cone program. For f = sum_i p_i the tangent
of e^t at t = log p_i(Q0) comes first: p_i >= p0_i + p0_i (log p_i - log p0_i), which is g with weights c_i = p0_i.
Written from X and s alone, by loops; nothing of fast.py or certify.py is used.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.methods.nca.definitions import log_p_i, log_p_ij
from cvxml.metric import FloatArray


def step(X: FloatArray, s: FloatArray, Q0: FloatArray, criterion: str) -> cp.Problem:
    """min over Q psd of the step at Q0 (d, d). Variable: "Q" (d, d)."""
    d = X.shape[1]
    Q = cp.Variable((d, d), symmetric=True, name="Q")
    c, w, constant = at(X, s, Q0, criterion)
    terms = []
    for i in range(len(X)):
        if not (s[i] > 0).any():
            continue
        x_i = X[i] - X  # row k: x_i - x_k
        distances = cp.sum(cp.multiply(x_i @ Q, x_i), axis=1)
        others = [k for k in range(len(X)) if k != i]
        terms.append(c[i] * (cp.log_sum_exp(-distances[others]) + w[i] @ distances))
    return cp.Problem(cp.Minimize(sum(terms) + constant), [Q >> 0])


def dual(X: FloatArray, s: FloatArray, Q0: FloatArray, criterion: str) -> cp.Problem:
    """max of the entropy of rows q_i such that sum c_i (w_ij - q_ij) X_ij is psd. Variable: "q" (rows, n - 1)."""
    n, d = X.shape
    c, w, constant = at(X, s, Q0, criterion)
    rows = [i for i in range(n) if (s[i] > 0).any()]
    q = cp.Variable((len(rows), n - 1), nonneg=True, name="q")
    surplus: Any = np.zeros((d, d))
    for row, i in enumerate(rows):
        x_i = X[i] - X
        others = [k for k in range(n) if k != i]
        surplus = surplus + c[i] * (
            x_i.T @ np.diag(w[i]) @ x_i - x_i[others].T @ cp.diag(q[row]) @ x_i[others]
        )
    entropy = c[rows] @ cp.sum(cp.entr(q), axis=1)
    return cp.Problem(cp.Maximize(entropy + constant), [cp.sum(q, axis=1) == 1, surplus >> 0])


def at(X: FloatArray, s: FloatArray, Q0: FloatArray, criterion: str) -> tuple[FloatArray, FloatArray, float]:
    """c (n,), w (n, n) and the constant of the step at Q0, with which it is -f or -g there."""
    n = len(X)
    c, w, constant = np.zeros(n), np.zeros((n, n)), 0.0
    for i in range(n):
        if not (s[i] > 0).any():
            continue
        log_p = log_p_i(X, s, Q0, i)
        p = np.exp(log_p)
        c[i] = p if criterion == "f" else 1.0
        row = log_p_ij(X, Q0, i)
        for j in np.flatnonzero(s[i]):
            log_w = np.log(s[i, j]) + row[j] - log_p
            w[i, j] = np.exp(log_w)
            constant += c[i] * w[i, j] * (log_w - np.log(s[i, j]))
        if criterion == "f":
            constant += p * log_p - p
    return c, w, float(constant)


def pairs(X: FloatArray, partner: list[int]) -> cp.Problem:
    """Every class has two points: -g itself, convex in Q. Point i belongs with partner[i]. Variable: "Q" (d, d)."""
    n, d = X.shape
    Q = cp.Variable((d, d), symmetric=True, name="Q")
    terms = []
    for i in range(n):
        distances = [cp.quad_form(X[i] - X[k], Q, assume_PSD=True) for k in range(n)]
        others = cp.hstack([-distances[k] for k in range(n) if k != i])
        terms.append(distances[partner[i]] + cp.log_sum_exp(others))
    return cp.Problem(cp.Minimize(sum(terms)), [Q >> 0])
