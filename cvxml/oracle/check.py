"""Judge a metric that somebody else computed (docs/duality.md).

Everything is recomputed from X, y and the candidate. The fast solver provides a dual and a metric of our own;
neither is believed: the dual becomes a lower bound by the method's certificate, the metric a witness.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.exact import Exact, flint
from cvxml.inputs import check_choice, check_number, check_X, real_array
from cvxml.methods import Method, check_params, get, get_exact
from cvxml.metric import FloatArray, as_matrix, from_components
from cvxml.oracle.diagnose import diagnose
from cvxml.oracle.exactly import judge_exactly
from cvxml.oracle.local import of_all
from cvxml.oracle.stationary import check_stationary
from cvxml.report import Report, Verdict, Witness
from cvxml.result import TOLERANCES, Certificate, Solution

EPS = float(np.finfo(float).eps)
UNMOVED = 1e-6  # of the objective: the scale where the optimum is 0


def check(
    method: str,
    X: ArrayLike,
    y: ArrayLike | None,
    metric: ArrayLike | None = None,
    *,
    components: ArrayLike | None = None,
    query: ArrayLike | None = None,
    claimed_objective: float | None = None,
    neighbors: Any = None,
    targets: Any = None,
    pairs: Any = None,
    claim: str | None = None,
    tol: str = "normal",
    exact: bool = False,
    **params: Any,
) -> Report:
    """Is `metric` optimal for `method` on X (n, d), y (n,)?

    metric: the psd matrix as the method's paper writes it, (d, d) for "mlsvm"; for "glml" that of determinant 1 at
    `query` (d,), or (q, d, d) at `query` (q, d); or components: L (m, d) with M = L^T L; or claimed_objective alone:
    the value somebody reports. neighbors: the candidate's own neighbour lists; without them a judgement that a tie
    could turn is inconclusive. claim: "optimal" (default where the problem is convex) or "stationary" (default and
    possible only where it is not; see oracle/stationary.py). tol: "strict" 1e-9, "normal" 1e-6 or "loose" 1e-3 of the
    problem's scale. exact: judge in rational arithmetic, so that no rounding is allowed for (python-flint must be
    installed; not for an rbf kernel, nor for nca where the rank is limited). params: the method's.
    Certified: feasible, and gap <= tol * scale + rounding. Refuted: not feasible, or our witness is better by
    more than that. Else inconclusive, with the reason. Raises ValueError for bad input.
    """
    points = check_X(X)
    check_choice(tol, "tol", tuple(TOLERANCES))
    allowed = ("optimal",) if get(method).CLAIM == "optimal" else ("stationary", "optimal")
    claim = check_choice(get(method).CLAIM if claim is None else claim, "claim", allowed)
    for name, given in (("query", query), ("targets", targets), ("pairs", pairs)):
        if given is not None and name not in get(method).PARAMETERS:
            raise ValueError(f"{method} takes no {name}; leave it out")
    if query is not None:
        params["query"] = query
        if np.ndim(query) == 2:
            return _check_each(method, X, y, metric, components, claimed_objective, claim, tol, params)
    if neighbors is not None:
        params["neighbors"] = neighbors
    check_params(method, params)
    if exact:  # refused before any work
        get_exact(method)
        flint()
    module = get(method)
    candidate = _candidate(metric, components, module.metric_size(points))
    transform = None if components is None else real_array(components, "components")
    if candidate is None and claimed_objective is None:
        raise ValueError("nothing to check: give metric, components or claimed_objective")
    if claimed_objective is not None:
        claimed_objective = check_number(claimed_objective, "claimed_objective")
    if module.CLAIM == "stationary":
        return check_stationary(
            method, X, y, candidate, transform, claimed_objective, claim, tol, exact, params
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a reference that is not tight shows in the verdict
        reference = module.solve(X, y, tol=TOLERANCES[tol] / 10, **params)
    proof = None
    if candidate is not None:
        if _next_to_nothing(module, X, y, candidate, reference, TOLERANCES[tol], params):
            candidate = 0 * candidate
        proof = module.certify(X, y, candidate, reference.dual, **params)
    ties = module.ties(X, y, **params)
    scale = _scale(method, proof, reference)
    verdict, reasons = _judge(proof, reference, scale, TOLERANCES[tol], ties)
    judged = None
    if (
        exact
        and candidate is not None
        and proof is not None
        and proof.feasibility.feasible
        and not (ties and verdict is not Verdict.CERTIFIED)
    ):
        judged = judge_exactly(
            method, X, y, candidate, reference.metric, reference.dual, TOLERANCES[tol], params
        )
        verdict, reasons = judged.verdict, [judged.reason]
    verdict, reasons = _judge_value(
        claimed_objective, proof, reference, scale, TOLERANCES[tol], ties, verdict, reasons
    )
    diagnosis: tuple[str, ...] = ()
    wrong = verdict is Verdict.REFUTED or bool(
        proof is not None and ties and not proof.proves(TOLERANCES[tol])
    )
    if wrong and candidate is not None:
        diagnosis = diagnose(method, X, y, candidate, TOLERANCES[tol], params, transform, reference)
    return _report(
        method,
        verdict,
        claim,
        tol,
        reasons,
        reference,
        proof,
        scale,
        claimed_objective,
        diagnosis,
        None if judged is None else judged.candidate,
    )


def _next_to_nothing(
    module: Method,
    X: ArrayLike,
    y: ArrayLike | None,
    A: FloatArray,
    reference: Solution,
    tol: float,
    params: dict[str, Any],
) -> bool:
    """True where the optimum is 0 and neither A nor -A can be told from it: a solver's rounding need not be psd.

    The scale is 0 there, and nothing but 0 would do; a millionth of the objective stands in for it.
    """
    if reference.certificate.scale > 0:
        return False
    allowed = max(64 * EPS * (1 + abs(reference.objective)), tol * UNMOVED * abs(reference.objective))
    return all(
        module.certify(X, y, sign * A, reference.dual, **params).gap <= allowed for sign in (1.0, -1.0)
    )


def _check_each(
    method: str,
    X: ArrayLike,
    y: ArrayLike | None,
    metric: ArrayLike | None,
    components: ArrayLike | None,
    claimed_objective: float | None,
    claim: str,
    tol: str,
    params: dict[str, Any],
) -> Report:
    """The report on local metrics, (q, d, d) for the rows of the query, or components (q, m, d)."""
    queries = np.asarray(params.pop("query"))
    if claimed_objective is not None:
        raise ValueError("a claimed objective is judged at one query: give query of shape (d,)")
    given = components if metric is None else metric
    if given is None or np.ndim(given) != 3 or len(np.asarray(given)) != len(queries):
        shape = None if given is None else np.shape(given)
        raise ValueError(
            f"give one metric for each of the {len(queries)} rows of query, (q, d, d); got {shape}"
        )
    name = "components" if metric is None else "metric"
    both = (
        {"metric": metric, "components": components} if metric is not None and components is not None else {}
    )
    return of_all(
        [
            check(method, X, y, **{**both, name: each}, query=at, claim=claim, tol=tol, **params)
            for at, each in zip(queries, np.asarray(given), strict=True)
        ]
    )


def _candidate(metric: ArrayLike | None, components: ArrayLike | None, size: int) -> FloatArray | None:
    if metric is not None and components is not None:
        raise ValueError("give metric or components, not both: a square matrix could be either")
    if components is not None:
        return from_components(components, size)
    return None if metric is None else as_matrix(metric, size)


def _scale(method: str, proof: Certificate | None, reference: Solution) -> float:
    """What a tolerance is a share of."""
    if proof is not None and get(method).SCALE == "candidate":
        return proof.scale
    return reference.certificate.scale


def _judge(
    proof: Certificate | None, reference: Solution, scale: float, tol: float, ties: int
) -> tuple[Verdict | None, list[str]]:
    if proof is None:
        return None, []
    if not proof.feasibility.feasible:
        return Verdict.REFUTED, [f"not a metric: {proof.feasibility}"]
    allowed = tol * scale + proof.rounding
    if proof.gap <= allowed and not (reference.certificate.decides(tol) and proof.decides(tol)):
        return Verdict.INCONCLUSIVE, [
            f"double precision cannot decide at this tol: rounding may be {proof.rounding:.3g}, "
            f"the scale is {scale:.3g}"
        ]
    if proof.gap <= allowed:
        return Verdict.CERTIFIED, [f"feasible, and the gap is at most {allowed:.3g}"]
    if proof.gap - reference.gap <= allowed + reference.certificate.rounding:
        return Verdict.INCONCLUSIVE, [
            f"the bound is not tight enough: it leaves a gap of {proof.gap:.3g}, and our best metric is better "
            f"by {proof.gap - reference.gap:.3g} only; allowed is {allowed:.3g}"
        ]
    if ties:
        return Verdict.INCONCLUSIVE, [
            f"our metric is better by {proof.gap - reference.gap:.3g}, but {ties} neighbourhoods have a boundary "
            "tie: give the candidate's own lists as neighbors"
        ]
    return Verdict.REFUTED, [
        f"a feasible metric is better by {proof.gap - reference.gap:.6g}; allowed is {allowed:.3g}"
    ]


def _judge_value(
    value: float | None,
    proof: Certificate | None,
    reference: Solution,
    scale: float,
    tol: float,
    ties: int,
    verdict: Verdict | None,
    reasons: list[str],
) -> tuple[Verdict, list[str]]:
    if value is None:
        assert verdict is not None
        return verdict, reasons
    bound, best = reference.lower_bound, reference.objective
    rounding = max(
        64 * EPS * (1 + abs(best)), reference.certificate.rounding, proof.rounding if proof else 0.0
    )
    interval = f"[{bound - rounding:.12g}, {best + rounding:.12g}]"
    if value < bound - tol * scale - rounding:
        wrong = f"the claimed objective {value:.12g} is below the certified lower bound {bound:.12g}"
    elif proof is not None and abs(value - proof.objective) > tol * abs(proof.objective) + rounding:
        wrong = f"the claimed objective {value:.12g} is not the metric's, {proof.objective:.12g}"
    elif proof is None and value > best + tol * scale + rounding:
        wrong = f"the claimed optimum {value:.12g} is above the objective {best:.12g} of a feasible metric"
    elif proof is None and not reference.certificate.proves(tol):
        return Verdict.INCONCLUSIVE, [f"no more is proved than that the optimum lies in {interval}"]
    elif proof is None:
        return Verdict.CERTIFIED, [f"the optimum lies in {interval}"]
    else:
        assert verdict is not None
        return verdict, reasons
    if ties:
        return Verdict.INCONCLUSIVE, [
            *reasons,
            f"{wrong}, but {ties} neighbourhoods have a boundary tie: give neighbors",
        ]
    return Verdict.REFUTED, [*(reasons if verdict is Verdict.REFUTED else []), wrong]


def _report(
    method: str,
    verdict: Verdict,
    claim: str,
    tol: str,
    reasons: list[str],
    reference: Solution,
    proof: Certificate | None,
    scale: float,
    claimed_objective: float | None,
    diagnosis: tuple[str, ...],
    exact: Exact | None,
) -> Report:
    witness = None
    if verdict is Verdict.REFUTED:
        better_by = float("nan") if proof is None else proof.gap - reference.gap
        if proof is None and claimed_objective is not None:
            better_by = claimed_objective - reference.objective
        witness = Witness(reference.objective, better_by, reference.metric)
        if better_by <= 0:  # not feasible, or a value that nothing attains: there is no better point
            witness = None
    return Report(
        method=method,
        verdict=verdict,
        claim=claim,
        tol_name=tol,
        tol=TOLERANCES[tol],
        reasons=tuple(reasons),
        lower_bound=reference.lower_bound,
        scale=scale,
        reference_objective=reference.objective,
        objective=None if proof is None else proof.objective,
        gap=None if proof is None else proof.gap,
        rel_gap=None
        if proof is None
        else proof.gap / scale
        if scale > 0
        else 0.0
        if proof.gap <= proof.rounding
        else float("inf"),
        rounding=0.0 if proof is None else proof.rounding,
        radius=None if proof is None else proof.radius,
        feasibility=None if proof is None else proof.feasibility,
        claimed_objective=claimed_objective,
        witness=witness,
        diagnosis=diagnosis,
        exact=exact,
        notes=reference.notes,
    )
