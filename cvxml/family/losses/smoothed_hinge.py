"""The hinge [1 - v]_+ rounded over a width g."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import Box, ConjugateOnRay, Loss, Sensitivity, clipped
from cvxml.family.losses.hinge import Hinge
from cvxml.numbers.vocabulary import clip, like, pos, square, total


@dataclass(frozen=True, eq=False)
class SmoothedHinge(Loss):
    """(1 - v)^2 / (2 g) for v within 1 - g and 1, a straight line before that, and 0 after it. The width g is > 0."""

    g: Any
    inactive_above: ClassVar[float] = 1.0
    is_sum_over_rows: ClassVar[bool] = True

    @property
    def box(self) -> Box:
        """0 <= a <= 1, with the width g"""
        return Box(0.0, 1.0, float(self.g))

    def to_domain(self, a: Any) -> Any:
        """Clipped."""
        return clipped(a, 0, 1)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """A parabola in t, until one dual variable is 1."""
        lost, straight = float(a @ a) * float(self.g) / 2, Hinge(1.0).ray(a)
        return ConjugateOnRay(lambda t: straight.value(t) - lost * t * t, straight.longest)

    def _pieces(self, missed: Any) -> tuple[Any, Any, Any]:
        """g, the slope p = [1 - v]_+ / g up to 1, and [1 - g - v]_+ : phi is the sum of g/2 p^2 and the last."""
        g = like(missed, self.g, rounded=True)
        return g, clip(missed / g, 0.0, 1.0), pos(missed - g)

    def value(self, v: Any) -> Any:
        """See `Loss`."""
        g, p, before = self._pieces(1 - v)
        return g / 2 * total(square(p)) + total(before)

    def conjugate(self, a: Any) -> Any:
        """sum a - g/2 a^2"""
        return total(a) - like(a, self.g, rounded=True) / 2 * total(square(a))

    def excess(self, v: Any, a: Any) -> Any:
        """See `Loss`."""
        missed = 1 - v
        g, p, before = self._pieces(missed)
        return g / 2 * total(square(p - a)) + total((1 - a) * before + a * pos(-missed))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where((a > 0) & (a < 1), 1 / self.g, 0.0))
