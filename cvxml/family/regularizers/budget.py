"""A budget: R(M) = 0 where the sum of the squared distances of similar pairs is at most 1, else inf.

This sum is <S, M>, S = sum of (x_i - x_j)(x_i - x_j)^T over similar pairs. G is the matrix that belongs to the dual
variables. The number lambda_max is the smallest l >= 0 with l S - G psd. It is the largest eigenvalue of G relative to
S, or 0 if all eigenvalues are negative. The bound is r(G) = -lambda_max (base.py). P_+ replaces negative eigenvalues by
0. A view is the points under a metric: it gives distances with error bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.geometry.budget import MetricWithinBudget, budget, examine_budget, most
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import (
    ByFormulas,
    JudgedMatrix,
    Scaled,
    best,
    fractions,
    of_last,
    product,
)
from cvxml.family.rows.base import Weights
from cvxml.numbers import rational
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rounding import Distances
from cvxml.numbers.sums import Approximate
from cvxml.numbers.vocabulary import exact


@dataclass(frozen=True, eq=False)
class Within:
    """The points under a metric with a sum over similar pairs of at most 1: squared distances with error bounds.

    apart: returns the differences x_i - x_j of given pairs. judged: the metric.
    """

    apart: Callable[[IntArray], FloatArray]  # the differences (p, d) of pairs (p, 2)
    judged: MetricWithinBudget

    @of_last
    def pairs(self, index: IntArray) -> Distances:
        """Squared distances of pairs (p, 2), with error bounds.

        The metric may be divided by its sum over similar pairs. The bounds include the rounding error of this sum.
        """
        D, error = self.judged.distances(self.apart(index))
        return Distances(D, error + 2 * self.judged.share * np.where(D > 0, D, 0.0))


class Level(NamedTuple):
    """The matrix G, and a number `level` such that level S - G is psd, which proves r(G) >= -level."""

    level: Any
    G: Weights


class Budget(ByFormulas):
    """R(M) = 0 where the sum of the squared distances of similar pairs is at most 1, else inf.

    similar (s, 2): the similar pairs of points X (n, d). labels (n,): two points have equal labels if and only if their
    difference is in the span of the similar differences.

    rank: the dimension of that span, or None to take the number of directions that double precision sees. Only solvers
    use None, because bounds are then not proved.
    """

    def __init__(self, X: FloatArray, similar: IntArray, labels: IntArray, rank: int | None):
        self.X, self.similar, self.labels, self.rank = X, similar, labels, rank
        self.E = X[similar[:, 0]] - X[similar[:, 1]]
        self.at = budget(self.E, rank)

    def seen(self) -> Budget:
        """The same budget with rank=None, for solvers; the bounds of the result are not proved."""
        return Budget(self.X, self.similar, self.labels, None)

    @property
    def undecided(self) -> str:
        return self.at.undecided

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The metric within the budget that is judged in place of A (d, d): P_+(A) / max(1, spent).

        spent: the sum of the squared distances of the similar pairs in P_+(A).
        """
        judged, feasibility = examine_budget(A, self.E, self.at.unit)
        return JudgedMatrix(Within(self.apart, judged), feasibility, True)

    @of_last
    def apart(self, pairs: IntArray) -> FloatArray:
        """x_i - x_j of the pairs (p, 2)."""
        E: FloatArray = self.X[pairs[:, 0]] - self.X[pairs[:, 1]]
        return E

    def value_at(self, at: Any) -> Any:
        return 0

    def conjugate_at(self, image: Level) -> Any:
        return -image.level

    def excess_at(self, at: Any, image: Level) -> Any:
        """The excess level - <G, M>, because R(M) = 0 and r(G) >= -level. at: a view of M. image: G with its level."""
        return image.level - product(at, image.G)

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor t of the dual variables a with the best bound k(t a) - t lambda_max; 1 if no bound is proved.

        Every t > 0 with t a in the domain of the losses is feasible. ray: the function t -> k(t a) of the losses.
        """
        slope = self._largest(G).value
        if not math.isfinite(slope):  # there is no proved bound
            return 1.0
        if ray.against is not None:
            t = ray.against(slope)
            return t if ray.value(t) - slope * t > ray.value(1.0) - slope else 1.0
        return best(lambda t: ray.value(t) - slope * t, ray.longest)

    def image(self, G: Weights) -> Level:
        """G, with a proved upper bound of lambda_max as its level."""
        return Level(Enclosure(*self._largest(G)), G)

    @of_last
    def _largest(self, G: Weights) -> Approximate:
        scale = float(np.abs(G.w).max(initial=0.0)) or 1.0
        found = most(self.at, self.apart(G.pairs), G.w / scale)
        return Approximate(found.value * scale, (found.error + 2 * EPS * found.value) * scale)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """The squared distances in metric / max(1, spent), which is within the budget.

        spent: the sum of the squared distances of the similar pairs in `metric`. X: the points in rationals.
        """
        D = X.distances(metric)
        spent = D.total(self.similar, [Fraction(1)] * len(self.similar))
        return rational.Distances(D.D, D.unit / max(Fraction(1), spent))

    def exact_image(self, X: rational.Plane, G: Weights, hint: float | None) -> Level:
        """G, and a proved upper bound of lambda_max, close to lambda_max, as the level. hint: a guess of lambda_max."""
        (level,) = exact([self._exact_level(X, G, hint)])
        return Level(level, G)

    def _exact_level(self, X: rational.Plane, G: Weights, hint: float | None) -> Fraction:
        weights = fractions(G.w)
        pairs = np.concatenate([self.similar, G.pairs])

        def enough(factor: Fraction) -> bool:
            return X.psd(pairs, [*[factor] * len(self.similar), *(-w for w in weights)])

        if enough(Fraction(0)):
            return Fraction(0)
        guess = self._largest(Weights(G.pairs, G.w.astype(float))).value if hint is None else hint
        return rational.least_factor(
            enough, Fraction(guess) if math.isfinite(guess) and guess > 0 else Fraction(1)
        )

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        """C = s S with s = -r(G), so that C - G is psd, in the units of `at`."""
        return -self.bound(G).value * at.total(Weights(self.similar, np.ones(len(self.similar))))
