"""The public functions: a method id in front, everything else to the method's module."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from cvxml.methods import check_params, get, names
from cvxml.result import Certificate, Dual, Evaluation, Solution

_SOLVE = ("solver", "tol", "max_iter", "warm_start", "callback")


def methods() -> list[str]:
    """The ids of all methods."""
    return names()


def solve(method: str, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Solution:
    """The optimal metric of `method` on X (n, d), y (n,), with its certificate.

    solver "fast" (default), "clarabel" or "scs"; tol (default 1e-6, of the problem's scale); max_iter; warm_start
    (a Solution of the same data); callback; and the method's parameters (`cvxml show METHOD`).
    Raises ValueError for bad input, and cvxml.backend.SolverFailure where a back end of cvxpy gives no answer; warns
    (ConvergenceWarning) whenever tol is not met.
    """
    check_params(method, params, (*_SOLVE, *get(method).SOLVE_PARAMETERS))
    return get(method).solve(X, y, **params)


def evaluate(method: str, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, **params: Any) -> Evaluation:
    """The intermediates of `method` at `metric`, by the paper's names. Raises ValueError for bad input."""
    check_params(method, params, ("t",))
    return get(method).evaluate(X, y, metric, **params)


def certify(
    method: str, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, dual: Dual, **params: Any
) -> Certificate:
    """The certificate of `metric` from any dual variables. Raises ValueError for bad input."""
    check_params(method, params)
    return get(method).certify(X, y, metric, dual, **params)


def problem(method: str, X: ArrayLike, y: ArrayLike | None, *, dual: bool = False, **params: Any) -> Any:
    """The literal problem of `method` (or its dual) as a `cvxpy.Problem`. Raises ValueError for bad input.

    Of a method that is not convex as a whole: the convex step at the metric `at` (default the identity).
    """
    check_params(method, params, ("at",) if get(method).CLAIM == "stationary" else ())
    module = get(method)
    return module.dual_problem(X, y, **params) if dual else module.problem(X, y, **params)
