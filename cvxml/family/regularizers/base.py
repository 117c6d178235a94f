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

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, wraps
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import fminbound

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, Feasibility, FloatArray, IntArray, examine
from cvxml.family.geometry.budget import Judged, budget, examine_budget, most
from cvxml.family.geometry.span_coordinates import Ground, ground
from cvxml.family.geometry.symmetric import weighted_pairs
from cvxml.family.losses.base import Ray, Sum, sharp, summed
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
    seen,
    squares_of_pairs,
)

PAIRS = 2**16  # at a time
MOST = 1e200  # an eigenvalue beyond is as good as infinite, and prices that pay for it are none
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")
CLOSEST = 1e-12  # of the longest multiple: no two are tried that are nearer
NEAR = 1e-13  # of a bound: a multiple that wins less is not worth another price


class Looked(NamedTuple):
    """A matrix as it is judged."""

    view: View
    feasibility: Feasibility
    finite: bool  # False where its distances overflow, or R is infinite
    zero: bool = False  # True if what is judged is 0
    undecided: str = ""  # why double precision knows nothing of this matrix, as a sentence


class Surplus(NamedTuple):
    """A symmetric matrix, and what it may be off by, in norm."""

    Z: FloatArray
    off: float

    @property
    def psd(self) -> bool:
        """True where that is proved."""
        return least_eigenvalue(self.Z) > self.off


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

    def look(self, A: FloatArray) -> Looked:
        """At any matrix (d, d)."""

    def value(self, view: Any) -> Sum:
        """R(M), at a view that `look` gave."""

    def multiple(self, G: Weights, ray: Ray) -> float:
        """The factor of prices with the best bound, of those that are feasible; 0 where none is."""

    def surplus(self, G: Weights) -> Surplus | None:
        """What must be psd for r(G) to be finite; None where any G will do."""

    def bound(self, G: Weights) -> Sum:
        """r(G); what is proved is value - off, and r(G) is no larger than value + off."""

    def excess(self, view: Any, G: Weights) -> Sum:
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


class Linear:
    """<C, M> for C = sum_p w_p X_p, w > 0. what: "targets differ from their points", whose differences they are."""

    def __init__(self, X: FloatArray, C: Weights, what: str):
        self.X, self.C, self.what = X, C, what

    @cached_property
    def ground(self) -> Ground:
        """Coordinates in which C is about 1."""
        return ground(self.X, self.C, self.what)

    @property
    def labels(self) -> IntArray:
        """Points that differ within the range of C."""
        return self.ground.labels

    @property
    def undecided(self) -> str:
        """See `Regularizer`."""
        return self.ground.undecided

    def look(self, A: FloatArray) -> Looked:
        """P_+(A); what only rounding takes from the cone is counted as such."""
        psd, feasibility = examine(A, self.X)
        with np.errstate(over="ignore", invalid="ignore"):
            sight = seen(self.X, A / 2 + A.T / 2 if feasibility.exact else psd)
        finite = bool(np.isfinite(sight.images.at).all()) and math.isfinite(sight.miss)
        return Looked(SeenBy(self.X, sight), feasibility, finite)

    def value(self, view: View) -> Sum:
        """sum w D"""
        return product(view, self.C)

    def multiple(self, G: Weights, ray: Ray) -> float:
        """The best of those that keep C - G psd: 1/longest is the largest eigenvalue of G where C is 1.

        C being definite on its range, of which T is a basis, C - G is psd where T^T (C - G) T is.
        """
        at = self.ground
        if at.undecided:
            return 0.0
        if at.rank == 0 or len(G.w) == 0:
            return best(ray.value, ray.longest)
        with np.errstate(over="ignore", invalid="ignore"):
            image, moved = self._on_ground(G)
        largest = moved - least_eigenvalue(-image)
        if not largest < MOST:
            return 0.0
        longest = at.least / largest * (1 - 8 * EPS) if largest > 0 else math.inf
        return best(ray.value, min(longest, ray.longest))

    def surplus(self, G: Weights) -> Surplus:
        """T^T (C - G) T. Also where every price is rounded a few times more."""
        if self.ground.undecided:
            return Surplus(np.zeros((0, 0)), math.inf)
        return self._on_ground(self._left(G))

    def _on_ground(self, G: Weights) -> Surplus:
        """T^T G T"""
        return Surplus(*squares_of_pairs(self.ground.images, G.pairs, G.w))

    def bound(self, G: Weights) -> Sum:
        """0: prices are feasible."""
        return Sum(0.0, 0.0)

    def excess(self, view: View, G: Weights) -> Sum:
        """<C - G, M>"""
        return product(view, self._left(G))

    def _left(self, G: Weights) -> Weights:
        """C - G"""
        return Weights(np.concatenate([self.C.pairs, G.pairs]), np.concatenate([self.C.w, -G.w]))

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """See `Regularizer`."""
        return rational.judged(A, root)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """See `Regularizer`."""
        return X.distances(metric)

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Fraction:
        """sum w D"""
        return D.total(self.C.pairs, fractions(self.C.w))

    def exact_bound(self, X: rational.Plane, G: Weights, hint: Any = None) -> Fraction | None:
        """0 where C - G is psd"""
        left = self._left(G)
        return Fraction(0) if X.psd(left.pairs, fractions(left.w)) else None

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        """C"""
        return at.total(self.C)


@dataclass(frozen=True, eq=False)
class Within:
    """Points in a metric within the budget."""

    apart: Callable[[IntArray], FloatArray]  # the differences (p, d) of pairs (p, 2)
    judged: Judged

    @of_last
    def pairs(self, index: IntArray) -> Distances:
        """See `View`; also what rounding of the budget does to a distance."""
        D, off = self.judged.distances(self.apart(index))
        return Distances(D, off + 2 * self.judged.share * np.where(D > 0, D, 0.0))


class Budget:
    """0 where sum over similar pairs of D is at most 1.

    labels: the points by what the pairs span, exactly; rank: of that, or None for what double precision sees, which is
    for a solver and proves nothing.
    """

    def __init__(self, X: FloatArray, similar: IntArray, labels: IntArray, rank: int | None):
        self.X, self.similar, self.labels, self.rank = X, similar, labels, rank
        self.E = X[similar[:, 0]] - X[similar[:, 1]]
        self.at = budget(self.E, rank)

    def seen(self) -> Budget:
        """As double precision sees it."""
        return Budget(self.X, self.similar, self.labels, None)

    @property
    def undecided(self) -> str:
        """See `Regularizer`."""
        return self.at.undecided

    def look(self, A: FloatArray) -> Looked:
        """P_+(A) / max(1, spent)."""
        judged, feasibility = examine_budget(A, self.E, self.at.unit)
        return Looked(Within(self.apart, judged), feasibility, True)

    @of_last
    def apart(self, pairs: IntArray) -> FloatArray:
        """x_i - x_j of the pairs (p, 2)."""
        E: FloatArray = self.X[pairs[:, 0]] - self.X[pairs[:, 1]]
        return E

    def value(self, view: View) -> Sum:
        """0"""
        return Sum(0.0, 0.0)

    def multiple(self, G: Weights, ray: Ray) -> float:
        """That with the best bound."""
        slope = self._largest(G).value
        if not math.isfinite(slope):  # nothing is proved
            return 1.0
        if ray.against is not None:
            t = ray.against(slope)
            return t if ray.value(t) - slope * t > ray.value(1.0) - slope else 1.0
        return best(lambda t: ray.value(t) - slope * t, ray.longest)

    def surplus(self, G: Weights) -> None:
        """Any G will do."""

    def bound(self, G: Weights) -> Sum:
        """-lambda_max"""
        largest = self._largest(G)
        return Sum(-largest.value, largest.off)

    @of_last
    def _largest(self, G: Weights) -> Sum:
        scale = float(np.abs(G.w).max(initial=0.0)) or 1.0
        found = most(self.at, self.apart(G.pairs), G.w / scale)
        return Sum(found.value * scale, (found.off + 2 * EPS * found.value) * scale)

    def excess(self, view: View, G: Weights) -> Sum:
        """lambda_max - <G, M>"""
        largest, (paid, off) = self._largest(G), product(view, G)
        return Sum(largest.value - paid, largest.off + off + 2 * EPS * (largest.value + paid))

    def exact_metric(self, A: FloatArray, root: ArrayLike | None) -> rational.Squares:
        """See `Regularizer`."""
        return rational.judged(A, root)

    def exact_distances(self, X: rational.Plane, metric: rational.Squares) -> rational.Distances:
        """Over max(1, spent)."""
        D = X.distances(metric)
        spent = D.total(self.similar, [Fraction(1)] * len(self.similar))
        return rational.Distances(D.D, D.unit / max(Fraction(1), spent))

    def exact_value(self, metric: rational.Squares, D: rational.Distances) -> Fraction:
        """0"""
        return Fraction(0)

    def exact_bound(self, X: rational.Plane, G: Weights, hint: float | None = None) -> Fraction:
        """-lambda for a lambda that is proved to be no less than the largest, and next to it: the hint, if it is."""
        weights = fractions(G.w)
        pairs = np.concatenate([self.similar, G.pairs])

        def enough(factor: Fraction) -> bool:
            return X.psd(pairs, [*[factor] * len(self.similar), *(-w for w in weights)])

        if enough(Fraction(0)):
            return Fraction(0)
        guess = self._largest(Weights(G.pairs, G.w.astype(float))).value if hint is None else hint
        return -rational.least_factor(
            enough, Fraction(guess) if math.isfinite(guess) and guess > 0 else Fraction(1)
        )

    def cost(self, at: Scaled, G: Weights) -> FloatArray | None:
        """C = s sum over similar pairs of X_p, with the largest s for which it is at least G."""
        return -self.bound(G).value * at.total(Weights(self.similar, np.ones(len(self.similar))))


def fractions(w: Any) -> list[Fraction]:
    """Of floats or fractions."""
    return [Fraction(weight) for weight in w.tolist()]


def product(view: View, G: Weights) -> Sum:
    """<G, M>, some pairs at a time."""
    values, moved = [], 0.0
    for first in watched(range(0, len(G.w), PAIRS)):
        some = slice(first, first + PAIRS)
        pairs, w = G.pairs if len(G.w) <= PAIRS else G.pairs[some], G.w[some]
        D, off = view.pairs(pairs)
        terms = w * D
        values.append(sharp(terms).value)  # which is off by less than the terms are
        moved += float(np.abs(w) @ off) + 8 * EPS * float(np.abs(terms).sum())
    value = summed(values)
    return Sum(value, (moved + 4 * EPS * abs(value)) * (1 + 1e-6))


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
    return 1.0 if longest >= 1 and value(1.0) >= value(t) - NEAR * abs(value(t)) else t
