"""Losses phi of the family, each with its conjugate bound k: phi(v) >= k(a) - a v for all dual variables a and all v.

A loss states its domain, the value phi, the conjugate k, and the excess phi(v) - k(a) + a v. The excess is the part of
the gap that these rows have. It is a sum of terms that are not negative, so it is precise where it is small. Each
formula is written once, for floats, enclosures and exact numbers (numbers/vocabulary.py).

| loss                        | k(a)                     | domain       | excess                              |
| hinge c [1-v]_+             | sum a                    | 0 <= a <= c  | (c-a) [1-v]_+ + a [v-1]_+           |
| squared hinge c [1-v]_+^2   | sum a - a^2/(4c)         | a >= 0       | c ([1-v]_+ - a/(2c))^2 + a [v-1]_+  |
| smoothed hinge of width g   | sum a - g a^2/2          | 0 <= a <= 1  | g/2 (p-a)^2, and what hinges leave  |
| straight: c sum v           | 0                        | a = -c       | 0                                   |
| least: -min v               | 0                        | the simplex  | sum a (v - min v)                   |
| root: -sum sqrt v           | -sum 1/(4a)              | a > 0        | sum a (sqrt v - 1/(2a))^2           |
| log sum exp: c log sum e^-v | -sum a log(a/c)          | sum a = c    | sum p - a - a log(p/a)              |
| bounded: sum c f(r)         | sum c log b              | b > 0        | sum c f(r b) + a (v - r)            |

with f(x) = x - 1 - log x, b = 1 + a/c, and r = 1 where v keeps its bound, else r = v. p are the dual variables with
excess 0 at v: c e^-v / sum e^-v for log sum exp, and [1-v]_+ / g, at most 1, for the smoothed hinge. For the smoothed
hinge the hinges leave (1-a) [1-g-v]_+ + a [v-1]_+.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import islice
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.rows.base import Block
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.sums import Approximate
from cvxml.numbers.vocabulary import exact

NONE = Fraction(0)
ROWS = 2**15  # exact rows at a time
SHARES = 128  # bits of an exact price
MIN_SHARE = 1e-100  # a dual variable that must be positive is at least this share of the largest
MAX_DUAL = 1e100  # the largest dual variable
BELOW_ONE = 1 - 1e-6  # of its limit: a dual variable at the limit or beyond becomes this


class ValueAndExcess(NamedTuple):
    """The share of some rows in the objective and in the gap."""

    value: Approximate
    excess: Approximate


class ConjugateOnRay(NamedTuple):
    """k of multiples t of prices, concave in t."""

    value: Callable[[float], float]
    longest: float  # t up to which they are in the domain
    # t with the largest k - slope t, where that has a formula
    against: Callable[[float], float] | None = None


def together(rays: Sequence[ConjugateOnRay]) -> ConjugateOnRay:
    """The sum of the rays of several losses, for the same t."""
    if len(rays) == 1:
        return rays[0]
    return ConjugateOnRay(lambda t: sum(ray.value(t) for ray in rays), min(ray.longest for ray in rays))


FIXED = ConjugateOnRay(lambda t: 0.0, 0.0)  # no multiple is in the domain


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


class Loss(ABC):
    """A loss phi. A subclass is a frozen dataclass of its constants, which are floats, or fractions for exact mode.

    `value`, `conjugate` and `excess` are formulas over numbers/vocabulary.py: they hold for floats, for enclosures and
    for exact numbers. `part` and `bound` evaluate them in enclosures.
    """

    inactive_above: ClassVar[float] = math.inf  # a row with a = 0 and v >= this has value 0 and excess 0
    is_sum_over_rows: ClassVar[bool] = False  # True if phi is the sum of the phi of each row alone

    @abstractmethod
    def to_domain(self, a: Any) -> Any:
        """Dual variables in the domain near `a` (t,), any floats. `exact_duals` does the same for fractions."""

    @abstractmethod
    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """k of the multiples of dual variables."""

    @abstractmethod
    def value(self, v: Any) -> Any:
        """phi(v) over all rows v (t,)."""

    @abstractmethod
    def conjugate(self, a: Any) -> Any:
        """k(a) of dual variables (t,) in the domain."""

    @abstractmethod
    def excess(self, v: Any, a: Any) -> Any:
        """phi(v) - k(a) + a v as a sum of terms >= 0. Its error shrinks with the excess itself."""

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Fractions in the domain near `a`, which are in it up to rounding."""
        return list(self.to_domain(np.array(a, dtype=object)))

    def exact_value(self, v: Iterable[Any], unit: Fraction) -> Any:
        """phi of rows that are integers or fractions times a unit. A sum over rows needs memory for `ROWS` of them."""
        rows, one = iter(v), exact([unit])
        if not self.is_sum_over_rows:
            return self.value(exact(rows) * one)
        chunks = iter(lambda: list(islice(rows, ROWS)), [])
        return sum((self.value(exact(chunk) * one) for chunk in chunks), exact([0])[0])

    def enclosed(self, a: FloatArray) -> Enclosure:
        """The dual variables that the floats `a`, the result of `to_domain`, stand for."""
        return Enclosure(a)

    def of_block(self, block: Block) -> Loss:
        """The loss on the rows of one block."""
        return self

    def bound(self, a: FloatArray) -> Approximate:
        """k(a) with its rounding error."""
        with np.errstate(all="ignore"):
            return as_sum(self.conjugate(self.enclosed(a)))

    def part(self, block: Block) -> ValueAndExcess:
        """phi(v) and the excess of the rows of a block, each with its rounding error."""
        own, v, a = self.of_block(block), Enclosure(block.v, block.error), self.enclosed(block.a)
        with np.errstate(all="ignore"):
            value, excess = as_sum(own.value(v)), as_sum(own.excess(v, a))
        return ValueAndExcess(value, excess._replace(value=0.0) if excess.value < 0 else excess)


def as_sum(x: Enclosure) -> Approximate:
    """An enclosure of one number. The constant that multiplies a loss may be the float nearest to a fraction."""
    value, error = float(x.mid), float(x.rad)
    return Approximate(value, error + 2 * EPS * abs(value) if math.isfinite(error) else math.inf)


def clipped(a: Any, low: Any, high: Any) -> Any:
    """Clip floats or fractions. NaN becomes 0."""
    if a.dtype != object:
        a = np.where(np.isnan(a), 0.0, a)
    return np.minimum(np.maximum(a, low), high)
