"""Judge a metric or an objective that another program computed (docs/oracle.md, docs/duality.md).

Everything is recomputed from X, y and the candidate, which is the metric or the objective to judge. This module checks
the inputs; convex.py and stationary.py judge. A misreading is another problem that a program may solve by mistake, for
example with a factor left out.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import OutOfTime
from cvxml.core.digits import enough_digits
from cvxml.core.exact import flint
from cvxml.core.inputs import (
    check_bool,
    check_callback,
    check_choice,
    check_number,
    check_positive,
    check_X,
    real_array,
)
from cvxml.core.memory import enough_memory
from cvxml.core.metric import FloatArray, as_matrix, from_components, refuse_texts
from cvxml.core.parameter import Pairs
from cvxml.core.report import Report, Verdict
from cvxml.core.result import Solution
from cvxml.core.run import Callback
from cvxml.core.saved import SavedSolution
from cvxml.core.threads import one_blas_thread
from cvxml.core.tolerance import Tolerance, check_tol
from cvxml.core.tuples import refuse_tuples
from cvxml.core.work import BUILDING, doing
from cvxml.methods import check_params, get, get_exact
from cvxml.oracle.about import about
from cvxml.oracle.asked import LATE, Asked, Diagnosed, check_diagnosed
from cvxml.oracle.convex import check_convex
from cvxml.oracle.local import of_all
from cvxml.oracle.stationary import check_stationary

# the metric (d, d), and the components (m, d) if the candidate was given by components
Candidate = tuple[FloatArray | None, FloatArray | None]


def check(
    method: str,
    X: ArrayLike,
    y: ArrayLike | None,
    metric: ArrayLike | Solution | SavedSolution | None = None,
    *,
    components: ArrayLike | None = None,
    query: ArrayLike | None = None,
    claimed_objective: float | None = None,
    neighbors: ArrayLike | None = None,
    targets: ArrayLike | None = None,
    pairs: Pairs | None = None,
    claim: str | None = None,
    tol: Tolerance = "normal",
    exact: bool = False,
    diagnosed: Diagnosed = True,
    time_limit: float | None = None,
    callback: Callback = None,
    **params: Any,
) -> Report:
    """Judge the claim that `metric` is optimal (or stationary) for `method` on X (n, d) and y (n,); return a Report.

    Give the candidate as metric or as components, or give a claimed_objective, alone or beside a metric.

    metric: the psd matrix as the method's paper writes it, for example (d, d) for "mlsvm". For "glml", it is the matrix
        of determinant 1 at `query` (d,), or matrices (q, d, d) at `query` (q, d). If it is a Solution, only its metric
        is judged.
    components: L (m, d), with M = L^T L.
    claimed_objective: a reported value of the objective. If the problem is not convex, it needs a metric beside it.
    neighbors: the neighbour lists that the candidate was computed with. Without them the verdict is inconclusive if a
        tie between neighbours could change it.
    query: the points (d,) or (q, d) at which the local metrics of "glml" were learned.
    targets: the targets of each point, for methods that take targets.
    pairs: the similar and dissimilar pairs, for methods that take pairs.
    params: the other parameters of the method.
    claim: "optimal" or "stationary". If the problem is convex, "optimal" is the default and the only choice. Otherwise
        "stationary" is the default, and "optimal" means the global optimum.
    tol: tolerance relative to the scale of the problem, a number, "strict" (1e-9), "normal" (1e-6) or "loose" (1e-3).
    exact: judge in exact arithmetic, which needs no allowance for rounding. Not available for an rbf kernel.
    diagnosed: search for a misreading that explains a refuted metric: another problem that a program may solve by
        mistake. True: for at most eight times the processor time of our own solve, plus 2 s. A note names the parts of
        the search that were left out. "all": search everything, however long it takes. False: do not search.
    time_limit: seconds for our search for a proof. The clock is checked between the steps of the search. The convex
        step of the candidate (explained below) counts as one step. When the time ends, the verdict follows from the
        results so far. Without a proof it is inconclusive. Misreadings are not searched for then.
    callback: called with a `cvxml.core.result.Step` (iteration, seconds, objective, lower_bound, gap) each time that
        the search measures the gap.

    Certified: the metric is feasible, and gap <= tol * scale + rounding. For the claim "stationary" this is the gap of
    its convex step (the convex problem that the method solves next, from this metric), or its first-order gain.
    Refuted: the metric is not feasible, or our own metric is better by more than this limit. A claimed_objective is
    refuted if it is not the objective of the metric; without a metric, if it is outside the interval from our lower
    bound to our best objective. Both of these comparisons use the same tolerance.
    Close: refuted, but the gap is at most 1e-2 of the scale, and no known misreading explains the candidate. If the
    problem is not convex, the claim must be "stationary". Then a convex step from the candidate, and a descent from
    there, may each gain at most 1e-2 of the scale.
    Inconclusive: otherwise. The report gives the reason.

    Raises ValueError for bad input.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    solution = cvxml.solve("mcml", X, y)
    print(cvxml.check("mcml", X, y, solution.metric).verdict.value)  # -> certified
    print(cvxml.check("mcml", X, y, 2 * solution.metric, diagnosed=False).verdict.value)  # -> refuted
    """
    module = get(method)
    method = module.id
    refuse_tuples(X, module.PARAMETERS)
    points = check_X(X)
    notes: tuple[str, ...] = ()
    if isinstance(metric, (Solution, SavedSolution)):
        if metric.method != method:
            notes = (f"the solution is of the method {metric.method}: only its metric is judged here",)
        metric = metric.metric
    tolerance = check_tol(tol)
    diagnosed = check_diagnosed(diagnosed)
    allowed = ("optimal",) if module.CLAIM == "optimal" else ("stationary", "optimal")
    claim = check_choice(module.CLAIM if claim is None else claim, "claim", allowed)
    named = {"neighbors": neighbors, "query": query, "targets": targets, "pairs": pairs}
    params.update({name: value for name, value in named.items() if value is not None})
    check_params(method, params, beside=check.__kwdefaults__)
    check_callback(callback)
    if check_bool(exact, "exact"):  # raise early if the method or the installation lacks exact arithmetic
        get_exact(method)
        flint()
    if metric is not None and components is not None:
        raise ValueError("give metric or components, not both: a square matrix could be either")
    if claimed_objective is not None:
        claimed_objective = check_number(claimed_objective, "claimed_objective")

    until = math.inf
    if time_limit is not None:
        until = time.perf_counter() + check_positive(time_limit, "time_limit")

    def asked(params: dict[str, Any], given: Any, candidate: Candidate) -> Asked:
        claimed = (*candidate, claimed_objective, claim)
        return Asked(method, X, y, params, given, *claimed, tolerance, exact, diagnosed, until, callback)

    with enough_memory(), enough_digits(X), one_blas_thread():
        if query is not None and np.ndim(query) == 2:
            at = np.asarray(query)
            each = _of_each_query(metric, components, claimed_objective, at, points.shape[1])
            own = [{**params, "query": x} for x in at]
            questions = [asked(p, module.instance(X, y, **p), one) for p, one in zip(own, each, strict=True)]
            report = of_all([_judged(question) for question in questions])
            return replace(report, about=about(questions[0]._replace(params={**params, "query": at})))
        nothing = metric is None and components is None
        if nothing and claimed_objective is None:
            raise ValueError("nothing to check: give metric, components or claimed_objective")
        if nothing and exact:
            raise ValueError("exact arithmetic judges a metric: give it beside the claimed objective")
        with doing(BUILDING):
            given = module.instance(X, y, **params)
        metric = None if metric is None else module.matrix(given, metric)
        candidate = _candidate(metric, components, module.metric_size(given))
        question = asked(params, given, candidate)
        report = _judged(question)
        return replace(report, about=about(question), notes=(*report.notes, *notes))


def _judged(asked: Asked) -> Report:
    """Return the report on the claim in `asked`.

    It is inconclusive if the time limit ended before our search had a metric with its certificate.
    """
    try:
        return check_convex(asked) if asked.module.CLAIM == "optimal" else check_stationary(asked)
    except OutOfTime:
        return Report(
            method=asked.method,
            verdict=Verdict.INCONCLUSIVE,
            claim=asked.claim,
            tol=asked.tol,
            reasons=(LATE,),
            lower_bound=-math.inf,
            scale=math.nan,
            reference_objective=math.inf,
            claimed_objective=asked.value,
        )


def _candidate(metric: ArrayLike | None, components: ArrayLike | None, size: int) -> Candidate:
    """Return the metric (size, size), and the components if the user gave these. A missing one is None."""
    if components is not None:
        return from_components(components, size), real_array(components, "components")
    return None if metric is None else as_matrix(metric, size), None


def _of_each_query(
    metric: ArrayLike | None,
    components: ArrayLike | None,
    claimed_objective: float | None,
    queries: FloatArray,
    d: int,
) -> list[Candidate]:
    """Return one candidate per row of `queries` (q, d), from metrics (q, d, d) or components (q, m, d).

    d: the size of each metric. Raises ValueError for empty queries, for another number of matrices than of queries, and
    for a claimed objective, because each query has an objective of its own.
    """
    if claimed_objective is not None:
        raise ValueError("a claimed objective is judged at one query: give query of shape (d,)")
    if len(queries) == 0:
        raise ValueError("query is empty: give at least one row")
    given = components if metric is None else metric
    refuse_texts(given, "components" if metric is None else "metric")
    if given is None or np.ndim(given) != 3 or len(np.asarray(given)) != len(queries):
        got = "neither" if given is None else f"shape {np.shape(given)}"
        raise ValueError(
            f"give one metric for each of the {len(queries)} rows of query: metric (q, d, d) or components (q, m, d); "
            f"got {got}"
        )
    if metric is None:
        return [_candidate(None, each, d) for each in np.asarray(given)]
    return [_candidate(each, None, d) for each in np.asarray(given)]
