"""Minus the sum of the square roots of the values v of rows, as a loss.

The conjugate is k(a) = -sum 1 / (4 a) for dual variables a > 0. losses/base.py explains conjugate and excess.
"""

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
    """phi(v) = -sum sqrt v, for v >= 0."""

    is_sum_over_rows: ClassVar[bool] = True

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Raise every entry to at least MIN_SHARE times the largest one; ones if no entry is positive and finite.

        MIN_SHARE is tiny. If the largest entry is outside [MIN_SHARE, MAX_DUAL], all entries are first divided by it.
        """
        a = np.where(np.isfinite(a) & (a > 0), a, 0.0)
        largest = float(a.max(initial=0.0))
        if largest == 0:
            return np.ones(len(a))
        if not MIN_SHARE <= largest <= MAX_DUAL:
            a, largest = a / largest, 1.0
        return np.maximum(a, MIN_SHARE * largest)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a) = k(a) / t, for every t > 0.

        Its field `against` maps a slope > 0 to the t with the largest k(t a) - slope t, which is sqrt(-k(a) / slope).
        For a slope <= 0 there is no largest value, and `against` returns 1.
        """
        minus_k = -float(self.conjugate(a))
        return ConjugateOnRay(
            lambda t: -minus_k / t, math.inf, lambda slope: math.sqrt(minus_k / slope) if slope > 0 else 1.0
        )

    def value(self, v: Any) -> Any:
        return -total(sqrt(v))

    def conjugate(self, a: Any) -> Any:
        """-sum 1 / (4 a). Exact numbers become balls, because the common denominator could fill the memory.

        A ball is a number with a proved error bound.
        """
        return -total(1 / (4 * balls(a)))

    def excess(self, v: Any, a: Any) -> Any:
        return total(a * square(sqrt(v) - 1 / (2 * a)))

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """`a` itself: the floats from `to_domain` are positive."""
        return list(a)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v: 2 a^3, the inverse of the second derivative of -k.

        room: how much the objective may grow; not used.
        """
        return Sensitivity(2 * a**3)
