"""LMNN as a semidefinite program, and its dual; both in cvxpy.

Problem (Weinberger, Saul 2009; targets j of i are given)
    min_{M >> 0, xi >= 0}   (1 - mu) sum_{i, j target of i} D_M(i, j)  +  mu sum_{i, j, l} xi_ijl
    subject to, for every target j of i and every x_l of another class:
        D_M(i, l) - D_M(i, j)  >=  1 - xi_ijl
    with  D_M(i, j) = (x_i - x_j)^T M (x_i - x_j).
"lmnn:squared_hinge" has xi_ijl^2 in place of xi_ijl in the objective.

Literal: every line. There are as many constraints as triplets (i, j, l), fewer than n k n: for more than a few thousand
solve_literal (literal.py) gives cvxpy only those that are violated, until none is.

Dual, over one price a triplet, 0 <= lambda_ijl <= mu:
    max  sum lambda_ijl     such that   Z = (1 - mu) sum_ij X_ij + sum_ijl lambda_ijl (X_ij - X_il)  >>  0
with X_ij = (x_i - x_j)(x_i - x_j)^T; squared hinge: lambda >= 0 and  - sum lambda^2 / (4 mu)  in the objective.

This file shares nothing with the solver or the certificate but the targets and triplets, which are inputs.

Reference: K. Q. Weinberger, L. K. Saul, Distance metric learning for large margin nearest neighbor classification,
JMLR 10, 2009.
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.metric import FloatArray, IntArray


def literal(X: FloatArray, targets: IntArray, triplets: IntArray, mu: float, squared: bool) -> cp.Problem:
    """The problem as printed, row by row. Variables: "M" (d, d) and, where there are triplets, "xi" (t,).

    targets (p, 2): pairs i, j. triplets (t, 3): i, j, l.
    """
    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    distances: dict[tuple[int, int], Any] = {}

    def D_M(i: int, j: int) -> Any:
        if (i, j) not in distances:
            distances[i, j] = (X[i] - X[j]) @ M @ (X[i] - X[j])
        return distances[i, j]

    pull = cp.sum(cp.hstack([D_M(i, j) for i, j in targets.tolist()]))
    if len(triplets) == 0:
        return cp.Problem(cp.Minimize((1 - mu) * pull), [M >> 0])
    xi = cp.Variable(len(triplets), name="xi")
    constraints = [M >> 0, xi >= 0]
    for t, (i, j, l) in enumerate(triplets.tolist()):  # noqa: E741 (the paper's l)
        constraints += [D_M(i, l) - D_M(i, j) >= 1 - xi[t]]
    push = cp.sum_squares(xi) if squared else cp.sum(xi)
    return cp.Problem(cp.Minimize((1 - mu) * pull + mu * push), constraints)


def dual(X: FloatArray, targets: IntArray, triplets: IntArray, mu: float, squared: bool) -> cp.Problem:
    """The dual. Variable: "lambda" (t,), one price a triplet."""
    d = X.shape[1]

    def X_(i: int, j: int) -> FloatArray:
        return np.outer(X[i] - X[j], X[i] - X[j])

    pull = sum((X_(i, j) for i, j in targets.tolist()), np.zeros((d, d)))
    lam = cp.Variable(len(triplets), name="lambda")
    rows = np.array([(X_(i, j) - X_(i, l)).ravel() for i, j, l in triplets.tolist()])  # noqa: E741
    Z = (1 - mu) * pull + cp.reshape(rows.T @ lam, (d, d), order="C")
    if squared:
        return cp.Problem(cp.Maximize(cp.sum(lam) - cp.sum_squares(lam) / (4 * mu)), [Z >> 0, lam >= 0])
    return cp.Problem(cp.Maximize(cp.sum(lam)), [Z >> 0, lam >= 0, lam <= mu])
