"""The loop around an algorithm: its start, its result, its steps and interrupts. Proofs are computed elsewhere.

`run` drives the iterative fast solvers, `interruptible` an algorithm with its own loop, and `in_one_step` a closed
form. A callback gets each Step. A dual is a dict of arrays, the dual variables by name.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Protocol, runtime_checkable

from cvxml.core.clock import Deadline, TimeUp
from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Dual, Status, Step, step_of
from cvxml.core.work import PROVING, doing

Callback = Callable[[Step], None] | None
Keep = Callable[[FloatArray, Dual], None]


class Start(NamedTuple):
    """A start for an algorithm: the psd metric of another solution, and its dual variables."""

    metric: FloatArray
    dual: Dual


class Found(NamedTuple):
    """The result of an algorithm, before the final proof.

    n_iter: the number of iterations. notes: facts that only the algorithm knows, as sentences.
    proof: the certificate of the metric and the dual; None if it is not computed yet.
    """

    metric: FloatArray
    dual: Dual
    status: Status  # CONVERGED or STATIONARY, unless the algorithm was stopped
    n_iter: int
    history: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()  # facts that only the algorithm knows, as sentences
    # certificate of the metric and the dual; None if it is not yet computed
    proof: Certificate | None = None


class FromCallback(Exception):
    """An error of the user's callback. A search must not mistake it for an error of the algorithm and go on."""

    def __init__(self, error: Exception):
        super().__init__(str(error))
        self.error = error


class Watch:
    """A callback that passes each step to another callback, and raises TimeUp if the time limit is over."""

    def __init__(self, deadline: Deadline, callback: Callback):
        self.deadline, self.callback = deadline, callback

    def __call__(self, step: Step) -> None:
        if self.callback is not None:
            try:
                self.callback(step)
            except Exception as error:
                raise FromCallback(error) from error
        self.look()

    def look(self, _: Step | None = None) -> None:
        """End the algorithm if its time limit is over, as Ctrl-C would. The step is not passed on to the user."""
        self.deadline.look()

    def named(self, found: Found) -> Found:
        """Return the result with status TIME_LIMIT if the time limit ended the algorithm; else unchanged."""
        ended = self.deadline.up and found.status is Status.INTERRUPTED
        return found._replace(status=Status.TIME_LIMIT) if ended else found


def silent(callback: Callback) -> Callback:
    """Return a callback that checks the time only, for work with steps that are not shown to the user.

    It is None if `callback` is not a `Watch`, that is, if there is no time to check.
    """
    return callback.look if isinstance(callback, Watch) else None


class Following(Watch):
    """The watch of a second search: its steps are numbered after `last`, the last step of the first search."""

    def __init__(self, watch: Watch, last: Step):
        self.watch, self.last = watch, last

    def __call__(self, step: Step) -> None:
        self.watch(follows(step, self.last))

    def look(self, _: Step | None = None) -> None:
        self.watch.look()


def follows(step: Step, last: Step) -> Step:
    """Return the step with its number and its time counted on from `last`."""
    iteration, seconds = last.iteration + 1 + step.iteration, last.seconds + step.seconds
    return replace(step, iteration=iteration, seconds=seconds)


def untried(starts: Sequence[str], runs: int) -> tuple[str, ...]:
    """Return a tuple with one sentence that names the starts that were not tried; () if all starts were tried.

    starts: the names of all starts, in the order of the runs. runs: how many of them were tried.
    """
    left = ", ".join(starts[runs:])
    return (f"stopped before these starts were tried: {left}",) if left else ()


class Interrupted(KeyboardInterrupt):
    """The user's interrupt, with the best result so far. `ConvexMethod` catches it and returns this result."""

    def __init__(self, found: Found):
        super().__init__()
        self.found = found


def interruptible(callback: Callback, algorithm: Callable[[Keep, Callback], Found]) -> Found:
    """Run `algorithm`, and return its result.

    algorithm: called with a function `keep` and a callback for its steps. The algorithm has to pass each metric (d, d)
        and its dual to `keep`, so that an interrupt loses nothing.
    callback: gets each step too.

    After an interrupt, by the user or by the time limit, raises Interrupted with the last metric and dual. If `keep`
    was not called yet, raises KeyboardInterrupt.
    """
    kept: list[tuple[FloatArray, Dual]] = []
    history: list[Step] = []
    look = silent(callback)

    def keep(metric: FloatArray, dual: Dual) -> None:
        kept[:] = [(metric, dual)]
        if look is not None and history:  # the first step is always passed on
            look(history[-1])

    def told(step: Step) -> None:
        history.append(step)
        if callback is not None:
            callback(step)

    try:
        return algorithm(keep, told)
    except KeyboardInterrupt:
        if not kept:
            raise
        raise Interrupted(Found(*kept[0], Status.INTERRUPTED, len(history), tuple(history))) from None


def in_one_step(
    metric: FloatArray, dual: Dual, prove: Callable[[FloatArray, Dual], Certificate], callback: Callback
) -> Found:
    """Return the result of a closed form as one step, and pass the step to the callback.

    prove: returns the certificate of the metric and the dual.
    """
    began = time.perf_counter()
    with doing(PROVING):
        proof = prove(metric, dual)
    step = step_of(proof, 1, time.perf_counter() - began, "closed form")
    if callback is not None:
        with suppress(TimeUp):  # the work is done, so the time limit does not matter
            callback(step)
    return Found(metric, dual, Status.CONVERGED, 1, (step,), proof=proof)


class Estimate(NamedTuple):
    """The objective, gap and scale of an iterate by its solver's own arithmetic, without bounds of rounding errors.

    The gap is that of the metric and of feasible dual variables, for the rows that the solver holds. If the solver
    holds all rows, it is a gap up to rounding; otherwise objective and gap may be too small. It is inf if the solver
    has no feasible dual variables yet. A certificate first repairs dual variables that are not feasible. `guess`
    estimates the gap after this repair; inf if the solver has no such estimate.
    """

    objective: float
    gap: float
    scale: float
    guess: float = math.inf

    def may_prove(self, tol: float) -> bool:
        return min(self.gap, self.guess) <= tol * self.scale

    def step(self, iteration: int, seconds: float, phase: str) -> Step:
        return Step(
            iteration, seconds, self.objective, self.objective - self.gap, self.gap, phase, self.scale
        )


class Iterate(Protocol):
    """An algorithm in its current state. It may also have the method `estimate` of `Estimating`."""

    def metric(self) -> FloatArray:
        """Return the current metric (d, d)."""

    def dual(self) -> Dual:
        """Return the dual variables for the certificate of the current metric."""

    def step(self) -> bool:
        """Make one step. Return False if rounding allows no further step."""


@runtime_checkable
class Estimating(Protocol):
    """An algorithm that can estimate the gap of its current metric without a certificate."""

    def estimate(self) -> Estimate | None:
        """Return the solver's objective, gap and scale of the current metric.

        None if the solver has no estimate; `run` then computes a certificate.
        """


def run(
    at: Iterate,
    prove: Callable[[FloatArray, Dual], Certificate],
    tol: float,
    max_iter: int,
    callback: Callback,
    phase: str,
    patience: float = math.inf,
) -> Found:
    """Step until the certificate meets tol, until max_iter, or until rounding allows no step; return the best iterate.

    The best iterate is the one that meets tol, or else the one with the smallest gap. As long as no gap is finite, it
    is the one with the smallest objective. If rounding ends the steps, the status is STALLED.

    at: the algorithm at its start. prove: returns the certificate of a metric and its dual.
    phase: the name of the algorithm's phase in each Step.
    patience: number of steps without a smaller gap after which the status is STALLED.

    A proof costs about as much as a step. If the algorithm has estimates of its gap, an iterate is proved only if its
    estimated relative gap is at most tol, or at the end. Then the best and the last iterate are proved and compared.

    Raises Interrupted with the best iterate after an interrupt by the user or by the time limit.
    """
    history: list[Step] = []
    began, least, lowest, without = time.perf_counter(), math.inf, math.inf, 0
    best, status = (at.metric(), at.dual()), Status.MAX_ITER
    proved = True  # the last iterate
    try:
        for iteration in range(max_iter + 1):
            metric, dual = at.metric(), at.dual()
            estimate = _estimate(at)
            without += 1
            proved = estimate is None or estimate.may_prove(tol) or iteration == max_iter
            if proved:
                with doing(PROVING):
                    proof = prove(metric, dual)
                history.append(step_of(proof, iteration, time.perf_counter() - began, phase))
                if proof.proves(tol):
                    best, status = (metric, dual), Status.CONVERGED
            elif estimate is not None:
                history.append(estimate.step(iteration, time.perf_counter() - began, phase))
            gap, objective = history[-1].gap, history[-1].objective
            better = gap < least or (not proved and gap == least == math.inf and objective < lowest)
            if status is not Status.CONVERGED and better:
                least, lowest, best, without = gap, objective, (metric, dual), 0
            if callback is not None:
                callback(history[-1])
            if status is Status.CONVERGED:
                break
            if iteration < max_iter and (without >= patience or not at.step()):
                status = Status.STALLED
                break
        if not proved:
            with doing(PROVING):
                best = min((best, (metric, dual)), key=lambda each: _size(prove(*each)))
                status = Status.CONVERGED if prove(*best).proves(tol) else status
    except KeyboardInterrupt:
        raise Interrupted(Found(*best, Status.INTERRUPTED, len(history), tuple(history))) from None
    return Found(*best, status, iteration, tuple(history))


def _estimate(at: Iterate) -> Estimate | None:
    """Return the solver's own estimate of an iterate.

    None if the solver has no estimate, if the estimated objective or scale is not finite, or if the gap is NaN.
    """
    found = at.estimate() if isinstance(at, Estimating) else None
    known = found is not None and math.isfinite(found.objective + found.scale) and not math.isnan(found.gap)
    return found if known else None


def _size(proof: Certificate) -> float:
    """Return the gap of a certificate plus its rounding, to compare certificates; inf if it is not a number."""
    return math.inf if math.isnan(proof.gap) else proof.gap + proof.rounding
