"""ITML's log det penalty c f(v), f(x) = x - 1 - log x, for v beyond its bound 1.

v is the squared distance of a pair divided by the bound of the pair, and a is the dual variable of the pair. The
conjugate is k(a) = c sum log(1 + a/c), and the excess is phi(v) - k(a) + a v >= 0 (losses/base.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import BELOW_ONE, MAX_DUAL, NONE, ConjugateOnRay, Loss, Sensitivity
from cvxml.numbers.vocabulary import at_least, at_most, like, log1p, log_excess, pos, total


@dataclass(frozen=True, eq=False)
class Bounded(Loss):
    """phi(v) = sum c f(r), f(x) = x - 1 - log x, where r = v if v violates its bound 1, else r = 1.

    above=True (similar pairs): v should be at most 1, r = max(v, 1), a <= 0.
    above=False (dissimilar pairs): v should be at least 1, r = min(v, 1), a >= 0.
    With b = 1 + a/c > 0, phi(v) + a v is convex in v. Its slope is c (b - 1/r), and its minimum is at r = 1/b.
    """

    c: Any
    above: bool  # True: v > 1 is penalized; False: v < 1
    is_sum_over_rows: ClassVar[bool] = True

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clip the dual variables to [0, MAX_DUAL c], or to (-c, 0] if above; NaN becomes 0.

        Sums of numbers above MAX_DUAL could overflow.
        """
        a = np.clip(np.where(np.isnan(a), 0.0, a), -MAX_DUAL * self.c, MAX_DUAL * self.c)
        if not self.above:
            return np.maximum(a, 0.0)
        a = np.minimum(a, 0.0)
        return np.where(a / self.c <= -1, -BELOW_ONE * self.c, a)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> c sum log(1 + t a/c); if above, only for t up to c / max |a|."""
        x = a[a != 0] / self.c
        longest = -1 / float(x.min()) * (1 - 4 * EPS) if self.above and len(x) else math.inf
        return ConjugateOnRay(lambda t: self.c * float(np.log1p(t * x).sum()), longest)

    def _r(self, v: Any) -> Any:
        return at_least(v, 1.0) if self.above else at_most(v, 1.0)

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(log_excess(self._r(v)))

    def conjugate(self, a: Any) -> Any:
        """c sum log b, with b of the class docstring."""
        c = like(a, self.c)
        return c * total(log1p(a / c))

    def excess(self, v: Any, a: Any) -> Any:
        """The sum over rows of c f(r b) + a (v - r), with r and b of the class docstring."""
        c = like(a, self.c)
        within = -pos(1 - v) if self.above else pos(v - 1)  # v - r
        return c * total(log_excess(self._r(v) * ((c + a) / c))) + total(a * within)

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clip the dual variables to [0, inf), or to (-c, 0] if above."""
        if not self.above:
            return [max(dual, NONE) for dual in a]
        most = -Fraction(self.c) * Fraction(BELOW_ONE)
        return [most if dual <= -self.c else min(dual, NONE) for dual in a]

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v: c b^2 where a is not 0, else 0.

        This is the inverse of the second derivative of -k. room: how much the objective may grow; not used.
        """
        return Sensitivity(np.where(a != 0, self.c * (1 + a / self.c) ** 2, 0.0))
