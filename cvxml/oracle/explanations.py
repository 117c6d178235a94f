"""Possible explanations of a refuted metric: misreadings, slips in writing it down, other features, other weights.

A misreading is another problem that a program may solve by mistake (core/misreading.py). Each `Explanation` holds the
gap that the metric has in the other problem. diagnose.py decides which ones are reported. The functions get a `judge`,
which solves problems within a time limit, and the refuted `metric` (d, d).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from cvxml.core.backend import SolverFailure
from cvxml.core.clock import OutOfTime
from cvxml.core.metric import FloatArray
from cvxml.core.misreading import FAR, Misreading, OtherProblem, Question, TakesTooLong
from cvxml.methods import get
from cvxml.oracle.judge import NO_ANSWER, NOTHING_KNOWN, SHRUNK, Judge, Left, at_weight
from cvxml.oracle.likeliest import improvement, left_unless_improved, likeliest
from cvxml.oracle.representation_errors import Slip, slips
from cvxml.oracle.weights import Tried, around, between, inward, least, least_share, ratio

MAX_COMBINED = 3  # number of misreadings that are combined with others and with weights
UNCHANGED = 1e-9  # two relative gaps that differ by less are equal up to rounding
SLIGHT = 0.01  # relative: a change of a number by less than this is not a different choice
MAX_STEPS = 30  # steps of a descent in two weights
SPREAD = math.log(10)  # the logarithm of the best factor is searched up to this far on both sides
STANDARD = 1e-6  # a feature is standardized if its standard deviation is 1 within this tolerance
BESIDE = 1e-5  # relative change of a metric; a number that changes with the metric was fitted
UNKNOWN = 1e-3  # relative to the objective: stands for the improvement in a problem that is not known
RESCALED = "features that were rescaled first"
WRITTEN = "slips in writing down the metric"
SAME = 1e-9  # two numbers with a smaller relative difference are equal up to rounding


class Explanation(NamedTuple):
    """A problem that a metric may solve, and the gap of the metric there.

    left: the gap. sentence: for the report. fitted: how many numbers were chosen to fit the metric. number: True if the
    problem differs from the user's only in a number.

    choices: the number of problems from which this one was chosen as the likeliest.

    slight: True if a number is close to the user's, so that the program may only have stopped early.

    again: computes the gap of another metric in the same problem; None if the explanation does not depend on the
    metric.

    fit: the metric with the fitted number, in words, for a note.

    exactly: True if it may be named only with a gap of at most the tolerance.

    of_limits: True if it explains why the matrix is not an allowed metric.
    """

    left: Left
    sentence: str
    fitted: int = 0  # numbers that were chosen to fit the metric
    number: bool = False  # True if only a number differs from the user's problem
    choices: int = 1  # number of problems from which the likeliest was chosen
    # True if the number is close to the user's: then the program may only have stopped early
    slight: bool = False
    # computes the gap of another metric in the same problem, or None if the explanation does not depend on the metric
    again: Callable[[FloatArray], Left] | None = None
    fit: str = ""  # the metric with the fitted number, for a note: "0.5 times your metric"
    exactly: bool = False  # True if it may be named only with a gap of at most the tolerance
    of_limits: bool = False  # True if it explains why the matrix is not an allowed metric


def misreadings(judge: Judge, metric: FloatArray, read: dict[str, Explanation]) -> Iterator[Explanation]:
    """Yield one explanation for each misreading in `MISREADINGS` of the method that is not in `read`.

    The likeliest ones come first (`_by_promise`), because the time may be too short for all of them.

    read: the explanations by the names of the misreadings; this function adds those that it could try in time.
    """
    new = {name: each for name, each in get(judge.method).MISREADINGS.items() if name not in read}
    for name, other in _by_promise(judge, metric, new):
        misreading = new[name]
        found = None if judge.late else _read(judge, metric, misreading, judge.itself, other=other)
        if found is None and judge.late:
            judge.leave_out(misreading.sentence)
        if misreading.sentence not in judge.left_out:
            read[name] = found or Explanation(NOTHING_KNOWN, "")
            yield read[name]


def _by_promise(
    judge: Judge, metric: FloatArray, listed: Mapping[str, Misreading]
) -> list[tuple[str, OtherProblem | None]]:
    """Return the names of the misreadings, the likeliest first, each with its problem if that is known.

    The test: how much lower is the objective of the other problem at the optimum of the user's problem than at the
    metric, relative to the objective? If it is much lower, the metric does not solve the other problem. So the order is
    by this number (`improvement`), the smallest first; a negative number counts as 0. `UNKNOWN` takes its place if it
    cannot be computed. If the method is not convex, the order stays that of `listed`.
    """
    problems: dict[str, OtherProblem | None] = dict.fromkeys(listed)
    promises = dict.fromkeys(listed, UNKNOWN)
    if judge.claim == "optimal":
        for name, misreading in listed.items():
            if misreading.problem is None or judge.late:
                continue
            with suppress(*NO_ANSWER):
                question = _question(judge, judge.itself, metric)
                other = problems[name] = _misread(judge, misreading, question, judge.itself)
                if other is not None:
                    each = metric if other.metric is None else other.metric
                    promises[name] = max(improvement(judge, each, other, -math.inf).optimum, 0.0)
    return [(name, problems[name]) for name in sorted(listed, key=lambda name: promises[name])]


def left_out_before(judge: Judge, metric: FloatArray, read: dict[str, Explanation]) -> Iterator[Explanation]:
    """Yield the explanations that were left out for lack of time, if there is time for them now.

    These explanations are misreadings, slips in writing down the metric, and other features (`of_other_features`).

    read: the explanations by the names of the misreadings, without those that were left out; this function adds those
    that it could try now.
    """
    before = judge.left_out
    tried_again = {RESCALED, WRITTEN} | {each.sentence for each in get(judge.method).MISREADINGS.values()}
    judge.left_out = [part for part in before if part not in tried_again]
    yield from misreadings(judge, metric, read)
    if WRITTEN in before:
        yield from of_representation(judge, metric)
    if RESCALED in before:
        yield from of_other_features(judge, metric)


def _read(
    judge: Judge,
    metric: FloatArray,
    misreading: Misreading,
    base: OtherProblem,
    also: str = "",
    fitted: int = 0,
    other: OtherProblem | None = None,
) -> Explanation | None:
    """Return the explanation that `metric` solves the problem `base` with a misreading in it.

    base: the user's problem, or a problem that already contains another misreading; `also` is the sentence of the other
    one. fitted: the number of fitted numbers in `base`. other: the problem that the misreading makes of `base`, if it
    is known. Returns None if the gap is not known.
    """

    def again(each: FloatArray) -> Left:
        question = _question(judge, base, each)
        if misreading.left is not None:
            return _left_of(judge, misreading.left, question)
        problem = known or _misread(judge, misreading, question, base)
        return NOTHING_KNOWN if problem is None else left_unless_improved(judge, each, problem)

    number, choices = False, 1
    known = None  # the other problem, if it does not depend on the metric; then it is solved only once
    said = f"{judge.claim} for {also}{misreading.sentence}"
    try:
        if misreading.left is None:
            question = _question(judge, base, metric)
            other = _misread(judge, misreading, question, base) if other is None else other
            if other is None:
                return None
            said += other.told
            choices = other.choices
            number = _is_number(other, base, question.metric)
            fitted += _is_fitted(misreading, question, other)
            if misreading.fits:
                said += _value(judge, other, misreading.fits)
            elif other.metric is None:
                known = other
        left = again(metric)
    except TakesTooLong:
        judge.leave_out(misreading.sentence)
        return None
    except NO_ANSWER:
        return None
    return Explanation(left, said, fitted, number, choices, again=again, exactly=misreading.exactly)


def _left_of(judge: Judge, left: Callable[[Question], float], question: Question) -> Left:
    """Return a `Left` with two relative gaps in the same problem: `share` of the metric, `nothing` of a small multiple.

    The multiple is `SHRUNK` times the metric. A metric near 0 may have a small gap only because it is near 0. Then
    `nothing` is small too. `nothing` is inf if all multiples of the metric have the same gap, or if `share` is above
    `FAR`. left: computes the relative gap.
    """

    def gap(factor: float) -> float:
        multiple = question._replace(metric=factor * question.metric)
        with judge.in_time(judge.end):
            return max(left(multiple), 0.0)  # rounding may make it negative

    share, nothing = gap(1.0), math.inf
    if share <= FAR:
        with suppress(*NO_ANSWER):
            nothing = math.inf if _has_no_scale(gap, share, question) else gap(SHRUNK)
    return Left(share, unique=judge.unique, nothing=nothing)


def _has_no_scale(gap: Callable[[float], float], share: float, question: Question) -> bool:
    """Return True if every multiple of the metric has the same gap, `share`, up to rounding.

    gap: a function from a factor to the gap of this multiple of the metric. Two multiples are tested: those in which
    the mean squared distance of the points from their mean is 1 and 1000. Their gaps differ from `share` if the metric
    has a small gap only because it is near 0.
    """
    points = np.asarray(question.X, dtype=float)
    centred = points - points.mean(axis=0)
    if question.metric.shape != (centred.shape[1],) * 2:
        return False
    size = float(np.einsum("ni,ij,nj->n", centred, question.metric, centred).mean())
    return size > 0 and all(abs(gap(mean / size) - share) <= UNCHANGED for mean in (1.0, 1000.0))


def _is_number(other: OtherProblem, base: OtherProblem, metric: FloatArray) -> bool:
    """Return True if the problems `other` and `base` differ only in numbers: parameters, or a factor of the metric.

    metric: the metric that is judged in `base`.
    """
    if other.X is not base.X or other.y is not base.y or (other.method or base.method) != base.method:
        return False
    changed = [value for name, value in other.params.items() if value is not base.params.get(name)]
    if not all(isinstance(value, float) for value in changed):
        return False
    return other.metric is base.metric or other.metric is None or _factor(other.metric, metric) is not None


def _is_fitted(misreading: Misreading, question: Question, other: OtherProblem) -> bool:
    """Return True if the changed number, or the factor of the metric, was chosen to fit the metric.

    The test: for a slightly different metric, the number changes or does not exist. Lists are not numbers, even if they
    follow from the metric or were chosen from several. question: the metric and the problem that it was judged in.

    other: the problem that the misreading makes of it.
    """
    if misreading.problem is None:
        return False
    d, size = len(question.metric), float(np.linalg.norm(question.metric))
    beside = question.metric + BESIDE * size / math.sqrt(d) * np.eye(d)
    try:
        found = misreading.problem(question._replace(metric=beside))
    except NO_ANSWER:
        return True
    if found is None:
        return True
    if other.metric is not None and found.metric is not None:
        factors = _factor(other.metric, question.metric), _factor(found.metric, beside)
        return None not in factors and not _is_same(*factors)
    return any(
        isinstance(value, float) and not _is_same(value, found.params.get(name))
        for name, value in other.params.items()
    )


def _factor(of: FloatArray, metric: FloatArray) -> float | None:
    """Return c if `of` is c times `metric`, or None if it is not a multiple."""
    if of.shape != metric.shape or not metric.any():
        return None
    c = float(np.sum(of * metric) / np.sum(metric * metric))
    return c if np.allclose(of, c * metric, rtol=SAME, atol=SAME * abs(c) * np.abs(metric).max()) else None


def _is_same(one: Any, two: Any) -> bool:
    return isinstance(one, float) and isinstance(two, float) and math.isclose(one, two, rel_tol=SAME)


def _question(judge: Judge, base: OtherProblem, metric: FloatArray) -> Question:
    at = metric if base.metric is None else base.metric
    # a gap that `Misreading.left` returns is not used for combinations
    enough = judge.enough_to_name
    optimum = judge.better if judge.claim == "optimal" and enough < math.inf else None
    return Question(
        base.X, base.y, at, judge.tol, base.params, optimum, enough, judge.seconds, judge.checked_inputs
    )


def _value(judge: Judge, other: OtherProblem, name: str) -> str:
    asked = judge.asked.module.stored(judge.given)[name]
    shown = asked if isinstance(asked, str) else f"{asked:g}"
    return f": {name} = {other.params[name]:.6g} (asked: {shown})"


def _misread(
    judge: Judge, misreading: Misreading, question: Question, base: OtherProblem
) -> OtherProblem | None:
    if misreading.several is not None:
        module = get(base.method or judge.method)
        given = question.checked(module.instance)
        found = misreading.several(question, given, module.stored(given))
        return likeliest(judge, question.metric, (each._replace(method=base.method) for each in found))
    assert misreading.problem is not None
    other = misreading.problem(question)
    return None if other is None else other._replace(method=other.method or base.method)


def two_misreadings(
    judge: Judge, metric: FloatArray, read: Mapping[str, Explanation], part: float
) -> Iterator[Explanation]:
    """Yield the explanations by two misreadings at once.

    The first one alone must give the metric a relative gap of at most `part`; of these, `_partly` chooses a few. The
    second one is any other, except those that choose the likeliest of several lists. Such a choice for each first
    misreading would fit most metrics. read: the explanations by single misreadings, by name.
    """
    listed = [*get(judge.method).MISREADINGS.values()]
    for first, base, fitted, number in _partly(judge, metric, read, part):
        for second in listed:
            if second is first or second.several is not None:
                continue
            if judge.late:
                judge.leave_out("two misreadings at once")
                return
            found = _read(judge, metric, second, base, f"{first.sentence}, and ", fitted)
            if found is not None:
                exactly = found.exactly or first.exactly
                yield found._replace(number=found.number or number, exactly=exactly)


def _partly(
    judge: Judge, metric: FloatArray, read: Mapping[str, Explanation], part: float
) -> Iterator[tuple[Misreading, OtherProblem, int, bool]]:
    """Yield the misreadings that explain `metric` in part: its relative gap in their problems is at most `part`.

    Among all misreadings in `read`, only the `MAX_COMBINED` ones with the smallest gaps are considered, the smallest
    gap first. Each one comes with its problem, the number of fitted numbers in this problem, and whether it differs
    from the user's problem only in numbers. Misreadings that solve the problem of another method are left out. The
    fields `several` and `left` of `Misreading` state problems without `problem`; these are left out too.

    read: the explanations by single misreadings, by name.
    """
    for name in sorted(read, key=lambda name: read[name].left.share)[:MAX_COMBINED]:
        misreading = get(judge.method).MISREADINGS[name]
        if read[name].left.share > part or misreading.problem is None:
            continue
        if judge.late:
            judge.leave_out("a misreading together with another one, or with another weight")
            return
        question = Question(judge.X, judge.y, metric, judge.tol, judge.params, inputs=judge.checked_inputs)
        try:
            base = _misread(judge, misreading, question, judge.itself)
        except NO_ANSWER:
            continue
        # another method has other misreadings
        if base is not None and (base.method or judge.method) == judge.method:
            fitted = int(_is_fitted(misreading, question, base))
            yield misreading, base, fitted, _is_number(base, judge.itself, metric)


def other_weights(judge: Judge, metric: FloatArray) -> Iterator[Explanation]:
    """Yield an explanation for each weight of the method, and for each pair of weights.

    A weight is a parameter that multiplies a term of the objective. The problem of the explanation has the values of
    the weights at which the relative gap of `metric` is smallest.
    """
    weights = get(judge.method).WEIGHTS
    for name in weights:
        found = None if judge.late else _at_best(judge, metric, judge.itself, name)
        if found is not None:
            yield found[1]
        elif judge.late:
            judge.leave_out(f"another value of {name}")
    for pair in combinations(weights, 2):
        try:
            if not judge.late:
                yield _two_at_best(judge, metric, pair)
        except NO_ANSWER:
            pass
        if judge.late:
            judge.leave_out(f"other values of {' and '.join(pair)}")


def multiples_at_weights(judge: Judge, metric: FloatArray) -> Iterator[Explanation]:
    """Yield an explanation for each weight of the method: c times `metric` is optimal for another value of the weight.

    c and this value are fitted together. A margin other than 1, other units and another standardization have this form.
    """
    for name in get(judge.method).WEIGHTS:
        found = None
        with suppress(*NO_ANSWER):
            found = None if judge.late else _multiple_at_weight(judge, metric, name)
        if found is not None:
            yield found
        elif judge.late:
            judge.leave_out(f"a multiple for another value of {name}")


def _multiple_at_weight(judge: Judge, metric: FloatArray, name: str) -> Explanation | None:
    """Return the explanation that a multiple of `metric` is optimal for another value of the weight `name`.

    The value is the one at which the best multiple has the smallest gap. Returns None if no value gives a small gap, or
    if the user's value is 0 or at its upper limit.
    """
    module = get(judge.method)
    most, asked = module.WEIGHTS[name], float(getattr(judge.given, name))
    if not 0 < asked < most:
        return None
    factors: dict[float, float] = {}

    def share(weight: float) -> float:
        given, _, ours = judge.at(judge.itself, name, weight)
        factors[weight] = best_factor(partial(module.fast_objective, given), metric, ours.metric)
        return judge.tried(factors[weight] * metric, judge.itself, name, weight).share

    weight = least_share(asked, most, judge.sharp / 10, share)
    if weight is None:
        return None
    factor, other = factors[weight], at_weight(judge.itself, name, weight)
    parts = [f"asked: {asked:g}", *ratio((weight, weight), asked, most, judge.given)]
    said = f"{1 / factor:.6g} times the metric that is {judge.claim} for {name} = {weight:.6g} ({'; '.join(parts)})"

    def again(each: FloatArray) -> Left:
        return judge.left(factor * each, other)

    fit = f"{factor:.6g} times your metric for {name} = {weight:.6g}"
    return Explanation(again(metric), said, 2, again=again, fit=fit)


def best_factor(objective: Callable[[FloatArray], float], metric: FloatArray, near: FloatArray) -> float:
    """Return the factor of `metric` that minimizes the convex objective.

    near: a metric with about the size of the best multiple. Raises ValueError if `metric` or `near` is 0.
    """
    sizes = float(np.linalg.norm(near)), float(np.linalg.norm(metric))
    if min(sizes) == 0:
        raise ValueError("no multiple of 0 is another metric")
    start = math.log(sizes[0] / sizes[1])
    found = minimize_scalar(
        lambda u: objective(math.exp(u) * metric),
        bounds=(start - SPREAD, start + SPREAD),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return math.exp(found.x)


def _two_at_best(judge: Judge, metric: FloatArray, pair: tuple[str, str]) -> Explanation:
    """Return the explanation at the values of two weights with the smallest gap of `metric`.

    The gap is convex in the two weights, and the slope for each weight gives the gradient. If the tangent plane at some
    values shows that the gap is large at all values of the weights, there is no explanation, and the function raises
    ValueError. Here "large" is relative to the scales at the values tried. The scale at other values may be larger, but
    no verdict depends on this. The function also raises ValueError if one of the user's weights is 0.
    """
    asked = [float(getattr(judge.given, name)) for name in pair]
    if min(asked) <= 0:
        raise ValueError("a weight is 0: others have no ratio to it")

    def tried(w: FloatArray) -> list[Tried]:
        beside = zip(pair, w, reversed(pair), reversed(w), strict=True)
        return [
            judge.tried(metric, at_weight(judge.itself, b, float(v)), a, float(u)) for a, u, b, v in beside
        ]

    unit = tried(np.array(asked))[0].scale

    def left(logarithms: FloatArray) -> tuple[float, FloatArray]:
        try:
            here = tried(np.exp(logarithms))
        except ValueError:  # these weights are too far off: the problem has no optimum
            return math.inf, np.zeros(2)
        if min(each.slope for each in here) >= 0:  # then the tangent is smallest at weights of 0
            floor = here[0].gap - sum(each.slope * each.weight for each in here)
            if floor > FAR * max(here[0].scale, unit):
                raise ValueError("the gap of the metric is large for all values of the two weights")
        return here[0].gap / unit, np.array([each.slope * each.weight / unit for each in here])

    options = {"maxiter": MAX_STEPS, "gtol": judge.sharp / 10}
    found = minimize(left, np.log(asked), jac=True, method="BFGS", options=options)
    other = judge.itself
    for name, value in zip(pair, np.exp(found.x), strict=True):
        other = at_weight(other, name, float(value))
    values = " and ".join(f"{name} = {other.params[name]:.4g}" for name in pair)
    said = f"{judge.claim} for {values} (asked: {' and '.join(f'{value:g}' for value in asked)})"
    again = partial(_left_at, judge, other)
    return Explanation(again(metric), said, 2, again=again, fit=f"your metric for {values}")


def misread_weights(
    judge: Judge, metric: FloatArray, read: Mapping[str, Explanation], part: float
) -> Iterator[Explanation]:
    """Yield the explanations by a misreading together with another value of a weight.

    The misreading alone must give the metric a relative gap of at most `part`. read: the explanations by single
    misreadings, by name. A weight that the misreading itself changes is left out, because another value of it would
    undo the misreading.
    """
    for misreading, base, fitted, _ in _partly(judge, metric, read, part):
        own = [each for each in get(judge.method).WEIGHTS if base.params.get(each) == judge.params.get(each)]
        for name in own:
            found = None if judge.late else _at_best(judge, metric, base, name)
            if found is None and judge.late:
                judge.leave_out(f"{misreading.sentence}, with another value of {name}")
            if found is not None:
                said = f"{found[1].sentence}, and {misreading.sentence}"
                yield found[1]._replace(sentence=said, fitted=fitted + 1, fit="")


def _at_best(
    judge: Judge, metric: FloatArray, base: OtherProblem, name: str
) -> tuple[OtherProblem, Explanation] | None:
    """Return `base` with the value of the weight `name` that gives `metric` the smallest gap, and the explanation.

    Returns None if the gap is large at every value or cannot be computed, or if the value in `base` is 0 or at its
    upper limit.
    """
    most = get(judge.method).WEIGHTS[name]
    at = partial(judge.tried, metric, base, name)
    try:
        given = judge.inputs(base)
        asked = float(getattr(given, name))
        tried = least(asked, most, judge.sharp / 10, at) if 0 < asked < most else ()
        if not tried or (best := min(tried, key=lambda each: each.share)).share > FAR:
            return None
        weight, ends, enough = best.weight, (best.weight, best.weight), max(judge.tol, 2 * best.share)
        other = judge.at_tried(base, name, weight)
        left = judge.left(metric, other)
        with suppress(TakesTooLong):  # then the interval stays unknown
            ends = inward(around(tried, most, enough, at))
            if ends[0] <= ends[1] and judge.sharp == judge.tol:
                middle = between(*ends, most)
                in_middle = at_weight(base, name, middle)
                left, weight, other = judge.left(metric, in_middle), middle, in_middle
    except NO_ANSWER:
        return None
    again = partial(_left_at, judge, other)
    parts = [f"asked: {asked:g}", *ratio(ends, asked, most, given)]
    if ends[0] < ends[1]:
        interval = f"from {ends[0]:.6g} to {ends[1]:.6g}"
        # between the ends the scale may be smaller than at both ends
        parts.insert(0, f"{interval} the gap is at most {enough:.2g} times the larger scale of both ends")
    slight = math.isclose(weight, asked, rel_tol=SLIGHT)
    sentence = f"{judge.claim} for {name} = {weight:.6g} ({'; '.join(parts)})"
    fit = f"your metric for {name} = {weight:.6g}"
    return other, Explanation(left, sentence, 1, slight=slight, again=again, fit=fit)


def _left_at(judge: Judge, other: OtherProblem, metric: FloatArray) -> Left:
    return judge.left(metric, other)


def of_representation(judge: Judge, metric: FloatArray) -> Iterator[Explanation]:
    """Yield the explanations by slips in writing down the metric, for example the transform L in place of L^T L.

    If 0 or the prior is nearly optimal, there are none: if 0 is, all small multiples and transforms have small gaps.
    """
    try:
        # if 0 is nearly optimal, all small multiples and transforms of a metric have small gaps
        if judge.nothing_is_optimal():
            return
        allowed = partial(get(judge.method).allowed, judge.given)
        written = [*slips(metric, judge.components, judge.better, judge.claim, allowed)]
    except (ValueError, SolverFailure, OutOfTime):
        return
    yield from _of_slips(judge, metric, ((slip, judge.itself) for slip in written), WRITTEN)


def of_other_features(judge: Judge, metric: FloatArray) -> Iterator[Explanation]:
    """Yield the explanations by other features: the program may have standardized or rescaled them first."""
    yield from _of_slips(judge, metric, _other_features(judge, metric), RESCALED)


def _of_slips(
    judge: Judge, metric: FloatArray, written: Iterable[tuple[Slip, OtherProblem]], part: str
) -> Iterator[Explanation]:
    """Yield an explanation for each pair (slip, problem) in `written`, as long as there is time.

    If the time is too short, the report lists them as left out, under the name `part`.
    """
    for slip, other in written:
        if judge.late:
            judge.leave_out(part)
            return
        again = partial(_mended, judge, slip, other)
        try:
            left = again(metric)
        except NO_ANSWER:  # for example, the numbers overflow
            continue
        slight = slip.fitted == 1 and np.allclose(slip.mend(metric), metric, rtol=SLIGHT)
        again_or_none = again if slip.of_metric else None
        yield Explanation(
            left,
            slip.sentence,
            slip.fitted,
            slight=slight,
            again=again_or_none,
            fit=slip.fit,
            exactly=slip.exactly,
            of_limits=slip.of_limits,
        )


def _mended(judge: Judge, slip: Slip, other: OtherProblem, metric: FloatArray) -> Left:
    return left_unless_improved(judge, slip.mend(metric), other)


def _other_features(judge: Judge, metric: FloatArray) -> Iterator[tuple[Slip, OtherProblem]]:
    """Yield pairs (slip, problem): a problem with rescaled features, and the slip that fits `metric` to these features.

    The program may have returned its metric for the rescaled features. Then the slip changes nothing. Or the program
    converted its metric to the features that the user gave. Then the slip converts it back to the rescaled features.
    """
    X = np.asarray(judge.X, dtype=np.float64)
    if metric.shape[0] != X.shape[1]:
        return
    width = X.max(axis=0) - X.min(axis=0)
    for name, scale in (("z-scored", X.std(axis=0)), ("scaled to [0, 1]", width)):
        scale = np.where(scale > 0, scale, 1.0)
        if np.allclose(scale, scale[0]):  # this is a factor of the metric; `slips` covers it
            continue
        other = _scaled(judge, X, scale)
        said = f"{judge.claim} for features that were {name} first"
        yield Slip(said, np.asarray), other
        yield Slip(f"{said}, and mapped back", partial(_mapped, scale)), other
    for theirs, ours in ((1, 0), (0, 1)):
        deviation = _deviation(X, theirs)
        if _is_standardized(X, ours) and np.isfinite(deviation).all():
            said = f"{judge.claim} for features standardized with ddof = {theirs}; your features have ddof = {ours}"
            yield Slip(said, np.asarray), _scaled(judge, X, deviation)
    divided = _normalised_rows(judge, X)
    # for a convex method, the cheap test of `likeliest` can exclude the problem without a solve
    if divided is not None and (judge.claim != "optimal" or likeliest(judge, metric, [divided]) is not None):
        said = f"{judge.claim} for X with each point divided by its length first"
        yield Slip(said, np.asarray), divided


def _normalised_rows(judge: Judge, X: FloatArray) -> OtherProblem | None:
    """Return the problem with each point and query divided by its length, or None if all lengths are nearly equal."""

    def normalised(points: FloatArray) -> FloatArray:
        lengths = np.linalg.norm(points, axis=-1, keepdims=True)
        divided: FloatArray = points / np.where(lengths > 0, lengths, 1.0)
        return divided

    if np.ptp(np.linalg.norm(X, axis=1)) <= SLIGHT * np.linalg.norm(X, axis=1).max():
        return None
    params = dict(judge.params)
    if params.get("query") is not None:
        params["query"] = normalised(np.asarray(params["query"], dtype=np.float64))
    return OtherProblem(normalised(X), judge.y, params)


def _scaled(judge: Judge, X: FloatArray, scale: FloatArray) -> OtherProblem:
    """Return the problem with features that are centred and divided by `scale` (d,)."""
    params = dict(judge.params)
    if params.get("query") is not None:
        params["query"] = (np.asarray(params["query"], dtype=np.float64) - X.mean(axis=0)) / scale
    return OtherProblem((X - X.mean(axis=0)) / scale, judge.y, params)


def _deviation(X: FloatArray, ddof: int) -> FloatArray:
    """Return the standard deviations (d,) of the features, with 1 for constant features."""
    deviation = X.std(axis=0, ddof=ddof) if len(X) > 1 else np.ones(X.shape[1])
    found: FloatArray = np.where(deviation > 0, deviation, 1.0)
    return found


def _is_standardized(X: FloatArray, ddof: int) -> bool:
    return len(X) > 1 and np.allclose(_deviation(X, ddof), 1.0, rtol=STANDARD)


def _mapped(scale: FloatArray, metric: FloatArray) -> FloatArray:
    mapped: FloatArray = metric * np.outer(scale, scale)
    return mapped
