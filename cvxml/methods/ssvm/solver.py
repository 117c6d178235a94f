"""From an instance to a metric and its dual: rescale, run CCCP from each start, take the best; or the optimum.

CCCP with each step solved as stated, by constraint generation through cvxpy: independent of columns.py.

ReliefF weights of the features, for the diagonal start of the paper (section 6).

Kononenko's weights with n_neighbors hits and as many misses of each other class, these weighted by their
prior, over all n points in order (no sampling), differences relative to each feature's range. Clipped at 0;
all 1 where nothing is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cvxml.core.inputs import check_count
from cvxml.core.metric import FloatArray, IntArray, as_metric, project_psd, unit_scale
from cvxml.core.result import Certificate, Dual, Status, Step
from cvxml.core.run import Callback, Found, Start, untried
from cvxml.methods.ssvm.branch_and_bound import Search, reduced
from cvxml.methods.ssvm.certify import certify
from cvxml.methods.ssvm.inference import as_certified, nearest, point_at, rescaled
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.step import Run, cccp

STARTS = ("zero", "identity", "relieff", "random")
UNMOVED = 1e-4  # ||W||^2 below this share of F


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
    """The best of the CCCP runs from all starts, on X / s with C s^4."""
    s = unit_scale(p.X)
    unit = p.scaled(s)
    starts = _starts(unit, init, random_state, s) if start is None else [("warm", start.metric * s**2)]
    report = None if callback is None else lambda step: callback(_in_units(step, s))
    runs: list[tuple[str, Run]] = []
    for name, W in starts:
        if solver == "fast":
            run = cccp(unit, W, tol, max_iter, report)
        else:
            run = literal_cccp(unit, W, solver, tol, max_iter, report)
        runs.append((name, run))
        if run.status is Status.INTERRUPTED:
            break
    best = min((run for _, run in runs), key=lambda run: run.at.F)
    return Found(
        best.at.W / s**2,
        as_dual(best),
        Status.INTERRUPTED if runs[-1][1].status is Status.INTERRUPTED else best.status,
        sum(run.steps for _, run in runs),
        tuple(_in_units(step, s) for _, run in runs for step in run.history),
        (*_by_start(runs, s), *untried([name for name, _ in starts], len(runs))),
    )


def search_globally(
    p: Instance,
    init: Any,
    tol: float,
    random_state: int,
    start: Start | None,
    callback: Callback,
) -> Found:
    """The global optimum by branch and bound (tree/), from the starts and CCCP."""
    small = reduced(p)
    back = np.linalg.pinv(small.axes)
    starts = [W for _, W in _starts(p, init if start is None else start.metric, random_state, 1.0)]
    history: list[Step] = []

    def report(step: Step) -> None:
        step = _in_units(step, small.scale)
        if not history or step.gap < history[-1].gap:
            history.append(step)
        if callback is not None:
            callback(step)

    tree = Search(small.p, [project_psd(back.T @ W @ back) for W in starts], tol)
    status = tree.run(report)
    W = small.axes.T @ tree.best.W @ small.axes
    said = f"branch and bound over the assignments of h*: {tree.nodes} nodes"
    return Found((W + W.T) / 2, tree.dual(small.scale), status, tree.nodes, tuple(history), (said,))


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


def _in_units(step: Step, s: float) -> Step:
    """A step of the problem on X / s in the units given."""
    per = s**4
    return replace(
        step,
        objective=step.objective / per,
        lower_bound=step.lower_bound / per,
        gap=step.gap / per,
        scale=step.scale / per,
    )


def _by_start(runs: list[tuple[str, Run]], s: float) -> tuple[str, ...]:
    if len(runs) < 2:
        return ()
    each = ", ".join(f"{name} {run.at.F / s**4:.6g}" for name, run in runs)
    return (f"F by start: {each}",)


def notes_on(found: Found, certificate: Certificate) -> list[str]:
    """What a metric that is not proved optimal leaves open, and whether the data move it."""
    F, scale = certificate.objective, certificate.scale
    notes = ["F is not convex: a better metric may exist elsewhere", *found.notes]
    if scale < UNMOVED * F:
        notes.append(
            f"at this C the data hardly move the metric: ||W||^2 is {scale / F:.1g} of F; a larger C "
            "lets them move it more"
        )
    return notes


def literal_cccp(
    p: Instance,
    W: FloatArray,
    solver: str,
    tol: float,
    max_iter: int,
    callback: Callable[[Step], None] | None = None,
) -> Run:
    """As cccp.cccp, through "clarabel" or "scs"; neither is believed, our certificate ends it."""
    started = time.perf_counter()
    at = rescaled(p, point_at(p, W))
    run = Run(at, _on(at.latent), Status.MAX_ITER)
    while run.steps < max_iter:
        metric, run.dual = _step(p, at.latent, solver)
        run.steps += 1
        q, point, sets = run.dual
        proof = certify(p, at.W, {"q": q, "q_index": np.column_stack([point, sets])}).step
        assert proof is not None
        step = Step(
            run.steps, time.perf_counter() - started, at.F, proof.lower_bound, proof.gap, solver, proof.scale
        )
        run.history.append(step)
        if callback is not None:
            try:
                callback(step)
            except KeyboardInterrupt:
                run.status = Status.INTERRUPTED
                break
        if proof.proves(tol):
            run.status = Status.STATIONARY
            break
        new = rescaled(p, point_at(p, metric))
        if new.F < at.F:
            run.at = at = new
        elif (other := as_certified(p, at)) is not at:
            run.at = at = other
        else:
            run.status = Status.BACKEND
            break
    return run


def _step(
    p: Instance, latent: IntArray, solver: str
) -> tuple[FloatArray, tuple[FloatArray, IntArray, IntArray]]:
    """W of the literal step, and the weights of its dual over the sets generated."""
    from cvxml.core.backend import solve_problem
    from cvxml.methods.ssvm.problem import dual, generated

    h_star = [tuple(h) for h in latent.tolist()]
    found = generated(p.X, p.y, p.k, p.C, p.Lam, h_star, solver=solver)
    q = solve_problem(dual(p.X, p.y, p.k, p.C, p.Lam, h_star, found.sets), solver)["q"]
    point = np.repeat(np.arange(len(p.y)), [len(listed) for listed in found.sets])
    sets = np.array([h for listed in found.sets for h in listed], dtype=np.intp).reshape(len(q), p.k)
    return project_psd(found.W), (q, point, sets)


def _on(latent: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    return np.ones(len(latent)), np.arange(len(latent)), latent


def relieff(X: FloatArray, y: IntArray, R: int, n_neighbors: int = 10) -> FloatArray:
    """The weights (d,), not negative. Neighbours are Euclidean in range-scaled features."""
    n, d = X.shape
    spread = np.ptp(X, axis=0)
    unit = X / np.where(spread > 0, spread, 1.0)
    prior = np.bincount(y, minlength=R) / n
    near = nearest(unit, y, R, np.eye(d), min(n_neighbors, n - 1))
    weights = np.zeros(d)
    for c in range(R):
        J = near.J[:, c]
        found = J >= 0
        apart = np.abs(unit[:, None, :] - unit[np.where(found, J, 0)]) * found[:, :, None]
        mean = apart.sum(axis=1) / np.maximum(found.sum(axis=1), 1)[:, None]
        share = np.where(y == c, -1.0, prior[c] / (1 - prior[y]))
        weights += share @ mean / n
    clipped: FloatArray = np.maximum(weights, 0.0)
    return clipped if clipped.any() else np.ones(d)
