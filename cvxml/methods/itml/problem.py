"""ITML, as printed (Davis et al. 2007, the problem with slack variables), and its dual; both in cvxpy.

Problem
    min_{A >> 0, xi}   D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0))
    subject to         tr(A (x_i - x_j)(x_i - x_j)^T) <= xi_c(i,j)     (i, j) in S, similar
                       tr(A (x_i - x_j)(x_i - x_j)^T) >= xi_c(i,j)     (i, j) in D, dissimilar
    with  D_ld(A, A_0) = tr(A A_0^-1) - log det(A A_0^-1) - d,  and  xi_0 = u for pairs in S, l for pairs in D.

Literal: every line. u and l bound squared distances. For diagonal matrices D_ld is a sum over the pairs,
D_ld(diag(xi), diag(xi_0)) = sum_c (xi_c / xi_0c - log(xi_c / xi_0c) - 1).

Dual (docs/itml.md), over lambda >= 0, one a pair:
    max   log det(A_0 Z) + gamma sum_S log(1 - lambda u / gamma) + gamma sum_D log(1 + lambda l / gamma),
    Z = A_0^-1 + sum_S lambda_ij X_ij - sum_D lambda_ij X_ij,      X_ij = (x_i - x_j)(x_i - x_j)^T.
At the optimum A = Z^-1.

This file shares nothing with the solver or the certificate but the pairs, which are inputs.

Reference: J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, Information-theoretic metric learning, ICML 2007.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.metric import FloatArray
from cvxml.pairs import Pairs


def literal(X: FloatArray, pairs: Pairs, A_0: FloatArray, gamma: float, u: float, l: float) -> cp.Problem:  # noqa: E741
    """The problem as printed, pair by pair. Variables: "A" (d, d) and "xi" (pairs,), similar ones first."""
    d = X.shape[1]
    S, D = pairs.similar, pairs.dissimilar
    A = cp.Variable((d, d), symmetric=True, name="A")
    if len(S) + len(D) == 0:
        return cp.Problem(cp.Minimize(divergence(A, A_0)), [A >> 0])
    xi = cp.Variable(len(S) + len(D), name="xi")
    xi_0 = np.array([u] * len(S) + [l] * len(D))

    def d_A(i: int, j: int) -> Any:
        return (X[i] - X[j]) @ A @ (X[i] - X[j])

    constraints = [A >> 0]
    for c, (i, j) in enumerate(S):
        constraints += [d_A(i, j) <= xi[c]]
    for c, (i, j) in enumerate(D, start=len(S)):
        constraints += [d_A(i, j) >= xi[c]]
    ratio = cp.multiply(xi, 1 / xi_0)
    slack = cp.sum(ratio - cp.log(ratio) - 1)
    return cp.Problem(cp.Minimize(divergence(A, A_0) + gamma * slack), constraints)


def dual(X: FloatArray, pairs: Pairs, A_0: FloatArray, gamma: float, u: float, l: float) -> cp.Problem:  # noqa: E741
    """The dual. Variables: "lam_S" and "lam_D", one entry a pair; either is missing where there are no such pairs."""
    d = X.shape[1]
    Z: Any = np.linalg.inv(A_0)
    terms: Any = 0.0
    for name, listed, sign, xi_0 in (("lam_S", pairs.similar, 1, u), ("lam_D", pairs.dissimilar, -1, l)):
        if len(listed) == 0:
            continue
        lam = cp.Variable(len(listed), nonneg=True, name=name)
        X_ij = np.array([np.outer(X[i] - X[j], X[i] - X[j]).ravel() for i, j in listed])
        Z = Z + sign * cp.reshape(X_ij.T @ lam, (d, d), order="C")
        terms = terms + gamma * cp.sum(cp.log(1 - sign * lam * xi_0 / gamma))
    return cp.Problem(cp.Maximize(cp.log_det(Z) + np.linalg.slogdet(A_0)[1] + terms))


def divergence(A: cp.Variable, A_0: FloatArray) -> Any:
    """D_ld(A, A_0)."""
    return cp.trace(A @ np.linalg.inv(A_0)) - cp.log_det(A) + np.linalg.slogdet(A_0)[1] - len(A_0)
