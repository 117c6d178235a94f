"""MMC, the first metric from pairs (Xing, Ng, Jordan, Russell 2002): dissimilar pairs move apart within a budget.

Problem, equations (6) to (8) as other papers quote them
    max_{A psd}  sum over dissimilar pairs of sqrt(D_A)     such that  sum over similar pairs of D_A  <=  1.
D_A of a pair i, j is <A, X_ij> = (x_i - x_j)^T A (x_i - x_j). The sum over similar pairs is <A, S> with S = sum X_ij.
The budget is the constraint <A, S> <= 1.
In the method "mmc:diagonal" A is diagonal. The problem is stated as a minimum, with the sign changed. Every line of
`problem` is literal otherwise. The paper derives (6) to (8) from (3) to (5): minimize the sum of D over similar pairs,
subject to a sum of sqrt(D) over dissimilar pairs of at least 1. The solution of (3) to (5) is a multiple of the
solution of (6) to (8).

Unbounded data. If a dissimilar pair differs in a direction where no similar pair differs, the maximum is infinite. Such
data raise a ValueError. If A is diagonal, the directions are the features.

Dual and bound: family/theorem, with the budget and -sum sqrt(D) on the dissimilar pairs with different points. A dual
has "c" (q,), a number > 0 for each dissimilar pair. The bound follows from sqrt(D) <= 1/2 (1/c + c D). The dual
variables of the family are a = c / 2. Radius: methods/mmc/budget_radius.py.

Misreadings are problems that implementations solve in place of MMC. A `Question` holds a refuted metric, with the data
and parameters that it was judged with; p is the checked data.

Reference: E. Xing, A. Ng, M. Jordan, S. Russell, Distance metric learning with application to clustering with
side-information, NIPS 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import dual_array
from cvxml.core.metric import FloatArray, IntArray, examine, project_psd
from cvxml.core.misreading import LOOSE, Misreading, OtherProblem, Question, exchanged, multiple, other_pairs
from cvxml.core.moved import METRIC
from cvxml.core.other_lists import PAIRS
from cvxml.core.pairs import BAD_PAIRS_OF_ONE_KIND, BY_PAIRS, KINDS, Paired, Pairs, check_budget, paired
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family.geometry.budget import check_units
from cvxml.family.geometry.symmetric import quadratic
from cvxml.family.losses.root import Root
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.diagonal import DiagonalBudget
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.family.unlisted.all_pairs import metric_of, once
from cvxml.methods.mmc import budget_path
from cvxml.methods.mmc.all_roots import AllRoots
from cvxml.methods.mmc.budget_radius import radius
from cvxml.numbers.rounding import seen
from cvxml.numbers.span import cosets
from cvxml.solvers.family_method import FamilyMethod

SUGGESTION = "give more similar pairs, or fewer features (the first principal components, say)"
UNIQUE = 1e-3  # an eigenvalue is simple if the second one is smaller by this share
FAINT = 1e-16  # least squared distance for a dual variable, relative to the largest one
MOST_VERTICES = 20_000  # at most so many metrics are tried for "plain_budget"
NOT_BY_LUCK = 1e-6  # largest gap of a misreading without a unique optimum; tolerance of constraints


def problem(X: FloatArray, pairs: Pairs, diagonal: bool, budget: float = 1.0) -> Any:
    """The problem (6)-(8) with one term for each pair, as a minimization: of -sum sqrt(D), in cvxpy.

    Variable: "A" (d, d). X (n, d): points. diagonal: A is diagonal. budget: the right side of (7), which is 1 in
    the paper. The solution is `budget` times the solution for 1; a larger budget can suit a back end better.
    """
    import cvxpy as cp

    d = X.shape[1]
    A = cp.Variable((d, d), symmetric=True, name="A")
    #: S: the similar pairs | \mathcal{S} \text{: the similar pairs}
    S = np.array([X[i] - X[j] for i, j in pairs.similar])
    #: D: the dissimilar pairs | \mathcal{D} \text{: the dissimilar pairs}
    D = np.array([X[i] - X[j] for i, j in pairs.dissimilar])
    #: ||x_i - x_j||_A = sqrt( (x_i - x_j)^T A (x_i - x_j) )
    #:   | \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A
    #:     = \sqrt{(\mathbf{x}_i - \mathbf{x}_j)^T A (\mathbf{x}_i - \mathbf{x}_j)}
    squared_S = cp.sum(cp.multiply(S @ A, S), axis=1)
    squared_D = cp.sum(cp.multiply(D @ A, D), axis=1)

    #: sum_{(i, j) in S} ||x_i - x_j||_A^2 <= 1, the budget
    #:   | \sum_{(\mathbf{x}_i, \mathbf{x}_j) \in \mathcal{S}} \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A^2
    #:     \le 1 \text{, the budget} | (7)
    constraints = [cp.sum(squared_S) <= budget]
    #: if not diagonal: A psd | A \succeq 0 | (8)
    #: if diagonal: A psd and diagonal | A \succeq 0 \text{ and diagonal} | (8)
    constraints += [cp.diag(cp.diag(A)) == A, cp.diag(A) >= 0] if diagonal else [A >> 0]
    #: min over A:  - sum_{(i, j) in D} ||x_i - x_j||_A
    #:   | \min_{A}\ {-} \sum_{(\mathbf{x}_i, \mathbf{x}_j) \in \mathcal{D}}
    #:     \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A | (6)
    return cp.Problem(cp.Minimize(-cp.sum(cp.sqrt(squared_D))), constraints)


def dual(X: FloatArray, pairs: Pairs, diagonal: bool, budget: float = 1.0) -> Any:
    """The dual of the problem as a minimization: maximize -(sum_t 1 / c_t + budget mu) / 2 over c and mu.

    Its maximum is the minimum of -sum sqrt(D). Variables: "c" (q,), one for each dissimilar pair with different points,
    and the number "mu" for the budget. A pair of equal points has distance 0 in every metric. budget: the right side of
    (7). The optimal c for a budget b is the optimal c for the budget 1, divided by sqrt(b).
    """
    import cvxpy as cp

    d = X.shape[1]
    S = np.array([X[i] - X[j] for i, j in pairs.similar])
    #: X_ij = (x_i - x_j)(x_i - x_j)^T;  t: a pair of D whose points differ
    #:   | X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T,
    #:     \quad t \text{: a pair of } \mathcal{D} \text{ whose points differ}
    D = np.array([X[i] - X[j] for i, j in pairs.dissimilar if (X[i] != X[j]).any()])
    #: c_t > 0, t in D | c_t > 0 \quad (t \in \mathcal{D})
    c = cp.Variable(len(D), name="c")
    mu = cp.Variable(name="mu")
    if diagonal:
        #: if diagonal: diagonal of ( mu sum_{(i, j) in S} X_ij - sum_t c_t X_t ) >= 0
        #:   | \operatorname{diag} \Bigl( \mu \sum_{\mathcal{S}} X_{ij} - \sum_{t \in \mathcal{D}} c_t X_t \Bigr) \ge 0
        constraints = [mu * np.sum(S**2, axis=0) - (D**2).T @ c >= 0]
    else:
        X_t = np.array([np.outer(x, x).ravel() for x in D])
        #: if not diagonal: mu sum_{(i, j) in S} X_ij - sum_t c_t X_t psd
        #:   | \mu \sum_{\mathcal{S}} X_{ij} - \sum_{t \in \mathcal{D}} c_t X_t \succeq 0
        constraints = [mu * (S.T @ S) - cp.reshape(X_t.T @ c, (d, d), order="C") >> 0]
    #: max over c, mu:  - 1/2 ( sum_t 1/c_t + mu ) for a budget of 1
    #:   | \max_{c,\, \mu}\ {-} \frac{1}{2} \Bigl( \sum_{t \in \mathcal{D}} \frac{1}{c_t} + \mu \Bigr)
    #:     \quad \text{for a budget of } 1
    return cp.Problem(cp.Maximize(-(cp.sum(cp.inv_pos(c)) + budget * mu) / 2), constraints)
    #: [What is proved]
    #: any c > 0 gives a bound, with the least mu that the constraint allows:
    #:   | \text{any } c > 0 \text{ gives a bound, with the least } \mu \text{ that the constraint allows:}
    #: if not diagonal: the largest eigenvalue of sum_t c_t X_t relative to sum_{(i, j) in S} X_ij
    #:   | \text{the largest eigenvalue of } \textstyle\sum_t c_t X_t \text{ relative to }
    #:     \textstyle\sum_{\mathcal{S}} X_{ij}
    #: if diagonal: the largest diagonal entry of sum_t c_t X_t relative to sum_{(i, j) in S} X_ij
    #:   | \text{the largest diagonal entry of } \textstyle\sum_t c_t X_t \text{ relative to }
    #:     \textstyle\sum_{\mathcal{S}} X_{ij}
    #: the best multiple of any c gives - sqrt( mu sum_t 1/c_t )
    #:   | \text{the best multiple of any } c \text{ gives } - \sqrt{\mu \textstyle\sum_t 1 / c_t}
    #: c_t = 1 / ||x_i - x_j||_A at the optimum
    #:   | c_t = 1 / \lVert \mathbf{x}_i - \mathbf{x}_j \rVert_A \text{ at the optimum}
    #: if not diagonal: no maximum if a dissimilar pair differs in a direction in which no similar one does
    #:   | \text{no maximum if a dissimilar pair differs in a direction in which no similar one does}
    #: if diagonal: no maximum if a dissimilar pair differs in a feature in which no similar one does
    #:   | \text{no maximum if a dissimilar pair differs in a feature in which no similar one does}


def objective(X: FloatArray, pairs: Pairs, A: FloatArray) -> float:
    """The sum of -||x_i - x_j||_A over the dissimilar pairs, at A (d, d)."""
    return -math.fsum(math.sqrt(_squared(X, A, i, j)) for i, j in pairs.dissimilar)


def _squared(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """The squared distance (x_i - x_j)^T A (x_i - x_j), or 0 if rounding makes it negative."""
    return max(0.0, float((X[i] - X[j]) @ A @ (X[i] - X[j])))


def evaluate(X: FloatArray, pairs: Pairs, A: FloatArray) -> dict[str, Any]:
    """Return the intermediates at A (d, d), by name.

    objective. D_similar, D_dissimilar: squared distances of the pairs. spent: the sum of D_similar, at most 1 if A is
    feasible.

    scaled_objective: the objective at A / spent, the best multiple of A within the budget. distances: of the dissimilar
    pairs, not squared. c: 1 / distances, inf at 0. S (d, d): the sum of X_ij over similar pairs. gradient (d, d): -1/2
    sum_t c_t X_t over the dissimilar pairs at a positive distance.
    """
    D_similar = np.array([_squared(X, A, i, j) for i, j in pairs.similar])
    D_dissimilar = np.array([_squared(X, A, i, j) for i, j in pairs.dissimilar])
    S = np.zeros_like(A)
    for i, j in pairs.similar:
        S += np.outer(X[i] - X[j], X[i] - X[j])
    gradient = np.zeros_like(A)
    for (i, j), D_ij in zip(pairs.dissimilar, D_dissimilar, strict=True):
        if D_ij > 0:
            gradient -= np.outer(X[i] - X[j], X[i] - X[j]) / (2 * math.sqrt(D_ij))
    value, spent = objective(X, pairs, A), math.fsum(D_similar)
    with np.errstate(divide="ignore"):
        c = 1 / np.sqrt(D_dissimilar)
    return {
        "objective": value,
        "spent": spent,
        "scaled_objective": value / math.sqrt(spent) if spent > 0 else 0.0,
        "D_similar": D_similar,
        "D_dissimilar": D_dissimilar,
        "distances": np.sqrt(D_dissimilar),
        "c": c,
        "S": S,
        "gradient": gradient,
    }


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data: points, similar pairs and dissimilar pairs.

    diagonal: A is diagonal. rank: the exact rank of the differences of the similar pairs; their span contains the
    differences of the dissimilar pairs. If A is diagonal, rank is 0 and not used. Then each dissimilar pair differs
    only in features in which some similar pair differs.
    """

    diagonal: bool
    rank: int

    @cached_property
    def differ(self) -> IntArray:
        """Indices of the dissimilar pairs with different points. The other pairs have distance 0 in every metric."""
        return np.flatnonzero(self.dissimilar.any(axis=1))


def instance(X: ArrayLike, y: ArrayLike | None, *, diagonal: bool = False, pairs: Any = None) -> Instance:
    """Check all inputs.

    X (n, d). y (n,): labels, unless `pairs` are given, in the form {"similar": ..., "dissimilar": ...}. diagonal: A is
    diagonal.
    Raises ValueError for bad input, if the maximum is infinite, and if all dissimilar pairs consist of equal points.
    """
    p = paired(X, y, pairs)
    check_budget(p, "MMC")
    if not p.widest("dissimilar").any():
        raise ValueError(
            f"the points of every dissimilar pair {p.source} are equal, so no metric can separate them; give "
            "dissimilar pairs of different points"
        )
    rank = 0
    if diagonal:
        _check_features(p)
    else:
        rank = _check_bounded(p)
    check_units(*map(p.widest, KINDS))
    return Instance(p.X, p.y, p.listed, diagonal, rank)


def _check_features(p: Paired) -> None:
    """Raise ValueError if a dissimilar pair differs in a feature where no similar pair differs.

    The test is exact, because it only compares floats for equality.
    """
    dissimilar = p.dissimilar
    free = np.flatnonzero(dissimilar.any(axis=0) & ~p.similar.any(axis=0))
    if len(free):
        feature = int(free[0])
        pair = p.pairs.dissimilar[int(np.abs(dissimilar[:, feature]).argmax())].tolist()
        raise ValueError(
            f"the maximum is infinite: the dissimilar pair {pair} differs in feature {feature}, in which no similar "
            f"pair does, so its weight has no cost; {SUGGESTION}"
        )


def _check_bounded(p: Paired) -> int:
    """Return the rank of the similar differences. Raises ValueError if a dissimilar pair differs outside their span.

    The test is exact, in rational arithmetic.
    """
    span = cosets(p.X, p.linked)
    if not span.labels.any():
        return span.rank
    first, second = span.labels[p.pairs.dissimilar].T
    free = np.flatnonzero(first != second)
    if len(free):
        pair = p.pairs.dissimilar[int(free[0])].tolist()
        raise ValueError(
            f"the maximum is infinite: the dissimilar pair {pair} differs in a direction in which no similar pair "
            f"does, so moving it apart has no cost; {SUGGESTION}"
        )
    return span.rank


class MMC(FamilyMethod[Instance]):
    """MMC: dissimilar pairs move apart within a budget for similar pairs. diagonal: True if A must be diagonal."""

    PARAMETERS: ClassVar = {
        **BY_PAIRS,
    }
    PATH = staticmethod(budget_path.search)
    EXPONENTIAL = True  # The problem has no exponential cone, but SCS is slow on square roots too.
    DUAL: ClassVar = {"c": "t"}
    BAD: ClassVar = BAD_PAIRS_OF_ONE_KIND
    HAND: ClassVar = (
        # On a line the optimum is 1 / (sum of squared similar differences). Differences: similar 1, dissimilar 3 and 2.
        Hand([[0.0], [1.0], [3.0]], [0, 0, 1], {}, [[1.0]], -5.0),
        # Differences: similar 2 and 4, dissimilar 1, 5, 1 and 3.
        Hand([[0.0], [2.0], [1.0], [5.0]], [0, 0, 1, 1], {}, [[0.05]], -10 / math.sqrt(20)),
        # Differences: similar 1 and 3, dissimilar 0 and 3.
        Hand(
            [[0.0], [1.0], [0.0], [3.0]],
            None,
            {"pairs": {"similar": [[0, 1], [2, 3]], "dissimilar": [[0, 2], [0, 3]]}},
            [[0.1]],
            -3 / math.sqrt(10),
        ),
        # S = I, and dissimilar pairs of length 3 and 4 along the axes. The optimal diagonal is (9, 16) / 25; the
        # off-diagonal entry is not unique.
        Hand(
            [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 0.0], [0.0, 4.0]],
            None,
            {"pairs": {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}},
            None,
            -5.0,
        ),
    )
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator(
        "MMC",
        scale="the sum of the distances of the dissimilar pairs",
        says={"diagonal": "True: A is diagonal, a weight for each feature"},
    )
    EXAMPLES: ClassVar = (
        drawn(3, 14, 3),
        drawn(7, 14, 5, degenerate=True),
        drawn(
            8, 14, 2, 2, pairs={"similar": [[0, 2], [4, 1], [5, 3]], "dissimilar": [[0, 1], [2, 3], [9, 4]]}
        ),
        sample("iris", 24),
        verified("iris", 30),
        verified("rings", 30, raw=True),
        timed("iris"),
        timed("wine"),
    )

    def __init__(self, diagonal: bool):
        self.diagonal = diagonal
        self.FOLLOWS = "scaling" if diagonal else "linear"
        self.MOVES = not diagonal
        self.id = "mmc:diagonal" if diagonal else "mmc"
        only = ", A diagonal" if diagonal else ""
        self.TITLE = f"MMC: distance metric learning with side-information{only} (Xing et al. 2002)"
        self.STATEMENT = Statement("cvxml.methods.mmc", ("problem", "dual"), {"diagonal": diagonal})

    @property
    def MISREADINGS(self) -> dict[str, Misreading]:  # type: ignore[override]
        return misreadings(self)

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        """The multiple of M that spends the whole budget; if A must be diagonal, the multiple of the diagonal of M.

        A matrix that uses no budget is not scaled.
        """
        M = np.diag(np.diag(M)) if self.diagonal else M
        spent = float(np.sum(quadratic(given.similar, M)))
        return M / spent if spent > 0 else M

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, diagonal=self.diagonal, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.pairs, given.diagonal)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["(7) budget", *(["(8) A diagonal", "(8) diag A >= 0"] if given.diagonal else ["(8) A psd"])]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.pairs, given.diagonal)

    def literal_rows(self, given: Instance) -> int:
        return 0 if given.diagonal else len(given.pairs.dissimilar)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Solve `problem` and `dual` of the module with the cvxpy back end `solver`.

        The budget in them is the number of similar pairs, and the result is scaled back to the budget 1. Then the
        squared distances are about 1, which suits the back ends.
        """
        budget = float(len(given.pairs.similar))
        stated = given.X, given.pairs, given.diagonal, budget
        A = project_psd(solve_problem(problem(*stated), solver, self.EXPONENTIAL)["A"])
        c = np.ones(len(given.pairs.dissimilar))
        c[given.differ] = solve_problem(dual(*stated), solver, self.EXPONENTIAL)["c"]
        return Found(A / budget, {"c": c}, Status.CONVERGED, 0)

    def objective(self, given: Instance, M: FloatArray) -> float:
        """-sum sqrt(D) over the dissimilar pairs at M (d, d), from the definition. The budget is not checked."""
        return objective(given.X, given.pairs, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given.X, given.pairs, M)

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        """The problem as a regularizer (the budget) and a loss: -sum sqrt(D) over dissimilar pairs of different points.

        number: not used.
        """
        listed, similar = given.pairs.dissimilar[given.differ], given.pairs.similar
        anywhere = np.zeros(len(given.X), dtype=np.intp)  # all rows are in the span (`instance`)
        within = (
            DiagonalBudget(given.X, similar)
            if given.diagonal
            else Budget(given.X, similar, anywhere, given.rank)
        )
        E = given.X[listed[:, 0]] - given.X[listed[:, 1]]
        return Family(within, (Term(Root(), PairRows(listed)),), radius=partial(radius, E, within))

    def everyone(self, given: Instance) -> AllRoots | None:
        return once(given, _everyone)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables a = c / 2, from the entry "c" (q,) or "metric" of `dual`.

        "c" has a number for each dissimilar pair. A "metric" (d, d) stands for c = 1 / distance in this metric. Very
        small distances are replaced by a small share of the largest one. Pairs of equal points have no dual variable.
        Raises ValueError if "c" has another shape or an entry that is not finite.
        """
        if isinstance(dual, Mapping) and METRIC in dual:
            D = seen(given.X, metric_of(dual, given.X.shape[1])).of(given.dissimilar).D
            dual = {"c": 1 / np.sqrt(np.maximum(D, FAINT * float(D.max()) or 1.0))}
        c = dual_array(dual, "c", (len(given.pairs.dissimilar),))
        if not np.isfinite(c).all():
            raise ValueError("dual 'c' holds NaN or infinity; every entry must be finite")
        a = c[given.differ] / 2
        return (Duals(a, np.arange(len(a))),)

    def named(self, given: Instance, duals: Duals) -> Dual:
        """The dual: "c" (q,), a number for each dissimilar pair. It is 1 for equal points, where any c > 0 is valid."""
        c = np.ones(len(given.pairs.dissimilar))
        c[given.differ[duals.key]] = 2 * duals.a
        return {"c": c}

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"pairs": given.stored}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        equal = len(given.equal)
        if not equal:
            return ()
        return (f"{equal} dissimilar pairs consist of equal points: their distance is 0 in every metric",)


def _everyone(given: Instance) -> AllRoots | None:
    """The certificate and the solver without a list of pairs, if there are too many pairs to list; else None.

    Also None if A must be diagonal, or if rounding prevents a bound (`AllRoots.undecided`).
    """
    if given.diagonal or not given.many:
        return None
    everyone = AllRoots(given.X, given.y, given.rank)
    return None if everyone.undecided else everyone


def misreadings(method: MMC) -> dict[str, Misreading]:
    """Return the problems that implementations of MMC solve by mistake, by name, for a full or a diagonal metric.

    Some solutions are multiples of the solution of MMC: the metric is scaled back and then judged on MMC. Some problems
    are MMC with other pairs of points in the budget or in the objective: they are solved and certified like MMC.
    Two problems have the same budget and another objective. Their bounds use mu, the largest eigenvalue of
    C(c) = sum_t c_t X_t relative to S, for q dissimilar pairs t with X_t = X_ij:
        squared   max sum_t D_t      <=  mu for c = 1 (Fisher's discriminant); an optimum has rank one
        log       max sum_t log D_t  <=  q log(mu / q) - sum_t log c_t  for any c > 0
    "plain_budget" is not convex. Its optimum is among finitely many metrics; all are tried if they are few.
    """

    def given(question: Question) -> Instance:
        return question.checked(method.instance)

    def times(
        factor: Callable[[Instance, FloatArray], float | None],
    ) -> Callable[[Question], OtherProblem | None]:
        return multiple(lambda question: factor(given(question), question.metric))

    def left(share: Callable[[MMC, Question, Instance], float]) -> Callable[[Question], float]:
        return lambda question: share(method, question, given(question))

    def other(question: Question) -> OtherProblem:
        name = "mmc" if method.diagonal else "mmc:diagonal"
        return OtherProblem(question.X, question.y, dict(question.params), method=name)

    crossed = (
        "a full A where the method requires a diagonal A"
        if method.diagonal
        else "a diagonal A where the method allows any psd matrix"
    )
    return {
        "squared": Misreading(
            "sum D over dissimilar pairs (squared distances) where the paper has sum sqrt(D)",
            left=left(_squares),
        ),
        "log": Misreading(
            "sum log D over dissimilar pairs (the product of the distances) where the paper has sum sqrt(D)",
            left=left(_logs),
        ),
        "plain_budget": Misreading(
            "the least sum sqrt(D) over similar pairs with sum D = 1 over dissimilar pairs (a program's "
            "documentation), where the paper has the squares the other way round",
            left=left(_plain_budget),
        ),
        "exchanged": Misreading(
            "the roles of similar and dissimilar pairs exchanged", other_pairs(exchanged)
        ),
        "all_pairs": Misreading(
            "a sum of distances over all pairs where the paper has the dissimilar ones", left=left(_all_pairs)
        ),
        "trace": Misreading(
            "the budget trace A <= 1 where the paper has the sum over similar pairs", left=left(_trace)
        ),
        "half": Misreading(
            "a budget of 1/2: each similar pair counted twice, or sum_similar D - log sum_dissimilar sqrt(D) "
            "minimised, the paper's objective for a diagonal A",
            times(lambda p, A: 2.0),
        ),
        "mean": Misreading(
            "a mean over the similar pairs where the paper has their sum",
            times(lambda p, A: 1 / len(p.similar)),
        ),
        "hundredth": Misreading(
            "the budget sum_similar |x_i - x_j|^2 / 100, a hundredth of that of the identity, where the paper has 1",
            times(partial(_of_the_identity, share=1e-2)),
        ),
        "thousandth": Misreading(
            "the budget sum_similar |x_i - x_j|^2 / 1000 (the authors' program, which starts from 0.1 times the "
            "identity) where the paper has 1",
            times(partial(_of_the_identity, share=1e-3)),
        ),
        "reverse": Misreading(
            "equations (3) to (5), the least sum over similar pairs with a sum of distances of at least 1: the "
            "same metric up to a factor",
            times(_of_the_reverse),
        ),
        "other": Misreading(crossed, other),
        **PAIRS,
    }


def _of_the_identity(p: Instance, _: FloatArray, share: float) -> float:
    """Return 1/b, the factor that turns a solution with the budget b into a solution with the budget 1.

    b is `share` times the sum of |x_i - x_j|^2 over the similar pairs. The identity matrix uses this sum as its budget.
    The second argument is not used.
    """
    return 1 / (share * float(np.sum(p.similar**2)))


def _of_the_reverse(p: Instance, A: FloatArray) -> float | None:
    distances = float(np.sum(np.sqrt(np.maximum(quadratic(p.dissimilar, A), 0.0))))
    return 1 / float(np.sum(quadratic(p.similar, A))) if abs(distances - 1) <= LOOSE else None


def _all_pairs(method: MMC, question: Question, p: Instance) -> float:
    listed = np.concatenate([p.pairs.dissimilar, p.pairs.similar])
    return method.left(replace(p, listed=Pairs(p.pairs.similar, listed)), question)


def _trace(method: MMC, question: Question, p: Instance) -> float:
    """Return the relative gap of the refuted metric in the problem with the budget trace A <= 1.

    The problem is MMC with other similar pairs: each unit vector with the vector 0, because trace A is the sum of D
    over these pairs. The vectors are added to X.
    """
    n, d = p.X.shape
    similar = np.array([(n + k, n + d) for k in range(d)], dtype=np.intp)
    X = np.vstack([p.X, np.eye(d), np.zeros((1, d))])
    return method.left(replace(p, X=X, listed=Pairs(similar, p.pairs.dissimilar), rank=d), question)


def _mu(method: MMC, p: Instance, c: FloatArray) -> float:
    """Return an upper bound of the largest eigenvalue of C(c) = sum_t c_t X_t relative to S, inf if it is not proved.

    c (q,): a weight for each dissimilar pair t. If A is diagonal, the quotients C(c)_kk / S_kk of the diagonal entries
    replace the eigenvalues.
    """
    return -method.member(p).regularizer.bound(Weights(p.pairs.dissimilar, c)).value


def _within(p: Instance, A: FloatArray) -> float | None:
    """Return <S, A>, the share of the budget that A uses; None if A is infeasible or uses no budget."""
    spent = float(np.sum(quadratic(p.similar, A)))
    beyond = float(np.abs(A - np.diag(np.diag(A))).max()) if p.diagonal else 0.0
    feasible = examine(A)[1].feasible and beyond <= NOT_BY_LUCK * np.abs(A).max()
    return spent if feasible and 0 < spent <= 1 + NOT_BY_LUCK else None


def _squares(method: MMC, question: Question, p: Instance) -> float:
    """Return the relative gap of the refuted metric in: max sum D over dissimilar pairs, with the budget of MMC.

    inf if the metric is not feasible or uses no budget. Also inf if the gap is above `NOT_BY_LUCK` and the optimum is
    not unique, because then a metric may be near an optimum by chance.
    """
    spent = _within(p, question.metric)
    if spent is None:
        return math.inf
    mu = _mu(method, p, np.ones(len(p.dissimilar)))
    share = 1 - float(np.sum(quadratic(p.dissimilar, question.metric))) / max(1.0, spent) / mu
    # If two directions share the largest eigenvalue, the optimum is not unique, and a metric may be near an optimum by
    # chance. Then the gap must be at most `NOT_BY_LUCK`.
    return share if share <= NOT_BY_LUCK or _simple(p, mu) else math.inf


def _plain_budget(method: MMC, question: Question, p: Instance) -> float:
    """Return the relative gap of the refuted metric in: min sum sqrt(D) over similar pairs, with another budget.

    The budget is: sum of D over dissimilar pairs = 1. The metric is first scaled so that it meets this budget. The
    objective is concave, so an optimum has rank one, v v^T. Let e run over the similar differences, and let C be the
    sum of X_ij over dissimilar pairs. Up to its length, v maximizes v^T C v over the polytope sum |v^T e| <= 1. The
    maximum is at a vertex of this polytope, where d - 1 independent e are orthogonal to v. If the metric must be
    diagonal, v has a single nonzero entry at a vertex. All vertices are tried.

    Returns inf if there are more than `MOST_VERTICES`, if the e do not span the space, or if the metric is not
    feasible.
    """
    E, C, d = p.similar[p.similar.any(axis=1)], p.dissimilar.T @ p.dissimilar, p.X.shape[1]
    if p.diagonal or d == 1:
        vertices = np.eye(d)[E.any(axis=0)]
    elif p.rank == d and math.comb(len(E), d - 1) <= MOST_VERTICES:
        orthogonal = np.array(list(combinations(range(len(E)), d - 1)))
        vertices = np.linalg.svd(E[orthogonal])[2][:, -1]
    else:
        return math.inf
    length = np.abs(vertices @ E.T).sum(axis=1)
    best = float(np.max(np.sum((vertices @ C) * vertices, axis=1) / length**2))
    A = question.metric
    spent = float(np.sum(np.sqrt(np.maximum(quadratic(E, A), 0.0))))
    gained = float(np.sum(C * A))
    full = p.diagonal and np.count_nonzero(A - np.diag(np.diag(A))) > 0
    if full or not (examine(A)[1].feasible and spent > 0 and gained > 0):
        return math.inf
    return 1 - math.sqrt(gained / best) / spent


def _simple(p: Instance, mu: float) -> bool:
    """Return True if only one eigenvalue of C relative to S is near mu, the largest.

    Then the optimum of the misreading "squared" is unique. C is the sum of X_ij over the dissimilar pairs. If A must be
    diagonal, the quotients of the diagonal entries replace the eigenvalues.
    """
    C, S = p.dissimilar.T @ p.dissimilar, p.similar.T @ p.similar
    relative = np.diag(C)[np.diag(S) > 0] / np.diag(S)[np.diag(S) > 0]
    if not p.diagonal:
        relative = np.sort(np.linalg.eigvals(np.linalg.pinv(S, hermitian=True) @ C).real)
    return int(np.count_nonzero(relative > (1 - UNIQUE) * mu)) == 1


def _logs(method: MMC, question: Question, p: Instance) -> float:
    """Return the gap of the refuted metric in: max sum log D over dissimilar pairs, divided by the number of pairs.

    The budget is that of MMC. Multiplying the metric by e^s adds s times the number of pairs to the objective. So the
    result is the s that closes the gap. inf if the metric is not feasible or uses no budget, or if a dissimilar pair
    has distance 0.
    """
    spent = _within(p, question.metric)
    D = quadratic(p.dissimilar, question.metric)
    if spent is None or not D.min() > 0:
        return math.inf
    return math.log(_mu(method, p, 1 / D) / len(D))


METHOD = MMC(diagonal=False)
DIAGONAL = MMC(diagonal=True)
