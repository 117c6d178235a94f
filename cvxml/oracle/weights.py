"""For which value of a weight of the problem is a metric optimal?

A weight w enters the objective linearly, f(M; w) = f_0(M) + w f_1(M), and the least value over all metrics is concave
in w: so what M leaves to gain is convex in w, and its slope is f_1(M) - f_1(M*(w)), M*(w) our solution at w. The slope
rises with w; where it crosses 0 the metric leaves least. The crossing is bracketed by factors and then cut down, a
solution for each value tried. Tangents bound from below what is left between two values: where that is much, the metric
is optimal for no weight, and few values are tried. What is said of a value is proved by the certificate there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any, NamedTuple

from scipy.optimize import minimize_scalar

from cvxml.core.misreading import FAR

WIDEST = 1e6  # the farthest factor from the weight asked for
STEP = 4.0  # the first factor that is tried
BRACKET_WIDTH = 1e-4  # the search over log w ends at a bracket of this width
TRIES = 40  # to cut a bracket down
LEFT = 1.2  # times what is certainly left: no weight that is much better is to be found
# tries for each end, the factor of a step outward, and the final ratio between a point outside and one inside
EDGE, FURTHER, CLOSER = 8, 8.0, 1.5
DOUBLE = 2.0  # ratio of the weights that `least_share` tries first
DOUBLINGS = 6  # most steps by this ratio in one direction
ROUND = 8  # most weights that one round of the search between them tries
BESIDE = 0.02  # the search stops if the best of the first weights has a larger relative gap
PROMISING = 1e-2  # after the first round the gap must be below this share of the gap at the user's weight
DIGITS = 6  # of an end
SAME = 0.01  # relative: a ratio that is so near to a number is that number


class Tried(NamedTuple):
    """A value of the weight: what the metric leaves there at most, the scale of that, and its slope in w."""

    weight: float
    gap: float
    scale: float
    slope: float
    rounding: float = 0.0  # inf where nothing is proved

    @property
    def share(self) -> float:
        """Of the scale, rounding counted."""
        return (max(self.gap, 0.0) + self.rounding) / self.scale if self.scale > 0 else math.inf

    def at_least(self, weight: float) -> float:
        """What the metric leaves at another weight, by the tangent."""
        return self.gap + self.slope * (weight - self.weight)


Try = Callable[[float], Tried]


def least(asked: float, most: float, enough: float, at: Try) -> tuple[Tried, ...]:
    """Values on the way to where a metric leaves least; none where it leaves much at every weight.

    asked: the weight asked for, between 0 and `most`. enough: a share of the scale that is next to nothing. at: raises
    ValueError for a weight that has no optimum.
    """
    tried = [at(asked)]
    start, step = _place(asked, most), math.log(STEP)
    toward = -1.0 if tried[0].slope > 0 else 1.0
    while tried[0].slope * tried[-1].slope > 0:
        end, last = 0.0 if toward < 0 else most, tried[-1]
        if math.isfinite(end) and last.at_least(end) > FAR * last.scale:
            return ()
        if step > math.log(WIDEST):
            return tuple(tried)
        tried.append(at(_weight(start + toward * step, most)))
        step *= 2
    return (*tried, *_between(tried[-2:], most, enough, at)) if len(tried) > 1 else tuple(tried)


def _between(ends: Sequence[Tried], most: float, enough: float, at: Try) -> Iterator[Tried]:
    """By the rule of false position in log w, a slope that stays being halved (Illinois)."""
    one, two = ends
    slope = one.slope
    for _ in range(TRIES):
        a, b = _place(one.weight, most), _place(two.weight, most)
        floor, best = _floor(one, two), min(one.share, two.share)
        if abs(b - a) <= BRACKET_WIDTH or slope == two.slope or two.slope == 0 or best <= enough:
            return
        if floor > FAR * max(one.scale, two.scale) or min(one.gap, two.gap) <= LEFT * floor:
            return
        share = min(max(slope / (slope - two.slope), 0.02), 0.98)
        tried = at(_weight(a + share * (b - a), most))
        yield tried
        if tried.slope * two.slope < 0:
            one, slope = two, two.slope
        else:
            slope /= 2
        two = tried


def _floor(one: Tried, two: Tried) -> float:
    """The least that may be left between two weights whose slopes have different signs."""
    across = one.slope - two.slope
    weight = (two.gap - one.gap + one.slope * one.weight - two.slope * two.weight) / across
    return one.at_least(weight)


def around(tried: Sequence[Tried], most: float, enough: float, at: Try) -> tuple[float, float]:
    """Weights on both sides of the best tried at which the metric is proved to leave no more than `enough`.

    What it leaves is convex in the weight: as a number, it is no more between them than at one of them. They are not
    the farthest that do, but not much nearer.
    """
    best = min(tried, key=lambda each: each.share)
    ends = []
    for side in (-1.0, 1.0):
        known = [
            (side * (_place(each.weight, most) - _place(best.weight, most)), each.share) for each in tried
        ]
        ends.append(
            _weight(_place(best.weight, most) + side * _end(best, side, known, most, enough, at), most)
        )
    return ends[0], ends[1]


def _end(
    best: Tried, side: float, known: list[tuple[float, float]], most: float, enough: float, at: Try
) -> float:
    """How far from the best one may go on one side. known: distances on that side, and what is left there."""
    inside, left = max(
        (each for each in known if each[0] >= 0 and each[1] <= enough), default=(0.0, best.share)
    )
    outside = min((each for each in known if each[0] > inside and each[1] > enough), default=None)
    for _ in range(EDGE):
        if left >= enough / CLOSER or (outside is not None and outside[0] <= CLOSER * inside):
            break
        if outside is None:
            distance = FURTHER * max(inside, BRACKET_WIDTH)
        else:  # what is left grows with the square of the distance
            part = min(max(math.sqrt((enough - left) / (outside[1] - left)), 0.05), 0.95)
            distance = inside + part * (outside[0] - inside)
        if distance > math.log(WIDEST):
            break
        share = at(_weight(_place(best.weight, most) + side * distance, most)).share
        if share <= enough:
            inside, left = distance, share
        else:
            outside = distance, share
    return inside


def least_share(asked: float, most: float, enough: float, share: Callable[[float], float]) -> float | None:
    """Return the weight with the smallest relative gap `share`, for a share that need not be convex in the weight.

    Returns None if the smallest gap found is not small enough. Weights that differ by factors of `DOUBLE` are tried
    first, so that a margin of 2 or 1/2 is found at once.
    """
    start, step, known = _place(asked, most), math.log(DOUBLE), dict[float, float]()

    def at(u: float) -> float:
        if u not in known:
            known[u] = share(_weight(u, most))
        return known[u]

    best = min((start, start - step, start + step), key=at)
    toward = best - start
    while toward and at(best + toward) < at(best) and abs(best - start) < DOUBLINGS * step:
        best += toward
    if at(best) > BESIDE:
        return None
    for width, part in ((step, PROMISING), (step / 10, 0.0)):
        if at(best) > enough:
            bounds, options = (best - width, best + width), {"xatol": BRACKET_WIDTH * width, "maxiter": ROUND}
            minimize_scalar(at, bounds=bounds, method="bounded", options=options)
            best = min(known, key=at)
        if at(best) > max(part * at(start), enough if part else FAR):
            return None
    return _weight(best, most)


def _place(weight: float, most: float) -> float:
    """log w, or the logarithm of the odds."""
    return math.log(weight) if most == math.inf else math.log(weight / (most - weight))


def _weight(u: float, most: float) -> float:
    return math.exp(u) if most == math.inf else most / (1 + math.exp(-u))


def inward(ends: tuple[float, float]) -> tuple[float, float]:
    """The ends with as many digits as are shown: no further out than they are."""
    low, high = (
        float(Context(DIGITS, rounding).create_decimal_from_float(end))
        for end, rounding in zip(ends, (ROUND_CEILING, ROUND_FLOOR), strict=True)
    )
    return low, high


def between(low: float, high: float, most: float) -> float:
    """The middle of an interval of weights."""
    return _weight((_place(low, most) + _place(high, most)) / 2, most)


def ratio(ends: tuple[float, float], asked: float, most: float, given: Any) -> list[str]:
    """How weights differ from that asked for, in words, where that is a number of the problem."""
    n, d = given.X.shape
    low, high = (_place(weight, most) - _place(asked, most) for weight in ends)
    numbers = {"n": n, "d": d, "2": 2, "n^2": n * n, "n (n - 1)": n * (n - 1), "n (n - 1)/2": n * (n - 1) / 2}
    count = getattr(given, "count", None)
    if isinstance(count, int):
        numbers["the number of triplets"] = count
    for name, number in numbers.items():
        if number > 1:
            for factor, said in ((math.log(number), name), (-math.log(number), f"1/{name}")):
                if low - SAME < factor < high + SAME:
                    return [f"the ratio is {said}"]
    return []
