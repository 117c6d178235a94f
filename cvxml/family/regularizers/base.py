"""Regularizers R of the family, each with its bound r: R(M) - <M, G> >= r(G) for every psd M and every symmetric G.

| regularizer         | r(G)                               | part of the gap          |
| <C, M>, C psd       | 0 where C - G is psd, else -inf    | <C - G, M>               |
| 0 where <S, M> <= 1 | -max(0, lambda_max of G against S) | lambda_max - <G, M>      |

More are in files of their own: frobenius.py (lam/2 ||M||^2), logdet.py (the divergence from a prior), diagonal.py
(these two where M is diagonal), trace.py, blocks.py, combinations.py and no_regularizer.py (R = 0).

G = sum_t a_t V_t is known by its weights on pairs of points. Each knows how a matrix is judged, which rows may have a
price at all, and the multiple of prices that is best or feasible; what rounding may have moved is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import fminbound

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, Feasibility, FloatArray, IntArray
from cvxml.family.geometry.symmetric import weighted_pairs
from cvxml.family.losses.base import ConjugateOnRay
from cvxml.family.rows.base import View, Weights
from cvxml.numbers import rational
from cvxml.numbers.rounding import (
    WIDE,
    Distances,
    Points,
    Products,
    Seen,
    least_eigenvalue,
    points,
)
from cvxml.numbers.sums import Approximate, accurate_sum, summed

PAIRS = 2**16  # at a time
MAX_EIGENVALUE = (
    1e200  # a larger eigenvalue counts as infinite, and dual variables that would need it give no bound
)
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")
CLOSEST = 1e-12  # of the longest multiple: no two are tried that are nearer
SMALL_IMPROVEMENT = (
    1e-13  # relative: the search for a better multiple ends at a smaller improvement of the bound
)


class JudgedMatrix(NamedTuple):
    """A matrix as it is judged."""

    view: View
    feasibility: Feasibility
    finite: bool  # False where its distances overflow, or R is infinite
    zero: bool = False  # True if what is judged is 0
    undecided: str = ""  # why double precision knows nothing of this matrix, as a sentence


class Surplus(NamedTuple):
    """A symmetric matrix, and what it may be off by, in norm."""

    Z: FloatArray
    error: float

    @property
    def psd(self) -> bool:
        """True where that is proved."""
        return least_eigenvalue(self.Z) > self.error


class Regularizer(Protocol):
    """R and what a proof needs of it, on points that it was made for."""

    @property
    def X(self) -> FloatArray:
        """The points (n, d)."""

    @property
    def labels(self) -> IntArray:
        """(n,): a pair may have a price only where they are equal."""

    @property
    def undecided(self) -> str:
        """Why double precision proves nothing of these data, as a sentence; empty where it may."""

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """At any matrix (d, d)."""

    def value(self, view: Any) -> Approximate:
        """R(M), at a view that `look` gave."""

    def best_multiple(self, G: Weights, ray: ConjugateOnRay) -> float:
        """The factor of prices with the best bound, of those that are feasible; 0 where none is."""

    def surplus(self, G: Weights) -> Surplus | None:
        """What must be psd for r(G) to be finite; None where any G will do."""

    def bound(self, G: Weights) -> Approximate:
        """r(G); what is proved is value - off, and r(G) is no larger than value + off."""

    def excess(self, view: Any, G: Weights) -> Approximate:
        """R(M) - <M, G> - r(G), at a view that `look` gave."""

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """A psd matrix of rationals that is A (d, d), or near. root: M with M M^T near A, if it is known."""

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """Those of a matrix that is feasible, from a psd one."""

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Any:
        """R(M), a fraction or a ball, of such a metric and its distances."""

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Any:
        """r(G), the same, for weights that are fractions; None where it is -inf.

        hint: what proves it and only floating point finds, where that is known; no digit is then decided by BLAS.
        """


class Scaled(NamedTuple):
    """Points and a metric in units in which features spread over about 1."""

    X: FloatArray  # (n, d)
    spread: FloatArray  # (d,): the units, powers of two
    A: FloatArray  # (d, d)

    def total(self, G: Weights) -> FloatArray:
        """The matrix (d, d) of weights on pairs."""
        return weighted_pairs(self.X, G.pairs, G.w)


@runtime_checkable
class Smooth(Protocol):
    """A regularizer with a second derivative. Like `Priced` it guides a search, and no proof rests on it."""

    def second_derivative(self, at: Scaled) -> FloatArray | None:
        """On the vectors `svec` of symmetric matrices (p, p); None where it is not known."""


@runtime_checkable
class Priced(Protocol):
    """A regularizer for which C - G is psd at an optimum."""

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        """C (d, d); None where it is not known."""


def of_last(work: Callable[[S, U], T]) -> Callable[[S, U], T]:
    """A method that remembers what it returned last, for the same object: bound and gap ask the same."""
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
    """What a regularizer has that is finite for any prices."""

    X: FloatArray

    @property
    def labels(self) -> IntArray:
        """All equal: every row may have a price."""
        return np.zeros(len(self.X), dtype=np.intp)

    @property
    def undecided(self) -> str:
        """Nothing is."""
        return ""


class SeenBy:
    """Points in a psd metric."""

    def __init__(self, X: FloatArray, sight: Seen):
        self.X, self.sight = X, sight

    @cached_property
    def images(self) -> Points:
        """To twice the digits."""
        return points(self.X, self.sight.root)

    def pairs(self, index: IntArray) -> Distances:
        """See `View`."""
        if self.X.shape[1] >= WIDE:
            return self.sight.between(self.images, *index.T)
        return self.sight.of(self.X[index[:, 0]] - self.X[index[:, 1]])

    def products(self) -> Products:
        """See `WideView`."""
        z = self.sight.images.at
        return Products(z, z, np.sum(z**2, axis=1), self.sight.reach())

    def from_points(self, i: IntArray) -> Distances:
        """See `WideView`."""
        return self.sight.from_points(i)


def fractions(w: Any) -> list[Fraction]:
    """Of floats or fractions."""
    return [Fraction(weight) for weight in w.tolist()]


def product(view: View, G: Weights) -> Approximate:
    """<G, M>, some pairs at a time."""
    values, moved = [], 0.0
    for first in watched(range(0, len(G.w), PAIRS)):
        some = slice(first, first + PAIRS)
        pairs, w = G.pairs if len(G.w) <= PAIRS else G.pairs[some], G.w[some]
        D, error = view.pairs(pairs)
        terms = w * D
        values.append(accurate_sum(terms).value)  # which is off by less than the terms are
        moved += float(np.abs(w) @ error) + 8 * EPS * float(np.abs(terms).sum())
    value = summed(values)
    return Approximate(value, (moved + 4 * EPS * abs(value)) * (1 + 1e-6))


def best(value: Callable[[float], float], longest: float) -> float:
    """t with the largest value, a concave function of 0 < t <= longest; 1 where that is as good."""
    if longest <= 0:
        return 1.0
    top = min(longest, 1.0)
    while 2 * top <= longest and value(2 * top) > value(top):
        top *= 2
    low, high = 0.0, min(2 * top, longest)
    if value(high) > value(high * (1 - 1e-9)):
        return high
    t = float(fminbound(lambda t: -value(t), low, high, xtol=CLOSEST * high))
    return 1.0 if longest >= 1 and value(1.0) >= value(t) - SMALL_IMPROVEMENT * abs(value(t)) else t
