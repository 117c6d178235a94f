"""Compute the gap of a metric in the user's problem or in another problem, for the search for a misreading.

A misreading is another problem that a program may solve by mistake. An `OtherProblem` holds its inputs: points, labels,
parameters, and if needed another method or another form of the metric. Our own dual variables give the lower bound of
each gap. If a problem is not convex, the gap is that of its convex step at the metric. The convex step is the convex
problem that the method solves next. A `Left` holds the gap that is left, absolute and relative to the scale. The
candidate is the metric that the user gave.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.backend import SolverFailure
from cvxml.core.clock import Deadline, OutOfTime, limited, processor_time_until
from cvxml.core.method import Method
from cvxml.core.metric import FloatArray, examine, project_psd
from cvxml.core.misreading import FAR, LOOSE, CheckedInputs, OtherProblem, TakesTooLong
from cvxml.core.result import Certificate, Solution, Status
from cvxml.methods import get, get_stationary
from cvxml.oracle.asked import Asked
from cvxml.oracle.reference import Reference, reference
from cvxml.oracle.weights import Tried

# errors of a problem without an answer, for these data or within the time limit
NO_ANSWER = (ValueError, ArithmeticError, SolverFailure, OutOfTime)
NOTHING = 1e-12  # relative to the objective: a smaller scale counts as 0, and relative gaps are not used then
SEARCH = 1e-6  # tolerance of our solutions during the search for a weight
SHRUNK = 1e-3  # if a problem is not convex, this factor times the metric stands for M = 0
PATIENCE = 2000  # most iterations of a solver for one problem
FINEST = 1e-2  # the finest tolerance of our solutions, relative to the user's tolerance
BESIDE = 2.0**-10  # relative difference of two weights, for the slope of the objective in the weight
# The processor time of a diagnosis: this many times that of our own solve, plus a number of seconds. With the verdict,
# a report then takes at most about ten solves and 2 s.
SOLVES, SECONDS = 8.0, 2.0
TOO_LATE = "no time is left for another solve"


class Left(NamedTuple):
    """The gap of a metric in a problem: share, relative to the scale, and gap, absolute (None if it is not known).

    unique: True if the optimum of the problem is unique.

    nothing: the relative gap, in the same problem, of a metric that needs no fit to the data; inf if it is not
    computed. This metric is 0 or the prior, whichever has the smaller gap. If the problem is not convex, or if
    `Misreading.left` computes the gap, it is `SHRUNK` times the metric. The share must be clearly smaller than
    `nothing`, because in some problems every metric near this one has a small gap.
    """

    share: float
    gap: float | None = None
    unique: bool = True  # True if the optimum is unique; a metric is seldom near a unique optimum by chance
    nothing: float = (
        math.inf
    )  # relative gap of 0, a small metric, or the prior; a gap must be clearly smaller


NOTHING_KNOWN = Left(math.inf)


class Judge:
    """Computes gaps of metrics in several problems, and solves each problem only once.

    asked: the arguments of `check`. optimum: our own solution of the user's problem, if it is known. seconds: the
    processor time of our own solve. It limits the time of the judge, unless the user asks for "all".
    """

    def __init__(self, asked: Asked, optimum: Reference | None, seconds: float = math.inf):
        self.asked = asked
        everything = asked.diagnosed == "all"
        self.end = math.inf if everything else time.process_time() + SOLVES * seconds + SECONDS
        # larger relative gaps in other problems are of no use: in any way, and for a name
        self.enough = self.enough_to_name = math.inf
        self.checked_inputs = CheckedInputs()
        self.left_out: list[str] = []  # the parts of the search for which the time was too short
        self.method, self.X, self.y = asked.method, asked.X, asked.y
        self.tol, self.params, self.components = asked.tol, asked.params, asked.components
        self.claim = asked.module.CLAIM
        self.itself = OtherProblem(asked.X, asked.y, asked.params)
        self.given = asked.given
        self.sharp = asked.tol  # the tolerance of our solutions; `sharpen` makes it finer for a small error
        self.sharpened: set[tuple[int, int, int, str]] = set()  # problems that were solved again for it
        # The keys are ids of objects. The problem is stored too, so that its objects live and ids are not reused.
        self.solved: dict[tuple[int, int, int, str], tuple[OtherProblem, Reference]] = {}
        self.weighed: dict[tuple[int, str, float, float], tuple[OtherProblem, Any, Any, Solution]] = {}
        self.unique = True
        if optimum is not None:
            self.solved[self._key(self.itself)] = self.itself, optimum
            self.unique = math.isfinite(optimum.solution.certificate.radius)

    @property
    def late(self) -> bool:
        """True if the time of the judge, or the time limit of the user, is over."""
        return self.asked.late or time.process_time() >= self.end

    @property
    def seconds(self) -> float:
        """The processor time that is left until the end of the search; 0 after it, inf without a limit."""
        return max(self.end - time.process_time(), 0.0)

    @contextmanager
    def keeping(self, share: float) -> Iterator[None]:
        """In this context, reserve the share `share` of the remaining time for a later part of the search."""
        end, now = self.end, time.process_time()
        self.end = now + (1 - share) * (end - now)
        try:
            yield
        finally:
            self.end = end

    def leave_out(self, part: str) -> None:
        """Note that the time was too short for a part of the search. part: its name in the report."""
        if part not in self.left_out:
            self.left_out.append(part)

    @contextmanager
    def in_time(self, end: float) -> Iterator[Deadline]:
        """In this context, long work ends at the processor time `end`. Raises TakesTooLong if it has no result then.

        A solver that has a metric at that time returns it, and `up` of the deadline is True.
        """
        try:
            with processor_time_until(end), limited(math.inf, TOO_LATE) as deadline:
                yield deadline
        except OutOfTime:
            raise TakesTooLong(TOO_LATE) from None

    @contextmanager
    def asking_only(self, enough: float) -> Iterator[None]:
        """In this context, relative gaps above `enough` are of no use, and need not be computed."""
        before = self.enough, self.enough_to_name
        self.enough = self.enough_to_name = enough
        try:
            yield
        finally:
            self.enough, self.enough_to_name = before

    def solution_of(self, other: OtherProblem) -> Solution | None:
        """Return our solution of `other`, or None if we have none yet."""
        known = self.solved.get(self._key(other))
        return None if known is None else known[1].solution

    def left(self, metric: FloatArray, other: OtherProblem | None = None) -> Left:
        """Return the gap of `metric` in the problem `other`, by default the user's problem.

        If `other` has a metric of its own, that metric is judged instead. The lower bound comes from our own dual
        variables. The result is `NOTHING_KNOWN`, a relative gap of inf, in four cases: the metric is 0, it is not
        feasible, double precision cannot decide, or the scale is nearly 0. Raises TakesTooLong if the time is over
        before a solution.
        """
        other = self.itself if other is None else other
        metric = metric if other.metric is None else other.metric
        feasibility = examine(metric)[1]
        if not (feasibility.feasible and feasibility.norm > 0):
            return NOTHING_KNOWN
        given = self.inputs(other)
        if self.claim == "stationary":
            left = _share(self._step(other, given, metric), self.tol)
            if left.share > FAR:
                return left
            return left._replace(nothing=_share(self._step(other, given, SHRUNK * metric), self.tol).share)
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
        nothing = math.inf if gap > FAR * scale else _nothing(module, given, metric, ours) / scale
        return Left(gap / scale, gap, math.isfinite(proof.radius), nothing)

    def sharpen(self, share: float) -> None:
        """Set the tolerance of all later solves so that a relative gap of `share` can be distinguished from 0.

        The tolerance is at most the user's tolerance, and at least `FINEST` times that.
        """
        self.sharp = min(self.tol, max(share, FINEST * self.tol))

    def at(self, base: OtherProblem, name: str, weight: float) -> tuple[Any, Any, Solution]:
        """Solve the problem `base` with the value `weight` of one of its weights.

        Returns its inputs, its inputs with a slightly smaller weight (for the slope of the gap), and our solution.
        name: the name of the weight. Raises TakesTooLong if the time is over.
        """
        if self.late:
            raise TakesTooLong(TOO_LATE)
        tol = min(SEARCH, self.sharp)
        key = id(base), name, weight, tol
        if key not in self.weighed:
            given, beside = (
                self.inputs(at_weight(base, name, each)) for each in (weight, weight * (1 - BESIDE))
            )
            module = get(base.method or self.method)
            start = self._nearest(base, name, weight)
            with self.in_time(self.end):
                ours = module.solve(
                    given, tol=tol, max_iter=PATIENCE, time_limit=self.asked.left, warm_start=start
                )
            if ours.status is Status.TIME_LIMIT:
                raise TakesTooLong(TOO_LATE)
            self.weighed[key] = base, given, beside, ours
        return self.weighed[key][1:]

    def _nearest(self, base: OtherProblem, name: str, weight: float) -> Solution | None:
        """Return the solution found so far with the value of the weight nearest to `weight`; None without a solution.

        If no value of the weight `name` was tried, it is our solution of `base` itself.
        """
        known = {key[2]: each[3] for key, each in self.weighed.items() if key[:2] == (id(base), name)}
        if known:
            return known[min(known, key=lambda each: abs(math.log(each / weight)))]
        return self.solution_of(base)

    def at_tried(self, base: OtherProblem, name: str, weight: float) -> OtherProblem:
        """Return `base` with the value `weight` of a weight that `at` has solved before.

        name: the name of the weight. The solution from `at` becomes the start of a tighter solve.
        """
        other, tol = at_weight(base, name, weight), min(SEARCH, self.sharp)
        rough = self.weighed[id(base), name, weight, tol][-1]
        self.solved[self._key(other)] = other, Reference(rough, tight=False)
        return other

    def tried(self, metric: FloatArray, base: OtherProblem, name: str, weight: float) -> Tried:
        """Return the gap of `metric` in `base` with the value `weight` of the weight `name`, and the slope of this gap.

        If `base` has a metric of its own, that metric is judged instead. The result also has the scale and the rounding
        error, in the form that the search for the best weight takes (weights.py).
        """
        metric = metric if base.metric is None else base.metric
        module = get(base.method or self.method)
        given, beside, ours = self.at(base, name, weight)
        metric = module.metric(given, metric)
        proof = module.certify(given, metric, ours.dual)

        def slope(A: FloatArray) -> float:
            return (module.fast_objective(given, A) - module.fast_objective(beside, A)) / (weight * BESIDE)

        proved = proof.feasibility.feasible and not (proof.undecided or ours.certificate.undecided)
        rounding = proof.rounding if proved else math.inf
        return Tried(weight, proof.gap, ours.certificate.scale, slope(metric) - slope(ours.metric), rounding)

    def _step(self, other: OtherProblem, given: Any, metric: FloatArray) -> Certificate:
        module = get_stationary(other.method or self.method)
        # the user's problem is judged in any case, because every comparison needs it
        with self.in_time(math.inf if other is self.itself else self.end) as deadline:
            _, dual = module.improve(given, module.metric(given, metric), tol=self.sharp / 10, early=True)
        if deadline.up:
            raise TakesTooLong(TOO_LATE)
        return module.certify(given, module.matrix(given, metric), dual)

    def certain(self, metric: FloatArray) -> Left:
        """Return the gap of `metric` in the user's problem that is proved: its objective minus that of our solution.

        This is the gap of `metric` to our lower bound, minus the gap of our solution to the same bound. The first of
        them alone may be too large, because our solution may be rough. If the problem is not convex, the result is that
        of `left`.
        """
        left = self.left(metric)
        if left.gap is None or left.gap == 0 or self.claim == "stationary":
            return left
        ours = self.solved[self._key(self.itself)][1].solution
        gap = max(left.gap - max(ours.gap, 0.0), 0.0)
        return Left(left.share * (gap / left.gap) if gap else 0.0, gap)

    def projected(self, metric: FloatArray) -> Left:
        """Return the gap of the nearest allowed metric in the user's problem; `NOTHING_KNOWN` if it cannot be computed.

        metric: a matrix (d, d) that is not allowed. It is projected to the psd cone, and `Method.allowed` then makes it
        satisfy the other constraints.
        """
        try:
            return self.certain(get(self.method).allowed(self.given, project_psd(metric)))
        except NO_ANSWER:
            return NOTHING_KNOWN

    def nothing_is_optimal(self) -> bool:
        """Return True if the zero metric, or the prior of the method, is nearly optimal in the user's problem.

        This means a relative gap of at most `LOOSE`. The result is False if the problem is not convex.
        """
        if self.claim == "stationary":
            return False
        module, size = get(self.method), get(self.method).metric_size(self.given)
        zero = np.zeros((size, size))
        try:
            ours = self._optimum(self.itself, self.given, zero)
        except ValueError:  # 0 is no metric of this method
            return False
        return _nothing(module, self.given, zero, ours) <= LOOSE * ours.certificate.scale

    @cached_property
    def better(self) -> FloatArray:
        """The optimum (d, d) of the user's problem; if it is not convex, the result of the convex step."""
        if self.claim == "optimal" or self.asked.candidate is None:
            return self._optimum(self.itself, self.given, None).metric
        start = project_psd(self.asked.candidate)
        return get_stationary(self.method).improve(self.given, start, tol=self.tol / 10)[0]

    def inputs(self, other: OtherProblem) -> Any:
        """Return the checked inputs of `other`."""
        if other is self.itself:
            return self.given
        instance = get(other.method or self.method).instance
        return self.checked_inputs.of(instance, other.X, other.y, other.params)

    def _optimum(self, other: OtherProblem, given: Any, metric: FloatArray | None) -> Solution:
        """Return our own solution of `other`, as tight as needed to judge `metric`; tight if `metric` is None.

        given: the checked inputs of `other`.
        """
        key = self._key(other)
        _, known = self.solved.get(key, (other, None))
        if known is not None and known.tight and self._is_blunt(key, known):
            known = known._replace(tight=False)
            self.sharpened.add(key)
        options: dict[str, Any] = {"max_iter": PATIENCE, "time_limit": self.asked.left}
        if self.asked.diagnosed == "all":  # a long search shows its progress
            options["callback"] = self.asked.callback
        # the user's problem is solved in any case, because every comparison needs it
        end = math.inf if other is self.itself else self.end
        with self.in_time(end):
            best = reference(get(key[-1]), given, metric, self.sharp, known, **options)
        if best.solution.status is Status.TIME_LIMIT:
            raise TakesTooLong(TOO_LATE)
        # a warm start may stall at a worse bound
        if known is not None and known.solution.gap < best.solution.gap:
            best = best._replace(solution=known.solution)
        self.solved[key] = other, best
        return best.solution

    def _is_blunt(self, key: tuple[int, int, int, str], known: Reference) -> bool:
        """Return True if a solution was found before `sharpen`, and its gap is too large for the new tolerance.

        key: identifies the problem. known: the solution.
        """
        fine = self.sharp < self.tol and key not in self.sharpened
        return fine and not known.solution.certificate.proves(self.sharp / 10)

    def _key(self, other: OtherProblem) -> tuple[int, int, int, str]:
        return id(other.X), id(other.y), id(other.params), other.method or self.method


def at_weight(base: OtherProblem, name: str, weight: float) -> OtherProblem:
    return base._replace(params={**base.params, name: weight})


def _nothing(module: Method[Any], given: Any, metric: FloatArray, ours: Solution) -> float:
    """Return the gap of the zero metric or of the prior, the smaller one, with the dual variables of `ours`.

    given: the checked inputs. metric: any metric, for the shape. ours: our own solution of the problem. The result is
    inf if neither is feasible.
    """
    gaps = [math.inf]
    for each in (np.zeros_like(metric), module.without_data(given)):
        with suppress(ValueError):
            proof = None if each is None else module.certify(given, each, ours.dual)
            if proof is not None and proof.feasibility.feasible:
                gaps.append(max(proof.gap - proof.rounding, 0.0))
    return min(gaps)


def _share(proof: Certificate, tol: float) -> Left:
    """Return the gap of the convex step at a metric, from its certificate; without a step, the first-order residual.

    proof: the certificate of the metric. tol: the user's tolerance. The residual is relative to the scale.

    The result is `NOTHING_KNOWN`, a relative gap of inf, in three cases. The metric is not feasible or has an infinite
    objective. The scale is nearly 0. Double precision cannot decide at this tolerance.
    """
    judged = proof.step or proof
    if not proof.feasibility.feasible or not math.isfinite(proof.objective) or not proof.decides(tol):
        return NOTHING_KNOWN
    if judged.scale <= NOTHING * abs(proof.objective):
        return NOTHING_KNOWN
    if proof.step is None and proof.stationarity is not None and proof.claim == "stationary":
        return Left(proof.stationarity.relative)
    gap = max(judged.gap - judged.rounding, 0.0)
    return Left(gap / judged.scale, gap)
