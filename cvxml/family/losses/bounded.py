"""The log det loss of a bound on v: c f(v), f(x) = x - 1 - log x, beyond the bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.balls import ball
from cvxml.core.balls import total as total_of
from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import BELOW_ONE, MOST, NONE, Ray, Sensitivity, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, accurate_total


class Bounded(NamedTuple):
    """c f(r), f(x) = x - 1 - log x: v may not be above 1 (similar pairs), or not below, or costs what f says.

    Rows that keep the bound have r = 1, the others r = v. A price is not positive where v may not be above 1, else not
    negative; b = 1 + a/c > 0, and phi(v) + a v is least at r = 1/b. It is convex in v, with the slope c (b - 1/r).
    """

    c: Any  # a float, or a fraction for exact arithmetic
    above: bool  # v above 1 costs; else v below 1

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped, and below c where prices are not positive."""
        a = np.clip(np.where(np.isnan(a), 0.0, a), -MOST * self.c, MOST * self.c)
        if not self.above:
            return np.maximum(a, 0.0)
        a = np.minimum(a, 0.0)
        return np.where(a / self.c <= -1, -BELOW_ONE * self.c, a)

    def conjugate(self, a: FloatArray) -> Sum:
        """c sum log b"""
        x = a / self.c
        terms = self.c * np.log1p(x)
        return accurate_total(terms, self.c * EPS * np.abs(x) / (1 + x) + 4 * EPS * np.abs(terms))

    def ray(self, a: FloatArray) -> Ray:
        """Until a price is -c."""
        x = a[a != 0] / self.c
        longest = -1 / float(x.min()) * (1 - 4 * EPS) if self.above and len(x) else math.inf
        return Ray(lambda t: self.c * float(np.log1p(t * x).sum()), longest)

    def part(self, block: Block) -> ValueAndExcess:
        """Rows that may be at either side have the slope of the worse."""
        v, off, a = block.v, block.off, block.a
        x = a / self.c
        b, wrong = 1 + x, EPS * np.abs(x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            r, inverse, low, high = self._kept(v), *(1 / self._kept(end) for end in (v, v - off, v + off))
            low = np.where(v > off, low, math.inf)
            slope = np.maximum(np.abs(1 - low), np.abs(1 - high))
            f = away(r)
            value = accurate_total(self.c * f, self.c * (slope * off + 8 * EPS * (f + np.abs(r - 1))))
            y, share = r * b, 4 * EPS + 2 * wrong / b
            own = away(y)
            excess = self.c * own + a * (v - r)
            slope = np.maximum(np.abs(b - low), np.abs(b - high)) + wrong + 4 * EPS * (b + inverse)
            moved = slope * off + np.abs(y - 1) * share + share**2 + 8 * EPS * (own + np.abs(y - 1))
            return ValueAndExcess(value, accurate_total(excess, self.c * moved + 8 * EPS * a * (v - r)))

    def _kept(self, v: Any) -> Any:
        return np.maximum(v, 1) if self.above else np.minimum(v, 1)

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """In balls."""
        kept = (max(row, Fraction(1)) if self.above else min(row, Fraction(1)) for row in v)
        return ball(self.c) * total_of([ball(r - 1) - ball(r).log() for r in kept if r != 1])

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        if not self.above:
            return [max(price, NONE) for price in a]
        most = -Fraction(self.c) * Fraction(BELOW_ONE)
        return [most if price <= -self.c else min(price, NONE) for price in a]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Any:
        """In balls."""
        return ball(self.c) * total_of([ball(1 + price / Fraction(self.c)).log() for price in a])

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where(a != 0, self.c * (1 + a / self.c) ** 2, 0.0))


def away(x: FloatArray) -> FloatArray:
    """x - 1 - log x, with its digits near x = 1 as well as near 0."""
    off = x - 1
    values: FloatArray = off - np.where(np.abs(off) < 0.5, np.log1p(np.maximum(off, -0.5)), np.log(x))
    return values
