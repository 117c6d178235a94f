"""The contract of MLSVM (paper 002): what cvxml.methods.Method asks of a method, with every input checked.

Reference: N. Nguyen, Y. Guo, Metric Learning: A Support Vector Approach, ECML PKDD 2008.
"""

from __future__ import annotations

import math
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.exact import Exact
from cvxml.inputs import check_choice, check_count, check_positive
from cvxml.methods.mlsvm.algorithm1 import Run
from cvxml.methods.mlsvm.algorithm1 import algorithm1 as run_algorithm1
from cvxml.methods.mlsvm.certify import certify as certify_metric
from cvxml.methods.mlsvm.certify import repair
from cvxml.methods.mlsvm.evaluate import evaluate as evaluate_metric
from cvxml.methods.mlsvm.evaluate import objective as objective_of
from cvxml.methods.mlsvm.instance import Instance, instance
from cvxml.methods.mlsvm.solve import solve_instance
from cvxml.methods.mlsvm.statement import STATEMENT as STATEMENT
from cvxml.methods.mlsvm.variants import VARIANTS as VARIANTS
from cvxml.metric import FloatArray, IntArray, as_matrix, as_metric, examine
from cvxml.result import Certificate, Dual, Evaluation, SavedSolution, Solution, warn_unless_converged

TITLE = "MLSVM: metric learning, a support vector approach (Nguyen, Guo 2008; paper 002)"
CLAIM = "optimal"
SCALE = "reference"
SOLVE_PARAMETERS: dict[str, str] = {}
PARAMETERS = {
    "lam": "weight of lam/2 ||A||^2, > 0 (default 0.1)",
    "n_neighbors": "K, the size of a neighbourhood (default 4)",
    "neighborhood": '"knn": the K nearest of any class, as printed (default); '
    '"per-class": K nearest of the class and K nearest of the rest',
    "neighbors": "explicit lists N(i), one a point; they win over n_neighbors and neighborhood",
}


def problem(X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
    """Problem (2) as a `cvxpy.Problem`, row by row as printed; variables "A" (d, d) and "xi" (n,).

    Parameters as in `PARAMETERS`. Raises ValueError for bad input.
    """
    from cvxml.methods.mlsvm.problem import literal

    given = instance(X, y, **params)
    return literal(given.X, given.N, given.lam)


def dual_problem(X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
    """The compact dual as a `cvxpy.Problem`; variables "u", "w" (one entry a pair) and "S" (d, d)."""
    from cvxml.methods.mlsvm.problem import dual

    given = instance(X, y, **params)
    return dual(given.X, given.N, given.lam)


def literal_source() -> str:
    """The source of problem.py."""
    return resources.files("cvxml.methods.mlsvm").joinpath("problem.py").read_text(encoding="utf-8")


def objective(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """lam/2 ||A||^2 + 1/n sum_i xi_i at `metric` (d, d), from the definition."""
    given = instance(X, y, **params)
    A = as_metric(metric, given.X.shape[1])
    return objective_of(given.X, given.N, A, given.lam)


def evaluate(X: ArrayLike, y: ArrayLike, metric: ArrayLike, *, t: int = 1, **params: Any) -> Evaluation:
    """The intermediates at `metric` (d, d), by the paper's names, and one Algorithm-1 step at iteration `t`.

    targets, impostors (lists a point), usable, ties, target_distances, impostor_distances, active_impostor and
    active_target (index of x- and x+, -1 where vacuous), xi, violated (V), subgradient (d, d), eta =
    1/(lam (t+1)), A_third, A_two_thirds, A_next (d, d). Raises ValueError for bad input.
    """
    given = instance(X, y, **params)
    feasibility = examine(as_matrix(metric, given.X.shape[1]))[1]
    A = as_metric(metric, given.X.shape[1])
    values = evaluate_metric(given.X, given.N, A, given.lam, check_count(t, "t", at_most=10**15))
    return Evaluation("mlsvm", {**values, "feasibility": str(feasibility)})


def certify(X: ArrayLike, y: ArrayLike, metric: ArrayLike, dual: Dual, **params: Any) -> Certificate:
    """The certificate of `metric` (d, d) from any dual variables (certify.py).

    dual: "u", "u_index", "w", "w_index". Raises ValueError for bad input.
    """
    given = instance(X, y, **params)
    A = as_matrix(metric, given.X.shape[1])
    return certify_metric(given.X, given.N, A, dual, given.lam)


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
    """The interval of `certify` in rational arithmetic (exact.py). Raises ValueError without python-flint."""
    from cvxml.methods.mlsvm.exact import exact_interval

    given = instance(X, y, **params)
    A = as_matrix(metric, given.X.shape[1])
    return exact_interval(given.X, given.N, A, repair(dual, given.N)[:4], given.lam, root=root, psd=psd)


def machine_slack(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """Nothing: the certificate is computed from the numbers given, and its own rounding covers it."""
    return 0.0


def ties(X: ArrayLike, y: ArrayLike, **params: Any) -> int:
    """How many points have a neighbourhood whose boundary is a tie (0 for explicit lists)."""
    return instance(X, y, **params).N.ties


def neighbor_lists(X: ArrayLike, y: ArrayLike, **params: Any) -> list[IntArray]:
    """N(i) of every point."""
    return instance(X, y, **params).N.lists


def metric_size(X: FloatArray) -> int:
    """A metric is d x d."""
    return int(X.shape[1])


def solve(
    X: ArrayLike,
    y: ArrayLike,
    *,
    solver: str = "fast",
    tol: float = 1e-6,
    max_iter: int = 20000,
    warm_start: Solution | SavedSolution | None = None,
    callback: Any = None,
    **params: Any,
) -> Solution:
    """The optimal metric with its certificate.

    solver: "fast" (fast.py), or "clarabel" / "scs": the literal problem and its dual through cvxpy. tol: stop at
    gap <= tol * scale, scale = lam/2 ||A||^2. max_iter: gradient steps and Newton rounds of the fast
    solver. warm_start: a Solution of the same data and neighbours, any lam. callback: called with a
    `cvxml.result.Step` each time the gap is measured. Parameters as in `PARAMETERS`.
    Raises ValueError for bad input; warns (ConvergenceWarning) whenever tol is not met.
    """
    given = instance(X, y, **params)
    check_options(solver, tol, max_iter)
    solution = solve_instance(
        given.X,
        given.y,
        given.N,
        given.lam,
        solver,
        float(tol),
        max_iter,
        warm_start,
        callback,
        stored_params(given.lam, params),
    )
    warn_unless_converged(solution, tol)
    return solution


def check_options(solver: str, tol: float, max_iter: int) -> None:
    """ValueError unless they are what `solve` takes, here and for the kernel."""
    check_choice(solver, "solver", ("fast", "clarabel", "scs"))
    check_positive(tol, "tol")
    check_count(max_iter, "max_iter")


def stored_params(lam: float, params: dict[str, Any]) -> dict[str, Any]:
    """What a saved solution says of its parameters; the neighbour lists are stored beside them."""
    explicit = params.get("neighbors") is not None
    return {
        "lam": lam,
        "n_neighbors": None if explicit else int(params.get("n_neighbors", 4)),
        "neighborhood": "explicit" if explicit else str(params.get("neighborhood", "knn")),
    }


def algorithm1(
    X: ArrayLike,
    y: ArrayLike,
    *,
    lower_bound: float | None = None,
    n_steps: int = 1000,
    paper: bool = False,
    start: ArrayLike | None = None,
    every: int = 1,
    **params: Any,
) -> Run:
    """Algorithm 1 of the paper, corrected or (`paper=True`) as printed, with its certified gap as it goes.

    lower_bound: of the same problem; by default the fast solver finds it. start: A_1 (d, d), psd, of norm at most
    1/sqrt(lam), default 0. every: measure the gap each so many steps. Raises ValueError for bad input.
    """
    given = instance(X, y, **params)
    first = _start(start, given)
    steps, each = check_count(n_steps, "n_steps"), check_count(every, "every")
    if lower_bound is None:
        lower_bound = solve(X, y, **params).lower_bound
    return run_algorithm1(given.X, given.N, given.lam, lower_bound, steps, paper, first, each)


def _start(start: ArrayLike | None, given: Instance) -> FloatArray:
    """A_1, which the paper takes from the ball ||A_1|| <= 1/sqrt(lam)."""
    d = given.X.shape[1]
    if start is None:
        return np.zeros((d, d))
    A = as_metric(start, d, "start")
    norm, allowed = float(np.linalg.norm(A)), 1 / math.sqrt(given.lam)
    if norm > allowed * (1 + 1e-12):  # an iterate, scaled into the ball, may be outside by rounding
        raise ValueError(
            f"start has norm {norm:.12g}, allowed is at most 1/sqrt(lam) = {allowed:.12g}; scale it down"
        )
    return A
