"""A misreading of lam/2 ||M||^2: each pair of entries M_ij, M_ji counts once instead of twice.

    min_{M psd}  lam/2 sum_{i <= j} M_ij^2  +  sum_t phi(v_t),     v_t = <M, H_t>.

Here phi is a hinge c [1 - v]_+, or a hinge of weight c = 1 that is rounded over a width.

Bound. For dual variables 0 <= a <= c, G = sum_t a_t H_t and any psd S,

    optimum  >=  sum_t (a_t - width/2 a_t^2)  -  1/(2 lam) ||W o (G + S)||^2,    W_ii = 1, W_ij = sqrt(2) for i != j.

At the optimum, G + S = lam Y with Y_ii = M_ii and Y_ij = M_ij / 2, and S M = 0. So the dual variables follow from the
metric M. For the hinge, a_t is c if v_t < 1, and 0 if v_t > 1. If v_t = 1, a least-squares fit of S M = 0 gives a_t.
For the rounded hinge, a_t is (1 - v_t) / width, clipped to [0, 1]. No solver is needed, and the bound is valid for
every such a and S, including inexact ones.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import lsq_linear

from cvxml.core.metric import EPS, FloatArray, examine, project_psd, unit_scale
from cvxml.core.misreading import Question
from cvxml.core.triplets import Compared

SENTENCE = "entries off the diagonal counted once in the norm, where the method counts both M_ij and M_ji"
AT_THE_MARGIN = 1e-5  # if |1 - v| is at most this, the dual variable is fitted
MAX_TRIPLETS = 2_000  # with more triplets at the margin, the misreading is not tried
ROUNDING = 1e-13  # relative rounding error of the objective and the bound


def left(question: Question, given: Compared, lam: float, c: float, width: float = 0.0) -> float:
    """A proved upper bound of the gap in this misreading, relative to the regularizer lam/2 sum_{i <= j} M_ij^2.

    inf if there is no proof: for an infeasible metric, no triplets, too many at the margin, or too much rounding.
    """
    s = unit_scale(given.X)
    X, M = given.X / s, question.metric * s**2
    if len(M) != X.shape[1] or not examine(M)[1].feasible or given.count == 0:
        return math.inf
    M, lam = project_psd(M), lam / s**4
    i, j, l = given.triplets().T
    far, near = X[i] - X[l], X[i] - X[j]
    v = np.sum((far @ M) * far, axis=1) - np.sum((near @ M) * near, axis=1)
    a, open_ = _duals(v, c, width)
    if np.count_nonzero(open_) > MAX_TRIPLETS:
        return math.inf

    def weighted(duals: FloatArray, rows: np.ndarray) -> FloatArray:
        G: FloatArray = (far[rows].T * duals) @ far[rows] - (near[rows].T * duals) @ near[rows]
        return G

    Y = lam * (M + np.diag(np.diag(M))) / 2
    G = weighted(a[~open_], ~open_)
    if open_.any():
        a[open_] = _fitted((Y - G) @ M, far[open_], near[open_], M, c)
        G = G + weighted(a[open_], open_)
    S = project_psd(Y - G)
    W = np.full(M.shape, math.sqrt(2)) - (math.sqrt(2) - 1) * np.eye(len(M))
    own = lam / 2 * float(np.sum(np.triu(M) ** 2))
    objective = own + float(np.sum(_losses(v, c, width)))
    bound = float(np.sum(a - width / 2 * a**2)) - float(np.sum((W * (G + S)) ** 2)) / (2 * lam)
    rounding = (ROUNDING + EPS * len(v)) * (abs(objective) + float(np.sum(a)))
    if not own > rounding / question.tol:  # rounding is too large relative to a metric this small
        return math.inf
    return (objective - bound + rounding) / own


def _duals(v: FloatArray, c: float, width: float) -> tuple[FloatArray, np.ndarray]:
    """The dual variables (t,) that follow from v (t,), and a mask of those that are still to be fitted."""
    if width > 0:
        return np.clip((1 - v) / width, 0.0, 1.0), np.zeros(len(v), dtype=bool)
    return np.where(v < 1, c, 0.0), np.abs(1 - v) <= AT_THE_MARGIN


def _losses(v: FloatArray, c: float, width: float) -> FloatArray:
    missed = np.maximum(0.0, 1 - v)
    if width == 0:
        return c * missed
    return np.where(missed < width, missed**2 / (2 * width), missed - width / 2)


def _fitted(rest: FloatArray, far: FloatArray, near: FloatArray, M: FloatArray, c: float) -> FloatArray:
    """Dual variables a (t,) in [0, c] that minimize || sum_t a_t H_t M - rest ||."""
    H = np.einsum("ta,tb->tab", far, far @ M) - np.einsum("ta,tb->tab", near, near @ M)
    fitted: FloatArray = np.clip(
        lsq_linear(H.reshape(len(H), -1).T, rest.ravel(), (0.0, c), tol=1e-14).x, 0.0, c
    )
    return fitted
