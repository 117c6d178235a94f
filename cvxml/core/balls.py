"""Balls: real numbers with a proved error bound, for values that are not rational. Uses python-flint.

A ball is an interval that contains the exact value at any precision; more bits give a narrower ball. Conclusions from
balls are proofs: the ends of a ball are fractions, and a comparison of balls holds for all numbers in them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.exact import flint, scaled
from cvxml.core.metric import FloatArray

BITS = 256
PRECISIONS = (256, 1024, 4096)  # binary digits; the next precision is tried if the balls are too wide
# positive numbers below 2^-FINEST are rounded up to it, because such fractions could fill the memory
FINEST = 20000

T = TypeVar("T")


class TooFewBits(ValueError):
    """The balls at this precision are too wide to decide the question; more bits may decide it."""


def precision(bits: int = BITS) -> AbstractContextManager[Any]:
    """Return a context in which balls are computed with `bits` binary digits.

    Raises ValueError if python-flint is not installed.
    """
    context: AbstractContextManager[Any] = flint().ctx.workprec(bits)
    return context


def with_enough_bits(work: Callable[[], T]) -> T:
    """Return work(), computed with 256, 1024 or 4096 bits: the first precision at which it does not raise TooFewBits.

    Raises TooFewBits if it fails with 4096 bits too.
    """
    for bits in PRECISIONS:
        with precision(bits):
            try:
                return work()
            except TooFewBits as error:
                why = error
    raise TooFewBits(f"{why} (tried with up to {PRECISIONS[-1]} bits)")


def ball(value: int | float | Fraction | Any, exponent: int = 0) -> Any:
    """Return value * 2^exponent as a ball. value: an integer, a float, or a fraction (also one of python-flint).

    The ball contains the exact number. It has radius 0 for a float, and for an integer within the current precision.
    """
    module = flint()
    if isinstance(value, Fraction):
        value = module.fmpq(value.numerator, value.denominator)
    return module.arb(value) if exponent == 0 else module.arb(value) * module.arb((1, exponent))


def balls(matrix: Any, exponent: int = 0) -> Any:
    """Return matrix * 2^exponent as a matrix of balls, for a matrix of flint integers or rationals."""
    module = flint()
    found = module.arb_mat(matrix)
    return found * module.arb((1, exponent)) if exponent else found


def rounded(matrix: Any) -> FloatArray:
    """Return a matrix of flint rationals as floats. The error of each float is at most one unit in its last place."""
    return np.array([[float(ball(entry)) for entry in row] for row in matrix.tolist()])


def floats(matrix: Any) -> FloatArray:
    """Return a matrix (d, d) of balls as floats: the mean of the matrix of their midpoints and its transpose.

    Of complex balls, only the real parts are used.
    """
    found: FloatArray = np.array([[float(entry.real) for entry in row] for row in matrix.tolist()])
    return found / 2 + found.T / 2


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of a ball as fractions. Raises TooFewBits if the ball is not bounded."""
    if not value.is_finite():
        raise TooFewBits(f"no finite bound is proved for these data with {flint().ctx.prec} bits")
    return -_above(-value.lower()), _above(value.upper())


def _above(end: Any) -> Fraction:
    mantissa, exponent = (int(part) for part in end.man_exp())
    if mantissa.bit_length() + exponent > -FINEST:
        return scaled(mantissa, exponent)
    return Fraction(1, 1 << FINEST) if mantissa > 0 else Fraction(0)


def pivots(matrix: Any) -> list[Any] | None:
    """Return the pivots of a symmetric matrix of balls, or None if a pivot is not proved positive.

    The pivots are the diagonal D of the factorization L D L^T. If a list is returned, every symmetric matrix within
    the balls is positive definite, and its determinant is the product of its pivots. Only the lower triangle of
    `matrix` is read.
    """
    rows = [[matrix[i, j] for j in range(i + 1)] for i in range(matrix.nrows())]
    found: list[Any] = []
    for k, own in watched(enumerate(rows)):
        pivot = own[k]
        if not pivot > 0:
            return None
        found.append(pivot)
        column = [rows[i][k] for i in range(k + 1, len(rows))]
        for i, left in enumerate(column, start=k + 1):
            share = left / pivot
            row = rows[i]
            for j in range(k + 1, i + 1):
                row[j] = row[j] - share * column[j - k - 1]
    return found


def cholesky_is_positive(matrix: Any) -> bool:
    """Return True if every symmetric matrix within the balls of `matrix` is proved positive definite; else False."""
    return pivots(matrix) is not None


def total(values: Sequence[Any]) -> Any:
    result = flint().arb(0)
    for value in values:
        result += value
    return result
