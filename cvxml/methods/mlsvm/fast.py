"""The fast certified solver of MLSVM: accelerated gradient on the compact dual, then Newton on its face.

Accelerated gradient (solvers/first_order.py) finds which constraints matter; semismooth Newton steps (newton.py) then
reach any accuracy in a few rounds, a few gradient steps between them letting constraints in and out. Newton is tried
after each batch of gradient steps and given up, until the next batch, as soon as a round takes next to none of its
step. Where the features differ so much in scale that gradient steps get nowhere, the interior-point method
(interior.py) takes over.
A round costs as much as many gradient steps, so a batch is about as long as a round is dear: the order of
events depends on operation counts, never on a clock. Every iterate is feasible, so each check of the gap is a proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Status, Step
from cvxml.methods.mlsvm.dual import CompactDual
from cvxml.methods.mlsvm.interior import interior
from cvxml.methods.mlsvm.newton import newton_point, reach_of
from cvxml.solvers.first_order import State, accelerated
from cvxml.solvers.newton import MAX_ENTRIES

CHECK_EVERY = 10
LONG = 1500  # iterations without a smaller gap
LONGEST_BATCH = 150  # gradient steps before Newton is tried
BETWEEN = 7  # gradient steps between two Newton rounds at most,
SHARE = 0.1  # of what a round costs
SHORT = 0.1  # of a Newton step: less is none
Callback = Callable[[Step], None]


@dataclass(eq=False)
class Point:
    """A feasible v with what was computed at it."""

    v: FloatArray
    image: FloatArray  # G(v)
    values: FloatArray  # its eigenvalues
    vectors: FloatArray
    D: FloatArray  # distances at A = P_+(G)/lam
    value: float  # what is minimised: usable/n - dual objective
    scale: float  # lam/2 ||A||^2
    slack: float  # sum of xi / n
    gap: float


@dataclass(eq=False)
class Search:
    """The state of one solve: the best point so far, the history, the work spent."""

    problem: CompactDual
    tol: float
    max_iter: int
    callback: Callback | None
    best: Point | None = None  # of lowest dual value
    tightest: Point | None = None  # of smallest gap: what is returned
    history: list[Step] = field(default_factory=list)
    iteration: int = 0
    improved: int = 0  # the iteration that last made the smallest gap smaller by a hundredth
    reach: float = 1e4  # sigma of newton.py, in first-order steps
    started: float = field(default_factory=time.perf_counter)

    def point(self, v: FloatArray, image: FloatArray | None = None) -> Point:
        """Everything at v, whose image may be known."""
        G = self.problem.image(v) if image is None else image
        values, vectors = np.linalg.eigh(G)
        D = self.problem.distances(vectors, values)
        slack, gap = self.problem.gap(v, D)
        value, scale = self.problem.value(v, values), self.problem.quadratic(values)
        return Point(v, G, values, vectors, D, value, scale, slack, gap)

    def done(self, at: Point, phase: str) -> bool:
        """Record `at`; True if its gap is small enough for a proof to tol (with room to spare)."""
        if self.best is None or at.value < self.best.value:
            self.best = at
        if self.tightest is None or at.gap < 0.99 * self.tightest.gap:
            self.improved = self.iteration
        if self.tightest is None or at.gap < self.tightest.gap:
            self.tightest = at
        seconds = time.perf_counter() - self.started
        objective = at.scale + at.slack
        step = Step(self.iteration, seconds, objective, objective - at.gap, at.gap, phase, at.scale)
        self.history.append(step)
        if self.callback is not None:
            self.callback(step)
        # where A* = 0, all that is left of the dual is the rounding of G
        nothing = 64 * EPS**2 * float(np.sum(at.values**2)) / self.problem.lam
        if at.gap <= 0.5 * self.tol * at.scale or at.value <= nothing:
            self.tightest = at
            return True
        return False


def fast(
    problem: CompactDual,
    starts: Sequence[FloatArray],
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
) -> tuple[FloatArray, Status, Search]:
    """Minimise the compact dual from the best of some feasible `starts` until gap <= tol * scale."""
    search = Search(problem, tol, max_iter, callback)
    best = min((search.point(v) for v in starts), key=lambda at: at.value)
    try:
        status = _run(search, best)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return (search.tightest or best).v, status, search


def _run(search: Search, best: Point) -> Status:
    if search.done(best, "start"):
        return Status.CONVERGED
    problem = search.problem
    states = accelerated(problem, best.v, problem.first_step())
    patience, stalled = _patience(problem), 0
    while search.iteration < search.max_iter:
        look()
        before = best.value
        here, step, finished = _gradient_batch(search, states)
        if finished:
            return Status.CONVERGED
        after, full, finished = _newton_rounds(search, here, step)
        if finished:
            return Status.CONVERGED
        if full:  # Newton moved on; otherwise the gradient steps keep their momentum
            states, best = accelerated(problem, after.v, step), after
        else:
            best = here
        stalled = stalled + 1 if before - best.value <= 1e-15 * abs(before) else 0
        if search.iteration > patience or (stalled >= 5 and patience < search.max_iter):
            if _interior(search, step):
                return Status.CONVERGED
            best, patience, stalled = search.best or best, search.max_iter, 0
            states = accelerated(problem, best.v, step)
        if stalled >= 5 or search.iteration > search.improved + LONG:
            return Status.STALLED
    return Status.MAX_ITER


def _interior(search: Search, step: float) -> bool:
    """The interior-point method, each of its later iterates finished by Newton; True if certified."""
    for v in interior(search.problem):
        search.iteration += 1
        here = search.point(search.problem.project(v))
        if search.done(here, "interior"):
            return True
        if search.iteration >= search.max_iter:
            return False
        if here.gap <= 1e-3 * here.scale and _newton_rounds(search, here, step)[2]:
            return True
    return False


def _gradient_batch(search: Search, states: Iterator[State]) -> tuple[Point, float, bool]:
    """Gradient steps until they cost as much as a Newton round; the last point, step length, certified or not."""
    for count, state in enumerate(states, start=1):
        search.iteration += 1
        last = search.iteration >= search.max_iter
        if count % CHECK_EVERY == 0 or last:
            here = search.point(state.v, state.image)
            finished = search.done(here, "gradient")
            last = last or count >= min(_relative_cost(search.problem, here), LONGEST_BATCH)
            if finished or last:
                return here, state.step, finished
    raise AssertionError("gradient steps do not end by themselves")


def _newton_rounds(search: Search, best: Point, step: float) -> tuple[Point, bool, bool]:
    """Newton rounds while they pay: the best point, whether any took its full step, and whether it is certified.

    Gradient steps in between change the face.
    """
    problem, full = search.problem, False
    between = int(np.clip(SHARE * _relative_cost(problem, best), 1, BETWEEN))
    while search.iteration < search.max_iter:
        look()
        reach = reach_of(problem, best.v, best.D, search.reach * step)
        goal = newton_point(problem, best.v, best.D, best.values, best.vectors, reach)
        if goal is None:
            break
        search.iteration += 1
        taken, trial = 1.0, search.point(goal)
        towards = trial.image - best.image
        while trial.value > best.value and taken > SHORT:
            look()
            taken /= 2
            trial = search.point(best.v + taken * (goal - best.v), best.image + taken * towards)
        if trial.value <= best.value:
            best = trial
            if search.done(best, "newton"):
                return best, True, True
        if taken == 1.0:
            full = True
            search.reach = min(search.reach * 5, 1e12)
        elif taken < 0.25:
            search.reach = max(search.reach / 25, 1.0)
        if taken < SHORT or best is not trial or search.iteration >= search.max_iter:
            break
        steps = min(between, search.max_iter - search.iteration)
        state = next(islice(accelerated(problem, best.v, step), steps - 1, None))
        search.iteration += steps
        step, best = state.step, search.point(state.v, state.image)
        if search.done(best, "gradient"):
            return best, True, True
    return best, full, False


def _patience(problem: CompactDual) -> int:
    """How many gradient steps and Newton rounds to take before the interior-point method is the better bet.

    That is when they have cost as much as it would, some 40 iterations; never where its equations are too large.
    """
    pairs = problem.d * (problem.d + 1) / 2
    rows = float(np.count_nonzero(problem.sign))
    if rows * pairs > MAX_ENTRIES:
        return 10**9  # as good as never
    gradient = problem.n * problem.d**2 * 4 + 12 * problem.d**3 + 1e6
    return max(300, int(40 * (rows * pairs**2 + 5e6) / gradient))


def _relative_cost(problem: CompactDual, at: Point) -> float:
    """About how many gradient steps a Newton round costs."""
    positive = float(np.count_nonzero(at.values > 0))
    pairs = positive * problem.d - positive * (positive - 1) / 2
    face = float(np.count_nonzero(at.v)) - len(at.v)
    gradient = problem.n * problem.d**2 * 4 + 12 * problem.d**3 + 5e6
    return float(face * pairs * min(face, pairs) / gradient)
