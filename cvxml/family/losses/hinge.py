"""The hinge c [1 - v]_+."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import BoxLoss, Sensitivity
from cvxml.numbers.vocabulary import like, pos, total


@dataclass(frozen=True, eq=False)
class Hinge(BoxLoss):
    """phi(v) = sum c [1 - v]_+, c > 0."""

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
        """w = min(a, c - a)^2 / room: small where a is near one of its limits 0 and c."""
        return Sensitivity(np.minimum(a, self.c - a) ** 2 / room)
