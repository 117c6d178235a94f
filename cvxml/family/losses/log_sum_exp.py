"""log sum exp of -v in groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.losses.base import FIXED, NONE, SHARES, ConjugateOnRay, Loss, Sensitivity
from cvxml.family.rows.base import Block
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rounding import doubled
from cvxml.numbers.vocabulary import exp, exp_excess, floats, like, log, log_sum_exp, total

# A dual variable below this share of the largest of its group becomes 0, because p/a could overflow.
FAINT = 1e-280


@dataclass(frozen=True, eq=False)
class LogSumExp(Loss):
    """c log sum_k exp(-v_k) of each group, over the rows that count. Dual variables are of all rows of all groups."""

    c: Any  # (g,) > 0
    among: Any  # (g, n) True where a row counts

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped, and scaled to the sum c; where every one of a group is 0, equal. -inf becomes 0.

        The sum of a group is c, up to 2 eps. It is 0 if every row of the group has -inf.
        """
        a = np.where(self.among, a.reshape(self.among.shape), -np.inf)
        may = a > -np.inf
        a = np.clip(np.where(np.isnan(a), 0.0, a), 0.0, 1e300)
        empty = a.max(axis=1) == 0
        a[empty] = may[empty]
        largest = a.max(axis=1, keepdims=True)
        a = a / np.where(largest > 0, largest, 1.0)  # sums of anything large could overflow
        a[a < FAINT] = 0.0
        sums = doubled(a)
        a *= (self.c / np.where(sums > 0, sums, 1.0))[:, None]
        return a.ravel()

    def enclosed(self, a: FloatArray) -> Enclosure:
        """Numbers in the same proportion with sums that are exactly c."""
        return Enclosure(a, 4 * EPS * a)

    def of_block(self, block: Block) -> LogSumExp:
        """The groups of the block."""
        return LogSumExp(self.c[block.groups], self.among[block.groups])

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """No other multiple is in the domain."""
        return FIXED

    def slopes(self, block: Block) -> FloatArray:
        """The slopes p = c softmax(-v): (g, n)."""
        own = self.of_block(block)
        with np.errstate(over="ignore"):  # of rows that do not count
            p: FloatArray = np.where(own.among, own.c[:, None] * np.exp(own._logarithms(block.v)), 0.0)
        return p

    def _logarithms(self, v: Any) -> Any:
        """log(p/c) (g, n), of the slopes p."""
        return -v - log_sum_exp(-v, self.among)[:, None]

    def value(self, v: Any) -> Any:
        """See `Loss`."""
        return total(like(v, self.c) * log_sum_exp(-v.reshape(self.among.shape), self.among))

    def conjugate(self, a: Any) -> Any:
        """-sum a log(a/c); -inf where every dual variable of a group is 0"""
        a, c = a.reshape(self.among.shape), self._each(a)
        has = floats(a) > 0
        if not has.any(axis=1).all():
            return Enclosure(-math.inf) if isinstance(a, Enclosure) else -math.inf
        return -total(a[has] * log(a[has] / c[has]))

    def excess(self, v: Any, a: Any) -> Any:
        """sum a f(log(p/a)), f(x) = e^x - 1 - x, and sum p where a = 0"""
        a, c = a.reshape(self.among.shape), self._each(a)
        logarithms = self._logarithms(v.reshape(self.among.shape))
        has = floats(a) > 0
        rest = self.among & ~has
        own = total(a[has] * exp_excess(logarithms[has] - log(a[has] / c[has])))
        return own + total(c[rest] * exp(logarithms[rest]))

    def _each(self, x: Any) -> Any:
        """c of every row (g, n), as numbers of the kind of x."""
        return like(x, np.repeat(self.c[:, None], self.among.shape[1], axis=1))

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """c times multiples of 2^-SHARES: what rounding leaves is the largest's."""
        given, duals = iter(a), []
        for c, counts in zip(self.c.tolist(), self.among.tolist(), strict=True):
            row = [max(next(given), NONE) if one else 0 * next(given) for one in counts]
            whole = sum(row, NONE)
            parts = [int(price * (1 << SHARES) / whole) for price in row]
            parts[row.index(max(row))] += (1 << SHARES) - sum(parts)
            duals += [Fraction(c) * Fraction(part, 1 << SHARES) for part in parts]
        return duals

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(a.copy(), np.repeat(np.arange(len(self.c)), len(a) // len(self.c)))
