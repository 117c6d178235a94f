"""Public functions that take the id of a method (solve, evaluate, certify, problem), and `list_methods` with all ids.

Each function checks its inputs once, with `Method.instance` of the method. The literal problem of a method is its cvxpy
problem, with one line of code for each formula of the paper.
"""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import ArrayLike

from cvxml.core.clock import limited
from cvxml.core.digits import enough_digits
from cvxml.core.inputs import check_callback, check_choice, check_count, check_positive
from cvxml.core.literal import free_weights, label, values_of, with_weights
from cvxml.core.memory import check_literal, enough_memory
from cvxml.core.method import ConvexMethod, Method
from cvxml.core.result import Certificate, Dual, Evaluation, Solution
from cvxml.core.run import Callback
from cvxml.core.saved import SavedSolution
from cvxml.core.threads import one_blas_thread
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.core.tuples import refuse_tuples
from cvxml.core.work import BUILDING, doing
from cvxml.methods import check_params, get, get_stationary, names


def list_methods() -> list[str]:
    """Return the ids of all methods.

    Examples
    --------
    import cvxml
    ids = cvxml.list_methods()
    print(ids[:3])  # -> ['mlsvm', 'kernel_mlsvm', 'ssvm']
    """
    return names()


def solve(
    method: str,
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    solver: str = "fast",
    tol: Tolerance = "normal",
    max_iter: int | None = None,
    warm_start: Solution | SavedSolution | None = None,
    callback: Callback = None,
    time_limit: float | None = None,
    **params: Any,
) -> Solution:
    """Return the optimal metric of `method` on X (n, d) and y (n,), with its certificate.

    If the problem is not convex, the metric is only certified stationary, or not certified. The exception is
    solver="global" of ssvm, which can certify the global optimum. The certificate holds the objective of the metric, a
    lower bound for all metrics, and the difference of the two, the gap. Stationary means that the convex step at the
    metric (see `problem`), or a change of the metric to first order, decreases the objective by at most tol times the
    scale.

    method: an id from `cvxml.list_methods()`.
    y: class labels, or real targets for "mlkr"; None if params give pairs, triplets or other lists.
    solver: "fast" is our own solver. "clarabel" and "scs" solve the literal problem through cvxpy. ssvm also has
        "global", which searches for the global optimum; mlkr has only "fast".
    tol: a number, or "strict" 1e-9, "normal" 1e-6 or "loose" 1e-3. The metric is certified if its gap is at most tol
        times the scale of the problem, plus the rounding error. For many methods the scale is the objective
        (docs/duality.md).
    max_iter: limit of the iterations of the fast solver; default: that of the method.
    warm_start: a Solution, or the result of `cvxml.load`, with the same numbers of points and features. For a convex
        problem it must be a solution of the same method. If the problem is not convex, only its metric is used, so it
        may be a solution of another method, for example of LMNN for NCA.
    callback: called with a `cvxml.core.result.Step` (iteration, seconds, objective, lower_bound, gap) each time the gap
        is measured.
    time_limit: seconds from the call on. Then the best metric so far is returned with its bound, as Status.TIME_LIMIT.
        The certificate of this metric may take as long again, or 10 s if that is longer.
    params: parameters of the method (`cvxml show METHOD`).

    Ctrl-C ends the fast solver: its best metric so far is returned with its bound, as Status.INTERRUPTED. A second
    Ctrl-C raises KeyboardInterrupt. The `fit` of an estimator raises it at the first Ctrl-C.

    Raises ValueError for bad input; cvxml.core.clock.OutOfTime, a TimeoutError, if the time limit ends before there is
    a metric with its certificate; and cvxml.core.backend.SolverFailure if a back end of cvxpy gives no answer.

    Warns (ConvergenceWarning) whenever tol is not met, and (cvxml.core.memory.LargeLiteralProblem) if cvxpy takes long.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    solution = cvxml.solve("lmnn", X, y, n_neighbors=2)
    print(solution.status.value)  # -> converged
    print(solution.metric.shape, solution.rel_gap <= 1e-6)  # -> (4, 4) True
    """
    of = get(method)
    check_params(method, params, (*of.SOLVE_PARAMETERS,), solve.__kwdefaults__)
    own = {name: params.pop(name) for name in of.SOLVE_PARAMETERS if name in params}
    # before `instance`, which may take long
    check_tol(tol)
    check_choice(solver, "solver", of.SOLVERS)
    if max_iter is not None:
        check_count(max_iter, "max_iter")
    check_callback(callback)
    refuse_tuples(X, of.PARAMETERS)
    seconds = math.inf if time_limit is None else check_positive(time_limit, "time_limit")
    with (
        enough_memory(),
        enough_digits(X),
        limited(seconds, f"time_limit of {seconds:g} s passed while the problem was being built"),
    ):
        with doing(BUILDING):
            given = of.instance(X, y, **params)
        return of.solve(
            given,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            callback=callback,
            time_limit=time_limit,
            **own,
        )


def evaluate(
    method: str, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, *, t: int = 1, **params: Any
) -> Evaluation:
    """Return the intermediate values of `method` at `metric`, as an `Evaluation`.

    Its field `values` is a dict of these values by the paper's names. For mlsvm, kernel_mlsvm and ssvm they include one
    step of the paper's Algorithm 1 from `metric`.

    metric: the matrix as the paper writes it, (d, d) for most methods.
    t: which iteration of Algorithm 1 the step is, from 1 on; its step size depends on t. Other methods ignore it.
    params: parameters of the method (`cvxml show METHOD`).

    Raises ValueError for bad input.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    metric = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    shown = cvxml.evaluate("mlsvm", X, y, metric)
    print(list(shown.values)[:3])  # -> ['objective', 'targets', 'impostors']
    print(shown.usable, shown.feasibility)  # -> 13 symmetric and psd
    """
    of = get(method)
    check_params(method, params, ("t",))
    refuse_tuples(X, of.PARAMETERS)
    with enough_memory(), enough_digits(X):
        given = of.instance(X, y, **params)
        step = check_count(t, "t", at_most=10**15)
        feasibility = of.feasibility(given, of.matrix(given, metric))
        values = of.evaluate(given, of.metric(given, metric), step)
    return Evaluation(of.id, {**values, "feasibility": feasibility})


def certify(
    method: str, X: ArrayLike, y: ArrayLike | None, metric: ArrayLike, dual: Dual, **params: Any
) -> Certificate:
    """Return the certificate of `metric`, with the lower bound that the dual variables `dual` prove.

    metric: the matrix as the paper writes it, (d, d) for most methods.
    dual: any dual variables, by name, for example `Solution.dual`. With a poor choice the lower bound is smaller,
        and still valid.
    params: parameters of the method (`cvxml show METHOD`).

    Raises ValueError for bad input.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    solution = cvxml.solve("mcml", X, y)
    certificate = cvxml.certify("mcml", X, y, solution.metric, solution.dual)
    print(certificate.proves("normal"))  # -> True
    """
    of = get(method)
    check_params(method, params)
    refuse_tuples(X, of.PARAMETERS)
    with enough_memory(), enough_digits(X), one_blas_thread():
        given = of.instance(X, y, **params)
        return of.certify(given, of.matrix(given, metric), dual)


def problem(method: str, X: ArrayLike, y: ArrayLike | None, *, dual: bool = False, **params: Any) -> Any:
    """Return the problem of `method` as the paper states it (or its dual), as a `cvxpy.Problem`.

    The code that builds it has one line for each formula of the paper. Raises ValueError for bad input.

    If the problem is not convex, the result is the convex step at a metric: the convex problem that the method would
    solve next. Methods with such a problem take this metric as the parameter `at` (default: the identity).

    dual: True for the dual problem.
    params: parameters of the method (`cvxml show METHOD`), and `at`. A weight of the objective may be a scalar
        `cvxpy.Parameter(nonneg=True, value=...)`. Then `parameter.value = ...` changes the weight in the returned
        problem, which follows cvxpy's DPP rules. The dual takes numbers only.

    Each constraint of the problem has a `label`, for example "(2) margin of point 3": its equation number in the paper,
    if it has one, and its point, pair or triplet. The constraints of the dual have no labels.

    Warns (cvxml.core.memory.LargeLiteralProblem) if cvxpy takes long.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    stated = cvxml.problem("mlsvm", X, y)
    print(stated.is_dcp(), len(stated.constraints))  # -> True 15
    print(stated.constraints[-1].label)  # -> (2) margin of point 146
    """
    of = get(method)
    check_params(method, params, ("at",) if of.CLAIM == "stationary" else ())
    weights = free_weights(method, of.literal_weights, params)
    if weights and dual:
        raise ValueError(
            f"{next(iter(weights))} must be a number if dual=True, not a cvxpy.Parameter: the dual contains its inverse"
        )
    params = values_of(params, weights)
    at = params.pop("at", None)
    refuse_tuples(X, of.PARAMETERS)
    with enough_memory(), enough_digits(X):
        given = of.instance(X, y, **params)
        if isinstance(of, ConvexMethod):
            check_literal(of.literal_rows(given), of.metric_size(given), stacklevel=3)
        if at is None:
            return of.dual(given) if dual else _labelled(of, given, of.problem(with_weights(given, weights)))
        step = get_stationary(method)
        metric = of.metric(given, at, "at")
        if dual:
            return step.dual(given, metric)
        return _labelled(of, given, step.problem(with_weights(given, weights), metric))


def _labelled(of: Method[Any], given: Any, stated: Any) -> Any:
    names = of.constraint_names(given)
    return label(stated, names) if names else stated
