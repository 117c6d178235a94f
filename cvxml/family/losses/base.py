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

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.rows.base import Block
from cvxml.numbers.sums import Sum

NONE = Fraction(0)
SHARES = 128  # bits of an exact price
LEAST = 1e-100  # of the largest price: what one that must be positive is at least
MOST = 1e100  # a price beyond this is as good as infinite
BELOW_ONE = 1 - 1e-6  # of its limit: what a price at or beyond it becomes


class ValueAndExcess(NamedTuple):
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
    def inactive_above(self) -> float:
        """A row without a price whose v is no less has no part in value and excess."""

    def to_domain(self, a: FloatArray) -> FloatArray:
        """The prices in the domain that `a` (t,), any numbers, name."""

    def conjugate(self, a: FloatArray) -> Sum:
        """k(a), prices of the domain."""

    def ray(self, a: FloatArray) -> Ray:
        """k of the multiples of prices."""

    def part(self, block: Block) -> ValueAndExcess:
        """Of the rows of a block."""

    def exactly(self, v: Iterable[Fraction]) -> Any:
        """phi, of all rows."""

    def exact_prices(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Prices in the domain, near those given, which are in it but for rounding."""

    def exact_conjugate(self, a: Sequence[Fraction]) -> Any:
        """k, of prices of the domain."""


def margins_of(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
    """v, what it and 1 - v may be off by, and a."""
    return block.v, block.off + EPS * (1 + np.abs(block.v)), block.a
