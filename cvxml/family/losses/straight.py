"""The linear loss c sum v of the values v of rows. Its only dual variables are a = -c, with the conjugate k(a) = 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.family.losses.base import FIXED, ConjugateOnRay, Loss, Sensitivity
from cvxml.numbers.vocabulary import like, total


@dataclass(frozen=True, eq=False)
class Straight(Loss):
    """phi(v) = c sum v. The domain is the single point a = -c in every row."""

    c: Any
    is_sum_over_rows: ClassVar[bool] = True

    def to_domain(self, a: Any) -> Any:
        """-c in every row, for any `a`. There are no other dual variables."""
        return np.full_like(a, -self.c)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        return FIXED

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(v)

    def conjugate(self, a: Any) -> Any:
        return like(a, 0)

    def excess(self, v: Any, a: Any) -> Any:
        return like(v, 0)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """0 for each row, because the dual variables are fixed. room: not used."""
        return Sensitivity(np.zeros(len(a)))
