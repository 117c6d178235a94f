"""The concave-convex procedure: fix h* at the current W, solve the convex step, improve the scale, repeat.

Every step keeps the W it started from among its candidates and its objective majorises F, so F never increases
(asserted). It ends where the step's certified bound leaves at most tol * ||W||^2 to gain: W is then, to that
tolerance, optimal for its own convex step. That is stationarity, and no proof of a global optimum. At W = 0 all sets
tie for h*: what ends there with others than the certificate takes goes on with those.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Status, Step
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import Point, as_certified, point_at, rescaled
from cvxml.methods.ssvm.step import StepSolver


@dataclass(eq=False)
class Run:
    """One run of CCCP from one start."""

    at: Point  # the last W, and the best
    dual: tuple[FloatArray, IntArray, IntArray]  # weights, points, sets of the last step
    status: Status
    steps: int = 0
    history: list[Step] = field(default_factory=list)


def cccp(
    p: Instance, W: FloatArray, tol: float, max_iter: int, callback: Callable[[Step], None] | None = None
) -> Run:
    """CCCP from W (d, d), at most `max_iter` steps."""
    started = time.perf_counter()
    at = rescaled(p, point_at(p, W))
    solver = StepSolver(p, at.latent)
    run = Run(at, solver.dual(), Status.MAX_ITER)
    try:
        while run.steps < max_iter and run.status is Status.MAX_ITER:
            result = solver.solve(at, tol)
            new = rescaled(p, result.best)
            if result.objective + new.rounding(p.C) < new.F:
                raise AssertionError(
                    f"F = {new.F!r} above its majorant {result.objective!r}: CCCP would not descend"
                )
            run.steps += 1
            open_gap = at.F - result.bound
            step = Step(
                run.steps, time.perf_counter() - started, at.F, result.bound, open_gap, "cccp", at.norm2
            )
            run.history.append(step)
            run.dual = solver.dual()
            if callback is not None:
                callback(step)
            proved = open_gap <= tol * at.norm2 + at.rounding(p.C)
            if not proved and new.F < at.F:
                run.at = at = new
            elif (other := as_certified(p, at)) is not at:
                run.at = at = other
            else:
                run.status = Status.STATIONARY if proved else Status.STALLED
    except KeyboardInterrupt:
        run.status = Status.INTERRUPTED
    return run
