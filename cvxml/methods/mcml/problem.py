"""Metric learning by collapsing classes, as printed, and its dual; both in cvxpy.

Problem
    min_{A >> 0}   sum_i KL[ p0(j|i) | p_A(j|i) ]
    with  p_A(j|i) = exp(-D_A(i,j)) / sum_{k != i} exp(-D_A(i,k)),   D_A(i,j) = <A, (x_i - x_j)(x_i - x_j)^T>
    and   p0(j|i) the same for all j != i of the class of i, and 0 for all others.
The paper drops the entropy of p0, a constant (sum_i log(n_c - 1), n_c the size of the class of i), and so does this:
    min_{A >> 0}   sum_i [ mean_{j in class(i), j != i} D_A(i,j)  +  log sum_{k != i} exp(-D_A(i,k)) ].
Literal: every line. The paper lets p0(j|i) be "uniform" without its constant: 1 / (n_c - 1), as a distribution must. It
is silent on a point that is alone in its class, which has no p0: it is left out of the sum over i, and stays a k.

Dual, over rows q_i of the simplex (k != i), with w = p0, X_ij = (x_i - x_j)(x_i - x_j)^T and H the entropy:
    max   sum_i H(q_i)   such that   sum_ij (w_ij - q_ij) X_ij  is psd.
log sum exp is the conjugate of the negative entropy; the sum over i is at least sum_i H(q_i) + <A, that matrix>.

This file shares nothing with the solver or the certificate.

Reference: A. Globerson, S. Roweis, Metric Learning by Collapsing Classes, NIPS 2005 (equations 2 to 5).
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from cvxml.metric import FloatArray, IntArray


def literal(X: FloatArray, y: IntArray) -> cp.Problem:
    """The problem as printed, row by row. Variable: "A" (d, d)."""
    n, d = X.shape
    A = cp.Variable((d, d), symmetric=True, name="A")
    terms = []
    for i in range(n):
        same, others = mates(y, i), [k for k in range(n) if k != i]
        if not same:
            continue
        x_i = X[i] - X  # row k: x_i - x_k
        D_i = cp.sum(cp.multiply(x_i @ A, x_i), axis=1)
        terms.append(cp.sum(D_i[same]) / len(same) + cp.log_sum_exp(-D_i[others]))
    return cp.Problem(cp.Minimize(sum(terms)), [A >> 0])


def dual(X: FloatArray, y: IntArray) -> cp.Problem:
    """The dual. Variable: "q" (rows, n - 1), a row for each i that is not alone, its entries over k != i in order."""
    n, d = X.shape
    rows = [i for i in range(n) if mates(y, i)]
    q = cp.Variable((len(rows), n - 1), nonneg=True, name="q")
    surplus: Any = np.zeros((d, d))
    for row, i in enumerate(rows):
        same, others = mates(y, i), [k for k in range(n) if k != i]
        pulled, pushed = X[i] - X[same], X[i] - X[others]
        surplus = surplus + pulled.T @ pulled / len(same) - pushed.T @ cp.diag(q[row]) @ pushed
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(q))), [cp.sum(q, axis=1) == 1, surplus >> 0])


def mates(y: IntArray, i: int) -> list[int]:
    """The others of the class of i."""
    return [j for j in range(len(y)) if j != i and y[j] == y[i]]
