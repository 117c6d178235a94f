"""FrobMetric (Shen, Kim, Wang 2011): a hinge of triplets, and the Frobenius norm of the metric.

With m triplets t = (i, j, l), X_ij = (x_i - x_j)(x_i - x_j)^T and H_t = X_il - X_ij, the problem is

    min_{X psd}  1/2 ||X||^2 + (C/m) sum_t [1 - <X, H_t>]_+ .

`problem` states it with slack variables. Triplets are an input, as in the paper. By default, each of the K nearest
points of the same class (the targets) is combined with each of the K nearest points of other classes.

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem, with the Frobenius norm as the
regularizer and a hinge as the loss. The optimum is unique. A metric with a given gap is within sqrt(2 gap) of it. Gaps
are relative to 1/2 ||X||^2.

Reference: C. Shen, J. Kim, L. Wang, A scalable dual approach to semidefinite metric learning, CVPR 2011.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.estimator import Estimator
from cvxml.core.example import LINE, Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_positive, check_X
from cvxml.core.literal import triplet_names
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, Question, changed, triplets_exchanged
from cvxml.core.other_lists import TRIPLETS
from cvxml.core.parameter import NUMBER, Parameter
from cvxml.core.statement import Statement
from cvxml.core.triplets import BAD_TRIPLETS, BY_TRIPLETS, Compared, check_units, compared
from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers import off_diagonals_once
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.theorem.theorem import Family, Term
from cvxml.solvers.triplet_method import TripletMethod


def problem(X: FloatArray, triplets: IntArray, C: float) -> Any:
    """The problem, row by row. Variables: "X" (d, d), the metric, and "xi" (m,), the slacks of the triplets.

    A row is the constraint of one triplet. The argument X (n, d) has the points.
    """
    import cvxpy as cp

    m = len(triplets)
    X_ = cp.Variable((X.shape[1],) * 2, symmetric=True, name="X")
    xi = cp.Variable(m, name="xi")
    #: X psd,  xi >= 0 | \mathbf{X} \succeq 0, \quad \xi \ge 0
    constraints = [X_ >> 0, xi >= 0]
    for t, (i, j, l) in enumerate(triplets.tolist()):
        #: H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T
        #:   | H_t = (\mathbf{x}_i - \mathbf{x}_l)(\mathbf{x}_i - \mathbf{x}_l)^T
        #:     - (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        H = np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        #: <X, H_t> >= 1 - xi_t for every triplet
        #:   | \langle \mathbf{X}, H_t \rangle \ge 1 - \xi_t \quad \text{for every triplet}
        constraints += [cp.trace(X_ @ H) >= 1 - xi[t]]
    #: min over X, xi:  1/2 ||X||^2 + (C/m) sum_t xi_t
    #:   | \min_{\mathbf{X},\, \xi}\ \tfrac{1}{2} \lVert \mathbf{X} \rVert_F^2 + \frac{C}{m} \sum_t \xi_t
    return cp.Problem(cp.Minimize(cp.sum_squares(X_) / 2 + C / m * cp.sum(xi)), constraints)


def dual(X: FloatArray, triplets: IntArray, C: float) -> Any:
    """The dual of the problem. Variables: "a" (m,), one per triplet, and "S" (d, d), the multiplier of "X psd"."""
    import cvxpy as cp

    m, d = len(triplets), X.shape[1]
    a = cp.Variable(m, name="a")
    S = cp.Variable((d, d), symmetric=True, name="S")
    i, j, l = triplets.T
    H = np.einsum("ta,tb->tab", X[i] - X[l], X[i] - X[l]) - np.einsum("ta,tb->tab", X[i] - X[j], X[i] - X[j])
    G = cp.reshape(H.reshape(m, -1).T @ a, (d, d), order="C")
    #: max over a, S:  sum_t a_t - 1/2 ||sum_t a_t H_t + S||^2
    #:   | \max_{a,\, S}\ \sum_t a_t - \tfrac{1}{2} \lVert \sum_t a_t H_t + S \rVert_F^2
    #: S psd,  0 <= a_t <= C/m | S \succeq 0, \quad 0 \le a_t \le C/m
    return cp.Problem(cp.Maximize(cp.sum(a) - cp.sum_squares(G + S) / 2), [S >> 0, a >= 0, a <= C / m])
    #: [What is proved]
    #: X = sum_t a_t H_t + S at the optimum
    #:   | \mathbf{X} = \textstyle\sum_t a_t H_t + S \text{ at the optimum}
    #: any a within 0 and C/m gives a lower bound;  ||X - X*|| <= sqrt(2 gap)
    #:   | \text{any } a \text{ within } 0 \text{ and } C/m \text{ gives a lower bound;}
    #:     \quad \lVert \mathbf{X} - \mathbf{X}^* \rVert_F \le \sqrt{2\, \mathrm{gap}}


@dataclass(frozen=True, eq=False)
class Instance(Compared):
    """Checked data: triplets and C."""

    C: float


def instance(
    X: ArrayLike, y: ArrayLike | None, *, C: float = 1.0, n_neighbors: int | None = 3, triplets: Any = None
) -> Instance:
    """Check the inputs. Raises ValueError for bad input.

    X (n, d), y (n,) labels, C > 0 the weight of the mean loss, triplets (t, 3). n_neighbors: the K of the default
    triplets.
    """
    points, C = check_X(X), check_positive(C, "C")
    check_units(points, C, "C", "C s^4")
    return Instance(**vars(compared(points, y, n_neighbors, triplets)), C=C)


def objective(given: Instance, M: FloatArray) -> float:
    """1/2 ||M||^2 + (C/m) sum_t [1 - <M, H_t>]_+ at M (d, d), with H_t = X_il - X_ij for the m triplets t."""
    losses = [max(0.0, 1 - margin) for margin in given.margins(M)]
    return float(np.sum(M**2)) / 2 + given.C * float(np.mean(losses))


def _off_diagonals_once(question: Question) -> float:
    given = question.checked(instance)
    return off_diagonals_once.left(question, given, 1.0, given.C / given.count)


MISREADINGS = {
    "sum": Misreading(
        "the sum over triplets where the method has the mean",
        changed("C", lambda q: q.params.get("C", 1.0) * q.checked(instance).count),
    ),
    "no_half": Misreading(
        "||X||^2 where the method has 1/2 ||X||^2", changed("C", lambda q: q.params.get("C", 1.0) / 2)
    ),
    "exchanged": triplets_exchanged(instance),
    "off_diagonals": Misreading(off_diagonals_once.SENTENCE, left=_off_diagonals_once),
    **TRIPLETS,
}


class FrobMetric(TripletMethod[Instance]):
    """FrobMetric: a hinge of triplets, and the Frobenius norm."""

    id = "frobmetric"
    TITLE = "FrobMetric: triplets and the Frobenius norm (Shen, Kim, Wang 2011)"
    PARAMETERS: ClassVar = {
        "C": Parameter("weight of the mean loss, > 0", NUMBER, 1.0),
        **BY_TRIPLETS,
    }
    STATEMENT = Statement("cvxml.methods.frobmetric", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"C": math.inf}
    SMALL: ClassVar = {"n_neighbors": 2, "C": 30.0}
    UNITS: ClassVar = {"C": -4, "objective": -4}
    MOVES = True
    BAD: ClassVar = {**BAD_TRIPLETS, "C": (0, -1.0, 1e-300)}
    # The derivative X - C/4 (sum of the factors of margins below 1) is 0 at X, or changes its sign there.
    HAND: ClassVar = (
        Hand(*LINE, {"C": 0.1, "n_neighbors": 1}, [[1 / 8]], 1 / 128 + 0.025 * (2 - 4.75 / 8)),
        Hand(*LINE, {"C": 1.0, "n_neighbors": 1}, [[7 / 16]], 1 / 4 - (7 / 16) ** 2 / 2),
        Hand(*LINE, {"C": 100.0, "n_neighbors": 1}, [[4 / 7]], (4 / 7) ** 2 / 2),
    )
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator("FrobMetric", scale="half the squared norm of the metric")
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3),
        drawn(6, 12, 14, 2, C=0.1, n_neighbors=1),  # more features than points
        drawn(7, 18, 5, degenerate=True),
        sample("iris", 24, C=10.0, n_neighbors=2),
        verified("iris", 30),
        verified("wine", 30, C=20.0, n_neighbors=2),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.triplets(), given.C)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["X psd", "xi >= 0", *triplet_names(given.triplets())]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.triplets(), given.C)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return {"objective": objective(given, M), "triplets": given.triplets()}

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        norm = Frobenius(given.X, number(1))
        term = Term(Hinge(number(given.C) / given.count), self.rows(given))
        return Family(norm, (term,), of_regularizer=True, radius=norm.around)

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"C": given.C, **given.stored}


METHOD = FrobMetric()
