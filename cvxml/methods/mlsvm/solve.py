"""From an instance of MLSVM to a metric and its prices: rescale, run a solver; and what should be known of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import FloatArray, project_psd, unit_scale
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Start, silent
from cvxml.methods.mlsvm.dual import CompactDual
from cvxml.methods.mlsvm.fast import fast
from cvxml.methods.mlsvm.instance import Instance, scaled_lam
from cvxml.methods.mlsvm.neighborhood import Neighborhood

NOTHING = 1e-9  # of the objective: with no more to gain 0 may be the optimum
ROOM = (1e-2, 1e-5)  # what targets are nearer by, of their squared distance
MOST_STEPS = 1000
SMALL = 1e-9  # a lam, in units of the data, from which on the way there is gone step by step,
DOWN = 1e-3  # each so much smaller,
LAST_STEPS = 200  # and if it is not gone to its end
UNMOVED = 1e-4  # a scale below this share of the objective: the data hardly move the metric
Prove = Callable[[FloatArray, Dual], Certificate]  # what certifies a metric with its prices


def search(
    p: Instance, prove: Prove, tol: float, max_iter: int, start: Start | None, callback: Callback
) -> Found:
    """The fast solver, on X / scale with lam / scale^4, the same problem; at worst no worse than the zero metric."""
    if len(p.N.usable) == 0:
        return _nothing(p)
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
            metric, dual = _or_simpler(prove, metric, dual, more, spare)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
    return Found(metric, dual, status, done.iteration, tuple(done.history))


def through_cvxpy(p: Instance, prove: Prove, solver: str) -> Found:
    """The literal problem gives A; its dual, stated on its own, gives (u, w). Neither is believed.

    General solvers do best where the metric is about 1, and ||A*|| <= 1 / sqrt(lam): X / s with lam / s^4 about 1.
    """
    from cvxml.core.backend import solve_problem
    from cvxml.methods.mlsvm.problem import dual, problem

    if len(p.N.usable) == 0:
        return _nothing(p)
    s = float(2.0 ** np.round(np.log2(p.lam) / 4))
    X, lam = p.X / s, scaled_lam(p.lam, s)
    A = project_psd(solve_problem(problem(X, p.N, lam), solver)["A"]) / s**2
    duals = solve_problem(dual(X, p.N, lam), solver)
    u_index = [(i, j) for i in p.N.usable for j in p.N.impostors[i]]
    w_index = [(i, j) for i in p.N.usable for j in p.N.targets[i]]
    found: Dual = {
        "u": duals["u"],
        "u_index": np.array(u_index, dtype=np.intp),
        "w": duals["w"],
        "w_index": np.array(w_index, dtype=np.intp),
    }
    return Found(*_or_simpler(prove, A, found, duals_of_zero(p)), Status.CONVERGED, 0)


def _nothing(p: Instance) -> Found:
    """Where no constraint binds: A = 0."""
    none, pairs = np.zeros(0), np.zeros((0, 2), dtype=np.intp)
    dual = {"u": none, "u_index": pairs, "w": none, "w_index": pairs}
    return Found(np.zeros((p.X.shape[1],) * 2), dual, Status.CONVERGED, 0)


def _or_simpler(
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
        duals = [*(other for _, other in spare), *more]
        tried = [zero, *(prove(0 * metric, other) for other in duals)]
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


def notes_on(N: Neighborhood, certificate: Certificate, proved: bool) -> list[str]:
    """How many points count, ties, and whether the metric does."""
    usable, scale, objective = len(N.usable), certificate.scale, certificate.objective
    notes = [f"{usable} of {len(N.targets)} points are usable (both classes among their neighbours)"]
    if N.ties:
        notes.append(f"{N.ties} neighbourhoods have a boundary tie, decided by the index")
    if usable == 0:
        notes.append('no constraint binds, so A = 0: take a larger n_neighbors, or neighborhood="per-class"')
    elif not proved:
        pass  # of an optimum that is not known nothing is said
    elif scale == 0:
        notes.append("A* = 0: the zero matrix is optimal for every lam")
    elif scale < UNMOVED * objective:
        notes.append(
            f"at this lam the data have little influence on the metric: lam/2 ||A||^2 is {scale / objective:.1g} of "
            "the objective; a smaller lam increases their influence"
        )
    return notes


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
