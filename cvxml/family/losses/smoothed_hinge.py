"""The hinge [1 - v]_+ of the values v of rows, smoothed over a width g.

The conjugate is k(a) = sum a - g a^2 / 2 for dual variables 0 <= a <= 1. losses/base.py explains it, and has the
formula of the excess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import BoxLoss, Sensitivity
from cvxml.numbers.vocabulary import clip, like, pos, square, total


@dataclass(frozen=True, eq=False)
class SmoothedHinge(BoxLoss):
    """phi(v) is a sum over rows: 0 for v >= 1, (1 - v)^2 / (2 g) for 1 - g <= v <= 1, and 1 - v - g/2 for v <= 1 - g.

    g > 0. A row with a = 0 and v >= 1 (`inactive_above`) adds 0 to value and excess.
    """

    g: Any
    inactive_above: ClassVar[float] = 1.0
    is_sum_over_rows: ClassVar[bool] = True

    @property
    def limits(self) -> tuple[Any, Any]:
        return 0, 1

    @property
    def width(self) -> Any:
        return self.g

    def _pieces(self, missed: Any) -> tuple[Any, Any, Any]:
        """Three pieces of the formulas, for missed = 1 - v: g, the slope p = min([1 - v]_+ / g, 1), and [1 - g - v]_+.

        The loss of a row is g/2 p^2 + [1 - g - v]_+.
        """
        g = like(missed, self.g, rounded=True)
        return g, clip(missed / g, 0.0, 1.0), pos(missed - g)

    def value(self, v: Any) -> Any:
        g, p, linear_part = self._pieces(1 - v)
        return g / 2 * total(square(p)) + total(linear_part)

    def excess(self, v: Any, a: Any) -> Any:
        missed = 1 - v
        g, p, linear_part = self._pieces(missed)
        return g / 2 * total(square(p - a)) + total((1 - a) * linear_part + a * pos(-missed))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v: 1 / g where 0 < a < 1, else 0.

        This is the second derivative of phi. room: how much the objective may grow; not used.
        """
        return Sensitivity(np.where((a > 0) & (a < 1), 1 / self.g, 0.0))
