"""The class GLML (Noh, Zhang, Lee 2010, 2018): a local metric from generative models, for cvxml.solve and cvxml.check.

Each query has its own metric: (d, d) for `query` (d,), and (q, d, d) for `query` (q, d). A metric A has determinant 1
and minimises (tr[A^-1 B])^2 for a matrix B at the query, which definitions.py defines. The optimum depends on whether B
is definite, indefinite, singular or zero. solver.py has a closed form for all cases. The literal problem is the convex
problem in A^-1 of problem.py, for cvxpy. The classifier (estimators/glml.py) adds gamma I to the metric.

In the functions, `given` is the checked data (instance.py), and M are the metrics, in the shape above.

Reference: Y.-K. Noh, B.-T. Zhang, D. D. Lee, Generative Local Metric Learning for Nearest Neighbor Classification, NIPS
2010; and IEEE TPAMI 40(1), 2018.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, verified
from cvxml.core.inputs import dual_array, real_array
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FloatArray, as_matrix, as_metric, of_determinant_1
from cvxml.core.parameter import COUNT, MODEL, NUMBER, NUMBERS, POINTS, Parameter, words
from cvxml.core.result import Certificate, Dual, Solution, Status
from cvxml.core.run import Callback, Found, Start, in_one_step
from cvxml.core.saved import SavedSolution
from cvxml.core.statement import Statement
from cvxml.methods.glml import definitions
from cvxml.methods.glml.certify import best_dual, certify_at, examine_unit, sign_of
from cvxml.methods.glml.instance import Instance, instance
from cvxml.methods.glml.misreadings import MISREADINGS
from cvxml.methods.glml.proved_B import ProvedB, proved_B
from cvxml.methods.glml.solver import Case, closed_form, curvature

CROSS: list[list[float]] = [[2, 0], [-2, 0], [0, 2], [0, -2]]  # of covariance 2 I
CLASSES = [0, 0, 0, 0, 1, 1, 1, 1]
ROOT = math.sqrt(20)


class GLML(ConvexMethod[Instance]):
    """A local metric from generative models; one for each query.

    The class attributes are explained in core/method.py: the parameters, the shapes of the dual, and values for tests.
    """

    id = "glml"
    TITLE = "GLML: a local metric from generative models (Noh et al. 2010, 2018)"
    SCALE = "candidate"
    MAX_ITER = 1  # a closed form
    PARAMETERS: ClassVar[dict[str, Parameter]] = {
        "query": Parameter(
            "the points that get a metric: (d,), or (q, d) for q metrics", POINTS, otherwise="the mean of X"
        ),
        "alpha": Parameter("added to the diagonal of every covariance, >= 0", NUMBER, 0.0),
        "priors": Parameter(
            '"empirical", or one number for each class, classes sorted',
            words("empirical", otherwise=NUMBERS),
            otherwise="equal",
        ),
        "model": Parameter(
            '"gaussian", one for each class, "mixture", or a fitted object with methods log_densities(Q) -> (q, C) and '
            "curvatures(Q) -> (q, C, d, d), see cvxml.methods.glml.instance.Generative",
            MODEL,
            "gaussian",
        ),
        "n_components": Parameter("Gaussians in the mixture of a class", COUNT, 2),
    }
    STATEMENT = Statement("cvxml.methods.glml.problem", ("problem", "dual"))
    MISREADINGS = MISREADINGS
    DUAL: ClassVar = {"y": "1", "u": "1"}
    SMALL: ClassVar = {"alpha": 0.1}
    UNITS = None  # the determinant is 1 in any units
    BAD: ClassVar = {
        "alpha": (-1.0,),
        "query": (np.ones(2), np.ones((2, 2)), np.ones((1, 1, 3)), np.full(3, np.nan), "0,0,0", []),
        "priors": ([0.5], [1, -1, 1], [1, 0, 1], [np.nan, 1, 1], "uniform"),
        "model": ("kde", "", 3),
    }
    # Two classes of mean 0 with diagonal covariances; at 0 B is the difference of their inverses over its norm.
    HAND: ClassVar = (
        # (1/2, 1/2) - (1/8, 1/32) = 3/32 (4, 5): A is that over the root of its determinant, the objective 4 det B
        Hand(
            [*CROSS, [4, 0], [-4, 0], [0, 8], [0, -8]], CLASSES, {}, [[4 / ROOT, 0], [0, 5 / ROOT]], 80 / 41
        ),
        # (1/2, 1/2) - (1/32, 2) = 3/32 (5, -16): B is indefinite, and many metrics have the objective 0
        Hand([*CROSS, [8, 0], [-8, 0], [0, 1], [0, -1]], CLASSES, {}, None, 0.0),
    )
    EXAMPLES: ClassVar = (
        drawn(4, 30, 5),
        drawn(5, 30, 3, alpha=0.1, query=[0.3, -0.2, 0.1], priors="empirical"),
        drawn(7, 30, 5, degenerate=True, alpha=0.1),
        sample("iris", 60, alpha=0.01, query=[0.1, 0.4, -0.2, -0.3]),
        sample("wine", 100, model="mixture", alpha=0.5),
        verified("rings", raw=True, query=[0.5, 0.5]),
        verified("iris", alpha=0.01),
        verified("breast_cancer", 200, alpha=0.01),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        return of_determinant_1(M)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def matrix(self, given: Instance, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """The metric as floats: (d, d) for one query, (q, d, d) for q queries. Raises ValueError for another shape.

        name: how the message calls it.
        """
        q, d = given.Q.shape
        M = real_array(metric, name)
        if given.one:
            return as_matrix(M, d, name)
        if M.shape != (q, d, d):
            raise ValueError(f"{name} must have shape ({q}, {d}, {d}) for {q} queries, got {M.shape}")
        return np.array([as_matrix(A, d, name) for A in M])

    def metric(self, given: Instance, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """Check that the metric is positive definite at each query, and return it as floats, made symmetric.

        Raises ValueError if asymmetry or a negative eigenvalue exceeds `FEASIBILITY_TOL` times the norm. A smaller
        negative eigenvalue is replaced by 0. Then ValueError is raised, too, unless all computed eigenvalues are
        positive: a singular matrix cannot have determinant 1. name: how the message calls the metric.
        """
        M = self.matrix(given, metric, name)
        psd = np.array([as_metric(A, len(A), name) for A in _each(given, M)])
        if not (np.linalg.eigvalsh(psd)[:, 0] > 0).all():
            raise ValueError(f"{name} is singular; a local metric has determinant 1")
        return psd.reshape(M.shape)

    def feasibility(self, given: Instance, M: FloatArray) -> str | list[str]:
        said = [str(examine_unit(A)[1]) for A in _each(given, M)]
        return said[0] if given.one else said

    def problem(self, given: Instance) -> Any:
        """The literal problem at one query, with variable "M" (d, d) = A^-1. Raises ValueError for several queries."""
        from cvxml.methods.glml.problem import problem

        return problem(_only(literal_B(given)))

    def constraint_names(self, given: Instance) -> list[str]:
        return ["|M| >= 1"]

    def dual(self, given: Instance) -> Any:
        from cvxml.methods.glml.problem import dual

        return dual(_only(literal_B(given)))

    def objective(self, given: Instance, M: FloatArray) -> float:
        """(tr[A^-1 B])^2 for the metric A of M at each query, summed over the queries, from definitions.py."""
        pairs = zip(literal_B(given), _each(given, M), strict=True)
        return sum((definitions.objective(B, A) for B, A in pairs), 0.0)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """Return the intermediates by the paper's names.

        objective: that of M, summed over the queries. For several queries, each of the other values has one entry per
        query.

        log_p (C,), the log densities with priors; p = exp(log_p), which may underflow or overflow; G (C, d, d), the
        curvatures; B (d, d) of norm 1, or 0.

        log_scale: the printed B is exp(log_scale) times B. eigenvalues (d,) of B. case: the proved case of B. seen: the
        case according to double precision. A: the closed form. t is not used.
        """
        found = proved_B(given)
        local = closed_form(found.B, found.noise)
        log_p = given.model.log_densities(given.Q)
        with np.errstate(over="ignore", under="ignore"):
            p_c = np.exp(log_p)
        values: dict[str, Any] = {
            "log_p": log_p,
            "p": p_c,
            "G": given.model.curvatures(given.Q),
            "B": found.B,
            "log_scale": curvature(given.model, given.Q).log_scale,
            "eigenvalues": local.values,
            "case": [
                proved.value if proved else f"not decided; {seen.name.lower()} in double precision"
                for proved, seen in zip(found.cases, local.cases, strict=True)
            ],
            "seen": [seen.value for seen in local.cases],
            "A": _closed_form(found),
        }
        if given.one:
            values = {name: value[0] for name, value in values.items()}
        return {"objective": self.objective(given, M), **values}

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        y, u = (dual_array(dual, name, (len(given.Q),)) for name in ("y", "u"))
        return _certificate(given, _each(given, M), y, u)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The interval that contains the optimum, proved in exact arithmetic (exact.py).

        root (d, r): R with R R^T near M. Raises ValueError unless `query` was one point (d,) and the model is one
        Gaussian for each class. `exact_interval` lists further errors.
        """
        from cvxml.methods.glml.exact import exact_interval

        return exact_interval(given, _each(given, M)[0], dual, root=root)

    def start(self, given: Instance, warm_start: Solution | SavedSolution) -> Start:
        """Raise ValueError, because the closed form needs no start."""
        raise ValueError("glml has a closed form and takes no warm_start; leave warm_start out")

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """The closed form at each query. It is one step, and is reported to the callback.

        The other arguments are not used.
        """
        found = self._found(given, _closed_form(proved_B(given)))
        step = in_one_step(found.metric, found.dual, partial(self.certify, given), callback)
        return step._replace(status=found.status)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """The metric that the literal problem gives at each query, with the best dual variables for B.

        solver: "clarabel" or "scs".
        """
        return self._found(given, np.array([_literal(B, solver) for B in literal_B(given)]))

    def _found(self, given: Instance, A: FloatArray) -> Found:
        """The metrics A (q, d, d), with the dual variables y and u (q,) that give the best bound for B at each query.

        The status is NOT_ATTAINED if B is proved singular and semidefinite at a query.
        """
        at = proved_B(given)
        y, u = np.array([best_dual(B, error) for B, error in zip(at.B, at.error, strict=True)]).T
        status = Status.NOT_ATTAINED if Case.SINGULAR in at.cases else Status.CONVERGED
        return Found(A[0] if given.one else A, {"y": y, "u": u}, status, 0)

    def stored(self, given: Instance) -> dict[str, Any]:
        return given.params

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        return _notes(given, proved_B(given).cases)

    def unattained(self, given: Instance) -> str:
        cases = proved_B(given).cases
        count = cases.count(Case.SINGULAR)
        where = "" if given.one else f" at {count} of {len(cases)} queries"
        return f"B{where} is singular and semidefinite, so no metric attains the infimum" if count else ""

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """The final status: `found` if it is NOT_ATTAINED, even if the metric is certified within tol of the infimum.

        Any other status is decided by the certificate.
        """
        return found if found is Status.NOT_ATTAINED else super().status(found, certificate, tol, solver)

    def machine_slack(self, given: Instance, M: FloatArray) -> float:
        """A bound of the rounding error of the objective at M; 0 if there is no finite bound."""
        zeros = np.zeros(len(given.Q))
        rounding = _certificate(given, _each(given, M), zeros, zeros).rounding
        return rounding if math.isfinite(rounding) else 0.0


def _each(p: Instance, M: FloatArray) -> FloatArray:
    """The metrics as an array (q, d, d), also for a single query."""
    return M[None] if p.one else M


def _only(B: FloatArray) -> FloatArray:
    if len(B) != 1:
        raise ValueError(
            f"the literal problem is for one query, got {len(B)} queries; give query of shape (d,)"
        )
    only: FloatArray = B[0]
    return only


def literal_B(p: Instance) -> FloatArray:
    """B (q, d, d) of norm 1 by the loops of definitions.py.

    For a mixture, or for the user's own model, the densities and curvatures are those of the model.
    """
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


def _closed_form(found: ProvedB) -> FloatArray:
    """The closed-form metrics (q, d, d). If B is proved definite, A is B or -B up to a positive factor."""
    A = closed_form(found.B, found.noise).A
    for k, (B, error) in enumerate(zip(found.B, found.error, strict=True)):
        sign = sign_of(B, error)
        if sign is not None and sign.factor is not None:
            A[k] = sign.s * B * math.exp(-sign.factor.log_det / len(B))
    return A


def _literal(B: FloatArray, solver: str) -> FloatArray:
    """The solution A (d, d) of the literal problem for B (d, d), scaled to determinant 1.

    solver: "clarabel" or "scs".
    """
    from cvxml.core.backend import solve_problem
    from cvxml.methods.glml.problem import problem

    values, vectors = np.linalg.eigh(solve_problem(problem(B), solver)["M"])
    values = np.maximum(values, 1e-300)
    weights = np.exp(np.mean(np.log(values))) / values
    A: FloatArray = (vectors * weights) @ vectors.T
    return (A + A.T) / 2


def _certificate(p: Instance, A: FloatArray, y: FloatArray, u: FloatArray) -> Certificate:
    """The certificate of the metrics A (q, d, d), with the dual variables y and u (q,) of each query.

    Objective, lower bound, gap, scale and rounding are sums over the queries. If `query` was one point (d,), the result
    is the certificate of this query.
    """
    B = proved_B(p)
    parts = tuple(
        certify_at(each, metric, float(a), float(b), error, case is Case.SINGULAR)
        for each, metric, a, b, error, case in zip(B.B, A, y, u, B.error, B.cases, strict=True)
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


def _notes(p: Instance, cases: list[Case | None]) -> list[str]:
    said = {case: "not decided" if case is None else case.value for case in cases}
    counts = {case: cases.count(case) for case in (*Case, None) if case in said}
    if len(cases) == 1:
        notes = [f"B is {said[cases[0]]}" if cases[0] else "the case of B is not decided in double precision"]
    else:
        notes = [f"B at {count} of {len(cases)} queries is {said[case]}" for case, count in counts.items()]
    equal = int(curvature(p.model, p.Q).equal.sum())
    if equal:
        notes.append(
            f"at {equal} of {len(cases)} queries the densities are equal in double precision; if they are exactly "
            "equal, the printed B is 0"
        )
    return notes


METHOD = GLML()
