"""The regularizer lam/2 ||M||^2 in Frobenius norm.

r(G) = -||P_+(G)||^2 / (2 lam), reached at M = P_+(G) / lam: P_+ drops negative eigenvalues. The part of the gap is
    lam/2 ||M - P_+(G)/lam||^2 + <M, P_+(-G)>,
and a metric with a gap is within sqrt(2 gap / lam) of the optimum, by strong convexity.

No eigenvalue is believed: r(G) >= -||G + S||^2 / (2 lam) for every psd S, with the sum above still an identity where S
is put for P_+(-G) and G + S for P_+(G). S is the square that the computed eigenvectors make; M is a square near the
matrix given. How far the computed numbers may be from these is bounded entry by entry, from the sizes of what was
summed: the error of a sum of m products, in whatever order, is at most m eps/2 of the sum of their sizes.

Everything is computed in units in which the points are about 1: X / s with lam / s^4, s a power of two, is the same
problem with the metric s^2 M.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import scaled, sum_of_squares
from cvxml.core.integer_matrices import given_rows, is_psd, missing_to_psd, whole
from cvxml.core.metric import EPS, FloatArray, IntArray, examine, middle, unit_scale
from cvxml.family.geometry.symmetric import triangle
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import Everywhere, JudgedMatrix, Scaled, best, fractions
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.rounding import Distances, Products
from cvxml.numbers.sums import Approximate, summed

UNDERFLOW = 1e-301  # more than underflow changes any sum here
ROOM = 1.01  # for products of errors


class Flat(NamedTuple):
    """Points (n, d), and a matrix A that a psd one is near: within `error`, entry by entry."""

    X: FloatArray
    A: FloatArray  # (d, d)
    error: FloatArray  # (d, d)

    def pairs(self, index: IntArray) -> Distances:
        """See `View`."""
        e = self.X[index[:, 0]] - self.X[index[:, 1]]
        size = np.abs(e)
        return Distances(_quadratic(e, self.A), _quadratic(size, self._unsure) + UNDERFLOW)

    def products(self) -> Products:
        """See `WideView`."""
        P = self.X - middle(self.X)
        # |p_i - p_j| is at most s = |p_i| + |p_j|, entry by entry. 2 s_k s_l <= s_k^2 w_l / w_k + s_l^2 w_k / w_l for
        # any w > 0, and s_k^2 is at most twice the sum of both squares.
        size, width = np.abs(P), np.abs(P).max(axis=0)
        per = np.divide(self._unsure @ width, width, out=np.zeros_like(width), where=width > 0)
        reach = 2 * np.sum(size * per * size, axis=1) + UNDERFLOW
        return Products(P @ self.A, P, _quadratic(P, self.A), reach)

    @property
    def _unsure(self) -> FloatArray:
        return self.error + (len(self.A) + 3) * EPS * np.abs(self.A)


class Split(NamedTuple):
    """G as Q - S, S psd: what is near P_+(G) and P_+(-G), and what each entry may be off by."""

    Q: FloatArray
    error_Q: FloatArray
    S: FloatArray
    error_S: FloatArray


class Frobenius(Everywhere):
    """lam/2 ||M||^2.

    lam: a float, or a fraction for exact arithmetic. features: the columns of X are features with units of their own,
    in which a matrix must be a metric too.
    """

    def __init__(self, X: FloatArray, lam: Any, *, features: bool = True):
        self.X, self.lam, self.features = X, lam, features
        self.scale = unit_scale(X)
        self.unit = X / self.scale
        with np.errstate(all="ignore"):
            self.weight = float(np.float64(lam) / np.float64(self.scale) ** 2 / np.float64(self.scale) ** 2)

    def shares(self, pairs: IntArray) -> FloatArray:
        """(p, 1): of each pair the one metric has all (blocks.py has several)."""
        return np.ones((len(pairs), 1))

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """P_+(A); what only rounding takes from the cone is counted as such."""
        with np.errstate(over="ignore", invalid="ignore"):
            psd, feasibility = examine(A, self.X if self.features else None)
            own = psd * self.scale**2
            view = Flat(self.unit, own, _error_square(own))
        return JudgedMatrix(view, feasibility, bool(np.isfinite(view.error).all()), not psd.any())

    def value(self, view: Flat) -> Approximate:
        """lam/2 ||M||^2"""
        size, error = np.abs(view.A), view.error
        # lam is taken under the square, by its root, so that a small metric with a large lam does not underflow.
        value = _sum((math.sqrt(self.weight) * view.A) ** 2) / 2
        moved = _sum(self.weight * (size * error + error**2 / 2)) + 4 * EPS * value
        return Approximate(value, ROOM * moved + UNDERFLOW)

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """That with the best bound, less what rounding may take from it."""
        value, error = self.bound(G)
        paid = error - value
        return best(lambda t: ray.value(t) - paid * t * t, ray.longest)

    def bound(self, G: Weights) -> Approximate:
        """-||Q||^2 / (2 lam)"""
        Q, error, _, _ = self._split(G)
        paid = _sum((Q / math.sqrt(self.weight)) ** 2) / 2
        error = error / math.sqrt(self.weight)  # no square of what is tiny: it would underflow
        moved = _sum(np.abs(Q) / math.sqrt(self.weight) * error + error**2 / 2) + 4 * EPS * paid
        return Approximate(-paid, ROOM * moved + UNDERFLOW)

    def reached(self, G: Weights) -> tuple[FloatArray, float]:
        """The metric Q / lam at which R(M) - <M, G> is least, and what it may be off by, in norm."""
        Q, error, _, _ = self._split(G)
        unit = self.weight * self.scale**2
        return Q / unit, ROOM * float(np.linalg.norm(error) + EPS * np.linalg.norm(Q)) / unit

    def excess(self, view: Flat, G: Weights) -> Approximate:
        """lam/2 ||M - Q/lam||^2 + <M, S>"""
        A, error_A = view.A, view.error
        Q, error_Q, S, error_S = self._split(G)
        root = math.sqrt(self.weight)
        misfit, overlap = root * A - Q / root, A * S
        error = root * error_A + error_Q / root + 2 * EPS * (root * np.abs(A) + np.abs(Q) / root)
        apart, paid = _sum(misfit**2) / 2, _sum(overlap)
        moved = _sum(np.abs(misfit) * error + error**2 / 2) + 4 * EPS * apart
        moved += _sum(np.abs(A) * error_S + error_A * (np.abs(S) + error_S) + EPS * np.abs(overlap))
        return Approximate(apart + paid, ROOM * moved + UNDERFLOW)

    def radius(self, gap: float) -> float:
        """sqrt(2 gap / lam)"""
        return math.sqrt(2 * gap / self.weight) / self.scale**2

    def around(self, looked: JudgedMatrix, gap: float) -> float:
        """How far the optimum may be from a matrix that was projected first: the radius of a family."""
        return self.radius(gap) + looked.feasibility.distance

    def surplus(self, G: Weights) -> None:
        """Any G will do."""

    def _split(self, G: Weights) -> Split:
        """Also where every weight is rounded a few times more."""
        used = np.asarray(G.w != 0)
        (i, j), w = G.pairs[used].T, G.w[used].astype(float)
        e, d = self.unit[i] - self.unit[j], self.unit.shape[1]
        M, sizes = e.T @ (e * w[:, None]), np.abs(e).T @ np.abs(e * w[:, None])
        M = (M + M.T) / 2
        error_M = (len(w) / 2 + 8) * EPS * (sizes + sizes.T) / 2 + UNDERFLOW
        values, vectors = np.linalg.eigh(M)
        below = np.maximum(-values, 0)
        S = (vectors * below) @ vectors.T
        error_S = (d + 2) * EPS * (np.abs(vectors) * below) @ np.abs(vectors).T
        Q = M + S
        error_Q = error_M + error_S + EPS * np.abs(Q)
        if values[-1] / 2 < -float(np.linalg.norm(Q) + np.linalg.norm(error_Q)):  # -M is surely psd
            return Split(0 * Q, 0 * error_Q, -M, error_M)
        return Split(Q, error_Q, S, error_S)

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """See `Regularizer`."""
        return rational.judged(A, root)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """See `Regularizer`."""
        return X.distances(metric)

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Fraction:
        """lam/2 ||M||^2"""
        return Fraction(self.lam) / 2 * scaled(sum_of_squares(metric.V), 2 * metric.at)

    def exact_bound(self, X: rational.Plane, G: Weights, hint: ArrayLike | None = None) -> Fraction:
        """-||G + L L^T||^2 / (2 lam), and 0 where -G is psd; L (d, r) is the hint."""
        M, common = X.outer(G.pairs, fractions(G.w))
        at = 2 * X.at
        if sum(int(M[k, k]) for k in range(M.nrows())) <= 0 and is_psd(-M):
            return Fraction(0)
        root = missing(M, common, at) if hint is None else given_rows(hint, M.nrows(), "psd")
        L, L_at = whole(root)
        low = min(2 * L_at, at)
        both = M * (1 << (at - low)) + L * L.transpose() * (common << (2 * L_at - low))
        left = scaled(sum_of_squares(both), 2 * low) / common**2
        return -left / (2 * Fraction(self.lam))

    def second_derivative(self, at: Scaled) -> FloatArray | None:
        """lam"""
        rows, columns = triangle(len(at.spread))
        return np.diag(float(self.lam) / (at.spread[rows] * at.spread[columns]) ** 2)


def missing(M: Any, common: int, at: int) -> FloatArray:
    """L (d, d) with G + L L^T near P_+(G), for G = M 2^at / common in integers."""
    shift = common.bit_length() - 1  # 2^shift <= common < 2^(shift + 1)
    return missing_to_psd(M, at - shift) / math.sqrt(Fraction(common, 1 << shift))


def _quadratic(e: FloatArray, A: FloatArray) -> FloatArray:
    values: FloatArray = np.sum((e @ A) * e, axis=1)
    return values


def _error_square(A: FloatArray) -> FloatArray:
    """How far some R R^T, which is psd whatever R is, may be from `A` (d, d), entry by entry.

    Eigenvectors of A with a unit diagonal find R: entries that are small because their features are large keep digits.
    Where an entry of the diagonal is no more than rounding, those of A as it is are nearer.
    """
    if not np.isfinite(A).all():
        return np.full(A.shape, np.inf)
    diagonal = np.diag(A)
    error = _off_with(A, np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))
    if error.sum() <= 100 * len(A) * EPS * np.abs(A).sum():
        return error
    return min(error, _off_with(A, np.ones(len(A))), key=np.sum)


def _off_with(A: FloatArray, unit: FloatArray) -> FloatArray:
    """The same, with eigenvectors of A in units (d,)."""
    values, vectors = np.linalg.eigh(A / unit / unit[:, None])
    R = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
    square = R @ R.T
    error: FloatArray = np.abs(A - square) + (len(A) + 2) * EPS * (np.abs(R) @ np.abs(R).T)
    return error


def _sum(M: FloatArray) -> float:
    """The sum of the entries of a matrix, to the last digit."""
    value = summed(M.ravel())
    return value if math.isfinite(value) else math.inf
