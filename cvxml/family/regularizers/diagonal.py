"""Regularizers of diagonal metrics M = diag(m): a budget, and <C, M>.

Budget: R(M) is 0 if the sum of the squared distances of similar pairs is at most 1. Let S be the sum of X_p over
similar pairs p = (i, j), X_p = (x_i - x_j)(x_i - x_j)^T. Only the diagonals of S and of G, the matrix that belongs to
the dual variables, matter, because <S, M> = sum_k m_k S_kk. So R(M) - <M, G> >= r(G) = -max(0, max_k G_kk / S_kk) over
the features with S_kk > 0. The pairs of G must not differ in a feature with S_kk = 0, because r(G) would then be -inf.
The method has to check this; floats are equal or not, so the check is exact.

<C, M>: r(G) is 0 if no diagonal entry of C - G is negative, else -inf. A row must have the dual variable 0 if its pairs
differ in a feature with C_kk = 0 (`DiagonalLinear.labels`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import root_upward, scaled, sum_of_squares
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import EPS, FEASIBILITY_TOL, FloatArray, IntArray, in_units, units_of
from cvxml.family.geometry.budget import FLOOR, BudgetFeasibility, MetricWithinBudget, examine_budget
from cvxml.family.geometry.span_coordinates import Ground
from cvxml.family.regularizers.base import JudgedMatrix, Scaled, Surplus, fractions, of_last
from cvxml.family.regularizers.budget import Budget, Within
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.rounding import points, squares_of_pairs
from cvxml.numbers.sums import Approximate


@dataclass(frozen=True)
class DiagonalFeasibility(BudgetFeasibility):
    """The feasibility of a metric with a budget that must also be diagonal.

    beyond: the largest absolute value of its entries off the diagonal, relative to its norm, as in `examine_diagonal`.
    `spent` and `rounded` are those of the matrix max(diag(A), 0) for a given matrix A.
    """

    beyond: float = 0.0

    @property
    def feasible(self) -> bool:
        """True if the metric is diagonal, psd and within the budget, up to rounding and tolerance.

        The tolerance is `FEASIBILITY_TOL`: relative to the norm for the first two, and absolute for the sum over
        similar pairs.
        """
        return self._diagonal and super().feasible

    @property
    def _diagonal(self) -> bool:
        return self.beyond <= FEASIBILITY_TOL

    def __str__(self) -> str:
        if self._diagonal:
            return super().__str__()
        return f"{super().__str__()}; an entry off the diagonal is {self.beyond:.3g} of the norm"


def examine_diagonal(
    A: FloatArray, similar: FloatArray, unit: FloatArray | None = None
) -> tuple[MetricWithinBudget, DiagonalFeasibility]:
    """The metric max(diag(A), 0) / max(1, spent) that is judged in place of A (d, d), and the feasibility of A.

    similar (s, d): the differences of the similar pairs. spent: the sum over similar pairs of the squared distances in
    max(diag(A), 0). unit (d,): the units of the features; default: near the largest entry of each column of `similar`.
    Entries off the diagonal are measured in the units of A and in those of the features.
    """
    other = A - np.diag(np.diag(A))
    judged, found = examine_budget(A - other, similar, unit)
    whole_of = examine_budget(A, similar, unit)[1] if other.any() else found
    own = in_units(A, judged.unit)[0]
    beyond = max(share_of(other, A), share_of(own - np.diag(np.diag(own)), own))
    with np.errstate(over="ignore"):
        away = found.away + float(np.linalg.norm(other))
    return judged, DiagonalFeasibility(
        whole_of.asymmetry,
        whole_of.min_eigenvalue,
        whole_of.distance,
        whole_of.norm,
        found.spent,
        found.rounded,
        away,
        beyond,
    )


def share_of(part: FloatArray, of: FloatArray) -> float:
    """The largest absolute value of the entries of `part`, relative to the Frobenius norm of `of`; 0 if `of` is 0."""
    size = float(np.abs(of).max())
    return float(np.abs(part).max() / size / np.linalg.norm(of / size)) if size > 0 else 0.0


class DiagonalBudget(Budget):
    """R(M) = 0 where M is diagonal and the sum of the squared distances of similar pairs is at most 1, else inf.

    similar (s, 2): the similar pairs of points X (n, d). The pairs of G must not differ in a feature that is equal in
    all similar pairs.
    """

    def __init__(self, X: FloatArray, similar: IntArray):
        self.X, self.similar = X, similar
        self.E = X[similar[:, 0]] - X[similar[:, 1]]
        self.unit = units_of(self.E)
        # the diagonal of sum e e^T over similar pairs, each feature in its own unit
        self.S: FloatArray = np.sum((self.E / self.unit) ** 2, axis=0)
        self.labels = np.zeros(len(X), dtype=np.intp)

    @property
    def undecided(self) -> str:
        """Always empty, because no rank has to be decided."""
        return ""

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The diagonal metric within the budget that is judged in place of A (d, d): max(diag(A), 0) / max(1, spent).

        spent: the sum of the squared distances of the similar pairs in max(diag(A), 0).
        """
        judged, feasibility = examine_diagonal(A, self.E, self.unit)
        return JudgedMatrix(Within(self.apart, judged), feasibility, True)

    @of_last
    def _squares(self, pairs: IntArray) -> FloatArray:
        """Squared differences (p, d) of the pairs (p, 2) in each feature, in units of the features."""
        squares: FloatArray = (self.apart(pairs) / self.unit) ** 2
        return squares

    @of_last
    def _largest(self, G: Weights) -> Approximate:
        squares = self._squares(G.pairs)
        used = self.S > 0
        scale = float(np.abs(G.w).max(initial=0.0)) or 1.0
        terms = len(squares) + len(self.E) + 8
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = ((G.w / scale) @ squares)[used] / self.S[used]
            size = ((np.abs(G.w) / scale) @ squares + FLOOR)[used] / self.S[used]
        error = terms * EPS * float(size.max())
        return Approximate((max(0.0, float(ratio.max())) + error) * scale, error * scale)

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """The matrix max(diag(A), 0) in rationals. root: not used."""
        D = np.diag(np.maximum(np.diag(A), 0.0))
        (V, at), (rest, low) = whole(D), whole(A - D)
        return rational.Squares(V, at, root_upward(scaled(sum_of_squares(rest), 2 * low)))

    def _exact_level(self, X: rational.Plane, G: Weights, hint: Any) -> Fraction:
        """max(0, max_k G_kk / S_kk) as a fraction. X: the points in rationals. hint: not used."""
        S = X.diagonal(self.similar, [Fraction(1)] * len(self.similar))
        gained = zip(X.diagonal(G.pairs, fractions(G.w)), S, strict=True)
        return max([Fraction(0), *(own / cost for own, cost in gained if cost > 0)])

    def cost(self, at: Scaled, G: Weights) -> None:
        """None, because no matrix C with C - G psd and <C - G, M> = 0 is known."""


class DiagonalLinear(Linear):
    """R(M) = <C, M> for C = sum_p w_p X_p, w > 0, and diagonal M. Callers must pass diagonal matrices only."""

    @cached_property
    def ground(self) -> Ground:
        """The range of the diagonal of C: the features with C_kk > 0, in units in which C has the diagonal 1."""
        E = self.X[self.C.pairs[:, 0]] - self.X[self.C.pairs[:, 1]]
        used = E.any(axis=0)
        unit = np.sqrt(np.asarray(self.C.w, dtype=float) @ E[:, used] ** 2)
        images = points(self.X, np.eye(self.X.shape[1])[:, used] / unit)
        S, error = _diagonal(Surplus(*squares_of_pairs(images, self.C.pairs, self.C.w)))
        least = float(np.diag(S).min(initial=math.inf)) - error
        labels = np.zeros(len(self.X), dtype=np.intp)
        if not used.all():
            labels = np.unique(self.X[:, ~used], axis=0, return_inverse=True)[1].reshape(-1)
        undecided = (
            "" if least > 0 else "the squared differences of some features overflow or underflow: rescale X"
        )
        return Ground(labels, int(used.sum()), images, least, undecided)

    def _on_ground(self, G: Weights) -> Surplus:
        return _diagonal(super()._on_ground(G))

    def exact_image(self, X: rational.Plane, G: Weights, hint: Any) -> Weights | None:
        """C - G if none of its diagonal entries is negative, else None. X: the points in rationals. hint: not used."""
        left = self.image(G)
        return None if min(X.diagonal(left.pairs, fractions(left.w))) < 0 else left


def _diagonal(S: Surplus) -> Surplus:
    """The surplus with the matrix Z replaced by its diagonal part.

    The error of the diagonal part is at most that of the whole matrix.
    """
    return S._replace(Z=np.diag(np.diag(S.Z)))
