"""From an instance of MLSVM to a Solution: rescale, run a solver, certify, say what should be known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from cvxml.firstorder import one_blas_thread
from cvxml.methods.mlsvm.certify import certify, repair, scaled_lam
from cvxml.methods.mlsvm.dual import CompactDual
from cvxml.methods.mlsvm.fast import fast
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.metric import FloatArray, IntArray, project_psd, unit_scale
from cvxml.result import Certificate, Dual, SavedSolution, Solution, Status, Step

NOTHING = 1e-9  # of the objective: with no more to gain 0 may be the optimum
ROOM = (1e-2, 1e-5)  # what targets are nearer by, of their squared distance
MOST_STEPS = 1000
SMALL = 1e-6  # a lam, in units of the data, from which on the way there is gone step by step,
DOWN = 1e-3  # each so much smaller,
LAST_STEPS = 200  # and if it is not gone to its end
UNMOVED = 1e-4  # a scale below this share of the objective: the data hardly move the metric


def solve_instance(
    X: FloatArray,
    y: IntArray,
    N: Neighborhood,
    lam: float,
    solver: str,
    tol: float,
    max_iter: int,
    warm_start: Solution | SavedSolution | None,
    callback: Callable[[Step], None] | None,
    params: dict[str, Any],
) -> Solution:
    """Solve on X / scale with lam / scale^4, the same problem, and certify in the units given."""
    scale = unit_scale(X)
    unit, unit_lam = X / scale, scaled_lam(lam, scale)
    status, n_iter = Status.CONVERGED, 0
    history: tuple[Step, ...] = ()
    spare: list[tuple[FloatArray, Dual]] = []
    if len(N.usable) == 0:
        metric, dual = np.zeros((X.shape[1],) * 2), _no_dual()
    elif solver == "fast":
        problem = CompactDual(unit, N, unit_lam)
        starts: list[FloatArray] = [np.zeros(problem.J.shape), problem.saturated()]
        steps = max_iter
        if warm_start is not None:
            starts.append(_as_start(warm_start, problem, N))
        with one_blas_thread():
            if unit_lam < SMALL and warm_start is None:
                way = _way_to(unit, N, unit_lam, tol, max_iter)
                spare = [(_metric(there, v) / scale**2, _as_pairs(there, v)) for there, v in way]
                last, v = way[-1]
                starts.append(v * (unit_lam / last.lam))
                steps = max_iter if last.lam * DOWN <= unit_lam else min(max_iter, LAST_STEPS)
            v, status, search = fast(problem, starts, tol, steps, callback)
        if steps < max_iter and status is Status.MAX_ITER:
            status = Status.STALLED
        history, n_iter = tuple(search.history), search.iteration
        metric, dual = _metric(problem, v) / scale**2, _as_pairs(problem, v)
    else:
        metric, dual = _through_cvxpy(X, N, lam, solver)
    with one_blas_thread():
        certificate = certify(X, N, metric, dual, lam)
    if not certificate.proves(tol):  # at worst, be no worse than the zero metric, or one of a larger lam
        zero = certify(X, N, 0 * metric, dual, lam)
        if spare or may_be_zero(zero):
            prices = [*(other for _, other in spare), *duals_of_zero(X, N, lam)]
            tried = [zero, *(certify(X, N, 0 * metric, other, lam) for other in prices)]
            zero = max(tried, key=lambda proof: (proof.lower_bound - proof.value_rounding, -proof.rounding))
        for other in (metric, 0 * metric, *(other for other, _ in spare)):
            proof = certify(X, N, other, zero.dual, lam)
            if proof.gap + proof.rounding < certificate.gap + certificate.rounding:
                metric, certificate = other, proof
    if certificate.proves(tol):
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.BACKEND if solver != "fast" else Status.STALLED
    return Solution(
        method="mlsvm",
        metric=metric,
        certificate=certificate,
        status=status,
        n_iter=n_iter,
        history=history,
        params=params,
        X=X,
        y=y,
        neighbors=N.lists,
        notes=tuple(_notes(N, certificate, len(X), certificate.proves(tol))),
        solver=solver,
    )


def _way_to(
    unit: FloatArray, N: Neighborhood, lam: float, tol: float, max_iter: int
) -> list[tuple[CompactDual, FloatArray]]:
    """The problem at larger lam, each with its prices, down towards a lam that is next to nothing.

    Prices below the cap are all but in proportion to lam: from one lam to the next they need hardly a step. It ends
    early where G is no longer more than the rounding of prices at the cap.
    """
    at = SMALL
    found: list[tuple[CompactDual, FloatArray]] = []
    starts: list[FloatArray] = []
    while True:
        problem = CompactDual(unit, N, at)
        both = [np.zeros(problem.J.shape), problem.saturated()]
        v, status, _ = fast(problem, [*both, *starts], tol, min(max_iter, MOST_STEPS))
        found.append((problem, v))
        if status is not Status.CONVERGED or at * DOWN <= lam:
            return found
        at, starts = at * DOWN, [v * DOWN]


def _metric(problem: CompactDual, v: FloatArray) -> FloatArray:
    """P_+(G) / lam."""
    values, vectors = np.linalg.eigh(problem.image(v))
    metric = (vectors * np.maximum(values, 0)) @ vectors.T / problem.lam
    symmetric: FloatArray = (metric + metric.T) / 2
    return symmetric


def duals_of_zero(X: FloatArray, N: Neighborhood, lam: float) -> Iterator[Dual]:
    """Prices that may prove A = 0 optimal exactly, where those of a solver leave rounding in G.

    They are those of the problem whose targets are nearer by a little, and leave room: what they pay for the rest of
    the way keeps the eigenvalues of G below 0.
    """
    scale, n = unit_scale(X), len(X)
    unit, unit_lam = X / scale, max(scaled_lam(lam, scale), SMALL)  # where 0 is optimal, lam is of no matter
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
        with one_blas_thread():
            v, _, _ = fast(there, starts, 1e-9, MOST_STEPS)
        yield _as_pairs(problem, v * (ends[-1] / n))


def may_be_zero(zero: Certificate) -> bool:
    """True if the zero matrix has next to no gap, and is not proved optimal."""
    return zero.gap <= NOTHING * zero.objective and zero.rounding > 0


def _notes(N: Neighborhood, certificate: Certificate, n: int, proved: bool) -> list[str]:
    usable, scale, objective = len(N.usable), certificate.scale, certificate.objective
    notes = [f"{usable} of {n} points are usable (both classes among their neighbours)"]
    if N.ties:
        notes.append(f"{N.ties} neighbourhoods have a boundary tie, decided by the index")
    if usable == 0:
        notes.append("no constraint binds, so A = 0; a larger n_neighbors or per-class would help")
    elif not proved:
        pass  # of an optimum that is not known nothing is said
    elif scale == 0:
        notes.append("A* = 0: no metric beats the zero matrix, at this lam or any other")
    elif scale < UNMOVED * objective:
        notes.append(
            f"at this lam the data hardly move the metric: lam/2 ||A||^2 is {scale / objective:.1g} of the "
            "objective; a smaller lam would"
        )
    return notes


def _no_dual() -> Dual:
    none, pairs = np.zeros(0), np.zeros((0, 2), dtype=np.intp)
    return {"u": none, "u_index": pairs, "w": none, "w_index": pairs}


def _as_pairs(problem: CompactDual, v: FloatArray) -> Dual:
    points = np.repeat(problem.rows[:, None], problem.J.shape[1], axis=1)
    pairs = np.stack([points, problem.J], axis=2)
    return {
        "u": v[problem.up],
        "u_index": pairs[problem.up],
        "w": v[problem.down],
        "w_index": pairs[problem.down],
    }


def _as_start(warm_start: Solution | SavedSolution, problem: CompactDual, N: Neighborhood) -> FloatArray:
    if not isinstance(warm_start, (Solution, SavedSolution)):
        raise ValueError(f"warm_start must be a solution, got {type(warm_start).__name__}")
    if len(warm_start.y) != problem.n:
        raise ValueError(
            f"warm_start has {len(warm_start.y)} points and X has {problem.n}; it must be a solution of the same data"
        )
    v = np.zeros(problem.J.shape)
    try:
        dual = repair(warm_start.dual, N)
    except ValueError as error:
        raise ValueError(f"warm_start does not fit: {error}") from error
    value = {(i, j): x for (i, j), x in zip(dual.u_index.tolist(), dual.u.tolist(), strict=True)}
    value |= {(i, j): x for (i, j), x in zip(dual.w_index.tolist(), dual.w.tolist(), strict=True)}
    for r, i in enumerate(problem.rows.tolist()):
        for k in np.flatnonzero(problem.sign[r]):
            v[r, k] = value[i, int(problem.J[r, k])]
    return problem.project(v)


def _through_cvxpy(X: FloatArray, N: Neighborhood, lam: float, solver: str) -> tuple[FloatArray, Dual]:
    """The literal problem gives A; its dual, stated on its own, gives (u, w). Neither is believed.

    General solvers do best where the metric is about 1, and ||A*|| <= 1 / sqrt(lam): X / s with lam / s^4 about 1.
    """
    s = float(2.0 ** np.round(np.log2(lam) / 4))
    X, lam = X / s, scaled_lam(lam, s)
    from cvxml.backend import solve_problem
    from cvxml.methods.mlsvm.problem import dual, literal

    primal = solve_problem(literal(X, N, lam), solver)
    prices = solve_problem(dual(X, N, lam), solver)
    u_index = [(i, j) for i in N.usable for j in N.impostors[i]]
    w_index = [(i, j) for i in N.usable for j in N.targets[i]]
    return project_psd(primal["A"]) / s**2, {
        "u": prices["u"],
        "u_index": np.array(u_index, dtype=np.intp),
        "w": prices["w"],
        "w_index": np.array(w_index, dtype=np.intp),
    }
