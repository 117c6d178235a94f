"""What an algorithm starts from and ends with, and how it is stepped and interrupted: nothing here is proved."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple, Protocol

from cvxml.core.clock import Deadline, TimeUp
from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate, Dual, Status, Step, step_of

Callback = Callable[[Step], None] | None
Keep = Callable[[FloatArray, Dual], None]


class Start(NamedTuple):
    """What an algorithm may go on from: the psd metric of another solution, and the dual beside it."""

    metric: FloatArray
    dual: Dual


class Found(NamedTuple):
    """What an algorithm ended with: nothing is proved yet."""

    metric: FloatArray
    dual: Dual
    status: Status  # CONVERGED or STATIONARY unless it was stopped
    n_iter: int
    history: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()  # what only the algorithm knows, as sentences
    # the method's certificate of the metric and the dual; None if it is not yet computed
    proof: Certificate | None = None


class Watch:
    """A callback that passes each step to another callback, and raises TimeUp if the time limit is over."""

    def __init__(self, deadline: Deadline, callback: Callback):
        self.deadline, self.callback = deadline, callback

    def __call__(self, step: Step) -> None:
        """Tell of the step, and look at the time."""
        if self.callback is not None:
            self.callback(step)
        self.look()

    def look(self, _: Step | None = None) -> None:
        """Look at the time, and tell nobody."""
        self.deadline.look()

    def named(self, found: Found) -> Found:
        """What was found, its status that of the time where that ended the algorithm."""
        ended = self.deadline.up and found.status is Status.INTERRUPTED
        return found._replace(status=Status.TIME_LIMIT) if ended else found


def silent(callback: Callback) -> Callback:
    """For work of which nobody is told: the time is looked at all the same."""
    return callback.look if isinstance(callback, Watch) else None


class Following(Watch):
    """The watch of a second search: its steps are numbered after `last`, the last step of the first search."""

    def __init__(self, watch: Watch, last: Step):
        self.watch, self.last = watch, last

    def __call__(self, step: Step) -> None:
        """Pass the step on, and check the time."""
        self.watch(follows(step, self.last))

    def look(self, _: Step | None = None) -> None:
        """Check the time only; the step is not passed on."""
        self.watch.look()


def follows(step: Step, last: Step) -> Step:
    """Return the step with its number and its time counted on from `last`."""
    iteration, seconds = last.iteration + 1 + step.iteration, last.seconds + step.seconds
    return replace(step, iteration=iteration, seconds=seconds)


def untried(starts: Sequence[str], runs: int) -> tuple[str, ...]:
    """A sentence on the starts that an end before its time left out, by name."""
    left = ", ".join(starts[runs:])
    return (f"stopped before these starts were tried: {left}",) if left else ()


class Interrupted(KeyboardInterrupt):
    """The user's interrupt, with what was found before it: only `ConvexMethod.find` stops it."""

    def __init__(self, found: Found):
        super().__init__()
        self.found = found


def interruptible(callback: Callback, algorithm: Callable[[Keep, Callback], Found]) -> Found:
    """What `algorithm` finds. It tells `keep` each metric (d, d) and its dual, so that an interrupt loses nothing.

    Raises Interrupted with the last of them; KeyboardInterrupt where there was none yet.
    """
    kept: list[tuple[FloatArray, Dual]] = []
    history: list[Step] = []
    look = silent(callback)

    def keep(metric: FloatArray, dual: Dual) -> None:
        kept[:] = [(metric, dual)]
        if look is not None and history:  # the first step is told of always
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
    """A closed form: one step, of which the callback is told."""
    began = time.perf_counter()
    step = step_of(prove(metric, dual), 1, time.perf_counter() - began, "closed form")
    if callback is not None:
        with suppress(TimeUp):  # it is done
            callback(step)
    return Found(metric, dual, Status.CONVERGED, 1, (step,))


class Iterate(Protocol):
    """An algorithm under way."""

    def metric(self) -> FloatArray:
        """(d, d)"""

    def dual(self) -> Dual:
        """What proves it."""

    def step(self) -> bool:
        """Go on; False where rounding allows no step."""


def run(
    at: Iterate,
    prove: Callable[[FloatArray, Dual], Certificate],
    tol: float,
    max_iter: int,
    callback: Callback,
    phase: str,
    patience: float = math.inf,
) -> Found:
    """Step until `prove` says that tol is met, max_iter or the end of what rounding allows; the best iterate.

    patience: steps without a better gap, after which rounding is to blame. Raises Interrupted, with the best, where the
    user interrupts.
    """
    history: list[Step] = []
    began, least, without = time.perf_counter(), math.inf, 0
    best, status = (at.metric(), at.dual()), Status.MAX_ITER
    try:
        for iteration in range(max_iter + 1):
            metric, dual = at.metric(), at.dual()
            proof = prove(metric, dual)
            without += 1
            seconds = time.perf_counter() - began
            history.append(step_of(proof, iteration, seconds, phase))
            if proof.proves(tol):
                best, status = (metric, dual), Status.CONVERGED
            elif proof.gap < least:
                least, best, without = proof.gap, (metric, dual), 0
            if callback is not None:
                callback(history[-1])
            if status is Status.CONVERGED:
                break
            if iteration < max_iter and (without >= patience or not at.step()):
                status = Status.STALLED
                break
    except KeyboardInterrupt:
        raise Interrupted(Found(*best, Status.INTERRUPTED, len(history), tuple(history))) from None
    return Found(*best, status, iteration, tuple(history))
