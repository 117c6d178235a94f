"""Points, metrics and distances as rational numbers, which floats are: what exact arithmetic works on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.core.balls import ends, total
from cvxml.core.clock import watched
from cvxml.core.exact import flint, scaled
from cvxml.core.integer_matrices import distance_to_square, is_psd, root_of, weighted_outer, whole
from cvxml.core.metric import FloatArray, IntArray


class Squares(NamedTuple):
    """A psd matrix of integers times 2^at, and how far it is from the metric it stands for."""

    V: Any
    at: int
    distance: float
    weights: Fraction = Fraction(0)  # their sum, of a combination of vectors (combinations.py)


def judged(A: FloatArray, root: ArrayLike | None = None) -> Squares:
    """The metric itself where it is psd as rational numbers are; else M M^T, M being its root or the one given."""
    V, at = whole(A)
    if root is None and V.transpose() == V and is_psd(V):
        return Squares(V, at, 0.0)
    M = root_of(A, root)
    rows, root_at = whole(M)
    return Squares(rows * rows.transpose(), 2 * root_at, distance_to_square(A, M))


class Distances(NamedTuple):
    """D of every two points, integers times a unit."""

    D: list[list[int]]
    unit: Fraction

    def total(self, pairs: IntArray, w: Sequence[Fraction]) -> Fraction:
        """sum w_p D_p"""
        terms = (weight * self.D[i][j] for (i, j), weight in zip(pairs.tolist(), w, strict=True))
        return sum(terms, Fraction(0)) * self.unit


class Plane(NamedTuple):
    """Points X (n, d) as integers times 2^at."""

    points: Any
    at: int

    def distances(self, metric: Squares) -> Distances:
        """In a metric."""
        products = (self.points * metric.V * self.points.transpose()).tolist()
        lengths = [row[i] for i, row in enumerate(products)]
        D = [
            [int(a + b - 2 * product) for b, product in zip(lengths, row, strict=True)]
            for a, row in watched(zip(lengths, products, strict=True))
        ]
        return Distances(D, scaled(1, 2 * self.at + metric.at))

    def outer(self, pairs: IntArray, w: Sequence[Fraction]) -> tuple[Any, int]:
        """sum w_p X_p as integers, to be multiplied by 4^at, and a number they are to be divided by."""
        common = math.lcm(*(weight.denominator for weight in w)) if len(w) else 1
        weights: dict[tuple[int, int], int] = {}
        for (i, j), weight in zip(pairs.tolist(), w, strict=True):
            weights[i, j] = weights.get((i, j), 0) + int(weight * common)
        rows = [[int(entry) for entry in row] for row in self.points.tolist()]
        return weighted_outer(rows, weights), common

    def diagonal(self, pairs: IntArray, w: Sequence[Fraction]) -> list[Fraction]:
        """That of sum w_p X_p."""
        rows = [[int(entry) for entry in row] for row in self.points.tolist()]
        sums = [Fraction(0)] * len(rows[0])
        for (i, j), weight in zip(pairs.tolist(), w, strict=True):
            sums = [total + weight * (a - b) ** 2 for total, a, b in zip(sums, rows[i], rows[j], strict=True)]
        return [total * scaled(1, 2 * self.at) for total in sums]

    def psd(self, pairs: IntArray, w: Sequence[Fraction]) -> bool:
        """True if sum w_p X_p is, exactly."""
        return is_psd(self.outer(pairs, w)[0])


def plane(X: FloatArray) -> Plane:
    """Exactly."""
    return Plane(*whole(X))


def end(values: Iterable[Any], up: bool) -> Fraction:
    """The sum of fractions, flint's rationals and balls, exactly or the upper or the lower end."""
    rational, others = Fraction(0), []
    for value in values:
        if isinstance(value, flint().arb):
            others.append(value)
        else:
            rational += value if isinstance(value, Fraction) else Fraction(int(value.p), int(value.q))
    return rational + ends(total(others))[1 if up else 0] if others else rational


def least_factor(enough: Callable[[Fraction], bool], guess: Fraction) -> Fraction:
    """A factor that is enough, next to the least that is: `enough` is true from there on, and the guess may be near."""
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
    while high - low > high / (1 << 50):  # the guess was of no use
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
