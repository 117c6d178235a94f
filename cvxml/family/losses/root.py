"""Minus the sum of the square roots of v."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import MAX_DUAL, MIN_SHARE, ConjugateOnRay, Loss, Sensitivity
from cvxml.numbers.vocabulary import balls, sqrt, square, total


@dataclass(frozen=True, eq=False)
class Root(Loss):
    """-sum sqrt v"""

    is_sum_over_rows: ClassVar[bool] = True

    def to_domain(self, a: FloatArray) -> FloatArray:
        """At least 1e-100 of the largest, which lies within 1e-100 and 1e100."""
        a = np.where(np.isfinite(a) & (a > 0), a, 0.0)
        largest = float(a.max(initial=0.0))
        if largest == 0:
            return np.ones(len(a))
        if not MIN_SHARE <= largest <= MAX_DUAL:
            a, largest = a / largest, 1.0
        return np.maximum(a, MIN_SHARE * largest)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """k(t a) = k(a) / t. The sum of it and a straight line is largest where the two are equal."""
        lost = -float(self.conjugate(a))
        return ConjugateOnRay(
            lambda t: -lost / t, math.inf, lambda slope: math.sqrt(lost / slope) if slope > 0 else 1.0
        )

    def value(self, v: Any) -> Any:
        """See `Loss`."""
        return -total(sqrt(v))

    def conjugate(self, a: Any) -> Any:
        """-sum 1 / (4 a)"""
        return -total(1 / (4 * balls(a)))

    def excess(self, v: Any, a: Any) -> Any:
        """See `Loss`."""
        return total(a * square(sqrt(v) - 1 / (2 * a)))

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """They are positive."""
        return list(a)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(2 * a**3)
