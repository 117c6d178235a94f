"""Minus the least v."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import FIXED, NONE, ConjugateOnRay, Loss, Sensitivity
from cvxml.numbers.vocabulary import least, like, total


@dataclass(frozen=True, eq=False)
class Least(Loss):
    """-min v, over all rows at once."""

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped at 0 and divided by the sum; equal numbers where every one is 0.

        The sum exceeds 1 by a few eps at most. A larger sum gives a smaller lower bound, because no v is negative.
        """
        a = np.where(np.isfinite(a) & (a > 0), a, 0.0)
        largest = float(a.max())
        a = a / largest if largest > 0 else np.ones(len(a))
        simplex: FloatArray = a / (math.fsum(a) * (1 - (len(a) + 8) * EPS))
        return simplex

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """No multiple of weights is in the simplex."""
        return FIXED

    def value(self, v: Any) -> Any:
        """See `Loss`."""
        return -least(v)

    def conjugate(self, a: Any) -> Any:
        """0"""
        return like(a, 0)

    def excess(self, v: Any, a: Any) -> Any:
        """The second term is the part of sum a above 1."""
        smallest = least(v)
        return total(a * (v - smallest)) + (total(a) - 1) * smallest

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Divided by their sum, which is not quite 1."""
        whole = sum(a, NONE)
        return [price / whole for price in a]

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(a**2 / room, np.zeros(len(a), dtype=np.intp))
