"""Exact arithmetic on floats, without rounding: every float is an integer times a power of two. Uses python-flint.

A matrix of floats is a pair (integers, exponent): the numbers are integers * 2^exponent. Results are fractions.
Conversions to decimals and floats round up or down so that bounds stay bounds; only `nearest` rounds to the nearest.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.short_repr import listed

DIGITS = 25  # significant digits of a decimal


class Unproved(ArithmeticError):
    """The given dual variables do not prove a lower bound."""


class SingularMetric(Unproved, ValueError):
    """The metric is singular, and the objective is infinite there, so no interval exists."""


@dataclass(frozen=True, repr=False)
class Exact:
    """An interval for the optimum in exact arithmetic: lower_bound <= optimum <= objective.

    `objective` is the value at a psd matrix M M^T. The Frobenius distance from M M^T to the given metric is at most
    `distance`. The gap is objective - lower_bound. It is compared with a tolerance times `scale`, the scale of the
    problem at M M^T.

    If `of_step` is True, the problem is not convex. The interval is then for the optimum of the convex problem that
    replaces it at this metric; `step` is the name of this convex problem in messages.
    """

    lower_bound: Fraction
    objective: Fraction  # objective of M M^T, which is psd for every M
    distance: float  # ||A - M M^T||, rounded up
    scale: Fraction  # the scale of the problem at M M^T
    of_step: bool = False  # True if the interval is for the optimum of the convex step at the metric
    step: str = "convex step"  # the name of that step

    def __repr__(self) -> str:
        return listed(type(self).__name__, self.to_dict())

    @property
    def gap(self) -> Fraction:
        return self.objective - self.lower_bound

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON. Fractions become decimal texts of `DIGITS` significant digits.

        The lower bound and the scale are rounded down, the objective and the gap up.
        """
        return {
            "lower_bound": decimal(self.lower_bound, up=False),
            "objective": decimal(self.objective, up=True),
            "gap": decimal(self.gap, up=True),
            "distance": self.distance,
            "scale": decimal(self.scale, up=False),
            "of": "step" if self.of_step else "problem",
        }

    def __str__(self) -> str:
        text = self.to_dict()
        whose = f"optimum of its {self.step}" if self.of_step else "optimum"
        return (
            f"in exact arithmetic, {text['lower_bound']} <= {whose} <= {text['objective']}; "
            f"the upper end is attained by a psd matrix within {self.distance:.3g} of this one"
        )


def flint() -> Any:
    """Return the module of python-flint, imported at the first call. Raises ValueError if it is not installed."""
    try:
        import flint as module
    except ImportError as error:
        raise ValueError("exact arithmetic needs python-flint: pip install python-flint") from error
    return module


def integers(array: FloatArray) -> tuple[list[list[int]], int]:
    """Return `array` (p, q) as rows of integers, and the exponent of the power of two that multiplies them."""
    mantissas, exponents = np.frexp(array)
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    exponents = np.where(whole == 0, 0, exponents - 53)
    used = exponents[whole != 0]
    least = int(used.min()) if used.size else 0
    shifts = np.where(whole == 0, 0, exponents - least)
    rows = (whole.astype(object) << shifts.astype(object)).tolist()
    return rows, least


def scaled(value: int | Any, exponent: int) -> Fraction:
    """Return value * 2^exponent as a fraction."""
    value = int(value)
    return Fraction(value << exponent) if exponent >= 0 else Fraction(value, 1 << -exponent)


def sum_of_squares(matrix: Any) -> int:
    return sum(int(entry) ** 2 for entry in matrix.entries())


def decimal(value: Fraction, up: bool) -> str:
    """Return `value` as a decimal text, rounded up or down to `DIGITS` significant digits."""
    context = Context(prec=DIGITS, rounding=ROUND_CEILING if up else ROUND_FLOOR, Emax=10**6, Emin=-(10**6))
    return str(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def nearest(value: Fraction) -> float:
    """Return the nearest float; inf or -inf if `value` is beyond the largest float."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def upward(value: Fraction) -> float:
    """Return the smallest float that is at least `value`; inf if `value` is above the largest float."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def root_upward(value: Fraction) -> float:
    """Return a float that is at least the square root of `value` >= 0."""
    root = math.sqrt(upward(value))
    while math.isfinite(root) and Fraction(root) ** 2 < value:
        root = math.nextafter(root, math.inf)
    return root


def next_above(value: Fraction, bits: int) -> Fraction:
    """Return `value` >= 0 rounded up to `bits` significant binary digits, or sometimes to one more."""
    if value <= 0:
        return Fraction(0)
    unit = Fraction(2) ** (value.numerator.bit_length() - value.denominator.bit_length() - bits)
    return math.ceil(value / unit) * unit
