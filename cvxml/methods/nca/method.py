"""The contract of neighbourhood components analysis (note 004): what cvxml.methods.Method asks, inputs checked.

Reference: J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, Neighbourhood Components Analysis, NIPS 2004, as
described in note 004.
"""

from __future__ import annotations

import warnings
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.coordinates import coordinates
from cvxml.exact import Exact
from cvxml.firstorder import one_blas_thread
from cvxml.inputs import check_choice, check_count, check_positive
from cvxml.methods.nca import definitions
from cvxml.methods.nca.certify import certify as certify_metric
from cvxml.methods.nca.certify import examine_rank
from cvxml.methods.nca.evaluate import evaluate as evaluate_metric
from cvxml.methods.nca.instance import Instance, instance
from cvxml.methods.nca.solve import solve_instance
from cvxml.methods.nca.solver import Solver
from cvxml.methods.nca.statement import STATEMENT as STATEMENT
from cvxml.methods.nca.variants import VARIANTS as VARIANTS
from cvxml.metric import FloatArray, IntArray, as_matrix, as_metric, low_rank_components
from cvxml.result import Certificate, Dual, Evaluation, SavedSolution, Solution, warn_unless_converged

TITLE = "Neighbourhood components analysis (Goldberger et al. 2004; note 004)"
CLAIM = "stationary"
SCALE = "candidate"
STARTS = ("auto", "pca", "identity", "random")
PARAMETERS = {
    "n_components": "m, the rank that the metric may have (default: all d features)",
    "criterion": '"f" (default), the expected number of points classified correctly, or "g", their log-likelihood',
    "similarity": "s (n, n) >= 0 with zero diagonal, who is right for whom (default: the points of the same class)",
}
SOLVE_PARAMETERS = {
    "init": '"auto" (default), "pca", "lda", "identity", "random", as in scikit-learn but for a power of 2, g being '
    'best with it on a sample; "likelihood" (50 steps for g from "auto"); components (m, d); or a list of these',
    "random_state": "seed of the random start (default 0)",
}


def problem(X: ArrayLike, y: ArrayLike | None, *, at: ArrayLike | None = None, **params: Any) -> Any:
    """The convex step of CCCP at the metric `at` (d, d), default the identity, as a `cvxpy.Problem`.

    Variable "Q" (d, d), of any rank. Its value at `at` is -f or -g there. Raises ValueError for bad input.
    """
    from cvxml.methods.nca.problem import step

    p, Q0 = _step_at(X, y, at, params)
    return step(p.X, p.weights(), Q0, p.criterion)


def dual_problem(X: ArrayLike, y: ArrayLike | None, *, at: ArrayLike | None = None, **params: Any) -> Any:
    """The dual of `problem` as a `cvxpy.Problem`; variable "q" (rows, n - 1), row i over k != i."""
    from cvxml.methods.nca.problem import dual

    p, Q0 = _step_at(X, y, at, params)
    return dual(p.X, p.weights(), Q0, p.criterion)


def _step_at(
    X: ArrayLike, y: ArrayLike | None, at: ArrayLike | None, params: dict[str, Any]
) -> tuple[Instance, FloatArray]:
    p = instance(X, y, **params)
    d = p.X.shape[1]
    return p, np.eye(d) if at is None else as_metric(at, d, "at")


def literal_source() -> str:
    """The source of problem.py."""
    return resources.files("cvxml.methods.nca").joinpath("problem.py").read_text(encoding="utf-8")


def objective(X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> float:
    """-f or -g at `metric` (d, d), naive: definitions.py."""
    p = instance(X, y, **params)
    return definitions.objective(p.X, p.weights(), as_metric(metric, p.X.shape[1]), p.criterion)


def evaluate(
    X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, *, t: int = 1, **params: Any
) -> Evaluation:
    """The intermediates at `metric` (d, d), by the note's names. t is checked and changes nothing.

    A (m, d), a square root of the metric: any other is U A with U orthogonal, and its gradients U times these;
    p_ij, w_ij (n, n); p_i (n,); f, g and, as printed, gradient_f, gradient_g (m, d); gradient_Q (d, d), of the
    objective minimised; scale_derivative; nearest (n,); continuous_cost. Raises ValueError for bad input.
    """
    p = instance(X, y, **params)
    check_count(t, "t", at_most=10**15)
    d = p.X.shape[1]
    psd = as_metric(metric, d)
    at = coordinates(p.X)
    inside, feasibility = examine_rank(as_matrix(metric, d), p.m, at)
    if not feasibility.feasible:
        raise ValueError(f"metric has another rank: {feasibility}")
    values = evaluate_metric(p, low_rank_components(psd if p.m >= d else at.outside(inside), p.m))
    return Evaluation("nca", {**values, "feasibility": str(feasibility)})


def certify(X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, dual: Dual, **params: Any) -> Certificate:
    """The certificate of `metric` (d, d) from any "R" and "interior" (certify.py). Raises ValueError for bad input."""
    p = instance(X, y, **params)
    with one_blas_thread():
        return certify_metric(p, as_matrix(metric, p.X.shape[1]), dual)


def exact(
    X: ArrayLike,
    y: ArrayLike | None,
    metric: ArrayLike,
    dual: Dual,
    *,
    root: ArrayLike | None = None,
    **params: Any,
) -> Exact:
    """The interval of the metric's own convex step in balls (exact.py). Raises ValueError where the rank is limited."""
    from cvxml.methods.nca.exact import exact_interval

    p = instance(X, y, **params)
    return exact_interval(p, as_matrix(metric, p.X.shape[1]), dual, root=root)


def solve(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    solver: str = "fast",
    init: Any = "auto",
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
    warm_start: Solution | SavedSolution | None = None,
    callback: Any = None,
    **params: Any,
) -> Solution:
    """A stationary metric, certified, the best of one or more starts; the optimum where the problem is convex.

    solver: "fast" (L-BFGS on A and Newton steps, descent.py), or "clarabel" / "scs": CCCP, each step literally
    through cvxpy (small n, rank not limited). init, random_state: as in `SOLVE_PARAMETERS`. tol: what the metric's own
    convex step may still gain, relative to the scale; where the rank is limited, its gradient times its norm. max_iter:
    iterations from each start. warm_start: a Solution to go on from, in place of init. callback: called with a
    `cvxml.result.Step` after each. Parameters as in `PARAMETERS`; y may be None where similarity is given. Raises
    ValueError for bad input; warns (UserWarning) of points that nothing is right for, and (ConvergenceWarning) whenever
    tol is not met, as where the supremum is at infinity: statuses NOT_ATTAINED and AT_INFINITY.
    """
    p = instance(X, y, **params)
    check_choice(solver, "solver", ("fast", "clarabel", "scs"))
    if solver != "fast" and p.m < p.X.shape[1]:
        raise ValueError(
            f"solver={solver!r} takes the literal steps, and the step in Q is of any rank: leave n_components out"
        )
    check_positive(tol, "tol")
    check_count(max_iter, "max_iter")
    stored = {
        "n_components": p.m,
        "criterion": p.criterion,
        "similarity": None if p.similarity is None else p.similarity.tolist(),
    }
    solution = solve_instance(
        p, solver, init, float(tol), max_iter, random_state, warm_start, callback, stored
    )
    if p.dropped():
        warnings.warn(f"nca: {p.dropped()}", UserWarning, stacklevel=3)
    warn_unless_converged(solution, tol)
    return solution


def improve(
    X: ArrayLike,
    y: ArrayLike | None,
    metric: ArrayLike,
    *,
    tol: float = 1e-6,
    early: bool = False,
    **params: Any,
) -> tuple[FloatArray, Dual]:
    """A metric with no higher objective, by descent from `metric` (d, d), and the dual of the convex step there.

    early: stop after a hundred iterations.
    """
    p = instance(X, y, **params)
    with one_blas_thread():
        return Solver(p).improve(as_metric(metric, p.X.shape[1]), tol, early)


def enumerated(X: ArrayLike, y: ArrayLike | None, *, tol: float, **params: Any) -> Solution | None:
    """None: there is nothing to enumerate."""
    return None


def remarks(X: ArrayLike, y: ArrayLike | None, metric: FloatArray, **params: Any) -> tuple[str, ...]:
    """Whether the supremum is at infinity, as far as `metric` (d, d) shows it, and which points count nothing."""
    p = instance(X, y, **params)
    solver = Solver(p)
    A = solver.of_metric(metric)
    found = [solver.at_infinity(metric), p.dropped()]
    if not found[0] and solver.leaves(A):
        found.append("larger multiples of this metric tend to an objective as good or better")
    return tuple(sentence for sentence in found if sentence)


def ties(X: ArrayLike, y: ArrayLike | None, **params: Any) -> int:
    """0: nothing is decided by a tie."""
    return 0


def neighbor_lists(X: ArrayLike, y: ArrayLike | None, **params: Any) -> list[IntArray]:
    """None: every point is a neighbour, with its probability."""
    return []


def machine_slack(X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> float:
    """Nothing: the certificate is computed from the numbers given, and its own rounding covers it."""
    return 0.0


def metric_size(X: FloatArray) -> int:
    """A metric is d x d."""
    return int(X.shape[1])
