"""DML-eig, as printed (Ying, Li 2012), and its dual; both in cvxpy.

Problem (their (2)): the metric M that makes the least squared distance over dissimilar pairs as large as it can be,
    max_{M >> 0}  min_{tau in D} <X_tau, M>     s.t.   <X_S, M>  <=  1,
X_tau = (x_i - x_j)(x_i - x_j)^T and X_S their sum over the similar pairs. In the coordinates in which X_S is the
identity, X~_tau = X_S^(-1/2) X_tau X_S^(-1/2), and with A = X_S^(-1/2) M X_S^(-1/2) for the metric of the features:
    max_{M >> 0, tr M = 1}  min_{tau in D} <X~_tau, M>.
Literal: every line; what is maximised is minimised with its sign changed. X_S must be invertible for its root; where it
is not, the pseudo-inverse serves, if no dissimilar pair differs in a direction that costs nothing (instance.py).

Dual (their (DML-eig)): an eigenvalue optimization over the simplex,
    min_{q >= 0, sum q = 1}  lambda_max( sum_tau q_tau X~_tau ).

This file shares nothing with the solver or the certificate but the pairs, which are inputs.

Reference: Y. Ying, P. Li, Distance metric learning with eigenvalue optimization, JMLR 13, 2012.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxml.metric import FloatArray
from cvxml.pairs import Pairs


def inverse_root(X: FloatArray, pairs: Pairs) -> FloatArray:
    """R (r, d) with R^T R = X_S^-1; of an X_S of rank r, once its features have unit scale, its pseudo-inverse.

    It stands for X_S^(-1/2), from which a rotation tells it, and a rotation leaves tr M, M >> 0 and every <X~, M>.
    """
    X_S = np.sum([np.outer(X[i] - X[j], X[i] - X[j]) for i, j in pairs.similar], axis=0)
    unit = np.sqrt(np.where(np.diag(X_S) > 0, np.diag(X_S), 1.0))  # features of any units
    values, vectors = np.linalg.eigh(X_S / np.outer(unit, unit))
    keep = values > 1e-13 * values[-1]
    root: FloatArray = (vectors[:, keep] / np.sqrt(values[keep])).T / unit
    return root


def literal(X: FloatArray, pairs: Pairs) -> cp.Problem:
    """The problem over M with tr M = 1, negated. Variables: "M" (r, r) and "least", the minimum."""
    root = inverse_root(X, pairs)
    M = cp.Variable((len(root),) * 2, symmetric=True, name="M")
    least = cp.Variable(name="least")

    constraints = [M >> 0, cp.trace(M) == 1]
    for i, j in pairs.dissimilar:
        x = root @ (X[i] - X[j])
        constraints += [x @ M @ x >= least]
    return cp.Problem(cp.Minimize(-least), constraints)


def dual(X: FloatArray, pairs: Pairs) -> cp.Problem:
    """The dual, negated too. Variable: "q" (number of dissimilar pairs,)."""
    root = inverse_root(X, pairs)
    q = cp.Variable(len(pairs.dissimilar), name="q", nonneg=True)
    x = np.array([root @ (X[i] - X[j]) for i, j in pairs.dissimilar])
    X_tau = np.einsum("ta,tb->tab", x, x).reshape(len(x), -1)
    total = cp.reshape(X_tau.T @ q, (len(root),) * 2, order="C")
    return cp.Problem(cp.Maximize(-cp.lambda_max(total)), [cp.sum(q) == 1])
