"""Logarithms as hints for the verified checker of validation/verified/: whole numbers over 2^digits.

The checker accepts z as an upper bound of ln y if its own lower bound of exp(z) is at least y. That bound is
(1 + z/2^90)^(2^90), rounded down to multiples of 2^-192. So each hint is a little above the logarithm. A hint is
returned as the whole number z 2^digits; digits is 72 by default. A ball is a number with a proved error bound
(core/balls.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from cvxml.core.balls import ball, ends, total

DIGITS = 72  # binary digits of a hint
SLACK = 4  # covers the error z^2 / 2^91 for |z| < 128, and the terms exp(-128) of far points
FINE = 192  # binary digits of the checker's exponentials


def log_above(value: Fraction, digits: int = DIGITS) -> int:
    """Return a hint for ln(value), for 2^-128 <= value <= 2^128."""
    return hint(ball(value).log(), value, digits)


def hint(log: Any, value: Fraction = Fraction(1), digits: int = DIGITS) -> int:
    """Return a hint for ln y from `log`, a ball that contains ln y.

    value: a lower bound of y. The smaller it is, the more is added to the logarithm, because the rounding of the
    checker is a larger share of a small y.
    """
    # the last squarings of a small number are rounded to 2^-192, which is a larger share of it
    rounding = math.ceil(Fraction(4, 1 << (FINE - digits)) / value)
    return math.ceil(ends(log)[1] * (1 << digits)) + SLACK + rounding


def log_sum_above(D: Sequence[int], unit: Fraction, digits: int = DIGITS) -> int:
    """Return a hint for ln sum_k exp(unit (min D - D_k)). D: the distances, as whole multiples of `unit`."""
    return hint(sum_beside_the_nearest(D, unit).log(), digits=digits)


def sum_beside_the_nearest(D: Sequence[int], unit: Fraction) -> Any:
    """Return sum_k exp(unit (min D - D_k)) as a ball. D: the distances, as whole multiples of `unit`."""
    least = min(D)
    return total([ball(unit * (least - each)).exp() for each in D])


def exp_below(x: Fraction) -> Fraction:
    """Return a number slightly below exp(-x), for x >= 0. It is also below the checker's own lower bound of exp(-x)."""
    value = ends(ball(-x).exp())[0]
    return max(value * (1 - x * x / (1 << 90) - Fraction(1, 1 << 98)) - Fraction(1, 1 << 188), Fraction(0))


def softplus_above(v: Fraction) -> int:
    """Return a hint for ln(1 + exp(v)), for v <= 0."""
    return log_sum_above([0, 1], -v)
