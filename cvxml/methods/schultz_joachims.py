"""The method of Schultz and Joachims (2003): weights of features, or of given vectors, from relative comparisons.

The data are triplets t = (i, j, l) and a matrix A (d, r). With W = diag(w) and
d(x, x') = (x - x')^T A W A^T (x - x'), the problem is

    min_{w >= 0, xi >= 0}  1/2 w^T L w + C sum_t xi_t   such that  d(x_i, x_l) - d(x_i, x_j) >= 1 - xi_t,

where w^T L w = ||A W A^T||^2. With A = I, the default, w are weights of the features. With A = X^T, the columns are the
points, and the problem is the paper's form for kernels. The metric is M = A W A^T; core/bases.py decides if a matrix
has this form. Triplets are an input, as in the paper; by default they are made from labels.

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem. The regularizer is 1/2 ||M||^2
for M = A W A^T (family/regularizers/combinations.py), and the loss is a hinge. The optimal M is unique. A metric with a
given gap is within sqrt(2 gap) of it. The optimal w is unique if the matrices a_k a_k^T of the columns a_k of A are
linearly independent. Gaps are relative to 1/2 ||M||^2.

Reference: M. Schultz, T. Joachims, Learning a distance metric from relative comparisons, NIPS 2003.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.bases import check_bases, is_identity, weighted
from cvxml.core.estimator import Estimator
from cvxml.core.example import LINE, Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_positive, check_X
from cvxml.core.literal import triplet_names
from cvxml.core.memory import check_metric
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, Question, changed, triplets_exchanged
from cvxml.core.other_lists import TRIPLETS
from cvxml.core.parameter import NUMBER, VECTORS, Parameter
from cvxml.core.statement import Statement
from cvxml.core.triplets import BAD_TRIPLETS, BY_TRIPLETS, WithVectors, check_units, compared
from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers.combinations import NormOfCombination
from cvxml.family.theorem.theorem import Family, Term
from cvxml.solvers.triplet_method import CombinationMethod


def problem(X: FloatArray, triplets: IntArray, C: float, A: FloatArray) -> Any:
    """The problem, triplet by triplet. Variables: "w" (r,), the weights, and "xi" (m,), the slacks of the triplets."""
    import cvxpy as cp

    w, xi = cp.Variable(A.shape[1], name="w"), cp.Variable(len(triplets), name="xi")
    #: M = A diag(w) A^T | \mathbf{M} = \mathbf{A} \operatorname{diag}(\mathbf{w}) \mathbf{A}^T
    M = A @ cp.diag(w) @ A.T
    #: w >= 0,  xi >= 0 | \mathbf{w} \ge 0, \quad \xi \ge 0
    constraints = [w >= 0, xi >= 0]
    for t, (i, j, l) in enumerate(triplets.tolist()):
        #: H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T
        #:   | H_t = (\mathbf{x}_i - \mathbf{x}_l)(\mathbf{x}_i - \mathbf{x}_l)^T
        #:     - (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        H = np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        #: <M, H_t> >= 1 - xi_t for every triplet
        #:   | \langle \mathbf{M}, H_t \rangle \ge 1 - \xi_t \quad \text{for every triplet}
        constraints += [cp.trace(M @ H) >= 1 - xi[t]]
    #: min over w, xi:  1/2 ||M||^2 + C sum_t xi_t
    #:   | \min_{\mathbf{w},\, \xi}\ \tfrac{1}{2} \lVert \mathbf{M} \rVert_F^2 + C \sum_t \xi_t
    return cp.Problem(cp.Minimize(cp.sum_squares(M) / 2 + C * cp.sum(xi)), constraints)


def dual(X: FloatArray, triplets: IntArray, C: float, A: FloatArray) -> Any:
    """The dual of the problem. Variables: "a" (m,), one per triplet, and "z" (r,).

    At the optimum, A diag(z) A^T is the metric.
    """
    import cvxpy as cp

    i, j, l = triplets.T
    #: h_t = (A^T (x_i - x_l))^2 - (A^T (x_i - x_j))^2, by entries
    #:   | \mathbf{h}_t = (\mathbf{A}^T (\mathbf{x}_i - \mathbf{x}_l))^2
    #:     - (\mathbf{A}^T (\mathbf{x}_i - \mathbf{x}_j))^2 \text{, by entries}
    h = ((X[i] - X[l]) @ A) ** 2 - ((X[i] - X[j]) @ A) ** 2
    #: L = (A^T A) o (A^T A), by entries
    #:   | L = (\mathbf{A}^T \mathbf{A}) \circ (\mathbf{A}^T \mathbf{A}) \text{, by entries}
    L = (A.T @ A) ** 2
    a, z = cp.Variable(len(triplets), name="a"), cp.Variable(A.shape[1], name="z")
    # z^T L z = ||A diag(z) A^T||^2
    norm = cp.sum_squares(A @ cp.diag(z) @ A.T)
    #: max over a, z:  sum_t a_t - 1/2 z^T L z
    #:   | \max_{a,\, \mathbf{z}}\ \sum_t a_t - \tfrac{1}{2} \mathbf{z}^T L \mathbf{z}
    #: 0 <= a_t <= C,  L z >= sum_t a_t h_t
    #:   | 0 \le a_t \le C, \quad L \mathbf{z} \ge \textstyle\sum_t a_t \mathbf{h}_t
    return cp.Problem(cp.Maximize(cp.sum(a) - norm / 2), [a >= 0, a <= C, L @ z >= h.T @ a])
    #: [What is proved]
    #: A diag(z) A^T = M at the optimum
    #:   | \mathbf{A} \operatorname{diag}(\mathbf{z}) \mathbf{A}^T = \mathbf{M} \text{ at the optimum}
    #: any a within 0 and C gives a lower bound;  ||M - M*|| <= sqrt(2 gap)
    #:   | \text{any } a \text{ within } 0 \text{ and } C \text{ gives a lower bound;}
    #:     \quad \lVert \mathbf{M} - \mathbf{M}^* \rVert_F \le \sqrt{2\, \mathrm{gap}}


@dataclass(frozen=True, eq=False)
class Instance(WithVectors):
    """Checked data: triplets, C and A (d, r)."""

    C: float
    A: FloatArray  # (d, r)

    @property
    def basis(self) -> FloatArray:
        """The columns of A as the rows of a matrix (r, d)."""
        return np.ascontiguousarray(self.A.T)


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    C: float = 1.0,
    A: ArrayLike | None = None,
    n_neighbors: int | None = 3,
    triplets: Any = None,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input.

    X (n, d), y (n,) labels, C > 0, A (d, r), by default the identity, triplets (t, 3). n_neighbors: K. By default, the
    triplets combine the K nearest points of the same class with the K nearest points of other classes.
    """
    points, C = check_X(X), check_positive(C, "C")
    check_metric(points.shape[1])
    columns = np.eye(points.shape[1])
    if A is not None:
        given = np.asarray(A)
        columns = check_bases(given.T if given.ndim == 2 else given, points.shape[1], "the columns of A").T
    check_units(points, C, "C", "C s^4")
    return Instance(**vars(compared(points, y, n_neighbors, triplets)), C=C, A=np.ascontiguousarray(columns))


def objective(given: Instance, M: FloatArray) -> float:
    """1/2 ||M||^2 + C sum_t [1 - <M, H_t>]_+ at M (d, d), for triplets t = (i, j, l).

    H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T.
    """
    return float(np.sum(M**2)) / 2 + given.C * float(np.sum([max(0.0, 1 - v) for v in given.margins(M)]))


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective; w (r,), the weights of M; norm, 1/2 ||M||^2; triplets (m, 3), their margins and slacks (m,); subgradient
    (d, d) in M.
    """
    margins = given.margins(M)
    return {
        "objective": objective(given, M),
        "w": weighted(M, given.basis, given.X).w,
        "norm": float(np.sum(M**2)) / 2,
        "triplets": given.triplets(),
        "margins": margins,
        "slacks": np.maximum(0.0, 1 - margins),
        "subgradient": M - given.C * given.weighted_sum((margins < 1).astype(float)),
    }


def _of_features(question: Question) -> Any:
    given = question.checked(instance)
    return None if is_identity(given.basis) else np.eye(given.X.shape[1])


# Two mistakes are not listed: negative weights, which give no metric, and any psd M, which is another method.
MISREADINGS = {
    "mean": Misreading(
        "the mean over triplets where the method has the sum",
        changed("C", lambda q: q.checked(instance).C / q.checked(instance).count),
    ),
    "no_half": Misreading(
        "||M||^2 where the method has 1/2 ||M||^2", changed("C", lambda q: q.checked(instance).C / 2)
    ),
    "exchanged": triplets_exchanged(instance),
    **TRIPLETS,
    "features": Misreading(
        "weights of the features where the method has weights of the columns of A", changed("A", _of_features)
    ),
}


class SchultzJoachims(CombinationMethod[Instance]):
    """The method of Schultz and Joachims: weights of features, or of given vectors, from relative comparisons."""

    id = "schultz_joachims"
    TITLE = "Distance metric from relative comparisons (Schultz, Joachims 2003)"
    PARAMETERS: ClassVar = {
        "C": Parameter("weight of the sum of slacks, > 0", NUMBER, 1.0),
        "A": Parameter(
            "(d, r): the metric is A diag(w) A^T with weights w >= 0",
            VECTORS,
            otherwise="the identity: the features",
        ),
        **BY_TRIPLETS,
    }
    STATEMENT = Statement("cvxml.methods.schultz_joachims", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"C": math.inf}
    SMALL: ClassVar = {"n_neighbors": 2, "C": 0.1}
    FOLLOWS = "order"
    UNITS: ClassVar = {"C": -4, "objective": -4}
    BAD: ClassVar = {**BAD_TRIPLETS, "C": (0, 1e-200), "A": (np.eye(2), np.zeros((3, 1)), [1.0, 2.0, 3.0])}
    HAND: ClassVar = (
        # The only margin, 3 w_0 + 8 w_1, stays below 1. So w = C (3, 8), and the optimum is C - C^2 (9 + 64) / 2.
        Hand(
            [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]],
            None,
            {"C": 0.01, "triplets": [[0, 1, 2]]},
            [[0.03, 0.0], [0.0, 0.08]],
            0.01 - 73e-4 / 2,
        ),
        # The derivative w - C (sum of the factors of margins below 1) changes its sign at w.
        Hand(*LINE, {"C": 0.1, "n_neighbors": 1}, [[1 / 3]], 1 / 18 + 0.1 * (1 - 1.75 / 3)),
        Hand(*LINE, {"C": 1.0, "n_neighbors": 1}, [[4 / 7]], (4 / 7) ** 2 / 2),
    )
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator(
        "SchultzJoachims",
        "The metric of Schultz and Joachims (2003), weights of features or columns, solved to a certified gap.",
        positional=("C", "n_neighbors"),
        scale="half the squared norm of the metric",
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3),
        drawn(
            6,
            12,
            4,
            2,
            C=0.1,
            n_neighbors=1,
            A=[[1, 0, 1, 1, 0], [0, 1, 1, -1, 0], [0, 0, 1, 2, 1], [1, 1, 0, 0, 3]],
        ),
        drawn(7, 18, 5, degenerate=True),
        sample("iris", 24, C=0.05, n_neighbors=2),
        verified("iris", 24),
        verified("wine", 24, C=0.1, n_neighbors=2),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.triplets(), given.C, given.A)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["w >= 0", "xi >= 0", *triplet_names(given.triplets())]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.triplets(), given.C, given.A)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        norm = NormOfCombination(given.X, given.basis)
        term = Term(Hinge(number(given.C)), self.rows(given))
        return Family(norm, (term,), of_regularizer=True, radius=norm.around)

    def stored(self, given: Instance) -> dict[str, Any]:
        A = None if is_identity(given.basis) else given.A.tolist()
        return {"C": given.C, "A": A, **given.stored}


METHOD = SchultzJoachims()
