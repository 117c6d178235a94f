"""For a refuted metric: which misreading of the problem does it solve?

A misreading is named only where the metric is certified for it: at the tolerance asked for; or to `LOOSE`, with the
figure, where it explains the metric a hundred times better than the problem itself does. Its gap must be less than that
of the problem itself as a number too: a tolerance of a problem of a large scale may be more than all that is wrong.
Where 0 is as good as optimal no slip in how a metric is written down is named.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.backend import SolverFailure
from cvxml.core.metric import FloatArray, examine, project_psd
from cvxml.core.misreading import LOOSE, Other, Question
from cvxml.core.result import Certificate, Solution, Status
from cvxml.methods import get, get_stationary
from cvxml.oracle.asked import Asked
from cvxml.oracle.reference import Reference, reference
from cvxml.oracle.slips import slips

BETTER = 100  # times less of its scale must be left in a misreading that is named beyond the tolerance
LESS = 10  # times less must be left in a misreading, as a number
NOTHING = 1e-12  # a scale below this share of the objective: as good as 0, and so is whatever is made of it
NOT_BY_LUCK = 1e-6
PATIENCE = 2000  # iterations for a misreading


class Left(NamedTuple):
    """What a metric may still gain in a problem: a share of its scale, and the number where it is known."""

    share: float
    gap: float | None = None


NOTHING_KNOWN = Left(math.inf)


def diagnose(asked: Asked, optimum: Reference | None = None) -> tuple[str, ...]:
    """Sentences, one for each misreading of which the candidate is certified to be the answer; often none.

    optimum: of the problem itself, if it is known.
    """
    metric = asked.candidate
    if metric is None or np.abs(metric).max() > 1e150:  # no misreading, an overflow
        return ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = _Judge(asked, optimum)
        own = judge.certain(metric)
        found = [*_misreadings(judge, metric), *_of_representation(judge, metric)]
    found = [
        (left, sentence)
        for left, sentence in found
        if left.gap is None or own.gap is None or LESS * left.gap <= own.gap
    ]
    exact = [sentence for left, sentence in found if left.share <= asked.tol]
    near = [
        f"to {left.share:.2g} of the scale, {sentence}"
        for left, sentence in found
        if asked.tol < left.share <= min(LOOSE, own.share / BETTER)
    ]
    return tuple(dict.fromkeys(exact or near))


def unnamed(asked: Asked, unique: bool = True) -> str:
    """What a report says where none was found. unique: the optimum is, so that a metric is near to it by no luck."""
    if asked.late:
        return "no misreading is named: not all were tried before time_limit"
    method = asked.method
    count = len(get(method).MISREADINGS)
    if unique:
        return (
            f"no misreading is named: none of the {count} that are known of {method} fits to {LOOSE:g} of the scale; a "
            "program that was stopped early fits none yet"
        )
    return (
        f"no misreading is named: none of the {count} that are known of {method} fits to {NOT_BY_LUCK:g} of the scale. "
        f"Optima of {method} need not be unique, and a metric is near to one by luck: beyond that none is looked for, "
        "so a program that was stopped earlier is not told what it computes"
    )


def _misreadings(judge: _Judge, metric: FloatArray) -> Iterator[tuple[Left, str]]:
    """The misreadings of the method, with what `metric` leaves to gain in them."""
    question = Question(judge.X, judge.y, metric, judge.tol, judge.params)
    for misreading in get(judge.method).MISREADINGS.values():
        if judge.asked.late:
            return
        left = NOTHING_KNOWN
        try:
            if misreading.problem is not None:
                other = misreading.problem(question)
                left = NOTHING_KNOWN if other is None else judge.left(metric, other)
            elif misreading.left is not None:
                left = Left(misreading.left(question))
        except (ValueError, ArithmeticError, SolverFailure):  # the misreading has no answer on these data
            continue
        yield left, f"{judge.claim} for {misreading.sentence}"


def _of_representation(judge: _Judge, metric: FloatArray) -> Iterator[tuple[Left, str]]:
    """Slips in how the metric is written down, or in the features it belongs to."""
    try:
        # next to 0 every factor and every transform of a metric is as good
        written = () if judge.nothing_is_optimal() else _slips(judge, metric)
    except (ValueError, SolverFailure):
        return
    tried: Iterator[tuple[str, FloatArray, Other | None]] = chain(
        ((sentence, mended, None) for sentence, mended in written),
        ((f"{judge.claim} {sentence}", metric, other) for sentence, other in _other_features(judge, metric)),
    )
    for sentence, candidate, other in tried:
        if judge.asked.late:
            return
        try:
            left = judge.left(candidate) if other is None else judge.left(candidate, other)
        except (ValueError, ArithmeticError, SolverFailure):  # too large, or without an answer
            continue
        yield left, sentence


def _slips(judge: _Judge, metric: FloatArray) -> Sequence[tuple[str, FloatArray]]:
    return [*slips(metric, judge.components, judge.better_than(metric), judge.claim)]


def _other_features(judge: _Judge, metric: FloatArray) -> Iterator[tuple[str, Other]]:
    """The metric as one for features that were rescaled first."""
    X = np.asarray(judge.X, dtype=np.float64)
    if metric.shape[0] != X.shape[1]:
        return
    width = X.max(axis=0) - X.min(axis=0)
    for name, scale in (("z-scored", X.std(axis=0)), ("scaled to [0, 1]", width)):
        scale = np.where(scale > 0, scale, 1.0)
        if np.allclose(scale, scale[0]):  # a factor of the metric, which is named as such
            continue
        params = dict(judge.params)
        if params.get("query") is not None:
            params["query"] = (np.asarray(params["query"], dtype=np.float64) - X.mean(axis=0)) / scale
        features = (X - X.mean(axis=0)) / scale
        yield f"for features that were {name} first", Other(features, judge.y, params)
        mapped = metric * np.outer(scale, scale)
        yield (
            f"for features that were {name} first, and mapped back",
            Other(features, judge.y, params, mapped),
        )


class _Judge:
    """What a metric leaves to gain, for any inputs."""

    def __init__(self, asked: Asked, optimum: Reference | None):
        self.asked = asked
        self.method, self.X, self.y = asked.method, asked.X, asked.y
        self.tol, self.params, self.components = asked.tol, asked.params, asked.components
        self.claim = asked.module.CLAIM
        self.itself = Other(asked.X, asked.y, asked.params)
        self.given = asked.given
        # of each problem, by what it is made of, which is kept so that no other takes its place
        self.solved: dict[tuple[int, int, int, str], tuple[Other, Reference]] = {}
        if optimum is not None:
            self.solved[self._key(self.itself)] = self.itself, optimum

    def left(self, metric: FloatArray, other: Other | None = None) -> Left:
        """What `metric` may still gain, as a dual of ours proves it; inf if it is none."""
        other = self.itself if other is None else other
        metric = metric if other.metric is None else other.metric
        feasibility = examine(metric)[1]
        if not (feasibility.feasible and feasibility.norm > 0):
            return NOTHING_KNOWN
        given = self._given(other)
        if self.claim == "stationary":
            step = get_stationary(other.method or self.method)
            _, dual = step.improve(given, step.metric(given, metric), tol=self.tol / 10, early=True)
            return _share(step.certify(given, step.matrix(given, metric), dual), self.tol)
        module = get(other.method or self.method)
        metric = module.matrix(given, metric)
        ours = self._optimum(other, given, metric)
        proof = module.certify(given, metric, ours.dual)
        decided = ours.certificate.decides(self.tol) and proof.decides(self.tol)
        if not (proof.feasibility.feasible and decided):
            return NOTHING_KNOWN
        scale = proof.scale if module.SCALE == "candidate" else ours.certificate.scale
        if scale <= NOTHING * abs(proof.objective):
            return NOTHING_KNOWN
        if not math.isfinite(proof.radius):  # the optimum is not unique: a metric is near to one by luck
            return Left(proof.gap / scale if proof.gap <= NOT_BY_LUCK * scale else math.inf, proof.gap)
        gap = max(proof.gap - proof.rounding, 0.0)
        return Left(gap / scale, gap)

    def certain(self, metric: FloatArray) -> Left:
        """What `metric` certainly may gain in the problem itself: what ours, which may be rough, is better by."""
        left = self.left(metric)
        if left.gap is None or left.gap == 0 or self.claim == "stationary":
            return left
        ours = self.solved[self._key(self.itself)][1].solution
        gap = max(left.gap - max(ours.gap, 0.0), 0.0)
        return Left(left.share * (gap / left.gap) if gap else 0.0, gap)

    def nothing_is_optimal(self) -> bool:
        """True where the metric 0 is optimal to `LOOSE`, or as good as that."""
        if self.claim == "stationary":
            return False
        module = get(self.method)
        size = module.metric_size(self.given)
        zero = np.zeros((size, size))
        try:
            ours = self._optimum(self.itself, self.given, zero)
            proof = module.certify(self.given, zero, ours.dual)
        except ValueError:  # 0 is no metric of this method
            return False
        return bool(proof.gap <= LOOSE * ours.certificate.scale + proof.rounding)

    def better_than(self, metric: FloatArray) -> FloatArray:
        """The optimum; where the problem is not convex, what the convex step at `metric` gives."""
        if self.claim == "optimal":
            return self._optimum(self.itself, self.given, None).metric
        return get_stationary(self.method).improve(self.given, project_psd(metric), tol=self.tol / 10)[0]

    def _given(self, other: Other) -> Any:
        """The inputs of `other`, checked."""
        if other is self.itself:
            return self.given
        return get(other.method or self.method).instance(other.X, other.y, **other.params)

    def _optimum(self, other: Other, given: Any, metric: FloatArray | None) -> Solution:
        """Ours, as tight as `metric` needs; None: tight."""
        key = self._key(other)
        _, known = self.solved.get(key, (other, None))
        options = {"max_iter": PATIENCE, "time_limit": self.asked.left}
        best = reference(get(key[-1]), given, metric, self.tol, known, **options)
        if best.solution.status is Status.TIME_LIMIT:
            raise SolverFailure("stopped at time_limit")
        self.solved[key] = other, best
        return best.solution

    def _key(self, other: Other) -> tuple[int, int, int, str]:
        return id(other.X), id(other.y), id(other.params), other.method or self.method


def _share(proof: Certificate, tol: float) -> Left:
    """What a stationary metric leaves to gain in its own step, or to first order, relative to the scale."""
    judged = proof.step or proof
    if not proof.feasibility.feasible or not math.isfinite(proof.objective) or not proof.decides(tol):
        return NOTHING_KNOWN
    if judged.scale <= NOTHING * abs(proof.objective):
        return NOTHING_KNOWN
    if proof.step is None and proof.stationarity is not None and proof.claim == "stationary":
        return Left(proof.stationarity.relative)
    gap = max(judged.gap - judged.rounding, 0.0)
    return Left(gap / judged.scale, gap)
