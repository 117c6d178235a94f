"""The hinge c [1 - v]_+ ."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import NONE, Box, Ray, Sensitivity, ValueAndExcess, margins_of
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, total


class Hinge(NamedTuple):
    """c [1 - v]_+"""

    c: Any  # a float, or a fraction for exact arithmetic

    @property
    def box(self) -> Box:
        """0 <= a <= c"""
        return Box(0.0, float(self.c))

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return 1.0

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped."""
        return np.clip(np.where(np.isnan(a), 0.0, a), 0.0, self.c)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum a"""
        value = math.fsum(a)
        return Sum(value, 4 * EPS * value)

    def ray(self, a: FloatArray) -> Ray:
        """t sum a, until a price is c."""
        total, top = float(a.sum()), float(a.max(initial=0.0))
        if top == 0:
            return Ray(lambda t: total * t, 1.0)
        longest = float(self.c) / top
        return Ray(lambda t: total * t, longest if longest * top <= self.c else longest * (1 - 2 * EPS))

    def part(self, block: Block) -> ValueAndExcess:
        """What is not missed costs nothing."""
        v, off, a = margins_of(block)
        missed = np.maximum(0.0, 1 - v)
        counts = np.where(1 - v > -off, off, 0.0)  # what is missed, or may be
        spare = np.maximum(0.0, v - 1)
        most = np.maximum(np.where(1 - v > -off, self.c - a, 0.0), np.where(v - 1 > -off, a, 0.0))
        excess = (self.c - a) * missed + a * spare
        return ValueAndExcess(
            total(self.c * missed, self.c * counts), total(excess, most * off + 4 * EPS * excess)
        )

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        return Fraction(self.c) * sum((max(NONE, 1 - row) for row in v), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        return [min(max(price, NONE), Fraction(self.c)) for price in a]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum(a, NONE)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.minimum(a, self.c - a) ** 2 / room)
