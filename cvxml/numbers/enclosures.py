"""Arrays of real numbers, each known by a midpoint and a radius, in double precision.

`Enclosure(mid, rad)` stands for every array x of real numbers with |x - mid| <= rad. An operation returns an
enclosure of its exact result, so a formula written with these operations needs no error analysis of its own.

Model of rounding (N. Higham, Accuracy and stability of numerical algorithms, 2002, chapter 2), with a safety margin:
- One operation is given an error of EPS |result| + UNDERFLOW. IEEE arithmetic only has errors up to half of EPS, and
  underflow has an error below UNDERFLOW. The other half of EPS covers rounding a constant to its nearest float.
- A call of exp, log, expm1 or log1p is given the relative error WIDER = 8 EPS. Those of numpy have at most 4 EPS, or 4
  units in the last place.
- A radius is a sum of products of numbers >= 0, and it is rounded too. So it is multiplied by UP, slightly above 1.

The docstring of a method is its formula for the numbers x of the enclosure, entry by entry.

A radius of inf or NaN means that the number is unknown. Every operation passes this on. Overflow and divisors that
may be 0 give such radii, and warnings of numpy: proofs work within np.errstate(all="ignore").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cvxml.core.metric import EPS
from cvxml.numbers.sums import accurate_sum

UNDERFLOW = 1e-300  # above the error of underflow, even if subnormal numbers are flushed to 0
LOST = 1e-307  # the same bound for a result that is later divided by a small number
UP = 1 + 32 * EPS
WIDER = 8 * EPS
MUCH_WIDER = 1 + 4096 * EPS  # factor of e^x, |x| <= 750, for the rounding error of x
MAX_SERIES = 1e-4  # up to this x, e^x - 1 - x is computed by its series
FAR = 1.0  # up to this radius, e^r - 1 <= r + r^2 bounds the error; larger radii need another bound


class Enclosure:
    """Real numbers within `rad` of `mid`. rad is an array of the same shape, or one number for all."""

    __slots__ = ("mid", "rad")
    __array_ufunc__ = None  # array + Enclosure then calls Enclosure.__radd__

    def __init__(self, mid: Any, rad: Any = 0.0) -> None:
        self.mid, self.rad = mid, rad

    def __repr__(self) -> str:
        return f"Enclosure({self.mid!r}, {self.rad!r})"

    def __len__(self) -> int:
        return len(self.mid)

    @property
    def shape(self) -> tuple[int, ...]:
        return np.shape(self.mid)

    @property
    def T(self) -> Enclosure:
        return Enclosure(self.mid.T, self.rad if isinstance(self.rad, float) else self.rad.T)

    @property
    def exact(self) -> bool:
        """True if `rad` is the number 0.0. An array of zeros does not count."""
        return isinstance(self.rad, float) and self.rad == 0.0

    def __getitem__(self, at: Any) -> Enclosure:
        return Enclosure(self.mid[at], self.rad if isinstance(self.rad, float) else self.rad[at])

    def reshape(self, *shape: int) -> Enclosure:
        return Enclosure(
            self.mid.reshape(*shape), self.rad if isinstance(self.rad, float) else self.rad.reshape(*shape)
        )

    # ------------------------------------------------------------- + - * /

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.mid, self.rad)

    def __abs__(self) -> Enclosure:
        return Enclosure(np.abs(self.mid), self.rad)

    def __add__(self, other: Any) -> Enclosure:
        o = enclosure(other)
        return _rounded(self.mid + o.mid, self.rad + o.rad)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Enclosure:
        o = enclosure(other)
        return _rounded(self.mid - o.mid, self.rad + o.rad)

    def __rsub__(self, other: Any) -> Enclosure:
        return enclosure(other) - self

    def __mul__(self, other: Any) -> Enclosure:
        o = enclosure(other)
        if o.exact:
            rad = 0.0 if self.exact else self.rad * np.abs(o.mid)
        elif self.exact:
            rad = o.rad * np.abs(self.mid)
        else:
            rad = np.abs(self.mid) * o.rad + self.rad * (np.abs(o.mid) + o.rad)
        return _rounded(self.mid * o.mid, rad)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Enclosure:
        o = enclosure(other)
        quotient = np.divide(self.mid, o.mid)
        if o.exact:
            rad = 0.0 if self.exact else self.rad / np.abs(o.mid)
            return _rounded(quotient, rad)
        least = np.abs(o.mid) - o.rad * UP  # of the divisor
        rad = (self.rad + np.abs(quotient) * o.rad + LOST) / least
        return _rounded(quotient, np.where(least > 0, rad, np.inf))

    def __rtruediv__(self, other: Any) -> Enclosure:
        return enclosure(other) / self

    def __matmul__(self, other: Any) -> Enclosure:
        o = enclosure(other)
        size, other_size = np.abs(self.mid), np.abs(o.mid)
        rad = (len(o) / 2 + 2) * EPS * (size @ other_size)
        if not o.exact:
            rad = rad + size @ np.broadcast_to(o.rad, o.shape)
        if not self.exact:
            rad = rad + np.broadcast_to(self.rad, self.shape) @ (other_size + o.rad)
        return _rounded(self.mid @ o.mid, (rad + len(o) * UNDERFLOW) * _sum_of(2 * len(o)))

    def square(self) -> Enclosure:
        return _rounded(
            self.mid * self.mid, 0.0 if self.exact else (2 * np.abs(self.mid) + self.rad) * self.rad
        )

    # ------------------------------------------------------------- extremes

    def at_least(self, end: float) -> Enclosure:
        """max(x, end) for an exact end."""
        if self.exact:
            return Enclosure(np.maximum(self.mid, end))
        return Enclosure(np.maximum(self.mid, end), _beyond(self.rad, np.minimum(self.mid - end, 0.0)))

    def at_most(self, end: float) -> Enclosure:
        """min(x, end) for an exact end."""
        if self.exact:
            return Enclosure(np.minimum(self.mid, end))
        return Enclosure(np.minimum(self.mid, end), _beyond(self.rad, np.minimum(end - self.mid, 0.0)))

    def group_max(self, group: Any, count: int, start: float = -math.inf) -> Enclosure:
        """The largest of `start` and the numbers x (t,) in each group, as an enclosure of (count,) numbers.

        group: (t,), the group 0..count - 1 of each number.
        """
        mid, low, high = (np.full(count, start) for _ in range(3))
        np.maximum.at(mid, group, self.mid)
        np.maximum.at(low, group, self.mid - self.rad)
        np.maximum.at(high, group, self.mid + self.rad)
        return _rounded(mid, np.maximum(high - mid, mid - low))

    def max(self) -> Enclosure:
        mid, low, high = (float(np.max(end)) for end in (self.mid, self.mid - self.rad, self.mid + self.rad))
        return _rounded(mid, max(high - mid, mid - low))

    # ------------------------------------------------------------- sums

    def sum(self, axis: int | None = None) -> Enclosure:
        size = np.abs(self.mid).sum(axis)
        n = np.size(self.mid) // max(1, np.size(size))
        rad = self.rad * float(n) if isinstance(self.rad, float) else self.rad.sum(axis)
        lost = (n + 8) * EPS * size  # in any order of summation
        if axis is not None or lost <= rad / 8:
            return _rounded(self.mid.sum(axis), (rad + lost) * _sum_of(n))
        if not math.isfinite(size):
            return Enclosure(float(self.mid.sum()), math.inf)
        value, lost = accurate_sum(np.ravel(self.mid))
        return _rounded(value, (float(rad) + lost) * _sum_of(n))

    def group_sum(self, group: Any, count: int) -> Enclosure:
        """The sum of the numbers x (t,) in each group, as an enclosure of (count,) numbers.

        group: (t,), the group 0..count - 1 of each number.

        The radius is 0 if `exact` is True and `_whole` shows that no sum is rounded. For example, this holds for
        integers if the largest sum of |x| in a group is positive and below 2^53.
        """
        mid, size = (np.bincount(group, x, count) for x in (self.mid, np.abs(self.mid)))
        if self.exact and _whole(self.mid, float(size.max(initial=0.0))):
            return Enclosure(mid)
        rad = np.bincount(group, np.broadcast_to(self.rad, self.shape), count)
        n = int(np.bincount(group, minlength=count).max(initial=0))
        return _rounded(mid, (rad + (n + 8) * EPS * size) * _sum_of(n))

    # ------------------------------------------------------------- functions

    def sqrt(self) -> Enclosure:
        """sqrt x, for x >= 0."""
        m, r = self.mid, self.rad
        root, low, high = (np.sqrt(np.maximum(x, 0.0)) for x in (m, m - r, m + r))
        rad = np.where(m > r * UP, r / (root + low), np.maximum(root, high - root))
        return Enclosure(root, rad * UP + (4 * EPS * high + UNDERFLOW))

    def log(self) -> Enclosure:
        return _wider(np.log(self.mid), _relative(self.rad, self.mid))

    def log1p(self) -> Enclosure:
        return _wider(np.log1p(self.mid), _relative(self.rad, (1 + self.mid) * (1 - 4 * EPS)))

    def exp(self) -> Enclosure:
        m, r = self.mid, self.rad
        mid = np.exp(m)
        rad = mid * (r + r * r)  # e^r - 1 <= r + r^2 for r <= 1
        if not np.all(r <= FAR):
            rad = np.where(r <= FAR, rad, np.exp(m + r) * MUCH_WIDER)
        return _wider(mid, rad)

    def log_sum_exp(self, counts: Any) -> Enclosure:
        """log sum e^x (g,), one for each row of x (g, n). The sum is over the entries where `counts` (g, n) is True."""
        x, r = np.where(counts, self.mid, -np.inf), np.where(counts, self.rad, 0.0)
        most, n = r.max(axis=1), x.shape[1]
        largest = x.max(axis=1)
        below = x - largest[:, None]
        shares = np.exp(below)
        sums = shares.sum(axis=1)
        logarithm = np.log(sums)
        # log sum p e^r is at most the largest r, and at most sum p (e^r - 1)
        moved = np.where(most <= FAR, np.minimum(most, (shares * (r + r * r)).sum(axis=1) / sums), most)
        # an exponent is rounded by EPS of its size, and size e^-size is at most 1
        lost = 2 * (n + 16) * EPS + WIDER * np.abs(logarithm)
        return _rounded(largest + logarithm, moved * _sum_of(2 * n) + lost)

    def softplus(self) -> Enclosure:
        """log(1 + e^x)"""
        from scipy.special import expit  # takes a twentieth of a second to load

        return _wider(np.logaddexp(0.0, self.mid), expit(self.mid + self.rad) * MUCH_WIDER * self.rad)

    def exp_excess(self) -> Enclosure:
        """e^x - 1 - x, which is flat at 0."""
        m, r = self.mid, self.rad
        slope = np.expm1(m)
        mid = _exp_excess(m, slope)
        # f(m + e) - f(m) = f'(m) e + e^m f(e), and f(e) <= e^2 where |e| <= 1
        rad = r * (np.abs(slope) + (1 + slope) * r)
        if not np.all(r <= FAR):
            ends = (_exp_excess(end, np.expm1(end)) for end in (m - r, m + r))
            rad = np.where(r <= FAR, rad, np.maximum(*ends) * MUCH_WIDER)
        return _wider(mid, rad + np.where(np.abs(m) < MAX_SERIES, 0.0, WIDER * np.abs(m)))

    def log_excess(self) -> Enclosure:
        """x - 1 - log x, which is flat at 1."""
        m, r = self.mid, self.rad
        from_1 = m - 1
        logarithm = np.where(np.abs(from_1) < 0.5, np.log1p(np.maximum(from_1, -0.5)), np.log(m))
        least = m - r * UP
        slope = (np.abs(from_1) + r) / least  # bounds |1 - 1/x|
        rad = 0.0 if self.exact else np.where(least > 0, slope * r, np.inf)
        return _wider(np.maximum(from_1 - logarithm, 0.0), rad + WIDER * np.abs(from_1))

    def x_log_x(self) -> Enclosure:
        """x log x, for 0 <= x <= 1. The value at 0 is 0."""
        m, r = np.clip(self.mid, 0.0, 1.0), self.rad
        return _wider(x_log_x(m), _of_entropy(m, r, lambda x: 1 + np.log(x)))

    def entropy(self) -> Enclosure:
        """-x log x - (1 - x) log(1 - x), for 0 <= x <= 1."""
        m, r = np.clip(self.mid, 0.0, 1.0), self.rad
        return _wider(entropy(m), _of_entropy(m, r, lambda x: np.log(x) - np.log1p(-x)))


def x_log_x(x: Any) -> Any:
    """x log x of floats, 0 at 0, without an enclosure."""
    from scipy.special import xlogy  # takes a twentieth of a second to load

    return xlogy(x, x)


def entropy(x: Any) -> Any:
    """-x log x - (1 - x) log(1 - x) of floats, without an enclosure."""
    from scipy.special import xlog1py

    return -x_log_x(x) - xlog1py(1 - x, -x)


def enclosure(x: Any) -> Enclosure:
    """Return an enclosure unchanged, and floats as an enclosure with radius 0. Raises TypeError for fractions."""
    if isinstance(x, Enclosure):
        return x
    if not isinstance(x, int | float) and np.asarray(x).dtype == object:
        raise TypeError(
            f"an enclosure can be combined with floats only, got {type(x).__name__}; convert it with "
            "cvxml.numbers.vocabulary.like(enclosure, number)"
        )
    return Enclosure(x)


def choose(x: Enclosure, a: Enclosure, b: Enclosure) -> Enclosure:
    """a where x > 0, b where x <= 0. Where the sign of x is unknown, the result encloses both a and b."""
    margin = x.rad * UP
    sure = (x.mid > margin) | (x.mid <= -margin)
    first = x.mid > 0
    mid, other = np.where(first, a.mid, b.mid), np.where(first, b.mid, a.mid)
    rad, beside = np.where(first, a.rad, b.rad), np.where(first, b.rad, a.rad)
    both = np.maximum(rad, np.abs(other - mid) + beside) * UP
    return Enclosure(mid, np.where(sure, rad, both))


def where(mask: Any, a: Any, b: Any) -> Enclosure:
    a, b = enclosure(a), enclosure(b)
    return Enclosure(np.where(mask, a.mid, b.mid), np.where(mask, a.rad, b.rad))


def _rounded(mid: Any, rad: Any) -> Enclosure:
    """Return the enclosure of the result `mid` of one operation. rad: the radius that comes from the operands.

    The radius of the result also bounds the rounding error of the operation.
    """
    own = EPS * np.abs(mid) + UNDERFLOW
    return Enclosure(mid, own if isinstance(rad, float) and rad == 0.0 else rad * UP + own)


def _wider(mid: Any, rad: Any) -> Enclosure:
    """Return the enclosure of the result `mid` of a function of numpy. rad: the radius that comes from the argument.

    The radius of the result also bounds the error of numpy's function.
    """
    return Enclosure(mid, rad * UP + (WIDER * np.abs(mid) + UNDERFLOW))


def _beyond(rad: Any, apart: Any) -> Any:
    """A bound of the change of max(x, end), or of min(x, end), between the midpoint m and any x within `rad` of m.

    apart: minus the distance from m to `end` if the result at m is `end`, else 0.
    """
    return np.maximum(rad * UP + apart, 0.0) * UP


def _relative(rad: Any, mid: Any) -> Any:
    """A bound of |log x - log mid| for x within `rad` of `mid`; inf if x may be 0."""
    if isinstance(rad, float) and rad == 0.0:
        return 0.0
    least = mid - rad * UP
    return np.where(least > 0, rad / least, np.inf)


def _exp_excess(x: Any, slope: Any) -> Any:
    """e^x - 1 - x for floats x. slope: e^x - 1.

    For |x| < 1e-4 it is computed by its series up to x^5/120. The next term is below EPS times the sum.
    """
    series = x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5)))
    return np.where(np.abs(x) < MAX_SERIES, series, np.maximum(slope - x, 0.0))


def _of_entropy(m: Any, rad: Any, slope: Callable[[Any], Any]) -> Any:
    """A bound of |f(x) - f(m)| for x within `rad` of m in [0, 1], where f(x) is x log x or the binary entropy.

    slope: the derivative of f, which is monotone.

    The smaller of two bounds is returned. The first, rad times the largest |slope|, is used if m - rad > 0 and m + rad
    < 1. The second is rad (1 - log rad) for rad <= 1/2, which is above the binary entropy of rad (M. Fannes, 1973). For
    larger rad the second bound is 1.
    """
    if isinstance(rad, float) and rad == 0.0:
        return 0.0
    low, high = np.nextafter(m - rad * UP, -np.inf), np.nextafter(m + rad * UP, np.inf)
    steepest = np.maximum(np.abs(slope(low)), np.abs(slope(high))) + WIDER
    at_ends = np.where(rad > 0, rad * (1 - np.log(rad)), rad)
    near_ends = np.where(rad > 0.5, 1.0, at_ends)
    return np.where((low > 0) & (high < 1), np.minimum(rad * steepest, near_ends), near_ends)


def _whole(x: Any, largest: float) -> bool:
    """True if all x are multiples of u, the spacing of floats at `largest`. Then sums of x are not rounded.

    largest: the largest sum of |x| in a group. u is a power of two, and `largest` is below 2^53 u, so the sum of each
    group is exact in floats. False if `largest` is not finite, or if u is at most `UNDERFLOW`, for example if all x are
    0.
    """
    unit = float(np.spacing(largest))
    if not (math.isfinite(largest) and unit > UNDERFLOW):
        return False
    return bool(np.all(np.rint(x / unit) * unit == x))


def _sum_of(n: int) -> float:
    """A factor f > 1: the exact sum of n numbers >= 0 is at most f times their computed sum."""
    return 1 + (n + 32) * EPS
