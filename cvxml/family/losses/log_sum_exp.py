"""The loss c log sum exp(-v) of the values v of rows, for each of several groups of rows.

The conjugate is k(a) = -sum a log(a/c) for dual variables a >= 0 with the sum c in each group. The excess
(losses/base.py) is phi(v) - k(a) + a v >= 0.
"""

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

# A dual variable below this fraction of the largest of its group becomes 0, because p/a could overflow.
FAINT = 1e-280


@dataclass(frozen=True, eq=False)
class LogSumExp(Loss):
    """phi(v) = sum over groups of c log sum_k exp(-v_k), where k runs over the rows of the group that are in `among`.

    There are g groups of n rows. The values v (g n,) and the dual variables (g n,) list all rows, group by group. The
    numbers c (g,) > 0 are a constant of each group. The mask among (g, n) is True for the rows in the sum; the others
    have the dual variable 0.
    """

    c: Any  # (g,) > 0
    among: Any  # (g, n) True for the rows in the sum; the other rows have the dual variable 0

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clip at 0 and scale each group to the sum c; a group without a positive entry gets equal dual variables.

        -inf marks a row that must have the dual variable 0. Rows outside `among` get 0 too, and NaN counts as 0. If
        every row of a group has -inf, its sum is 0. Otherwise the sum is c, up to a relative error of 2 eps.
        """
        a = np.where(self.among, a.reshape(self.among.shape), -np.inf)
        allowed = a != -np.inf
        a = np.clip(np.where(np.isnan(a), 0.0, a), 0.0, 1e300)
        empty = a.max(axis=1) == 0
        a[empty] = allowed[empty]
        largest = a.max(axis=1, keepdims=True)
        a = a / np.where(largest > 0, largest, 1.0)  # otherwise a sum could overflow
        a[a < FAINT] = 0.0
        sums = doubled(a)
        a *= (self.c / np.where(sums > 0, sums, 1.0))[:, None]
        return a.ravel()

    def enclosed(self, a: FloatArray) -> Enclosure:
        """Dual variables in the same proportion as the floats `a`, with the sum c in each group exactly."""
        return Enclosure(a, 4 * EPS * a)

    def of_block(self, block: Block) -> LogSumExp:
        return LogSumExp(self.c[block.groups], self.among[block.groups])

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a), for t = 1 only: the domain contains no other multiple."""
        return FIXED

    def slopes(self, block: Block) -> FloatArray:
        """p = c softmax(-v) = -grad phi(v), (g, n), for the groups of the block. The excess is 0 for a = p."""
        own = self.of_block(block)
        with np.errstate(over="ignore"):  # rows outside `among` may overflow
            p: FloatArray = np.where(own.among, own.c[:, None] * np.exp(own._logarithms(block.v)), 0.0)
        return p

    def _logarithms(self, v: Any) -> Any:
        """log(p/c) = log softmax(-v), (g, n)."""
        return -v - log_sum_exp(-v, self.among)[:, None]

    def value(self, v: Any) -> Any:
        return total(like(v, self.c) * log_sum_exp(-v.reshape(self.among.shape), self.among))

    def conjugate(self, a: Any) -> Any:
        """-sum a log(a/c); -inf if all dual variables of a group are 0."""
        a, c = a.reshape(self.among.shape), self._each(a)
        has = floats(a) > 0
        if not has.any(axis=1).all():
            return Enclosure(-math.inf) if isinstance(a, Enclosure) else -math.inf
        return -total(a[has] * log(a[has] / c[has]))

    def excess(self, v: Any, a: Any) -> Any:
        """sum over a > 0 of a f(log(p/a)), f(x) = e^x - 1 - x, plus the sum of p over a = 0."""
        a, c = a.reshape(self.among.shape), self._each(a)
        logarithms = self._logarithms(v.reshape(self.among.shape))
        has = floats(a) > 0
        rest = self.among & ~has
        own = total(a[has] * exp_excess(logarithms[has] - log(a[has] / c[has])))
        return own + total(c[rest] * exp(logarithms[rest]))

    def _each(self, x: Any) -> Any:
        """A table (g, n) with the constant c of the group of every row.

        Its entries are numbers of the same kind as those of x: floats, enclosures or exact numbers.
        """
        return like(x, np.repeat(self.c[:, None], self.among.shape[1], axis=1))

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Scale each group of dual variables to the sum c. The largest of a group absorbs the rounding.

        The results are multiples of c 2^-SHARES.
        """
        given, duals = iter(a), []
        for c, counts in zip(self.c.tolist(), self.among.tolist(), strict=True):
            row = [max(next(given), NONE) if one else 0 * next(given) for one in counts]
            total_a = sum(row, NONE)
            multiples = [int(dual * (1 << SHARES) / total_a) for dual in row]
            multiples[row.index(max(row))] += (1 << SHARES) - sum(multiples)
            duals += [Fraction(c) * Fraction(multiple, 1 << SHARES) for multiple in multiples]
        return duals

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The decrease of each dual variable per unit of v, which is a. Each group has a fixed sum.

        room: how much the objective may grow; not used.
        """
        return Sensitivity(a.copy(), np.repeat(np.arange(len(self.c)), len(a) // len(self.c)))
