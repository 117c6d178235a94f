"""Choose the problem that a metric most likely solves, from several problems, with at most a few solves.

The candidate is the metric that the user gave. In each problem we compute the objectives of a few other metrics: the
optimum of the user's problem, multiples of the candidate and of that optimum, and mixtures of both. We also try small
random changes of the candidate. If one of them has a lower objective, the candidate is not optimal in that problem. The
improvement of a problem is the largest such decrease, relative to the objective. The problem with the smallest
improvement is the likeliest. At most `MAX_TIES_SOLVED` problems with the smallest improvement are solved.

In all functions, `judge` (judge.py) computes gaps, stores our solutions, and has the optimum of the user's problem. An
`OtherProblem` (core/misreading.py) holds the inputs of a problem.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.misreading import FAR, OtherProblem, tried_before_a_solve
from cvxml.methods import get
from cvxml.oracle.judge import NO_ANSWER, NOTHING_KNOWN, Judge, Left

MAX_TIES_SOLVED = 3  # problems that are solved if several have the smallest improvement
# relative to the largest entry: a candidate that moves by more when it is made feasible is not feasible
FORBIDDEN = 1e-4
SAME = 1e-7  # relative to the objective: an improvement up to this may come from rounding or a program's tolerance
SMALLEST = 1e-300  # least divisor, so that a relative improvement of 0 is defined


class Improvement(NamedTuple):
    """How much lower the objective of one problem is at the metrics tried than at the candidate.

    Both numbers are relative: the difference is divided by the larger absolute value of the two objectives. best: for
    the best of the metrics tried; 0 if it is at most `SAME`. optimum: for the optimum of the user's problem; negative
    if it is worse here. A smaller tuple makes it likelier that the candidate solves the problem.
    """

    best: float  # improvement of the best tried metric; 0 if all are worse
    optimum: float  # improvement of the optimum of the user's problem; negative if that optimum is worse here


def likeliest(judge: Judge, metric: FloatArray, others: Iterable[OtherProblem]) -> OtherProblem | None:
    """Return the problem in which the candidate `metric` (d, d) has the smallest improvement (module docstring).

    others: the problems. Their number is stored in the field `choices` of the result. Problems that do not allow the
    candidate are skipped. Returns None if the improvement is above `FAR` in all other problems, or if the time limit is
    over.

    Up to `MAX_TIES_SOLVED` problems with the smallest improvement are solved, and the one with the smallest relative
    gap is returned. If more problems share it, those are solved in which the optimum of the user's problem is worst.
    For example, if a program lost one pair, the optimum with this pair is clearly worse in the problem without it.
    """
    found: list[tuple[Improvement, OtherProblem]] = []
    enough, count = FAR, 0
    for other in others:
        if judge.late:
            return None
        count += 1
        try:
            improved = improvement(judge, metric, other, enough)
        except NO_ANSWER:  # the problem has no optimum, or the candidate is not feasible
            continue
        if improved.best <= enough:
            found.append((improved, other))
            enough = improved.best
    likely = sorted((each for each in found if each[0].best <= enough), key=lambda each: each[0])[
        :MAX_TIES_SOLVED
    ]
    chosen = min((other for _, other in likely), key=partial(_left, judge, metric), default=None)
    return None if chosen is None else chosen._replace(choices=count)


def _left(judge: Judge, metric: FloatArray, other: OtherProblem) -> float:
    try:
        return judge.left(metric, other).share
    except NO_ANSWER:
        return math.inf


def improvement(
    judge: Judge, metric: FloatArray, other: OtherProblem, enough: float = math.inf
) -> Improvement:
    """Return the improvement of the tried metrics (module docstring) on the candidate `metric` in the problem `other`.

    If `other.metric` is given, this form of the candidate replaces `metric`. The search ends at an improvement above
    `enough`. If we have solved `other`, only our solution and the optimum of the user's problem are tried.

    A relative gap of the candidate below 1 is at least the improvement `best`. Both numbers of the result are inf if
    the objective of the candidate is inf. `optimum` is 0 if the optimum of the user's problem has another shape.

    Raises ValueError if the problem does not allow the candidate.
    """
    module, given = get(other.method or judge.method), judge.inputs(other)
    M = module.metric(given, metric if other.metric is None else other.metric)
    if np.abs(module.allowed(given, M) - M).max() > FORBIDDEN * np.abs(M).max():
        raise ValueError("the problem does not allow the metric")
    here, least = module.fast_objective(given, M), max(module.least_scale(given), SMALLEST)
    # by floats, for example a singular metric with a log det; the problem gets no name then
    if here == math.inf:
        return Improvement(math.inf, math.inf)

    def better(each: FloatArray) -> float:
        there = module.fast_objective(given, module.allowed(given, each))
        return float((here - there) / max(abs(here), abs(there), least))

    first = better(judge.better) if judge.better.shape == M.shape else 0.0
    best = max(first, 0.0)
    ours = judge.solution_of(other)
    for each in tried_before_a_solve(M, judge.better) if ours is None else (ours.metric,):
        if best > enough:
            break
        best = max(best, better(each))
    return Improvement(best if best > SAME else 0.0, first)


def left_unless_improved(judge: Judge, metric: FloatArray, other: OtherProblem) -> Left:
    """Return the gap of `metric` in `other`, or `NOTHING_KNOWN` if a better metric shows that it is too large.

    A relative gap above `judge.enough` is too large to be of use. If a metric that `improvement` tries proves such a
    gap, the problem is not solved. Problems that are not convex are judged without this test.
    """
    if judge.claim == "optimal" and judge.enough < 1:
        try:
            if improvement(judge, metric, other, judge.enough).best > judge.enough:
                return NOTHING_KNOWN
        except NO_ANSWER:  # for example, the problem does not allow the metric: `left` says so
            pass
    return judge.left(metric, other)
