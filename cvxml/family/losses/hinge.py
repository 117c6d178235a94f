"""The hinge c [1 - v]_+."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import Box, ConjugateOnRay, Loss, Sensitivity, clipped
from cvxml.numbers.vocabulary import like, pos, total


@dataclass(frozen=True, eq=False)
class Hinge(Loss):
    """phi(v) = sum c [1 - v]_+, c > 0."""

    c: Any
    inactive_above: ClassVar[float] = 1.0
    is_sum_over_rows: ClassVar[bool] = True

    @property
    def box(self) -> Box:
        """0 <= a <= c"""
        return Box(0.0, float(self.c))

    def to_domain(self, a: Any) -> Any:
        """Clip to [0, c]; NaN becomes 0."""
        return clipped(a, 0, self.c)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """t sum a, up to t = c / max a."""
        total_a, largest = float(a.sum()), float(a.max(initial=0.0))
        if largest == 0:
            return ConjugateOnRay(lambda t: total_a * t, 1.0)
        longest = float(self.c) / largest
        # The division may round up. Then longest is reduced, so that longest * largest <= c.
        return ConjugateOnRay(
            lambda t: total_a * t, longest if longest * largest <= self.c else longest * (1 - 2 * EPS)
        )

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(pos(1 - v))

    def conjugate(self, a: Any) -> Any:
        """sum a"""
        return total(a)

    def excess(self, v: Any, a: Any) -> Any:
        missed = 1 - v
        return total((like(a, self.c) - a) * pos(missed) + a * pos(-missed))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """w = min(a, c - a)^2 / room: small where a is near one of its limits 0 and c."""
        return Sensitivity(np.minimum(a, self.c - a) ** 2 / room)
