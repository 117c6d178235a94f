"""MLSVM as printed (Nguyen, Guo 2008, problem (2)), and its compact dual (docs/mlsvm_proof.md), in cvxpy.

N holds the impostors and the targets of each point. Every line of code is literal. The minimum of linear functions is
concave and the maximum convex, so cvxpy accepts the printed constraint. The paper does not mention points without
targets or without impostors: their constraint is vacuous, xi_i = 0, and the sum is still divided by n. This file shares
only the lists with the solver and the certificate.

Reference: N. Nguyen, Y. Guo, Metric Learning: A Support Vector Approach, ECML PKDD 2008.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.mlsvm.neighborhood import Neighborhood


def problem(X: FloatArray, N: Neighborhood, lam: float) -> cp.Problem:
    """The problem as printed, row by row. Variables: "A" (d, d) and "xi" (n,)."""
    n, d = X.shape
    A = cp.Variable((d, d), symmetric=True, name="A")
    xi = cp.Variable(n, name="xi")

    def d_A(i: int, j: int) -> Any:
        #: d_A(x_i, x_j) = (x_i - x_j)^T A (x_i - x_j)
        #:   | d_{\mathbf{A}}(\mathbf{x}_i, \mathbf{x}_j)
        #:     = (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{A} (\mathbf{x}_i - \mathbf{x}_j)
        return (X[i] - X[j]) @ A @ (X[i] - X[j])

    #: A psd,  xi >= 0 | \mathbf{A} \succeq 0, \quad \xi \ge 0 | (2)
    constraints = [A >> 0, xi >= 0]
    for i in range(n):
        #: I_i = {j : x_j in N(x_i), y_j != y_i}, T_i = {l : x_l in N(x_i), y_l = y_i}
        #:   | I_i = \{ j : \mathbf{x}_j \in \mathcal{N}(\mathbf{x}_i),\ y_j \ne y_i \},
        #:     \quad T_i = \{ l : \mathbf{x}_l \in \mathcal{N}(\mathbf{x}_i),\ y_l = y_i \}
        impostors, targets = N.impostors[i], N.targets[i]
        #: no constraint on i (xi_i = 0) where I_i or T_i is empty
        #:   | \text{no constraint on } i \ (\xi_i = 0) \text{ where } I_i \text{ or } T_i \text{ is empty}
        if len(impostors) == 0 or len(targets) == 0:
            continue
        nearest_impostor = cp.min(cp.hstack([d_A(i, j) for j in impostors]))
        furthest_target = cp.max(cp.hstack([d_A(i, l) for l in targets]))
        #: for every i:  min_{j in I_i} d_A(x_i, x_j) >= max_{l in T_i} d_A(x_i, x_l) + 1 - xi_i
        #:   | \min_{j \in I_i} d_{\mathbf{A}}(\mathbf{x}_i, \mathbf{x}_j)
        #:     \ge \max_{l \in T_i} d_{\mathbf{A}}(\mathbf{x}_i, \mathbf{x}_l) + 1 - \xi_i
        #:     \quad \text{for every } i | (2)
        constraints += [nearest_impostor >= furthest_target + 1 - xi[i]]
    #: min over A, xi:  lam/2 ||A||^2 + 1/n sum_i xi_i
    #:   | \min_{\mathbf{A},\, \xi}\ \frac{\lambda}{2} \lVert \mathbf{A} \rVert_F^2
    #:     + \frac{1}{n} \sum_{i=1}^{n} \xi_i | (2)
    return cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(A) + cp.sum(xi) / n), constraints)


def dual(X: FloatArray, N: Neighborhood, lam: float) -> cp.Problem:
    """The compact dual.

    Variables: "u" and "w", one entry for each pair of a usable point with an impostor or a target, in the order of the
    lists in N, and "S" (d, d). A point is usable if it has both. If there is no usable point, only "S".
    """
    n, d = X.shape
    usable = N.usable
    if len(usable) == 0:  # no constraint, so no dual variable
        S = cp.Variable((d, d), symmetric=True, name="S")
        #: if no i has both I_i and T_i, there are no dual variables, and the bound is 0
        #:   | \text{if no } i \text{ has both } I_i \text{ and } T_i \text{, there are no dual variables,}
        #:     \text{ and the bound is } 0
        return cp.Problem(cp.Maximize(-cp.sum_squares(S) / (2 * lam)), [S >> 0])
    #: u_ij >= 0 for j in I_i | u_{ij} \ge 0 \quad (j \in I_i)
    u = cp.Variable(sum(len(N.impostors[i]) for i in usable), nonneg=True, name="u")
    #: w_il >= 0 for l in T_i | w_{il} \ge 0 \quad (l \in T_i)
    w = cp.Variable(sum(len(N.targets[i]) for i in usable), nonneg=True, name="w")
    S = cp.Variable((d, d), symmetric=True, name="S")

    def outer(i: int, j: int) -> FloatArray:
        #: X_ij = (x_i - x_j)(x_i - x_j)^T | X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        return np.outer(X[i] - X[j], X[i] - X[j]).ravel()

    X_ij = np.array([outer(i, j) for i in usable for j in N.impostors[i]])
    X_il = np.array([outer(i, l) for i in usable for l in N.targets[i]])
    #: G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il )
    #:   | G = \sum_i \Bigl( \sum_j u_{ij} X_{ij} - \sum_l w_{il} X_{il} \Bigr)
    G = cp.reshape(X_ij.T @ u - X_il.T @ w, (d, d), order="C")

    #: P_+ drops negative eigenvalues: ||P_+(G)||^2 = min over S psd of ||G + S||^2
    #:   | \lVert P_+(G) \rVert_F^2 = \min_{S \succeq 0} \lVert G + S \rVert_F^2,
    #:     \quad P_+ \text{ drops negative eigenvalues}
    constraints = [S >> 0]
    s = []
    at_u = at_w = 0
    for i in usable:
        u_i = u[at_u : at_u + len(N.impostors[i])]
        w_i = w[at_w : at_w + len(N.targets[i])]
        at_u, at_w = at_u + len(N.impostors[i]), at_w + len(N.targets[i])
        #: for every i:  sum_j u_ij = sum_l w_il = s_i <= 1/n
        #:   | \sum_j u_{ij} = \sum_l w_{il} = s_i \le \frac{1}{n} \quad \text{for every } i
        constraints += [cp.sum(u_i) == cp.sum(w_i), cp.sum(u_i) <= 1 / n]
        s += [cp.sum(u_i)]
    #: max over u, w:  sum_i s_i - 1/(2 lam) ||P_+(G)||^2
    #:   | \max_{u,\, w}\ \sum_i s_i - \frac{1}{2\lambda} \lVert P_+(G) \rVert_F^2
    return cp.Problem(cp.Maximize(cp.sum(cp.hstack(s)) - cp.sum_squares(G + S) / (2 * lam)), constraints)
    #: [What is proved]
    #: A = P_+(G) / lam at the optimum | \mathbf{A} = P_+(G) / \lambda \quad \text{at the optimum}
    #: any feasible u, w give a lower bound;  ||A - A*|| <= sqrt(2 gap / lam)
    #:   | \text{any feasible } u, w \text{ give a lower bound;}
    #:     \quad \lVert \mathbf{A} - \mathbf{A}^* \rVert_F \le \sqrt{2\, \mathrm{gap} / \lambda}
