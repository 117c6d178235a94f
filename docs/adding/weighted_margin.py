"""WeightedMargin: PairMargin with a weight for each feature in the norm. An example of a regularizer for contributors.

This is not a published method. It shows a regularizer that the family does not have, with the losses of the first
example, pair_margin.py; CONTRIBUTING.md ("A regularizer of your own") explains the steps.

Problem, over p similar and q dissimilar pairs of points, with weights w_k > 0 of the features
    min_{M psd}  lam/2 sum_kl w_k w_l M_kl^2 + (1/p) sum_similar [D_M - 1]_+ + (1/q) sum_dissimilar [2 - D_M]_+ .

By default w_k is the variance of feature k. Then the distances do not depend on the units of the features.
The optimum M* is unique, and ||M - M*|| <= sqrt(2 gap / lam) / min w. Gaps are relative to the regularizer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.estimator import Estimator
from cvxml.core.exact import scaled
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import real_array
from cvxml.core.integer_matrices import is_psd
from cvxml.core.metric import FloatArray, IntArray, examine
from cvxml.core.pairs import BY_PAIRS
from cvxml.core.parameter import NUMBERS, Parameter
from cvxml.core.run import Found
from cvxml.core.statement import Statement
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.regularizers.base import ByFormulas, JudgedMatrix, best_of_square, fractions, of_last
from cvxml.family.regularizers.frobenius import Flat, Frobenius, Split, split, weighted_sum
from cvxml.family.rows.base import Weights
from cvxml.family.theorem.theorem import Family
from cvxml.methods import pair_margin
from cvxml.numbers import rational
from cvxml.numbers.vocabulary import floats, like, total
from cvxml.solvers.choose_solver import search
from cvxml.solvers.task import Task

# ------------------------------------------------------------- 1. The problem and its dual


def problem(X: FloatArray, similar: IntArray, dissimilar: IntArray, lam: float, w: FloatArray) -> Any:
    """The problem, pair by pair. Variables: "M" (d, d), "s" (p,) and "t" (q,)."""
    import cvxpy as cp

    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    s, t = cp.Variable(len(similar), name="s"), cp.Variable(len(dissimilar), name="t")
    #: M psd,  s >= 0,  t >= 0 | \mathbf{M} \succeq 0, \quad s \ge 0, \quad t \ge 0
    constraints = [M >> 0, s >= 0, t >= 0]
    for k, (i, j) in enumerate(similar.tolist()):
        #: (x_i - x_j)^T M (x_i - x_j) <= 1 + s_ij for every similar pair
        #:   | (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j) \le 1 + s_{ij}
        #:     \quad \text{for every similar pair}
        constraints += [(X[i] - X[j]) @ M @ (X[i] - X[j]) <= 1 + s[k]]
    for k, (i, j) in enumerate(dissimilar.tolist()):
        #: (x_i - x_j)^T M (x_i - x_j) >= 2 - t_ij for every dissimilar pair
        #:   | (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j) \ge 2 - t_{ij}
        #:     \quad \text{for every dissimilar pair}
        constraints += [(X[i] - X[j]) @ M @ (X[i] - X[j]) >= 2 - t[k]]
    missed = cp.sum(s) / len(similar) + cp.sum(t) / len(dissimilar)
    norm = cp.sum_squares(cp.multiply(np.sqrt(np.outer(w, w)), M))
    #: min over M, s, t:  lam/2 sum_kl w_k w_l M_kl^2 + (1/p) sum s_ij + (1/q) sum t_ij
    #:   | \min_{\mathbf{M},\, s,\, t}\ \tfrac{\lambda}{2} \textstyle\sum_{kl} w_k w_l M_{kl}^2
    #:     + \frac{1}{p} \sum s_{ij} + \frac{1}{q} \sum t_{ij}
    return cp.Problem(cp.Minimize(lam / 2 * norm + missed), constraints)


def dual(X: FloatArray, similar: IntArray, dissimilar: IntArray, lam: float, w: FloatArray) -> Any:
    """Its dual. Variables: "a" (p,) and "b" (q,), one number a pair, and "S" (d, d)."""
    import cvxpy as cp

    d, p, q = X.shape[1], len(similar), len(dissimilar)
    a, b = cp.Variable(p, name="a"), cp.Variable(q, name="b")
    S = cp.Variable((d, d), symmetric=True, name="S")
    #: G = sum_dissimilar b_ij X_ij - sum_similar a_ij X_ij,  X_ij = (x_i - x_j)(x_i - x_j)^T
    #:   | G = \textstyle\sum_{\text{dissimilar}} b_{ij} X_{ij} - \sum_{\text{similar}} a_{ij} X_{ij}, \quad
    #:     X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    G = pair_margin._weighted(X, dissimilar, b) - pair_margin._weighted(X, similar, a)
    #: S psd,  0 <= a_ij <= 1/p,  0 <= b_ij <= 1/q
    #:   | S \succeq 0, \quad 0 \le a_{ij} \le \frac{1}{p}, \quad 0 \le b_{ij} \le \frac{1}{q}
    constraints = [S >> 0, a >= 0, a <= 1 / p, b >= 0, b <= 1 / q]
    lost = cp.sum_squares(cp.multiply(1 / np.sqrt(np.outer(w, w)), G + S)) / (2 * lam)
    #: max over a, b, S:  2 sum b_ij - sum a_ij - 1/(2 lam) sum_kl (G + S)_kl^2 / (w_k w_l)
    #:   | \max_{a,\, b,\, S}\ 2 \textstyle\sum b_{ij} - \sum a_{ij}
    #:     - \frac{1}{2 \lambda} \sum_{kl} (G + S)_{kl}^2 / (w_k w_l)
    return cp.Problem(cp.Maximize(2 * cp.sum(b) - cp.sum(a) - lost), constraints)


# ------------------------------------------------------------- 2. The checked data, and the objective in loops


@dataclass(frozen=True, eq=False)
class Instance(pair_margin.Instance):
    """Checked data, lam, and the weights w (d,)."""

    w: FloatArray


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    lam: float = 1.0,
    feature_weights: Any = None,
    pairs: Any = None,
) -> Instance:
    """Everything checked. Raises ValueError for bad input."""
    given = pair_margin.instance(X, y, lam=lam, pairs=pairs)
    w = np.var(given.X, axis=0) if feature_weights is None else real_array(feature_weights, "feature_weights")
    w = np.where(w > 0, w, 1.0) if feature_weights is None else w
    d = given.X.shape[1]
    if w.shape != (d,) or not ((w >= 1e-100) & (w <= 1e100)).all():
        raise ValueError(f"feature_weights must be {d} numbers from 1e-100 to 1e100, got {feature_weights!r}")
    return Instance(given.X, given.y, given.listed, given.lam, w)


def objective(given: Instance, M: FloatArray) -> float:
    """lam/2 sum_kl w_k w_l M_kl^2 + mean [D_M - 1]_+ + mean [2 - D_M]_+"""
    near, far = pair_margin.distances(given, M)
    missed = np.mean([max(0.0, D - 1) for D in near]) + np.mean([max(0.0, 2 - D) for D in far])
    d = range(len(M))
    return given.lam / 2 * float(sum(given.w[k] * given.w[l] * M[k, l] ** 2 for k in d for l in d)) + float(
        missed
    )


# ------------------------------------------------------------- 3. The regularizer that the family does not have


class WeightedNorm(ByFormulas):
    """R(M) = 1/2 sum_kl V_kl M_kl^2 with V = lam w w^T.

    For every psd S, r(G) >= -1/2 sum_kl (G + S)_kl^2 / V_kl, and the excess is the sum of
    1/2 sum_kl V_kl (M - (G + S)/V)_kl^2 and <M, S>. The best S is P_+(-G) in features divided by sqrt w.
    """

    def __init__(self, X: FloatArray, lam: Any, w: FloatArray):
        self.X, self.lam, self.w = X, lam, w

    def V(self, x: Any) -> Any:
        """V (d, d) as numbers of the kind of x."""
        w = like(x, self.w)
        return like(x, self.lam, rounded=1) * (w[:, None] * w)

    def value_at(self, at: Any) -> Any:
        """1/2 sum V M^2"""
        return total(self.V(at.M) * at.M * at.M) / 2

    def conjugate_at(self, image: Split) -> Any:
        """-1/2 sum Q^2 / V, Q = G + S"""
        return -total(image.Q / self.V(image.Q) * image.Q) / 2

    def excess_at(self, at: Any, image: Split) -> Any:
        """1/2 sum V (M - Q/V)^2 + <M, S>"""
        V = self.V(at.M)
        apart = at.M - image.Q / V
        return total(V * apart * apart) / 2 + total(at.M * image.S)

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """P_+(A)"""
        psd, feasibility = examine(A, self.X)
        view = Flat.near(self.X, psd)
        return JudgedMatrix(view, feasibility, bool(np.isfinite(view.error).all()), not psd.any())

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """r(t G) = t^2 r(G)"""
        return best_of_square(self.bound(G), ray)

    @of_last
    def image(self, G: Weights) -> Split:
        """Q and S in enclosures."""
        numbers = weighted_sum(self.X, G)
        return split(numbers, self._root(numbers.mid))

    def exact_image(self, X: rational.Plane, G: Weights, hint: Any) -> Split:
        """Q and S in rationals; Q = 0 if -G is psd."""
        M, common = X.outer(G.pairs, fractions(G.w))
        numbers = rational.matrix(M, scaled(1, 2 * X.at) / common)
        return Split(0 * numbers, -numbers) if is_psd(-M) else split(numbers, self._root(floats(numbers)))

    def _root(self, G: FloatArray) -> FloatArray:
        """L (d, d) such that S = L L^T is near the best S for G."""
        s = np.sqrt(self.w)
        values, vectors = np.linalg.eigh(G / np.outer(s, s))
        root: FloatArray = s[:, None] * vectors * np.sqrt(np.maximum(-values, 0.0))
        return root


# ------------------------------------------------------------- 4. The solver


def path(task: Task) -> Found:
    """Solve with the Frobenius norm for the points X / sqrt w. Its metric times sqrt(w_k w_l) solves the problem."""
    norm = task.family.regularizer
    assert isinstance(norm, WeightedNorm)
    s = np.sqrt(norm.w)
    unit, start = np.outer(s, s), task.start
    family = task.family._replace(regularizer=Frobenius(norm.X / s, norm.lam))
    start = None if start is None else start._replace(metric=start.metric * unit)
    found = search(task._replace(family=family, start=start))
    return found._replace(metric=found.metric / unit)


# ------------------------------------------------------------- 5. The class


class WeightedMargin(pair_margin.PairMargin):
    """A margin for similar pairs, a margin for dissimilar pairs, and a weighted norm."""

    id = "weighted_margin"
    TITLE = "WeightedMargin: PairMargin with weights of the features in the norm (an example)"
    PARAMETERS: ClassVar = {
        "lam": pair_margin.PairMargin.PARAMETERS["lam"],
        "feature_weights": Parameter("w, a number > 0 for each feature", NUMBERS, otherwise="the variances"),
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.weighted_margin", ("problem", "dual"))
    MISREADINGS: ClassVar = {}
    BAD: ClassVar = {**pair_margin.PairMargin.BAD, "feature_weights": ([1.0], [0.0] * 4, [-1.0] * 4)}
    UNITS: ClassVar = {"lam": 0}
    FOLLOWS = "scaling"
    PATH = staticmethod(path)
    # As the first optimum of PairMargin: w = 2, so lam w^2 M - 1 is the derivative before M = 1/4.
    HAND: ClassVar = (
        Hand(
            [[0.0], [1.0], [3.0], [5.0]],
            [0, 0, 1, 1],
            {"lam": 0.25, "feature_weights": [2.0]},
            [[1 / 4]],
            1 / 32 + 1 / 4,
        ),
    )
    ESTIMATOR: ClassVar = Estimator("WeightedMargin", scale="the regularizer of the metric")
    EXAMPLES: ClassVar = (
        drawn(5, 14, 3, feature_weights=[1.0, 0.5, 3.0]),
        drawn(7, 14, 5, degenerate=True),
        sample("iris", 16, lam=0.1),
        verified("iris", 24),
        timed("iris"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance`."""
        return instance(X, y, **params)

    def problem(self, given: pair_margin.Instance) -> Any:
        """Variables "M" (d, d), "s" (p,) and "t" (q,)."""
        return problem(given.X, *given.pairs, given.lam, _weights(given))

    def dual(self, given: pair_margin.Instance) -> Any:
        """Variables "a" (p,), "b" (q,) and "S" (d, d)."""
        return dual(given.X, *given.pairs, given.lam, _weights(given))

    def objective(self, given: pair_margin.Instance, M: FloatArray) -> float:
        """From the definition."""
        assert isinstance(given, Instance)
        return objective(given, M)

    def evaluate(self, given: pair_margin.Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """objective; D_similar (p,) and D_dissimilar (q,)."""
        return {**super().evaluate(given, M, t), "objective": self.objective(given, M)}

    def member(self, given: pair_margin.Instance, number: Callable[[Any], Any] = float) -> Family:
        """The losses of PairMargin, with the weighted norm."""
        w = _weights(given)
        inner = super().member(given, number)
        return inner._replace(
            regularizer=WeightedNorm(given.X, number(given.lam), w),
            radius=lambda looked, gap: np.sqrt(2 * gap / given.lam) / w.min() + looked.feasibility.distance,
        )

    def stored(self, given: pair_margin.Instance) -> dict[str, Any]:
        """lam, the weights, and the pairs if they were given."""
        return {**super().stored(given), "feature_weights": _weights(given).tolist()}


def _weights(given: pair_margin.Instance) -> FloatArray:
    assert isinstance(given, Instance)
    return given.w


METHOD = WeightedMargin()
