"""The contract of GLML (papers 000 and 003): what cvxml.methods.Method asks, inputs checked.

A metric belongs to a query: for `query` (d,) it is (d, d), for `query` (q, d) it is (q, d, d). It has determinant 1;
gamma is added by the classifier only.

Reference: Y.-K. Noh, B.-T. Zhang, D. D. Lee, Generative Local Metric Learning for Nearest Neighbor Classification, NIPS
2010; and IEEE TPAMI 40(1), 2018.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.exact import Exact
from cvxml.firstorder import one_blas_thread
from cvxml.inputs import check_choice, check_count, check_positive, real_array
from cvxml.methods.glml import definitions
from cvxml.methods.glml.certify import best_dual, certify_at, examine_unit, sign_of
from cvxml.methods.glml.closed import Case, closed_form
from cvxml.methods.glml.curvature import curvature
from cvxml.methods.glml.instance import Instance, instance
from cvxml.methods.glml.known import Known, known
from cvxml.methods.glml.statement import STATEMENT as STATEMENT
from cvxml.methods.glml.variants import VARIANTS as VARIANTS
from cvxml.metric import FloatArray, IntArray, as_matrix, as_metric
from cvxml.result import (
    Certificate,
    Dual,
    Evaluation,
    SavedSolution,
    Solution,
    Status,
    Step,
    warn_unless_converged,
)

TITLE = "GLML: a local metric from generative models (Noh et al. 2010, 2018; papers 000, 003)"
CLAIM = "optimal"
SCALE = "candidate"
PARAMETERS = {
    "query": "where the metric is wanted: (d,), or (q, d) for q metrics (default: the mean of X)",
    "alpha": "added to the diagonal of every covariance, >= 0 (default 0)",
    "priors": 'None for equal ones (default), "empirical", or one number a class, classes sorted',
    "model": '"gaussian", one for each class (default), "mixture", or an object with log_densities and curvatures',
    "n_components": "of the mixture of a class (default 2)",
}
SOLVE_PARAMETERS: dict[str, str] = {}


def problem(X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
    """The literal problem at one query, a `cvxpy.Problem` in "M" (d, d) = A^-1. ValueError for several queries."""
    from cvxml.methods.glml.problem import problem as literal

    return literal(_only(literal_B(instance(X, y, **params))))


def dual_problem(X: ArrayLike, y: ArrayLike, **params: Any) -> Any:
    """Its dual, with variables "y" and "u"."""
    from cvxml.methods.glml.problem import dual

    return dual(_only(literal_B(instance(X, y, **params))))


def _only(B: FloatArray) -> FloatArray:
    if len(B) != 1:
        raise ValueError(f"the literal problem is stated at one query, got {len(B)}")
    only: FloatArray = B[0]
    return only


def literal_B(p: Instance) -> FloatArray:
    """B (q, d, d) by the loops of definitions.py; of a model that is not one Gaussian a class, from its own p and G."""
    if p.params["model"] == "gaussian":
        C = int(p.y.max()) + 1
        fits = [definitions.fitted(p.X, p.y, c, p.params["alpha"]) for c in range(C)]
        log_priors = [math.log(w) for w in _shares(p, C)]
        return np.array([definitions.local_B(x, fits, log_priors) for x in p.Q])
    found = []
    for log_p, G in zip(p.model.log_densities(p.Q), p.model.curvatures(p.Q), strict=True):
        B = definitions.B_pairwise(log_p, G)
        norm = float(np.linalg.norm(B))
        found.append(B / norm if norm > 0 else B)
    return np.array(found)


def _shares(p: Instance, C: int) -> list[float]:
    priors = p.params["priors"]
    if priors is None:
        return [1 / C] * C
    counts = np.bincount(p.y).tolist() if isinstance(priors, str) else priors
    return [c / sum(counts) for c in counts]


def literal_source() -> str:
    """The source of problem.py."""
    return resources.files("cvxml.methods.glml").joinpath("problem.py").read_text(encoding="utf-8")


def objective(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """(tr[A^-1 B])^2, summed over the queries, from the definitions. ValueError for a singular metric."""
    p = instance(X, y, **params)
    total = 0.0
    for B, A in zip(literal_B(p), _metrics(metric, p), strict=True):
        psd = as_metric(A, len(A))
        if not np.linalg.eigvalsh(psd)[0] > 0:
            raise ValueError("metric is singular; a local metric has determinant 1")
        total += definitions.objective(B, psd)
    return total


def _metrics(metric: ArrayLike, p: Instance) -> FloatArray:
    """Metrics (q, d, d). Raises ValueError for another shape."""
    q, d = p.Q.shape
    given = real_array(metric, "metric")
    if p.one:
        return as_matrix(given, d)[None]
    if given.shape != (q, d, d):
        raise ValueError(f"metric must have shape ({q}, {d}, {d}) for {q} queries, got {given.shape}")
    return np.array([as_matrix(A, d) for A in given])


def evaluate(X: ArrayLike, y: ArrayLike, metric: ArrayLike, *, t: int = 1, **params: Any) -> Evaluation:
    """The intermediates at `metric`, by the paper's names; one entry a query where there are several.

    log_p (C,) with the priors; p, which may underflow or overflow; G (C, d, d); B (d, d) of norm 1 and log_scale: the
    printed B is exp(log_scale) times it; eigenvalues (d,) of B; case; A, the closed form; objective at `metric`. `t` is
    checked and not used: there is no algorithm with steps.
    """
    p = instance(X, y, **params)
    check_count(t, "t", at_most=10**15)
    found = known(p)
    local = closed_form(found.B, found.noise)
    log_p = p.model.log_densities(p.Q)
    with np.errstate(over="ignore", under="ignore"):
        p_c = np.exp(log_p)
    values: dict[str, Any] = {
        "log_p": log_p,
        "p": p_c,
        "G": p.model.curvatures(p.Q),
        "B": found.B,
        "log_scale": curvature(p.model, p.Q).log_scale,
        "eigenvalues": local.values,
        "case": [
            proved.value if proved else f"not decided; {seen.name.lower()} as double precision sees it"
            for proved, seen in zip(found.cases, local.cases, strict=True)
        ],
        "A": _closed(found),
    }
    values["feasibility"] = [str(examine_unit(A)[1]) for A in _metrics(metric, p)]
    if p.one:
        values = {name: value[0] for name, value in values.items()}
    return Evaluation("glml", {"objective": objective(X, y, metric, **params), **values})


def certify(X: ArrayLike, y: ArrayLike, metric: ArrayLike, dual: Dual, **params: Any) -> Certificate:
    """The certificate of `metric` from any dual variables "y" and "u", (q,) each. ValueError for bad input."""
    p = instance(X, y, **params)
    return _certificate(p, _metrics(metric, p), dual)


def exact(
    X: ArrayLike,
    y: ArrayLike,
    metric: ArrayLike,
    dual: Dual,
    *,
    root: ArrayLike | None = None,
    **params: Any,
) -> Exact:
    """The interval of `certify` in balls (exact.py). Raises ValueError unless for Gaussians at one query."""
    from cvxml.methods.glml.exact import exact_interval

    p = instance(X, y, **params)
    return exact_interval(p, _metrics(metric, p)[0], dual, root=root)


def _certificate(p: Instance, A: FloatArray, dual: Dual) -> Certificate:
    q = len(p.Q)
    for name in ("y", "u"):
        if not isinstance(dual, Mapping) or name not in dual:
            raise ValueError(f'the dual must be a mapping with "y" and "u"; there is no {name!r}')
    y, u = (real_array(dual[name], f"dual {name!r}") for name in ("y", "u"))
    if y.shape != (q,) or u.shape != (q,):
        raise ValueError(f"dual 'y' and 'u' must have shape ({q},), one a query; got {y.shape} and {u.shape}")
    return _certificate_at(p, known(p), A, y, u)


def _certificate_at(p: Instance, B: Known, A: FloatArray, y: FloatArray, u: FloatArray) -> Certificate:
    parts = tuple(
        certify_at(each, metric, float(a), float(b), off, case is Case.SINGULAR)
        for each, metric, a, b, off, case in zip(B.B, A, y, u, B.off, B.cases, strict=True)
    )
    if p.one:
        return parts[0]
    worst = max(parts, key=lambda part: (not part.feasibility.feasible, part.rel_gap))
    return Certificate(
        kind="global",
        objective=math.fsum(part.objective for part in parts),
        lower_bound=math.fsum(part.lower_bound for part in parts),
        gap=math.fsum(part.gap for part in parts),
        scale=math.fsum(part.scale for part in parts),
        rounding=math.fsum(part.rounding for part in parts),
        radius=math.hypot(*(part.radius for part in parts)),
        feasibility=worst.feasibility,
        dual={name: np.concatenate([part.dual[name] for part in parts]) for name in ("y", "u")},
        parts=parts,
        undecided=next((part.undecided for part in parts if part.undecided), ""),
    )


def solve(
    X: ArrayLike,
    y: ArrayLike,
    *,
    solver: str = "fast",
    tol: float = 1e-6,
    max_iter: int = 1000,
    warm_start: Solution | SavedSolution | None = None,
    callback: Any = None,
    **params: Any,
) -> Solution:
    """The optimal metric at each query, with its certificate.

    solver: "fast", the closed form, or "clarabel" / "scs": the literal problem at each query. tol: of the certificate.
    max_iter changes nothing: there is nothing to iterate; a warm_start is an error. callback: called once. Parameters
    as in `PARAMETERS`. Where B is singular and semidefinite no metric is optimal: the status says so. Raises ValueError
    for bad input; warns (ConvergenceWarning) whenever tol is not met.
    """
    started = time.perf_counter()
    p = instance(X, y, **params)
    check_choice(solver, "solver", ("fast", "clarabel", "scs"))
    check_positive(tol, "tol")
    check_count(max_iter, "max_iter")
    if warm_start is not None:
        raise ValueError("glml has a closed form: there is nothing that a warm_start could start")
    with one_blas_thread():
        found = known(p)
        A = _closed(found) if solver == "fast" else np.array([_literal(B, solver) for B in literal_B(p)])
        duals = np.array([best_dual(B, off) for B, off in zip(found.B, found.off, strict=True)])
        certificate = _certificate_at(p, found, A, duals[:, 0], duals[:, 1])
    if certificate.proves(tol):
        status = Status.CONVERGED
    elif Case.SINGULAR in found.cases:
        status = Status.NOT_ATTAINED
    else:
        status = Status.STALLED if solver == "fast" else Status.BACKEND
    seconds = time.perf_counter() - started
    step = Step(1, seconds, certificate.objective, certificate.lower_bound, certificate.gap, solver)
    if callback is not None:
        callback(step)
    solution = Solution(
        method="glml",
        metric=A[0] if p.one else A,
        certificate=certificate,
        status=status,
        n_iter=1,
        history=(step,),
        params=p.params,
        X=p.X,
        y=p.y,
        neighbors=[],
        notes=_notes(p, found.cases),
        solver=solver,
    )
    warn_unless_converged(solution, tol)
    return solution


def _closed(found: Known) -> FloatArray:
    """The closed form; |B| itself where B is proved definite, which keeps the digits of a badly scaled one."""
    A = closed_form(found.B, found.noise).A
    for k, (B, off) in enumerate(zip(found.B, found.off, strict=True)):
        sign = sign_of(B, off)
        if sign is not None and sign.factor is not None:
            A[k] = sign.s * B * math.exp(-sign.factor.log_det / len(B))
    return A


def _literal(B: FloatArray, solver: str) -> FloatArray:
    """A of the literal problem, scaled to determinant 1."""
    from cvxml.backend import solve_problem
    from cvxml.methods.glml.problem import problem as literal

    values, vectors = np.linalg.eigh(solve_problem(literal(B), solver)["M"])
    values = np.maximum(values, 1e-300)
    weights = np.exp(np.mean(np.log(values))) / values
    A: FloatArray = (vectors * weights) @ vectors.T
    return (A + A.T) / 2


def _notes(p: Instance, cases: list[Case | None]) -> tuple[str, ...]:
    """What B is proved to be at the queries, and where the densities of two classes agree."""
    said = {case: "not decided" if case is None else case.value for case in cases}
    counts = {case: cases.count(case) for case in (*Case, None) if case in said}
    if len(cases) == 1:
        notes = [f"B is {said[cases[0]]}" if cases[0] else "what B is is not decided in double precision"]
    else:
        notes = [f"B at {count} of {len(cases)} queries is {said[case]}" for case, count in counts.items()]
    equal = int(curvature(p.model, p.Q).equal.sum())
    if equal:
        notes.append(
            f"at {equal} of {len(cases)} queries double precision sees no difference of the densities: where they are "
            "equal, B is 0 as printed"
        )
    return tuple(notes)


def ties(X: ArrayLike, y: ArrayLike, **params: Any) -> int:
    """0: no neighbours enter."""
    return 0


def neighbor_lists(X: ArrayLike, y: ArrayLike, **params: Any) -> list[IntArray]:
    """None: no neighbours enter."""
    return []


def machine_slack(X: ArrayLike, y: ArrayLike, metric: ArrayLike, **params: Any) -> float:
    """What rounding may move: that of the certificate, without its bound."""
    p = instance(X, y, **params)
    zeros = np.zeros(len(p.Q))
    rounding = _certificate(p, _metrics(metric, p), {"y": zeros, "u": zeros}).rounding
    return rounding if math.isfinite(rounding) else 0.0


def metric_size(X: FloatArray) -> int:
    """A metric is d x d."""
    return int(X.shape[1])
