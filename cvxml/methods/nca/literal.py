"""CCCP with each step solved as stated, through cvxpy: independent of fast.py and descent.py but for the repair."""

from __future__ import annotations

import time
from collections.abc import Callable

from cvxml.core.metric import FloatArray, project_psd
from cvxml.core.result import Status, Step
from cvxml.methods.nca import definitions
from cvxml.methods.nca.certify import certify
from cvxml.methods.nca.solver import Run, Solver


def literal_cccp(
    at: Solver,
    name: str,
    A: FloatArray,
    solver: str,
    tol: float,
    max_iter: int,
    callback: Callable[[Step], None] | None = None,
) -> Run:
    """CCCP from A through "clarabel" or "scs": each step is kept only if the objective, by the definition, is lower.

    Ends where our certificate proves the metric's own step, or the back end does no better, or at infinity.
    """
    from cvxml.core.backend import solve_problem
    from cvxml.methods.nca.problem import step as literal_step

    p, started = at.p, time.perf_counter()
    s, Q = p.weights(), at.metric(A)
    run = Run(name, A, definitions.objective(p.X, s, Q, p.criterion), Status.MAX_ITER, 0)
    while run.iterations < max_iter:
        new = project_psd(solve_problem(literal_step(p.X, s, Q, p.criterion), solver, exponential=True)["Q"])
        run.dual = at.dual(Q, run.A, at.of_metric(new), tol)
        proof = certify(p, Q, run.dual)
        judged = proof.step or proof
        run.iterations += 1
        seconds = time.perf_counter() - started
        step = Step(run.iterations, seconds, run.value, judged.lower_bound, judged.gap, solver, judged.scale)
        run.history.append(step)
        if callback is not None:
            try:
                callback(step)
            except KeyboardInterrupt:
                run.status = Status.INTERRUPTED
                break
        if judged.proves(tol):
            run.status = Status.STALLED  # unless the certificate says more, in the end
            break
        lower = definitions.objective(p.X, s, new, p.criterion)
        if not lower < run.value:
            run.status = Status.BACKEND
            break
        Q, run.A, run.value, run.dual = new, at.of_metric(new), lower, None
        if at.at_infinity(Q):
            break
    return run
