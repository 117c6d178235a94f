"""The hinge c [1 - v]_+ of the values v of rows, with the conjugate k(a) = sum a for dual variables 0 <= a <= c.

losses/base.py explains the conjugate, and has the formula of the excess.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import BoxLoss, Sensitivity
from cvxml.numbers.vocabulary import like, pos, total


@dataclass(frozen=True, eq=False)
class Hinge(BoxLoss):
    """phi(v) = sum c [1 - v]_+, c > 0. A row with a = 0 and v >= 1 (`inactive_above`) adds 0 to value and excess."""

    c: Any
    inactive_above: ClassVar[float] = 1.0
    is_sum_over_rows: ClassVar[bool] = True

    @property
    def limits(self) -> tuple[Any, Any]:
        return 0, self.c

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(pos(1 - v))

    def excess(self, v: Any, a: Any) -> Any:
        missed = 1 - v
        return total((like(a, self.c) - a) * pos(missed) + a * pos(-missed))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v: min(a, c - a)^2 / room.

        It is small near the limits 0 and c. room: how much the objective may grow.
        """
        return Sensitivity(np.minimum(a, self.c - a) ** 2 / room)
