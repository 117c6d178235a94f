"""How the prices of an optimum move as its problem is tilted: a guess, of which nothing is believed (sublevel.py).

With K the second derivative of what the prices leave of f, the optimum of f - s <D, A> moves by s S where K S = D, and
the price of a row by -s w <V_t, S>, w the share that the row has in K = sum_t w_t V_t V_t^T + P:

| loss                        | w                                                                 |
| hinge, least                | (how far the price is from the ends of its domain)^2 / room       |
| squared, smoothed hinge     | the second derivative                                             |
| log sum exp, logistic, root | the same                                                          |

as much as the excess of the row allows where f may grow by `room`. Where prices have a sum that is fixed, rows count by
their difference from the mean row. P is the same of the cone, for psd Z and M with Z M near 0: mu H (x) H with
H = Z / mu + (M + mu / |Z|)^-1, or of R. All in units in which features spread over about 1.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from cvxml.core.metric import FloatArray, IntArray, middle, units_of
from cvxml.family.bound import Family, Term
from cvxml.family.free import Free
from cvxml.family.frobenius import Frobenius
from cvxml.family.logdet import LogDet
from cvxml.family.logistic import Labelled, Logistic
from cvxml.family.losses import Bounded, Hinge, Least, LogSumExp, Root, SmoothedHinge, SquaredHinge, Straight
from cvxml.family.regularizers import Budget, Linear
from cvxml.family.rows import ByPoint, PairRows, Prices, Triplets, Weights, joined
from cvxml.family.symmetric import squares, svec, triangle, weighted
from cvxml.family.together import Together
from cvxml.family.trace import Trace

MOST = 2**26  # numbers of all rows


class Moving(NamedTuple):
    """Rows of a term whose prices move: that of row t by -w_t (<V_t, S> - the mean of its group)."""

    at: IntArray  # (t,) places among the prices
    V: FloatArray  # (t, p)
    w: FloatArray  # (t,)
    group: IntArray | None  # (t,), where prices of a group have a fixed sum

    def centred(self, values: FloatArray) -> FloatArray:
        """Values (t, ...) less the mean of their group, weighted with w."""
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
    """K, factored, and the rows."""

    X: FloatArray  # (n, d) in units
    units: FloatArray  # (d,) powers of two
    K: FloatArray  # (p, p)
    factor: Any
    moving: list[Moving]
    sizes: list[int]
    room: float

    def shift(self, D: FloatArray) -> FloatArray:
        """S = K^-1 D, as vectors of symmetric matrices in units."""
        S: FloatArray = cho_solve(self.factor, D)
        return S

    def along(self, D: Weights) -> tuple[list[FloatArray], float] | None:
        """How prices move for each unit of tilt, and the tilt that should be best."""
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


def respond(family: Family, prices: list[Prices], A: FloatArray, room: float) -> Response | None:
    """Of a metric A (d, d) near the optimum and prices near its own; None where no formula is known."""
    R = family.regularizer
    spread = units_of(R.X - middle(R.X))
    X = (R.X - middle(R.X)) / spread
    p = X.shape[1] * (X.shape[1] + 1) // 2
    if sum(len(own.a) for own in prices) * p > MOST:
        return None
    moving = [_moving(term, own, X, room) for term, own in zip(family.terms, prices, strict=True)]
    G = joined([term.rows.weights(own) for term, own in zip(family.terms, prices, strict=True)])
    P = _of_regularizer(R, G, X, spread, A * spread * spread[:, None], room)
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
    return Response(X, spread, K, factor, known, [len(own.a) for own in prices], room)


def _moving(term: Term, prices: Prices, X: FloatArray, room: float) -> Moving | None:
    shares = _shares(term.loss, prices.a, room)
    if shares is None:
        return None
    w, group = shares
    at = np.flatnonzero((w > 0) & np.isfinite(w))
    V = _vectors(term.rows, prices.key[at], X)
    if V is None:
        return None
    return Moving(at, V, w[at], None if group is None else group[at])


def _shares(loss: Any, a: FloatArray, room: float) -> tuple[FloatArray, IntArray | None] | None:
    one = np.zeros(len(a), dtype=np.intp)
    if isinstance(loss, Hinge):
        return np.minimum(a, loss.c - a) ** 2 / room, None
    if isinstance(loss, SquaredHinge):
        return np.where(a > 0, 2 * loss.c, 0.0), None
    if isinstance(loss, SmoothedHinge):
        return np.where((a > 0) & (a < 1), 1 / loss.g, 0.0), None
    if isinstance(loss, Straight):
        return np.zeros(len(a)), None
    if isinstance(loss, Least):
        return a**2 / room, one
    if isinstance(loss, Root):
        return 2 * a**3, None
    if isinstance(loss, Bounded):
        return np.where(a != 0, loss.c * (1 + a / loss.c) ** 2, 0.0), None
    if isinstance(loss, LogSumExp):
        return a.copy(), np.repeat(np.arange(len(loss.c)), len(a) // len(loss.c))
    if isinstance(loss, Logistic):
        alpha = np.abs(a)
        return alpha * (1 - alpha / loss.weights), one if loss.b is None else None
    return None


def _vectors(rows: Any, key: IntArray, X: FloatArray) -> FloatArray | None:
    """svec(V_t) of the rows named."""
    if isinstance(rows, Labelled):
        rows = rows.pairs
    if isinstance(rows, PairRows):
        i, j = rows.listed[key].T
        return squares(X[i] - X[j]) / float(rows.unit)
    if isinstance(rows, ByPoint):
        group, k = np.divmod(key, rows.n)
        return squares(X[rows.points[group]] - X[k])
    if isinstance(rows, Triplets):
        i, j, l = rows.named(Prices(np.zeros(len(key)), key)).T
        return squares(X[i] - X[l]) - squares(X[i] - X[j])
    if isinstance(rows, Together):
        i, j, l = rows.listed[key].T
        return squares(X[i] - X[l]) - squares(X[i] - X[j])
    return None


def _of_regularizer(
    R: Any, G: Weights, X: FloatArray, spread: FloatArray, A: FloatArray, room: float
) -> FloatArray | None:
    """P, for the metric A in units."""
    d = X.shape[1]
    rows, columns = triangle(d)
    if type(R) is Frobenius:
        return np.diag(float(R.lam) / (spread[rows] * spread[columns]) ** 2)
    if type(R) is LogDet:
        try:
            return _congruence(_inverse(A))
        except LinAlgError:
            return None
    paid = _total(G, X)
    if isinstance(R, Free):
        cost = 0 * paid
    elif isinstance(R, Trace):
        cost = float(R.v) * np.diag(1 / spread**2)
    elif isinstance(R, Linear):
        cost = _total(R.C, X)
    elif type(R) is Budget:
        S = _total(Weights(R.similar, np.ones(len(R.similar))), X)
        cost = -R.bound(G).value * S
    else:
        return None
    Z = cost - paid
    values, vectors = np.linalg.eigh((Z + Z.T) / 2)
    Z = (vectors * np.maximum(values, 0.0)) @ vectors.T
    size, mu = max(float(values[-1]), 1e-9 * float(np.trace(cost)) / d, 1e-300), room / d
    N = A + mu / size * np.eye(d)
    try:
        P: FloatArray = mu * _congruence(Z / mu + _inverse(N))
        return P
    except LinAlgError:
        return None


def _inverse(S: FloatArray) -> FloatArray:
    inverse: FloatArray = np.linalg.inv(S).astype(np.float64)
    return inverse


def _total(G: Weights, X: FloatArray) -> FloatArray:
    return weighted(X[G.pairs[:, 0]] - X[G.pairs[:, 1]], np.asarray(G.w, dtype=float))


def _congruence(H: FloatArray) -> FloatArray:
    """S -> H S H as a matrix (p, p) of vectors."""
    rows, columns = triangle(len(H))
    scale = np.where(rows == columns, 1.0, math.sqrt(2))
    left = H[np.ix_(rows, rows)] * H[np.ix_(columns, columns)]
    right = H[np.ix_(rows, columns)] * H[np.ix_(columns, rows)]
    both: FloatArray = (left + right) / 2 * scale[:, None] * scale
    return both
