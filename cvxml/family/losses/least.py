"""Minus the least v."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import FIXED, NONE, Ray, Sensitivity, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, total


class Least(NamedTuple):
    """-min v, over all rows at once."""

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped at 0 and divided by the sum; the same for all where nothing is left.

        The sum is no less than 1, and next to it: more proves less, since no D is negative, and what is proved is true.
        """
        a = np.where(np.isfinite(a) & (a > 0), a, 0.0)
        largest = float(a.max())
        a = a / largest if largest > 0 else np.ones(len(a))
        simplex: FloatArray = a / (math.fsum(a) * (1 - (len(a) + 8) * EPS))
        return simplex

    def conjugate(self, a: FloatArray) -> Sum:
        """0"""
        return Sum(0.0, 0.0)

    def ray(self, a: FloatArray) -> Ray:
        """No multiple of weights is in the simplex."""
        return FIXED

    def part(self, block: Block) -> ValueAndExcess:
        """The least may be another row's."""
        v, off, a, _ = block
        least = float(v.min())
        moved = max(least - float((v - off).min()), float((v + off).min()) - least) + EPS * least
        above = a * (v - least)
        excess = total(above, a * off + 2 * EPS * a * v)
        # The prices add up to a little more than 1, by no more than this.
        beyond = 4 * (len(a) + 8) * EPS
        return ValueAndExcess(
            Sum(-least, moved), Sum(excess.value, excess.off + moved * (1 + beyond) + beyond * least)
        )

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        return -min(v)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Divided by their sum, which is not quite 1."""
        whole = sum(a, NONE)
        return [price / whole for price in a]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return NONE

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(a**2 / room, np.zeros(len(a), dtype=np.intp))
