"""MLR, metric learning to rank (McFee, Lanckriet 2010): a structural SVM for rankings by distance.

Problem, over n queries q and all rankings y of the other points
    min_{W psd, xi >= 0}  tr W + (C/n) sum_q xi_q    s.t.  <W, psi(q, y*) - psi(q, y)> >= Delta(q, y) - xi_q,
    psi(q, y) = sum_ij y_ij (phi_qi - phi_qj) / (P N),    phi_qi = -(x_q - x_i)(x_q - x_i)^T.
A query has P relevant points i in q+ and N irrelevant points j in q-. y_ij is 1 if i is before j, else -1. The ranking
y* has all relevant points first. Delta is 1 minus a measure: AUC, precision at k, average precision, reciprocal rank or
NDCG at k. Rankings with the same y_ij give the same constraint, because the order within q+ or q- has no effect.

Inputs. The user gives the relevant points of each query, or labels; then the other points of the class are relevant. A
point is a query only if some other points are relevant to it and some are not. A `Queried` holds points, queries and
relevant points. In code, a ranking is a list of all points other than q, best first.

Dual and bound: family/theorem, with the trace and one slack for each query. The dual variables mu_qy, also called
price, belong to rankings. The objective needs the worst ranking of each query, which has the largest slack. An exact
dynamic programme finds it (methods/mlr/interleaving.py). The bound can use any rankings.
The optimum is attained and need not be unique. For small C it is W = 0, which is proved in rational arithmetic.
Solver: methods/mlr/cutting_planes.py.

Reference: B. McFee, G. Lanckriet, Metric learning to rank, ICML 2010. docs/mlr.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.clock import watched
from cvxml.core.derived import Derived
from cvxml.core.exact import Exact
from cvxml.core.example import Hand, drawn, sample, verified
from cvxml.core.inputs import check_choice, check_count, check_positive, check_X
from cvxml.core.memory import check_literal
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FloatArray, project_psd
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed
from cvxml.core.parameter import COUNT, NUMBER, WORD, Parameter
from cvxml.core.queries import BY_QUERIES, Queried, queried
from cvxml.core.ranking import MEASURES, earned
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Start
from cvxml.core.statement import Statement
from cvxml.core.triplets import check_units
from cvxml.family.unlisted.all_pairs import once
from cvxml.methods.mlr.ranking_margins import Ranked

Listed = list[list[list[int]]]  # a list of rankings for each query


def problem(X: FloatArray, asked: Queried, measure: str, k: int, C: float, listed: Listed) -> Any:
    """The problem, ranking by ranking. Variables: "W" (d, d) and "xi" (n,), one slack for each query.

    X (n, d): points. asked: the queries and their relevant points. measure, k: the measure in Delta. listed: for each
    query, the rankings y that have a constraint.
    """
    import cvxpy as cp

    n = len(asked.queries)
    W = cp.Variable((X.shape[1],) * 2, symmetric=True, name="W")
    xi = cp.Variable(n, name="xi")
    #: W psd,  xi >= 0 | \mathbf{W} \succeq 0, \quad \xi \ge 0
    constraints = [W >> 0, xi >= 0]
    for at, q in enumerate(asked.queries.tolist()):
        plus, minus = asked.sides(q)
        best = psi(X, q, plus, [*plus, *minus])
        for y in listed[at]:
            #: <W, psi(q, y*) - psi(q, y)> >= Delta(q, y) - xi_q for every query q and every ranking y
            #:   | \langle \mathbf{W}, \psi(q, y^*) - \psi(q, y) \rangle \ge \Delta(q, y) - \xi_q
            #:     \quad \text{for every query } q \text{ and every ranking } y
            constraints += [cp.trace(W @ (best - psi(X, q, plus, y))) >= delta(measure, k, plus, y) - xi[at]]
    #: min over W, xi:  tr W + (C/n) sum_q xi_q
    #:   | \min_{\mathbf{W},\, \xi}\ \operatorname{tr} \mathbf{W} + \frac{C}{n} \sum_q \xi_q
    return cp.Problem(cp.Minimize(cp.trace(W) + C / n * cp.sum(xi)), constraints)


def psi(X: FloatArray, q: int, plus: Sequence[int], y: Sequence[int]) -> FloatArray:
    """The features of a ranking: psi(q, y) (d, d). q: the query. plus: its relevant points.

    y: all other points, in the order of the ranking.
    """
    #: phi_qi = -(x_q - x_i)(x_q - x_i)^T
    #:   | \varphi_{qi} = -(\mathbf{x}_q - \mathbf{x}_i)(\mathbf{x}_q - \mathbf{x}_i)^T
    phi = {i: -np.outer(X[q] - X[i], X[q] - X[i]) for i in y}
    minus, place = [j for j in y if j not in plus], {i: r for r, i in enumerate(y)}
    total = np.zeros((X.shape[1],) * 2)
    for i in plus:
        for j in minus:
            #: psi(q, y) = sum_{i in q+, j in q-} y_ij (phi_qi - phi_qj) / (P N)
            #:   | \psi(q, y) = \sum_{i \in q^+,\, j \in q^-} y_{ij} (\varphi_{qi} - \varphi_{qj}) / (P N)
            #: y_ij = 1 where i is before j, else -1
            #:   | y_{ij} = 1 \text{ where } i \text{ is before } j \text{, else } -1
            total += (1 if place[i] < place[j] else -1) * (phi[i] - phi[j])
    return total / (len(plus) * len(minus))


def rankings(plus: Sequence[int], minus: Sequence[int]) -> list[list[int]]:
    """Return one ranking for each possible set of signs y_ij of the relevant points `plus` and the others, `minus`."""
    points = [*plus, *minus]
    return [[points[place] for place in y] for y in _orders(len(plus), len(minus))]


def every_ranking(asked: Queried) -> Listed:
    """Return, for each query, one ranking for each possible set of signs y_ij.

    Raises ValueError above `MAX_POINTS_LISTED` + 1 points.
    """
    if len(asked.X) - 1 > MAX_POINTS_LISTED:
        raise ValueError(
            f"the literal problem lists all rankings of each query and takes at most {MAX_POINTS_LISTED + 1} points, "
            f"got {len(asked.X)}; give fewer points, or call solve, which lists only a few rankings"
        )
    return [rankings(*asked.sides(q)) for q in asked.queries.tolist()]


@lru_cache
def _orders(P: int, N: int) -> list[tuple[int, ...]]:
    found: dict[tuple[bool, ...], tuple[int, ...]] = {}
    for y in permutations(range(P + N)):
        place = np.argsort(y)
        found.setdefault(tuple((place[:P, None] < place[P:]).ravel().tolist()), y)
    return list(found.values())


def delta(measure: str, k: int, plus: Sequence[int], y: Sequence[int]) -> float:
    """The measures of a ranking: return the loss Delta(q, y) = 1 - measure, for the ranking y of a query q.

    measure: "auc", "precision", "map" (average precision), "mrr" (reciprocal rank) or "ndcg". k: number of places that
    count for precision and ndcg. plus: the points relevant to q. y: all points other than q, relevant or not, best
    first.
    """
    of_plus = [i in plus for i in y]
    P, N, ranks = len(plus), len(y) - len(plus), [r for r, own in enumerate(of_plus, start=1) if own]
    if measure == "auc":
        #: auc: the share of the pairs i, j with i before j
        #:   | \text{auc: the share of the pairs } i, j \text{ with } i \text{ before } j
        return 1 - sum(own and not other for r, own in enumerate(of_plus) for other in of_plus[r:]) / (P * N)
    if measure == "precision":
        #: precision: the share of the first k that is relevant, k at most P and N
        #:   | \text{precision: the share of the first } k \text{ that is relevant, } k \text{ at most } P, N
        return 1 - sum(of_plus[: min(k, P, N)]) / min(k, P, N)
    if measure == "map":
        #: map: 1/P sum_p p / r_p, with r_p the rank of the p-th relevant point
        #:   | \text{map: } \textstyle \frac{1}{P} \sum_p p / r_p \text{, with } r_p
        #:     \text{ the rank of the } p\text{-th relevant point}
        return 1 - sum(p / r for p, r in enumerate(ranks, start=1)) / P
    if measure == "mrr":
        #: mrr: 1 / r_1 | \text{mrr: } 1 / r_1
        return 1 - 1 / ranks[0]
    #: ndcg: sum_p c(r_p) / sum_{r <= k} c(r), c(1) = 1, c(r) = 1 / log2 r up to k <= P
    #:   | \text{ndcg: } \textstyle \sum_p c(r_p) / \sum_{r \le k} c(r),\ c(1) = 1,\ c(r) = 1 / \log_2 r
    #:     \text{ up to } k \le P
    c = [1 / np.log2(max(r, 2)) for r in range(1, min(k, P) + 1)]
    return float(1 - sum(c[r - 1] for r in ranks if r <= len(c)) / sum(c))


def dual(X: FloatArray, asked: Queried, measure: str, k: int, C: float, listed: Listed) -> Any:
    """The dual of the problem. Variable: "mu" (m,), one dual variable for each ranking in `listed`.

    X (n, d): points. asked: the queries and their relevant points. measure, k: the measure in Delta. listed: rankings
    for each query; they are numbered query by query.
    """
    import cvxpy as cp

    n, H, losses, sums, d = len(asked.queries), [], [], [], X.shape[1]
    for own, q in zip(listed, asked.queries.tolist(), strict=True):
        plus, minus = asked.sides(q)
        best = psi(X, q, plus, [*plus, *minus])
        H += [best - psi(X, q, plus, y) for y in own]
        losses += [delta(measure, k, plus, y) for y in own]
        sums += [len(own)]
    mu, of_query = cp.Variable(len(H), name="mu"), np.repeat(np.arange(n), sums)
    #: Z = I - sum_{q, y} mu_qy (psi(q, y*) - psi(q, y))
    #:   | Z = I - \textstyle\sum_{q, y} \mu_{qy} \left( \psi(q, y^*) - \psi(q, y) \right)
    Z = np.eye(d) - cp.reshape(np.array(H).reshape(len(H), -1).T @ mu, (d, d), order="C")
    #: Z psd,  mu >= 0,  sum_y mu_qy <= C/n | Z \succeq 0, \quad \mu \ge 0, \quad \textstyle\sum_y \mu_{qy} \le C/n
    constraints = [Z >> 0, mu >= 0, (of_query == np.arange(n)[:, None]) * 1.0 @ mu <= C / n]
    #: max over mu:  sum_{q, y} mu_qy Delta(q, y) | \max_\mu\ \textstyle\sum_{q, y} \mu_{qy} \Delta(q, y)
    return cp.Problem(cp.Maximize(np.array(losses) @ mu), constraints)
    #: [What is proved]
    #: <Z, W> = 0 at the optimum;  any mu that is feasible gives a lower bound
    #:   | \langle Z, \mathbf{W} \rangle = 0 \text{ at the optimum;}
    #:     \quad \text{any } \mu \text{ that is feasible gives a lower bound}


@dataclass(frozen=True, eq=False)
class Instance(Queried):
    """Checked data (points, queries and their relevant points) and parameters.

    measure: the measure of a ranking. k: number of places that count. C: weight of the mean slack.
    """

    measure: str
    k: int
    C: float


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    measure: str = "auc",
    k: int = 3,
    C: float = 1.0,
    relevant: Any = None,
) -> Instance:
    """Check all inputs. Raises ValueError for bad input.

    X (n, d). y (n,): labels, unless `relevant` is given. measure: one of `MEASURES`. k: the number of places that count
    for precision and ndcg. C > 0: weight of the mean slack. relevant: a list of relevant points for each point.
    """
    points, C = check_X(X), check_positive(C, "C")
    check_units(points, C, "C", "C s^2")
    of, k = check_choice(measure, "measure", MEASURES), check_count(k, "k")
    return Instance(**vars(queried(points, y, relevant)), measure=of, k=k, C=C)


def objective(given: Instance, W: FloatArray) -> float:
    """tr W + (C/n) sum_q xi_q at W (d, d), with the slack of the worst ranking of each query."""
    slacks = [_slack(given, W, q, y) for q, y in zip(given.queries.tolist(), _worst(given, W), strict=True)]
    return float(np.trace(W)) + given.C * float(np.mean(slacks))


def _slack(given: Instance, W: FloatArray, q: int, y: Sequence[int]) -> float:
    """Delta(q, y) - <W, psi(q, y*) - psi(q, y)>, or 0 if that is negative."""
    plus, minus = given.sides(q)
    D = {i: float((given.X[q] - given.X[i]) @ W @ (given.X[q] - given.X[i])) for i in y}
    cost, later = 0.0, list(plus)
    for i in y:
        if i in plus:
            later.remove(i)
        else:
            cost += sum(D[i] - D[p] for p in later)
    return max(0.0, delta(given.measure, given.k, plus, y) - 2 * cost / (len(plus) * len(minus)))


def _worst(given: Instance, W: FloatArray) -> list[list[int]]:
    """Return the worst ranking of each query at W (d, d), the one with the largest slack: all other points, best first.

    Some worst ranking has its relevant points sorted from near to far, and its irrelevant points too. For one relevant
    point after another, the dynamic programme chooses the number g of irrelevant points before it.
    """
    found = []
    for q in given.queries.tolist():
        plus, minus = (
            sorted((float((given.X[q] - given.X[i]) @ W @ (given.X[q] - given.X[i])), i) for i in side)
            for side in given.sides(q)
        )
        P, N = len(plus), len(minus)
        gain, before = earned(given.measure, given.k, P, N).tolist(), np.cumsum([0.0, *(D for D, _ in minus)])
        # For each g of the last relevant point: the best value so far, and the g of all relevant points so far.
        best: list[Any] = [(0.0, ())] * (N + 1)
        for p in range(P):
            most, values = best[0], []
            for g in range(N + 1):
                most = max(most, best[g], key=lambda one: one[0])
                swapped = 2 / (P * N) * (before[g] - g * plus[p][0])
                values.append((most[0] - gain[p][g] - swapped, (g, most[1])))
            best = values
        y, (_, counts) = [j for _, j in minus], max(best, key=lambda one: one[0])
        for _, i in reversed(plus):
            g, counts = counts
            y.insert(g, i)
        found.append(y)
    return found


def evaluate(given: Instance, W: FloatArray) -> dict[str, Any]:
    """Return the intermediates at W (d, d), by name.

    objective. trace: tr W. queries (n,). rankings (n, number of points - 1): the worst ranking of each query.
    Delta (n,): their losses. xi (n,): their slacks. subgradient (d, d) of the objective.
    """
    worst, subgradient = _worst(given, W), np.eye(len(W))
    slacks, losses = [], []
    for q, y in zip(given.queries.tolist(), worst, strict=True):
        plus, minus = given.sides(q)
        slacks.append(_slack(given, W, q, y))
        losses.append(delta(given.measure, given.k, plus, y))
        apart = psi(given.X, q, plus, [*plus, *minus]) - psi(given.X, q, plus, y)
        subgradient -= given.C / len(worst) * apart
    return {
        "objective": objective(given, W),
        "trace": float(np.trace(W)),
        "queries": given.queries,
        "rankings": np.array(worst),
        "Delta": np.array(losses),
        "xi": np.array(slacks),
        "subgradient": subgradient,
    }


def _weight(factor: Callable[[Instance], float]) -> Any:
    return changed("C", lambda q: q.checked(instance).C * factor(q.checked(instance)))


def _zero_one(question: Question) -> OtherProblem:
    half = {**question.params, "C": question.checked(instance).C / 2}
    return OtherProblem(question.X, question.y, half, metric=question.metric / 2)


def _every_place(question: Question) -> int | None:
    given = question.checked(instance)
    return len(given.X) if given.measure in ("precision", "ndcg") else None


MISREADINGS = {
    "sum": Misreading(
        "the sum of the slacks where the method has the mean", _weight(lambda given: len(given.queries))
    ),
    "mean_trace": Misreading(
        "the trace over the number of features where the method has the trace (the authors' program)",
        _weight(lambda given: given.X.shape[1]),
    ),
    "zero_one": Misreading("y_ij = 0 where the paper has -1: half the differences of features", _zero_one),
    "auc": Misreading(
        "AUC where the problem has another measure",
        changed("measure", lambda q: None if q.checked(instance).measure == "auc" else "auc"),
    ),
    "whole_list": Misreading(
        "the whole ranking where only its first k places count", changed("k", _every_place)
    ),
}


MAX_POINTS_LISTED = 7  # the literal problem lists all rankings of at most this many points
VIOLATED = 1e-7  # row generation ends when the violated slacks cost at most this share of the objective
ROUNDS = 100  # at most, of row generation


def _stated(given: Instance) -> tuple[FloatArray, Instance, str, int, float]:
    return given.X, given, given.measure, given.k, given.C


_LINE = [[0.0], [1.0], [3.0], [4.0]]
_OF_LINE = [0, 0, 1, 1]


class MLR(ConvexMethod[Instance]):
    """Metric learning to rank: a structural SVM over rankings, with the trace as regularizer."""

    id = "mlr"
    TITLE = "MLR: metric learning to rank (McFee, Lanckriet 2010)"
    TELLS_OF_ZERO = True
    PARAMETERS: ClassVar = {
        "measure": Parameter(f"measure of a ranking: {', '.join(MEASURES)}", WORD, "auc"),
        "k": Parameter(
            "number of places that count for precision and ndcg; no effect on other measures", COUNT, 3
        ),
        "C": Parameter("weight of the mean slack, > 0", NUMBER, 1.0),
        **BY_QUERIES,
    }
    STATEMENT = Statement("cvxml.methods.mlr", ("problem", "psi", "delta", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"C": math.inf}
    DUAL: ClassVar = {"price": "t", "rankings": "t n"}
    DERIVED: ClassVar = {"relevant": Derived(("y",))}
    SMALL: ClassVar = {"C": 1.0}
    UNITS: ClassVar = {"C": -2, "objective": -2}
    MOVES = True
    BAD: ClassVar = {
        "measure": ("knn",),
        "C": (0, 1e300),
        "k": (0,),
        "relevant": ([[1]], [[0]] * 16, [[]] * 16),
    }
    # AUC on a line. The objective is M + C * (mean of [1 - 2 a M]_+ over a = 8, 15, 3, 8). Its slope changes sign at
    # the optimum.
    HAND: ClassVar = (
        Hand(_LINE, _OF_LINE, {"C": 0.05}, [[0.0]], 0.05),
        Hand(_LINE, _OF_LINE, {"C": 0.09}, [[1 / 30]], 1 / 30 + 0.09 * (14 + 24 + 14) / 30 / 4),
        Hand(_LINE, _OF_LINE, {"C": 1.0}, [[1 / 6]], 1 / 6),
    )
    EXAMPLES: ClassVar = (
        drawn(5, 6, 3, 2, C=20.0),
        drawn(6, 6, 8, 2, measure="map", C=20.0),  # more features than points
        drawn(7, 6, 5, 2, degenerate=True, measure="ndcg", C=20.0),
        sample("wine", 6, measure="precision", k=2, C=20.0),
        verified("iris", 6, C=20.0),
        verified("wine", 6, measure="ndcg", C=20.0),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(*_stated(given), every_ranking(given))

    def constraint_names(self, given: Instance) -> list[str]:
        asked = zip(given.queries.tolist(), every_ranking(given), strict=True)
        rankings = [f"query {q}, ranking {', '.join(map(str, y))}" for q, listed in asked for y in listed]
        return ["W psd", "xi >= 0", *rankings]

    def dual(self, given: Instance) -> Any:
        return dual(*_stated(given), every_ranking(given))

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Solve `problem` of the module by row generation with the cvxpy back end `solver`, then `dual`.

        Each round finds the worst ranking of each query. This ranking is added if its slack is larger than that of all
        rankings listed for the query. The rounds end when the new rankings raise the objective by at most `VIOLATED`
        times the objective.
        """
        n, W = len(given.queries), np.zeros((given.X.shape[1],) * 2)
        listed: Listed = [[] for _ in range(n)]
        for _ in watched(range(ROUNDS)):
            worst, value = _worst(given, W), objective(given, W)
            known = [max([0.0, *(_slack(given, W, q, y) for y in own)]) for q, own in self._of(given, listed)]
            missed = [
                _slack(given, W, q, y) - slack
                for q, y, slack in zip(given.queries.tolist(), worst, known, strict=True)
            ]
            if given.C / n * sum(missed) <= VIOLATED * value:
                break
            listed = [
                [*own, y] if more > 0 else own for own, y, more in zip(listed, worst, missed, strict=True)
            ]
            check_literal(sum(map(len, listed)), given.X.shape[1])
            W = project_psd(solve_problem(problem(*_stated(given), listed), solver)["W"])
        mu = solve_problem(dual(*_stated(given), listed), solver)["mu"]
        rows = [[q, *y] for q, own in self._of(given, listed) for y in own]
        return Found(W, {"price": mu, "rankings": np.array(rows)}, Status.CONVERGED, 0)

    def _of(self, given: Instance, listed: Listed) -> Iterator[tuple[int, list[list[int]]]]:
        return zip(given.queries.tolist(), listed, strict=True)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def fast_objective(self, given: Instance, M: FloatArray) -> float:
        return self.member(given).value(M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def member(self, given: Instance) -> Ranked:
        return once(given, lambda p: Ranked(p, p.measure, p.k, p.C), "member of mlr")

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        return self.member(given).certify(M, dual)

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        return self.member(given).exact(M, dual, root)

    def exact_as_stored(
        self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike, hint: Any = None
    ) -> Exact:
        """The exact interval that contains the optimum, from the lower bound of `dual` to the objective at M (d, d).

        The dual variables are moved into their domain. Unlike in `exact`, they are not scaled to improve the bound.
        root: R with R R^T near M, if known. hint: unused.
        """
        return self.member(given).exact(M, dual, root, as_stored=True)

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Solve by cutting planes: list the worst ranking of each query, and follow the central path.

        start: the metric and the dual variables of another solution, if there is one.
        """
        return self.member(given).search(tol, max_iter, start, callback)

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"measure": given.measure, "k": given.k, "C": given.C, "relevant": given.lists}

    def derived(self, given: Instance) -> tuple[str, ...]:
        return ("relevant",) if given.by_labels else ()

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        said = []
        if not found.metric.any() and certificate.gap == 0:
            enough = self.member(given).zero_up_to(certificate.dual)
            said.append(
                f"the zero matrix is optimal, at least for every C up to {enough:.6g}: no metric reduces the "
                "loss by more than its trace"
            )
        if left := len(given.X) - len(given.queries):
            said.append(
                f"{left} points are not queries, because no other point or every other point is relevant to them"
            )
        return said


METHOD = MLR()
