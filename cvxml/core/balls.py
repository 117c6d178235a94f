"""Balls: real numbers with a proved error, for what is not rational. By python-flint.

A ball holds the true value whatever the precision is; how many bits are used decides how wide it is. What is
concluded from balls is a theorem: an end of one is a fraction, and a comparison is true of all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

from cvxml.core.exact import flint, scaled
from cvxml.core.metric import FloatArray

BITS = 256
PRECISIONS = (256, 1024, 4096)  # bits; tried one after the other until the ball is narrow enough
FINEST = 20000  # numbers below 2^-FINEST are rounded outward to 0 or to that: as fractions they could fill the memory

T = TypeVar("T")


class TooFewBits(ValueError):
    """What is asked is not decided by balls of these many bits; more may decide it."""


def precision(bits: int = BITS) -> AbstractContextManager[Any]:
    """Within it balls have so many bits. Raises ValueError where python-flint is not installed."""
    context: AbstractContextManager[Any] = flint().ctx.workprec(bits)
    return context


def with_enough_bits(work: Callable[[], T]) -> T:
    """What `work` returns within the least precision of `PRECISIONS` in which it raises no TooFewBits."""
    for bits in PRECISIONS:
        with precision(bits):
            try:
                return work()
            except TooFewBits as error:
                why = error
    raise TooFewBits(f"{why}: {PRECISIONS[-1]} bits do not decide it")


def ball(value: int | float | Fraction | Any, exponent: int = 0) -> Any:
    """value * 2^exponent: an integer or a float exactly, a fraction (flint's too) to the last bit."""
    module = flint()
    if isinstance(value, Fraction):
        value = module.fmpq(value.numerator, value.denominator)
    return module.arb(value) if exponent == 0 else module.arb(value) * module.arb((1, exponent))


def balls(matrix: Any, exponent: int = 0) -> Any:
    """A matrix of flint's integers or rationals times 2^exponent, as balls."""
    rows = [[ball(entry, exponent) for entry in row] for row in matrix.tolist()]
    return flint().arb_mat(rows)


def rounded(matrix: Any) -> FloatArray:
    """A matrix of flint's rationals as floats: each entry the nearest, but for its last bit."""
    return np.array([[float(ball(entry)) for entry in row] for row in matrix.tolist()])


def floats(matrix: Any) -> FloatArray:
    """A symmetric matrix of balls as floats; of complex ones the real parts."""
    found: FloatArray = np.array([[float(entry.real) for entry in row] for row in matrix.tolist()])
    return found / 2 + found.T / 2


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """Fractions below and above all of a ball. Raises TooFewBits where it is not bounded."""
    if not value.is_finite():
        raise TooFewBits(f"no number is proved: {flint().ctx.prec} bits are too few for these data")
    return -_above(-value.lower()), _above(value.upper())


def _above(end: Any) -> Fraction:
    mantissa, exponent = (int(part) for part in end.man_exp())
    if mantissa.bit_length() + exponent > -FINEST:
        return scaled(mantissa, exponent)
    return Fraction(1, 1 << FINEST) if mantissa > 0 else Fraction(0)


def pivots(matrix: Any) -> list[Any] | None:
    """The pivots of L D L^T of a symmetric matrix of balls, all proved positive; None where one is not.

    Of a list it is a proof that every symmetric matrix within the balls is positive definite; its determinant is
    their product. Only the lower triangle is read.
    """
    rows = [[matrix[i, j] for j in range(i + 1)] for i in range(matrix.nrows())]
    found: list[Any] = []
    for k, own in enumerate(rows):
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
    """True if every symmetric matrix within the balls is proved positive definite."""
    return pivots(matrix) is not None


def total(values: Sequence[Any]) -> Any:
    """The sum of balls, 0 for none."""
    result = flint().arb(0)
    for value in values:
        result += value
    return result
