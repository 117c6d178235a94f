"""The public functions: a method id in front. Inputs are checked here, once; the method works on what they became."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count
from cvxml.core.result import Certificate, Dual, Evaluation, Solution
from cvxml.core.threads import one_blas_thread
from cvxml.methods import check_params, get, get_stationary, names

_SOLVE = ("solver", "tol", "max_iter", "warm_start", "callback", "time_limit")


def methods() -> list[str]:
    """The ids of all methods."""
    return names()


def solve(method: str, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Solution:
    """The optimal metric of `method` on X (n, d), y (n,), with its certificate.

    solver "fast" (default), "clarabel" or "scs"; tol (default 1e-6, of the problem's scale); max_iter; warm_start
    (a Solution of the same data); callback, called with a Step each time the gap is measured; time_limit, seconds,
    looked at between steps: what is found by then is returned with its bound, as Status.TIME_LIMIT; and the method's
    parameters (`cvxml show METHOD`).
    Raises ValueError for bad input, and cvxml.core.backend.SolverFailure where a back end of cvxpy gives no answer;
    warns (ConvergenceWarning) whenever tol is not met.
    """
    of = get(method)
    options = (*_SOLVE, *of.SOLVE_PARAMETERS)
    check_params(method, params, options)
    check_count(params.get("max_iter", of.MAX_ITER), "max_iter")
    given = of.instance(X, y, **{name: value for name, value in params.items() if name not in options})
    return of.solve(given, **{name: value for name, value in params.items() if name in options})


def evaluate(
    method: str, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, *, t: int = 1, **params: Any
) -> Evaluation:
    """The intermediates of `method` at `metric`, by the paper's names, and a step of its algorithm at iteration `t`.

    Raises ValueError for bad input.
    """
    of = get(method)
    check_params(method, params, ("t",))
    given = of.instance(X, y, **params)
    step = check_count(t, "t", at_most=10**15)
    feasibility = of.feasibility(given, of.matrix(given, metric))
    values = of.evaluate(given, of.metric(given, metric), step)
    return Evaluation(method, {**values, "feasibility": feasibility})


def certify(
    method: str, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, dual: Dual, **params: Any
) -> Certificate:
    """The certificate of `metric` from any dual variables. Raises ValueError for bad input."""
    of = get(method)
    check_params(method, params)
    given = of.instance(X, y, **params)
    with one_blas_thread():
        return of.certify(given, of.matrix(given, metric), dual)


def problem(method: str, X: ArrayLike, y: ArrayLike | None, *, dual: bool = False, **params: Any) -> Any:
    """The literal problem of `method` (or its dual) as a `cvxpy.Problem`. Raises ValueError for bad input.

    Of a method that is not convex as a whole: the convex step at the metric `at` (default the identity).
    """
    of = get(method)
    check_params(method, params, ("at",) if of.CLAIM == "stationary" else ())
    at = params.pop("at", None)
    given = of.instance(X, y, **params)
    if at is None:
        return of.dual(given) if dual else of.problem(given)
    step = get_stationary(method)
    metric = of.metric(given, at, "at")
    return step.dual(given, metric) if dual else step.problem(given, metric)
