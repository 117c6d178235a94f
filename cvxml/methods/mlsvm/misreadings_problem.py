"""The duals of four misreadings of problem (2), the problem of MLSVM, in cvxpy. misreadings.py bounds a gap with them.

The misreading "no_cone" minimizes over all symmetric A, and "squared" has squared slacks. The misreading "once" counts
off-diagonal entries once in ||A||^2, and "mean" takes the mean of a point's targets in place of the furthest.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxml.core.backend import solve_problem
from cvxml.core.metric import FloatArray
from cvxml.methods.mlsvm.neighborhood import Neighborhood


def dual(X: FloatArray, N: Neighborhood, lam: float, kind: str) -> cp.Problem:
    """Return the dual of a misreading: "no_cone", "squared", "once" or "mean".

    maximise sum s - ||G + S||^2 / (2 lam) over u, w >= 0 with sum_j u_ij = sum_l w_il = s_i and S psd. Here G is the
    sum of u_ij X_ij minus the sum of w_il X_il, with X_ij = (x_i - x_j)(x_i - x_j)^T, for impostors j and targets l of
    point i. In addition, "no_cone" has S = 0. "squared" subtracts n/4 sum s^2. "once" has W_ij (G + S)_ij in the norm
    (`off_diagonal_weights`). "mean" has equal w_il for each point. Except for "squared", s_i <= 1/n.
    """
    n, d = X.shape
    u = cp.Variable(sum(len(N.impostors[i]) for i in N.usable), nonneg=True, name="u")
    w = cp.Variable(sum(len(N.targets[i]) for i in N.usable), nonneg=True, name="w")
    X_ij = np.array([np.outer(X[i] - X[j], X[i] - X[j]).ravel() for i in N.usable for j in N.impostors[i]])
    X_il = np.array([np.outer(X[i] - X[j], X[i] - X[j]).ravel() for i in N.usable for j in N.targets[i]])
    G = cp.reshape(X_ij.T @ u - X_il.T @ w, (d, d), order="C")
    owner_u = np.repeat(np.arange(len(N.usable)), [len(N.impostors[i]) for i in N.usable])
    owner_w = np.repeat(np.arange(len(N.usable)), [len(N.targets[i]) for i in N.usable])
    s = (owner_u == np.arange(len(N.usable))[:, None]).astype(float) @ u
    constraints = [s == (owner_w == np.arange(len(N.usable))[:, None]).astype(float) @ w]
    if kind == "no_cone":
        return cp.Problem(cp.Maximize(cp.sum(s) - cp.sum_squares(G) / (2 * lam)), [*constraints, s <= 1 / n])
    S = cp.Variable((d, d), symmetric=True, name="S")
    value = cp.sum(s) - cp.sum_squares(G + S) / (2 * lam)
    if kind == "once":
        value = cp.sum(s) - cp.sum_squares(cp.multiply(off_diagonal_weights(d), G + S)) / (2 * lam)
        return cp.Problem(cp.Maximize(value), [*constraints, s <= 1 / n, S >> 0])
    if kind == "mean":
        counts = np.array([len(N.targets[i]) for i in N.usable])
        same = w == cp.multiply(s[owner_w], 1 / counts[owner_w])
        return cp.Problem(cp.Maximize(value), [*constraints, same, s <= 1 / n, S >> 0])
    return cp.Problem(cp.Maximize(value - n / 4 * cp.sum_squares(s)), [*constraints, S >> 0])


def off_diagonal_weights(d: int) -> FloatArray:
    """Return W (d, d) of the misreading "once": 1 on the diagonal and sqrt(2) elsewhere."""
    W: FloatArray = np.sqrt(2) - (np.sqrt(2) - 1) * np.eye(d)
    return W


def duals(X: FloatArray, N: Neighborhood, lam: float, kind: str) -> tuple[FloatArray, FloatArray]:
    """Return the optimal u and w of the dual of the misreading `kind`, found by Clarabel.

    They have a number for each pair of a point with an impostor (u) or a target (w), in the order of the lists. Points
    without impostors or without targets have none. Raises SolverFailure if Clarabel fails.
    """
    found = solve_problem(dual(X, N, lam, kind), "clarabel")
    return found["u"], found["w"]
