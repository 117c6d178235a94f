"""ITML, information-theoretic metric learning (Davis, Kulis, Jain, Sra, Dhillon 2007): the metric nearest to a prior.

Problem, with slack variables, over psd A and xi with one entry for each pair:
    min  D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0))     such that  d_A <= xi in S,  d_A >= xi in D.
xi_0 is u for similar pairs S and l for dissimilar pairs D. u and l bound squared distances. Every line of `problem` is
literal, as other papers quote it; the paper itself was not at hand. For diagonal matrices D_ld is a sum over the
pairs. Algorithm 1 of the paper is in projections.py.

Dual and bound: family/theorem, with the log det divergence and one loss for each kind of pair, on D / u and D / l.
If a is the dual variable of a row, lambda is -a / u for a similar pair and a / l for a dissimilar pair.
A similar pair of equal points satisfies any bound, so it has no row, and its lambda is 0.
Scale: the objective, but at least `UNMOVED` * d, because the objective is 0 if the prior is optimal.
Radius: family/regularizers/logdet.py.

Reference: J. Davis, B. Kulis, P. Jain, S. Sra, I. Dhillon, Information-theoretic metric learning, ICML 2007.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from cvxml.core.backend import SolverFailure, solve_problem
from cvxml.core.clock import watched
from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_positive, dual_array
from cvxml.core.memory import FLOAT, check_room
from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.core.misreading import FAR, MULTIPLES, Misreading, OtherProblem, Question, exchanged
from cvxml.core.moved import Moved, with_points
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS, BY_PAIRS, KINDS, Paired, Pairs, paired
from cvxml.core.parameter import NUMBER, NUMBERS, Parameter
from cvxml.core.prior import PRIOR, inverse_covariance, nearest_to_prior, prior_of
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.short_repr import cut
from cvxml.core.statement import Statement
from cvxml.family.geometry.symmetric import quadratic
from cvxml.family.losses.bounded import Bounded
from cvxml.family.regularizers.logdet import LogDet, radius
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.solvers import logdet_path
from cvxml.solvers.family_method import FamilyMethod

NAMES = ("lam_S", "lam_D")
PERCENTILES = (5.0, 95.0)
LARGEST = 1e100  # limit for gamma, bounds, squared distances relative to their bounds, and the inverses of all these
UNMOVED = 1e-6  # the scale is at least this times d
HARD = 1e8  # factor of gamma that stands for hard constraints
HELD = 1e-6  # tolerance of the hard constraints, relative to a bound


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
    """Its dual. Variables: "lam_S" and "lam_D", one entry for each pair.

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
    """The divergence: D_ld(A, A_0)."""
    import cvxpy as cp

    #: D_ld(A, A_0) = tr(A A_0^-1) - log det(A A_0^-1) - d
    #:   | D_{\mathrm{ld}}(A, A_0) = \operatorname{tr}(A A_0^{-1}) - \log \det(A A_0^{-1}) - d
    return cp.trace(A @ np.linalg.inv(A_0)) - cp.log_det(A) + np.linalg.slogdet(A_0)[1] - len(A_0)


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data and parameters."""

    gamma: float
    prior: FloatArray  # A_0 (d, d), positive definite
    bounds: tuple[float, float]  # u, l, for squared distances

    @property
    def xi_0(self) -> FloatArray:
        """xi_0 (pairs,): u for each similar pair, then l for each dissimilar pair."""
        u, l = self.bounds
        return np.repeat([u, l], [len(self.pairs.similar), len(self.pairs.dissimilar)])

    @cached_property
    def differ(self) -> IntArray:
        """Indices of the similar pairs with different points. Pairs of equal points satisfy any bound."""
        return np.flatnonzero(self.similar.any(axis=1))


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    prior: Any = "identity",
    bounds: Any = None,
    pairs: Any = None,
) -> Instance:
    """Check all inputs; compute the prior and the bounds. Raises ValueError for bad input.

    X (n, d); y (n,) labels, unless pairs are given. gamma > 0: weight of the slack. prior: a name or a matrix (d, d).
    bounds: (u, l), by default percentiles (`default_bounds`). pairs: {"similar": ..., "dissimilar": ...}.
    """
    gamma = check_positive(gamma, "gamma")
    if not 1 / LARGEST <= gamma <= LARGEST:
        raise ValueError(f"gamma must be within {1 / LARGEST:g} to {LARGEST:g}, got {gamma:g}")
    p = paired(X, y, pairs)
    p.check_listable()  # before any distances are computed
    A_0 = prior_of(p.X, prior)
    apart = p.equal
    if len(apart):
        raise ValueError(
            f"points {apart[0, 0]} and {apart[0, 1]} are equal and a dissimilar pair: no metric keeps them apart, so "
            "the problem is infeasible; drop one of them, or give pairs without them"
        )
    u, l = default_bounds(p.X, A_0) if bounds is None else check_bounds(bounds)
    given = Instance(p.X, p.y, p.listed, gamma=gamma, prior=A_0, bounds=(u, l))
    _check_range(given)
    return given


def default_bounds(X: FloatArray, A_0: FloatArray) -> tuple[float, float]:
    """Return u and l, the 5th and 95th percentiles of the squared distances of all i < j under A_0 (d, d).

    Raises ValueError for a single point, for overflow, and if u is 0; TooLarge if the distances do not fit into memory.
    """
    if len(X) < 2:
        raise ValueError("bounds: one point has no distances to take percentiles of; give bounds=(u, l)")
    count = len(X) * (len(X) - 1) // 2
    check_room(
        2 * count * FLOAT,  # np.percentile makes a copy
        f"bounds: the distances of every two of {len(X)} points, for the percentiles,",
        "give bounds=(u, l), or fewer points",
    )
    distances = squared_distances(X, A_0)
    if not distances.max() <= LARGEST:
        raise ValueError("X: squared distances under the prior overflow; rescale X, or the prior with it")
    u, l = np.percentile(distances, PERCENTILES)
    if not u > 0:
        raise ValueError(
            f"bounds: the {PERCENTILES[0]:g}th percentile of the squared distances is 0, as many points are equal; "
            "give bounds=(u, l), or drop the copies"
        )
    return float(u), float(l)


def squared_distances(X: FloatArray, A_0: FloatArray) -> FloatArray:
    """Return (x_i - x_j)^T A_0 (x_i - x_j) of all i < j, row by row. inf on overflow."""
    C = np.linalg.cholesky(A_0)
    with np.errstate(over="ignore", invalid="ignore"):
        if np.array_equal(C, np.eye(len(C))):
            euclidean: FloatArray = pdist(X, "sqeuclidean")
            return euclidean
        return np.concatenate([np.sum(((X[i + 1 :] - X[i]) @ C) ** 2, axis=1) for i in range(len(X))])


def check_bounds(bounds: Any) -> tuple[float, float]:
    """Return (u, l) as floats. Raises ValueError unless these are two positive numbers."""
    values = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    if not isinstance(values, (list, tuple)) or len(values) != 2:
        raise ValueError(
            "bounds must be (u, l): u for similar and l for dissimilar pairs, two positive numbers that bound "
            f"squared distances; got {cut(repr(bounds), 60)}"
        )
    u, l = (check_positive(value, f"bounds[{k}]") for k, value in enumerate(values))
    return u, l


def _check_range(p: Instance) -> None:
    """Raise ValueError if a bound, or the squared distance of a pair relative to its bound, exceeds `LARGEST`.

    The same limit holds for the inverse of a bound, and for the inverse of the relative distance of a dissimilar pair.
    """
    if not 1 / LARGEST <= min(p.bounds) <= max(p.bounds) <= LARGEST:
        raise ValueError(
            f"bounds: {p.bounds[0]:.3g} and {p.bounds[1]:.3g} are beyond {1 / LARGEST:g} to {LARGEST:g}; rescale X"
        )
    C = np.linalg.cholesky(p.prior)
    for kind, bound in watched(zip(KINDS, p.bounds, strict=True)):
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = np.sum((getattr(p, kind) @ C) ** 2, axis=1) / bound
        too_near = kind == "dissimilar" and ratio.min(initial=1.0) < 1 / LARGEST
        if not ratio.max(initial=0.0) <= LARGEST or too_near:
            raise ValueError(
                f"X: squared distances under the prior are up to {ratio.max():.3g} and down to {ratio.min():.3g} of "
                f"the bound {bound:.3g}; rescale X, or give other bounds"
            )


def objective(p: Instance, A: FloatArray) -> float:
    """D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0)) at A (d, d) and the best xi; inf if A is singular.

    The best xi is max(d_A, u) for a similar pair and min(d_A, l) for a dissimilar pair.
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

    objective: D_ld + gamma D_ld_xi. D_ld: the divergence of A from A_0. D_ld_xi: the divergence of xi from xi_0.
    u, l, A_0, similar, dissimilar: the inputs. d_S, d_D: squared distances of the pairs. xi_S, xi_D: the best slack
    variables. violated_S, violated_D: number of violated bounds. lam_S, lam_D: the dual variables that xi implies.
    gradient (d, d) of the objective in A; nan if the objective is infinite.
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


Change = Callable[[Instance, Question], dict[str, Any] | None]


def _with_params(change: Change) -> Callable[[Question], OtherProblem | None]:
    """The problem with some parameters changed; None if a multiple of the metric is clearly better there."""

    def problem(question: Question) -> OtherProblem | None:
        changed = change(question.checked(instance), question)
        if changed is None:
            return None
        params = {**question.params, **changed}
        there = instance(question.X, question.y, **params)
        return (
            OtherProblem(question.X, question.y, params) if _stays_at_scale(there, question.metric) else None
        )

    return problem


def _stays_at_scale(p: Instance, A: FloatArray) -> bool:
    """False if A (d, d) is singular or one of `MULTIPLES` of A lowers the objective by more than the share `FAR`."""
    sign, log_det = np.linalg.slogdet(A)
    if sign <= 0:
        return False
    ratio = quadratic(np.concatenate([p.similar, p.dissimilar]), A) / p.xi_0
    similar = np.arange(len(ratio)) < len(p.similar)
    trace = float(np.trace(np.linalg.solve(p.prior, A)))
    log_det -= np.linalg.slogdet(p.prior)[1]

    def objective(c: float) -> float:
        r = np.where(similar, np.maximum(c * ratio, 1), np.minimum(c * ratio, 1))
        with np.errstate(all="ignore"):
            slack = float(np.sum(r - np.log(r) - 1))
        return float(c * trace - log_det - len(A) * (1 + np.log(c)) + p.gamma * slack)

    here = objective(1.0)
    return all(objective(c) >= here * (1 - FAR) for c in MULTIPLES)


def _gamma_times(factor: Callable[[Instance], float]) -> Callable[[Question], OtherProblem | None]:
    """The problem with gamma multiplied by `factor`; None if that factor is 0 or 1."""

    def change(p: Instance, _: Question) -> dict[str, Any] | None:
        by = factor(p)
        return {"gamma": p.gamma * by} if by not in (0.0, 1.0) else None

    return _with_params(change)


def _bounds_by(
    other: Callable[[float, float], tuple[float, float]],
) -> Callable[[Question], OtherProblem | None]:
    """The problem with the bounds `other(u, l)`."""
    return _with_params(lambda p, _: {"bounds": other(*p.bounds)})


def _percentiles_of(values: Callable[[Instance], FloatArray], at: tuple[float, float] = PERCENTILES) -> Any:
    """The problem with the percentiles `at` of `values` as bounds; None if the user gave bounds."""

    def change(p: Instance, question: Question) -> dict[str, Any] | None:
        if question.params.get("bounds") is not None:
            return None
        u, l = np.percentile(values(p), at)
        return {"bounds": (float(u), float(l))} if (u, l) != p.bounds else None

    return _with_params(change)


def _squared(p: Instance) -> FloatArray:
    return squared_distances(p.X, p.prior)


def _plain(p: Instance) -> FloatArray:
    return np.sqrt(_squared(p))


def _euclidean(p: Instance) -> FloatArray:
    return squared_distances(p.X, np.eye(p.X.shape[1]))


def _whole_matrix(p: Instance) -> FloatArray:
    """All n^2 squared distances under the prior: each pair twice, and n zeros."""
    return np.concatenate([_squared(p), _squared(p), np.zeros(len(p.X))])


def _plain_whole_matrix(p: Instance) -> FloatArray:
    """The Euclidean distances between distinct points, not squared: each pair twice, and the zeros."""
    distances = np.sqrt(squared_distances(np.unique(p.X, axis=0), np.eye(p.X.shape[1])))
    return np.concatenate([distances, distances, np.zeros(len(np.unique(p.X, axis=0)))])


def _hard(p: Instance, question: Question) -> dict[str, Any] | None:
    """A very large gamma in place of hard constraints; None if the metric violates a bound."""
    A, (u, l) = question.metric, p.bounds
    if quadratic(p.similar, A).max(initial=u) > u * (1 + HELD):
        return None
    if quadratic(p.dissimilar, A).min(initial=l) < l * (1 - HELD):
        return None
    return {"gamma": p.gamma * HARD}


def _printed(p: Instance, _: Question) -> dict[str, Any] | None:
    u, l = p.bounds
    return {"gamma": 1.0, "bounds": (u / p.gamma, l / p.gamma)} if p.gamma != 1 else None


def _identity(p: Instance, _: Question) -> dict[str, Any] | None:
    d = p.X.shape[1]
    return None if np.array_equal(p.prior, np.eye(d)) else {"prior": np.eye(d)}


def _covariance(p: Instance, _: Question) -> dict[str, Any] | None:
    other = inverse_covariance(p.X)
    return None if np.array_equal(p.prior, other) else {"prior": other}


def _inverse(p: Instance, _: Question) -> dict[str, Any] | None:
    other = np.linalg.inv(p.prior)
    return None if np.array_equal(p.prior, other) else {"prior": (other + other.T) / 2}


def _divisor(p: Instance, question: Question) -> dict[str, Any] | None:
    n = len(p.X)
    return {"prior": p.prior * (n / (n - 1))} if question.params.get("prior") == "covariance" else None


def _exchanged(p: Instance, _: Question) -> dict[str, Any]:
    return {"pairs": exchanged(p.pairs).to_dict()}


def _only(kind: str) -> Change:
    def change(p: Instance, _: Question) -> dict[str, Any] | None:
        kept = {k: v if k == kind else [] for k, v in p.pairs.to_dict().items()}
        return {"pairs": kept} if all(len(listed) for listed in p.pairs) else None

    return change


def _pairs(p: Instance) -> int:
    return len(p.pairs.similar) + len(p.pairs.dissimilar)


# Problems that implementations of ITML solve by mistake. Each is the same problem with other inputs, so the certificate
# of the method also proves that a metric is the solution of the other problem.
# Not recognised: D_ld(A_0, A) in place of D_ld(A, A_0), and distances in place of squared distances inside the
# constraints, because these problems are not convex in A; and a random choice of pairs.
MISREADINGS: dict[str, Misreading] = {
    "mean": Misreading(
        "the mean of the slack over the pairs where the paper has the sum",
        _gamma_times(lambda p: 1 / max(_pairs(p), 1)),
    ),
    "inverse_gamma": Misreading(
        "1/gamma times the slack where the paper has gamma", _gamma_times(lambda p: p.gamma**-2)
    ),
    "no_gamma": Misreading("the slack without gamma", _gamma_times(lambda p: 1 / p.gamma)),
    "twice": Misreading("2 gamma times the slack: every pair in both orders", _gamma_times(lambda p: 2.0)),
    "half": Misreading(
        "2 D_ld(A, A_0), or half the slack, where the paper has the sum", _gamma_times(lambda p: 0.5)
    ),
    "hard": Misreading("hard constraints, without slack", _with_params(_hard)),
    "printed": Misreading(
        "gamma = 1 with the bounds u/gamma and l/gamma: Algorithm 1 as it is printed", _with_params(_printed)
    ),
    "roots": Misreading(
        "bounds sqrt(u) and sqrt(l): distances where the paper has squared ones",
        _bounds_by(lambda u, l: (u**0.5, l**0.5)),
    ),
    "squares": Misreading(
        "bounds u^2 and l^2, which are bounds of squared distances already",
        _bounds_by(lambda u, l: (u * u, l * l)),
    ),
    "exchanged_bounds": Misreading("u and l exchanged", _bounds_by(lambda u, l: (l, u))),
    "exchanged_pairs": Misreading("similar and dissimilar pairs exchanged", _with_params(_exchanged)),
    "similar_only": Misreading("the similar pairs alone", _with_params(_only("similar"))),
    "dissimilar_only": Misreading("the dissimilar pairs alone", _with_params(_only("dissimilar"))),
    "plain_percentiles": Misreading(
        "percentiles of distances as bounds of squared distances", _percentiles_of(_plain)
    ),
    "whole_matrix": Misreading(
        "percentiles over all n^2 squared distances, the zeros of the diagonal among them",
        _percentiles_of(_whole_matrix),
    ),
    "plain_whole_matrix": Misreading(
        "percentiles over all n^2 Euclidean distances, the zeros of the diagonal among them, as bounds of squared "
        "distances (metric-learn)",
        _percentiles_of(_plain_whole_matrix),
    ),
    "euclidean_bounds": Misreading(
        "percentiles of Euclidean distances where those under the prior are asked for",
        _percentiles_of(_euclidean),
    ),
    "extremes": Misreading(
        "the least and the largest squared distance as bounds in place of the 5th and 95th percentile",
        _percentiles_of(_squared, (0.0, 100.0)),
    ),
    "tenths": Misreading(
        "the 10th and 90th percentile as bounds in place of the 5th and 95th",
        _percentiles_of(_squared, (10.0, 90.0)),
    ),
    "identity_prior": Misreading(
        "the identity as prior where another was asked for", _with_params(_identity)
    ),
    "covariance_prior": Misreading(
        "the inverse covariance as prior where another was asked for", _with_params(_covariance)
    ),
    "inverse_prior": Misreading(
        "A_0^-1 as prior: the covariance in place of its inverse", _with_params(_inverse)
    ),
    "divisor": Misreading("the covariance with divisor n where it is n - 1", _with_params(_divisor)),
    **PAIRS,
}


def _on_a_line(gamma: float, prior: float, kind: str, bound: float) -> Hand:
    """An example with a known optimum a: one pair, of the points 0 and 2, that violates its bound.

    The objective D_ld(a, prior) + gamma phi(4 a / bound), with phi(r) = r - 1 - log r, has the derivative
    1/prior - 1/a + gamma (4/bound - 1/a).
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
            "(u, l), what squared distances of similar and dissimilar pairs are held to",
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
        verified("wine", 20),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance`."""
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        """The literal problem. Variables: "A" (d, d) and "xi" (pairs,)."""
        return problem(given.X, given.pairs, given.prior, given.gamma, *given.bounds)

    def dual(self, given: Instance) -> Any:
        """The literal dual. Variables: "lam_S" and "lam_D", one entry for each pair."""
        return dual(given.X, given.pairs, given.prior, given.gamma, *given.bounds)

    def literal_rows(self, given: Instance) -> int:
        """The number of pairs."""
        return sum(map(len, given.pairs))

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Solve the literal problem. Return its metric with the better of two duals.

        One dual is the solution of the literal dual; the other follows from the metric (`evaluate`). The second is
        needed because back ends stall on exponential cones. For example, both stall on the dual of 40 points of iris.
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
        """See `objective`."""
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """See `evaluate`."""
        return evaluate(given, M)

    def moved(self, given: Instance, at: Moved) -> Instance:
        """The instance in other coordinates: points and prior are transformed."""
        return replace(with_points(given, at.X), prior=at.inside(given.prior))

    def outside(self, given: Instance, at: Moved, M: FloatArray) -> FloatArray:
        """See `nearest_to_prior`."""
        return nearest_to_prior(given.prior, at, M)

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        """The log det divergence, and two losses on squared distances divided by their bounds."""
        gamma, (u, l) = number(given.gamma), map(number, given.bounds)
        terms = (
            Term(Bounded(gamma, above=True), PairRows(given.pairs.similar[given.differ], u)),
            Term(Bounded(gamma, above=False), PairRows(given.pairs.dissimilar, l)),
        )
        return Family(LogDet(given.X, given.prior), terms, UNMOVED * given.X.shape[1], radius=radius)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Read "lam_S" and "lam_D", one number for each pair. Any number except NaN is allowed."""
        lam_S, lam_D = (
            dual_array(dual, name, (len(kind),)) for name, kind in zip(NAMES, given.pairs, strict=True)
        )
        u, l = given.bounds
        with np.errstate(over="ignore"):
            similar, dissimilar = -lam_S[given.differ] * u, lam_D * l
        return [Duals(a, np.arange(len(a))) for a in (similar, dissimilar)]

    def named(self, given: Instance, *duals: Duals) -> Dual:
        """The dual variables "lam_S" and "lam_D", one for each pair; 0 for pairs without a row."""
        (similar, dissimilar), (u, l) = duals, given.bounds
        lam_S, lam_D = (np.zeros(len(listed)) for listed in given.pairs)
        lam_S[given.differ[similar.key]] = -similar.a / u
        lam_D[dissimilar.key] = dissimilar.a / l
        return {"lam_S": lam_S, "lam_D": lam_D}

    def stored(self, given: Instance) -> dict[str, Any]:
        """The parameters, with prior and bounds as numbers. Pairs are None if they were not given and follow from y."""
        return {
            "gamma": given.gamma,
            "prior": given.prior.tolist(),
            "bounds": list(given.bounds),
            "pairs": given.stored,
        }

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        """Notes for the user: whether the prior is optimal, and the number of similar pairs of equal points."""
        said = []
        if all(not lam.any() for lam in certificate.dual.values()):
            said.append(
                "no bound is violated under the prior, which is the optimum: these pairs do not move it"
            )
        if twins := len(given.pairs.similar) - len(given.differ):
            said.append(
                f"{twins} similar pairs consist of equal points: they satisfy every bound and have no influence"
            )
        return said


METHOD = ITML()
