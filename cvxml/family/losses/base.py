"""Losses phi of the family, each with its conjugate bound k: phi(v) >= k(a) - a v for every price a and every v.

Of each: prices moved into the domain of k, the value phi, and the excess phi(v) - k(a) + a v, which is the part of the
gap that these rows have, computed as a sum of terms that are not negative. What rounding may have moved is counted from
the slope of a term and what v may be off by.

| loss                        | k(a)                     | domain       | excess                              |
| hinge c [1-v]_+             | sum a                    | 0 <= a <= c  | (c-a) [1-v]_+ + a [v-1]_+           |
| squared hinge c [1-v]_+^2   | sum a - a^2/(4c)         | a >= 0       | c ([1-v]_+ - a/(2c))^2 + a [v-1]_+  |
| smoothed hinge of width g   | sum a - g a^2/2          | 0 <= a <= 1  | g/2 (p-a)^2, and what hinges leave  |
| straight: c sum v           | 0                        | a = -c       | 0                                   |
| least: -min v               | 0                        | the simplex  | sum a (v - min v)                   |
| root: -sum sqrt v           | -sum 1/(4a)              | a > 0        | sum a (sqrt v - 1/(2a))^2           |
| log sum exp: c log sum e^-v | -sum a log(a/c)          | sum a = c    | sum p - a - a log(p/a)              |
| bounded: sum c f(r)         | sum c log b              | b > 0        | sum c f(r b) + a (v - r)            |

with f(x) = x - 1 - log x, b = 1 + a/c, and r = 1 where v keeps its bound, else r = v. p are the prices that leave
nothing at v: c e^-v / sum e^-v of log sum exp; [1-v]_+ / g of the smoothed hinge, 1 at most, of which beside it the
hinges leave (1-a) [1-g-v]_+ + a [v-1]_+.

In exact arithmetic (exact.py) prices and v are fractions; a value is a fraction, or a ball where it is not rational.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from scipy.special import xlogy

from cvxml.core.balls import ball
from cvxml.core.balls import total as total_of
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.rows.base import Block
from cvxml.numbers.rounding import doubled

NONE = Fraction(0)
SHARES = 128  # bits of an exact price
FEW = 500  # terms, which are summed one by one as fast
LEAST = 1e-100  # of the largest price: what one that must be positive is at least
MOST = 1e100  # a price beyond this is as good as infinite
BELOW_ONE = 1 - 1e-6  # of its limit: what a price at or beyond it becomes


class Sum(NamedTuple):
    """A number, and what rounding may have made of it."""

    value: float
    off: float


class Part(NamedTuple):
    """What some rows have of the objective and of the gap."""

    value: Sum
    excess: Sum


class Ray(NamedTuple):
    """k of multiples t of prices, concave in t."""

    value: Callable[[float], float]
    longest: float  # t up to which they are in the domain
    # t with the largest k - slope t, where that has a formula
    against: Callable[[float], float] | None = None


def together(rays: Sequence[Ray]) -> Ray:
    """Of several losses, their prices multiplied by the same t."""
    if len(rays) == 1:
        return rays[0]
    return Ray(lambda t: sum(ray.value(t) for ray in rays), min(ray.longest for ray in rays))


FIXED = Ray(lambda t: 0.0, 0.0)  # of prices of which no multiple is in the domain


class Box(NamedTuple):
    """The domain low <= a <= high of a loss with k(a) = sum a - width/2 ||a||^2; the solver of box_dual.py takes these.

    0 is between low and high.
    """

    low: float
    high: float
    width: float = 0.0


class Sensitivity(NamedTuple):
    """How much each dual variable moves near an optimum.

    w (t,): the dual variable of a row moves by -w times what its v gains. group (t,): within a group the dual variables
    have a fixed sum; None where there is no such sum.
    """

    w: FloatArray
    group: IntArray | None = None


@runtime_checkable
class Sensitive(Protocol):
    """A loss that knows how its dual variables move. It is a guess for a search, and no proof rests on it."""

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """Of dual variables (t,) near an optimum, where the objective may grow by `room`."""


class Loss(Protocol):
    """phi, and what a proof needs of it."""

    @property
    def kept(self) -> float:
        """A row without a price whose v is no less has no part in value and excess."""

    def repaired(self, a: FloatArray) -> FloatArray:
        """The prices in the domain that `a` (t,), any numbers, name."""

    def conjugate(self, a: FloatArray) -> Sum:
        """k(a), prices of the domain."""

    def ray(self, a: FloatArray) -> Ray:
        """k of the multiples of prices."""

    def part(self, block: Block) -> Part:
        """Of the rows of a block."""

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """phi, of all rows."""

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Prices in the domain, near those given, which are in it but for rounding."""

    def exact_conjugate(self, a: Sequence[Fraction]) -> Any:
        """k, of prices of the domain."""


def summed(terms: Sequence[float] | FloatArray) -> float:
    """The sum, right but for its own rounding; no number where it overflows."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def total(terms: FloatArray, off: FloatArray) -> Sum:
    """The sum of terms, each of which may be off; in whatever order it is taken."""
    size = float(np.abs(terms).sum())
    return Sum(float(terms.sum()), (float(off.sum()) + (len(terms) + 8) * EPS * size) * (1 + 1e-6))


def sharp_total(terms: FloatArray, off: FloatArray) -> Sum:
    """The same, and no digit is lost in the summation; slower."""
    rough = float(terms.sum())
    if not math.isfinite(rough):
        return Sum(rough, math.inf)
    value, beside = sharp(terms)
    return Sum(value, (float(off.sum()) + 2 * EPS * abs(value) + beside) * (1 + 1e-6))


def sharp(terms: FloatArray) -> Sum:
    """The sum; off is what it is off by beside its own rounding: nothing of few terms, of many next to nothing."""
    if len(terms) <= FEW:
        return Sum(summed(terms), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        value, size = float(doubled(terms)), float(np.abs(terms).sum())
    if not math.isfinite(value):
        value = summed(terms)
    rounds = 1 + math.log2(len(terms) + 1)
    return Sum(value, 2 * rounds * (len(terms) + rounds) * EPS**2 * size)


class Hinge(NamedTuple):
    """c [1 - v]_+"""

    c: Any  # a float, or a fraction for exact arithmetic

    @property
    def box(self) -> Box:
        """0 <= a <= c"""
        return Box(0.0, float(self.c))

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return 1.0

    def repaired(self, a: FloatArray) -> FloatArray:
        """Clipped."""
        return np.clip(np.where(np.isnan(a), 0.0, a), 0.0, self.c)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum a"""
        value = math.fsum(a)
        return Sum(value, 4 * EPS * value)

    def ray(self, a: FloatArray) -> Ray:
        """t sum a, until a price is c."""
        total, top = float(a.sum()), float(a.max(initial=0.0))
        if top == 0:
            return Ray(lambda t: total * t, 1.0)
        longest = float(self.c) / top
        return Ray(lambda t: total * t, longest if longest * top <= self.c else longest * (1 - 2 * EPS))

    def part(self, block: Block) -> Part:
        """What is not missed costs nothing."""
        v, off, a = _missed(block)
        missed = np.maximum(0.0, 1 - v)
        counts = np.where(1 - v > -off, off, 0.0)  # what is missed, or may be
        spare = np.maximum(0.0, v - 1)
        most = np.maximum(np.where(1 - v > -off, self.c - a, 0.0), np.where(v - 1 > -off, a, 0.0))
        excess = (self.c - a) * missed + a * spare
        return Part(total(self.c * missed, self.c * counts), total(excess, most * off + 4 * EPS * excess))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        return Fraction(self.c) * sum((max(NONE, 1 - row) for row in v), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        return [min(max(price, NONE), Fraction(self.c)) for price in a]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum(a, NONE)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.minimum(a, self.c - a) ** 2 / room)


def _missed(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
    """v, what it and 1 - v may be off by, and a."""
    return block.v, block.off + EPS * (1 + np.abs(block.v)), block.a


class SquaredHinge(NamedTuple):
    """c [1 - v]_+^2"""

    c: Any  # a float, or a fraction for exact arithmetic

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return 1.0

    def repaired(self, a: FloatArray) -> FloatArray:
        """Clipped at 0; what is beyond 1e100 could overflow."""
        return np.clip(np.where(np.isnan(a), 0.0, a), 0.0, 1e100)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum a - a^2 / (4 c)"""
        gained, lost = math.fsum(a), math.fsum(a**2) / (4 * self.c)
        return Sum(gained - lost, 4 * EPS * (gained + lost))

    def ray(self, a: FloatArray) -> Ray:
        """A parabola."""
        total, square = float(a.sum()), float(a @ a) / (4 * self.c)
        return Ray(lambda t: total * t - square * t * t, math.inf if a.any() else 1.0)

    def part(self, block: Block) -> Part:
        """As the hinge, with slopes that grow."""
        v, off, a = _missed(block)
        missed, spare = np.maximum(0.0, 1 - v), np.maximum(0.0, v - 1)
        counts = np.where(1 - v > -off, off, 0.0)
        value = total(self.c * missed**2, self.c * (2 * missed + counts) * counts)
        beside = missed - a / (2 * self.c)
        beside_off = counts + EPS * (missed + a / self.c)
        excess = self.c * beside**2 + a * spare
        moved = self.c * (2 * np.abs(beside) + beside_off) * beside_off + np.where(v - 1 > -off, a * off, 0.0)
        return Part(value, total(excess, moved + 4 * EPS * excess))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        return Fraction(self.c) * sum((max(NONE, 1 - row) ** 2 for row in v), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        return [max(price, NONE) for price in a]

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum(a, NONE) - sum((price**2 for price in a), NONE) / (4 * Fraction(self.c))

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where(a > 0, 2 * self.c, 0.0))


class SmoothedHinge(NamedTuple):
    """(1 - v)^2 / (2 g) for v within 1 - g and 1, a straight line before that, and 0 after it."""

    g: Any  # > 0, a float, or a fraction for exact arithmetic

    @property
    def box(self) -> Box:
        """0 <= a <= 1, with the width g"""
        return Box(0.0, 1.0, float(self.g))

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return 1.0

    def repaired(self, a: FloatArray) -> FloatArray:
        """Clipped."""
        return Hinge(1.0).repaired(a)

    def conjugate(self, a: FloatArray) -> Sum:
        """sum a - g/2 a^2"""
        gained, lost = math.fsum(a), math.fsum(a**2) * self.g / 2
        return Sum(gained - lost, 4 * EPS * (gained + lost))

    def ray(self, a: FloatArray) -> Ray:
        """A parabola, until a price is 1."""
        square, straight = float(a @ a) * float(self.g) / 2, Hinge(1.0).ray(a)
        return Ray(lambda t: straight.value(t) - square * t * t, straight.longest)

    def part(self, block: Block) -> Part:
        """The slope is between those at the ends of what v may be."""
        v, off, a = _missed(block)
        before = np.maximum(0.0, (1 - v) - self.g)
        # twice as far, as the ends are rounded too
        p, low, high = (np.clip((1 - end) / self.g, 0.0, 1.0) for end in (v, v + 2 * off, v - 2 * off))
        value = self.g / 2 * p**2 + before
        excess = self.g / 2 * (p - a) ** 2 + (1 - a) * before + a * np.maximum(0.0, v - 1)
        most, share = np.maximum(np.abs(high - a), np.abs(low - a)), 4 * EPS * (high + a)
        wide = (most + share) * off + self.g * share * (np.abs(p - a) + share) + 8 * EPS * excess
        return Part(total(value, high * off + 8 * EPS * value), total(excess, wide))

    def exactly(self, v: Iterable[Fraction]) -> Fraction:
        """See `Loss`."""
        g = Fraction(self.g)
        missed = (max(NONE, 1 - row) for row in v)
        return sum((m - g / 2 if m >= g else m**2 / (2 * g) for m in missed), NONE)

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Clipped."""
        return Hinge(1).exact_prices(a)

    def exact_conjugate(self, a: Sequence[Fraction]) -> Fraction:
        """See `Loss`."""
        return sum(a, NONE) - Fraction(self.g) / 2 * sum((price**2 for price in a), NONE)

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """See `Sensitive`."""
        return Sensitivity(np.where((a > 0) & (a < 1), 1 / self.g, 0.0))


class Straight(NamedTuple):
    """c sum v, all of whose rows have the one price -c."""

    c: Any  # a float, or a fraction for exact arithmetic

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return math.inf

    def repaired(self, a: FloatArray) -> FloatArray:
        """-c, whatever is given."""
        return np.full(len(a), -float(self.c))

    def conjugate(self, a: FloatArray) -> Sum:
        """0"""
        return Sum(0.0, 0.0)

    def ray(self, a: FloatArray) -> Ray:
        """No other multiple is in the domain."""
        return FIXED

    def part(self, block: Block) -> Part:
        """Nothing is left."""
        return Part(total(self.c * block.v, self.c * (block.off + EPS * np.abs(block.v))), Sum(0.0, 0.0))

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


class Least(NamedTuple):
    """-min v, over all rows at once."""

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return math.inf

    def repaired(self, a: FloatArray) -> FloatArray:
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

    def part(self, block: Block) -> Part:
        """The least may be another row's."""
        v, off, a, _ = block
        least = float(v.min())
        moved = max(least - float((v - off).min()), float((v + off).min()) - least) + EPS * least
        above = a * (v - least)
        excess = total(above, a * off + 2 * EPS * a * v)
        # The prices add up to a little more than 1, by no more than this.
        beyond = 4 * (len(a) + 8) * EPS
        return Part(Sum(-least, moved), Sum(excess.value, excess.off + moved * (1 + beyond) + beyond * least))

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


class Root(NamedTuple):
    """-sum sqrt v"""

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return math.inf

    def repaired(self, a: FloatArray) -> FloatArray:
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

    def part(self, block: Block) -> Part:
        """Steep next to 0, where the interval of v is taken as it is."""
        v, off, a, _ = block
        roots = np.sqrt(v)
        below, above = np.sqrt(np.maximum(v - off, 0.0)), np.sqrt(v + off)
        moved = np.maximum(roots - below, above - roots) + EPS * roots
        beside = roots - 1 / (2 * a)
        beside_off = moved + 2 * EPS / a
        excess = a * beside**2
        wide = a * (2 * np.abs(beside) + beside_off) * beside_off + 4 * EPS * excess
        return Part(total(-roots, moved), total(excess, wide))

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


class Bounded(NamedTuple):
    """c f(r), f(x) = x - 1 - log x: v may not be above 1 (similar pairs), or not below, or costs what f says.

    Rows that keep the bound have r = 1, the others r = v. A price is not positive where v may not be above 1, else not
    negative; b = 1 + a/c > 0, and phi(v) + a v is least at r = 1/b. It is convex in v, with the slope c (b - 1/r).
    """

    c: Any  # a float, or a fraction for exact arithmetic
    above: bool  # v above 1 costs; else v below 1

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return math.inf

    def repaired(self, a: FloatArray) -> FloatArray:
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
        return sharp_total(terms, self.c * EPS * np.abs(x) / (1 + x) + 4 * EPS * np.abs(terms))

    def ray(self, a: FloatArray) -> Ray:
        """Until a price is -c."""
        x = a[a != 0] / self.c
        longest = -1 / float(x.min()) * (1 - 4 * EPS) if self.above and len(x) else math.inf
        return Ray(lambda t: self.c * float(np.log1p(t * x).sum()), longest)

    def part(self, block: Block) -> Part:
        """Rows that may be at either side have the slope of the worse."""
        v, off, a = block.v, block.off, block.a
        x = a / self.c
        b, wrong = 1 + x, EPS * np.abs(x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            r, inverse, low, high = self._kept(v), *(1 / self._kept(end) for end in (v, v - off, v + off))
            low = np.where(v > off, low, math.inf)
            slope = np.maximum(np.abs(1 - low), np.abs(1 - high))
            f = away(r)
            value = sharp_total(self.c * f, self.c * (slope * off + 8 * EPS * (f + np.abs(r - 1))))
            y, share = r * b, 4 * EPS + 2 * wrong / b
            own = away(y)
            excess = self.c * own + a * (v - r)
            slope = np.maximum(np.abs(b - low), np.abs(b - high)) + wrong + 4 * EPS * (b + inverse)
            moved = slope * off + np.abs(y - 1) * share + share**2 + 8 * EPS * (own + np.abs(y - 1))
            return Part(value, sharp_total(excess, self.c * moved + 8 * EPS * a * (v - r)))

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


class LogSumExp(NamedTuple):
    """c log sum_k exp(-v_k) of each group, over the rows that count. Prices are of all rows of all groups."""

    c: Any  # (g,) > 0, floats, or fractions for exact arithmetic
    among: Any  # (g, n) True where a row counts

    @property
    def kept(self) -> float:
        """See `Loss`."""
        return math.inf

    def repaired(self, a: FloatArray) -> FloatArray:
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

    def part(self, block: Block) -> Part:
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
        return Part(value, _of_groups(excess.sum(axis=1), wide + v.shape[1] * EPS * excess.sum(axis=1)))

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
