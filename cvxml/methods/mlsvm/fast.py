"""The fast solver of MLSVM: the solver of solvers/cone_dual.py, until the gap is a share of the scale."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Status, Step
from cvxml.methods.mlsvm.dual import CompactDual
from cvxml.solvers.cone_dual import At, Search

Callback = Callable[[Step], None]


@dataclass(eq=False)
class Progress:
    """The history of one solve, and the point of smallest gap."""

    problem: CompactDual
    tol: float
    callback: Callback | None
    tightest: At | None = None
    history: list[Step] = field(default_factory=list)
    iteration: int = 0
    started: float = field(default_factory=time.perf_counter)

    def done(self, at: At, phase: str, iteration: int) -> bool:
        """Record `at`; True if its gap is at most half of tol times the scale."""
        self.iteration = iteration
        slack, gap = self.problem.slack_and_gap(at.v, at.margins)
        if self.tightest is None or gap < self.tightest.gap:
            self.tightest = at
        objective = at.scale + slack
        seconds = time.perf_counter() - self.started
        step = Step(iteration, seconds, objective, objective - gap, gap, phase, at.scale)
        self.history.append(step)
        if self.callback is not None:
            self.callback(step)
        # if A* = 0, the dual has only the rounding of G left
        nothing = 64 * EPS**2 * float(np.sum(at.values**2)) / self.problem.lam
        if gap <= 0.5 * self.tol * at.scale or at.value <= nothing:
            self.tightest = at
            return True
        return False


def fast(
    problem: CompactDual,
    starts: Sequence[FloatArray],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> tuple[FloatArray, Status, Progress]:
    """Minimise the compact dual from the best of some feasible `starts` until gap <= tol * scale."""
    progress = Progress(problem, tol, callback)
    best = min((problem.at(v) for v in starts), key=lambda at: at.value)
    try:
        status = _run(progress, best, max_iter)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return (progress.tightest or best).v, status, progress


def _run(progress: Progress, best: At, max_iter: int) -> Status:
    if progress.done(best, "start", 0):
        return Status.CONVERGED
    search = Search(progress.problem, progress.problem.first_step(), max_iter)
    for at, phase in search.points(best):
        if at is not best and progress.done(at, phase, search.iteration):
            return Status.CONVERGED
    return Status.MAX_ITER if search.spent else Status.STALLED
