"""Which of several problems may a metric be the answer of? Decided without a solve, by metrics that are better there.

A few metrics are tried in each problem: the optimum of the problem asked, multiples of the candidate and of that
optimum, mixtures of both, and metrics next to the candidate in random directions. If one of them is better than the
candidate, the candidate is no answer of that problem, and the improvement is a lower bound of the gap. The problem with
the least improvement is the likeliest. Problems in which none is better are solved, if they are few.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.misreading import FAR, MULTIPLES, Other
from cvxml.methods import get
from cvxml.oracle.judge import NO_ANSWER, Judge

TOWARD_IT = (0.01, 0.1, 0.5)  # shares of the way from the candidate to it
BESIDE, DIRECTIONS = (
    1e-3,
    4,
)  # relative: a step beside the candidate; random directions of such steps, and their reverse
FEW = 3  # problems in which no metric tried is better, and that are solved
FORBIDDEN = (
    1e-4  # of the largest entry: a metric that is further from all that a problem allows is no answer of it
)
SAME = 1e-7  # of the objective: an improvement that small may be rounding, or the tolerance of a program
TINY = 1e-300  # of an objective, so that a share of 0 is a number


class Improvement(NamedTuple):
    """What the metrics tried say of a candidate, as shares of the objective. The smaller tuple is the likelier one."""

    best: float  # by how much the best of them is better; 0 if none is
    optimum: float  # by how much the optimum of the problem asked is better, negative where it is worse


def likeliest(judge: Judge, metric: FloatArray, others: Iterable[Other]) -> Other | None:
    """The problem in which the metrics tried improve least; None where they improve by more than `FAR` in each.

    It says how many problems there were.

    Where none improves in several problems, `FEW` of them are solved, and the proofs decide. First come those in which
    the optimum of the problem asked is worst: the row that a program lost costs its metric much.
    """
    found: list[tuple[Improvement, Other]] = []
    enough, count = FAR, 0
    for other in others:
        if judge.asked.late:
            return None
        count += 1
        try:
            improved = improvement(judge, metric, other, enough)
        except NO_ANSWER:  # the problem has no answer, or forbids the metric
            continue
        if improved.best <= enough:
            found.append((improved, other))
            enough = improved.best
    likely = sorted((each for each in found if each[0].best <= enough), key=lambda each: each[0])[:FEW]
    chosen = min((other for _, other in likely), key=partial(_left, judge, metric), default=None)
    return None if chosen is None else chosen._replace(choices=count)


def _left(judge: Judge, metric: FloatArray, other: Other) -> float:
    try:
        return judge.left(metric, other).share
    except NO_ANSWER:
        return math.inf


def improvement(judge: Judge, metric: FloatArray, other: Other, enough: float = math.inf) -> Improvement:
    """How much better than `metric` the metrics tried are. The search ends at an improvement above `enough`.

    Raises ValueError where the problem forbids the metric.
    """
    module, given = get(other.method or judge.method), judge.inputs(other)
    M = module.metric(given, metric if other.metric is None else other.metric)
    if np.abs(module.allowed(given, M) - M).max() > FORBIDDEN * np.abs(M).max():
        raise ValueError("the problem does not allow the metric")
    here = module.objective(given, M)

    def better(each: FloatArray) -> float:
        there = module.objective(given, module.allowed(given, each))
        return float((here - there) / max(abs(here), abs(there), TINY))

    first = better(judge.better) if judge.better.shape == M.shape else 0.0
    best = max(first, 0.0)
    for each in _tried(M, judge.better):
        if best > enough:
            break
        best = max(best, better(each))
    return Improvement(best if best > SAME else 0.0, first)


def _tried(M: FloatArray, optimum: FloatArray) -> Iterator[FloatArray]:
    if optimum.shape == M.shape:
        yield from (t * optimum for t in MULTIPLES)
        yield from ((1 - t) * M + t * optimum for t in TOWARD_IT)
    yield from (t * M for t in MULTIPLES)
    rng = np.random.default_rng(0)
    for _ in range(DIRECTIONS):
        E = rng.standard_normal(M.shape)
        for step in (BESIDE, -BESIDE):
            turn = np.eye(len(M)) + step * E / np.linalg.norm(E)
            yield turn @ M @ turn.T
