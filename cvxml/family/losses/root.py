"""Minus the sum of the square roots of v."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.balls import ball
from cvxml.core.balls import total as total_of
from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import LEAST, MOST, Ray, Sensitivity, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, total


class Root(NamedTuple):
    """-sum sqrt v"""

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """None 0, nor next to it beside the largest; that within 1e-100 to 1e100."""
        a = np.where(np.isfinite(a) & (a > 0), a, 0.0)
        largest = float(a.max(initial=0.0))
        if largest == 0:
            return np.ones(len(a))
        if not LEAST <= largest <= MOST:
            a, largest = a / largest, 1.0
        return np.maximum(a, LEAST * largest)

    def conjugate(self, a: FloatArray) -> Sum:
        """-sum 1 / (4 a)"""
        value = float(np.sum(1 / (4 * a)))
        return Sum(-value, (len(a) + 8) * EPS * value)

    def ray(self, a: FloatArray) -> Ray:
        """-1/t of it; that and a straight line are best together where they are as large."""
        value = float(np.sum(1 / (4 * a)))
        return Ray(
            lambda t: -value / t, math.inf, lambda slope: math.sqrt(value / slope) if slope > 0 else 1.0
        )

    def part(self, block: Block) -> ValueAndExcess:
        """Steep next to 0, where the interval of v is taken as it is."""
        v, off, a, _ = block
        roots = np.sqrt(v)
        below, above = np.sqrt(np.maximum(v - off, 0.0)), np.sqrt(v + off)
        moved = np.maximum(roots - below, above - roots) + EPS * roots
        beside = roots - 1 / (2 * a)
        beside_off = moved + 2 * EPS / a
        excess = a * beside**2
        wide = a * (2 * np.abs(beside) + beside_off) * beside_off + 4 * EPS * excess
        return ValueAndExcess(total(-roots, moved), total(excess, wide))

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """In balls."""
        return -total_of([ball(row).sqrt() for row in v])

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """They are positive."""
        return list(a)

    def exact_conjugate(self, a: Sequence[Fraction]) -> Any:
        """In balls: the denominator of a sum of so many fractions could fill the memory."""
        return -total_of([ball(1 / (4 * price)) for price in a])

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(2 * a**3)
