"""A multiple of the sum of all v."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import FIXED, NONE, Ray, Sensitivity, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, total


class Straight(NamedTuple):
    """c sum v, all of whose rows have the one price -c."""

    c: Any  # a float, or a fraction for exact arithmetic

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """-c, whatever is given."""
        return np.full(len(a), -float(self.c))

    def conjugate(self, a: FloatArray) -> Sum:
        """0"""
        return Sum(0.0, 0.0)

    def ray(self, a: FloatArray) -> Ray:
        """No other multiple is in the domain."""
        return FIXED

    def part(self, block: Block) -> ValueAndExcess:
        """Nothing is left."""
        return ValueAndExcess(
            total(self.c * block.v, self.c * (block.off + EPS * np.abs(block.v))), Sum(0.0, 0.0)
        )

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        return Fraction(self.c) * sum(v, NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """-c"""
        return [-Fraction(self.c)] * len(a)

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """0"""
        return NONE

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.zeros(len(a)))
