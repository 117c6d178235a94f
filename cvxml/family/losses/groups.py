"""Losses with rows in groups and one slack variable for each group. losses/base.py lists the other losses.

| loss                                      | k(a)    | domain                                             |
| spread: c sum_g [1 + max_T v - min_I v]_+ | sum s   | a = u on I, -w on T; u, w >= 0, sums equal, s <= c |
| slack: c sum_g [max_t (b_t - v_t)]_+      | sum b a | a >= 0, sums s <= c                                |

v are the values of the rows, a their dual variables, and the excess is phi(v) - k(a) + a v >= 0. s is the sum of a
group. In the spread, the rows of a group are targets T and impostors I, and s = sum u = sum w.

Let near = min_I v, far = max_T v and margin = 1 + far - near. The excess of a group of the spread is
    (c - s) [margin]_+  +  s [-margin]_+  +  sum u (v - near)  +  sum w (far - v).
Let worst = [max_t (b_t - v_t)]_+. The excess of a group of the slack is
    (c - s) worst  +  sum a (worst - b + v).

Rounding. Dual variables are multiples of the last digit of c (its spacing). Double precision adds such numbers exactly
as long as the sum is at most c. So the two sums of a group are equal, and a sum that must be c is exactly c. If c is
the float nearest to a fraction, each dual variable stands for its product with the ratio of this fraction to c. Exact
mode uses these products.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.losses.base import NONE, ConjugateOnRay, Loss
from cvxml.numbers.vocabulary import group_max, group_min, group_sum, like, pos, total

AT_THE_CAP = 1 - 1e-12  # a sum above this fraction of c is taken as c
MAX_DUAL = 1e100  # dual variables are clipped here, because sums of larger numbers could overflow


@dataclass(frozen=True, eq=False)
class Spread(Loss):
    """phi(v) = c sum_g [1 + max_T v - min_I v]_+ over groups g. Each row is in T or in I.

    group (t,): the group of each row. The field near (t,) is True for the rows in I.
    """

    c: Any  # a float, or a fraction for exact arithmetic
    group: IntArray  # (t,) the group of each row, 0..g - 1; every group has rows in T and in I
    near: NDArray[np.bool_]  # (t,) True for rows in I

    @property
    def groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clip u and w at 0, and scale both to the same sum in each group: the smallest of sum u, sum w and c.

        A sum that is equal to c up to rounding becomes c. NaN becomes 0.
        """
        size = np.clip(np.nan_to_num(self._sizes(a), nan=0.0), 0.0, MAX_DUAL)
        sums = [self._totals(size, side) for side in self._sides]
        whole, digit = _in_digits(np.minimum(*sums), self.c)
        units = np.zeros(len(a))
        for side, own in zip(self._sides, sums, strict=True):
            units[side] = _with_sums(size[side], self.group[side], whole, own)
        return self._sizes(units * digit)

    def _sizes(self, a: FloatArray) -> FloatArray:
        """Flip the signs on T: from dual variables (t,), u on I and -w on T, to the sizes u and w, or back."""
        return np.where(self.near, a, -a)

    @property
    def _sides(self) -> tuple[IntArray, IntArray]:
        return np.flatnonzero(self.near), np.flatnonzero(~self.near)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t sum s, for t up to c / max s. s: the sum of each group."""
        s = self._sums(a)
        gained, largest = float(s.sum()), float(s.max(initial=0.0))
        return ConjugateOnRay(lambda t: gained * t, self.c / largest if largest > 0 else 1.0)

    def _sums(self, a: FloatArray) -> FloatArray:
        """The sum s of u over each group, (g,), without rounding error."""
        return self._totals(a, self._sides[0])

    def _totals(self, size: FloatArray, side: IntArray) -> FloatArray:
        return np.bincount(self.group[side], size[side], minlength=self.groups).astype(np.float64)

    def _margins(self, v: Any) -> tuple[Any, Any, Any]:
        """Three arrays (g,): near = min_I v, far = max_T v and 1 + far - near of each group."""
        up, down = self._sides
        near = group_min(v[up], self.group[up], self.groups)
        far = group_max(v[down], self.group[down], self.groups)
        return near, far, 1 + far - near

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(pos(self._margins(v)[2]))

    def conjugate(self, a: Any) -> Any:
        """k(a), the sum of s over groups, where s is the sum of u in a group."""
        return total(a[self._sides[0]])

    def excess(self, v: Any, a: Any) -> Any:
        """phi(v) - k(a) + a v, by the formula in the docstring of this module."""
        (up, down), (near, far, margin) = self._sides, self._margins(v)
        s = group_sum(a[up], self.group[up], self.groups)
        of_groups = total((like(a, self.c) - s) * pos(margin) + s * pos(-margin))
        behind = total(a[up] * pos(v[up] - near[self.group[up]]))
        before = total(-a[down] * pos(far[self.group[down]] - v[down]))
        return of_groups + behind + before

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Move dual variables into the domain: clip u and w at 0, and give them the same sum s in each group.

        s is the smaller of sum u and sum w; if it is above c or equal to c up to rounding, it is c. All dual variables
        are first multiplied by the ratio of c to its float (module docstring).
        """
        cap, found = Fraction(self.c), [NONE] * len(a)
        share = _ratio_to_float(cap)
        rows: list[tuple[dict[int, Fraction], dict[int, Fraction]]] = [({}, {}) for _ in range(self.groups)]
        for t, (g, up, dual) in enumerate(zip(self.group.tolist(), self.near.tolist(), a, strict=True)):
            rows[g][0 if up else 1][t] = max(NONE, dual if up else -dual) * share
        for sides in rows:
            s = _capped(min(sum(side.values(), NONE) for side in sides), cap)
            for sign, side in zip((1, -1), sides, strict=True):
                for t, dual in _exactly_with_sum(side, s).items():
                    found[t] = sign * dual
        return found


@dataclass(frozen=True, eq=False)
class Slack(Loss):
    """phi(v) = c sum_g [max_t (b_t - v_t)]_+ over groups g of rows.

    group (t,): the group of each row. b (t,): a constant for each row.
    """

    c: Any  # a float, or a fraction for exact arithmetic
    group: IntArray  # (t,) the group of each row, 0..g - 1
    b: Any  # (t,) floats, or fractions

    @property
    def groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    def to_domain(self, a: FloatArray) -> FloatArray:
        """Clip the dual variables at 0, and scale those of a group with a sum above c to the sum c."""
        size = np.clip(np.nan_to_num(a, nan=0.0), 0.0, MAX_DUAL)
        sums = self._sums(size)
        whole, digit = _in_digits(sums, self.c)
        return _with_sums(size, self.group, whole, sums) * digit

    def _sums(self, a: FloatArray) -> FloatArray:
        return np.bincount(self.group, a, minlength=self.groups).astype(np.float64)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t sum b a, for t up to c divided by the largest sum of a group."""
        gained, largest = float(self.b @ a), float(self._sums(a).max(initial=0.0))
        return ConjugateOnRay(lambda t: gained * t, self.c / largest if largest > 0 else 1.0)

    def _short(self, v: Any) -> tuple[Any, Any]:
        """The array b - v of all rows, and the array of worst = [max_t (b_t - v_t)]_+ of each group."""
        short = like(v, self.b, rounded=True) - v
        return short, group_max(short, self.group, self.groups, 0.0)

    def value(self, v: Any) -> Any:
        return like(v, self.c) * total(self._short(v)[1])

    def conjugate(self, a: Any) -> Any:
        """k(a), the sum of b a over rows."""
        return total(like(a, self.b, rounded=True) * a)

    def excess(self, v: Any, a: Any) -> Any:
        """phi(v) - k(a) + a v, by the formula in the docstring of this module."""
        short, worst = self._short(v)
        rest = like(a, self.c) - group_sum(a, self.group, self.groups)
        return total(rest * worst) + total(a * pos(worst[self.group] - short))

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Move dual variables into the domain: clip them at 0, and limit the sum of each group to c.

        Sums that are above c, or equal to c up to rounding, become c. All dual variables are first multiplied by the
        ratio of c to its float (module docstring).
        """
        cap, found = Fraction(self.c), [NONE] * len(a)
        share = _ratio_to_float(cap)
        rows: list[dict[int, Fraction]] = [{} for _ in range(self.groups)]
        for t, (g, dual) in enumerate(zip(self.group.tolist(), a, strict=True)):
            rows[g][t] = max(NONE, dual) * share
        for row in filter(None, rows):  # a group may have no rows
            for t, dual in _exactly_with_sum(row, _capped(sum(row.values(), NONE), cap)).items():
                found[t] = dual
        return found


def _in_digits(s: FloatArray, c: float) -> tuple[FloatArray, float]:
    """The sums s (g,) in units of the last digit of c, rounded down, and the size of this digit.

    Sums above c, or equal to c up to rounding, become c.
    """
    digit = float(np.spacing(c))
    return np.floor(np.where(s >= AT_THE_CAP * c, c, s) / digit), digit


def _ratio_to_float(c: Fraction) -> Fraction:
    return c / Fraction(float(c))


def _capped(s: Fraction, c: Fraction) -> Fraction:
    return c if s >= Fraction(AT_THE_CAP) * c else s


def _with_sums(size: FloatArray, group: IntArray, whole: FloatArray, total: FloatArray) -> FloatArray:
    """Whole numbers (t,), nearly proportional to `size` (t,) >= 0, with the sums `whole` (g,) over groups, exactly.

    group (t,): the group of each entry. total (g,): the sums of `size` over groups. All numbers but the largest of
    each group are rounded down, and the largest gets the remainder of `whole`. The remainder is >= 0, because the
    others have at most their proportions of `whole`.
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


def _exactly_with_sum(side: dict[int, Fraction], s: Fraction) -> dict[int, Fraction]:
    """Dual variables near those of `side`, >= 0 and with the sum s.

    side: {row: dual variable >= 0} of one group, or of its rows in T or in I. The largest absorbs the difference. If it
    would become negative, all are scaled instead.
    """
    before = sum(side.values(), NONE)
    largest = max(side, key=lambda t: side[t])
    if side[largest] + s - before >= 0:
        return {**side, largest: side[largest] + s - before}
    return {t: dual * s / before for t, dual in side.items()}
