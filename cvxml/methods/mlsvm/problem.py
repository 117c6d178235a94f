"""MLSVM, as printed (paper 002, optimization problem (2)), and its compact dual; both in cvxpy.

Problem
    min_{A >> 0, xi >= 0}   lam/2 ||A||_F^2 + 1/n sum_i xi_i
    subject to, for every (x_i, y_i) in L:
        min_{x_j in N(x_i), y_j != y_i} d_A(x_i, x_j)  >=  max_{x_j in N(x_i), y_j = y_i} d_A(x_i, x_j) + 1 - xi_i
    with  d_A(x_i, x_j) = <A, (x_i - x_j)(x_i - x_j)^T>.

Literal: every line. The minimum of linear functions is concave and the maximum convex, so cvxpy takes the
constraint as it is printed. Where N(x_i) holds no point of the class, or none of another, the paper is
silent: the constraint is vacuous, xi_i = 0 and the 1/n stays.

Dual (docs/mlsvm.md), over u_i, w_i >= 0 with sum_j u_ij = sum_l w_il = s_i <= 1/n:
    max   sum_i s_i - 1/(2 lam) ||P_+(G)||^2,     G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il ).
||P_+(G)||^2 is the least ||G + S||^2 over S >> 0, which is how it is stated here. At the optimum
A = P_+(G) / lam.

This file shares nothing with the solver or the certificate but the neighbour lists, which are inputs.

Reference: N. Nguyen, Y. Guo, Metric Learning: A Support Vector Approach, ECML PKDD 2008.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.metric import FloatArray


def literal(X: FloatArray, N: Neighborhood, lam: float) -> cp.Problem:
    """The problem as printed, row by row. Variables: "A" (d, d) and "xi" (n,)."""
    n, d = X.shape
    A = cp.Variable((d, d), symmetric=True, name="A")
    xi = cp.Variable(n, name="xi")

    def d_A(i: int, j: int) -> Any:
        return (X[i] - X[j]) @ A @ (X[i] - X[j])

    constraints = [A >> 0, xi >= 0]
    for i in range(n):
        impostors, targets = N.impostors[i], N.targets[i]
        if len(impostors) == 0 or len(targets) == 0:
            continue
        nearest_impostor = cp.min(cp.hstack([d_A(i, j) for j in impostors]))
        furthest_target = cp.max(cp.hstack([d_A(i, l) for l in targets]))  # noqa: E741 (the paper's l)
        constraints += [nearest_impostor >= furthest_target + 1 - xi[i]]
    return cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(A) + cp.sum(xi) / n), constraints)


def dual(X: FloatArray, N: Neighborhood, lam: float) -> cp.Problem:
    """The compact dual. Variables: "u" and "w", one entry a pair in the order of the lists, and "S" (d, d)."""
    n, d = X.shape
    usable = N.usable
    if len(usable) == 0:  # no constraint, no price
        S = cp.Variable((d, d), symmetric=True, name="S")
        return cp.Problem(cp.Maximize(-cp.sum_squares(S) / (2 * lam)), [S >> 0])
    u = cp.Variable(sum(len(N.impostors[i]) for i in usable), nonneg=True, name="u")
    w = cp.Variable(sum(len(N.targets[i]) for i in usable), nonneg=True, name="w")
    S = cp.Variable((d, d), symmetric=True, name="S")

    def outer(i: int, j: int) -> FloatArray:
        return np.outer(X[i] - X[j], X[i] - X[j]).ravel()

    X_ij = np.array([outer(i, j) for i in usable for j in N.impostors[i]])
    X_il = np.array([outer(i, l) for i in usable for l in N.targets[i]])  # noqa: E741
    G = cp.reshape(X_ij.T @ u - X_il.T @ w, (d, d), order="C")

    constraints = [S >> 0]
    s = []
    at_u = at_w = 0
    for i in usable:
        u_i = u[at_u : at_u + len(N.impostors[i])]
        w_i = w[at_w : at_w + len(N.targets[i])]
        at_u, at_w = at_u + len(N.impostors[i]), at_w + len(N.targets[i])
        constraints += [cp.sum(u_i) == cp.sum(w_i), cp.sum(u_i) <= 1 / n]
        s += [cp.sum(u_i)]
    return cp.Problem(cp.Maximize(cp.sum(cp.hstack(s)) - cp.sum_squares(G + S) / (2 * lam)), constraints)
