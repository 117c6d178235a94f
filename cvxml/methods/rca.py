"""RCA, relevant component analysis (Shental et al. 2002; Bar-Hillel et al. 2005): points of a chunklet are near.

A chunklet is a set of points that are known to have the same, possibly unknown, class. For the n points x_ji of the
chunklets j = 1..k with means m_j, the problem is
    min_{B pd}  1/n sum_j sum_i ||x_ji - m_j||_B^2     such that  |B| >= 1.
Here ||x||_B^2 = x^T B x, and |B| is the determinant. We add alpha tr B, which is not in the paper (alpha = 0 by
default). This adds alpha to the diagonal of the covariance C within chunklets. The solution is |C|^(1/d) C^-1. Only the
constraint determines the size of B, and other programs return C^-1. So a metric is judged after scaling it to
determinant 1.

Dual and bound: any number l > 0 gives a bound (`dual`), by the inequality of the arithmetic and geometric mean. It is
computed in rationals and in balls, which are numbers with a proved error bound (core/balls.py). For B of determinant 1
and the optimum B*, with the log det divergence D_ld,
    gap / l* = D_ld(B, B*),   l* = |C|^(1/d).
So the optimum is unique. The radius, a bound of the distance to it, follows as for ITML
(family/regularizers/logdet.py). Scale, the number that gaps are relative to: the optimum d l*. If C is singular and not
0, the infimum is 0 and no metric attains it. If C is 0, every metric is optimal. `instance` refuses both cases, by the
exact rank.

A misreading is another problem that an implementation may have solved by mistake. `check` tries the `MISREADINGS`. A
`Question` is the user's metric, with the data and parameters that it was judged with.

Reference: A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall, Learning a Mahalanobis metric from equivalence
constraints, JMLR 6, 2005. The printed equations were not available to us; docs/rca.md lists our sources.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import TooFewBits, ball, ends, precision, with_enough_bits
from cvxml.core.dependent import refuse_inaccurate
from cvxml.core.exact import Exact, flint, scaled, upward
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_labels, check_number, check_X, dual_array
from cvxml.core.integer_matrices import is_definite, rationals, symmetric_whole, within_groups
from cvxml.core.memory import check_exact
from cvxml.core.method import ConvexMethod
from cvxml.core.metric import FloatArray, IntArray, examine, of_determinant_1
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed, weight_of_ridge
from cvxml.core.parameter import MEMBERS, NUMBER, Parameter
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, Start, in_one_step
from cvxml.core.statement import Statement
from cvxml.family.regularizers.logdet import distance
from cvxml.family.theorem.ball_certificate import certificate, definite
from cvxml.numbers.span import rank_along

LARGEST = 1e280  # largest optimum; the smallest is 1 / LARGEST
OUTSIDE = -1  # code of points in no chunklet
FEW = 50  # features, up to which the determinant of C takes less time than its rank


def problem(X: FloatArray, chunklets: IntArray, alpha: float) -> Any:
    """The problem, point by point. A cvxpy problem with the variable "B" (d, d).

    chunklets (n,): the chunklet of each point, -1 for a point in no chunklet.
    """
    import cvxpy as cp

    B = cp.Variable((X.shape[1],) * 2, symmetric=True, name="B")
    distances = []
    for j in sorted(set(chunklets.tolist()) - {OUTSIDE}):
        #: x_ji: the points of chunklet j;  m_j: their mean;  n: all points in chunklets
        #:   | \mathbf{x}_{ji} \text{: the points of chunklet } j, \quad \mathbf{m}_j \text{: their mean,}
        #:     \quad n \text{: all points in chunklets}
        points = X[chunklets == j]
        m_j = points.mean(axis=0)
        for x in points:
            #: ||x_ji - m_j||_B^2 = (x_ji - m_j)^T B (x_ji - m_j)
            #:   | \lVert \mathbf{x}_{ji} - \mathbf{m}_j \rVert_B^2
            #:     = (\mathbf{x}_{ji} - \mathbf{m}_j)^T B (\mathbf{x}_{ji} - \mathbf{m}_j)
            distances += [(x - m_j) @ B @ (x - m_j)]
    #: B positive definite,  |B| >= 1 | B \succ 0, \quad |B| \ge 1
    constraints = [cp.log_det(B) >= 0]  # the domain of log_det is the positive definite matrices
    #: min over B:  1/n sum_j sum_i ||x_ji - m_j||_B^2 + alpha tr B,  where alpha is ours
    #:   | \min_{B}\ \frac{1}{n} \sum_j \sum_i \lVert \mathbf{x}_{ji} - \mathbf{m}_j \rVert_B^2
    #:     + \alpha \operatorname{tr} B, \quad \text{where } \alpha \text{ is ours}
    return cp.Problem(
        cp.Minimize(cp.sum(cp.hstack(distances)) / len(distances) + alpha * cp.trace(B)), constraints
    )


def dual(X: FloatArray, chunklets: IntArray, alpha: float) -> Any:
    """The dual of the problem. Variable: "l", of the constraint |B| >= 1."""
    import cvxpy as cp

    d = X.shape[1]
    #: C = 1/n sum_j sum_i (x_ji - m_j)(x_ji - m_j)^T + alpha I
    #:   | C = \frac{1}{n} \sum_j \sum_i (\mathbf{x}_{ji} - \mathbf{m}_j)
    #:     (\mathbf{x}_{ji} - \mathbf{m}_j)^T + \alpha I
    C = covariance(X, chunklets) + alpha * np.eye(d)
    #: l >= 0 | l \ge 0
    l = cp.Variable(nonneg=True, name="l")
    #: max over l:  d l - d l log l + l log |C|
    #:   | \max_{l}\ d\, l - d\, l \log l + l \log |C|
    return cp.Problem(cp.Maximize(d * l + d * cp.entr(l) + l * np.linalg.slogdet(C)[1]))
    #: [What is proved]
    #: B = |C|^(1/d) C^-1 and l = |C|^(1/d) at the optimum, and the optimal value is d |C|^(1/d)
    #:   | B = |C|^{1/d} C^{-1} \text{ and } l = |C|^{1/d} \text{ at the optimum, and the optimal value is }
    #:     d\, |C|^{1/d}
    #: any l > 0 gives a lower bound;  a factor of B does not matter: B / |B|^(1/d) is judged
    #:   | \text{any } l > 0 \text{ gives a lower bound; a factor of } B \text{ does not matter: } B / |B|^{1/d}
    #:     \text{ is judged}
    #: no optimum if C is singular and not 0: the infimum 0 is not attained
    #:   | \text{no optimum if } C \text{ is singular and not } 0 \text{: the infimum } 0 \text{ is not attained}


def covariance(X: FloatArray, chunklets: IntArray) -> FloatArray:
    """The covariance within chunklets (d, d), C without alpha I: a mean over all points in chunklets.

    chunklets (n,): the chunklet of each point, -1 for a point in no chunklet.
    """
    C, n = np.zeros((X.shape[1],) * 2), 0
    for j in set(chunklets.tolist()) - {OUTSIDE}:
        points = X[chunklets == j]
        for x in points - points.mean(axis=0):
            C += np.outer(x, x)
        n += len(points)
    return C / n


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data; C has full rank.

    chunklets (n,): the codes 0..k-1, and -1 for a point in no chunklet. listed: the chunklets that the user gave, or
    None.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes; zeros if chunklets were given
    chunklets: IntArray  # (n,) codes 0..k-1, OUTSIDE for a point in no chunklet
    alpha: float
    listed: list[int] | None  # the user's chunklets

    @property
    def linked(self) -> IntArray:
        """Pairs (p, 2), one for each point in a chunklet: the first point of its chunklet, and the point itself."""
        inside = np.flatnonzero(self.chunklets != OUTSIDE)
        _, first, own = np.unique(self.chunklets[inside], return_index=True, return_inverse=True)
        linked: IntArray = np.stack([inside[first][own], inside], axis=1)
        return linked

    @cached_property
    def C(self) -> Any:
        """The covariance within chunklets plus alpha I (d, d), exact, as flint's rationals."""
        check_exact(*self.X.shape)
        inside = self.chunklets != OUTSIDE
        sizes = np.bincount(self.chunklets[inside]).tolist()
        common = math.lcm(*sizes)
        total, at = within_groups(self.X[inside], self.chunklets[inside], [common // size for size in sizes])
        return rationals(total, scaled(1, at) / (common * sum(sizes)), self.alpha)

    @cached_property
    def det(self) -> Any:
        return self.C.det()


def instance(
    X: ArrayLike, y: ArrayLike | None = None, *, chunklets: Any = None, alpha: float = 0.0
) -> Instance:
    """Check the inputs. Raises ValueError for bad input, and if no metric, or every metric, is optimal.

    X (n, d), y (n,) labels, which are the chunklets by default. chunklets: n integers, -1 for a point in no chunklet.
    alpha >= 0.
    """
    points, alpha = check_X(X), check_number(alpha, "alpha")
    if alpha < 0:
        raise ValueError(f"alpha must be at least 0, got {alpha!r}")
    if chunklets is not None:
        codes, listed = _given_chunklets(chunklets, len(points))
        given = Instance(points, np.zeros(len(points), dtype=np.intp), codes, alpha, listed)
    elif y is None:
        raise ValueError(
            "y is None: it must be one-dimensional, one label for each point, if no chunklets are given"
        )
    else:
        codes = check_labels(y, len(points))
        given = Instance(points, codes, codes, alpha, None)
    _check_attained(given)
    return given


def _given_chunklets(chunklets: Any, n: int) -> tuple[IntArray, list[int]]:
    """Chunklet codes 0..k-1 (n,), -1 for a point in no chunklet, and the given numbers as a list.

    Raises ValueError unless `chunklets` has n integers >= -1, not all of them -1.
    """
    values = np.asarray(chunklets)
    if values.shape != (n,) or values.dtype.kind not in "iu":
        raise ValueError(
            f"chunklets must be {n} integers, one for each point, -1 for a point in none; got shape {values.shape}, "
            f"{values.dtype}"
        )
    if values.min() < OUTSIDE:
        raise ValueError(
            f"chunklets[{int(values.argmin())}] is {values.min()}: it must be a chunklet number, 0 or more, or "
            "-1 for a point in no chunklet"
        )
    inside = values != OUTSIDE
    if not inside.any():
        raise ValueError("chunklets are -1 for every point: give at least one chunklet of two points")
    codes = np.full(n, OUTSIDE, dtype=np.intp)
    codes[inside] = np.unique(values[inside], return_inverse=True)[1]
    return codes, values.tolist()


def _check_attained(given: Instance) -> None:
    """Raise ValueError if C is singular, by its exact rank, or if the optimum is outside 1e-280 to 1e280."""
    d = given.X.shape[1]
    # for few features the determinant, which is needed in any case, decides faster than the rank
    regular = given.alpha > 0 or (d <= FEW and given.det != 0)
    rank = d if regular else rank_along(given.X, given.linked)
    if rank == 0:
        raise ValueError(
            "no point differs from the mean of its chunklet: every metric is optimal; "
            "give chunklets of different points"
        )
    if rank < d:
        raise ValueError(
            f"points differ from the mean of their chunklet in {rank} of {d} directions: distances along "
            "the others add no cost, so the infimum is 0 and no metric attains it. Give alpha > 0, more points "
            "in chunklets, or fewer "
            "features (the first principal components, say)"
        )
    with precision():
        if not (ball(1) / LARGEST < optimum(given) < LARGEST):
            raise ValueError(
                f"X: the optimum d |C|^(1/d) must be between {1 / LARGEST:g} and {LARGEST:g}; rescale X, and alpha by "
                "the square of the factor"
            )


def objective(given: Instance, M: FloatArray) -> float:
    """The objective at B = M / |M|^(1/d), which is 1/n sum_ji ||x_ji - m_j||_B^2 + alpha tr B; inf if M is singular.

    M (d, d) is the metric. The x_ji are the n points of the chunklets j with means m_j.
    """
    return float(evaluate(given, M)["objective"])


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective, at B; B = M / |M|^(1/d) (d, d), NaN if M is singular; log_det of M; D (n,); C (d, d) including alpha I;
    means (k, d). The entries of D are the squared distances under M of the points from the means of their chunklets,
    and NaN outside of chunklets.
    """
    X, d = given.X, given.X.shape[1]
    means = np.array([X[given.chunklets == j].mean(axis=0) for j in range(given.chunklets.max() + 1)])
    D = np.full(len(X), math.nan)
    for i, j in enumerate(given.chunklets):
        if j != OUTSIDE:
            D[i] = (X[i] - means[j]) @ M @ (X[i] - means[j])
    sign, log_det = np.linalg.slogdet(M)
    factor = math.exp(-log_det / d) if sign > 0 else math.nan
    value = float(np.nanmean(D) + given.alpha * np.trace(M)) * factor
    return {
        "objective": value if sign > 0 else math.inf,
        "B": M * factor,
        "log_det": log_det if sign > 0 else -math.inf,
        "D": D,
        "C": covariance(X, given.chunklets) + given.alpha * np.eye(d),
        "means": means,
    }


def value(given: Instance, V: Any) -> Any:
    """The objective at V / |V|^(1/d), as a ball. V (d, d): a positive definite matrix of integers."""
    spent = sum((c * v for c, v in zip(given.C.entries(), V.entries(), strict=True)), start=flint().fmpq(0))
    return ball(spent) * (-ball(V.det()).log() / V.nrows()).exp()


def bound(given: Instance, l: float) -> Any:
    """The lower bound d l - d l log l + l log |C| from the dual variable l, as a ball.

    0 if l is not a positive number, or if this bound is not positive.
    """
    if not (math.isfinite(l) and l > 0):
        return ball(0)
    d, price = len(given.X[0]), ball(l)
    proved = price * (d - d * price.log() + ball(given.det).log())
    return proved if proved > 0 else ball(0)


def optimum(given: Instance) -> Any:
    """The optimal value d |C|^(1/d), as a ball, with C the covariance within chunklets plus alpha I."""
    d = len(given.X[0])
    return d * (ball(given.det).log() / d).exp()


def closed_form(given: Instance) -> tuple[FloatArray, float]:
    """The optimal B (d, d) and the optimal dual variable l, rounded to floats."""
    return with_enough_bits(lambda: _closed_form(given))


def _closed_form(given: Instance) -> tuple[FloatArray, float]:
    l = optimum(given) / len(given.X[0])
    try:
        inverse = flint().arb_mat([[ball(entry) for entry in row] for row in given.C.tolist()]).inv()
    except ZeroDivisionError as error:
        raise TooFewBits("the covariance within chunklets is nearly singular") from error
    B = np.array([[float(l * entry) for entry in row] for row in inverse.tolist()])
    return (B + B.T) / 2, float(l)


def _weighted(share: Callable[[IntArray], Any], sentence: str) -> Misreading:
    """Return the misreading in which a chunklet of n_j points has the weight share(n_j) in the covariance C, not n_j.

    It equals RCA with the points of each chunklet moved toward their mean, or away from it. It does not apply if all
    weights are the same multiple of n_j; chunklets of one point are not counted. share: maps the numbers of points (k,)
    to weights (k,).

    sentence: the text for the report.
    """

    def change(question: Question) -> OtherProblem | None:
        given = question.checked(instance)
        j, X = given.chunklets, given.X.copy()
        sizes = np.bincount(j[j != OUTSIDE])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(sizes > 1, share(sizes) / sizes, 0.0)
        if np.ptp(shares[sizes > 1]) == 0:
            return None
        shares *= sizes.sum() / (shares * sizes).sum()
        for c, by in enumerate(shares):
            mean = X[j == c].mean(axis=0)
            X[j == c] = mean + np.sqrt(by) * (X[j == c] - mean)
        return OtherProblem(X, question.y, question.params)

    return Misreading(sentence, change)


def _other_chunklets(change: Callable[[IntArray], IntArray], sentence: str) -> Misreading:
    def problem(question: Question) -> OtherProblem | None:
        given = question.checked(instance).chunklets
        other = change(given)
        if np.array_equal(other, given):
            return None
        return OtherProblem(question.X, None, {**question.params, "chunklets": other.tolist()})

    return Misreading(sentence, problem)


def _uncentred(shift: Callable[[FloatArray], FloatArray], sentence: str) -> Misreading:
    """Return the misreading with shift(points) in place of the deviations of the points of a chunklet from their mean.

    It equals RCA with one chunklet of all these vectors and their negatives, because their mean is 0. shift: maps the
    points (n_j, d) of a chunklet to vectors (n_j, d).

    sentence: the text for the report.
    """

    def problem(question: Question) -> OtherProblem:
        given = question.checked(instance)
        moved = [shift(given.X[given.chunklets == j]) for j in range(given.chunklets.max() + 1)]
        E = np.concatenate(moved)
        return OtherProblem(
            np.concatenate([E, -E]), None, {**question.params, "chunklets": [0] * (2 * len(E))}
        )

    return Misreading(sentence, problem)


def _recycled(points: FloatArray) -> FloatArray:
    """The points (n_j, d) minus their mean m (d,), as the language R subtracts a vector from a matrix.

    R goes down the columns of the matrix, and repeats m as often as needed. So the k-th entry in this order, counted
    from 0, loses the entry k mod d of m.
    """
    means = np.resize(points.mean(axis=0), points.size)
    return points - means.reshape(points.shape, order="F")


def _of_rank(question: Question) -> OtherProblem | None:
    """The problem restricted to the range of the user's metric.

    None unless the rank of the metric is at least 2 and less than d.
    """
    values, vectors = np.linalg.eigh((question.metric + question.metric.T) / 2)
    seen = values > 1e-10 * values[-1]
    if seen.all() or np.count_nonzero(seen) < 2:  # in one dimension every metric is optimal
        return None
    given = question.checked(instance)
    params = {**question.params, "chunklets": given.chunklets.tolist()}
    return OtherProblem(given.X @ vectors[:, seen], None, params, metric=np.diag(values[seen]))


def _another_alpha(question: Question) -> float | None:
    """The alpha for which the gap of the user's metric is smallest.

    None if this alpha equals the given one up to 0.1 %, or is outside 1e-10 to 10 times the largest eigenvalue of the
    covariance within chunklets. None also if the metric is singular, or this covariance is 0. The gap is convex in
    alpha. Its derivative is tr B - |C|^(1/d) tr C^-1, where B is the metric scaled to determinant 1, and C contains
    alpha I.
    """
    given, M = question.checked(instance), np.linalg.eigvalsh(question.metric)
    w = np.linalg.eigvalsh(covariance(given.X, given.chunklets))
    if not (M[0] > 0 and w[-1] > 0):
        return None
    trace = float(np.sum(M) * np.exp(-np.mean(np.log(M))))

    def slope(alpha: float) -> float:
        values = np.maximum(w, 0.0) + alpha
        return trace - float(np.exp(np.mean(np.log(values))) * np.sum(1 / values))

    return weight_of_ridge(slope, float(w[-1]), given.alpha)


# Mistakes in implementations. `check` recognizes C, C^(-1/2) and multiples of C^-1 by itself, so they are not listed.
MISREADINGS = {
    "total": _other_chunklets(lambda j: 0 * j, "the covariance of all points where the method has the "
        "covariance within chunklets"),
    "inside": _other_chunklets(
        lambda j: np.minimum(j, 0), "the covariance of all points in chunklets, around one mean for all"
    ),
    "stray": _other_chunklets(
        lambda j: np.where(j == OUTSIDE, j.max() + 1, j), "the points outside of chunklets as one more chunklet"
    ),
    "mean": _weighted(
        lambda n: np.ones(len(n)), "the mean of the chunklets' covariances, where the method gives every point "
            "the same weight"
    ),
    "unbiased": _weighted(
        lambda n: n / (n - 1.0), "the mean of the chunklets' covariances by n - 1, where the method gives every "
            "point the same weight"
    ),
    "pairs": _weighted(
        lambda n: n**2.0, "the sum over all pairs of a chunklet, in which large chunklets weigh more"
    ),
    "uncentred": _uncentred(lambda points: points, "the points without subtraction of their mean"),
    "recycled": _uncentred(
        _recycled, "the mean subtracted down the columns of a chunklet in place of across (R's dml)"
    ),
    "no_alpha": Misreading(
        "the covariance without alpha", changed("alpha", lambda q: 0.0 if q.params.get("alpha") else None)
    ),
    "another_alpha": Misreading(
        "another alpha than the given one", changed("alpha", _another_alpha), fits="alpha"
    ),
    "rank": Misreading("only the directions in the range of the metric (n_components)", _of_rank),
}  # fmt: skip


class RCA(ConvexMethod[Instance]):
    """Relevant component analysis: the points of a chunklet are near each other."""

    id = "rca"
    TITLE = "RCA: relevant component analysis (Shental et al. 2002, Bar-Hillel et al. 2005)"
    EXPONENTIAL = True
    MAX_ITER = 1  # a closed form
    PARAMETERS: ClassVar = {
        "chunklets": Parameter(
            "the chunklet of each point, 0 or more, or -1 for none; y is then ignored",
            MEMBERS,
            otherwise="the classes y",
        ),
        "alpha": Parameter("added to the diagonal of the covariance within chunklets, >= 0", NUMBER, 0.0),
    }
    STATEMENT = Statement("cvxml.methods.rca", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    DUAL: ClassVar = {"l": "1"}
    SMALL: ClassVar = {"alpha": 0.1}
    UNITS = None  # the metric has determinant 1 in any units
    BAD: ClassVar = {
        "alpha": (-1.0,),
        "chunklets": ([0] * 15, [0.0] * 16, [[0]] * 16, [-2] + [0] * 15, [-1] * 16, "classes"),
    }
    HAND: ClassVar = (
        # One chunklet along each axis and a point in no chunklet: C = diag(1/2, 2), with determinant 1.
        Hand(
            [[1.0, 7.0], [-1.0, 7.0], [3.0, 2.0], [3.0, -2.0], [9.0, 9.0]],
            None,
            {"chunklets": [0, 0, 4, 4, -1]},
            [[2.0, 0.0], [0.0, 0.5]],
            2.0,
        ),
    )
    RADIUS = True
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3),
        drawn(7, 14, 5, degenerate=True, alpha=0.1),
        drawn(8, 14, 2, 2, chunklets=[0, 0, 3, 3, 3, -1, 1, 1, -1, 7, 1, 0, -1, 4]),
        sample("iris", 24),
        verified("iris"),
        verified("wine", 60, alpha=0.01),
        timed("iris"),
        timed("wine"),
    )

    def allowed(self, given: Instance, M: FloatArray) -> FloatArray:
        return of_determinant_1(M)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.chunklets, given.alpha)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["|B| >= 1"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.chunklets, given.alpha)

    def literal_rows(self, given: Instance) -> int:
        """The number of points in chunklets. The objective has one distance for each of them."""
        return int(np.count_nonzero(given.chunklets != OUTSIDE))

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """The dual variable "l" (1,) of the constraint |B| >= 1. values: the solution of `dual` by cvxpy."""
        return {"l": np.reshape(values["l"], 1)}

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def certify(self, given: Instance, M: FloatArray, dual: Dual) -> Certificate:
        """The certificate of the metric M (d, d) from "l" (1,), any number except NaN.

        An l without a positive bound counts as 0. A singular metric has the objective inf.
        """
        psd, feasibility = examine(M, given.X)
        (l,), d, V = dual_array(dual, "l", (1,)), len(M), symmetric_whole(M)[0]
        with precision():
            best, proved = optimum(given), bound(given, l)
            regular = is_definite(V)
            here = value(given, V) if regular else math.inf
            left = upward(ends(d * (here / best - 1))[1]) if regular else math.inf
        return certificate(
            here,
            proved,
            scale=float(best),
            radius=lambda _: distance(psd, max(0.0, left)),
            feasibility=feasibility,
            dual={"l": np.array([l if proved > 0 else 0.0])},
        )

    def exact(self, given: Instance, M: FloatArray, dual: Dual, *, root: ArrayLike | None = None) -> Exact:
        """The certificate of M (d, d) as rational numbers, rounded outward. Raises ValueError for a singular metric.

        dual: the "l" of `certify`. root: R with R R^T near M, if it is known.
        """
        metric, (l,) = definite(M, root), dual_array(dual, "l", (1,))
        with precision():
            low, high, scale = map(ends, (bound(given, l), value(given, metric.V), optimum(given)))
        return Exact(low[0], high[1], metric.distance, scale[0])

    def search(
        self, given: Instance, tol: float, max_iter: int, start: Start | None, callback: Callback
    ) -> Found:
        """Return the closed form. Raises ValueError if nearly dependent features make it inaccurate in floats.

        tol, max_iter and start are not used.
        """
        metric, l = closed_form(given)
        dual = {"l": np.array([l])}
        proof = self.certify(given, metric, dual)
        refuse_inaccurate(proof, given.X, "give alpha > 0")
        return in_one_step(metric, dual, lambda *_: proof, callback)

    def stored(self, given: Instance) -> dict[str, Any]:
        """The parameters, as a file stores them; chunklets are None if the labels define them."""
        return {"chunklets": given.listed, "alpha": given.alpha}


METHOD = RCA()
