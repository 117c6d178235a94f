"""How MLSVM is solved: its compact dual, in floats, by gradient steps, Newton steps and an interior-point method.

There is one row for each usable point i = rows[r] (a point with both impostors and targets), padded to the longest
neighbourhood. The number v[r, k] >= 0 is the dual variable u_ij or w_il of the neighbour J[r, k]. Its sign[r, k] is +1
for an impostor, -1 for a target and 0 for padding. With X_ij = (x_i - x_j)(x_i - x_j)^T the compact dual is

    minimise  1/(2 lam) ||P_+(G)||^2 - sum(u),    G = sum sign v X_ij,    each row in { v >= 0, sum u = sum w <= 1/n }

The metric of v is A = P_+(G) / lam. The limit 1/n is called the cap. The base class `ConeDual` (solvers/cone_dual.py)
has the gradient and Newton steps for such problems. A point `At` is a feasible v with the eigenvalues of its G, the
distances in its A, and its gap.

`search` solves the dual for X / s with lam / s^4, which is the same problem; s is a power of two. If the features
differ much in scale, gradient steps find the active constraints only after very many iterations. After 100 steps or
more the interior-point method (interior.py) takes over. It needs about 40 iterations for any scaling, but rounding in
its equations limits its accuracy. Then the gradient and Newton steps go on from the best point.

A function `prove` certifies a metric with its dual variables. A "dual" is a dictionary of dual variables by name.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import look, watched
from cvxml.core.metric import EPS, FloatArray, IntArray, unit_scale
from cvxml.core.result import Certificate, Dual, Status, Step
from cvxml.core.run import Callback, Found, Start, silent
from cvxml.methods.mlsvm.interior import NeighborRows
from cvxml.methods.mlsvm.neighborhood import Instance, Neighborhood, scaled_lam
from cvxml.solvers.cone_dual import At, ConeDual, OwnMetric, Search, patience_for
from cvxml.solvers.feasible_sets import TwoSides
from cvxml.solvers.interior_point import interior
from cvxml.solvers.newton import Derivative

FEW = 20_000  # entries of all differences x_i - x_j, up to which they are stored
NEARLY_ZERO = 1e-9  # share of the objective: with a smaller gap, A = 0 may be optimal
NEARER = (1e-2, 1e-5)  # shares of the squared distance by which targets come nearer in `duals_of_zero`
STEPS_PER_LAM = 1000  # at one lam of the path to a tiny lam
SMALL_LAM = 1e-9  # for data of unit scale: the path starts at this lam if lam is smaller
LAM_FACTOR = 1e-3  # from one lam of the path to the next
LAST_STEPS = 200  # at lam itself, if the path ended early
Prove = Callable[[FloatArray, Dual], Certificate]  # certifies a metric with its dual variables


def search(
    p: Instance, prove: Prove, tol: float, max_iter: int, start: Start | None, callback: Callback
) -> Found:
    """Return a metric and its dual variables. If tol is not proved, it is the metric with the smallest proved gap.

    The candidates are the result of the solver, A = 0, and for a tiny lam without a `start` the metrics of `_path_to`.

    tol: relative gap at which the search may stop. max_iter: number of gradient steps, Newton rounds and interior-point
    iterations. start: the metric and the dual variables of another solution.

    callback: called with every step of the history.
    """
    if len(p.N.usable) == 0:
        return zero_metric(p)
    scale = unit_scale(p.X)
    unit, unit_lam = p.X / scale, scaled_lam(p.lam, scale)
    problem = CompactDual(unit, p.N, unit_lam)
    starts: list[FloatArray] = [np.zeros(problem.J.shape), problem.saturated()]
    if start is not None:
        starts.append(problem.start(prove(*start).dual))
    steps, others, cut_short = max_iter, list[tuple[FloatArray, Dual]](), Status.STALLED
    if unit_lam < SMALL_LAM and start is None:
        path, ended = _path_to(unit, p.N, unit_lam, tol, max_iter, silent(callback))
        others = [(at.metric() / scale**2, there.pairs(at.v)) for there, at in path]
        last, v = path[-1][0], path[-1][1].v
        if ended not in (Status.CONVERGED, Status.INTERRUPTED):  # at lam itself the solver may go further
            few = min(max_iter, STEPS_PER_LAM)
            own, at_lam, _ = solve_dual(problem, starts, tol, few, silent(callback))
            starts.append(own.v)
            ended = at_lam if at_lam is Status.INTERRUPTED else ended
        starts.append(v * (unit_lam / last.lam))
        steps = max_iter if last.lam * LAM_FACTOR <= unit_lam else min(max_iter, LAST_STEPS)
        if ended is Status.INTERRUPTED:
            steps, cut_short = 0, ended
    at, status, progress = solve_dual(problem, starts, tol, steps, callback)
    if steps < max_iter and status is Status.MAX_ITER:
        status = cut_short
    metric, dual = at.metric() / scale**2, problem.pairs(at.v)
    proof: Certificate | None = prove(metric, dual)
    if proof is not None and not proof.proves(tol):
        proof = None
        try:
            more = () if status is Status.INTERRUPTED else duals_of_zero(p)
            metric, dual = best_proved(prove, metric, dual, more, others)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    return Found(metric, dual, status, progress.iteration, tuple(progress.history), proof=proof)


def zero_metric(p: Instance) -> Found:
    """Return A = 0, the optimum if no point is usable, with empty dual variables."""
    return Found(np.zeros((p.X.shape[1],) * 2), no_duals(), Status.CONVERGED, 0)


def metric_of(p: Instance, dual: Dual) -> FloatArray:
    """A = P_+(G) / lam (d, d), the metric of `dual`, which has a "u" or "w" for every pair, as `search` returns it."""
    scale = unit_scale(p.X)
    problem = CompactDual(p.X / scale, p.N, scaled_lam(p.lam, scale))
    return problem.at(problem.start(dual)).metric() / scale**2


def no_duals() -> Dual:
    """Return empty dual variables. Their lower bound is 0, without a rounding error."""
    none, pairs = np.zeros(0), np.zeros((0, 2), dtype=np.intp)
    return {"u": none, "u_index": pairs, "w": none, "w_index": pairs}


def best_proved(
    prove: Prove,
    metric: FloatArray,
    dual: Dual,
    duals: Iterable[Dual],
    others: Sequence[tuple[FloatArray, Dual]] = (),
) -> tuple[FloatArray, Dual]:
    """Return the metric with the smallest proved gap, and its dual variables: `metric`, A = 0, or a metric of `others`.

    dual: the dual variables of `metric`. others: other metrics with their dual variables. duals: more dual variables,
    which may prove A = 0 optimal. They are computed only if A = 0 may be optimal, or if `others` is not empty.
    """
    best, zero = prove(metric, dual), prove(0 * metric, dual)
    tried = [zero, prove(0 * metric, no_duals())]
    if others or may_be_zero(zero):
        tried += [prove(0 * metric, other) for other in (*(other for _, other in others), *duals)]
    zero = max(tried, key=lambda proof: (proof.lower_bound - proof.value_rounding, -proof.rounding))
    found = metric, dual
    for other in (metric, 0 * metric, *(other for other, _ in others)):
        proof = prove(other, zero.dual)
        if proof.gap + proof.rounding < best.gap + best.rounding:
            found, best = (other, zero.dual), proof
    return found


def may_be_zero(zero: Certificate) -> bool:
    """Return True if A = 0 may be optimal, but is not yet proved optimal without rounding.

    zero: its certificate. A = 0 may be optimal if the gap is at most `NEARLY_ZERO` (1e-9) times the objective.
    """
    return zero.gap <= NEARLY_ZERO * zero.objective and zero.rounding > 0


def duals_of_zero(p: Instance) -> Iterator[Dual]:
    """Yield dual variables that may prove A = 0 optimal without rounding.

    Dual variables with all sums at the cap prove A = 0 optimal if their G has no positive eigenvalue. The dual
    variables of a solver leave rounding errors in G, which may then have a small positive eigenvalue. So we solve a
    problem in which all targets are moved a little nearer to their points. The G of its dual variables for the original
    points has smaller eigenvalues.
    """
    scale, n, N = unit_scale(p.X), len(p.X), p.N
    # if A = 0 is optimal, it is optimal for every lam, so a tiny lam is replaced
    unit, unit_lam = p.X / scale, max(scaled_lam(p.lam, scale), SMALL_LAM)
    problem = CompactDual(unit, N, unit_lam)
    for share in NEARER:
        nearer = [
            unit[i] + math.sqrt(1 - share) * (unit[listed] - unit[i]) for i, listed in enumerate(N.targets)
        ]
        ends = n + np.cumsum([len(listed) for listed in nearer])
        targets = [np.arange(end - len(listed), end) for end, listed in zip(ends, nearer, strict=True)]
        none = [np.empty(0, dtype=np.intp)] * (ends[-1] - n)
        lists = Neighborhood([*targets, *none], [*N.impostors, *none], 0)
        there = CompactDual(np.concatenate([unit, *nearer]), lists, unit_lam * n / ends[-1])
        starts = [np.zeros(there.J.shape), there.saturated()]
        at, status, _ = solve_dual(there, starts, 1e-9, STEPS_PER_LAM)
        if status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        yield problem.pairs(at.v * (ends[-1] / n))


def _path_to(
    unit: FloatArray, N: Neighborhood, lam: float, tol: float, max_iter: int, callback: Callback
) -> tuple[list[tuple[CompactDual, At]], Status]:
    """Solve the problem for a falling sequence of lam: 1e-9, 1e-12, ..., as long as these are above the tiny `lam`.

    unit (n, d): the points, of about unit scale. Returns a list with a pair for each lam of the sequence, its compact
    dual and the solution, and then the status of the last solve. While the sums of u are below the cap, v is nearly
    proportional to lam. So each solution, times 1e-3, is a good start for the next lam, and each lam needs few steps.
    The sequence ends early if the solver does not reach the tolerance `tol` at some lam.
    """
    at = SMALL_LAM
    found: list[tuple[CompactDual, At]] = []
    starts: list[FloatArray] = []
    while True:
        look()
        problem = CompactDual(unit, N, at)
        both = [np.zeros(problem.J.shape), problem.saturated()]
        here, status, _ = solve_dual(problem, [*both, *starts], tol, min(max_iter, STEPS_PER_LAM), callback)
        found.append((problem, here))
        if status is not Status.CONVERGED or at * LAM_FACTOR <= lam:
            return found, status
        at, starts = at * LAM_FACTOR, [here.v * LAM_FACTOR]


@dataclass(eq=False)
class Progress:
    """The record of one solve: its history, the point of lowest dual objective, and the point of smallest gap."""

    problem: CompactDual
    tol: float
    callback: Callback
    lowest: At | None = None
    tightest: At | None = None
    history: list[Step] = field(default_factory=list)
    iteration: int = 0
    started: float = field(default_factory=time.perf_counter)

    def done(self, at: At, phase: str, iteration: int) -> bool:
        """Record the point `at`, and return True if the solve is done.

        This is so if the gap is at most tol/2 times lam/2 ||A||^2, or if A = 0 is optimal up to rounding.

        phase, iteration: the kind and the number of the step, for the history.
        """
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
        rounding = 64 * EPS**2 * float(np.sum(at.values**2)) / self.problem.lam
        if gap <= 0.5 * self.tol * at.scale or at.value <= rounding:
            self.tightest = at
            return True
        return False


def solve_dual(
    problem: CompactDual,
    starts: Sequence[FloatArray],
    tol: float,
    max_iter: int,
    callback: Callback = None,
) -> tuple[At, Status, Progress]:
    """Minimise the compact dual from the best of the feasible `starts`, (rows, K) each, until the gap is small.

    Small: at most tol/2 times lam/2 ||A||^2. Returns the point with the smallest gap, the status, and the `Progress`,
    which has the history.
    """
    progress = Progress(problem, tol, callback)
    best = min((problem.at(v) for v in starts), key=lambda at: at.value)
    try:
        status = _run(progress, best, max_iter)
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    return progress.tightest or best, status, progress


def _run(progress: Progress, start: At, max_iter: int) -> Status:
    if progress.done(start, "start", 0):
        return Status.CONVERGED
    problem = progress.problem
    patience = patience_for(problem, int(np.count_nonzero(problem.sign)), problem.d)
    search = Search(problem, problem.lam, min(patience, max_iter))
    if _reaches(progress, search, start):
        return Status.CONVERGED
    if search.iteration < max_iter and patience < math.inf:
        for v, A in problem.interior():
            search.iteration += 1
            here = OwnMetric(problem, problem.feasible.project(v), A)
            if progress.done(here, "interior", search.iteration):
                return Status.CONVERGED
            if search.iteration >= max_iter:
                return Status.MAX_ITER
        search.max_iter = max_iter
        if _reaches(progress, search, problem.at((progress.lowest or start).v)):
            return Status.CONVERGED
    return Status.MAX_ITER if search.iteration >= max_iter else Status.STALLED


def _reaches(progress: Progress, search: Search, start: At) -> bool:
    """Run the search from a point; return True if it ends with a gap that is small enough."""
    points = search.points(start)
    next(points)  # the start is known
    return any(progress.done(at, phase, search.iteration) for at, phase in points)


class CompactDual(ConeDual):
    """The compact dual of the module docstring, for points X (n, d) of about unit scale and the neighbourhoods N.

    The points are centred. A gradient step of a row is multiplied by 1 / max_k ||x_i - x_j||^4. The curvature of a row
    grows with the fourth power of its longest edge. Without this factor, one far point would shorten the steps of all
    rows.
    """

    def __init__(self, X: FloatArray, N: Neighborhood, lam: float):
        self.n, self.d = X.shape
        self.X = X - X.mean(axis=0)
        self.lam = lam
        self.cap: float = 1 / self.n
        self.rows = N.usable
        width = max((len(N.targets[i]) + len(N.impostors[i]) for i in self.rows), default=1)
        self.J = np.zeros((len(self.rows), width), dtype=np.intp)
        self.sign: FloatArray = np.zeros((len(self.rows), width))
        for r, i in enumerate(self.rows):
            impostors, targets = N.impostors[i], N.targets[i]
            end = len(impostors) + len(targets)
            self.J[r, :end] = np.concatenate([impostors, targets])
            self.sign[r, : len(impostors)] = 1.0
            self.sign[r, len(impostors) : end] = -1.0
        self.edges: FloatArray | None = None  # x_i - x_j (rows, K, d), stored if they are few
        if self.J.size * self.d <= FEW:
            self.edges = self._all_edges()
        self.feasible: TwoSides = TwoSides(self.sign, self.cap)
        self.up, self.down = self.feasible.up, self.feasible.down
        edges = np.where(self.sign != 0, self._squared_distances(self.X), 0.0)
        longest = edges.max(axis=1, initial=0.0)
        floor = max(float(longest.max(initial=0.0)) * 1e-9, 1e-100)
        self.steps = (1 / np.maximum(longest, floor) ** 2)[:, None]
        self.cost = self.n * self.d**2 * 4 + 12 * self.d**3 + 5e6

    def _all_edges(self) -> FloatArray:
        edges: FloatArray = self.X[self.rows][:, None, :] - self.X[self.J]
        return edges

    def _squared_distances(self, Z: FloatArray) -> FloatArray:
        """Return ||z_i - z_j||^2 (rows, K) for each point i of a row and its neighbours j, for points Z (n, m)."""
        D = np.empty(self.J.shape)
        Z_rows = Z[self.rows]
        for k in watched(range(self.J.shape[1])):
            difference = Z_rows - Z[self.J[:, k]]
            D[:, k] = np.einsum("rm,rm->r", difference, difference)
        return D

    def image(self, v: FloatArray) -> FloatArray:
        """The matrix G (d, d) of v (rows, K).

        For many points it uses the graph Laplacian of the weights: n d^2 operations, not n K d^2.
        """
        used = v != 0
        if self.edges is not None:
            x = self.edges[used]
            small: FloatArray = x.T @ (x * (v * self.sign)[used][:, None])
            return small
        weights = (v * self.sign)[used]
        columns = self.J[used]
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        W = csr_array((weights, columns, starts), shape=(len(self.rows), self.n))
        degree = np.bincount(columns, weights, minlength=self.n).astype(np.float64)
        degree[self.rows] += (v * self.sign).sum(axis=1)
        half = degree[:, None] / 2 * self.X
        half[self.rows] -= W @ self.X
        G: FloatArray = self.X.T @ half
        return G + G.T

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """The squared distances (rows, K) of the neighbours in P_+(G) / lam, from G's eigenvalues and eigenvectors."""
        keep = values > 0
        root = vectors[:, keep] * np.sqrt(values[keep] / self.lam)
        if self.edges is None:
            return self._squared_distances(self.X @ root)
        mapped = self.edges @ root
        small: FloatArray = np.einsum("rkm,rkm->rk", mapped, mapped)
        return small

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        (row, column), (weights, a, b) = entries, along[0]
        XQ = self.X @ vectors
        edges = XQ[self.rows[row]] - XQ[self.J[row, column]]
        products: FloatArray = np.take(edges, a, axis=1)
        products *= np.take(edges, b, axis=1)
        products *= weights
        products *= self.sign[row, column, None]
        return products

    def descend(self, at: At, step: float) -> FloatArray:
        """Return the new v (rows, K) after a projected gradient step from `at`.

        The step of a row has the length `step` times the factor of the row (class docstring). In the negative gradient,
        an impostor has 1 - D and a target has D, with the squared distance D. If D is far below 1, the digits of D are
        lost in 1 - D. So 1 is replaced by b = max D + 4 cap / (length of the step of the row), if b is below 1. Both 1
        and b are so large that the row moves to the cap, so the projection is the same.
        """
        steps, D = step * self.steps, at.margins
        longest = np.where(self.sign != 0, D, 0.0).max(axis=1, keepdims=True, initial=0.0)
        with np.errstate(over="ignore"):  # with a tiny step no row goes to the cap
            reward = np.minimum(1.0, longest + 4 * self.cap / steps)
        return self.feasible.project(at.v + steps * (reward * self.up - self.sign * D))

    def reward(self, v: FloatArray) -> FloatArray:
        """Return the part -sum u of the objective as a reward for each entry (rows, K): 1 for u, 0 for w and padding.

        In rows with sum u at the cap, u also has the reward 0. There the sum is fixed, so the reward would only cost
        digits.
        """
        reward: FloatArray = (self.up & ~self.feasible.at_cap(v)[:, None]).astype(np.float64)
        return reward

    def unpaid(self, v: FloatArray) -> FloatArray:
        """1/n - sum u of each row, exactly 0 at the cap. The sum over the rows is -sum(u) plus a constant."""
        total = self.feasible.total(v)
        unpaid: FloatArray = np.where(self.feasible.full(total), 0.0, self.cap - total)
        return unpaid

    def slacks(self, D: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return 1 + max_l D_il - min_j D_ij of each row, then max_l D_il, then min_j D_ij: three arrays (rows, 1).

        D (rows, K): the squared distances of the neighbours, targets l and impostors j.
        """
        furthest = np.where(self.down, D, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        nearest = np.where(self.up, D, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        return 1 + furthest - nearest, furthest, nearest

    def slack(self, D: FloatArray) -> float:
        """(1/n) sum xi at A = P_+(G) / lam, from the squared distances D (rows, K) of the neighbours in A."""
        total = float(np.maximum(0.0, self.slacks(D)[0]).sum())
        return total * self.cap

    def gap(self, at: At) -> float:
        v, D = at.v, at.margins
        margin, furthest, nearest = self.slacks(D)
        xi = np.maximum(0.0, margin)
        unpriced = self.unpaid(v) @ xi[:, 0] + float(self.feasible.total(v) @ (xi - margin)[:, 0])
        away = np.where(self.up, D - nearest, np.where(self.down, furthest - D, 0.0))
        return float(unpriced) + float(np.sum(v * away))

    def interior(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        edges = self._all_edges() if self.edges is None else self.edges
        for v, A in interior(NeighborRows(edges, self.sign, self.lam, self.cap)):
            yield v, A[0]

    def saturated(self) -> FloatArray:
        """Return v with the sums of u and of w at the cap in each row, spread evenly over the neighbours.

        It is optimal for a large lam if each point has one target and one impostor.
        """
        with np.errstate(invalid="ignore", divide="ignore"):
            u = self.up / self.up.sum(axis=1, keepdims=True)
            w = self.down / self.down.sum(axis=1, keepdims=True)
        even: FloatArray = self.cap * (u + w)
        return even

    def pairs(self, v: FloatArray) -> Dual:
        """Return v as a dual: "u" and "w", with their pairs of points "u_index" and "w_index"."""
        points = np.repeat(self.rows[:, None], self.J.shape[1], axis=1)
        index = np.stack([points, self.J], axis=2)
        return {
            "u": v[self.up],
            "u_index": index[self.up],
            "w": v[self.down],
            "w_index": index[self.down],
        }

    def start(self, dual: Dual) -> FloatArray:
        """Return feasible v (rows, K) near the "u" and "w" of `dual`, with their pairs "u_index" and "w_index".

        Every pair of a usable point with an impostor or target must have a number.
        """
        v = np.zeros(self.J.shape)
        value: dict[tuple[int, int], float] = {}
        for name in ("u", "w"):
            for (i, j), x in zip(dual[f"{name}_index"].tolist(), dual[name].tolist(), strict=True):
                value[i, j] = x
        for r, i in enumerate(self.rows.tolist()):
            for k in np.flatnonzero(self.sign[r]):
                v[r, k] = value[i, int(self.J[r, k])]
        return self.feasible.project(v)
