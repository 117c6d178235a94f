"""For which value of a weight of the problem is a metric optimal?

A weight w enters the objective linearly, f(M; w) = f_0(M) + w f_1(M), and the least value over all metrics is concave
in w: so what M leaves to gain is convex in w, and its slope is f_1(M) - f_1(M*(w)), M*(w) our solution at w. The slope
rises with w; where it crosses 0 the metric leaves least. The crossing is bracketed by factors and then cut down, a
solution for each value tried. Tangents bound from below what is left between two values: where that is much, the metric
is optimal for no weight, and few values are tried. What is said of a value is proved by the certificate there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

WIDEST = 1e6  # the farthest factor from the weight asked for
STEP = 4.0  # the first factor that is tried
FURTHER, CLOSER = 8.0, 1.5  # factors of a step outward, and between what is inside and what is not
NEAR = 1e-4  # a bracket in log w that is narrow enough
TRIES = 40  # to cut a bracket down
FAR = 0.1  # of the scale: what leaves more explains nothing
SAME = 0.01  # relative: a ratio that is so near to a number is that number


class Tried(NamedTuple):
    """A value of the weight: what the metric leaves there, the scale of that, and its slope in w."""

    weight: float
    gap: float
    scale: float
    slope: float

    @property
    def share(self) -> float:
        """Of the scale."""
        return self.gap / self.scale if self.scale > 0 else math.inf

    def at_least(self, weight: float) -> float:
        """What the metric leaves at another weight, by the tangent."""
        return self.gap + self.slope * (weight - self.weight)


Try = Callable[[float], Tried]


def least(asked: float, most: float, at: Try) -> Tried | None:
    """Where a metric leaves least; None where it leaves much at every weight.

    asked: the weight asked for, between 0 and `most`. at: raises ValueError for a weight that has no optimum.
    """
    here = there = at(asked)
    start, step = _place(asked, most), math.log(STEP)
    toward = -1.0 if here.slope > 0 else 1.0
    while here.slope * there.slope > 0:
        end = 0.0 if toward < 0 else most
        if math.isfinite(end) and there.at_least(end) > FAR * there.scale:
            return None
        if step > math.log(WIDEST):
            return min(here, there, key=lambda tried: tried.share)
        here, there, step = there, at(_weight(start + toward * step, most)), 2 * step
    return _between(here, there, most, at)


def _between(one: Tried, two: Tried, most: float, at: Try) -> Tried | None:
    """By the rule of false position in log w, a slope that stays being halved (Illinois)."""
    best = min(one, two, key=lambda tried: tried.share)
    slope = one.slope
    for _ in range(TRIES):
        a, b = _place(one.weight, most), _place(two.weight, most)
        if abs(b - a) <= NEAR or slope == two.slope or two.slope == 0:
            break
        if _floor(one, two) > FAR * max(one.scale, two.scale):
            return None
        share = min(max(slope / (slope - two.slope), 0.02), 0.98)
        tried = at(_weight(a + share * (b - a), most))
        best = min(best, tried, key=lambda each: each.share)
        if tried.slope * two.slope < 0:
            one, slope = two, two.slope
        else:
            slope /= 2
        two = tried
    return best


def _floor(one: Tried, two: Tried) -> float:
    """The least that may be left between two weights whose slopes have different signs."""
    across = one.slope - two.slope
    weight = (two.gap - one.gap + one.slope * one.weight - two.slope * two.weight) / across
    return one.at_least(weight)


def around(best: float, most: float, enough: float, at: Try) -> tuple[float, float]:
    """Weights on both sides of `best` at which the metric leaves no more than `enough`, nor does it between them."""

    def fits(distance: float) -> bool:
        return at(_weight(_place(best, most) + distance, most)).share <= enough

    ends = []
    for side in (-1.0, 1.0):
        inside, beyond = 0.0, NEAR
        while beyond < math.log(WIDEST) and fits(side * beyond):
            inside, beyond = beyond, FURTHER * beyond
        while inside and beyond > CLOSER * inside:
            middle = math.sqrt(inside * beyond)
            if fits(side * middle):
                inside = middle
            else:
                beyond = middle
        ends.append(_weight(_place(best, most) + side * inside, most))
    return ends[0], ends[1]


def _place(weight: float, most: float) -> float:
    """log w, or the logarithm of the odds."""
    return math.log(weight) if most == math.inf else math.log(weight / (most - weight))


def _weight(u: float, most: float) -> float:
    return math.exp(u) if most == math.inf else most / (1 + math.exp(-u))


def ratio(weight: float, asked: float, most: float, given: Any) -> list[str]:
    """How a weight differs from that asked for, in words, where that is a number of the problem."""
    n, d = given.X.shape
    r = weight / asked if most == math.inf else weight / (most - weight) * (most - asked) / asked
    numbers = {"n": n, "d": d, "2": 2, "n^2": n * n, "n (n - 1)": n * (n - 1), "n (n - 1)/2": n * (n - 1) / 2}
    count = getattr(given, "count", None)
    if isinstance(count, int):
        numbers["the number of triplets"] = count
    for name, number in numbers.items():
        if number > 1 and abs(math.log(r / number)) < SAME:
            return [f"the ratio is {name}"]
        if number > 1 and abs(math.log(r * number)) < SAME:
            return [f"the ratio is 1/{name}"]
    return []
