"""Minus the smallest of the values v of all rows, as a loss.

The conjugate is k(a) = 0 for dual variables a on the simplex: a >= 0, sum a = 1. losses/base.py explains conjugate and
excess.
"""

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
    """phi(v) = -min v over all rows, for v >= 0. The dual variables are weights on the simplex."""

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Replace entries that are not positive and finite by 0, and divide by the sum; equal weights if all are 0.

        The exact sum of the result is at least 1, and exceeds 1 by about (t + 8) eps for t rows. A sum above 1 gives a
        smaller, still valid lower bound, because no v is negative.
        """
        a = np.where(np.isfinite(a) & (a > 0), a, 0.0)
        largest = float(a.max())
        a = a / largest if largest > 0 else np.ones(len(a))
        simplex: FloatArray = a / (math.fsum(a) * (1 - (len(a) + 8) * EPS))
        return simplex

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a), which is 0 at t = 1; the domain, the simplex, contains no other multiple."""
        return FIXED

    def value(self, v: Any) -> Any:
        return -least(v)

    def conjugate(self, a: Any) -> Any:
        return like(a, 0)

    def excess(self, v: Any, a: Any) -> Any:
        """sum a (v - min v) + (sum a - 1) min v. The second term is due to the rounding of sum a."""
        smallest = least(v)
        return total(a * (v - smallest)) + (total(a) - 1) * smallest

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Divide the dual variables by their sum, which differs from 1 by rounding."""
        total_a = sum(a, NONE)
        return [dual / total_a for dual in a]

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v: a^2 / room, with all rows in one group.

        The dual variables have the fixed sum 1. room: how much the objective may grow.
        """
        return Sensitivity(a**2 / room, np.zeros(len(a), dtype=np.intp))
