"""Find the value of a weight of the problem for which a given metric M is optimal.

A weight w enters the objective linearly: f(M; w) = f_0(M) + w f_1(M). The minimum over all metrics is a concave
function of w. So the gap of M is convex in w, with the slope f_1(M) - f_1(M*(w)), where M*(w) is our solution at w.
This slope increases with w, and the gap is smallest where it is 0.

The search steps away from the user's weight by growing factors until the slope changes its sign. Then it shrinks the
bracket, with one solution for each tried value. Tangents bound the gap between two values from below. If that bound is
large, M is optimal for no value of the weight, and the search ends early. The certificate at a value proves each gap
that is reported.

In all functions, `asked` is the user's weight, and `most` the upper limit of the weight: inf, or a number. Steps are
taken in log w, or in the log odds log(w / (most - w)) if `most` is a number. `at` is a function that solves the problem
for a weight and returns the gap of M there, as `Tried`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any, NamedTuple

from scipy.optimize import minimize_scalar

from cvxml.core.misreading import FAR

WIDEST = 1e6  # largest factor between a tried weight and the user's weight
STEP = 4.0  # factor of the first step
BRACKET_WIDTH = 1e-4  # the search over log w ends at a bracket of this width
TRIES = 40  # most tries to shrink a bracket
NEAR_FLOOR = 1.2  # the search ends if the gap is at most this many times its lower bound over all weights
# tries for each end, the factor of a step outward, and the final ratio between a point outside and one inside
EDGE, FURTHER, CLOSER = 8, 8.0, 1.5
DOUBLE = 2.0  # ratio of the weights that `least_share` tries first
DOUBLINGS = 6  # most steps by this ratio in one direction
ROUND = 8  # most weights that one round of the search between them tries
BESIDE = 0.02  # the search stops if the best of the first weights has a larger relative gap
PROMISING = 1e-2  # after the first round the gap must be below this share of the gap at the user's weight
DIGITS = 6  # significant digits of a reported end
# tolerance in the logarithm: a ratio this close to an interval, or to one weight, is reported as that number
SAME, ONE_WEIGHT = 1e-4, 1e-3
NARROW = 0.1  # in logarithms: the largest width of an interval that tells a ratio


class Tried(NamedTuple):
    """A tried value of the weight: the gap of the metric there, the scale, and the slope of the gap in the weight.

    rounding: the rounding error of the gap; inf if the gap is not proved.
    """

    weight: float
    gap: float
    scale: float
    slope: float
    rounding: float = 0.0  # inf if the gap is not proved

    @property
    def share(self) -> float:
        """The relative gap, with rounding added."""
        return (max(self.gap, 0.0) + self.rounding) / self.scale if self.scale > 0 else math.inf

    def at_least(self, weight: float) -> float:
        """Return a lower bound of the gap at another weight, from the tangent at this one."""
        return self.gap + self.slope * (weight - self.weight)


Try = Callable[[float], Tried]


def least(asked: float, most: float, enough: float, at: Try) -> tuple[Tried, ...]:
    """Return the values of the weight that were tried on the way to the smallest gap, in the order of the tries.

    Returns an empty tuple if a tangent proves a relative gap above `FAR` at all weights where the gap may be smaller
    than at `asked`. The steps away from `asked` end at a factor of `WIDEST`.

    0 < asked < most. enough: the search stops at this relative gap. A ValueError of `at`, for a problem without an
    optimum, is passed on.
    """
    tried = [at(asked)]
    start, step = _logit(asked, most), math.log(STEP)
    toward = -1.0 if tried[0].slope > 0 else 1.0
    furthest = math.log(WIDEST)
    while tried[0].slope * tried[-1].slope > 0:
        end, last = 0.0 if toward < 0 else most, tried[-1]
        if math.isfinite(end) and last.at_least(end) > FAR * last.scale:
            return ()
        if step >= 2 * furthest:
            return tuple(tried)
        tried.append(at(_weight(start + toward * min(step, furthest), most)))
        step *= 2
    return (*tried, *_between(tried[-2:], most, enough, at)) if len(tried) > 1 else tuple(tried)


def _between(ends: Sequence[Tried], most: float, enough: float, at: Try) -> Iterator[Tried]:
    """Yield the values tried between two ends, by false position with halved slopes (Illinois method).

    ends: two tried values at which the slopes have different signs. enough: the search stops at this relative gap.
    """
    one, two = ends
    slope = one.slope
    for _ in range(TRIES):
        a, b = _logit(one.weight, most), _logit(two.weight, most)
        floor, best = _floor(one, two), min(one.share, two.share)
        if abs(b - a) <= BRACKET_WIDTH or slope == two.slope or two.slope == 0 or best <= enough:
            return
        if floor > FAR * max(one.scale, two.scale) or min(one.gap, two.gap) <= NEAR_FLOOR * floor:
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
    """Return a lower bound of the gap at all weights between two tried ones, from both tangents."""
    across = one.slope - two.slope
    weight = (two.gap - one.gap + one.slope * one.weight - two.slope * two.weight) / across
    return one.at_least(weight)


def around(tried: Sequence[Tried], most: float, enough: float, at: Try) -> tuple[float, float]:
    """Return two weights, below and above the best tried one, with relative gaps proved to be at most `enough`.

    The gap is convex in the weight, so between the two weights the absolute gap is at most the larger of theirs.
    Weights slightly outside the two may also have relative gaps of at most `enough`.
    """
    best = min(tried, key=lambda each: each.share)
    ends = []
    for side in (-1.0, 1.0):
        known = [
            (side * (_logit(each.weight, most) - _logit(best.weight, most)), each.share) for each in tried
        ]
        ends.append(
            _weight(_logit(best.weight, most) + side * _end(best, side, known, most, enough, at), most)
        )
    return ends[0], ends[1]


def _end(
    best: Tried, side: float, known: list[tuple[float, float]], most: float, enough: float, at: Try
) -> float:
    """Return a distance from the best weight, on one side, at which the relative gap is at most `enough`.

    best: the tried value with the smallest relative gap. side: -1 for smaller and 1 for larger weights. known: pairs
    (distance on this side, relative gap) that were computed before. Distances are differences of log w or of log odds.
    """
    inside, left = max(
        (each for each in known if each[0] >= 0 and each[1] <= enough), default=(0.0, best.share)
    )
    outside = min((each for each in known if each[0] > inside and each[1] > enough), default=None)
    for _ in range(EDGE):
        if left >= enough / CLOSER or (outside is not None and outside[0] <= CLOSER * inside):
            break
        if outside is None:
            distance = FURTHER * max(inside, BRACKET_WIDTH)
        else:  # the gap grows about as the square of the distance
            part = min(max(math.sqrt((enough - left) / (outside[1] - left)), 0.05), 0.95)
            distance = inside + part * (outside[0] - inside)
        if distance > math.log(WIDEST):
            break
        share = at(_weight(_logit(best.weight, most) + side * distance, most)).share
        if share <= enough:
            inside, left = distance, share
        else:
            outside = distance, share
    return inside


def least_share(asked: float, most: float, enough: float, share: Callable[[float], float]) -> float | None:
    """Return the weight with the smallest relative gap found, for a gap that need not be convex in the weight.

    share: a function that returns the relative gap at a weight. enough: the search stops at this relative gap.

    Weights that differ from `asked` by factors of `DOUBLE` are tried first, so a weight that is wrong by a factor of 2
    or 1/2 is found at once. Two rounds of a search around the best of them follow. Returns None if the smallest gap is
    above `BESIDE` before these rounds. Returns None too if, after the first round, it is above both `enough` and
    `PROMISING` times the gap at `asked`.
    """
    start, step, known = _logit(asked, most), math.log(DOUBLE), dict[float, float]()

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
    for width in (step, step / 10):
        if at(best) > enough:
            bounds, options = (best - width, best + width), {"xatol": BRACKET_WIDTH * width, "maxiter": ROUND}
            minimize_scalar(at, bounds=bounds, method="bounded", options=options)
            best = min(known, key=at)
        if at(best) > max(PROMISING * at(start), enough):
            return None
    return _weight(best, most)


def _logit(weight: float, most: float) -> float:
    """Return log w, or the log odds log(w / (most - w)) if the weight has an upper limit."""
    return math.log(weight) if most == math.inf else math.log(weight / (most - weight))


def _weight(u: float, most: float) -> float:
    return math.exp(u) if most == math.inf else most / (1 + math.exp(-u))


def inward(ends: tuple[float, float]) -> tuple[float, float]:
    """Round both ends of an interval to `DIGITS` digits, toward the inside of the interval."""
    low, high = (
        float(Context(DIGITS, rounding).create_decimal_from_float(end))
        for end, rounding in zip(ends, (ROUND_CEILING, ROUND_FLOOR), strict=True)
    )
    return low, high


def between(low: float, high: float, most: float) -> float:
    """Return the middle of the interval [low, high] of weights.

    If `most` is inf, it is the geometric mean of low and high; else the weight with the mean of their log odds.
    """
    return _weight((_logit(low, most) + _logit(high, most)) / 2, most)


def ratio(ends: tuple[float, float], asked: float, most: float, given: Any) -> list[str]:
    """Return a list with one sentence if the weights differ from `asked` by a factor such as n or 1/n; else [].

    ends: an interval of weights. given: the checked inputs, with points (n, d). The interval is divided by `asked`; if
    `most` is a number, odds w / (most - w) are divided instead. Known factors are 2, n, d, n^2, n (n - 1),
    n (n - 1)/2, the number of triplets, and their inverses. The sentence names the known factor in the divided
    interval. If the interval contains none of them, or more than one, the list is empty. For a wide interval, the
    sentence says only that the factor is in the interval. If the interval is one weight, the factor may be off by the
    share `ONE_WEIGHT`.
    """
    n, d = given.X.shape
    low, high = (_logit(weight, most) - _logit(asked, most) for weight in ends)
    numbers = {"n": n, "d": d, "2": 2, "n^2": n * n, "n (n - 1)": n * (n - 1), "n (n - 1)/2": n * (n - 1) / 2}
    count = getattr(given, "count", None)
    if isinstance(count, int):
        numbers["the number of triplets"] = count
    room = SAME if low < high else ONE_WEIGHT
    fitting = {
        factor: said
        for name, number in numbers.items()
        if number > 1
        for factor, said in ((math.log(number), name), (-math.log(number), f"1/{name}"))
        if low - room < factor < high + room
    }
    if len(fitting) != 1:
        return []
    (said,) = fitting.values()
    return [f"the ratio is {said}" if high - low <= NARROW else f"the ratio {said} is in the interval"]
