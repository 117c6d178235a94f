"""What bounds the objective of LFDA and how far the optimum is: Ky Fan's theorem, in balls (docs/lfda.md)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from cvxml.core.balls import ball, ends, total
from cvxml.core.exact import root_upward, upward
from cvxml.methods.lfda.known import Known


def bound(known: Known, s: float) -> Any:
    """Below every objective, for any number s: a ball. What is no number, or worse than 0, counts as 0."""
    trivial = -total(known.l)
    if not (math.isfinite(s) and s > 0):
        return trivial
    parts = [each - ball(s) for each in known.l]
    found = -(known.r * ball(s) + total([(part + abs(part)) / 2 for part in parts]))
    return found if found > trivial else trivial


def optimum(known: Known) -> Any:
    """l_1 + .. + l_r, a ball."""
    return total(known.l[: known.r])


def price(known: Known) -> float:
    """s between l_{r+1} and l_r."""
    l, r = known.l, known.r
    return 0.0 if r == len(l) else (float(l[r - 1]) + float(l[r])) / 2


def radius(known: Known, embedding: str, gap: float) -> float:
    """How far in Frobenius norm the optimum may be from a metric of the embedding."""
    l, r = known.l, known.r
    d = len(l)
    if r == d:
        return 0.0
    if not known.unique:
        return math.inf
    least = min(ends(a - b)[0] for a in l[:r] for b in l[r:])
    turned = min(root_upward(2 * Fraction(gap) / least), math.sqrt(2 * min(r, d - r)))
    long, short = ((each * each).trace().sqrt() for each in (known.inverse, known.S_w))
    factor = {"plain": long, "weighted": 2 * max(l, key=float) * long, "orthonormal": (long * short).sqrt()}
    return turned * upward(ends(factor[embedding])[1]) * (1 + 1e-9)
