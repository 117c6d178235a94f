"""MMC, as printed (Xing et al., equations (6) to (8)), and its dual; both in cvxpy.

Problem
    max_A   sum_{(x_i, x_j) in D} ||x_i - x_j||_A
    s.t.    sum_{(x_i, x_j) in S} ||x_i - x_j||_A^2  <=  1
            A >> 0                                            (diagonal: and A is diagonal)
    with  ||x - y||_A = sqrt((x - y)^T A (x - y)).

Literal: every line; what is maximised is minimised with its sign changed. The paper derives it from (3) to (5), the
least sum over S of squares where the sum over D of distances is at least 1, whose solution is a multiple of this one.

Dual (docs/mmc.md), over c > 0, one for each pair in D, and mu:
    min   1/2 ( sum_t 1/c_t + mu )     s.t.   mu sum_S X_ij - sum_t c_t X_t  >> 0,     X_ij = (x_i - x_j)(x_i - x_j)^T;
diagonal: only the diagonal of that matrix, entry by entry >= 0. At the optimum c_t = 1 / ||.||_A.

This file shares nothing with the solver or the certificate but the pairs, which are inputs.

Reference: E. Xing, A. Ng, M. Jordan, S. Russell, Distance metric learning with application to clustering with
side-information, NIPS 2002.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxml.metric import FloatArray
from cvxml.pairs import Pairs


def literal(X: FloatArray, pairs: Pairs, diagonal: bool, budget: float = 1.0) -> cp.Problem:
    """The problem as printed, negated. Variable: "A" (d, d).

    budget: the 1 of (7); with another the solution is `budget` times A, in which a back end may have it easier.
    """
    d = X.shape[1]
    A = cp.Variable((d, d), symmetric=True, name="A")
    S = np.array([X[i] - X[j] for i, j in pairs.similar])  # row: x_i - x_j
    D = np.array([X[i] - X[j] for i, j in pairs.dissimilar])
    squared_S = cp.sum(cp.multiply(S @ A, S), axis=1)  # ||x_i - x_j||_A^2
    squared_D = cp.sum(cp.multiply(D @ A, D), axis=1)

    constraints = [cp.sum(squared_S) <= budget]
    constraints += [cp.diag(cp.diag(A)) == A, cp.diag(A) >= 0] if diagonal else [A >> 0]
    return cp.Problem(cp.Minimize(-cp.sum(cp.sqrt(squared_D))), constraints)


def dual(X: FloatArray, pairs: Pairs, diagonal: bool, budget: float = 1.0) -> cp.Problem:
    """The dual, negated too. Variables: "c" (q,), one for each pair in D whose points differ, and "mu".

    A pair of equal points is at distance 0 in every metric. With another budget the solution is c / sqrt(budget).
    """
    d = X.shape[1]
    S = np.array([X[i] - X[j] for i, j in pairs.similar])
    D = np.array([X[i] - X[j] for i, j in pairs.dissimilar if (X[i] != X[j]).any()])
    c = cp.Variable(len(D), name="c")
    mu = cp.Variable(name="mu")
    if diagonal:
        constraints = [mu * np.sum(S**2, axis=0) - (D**2).T @ c >= 0]
    else:
        X_t = np.array([np.outer(x, x).ravel() for x in D])
        constraints = [mu * (S.T @ S) - cp.reshape(X_t.T @ c, (d, d), order="C") >> 0]
    return cp.Problem(cp.Maximize(-(cp.sum(cp.inv_pos(c)) + budget * mu) / 2), constraints)
