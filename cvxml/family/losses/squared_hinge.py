"""The squared hinge c [1 - v]_+^2 of the values v of rows.

The conjugate is k(a) = sum a - a^2 / (4 c) for dual variables a >= 0. losses/base.py explains it, and has the formula
of the excess.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import MAX_DUAL, ConjugateOnRay, Loss, Sensitivity, clipped
from cvxml.numbers.vocabulary import like, pos, square, total


@dataclass(frozen=True, eq=False)
class SquaredHinge(Loss):
    """phi(v) = sum c [1 - v]_+^2, c > 0. A row with a = 0 and v >= 1 (`inactive_above`) adds 0 to value and excess."""

    c: Any
    inactive_above: ClassVar[float] = 1.0
    is_sum_over_rows: ClassVar[bool] = True

    def to_domain(self, a: Any) -> Any:
        """Clip the dual variables to [0, MAX_DUAL]; NaN becomes 0. Sums of larger numbers could overflow."""
        return clipped(a, 0, int(MAX_DUAL))

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a) = t sum a - t^2 sum a^2 / (4 c), for every t > 0."""
        linear, quadratic = float(a.sum()), float(a @ a) / (4 * self.c)
        return ConjugateOnRay(lambda t: linear * t - quadratic * t * t, math.inf if a.any() else 1.0)

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(square(pos(1 - v)))

    def conjugate(self, a: Any) -> Any:
        """k(a), the sum over rows of a - a^2 / (4 c)."""
        return total(a) - total(square(a)) / (4 * like(a, self.c))

    def excess(self, v: Any, a: Any) -> Any:
        c, missed = like(a, self.c), 1 - v
        return c * total(square(pos(missed) - a / (2 * c))) + total(a * pos(-missed))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v: 2 c where a > 0, else 0.

        This is the second derivative of phi. room: how much the objective may grow; not used.
        """
        return Sensitivity(np.where(a > 0, 2 * self.c, 0.0))
