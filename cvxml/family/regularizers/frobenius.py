"""The regularizer R(M) = lam/2 ||M||^2 in Frobenius norm.

G is the matrix that belongs to the dual variables, and r(G) <= R(M) - <M, G> for every psd M (base.py).
The bound is r(G) = -||P_+(G)||^2 / (2 lam), attained at M = P_+(G) / lam. P_+ replaces negative eigenvalues by 0. The
excess is
    lam/2 ||M - P_+(G)/lam||^2 + <M, P_+(-G)>.
By strong convexity, a metric with a given gap is within sqrt(2 gap / lam) of the optimum.

The proof does not depend on the accuracy of computed eigenvalues. For every psd S, r(G) >= -||G + S||^2 / (2 lam). The
excess formula stays an identity if S replaces P_+(-G) and G + S replaces P_+(G). S is a square L L^T, where L is made
from the computed eigenvectors. M is a square close to the matrix given. The distance of the computed numbers to these
exact ones is bounded entry by entry.

Everything is computed in units that give the points a size of about 1. If s is a power of two, X / s with lam / s^4 is
the same problem with the metric s^2 M. A view is the points under a metric: it gives distances with error bounds.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import scaled
from cvxml.core.integer_matrices import given_rows, is_psd, missing_to_psd
from cvxml.core.metric import EPS, FloatArray, IntArray, examine, middle, unit_scale
from cvxml.family.geometry.symmetric import triangle
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import (
    ByFormulas,
    JudgedMatrix,
    Scaled,
    best_of_square,
    fractions,
    of_last,
)
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rounding import Distances, Products
from cvxml.numbers.vocabulary import is_exact, like, matmul, total

UNDERFLOW = 1e-301  # above the error of underflow in any sum here
ROOM = 1.01  # factor that covers products of errors


class Flat(NamedTuple):
    """The points (n, d) under a psd matrix that is within `error` of A, entry by entry."""

    X: FloatArray
    A: FloatArray  # (d, d)
    error: FloatArray  # (d, d)

    @classmethod
    def near(cls, X: FloatArray, A: FloatArray) -> Flat:
        """The view of the points for A (d, d), which is psd up to rounding."""
        return cls(X, A, _distance_to_square(A))

    @property
    def M(self) -> Enclosure:
        return Enclosure(self.A, self.error)

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
    """G = Q - S with S psd: Q is close to P_+(G), and S to P_+(-G). Both (d, d) are enclosures, or both rationals."""

    Q: Any
    S: Any


class Frobenius(ByFormulas):
    """R(M) = lam/2 ||M||^2.

    lam > 0: a float, or a fraction for exact arithmetic.
    features: True if the columns of X are features with units of their own. Feasibility is then also checked in these
    units.
    """

    def __init__(self, X: FloatArray, lam: Any, *, features: bool = True):
        self.X, self.lam, self.features = X, lam, features
        self.scale = unit_scale(X)
        self.unit = X / self.scale
        with np.errstate(all="ignore"):
            self.weight = float(np.float64(lam) / np.float64(self.scale) ** 2 / np.float64(self.scale) ** 2)

    def shares(self, pairs: IntArray) -> FloatArray:
        """The weight of the metric in the distance of each of `pairs` (p, 2): an array (p, 1) of ones.

        In methods/plml/blocks.py, a distance is a weighted sum over several metrics, with one column for each.
        """
        return np.ones((len(pairs), 1))

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The projection P_+(A). A matrix that is psd up to rounding is kept, and its rounding error is bounded."""
        with np.errstate(over="ignore", invalid="ignore"):
            psd, feasibility = examine(A, self.X if self.features else None)
            view = Flat.near(self.unit, psd * self.scale**2)
        return JudgedMatrix(view, feasibility, bool(np.isfinite(view.error).all()), not psd.any())

    def _lam(self, x: Any, rounded: int = 0) -> Any:
        """lam as a number of the kind of x, an enclosure or a rational.

        For enclosures it is in the units of this class, for rationals in those of X. rounded: how many roundings
        separate the float from the exact number.
        """
        return like(x, self.lam if is_exact(x) else self.weight, rounded)

    def value_at(self, at: Any) -> Any:
        """R(M) = lam/2 ||M||^2, for a view `at` of the metric M.

        lam is multiplied first, so that the square of a small metric does not underflow.
        """
        return total(self._lam(at.M) * at.M * at.M) / 2

    def conjugate_at(self, image: Split) -> Any:
        """The lower bound -||Q||^2 / (2 lam) of r(G), from the split G = Q - S."""
        return -total(image.Q / self._lam(image.Q) * image.Q) / 2

    def excess_at(self, at: Any, image: Split) -> Any:
        """The excess lam/2 ||M - Q/lam||^2 + <M, S>, for a view `at` of the metric M and the split G = Q - S."""
        lam = self._lam(at.M, rounded=1)
        apart = at.M - image.Q / lam
        return total(lam * apart * apart) / 2 + total(at.M * image.S)

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor t of the dual variables with the best bound k(t a) + r(t G), less its error bound.

        ray: the function t -> k(t a) of the losses.
        """
        return best_of_square(self.bound(G), ray)

    def reached(self, G: Weights) -> tuple[FloatArray, float]:
        """The minimizer Q / lam of R(M) - <M, G> over psd M, and a bound of its error in norm. Q is near P_+(G)."""
        Q = self.image(G).Q
        unit = self.weight * self.scale**2
        return Q.mid / unit, ROOM * float(np.linalg.norm(Q.rad) + EPS * np.linalg.norm(Q.mid)) / unit

    def radius(self, gap: float) -> float:
        """sqrt(2 gap / lam), which bounds the distance of a psd metric from the optimum. gap: the gap of the metric."""
        return math.sqrt(2 * gap / self.weight) / self.scale**2

    def around(self, looked: JudgedMatrix, gap: float) -> float:
        """An upper bound of the distance between the optimum and a matrix that was projected before it was judged.

        looked: the judged matrix, with the feasibility of the given matrix, which has the distance between the two.
        gap: a bound of the gap of the judged matrix.
        """
        return self.radius(gap) + looked.feasibility.distance

    @of_last
    def image(self, G: Weights) -> Split:
        """The split G = Q - S in enclosures, in the units of this class."""
        M = weighted_sum(self.unit, G)
        values, vectors = np.linalg.eigh(M.mid)
        found = split(M, vectors * np.sqrt(np.maximum(-values, 0.0)))
        if values[-1] / 2 < -float(np.linalg.norm(found.Q.mid) + np.linalg.norm(found.Q.rad)):
            return Split(like(M, np.zeros(M.shape)), -M)  # -M is proved to be psd
        return found

    def exact_image(self, X: rational.Plane, G: Weights, hint: ArrayLike | None) -> Split:
        """The split G = Q - S in the units of X, the points in rationals. If -G is psd, Q = 0.

        hint: L (d, r) with S near L L^T, or None.
        """
        M, common = X.outer(G.pairs, fractions(G.w))
        numbers = rational.matrix(M, scaled(1, 2 * X.at) / common)
        if sum(int(M[k, k]) for k in range(M.nrows())) <= 0 and is_psd(-M):
            return Split(0 * numbers, -numbers)
        return split(
            numbers, missing(M, common, 2 * X.at) if hint is None else given_rows(hint, M.nrows(), "psd")
        )

    def second_derivative(self, at: Scaled) -> FloatArray | None:
        """lam times the identity on vectors svec, (p, p), in the units of `at`."""
        rows, columns = triangle(len(at.spread))
        return np.diag(float(self.lam) / (at.spread[rows] * at.spread[columns]) ** 2)


def split(G: Any, L: FloatArray) -> Split:
    """The split G = Q - S of a matrix G (d, d) of numbers of one kind, with S = L L^T for L (d, r)."""
    root = like(G, L)
    S = matmul(root, root.T)
    return Split(G + S, S)


def weighted_sum(X: FloatArray, G: Weights) -> Enclosure:
    """The matrix sum_p w_p X_p (d, d). The enclosure also holds if every weight is rounded a few times more.

    A sum of m products has an error of at most m eps/2 times the sum of their absolute values, in any order.
    """
    used = np.asarray(G.w != 0)
    (i, j), w = G.pairs[used].T, G.w[used].astype(float)
    e = X[i] - X[j]
    M, sizes = e.T @ (e * w[:, None]), np.abs(e).T @ np.abs(e * w[:, None])
    return Enclosure((M + M.T) / 2, (len(w) / 2 + 8) * EPS * (sizes + sizes.T) / 2 + UNDERFLOW)


def missing(M: Any, common: int, at: int) -> FloatArray:
    """A matrix L (d, d) of floats with G + L L^T close to P_+(G), for G = M 2^at / common with integers M."""
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
    """An entrywise bound of |A - R R^T|, with R from the eigenvectors of A in the units `unit` (d,)."""
    values, vectors = np.linalg.eigh(A / unit / unit[:, None])
    R = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
    square = R @ R.T
    error: FloatArray = np.abs(A - square) + (len(A) + 2) * EPS * (np.abs(R) @ np.abs(R).T)
    return error
