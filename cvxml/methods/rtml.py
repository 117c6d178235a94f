"""RTML, regularized triplet-based metric learning (Yoshida, Takeuchi, Karasuyama 2018), with a smoothed hinge.

With triplets t = (i, j, l), X_ij = (x_i - x_j)(x_i - x_j)^T and H_t = X_il - X_ij, the problem is

    min_{M psd}  sum_t l(<M, H_t>) + lam/2 ||M||^2.

The function l(v) is the hinge, smoothed over a `width` (gamma in the paper) below the margin 1. It is 0 for v >= 1,
(1 - v)^2 / (2 width) for 1 - width <= v <= 1, and 1 - v - width/2 below. A width of 0 gives the hinge itself. There are
two differences from the paper. The width is at most 1: then every loss is on its linear part at M = 0, so the width
does not decide if M = 0 is optimal. And a class with too few points is refused; the authors' program takes fewer
neighbours. Triplets are an input. By default, each of the K nearest points of the same class (the targets) is combined
with each of the K nearest points of other classes.

Dual and bound: any dual variables give a lower bound, by the theorem of family/theorem, with the Frobenius norm as the
regularizer and a smoothed hinge as the loss. The optimum is unique. A metric with a given gap is within
sqrt(2 gap / lam) of it. Gaps are relative to lam/2 ||M||^2.

Reference: T. Yoshida, I. Takeuchi, M. Karasuyama, Safe triplet screening for distance metric learning, KDD 2018; Neural
Computation 31, 2019.
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
from cvxml.core.inputs import check_number, check_positive, check_X
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import Misreading, Question, changed, triplets_exchanged
from cvxml.core.other_lists import TRIPLETS
from cvxml.core.parameter import NUMBER, Parameter
from cvxml.core.statement import Statement
from cvxml.core.triplets import BAD_TRIPLETS, BY_TRIPLETS, Compared, check_units, compared
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.smoothed_hinge import SmoothedHinge
from cvxml.family.regularizers import off_diagonals_once
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.theorem.theorem import Family, Term
from cvxml.solvers.triplet_method import TripletMethod

LEAST_WIDTH = 1e-9  # smallest positive width; a smaller one equals the hinge to all computed digits


def problem(X: FloatArray, triplets: IntArray, lam: float, width: float) -> Any:
    """The problem, triplet by triplet. Variable: "M" (d, d)."""
    import cvxpy as cp

    M = cp.Variable((X.shape[1],) * 2, symmetric=True, name="M")
    losses = []
    for i, j, l in triplets.tolist():
        #: H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T
        #:   | H_t = (\mathbf{x}_i - \mathbf{x}_l)(\mathbf{x}_i - \mathbf{x}_l)^T
        #:     - (\mathbf{x}_i - \mathbf{x}_j)(\mathbf{x}_i - \mathbf{x}_j)^T
        H = np.outer(X[i] - X[l], X[i] - X[l]) - np.outer(X[i] - X[j], X[i] - X[j])
        losses += [loss(cp.trace(M @ H), width)]
    cost = cp.sum(cp.hstack(losses)) + lam / 2 * cp.sum_squares(M)
    #: min over M:  sum_t l(<M, H_t>) + lam/2 ||M||^2
    #:   | \min_{\mathbf{M}}\ \sum_t \ell(\langle \mathbf{M}, H_t \rangle)
    #:     + \frac{\lambda}{2} \lVert \mathbf{M} \rVert_F^2
    #: M psd | \mathbf{M} \succeq 0
    return cp.Problem(cp.Minimize(cost), [M >> 0])


def loss(v: Any, width: float) -> Any:
    """The loss of a triplet: the smoothed hinge l(v), as a cvxpy expression of v = <M, H_t>."""
    import cvxpy as cp

    if width == 0:
        #: l(v) = [1 - v]_+ without a width | \ell(v) = [1 - v]_+ \quad \text{without a width}
        return cp.pos(1 - v)
    # cvxpy's huber(x, g) is x^2 for |x| <= g, and 2 g |x| - g^2 otherwise.
    #: l(v) = 0 for v >= 1 | \ell(v) = 0 \quad \text{for } v \ge 1
    #: l(v) = (1 - v)^2/(2 gamma) for 1 - gamma <= v <= 1, with gamma the width
    #:   | \ell(v) = (1 - v)^2 / (2 \gamma) \quad \text{for } 1 - \gamma \le v \le 1
    #:     \text{, with } \gamma \text{ the width}
    #: l(v) = 1 - v - gamma/2 for v <= 1 - gamma
    #:   | \ell(v) = 1 - v - \tfrac{\gamma}{2} \quad \text{for } v \le 1 - \gamma
    return cp.huber(cp.pos(1 - v), width) / (2 * width)


def dual(X: FloatArray, triplets: IntArray, lam: float, width: float) -> Any:
    """The dual of the problem. Variables: "a" (m,), one per triplet, and "S" (d, d), the multiplier of "M psd"."""
    import cvxpy as cp

    m, d = len(triplets), X.shape[1]
    a = cp.Variable(m, name="a")
    S = cp.Variable((d, d), symmetric=True, name="S")
    i, j, l = triplets.T
    H = np.einsum("ta,tb->tab", X[i] - X[l], X[i] - X[l]) - np.einsum("ta,tb->tab", X[i] - X[j], X[i] - X[j])
    G = cp.reshape(H.reshape(m, -1).T @ a, (d, d), order="C")
    #: max over a, S:  sum_t a_t - gamma/2 sum_t a_t^2 - 1/(2 lam) ||sum_t a_t H_t + S||^2
    #:   | \max_{a,\, S}\ \sum_t a_t - \tfrac{\gamma}{2} \sum_t a_t^2
    #:     - \tfrac{1}{2 \lambda} \lVert \sum_t a_t H_t + S \rVert_F^2
    gained = cp.sum(a) - width / 2 * cp.sum_squares(a) - cp.sum_squares(G + S) / (2 * lam)
    #: S psd,  0 <= a_t <= 1 | S \succeq 0, \quad 0 \le a_t \le 1
    return cp.Problem(cp.Maximize(gained), [S >> 0, a >= 0, a <= 1])
    #: [What is proved]
    #: lam M = sum_t a_t H_t + S at the optimum
    #:   | \lambda \mathbf{M} = \textstyle\sum_t a_t H_t + S \text{ at the optimum}
    #: any a within 0 and 1 gives a lower bound;  ||M - M*|| <= sqrt(2 gap/lam)
    #:   | \text{any } a \text{ within } 0 \text{ and } 1 \text{ gives a lower bound;}
    #:     \quad \lVert \mathbf{M} - \mathbf{M}^* \rVert_F \le \sqrt{2\, \mathrm{gap} / \lambda}


@dataclass(frozen=True, eq=False)
class Instance(Compared):
    """Checked data: triplets, lam and width."""

    lam: float
    width: float


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    lam: float = 1.0,
    width: float = 0.05,
    n_neighbors: int | None = 3,
    triplets: Any = None,
) -> Instance:
    """Check the inputs. Raises ValueError for bad input.

    X (n, d), y (n,) labels, lam > 0, triplets (t, 3). width: 0, or between `LEAST_WIDTH` (1e-9) and 1. n_neighbors: the
    K of the default triplets.
    """
    points, lam, width = check_X(X), check_positive(lam, "lam"), check_number(width, "width")
    if not (width == 0 or LEAST_WIDTH <= width <= 1):
        raise ValueError(
            f"width must be 0, for the hinge, or between {LEAST_WIDTH:g} and 1, the margin; got {width:g}"
        )
    check_units(points, lam, "lam", "lam / s^4")
    return Instance(**vars(compared(points, y, n_neighbors, triplets)), lam=lam, width=width)


def objective(given: Instance, M: FloatArray) -> float:
    """sum_t l(<M, H_t>) + lam/2 ||M||^2 at M (d, d), with the smoothed hinge l and H_t = X_il - X_ij for triplets t."""
    losses = [_loss(v, given.width) for v in given.margins(M)]
    return float(np.sum(losses)) + given.lam / 2 * float(np.sum(M**2))


def _loss(v: float, width: float) -> float:
    if v >= 1:
        return 0.0
    if v <= 1 - width:
        return 1 - v - width / 2
    return (1 - v) ** 2 / (2 * width)


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective; norm, lam/2 ||M||^2; triplets (m, 3), their margins, losses and slopes -l' (m,); gradient (d, d), a
    subgradient if the width is 0.
    """
    width, margins = given.width, given.margins(M)
    slopes = np.where(margins < 1, 1.0, 0.0) if width == 0 else np.clip((1 - margins) / width, 0.0, 1.0)
    return {
        "objective": objective(given, M),
        "norm": given.lam / 2 * float(np.sum(M**2)),
        "triplets": given.triplets(),
        "margins": margins,
        "losses": np.array([_loss(v, width) for v in margins]),
        "slopes": slopes,
        "gradient": given.lam * M - given.weighted_sum(slopes),
    }


def _lam_times(factor: Callable[[Instance], float]) -> Any:
    return changed("lam", lambda q: q.checked(instance).lam * factor(q.checked(instance)))


def _off_diagonals_once(question: Question) -> float:
    given = question.checked(instance)
    return off_diagonals_once.left(question, given, given.lam, 1.0, given.width)


# Distances instead of squared distances (dlib's documentation) are not listed, because they are not convex in M.
MISREADINGS = {
    "mean": Misreading(
        "the mean over triplets where the method has the sum", _lam_times(lambda given: given.count)
    ),
    "no_half": Misreading("lam ||M||^2 where the method has lam/2 ||M||^2", _lam_times(lambda given: 2.0)),
    "hinge": Misreading(
        "the hinge where the method smooths it",
        changed("width", lambda q: 0.0 if q.checked(instance).width else None),
        exactly=True,  # other small widths are as near
    ),
    "exchanged": triplets_exchanged(instance),
    "off_diagonals": Misreading(off_diagonals_once.SENTENCE, left=_off_diagonals_once),
    **TRIPLETS,
}


class RTML(TripletMethod[Instance]):
    """Regularized triplet-based metric learning: a smoothed hinge of triplets, and the Frobenius norm."""

    id = "rtml"
    TITLE = "RTML: regularized triplet-based metric learning (Yoshida, Takeuchi, Karasuyama 2018)"
    PARAMETERS: ClassVar = {
        "lam": Parameter("weight of half the squared norm, > 0", NUMBER, 1.0),
        "width": Parameter(
            "width below the margin 1 over which the hinge is smoothed, at most 1; 0: the hinge", NUMBER, 0.05
        ),
        **BY_TRIPLETS,
    }
    STATEMENT = Statement("cvxml.methods.rtml", ("problem", "loss", "dual"))
    MISREADINGS: ClassVar = MISREADINGS
    WEIGHTS: ClassVar = {"lam": math.inf}
    SMALL: ClassVar = {"n_neighbors": 2, "lam": 10.0}
    UNITS: ClassVar = {"lam": 4}
    MOVES = True
    BAD: ClassVar = {**BAD_TRIPLETS, "lam": (0, 1e-200), "width": (-0.1, 1.5, 1e-300)}
    # The derivative lam M - (sum of factor times slope -l') is 0 at M, or changes its sign there.
    HAND: ClassVar = (
        # One triplet: 32 M = 8 (1 - 8 M) / 0.5.
        Hand([[0.0], [1.0], [3.0]], None, {"lam": 32.0, "width": 0.5, "triplets": [[0, 1, 2]]}, [[0.1]], 0.2),
        # The hinge: 10 M lies between the slopes on both sides of the kink 3 M = 1.
        Hand(*LINE, {"lam": 10.0, "width": 0, "n_neighbors": 1}, [[1 / 3]], 5 / 9 + 5 / 12),
        # Every loss is quadratic: the sum is (4 - 2 * 22.75 M + 176.0625 M^2) / 2.
        Hand(
            *LINE,
            {"lam": 300.0, "width": 1.0, "n_neighbors": 1},
            [[22.75 / 476.0625]],
            2 - 22.75**2 / (2 * 476.0625),
        ),
        # Every loss is linear: the sum is 4 - 22.75 M - 4 * width / 2.
        Hand(*LINE, {"lam": 1e4, "n_neighbors": 1}, [[22.75e-4]], 3.9 - 22.75**2 / 2e4),
    )
    RADIUS = True
    ESTIMATOR: ClassVar = Estimator(
        "RTML", positional=("lam", "n_neighbors"), scale="lam/2 times the squared norm of the metric"
    )
    EXAMPLES: ClassVar = (
        drawn(5, 18, 3),
        drawn(6, 12, 14, 2, lam=100.0, width=1.0, n_neighbors=1),  # more features than points
        drawn(7, 18, 5, degenerate=True),
        sample("iris", 24, lam=10.0, n_neighbors=2),
        sample("wine", 20, lam=1000.0, width=0.0),  # the hinge
        verified("iris", 15, n_neighbors=2),
        verified("wine", 24, lam=20.0, n_neighbors=2),
        timed("iris"),
        timed("wine"),
    )

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        return instance(X, y, **params)

    def problem(self, given: Instance) -> Any:
        return problem(given.X, given.triplets(), given.lam, given.width)

    def constraint_names(self, given: Instance) -> list[str]:
        return ["M psd"]

    def dual(self, given: Instance) -> Any:
        return dual(given.X, given.triplets(), given.lam, given.width)

    def objective(self, given: Instance, M: FloatArray) -> float:
        return objective(given, M)

    def evaluate(self, given: Instance, M: FloatArray, t: int = 1) -> dict[str, Any]:
        return evaluate(given, M)

    def member(self, given: Instance, number: Callable[[Any], Any] = float) -> Family:
        norm = Frobenius(given.X, number(given.lam))
        smoothed = SmoothedHinge(number(given.width)) if given.width else Hinge(number(1))
        return Family(norm, (Term(smoothed, self.rows(given)),), of_regularizer=True, radius=norm.around)

    def stored(self, given: Instance) -> dict[str, Any]:
        return {"lam": given.lam, "width": given.width, **given.stored}


METHOD = RTML()
