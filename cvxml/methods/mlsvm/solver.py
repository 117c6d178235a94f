"""From an instance of MLSVM to a metric and its prices: rescale, run a solver; and what should be known of it.

The fast solver of MLSVM: the solver of solvers/cone_dual.py, and an interior-point method if that takes long.

If the features differ much in scale, gradient steps find the active constraints only after very many iterations.
The interior-point method (interior.py) needs about 40 iterations for any scaling, but it stops at the rounding of its
equations. The solver then goes on from the best point.

The compact dual of MLSVM for the fast solver (solvers/cone_dual.py): padded arrays, one row for each usable point.

v[r, k] >= 0 is u_ij or w_il of point i = rows[r] and its k-th neighbour J[r, k]. sign[r, k] is +1 for an
impostor, -1 for a target and 0 for padding. Units: X is centred and about 1, v as in docs/mlsvm.md.
    minimise  1/(2 lam) ||P_+(G)||^2 - sum(u),   G = sum sign v X_ij,   each row in
    { v >= 0, sum u = sum w <= 1/n }.
Steps are scaled by 1 / max_k ||x_i - x_j||^4: the curvature of a row grows with the fourth power of its
longest edge, and otherwise one far point would set the step of all rows.
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
from cvxml.methods.mlsvm.interior import interior
from cvxml.methods.mlsvm.neighborhood import Instance, Neighborhood, scaled_lam
from cvxml.solvers.cone_dual import At, ConeDual, Search
from cvxml.solvers.feasible_sets import TwoSides
from cvxml.solvers.newton import MAX_ENTRIES, Derivative

NOTHING = 1e-9  # of the objective: with no more to gain 0 may be the optimum
ROOM = (1e-2, 1e-5)  # what targets are nearer by, of their squared distance
MOST_STEPS = 1000
SMALL = 1e-9  # a lam, in units of the data, from which on the way there is gone step by step,
DOWN = 1e-3  # each so much smaller,
LAST_STEPS = 200  # and if it is not gone to its end
Prove = Callable[[FloatArray, Dual], Certificate]  # what certifies a metric with its prices


def search(
    p: Instance, prove: Prove, tol: float, max_iter: int, start: Start | None, callback: Callback
) -> Found:
    """The fast solver, on X / scale with lam / scale^4, the same problem; at worst no worse than the zero metric."""
    if len(p.N.usable) == 0:
        return nothing(p)
    scale = unit_scale(p.X)
    unit, unit_lam = p.X / scale, scaled_lam(p.lam, scale)
    problem = CompactDual(unit, p.N, unit_lam)
    starts: list[FloatArray] = [np.zeros(problem.J.shape), problem.saturated()]
    if start is not None:
        starts.append(_as_start(prove(*start).dual, problem))
    steps, spare, cut_short = max_iter, list[tuple[FloatArray, Dual]](), Status.STALLED
    if unit_lam < SMALL and start is None:
        way, ended = _way_to(unit, p.N, unit_lam, tol, max_iter, silent(callback))
        spare = [(_metric(there, v) / scale**2, _as_pairs(there, v)) for there, v in way]
        last, v = way[-1]
        starts.append(v * (unit_lam / last.lam))
        steps = max_iter if last.lam * DOWN <= unit_lam else min(max_iter, LAST_STEPS)
        if ended is Status.INTERRUPTED:
            steps, cut_short = 0, ended
    v, status, done = fast(problem, starts, tol, steps, callback)
    if steps < max_iter and status is Status.MAX_ITER:
        status = cut_short
    metric, dual = _metric(problem, v) / scale**2, _as_pairs(problem, v)
    if not prove(metric, dual).proves(tol):
        try:
            more = () if status is Status.INTERRUPTED else duals_of_zero(p)
            metric, dual = or_simpler(prove, metric, dual, more, spare)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    return Found(metric, dual, status, done.iteration, tuple(done.history))


def nothing(p: Instance) -> Found:
    """Where no constraint binds: A = 0."""
    none, pairs = np.zeros(0), np.zeros((0, 2), dtype=np.intp)
    dual = {"u": none, "u_index": pairs, "w": none, "w_index": pairs}
    return Found(np.zeros((p.X.shape[1],) * 2), dual, Status.CONVERGED, 0)


def or_simpler(
    prove: Prove,
    metric: FloatArray,
    dual: Dual,
    more: Iterable[Dual],
    spare: Sequence[tuple[FloatArray, Dual]] = (),
) -> tuple[FloatArray, Dual]:
    """The metric and its dual, or what is proved better: the zero metric, or one of a larger lam (`spare`).

    more: prices that may prove the zero metric, asked for only where it may be the best.
    """
    best, zero = prove(metric, dual), prove(0 * metric, dual)
    if spare or may_be_zero(zero):
        prices = [*(other for _, other in spare), *more]
        tried = [zero, *(prove(0 * metric, other) for other in prices)]
        zero = max(tried, key=lambda proof: (proof.lower_bound - proof.value_rounding, -proof.rounding))
    found = metric, dual
    for other in (metric, 0 * metric, *(other for other, _ in spare)):
        proof = prove(other, zero.dual)
        if proof.gap + proof.rounding < best.gap + best.rounding:
            found, best = (other, zero.dual), proof
    return found


def _way_to(
    unit: FloatArray, N: Neighborhood, lam: float, tol: float, max_iter: int, callback: Callback
) -> tuple[list[tuple[CompactDual, FloatArray]], Status]:
    """The problem at larger lam, each with its prices, down towards a lam that is next to nothing; how it ended.

    Prices below the cap are all but in proportion to lam: from one lam to the next they need hardly a step. It ends
    early where G is no longer more than the rounding of prices at the cap.
    """
    at = SMALL
    found: list[tuple[CompactDual, FloatArray]] = []
    starts: list[FloatArray] = []
    while True:
        look()
        problem = CompactDual(unit, N, at)
        both = [np.zeros(problem.J.shape), problem.saturated()]
        v, status, _ = fast(problem, [*both, *starts], tol, min(max_iter, MOST_STEPS), callback)
        found.append((problem, v))
        if status is not Status.CONVERGED or at * DOWN <= lam:
            return found, status
        at, starts = at * DOWN, [v * DOWN]


def _metric(problem: CompactDual, v: FloatArray) -> FloatArray:
    """P_+(G) / lam."""
    values, vectors = np.linalg.eigh(problem.image(v))
    metric = (vectors * np.maximum(values, 0)) @ vectors.T / problem.lam
    symmetric: FloatArray = (metric + metric.T) / 2
    return symmetric


def duals_of_zero(p: Instance) -> Iterator[Dual]:
    """Prices that may prove A = 0 optimal exactly, where those of a solver leave rounding in G.

    They are those of the problem whose targets are nearer by a little, and leave room: what they pay for the rest of
    the way keeps the eigenvalues of G below 0.
    """
    scale, n, N = unit_scale(p.X), len(p.X), p.N
    # Where 0 is optimal it is so for every lam: one that is next to nothing is replaced.
    unit, unit_lam = p.X / scale, max(scaled_lam(p.lam, scale), SMALL)
    problem = CompactDual(unit, N, unit_lam)
    for room in ROOM:
        nearer = [
            unit[i] + math.sqrt(1 - room) * (unit[listed] - unit[i]) for i, listed in enumerate(N.targets)
        ]
        ends = n + np.cumsum([len(listed) for listed in nearer])
        targets = [np.arange(end - len(listed), end) for end, listed in zip(ends, nearer, strict=True)]
        none = [np.empty(0, dtype=np.intp)] * (ends[-1] - n)
        lists = Neighborhood([*targets, *none], [*N.impostors, *none], 0)
        there = CompactDual(np.concatenate([unit, *nearer]), lists, unit_lam * n / ends[-1])
        starts = [np.zeros(there.J.shape), there.saturated()]
        v, status, _ = fast(there, starts, 1e-9, MOST_STEPS)
        if status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        yield _as_pairs(problem, v * (ends[-1] / n))


def may_be_zero(zero: Certificate) -> bool:
    """True if the zero matrix has next to no gap, and is not proved optimal."""
    return zero.gap <= NOTHING * zero.objective and zero.rounding > 0


def _as_pairs(problem: CompactDual, v: FloatArray) -> Dual:
    points = np.repeat(problem.rows[:, None], problem.J.shape[1], axis=1)
    pairs = np.stack([points, problem.J], axis=2)
    return {
        "u": v[problem.up],
        "u_index": pairs[problem.up],
        "w": v[problem.down],
        "w_index": pairs[problem.down],
    }


def _as_start(dual: Dual, problem: CompactDual) -> FloatArray:
    """Of feasible prices, one for each pair."""
    v = np.zeros(problem.J.shape)
    value = {(i, j): x for (i, j), x in zip(dual["u_index"].tolist(), dual["u"].tolist(), strict=True)}
    value |= {(i, j): x for (i, j), x in zip(dual["w_index"].tolist(), dual["w"].tolist(), strict=True)}
    for r, i in enumerate(problem.rows.tolist()):
        for k in np.flatnonzero(problem.sign[r]):
            v[r, k] = value[i, int(problem.J[r, k])]
    return problem.feasible.project(v)


PATIENCE = 100  # gradient steps and Newton rounds before the interior-point method, at least


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
        for v in problem.interior():
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


FEW = 20_000  # entries of all differences, up to which they are stored


class CompactDual(ConeDual):
    """The compact dual on `X` (n, d) with weight `lam`."""

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
            self.edges = self.X[self.rows][:, None, :] - self.X[self.J]
        self.feasible: TwoSides = TwoSides(self.sign, self.cap)
        self.up, self.down = self.feasible.up, self.feasible.down
        edges = np.where(self.sign != 0, self._edge_lengths(), 0.0)
        longest = edges.max(axis=1, initial=0.0)
        floor = max(float(longest.max(initial=0.0)) * 1e-9, 1e-100)
        self.steps = (1 / np.maximum(longest, floor) ** 2)[:, None]
        self.cost = self.n * self.d**2 * 4 + 12 * self.d**3 + 5e6

    def _edge_lengths(self) -> FloatArray:
        lengths = np.empty(self.J.shape)
        for k in watched(range(self.J.shape[1])):
            difference = self.X[self.rows] - self.X[self.J[:, k]]
            lengths[:, k] = np.einsum("rd,rd->r", difference, difference)
        return lengths

    def image(self, v: FloatArray) -> FloatArray:
        """G (d, d) of v. For many points through the graph Laplacian of the weights: n d^2, not n K d^2 work."""
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
        """D_A(i, J[i]) (rows, K) for A = sum of the positive `values` times vectors vectors^T, over lam."""
        keep = values > 0
        if self.edges is not None:
            mapped = self.edges @ (vectors[:, keep] * np.sqrt(values[keep] / self.lam))
            small: FloatArray = np.einsum("rkm,rkm->rk", mapped, mapped)
            return small
        Z = self.X @ (vectors[:, keep] * np.sqrt(values[keep] / self.lam))
        D = np.empty(self.J.shape)
        Z_rows = Z[self.rows]
        for k in watched(range(self.J.shape[1])):
            difference = Z_rows - Z[self.J[:, k]]
            D[:, k] = np.einsum("rm,rm->r", difference, difference)
        return D

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        """See `ConeDual`."""
        (row, column), (weights, a, b) = entries, along[0]
        XQ = self.X @ vectors
        edges = XQ[self.rows[row]] - XQ[self.J[row, column]]
        products: FloatArray = np.take(edges, a, axis=1)
        products *= np.take(edges, b, axis=1)
        products *= weights
        products *= self.sign[row, column, None]
        return products

    def descend(self, at: At, step: float) -> FloatArray:
        """A projected gradient step.

        A reward beyond max D + 4 cap / step only says that the row goes to the cap. Shortening it to this number
        changes no projection, and keeps the digits of D if D is far below 1.
        """
        steps, D = step * self.steps, at.margins
        longest = np.where(self.sign != 0, D, 0.0).max(axis=1, keepdims=True, initial=0.0)
        with np.errstate(over="ignore"):  # with a tiny step no row goes to the cap
            reward = np.minimum(1.0, longest + 4 * self.cap / steps)
        return self.feasible.project(at.v + steps * (reward * self.up - self.sign * D))

    def reward(self, v: FloatArray) -> FloatArray:
        """1 for u. At the cap it is the same for all directions and would only cost digits, so it is left out."""
        reward: FloatArray = (self.up & ~self.feasible.at_cap(v)[:, None]).astype(np.float64)
        return reward

    def unpaid(self, v: FloatArray) -> FloatArray:
        """1/n - sum u of each row, exactly 0 at the cap."""
        total = self.feasible.total(v)
        unpaid: FloatArray = np.where(self.feasible.full(total), 0.0, self.cap - total)
        return unpaid

    def slacks(self, D: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The margin 1 + max_l D_il - min_j D_ij of each row, and the two distances in it; (rows, 1) each."""
        furthest = np.where(self.down, D, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        nearest = np.where(self.up, D, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        return 1 + furthest - nearest, furthest, nearest

    def slack(self, D: FloatArray) -> float:
        """The sum of xi / n at A = P_+(G)/lam."""
        total = float(np.maximum(0.0, self.slacks(D)[0]).sum())
        return total * self.cap

    def gap(self, at: At) -> float:
        """The gap of A and v as a sum of non-negative terms."""
        v, D = at.v, at.margins
        margin, furthest, nearest = self.slacks(D)
        xi = np.maximum(0.0, margin)
        unpriced = self.unpaid(v) @ xi[:, 0] + float(self.feasible.total(v) @ (xi - margin)[:, 0])
        away = np.where(self.up, D - nearest, np.where(self.down, furthest - D, 0.0))
        return float(unpriced) + float(np.sum(v * away))

    def interior(self) -> Iterator[FloatArray]:
        """Feasible points of the interior-point method."""
        edges = self.X[self.rows][:, None, :] - self.X[self.J] if self.edges is None else self.edges
        return interior(edges, self.sign, self.lam, self.cap)

    def saturated(self) -> FloatArray:
        """All rows at the cap, evenly: optimal for a large lam where neighbourhoods are single pairs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            u = self.up / self.up.sum(axis=1, keepdims=True)
            w = self.down / self.down.sum(axis=1, keepdims=True)
        even: FloatArray = self.cap * (u + w)
        return even
