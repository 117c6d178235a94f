"""CCCP with each step solved as stated, by constraint generation through cvxpy: independent of columns.py."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.core.result import Status, Step
from cvxml.methods.ssvm.cccp import Run
from cvxml.methods.ssvm.certify import certify
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import as_certified, point_at, rescaled


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
