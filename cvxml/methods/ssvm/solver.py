"""From an instance of gerrymandering to a metric and its dual variables.

`search` runs CCCP, the concave-convex procedure of step.py, from each start and takes the best metric. `LiteralSteps`
solves each convex step of CCCP as stated, by constraint generation through cvxpy. `search_globally` calls
branch_and_bound.py. F is the objective. h* is the set of neighbours of each point that a step fixes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, as_metric, project_psd, unit_scale
from cvxml.core.result import Certificate, Dual, Status, Step
from cvxml.core.run import Callback, Found, Start, untried
from cvxml.methods.ssvm.branch_and_bound import Search, reduced
from cvxml.methods.ssvm.certify import certify, of_points
from cvxml.methods.ssvm.inference import Point, nearest, point_at
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.step import Run, StepResult, StepSolver, cccp
from cvxml.solvers.starts import each_start

STARTS = ("zero", "identity", "relieff", "random")
UNMOVED = 1e-4  # share of F: if ||W||^2 and the gain over W = 0 are smaller, W is nearly 0


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
    """Return the best of the CCCP runs from all starts.

    solver: "fast", "clarabel" or "scs". init: the starts, by name or as matrices; the metric of `start` replaces them
    if it is given. max_iter: steps of each run. tol: a run ends at a metric W if the convex step there can lower its
    objective by at most tol * ||W||^2. The runs solve the same problem for X / s with C s^4, where X / s is of about
    unit scale.
    """
    s = unit_scale(p.X)
    unit = p.scaled(s)
    starts = _starts(unit, init, random_state, s) if start is None else [("warm", start.metric * s**2)]
    report = None if callback is None else lambda step: callback(_in_units(step, s))
    runs: list[tuple[str, Run]] = []
    for name, W in starts:
        steps_from = StepSolver if solver == "fast" else partial(LiteralSteps, solver=solver)
        run = cccp(unit, W, tol, max_iter, report, steps_from)
        runs.append((name, run))
        if run.status is Status.INTERRUPTED:
            break
    best = min((run for _, run in runs), key=lambda run: run.at.F)
    return Found(
        best.at.W / s**2,
        best.dual,
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
    """Return the global optimum by branch and bound, or the best metric so far if the run is interrupted.

    CCCP from the starts gives the first candidates. init: the starts, by name or as matrices; the metric of `start`
    replaces them if it is given. tol: tolerance of the gap of F, relative to ||W||^2.
    """
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


def start_metric(p: Instance, name: str, random_state: int = 0) -> FloatArray:
    """Return the start (d, d) with this name, one of `STARTS`. Raises ValueError for another name.

    "zero", "identity", "relieff" (a diagonal of feature weights), or "random" (G G^T / d, with G standard normal).
    """
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
    return [
        (one, start_metric(p, one, random_state))
        if isinstance(one, str)
        else ("given", as_metric(one, p.X.shape[1], "init") * s**2)
        for one in each_start(init, random_state)
    ]


def _in_units(step: Step, s: float) -> Step:
    """Return a step that was recorded for the problem on X / s, with its values in the units of X."""
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


def notes_on(found: Found, certificate: Certificate, at_zero: Callable[[], float]) -> list[str]:
    """Return the notes for the user on a solution that CCCP found.

    They say that F is not convex, and repeat the notes of `found`. They also say if the data have little influence
    because C is small. certificate: that of the solution. at_zero: computes F of W = 0; called only if needed.
    """
    F, scale = certificate.objective, certificate.scale
    notes = ["F is not convex: a better metric may exist elsewhere", *found.notes]
    is_small = found.status is Status.STATIONARY and scale < UNMOVED * F
    if is_small and at_zero() - F < UNMOVED * F:
        notes.append(
            f"at this C the data have little influence on the metric: ||W||^2 is {scale / F:.1g} of F; a larger "
            "C increases their influence"
        )
    return notes


class LiteralSteps:
    """The convex steps of CCCP by the back end "clarabel" or "scs", as stated in problem.py.

    Whether a metric is stationary is decided by the certificate of the step, because the back end need not be accurate.
    """

    unfinished = Status.BACKEND
    keeps_start = False

    def __init__(self, p: Instance, latent: IntArray, solver: str):
        self.p, self.phase = p, solver
        self._dual: Dual = {"q": np.ones(len(latent)), "q_index": of_points(latent)}

    def dual(self) -> Dual:
        return self._dual

    def solve(self, at: Point, tol: float) -> StepResult:
        """Solve the literal step at the point `at`, and its dual over the sets that constraint generation found.

        tol: a metric is stationary if its step can lower the objective by at most tol * ||W||^2.
        """
        from cvxml.core.backend import solve_problem
        from cvxml.methods.ssvm.problem import dual, generated

        p, h_star = self.p, [tuple(h) for h in at.latent.tolist()]
        found = generated(p.X, p.y, p.k, p.C, p.Lam, h_star, solver=self.phase)
        q = solve_problem(dual(p.X, p.y, p.k, p.C, p.Lam, h_star, found.sets), self.phase)["q"]
        index = [(i, *h) for i, listed in enumerate(found.sets) for h in listed]
        self._dual = {"q": q, "q_index": np.array(index, dtype=np.intp).reshape(len(q), 1 + p.k)}
        proof = certify(p, at.W, self._dual).step
        assert proof is not None, "a certificate of kind stationary has a step"
        best = point_at(p, project_psd(found.W))
        return StepResult(best, math.inf, proof.lower_bound, proof.proves(tol))


def relieff(X: FloatArray, y: IntArray, R: int, n_neighbors: int = 10) -> FloatArray:
    """Return the ReliefF weights of the features (d,), at least 0, for the diagonal start of the paper (section 6).

    X (n, d), y (n,) codes of R classes. The weights are Kononenko's, from all n points (no sampling). Each feature is
    first divided by its range. The hits of a point are its n_neighbors nearest points of the same class, and its misses
    are as many of each other class, by Euclidean distance. The mean differences to the misses of a class are weighted
    by the prior of the class. Weights below 0 become 0; if all are 0, all become 1.
    """
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
