"""The hinge [1 - v]_+ rounded over a width g."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import NONE, Box, Ray, Sensitivity, ValueAndExcess, margins_of
from cvxml.family.losses.hinge import Hinge
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, total


class SmoothedHinge(NamedTuple):
    """(1 - v)^2 / (2 g) for v within 1 - g and 1, a straight line before that, and 0 after it."""

    g: Any  # > 0, a float, or a fraction for exact arithmetic

    @property
    def box(self) -> Box:
        """0 <= a <= 1, with the width g"""
        return Box(0.0, 1.0, float(self.g))

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return 1.0

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped."""
        return Hinge(1.0).to_domain(a)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum a - g/2 a^2"""
        gained, lost = math.fsum(a), math.fsum(a**2) * self.g / 2
        return Sum(gained - lost, 4 * EPS * (gained + lost))

    def ray(self, a: FloatArray) -> Ray:
        """A parabola, until a price is 1."""
        square, straight = float(a @ a) * float(self.g) / 2, Hinge(1.0).ray(a)
        return Ray(lambda t: straight.value(t) - square * t * t, straight.longest)

    def part(self, block: Block) -> ValueAndExcess:
        """The slope is between those at the ends of what v may be."""
        v, off, a = margins_of(block)
        before = np.maximum(0.0, (1 - v) - self.g)
        # twice as far, as the ends are rounded too
        p, low, high = (np.clip((1 - end) / self.g, 0.0, 1.0) for end in (v, v + 2 * off, v - 2 * off))
        value = self.g / 2 * p**2 + before
        excess = self.g / 2 * (p - a) ** 2 + (1 - a) * before + a * np.maximum(0.0, v - 1)
        most, share = np.maximum(np.abs(high - a), np.abs(low - a)), 4 * EPS * (high + a)
        wide = (most + share) * off + self.g * share * (np.abs(p - a) + share) + 8 * EPS * excess
        return ValueAndExcess(total(value, high * off + 8 * EPS * value), total(excess, wide))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        g = Fraction(self.g)
        missed = (max(NONE, 1 - row) for row in v)
        return sum((m - g / 2 if m >= g else m**2 / (2 * g) for m in missed), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        return Hinge(1).exact_prices(a)

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum(a, NONE) - Fraction(self.g) / 2 * sum((price**2 for price in a), NONE)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where((a > 0) & (a < 1), 1 / self.g, 0.0))
