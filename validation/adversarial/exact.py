"""Matrices of floats as integers over a power of two; balls that hold real numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq, fmpz_mat

BITS = 400


@contextmanager
def precision(bits: int = BITS) -> Iterator[None]:
    """Balls of that many bits."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


class Whole(NamedTuple):
    """The numbers values / 2^power, values being an array of integers of any size."""

    values: Any
    power: int

    def __add__(self, other: Whole) -> Whole:  # type: ignore[override]
        power = max(self.power, other.power)
        both = [w.values * 2 ** (power - w.power) for w in (self, other)]
        return Whole(both[0] + both[1], power)

    def times(self, exponent: int) -> Whole:
        """2^exponent of it."""
        return Whole(self.values, self.power - exponent)

    def of(self, left: Any, right: Any) -> Whole:
        """left^T M right for integers."""
        return Whole(left.T @ self.values @ right, self.power)


def whole(A: Any) -> Whole:
    """An array of floats, exactly."""
    A = np.asarray(A, float)
    ratios = [float(x).as_integer_ratio() for x in A.ravel()]
    power = max((below.bit_length() - 1 for _, below in ratios), default=0)
    values = np.empty(len(ratios), dtype=object)
    values[:] = [above * 2**power // below for above, below in ratios]
    return Whole(values.reshape(A.shape), power)


def identity(d: int, exponent: int) -> Whole:
    """2^exponent times the identity."""
    values = np.full((d, d), 0, dtype=object)
    values[np.arange(d), np.arange(d)] = 1
    return Whole(values, -exponent)


def symmetric(A: Any) -> Whole:
    """(A + A^T) / 2 of floats."""
    values, power = whole(A)
    return Whole(values + values.T, power + 1)


def outer(v: Any) -> Whole:
    """v v^T of integers, of trace about 1."""
    v = np.array([int(x) for x in v], dtype=object)
    length = sum(int(x) ** 2 for x in v)
    return Whole(np.outer(v, v), max(length.bit_length() - 1, 0))


def is_psd(M: Any) -> bool:
    """Of a symmetric matrix of integers: LDL^T without division (Bareiss)."""
    M, before = M.copy(), 1
    while len(M):
        pivot = M[0, 0]
        if pivot < 0 or (pivot == 0 and any(x != 0 for x in M[0])):
            return False
        if pivot == 0:
            M = M[1:, 1:]
            continue
        M, before = (M[1:, 1:] * pivot - np.outer(M[0, 1:], M[0, 1:])) // before, pivot
    return True


def rank(rows: Any) -> int:
    """Of rows of integers."""
    rows = [[int(x) for x in row] for row in rows]
    return int(fmpz_mat(rows).rank()) if rows and rows[0] else 0


def orthogonal(rows: Any) -> list[Any]:
    """Vectors of integers that span what is orthogonal to rows of integers."""
    d = np.shape(rows)[1]
    basis, count = fmpz_mat([[int(x) for x in row] for row in rows]).nullspace()
    columns = np.array(basis.tolist(), dtype=object).reshape(d, -1)
    return [_shortened([int(x) for x in columns[:, k]]) for k in range(count)]


def _shortened(v: list[int]) -> Any:
    """Without a common factor."""
    common = math.gcd(*v) or 1
    return np.array([x // common for x in v], dtype=object)


def ball(value: int, power: int) -> Any:
    """value / 2^power."""
    return arb(int(value)) * arb(2) ** (-power)


def real(x: float) -> Any:
    """A float, or infinity, as a ball."""
    if not math.isfinite(x):
        return arb(x)
    above, below = float(x).as_integer_ratio()
    return arb(fmpq(above, below))


def ball_of(x: Fraction) -> Any:
    """A fraction as a ball."""
    return arb(fmpq(x.numerator, x.denominator))


def logsumexp(terms: list[Any]) -> Any:
    """log sum exp(t)."""
    at = max(range(len(terms)), key=lambda k: terms[k].mid())
    rest = sum(((t - terms[at]).exp() for k, t in enumerate(terms) if k != at), arb(0))
    return terms[at] + rest.log1p()


def largest(terms: list[Any]) -> Any:
    """The maximum."""
    return reduce(lambda a, b: a.max(b), terms)


def least(terms: list[Any]) -> Any:
    """The minimum."""
    return reduce(lambda a, b: a.min(b), terms)


def total(terms: Any) -> Any:
    """The sum."""
    return sum(terms, arb(0))
