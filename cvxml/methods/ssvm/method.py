"""The contract of neighbourhood gerrymandering (paper 001): what cvxml.methods.Method asks, inputs checked.

Reference: S. Trivedi, D. McAllester, G. Shakhnarovich, Discriminative Metric Learning by Neighborhood
Gerrymandering, NIPS 2014.
"""

from __future__ import annotations

import warnings
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.exact import Exact
from cvxml.firstorder import one_blas_thread
from cvxml.inputs import check_choice, check_count, check_positive
from cvxml.methods.ssvm import enumeration
from cvxml.methods.ssvm.certify import certify as certify_metric
from cvxml.methods.ssvm.evaluate import evaluate as evaluate_metric
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.point import point_at, rescaled
from cvxml.methods.ssvm.solve import metric_of, solve_globally, solve_instance
from cvxml.methods.ssvm.statement import STATEMENT as STATEMENT
from cvxml.methods.ssvm.step import StepSolver
from cvxml.methods.ssvm.variants import VARIANTS as VARIANTS
from cvxml.metric import FloatArray, IntArray, as_matrix, as_metric, examine, unit_scale
from cvxml.result import Certificate, Dual, Evaluation, SavedSolution, Solution, warn_unless_converged

TITLE = "Neighbourhood gerrymandering: a latent structural SVM (Trivedi et al. 2014; paper 001)"
CLAIM = "stationary"
SCALE = "reference"
STARTS = ("zero", "identity", "relieff", "random")
TINY, TINY_SECONDS = 8, 30.0  # points up to which `check` tries to prove a global optimum
PARAMETERS = {
    "n_neighbors": "k, the size of a vote (default 3)",
    "C": "weight of the sum of losses, > 0 (default 1/n)",
    "loss_matrix": "Lam (R, R), the cost of predicting r for a point of class y; zero diagonal, positive "
    "elsewhere; classes sorted (default: 0/1)",
}
SOLVE_PARAMETERS = {
    "init": '"zero" (default), "identity", "relieff", "random", a metric (d, d), or a list of these: the best is kept',
    "random_state": "seed of the random start (default 0)",
    "time_limit": 'seconds for solver "global" (default 600)',
}


def problem(X: ArrayLike, y: ArrayLike, *, at: ArrayLike | None = None, **params: Any) -> Any:
    """The convex step of CCCP at the metric `at` (d, d), default the identity, as a `cvxpy.Problem`.

    Variables "W" (d, d) and "t" (n,); a row for every set, n * (n-1 choose k) in all. Raises ValueError for bad
    input.
    """
    from cvxml.methods.ssvm.problem import enumerated

    p, latent = _step_at(X, y, at, params)
    return enumerated(p.X, p.y, p.k, p.C, p.Lam, latent)


def dual_problem(X: ArrayLike, y: ArrayLike, *, at: ArrayLike | None = None, **params: Any) -> Any:
    """The dual of `problem` as a `cvxpy.Problem`; variables "q", an entry a set, and "S" (d, d)."""
    from cvxml.methods.ssvm.problem import dual, every_set

    p, latent = _step_at(X, y, at, params)
    return dual(p.X, p.y, p.k, p.C, p.Lam, latent, every_set(p.y, p.k))


def _step_at(
    X: ArrayLike, y: ArrayLike, at: ArrayLike | None, params: dict[str, Any]
) -> tuple[Instance, list[enumeration.Neighbors]]:
    p = instance(X, y, **params)
    d = p.X.shape[1]
    W = np.eye(d) if at is None else as_metric(at, d, "at")
    return p, enumeration.h_star(p.X, p.y, W, p.k)


def literal_source() -> str:
    """The source of problem.py."""
    return resources.files("cvxml.methods.ssvm").joinpath("problem.py").read_text(encoding="utf-8")


def objective(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """F at `metric` (d, d), naive: by enumeration of all vote counts, one point after another."""
    p = instance(X, y, **params)
    return enumeration.objective(p.X, p.y, as_metric(metric, p.X.shape[1]), p.k, p.C, p.Lam)


def evaluate(X: ArrayLike, y: ArrayLike, metric: ArrayLike, *, t: int = 1, **params: Any) -> Evaluation:
    """The intermediates at `metric` (d, d), by the paper's names, and a full-batch step of Algorithm 1 at `t`.

    h_star, h_hat (n, k); S_star, S_hat, Delta (of h_hat), L (n,); Psi_star, Psi_hat (d, d), their sums over i;
    subgradient (d, d); eta = 1/(2 (t+1)), W_half, W_next (d, d). Raises ValueError for bad input.
    """
    p = instance(X, y, **params)
    feasibility = examine(as_matrix(metric, p.X.shape[1]))[1]
    W = as_metric(metric, p.X.shape[1])
    values = evaluate_metric(p, W, check_count(t, "t", at_most=10**15))
    return Evaluation("ssvm", {**values, "feasibility": str(feasibility)})


def certify(X: ArrayLike, y: ArrayLike, metric: ArrayLike, dual: Dual, **params: Any) -> Certificate:
    """The certificate of `metric` (d, d) from any weights "q", "q_index" (certify.py). ValueError for bad input."""
    p = instance(X, y, **params)
    with one_blas_thread():
        return certify_metric(p, as_matrix(metric, p.X.shape[1]), dual)


def exact(
    X: ArrayLike,
    y: ArrayLike,
    metric: ArrayLike,
    dual: Dual,
    *,
    root: ArrayLike | None = None,
    psd: ArrayLike | None = None,
    **params: Any,
) -> Exact:
    """The interval of the metric's own convex step in rational arithmetic. Raises ValueError as exact.py says."""
    from cvxml.methods.ssvm.exact import exact_interval

    p = instance(X, y, **params)
    return exact_interval(p, as_matrix(metric, p.X.shape[1]), dual, root=root, psd=psd)


def solve(
    X: ArrayLike,
    y: ArrayLike,
    *,
    solver: str = "fast",
    init: Any = "zero",
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
    time_limit: float = 600.0,
    warm_start: Solution | SavedSolution | None = None,
    callback: Any = None,
    **params: Any,
) -> Solution:
    """A stationary metric with the certificate of its convex step, the best of one or more starts; or the optimum.

    solver: "fast" (cccp.py), or "clarabel" / "scs": each step literally, by constraint generation through
    cvxpy (small n), or "global": branch and bound (globally.py), for n of about 10 to 20: a metric proved optimal
    to tol * ||W||^2, or the gap after `time_limit` seconds. init, random_state: as in `SOLVE_PARAMETERS`. tol: stop
    where the metric's own step is certified to gain at most tol * ||W||^2. max_iter: CCCP steps from each start.
    warm_start: a Solution to go on from, in place of init. callback: called with a `cvxml.result.Step` after each
    step. Parameters as in `PARAMETERS`. Raises ValueError for bad input; warns (ConvergenceWarning) whenever tol is
    not met.
    """
    p = instance(X, y, **params)
    check_choice(solver, "solver", ("fast", "clarabel", "scs", "global"))
    check_positive(time_limit, "time_limit")
    check_positive(tol, "tol")
    check_count(max_iter, "max_iter")
    stored = {"n_neighbors": p.k, "C": p.C, "loss_matrix": p.Lam.tolist()}
    if solver == "global":
        start = init if warm_start is None else metric_of(warm_start, p)
        solution = solve_globally(p, start, float(tol), float(time_limit), random_state, callback, stored)
    else:
        solution = solve_instance(
            p, solver, init, float(tol), max_iter, random_state, warm_start, callback, stored
        )
    warn_unless_converged(solution, tol)
    return solution


def improve(
    X: ArrayLike, y: ArrayLike, metric: ArrayLike, *, tol: float = 1e-6, early: bool = False, **params: Any
) -> tuple[FloatArray, Dual]:
    """The convex step at `metric` (d, d) solved to `tol`: a metric with no higher F, and the step's dual.

    early: stop once most of what the step can win is won.
    """
    p = instance(X, y, **params)
    s = unit_scale(p.X)
    unit = p.scaled(s)
    with one_blas_thread():
        at = point_at(unit, as_metric(metric, p.X.shape[1]) * s**2)
        solver = StepSolver(unit, at.latent)
        result = solver.solve(at, tol, early)
    q, point, sets = solver.dual()
    return rescaled(unit, result.best).W / s**2, {"q": q, "q_index": np.column_stack([point, sets])}


def enumerated(X: ArrayLike, y: ArrayLike, *, tol: float, **params: Any) -> Solution | None:
    """The global optimum with its tree of bounds, for at most `TINY` points and in `TINY_SECONDS`; None for more."""
    if instance(X, y, **params).X.shape[0] > TINY:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whoever asks looks at the bound
        return solve(X, y, solver="global", tol=tol, time_limit=TINY_SECONDS, **params)


def remarks(X: ArrayLike, y: ArrayLike, metric: FloatArray, **params: Any) -> tuple[str, ...]:
    """None."""
    return ()


def ties(X: ArrayLike, y: ArrayLike, **params: Any) -> int:
    """0: F compares costs, and equal costs of different neighbours are equal."""
    return 0


def neighbor_lists(X: ArrayLike, y: ArrayLike, **params: Any) -> list[IntArray]:
    """None: neighbours are what is inferred here."""
    return []


def machine_slack(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """Nothing: the certificate is computed from the numbers given, and its own rounding covers it."""
    return 0.0


def metric_size(X: FloatArray) -> int:
    """A metric is d x d."""
    return int(X.shape[1])
