"""The fast solver of MLSVM: the solver of solvers/cone_dual.py, and an interior-point method if that takes long.

If the features differ much in scale, gradient steps find the active constraints only after very many iterations.
The interior-point method (interior.py) needs about 40 iterations for any scaling, but it stops at the rounding of its
equations. The solver then goes on from the best point.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Status, Step
from cvxml.methods.mlsvm.dual import CompactDual
from cvxml.methods.mlsvm.interior import interior
from cvxml.solvers.cone_dual import At, Search
from cvxml.solvers.newton import MAX_ENTRIES

PATIENCE = 100  # gradient steps and Newton rounds before the interior-point method, at least
Callback = Callable[[Step], None]


@dataclass(eq=False)
class Progress:
    """The history of one solve, the point of lowest objective, and the point of smallest gap."""

    problem: CompactDual
    tol: float
    callback: Callback | None
    lowest: At | None = None
    tightest: At | None = None
    history: list[Step] = field(default_factory=list)
    iteration: int = 0
    started: float = field(default_factory=time.perf_counter)

    def done(self, at: At, phase: str, iteration: int) -> bool:
        """Record `at`; True if its gap is at most half of tol times the scale."""
        self.iteration = iteration
        gap = at.gap
        if self.lowest is None or at.value < self.lowest.value:
            self.lowest = at
        if self.tightest is None or gap < self.tightest.gap:
            self.tightest = at
        objective = at.scale + self.problem.slack(at.margins)
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


def _run(progress: Progress, start: At, max_iter: int) -> Status:
    if progress.done(start, "start", 0):
        return Status.CONVERGED
    problem = progress.problem
    search = Search(problem, problem.lam, min(_patience(problem), max_iter))
    if _reaches(progress, search, start):
        return Status.CONVERGED
    if search.iteration < max_iter and _patience(problem) < math.inf:
        for v in interior(problem):
            search.iteration += 1
            if progress.done(problem.at(problem.feasible.project(v)), "interior", search.iteration):
                return Status.CONVERGED
            if search.iteration >= max_iter:
                return Status.MAX_ITER
        search.max_iter = max_iter
        if _reaches(progress, search, progress.lowest or start):
            return Status.CONVERGED
    return Status.MAX_ITER if search.iteration >= max_iter else Status.STALLED


def _reaches(progress: Progress, search: Search, start: At) -> bool:
    """Run the search from a point; True if it ends with a gap that is small enough."""
    points = search.points(start)
    next(points)  # the start is known
    return any(progress.done(at, phase, search.iteration) for at, phase in points)


def _patience(problem: CompactDual) -> float:
    """The number of gradient steps and Newton rounds before the interior-point method.

    They then cost as much as its 40 iterations. It is inf if the equations of the interior-point method are too large.
    """
    pairs = problem.d * (problem.d + 1) / 2
    rows = float(np.count_nonzero(problem.sign))
    if rows * pairs > MAX_ENTRIES:
        return math.inf
    return max(PATIENCE, float(40 * (rows * pairs**2 + 5e6) / problem.cost))
