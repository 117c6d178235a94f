"""The fast solver of gerrymandering: one convex step by column generation on its dual, and CCCP, which repeats steps.

A step at a metric W fixes h*_i for each point i: the cheapest set of k neighbours that lets the class of i win. The
cost of a set is the sum of its squared distances, S is minus the cost, and Delta is the loss of the vote of the set.
The objective of the step is

    ||W||^2 + C sum_i ( max_h [S_W(i, h) + Delta(i, h)] + cost of h*_i at W ).

`Columns` is the dual of a step over a few sets for each point, in floats. `StepSolver` adds sets until the gap of the
step is small. `cccp` fixes h* at the solution of the last step and solves the next one. A `Point` is a metric W with
both inferences at W, the worst sets (largest S + Delta) and h*, and the objective F.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.result import Dual, Status, Step
from cvxml.core.run import Callback
from cvxml.family.geometry.symmetric import quadratic, weighted
from cvxml.methods.ssvm.inference import Point, as_certified, point_at, rescaled, scores, sets_of, task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.solvers.cone_dual import At, ConeDual, OwnMetric, Search, patience_for
from cvxml.solvers.feasible_sets import Simplices
from cvxml.solvers.interior_point import State, interior
from cvxml.solvers.newton import Derivative
from cvxml.solvers.scaling import Scaling
from cvxml.solvers.simplex_interior import SimplexRows

IDLE = 8  # rounds without weight, after which a set is dropped
BLOCK = 512  # pairs at a time: their differences stay in a cache
OVERHEAD = 2e6  # of a gradient step, in multiplications
CLASSES = 3  # classes for each point and round that add their best set
SHARE = 0.5  # of the open gap: the gap of the restricted dual when a round ends
ENOUGH = 2.0  # a step may end if its gap is at most this many times its decrease of the objective
BATCH = (100, 1000)  # gradient steps before Newton steps; Newton steps alone do not reach W* = 0
LONGEST = 2000  # steps in a round
FAR_LONGER = 10  # an interior-point method may take as long as this many times `LONGEST` gradient steps
MAX_ROUNDS = 200


class Columns(ConeDual):
    """The dual of a step over the sets in use: q (n, columns), padded to the longest list of sets.

    q[i, c] >= 0 is the weight of the set sets[i, c] (k indices), and sum_c q[i, c] = 1.
        minimise  1/4 ||P_+(M)||^2 - C sum q Delta,
        M = C sum_i ( sum_c q_ic sum_{j in sets[i, c]} X_ij - sum_{j in h*_i} X_ij )
    P_+ replaces negative eigenvalues by 0, and X_ij = (x_i - x_j)(x_i - x_j)^T. Then W = P_+(M) / 2, so lam of the base
    class `ConeDual` is 2. In the paper's terms (problem.py), M = -C (sum q Psi - P), with P the sum of Psi at h*. A
    gradient step of q[i] is multiplied by 1 / max_c sum_{j in sets[i, c]} ||x_i - x_j||^2, one factor for each point.
    """

    lam = 2.0

    def __init__(self, p: Instance, latent: IntArray):
        self.X = p.X - p.X.mean(axis=0)
        self.y, self.C, self.Lam, self.latent = p.y, p.C, p.Lam, latent
        self.sign = p.C
        n = len(p.y)
        self.sets = latent[:, None, :].copy()  # (n, columns, k), indices increasing
        self.real = np.ones((n, 1), dtype=bool)
        self.delta = np.zeros((n, 1))  # Delta of h*_i is 0
        self.idle = np.zeros((n, 1), dtype=np.intp)  # rounds without weight
        self.length = self._lengths(self.sets)
        self.q = np.ones((n, 1))
        self._index()

    def _lengths(self, sets: IntArray) -> FloatArray:
        """sum_{j in h} ||x_i - x_j||^2 (n, m), for the sets h of each point i in `sets` (n, m, k)."""
        total = np.zeros(sets.shape[:2])
        for t in watched(range(sets.shape[2])):
            difference = self.X[:, None, :] - self.X[sets[:, :, t]]
            total += np.einsum("nmd,nmd->nm", difference, difference)
        return total

    def set_latent(self, latent: IntArray) -> None:
        """Change h* in M to `latent` (n, k). The sets in use stay, and h* is added to them."""
        self.latent = latent
        self.take_in(latent[:, None, :], np.ones((len(latent), 1), dtype=bool))

    def take_in(self, sets: IntArray, wanted: np.ndarray) -> None:
        """Add the sets (n, m, k), m for each point, where `wanted` (n, m) is True and the set is new.

        Drop sets that had no weight for `IDLE` rounds, except h*.
        """
        known = (self.sets[:, :, None, :] == sets[:, None, :, :]).all(axis=3) & self.real[:, :, None]
        wanted = wanted & ~known.any(axis=1)
        self.idle = np.where(self.q > 0, 0, self.idle + 1)
        is_latent = (self.sets == self.latent[:, None, :]).all(axis=2)
        keep = self.real & ((self.idle < IDLE) | is_latent)
        real = np.concatenate([keep, wanted], axis=1)
        order = np.argsort(~real, axis=1, kind="stable")[:, : int(real.sum(axis=1).max())]
        delta = task_loss(self.y[sets], np.broadcast_to(self.y[:, None], wanted.shape), self.Lam)

        def merged(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            both = np.concatenate([old, new], axis=1)
            return np.take_along_axis(both, order if both.ndim == 2 else order[:, :, None], axis=1)

        self.real = np.take_along_axis(real, order, axis=1)
        self.sets, self.delta = merged(self.sets, sets), merged(self.delta, delta)
        self.idle = merged(self.idle, np.zeros_like(wanted, dtype=np.intp))
        self.length = np.where(self.real, merged(self.length, self._lengths(sets)), 0.0)
        self.q = np.where(self.real, merged(self.q, np.zeros(wanted.shape)), 0.0)
        self._index()

    def _index(self) -> None:
        """Compute anew the arrays that depend on the sets in use.

        steps (n, 1): the factor of a gradient step for each point. rows, columns (m,): the place of each set in q.
        first, second (p,): the distinct pairs (i, j) of a point and a member of one of its sets. where (m, k): the pair
        of each member of each set, as an index into `first`. used_by_latent (p,): 1 for the pairs of h*, else 0.
        """
        n, k = self.latent.shape
        self.feasible = Simplices(self.real)
        self.cost = 10 * self.X.shape[1] ** 3 + 4 * self.X.shape[1] * self.sets.size + OVERHEAD
        self.steps = 1 / np.maximum(self.length.max(axis=1, keepdims=True), 1e-100)
        self.rows, self.columns = np.nonzero(self.real)
        of_sets = self.rows[:, None] * n + self.sets[self.rows, self.columns]
        of_latent = np.arange(n)[:, None] * n + self.latent
        keys, where = np.unique(np.concatenate([of_sets, of_latent]), return_inverse=True)
        self.first, self.second = np.divmod(keys, n)
        self.where = where.reshape(-1, k)[: len(self.rows)]
        self.used_by_latent = np.bincount(where.reshape(-1, k)[len(self.rows) :].ravel(), minlength=len(keys))
        self.row_ends = np.concatenate([[0], np.cumsum(np.bincount(self.first, minlength=n))])

    def image(self, q: FloatArray) -> FloatArray:
        """The matrix M (d, d) of q (n, columns), through the graph Laplacian of the weights of the pairs."""
        n, k = self.latent.shape
        weights = np.bincount(
            self.where.ravel(), np.repeat(q[self.rows, self.columns], k), minlength=len(self.first)
        )
        weights -= self.used_by_latent
        graph = csr_array((weights, self.second, self.row_ends), shape=(n, n))
        degree = np.bincount(self.first, weights, minlength=n) + np.bincount(
            self.second, weights, minlength=n
        )
        half = self.X.T @ (degree[:, None] / 2 * self.X - graph @ self.X)
        M: FloatArray = self.C * (half + half.T)
        return M

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """The sum of squared distances from i to the members of each set (n, columns), in the metric W = P_+(M) / 2.

        values, vectors: eigenvalues and eigenvectors of M.
        """
        keep = values > 0
        Z = self.X @ (vectors[:, keep] * np.sqrt(values[keep] / 2))
        pairs = np.empty(len(self.first))
        for start in watched(range(0, len(pairs), BLOCK)):
            some = slice(start, start + BLOCK)
            difference = Z[self.first[some]] - Z[self.second[some]]
            pairs[some] = np.einsum("md,md->m", difference, difference)
        D = np.zeros(self.real.shape)
        D[self.rows, self.columns] = pairs[self.where].sum(axis=1)
        return D

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        (row, column), (weights, a, b) = entries, along[0]
        XQ = self.X @ vectors
        products = np.zeros((len(row), len(a)))
        for j in self.sets[row, column].T:
            edges = XQ[row] - XQ[j]
            products += edges[:, a] * edges[:, b]
        products *= weights * self.C
        return products

    def unpaid(self, q: FloatArray) -> FloatArray:
        """C sum_c q_ic (max_c' Delta_ic' - Delta_ic) for each point i (n,), a sum of terms >= 0.

        Delta_ic is the loss of the vote of set c of point i. The sum over i is - C sum q Delta plus a constant, without
        cancellation of digits.
        """
        below = self.delta.max(axis=1, keepdims=True) - self.delta
        unpaid: FloatArray = self.C * np.sum(q * below, axis=1)
        return unpaid

    def reward(self, q: FloatArray) -> FloatArray:
        return self.C * self.delta

    def gap(self, at: At) -> float:
        """The duality gap over these sets of the W and q of `at`: C sum_ic q_ic (max_c' score_ic' - score_ic).

        score_ic = Delta_ic - (sum of the squared distances of set c of point i).
        """
        score = self.delta - at.margins
        best = np.where(self.real, score, -np.inf).max(axis=1, keepdims=True)
        return self.C * float(np.sum(at.v * (best - score)))

    def bound(self, at: At) -> float:
        """C sum q Delta - 1/4 ||P_+(M)||^2 at the q of `at`: a lower bound of the step with only these sets."""
        return self.C * float(np.sum(at.v * self.delta)) - at.paid


class SetRows(SimplexRows):
    """The constraints t_i >= S(i, h) + Delta(i, h) of the sets in use, a row each, for an interior-point method.

    t_i is the maximum over h in the objective of the step. The dual variable of a set is C q.
    """

    def __init__(self, columns: Columns):
        of, used = columns, (columns.rows, columns.columns)
        super().__init__(of.lam, of.C, of.rows, of.delta[used], of.length[used])
        self.of, self.edges = of, of.X[of.first] - of.X[of.second]
        self.latent = of.image(np.zeros(of.real.shape))
        self.others: FloatArray = 1.0 - (of.sets == of.latent[:, None, :]).all(axis=2)[used]  # 0 for h*

    def weights(self, u: FloatArray) -> FloatArray:
        """q (n, columns) for the dual variables u (m,) of the sets in use, in the order of their points."""
        q = np.zeros(self.of.real.shape)
        q[self.of.rows, self.of.columns] = u / self.of.C
        return q

    def image(self, u: FloatArray) -> FloatArray:
        return self.of.image(self.weights(u)) - self.latent

    def constant(self) -> FloatArray:
        return self.latent

    def G(self, at: State) -> FloatArray:
        """M of the class `Columns`, of shape (1, d, d), as a sum over all sets except h*.

        The term of a set is C q (sum X_ij of the set - sum X_ij of h*). This form avoids the difference of 1 and the
        weight of h*, which loses digits if the weight is near 1.
        """
        of, k = self.of, self.of.sets.shape[2]
        own = at.pairs[0].value * self.others / of.C
        weights = np.bincount(of.where.ravel(), np.repeat(own, k), minlength=len(of.first)).astype(np.float64)
        weights -= of.used_by_latent * self._sum(own)[of.first]
        return of.C * weighted(self.edges, weights)[None]

    def values(self, M: FloatArray) -> FloatArray:
        v: FloatArray = quadratic(self.edges, M)[self.of.where].sum(axis=1)
        return v

    def features(self, scaling: Scaling) -> FloatArray:
        F = scaling.rows(self.edges)
        total = np.zeros((len(self.group), F.shape[1]))
        for member in self.of.where.T:
            total += F[member]
        return total


@dataclass(frozen=True)
class StepResult:
    """The result of a convex step.

    best: the best point found. objective: that of the step at `best`; inf if it is not known. bound: a lower bound of
    the optimum of the step.

    stationary: True if the bound proves that the step can lower the objective by at most tol * ||W||^2. Here W is the
    metric at which the step was made, not the metric of `best`.
    """

    best: Point
    objective: float  # of the step at `best`; inf if it is not known
    bound: float
    stationary: bool  # True if the metric before the step leaves at most tol * ||W||^2 to gain in it


class Steps(Protocol):
    """A solver of the convex steps of one problem.

    phase: its name in the history. unfinished: the status if a step finds no lower F and is not stationary.

    keeps_start: the behaviour of `cccp` if the user interrupts the first step. True: it returns the start. False: it
    raises KeyboardInterrupt.
    """

    phase: str  # its name in the history
    unfinished: Status  # if a step finds no lower F and proves nothing
    keeps_start: bool  # True if an interrupt of the first step returns the start

    def solve(self, at: Point, tol: float) -> StepResult:
        """Solve the step at the point `at`, to a gap of about tol * ||W||^2."""

    def dual(self) -> Dual:
        """Return the weights "q" (m,) of the last step, and "q_index" (m, 1 + k), a point and its set for each."""


class StepSolver:
    """The fast solver of steps. Each step starts from the sets and weights of the last step.

    A round solves the dual over the known sets until its gap is at most half the open gap (solvers/cone_dual.py). The
    open gap is the least objective of the step so far minus the dual value. If gradient and Newton steps do not reach
    this gap, an interior-point method goes on, which solves problems of any scale (solvers/simplex_interior.py). From
    then on, the interior-point method goes first in each round.

    Then exact inference finds the worst sets at the new W, and so the step's objective at W. Sets that are worse than
    the known sets are added, at most `CLASSES` for each point.
    """

    phase = "cccp"
    unfinished = Status.STALLED
    keeps_start = True

    def __init__(self, p: Instance, latent: IntArray):
        self.p = p
        self.columns = Columns(p, latent)
        self.step = 0.0
        self.reach = 1e3  # gradient steps: the length of a Newton step
        self.differ = False  # True: scales differ so much that the interior-point method goes first

    def dual(self) -> Dual:
        rows, columns = np.nonzero(self.columns.q)
        index = np.column_stack([rows, self.columns.sets[rows, columns]])
        return {"q": self.columns.q[rows, columns], "q_index": index}

    def solve(self, at: Point, tol: float, early: bool = True) -> StepResult:
        """Solve the step at the point `at` to a gap of at most tol * ||W||^2.

        early: stop already when the gap is at most twice the decrease of the objective in this step.
        """
        self.columns.set_latent(at.latent)
        start = self._objective(at, at.own)
        here, best, lowest, bound = at, at, start, -np.inf
        for _ in watched(range(MAX_ROUNDS)):
            self._take_in(here)
            W, value, solved = self._restricted(lowest, tol)
            bound = max(bound, value)
            here = point_at(self.p, W)
            objective = self._objective(here, -scores(self.p.X, W, self.columns.latent))
            if objective < lowest:
                best, lowest = here, objective
            gap, rounding = lowest - bound, here.rounding(self.p.C)
            if gap <= 0.5 * tol * here.norm2 + rounding or start - bound <= 0.5 * tol * at.norm2 + rounding:
                break
            if not solved or (early and gap <= ENOUGH * (start - lowest)):
                break
        stationary = at.F - bound <= tol * at.norm2 + at.rounding(self.p.C)
        return StepResult(best, lowest, bound, stationary)

    def _objective(self, here: Point, own: FloatArray) -> float:
        """Return the objective of the step at the W of `here`. own (n,): the cost at W of the fixed h*."""
        return here.norm2 + self.p.C * float(np.sum(here.worst + own))

    def _take_in(self, here: Point) -> None:
        """Add the sets that are worse at `here` than all known sets of their point: their S + Delta is larger.

        The candidates of a point are the cheapest sets with r tied for most votes, for the `CLASSES` classes r with the
        largest S + Delta.
        """
        columns = self.columns
        values = self.p.Lam[self.p.y] - here.offending.cost
        near_to = np.argsort(-values, axis=1, kind="stable")[:, :CLASSES]
        known = np.where(columns.real, self._scores(here.W), -np.inf).max(axis=1)
        rows = np.arange(len(values))
        sets, wanted = [], []
        for r in near_to.T:
            wanted.append(values[rows, r] > known)
            r = np.where(wanted[-1], r, near_to[:, 0])  # any feasible set, because it is not added
            sets.append(sets_of(here.near, r, here.offending.votes[rows, r], 0))
        columns.take_in(np.stack(sets, axis=1), np.stack(wanted, axis=1))

    def _scores(self, W: FloatArray) -> FloatArray:
        values, vectors = np.linalg.eigh(W)
        return self.columns.delta - self.columns.margins(2 * values, vectors)

    def _restricted(self, lowest: float, tol: float) -> tuple[FloatArray, float, bool]:
        """Solve the dual over the known sets until its gap is at most half the open gap, or tol/4 times ||W||^2.

        Return W, the dual value (a lower bound), and whether that gap was reached. lowest: the least objective of the
        step so far. The gap may not be reached if the scales of the problem differ too much.
        """
        columns = self.columns
        here, enough = columns.at(columns.q), False
        ways = [self._searched, self._inside]
        for way in reversed(ways) if self.differ else ways:
            for at in way():
                here = at if way == self._searched or at.gap < here.gap else here
                enough = self._enough(here, lowest, tol)
                if enough:
                    break
            columns.q = here.v
            if enough:
                break
            self.differ = True
        return here.metric(), columns.bound(here), enough

    def _searched(self) -> Iterator[At]:
        """Yield the points of gradient and Newton steps on the dual over the known sets."""
        columns = self.columns
        if self.step == 0:
            self.step = 1 / (self.p.C**2 * max(float(columns.length.max(axis=1).sum()), 1e-100))
        search = Search(columns, self.step, LONGEST, BATCH)
        search.reach = self.reach
        for at, _ in search.points(columns.at(columns.q)):
            self.step, self.reach = search.step, search.reach
            yield at

    def _inside(self) -> Iterator[At]:
        """Yield the points of an interior-point method; none if it would take far longer than the other steps."""
        columns = self.columns
        rows = SetRows(columns)
        if patience_for(columns, len(rows.group), columns.X.shape[1]) > FAR_LONGER * LONGEST:
            return
        for u, M in interior(rows):
            yield OwnMetric(columns, columns.feasible.project(rows.weights(u)), M[0])

    def _enough(self, here: At, lowest: float, tol: float) -> bool:
        open_gap = lowest - self.columns.bound(here)
        # if W* = 0, both gaps are rounding only
        return here.gap <= max(0.25 * tol * here.scale, SHARE * open_gap, 8 * EPS * lowest)


@dataclass(eq=False)
class Run:
    """One run of CCCP from one start.

    at: the last point, which is the best. dual: the dual variables of the last step. status: why the run ended. steps:
    the number of steps. history: a record of each step, with F before it and a lower bound of its optimum.
    """

    at: Point  # the last W, and the best
    dual: Dual  # of the last step
    status: Status
    steps: int = 0
    history: list[Step] = field(default_factory=list)


def cccp(
    p: Instance,
    W: FloatArray,
    tol: float,
    max_iter: int,
    callback: Callback = None,
    steps_from: Callable[[Instance, IntArray], Steps] = StepSolver,
) -> Run:
    """Run the concave-convex procedure from W (d, d), at most `max_iter` steps.

    Fix h* at the current W, solve the convex step, take the best multiple of its metric, and repeat. Each step has the
    current W among its candidates, and its objective is at least F, so F never increases. The run ends at a W that is
    stationary: by the lower bound of its step, the step can gain at most tol * ||W||^2. Another W may have a lower F.
    If a step neither lowers F nor proves that W is stationary, the run ends with the status `unfinished` of the solver.

    At W = 0 all sets have the cost 0, and h* depends on how W = 0 was reached. The certificate of W = 0 takes the h* of
    the identity. If the run would end at W = 0 with another h*, it goes on with the h* of the certificate.

    steps_from: makes the solver of the steps from the problem and the first h* (n, k). callback: called with the record
    of each step. Ctrl-C ends the run, and its status says so; see `Steps.keeps_start` for the first step.
    """
    started = time.perf_counter()
    at = rescaled(p, point_at(p, W))
    solver = steps_from(p, at.latent)
    run = Run(at, solver.dual(), Status.MAX_ITER)
    try:
        while run.steps < max_iter and run.status is Status.MAX_ITER:
            result = solver.solve(at, tol)
            new = rescaled(p, result.best)
            if result.objective + new.rounding(p.C) < new.F:
                raise AssertionError(
                    f"F = {new.F!r} is above its upper bound {result.objective!r}: the step of CCCP does not lower F"
                )
            run.steps += 1
            seconds, open_gap = time.perf_counter() - started, at.F - result.bound
            step = Step(run.steps, seconds, at.F, result.bound, open_gap, solver.phase, at.norm2)
            run.history.append(step)
            run.dual = solver.dual()
            if callback is not None:
                callback(step)
            if not result.stationary and new.F < at.F:
                run.at = at = new
            elif (other := as_certified(p, at)) is not at:
                run.at = at = other
            else:
                run.status = Status.STATIONARY if result.stationary else solver.unfinished
    except KeyboardInterrupt:
        if run.steps == 0 and not solver.keeps_start:
            raise
        run.status = Status.INTERRUPTED
    return run
