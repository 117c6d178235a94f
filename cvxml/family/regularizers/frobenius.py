"""The regularizer R(M) = lam/2 ||M||^2 in Frobenius norm.

r(G) = -||P_+(G)||^2 / (2 lam), attained at M = P_+(G) / lam. P_+ replaces negative eigenvalues by 0. The excess is
    lam/2 ||M - P_+(G)/lam||^2 + <M, P_+(-G)>.
By strong convexity, a metric with a given gap is within sqrt(2 gap / lam) of the optimum.

The proof does not depend on the accuracy of computed eigenvalues. For every psd S, r(G) >= -||G + S||^2 / (2 lam).
The excess formula stays an identity if S replaces P_+(-G) and G + S replaces P_+(G). S is a square made from the
computed eigenvectors. M is a square close to the matrix given. The distance of the computed numbers to these exact
ones is bounded entry by entry. The bound follows from the size of the terms: a sum of m products has an error of at
most m eps/2 times the sum of their absolute values, in any order.

Everything is computed in units that give the points a size of about 1. If s is a power of two, X / s with lam / s^4
is the same problem with the metric s^2 M.
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

UNDERFLOW = 1e-301  # above the error of underflow in any sum here
ROOM = 1.01  # factor that covers products of errors


class Flat(NamedTuple):
    """The points (n, d) under a psd matrix that is within `error` of A, entry by entry."""

    X: FloatArray
    A: FloatArray  # (d, d)
    error: FloatArray  # (d, d)

    def pairs(self, index: IntArray) -> Distances:
        e = self.X[index[:, 0]] - self.X[index[:, 1]]
        size = np.abs(e)
        return Distances(_quadratic(e, self.A), _quadratic(size, self._unsure) + UNDERFLOW)

    def products(self) -> Products:
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
    """G = Q - S with S psd: Q is close to P_+(G) and S to P_+(-G). Each has entrywise error bounds."""

    Q: FloatArray
    error_Q: FloatArray
    S: FloatArray
    error_S: FloatArray


class Frobenius(Everywhere):
    """R(M) = lam/2 ||M||^2.

    lam > 0: a float, or a fraction for exact arithmetic.
    features: True if the columns of X are features with units of their own. A matrix is then examined in these units
    too.
    """

    def __init__(self, X: FloatArray, lam: Any, *, features: bool = True):
        self.X, self.lam, self.features = X, lam, features
        self.scale = unit_scale(X)
        self.unit = X / self.scale
        with np.errstate(all="ignore"):
            self.weight = float(np.float64(lam) / np.float64(self.scale) ** 2 / np.float64(self.scale) ** 2)

    def shares(self, pairs: IntArray) -> FloatArray:
        """Ones (p, 1), because there is only one metric. methods/plml/blocks.py has several metrics."""
        return np.ones((len(pairs), 1))

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """P_+(A). A matrix that is psd up to rounding is kept, and its rounding error is bounded."""
        with np.errstate(over="ignore", invalid="ignore"):
            psd, feasibility = examine(A, self.X if self.features else None)
            own = psd * self.scale**2
            view = Flat(self.unit, own, _distance_to_square(own))
        return JudgedMatrix(view, feasibility, bool(np.isfinite(view.error).all()), not psd.any())

    def value(self, view: Flat) -> Approximate:
        """lam/2 ||M||^2."""
        size, error = np.abs(view.A), view.error
        # sqrt(lam) is multiplied before squaring, so that a small metric with a large lam does not underflow.
        value = _sum((math.sqrt(self.weight) * view.A) ** 2) / 2
        moved = _sum(self.weight * (size * error + error**2 / 2)) + 4 * EPS * value
        return Approximate(value, ROOM * moved + UNDERFLOW)

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The multiple with the best bound, after subtraction of the error bound."""
        value, error = self.bound(G)
        paid = error - value
        return best(lambda t: ray.value(t) - paid * t * t, ray.longest)

    def bound(self, G: Weights) -> Approximate:
        """-||Q||^2 / (2 lam)."""
        Q, error, _, _ = self._split(G)
        paid = _sum((Q / math.sqrt(self.weight)) ** 2) / 2
        error = error / math.sqrt(self.weight)  # divided before squaring, which could underflow
        moved = _sum(np.abs(Q) / math.sqrt(self.weight) * error + error**2 / 2) + 4 * EPS * paid
        return Approximate(-paid, ROOM * moved + UNDERFLOW)

    def reached(self, G: Weights) -> tuple[FloatArray, float]:
        """The minimizer Q / lam of R(M) - <M, G>, and a bound of its error in norm."""
        Q, error, _, _ = self._split(G)
        unit = self.weight * self.scale**2
        return Q / unit, ROOM * float(np.linalg.norm(error) + EPS * np.linalg.norm(Q)) / unit

    def excess(self, view: Flat, G: Weights) -> Approximate:
        """lam/2 ||M - Q/lam||^2 + <M, S>."""
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
        """sqrt(2 gap / lam), which bounds the distance to the optimum."""
        return math.sqrt(2 * gap / self.weight) / self.scale**2

    def around(self, looked: JudgedMatrix, gap: float) -> float:
        """An upper bound of the distance between the optimum and a matrix that was projected before it was judged.

        looked: the judged matrix. gap: its gap. This function is the field `radius` of `Family`.
        """
        return self.radius(gap) + looked.feasibility.distance

    def surplus(self, G: Weights) -> None:
        """None, because r(G) is finite for every G."""

    def _split(self, G: Weights) -> Split:
        """The split of G. Its error bounds also hold if every weight is rounded a few times more."""
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
        if values[-1] / 2 < -float(np.linalg.norm(Q) + np.linalg.norm(error_Q)):  # -M is proved to be psd
            return Split(0 * Q, 0 * error_Q, -M, error_M)
        return Split(Q, error_Q, S, error_S)

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        return rational.judged(A, root)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        return X.distances(metric)

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Fraction:
        """lam/2 ||M||^2"""
        return Fraction(self.lam) / 2 * scaled(sum_of_squares(metric.V), 2 * metric.at)

    def exact_bound(self, X: rational.Plane, G: Weights, hint: ArrayLike | None = None) -> Fraction:
        """-||G + L L^T||^2 / (2 lam), or 0 if -G is psd. hint: L (d, r)."""
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
        """lam times the identity, in the units of `at`."""
        rows, columns = triangle(len(at.spread))
        return np.diag(float(self.lam) / (at.spread[rows] * at.spread[columns]) ** 2)


def missing(M: Any, common: int, at: int) -> FloatArray:
    """L (d, d) with G + L L^T close to P_+(G), for G = M 2^at / common with integers M."""
    shift = common.bit_length() - 1  # 2^shift <= common < 2^(shift + 1)
    return missing_to_psd(M, at - shift) / math.sqrt(Fraction(common, 1 << shift))


def _quadratic(e: FloatArray, A: FloatArray) -> FloatArray:
    values: FloatArray = np.sum((e @ A) * e, axis=1)
    return values


def _distance_to_square(A: FloatArray) -> FloatArray:
    """An entrywise bound of the distance between A (d, d) and some R R^T, which is psd for every R.

    R comes from the eigenvectors of A scaled to a unit diagonal, so that small entries of features in large units
    keep their digits. If a diagonal entry is only rounding, the eigenvectors of A itself give a smaller bound.
    """
    if not np.isfinite(A).all():
        return np.full(A.shape, np.inf)
    diagonal = np.diag(A)
    error = _error_in_units(A, np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))
    if error.sum() <= 100 * len(A) * EPS * np.abs(A).sum():
        return error
    return min(error, _error_in_units(A, np.ones(len(A))), key=np.sum)


def _error_in_units(A: FloatArray, unit: FloatArray) -> FloatArray:
    """The bound of `_distance_to_square`, with the eigenvectors of A in units (d,)."""
    values, vectors = np.linalg.eigh(A / unit / unit[:, None])
    R = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
    square = R @ R.T
    error: FloatArray = np.abs(A - square) + (len(A) + 2) * EPS * (np.abs(R) @ np.abs(R).T)
    return error


def _sum(M: FloatArray) -> float:
    """The sum of the entries of a matrix, correctly rounded; inf if it overflows."""
    value = summed(M.ravel())
    return value if math.isfinite(value) else math.inf
