"""From an instance to a Solution: descend from each start, prove the best, say what should be known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cvxml.firstorder import one_blas_thread
from cvxml.inputs import check_count
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.literal import literal_cccp
from cvxml.methods.nca.rows import Metric
from cvxml.methods.nca.solver import Run, Solver
from cvxml.methods.nca.starts import given, start
from cvxml.metric import FloatArray, as_metric, low_rank_components
from cvxml.result import Certificate, SavedSolution, Solution, Status, Step

SLIP = 1e-9  # of the objective: a start is no better than what a descent from it leads to but for rounding
LOST = (
    "some features all but determine others: the metric that a descent leads to is worse once it is rounded to a "
    "matrix of floats, and what is returned is one that can be written"
)


class Start(NamedTuple):
    """A start by name: A (m, r) in the coordinates, and the metric (d, d) that it is."""

    name: str
    A: FloatArray
    Q: FloatArray


def solve_instance(
    p: Instance,
    solver: str,
    init: Any,
    tol: float,
    max_iter: int,
    random_state: int,
    warm_start: Solution | SavedSolution | None,
    callback: Callable[[Step], None] | None,
    params: dict[str, Any],
) -> Solution:
    """The best of the descents (or literal runs of CCCP) from all starts, certified."""
    at = Solver(p)
    if warm_start is None:
        starts = starts_of(at, init, random_state)
    else:
        Q = metric_of(warm_start, p)
        starts = [Start("warm", at.of_metric(Q), Q)]
    runs: list[Run] = []
    with one_blas_thread():
        for name, A, _ in starts:
            if solver == "fast":
                runs.append(at.run(name, A, tol, max_iter, callback))
            else:
                runs.append(literal_cccp(at, name, A, solver, tol, max_iter, callback))
            if runs[-1].status is Status.INTERRUPTED:
                break
        best = _best(at, runs, starts, tol, max_iter)
        metric = at.metric(best.A) if best.metric is None else best.metric
        certificate = at.prove(best, tol)
        why = at.at_infinity(metric)
        status = _status(at, best, certificate, tol, why)
    if any(run.status is Status.INTERRUPTED for run in runs):
        status = Status.INTERRUPTED
    return Solution(
        method="nca",
        metric=metric,
        certificate=certificate,
        status=status,
        n_iter=sum(run.iterations for run in runs),
        history=tuple(step for run in runs for step in run.history),
        params=params,
        X=p.X,
        y=p.y,
        neighbors=[],
        notes=tuple(_notes(p, runs, why if best.metric is None else why or LOST)),
        solver=solver,
        components=low_rank_components(metric, p.m),
    )


def _best(at: Solver, runs: list[Run], starts: list[Start], tol: float, max_iter: int) -> Run:
    """The run whose metric is proved best, as a matrix of floats.

    In the coordinates a run always ends lower than it starts. But of nearly collinear features A^T A has large entries
    that cancel, and rounded it may be a far worse metric: what is returned is judged, not what was descended to. Where
    a start is better, a descent from that goes on without what cannot be written.
    """

    def at_most(Q: FloatArray) -> float:
        objective, rounding = Metric(at.p, Q, at.at).value
        return objective + rounding

    best = min(runs, key=lambda run: at_most(at.metric(run.A)))
    found = at_most(at.metric(best.A))
    from_starts = [at_most(start.Q) for start in starts[: len(runs)]]
    k = int(np.argmin(from_starts))
    if found - from_starts[k] <= SLIP * (1 + abs(found)):
        return best
    coarse, Q = at.coarse(), starts[k].Q
    run = coarse.run(starts[k].name, coarse.of_metric(Q), tol, max_iter)
    runs.append(run)
    if at_most(coarse.metric(run.A)) < from_starts[k]:
        Q = coarse.metric(run.A)
    return replace(run, A=at.of_metric(Q), metric=Q)


def _status(at: Solver, run: Run, certificate: Certificate, tol: float, why: str) -> Status:
    if why:
        return Status.NOT_ATTAINED
    if certificate.proves(tol):
        return Status.CONVERGED if certificate.claim == "optimal" else Status.STATIONARY
    return Status.AT_INFINITY if run.status is not Status.MAX_ITER and at.leaves(run.A) else run.status


def starts_of(at: Solver, init: Any, random_state: int) -> list[Start]:
    """One start or several. Raises ValueError for what is none."""
    p = at.p
    check_count(random_state, "random_state", at_least=0)
    if isinstance(init, str):
        given_A = start(p, init, random_state)
        unscaled = at.inside(given_A)
        A = at.scaled(unscaled)
        Q = given_A.T @ given_A * float(np.sum(A**2) / np.sum(unscaled**2))
        if init == "likelihood":
            A = Solver(p._replace(criterion="g")).run("likelihood", A, 1e-2, 50).A
        return [Start(init, A, Q)]
    if (
        isinstance(init, (list, tuple))
        and init
        and all(isinstance(one, str) or np.ndim(one) == 2 for one in init)
    ):
        return [found for one in init for found in starts_of(at, one, random_state)]
    A = given(p, init)
    return [Start("given", at.inside(A), A.T @ A)]


def metric_of(warm_start: Solution | SavedSolution, p: Instance) -> FloatArray:
    """The metric of a solution to go on from. Raises ValueError for what is none, or has another shape, or is zero."""
    if not isinstance(warm_start, (Solution, SavedSolution)):
        raise ValueError(f"warm_start must be a solution, got {type(warm_start).__name__}")
    metric: FloatArray = as_metric(warm_start.metric, p.X.shape[1], "the metric of warm_start")
    if not metric.any():
        raise ValueError("the metric of warm_start is zero, and A = 0 is stationary: no descent leaves it")
    return metric


def _notes(p: Instance, runs: list[Run], why: str) -> list[str]:
    notes = [why] if why else []
    if not p.convex:
        notes.append(f"-{p.criterion} is not convex: a better metric may exist elsewhere")
    if len(runs) > 1:
        notes.append(f"-{p.criterion} by start: " + ", ".join(f"{run.name} {run.value:.6g}" for run in runs))
    return [*notes, p.dropped()] if p.dropped() else notes
