"""PairMargin: similar pairs within a distance of 1, dissimilar pairs beyond 2. An example for contributors.

This is not a published method. It shows what the file of a method has, from top to bottom; CONTRIBUTING.md ("Adding a
method") explains the steps. A file of your own names the authors, the venue and the year here, and the reference below.

Problem, over p similar and q dissimilar pairs of points, with D_M(i, j) = (x_i - x_j)^T M (x_i - x_j)
    min_{M psd}  lam/2 ||M||^2 + (1/p) sum_similar [D_M - 1]_+ + (1/q) sum_dissimilar [2 - D_M]_+ .

Dual and bound: family/theorem, with the Frobenius norm. The loss of the dissimilar pairs is the hinge of the family.
The loss of the similar pairs is not in the family, so this file has its class. The optimum is unique, within
sqrt(2 gap / lam) of a metric. Gaps are relative to lam/2 ||M||^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.estimator import Estimator
from cvxml.core.example import Hand, drawn, sample, timed, verified
from cvxml.core.inputs import check_positive, dual_array
from cvxml.core.literal import pair_names
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, changed, exchanged, other_pairs
from cvxml.core.pairs import BAD_PAIRS_OF_ONE_KIND, BY_PAIRS, KINDS, Paired, paired
from cvxml.core.parameter import NUMBER, Parameter
from cvxml.core.result import Dual
from cvxml.core.statement import Statement
from cvxml.core.triplets import check_units
from cvxml.family.losses.base import BoxLoss
from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family, Term
from cvxml.numbers.vocabulary import like, pos, total
from cvxml.solvers.family_method import FamilyMethod

NEAR, FAR = 1, 2  # the distances that similar and dissimilar pairs should keep

# ------------------------------------------------------------- 1. The problem and its dual, row by row


def problem(X: FloatArray, similar: IntArray, dissimilar: IntArray, lam: float) -> Any:
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
        constraints += [(X[i] - X[j]) @ M @ (X[i] - X[j]) <= NEAR + s[k]]
    for k, (i, j) in enumerate(dissimilar.tolist()):
        #: (x_i - x_j)^T M (x_i - x_j) >= 2 - t_ij for every dissimilar pair
        #:   | (\mathbf{x}_i - \mathbf{x}_j)^T \mathbf{M} (\mathbf{x}_i - \mathbf{x}_j) \ge 2 - t_{ij}
        #:     \quad \text{for every dissimilar pair}
        constraints += [(X[i] - X[j]) @ M @ (X[i] - X[j]) >= FAR - t[k]]
    missed = cp.sum(s) / len(similar) + cp.sum(t) / len(dissimilar)
    #: min over M, s, t:  lam/2 ||M||^2 + (1/p) sum s_ij + (1/q) sum t_ij
    #:   | \min_{\mathbf{M},\, s,\, t}\ \tfrac{\lambda}{2} \lVert \mathbf{M} \rVert_F^2
    #:     + \frac{1}{p} \sum s_{ij} + \frac{1}{q} \sum t_{ij}
    return cp.Problem(cp.Minimize(lam / 2 * cp.sum_squares(M) + missed), constraints)


def dual(X: FloatArray, similar: IntArray, dissimilar: IntArray, lam: float) -> Any:
    """Its dual. Variables: "a" (p,) and "b" (q,), one number a pair, and "S" (d, d)."""
    import cvxpy as cp

    d, p, q = X.shape[1], len(similar), len(dissimilar)
    a, b = cp.Variable(p, name="a"), cp.Variable(q, name="b")
    S = cp.Variable((d, d), symmetric=True, name="S")
    #: G = sum_dissimilar b_ij X_ij - sum_similar a_ij X_ij,  X_ij = (x_i - x_j)(x_i - x_j)^T
    #:   | G = \textstyle\sum_{\text{dissimilar}} b_{ij} X_{ij} - \sum_{\text{similar}} a_{ij} X_{ij}, \quad
    #:     X_{ij} = (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
    G = _weighted(X, dissimilar, b) - _weighted(X, similar, a)
    #: S psd,  0 <= a_ij <= 1/p,  0 <= b_ij <= 1/q
    #:   | S \succeq 0, \quad 0 \le a_{ij} \le \frac{1}{p}, \quad 0 \le b_{ij} \le \frac{1}{q}
    constraints = [S >> 0, a >= 0, a <= 1 / p, b >= 0, b <= 1 / q]
    gained = FAR * cp.sum(b) - NEAR * cp.sum(a)
    #: max over a, b, S:  2 sum b_ij - sum a_ij - 1/(2 lam) ||G + S||^2
    #:   | \max_{a,\, b,\, S}\ 2 \textstyle\sum b_{ij} - \sum a_{ij} - \frac{1}{2 \lambda} \lVert G + S \rVert_F^2
    return cp.Problem(cp.Maximize(gained - cp.sum_squares(G + S) / (2 * lam)), constraints)
    #: [What is proved]
    #: lam M = G + S at the optimum | \lambda \mathbf{M} = G + S \text{ at the optimum}
    #: any a and b within these limits give a lower bound;  ||M - M*|| <= sqrt(2 gap / lam)
    #:   | \text{any } a \text{ and } b \text{ within these limits give a lower bound;} \quad
    #:     \lVert \mathbf{M} - \mathbf{M}^* \rVert_F \le \sqrt{2\, \mathrm{gap} / \lambda}


def _weighted(X: FloatArray, pairs: IntArray, weights: Any) -> Any:
    """sum w_ij X_ij (d, d), for cvxpy."""
    import cvxpy as cp

    E = X[pairs[:, 0]] - X[pairs[:, 1]]
    outer = np.einsum("ta,tb->tab", E, E).reshape(len(E), -1)
    return cp.reshape(outer.T @ weights, (X.shape[1],) * 2, order="C")


# ------------------------------------------------------------- 2. The checked data, and the objective in loops


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data, and lam."""

    lam: float


def instance(X: ArrayLike, y: ArrayLike | None = None, *, lam: float = 1.0, pairs: Any = None) -> Instance:
    """Everything checked. Raises ValueError for bad input."""
    given, lam = paired(X, y, pairs), check_positive(lam, "lam")
    for kind in KINDS:
        if not len(getattr(given.pairs, kind)):
            raise ValueError(
                f"there is no {kind} pair {given.source}: PairMargin needs at least one of each kind"
            )
    check_units(given.X, lam, "lam", "lam / s^4")
    return Instance(given.X, given.y, given.listed, lam)


def objective(given: Instance, M: FloatArray) -> float:
    """lam/2 ||M||^2 + mean [D_M - 1]_+ + mean [2 - D_M]_+"""
    near, far = distances(given, M)
    missed = np.mean([max(0.0, D - NEAR) for D in near]) + np.mean([max(0.0, FAR - D) for D in far])
    return given.lam / 2 * float(np.sum(M**2)) + float(missed)


def distances(given: Instance, M: FloatArray) -> list[list[float]]:
    """D_M of the similar pairs, and of the dissimilar pairs."""
    found = []
    for kind in given.pairs:
        E = [given.X[i] - given.X[j] for i, j in kind.tolist()]
        found.append([float(e @ M @ e) for e in E])
    return found


# ------------------------------------------------------------- 3. The loss that the family does not have


@dataclass(frozen=True, eq=False)
class HingeFromAbove(BoxLoss):
    """phi(v) = c [v - 1]_+, a hinge for values above 1.

    Its conjugate bound is k(a) = sum a with the domain -c <= a <= 0: for every v, phi(v) >= k(a) - a v. The difference
    phi(v) - k(a) + a v is (c + a) [v - 1]_+ - a [1 - v]_+; no term is negative.
    """

    c: Any  # a float, or a Fraction for exact arithmetic

    @property
    def limits(self) -> tuple[Any, Any]:
        """-c <= a <= 0"""
        return -self.c, 0

    def value(self, v: Any) -> Any:
        """phi, summed over the rows."""
        return like(v, self.c) * total(pos(v - 1))

    def excess(self, v: Any, a: Any) -> Any:
        """The difference above, summed over the rows."""
        return total((like(a, self.c) + a) * pos(v - 1) - a * pos(1 - v))


# ------------------------------------------------------------- 4. Common misreadings

MISREADINGS = {
    "no_half": Misreading(
        "lam ||M||^2 where the method has half", changed("lam", lambda q: 2 * q.checked(instance).lam)
    ),
    "exchanged": Misreading("similar and dissimilar pairs exchanged", other_pairs(exchanged)),
}


# ------------------------------------------------------------- 5. The class: what tests and the command line need

_LINE = [[0.0], [1.0], [3.0], [5.0]]  # with classes 0, 0, 1, 1: similar pairs have D = M, 4 M
_OF_LINE = [0, 0, 1, 1]  # and dissimilar pairs have D = 4 M, 9 M, 16 M, 25 M


class PairMargin(FamilyMethod[Instance]):
    """A margin for similar pairs, a margin for dissimilar pairs, and the Frobenius norm."""

    id = "pair_margin"
    TITLE = "PairMargin: similar pairs within 1, dissimilar pairs beyond 2 (an example)"
    PARAMETERS: ClassVar = {
        "lam": Parameter("weight of half the squared norm, > 0", NUMBER, 1.0),
        **BY_PAIRS,
    }
    STATEMENT = Statement("cvxml.methods.pair_margin", ("problem", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"lam": math.inf}
    DUAL: ClassVar = {"similar": "p", "dissimilar": "q"}
    SMALL: ClassVar = {"lam": 0.3}
    BAD: ClassVar = {**BAD_PAIRS_OF_ONE_KIND, "lam": (0, -1.0, 1e-300)}
    UNITS: ClassVar = {"lam": 4}
    FOLLOWS = "rotation"
    RADIUS = True
    # At the optimum the derivative in M, lam M + slopes of the missed margins, is 0 or changes its sign.
    HAND: ClassVar = (
        # The similar pair with D = 4 M is at its limit. The derivative is lam M - 1 before M = 1/4, lam M + 1 after it.
        Hand(_LINE, _OF_LINE, {"lam": 1.0}, [[1 / 4]], 1 / 32 + 1 / 4),
        # The dissimilar pair with D = 9 M is at its limit: the derivative is lam M - 13/4 before, lam M - 1 after.
        Hand(_LINE, _OF_LINE, {"lam": 10.0}, [[2 / 9]], 20 / 81 + 5 / 18),
        # No pair is at its limit, and dissimilar pairs with D = 4 M and 9 M are missed: lam M = 13/4.
        Hand(_LINE, _OF_LINE, {"lam": 20.0}, [[13 / 80]], 1 - 169 / 640),
        # D = 25 M and M of similar pairs, 16 M of the dissimilar pair: lam M + 25/2 - 16 = 0.
        Hand(
            [[0.0], [4.0], [5.0]],
            None,
            {"lam": 35.0, "pairs": {"similar": [[0, 2], [1, 2]], "dissimilar": [[0, 1]]}},
            [[0.1]],
            0.175 + 0.75 + 0.4,
        ),
    )
    ESTIMATOR: ClassVar = Estimator("PairMargin", scale="lam/2 times the squared norm of the metric")
    EXAMPLES: ClassVar = (
        drawn(5, 14, 3),
        drawn(6, 10, 12, 2, lam=10.0),  # more features than points
        drawn(7, 14, 5, degenerate=True),
        sample("iris", 16, lam=0.1),
        verified("iris", 24),
        verified("wine", 20, lam=10.0),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance`."""
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        """Variables "M" (d, d), "s" (p,) and "t" (q,)."""
        return problem(given.X, *given.pairs, given.lam)

    def constraint_names(self, given: Instance) -> list[str]:
        """The names of the constraints, one for each pair."""
        similar, dissimilar = given.pairs
        return [
            "M psd",
            "s >= 0",
            "t >= 0",
            *pair_names("similar", similar),
            *pair_names("dissimilar", dissimilar),
        ]

    def dual(self, given: Instance) -> Any:
        """Variables "a" (p,), "b" (q,) and "S" (d, d)."""
        return dual(given.X, *given.pairs, given.lam)

    def literal_rows(self, given: Instance) -> int:
        """A row for each pair."""
        return sum(map(len, given.pairs))

    def duals(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """The dual in the form of saved files, from the variables of `dual`."""
        return {"similar": values["a"], "dissimilar": values["b"]}

    def objective(self, given: Instance, M: FloatArray) -> float:
        """From the definition."""
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        """objective; D_similar (p,) and D_dissimilar (q,)."""
        near, far = distances(given, M)
        return {"objective": objective(given, M), "D_similar": np.array(near), "D_dissimilar": np.array(far)}

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        """The regularizer, and a loss with its rows for each kind of pair.

        [2 - D]_+ is 2 [1 - D/2]_+: a hinge of weight 2/q on rows D/2. `number` makes each constant a float or a
        Fraction; with Fractions the same family is evaluated exactly.
        """
        similar, dissimilar = given.pairs
        norm = Frobenius(given.X, number(given.lam))
        terms = (
            Term(HingeFromAbove(number(NEAR) / len(similar)), PairRows(similar)),
            Term(Hinge(number(FAR) / len(dissimilar)), PairRows(dissimilar, number(FAR))),
        )
        return Family(norm, terms, of_regularizer=True, radius=norm.around)

    def read(self, given: Instance, dual: Dual) -> Sequence[Duals]:
        """The dual variables of the two terms: -a for similar pairs; 2 b for dissimilar pairs, whose rows are D/2."""
        a, b = (dual_array(dual, kind, (len(pairs),)) for kind, pairs in zip(KINDS, given.pairs, strict=True))
        with np.errstate(over="ignore"):
            return [Duals(-a, np.arange(len(a))), Duals(FAR * b, np.arange(len(b)))]

    def named(self, given: Instance, *duals: Duals) -> Dual:
        """The dual with the dual variables of the two terms; a pair without one has 0."""
        similar, dissimilar = duals
        a, b = (np.zeros(len(pairs)) for pairs in given.pairs)
        a[similar.key] = -similar.a
        b[dissimilar.key] = dissimilar.a / FAR
        return {"similar": a, "dissimilar": b}

    def stored(self, given: Instance) -> dict[str, Any]:
        """lam, and the pairs if they were given."""
        return {"lam": given.lam, "pairs": given.stored}


METHOD = PairMargin()
