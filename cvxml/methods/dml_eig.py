"""DML-eig (Ying, Li 2012): maximize the smallest squared distance of a dissimilar pair.

With D_A(i, j) = (x_i - x_j)^T A (x_i - x_j), the problem is
    max_{A psd}  min over dissimilar pairs of D_A     such that  sum over similar pairs of D_A  <=  1.
The constraint is the budget. Let X_S be the sum of X_ij = (x_i - x_j)(x_i - x_j)^T over similar pairs. As in the paper,
the problem is stated in coordinates in which X_S is the identity, and M is the metric in these coordinates. If X_S is
singular, its pseudo-inverse is used. `instance` refuses a dissimilar pair with a difference outside the span of the
differences of similar pairs. We minimize the negative of the objective. The eigenvalue problem that names the method is
the dual.

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem. The regularizer is 0 within the
budget (family/regularizers/budget.py), and the loss is minus the smallest distance (family/losses/least.py). The
optimum need not be unique, so there is no radius.

Reference: Y. Ying, P. Li, Distance metric learning with eigenvalue optimization, JMLR 13, 2012.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import dual_array
from cvxml.core.literal import pair_names
from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.core.misreading import Misreading, OtherProblem, Question, exchanged, multiple, other_pairs
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS_OF_ONE_KIND, BY_PAIRS, KINDS, Paired, Pairs, check_budget, paired
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family.geometry.budget import budget, check_units, examine_budget, most
from cvxml.family.geometry.symmetric import quadratic, weighted
from cvxml.family.losses.least import Least
from cvxml.family.regularizers.budget import Budget
from cvxml.family.rows.base import MAX_DUAL, Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.family.unlisted.all_budget import Across, AllSimilar
from cvxml.numbers.span import cosets
from cvxml.solvers.family_method import FamilyMethod

NOT_BY_LUCK = 1e-6  # largest relative gap that identifies a misreading if its optimum need not be unique


def inverse_root(X: FloatArray, pairs: Pairs) -> FloatArray:
    """The coordinates R: a matrix (r, d) with R^T R = X_S^-1. The points R x have the identity as their X_S.

    X_S is the sum of X_ij over similar pairs, and r is its rank. R is X_S^(-1/2) up to a rotation, which does not
    change the problem in M. R is computed in units of the features in which the diagonal of X_S is 1. If X_S is
    singular, R^T R is its pseudo-inverse in these units.
    """
    #: [The problem in the metric A of the features]
    #: max over A psd:  min over dissimilar pairs tau in D of <X_tau, A>;   minimised: its negative
    #:   | \max_{A \succeq 0}\ \min_{\tau \in \mathcal{D}} \langle X_\tau, A \rangle
    #:     \quad \text{(minimised: its negative)} | (2)
    #: <X_S, A> <= 1 | \langle X_{\mathcal{S}}, A \rangle \le 1 | (2)
    #: X_tau = (x_i - x_j)(x_i - x_j)^T of the pair tau = (i, j)
    #:   | X_\tau = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T, \quad \tau = (i, j)
    #: X_S = sum of X_tau over the similar pairs
    #:   | X_{\mathcal{S}} = \sum_{\tau \in \mathcal{S}} X_\tau, \quad \mathcal{S} \text{ the similar pairs}

    X_S = np.sum([np.outer(X[i] - X[j], X[i] - X[j]) for i, j in pairs.similar], axis=0)
    unit = np.sqrt(np.where(np.diag(X_S) > 0, np.diag(X_S), 1.0))  # so that the rank does not depend on units
    values, vectors = np.linalg.eigh(X_S / np.outer(unit, unit))
    keep = values > 1e-13 * values[-1]
    #: R with R^T R = X_S^-1, for example the X_S^-1/2 of the paper
    #:   | R \text{ with } R^T R = X_{\mathcal{S}}^{-1} \text{, for example the }
    #:     X_{\mathcal{S}}^{-1/2} \text{ of the paper}
    #: M and X~_tau, used below:  A = R^T M R and X~_tau = R X_tau R^T
    #:   | A = R^T M R, \quad \tilde{X}_\tau = R X_\tau R^T
    root: FloatArray = (vectors[:, keep] / np.sqrt(values[keep])).T / unit
    return root


def problem(X: FloatArray, pairs: Pairs) -> Any:
    """The problem in M with tr M = 1, as a minimization. M is the metric of the points R x, where R^T R = X_S^-1.

    Variables: "M" (r, r), and "least", the smallest squared distance of a dissimilar pair.
    """
    import cvxpy as cp

    root = inverse_root(X, pairs)
    M = cp.Variable((len(root),) * 2, symmetric=True, name="M")
    least = cp.Variable(name="least")

    #: M psd,  tr M = 1 | M \succeq 0, \quad \operatorname{tr} M = 1
    constraints = [M >> 0, cp.trace(M) == 1]
    for i, j in pairs.dissimilar:
        #: X~_tau = x x^T,  x = R (x_i - x_j) | \tilde{X}_\tau = x x^T, \quad x = R (\mathbf{x}_i - \mathbf{x}_j)
        x = root @ (X[i] - X[j])
        #: <X~_tau, M> >= least for every tau in D
        #:   | \langle \tilde{X}_\tau, M \rangle \ge \mathrm{least} \quad \text{for every } \tau \in \mathcal{D}
        constraints += [x @ M @ x >= least]
    #: min over M, least:  - least | \min_{M,\, \mathrm{least}}\ {-\mathrm{least}}
    return cp.Problem(cp.Minimize(-least), constraints)


def dual(X: FloatArray, pairs: Pairs) -> Any:
    """The dual of the problem. Variable: "q" (t,), one weight for each dissimilar pair."""
    import cvxpy as cp

    root = inverse_root(X, pairs)
    #: q_tau >= 0 | q_\tau \ge 0
    q = cp.Variable(len(pairs.dissimilar), name="q", nonneg=True)
    x = np.array([root @ (X[i] - X[j]) for i, j in pairs.dissimilar])
    X_tau = np.einsum("ta,tb->tab", x, x).reshape(len(x), -1)
    total = cp.reshape(X_tau.T @ q, (len(root),) * 2, order="C")
    #: max over q:  - lambda_max( sum_tau q_tau X~_tau )
    #:   | \max_{q}\ {-\lambda}_{\max} \Bigl( \sum_{\tau \in \mathcal{D}} q_\tau \tilde{X}_\tau \Bigr)
    #: sum_tau q_tau = 1 | \sum_{\tau \in \mathcal{D}} q_\tau = 1
    return cp.Problem(cp.Maximize(-cp.lambda_max(total)), [cp.sum(q) == 1])
    #: [What is proved]
    #: any q >= 0 with sum 1 gives a bound, which holds for every A within the budget
    #:   | \text{any } q \ge 0 \text{ with sum } 1 \text{ gives a bound, which holds for every } A
    #:     \text{ within the budget}


def objective(X: FloatArray, pairs: Pairs, A: FloatArray) -> float:
    """-min over dissimilar pairs of (x_i - x_j)^T A (x_i - x_j)."""
    return -min(_squared(X, A, i, j) for i, j in pairs.dissimilar)


def evaluate(X: FloatArray, pairs: Pairs, A: FloatArray) -> dict[str, Any]:
    """Intermediate values at A (d, d), by name.

    objective. D_similar, D_dissimilar: one squared distance for each pair. spent: the sum of D_similar.
    scaled_objective: the objective of A / spent, NaN if spent is 0. nearest (2,): the dissimilar pair with the smallest
    distance. X_S (d, d).
    """
    D_similar = np.array([_squared(X, A, i, j) for i, j in pairs.similar])
    D_dissimilar = np.array([_squared(X, A, i, j) for i, j in pairs.dissimilar])
    X_S = np.zeros_like(A)
    for i, j in pairs.similar:
        X_S += np.outer(X[i] - X[j], X[i] - X[j])
    value, spent = objective(X, pairs, A), math.fsum(D_similar)
    return {
        "objective": value,
        "spent": spent,
        "scaled_objective": value / spent if spent > 0 else math.nan,
        "nearest": pairs.dissimilar[int(D_dissimilar.argmin())],
        "D_similar": D_similar,
        "D_dissimilar": D_dissimilar,
        "X_S": X_S,
    }


def _squared(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    return max(0.0, float((X[i] - X[j]) @ A @ (X[i] - X[j])))


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data.

    labels (n,): two points have the same label if and only if their difference lies in the span of the differences of
    similar pairs. rank: the dimension of this span. Both are exact (numbers/span.py). The points of a dissimilar pair
    have the same label.
    """

    labels: IntArray
    rank: int


def instance(X: ArrayLike, y: ArrayLike | None, *, pairs: Any = None) -> Instance:
    """Check the inputs. Raises ValueError for bad input, and if the maximum is 0.

    The maximum is 0 if the points of a dissimilar pair are equal. Also raises ValueError if the difference of a
    dissimilar pair is outside the span of the differences of similar pairs.

    X (n, d), y (n,) labels. pairs: similar and dissimilar pairs, by default from the labels.
    """
    p = paired(X, y, pairs)
    check_budget(p, "DML-eig")
    equal = p.equal
    if len(equal):
        raise ValueError(
            f"the points of the dissimilar pair {equal[0].tolist()} are equal: the smallest distance is "
            "0 in every metric; leave such pairs out, or, if the pairs come from labels, one of the two points"
        )
    span = cosets(p.X, p.linked)
    listed = p.pairs.dissimilar if span.labels.any() else p.linked[:0]
    first, second = span.labels[listed].T
    free = first != second
    if free.any():
        so = "the maximum is infinite" if free.all() else "the problem needs X_S^(-1/2), which does not exist"
        raise ValueError(
            f"the dissimilar pair {listed[free.argmax()].tolist()} differs in a direction in which no "
            f"similar pair does, so moving it apart has no cost: {so}. Give more similar pairs, or fewer features "
            "(the first principal components, say)"
        )
    check_units(*map(p.widest, KINDS))
    return Instance(p.X, p.y, p.listed, span.labels, span.rank)


def _of_pairs(given: Instance, dual: Dual) -> Duals:
    """Return the dual variables in `dual`: "q" (t,) for the pairs of points in "q_index" (t, 2).

    Negative numbers count as 0. The dual variables of a repeated pair are added up. Pairs of points of the same class
    are left out. If no pair is left, the result has one dissimilar pair, with the dual variable 0. Raises ValueError
    for a bad "q" or "q_index".
    """
    if not isinstance(dual, Mapping) or "q_index" not in dual:
        raise ValueError(
            "dual must be a mapping with 'q' and 'q_index': for so many pairs, 'q' has one entry for each row of "
            "'q_index'"
        )
    index = np.asarray(dual["q_index"])
    if index.ndim != 2 or index.shape[1:] != (2,) or index.dtype.kind not in "iu":
        raise ValueError(
            f"dual 'q_index' must be integers of shape (t, 2), pairs of points; got {index.dtype}, shape {index.shape}"
        )
    q, n = dual_array(dual, "q", (len(index),)), len(given.X)
    if len(index) and not 0 <= index.min() <= index.max() < n:
        raise ValueError(f"dual 'q_index' must have points 0 to {n - 1}, got {index.min()} to {index.max()}")
    i, j = np.sort(index, axis=1).T
    apart = given.y[i] != given.y[j]
    key, place = np.unique(i[apart] * n + j[apart], return_inverse=True)
    a = np.bincount(place.reshape(-1), np.clip(q[apart], 0.0, MAX_DUAL), minlength=len(key))
    return Duals(a, key) if len(key) else Duals(np.zeros(1), _one(given))


def _one(given: Instance) -> IntArray:
    """The key (1,) of one dissimilar pair (0, j): j is the first point of another class than point 0.

    The key of a pair (i, j) of n points is i n + j, so it is j here.
    """
    j = int(np.argmax(given.y != given.y[0]))
    return np.array([j])


def _mean_budget(question: Question) -> float:
    return 1 / len(question.checked(instance).similar)


def _unit_minimum(question: Question) -> float:
    """The factor that scales the user's metric A to the budget, if A may solve the reverse problem; else 0.

    The reverse problem minimizes the sum of D_A over similar pairs such that the smallest D_A of a dissimilar pair is
    1. A may solve it if this smallest D_A is 1 up to 1e-3. The factor is 1 / (sum of D_A over similar pairs). A factor
    of 0 means that the misreading does not apply.
    """
    p, A = question.checked(instance), question.metric
    least = float(quadratic(p.dissimilar, A).min())
    return 1 / float(quadratic(p.similar, A).sum()) if abs(least - 1) <= 1e-3 else 0.0


def _whitened(question: Question) -> OtherProblem | None:
    """The user's problem for another metric, X_S^(-1/2) Q X_S^(-1/2), where Q is the user's metric.

    It is for a program that returned the metric in the whitened coordinates of the paper. None if X_S is singular, or
    if Q has another size than X_S.
    """
    p = question.checked(instance)
    if np.shape(question.metric) != (p.X.shape[1],) * 2:
        return None
    values, vectors = np.linalg.eigh(weighted(p.similar, np.ones(len(p.similar))))
    if values[0] <= 1e-12 * values[-1]:
        return None
    root = (vectors / np.sqrt(values)) @ vectors.T
    A = root @ question.metric @ root
    return OtherProblem(question.X, question.y, question.params, metric=(A + A.T) / 2)


def _half(kind: str) -> Callable[[Pairs], Pairs | None]:
    """Return a function that keeps the first half of the pairs of one kind. A loop that stops too early does the same.

    kind: "similar" or "dissimilar". The function returns None if there are fewer than two of them.
    """

    def change(pairs: Pairs) -> Pairs | None:
        listed = getattr(pairs, kind)
        return None if len(listed) < 2 else pairs._replace(**{kind: listed[: len(listed) // 2]})

    return change


def _sum(question: Question) -> float:
    """The relative gap of the user's metric in the problem that maximizes the sum of D_A over dissimilar pairs.

    inf if the metric is infeasible, or if the gap is above `NOT_BY_LUCK` (1e-6). The optimum of that problem need not
    be unique, so a larger gap may be due to chance.
    """
    p = question.checked(instance)
    judged, feasibility = examine_budget(question.metric, p.similar)
    if not feasibility.feasible:
        return math.inf
    largest = most(budget(p.similar, p.rank), p.dissimilar, np.ones(len(p.dissimilar))).value
    left = max(0.0, 1 - float(judged.distances(p.dissimilar)[0].sum()) / largest)
    return left if left <= NOT_BY_LUCK else math.inf


# Mistakes in implementations. Two are not listed: the soft minimum of the paper's own algorithm, because its smoothing
# parameter is unknown, and plain distances in the budget.
MISREADINGS: dict[str, Misreading] = {
    "mean_budget": Misreading(
        "the mean over similar pairs in the budget where the method has the sum", multiple(_mean_budget)
    ),
    "reverse": Misreading(
        "a multiple of the metric with the smallest sum over similar pairs and every dissimilar distance at least 1",
        multiple(_unit_minimum),
    ),
    "whitened": Misreading(
        "the metric M of the whitened features, where the method returns A = X_S^(-1/2) M X_S^(-1/2)",
        _whitened,
    ),
    "exchanged": Misreading("similar and dissimilar pairs exchanged", other_pairs(exchanged)),
    "half_similar": Misreading("only the first half of the similar pairs", other_pairs(_half("similar"))),
    "half_dissimilar": Misreading(
        "only the first half of the dissimilar pairs", other_pairs(_half("dissimilar"))
    ),
    "sum": Misreading("the sum over dissimilar pairs where the method has the minimum", left=_sum),
    **PAIRS,
}


class DMLEig(FamilyMethod[Instance]):
    """DML-eig: maximize the smallest squared distance of a dissimilar pair."""

    id = "dml_eig"
    TITLE = "DML-eig: metric learning with eigenvalue optimization (Ying, Li 2012)"
    PARAMETERS: ClassVar = {
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.dml_eig", ("inverse_root", "problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"q": "t"}
    FOLLOWS = "linear"
    MOVES = True
    BAD: ClassVar = BAD_PAIRS_OF_ONE_KIND
    HAND: ClassVar = (
        # X_S = 1 + 4, so the metric is 1/5. The smallest squared distance of a dissimilar pair is 4/5.
        Hand([[0.0], [1.0], [3.0], [5.0]], [0, 0, 1, 1], {}, [[0.2]], -0.8),
        # X_S = I, and dissimilar pairs of squared lengths 1 and 4 along the axes. The optimum diag(4, 1) / 5 gives both
        # the squared distance 4/5. Entries off the diagonal are free.
        Hand(
            [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [-1.0, 0.0]],
            None,
            {"pairs": {"similar": [[0, 1], [0, 2]], "dissimilar": [[4, 0], [3, 0]]}},
            None,
            -0.8,
        ),
    )
    ESTIMATOR: ClassVar = Estimator("DMLEig", scale="the smallest squared distance of a dissimilar pair")
    EXAMPLES: ClassVar = (
        drawn(7, 20, 3),
        drawn(7, 14, 5, degenerate=True),
        drawn(
            8, 14, 2, 2, pairs={"similar": [[0, 2], [4, 1], [5, 3]], "dissimilar": [[0, 1], [2, 3], [9, 4]]}
        ),
        sample("iris", 21),
        verified("iris", 18),
        verified("balance", 24, raw=True),
        timed("iris"),
        timed("wine"),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        """M scaled so that the sum of D_M over similar pairs is 1; M itself if this sum is 0."""
        spent = sum(_squared(given.X, M, i, j) for i, j in given.pairs.similar)
        return M / spent if spent > 0 else M

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.pairs)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["M psd", "tr M = 1", *pair_names("dissimilar", given.pairs.dissimilar)]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.pairs)

    def literal_rows(self, given: Instance) -> int:
        return len(given.pairs.dissimilar)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Solve `problem` and `dual` with the back end `solver` of cvxpy; return the metric A and the dual variables.

        The dual variables are "q" (t,), one for each dissimilar pair. The metric of the features is A = R^T M R, for
        the solution M of `problem` and the coordinates R of `inverse_root`.
        """
        root = inverse_root(given.X, given.pairs)
        M = project_psd(solve_problem(self.problem(given), solver)["M"])
        q = solve_problem(self.dual(given), solver)["q"]
        A = root.T @ M @ root
        return Found((A + A.T) / 2, {"q": q}, Status.CONVERGED, 0)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given.X, given.pairs, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given.X, given.pairs, M)

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        if given.many:
            everyone = AllSimilar(given.X, given.y, given.rank)
            return Family(everyone, (Term(Least(), Across(everyone.classes)),))
        regularizer = Budget(given.X, given.pairs.similar, given.labels, given.rank)
        return Family(regularizer, (Term(Least(), PairRows(given.pairs.dissimilar)),))

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """The dual variables from "q", one per dissimilar pair.

        With pairs by labels and more than 500 points, the pairs are not listed. Then "q" (t,) has one entry for each
        pair in "q_index" (t, 2).
        """
        if given.many:
            return (_of_pairs(given, dual),)
        q = dual_array(dual, "q", (len(given.pairs.dissimilar),))
        return (Duals(q, np.arange(len(q))),)

    def named(self, given: Instance, duals: Duals) -> Dual:
        """Return the dual variables by name: "q", one per dissimilar pair, 0 if `duals` does not list it.

        With pairs by labels and more than 500 points, the pairs are not listed. Then "q" (t,) has only the positive
        dual variables, and "q_index" (t, 2) their pairs.
        """
        if given.many:
            has = duals.a > 0
            return {"q": duals.a[has], "q_index": np.stack(np.divmod(duals.key[has], len(given.X)), axis=1)}
        q = np.zeros(len(given.pairs.dissimilar))
        q[duals.key] = duals.a
        return {"q": q}

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"pairs": given.stored}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        sizes = np.bincount(given.y)
        count = int(len(given.y) ** 2 - np.sum(sizes**2)) // 2 if given.many else len(given.pairs.dissimilar)
        held = np.count_nonzero(certificate.dual["q"] > 1e-6)
        return (f"{count} dissimilar pairs, {held} with a dual variable above 1e-6",)


METHOD = DMLEig()
