"""SCML, sparse compositional metric learning, global form (Shi, Bellet, Sha 2014): a sparse sum of rank-one metrics.

The data are m triplets t = (i, j, l) and vectors b_1 .. b_K, the `basis`. With X_ij = (x_i - x_j)(x_i - x_j)^T and
H_t = X_il - X_ij, the problem is the linear programme

    min_{w >= 0}  beta sum_k w_k + (1/m) sum_t [1 - <M, H_t>]_+ ,    M = sum_k w_k b_k b_k^T.

By default the triplets come from the labels, and the basis from the triplets by our own rule (`basis_of`). The authors
take Fisher discriminants of regions found by k-means. If several weights w give the same metric M, it is judged by
those with the smallest sum. core/bases.py finds them, and decides if a matrix is a combination of the basis.

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem. The regularizer is beta times
the sum of the weights (family/regularizers/combinations.py), and the loss is a hinge. The optimum is attained, and need
not be unique. Gaps are relative to the objective, which lies in (0, 1] at the optimum.

Reference: Y. Shi, A. Bellet, F. Sha, Sparse compositional metric learning, AAAI 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.bases import above_least, check_bases, weighted
from cvxml.core.derived import Derived
from cvxml.core.estimator import Estimator
from cvxml.core.example import LINE, Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_count, check_positive, check_X
from cvxml.core.memory import check_room
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, Question, changed, triplets_exchanged
from cvxml.core.other_lists import TRIPLETS
from cvxml.core.parameter import COUNT, NUMBER, VECTORS, Parameter
from cvxml.core.statement import Statement
from cvxml.core.triplets import BAD_TRIPLETS, BY_TRIPLETS, WithVectors, check_units, compared
from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers.combinations import SumOfWeights
from cvxml.family.theorem.theorem import Family, Term
from cvxml.solvers.triplet_method import CombinationMethod

A_FEATURE = 20  # default of n_basis, per feature


def problem(X: FloatArray, triplets: IntArray, beta: float, basis: FloatArray) -> Any:
    """The problem, triplet by triplet. Variable: "w" (K,). basis (K, d): the vectors b_k as rows."""
    import cvxpy as cp

    w = cp.Variable(len(basis), name="w")
    #: M = sum_k w_k b_k b_k^T | \mathbf{M} = \textstyle\sum_k w_k \mathbf{b}_k \mathbf{b}_k^T
    M = basis.T @ cp.diag(w) @ basis
    losses = []
    for i, j, l in triplets.tolist():
        #: H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T
        #:   | H_t = (\mathbf{x}_i - \mathbf{x}_l)(\mathbf{x}_i - \mathbf{x}_l)^T
        #:     - (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        H = np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        losses += [cp.pos(1 - cp.trace(M @ H))]
    cost = beta * cp.sum(w) + cp.sum(cp.hstack(losses)) / len(triplets)
    #: min over w:  beta sum_k w_k + 1/m sum_t [1 - <M, H_t>]_+
    #:   | \min_{\mathbf{w}}\ \beta \sum_k w_k + \frac{1}{m} \sum_t [1 - \langle \mathbf{M}, H_t \rangle]_+
    #: w >= 0 | \mathbf{w} \ge 0
    return cp.Problem(cp.Minimize(cost), [w >= 0])


def dual(X: FloatArray, triplets: IntArray, beta: float, basis: FloatArray) -> Any:
    """The dual of the problem. Variable: "a" (m,), one per triplet."""
    import cvxpy as cp

    i, j, l = triplets.T
    #: b_k^T H_t b_k = (b_k^T (x_i - x_l))^2 - (b_k^T (x_i - x_j))^2
    #:   | \mathbf{b}_k^T H_t \mathbf{b}_k
    #:     = (\mathbf{b}_k^T (\mathbf{x}_i - \mathbf{x}_l))^2 - (\mathbf{b}_k^T (\mathbf{x}_i - \mathbf{x}_j))^2
    gained = ((X[i] - X[l]) @ basis.T) ** 2 - ((X[i] - X[j]) @ basis.T) ** 2
    a = cp.Variable(len(triplets), name="a")
    #: max over a:  sum_t a_t | \max_{a}\ \sum_t a_t
    #: 0 <= a_t <= 1/m,  sum_t a_t b_k^T H_t b_k <= beta for every k
    #:   | 0 \le a_t \le 1/m, \quad \textstyle\sum_t a_t \mathbf{b}_k^T H_t \mathbf{b}_k \le \beta
    #:     \quad \text{for every } k
    return cp.Problem(cp.Maximize(cp.sum(a)), [a >= 0, a <= 1 / len(triplets), gained.T @ a <= beta])
    #: [What is proved]
    #: w_k > 0 only where sum_t a_t b_k^T H_t b_k = beta at the optimum
    #:   | w_k > 0 \text{ only where } \textstyle\sum_t a_t \mathbf{b}_k^T H_t \mathbf{b}_k = \beta
    #:     \text{ at the optimum}
    #: any a within 0 and 1/m, times the largest factor that keeps to 1/m and beta, gives a lower bound
    #:   | \text{any } a \text{ within } 0 \text{ and } 1/m \text{, times the largest factor that keeps to } 1/m
    #:     \text{ and } \beta \text{, gives a lower bound}


@dataclass(frozen=True, eq=False)
class Instance(WithVectors):
    """Checked data: triplets, beta and the basis.

    vectors (K, d): the basis. n_basis: the parameter that the user gave, or None. by_triplets: True if the vectors come
    from the triplets, False if they were given.
    """

    beta: float
    vectors: FloatArray = field(repr=False)  # (K, d)
    n_basis: int | None  # the user's value
    by_triplets: bool  # True if the vectors come from the triplets, False if they were given

    @property
    def basis(self) -> FloatArray:
        return self.vectors


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    beta: float = 1e-5,
    basis: ArrayLike | None = None,
    n_basis: int | None = None,
    n_neighbors: int | None = 3,
    triplets: Any = None,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input.

    X (n, d), y (n,) labels, beta > 0, basis (K, d), triplets (t, 3). n_basis: the largest number of vectors made from
    triplets, by default `A_FEATURE` (20) times d.

    n_neighbors: K. By default, the triplets combine the K nearest points of the same class with the K nearest points of
    other classes.
    """
    points, beta = check_X(X), check_positive(beta, "beta")
    check_units(points, beta, "beta", "beta / s^2")
    given = compared(points, y, n_neighbors, triplets)
    count = A_FEATURE * points.shape[1] if n_basis is None else check_count(n_basis, "n_basis")
    vectors = (
        basis_of(points, given.triplets(), count)
        if basis is None
        else check_bases(basis, points.shape[1], "basis")
    )
    check_room(given.count * len(vectors), f"products of {len(vectors)} vectors with {given.count} triplets")
    asked = None if n_basis is None else count
    return Instance(**vars(given), beta=beta, vectors=vectors, n_basis=asked, by_triplets=basis is None)


def basis_of(X: FloatArray, triplets: IntArray, count: int) -> FloatArray:
    """The basis (K, d): unit vectors along the differences of the pairs (i, j) and (i, l) of triplets (m, 3).

    The pairs are sorted by their indices. Each counts once, and pairs of equal points are left out. If more than
    `count` pairs remain, `count` evenly spaced ones are taken. Raises ValueError if no pair remains.
    """
    pairs = np.sort(np.concatenate([triplets[:, :2], triplets[:, [0, 2]]]), axis=1)
    pairs = np.unique(pairs, axis=0)
    E = X[pairs[:, 0]] - X[pairs[:, 1]]
    E = E[E.any(axis=1)]
    if len(E) == 0:
        raise ValueError(
            "the points of every triplet are equal, so no direction for a basis follows from them; give basis"
        )
    if len(E) > count:
        E = E[np.arange(count) * len(E) // count]
    E = E / np.abs(E).max(axis=1, keepdims=True)  # so that squares of tiny differences do not underflow
    directions: FloatArray = E / np.linalg.norm(E, axis=1, keepdims=True)
    return directions


def objective(given: Instance, M: FloatArray) -> float:
    """beta sum_k w_k + (1/m) sum_t [1 - <M, H_t>]_+ at M (d, d), where w are the weights of M with the smallest sum."""
    w = weighted(M, given.basis, given.X).w
    return given.beta * float(np.sum(w)) + float(np.mean([max(0.0, 1 - v) for v in given.margins(M)]))


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective; w (K,), weights of M, found by core/bases.py; triplets (m, 3), their margins <M, H_t> and losses (m,);
    subgradient (K,) of the objective in w.
    """
    margins = given.margins(M)
    G = given.weighted_sum((margins < 1).astype(float)) / given.count
    return {
        "objective": objective(given, M),
        "w": weighted(M, given.basis, given.X).w,
        "triplets": given.triplets(),
        "margins": margins,
        "losses": np.maximum(0.0, 1 - margins),
        "subgradient": given.beta - np.array([b @ G @ b for b in given.basis]),
    }


def _of_length_one(question: Question) -> Any:
    B = question.checked(instance).basis
    lengths = np.linalg.norm(B, axis=1)
    return None if np.ptp(lengths) <= 1e-9 * lengths.max() else B / lengths[:, None]


MISREADINGS = {
    "sum": Misreading(
        "the sum over triplets where the method has the mean",
        changed("beta", lambda q: q.checked(instance).beta / q.checked(instance).count),
    ),
    "trace": Misreading(
        "beta tr M where the method has beta sum w: the same only for vectors of length 1",
        changed("basis", _of_length_one),
    ),
    "exchanged": triplets_exchanged(instance),
    **TRIPLETS,
    "features": Misreading(
        "weights of the features where the method has weights of the basis",
        changed("basis", lambda q: np.eye(q.checked(instance).X.shape[1])),
    ),
}


class SCML(CombinationMethod[Instance]):
    """Sparse compositional metric learning: a sparse combination of given rank-one metrics."""

    id = "scml"
    TITLE = "SCML: sparse compositional metric learning, global (Shi, Bellet, Sha 2014)"
    PARAMETERS: ClassVar = {
        "beta": Parameter("factor of sum_k w_k in the objective, > 0", NUMBER, 1e-5),
        "basis": Parameter(
            "(K, d), rows b_k: the metric is sum_k w_k b_k b_k^T with w_k >= 0",
            VECTORS,
            otherwise="directions between the points of triplets, of length 1",
        ),
        "n_basis": Parameter(
            "largest number of vectors b_k that are made from the triplets, if no basis is given",
            COUNT,
            otherwise=f"{A_FEATURE} for each feature",
        ),
        **BY_TRIPLETS,
    }
    STATEMENT = Statement("cvxml.methods.scml", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"beta": math.inf}
    DERIVED: ClassVar = {**CombinationMethod.DERIVED, "basis": Derived(("triplets", "n_basis"))}
    SMALL: ClassVar = {"n_neighbors": 2, "beta": 0.01}
    UNITS: ClassVar = {"beta": 2}
    BAD: ClassVar = {**BAD_TRIPLETS, "beta": (0, 1e-200), "basis": (np.eye(2), [[0.0] * 3]), "n_basis": (0,)}
    HAND: ClassVar = (
        # The only margin is 3 w_0 + 8 w_1. The larger factor reaches 1 at the smaller cost, beta / 8.
        Hand(
            [[0.0, 0.0], [1.0, 1.0], [2.0, 3.0]],
            None,
            {"beta": 2.0, "basis": [[1.0, 0.0], [0.0, 1.0]], "triplets": [[0, 1, 2]]},
            [[0.0, 0.0], [0.0, 1 / 8]],
            1 / 4,
        ),
        # The derivative beta - (sum of the factors of margins below 1) / 4 changes its sign at w.
        Hand(*LINE, {"beta": 0.1, "n_neighbors": 1}, [[4 / 7]], 0.4 / 7),
        Hand(*LINE, {"beta": 4.0, "n_neighbors": 1}, [[0.1]], 0.4 + (0.2 + 0.7 + 0.825) / 4),
        Hand(*LINE, {"beta": 7.0, "n_neighbors": 1}, [[0.0]], 1.0),
    )
    ESTIMATOR: ClassVar = Estimator(
        "SCML",
        "The metric of SCML, global (Shi, Bellet, Sha 2014), solved to a certified gap.",
        positional=("beta", "n_neighbors"),
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3, beta=0.01, n_basis=12),
        drawn(
            6,
            12,
            4,
            2,
            beta=0.1,
            n_neighbors=1,
            basis=[[1, 0, 0, 1], [0, 1, 0, 1], [1, 1, 1, 0], [1, -1, 2, 0], [0, 0, 1, 3]],
        ),
        drawn(7, 18, 5, degenerate=True, beta=0.02, n_basis=16),
        sample("iris", 24, beta=0.01, n_neighbors=2, n_basis=20),
        verified("iris", 18, beta=1e-3),
        verified("wine", 40, beta=1e-3, n_neighbors=2, n_basis=60),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.triplets(), given.beta, given.basis)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["w >= 0"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.triplets(), given.beta, given.basis)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        weights = SumOfWeights(given.X, given.basis, number(given.beta))
        return Family(weights, (Term(Hinge(number(1) / given.count), self.rows(given)),))

    def above(self, given: Instance, M: FloatArray) -> float:
        """An upper bound of how far the computed objective at the metric M (d, d) is above the true one.

        Several weights may give the same M, and the objective is defined by those with the smallest sum. The weights
        that core/bases.py finds may have a larger sum.
        """
        return given.beta * above_least(weighted(M, given.basis, given.X).w, given.basis)

    def stored(self, given: Instance) -> dict[str, Any]:
        count = None if given.n_basis is None else len(given.basis)
        return {"beta": given.beta, "basis": given.basis.tolist(), "n_basis": count, **given.stored}

    def derived(self, given: Instance) -> tuple[str, ...]:
        return (*super().derived(given), *(("basis",) if given.by_triplets else ()))


METHOD = SCML()
