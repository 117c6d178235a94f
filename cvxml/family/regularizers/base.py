"""Regularizers R of the family, each with a bound r: R(M) - <M, G> >= r(G) for every psd M and every symmetric G.

| file              | R(M)                | r(G)                                   | excess R(M) - <M, G> - r(G) |
| linear.py         | <C, M>, C psd       | 0 if C - G is psd, else -inf           | <C - G, M>                  |
| budget.py         | 0 where <S, M> <= 1 | -max(0, lambda_max of G relative to S) | max(0, lambda_max) - <G, M> |
| trace.py          | v tr M              | 0 if v I - G is psd, else -inf         | <v I - G, M>                |
| frobenius.py      | lam/2 ||M||^2       | -||P_+(G)||^2 / (2 lam)                | see the file                |
| logdet.py         | D_ld(M, A_0)        | log det(A_0 (A_0^-1 - G))              | see the file                |

diagonal.py has the first two for diagonal M, and combinations.py has regularizers of metrics sum_k w_k b_k b_k^T with
weights w_k >= 0 and given vectors b_k. Two more serve a single method: methods/plml/blocks.py, and
methods/ldml/no_regularizer.py (R = 0).

M (d, d) is the metric, a are the dual variables of the losses, and k(a) + r(G) is the lower bound (theorem/theorem.py).
P_+ replaces negative eigenvalues by 0. X_p = (x_i - x_j)(x_i - x_j)^T for a pair p = (i, j). S is the sum of X_p over
similar pairs, and D_ld(M, A_0) the log det divergence from a prior A_0. G = sum_t a_t V_t is given by its weights on
pairs of points. A regularizer finds the feasible matrix that is judged in place of a given one. It names the rows that
may have nonzero dual variables, and finds the best or a feasible multiple of the dual variables. A view is the points
under a metric: it gives distances with error bounds. A ball is a number with a proved error bound.

R, r and the excess are written once, as formulas over numbers/vocabulary.py (`ByFormulas`). They hold for enclosures
(certificate) and for rationals (exact mode). Only LogDet has formulas of its own for each kind, because its certificate
computes log det and divergence to first order around a Cholesky factor (definite.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import watched
from cvxml.core.exact import scaled
from cvxml.core.metric import Feasibility, FloatArray, IntArray
from cvxml.family.geometry.symmetric import weighted_pairs
from cvxml.family.losses.base import ConjugateOnRay, as_sum
from cvxml.family.rows.base import View, Weights
from cvxml.numbers import rational
from cvxml.numbers.enclosures import Enclosure, enclosure
from cvxml.numbers.rounding import (
    WIDE,
    Distances,
    Points,
    Products,
    Seen,
    least_eigenvalue,
    points,
)
from cvxml.numbers.sums import Approximate
from cvxml.numbers.vocabulary import exact, fraction, like, total

PAIRS = 2**16  # pairs handled at a time
ROUNDINGS = 4  # of a weight, at most: it is a sum of few products of dual variables and constants
MAX_EIGENVALUE = 1e200  # a larger eigenvalue counts as infinite; then the dual variables give no bound
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")
CLOSEST = 1e-12  # tolerance of the search for a multiple, relative to the longest one
SMALL_IMPROVEMENT = 1e-13  # a relative improvement of the bound below this keeps the multiple 1


class JudgedMatrix(NamedTuple):
    """The matrix that is judged in place of a given one, for example its projection to the psd cone.

    view: the points under the judged matrix. feasibility: that of the given matrix. finite: False if distances
    overflow, or R is infinite. zero: True if the judged matrix is 0; some regularizers do not test it and give False.

    undecided: the reason why double precision cannot judge it, as a sentence; else empty.
    """

    view: View
    feasibility: Feasibility
    finite: bool  # False if distances overflow, or R is infinite
    zero: bool = False  # True if the judged matrix is 0
    undecided: str = ""  # the reason why double precision cannot judge this matrix, as a sentence; else empty


class Surplus(NamedTuple):
    """A symmetric matrix Z (r, r), and a bound of its error in norm. The lower bound is valid only if Z is psd."""

    Z: FloatArray
    error: float

    @property
    def psd(self) -> bool:
        """True if Z is proved to be positive definite."""
        return least_eigenvalue(self.Z) > self.error


class Regularizer(Protocol):
    """R, and the operations that a proof needs, for the points X that the object was made for."""

    @property
    def X(self) -> FloatArray:
        """The points (n, d)."""

    @property
    def labels(self) -> IntArray:
        """Labels (n,): the dual variable of a row must be 0 if the row has a pair of points with different labels."""

    @property
    def undecided(self) -> str:
        """The reason why double precision gives no proof for these data, as a sentence; else empty."""

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """The feasible matrix that is judged in place of A (d, d): A, or one near A if A is not feasible."""

    def value(self, view: Any) -> Approximate:
        """R(M), for the view of M from `judge`."""

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor t for which the dual variables t a give the best proved bound k(t a) + r(t G).

        G: the matrix that belongs to the dual variables a. ray: t -> k(t a), the sum over the losses. Returns 0 if no
        multiple is proved feasible. If every multiple is feasible, but the bound is not finite, it returns 1.
        """

    def surplus(self, G: Weights) -> Surplus | None:
        """The matrix that must be psd for r(G) to be finite; None if no matrix has to be checked."""

    def bound(self, G: Weights) -> Approximate:
        """r(G). value - error is a proved lower bound of it, and value + error an upper bound."""

    def excess(self, view: Any, G: Weights) -> Approximate:
        """R(M) - <M, G> - r(G), for the view of M from `judge`."""

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """The psd matrix of rationals that is judged in place of A (d, d): A itself, or one near A.

        root: M with M M^T near A, if it is known; for combinations of given b_k b_k^T, their weights (K,).
        """

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """The squared distances of the points X in the feasible matrix that `metric`, a psd matrix, stands for.

        It is `metric` itself, except for a budget: `metric` is then divided by its sum of squared distances over
        similar pairs, if this sum is above 1.
        """

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Any:
        """R(M) as a fraction or a ball. metric, D: the results of `exact_metric` and `exact_distances`."""

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Any:
        """r(G) as a fraction or a ball, for weights that are fractions; None if it is -inf.

        hint: data found by floats that make the proof easier, if known. Without a hint, some regularizers compute such
        data by floats, so the bound may depend on the linear algebra library.
        """


class Scaled(NamedTuple):
    """Points X (n, d) and a metric A (d, d) in units that give every feature a spread of about 1.

    spread (d,): these units, powers of two.
    """

    X: FloatArray  # (n, d)
    spread: FloatArray  # (d,) the units, powers of two
    A: FloatArray  # (d, d)

    def total(self, G: Weights) -> FloatArray:
        """The matrix sum_p w_p X_p (d, d) in these units, for weights w on pairs."""
        return weighted_pairs(self.X, G.pairs, G.w)


@runtime_checkable
class Smooth(Protocol):
    """A regularizer with a second derivative. The derivative guides a search, and a proof must not use it."""

    def second_derivative(self, at: Scaled) -> FloatArray | None:
        """The second derivative of R at the metric of `at`, a matrix (p, p); None if it is unknown.

        It acts on symmetric matrices as vectors svec (geometry/symmetric.py).
        """


@runtime_checkable
class Priced(Protocol):
    """A regularizer that knows, for an optimal G, a matrix C such that C - G is psd and <C - G, M> = 0.

    C guides a search, and a proof must not use it.
    """

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        """The matrix C (d, d) of the class docstring for the G with weights `G`; None if it is unknown.

        C is in the units of `at`, which holds points and metric.
        """


def of_last(work: Callable[[S, U], T]) -> Callable[[S, U], T]:
    """Decorate `work`, a method of one argument, so that its last result is stored in the object.

    A call with the same argument (the same object, not an equal one) returns the stored result. The bound and the gap
    need the same results.
    """
    name = f"last of {work.__name__}"

    @wraps(work)
    def remembered(self: S, G: U) -> T:
        last = self.__dict__.get(name)
        if last is None or last[0] is not G:
            last = self.__dict__[name] = (G, work(self, G))
        found: T = last[1]
        return found

    return remembered


class Everywhere:
    """Base of regularizers. By default, every row may have a dual variable, and every psd matrix is feasible."""

    X: FloatArray

    @cached_property
    def labels(self) -> IntArray:
        """Zeros (n,): all points have one label, so the dual variable of every row may be nonzero."""
        return np.zeros(len(self.X), dtype=np.intp)

    @property
    def undecided(self) -> str:
        return ""

    def surplus(self, G: Weights) -> Surplus | None:
        """None, because no matrix has to be checked."""
        return None

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        return rational.judged(A, root)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """The squared distances of the points in `metric`, because every psd matrix is feasible."""
        return X.distances(metric)


class ExactView:
    """A feasible matrix of rationals, and the points in it. `ByFormulas` takes it in place of a view.

    metric: the matrix. D: the squared distances of the points in it.
    """

    def __init__(self, metric: rational.Squares, D: rational.Distances):
        self.metric, self.D = metric, D

    @cached_property
    def M(self) -> Any:
        return rational.matrix(self.metric.V, scaled(1, self.metric.at))

    @property
    def w(self) -> Any:
        """The weights w (K,) of a matrix sum_k w_k b_k b_k^T; empty for regularizers of other matrices."""
        return exact(self.metric.weights)

    @property
    def trace(self) -> Any:
        return total(np.diag(self.M))

    def pairs(self, index: IntArray) -> Any:
        """Squared distances of the pairs (p, 2)."""
        (unit,) = exact([self.D.unit])
        return exact(self.D.D[i][j] for i, j in index.tolist()) * unit


class ByFormulas(Everywhere, ABC):
    """Base of regularizers with R, r and the excess as formulas over numbers/vocabulary.py, each written once.

    The formulas hold for enclosures (certificate) and for rationals (exact mode). They take
    - at: a metric M. It is a view from `judge`, with enclosures as attributes, or an `ExactView`.
    - image: the numbers computed from G that r depends on: enclosures from `image`, or rationals from `exact_image`.
    """

    @abstractmethod
    def value_at(self, at: Any) -> Any:
        """R(M). at: a view of M with enclosures as attributes, or an `ExactView` of M."""

    @abstractmethod
    def conjugate_at(self, image: Any) -> Any:
        """r(G). image: the result of `image` or `exact_image` for G."""

    @abstractmethod
    def excess_at(self, at: Any, image: Any) -> Any:
        """R(M) - <M, G> - r(G) as a sum of terms >= 0, so its error is small where the excess is small.

        at: a view of M with enclosures as attributes, or an `ExactView` of M. image: the result of `image` or
        `exact_image` for G.
        """

    @abstractmethod
    def image(self, G: Weights) -> Any:
        """The numbers computed from G that r depends on, in enclosures.

        The enclosures also hold if each weight of G was rounded a few times. If G.exact is True, the weights have no
        rounding errors, and the enclosures may be narrower.
        """

    @abstractmethod
    def exact_image(self, X: rational.Plane, G: Weights, hint: Any) -> Any:
        """The numbers computed from G that r depends on, in rationals; None if r(G) is -inf.

        X: the points in rationals. The weights of G are fractions. hint: data that make the proof easier, or None.
        """

    def value(self, view: Any) -> Approximate:
        return _evaluated(lambda: self.value_at(view))

    def bound(self, G: Weights) -> Approximate:
        return _evaluated(lambda: self.conjugate_at(self.image(G)))

    def excess(self, view: Any, G: Weights) -> Approximate:
        return _evaluated(lambda: self.excess_at(view, self.image(G)))

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Any:
        return fraction(self.value_at(ExactView(metric, D)))

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Any:
        image = self.exact_image(X, G, hint)
        return None if image is None else fraction(self.conjugate_at(image))


def _evaluated(formula: Callable[[], Any]) -> Approximate:
    with np.errstate(all="ignore"):
        return as_sum(enclosure(formula()))


class SeenBy:
    """The points under a psd metric: squared distances and images z with D_ij = |z_i - z_j|^2, with error bounds.

    X (n, d): the points. sight: their images under a root of the metric (numbers/rounding.py).
    """

    def __init__(self, X: FloatArray, sight: Seen):
        self.X, self.sight = X, sight

    @cached_property
    def images(self) -> Points:
        return points(self.X, self.sight.root)

    def pairs(self, index: IntArray) -> Distances:
        if self.X.shape[1] >= WIDE:
            return self.sight.between(self.images, *index.T)
        return self.sight.of(self.X[index[:, 0]] - self.X[index[:, 1]])

    def products(self) -> Products:
        z = self.sight.images.at
        return Products(z, z, np.sum(z**2, axis=1), self.sight.reach())

    def from_points(self, i: IntArray) -> Distances:
        return self.sight.from_points(i)


def fractions(w: Any) -> list[Fraction]:
    """An array of floats or fractions as a list of fractions."""
    return [Fraction(weight) for weight in w.tolist()]


def product(at: Any, G: Weights) -> Any:
    """<G, M> as a number, for weights of floats or of fractions. at: a view of M. Works on some pairs at a time."""
    parts = []
    for first in watched(range(0, max(1, len(G.w)), PAIRS)):
        some = slice(first, first + PAIRS)
        pairs, w = (G.pairs, G.w) if len(G.w) <= PAIRS else (G.pairs[some], G.w[some])
        D = at.pairs(pairs)
        D = Enclosure(*D) if isinstance(D, Distances) else D
        parts.append(total(like(D, w, ROUNDINGS) * D))
    return sum(parts[1:], start=parts[0])


def best_of_square(bound: Approximate, ray: ConjugateOnRay) -> float:
    """The t with the best bound k(t a) + t^2 (r(G) - error), for a regularizer with r(t G) = t^2 r(G).

    bound: r(G) with its error; if they are not finite, the result is 1. ray: the function t -> k(t a).
    """
    paid = bound.error - bound.value
    return best(lambda t: ray.value(t) - paid * t * t, ray.longest) if math.isfinite(paid) else 1.0


def best(value: Callable[[float], float], longest: float) -> float:
    """The t in (0, longest] that maximizes a concave function `value`; 1 if value(1) is not clearly smaller.

    Also 1 if longest <= 0, which means that only t = 1 is allowed.
    """
    if longest <= 0:
        return 1.0
    top = min(longest, 1.0)
    while 2 * top <= longest and value(2 * top) > value(top):
        top *= 2
    low, high = 0.0, min(2 * top, longest)
    if value(high) > value(high * (1 - 1e-9)):
        return high
    from scipy.optimize import fminbound  # takes a tenth of a second to load

    t = float(fminbound(lambda t: -value(t), low, high, xtol=CLOSEST * high))
    return 1.0 if longest >= 1 and value(1.0) >= value(t) - SMALL_IMPROVEMENT * abs(value(t)) else t
