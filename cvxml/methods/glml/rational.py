"""An interval of (tr M B)^2 for a B of floats, for the verified checker (validation/verified/Glml.v).

The verified checker is a program; Coq has checked the proof that its verdicts are right. It judges a metric A (d, d)
for the problem to minimise (tr M B)^2 over M = A^-1 with determinant |M| >= 1 (problem.py). It takes two numbers, t and
c. The matrix M = c A^-1 is feasible if c^d >= |A|. If B is positive definite and t^d <= d^d |B|, every feasible M has
tr M B >= t.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cvxml.core.exact import flint
from cvxml.core.integer_matrices import is_psd, whole
from cvxml.core.metric import FloatArray

OVER = 1 << 80


class Bounds(NamedTuple):
    """The numbers t and c of the module docstring, multiplied by `OVER` = 2^80 and rounded to integers.

    B (d, d): B or -B, with a trace of at least 0. trace: the largest t times `OVER`, rounded down; 0 if this matrix is
    not positive definite.

    scale: an integer that exceeds the smallest c times `OVER`, by at most 1.
    """

    B: FloatArray  # (d, d)
    trace: int  # 0 if B is not proved definite
    scale: int


def bounds(B: FloatArray, A: FloatArray) -> Bounds:
    """Return the numbers t and c of the module docstring as `Bounds`, for a symmetric B (d, d) and a metric A (d, d).

    Raises ValueError if A is not positive definite.
    """
    d, det = len(A), _determinant(A)
    if det is None:
        raise ValueError("the metric is not positive definite; a local metric has determinant 1")
    B = -B if np.trace(B) < 0 else B
    det_B = _determinant(B)
    trace = 0 if det_B is None else _root(d**d * det_B, d)
    return Bounds(B, trace, _root(det, d) + 1)


def _determinant(S: FloatArray) -> Fraction | None:
    """Return the determinant of a symmetric S (d, d), exactly; None if S is not positive definite."""
    rows, at = whole(S)
    det = int(rows.det())
    return Fraction(det) * Fraction(2) ** (at * len(S)) if det > 0 and is_psd(rows) else None


def _root(value: Fraction, d: int) -> int:
    """Return the largest integer r with (r / OVER)^d <= value, for value > 0."""
    return int(flint().fmpz(int(value * OVER**d)).root(d))
