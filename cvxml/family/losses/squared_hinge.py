"""The squared hinge c [1 - v]_+^2 ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import NONE, Ray, Sensitivity, ValueAndExcess, margins_of
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, total


class SquaredHinge(NamedTuple):
    """c [1 - v]_+^2"""

    c: Any  # a float, or a fraction for exact arithmetic

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return 1.0

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped at 0; what is beyond 1e100 could overflow."""
        return np.clip(np.where(np.isnan(a), 0.0, a), 0.0, 1e100)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum a - a^2 / (4 c)"""
        gained, lost = math.fsum(a), math.fsum(a**2) / (4 * self.c)
        return Sum(gained - lost, 4 * EPS * (gained + lost))

    def ray(self, a: FloatArray) -> Ray:
        """A parabola."""
        total, square = float(a.sum()), float(a @ a) / (4 * self.c)
        return Ray(lambda t: total * t - square * t * t, math.inf if a.any() else 1.0)

    def part(self, block: Block) -> ValueAndExcess:
        """As the hinge, with slopes that grow."""
        v, off, a = margins_of(block)
        missed, spare = np.maximum(0.0, 1 - v), np.maximum(0.0, v - 1)
        counts = np.where(1 - v > -off, off, 0.0)
        value = total(self.c * missed**2, self.c * (2 * missed + counts) * counts)
        beside = missed - a / (2 * self.c)
        beside_off = counts + EPS * (missed + a / self.c)
        excess = self.c * beside**2 + a * spare
        moved = self.c * (2 * np.abs(beside) + beside_off) * beside_off + np.where(v - 1 > -off, a * off, 0.0)
        return ValueAndExcess(value, total(excess, moved + 4 * EPS * excess))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        return Fraction(self.c) * sum((max(NONE, 1 - row) ** 2 for row in v), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        return [max(price, NONE) for price in a]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum(a, NONE) - sum((price**2 for price in a), NONE) / (4 * Fraction(self.c))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where(a > 0, 2 * self.c, 0.0))
