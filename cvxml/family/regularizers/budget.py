"""A budget: 0 where the sum over similar pairs of D is at most 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.geometry.budget import MetricWithinBudget, budget, examine_budget, most
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import JudgedMatrix, Scaled, best, fractions, of_last, product
from cvxml.family.rows.base import View, Weights
from cvxml.numbers import rational
from cvxml.numbers.rounding import (
    Distances,
)
from cvxml.numbers.sums import Approximate


@dataclass(frozen=True, eq=False)
class Within:
    """Points in a metric within the budget."""

    apart: Callable[[IntArray], FloatArray]  # the differences (p, d) of pairs (p, 2)
    judged: MetricWithinBudget

    @of_last
    def pairs(self, index: IntArray) -> Distances:
        """See `View`; also what rounding of the budget does to a distance."""
        D, error = self.judged.distances(self.apart(index))
        return Distances(D, error + 2 * self.judged.share * np.where(D > 0, D, 0.0))


class Budget:
    """0 where sum over similar pairs of D is at most 1.

    labels: the points by what the pairs span, exactly; rank: of that, or None for what double precision sees, which is
    for a solver and proves nothing.
    """

    def __init__(self, X: FloatArray, similar: IntArray, labels: IntArray, rank: int | None):
        self.X, self.similar, self.labels, self.rank = X, similar, labels, rank
        self.E = X[similar[:, 0]] - X[similar[:, 1]]
        self.at = budget(self.E, rank)

    def seen(self) -> Budget:
        """As double precision sees it."""
        return Budget(self.X, self.similar, self.labels, None)

    @property
    def undecided(self) -> str:
        """See `Regularizer`."""
        return self.at.undecided

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """P_+(A) / max(1, spent)."""
        judged, feasibility = examine_budget(A, self.E, self.at.unit)
        return JudgedMatrix(Within(self.apart, judged), feasibility, True)

    @of_last
    def apart(self, pairs: IntArray) -> FloatArray:
        """x_i - x_j of the pairs (p, 2)."""
        E: FloatArray = self.X[pairs[:, 0]] - self.X[pairs[:, 1]]
        return E

    def value(self, view: View) -> Approximate:
        """0"""
        return Approximate(0.0, 0.0)

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """That with the best bound."""
        slope = self._largest(G).value
        if not math.isfinite(slope):  # nothing is proved
            return 1.0
        if ray.against is not None:
            t = ray.against(slope)
            return t if ray.value(t) - slope * t > ray.value(1.0) - slope else 1.0
        return best(lambda t: ray.value(t) - slope * t, ray.longest)

    def surplus(self, G: Weights) -> None:
        """Any G will do."""

    def bound(self, G: Weights) -> Approximate:
        """-lambda_max"""
        largest = self._largest(G)
        return Approximate(-largest.value, largest.error)

    @of_last
    def _largest(self, G: Weights) -> Approximate:
        scale = float(np.abs(G.w).max(initial=0.0)) or 1.0
        found = most(self.at, self.apart(G.pairs), G.w / scale)
        return Approximate(found.value * scale, (found.error + 2 * EPS * found.value) * scale)

    def excess(self, view: View, G: Weights) -> Approximate:
        """lambda_max - <G, M>"""
        largest, (paid, error) = self._largest(G), product(view, G)
        return Approximate(largest.value - paid, largest.error + error + 2 * EPS * (largest.value + paid))

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """See `Regularizer`."""
        return rational.judged(A, root)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """Over max(1, spent)."""
        D = X.distances(metric)
        spent = D.total(self.similar, [Fraction(1)] * len(self.similar))
        return rational.Distances(D.D, D.unit / max(Fraction(1), spent))

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Fraction:
        """0"""
        return Fraction(0)

    def exact_bound(self, X: rational.Plane, G: Weights, hint: float | None = None) -> Fraction:
        """-lambda for a lambda that is proved to be no less than the largest, and next to it: the hint, if it is."""
        weights = fractions(G.w)
        pairs = np.concatenate([self.similar, G.pairs])

        def enough(factor: Fraction) -> bool:
            return X.psd(pairs, [*[factor] * len(self.similar), *(-w for w in weights)])

        if enough(Fraction(0)):
            return Fraction(0)
        guess = self._largest(Weights(G.pairs, G.w.astype(float))).value if hint is None else hint
        return -rational.least_factor(
            enough, Fraction(guess) if math.isfinite(guess) and guess > 0 else Fraction(1)
        )

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        """C = s sum over similar pairs of X_p, with the largest s for which it is at least G."""
        return -self.bound(G).value * at.total(Weights(self.similar, np.ones(len(self.similar))))
