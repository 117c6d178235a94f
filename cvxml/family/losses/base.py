"""Convex losses phi of the family, each with a concave conjugate k: phi(v) >= k(a) - a v for every v and every a.

Example: the hinge phi(v) = c [1 - v]_+ has k(a) = a for 0 <= a <= c, so c [1 - v]_+ >= a - a v.

v (t,) has one entry per row: a squared distance, or a difference of two. a (t,) are the dual variables of the rows.
[x]_+ = max(x, 0). A loss defines its domain, the value phi(v), the conjugate k(a), and the excess
phi(v) - k(a) + a v. The excess is the part of the duality gap that is due to this loss. It is a sum of terms >= 0, so
it keeps its leading digits when it is small. Each formula is written once, for floats, enclosures and exact numbers
(numbers/vocabulary.py).

| loss                        | k(a)             | domain      | excess                                       |
| hinge c [1-v]_+             | sum a            | 0 <= a <= c | sum (c-a) [1-v]_+ + a [v-1]_+                |
| squared hinge c [1-v]_+^2   | sum a - a^2/(4c) | a >= 0      | sum c ([1-v]_+ - a/(2c))^2 + a [v-1]_+       |
| smoothed hinge of width g   | sum a - g a^2/2  | 0 <= a <= 1 | sum g/2 (p-a)^2 + (1-a)[1-g-v]_+ + a [v-1]_+ |
| straight: c sum v           | 0                | a = -c      | 0                                            |
| least: -min v               | 0                | simplex     | sum a (v - min v)                            |
| root: -sum sqrt v           | -sum 1/(4a)      | a > 0       | sum a (sqrt v - 1/(2a))^2                    |
| log sum exp: c log sum e^-v | -sum a log(a/c)  | sum a = c   | sum p - a - a log(p/a)                       |
| bounded: sum c f(r)         | sum c log b      | b > 0       | sum c f(r b) + a (v - r)                     |

p are the dual variables with excess 0 at v. Log sum exp: p = c e^-v / sum e^-v.
Smoothed hinge: p = min([1-v]_+ / g, 1).
Bounded: f(x) = x - 1 - log x, b = 1 + a/c, and r = v where v violates its bound 1, else r = 1.
groups.py and residual.py have more losses.
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
from cvxml.numbers.vocabulary import exact, like, square, total

NONE = Fraction(0)
ROWS = 2**15  # exact rows handled at a time
SHARES = 128  # binary digits of an exact dual variable that is rounded
MIN_SHARE = 1e-100  # smallest dual variable that must be positive, relative to the largest one
MAX_DUAL = 1e100  # largest dual variable; sums of larger ones could overflow
BELOW_ONE = 1 - 1e-6  # a dual variable at or beyond an open limit becomes this fraction of the limit


class ValueAndExcess(NamedTuple):
    """phi(v) and the excess phi(v) - k(a) + a v, summed over some rows, each with a bound of its rounding error."""

    value: Approximate
    excess: Approximate


class ConjugateOnRay(NamedTuple):
    """The concave function t -> k(t a), t > 0, for fixed dual variables a.

    longest: t a is in the domain for 0 < t <= longest; 0 if only t = 1 is allowed.

    against: maps a slope to the t with the largest k(t a) - slope t; None without a closed form.
    """

    value: Callable[[float], float]
    longest: float  # t a is in the domain for 0 < t <= longest; 0 if that holds for t = 1 only
    # slope -> the t that maximizes k(t a) - slope t; None without a closed form
    against: Callable[[float], float] | None = None


def together(rays: Sequence[ConjugateOnRay]) -> ConjugateOnRay:
    """The function t -> sum of k(t a) over several losses, up to the t where the first one leaves its domain."""
    if len(rays) == 1:
        return rays[0]
    return ConjugateOnRay(lambda t: sum(ray.value(t) for ray in rays), min(ray.longest for ray in rays))


FIXED = ConjugateOnRay(lambda t: 0.0, 0.0)  # the domain contains t a for t = 1 only


class Box(NamedTuple):
    """The domain low <= a <= high of a loss with k(a) = sum a - width/2 ||a||^2, and low <= 0 <= high.

    The solver in solvers/box_dual.py needs this form.
    """

    low: float
    high: float
    width: float = 0.0


class Sensitivity(NamedTuple):
    """How much each dual variable changes near an optimum.

    w (t,): if v of a row grows by x, its dual variable falls by about w x.

    group (t,): the group of each row, if the dual variables of a group have a fixed sum; else None.
    """

    w: FloatArray
    group: IntArray | None = None


@runtime_checkable
class Sensitive(Protocol):
    """A loss that can estimate how its dual variables change.

    The estimate guides a search, and a proof must not use it.
    """

    def sensitivity(self, a: FloatArray, room: float) -> Sensitivity:
        """The sensitivity of the dual variables `a` (t,) near an optimum.

        room > 0: how much the objective may grow. Losses with a kink, where the second derivative does not exist, use
        it: their sensitivity is proportional to 1 / room.
        """


class Loss(ABC):
    """A convex loss phi. A subclass is a frozen dataclass of its constants: floats, or fractions for exact mode.

    `value`, `conjugate` and `excess` are formulas over numbers/vocabulary.py, for floats, enclosures and exact numbers.
    `part` and `bound` evaluate them in enclosures.

    inactive_above: a row with a = 0 and v >= this adds 0 to value and excess. is_sum_over_rows: True if phi(v) is a sum
    of one term for each row.
    """

    inactive_above: ClassVar[float] = math.inf  # a row with a = 0 and v >= this adds 0 to value and excess
    is_sum_over_rows: ClassVar[bool] = False  # True if phi(v) is a sum of one term per row

    @abstractmethod
    def to_domain(self, a: Any) -> Any:
        """Dual variables (t,) in the domain, near `a` (t,). `a` may hold any floats, also NaN."""

    @abstractmethod
    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a), for `a` (t,) in the domain."""

    @abstractmethod
    def value(self, v: Any) -> Any:
        """phi(v), for the values v (t,) of all rows."""

    @abstractmethod
    def conjugate(self, a: Any) -> Any:
        """k(a), for `a` (t,) in the domain."""

    @abstractmethod
    def excess(self, v: Any, a: Any) -> Any:
        """phi(v) - k(a) + a v as a sum of terms >= 0, so its error is small where the excess is small."""

    def exact_duals(self, a: Sequence[Fraction]) -> list[Fraction]:
        """Dual variables in the domain, near the fractions `a`. The input `a` is in the domain up to rounding."""
        return list(self.to_domain(np.array(a, dtype=object)))

    def exact_value(self, v: Iterable[Any], unit: Fraction) -> Any:
        """phi(v times unit), for the values v of all rows, integers or fractions.

        If phi is a sum over rows, at most `ROWS` of them are held in memory at a time.
        """
        rows, one = iter(v), exact([unit])
        if not self.is_sum_over_rows:
            return self.value(exact(rows) * one)
        chunks = iter(lambda: list(islice(rows, ROWS)), [])
        return sum((self.value(exact(chunk) * one) for chunk in chunks), exact([0])[0])

    def enclosed(self, a: FloatArray) -> Enclosure:
        """The exact dual variables that the floats `a` represent, as an enclosure. `a` is a result of `to_domain`.

        Usually they are equal to `a`. They differ from `a` by rounding if the domain requires sums that floats cannot
        attain exactly.
        """
        return Enclosure(a)

    def of_block(self, block: Block) -> Loss:
        """The loss restricted to the rows of `block`, a part of the rows that is handled at a time."""
        return self

    def bound(self, a: FloatArray) -> Approximate:
        """k(a) with its rounding error, for `a` in the domain."""
        with np.errstate(all="ignore"):
            return as_sum(self.conjugate(self.enclosed(a)))

    def part(self, block: Block) -> ValueAndExcess:
        """phi(v) and the excess, summed over the rows of `block`, each with a bound of its rounding error."""
        own, v, a = self.of_block(block), Enclosure(block.v, block.error), self.enclosed(block.a)
        with np.errstate(all="ignore"):
            value, excess = as_sum(own.value(v)), as_sum(own.excess(v, a))
        return ValueAndExcess(value, excess._replace(value=0.0) if excess.value < 0 else excess)


class BoxLoss(Loss):
    """Base of losses with k(a) = sum a - width/2 ||a||^2 on a box low <= a <= high, low <= 0 <= high."""

    @property
    @abstractmethod
    def limits(self) -> tuple[Any, Any]:
        """The ends low and high of the box, as floats or fractions."""

    @property
    def width(self) -> Any:
        return 0

    @property
    def box(self) -> Box:
        low, high = self.limits
        return Box(float(low), float(high), float(self.width))

    def to_domain(self, a: Any) -> Any:
        """Clip to the box; NaN becomes 0."""
        return clipped(a, *self.limits)

    def ray(self, a: FloatArray) -> ConjugateOnRay:
        """The function t -> k(t a) = t sum a - t^2 width/2 sum a^2, as long as t a is in the box."""
        linear, quadratic = float(a.sum()), float(a @ a) * float(self.width) / 2
        extremes = zip(self.limits, (float(a.min(initial=0.0)), float(a.max(initial=0.0))), strict=True)
        longest = min((_longest(end, extreme) for end, extreme in extremes if extreme != 0), default=1.0)
        return ConjugateOnRay(lambda t: linear * t - quadratic * t * t, longest)

    def conjugate(self, a: Any) -> Any:
        """k(a), the sum over rows of a - width/2 a^2."""
        if self.width == 0:
            return total(a)
        return total(a) - like(a, self.width, rounded=1) / 2 * total(square(a))


def _longest(end: Any, extreme: float) -> float:
    """The largest t with |t extreme| <= |end|, up to rounding: t is end / extreme, or slightly less.

    end: a limit of the box. extreme: the smallest or largest dual variable, with the sign of `end`. If rounding of the
    quotient makes |t extreme| exceed |end|, t is reduced.
    """
    t = float(end) / extreme
    return t if abs(t * extreme) <= abs(end) else t * (1 - 2 * EPS)


def as_sum(x: Enclosure) -> Approximate:
    """The midpoint of an enclosure of one number, and a bound of its error.

    The bound has room for one more rounding: that of a constant factor of the loss, from a fraction to a float.
    """
    value, error = float(x.mid), float(x.rad)
    return Approximate(value, error + 2 * EPS * abs(value) if math.isfinite(error) else math.inf)


def clipped(a: Any, low: Any, high: Any) -> Any:
    """Clip floats or fractions to [low, high]. NaN becomes 0."""
    if a.dtype != object:
        a = np.where(np.isnan(a), 0.0, a)
    return np.minimum(np.maximum(a, low), high)
