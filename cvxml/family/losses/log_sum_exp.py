"""log sum exp of -v in groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from cvxml.core.balls import ball
from cvxml.core.balls import total as total_of
from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import FIXED, NONE, SHARES, Ray, Sensitivity, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.rounding import doubled
from cvxml.numbers.sums import Sum, summed


class LogSumExp(NamedTuple):
    """c log sum_k exp(-v_k) of each group, over the rows that count. Prices are of all rows of all groups."""

    c: Any  # (g,) > 0, floats, or fractions for exact arithmetic
    among: Any  # (g, n) True where a row counts

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped, and scaled to the sum c; where nothing is left of a group, the same for all. -inf stays without.

        The sum of a group is c but for 2 eps; or 0 where no row of it may have a price.
        """
        a = np.where(self.among, a.reshape(self.among.shape), -np.inf)
        may = a > -np.inf
        a = np.clip(np.where(np.isnan(a), 0.0, a), 0.0, 1e300)
        empty = a.max(axis=1) == 0
        a[empty] = may[empty]
        largest = a.max(axis=1, keepdims=True)
        a = a / np.where(largest > 0, largest, 1.0)  # sums of anything large could overflow
        sums = doubled(a)
        a *= (self.c / np.where(sums > 0, sums, 1.0))[:, None]
        return a.ravel()

    def conjugate(self, a: FloatArray) -> Sum:
        """-sum a log(a/c)"""
        a = a.reshape(self.among.shape)
        if (a.max(axis=1) == 0).any():
            return Sum(-math.inf, 0.0)
        each = np.sum(-xlogy(a, a / self.c[:, None]), axis=1)
        value = math.fsum(each)
        return Sum(0.0 + value, (a.shape[1] + 16) * EPS * math.fsum(each + self.c))

    def ray(self, a: FloatArray) -> Ray:
        """No multiple of rows of the simplex is one."""
        return FIXED

    def slopes(self, block: Block) -> FloatArray:
        """The prices p = c softmax(-v): (g, n)."""
        p: FloatArray = np.exp(self._logarithms(block)[1])
        return p

    def _logarithms(self, block: Block) -> tuple[FloatArray, FloatArray]:
        """log sum exp(-v) of each group, and log p of each row, -inf where it does not count."""
        v = np.where(self.among[block.groups], block.v, np.inf)
        least = v.min(axis=1, keepdims=True)
        log_sum = np.log(np.exp(least - v).sum(axis=1, keepdims=True))
        return (log_sum - least)[:, 0], (least - v) - log_sum + np.log(self.c[block.groups])[:, None]

    def part(self, block: Block) -> ValueAndExcess:
        """Where v are off by e, c log sum exp(-v) moves by sum p (exp(e) - 1) at most, which is linear but for e^2."""
        v, off, a, groups = block
        c, counts = self.c[groups], self.among[groups]
        log_sum, log_p = self._logarithms(block)
        p = np.exp(log_p)
        # What the logarithms are off by where v is right, and what v itself is.
        size = np.abs(np.where(counts, log_p, 0.0)) + np.abs(np.log(c))[:, None]
        e = np.where(counts, off + EPS * ((v.shape[1] + 16) + 4 * size), 0.0)
        most = e.max(axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            moved = np.where(most <= 1, np.sum(p * np.expm1(e), axis=1), c * most)
            value = _of_groups(c * log_sum, moved + 4 * EPS * c * np.abs(log_sum))
            has = a > 0
            d = np.where(has, log_p, 0.0) - np.log(np.where(has, a, 1.0))
            near = a * (np.expm1(np.minimum(d, 1.0)) - d)
            excess = np.maximum(0.0, np.where(has, np.where(d < 1, near, p - a * (1 + d)), p))
            wide = np.sum(np.abs(a - p) * e + 2 * p * e * np.expm1(e), axis=1)
            wide = np.where(most <= 1, wide, np.sum(a * e, axis=1) + c * most)
            # The prices are rounded, and so are the two terms of each difference.
            wide += np.sum(8 * EPS * (a * np.abs(d) + excess), axis=1)
        return ValueAndExcess(
            value, _of_groups(excess.sum(axis=1), wide + v.shape[1] * EPS * excess.sum(axis=1))
        )

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """In balls."""
        rows, parts = iter(v), []
        for c, counts in zip(self.c.tolist(), self.among.tolist(), strict=True):
            own = [row for row, one in zip(islice(rows, len(counts)), counts, strict=True) if one]
            least = min(own)
            log_sum = total_of([ball(least - row).exp() for row in own]).log()
            parts.append(ball(Fraction(c)) * (log_sum - ball(least)))
        return total_of(parts)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """c times multiples of 2^-SHARES: what rounding leaves is the largest's."""
        given, prices = iter(a), []
        for c, counts in zip(self.c.tolist(), self.among.tolist(), strict=True):
            row = [max(next(given), NONE) if one else 0 * next(given) for one in counts]
            whole = sum(row, NONE)
            parts = [int(price * (1 << SHARES) / whole) for price in row]
            parts[row.index(max(row))] += (1 << SHARES) - sum(parts)
            prices += [Fraction(c) * Fraction(part, 1 << SHARES) for part in parts]
        return prices

    def exact_conjugate(self, a: Sequence[Fraction]) -> Any:
        """In balls."""
        n = self.among.shape[1]
        return total_of(
            [
                -ball(price) * ball(price / Fraction(self.c[k // n])).log()
                for k, price in enumerate(a)
                if price > 0
            ]
        )

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(a.copy(), np.repeat(np.arange(len(self.c)), len(a) // len(self.c)))


def _of_groups(terms: FloatArray, off: FloatArray) -> Sum:
    """As `total`, of which no digit is lost in the sum."""
    value = summed(terms)
    return Sum(value, (summed(off) + 2 * EPS * abs(value)) * (1 + 1e-6))
