"""Sums of floats, each with a bound of its rounding error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.numbers.rounding import doubled

MAX_TERMS_LOOP = 500  # up to this many terms, a loop is as fast


class Approximate(NamedTuple):
    """A number, and what rounding may have made of it."""

    value: float
    error: float


def summed(terms: Sequence[float] | FloatArray) -> float:
    """The sum, right but for its own rounding; no number where it overflows."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return math.nan


def total(terms: FloatArray, error: FloatArray) -> Approximate:
    """The sum of terms, each of which may be off; in whatever order it is taken."""
    size = float(np.abs(terms).sum())
    return Approximate(float(terms.sum()), (float(error.sum()) + (len(terms) + 8) * EPS * size) * (1 + 1e-6))


def accurate_total(terms: FloatArray, error: FloatArray) -> Approximate:
    """The same, and no digit is lost in the summation; slower."""
    rough = float(terms.sum())
    if not math.isfinite(rough):
        return Approximate(rough, math.inf)
    value, beside = accurate_sum(terms)
    return Approximate(value, (float(error.sum()) + 2 * EPS * abs(value) + beside) * (1 + 1e-6))


def accurate_sum(terms: FloatArray) -> Approximate:
    """The sum; off is what it is off by beside its own rounding: nothing of few terms, of many next to nothing."""
    if len(terms) <= MAX_TERMS_LOOP:
        return Approximate(summed(terms), 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        value, size = float(doubled(terms)), float(np.abs(terms).sum())
    if not math.isfinite(value):
        value = summed(terms)
    rounds = 1 + math.log2(len(terms) + 1)
    return Approximate(value, 2 * rounds * (len(terms) + rounds) * EPS**2 * size)
