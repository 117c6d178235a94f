"""LSML, metric learning from relative comparisons by minimizing squared residual (Liu et al. 2012).

A quadruplet k = (a, b, c, d) says that the pair a, b is nearer than the pair c, d. With u_k = d_M(x_a, x_b)^2,
v_k = d_M(x_c, x_d)^2, weights w >= 0 and a prior A_0, the problem is
    min_{M pd}  D_ld(M, A_0) + sum_k w_k (sqrt u_k - sqrt v_k)_+^2.
The residual compares distances, not squared distances. D_ld is tr A_0^-1 M - log det M plus constants that make it 0
at the prior; metric-learn leaves the constants out. By default the weights are divided by their sum, as in
metric-learn's code. losses="sum" uses them unchanged, as in metric-learn's documentation and the authors' experiments.
The residual is convex, because it is a minimum over y of a jointly convex function (`comparison`).
Quadruplets are an input; by default they are drawn from labels (core/quadruplets.py).

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem, with the log det divergence as
the regularizer, and the loss of family/losses/residual.py. A quadruplet of weight 0 has no loss. Scale, the number that
gaps are relative to: the objective, and at least `UNMOVED` (1e-6) times d, because the objective is 0 if the prior is
optimal. The optimum is unique. Radius, a bound of the distance to it: family/regularizers/logdet.py.

Reference: E. Y. Liu, Z. Guo, X. Zhang, V. Jojic, W. Wang, Metric learning from relative comparisons by minimizing
squared residual, ICDM 2012. The printed equations were not available to us; docs/lsml.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.derived import Derived
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import dual_array
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed
from cvxml.core.moved import Moved, with_points
from cvxml.core.other_lists import QUADRUPLETS
from cvxml.core.prior import PRIOR, inverse_covariance, inverse_of, nearest_to_prior, other_prior, prior_of
from cvxml.core.quadruplets import BY_QUADRUPLETS, MEAN, SUM, Quadrupled, check_weights, quadrupled
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family.losses.residual import Residual
from cvxml.family.regularizers.logdet import LogDet, radius
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.solvers import logdet_path
from cvxml.solvers.family_method import FamilyMethod

LARGEST = 1e100  # largest squared distance under the prior; the smallest one of a far pair is 1 / LARGEST
UNMOVED = 1e-6  # smallest scale, per feature


def problem(X: FloatArray, quadruplets: IntArray, w: FloatArray, A_0: FloatArray) -> Any:
    """The problem, quadruplet by quadruplet. Variables: "M" (d, d), and "y" (q,), the y of each `comparison`.

    X (n, d): points. w (q,): weights of the quadruplets. A_0 (d, d): the prior.
    """
    import cvxpy as cp

    d = X.shape[1]
    M = cp.Variable((d, d), symmetric=True, name="M")
    y = cp.Variable(len(w), nonneg=True, name="y")
    losses = []
    for k, (a, b, c, e) in enumerate(quadruplets.tolist()):
        #: u_k = (x_a - x_b)^T M (x_a - x_b)
        #:   | u_k = (\mathbf{x}_a - \mathbf{x}_b)^T \mathbf{M} (\mathbf{x}_a - \mathbf{x}_b)
        u_k = (X[a] - X[b]) @ M @ (X[a] - X[b])
        #: v_k = (x_c - x_d)^T M (x_c - x_d)
        #:   | v_k = (\mathbf{x}_c - \mathbf{x}_d)^T \mathbf{M} (\mathbf{x}_c - \mathbf{x}_d)
        v_k = (X[c] - X[e]) @ M @ (X[c] - X[e])
        #: w_k, of sum 1 where losses is "mean", as given or 1 where it is "sum"
        #:   | w_k \text{, of sum } 1 \text{ where losses is ``mean'', as given or } 1 \text{ where it is ``sum''}
        losses += [w[k] * comparison(u_k, v_k, y[k])]
    #: D_ld(M, A_0) = tr(A_0^-1 M) - log det(A_0^-1 M) - d
    #:   | D_{\mathrm{ld}}(\mathbf{M}, A_0) = \operatorname{tr}(A_0^{-1} \mathbf{M})
    #:     - \log \det(A_0^{-1} \mathbf{M}) - d
    divergence = cp.trace(np.linalg.inv(A_0) @ M) - cp.log_det(M) + np.linalg.slogdet(A_0)[1] - d
    #: min over M:  D_ld(M, A_0) + sum_k w_k [sqrt(u_k) - sqrt(v_k)]_+^2
    #:   | \min_{\mathbf{M}}\ D_{\mathrm{ld}}(\mathbf{M}, A_0) + \sum_k w_k [\sqrt{u_k} - \sqrt{v_k}]_+^2
    #: M psd | \mathbf{M} \succeq 0
    return cp.Problem(cp.Minimize(divergence + cp.sum(cp.hstack(losses))), [M >> 0])


def comparison(u: Any, v: Any, y: Any) -> Any:
    """The residual of a quadruplet: u + y + v - 2 sqrt((u + y) v), a convex expression of cvxpy.

    u, v: the squared distances of the near and the far pair. y: a variable >= 0. The minimum of the expression over y
    is [sqrt(u) - sqrt(v)]_+^2.
    """
    import cvxpy as cp

    #: the least over y >= 0 of u + y + v - 2 sqrt((u + y) v), that is [sqrt(u) - sqrt(v)]_+^2
    #:   | \text{the least over } y \ge 0 \text{ of } u + y + v - 2 \sqrt{(u + y) v}
    #:     \text{, that is } [\sqrt{u} - \sqrt{v}]_+^2
    return u + y + v - 2 * cp.geo_mean(cp.hstack([u + y, v]))


def dual(X: FloatArray, quadruplets: IntArray, w: FloatArray, A_0: FloatArray) -> Any:
    """The dual of the problem. Variables: "s" (q,) and "r" (q,), for the near and the far pairs.

    The dual variable of a near pair is w_k s_k, and that of a far pair is w_k r_k.
    """
    import cvxpy as cp

    d, (a, b, c, e) = X.shape[1], quadruplets.T
    #: 0 <= s_k < 1 | 0 \le s_k < 1
    s = cp.Variable(len(w), nonneg=True, name="s")
    r = cp.Variable(len(w), name="r")
    U, V = (np.einsum("ta,tb->tab", E, E).reshape(len(w), -1) for E in (X[a] - X[b], X[c] - X[e]))
    #: Z = A_0^-1 + sum_k w_k (s_k U_k - r_k V_k),  U_k, V_k of the near and the far pair
    #:   | Z = A_0^{-1} + \sum_k w_k (s_k U_k - r_k V_k), \quad
    #:     U_k, V_k \text{ of the near and the far pair}
    Z = np.linalg.inv(A_0) + cp.reshape(U.T @ cp.multiply(w, s) - V.T @ cp.multiply(w, r), (d, d), order="C")
    #: max over s, r:  log det(A_0 Z) | \max_{s,\, r}\ \log \det(A_0 Z)
    #: r_k >= s_k/(1 - s_k) | r_k \ge s_k / (1 - s_k)
    return cp.Problem(cp.Maximize(cp.log_det(Z) + np.linalg.slogdet(A_0)[1]), [r >= cp.inv_pos(1 - s) - 1])
    #: [What is proved]
    #: M = Z^-1 and s_k = [1 - sqrt(v_k/u_k)]_+ at the optimum
    #:   | \mathbf{M} = Z^{-1} \text{ and } s_k = [1 - \sqrt{v_k / u_k}]_+ \text{ at the optimum}
    #: any s with Z positive definite gives a lower bound
    #:   | \text{any } s \text{ with } Z \succ 0 \text{ gives a lower bound}


@dataclass(frozen=True, eq=False)
class Instance(Quadrupled):
    """Checked data, and the prior A_0 (d, d), which is positive definite."""

    prior: FloatArray  # A_0 (d, d), positive definite

    @property
    def counts(self) -> IntArray:
        """The indices of the quadruplets with a positive weight."""
        return np.flatnonzero(self.weights)

    @property
    def alone(self) -> Any:
        """For each quadruplet, (q,), True if both points of its far pair are equal."""
        return np.equal(self.far, 0).all(axis=1)


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    prior: Any = "identity",
    quadruplets: Any = None,
    weights: Any = None,
    losses: str = MEAN,
    n_quadruplets: int | None = None,
    random_state: int = 0,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input.

    X (n, d), y (n,) labels, only needed to draw quadruplets. prior: "identity", "covariance" (the
    inverse covariance of X) or a matrix (d, d). quadruplets (q, 4), and their weights (q,). losses: "mean" or "sum".

    n_quadruplets: how many are drawn. random_state: the seed.
    """
    found = quadrupled(X, y, quadruplets, weights, losses, n_quadruplets, random_state)
    given = Instance(**vars(found), prior=prior_of(found.X, prior))
    C = np.linalg.cholesky(given.prior)
    with np.errstate(over="ignore", invalid="ignore"):
        u, v = (np.sum((E @ C) ** 2, axis=1) for E in (given.near, given.far))
    if not (max(u.max(), v.max()) <= LARGEST and v[~given.alone].min(initial=1.0) >= 1 / LARGEST):
        raise ValueError(
            f"X: squared distances under the prior must be at most {LARGEST:g}, and at least {1 / LARGEST:g} for far "
            f"pairs of different points; got up to {max(u.max(), v.max()):.3g}, and down to "
            f"{v[~given.alone].min(initial=math.inf):.3g} for far pairs; rescale X, or the prior with it"
        )
    return given


def objective(p: Instance, M: FloatArray) -> float:
    """D_ld(M, A_0) + sum_k w_k (sqrt u_k - sqrt v_k)_+^2 at M (d, d), for all quadruplets k; inf if M is singular."""
    losses = []
    for (a, b, c, e), w in zip(p.quadruplets.tolist(), p.weights.tolist(), strict=True):
        losses.append(w * max(0.0, _distance(p.X, M, a, b) - _distance(p.X, M, c, e)) ** 2)
    return _divergence(M, p.prior) + math.fsum(losses)


def _divergence(M: FloatArray, A_0: FloatArray) -> float:
    """D_ld(M, A_0) = tr(A_0^-1 M) - log det(A_0^-1 M) - d; inf if M is singular."""
    sign, log_det = np.linalg.slogdet(M)
    if sign <= 0:
        return math.inf
    trace = float(np.trace(np.linalg.solve(A_0, M)))
    return float(trace - log_det + np.linalg.slogdet(A_0)[1] - len(M))


def _distance(X: FloatArray, M: FloatArray, i: int, j: int) -> float:
    """d_M(x_i, x_j), not squared."""
    return math.sqrt(max(0.0, float((X[i] - X[j]) @ M @ (X[i] - X[j]))))


def evaluate(p: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective; D_ld; quadruplets (q, 4) and their weights, near and far distances (not squared) and residuals (q,);
    violated, the number of positive residuals; s (q,); gradient (d, d). The gradient is NaN if M is singular. The
    vector s has the residuals divided by the near distances. It is the "s" of `dual` at the optimum.
    """
    near = np.array([_distance(p.X, M, a, b) for a, b in p.quadruplets[:, :2].tolist()])
    far = np.array([_distance(p.X, M, c, e) for c, e in p.quadruplets[:, 2:].tolist()])
    residuals = np.maximum(near - far, 0.0)
    s = np.divide(residuals, near, out=np.zeros(len(near)), where=near > 0)
    F = objective(p, M)
    gradient = np.full_like(M, np.nan)
    if math.isfinite(F):
        gradient = np.linalg.inv(p.prior) - np.linalg.inv(M)
        for w, one, u, v, r in zip(p.weights, residuals, near, far, range(len(near)), strict=True):
            if one > 0:
                gradient = gradient + w * (one / u) * np.outer(p.near[r], p.near[r])
            if one > 0 and v > 0:
                gradient = gradient - w * (one / v) * np.outer(p.far[r], p.far[r])
    return {
        "objective": F,
        "D_ld": _divergence(M, p.prior),
        "quadruplets": p.quadruplets,
        "weights": p.weights,
        "near": near,
        "far": far,
        "residuals": residuals,
        "violated": int(np.count_nonzero(residuals)),
        "s": s,
        "gradient": gradient,
    }


def _sum(question: Question) -> OtherProblem | None:
    """The problem with losses="sum" and the user's weights; None if the user's losses are "sum".

    If the q weights already have the sum 1, they do not change when they are divided by it, so this would be the user's
    problem. Then each weight is multiplied by q, so that their mean is 1.
    """
    given = question.checked(instance)
    if given.losses == SUM:
        return None
    q = len(given.weights)
    own = check_weights(question.params.get("weights"), q, SUM)
    divided = q > 1 and np.array_equal(own, given.weights)
    params = {**question.params, **given.stored, "losses": SUM, "weights": q * own if divided else own}
    return OtherProblem(question.X, question.y, params)


def _explicit(question: Question, columns: list[int]) -> OtherProblem:
    given = question.checked(instance)
    params = {**question.params, **given.stored, "quadruplets": given.quadruplets[:, columns].tolist()}
    return OtherProblem(question.X, question.y, params)


# Squared distances in the residual are not listed, because they give a different kind of problem.
MISREADINGS = {
    "sum": Misreading(
        "the sum of the residuals where the method has the mean (metric-learn's documentation)", _sum
    ),
    "mean": Misreading(
        "the mean of the residuals where the method has the sum (metric-learn's code)",
        changed("losses", lambda q: None if q.checked(instance).losses == MEAN else MEAN),
    ),
    "inverse_prior": Misreading(
        "tr A_0 M where the method has tr A_0^-1 M (metric-learn's documentation)",
        other_prior(instance, lambda given: inverse_of(given.prior)),
    ),
    "identity_prior": Misreading(
        "the identity as prior in place of the given prior",
        other_prior(instance, lambda given: np.eye(given.X.shape[1])),
    ),
    "covariance_prior": Misreading(
        "the inverse covariance as prior in place of the given prior",
        other_prior(instance, lambda given: inverse_covariance(given.X)),
    ),
    "exchanged": Misreading("near and far pairs exchanged", lambda q: _explicit(q, [2, 3, 0, 1])),
    "unweighted": Misreading(
        "the same weight for every quadruplet",
        lambda q: (
            None if q.params.get("weights") is None else OtherProblem(q.X, q.y, {**q.params, "weights": None})
        ),
    ),
    **QUADRUPLETS,
}


_BY_TWO = 1 / (19 - 6 * math.sqrt(19 / 3))


class LSML(FamilyMethod[Instance]):
    """Metric learning from relative comparisons: near a prior, with near pairs nearer than far pairs."""

    id = "lsml"
    TITLE = "LSML: relative comparisons by squared residual (Liu et al. 2012)"
    EXPONENTIAL = True
    PATH = staticmethod(logdet_path.search)
    PARAMETERS: ClassVar = {"prior": PRIOR, **BY_QUADRUPLETS}
    STATEMENT = Statement("cvxml.methods.lsml", ("problem", "comparison", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"s": "t"}
    # Another version of numpy may draw other quadruplets.
    DERIVED: ClassVar = {"quadruplets": Derived(("y", "n_quadruplets", "random_state"), repeats=False)}
    SMALL: ClassVar = {"n_quadruplets": 30}
    FOLLOWS = "linear"
    MOVES = True
    BAD: ClassVar = {
        "quadruplets": (
            [[0, 1, 2]],
            [[0, 1, 2], [0, 1, 2, 3]],
            [],
            [[0.0, 1, 2, 3]],
            [[0, 1, 2, 99]],
            [[-1, 1, 2, 3]],
            [[0, 1, 2, 3], [0, 0, 1, 2]],
            [[0, 1, 2, 2]],
        ),
        "weights": ([1.0], [0.0] * 30, [-1.0] * 30, [math.nan] * 30),
        "losses": ("means", "", None),
        "n_quadruplets": (0,),
        "prior": (np.zeros((3, 3)), "nothing", 1e120 * np.eye(3)),
    }
    HAND: ClassVar = (
        # A near pair of length 3 along one axis, a far pair of length 1 along the other. M = diag(m, n) solves
        # 10 m - 3 sqrt(m n) = 1 and 2 n - 3 sqrt(m n) = 1, so n = 5 m. The second comparison has weight 0.
        Hand(
            [[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 9.0]],
            None,
            {"quadruplets": [[0, 1, 0, 2], [0, 2, 0, 3]], "weights": [1.0, 0.0]},
            [[1 / (10 - 3 * math.sqrt(5)), 0.0], [0.0, 5 / (10 - 3 * math.sqrt(5))]],
            2 * math.log(10 - 3 * math.sqrt(5)) - math.log(5),
        ),
        # With losses="sum" and weight 2: 19 m - 6 sqrt(m n) = 1 and 3 n - 6 sqrt(m n) = 1, so 19 m = 3 n.
        Hand(
            [[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 9.0]],
            None,
            {"quadruplets": [[0, 1, 0, 2], [0, 2, 0, 3]], "weights": [2.0, 0.0], "losses": SUM},
            [[_BY_TWO, 0.0], [0.0, 19 / 3 * _BY_TWO]],
            -math.log(19 / 3) - 2 * math.log(_BY_TWO),
        ),
        # A far pair of equal points. For the near difference e = (2, 1) the loss is <M, e e^T>, so
        # M = (I + e e^T)^-1, and the optimum is log(1 + |e|^2).
        Hand(
            [[0.0, 0.0], [2.0, 1.0], [5.0, 5.0], [5.0, 5.0]],
            None,
            {"quadruplets": [[0, 1, 2, 3]]},
            [[1 / 3, -1 / 3], [-1 / 3, 5 / 6]],
            math.log(6),
        ),
        # No comparison is violated, so the prior is optimal.
        Hand(
            [[0.0, 0.0], [0.0, 1.0], [0.0, 9.0]],
            None,
            {"quadruplets": [[0, 1, 0, 2]], "prior": [[2.0, 0.0], [0.0, 0.5]]},
            [[2.0, 0.0], [0.0, 0.5]],
            0.0,
        ),
    )
    RADIUS = True
    EXAMPLES: ClassVar = (
        drawn(6, 14, 3),
        drawn(7, 10, 14, n_quadruplets=40),  # more features than points
        drawn(7, 14, 5, degenerate=True, random_state=1),
        sample("wine", 20, prior="covariance", n_quadruplets=60),
        drawn(6, 14, 3, losses=SUM, n_quadruplets=50),
        verified("iris", 12, n_quadruplets=40),
        verified("wine", 15, n_quadruplets=40),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.quadruplets, given.weights, given.prior)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["M psd"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.quadruplets, given.weights, given.prior)

    def without_data(self, given: Instance) -> FloatArray:
        return given.prior

    def literal_rows(self, given: Instance) -> int:
        return len(given.quadruplets)

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        return {"s": values["s"]}

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def moved(self, given: Instance, at: Moved) -> Instance:
        return replace(with_points(given, at.X), prior=at.inside(given.prior))

    def outside(self, given: Instance, at: Moved, M: FloatArray) -> FloatArray:
        return nearest_to_prior(given.prior, at, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """The log det divergence as the regularizer, and the residuals as the loss.

        The rows of the loss are all near pairs, then all far pairs, of the quadruplets with a positive weight. number:
        the type that the weights get, float or Fraction.
        """
        some = given.quadruplets[given.counts]
        w = np.array([number(weight) for weight in given.weights[given.counts].tolist()])
        rows = PairRows(np.concatenate([some[:, :2], some[:, 2:]]))
        terms = (Term(Residual(w, given.alone[given.counts]), rows),)
        return Family(LogDet(given.X, given.prior), terms, UNMOVED * given.X.shape[1], radius=radius)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables of the loss from "s" (q,) of `dual`, any numbers except NaN.

        A near pair k of positive weight has the dual variable -w_k s_k. Far pairs get 0 here, because the loss computes
        their dual variables from s (family/losses/residual.py).
        """
        s = dual_array(dual, "s", (len(given.quadruplets),))[given.counts]
        with np.errstate(over="ignore"):
            near = -given.weights[given.counts] * s
        return [Duals(np.concatenate([near, np.zeros(len(s))]), np.arange(2 * len(s)))]

    def named(self, given: Instance, duals: Duals) -> Dual:
        """The dual "s" (q,): minus the dual variables of the near pairs, divided by the weights w; 0 for weight 0."""
        s = np.zeros(len(given.quadruplets))
        s[given.counts] = -duals.a[: len(given.counts)] / given.weights[given.counts]
        return {"s": s}

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"prior": given.prior.tolist(), **given.stored}

    def derived(self, given: Instance) -> tuple[str, ...]:
        return ("quadruplets",) if given.by_labels else ()

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        said = []
        if not certificate.dual["s"].any():
            said.append("the prior is the optimum: it violates no comparison")
        if twins := int(np.count_nonzero(given.alone)):
            said.append(f"{twins} far pairs consist of equal points: their distance is 0 in every metric")
        return said


METHOD = LSML()
