"""For a refuted metric: which misreading of the problem does it solve, or which is it nearest to?

A misreading is named only where the metric is certified for it: at the tolerance asked for; or to `LOOSE`, with the
figure, where it explains the metric a hundred times better than the problem itself does. Its gap must be less than that
of the problem itself as a number too: a tolerance of a problem of a large scale may be more than all that is wrong.
Where 0 is as good as optimal no slip in how a metric is written down is named.

Where none is named, a program may have stopped early: then those are listed that leave ten times less than the problem
itself, with what they leave. Other weights than those asked for are misreadings too (weights.py).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.backend import SolverFailure
from cvxml.core.metric import FloatArray, examine, project_psd
from cvxml.core.misreading import LOOSE, Other, Question
from cvxml.core.report import Nearest
from cvxml.core.result import Certificate, Solution, Status
from cvxml.methods import get, get_stationary
from cvxml.oracle.asked import Asked
from cvxml.oracle.reference import Reference, reference
from cvxml.oracle.slips import slips
from cvxml.oracle.weights import Tried, around, least, ratio

BETTER = 100  # times less of its scale must be left in a misreading that is named beyond the tolerance
LESS = 10  # times less must be left in a misreading, as a number
NOTHING = 1e-12  # a scale below this share of the objective: as good as 0, and so is whatever is made of it
NOT_BY_LUCK = 1e-6  # what may be left where the optimum is not unique
NEARER = 10  # times less must be left in what is listed as nearest
LISTED = 3  # of these at most
FAR = 0.1  # of its scale: what leaves more explains nothing
SEARCH = 1e-6  # the tolerance of solutions among which a weight is looked for
PATIENCE = 2000  # iterations for a misreading


class Left(NamedTuple):
    """What a metric may still gain in a problem: a share of its scale, and the number where it is known."""

    share: float
    gap: float | None = None
    unique: bool = True  # the optimum is, so that a metric is near to it by no luck


class Diagnosis(NamedTuple):
    """What a metric is the answer of, as sentences; else what it is nearest to."""

    named: tuple[str, ...] = ()
    nearest: tuple[Nearest, ...] = ()


NOTHING_KNOWN = Left(math.inf)


def diagnose(asked: Asked, optimum: Reference | None = None) -> Diagnosis:
    """One sentence for each misreading of which the candidate is certified to be the answer; often none.

    optimum: of the problem itself, if it is known.
    """
    metric = asked.candidate
    if metric is None or np.abs(metric).max() > 1e150:  # no misreading, an overflow
        return Diagnosis()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = _Judge(asked, optimum)
        own = judge.certain(metric)
        found = [*_misreadings(judge, metric), *_of_representation(judge, metric)]
        if not any(_is_less(left, own) and left.share <= asked.tol for left, _ in found):
            found += _other_weights(judge, metric)
    found = [(left, sentence) for left, sentence in found if _is_less(left, own)]
    named = [(left, sentence) for left, sentence in found if left.unique or left.share <= NOT_BY_LUCK]
    exact = [sentence for left, sentence in named if left.share <= asked.tol]
    near = [
        f"to {left.share:.2g} of the scale, {sentence}"
        for left, sentence in named
        if asked.tol < left.share <= min(LOOSE, own.share / BETTER)
    ]
    if exact or near:
        return Diagnosis(tuple(dict.fromkeys(exact or near)))
    found.sort(key=lambda each: each[0].share)
    if not found or found[0][0].share > min(FAR, own.share / NEARER):
        return Diagnosis()
    nearest = dict.fromkeys(Nearest(sentence, left.share, own.share) for left, sentence in found[:LISTED])
    return Diagnosis(nearest=tuple(each for each in nearest if each.share <= own.share))


def _is_less(left: Left, own: Left) -> bool:
    """True where the gap is, as a number too."""
    return left.gap is None or own.gap is None or LESS * left.gap <= own.gap


def unnamed(asked: Asked) -> str:
    """What a report says where none was found."""
    if asked.late:
        return "no misreading is named: not all were tried before time_limit"
    method = asked.method
    count = len(get(method).MISREADINGS)
    return (
        f"no misreading is named: none of the {count} that are known of {method} leaves {NEARER} times less to gain "
        "than the problem itself"
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
                left = Left(misreading.left(question), unique=judge.unique)
        except (ValueError, ArithmeticError, SolverFailure):  # the misreading has no answer on these data
            continue
        yield left, f"{judge.claim} for {misreading.sentence}"


def _other_weights(judge: _Judge, metric: FloatArray) -> Iterator[tuple[Left, str]]:
    """Each weight of the method at the value at which `metric` leaves least."""
    for name, most in get(judge.method).WEIGHTS.items():
        asked = float(judge.params.get(name, judge.asked.module.PARAMETERS[name].default))
        at = partial(judge.tried, metric, name)
        try:
            best = least(asked, most, at)
            if best is None:
                continue
            weight = best.weight
            other = judge.at_weight(name, weight)
            left = judge.left(metric, other)
            if judge.nothing_is_optimal(other):
                continue
            enough = max(judge.tol, 2 * left.share)
            ends = around(weight, most, enough, at) if left.share <= LOOSE else (weight, weight)
        except (ValueError, ArithmeticError, SolverFailure):
            continue
        parts = [f"asked: {asked:g}", *ratio(weight, asked, most, judge.given)]
        if ends[0] < ends[1]:
            parts.insert(0, f"to {enough:.2g} of the scale from {ends[0]:.6g} to {ends[1]:.6g}")
        yield left, f"{judge.claim} for {name} = {weight:.6g} ({'; '.join(parts)})"


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
        self.unique = True
        if optimum is not None:
            self.solved[self._key(self.itself)] = self.itself, optimum
            self.unique = math.isfinite(optimum.solution.certificate.radius)

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
        gap = max(proof.gap - proof.rounding, 0.0)
        return Left(gap / scale, gap, math.isfinite(proof.radius))

    def at_weight(self, name: str, weight: float) -> Other:
        """The same problem, with another weight."""
        return Other(self.X, self.y, {**self.params, name: weight})

    def tried(self, metric: FloatArray, name: str, weight: float) -> Tried:
        """What `metric` leaves at another weight, as `weights.least` takes it."""
        if self.asked.late:
            raise SolverFailure("stopped at time_limit")
        module = get(self.method)
        given, beside = (
            self._given(self.at_weight(name, each)) for each in (weight, weight * (1 - 2.0**-10))
        )
        metric = module.metric(given, metric)
        ours = module.solve(given, tol=SEARCH, time_limit=self.asked.left)
        proof = module.certify(given, metric, ours.dual)

        def slope(A: FloatArray) -> float:
            return (module.objective(given, A) - module.objective(beside, A)) / (weight * 2.0**-10)

        return Tried(weight, proof.gap, ours.certificate.scale, slope(metric) - slope(ours.metric))

    def certain(self, metric: FloatArray) -> Left:
        """What `metric` certainly may gain in the problem itself: what ours, which may be rough, is better by."""
        left = self.left(metric)
        if left.gap is None or left.gap == 0 or self.claim == "stationary":
            return left
        ours = self.solved[self._key(self.itself)][1].solution
        gap = max(left.gap - max(ours.gap, 0.0), 0.0)
        return Left(left.share * (gap / left.gap) if gap else 0.0, gap)

    def nothing_is_optimal(self, other: Other | None = None) -> bool:
        """True where the metric 0 is optimal to `LOOSE`, or as good as that."""
        if self.claim == "stationary":
            return False
        other = self.itself if other is None else other
        module, given = get(self.method), self._given(other)
        size = module.metric_size(given)
        zero = np.zeros((size, size))
        try:
            ours = self._optimum(other, given, zero)
            proof = module.certify(given, zero, ours.dual)
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
