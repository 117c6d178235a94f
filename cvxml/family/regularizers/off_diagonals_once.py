"""A misreading of lam/2 ||M||^2: each pair of entries M_ij, M_ji counts once instead of twice.

A misreading is another problem that an implementation may solve by mistake. `left` is the test of a metric for this
mistake. The problem is

    min_{M psd}  lam/2 sum_{i <= j} M_ij^2  +  sum_t phi(v_t),     v_t = <M, H_t>,

with H_t = X_il - X_ij for the triplet t = (i, j, l), X_ij = (x_i - x_j)(x_i - x_j)^T. So v_t is a difference of squared
distances. Here phi is a hinge c [1 - v]_+, or a hinge with c = 1 that is smoothed over a width.

Bound. For dual variables 0 <= a <= c, G = sum_t a_t H_t and any psd S,
    optimum  >=  sum_t (a_t - width/2 a_t^2)  -  1/2 sum_ij (G + S)_ij^2 / V_ij,    V_ii = lam, V_ij = lam/2 for i != j.
The gap is the excess of the loss, plus 1/2 sum_ij V_ij (M - (G + S)/V)_ij^2 + <M, S>. It is computed in enclosures. At
the optimum, G + S = lam Y with Y_ii = M_ii and Y_ij = M_ij / 2, and S M = 0. So the dual variables follow from the
metric M. For the hinge, a_t is c if v_t < 1, and 0 if v_t > 1. If v_t = 1, a least-squares fit of S M = 0 gives a_t.
For the smoothed hinge, a_t is (1 - v_t) / width, clipped to [0, 1]. No solver is needed, and the bound is valid for
every such a and S, including inexact ones.
"""

from __future__ import annotations

import math

import numpy as np

from cvxml.core.metric import FloatArray, examine, project_psd, unit_scale
from cvxml.core.misreading import Question
from cvxml.core.triplets import Compared
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.smoothed_hinge import SmoothedHinge
from cvxml.family.regularizers.frobenius import Flat, split, weighted_sum
from cvxml.family.rows.base import Weights
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.vocabulary import total

SENTENCE = "entries off the diagonal counted once in the norm, where the method counts both M_ij and M_ji"
AT_THE_MARGIN = 1e-5  # if |1 - v| is at most this, the dual variable is fitted
MAX_TRIPLETS = 2_000  # with more triplets at the margin, the misreading is not tried


def left(question: Question, given: Compared, lam: float, c: float, width: float = 0.0) -> float:
    """A proved upper bound of the gap of the metric in this misreading, relative to lam/2 sum_{i <= j} M_ij^2.

    question: the metric and the tolerance. given: the points and triplets. lam, c, width: those of the module
    docstring. Returns inf if there is no proof: for an infeasible metric or one of another size, no triplets, more than
    `MAX_TRIPLETS` triplets with v close to 1, or too much rounding.
    """
    s = unit_scale(given.X)
    X, M = given.X / s, question.metric * s**2
    if len(M) != X.shape[1] or not examine(M)[1].feasible or given.count == 0:
        return math.inf
    view, lam = Flat.near(X, project_psd(M)), lam / s**4
    i, j, l = given.triplets().T
    far, near = np.stack([i, l], axis=1), np.stack([i, j], axis=1)
    v = Enclosure(*view.pairs(far)) - Enclosure(*view.pairs(near))
    a, open_ = _duals(v.mid, c, width)
    if np.count_nonzero(open_) > MAX_TRIPLETS:
        return math.inf

    def of_duals(rows: np.ndarray) -> Enclosure:
        """The part of G that is due to the triplets in `rows`, a mask (t,)."""
        return weighted_sum(
            X, Weights(np.concatenate([far[rows], near[rows]]), np.concatenate([a[rows], -a[rows]]))
        )

    V, M = lam * (1 + np.eye(len(M))) / 2, view.A
    if open_.any():
        rest = (V * M - of_duals(~open_).mid) @ M
        a[open_] = _fitted(rest, X[i[open_]] - X[l[open_]], X[i[open_]] - X[j[open_]], M, c)
    G = of_duals(np.ones(len(a), dtype=bool))
    values, vectors = np.linalg.eigh(V * M - G.mid)
    Q, S = split(G, vectors * np.sqrt(np.maximum(values, 0.0)))
    loss = SmoothedHinge(width) if width > 0 else Hinge(c)
    with np.errstate(all="ignore"):
        own = total(V * view.M * view.M) / 2
        apart = view.M - Q / V
        gap = total(V * apart * apart) / 2 + total(view.M * S) + loss.excess(v, Enclosure(a))
    if not own.mid > gap.rad / question.tol:  # rounding is too large relative to a metric this small
        return math.inf
    return float((gap.mid + gap.rad) / (own.mid - own.rad))


def _duals(v: FloatArray, c: float, width: float) -> tuple[FloatArray, np.ndarray]:
    """The dual variables a (t,) that follow from v (t,), and a mask (t,) of the triplets for which a has to be fitted.

    For the hinge (width = 0), these are the triplets with v close to 1, because v does not determine a there. For the
    smoothed hinge the mask is False everywhere. c, width: those of the module docstring.
    """
    if width > 0:
        return np.clip((1 - v) / width, 0.0, 1.0), np.zeros(len(v), dtype=bool)
    return np.where(v < 1, c, 0.0), np.abs(1 - v) <= AT_THE_MARGIN


def _fitted(rest: FloatArray, far: FloatArray, near: FloatArray, M: FloatArray, c: float) -> FloatArray:
    """Dual variables a (t,) in [0, c] that minimize || sum_t a_t H_t M - rest ||.

    rest (d, d): the matrix (lam Y - G) M of the module docstring, with the G of all other triplets.

    far, near (t, d): the differences x_i - x_l and x_i - x_j of the triplets. M (d, d): the metric.
    """
    from scipy.optimize import lsq_linear  # takes a tenth of a second to load

    H = np.einsum("ta,tb->tab", far, far @ M) - np.einsum("ta,tb->tab", near, near @ M)
    fitted: FloatArray = np.clip(
        lsq_linear(H.reshape(len(H), -1).T, rest.ravel(), (0.0, c), tol=1e-14).x, 0.0, c
    )
    return fitted
