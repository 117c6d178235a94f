"""From an instance to a metric and its dual: descend from each start, take the best, say what should be known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.inputs import check_count
from cvxml.core.metric import FloatArray
from cvxml.core.result import Status
from cvxml.core.run import Callback, Found, Start, silent, untried
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.literal import literal_cccp
from cvxml.methods.nca.rows import Metric
from cvxml.methods.nca.solver import Run, Solver
from cvxml.methods.nca.starts import given, start

SLIP = 1e-9  # of the objective: a start is no better than what a descent from it leads to but for rounding
LOST = (
    "some features all but determine others: the metric that a descent leads to is worse once it is rounded to a "
    "matrix of floats, and what is returned is one that can be written"
)


class Named(NamedTuple):
    """A start by name: A (m, r) in the coordinates, and the metric (d, d) that it is."""

    name: str
    A: FloatArray
    Q: FloatArray


def search(
    p: Instance,
    solver: str,
    init: Any,
    tol: float,
    max_iter: int,
    random_state: int,
    start: Start | None,
    callback: Callback,
) -> Found:
    """The best of the descents (or literal runs of CCCP) from all starts."""
    at = Solver(p)
    if start is None:
        starts = starts_of(at, init, random_state)
    else:
        starts = [Named("warm", at.of_metric(start.metric), start.metric)]
    runs: list[Run] = []
    left_out: tuple[str, ...] = ()
    for name, A, _ in starts:
        if solver == "fast":
            runs.append(at.run(name, A, tol, max_iter, callback))
        else:
            runs.append(literal_cccp(at, name, A, solver, tol, max_iter, callback))
        if runs[-1].status is Status.INTERRUPTED:
            left_out = untried([each.name for each in starts], len(runs))
            break
    best = _best(at, runs, starts, tol, max_iter, silent(callback))
    metric = at.metric(best.A) if best.metric is None else best.metric
    why = at.at_infinity(metric)
    return Found(
        metric,
        at.dual_of(best, metric, tol),
        _status(at, best, runs, why),
        sum(run.iterations for run in runs),
        tuple(step for run in runs for step in run.history),
        (*_notes(p, runs, why if best.metric is None else why or LOST), *left_out),
    )


def _best(
    at: Solver, runs: list[Run], starts: list[Named], tol: float, max_iter: int, callback: Callback
) -> Run:
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
    from_starts = [at_most(each.Q) for each in starts[: len(runs)]]
    k = int(np.argmin(from_starts))
    if found - from_starts[k] <= SLIP * (1 + abs(found)):
        return best
    coarse, Q = at.coarse(), starts[k].Q
    run = coarse.run(starts[k].name, coarse.of_metric(Q), tol, max_iter, callback)
    runs.append(run)
    if at_most(coarse.metric(run.A)) < from_starts[k]:
        Q = coarse.metric(run.A)
    return replace(run, A=at.of_metric(Q), metric=Q)


def _status(at: Solver, best: Run, runs: list[Run], why: str) -> Status:
    """Before anything is proved. why: no metric attains the supremum."""
    if any(run.status is Status.INTERRUPTED for run in runs):
        return Status.INTERRUPTED
    if why:
        return Status.NOT_ATTAINED
    return Status.AT_INFINITY if best.status is not Status.MAX_ITER and at.leaves(best.A) else best.status


def starts_of(at: Solver, init: Any, random_state: int) -> list[Named]:
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
        return [Named(init, A, Q)]
    if (
        isinstance(init, (list, tuple))
        and init
        and all(isinstance(one, str) or np.ndim(one) == 2 for one in init)
    ):
        return [found for one in init for found in starts_of(at, one, random_state)]
    A = given(p, init)
    return [Named("given", at.inside(A), A.T @ A)]


def _notes(p: Instance, runs: list[Run], why: str) -> list[str]:
    notes = [why] if why else []
    if not p.convex:
        notes.append(f"-{p.criterion} is not convex: a better metric may exist elsewhere")
    if len(runs) > 1:
        notes.append(f"-{p.criterion} by start: " + ", ".join(f"{run.name} {run.value:.6g}" for run in runs))
    return [*notes, p.dropped()] if p.dropped() else notes
