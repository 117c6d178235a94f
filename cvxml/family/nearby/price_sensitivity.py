"""An estimate of the change of optimal dual variables if the objective is tilted: a linear term is subtracted.

The estimate guides sublevel.py; a proof must not use it.

f(A) = R(A) + sum phi(v) is the objective at a metric A, and V_t is the matrix with v_t = <A, V_t>. A term is one loss
phi with its rows t. The tilted objective is f(A) - s <D, A>, for a symmetric matrix D, the direction, and a number
s > 0, the tilt. `room` is the amount by which f may grow above the optimum; it is given. Let K be the second derivative
of f at the optimum, or a substitute for it if f has none:

    K = sum_t w_t V_t V_t^T + P.

The optimum moves by s S, where the symmetric matrix S solves K S = D. The dual variable of row t changes by
-s w_t <V_t, S>. The weight w_t of a row with the dual variable a is:

| loss                                 | w_t                            |
| hinge c [1 - v]_+                    | min(a, c - a)^2 / room         |
| least                                | a^2 / room                     |
| squared hinge, smoothed hinge        | the second derivative of phi   |
| log sum exp, logistic, root, bounded | the second derivative of phi   |

Hinge and least have a kink. Their w_t is the curvature of a parabola that is close to the kink where f grows by about
`room`. If the dual variables of a group have a fixed sum, the mean V_t of the group, weighted with w_t, is subtracted
from each V_t.

P is the second derivative of R, if it has one. Otherwise P comes from the psd cone. Let G = sum_t a_t V_t, and let C be
a matrix with C - G psd and (C - G) A = 0 at the optimum. Z is C - G with negative eigenvalues replaced by 0, and |Z| is
its spectral norm. Let mu = room / d and H = Z / mu + (A + mu / |Z| I)^-1. P is the map T -> mu H T H on symmetric T.

Features are scaled to a spread of about 1. Symmetric matrices are vectors svec of length p (geometry/symmetric.py).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_matrix

from cvxml.core.metric import FloatArray, IntArray, middle, units_of
from cvxml.family.geometry.symmetric import congruence, squares, svec, weighted
from cvxml.family.losses.base import Sensitive
from cvxml.family.regularizers.base import Priced, Scaled, Smooth
from cvxml.family.rows.base import Duals, Entries, Weights, WithEntries, joined
from cvxml.family.theorem.theorem import Family, Term

MAX_NUMBERS = 2**26  # the rows may have at most this many numbers in total


class Moving(NamedTuple):
    """The rows of a term with dual variables that change: for row t by -w_t (<V_t, S> - its mean in the group).

    at (t,): the positions of the rows among the dual variables. V (t, p): svec(V_t). w (t,): the weights. group (t,):
    the group of each row, if the dual variables of a group have a fixed sum; else None.
    """

    at: IntArray  # (t,) positions among the dual variables
    V: FloatArray  # (t, p) svec(V_t)
    w: FloatArray  # (t,)
    group: IntArray | None  # (t,) groups of dual variables with a fixed sum

    def centred(self, values: FloatArray) -> FloatArray:
        """`values` (t, ...), one entry for each row, minus the mean of their group, weighted with w."""
        if self.group is None or not len(self.w):
            return values
        groups = int(self.group.max()) + 1
        total = np.bincount(self.group, self.w, minlength=groups)
        shape = (-1,) + (1,) * (values.ndim - 1)
        sums = np.zeros((groups, *values.shape[1:]))
        np.add.at(sums, self.group, self.w.reshape(shape) * values)
        mean = sums / np.where(total > 0, total, 1.0).reshape(shape)
        own: FloatArray = values - mean[self.group]
        return own


class Response(NamedTuple):
    """A Cholesky factor of K, and the rows with dual variables that change: all that is needed for any direction D.

    X (n, d): the points in units of the features. units (d,): these units, powers of two. `factor` is the Cholesky
    factor of K (p, p). room: f may grow by this.

    moving: for each term, the rows that change. sizes: for each term, the number of all rows with a dual variable.
    """

    X: FloatArray  # (n, d) the points in units
    units: FloatArray  # (d,) the units of the features, powers of two
    K: FloatArray  # (p, p)
    factor: Any
    moving: list[Moving]
    sizes: list[int]
    room: float

    def shift(self, D: FloatArray) -> FloatArray:
        """S = K^-1 D for D and S given as svec (p,) of symmetric matrices, in units of the features."""
        S: FloatArray = cho_solve(self.factor, D)
        return S

    def along(self, D: Weights) -> tuple[list[FloatArray], float] | None:
        """The change of the dual variables of each term per unit of the tilt s, and an estimate of the best s.

        The best s gives the smallest upper bound of <D, A> in sublevel.py. D: the direction, by weights on pairs.
        Returns None if <D, K^-1 D> is not a positive number.
        """
        E = self.X[D.pairs[:, 0]] - self.X[D.pairs[:, 1]]
        vector = svec(weighted(E, D.w))
        S = self.shift(vector)
        q = float(S @ vector)
        if not (math.isfinite(q) and q > 0):
            return None
        moves = []
        for rows, size in zip(self.moving, self.sizes, strict=True):
            move = np.zeros(size)
            move[rows.at] = -rows.w * rows.centred(rows.V @ S)
            moves.append(move)
        return moves, math.sqrt(self.room / q)


def respond(family: Family, duals: list[Duals], A: FloatArray, room: float) -> Response | None:
    """The response at a metric A (d, d) near the optimum: a factor of K, and the rows with changing dual variables.

    duals: near the optimal ones, for each loss of the family. room: f may grow by this.

    Returns None if a loss has no formula for w, or the regularizer has no formula for P. Returns None too if K is not
    finite and positive definite, or if there are too many rows (`MAX_NUMBERS`).
    """
    R = family.regularizer
    spread = units_of(R.X - middle(R.X))
    X = (R.X - middle(R.X)) / spread
    p = X.shape[1] * (X.shape[1] + 1) // 2
    if sum(len(own.a) for own in duals) * p > MAX_NUMBERS:
        return None
    moving = [_moving(term, own, X, room) for term, own in zip(family.terms, duals, strict=True)]
    G = joined([term.rows.weights(own) for term, own in zip(family.terms, duals, strict=True)])
    P = _second_derivative(R, G, Scaled(X, spread, A * spread * spread[:, None]), room)
    if P is None:
        return None
    K = P
    known: list[Moving] = []
    for rows in moving:
        if rows is None:
            return None
        V = rows.centred(rows.V)
        K = K + V.T @ (rows.w[:, None] * V)
        known.append(rows)
    if not np.isfinite(K).all():
        return None
    K = (K + K.T) / 2 + 1e-13 * np.diag(np.diag(K))
    try:
        factor = cho_factor(K)
    except LinAlgError:
        return None
    return Response(X, spread, K, factor, known, [len(own.a) for own in duals], room)


def _moving(term: Term, duals: Duals, X: FloatArray, room: float) -> Moving | None:
    if not isinstance(term.loss, Sensitive) or not isinstance(term.rows, WithEntries):
        return None
    w, group = term.loss.sensitivity(duals.a, room)
    at = np.flatnonzero((w > 0) & np.isfinite(w))
    V = _vectors(term.rows.entries(duals.key[at]), len(at), X)
    return Moving(at, V, w[at], None if group is None else group[at])


def _vectors(entries: Entries, count: int, X: FloatArray) -> FloatArray:
    """The vectors svec(V_t) of `count` rows, (t, p).

    entries: the nonzero constants B_tp of the rows in v_t = sum_p B_tp D_p. X (n, d): the points.
    """
    i, j = entries.pairs.T
    of_row = csr_matrix((entries.sign, (entries.row, np.arange(len(i)))), shape=(count, len(i)))
    V: FloatArray = of_row @ squares(X[i] - X[j])
    return V


def _second_derivative(R: Any, G: Weights, at: Scaled, room: float) -> FloatArray | None:
    """The part P of K, (p, p); None if the regularizer R has no formula for it, or if P cannot be computed.

    G: sum_t a_t V_t, as weights on pairs. at: the points and the metric, in units of the features. room: f may grow by
    this.
    """
    if isinstance(R, Smooth):
        return R.second_derivative(at)
    cost = R.cost(at, G) if isinstance(R, Priced) else None
    return None if cost is None else _second_derivative_of_cone(cost, at.total(G), at.A, room)


def _second_derivative_of_cone(
    cost: FloatArray, paid: FloatArray, A: FloatArray, room: float
) -> FloatArray | None:
    """The part P of K, (p, p), from the psd cone; None if a matrix to invert is singular.

    cost, paid (d, d): the matrices C and G of the module docstring. A (d, d): the metric. room: f may grow by this. A
    lower limit of |Z|, 1e-9 tr C / d, replaces |Z| if it is smaller.
    """
    d = len(A)
    Z = cost - paid
    values, vectors = np.linalg.eigh((Z + Z.T) / 2)
    Z = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size, mu = max(float(values[-1]), 1e-9 * float(np.trace(cost)) / d, 1e-300), room / d
    N = A + mu / size * np.eye(d)
    try:
        inverse: FloatArray = np.linalg.inv(N).astype(np.float64)
    except LinAlgError:
        return None
    P: FloatArray = mu * congruence(Z / mu + inverse)
    return P
