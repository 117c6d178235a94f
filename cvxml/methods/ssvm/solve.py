"""From an instance to a Solution: rescale, run CCCP from each start, certify the best, say what should be known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cvxml.firstorder import one_blas_thread
from cvxml.inputs import check_count
from cvxml.methods.ssvm.cccp import Run, cccp
from cvxml.methods.ssvm.certify import certify
from cvxml.methods.ssvm.globally import Search, reduced
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.literal import literal_cccp
from cvxml.methods.ssvm.relieff import relieff
from cvxml.metric import FloatArray, as_metric, project_psd, unit_scale
from cvxml.result import Dual, SavedSolution, Solution, Status, Step

STARTS = ("zero", "identity", "relieff", "random")
UNMOVED = 1e-4  # ||W||^2 below this share of F


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
    """The best of the CCCP runs from all starts, on X / s with C s^4, certified in the units given."""
    s = unit_scale(p.X)
    unit = p.scaled(s)
    starts = (
        _starts(unit, init, random_state, s)
        if warm_start is None
        else [("warm", metric_of(warm_start, unit) * s**2)]
    )
    report = None if callback is None else lambda step: callback(_in_units(step, s))
    runs: list[tuple[str, Run]] = []
    for name, W in starts:
        with one_blas_thread():
            if solver == "fast":
                run = cccp(unit, W, tol, max_iter, report)
            else:
                run = literal_cccp(unit, W, solver, tol, max_iter, report)
        runs.append((name, run))
        if run.status is Status.INTERRUPTED:
            break
    best = min((run for _, run in runs), key=lambda run: run.at.F)
    metric = best.at.W / s**2
    with one_blas_thread():
        certificate = certify(p, metric, as_dual(best))
    status = best.status
    if any(run.status is Status.INTERRUPTED for _, run in runs):
        status = Status.INTERRUPTED
    elif certificate.proves(tol):
        status = Status.STATIONARY
    elif status is Status.STATIONARY:
        status = Status.BACKEND if solver != "fast" else Status.STALLED
    return Solution(
        method="ssvm",
        metric=metric,
        certificate=certificate,
        status=status,
        n_iter=sum(run.steps for _, run in runs),
        history=tuple(_in_units(step, s) for _, run in runs for step in run.history),
        params=params,
        X=p.X,
        y=p.y,
        neighbors=[],
        notes=tuple(_notes(runs, s, certificate.scale, certificate.objective)),
        solver=solver,
    )


def solve_globally(
    p: Instance,
    init: Any,
    tol: float,
    time_limit: float,
    random_state: int,
    callback: Callable[[Step], None] | None,
    params: dict[str, Any],
) -> Solution:
    """The global optimum by branch and bound (globally.py), from the starts and CCCP; whatever ends it is certified."""
    small = reduced(p)
    back = np.linalg.pinv(small.axes)
    starts = [W for _, W in _starts(p, init, random_state, 1.0)]
    history: list[Step] = []

    def report(step: Step) -> None:
        step = _in_units(step, small.scale)
        if not history or step.gap < history[-1].gap:
            history.append(step)
        if callback is not None:
            callback(step)

    with one_blas_thread():
        search = Search(small.p, [project_psd(back.T @ W @ back) for W in starts], tol)
        status = search.run(time_limit, report)
        metric = small.axes.T @ search.best.W @ small.axes
        certificate = certify(p, (metric + metric.T) / 2, search.dual(small.scale))
    if certificate.proves(tol):
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.STALLED
    return Solution(
        method="ssvm",
        metric=(metric + metric.T) / 2,
        certificate=certificate,
        status=status,
        n_iter=search.nodes,
        history=tuple(history),
        params=params,
        X=p.X,
        y=p.y,
        neighbors=[],
        notes=(f"branch and bound over the assignments of h*: {search.nodes} nodes",),
        solver="global",
    )


def as_dual(run: Run) -> Dual:
    """The weights of the last step of a run, as a certificate takes them."""
    q, point, sets = run.dual
    return {"q": q, "q_index": np.column_stack([point, sets])}


def start_metric(p: Instance, name: str, random_state: int = 0) -> FloatArray:
    """A start by name: "zero", "identity", "relieff" (a diagonal, relieff.py) or "random" (G G^T / d, G normal)."""
    d = p.X.shape[1]
    if name == "zero":
        return np.zeros((d, d))
    if name == "identity":
        return np.eye(d)
    if name == "relieff":
        diagonal: FloatArray = np.diag(relieff(p.X, p.y, p.R))
        return diagonal
    if name == "random":
        G = np.random.default_rng(random_state).standard_normal((d, d))
        wishart: FloatArray = G @ G.T / d
        return wishart
    raise ValueError(
        f"init={name!r}: a start is one of {', '.join(map(repr, STARTS))}, a metric (d, d), or a list of these"
    )


def _starts(p: Instance, init: Any, random_state: int, s: float) -> list[tuple[str, FloatArray]]:
    check_count(random_state, "random_state", at_least=0)
    if isinstance(init, str):
        return [(init, start_metric(p, init, random_state))]
    if (
        isinstance(init, (list, tuple))
        and init
        and all(isinstance(one, str) or np.ndim(one) == 2 for one in init)
    ):
        return [start for one in init for start in _starts(p, one, random_state, s)]
    return [("given", as_metric(init, p.X.shape[1], "init") * s**2)]


def metric_of(warm_start: Solution | SavedSolution, p: Instance) -> FloatArray:
    if not isinstance(warm_start, (Solution, SavedSolution)):
        raise ValueError(f"warm_start must be a solution, got {type(warm_start).__name__}")
    metric: FloatArray = as_metric(warm_start.metric, p.X.shape[1], "the metric of warm_start")
    return metric


def _in_units(step: Step, s: float) -> Step:
    """A step of the problem on X / s in the units given."""
    per = s**4
    return replace(
        step, objective=step.objective / per, lower_bound=step.lower_bound / per, gap=step.gap / per
    )


def _notes(runs: list[tuple[str, Run]], s: float, scale: float, F: float) -> list[str]:
    notes = ["F is not convex: a better metric may exist elsewhere"]
    if len(runs) > 1:
        each = ", ".join(f"{name} {run.at.F / s**4:.6g}" for name, run in runs)
        notes.append(f"F by start: {each}")
    if scale < UNMOVED * F:
        notes.append(
            f"at this C the data hardly move the metric: ||W||^2 is {scale / F:.1g} of F; a larger C would"
        )
    return notes
