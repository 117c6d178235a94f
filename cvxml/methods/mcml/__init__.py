"""MCML, metric learning by collapsing classes (Globerson, Roweis 2005): a point picks a neighbour of its own class.

Problem, as commonly quoted (we did not compare it with the print line by line)
    min_{A psd}  sum_i KL[ p0(.|i) || p_A(.|i) ].
Here p_A(.|i) is the softmax of -D_A(i, k) over k != i, with the squared distance D_A. The distribution p0(.|i) is
uniform over the other points of the class of i. Every line of `problem` is literal. Like the paper, it drops the
entropy of p0, which is constant.
The quotations leave two details open. They call p0 "uniform" without a constant; the constant of a distribution is
1 / (n_c - 1) for a class of size n_c. A point that is alone in its class has no p0. We leave it out of the sum over i,
and keep it as a possible neighbour k of other points.

Dual and bound: family/theorem, with <C, A>, C = sum_ij p0(j|i) X_ij, X_ij = (x_i - x_j)(x_i - x_j)^T, and a log sum exp
for each point. The dual variables are distributions q_i over k != i. Let G = sum_ik q_ik X_ik. They are feasible if
C - G is psd, and strict if it is positive definite. Then sum_i of the entropies of q_i is a lower bound. q = p0 has
G = C, so sum_i log(n_c - 1) is a lower bound for any data. If dual variables are not feasible, they are mixed with
strict ones (family/theorem/strict_prices.py).
Radius: there is no radius, because the objective is not strongly convex.
If no metric attains the infimum, and this is proved (methods/mcml/no_attainment.py), the status is NOT_ATTAINED.

Solver: methods/mcml/softmax.py. The problem of MCML and of most misreadings is given by `Softmaxes`: weights w (n, n)
of the distances and c (n,) of the logarithms, and the pairs `among` in each softmax. If the user asks for a cvxpy back
end, it solves the function `problem` in coordinates of unit covariance.

Misreadings: problems that implementations solve in place of MCML. A `Question` holds a refuted metric, with the data
and parameters that it was judged with.

Reference: A. Globerson, S. Roweis, Metric Learning by Collapsing Classes, NIPS 2005 (equations 2 to 5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_labels, check_X, real_array
from cvxml.core.memory import FLOAT, check_room
from cvxml.core.metric import FloatArray, IntArray, components_of, examine
from cvxml.core.misreading import FAR, LOOSE, MULTIPLES, Misreading, OtherProblem, Question
from cvxml.core.moved import METRIC
from cvxml.core.pairs import MAX_POINTS_LISTED
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Keep, Start, interruptible
from cvxml.core.statement import Statement
from cvxml.family.geometry.coordinates import Coordinates, coordinates
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.regularizers.diagonal import DiagonalLinear
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, Plain, Weights
from cvxml.family.rows.by_point import ByPoint
from cvxml.family.theorem.strict_prices import Anchors
from cvxml.family.theorem.theorem import UNPRICED, Family, Term, certify, value
from cvxml.family.unlisted.all_pairs import metric_of, once
from cvxml.methods.mcml.all_softmaxes import AllSoftmaxes
from cvxml.methods.mcml.no_attainment import NOT_ATTAINED, recedes
from cvxml.methods.mcml.softmax import Ended, Objective, OfDiagonal, Softmaxes, follow, value_and_gradient
from cvxml.solvers.family_method import FamilyMethod

LEVEL = 1e-9  # relative rounding error of the sum of weights, which should be c
NEXT_TO_NOTHING = 1e-6  # up to this relative rounding error the metric of the path is kept without comparison
AT_MOST = 200  # M = 0 is tried only if its objective is higher by at most this times tol, relatively
PATIENCE = 200  # most steps for a misreading
BY_LUCK = 1e-5  # largest relative gap of a misreading; the objective is large, so chance gives small gaps
BETTER = 100  # in a misreading, the gain over M = 0 must be at least this many times the gap
DIAGONAL = 1e-9  # off-diagonal part of a diagonal matrix, relative to the norm
SYMMETRIC = 1e-9  # asymmetry of a symmetric matrix, relative to its largest entry
TABLES = 12  # the solver needs memory for at least this many tables of n x n floats
MOST_POINTS = 1000  # most points for misreadings
MOST_FEATURES = 64  # most features for misreadings


def problem(X: FloatArray, y: IntArray) -> Any:
    """The problem without the entropy of p0, row by row. Variable: "A" (d, d).

    X (n, d): points. y (n,): class codes.
    """
    import cvxpy as cp

    #: [The problem]
    #: min over A psd:  sum_i KL[ p0(.|i) || p_A(.|i) ]
    #:   | \min_{A \succeq 0}\ \sum_i \mathrm{KL}\bigl[ p_0(\cdot \mid i) \,\|\, p_A(\cdot \mid i) \bigr]
    #: p_A(j|i) = exp(-D_A(i,j)) / sum_{k != i} exp(-D_A(i,k))
    #:   | p_A(j \mid i) = \frac{\exp(-D_A(i,j))}{\sum_{k \ne i} \exp(-D_A(i,k))}
    #: p0(j|i) = 1 / (n_c - 1) for the others j of the class of i, of size n_c; 0 for the rest
    #:   | p_0(j \mid i) = \frac{1}{n_c - 1} \text{ for the others } j \text{ of the class of } i,
    #:     \text{ of size } n_c \text{; } 0 \text{ for the rest}
    #: below, the constant part -sum_i log(n_c - 1) of this sum is left out
    #:   | \text{below, the constant part } \textstyle -\sum_i \log(n_c - 1) \text{ of this sum is left out}

    n, d = X.shape
    A = cp.Variable((d, d), symmetric=True, name="A")
    terms = []
    for i in range(n):
        same, others = mates(y, i), [k for k in range(n) if k != i]
        #: a point alone in its class is not among the i, but among the k
        #:   | \text{a point alone in its class is not among the } i, \text{ but among the } k
        if not same:
            continue
        x_i = X[i] - X  # row k: x_i - x_k
        #: D_A(i,k) = (x_i - x_k)^T A (x_i - x_k)
        #:   | D_A(i,k) = (\mathbf{x}_i - \mathbf{x}_k)^T A (\mathbf{x}_i - \mathbf{x}_k)
        D_i = cp.sum(cp.multiply(x_i @ A, x_i), axis=1)
        #: min over A:  sum_i [ mean_{j in class(i), j != i} D_A(i,j) + log sum_{k != i} exp(-D_A(i,k)) ]
        #:   | \min_{A}\ \sum_i \Bigl[ \operatorname*{mean}_{j \in \mathrm{class}(i),\, j \ne i} D_A(i,j)
        #:     + \log \sum_{k \ne i} \exp(-D_A(i,k)) \Bigr]
        terms.append(cp.sum(D_i[same]) / len(same) + cp.log_sum_exp(-D_i[others]))
    #: A psd | A \succeq 0
    return cp.Problem(cp.Minimize(sum(terms)), [A >> 0])


def dual(X: FloatArray, y: IntArray) -> Any:
    """The dual of the problem. Variable: "q" (rows, n - 1), with a row for each i that is not alone in its class.

    The entries of a row are those of k != i, by increasing k.
    """
    import cvxpy as cp

    n, d = X.shape
    rows = [i for i in range(n) if mates(y, i)]
    #: q_ik >= 0 for k != i | q_{ik} \ge 0 \quad (k \ne i)
    q = cp.Variable((len(rows), n - 1), nonneg=True, name="q")
    surplus: Any = np.zeros((d, d))
    for row, i in enumerate(rows):
        same, others = mates(y, i), [k for k in range(n) if k != i]
        #: X_ij = (x_i - x_j)(x_i - x_j)^T | X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        pulled, pushed = X[i] - X[same], X[i] - X[others]
        #: sum_ij (p0(j|i) - q_ij) X_ij psd | \sum_{i,j} (p_0(j \mid i) - q_{ij}) X_{ij} \succeq 0
        surplus = surplus + pulled.T @ pulled / len(same) - pushed.T @ cp.diag(q[row]) @ pushed
    #: max over q:  sum_i H(q_i),  H(q_i) = - sum_{k != i} q_ik log q_ik
    #:   | \max_{q}\ \sum_i H(q_i), \quad H(q_i) = - \sum_{k \ne i} q_{ik} \log q_{ik}
    #: for every i:  sum_{k != i} q_ik = 1 | \sum_{k \ne i} q_{ik} = 1 \quad \text{for every } i
    return cp.Problem(cp.Maximize(cp.sum(cp.entr(q))), [cp.sum(q, axis=1) == 1, surplus >> 0])
    #: [What is proved]
    #: any feasible q gives a lower bound;   q = p_A at the optimum
    #:   | \text{any feasible } q \text{ gives a lower bound;} \quad q = p_A \text{ at the optimum}


def mates(y: IntArray, i: int) -> list[int]:
    """The indices of the other points of the class of i."""
    return [j for j in range(len(y)) if j != i and y[j] == y[i]]


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data: points X (n, d) and class codes y (n,)."""

    X: FloatArray
    y: IntArray


def instance(X: ArrayLike, y: ArrayLike | None) -> Instance:
    """Check X (n, d) and the labels y (n,). Raises ValueError for bad input, and if every class has a single point."""
    points = check_X(X)
    if y is None:
        raise ValueError("y is None: it must be one-dimensional, one label for each point")
    codes = check_labels(y, len(points))
    if np.bincount(codes).max() < 2:
        raise ValueError(
            "every class has a single point, so no class can collapse; give at least one class two points"
        )
    return Instance(points, codes)


def alone(y: IntArray) -> int:
    """The number of points that are alone in their class."""
    return int(np.sum(np.bincount(y)[y] == 1))


def objective(X: FloatArray, y: IntArray, A: FloatArray) -> float:
    """sum_i [ mean_{j in class(i), j != i} D_A(i,j) + log sum_{k != i} exp(-D_A(i,k)) ] at A (d, d)."""
    return math.fsum(term(X, y, A, i) for i in range(len(X)) if mates(y, i))


def term(X: FloatArray, y: IntArray, A: FloatArray, i: int) -> float:
    """The term of i: the mean of -log p_A(j|i) over the other points j of its class."""
    mean = math.fsum(distance(X, A, i, j) for j in mates(y, i)) / len(mates(y, i))
    return float(logsumexp([mean - distance(X, A, i, k) for k in range(len(X)) if k != i]))


def distance(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """D_A(i,j) = (x_i - x_j)^T A (x_i - x_j)."""
    return float((X[i] - X[j]) @ A @ (X[i] - X[j]))


def evaluate(X: FloatArray, y: IntArray, A: FloatArray) -> dict[str, Any]:
    """Return the intermediates at A (d, d), by name.

    p0, p_A (n, n): row i is the distribution over j given i; zeros if i is alone in its class. KL (n,): KL[p0 || p_A].
    objective: the sum of KL plus sum_i log(n_c - 1). terms (n,): the terms of the objective. gradient (d, d) of the
    objective. scale_derivative: the derivative of the objective at t A with respect to t, at t = 1.
    nearest (n,): the nearest other point. accuracy: the share of points with the label of their nearest.
    alone: the number of points that are alone in their class.
    """
    n, d = X.shape
    p0, p_A, KL, terms = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n), np.zeros(n)
    gradient = np.zeros((d, d))
    nearest = np.zeros(n, dtype=np.intp)
    for i in range(n):
        D = np.array([math.inf if k == i else distance(X, A, i, k) for k in range(n)])
        nearest[i] = int(D.argmin())
        same = mates(y, i)
        if not same:
            continue
        p0[i, same] = 1 / len(same)
        log_p = -D - logsumexp(-D)
        p_A[i] = np.exp(log_p)
        KL[i] = sum(p0[i, j] * (math.log(p0[i, j]) - log_p[j]) for j in same)
        terms[i] = term(X, y, A, i)
        for k in range(n):
            gradient += (p0[i, k] - p_A[i, k]) * np.outer(X[i] - X[k], X[i] - X[k])
    return {
        "objective": objective(X, y, A),
        "p0": p0,
        "p_A": p_A,
        "KL": KL,
        "terms": terms,
        "gradient": gradient,
        "scale_derivative": float(np.sum(gradient * A)),
        "nearest": nearest,
        "accuracy": float(np.mean(y[nearest] == y)),
        "alone": sum(not mates(y, i) for i in range(n)),
    }


def weights(y: IntArray, number: Callable[[float], Any] = float) -> Softmaxes:
    """Return the `Softmaxes` of MCML: w = p0 (n, n), c (n,), and the mask `among` (n, n), True for all k != i.

    c_i is 1, or 0 if i is alone in its class. y (n,): class codes. number: the type of the entries of w and c, for
    example Fraction for exact arithmetic.
    """
    among = ~np.eye(len(y), dtype=bool)
    mates = (y[:, None] == y) & among
    count = mates.sum(axis=1).tolist()
    share = np.array([number(1) / max(each, 1) for each in count])
    return Softmaxes(mates * share[:, None], np.array([number(each > 0) for each in count]), among)


def family(X: FloatArray, of: Softmaxes, diagonal: bool = False) -> Family:
    """Return MCML, or one of its misreadings, as a regularizer and a loss (family/theorem), for points X (n, d).

    of: w, c and `among`; "k among i" means that among_ik is True. diagonal: A must be diagonal. The objective is
    <C, A> + sum_i c_i log sum_{k among i} exp(-D_ik), with C = sum_ij w_ij X_ij. If the sum of each row w_i is c_i, and
    w_ik > 0 only for k among i, the dual variables a = w have G = C, so they are feasible.
    """
    both = of.w + of.w.T
    pairs = np.argwhere(np.triu(both != 0, 1))
    C = Weights(pairs, both[pairs[:, 0], pairs[:, 1]])
    regularizer = (DiagonalLinear if diagonal else Linear)(X, C, "points of one class differ")
    rows = _rows(of)
    c, w, among = of.c[rows.points], of.w[rows.points], of.among[rows.points]
    level = (np.abs(w.sum(axis=1) - c) <= LEVEL * c).all() and not (w[~among] > 0).any()
    loss = LogSumExp(c, among)
    anchors = Anchors(regularizer, loss, rows, rows.duals(w) if level else None)
    return Family(regularizer, (Term(loss, rows),), anchors=anchors)


def _rows(of: Softmaxes) -> ByPoint:
    return ByPoint(np.flatnonzero(of.c), len(of.c))


def duals_of(of: Softmaxes, dual: Dual, name: str) -> tuple[Duals, ...]:
    """Return the dual variables of the problem `of`, from the array `dual[name]` (n, n); () without such an entry.

    Row i of the array belongs to point i. Raises ValueError if the entry is not a finite array of this shape.
    """
    if name not in dual:
        return ()
    q, n = real_array(dual[name], f"dual {name!r}"), len(of.c)
    if q.shape != (n, n) or not np.isfinite(q).all():
        raise ValueError(
            f"dual {name!r} must be finite, of shape ({n}, {n}): a row for each point; got shape {q.shape}"
            + ("" if np.isfinite(q).all() else ", with entries that are not finite")
        )
    rows = _rows(of)
    return (rows.duals(q[rows.points]),)


def named(of: Softmaxes, duals: Duals) -> Dual:
    """Return the dual variables of the problem `of` as an array "q" (n, n). Row i is zero if c_i = 0."""
    rows, q = _rows(of), np.zeros((len(of.c),) * 2)
    q[rows.points] = rows.table(duals)
    return {"q": q}


class Misread(NamedTuple):
    """A misreading: a problem with the weights `of`, and how the refuted metric is judged in it.

    The metric is first multiplied by `times`. If `diagonal`, only diagonal metrics are feasible.
    """

    of: Softmaxes
    times: float = 1.0  # the metric is multiplied by this before it is judged
    diagonal: bool = False  # the metric must be diagonal


def with_weights(change: Callable[[Softmaxes, Instance], Misread]) -> Callable[[Question], float]:
    """Return a function of the question: the certified relative gap of the refuted metric in a misreading.

    change: maps the weights of MCML and the data to the misreading. The function returns inf if the metric is
    infeasible, if a multiple of it is clearly better, if there are too many points or features, or if the gap is not
    proved. It also returns inf if chance could explain the result. This is the case for a gap above `BY_LUCK` (1e-5),
    and for a metric that improves on A = 0 by less than `BETTER` (100) times the gap.
    """

    def left(question: Question) -> float:
        given = question.checked(instance)
        psd, feasibility = examine(question.metric)
        if not feasibility.feasible or too_large(given):
            return math.inf
        of, times, diagonal = change(weights(given.y), given)
        if diagonal and not _is_diagonal(question.metric):
            return math.inf
        at = _features(given) if diagonal else coordinates(given.X)
        A = times * (np.diag(np.diag(psd)) if diagonal else psd)
        at.inside(A)  # raises ValueError if A is too large
        member = family(given.X, of, diagonal)
        here = value(member, A).value
        if not _stays_at_scale(member, A, here):
            return math.inf

        def proof(A: FloatArray, dual: Dual) -> Certificate:
            certificate, proof = certify(member, A, duals_of(of, dual, "q"), duals_of(of, dual, "interior"))
            return replace(certificate, dual=named(of, *proof.duals))

        def of_path(M: FloatArray, dual: Dual) -> Certificate:
            return proof(at.outside(np.diag(np.diag(M)) if diagonal else M), dual)

        f = OfDiagonal(at, of) if diagonal else Objective(at, of)
        found = proof(A, follow(f, of_path, min(question.tol / 10, LOOSE / 10), PATIENCE).dual)
        if not (math.isfinite(found.gap) and found.scale > 0 and found.decides(question.tol)):
            return math.inf
        # Both are differences of rounded values. If 0 is optimal, both are 0.
        won, lost = value(member, 0 * A).value - here, found.objective - found.lower_bound
        share = (found.gap + found.rounding) / found.scale
        return share if share <= BY_LUCK and lost <= won / BETTER else math.inf

    return left


def _is_diagonal(A: FloatArray) -> bool:
    return float(np.linalg.norm(A - np.diag(np.diag(A)))) <= DIAGONAL * float(np.linalg.norm(A))


def _features(given: Instance) -> Coordinates:
    """Coordinates of the centred features in units of their spread. Diagonal metrics stay diagonal in them."""
    D = given.X - given.X[0]
    D = D - D.mean(axis=0)
    size = np.sqrt(np.mean(D**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    return Coordinates(D / size, np.diag(1 / size), np.diag(size), np.ones(len(size)), 0)


def _stays_at_scale(member: Family, A: FloatArray, here: float) -> bool:
    """Return True if no multiple t A, with t in `MULTIPLES`, has an objective below here - FAR |here|.

    Otherwise A cannot be optimal in the problem `member`, and no solve is needed. here: the objective at A.
    """
    return all(value(member, t * A).value >= here - FAR * abs(here) for t in MULTIPLES)


def too_large(given: Instance) -> bool:
    return len(given.X) > MOST_POINTS or given.X.shape[1] > MOST_FEATURES


def to_first_order(kind: str) -> Callable[[Question], float]:
    """Return a function of the question that measures how far the refuted metric is from stationary in a misreading.

    The function returns the largest first-order decrease of the objective, divided by the objective. The changes of the
    metric have the size of the metric, or the size 1 if the metric is smaller, in coordinates of unit covariance. The
    function returns inf if there are too many points or features, or if the metric is not symmetric.

    kind: "plain" has distances in place of squared distances, and the result is inf unless the metric is psd. The kind
    "no_cone" has no constraint A psd, and the result is inf if the metric is psd.
    """

    def left(question: Question) -> float:
        given = question.checked(instance)
        free = kind == "no_cone"
        if too_large(given) or examine(question.metric)[1].feasible is free:
            return math.inf
        at = coordinates(given.X)
        A = (question.metric + question.metric.T) / 2
        if np.abs(question.metric - A).max() > SYMMETRIC * np.abs(A).max():
            return math.inf
        M = at.inside(A if free else examine(A)[0])
        with np.errstate(all="ignore"):  # a result that is not finite becomes inf
            objective, Z = value_and_gradient(at.Y, weights(given.y), M, plain=not free)
            size = max(float(np.linalg.norm(M)), 1.0)
            rest = size * float(np.linalg.norm(Z)) if free else _beside(M, Z)
            share = rest / abs(objective)
        return share if math.isfinite(share) else math.inf

    return left


def _beside(M: FloatArray, Z: FloatArray) -> float:
    """Return the largest first-order decrease of an objective with gradient Z at the psd M, for changes as large as M.

    Let M = R R^T and size = max(||R||, 1). The changes are R + dR with ||dR|| = size, and M + size^2 v v^T with
    |v| = 1.
    """
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    size = max(float(np.linalg.norm(root)), 1.0)
    least = float(np.linalg.eigvalsh(Z)[0])
    return max(size * float(np.linalg.norm(2 * Z @ root)), size**2 * max(0.0, -least))


def _counts(given: Instance) -> FloatArray:
    """The size n_c of the class of each point, (n,)."""
    return np.bincount(given.y)[given.y].astype(np.float64)


def _others(given: Instance) -> FloatArray:
    """max(n_c - 1, 1) for each point, (n, 1), where n_c is the size of its class."""
    return np.maximum(_counts(given) - 1, 1.0)[:, None]


def _self(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(among=np.ones_like(w.among)))


def _self_in_both(w: Softmaxes, given: Instance) -> Misread:
    return Misread(Softmaxes(w.w * (1 - 1 / _counts(given))[:, None], w.c, np.ones_like(w.among)))


def _self_in_p0(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w * (1 - 1 / _counts(given))[:, None]))


def _sum(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w * _others(given)))


def _pairs(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w * _others(given), c=w.c * _others(given)[:, 0]))


def _per_class(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w / _counts(given)[:, None], c=w.c / _counts(given)))


def _half_exponent(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(w=2 * w.w), 0.5)


def _half_pull(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w / 2))


def _impostors(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w._replace(among=given.y[:, None] != given.y))


def _diagonal(w: Softmaxes, given: Instance) -> Misread:
    return Misread(w, diagonal=True)


def _gaussian(question: Question) -> OtherProblem:
    return OtherProblem(question.X, question.y, question.params, np.asarray(question.metric) / 2)


def _differs(change: Callable[[Softmaxes, Instance], Misread]) -> Callable[[Question], float]:
    """Return a function of the question: the certified relative gap of the refuted metric in a misreading.

    change: maps the weights of MCML and the data to the misreading. The function returns inf if all classes with at
    least two points have the same size, because the misreading then has the same solutions as MCML. Otherwise the
    function is that of `with_weights`.
    """

    def left(question: Question) -> float:
        given = question.checked(instance)
        sizes = np.bincount(given.y)
        return math.inf if np.ptp(sizes[sizes > 1]) == 0 else with_weights(change)(question)

    return left


# Problems that implementations of MCML solve by mistake. Most are the same convex problem with other weights. They are
# solved and certified like the original, and `left` is a certified relative gap.
# Two problems have no useful lower bound: with plain distances the problem is not convex, and without A psd only
# rounding makes a dual feasible. For these, `left` is a first-order bound: the largest gain of a change as large as A,
# or as large as 1 in coordinates of unit covariance if A is smaller.
MISREADINGS: dict[str, Misreading] = {
    "plain": Misreading(
        "exp(-d_A) and d_A where the paper has the squared distance", left=to_first_order("plain")
    ),
    "self": Misreading("the point itself among the k, where the paper has k != i", left=with_weights(_self)),
    "self_in_both": Misreading(
        "the point itself among the k and in its own class, p0 = 1 / n_c, where the paper has j, k != i",
        left=with_weights(_self_in_both),
    ),
    "self_in_p0": Misreading(
        "the sum of D_A over the class divided by n_c where the mean is over the n_c - 1 others",
        left=with_weights(_self_in_p0),
    ),
    "sum": Misreading(
        "the sum of D_A over the class where the paper has the mean: p0 not normalised",
        left=with_weights(_sum),
    ),
    "pairs": Misreading(
        "the sum of -log p_A(j|i) over all pairs of a class where the paper has the mean over j",
        left=_differs(_pairs),
    ),
    "per_class": Misreading(
        "the mean over the points of each class where the paper has the sum over all points",
        left=_differs(_per_class),
    ),
    "gaussian": Misreading("exp(-D_A / 2) in p_A where the paper has exp(-D_A)", problem=_gaussian),
    "half_exponent": Misreading(
        "exp(-D_A / 2) in the logarithm of the sum alone where the paper has exp(-D_A)",
        left=with_weights(_half_exponent),
    ),
    "half_pull": Misreading(
        "half of the mean of D_A over the class where the paper has the whole mean",
        left=with_weights(_half_pull),
    ),
    "impostors": Misreading(
        "the sum over the k of other classes where it is over all k != i", left=with_weights(_impostors)
    ),
    "diagonal": Misreading(
        "a diagonal A where the paper allows any psd matrix", left=with_weights(_diagonal)
    ),
    "no_cone": Misreading(
        "the problem without A psd: P_+ is missing, at the end and in every step",
        left=to_first_order("no_cone"),
    ),
}


class MCML(FamilyMethod[Instance]):
    """MCML, metric learning by collapsing classes. It has no parameters."""

    id = "mcml"
    TITLE = "MCML: metric learning by collapsing classes (Globerson, Roweis 2005)"
    EXPONENTIAL = True
    PARAMETERS: ClassVar = {}
    STATEMENT = Statement("cvxml.methods.mcml", ("problem", "dual", "mates"))
    MISREADINGS = MISREADINGS
    DUAL: ClassVar = {"q": "n n"}
    FOLLOWS = "linear"
    MOVES = True
    HAND: ClassVar = (
        # All points are equal, so p_A is 1/6 for every metric. Six points share a class.
        Hand([[1.5, 1.5]] * 7, [0, 0, 0, 1, 1, 1, 2], {}, None, 6 * math.log(6)),
        # Each class lies on a circle around 0. Points of a class are farther apart than points of two classes, so 0 is
        # optimal.
        Hand(
            [[3.0, 0], [-3, 0], [0, 3], [0, -3], [1, 0], [-1, 0], [0, 1], [0, -1]],
            [0, 0, 0, 0, 1, 1, 1, 1],
            {},
            None,
            8 * math.log(7),
        ),
    )
    ESTIMATOR: ClassVar = Estimator(
        "MCML",
        "The metric of maximally collapsing metric learning (Globerson, Roweis 2005), solved to a certified gap.\n\n"
        "If no metric attains the infimum, `fit` warns (ConvergenceWarning), and the notes of `solution_` give the "
        "reason.",
    )
    EXAMPLES: ClassVar = (
        drawn(3, 12, 3),
        drawn(1, 30, 6),
        drawn(7, 14, 5, degenerate=True),
        sample("iris", 24),
        verified("rings", 20, raw=True),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.y)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["A psd"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.y)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """Solve `problem` and `dual` of the module with the cvxpy back end `solver`, in coordinates of unit covariance.

        The problem is the same in these coordinates, and its numbers suit the back ends. The metric that is returned,
        with its dual variables, is that of the features.
        """
        at = _coordinates(given)
        found = super().through_cvxpy(Instance(at.Y, given.y), solver)
        return found._replace(metric=at.outside(found.metric))

    def literal_rows(self, given: Instance) -> int:
        """Return n^2, the size of the cvxpy problem: it has an exponential for each pair of points."""
        return len(given.X) ** 2

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """Return "q" as a table (n, n), from the array "q" that cvxpy found for `dual` of the module.

        The entries are 0 on the diagonal and in the rows of points that are alone in their class.
        """
        n = len(given.X)
        q = np.zeros((n, n))
        for i, row in zip(_weights(given).rows, values["q"], strict=True):
            q[i, np.arange(n) != i] = row
        return {"q": q}

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given.X, given.y, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given.X, given.y, M)

    def everyone(self, given: Instance) -> AllSoftmaxes | None:
        return once(given, _everyone)

    def member(self, given: Instance, number: Callable[[float], Any] = float) -> Family:
        return family(given.X, weights(given.y, number))

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the dual variables in `dual`, a row q_i for each point i that is not alone in its class.

        The dual holds "q" (n, n), finite numbers q_ik with i the row, or "metric" (d, d), which stands for q = p_A. The
        rows of "q" need not be distributions: the certificate moves them into the simplex. Raises ValueError if there
        is neither, or if "q" has another form.
        """
        if isinstance(dual, Mapping) and METRIC in dual:
            return (_softmax(given, metric_of(dual, given.X.shape[1])),)
        if not isinstance(dual, Mapping) or "q" not in dual:
            raise ValueError("the dual must be a mapping with \"q\" (n, n); there is no 'q'")
        return duals_of(_weights(given), dual, "q")

    def strict(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """Return the strict dual variables "interior" (n, n) of `dual`; () if it has none."""
        return duals_of(_weights(given), dual, "interior")

    def named(self, given: Instance, duals: Duals) -> Dual:
        """The dual variables "q" (n, n). Each row is in the simplex, or 0 for a point alone in its class."""
        return named(_weights(given), duals)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """Certify M with the dual (family/theorem). Raises ValueError if M is so large that it nearly overflows."""
        _coordinates(given).inside(M)
        return super().certify(given, M, dual)

    def find(self, given: Instance, *asked: Any, **own: Any) -> Found:
        """Solve MCML. If the result proves that no metric is optimal, its status is NOT_ATTAINED.

        NOT_ATTAINED replaces only the statuses STALLED and CONVERGED. For example, INTERRUPTED is not replaced. asked,
        own: the arguments of `ConvexMethod.find` (solver, tol, max_iter, start, callback).
        """
        found = super().find(given, *asked, **own)
        ended = found.status in (Status.STALLED, Status.CONVERGED)
        none = ended and self._recedes(given, found.metric) == NOT_ATTAINED
        return found._replace(status=Status.NOT_ATTAINED) if none else found

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Solve MCML with the solver of methods/mcml/softmax.py; return A = 0 if this metric is certified optimal.

        start: the metric and the dual variables of another solution. If there are many points and `everyone` returns a
        solver (all_softmaxes.py), that solver runs instead.
        """
        if self.everyone(given) is not None:
            return super().search(given, tol, max_iter, start, callback)
        check_room(TABLES * FLOAT * len(given.X) ** 2, "tables of all pairs of points")
        at, of, member = _coordinates(given), _weights(given), self.family(given)
        inside = None if start is None else at.inside(start.metric)

        def prove(M: FloatArray, dual: Dual) -> Certificate:
            return self._certify(given, member, at.outside(M), dual)

        def solve(keep: Keep, told: Callback) -> Found:
            f = Objective(at, of)
            ended = follow(
                f,
                prove,
                tol,
                max_iter,
                inside,
                told,
                lambda M, dual: keep(at.outside(M), dual),
            )
            zero = 0 * ended.M
            # A larger difference cannot be within tol, even with the rounding that a certificate may have.
            as_good = f.value(zero) * (1 - AT_MOST * tol) <= f.value(ended.M) * (1 + NEXT_TO_NOTHING)
            best = zero if as_good and prove(zero, ended.dual).proves(tol) else _best(member, at, ended)
            proof = ended.proof if best is ended.M else None
            return Found(at.outside(best), ended.dual, ended.status, ended.n_iter, ended.history, proof=proof)

        return interruptible(callback, solve)

    def unattained(self, given: Instance) -> str:
        """A sentence if the points alone, without a metric, prove that the infimum is not attained; else empty."""
        said = self._recedes(given, np.zeros((given.X.shape[1],) * 2))
        return said if said == NOT_ATTAINED else ""

    def _recedes(self, given: Instance, M: FloatArray) -> str:
        """Return a sentence if the infimum is not attained, or does not seem to be; else "".

        The eigenvectors of M (d, d) are tried as directions of descent. The result is also "" if there are too many
        points for a table of n x n numbers.
        """
        if self.everyone(given) is not None:
            return ""
        at = _coordinates(given)
        return recedes(given.X, at, _weights(given), at.inside(M))

    def status(self, found: Status, certificate: Certificate, tol: float, solver: str) -> Status:
        """Return the final status of a solution, given the status `found` of the solver.

        NOT_ATTAINED stays, even if the metric is certified within tol of the infimum.
        """
        return found if found is Status.NOT_ATTAINED else super().status(found, certificate, tol, solver)

    def stored(self, given: Instance) -> dict[str, Any]:
        return {}

    def notes(self, given: Instance, found: Found, certificate: Certificate) -> Sequence[str]:
        dropped, said = alone(given.y), self._recedes(given, found.metric)
        left_out = f"{dropped} points are alone in their class: they are left out as i, but not as k"
        return [*([left_out] if dropped else []), *([said] if said else [])]


def _weights(given: Instance) -> Softmaxes:
    """Return the `Softmaxes` of MCML. They are computed once, because every certificate needs them."""
    return once(given, lambda given: weights(given.y), "weights")


def _coordinates(given: Instance) -> Coordinates:
    """The coordinates of unit covariance, computed once."""
    return once(given, lambda given: coordinates(given.X), "coordinates")


def _everyone(given: Instance) -> AllSoftmaxes | None:
    """Return the certificate and solver without a table of n x n numbers; None if there are few enough points for one.

    Also None if the differences within the classes do not span all differences, or rounding hides whether they do.
    """
    if len(given.X) <= MAX_POINTS_LISTED:
        return None
    everyone = AllSoftmaxes(given.X, given.y)
    return everyone if everyone.whole else None


def _softmax(given: Instance, A: FloatArray) -> Duals:
    """Return the dual variables q = p_A, the softmax of the distances in a psd A (d, d)."""
    ((loss, rows),) = family(given.X, weights(given.y)).terms
    assert isinstance(loss, LogSumExp)
    assert isinstance(rows, ByPoint)
    blocks = rows.blocks(Plain(given.X @ components_of(A).T), UNPRICED)
    return rows.duals(np.concatenate([loss.slopes(block) for block in blocks]))


def _best(member: Family, at: Coordinates, ended: Ended) -> FloatArray:
    """Return the last metric (r, r) of the solver's path, or a better one if its objective has a large rounding error.

    If features are nearly collinear, entries of the metric can be so large that its distances are lost in rounding.
    Then the candidates are all metrics of the path, and the last metric M with all entries 0 except M[:k, :k], for all
    k < r. The first k coordinates have the largest spread of the points. The candidate with the lowest objective
    plus error bound is returned. ended: the result of the solver, in the coordinates `at`. member: the problem.
    """

    def at_most(M: FloatArray) -> float:
        found = value(member, at.outside(M))
        return found.value + found.error if math.isfinite(found.value) else math.inf

    if ended.status is Status.CONVERGED:
        return ended.M
    last = value(member, at.outside(ended.M))
    if last.error <= NEXT_TO_NOTHING * abs(last.value):
        return ended.M
    masks = [np.arange(len(ended.M)) < k for k in range(len(ended.M))]
    parts = [np.where(np.outer(mask, mask), ended.M, 0.0) for mask in masks]
    return min([ended.M, *ended.tried, *parts], key=at_most)


METHOD = MCML()
