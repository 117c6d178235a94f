"""ITML, information-theoretic metric learning (Davis, Kulis, Jain, Sra, Dhillon 2007): the metric nearest to a prior.

Problem, with slack variables, over psd A and xi with one entry for each pair:

    min  D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0))     such that  d_A <= xi in S,  d_A >= xi in D.

D_ld is the log det divergence; for diagonal matrices it is a sum over the pairs. The squared distance of a pair is d_A.
Its bound xi_0 is u for similar pairs S and l for dissimilar pairs D. Every line of `problem` is as other papers quote
it; the paper itself was not at hand.

instance.py has the checked inputs, percentiles.py the percentiles of distances for u and l, misreadings.py the mistakes
that `check` recognises, and projections.py Algorithm 1 of the paper.

Dual and bound: any dual variables lambda, one for each pair, give a lower bound, by the theorem of family/theorem. The
regularizer is the log det divergence from A_0. There is one loss for each kind of pair, of d_A / u and of d_A / l.
If a is the dual variable of a pair in the theorem, lambda is -a / u for a similar pair and a / l for a dissimilar pair.
A similar pair of equal points satisfies any bound, so it has no loss, and its lambda is 0.
Scale, the number that gaps are relative to: the objective, but at least `UNMOVED` (1e-6) * d, because the objective is
0 if the prior is optimal. Radius, a bound of the distance to the optimum: family/regularizers/logdet.py.

Reference: J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, Information-theoretic metric learning, ICML 2007.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import SolverFailure, solve_problem
from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import dual_array
from cvxml.core.literal import pair_names
from cvxml.core.metric import FloatArray, project_psd
from cvxml.core.moved import Moved, with_points
from cvxml.core.pairs import BAD_PAIRS, BY_PAIRS, Pairs
from cvxml.core.parameter import NUMBER, NUMBERS, Parameter
from cvxml.core.prior import PRIOR, nearest_to_prior
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family.losses.bounded import Bounded
from cvxml.family.regularizers.logdet import LogDet, radius
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.methods.itml.instance import Instance, default_bounds, instance
from cvxml.methods.itml.misreadings import MISREADINGS
from cvxml.solvers import logdet_path
from cvxml.solvers.family_method import FamilyMethod

__all__ = ["METHOD", "Instance", "default_bounds", "dual", "evaluate", "instance", "objective", "problem"]

NAMES = ("lam_S", "lam_D")
UNMOVED = 1e-6  # the scale is at least this times d


def problem(X: FloatArray, pairs: Pairs, A_0: FloatArray, gamma: float, u: float, l: float) -> Any:
    """The problem with slack, pair by pair. Variables: "A" (d, d) and "xi" (pairs,), similar pairs first.

    X (n, d): points. A_0 (d, d): the prior. u, l: bounds of the squared distances of similar and dissimilar pairs.
    """
    import cvxpy as cp

    d = X.shape[1]
    S, D = pairs.similar, pairs.dissimilar
    A = cp.Variable((d, d), symmetric=True, name="A")
    if len(S) + len(D) == 0:
        #: no pairs: D_ld(A, A_0) alone | \text{where there are no pairs: } D_{\mathrm{ld}}(A, A_0) \text{ alone}
        return cp.Problem(cp.Minimize(divergence(A, A_0)), [A >> 0])
    xi = cp.Variable(len(S) + len(D), name="xi")
    #: xi_0 = u in S,  l in D | \xi_{0,ij} = u \ \text{ for } (i, j) \in S, \quad l \ \text{ for } (i, j) \in D
    xi_0 = np.array([u] * len(S) + [l] * len(D))

    def d_A(i: int, j: int) -> Any:
        #: d_A(x_i, x_j) = tr(A X_ij) = (x_i - x_j)^T A (x_i - x_j)
        #:   | d_A(\mathbf{x}_i, \mathbf{x}_j) = \operatorname{tr}(A X_{ij})
        #:     = (\mathbf{x}_i - \mathbf{x}_j)^T A (\mathbf{x}_i - \mathbf{x}_j)
        return (X[i] - X[j]) @ A @ (X[i] - X[j])

    #: A psd | A \succeq 0
    constraints = [A >> 0]
    for c, (i, j) in enumerate(S):
        #: d_A(x_i, x_j) <= xi_ij, (i, j) in S
        #:   | d_A(\mathbf{x}_i, \mathbf{x}_j) \le \xi_{ij}, \quad (i, j) \in S \text{, similar}
        constraints += [d_A(i, j) <= xi[c]]
    for c, (i, j) in enumerate(D, start=len(S)):
        #: d_A(x_i, x_j) >= xi_ij, (i, j) in D
        #:   | d_A(\mathbf{x}_i, \mathbf{x}_j) \ge \xi_{ij}, \quad (i, j) \in D \text{, dissimilar}
        constraints += [d_A(i, j) >= xi[c]]
    ratio = cp.multiply(xi, 1 / xi_0)
    #: D_ld(diag(xi), diag(xi_0)) = sum_ij [ xi/xi_0 - log(xi/xi_0) - 1 ]
    #:   | D_{\mathrm{ld}}(\operatorname{diag}(\xi), \operatorname{diag}(\xi_0))
    #:     = \sum_{ij} \bigl[ \xi_{ij} / \xi_{0,ij} - \log(\xi_{ij} / \xi_{0,ij}) - 1 \bigr]
    slack = cp.sum(ratio - cp.log(ratio) - 1)
    #: min over A, xi:  D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0))
    #:   | \min_{A,\, \xi}\ D_{\mathrm{ld}}(A, A_0)
    #:     + \gamma\, D_{\mathrm{ld}}(\operatorname{diag}(\xi), \operatorname{diag}(\xi_0))
    return cp.Problem(cp.Minimize(divergence(A, A_0) + gamma * slack), constraints)


def dual(X: FloatArray, pairs: Pairs, A_0: FloatArray, gamma: float, u: float, l: float) -> Any:
    """The dual of the problem. Variables: "lam_S" and "lam_D", one entry for each pair.

    A variable is missing if there are no pairs of its kind.
    """
    import cvxpy as cp

    d = X.shape[1]
    #: Z = A_0^-1 + sum_S lambda_ij X_ij - sum_D lambda_ij X_ij
    #:   | Z = A_0^{-1} + \sum_S \lambda_{ij} X_{ij} - \sum_D \lambda_{ij} X_{ij}
    Z: Any = np.linalg.inv(A_0)
    terms: Any = 0.0
    for name, listed, sign, xi_0 in (("lam_S", pairs.similar, 1, u), ("lam_D", pairs.dissimilar, -1, l)):
        if len(listed) == 0:
            continue
        #: lambda_ij >= 0 | \lambda_{ij} \ge 0
        lam = cp.Variable(len(listed), nonneg=True, name=name)
        #: X_ij = (x_i - x_j)(x_i - x_j)^T | X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        X_ij = np.array([np.outer(X[i] - X[j], X[i] - X[j]).ravel() for i, j in listed])
        Z = Z + sign * cp.reshape(X_ij.T @ lam, (d, d), order="C")
        terms = terms + gamma * cp.sum(cp.log(1 - sign * lam * xi_0 / gamma))
    #: max over lambda:  log det(A_0 Z) + gamma sum_S log(1 - lambda_ij u/gamma)
    #:   + gamma sum_D log(1 + lambda_ij l/gamma)
    #:   | \max_{\lambda}\ \log \det(A_0 Z) + \gamma \sum_S \log(1 - \lambda_{ij} u / \gamma)
    #:     + \gamma \sum_D \log(1 + \lambda_{ij} l / \gamma)
    return cp.Problem(cp.Maximize(cp.log_det(Z) + np.linalg.slogdet(A_0)[1] + terms))
    #: [What is proved]
    #: A = Z^-1 at the optimum | A = Z^{-1} \text{ at the optimum}
    #: any lambda >= 0 with Z positive definite, and lambda_ij u < gamma in S, gives a lower bound
    #:   | \text{any } \lambda \ge 0 \text{ with } Z \succ 0 \text{, and } \lambda_{ij} u < \gamma \text{ in } S
    #:     \text{, gives a lower bound}


def divergence(A: Any, A_0: FloatArray) -> Any:
    """The divergence: D_ld(A, A_0), the log det divergence of A from the prior, as a cvxpy expression."""
    import cvxpy as cp

    #: D_ld(A, A_0) = tr(A A_0^-1) - log det(A A_0^-1) - d
    #:   | D_{\mathrm{ld}}(A, A_0) = \operatorname{tr}(A A_0^{-1}) - \log \det(A A_0^{-1}) - d
    return cp.trace(A @ np.linalg.inv(A_0)) - cp.log_det(A) + np.linalg.slogdet(A_0)[1] - len(A_0)


def objective(p: Instance, A: FloatArray) -> float:
    """D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0)) at A (d, d) and the best xi.

    The best xi is max(d_A, u) for a similar pair and min(d_A, l) for a dissimilar pair. The result is inf if A is
    singular, or if d_A is 0 for a dissimilar pair.
    """
    u, l = p.bounds
    slack = [_term(max(_distance(p.X, A, i, j), u) / u) for i, j in p.pairs.similar]
    slack += [_term(min(_distance(p.X, A, i, j), l) / l) for i, j in p.pairs.dissimilar]
    return _divergence(A, p.prior) + p.gamma * math.fsum(slack)


def _divergence(A: FloatArray, A_0: FloatArray) -> float:
    """D_ld(A, A_0) = tr(A A_0^-1) - log det(A A_0^-1) - d; inf if A is singular."""
    sign, log_det = np.linalg.slogdet(A)
    if sign <= 0:
        return math.inf
    ratio = np.linalg.solve(A_0, A)
    return float(np.trace(ratio) - log_det + np.linalg.slogdet(A_0)[1] - len(A))


def _term(ratio: float) -> float:
    """One term of D_ld between diagonal matrices, xi / xi_0 - log(xi / xi_0) - 1 for ratio = xi / xi_0."""
    return ratio - math.log(ratio) - 1 if ratio > 0 else math.inf


def _distance(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """The squared distance d_A(x_i, x_j) = (x_i - x_j)^T A (x_i - x_j)."""
    return float((X[i] - X[j]) @ A @ (X[i] - X[j]))


def evaluate(p: Instance, A: FloatArray) -> dict[str, Any]:
    """Return the intermediates at A (d, d), by name.

    objective: D_ld + gamma D_ld_xi. D_ld: the divergence of A from A_0. D_ld_xi: the divergence of xi from xi_0. u, l,
    A_0, similar, dissimilar: the inputs. gradient (d, d) of the objective in A; nan if the objective is infinite.

    The other names end in _S for similar pairs and in _D for dissimilar pairs. d_S, d_D: the squared distances. xi_S,
    xi_D: the best slack variables. lam_S, lam_D: the dual variables that xi implies. violated_S, violated_D: the number
    of violated bounds.
    """
    (u, l), gamma = p.bounds, p.gamma
    d_S = np.array([_distance(p.X, A, i, j) for i, j in p.pairs.similar])
    d_D = np.array([_distance(p.X, A, i, j) for i, j in p.pairs.dissimilar])
    xi_S, xi_D = np.maximum(d_S, u), np.minimum(d_D, l)
    with np.errstate(divide="ignore"):
        lam_S, lam_D = gamma * (1 / u - 1 / xi_S), gamma * (1 / xi_D - 1 / l)
    F = objective(p, A)
    if math.isfinite(F):
        gradient = np.linalg.inv(p.prior) - np.linalg.inv(A)
        for (i, j), lam in zip(p.pairs.similar, lam_S, strict=True):
            gradient += lam * np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j])
        for (i, j), lam in zip(p.pairs.dissimilar, lam_D, strict=True):
            gradient -= lam * np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j])
    else:
        gradient = np.full_like(A, np.nan)
    of_metric = _divergence(A, p.prior)
    return {
        "objective": F,
        "D_ld": of_metric,
        "D_ld_xi": math.fsum(map(_term, [*(xi_S / u), *(xi_D / l)])),
        "u": u,
        "l": l,
        "A_0": p.prior,
        "similar": p.pairs.similar,
        "dissimilar": p.pairs.dissimilar,
        "d_S": d_S,
        "d_D": d_D,
        "xi_S": xi_S,
        "xi_D": xi_D,
        "violated_S": int(np.count_nonzero(d_S > u)),
        "violated_D": int(np.count_nonzero(d_D < l)),
        "lam_S": lam_S,
        "lam_D": lam_D,
        "gradient": gradient,
    }


def _on_a_line(gamma: float, prior: float, kind: str, bound: float) -> Hand:
    """An example with a known optimum a: the points 0 and 2 on a line, and one pair of them that violates its bound.

    kind: "similar" or "dissimilar", the kind of the pair. Its squared distance is 4 a. So the objective is
    D_ld(a, prior) + gamma phi(4 a / bound), with phi(r) = r - 1 - log r. The derivative
    1/prior - 1/a + gamma (4/bound - 1/a) is 0 at the optimum.
    """
    a = (1 + gamma) / (1 / prior + gamma * 4 / bound)
    parts = ((1.0, a / prior), (gamma, 4 * a / bound))
    other = "dissimilar" if kind == "similar" else "similar"
    return Hand(
        [[0.0], [2.0]],
        None,
        {"gamma": gamma, "prior": [[prior]], "bounds": (bound, bound), "pairs": {kind: [[0, 1]], other: []}},
        [[a]],
        sum(weight * (ratio - 1 - math.log(ratio)) for weight, ratio in parts),
    )


_HAND = (
    _on_a_line(1e-3, 0.5, "similar", 1.0),
    _on_a_line(0.3, 3.0, "similar", 1.0),
    _on_a_line(40.0, 1.0, "similar", 1.0),
    _on_a_line(1e-3, 3.0, "dissimilar", 50.0),
    _on_a_line(40.0, 0.5, "dissimilar", 50.0),
    # The pairs lie along two axes, so each diagonal entry is the optimum of a problem on a line.
    Hand(
        [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]],
        None,
        {"gamma": 0.7, "bounds": (1.0, 6.0), "pairs": {"similar": [[0, 1]], "dissimilar": [[0, 2]]}},
        [[1.7 / 3.8, 0.0], [0.0, 1.7 / (1 + 0.7 / 6)]],
        # Each entry a adds -(1 + gamma) log a - gamma log(x^2/b), for a pair at distance x with bound b.
        -1.7 * math.log(1.7 / 3.8)
        - 0.7 * math.log(4.0)
        - 1.7 * math.log(1.7 / (1 + 0.7 / 6))
        + 0.7 * math.log(6.0),
    ),
    # Without pairs, the prior is optimal.
    Hand(
        [[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]],
        None,
        {"prior": [[2.0, 0.5], [0.5, 1.0]], "bounds": (1.0, 2.0), "pairs": {"similar": [], "dissimilar": []}},
        [[2.0, 0.5], [0.5, 1.0]],
        0.0,
    ),
)


class ITML(FamilyMethod[Instance]):
    """Information-theoretic metric learning: the metric nearest to a prior, with bounds on the distances of pairs."""

    id = "itml"
    TITLE = "ITML: information-theoretic metric learning (Davis et al. 2007)"
    EXPONENTIAL = True
    PATH = staticmethod(logdet_path.search)
    PARAMETERS: ClassVar = {
        "gamma": Parameter("weight of the slack, > 0", NUMBER, 1.0),
        "prior": PRIOR,
        "bounds": Parameter(
            "(u, l): upper bound of squared distances of similar pairs, lower bound for dissimilar pairs",
            NUMBERS,
            otherwise="the 5th and 95th percentile of all squared distances under the prior",
        ),
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.itml", ("problem", "divergence", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"gamma": math.inf}
    DUAL: ClassVar = {"lam_S": "s", "lam_D": "t"}
    SMALL: ClassVar = {"bounds": (0.5, 2.0)}
    FOLLOWS = "linear"
    MOVES = True
    BAD: ClassVar = {
        **BAD_PAIRS,
        "gamma": (0, -1.0, 1e200),
        "prior": (
            "cov",
            None,
            np.eye(2),
            np.eye(3) + np.eye(3, k=1),
            np.diag([1.0, 1.0, 0.0]),
            np.ones((3, 3)),
            -np.eye(3),
            math.nan * np.eye(3),
        ),
        "bounds": ((1.0,), 1.0, "12", (0.0, 1.0), (1.0, math.nan), (1.0, 1e150)),
    }
    HAND: ClassVar = _HAND
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator(
        "ITML",
        "The metric of information-theoretic metric learning (Davis et al. 2007), solved to a certified gap.",
        positional=("gamma",),
    )
    EXAMPLES: ClassVar = (
        drawn(6, 14, 3, gamma=0.5),
        drawn(7, 10, 14, gamma=0.1),  # more features than points
        drawn(7, 14, 5, degenerate=True),
        sample("wine", 20, prior="covariance", gamma=0.1),
        sample("iris", 16, bounds=(0.5, 4.0), gamma=0.5),
        verified("iris", 24, gamma=0.5),
        verified("wine", 14),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.pairs, given.prior, given.gamma, *given.bounds)

    def constraint_names(self, given: Instance) -> list[str]:
        similar, dissimilar = given.pairs
        return ["A psd", *pair_names("similar", similar), *pair_names("dissimilar", dissimilar)]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.pairs, given.prior, given.gamma, *given.bounds)

    def without_data(self, given: Instance) -> FloatArray:
        return given.prior

    def literal_rows(self, given: Instance) -> int:
        return sum(map(len, given.pairs))

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Solve `problem` with the back end `solver` of cvxpy. Return its metric with the better of two duals.

        One is the solution of `dual`; the other follows from the metric (`evaluate`). The second is needed because back
        ends stall on exponential cones. For example, both back ends stall on the dual of 40 points of iris.
        """
        A = project_psd(solve_problem(self.problem(given), solver, self.EXPONENTIAL)["A"])
        implied = evaluate(given, A)
        duals: list[Dual] = [{name: implied[name] for name in NAMES}]
        with suppress(SolverFailure):
            values = solve_problem(self.dual(given), solver, self.EXPONENTIAL)
            # A variable is missing if there are no pairs of its kind.
            duals.append({name: values.get(name, np.zeros(0)) for name in NAMES})
        best = max(duals, key=lambda dual: self.certify(given, A, dual).lower_bound)
        return Found(A, best, Status.CONVERGED, 0)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def moved(self, given: Instance, at: Moved) -> Instance:
        return replace(with_points(given, at.X), prior=at.inside(given.prior))

    def outside(self, given: Instance, at: Moved, M: FloatArray) -> FloatArray:
        return nearest_to_prior(given.prior, at, M)

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        """The log det divergence, and two losses on the squared distances divided by their bounds.

        number: the type that gamma, u and l get, float or Fraction.
        """
        gamma, (u, l) = number(given.gamma), map(number, given.bounds)
        terms = (
            Term(Bounded(gamma, above=True), PairRows(given.pairs.similar[given.differ], u)),
            Term(Bounded(gamma, above=False), PairRows(given.pairs.dissimilar, l)),
        )
        return Family(LogDet(given.X, given.prior), terms, UNMOVED * given.X.shape[1], radius=radius)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables of the two losses, from "lam_S" and "lam_D" of `dual`, one number for each pair.

        They are -lam_S u for similar pairs of different points, and lam_D l for dissimilar pairs. Any number except NaN
        is allowed.
        """
        lam_S, lam_D = (
            dual_array(dual, name, (len(kind),)) for name, kind in zip(NAMES, given.pairs, strict=True)
        )
        u, l = given.bounds
        with np.errstate(over="ignore"):
            similar, dissimilar = -lam_S[given.differ] * u, lam_D * l
        return [Duals(a, np.arange(len(a))) for a in (similar, dissimilar)]

    def named(self, given: Instance, *duals: Duals) -> Dual:
        """The dual variables "lam_S" of similar, "lam_D" of dissimilar pairs; 0 for similar pairs of equal points."""
        (similar, dissimilar), (u, l) = duals, given.bounds
        lam_S, lam_D = (np.zeros(len(listed)) for listed in given.pairs)
        lam_S[given.differ[similar.key]] = -similar.a / u
        lam_D[dissimilar.key] = dissimilar.a / l
        return {"lam_S": lam_S, "lam_D": lam_D}

    def stored(self, given: Instance) -> dict[str, Any]:
        return {
            "gamma": given.gamma,
            "prior": given.prior.tolist(),
            "bounds": list(given.bounds),
            "pairs": given.stored,
        }

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        said = []
        if all(not lam.any() for lam in certificate.dual.values()):
            said.append("the prior is the optimum: it violates no bound, so these pairs have no influence")
        if twins := len(given.pairs.similar) - len(given.differ):
            said.append(
                f"{twins} similar pairs consist of equal points: they satisfy every bound and have no influence"
            )
        return said


METHOD = ITML()
