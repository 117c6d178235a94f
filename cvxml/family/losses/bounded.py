"""The log det loss of a bound on v: c f(v), f(x) = x - 1 - log x, beyond the bound."""

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
    """c f(r), f(x) = x - 1 - log x: v may not be above 1 (similar pairs), or not below, or costs f.

    Rows that keep the bound have r = 1, the others r = v. Dual variables are <= 0 where v may not be above 1, else
    >= 0; b = 1 + a/c > 0, and phi(v) + a v is least at r = 1/b. It is convex in v, with the slope c (b - 1/r).
    """

    c: Any
    above: bool  # v above 1 costs; else v below 1
    is_sum_over_rows: ClassVar[bool] = True

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped, and above -c where dual variables are <= 0."""
        a = np.clip(np.where(np.isnan(a), 0.0, a), -MAX_DUAL * self.c, MAX_DUAL * self.c)
        if not self.above:
            return np.maximum(a, 0.0)
        a = np.minimum(a, 0.0)
        return np.where(a / self.c <= -1, -BELOW_ONE * self.c, a)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """Until one dual variable is -c."""
        x = a[a != 0] / self.c
        longest = -1 / float(x.min()) * (1 - 4 * EPS) if self.above and len(x) else math.inf
        return ConjugateOnRay(lambda t: self.c * float(np.log1p(t * x).sum()), longest)

    def _kept(self, v: Any) -> Any:
        """r"""
        return at_least(v, 1.0) if self.above else at_most(v, 1.0)

    def value(self, v: Any) -> Any:
        """See `Loss`."""
        return like(v, self.c) * total(log_excess(self._kept(v)))

    def conjugate(self, a: Any) -> Any:
        """c sum log b"""
        c = like(a, self.c)
        return c * total(log1p(a / c))

    def excess(self, v: Any, a: Any) -> Any:
        """c f(r b) + a (v - r)"""
        c = like(a, self.c)
        within = -pos(1 - v) if self.above else pos(v - 1)  # v - r
        return c * total(log_excess(self._kept(v) * ((c + a) / c))) + total(a * within)

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        if not self.above:
            return [max(price, NONE) for price in a]
        most = -Fraction(self.c) * Fraction(BELOW_ONE)
        return [most if price <= -self.c else min(price, NONE) for price in a]

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where(a != 0, self.c * (1 + a / self.c) ** 2, 0.0))
