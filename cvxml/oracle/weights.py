"""For which value of a weight of the problem is a metric optimal?

A weight w enters the objective linearly, f(M; w) = f_0(M) + w f_1(M), and the least value over all metrics is concave
in w: so what M leaves to gain is convex in w, and its slope is f_1(M) - f_1(M*(w)), M*(w) our solution at w. The slope
rises with w; where it crosses 0 the metric leaves least. The crossing is bracketed by factors and then cut down, a
solution for each value tried; what is said of it is proved by the certificate at that value.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

WIDEST = 1e8  # the farthest factor from the weight asked for
STEP = 4.0  # the first factor that is tried
SAME = 0.01  # relative: a ratio that is so near to a number is that number
FURTHER, CLOSER = 8.0, 1.5  # factors of a step outward, and between what is inside and what is not
NEAR = 1e-4  # a bracket in log w that is narrow enough


class Tried(NamedTuple):
    """A value of the weight: what the metric leaves there, relative to the scale, and the slope of that in w."""

    weight: float
    share: float
    slope: float


def least(asked: float, most: float, at: Callable[[float], Tried]) -> Tried:
    """Where a metric leaves least.

    asked: the weight asked for, between 0 and `most`. at: raises ValueError for a weight that has no optimum.
    """

    start = _place(asked, most)
    best = here = at(asked)
    toward = -1.0 if here.slope > 0 else 1.0
    inside, u, step = start, start, math.log(STEP)
    while abs(u - start) < math.log(WIDEST):
        inside, u, step = u, u + toward * step, 2 * step
        there = at(_weight(u, most))
        best = min(best, there, key=lambda tried: tried.share)
        if there.slope * here.slope <= 0:
            break
        here = there
    else:
        return best
    return _cut(lambda u: at(_weight(u, most)), (inside, here.slope), (u, there.slope), best)


def around(best: float, most: float, enough: float, at: Callable[[float], Tried]) -> tuple[float, float]:
    """Weights on both sides of `best` at which the metric leaves no more than `enough`, nor does it between them."""
    start, ends = _place(best, most), []
    for side in (-1.0, 1.0):
        inside, step = 0.0, NEAR
        while step < math.log(WIDEST) and at(_weight(start + side * step, most)).share <= enough:
            inside, step = step, FURTHER * step
        beyond = step
        while beyond > CLOSER * max(inside, NEAR / FURTHER):
            middle = math.sqrt(max(inside, NEAR / FURTHER) * beyond)
            if at(_weight(start + side * middle, most)).share <= enough:
                inside = middle
            else:
                beyond = middle
        ends.append(_weight(start + side * inside, most))
    return ends[0], ends[1]


def _place(weight: float, most: float) -> float:
    """log w, or the logarithm of the odds."""
    return math.log(weight) if most == math.inf else math.log(weight / (most - weight))


def _weight(u: float, most: float) -> float:
    return math.exp(u) if most == math.inf else most / (1 + math.exp(-u))


def _cut(
    at: Callable[[float], Tried],
    one: tuple[float, float],
    two: tuple[float, float],
    best: Tried,
) -> Tried:
    """Between two values of log w whose slopes have different signs, by the Illinois rule: halves of a stale slope."""
    (a, slope_a), (b, slope_b) = one, two
    for _ in range(40):
        if abs(b - a) <= NEAR or slope_a == slope_b:
            break
        share = slope_a / (slope_a - slope_b)
        u = a + min(max(share, 0.02), 0.98) * (b - a)
        tried = at(u)
        best = min(best, tried, key=lambda each: each.share)
        if tried.slope == 0:
            break
        if tried.slope * slope_b < 0:
            a, slope_a = b, slope_b
        else:
            slope_a = slope_a / 2
        b, slope_b = u, tried.slope
    return best


def ratio(weight: float, asked: float, most: float, given: Any) -> list[str]:
    """How a weight differs from that asked for, in words, where that is a number of the problem."""
    n, d = given.X.shape
    r = weight / asked if most == math.inf else weight / (most - weight) * (most - asked) / asked
    numbers = {"n": n, "d": d, "2": 2, "n^2": n * n, "n (n - 1)": n * (n - 1), "n (n - 1)/2": n * (n - 1) / 2}
    for name in ("count", "pairs"):
        count = getattr(given, name, None)
        if isinstance(count, int):
            numbers[f"the number of {name}"] = count
    for name, number in numbers.items():
        if number > 1 and abs(math.log(r / number)) < SAME:
            return [f"the ratio is {name}"]
        if number > 1 and abs(math.log(r * number)) < SAME:
            return [f"the ratio is 1/{name}"]
    return []
