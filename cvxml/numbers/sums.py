"""Sums of many floats, with proved bounds of their rounding errors. Certificates use them for objectives and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.numbers.rounding import doubled

MAX_TERMS_LOOP = 500  # up to this many terms, math.fsum is as fast as a compensated sum in numpy


class Approximate(NamedTuple):
    """A float and a bound of its error: |value - exact value| <= error."""

    value: float
    error: float


def summed(terms: Sequence[float] | FloatArray) -> float:
    """The exact sum of the terms, rounded once to a float; nan if it overflows, or if it adds inf and -inf."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def total(terms: FloatArray, error: FloatArray) -> Approximate:
    """The sum of the terms in working precision, with an error bound that holds for any order of summation.

    error: bounds of the absolute errors of the terms, of the same shape.
    """
    size = float(np.abs(terms).sum())
    return Approximate(float(terms.sum()), (float(error.sum()) + (len(terms) + 8) * EPS * size) * (1 + 1e-6))


def accurate_sum(terms: FloatArray) -> Approximate:
    """The sum of the terms, computed in about twice the working precision and rounded to a float, with an error bound.

    The bound does not include the last rounding of the sum to a float. For up to 500 terms the bound is 0, because the
    sum is exact before this rounding. For more terms it is a multiple of EPS^2 sum |terms|.
    """
    if len(terms) <= MAX_TERMS_LOOP:
        return Approximate(summed(terms), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        value, size = float(doubled(terms)), float(np.abs(terms).sum())
    if not math.isfinite(value):
        value = summed(terms)
    rounds = 1 + math.log2(len(terms) + 1)
    return Approximate(value, 2 * rounds * (len(terms) + rounds) * EPS**2 * size)
