"""Points, metrics and distances as rational numbers, for certificates in exact arithmetic.

Every float is a rational number. Matrices are integers of python-flint times a power of two. The certificate is
computed for an exactly psd matrix. If a metric is psd only up to rounding, a psd matrix near it is judged in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import ends, total
from cvxml.core.exact import flint, scaled
from cvxml.core.integer_matrices import (
    distance_to_square,
    from_products,
    is_psd,
    root_of,
    weighted_outer,
    whole,
)
from cvxml.core.metric import FloatArray, IntArray


class Squares(NamedTuple):
    """The psd matrix 2^at V that is judged in place of a metric, with integers V (d, d) and an integer exponent `at`.

    distance: an upper bound of the Frobenius distance between the metric and 2^at V.
    weights: the weights w_k >= 0 if 2^at V is a combination sum_k w_k b_k b_k^T of given vectors; else empty.
    """

    V: Any
    at: int
    distance: float
    weights: Sequence[Fraction] = ()  # if V is a combination of vectors


def judged(A: FloatArray, root: ArrayLike | None = None) -> Squares:
    """The psd matrix that is judged in place of A (d, d).

    If no root is given and A is exactly psd, it is A itself. Otherwise it is M M^T, where M (d, r) is the root given,
    or else a computed root of A.
    """
    V, at = whole(A)
    if root is None and V.transpose() == V and is_psd(V):
        return Squares(V, at, 0.0)
    M = root_of(A, root)
    rows, root_at = whole(M)
    return Squares(rows * rows.transpose(), 2 * root_at, distance_to_square(A, M))


def matrix(V: Any, unit: Fraction) -> Any:
    """The matrix unit * V as a numpy array of flint's rationals, for a matrix V of flint's integers."""
    factor = flint().fmpq(unit.numerator, unit.denominator)
    found = np.empty((V.nrows(), V.ncols()), dtype=object)
    found[:] = [[factor * entry for entry in row] for row in V.tolist()]
    return found


class Distances(NamedTuple):
    """Squared distances of all pairs of points: D[i][j] * unit, with integers D."""

    D: list[list[int]]
    unit: Fraction

    def total(self, pairs: IntArray, w: Sequence[Fraction]) -> Fraction:
        """The sum of w_p times the squared distance of the pair p, for `pairs` (m, 2) with weights w (m,)."""
        terms = (weight * self.D[i][j] for (i, j), weight in zip(pairs.tolist(), w, strict=True))
        return sum(terms, Fraction(0)) * self.unit


class Plane(NamedTuple):
    """Points X = 2^at times `points` (n, d), a matrix of flint's integers. `at` is an integer exponent.

    The methods take pairs p = (i, j), an array (m, 2), and one weight w_p for each. X_p = (x_i - x_j)(x_i - x_j)^T.
    """

    points: Any
    at: int

    def distances(self, metric: Squares) -> Distances:
        D = from_products(self.points * metric.V * self.points.transpose())
        return Distances(D, scaled(1, 2 * self.at + metric.at))

    def outer(self, pairs: IntArray, w: Sequence[Fraction]) -> tuple[Any, int]:
        """Integers S (d, d) and a common denominator c: sum_p w_p X_p = 4^at S / c. Returns (S, c)."""
        common = math.lcm(*(weight.denominator for weight in w)) if len(w) else 1
        weights: dict[tuple[int, int], int] = {}
        for (i, j), weight in zip(pairs.tolist(), w, strict=True):
            weights[i, j] = weights.get((i, j), 0) + int(weight * common)
        rows = [[int(entry) for entry in row] for row in self.points.tolist()]
        return weighted_outer(rows, weights), common

    def diagonal(self, pairs: IntArray, w: Sequence[Fraction]) -> list[Fraction]:
        """The diagonal (d,) of sum_p w_p X_p."""
        rows = [[int(entry) for entry in row] for row in self.points.tolist()]
        sums = [Fraction(0)] * len(rows[0])
        for (i, j), weight in zip(pairs.tolist(), w, strict=True):
            sums = [total + weight * (a - b) ** 2 for total, a, b in zip(sums, rows[i], rows[j], strict=True)]
        return [total * scaled(1, 2 * self.at) for total in sums]

    def psd(self, pairs: IntArray, w: Sequence[Fraction]) -> bool:
        """True if sum_p w_p X_p is psd, decided exactly."""
        return is_psd(self.outer(pairs, w)[0])


def plane(X: FloatArray) -> Plane:
    return Plane(*whole(X))


def end(values: Iterable[Any], up: bool) -> Fraction:
    """A bound of the sum of the numbers `values`: an upper bound if `up`, else a lower bound.

    The numbers are fractions, flint's rationals, and balls. A ball is an interval that contains an exact number.
    Without balls, both bounds are the exact sum.
    """
    rational, others = Fraction(0), []
    for value in values:
        if isinstance(value, flint().arb):
            others.append(value)
        else:
            rational += value if isinstance(value, Fraction) else Fraction(int(value.p), int(value.q))
    return rational + ends(total(others))[1 if up else 0] if others else rational


def least_factor(enough: Callable[[Fraction], bool], guess: Fraction) -> Fraction:
    """A factor t with enough(t). It exceeds the smallest one by a relative 2^-20, about 1e-6, at most.

    guess: a positive estimate of the smallest t. If its relative error is above about 2^-20, a bisection finds the
    smallest t, usually to a relative 2^-50.

    `enough` must be monotone: false at 0 and at all small t > 0, and true from some t on.
    """
    for more in (Fraction(0), *(Fraction(1, 1 << k) for k in (50, 40, 30, 20))):
        near = guess * (1 + more)
        if enough(near):
            break
    else:
        near = 2 * guess
        while not enough(near):
            near *= 2
    low, high = Fraction(0), near
    if not enough(near * (1 - Fraction(1, 1 << 20))):
        return near
    while high - low > high / (1 << 50):  # the guess was not accurate
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
