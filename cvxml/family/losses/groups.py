"""Losses whose rows are in groups, one slack a group (losses/base.py has the others).

| loss                                      | k(a)    | domain                                             |
| spread: c sum_g [1 + max_T v - min_I v]_+ | sum s   | a = u on I, -w on T; u, w >= 0, sums equal, s <= c |
| slack: c sum_g [max_t (b_t - v_t)]_+      | sum b a | a >= 0, sums s <= c                                |

Excess of a group of the spread, with near = min_I v, far = max_T v, margin = 1 + far - near:
    (c - s) [margin]_+  +  s [-margin]_+  +  sum u (v - near)  +  sum w (far - v),
and of the slack, with worst = [max_t (b_t - v_t)]_+:
    (c - s) worst  +  sum a (worst - b + v).

Prices are whole multiples of the last digit of c. A sum of such, up to c, is exact in double precision, so that sums
which must agree do, and one that must be c is. Prices are given for all rows, in order. Where c is the float next to a
fraction, what is meant are prices in the same proportion to that: exact arithmetic takes them so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.losses.base import NONE, Ray, ValueAndExcess
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum, summed

AT_THE_CAP = 1 - 1e-12  # of c: a sum above is c but for rounding
MOST = 1e100  # of a price: sums of anything much larger could overflow
TINY = 1e-301  # more than all that underflow loses


class Spread(NamedTuple):
    """c sum_g [1 + max_T v - min_I v]_+ over groups g of rows, each of them in T or in I."""

    c: Any  # a float, or a fraction for exact arithmetic
    group: IntArray  # (t,) of each row, 0..g - 1; no group lacks a row in T or in I
    near: NDArray[np.bool_]  # (t,) True in I

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped to the sign of their side; both sides of a group scaled to the lesser sum, at most c."""
        size = np.clip(np.nan_to_num(self._sizes(a), nan=0.0), 0.0, MOST)
        sums = [self._totals(size, side) for side in self._sides]
        whole, digit = _whole(np.minimum(*sums), self.c)
        units = np.zeros(len(a))
        for side, total in zip(self._sides, sums, strict=True):
            units[side] = _of_sums(size[side], self.group[side], whole, total)
        return self._sizes(units * digit)

    def _sizes(self, a: FloatArray) -> FloatArray:
        """u and w of prices u and -w, and back."""
        return np.where(self.near, a, -a)

    @property
    def _sides(self) -> tuple[IntArray, IntArray]:
        return np.flatnonzero(self.near), np.flatnonzero(~self.near)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum s"""
        value = math.fsum(a[self.near])
        return Sum(value, 2 * EPS * value)

    def ray(self, a: FloatArray) -> Ray:
        """t sum s, until a sum is c."""
        s = self._sums(a)
        total, largest = float(s.sum()), float(s.max(initial=0.0))
        return Ray(lambda t: total * t, self.c / largest if largest > 0 else 1.0)

    def _sums(self, a: FloatArray) -> FloatArray:
        """s of each group; exact."""
        return self._totals(a, self._sides[0])

    def _totals(self, size: FloatArray, side: IntArray) -> FloatArray:
        return np.bincount(self.group[side], size[side], minlength=self.groups).astype(np.float64)

    def part(self, block: Block) -> ValueAndExcess:
        """A group is missed by 1 + its furthest in T - its nearest in I."""
        v, off, a, _ = block
        nearest, furthest, off_v = (
            np.full(self.groups, np.inf),
            np.full(self.groups, -np.inf),
            np.zeros((2, self.groups)),
        )
        up, down = self._sides
        np.minimum.at(nearest, self.group[up], v[up])
        np.maximum.at(furthest, self.group[down], v[down])
        np.maximum.at(off_v[0], self.group[up], off[up])
        np.maximum.at(off_v[1], self.group[down], off[down])
        s, margin = self._sums(a), 1 + furthest - nearest
        moved = off_v.sum(axis=0)
        rounded = 2 * EPS * (1 + np.abs(furthest) + np.abs(nearest))
        off_margin = moved + rounded
        missed, active = np.maximum(0.0, margin), margin > -off_margin  # or may be
        value = summed(self.c * missed)
        value_off = float(self.c * off_margin[active].sum()) + 4 * EPS * value

        away = np.where(self.near, v - nearest[self.group], furthest[self.group] - v)
        size = np.abs(a)
        terms = [*((self.c - s) * missed), *(s * (missed - margin)), *np.where(size > 0, size * away, 0.0)]
        excess = summed(terms)
        # The slope is c - s where the margin is surely positive, and s where it is surely negative.
        slope = np.where(margin > off_margin, self.c - s, np.where(margin < -off_margin, s, self.c))
        excess_off = (
            float(size @ off + self.c * moved[active].sum() + slope @ rounded) + 8 * EPS * excess + TINY
        )
        return ValueAndExcess(Sum(value, value_off * (1 + 1e-6)), Sum(excess, excess_off * (1 + 1e-6)))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        near: dict[int, Fraction] = {}
        far: dict[int, Fraction] = {}
        for g, up, row in zip(self.group.tolist(), self.near.tolist(), v, strict=True):
            if up:
                near[g] = min(row, near.get(g, row))
            else:
                far[g] = max(row, far.get(g, row))
        return Fraction(self.c) * sum((max(NONE, 1 + far[g] - near[g]) for g in near), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Sums that are c but for rounding are made c, and those of the two sides agree."""
        cap, found = Fraction(self.c), [NONE] * len(a)
        share = _share(cap)
        rows: list[tuple[dict[int, Fraction], dict[int, Fraction]]] = [({}, {}) for _ in range(self.groups)]
        for t, (g, up, price) in enumerate(zip(self.group.tolist(), self.near.tolist(), a, strict=True)):
            rows[g][0 if up else 1][t] = max(NONE, price if up else -price) * share
        for sides in rows:
            s = _capped(min(sum(side.values(), NONE) for side in sides), cap)
            for sign, side in zip((1, -1), sides, strict=True):
                for t, price in _exactly_of_sum(side, s).items():
                    found[t] = sign * price
        return found

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum((price for price, up in zip(a, self.near.tolist(), strict=True) if up), NONE)


class Slack(NamedTuple):
    """c sum_g [max_t (b_t - v_t)]_+ over groups g of rows."""

    c: Any  # a float, or a fraction for exact arithmetic
    group: IntArray  # (t,) of each row, 0..g - 1
    b: Any  # (t,) floats, or fractions

    @property
    def groups(self) -> int:
        """The number of groups."""
        return int(self.group.max(initial=-1)) + 1

    @property
    def inactive_above(self) -> float:
        """See `Loss`."""
        return math.inf

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clipped at 0; a group with a larger sum scaled to c."""
        size = np.clip(np.nan_to_num(a, nan=0.0), 0.0, MOST)
        total = self._sums(size)
        whole, digit = _whole(total, self.c)
        return _of_sums(size, self.group, whole, total) * digit

    def _sums(self, a: FloatArray) -> FloatArray:
        return np.bincount(self.group, a, minlength=self.groups).astype(np.float64)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum b a"""
        terms = self.b * a
        value = math.fsum(terms)
        return Sum(value, 2 * EPS * math.fsum(np.abs(terms)) + TINY)

    def ray(self, a: FloatArray) -> Ray:
        """t sum b a, until a sum is c."""
        gained, largest = float(self.b @ a), float(self._sums(a).max(initial=0.0))
        return Ray(lambda t: gained * t, self.c / largest if largest > 0 else 1.0)

    def part(self, block: Block) -> ValueAndExcess:
        """A group costs what its worst row does."""
        v, off, a, _ = block
        short, off = self.b - v, off + 2 * EPS * (np.abs(self.b) + np.abs(v))
        worst, most = np.zeros(self.groups), np.zeros(self.groups)
        np.maximum.at(worst, self.group, short)
        np.maximum.at(most, self.group, short + off)
        moved = most - worst  # a row that is far from the worst does not count
        value = summed(self.c * worst)
        rest = self.c - self._sums(a)
        less = np.where(a > 0, a * (worst[self.group] - short), 0.0)
        excess = summed([*(rest * worst), *less])
        excess_off = float(rest @ moved + a @ (off + moved[self.group])) + 8 * EPS * excess + TINY
        value_off = self.c * float(moved.sum()) + 4 * EPS * value + TINY
        return ValueAndExcess(Sum(value, value_off * (1 + 1e-6)), Sum(excess, excess_off * (1 + 1e-6)))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        worst = [NONE] * self.groups
        for g, b, row in zip(self.group.tolist(), self.b, v, strict=True):
            worst[g] = max(worst[g], Fraction(b) - row)
        return Fraction(self.c) * sum(worst, NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Sums that are c but for rounding are made c."""
        cap, found = Fraction(self.c), [NONE] * len(a)
        share = _share(cap)
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.groups)]
        for t, (g, price) in enumerate(zip(self.group.tolist(), a, strict=True)):
            rows[g][t] = max(NONE, price) * share
        for row in filter(None, rows):  # a group may have none
            for t, price in _exactly_of_sum(row, _capped(sum(row.values(), NONE), cap)).items():
                found[t] = price
        return found

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum((Fraction(b) * price for b, price in zip(self.b, a, strict=True)), NONE)


def _whole(s: FloatArray, c: float) -> tuple[FloatArray, float]:
    """Sums (g,), at most c and c where they are but for rounding, in digits of c; and that digit."""
    digit = float(np.spacing(c))
    return np.floor(np.where(s >= AT_THE_CAP * c, c, s) / digit), digit


def _share(c: Fraction) -> Fraction:
    """Of the float next to it."""
    return c / Fraction(float(c))


def _capped(s: Fraction, c: Fraction) -> Fraction:
    return c if s >= Fraction(AT_THE_CAP) * c else s


def _of_sums(size: FloatArray, group: IntArray, whole: FloatArray, total: FloatArray) -> FloatArray:
    """Whole numbers near multiples of `size` (t,) >= 0 whose sums over groups are `whole` (g,), exactly.

    total (g,): the sums of `size`. What rounding down leaves goes to the largest of a group, which is not negative by
    that: the others have less than their share of the sum.
    """
    factor = np.divide(whole, total, out=np.zeros(len(whole)), where=(whole > 0) & (total > 0))
    units = np.floor(size * factor[group])
    order = np.lexsort((size, group))
    largest = np.full(len(whole), -1, dtype=np.intp)
    largest[group[order]] = order  # the last of a group wins
    there = largest >= 0
    units[largest[there]] = 0.0
    units[largest[there]] = (whole - np.bincount(group, units, minlength=len(whole)))[there]
    return units


def _exactly_of_sum(side: dict[int, Fraction], s: Fraction) -> dict[int, Fraction]:
    """Near these prices >= 0, with this sum: the largest takes the difference, or all are scaled where it cannot."""
    before = sum(side.values(), NONE)
    largest = max(side, key=lambda t: side[t])
    if side[largest] + s - before >= 0:
        return {**side, largest: side[largest] + s - before}
    return {t: price * s / before for t, price in side.items()}
