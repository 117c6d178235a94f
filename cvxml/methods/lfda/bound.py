"""The lower bound of LFDA by Ky Fan's theorem, and the distance to the optimum, in balls (docs/lfda.md).

S_w and S_b are the local scatter matrices within and between classes. The eigenvalues l_1 >= l_2 >= .. of (S_b, S_w)
are those of S_b v = l S_w v. A metric of rank r has at least the objective -(l_1 + .. + l_r). Balls are numbers with a
proved error bound (core/balls.py); `Known` has the matrices and eigenvalues as balls.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from cvxml.core.balls import ball, ends, total
from cvxml.core.exact import root_upward, upward
from cvxml.methods.lfda.known import Known


def bound(known: Known, s: float) -> Any:
    """A lower bound of the objective, as a ball: -(r s + sum_k (l_k - s)_+), for any value s of the dual variable.

    r is the rank of the metrics. If s is not a positive number, or if s = 0 gives a better bound, the result is the
    bound of s = 0. This is minus the sum of all l_k.
    """
    trivial = -total(known.l)
    if not (math.isfinite(s) and s > 0):
        return trivial
    parts = [each - ball(s) for each in known.l]
    found = -(known.r * ball(s) + total([(part + abs(part)) / 2 for part in parts]))
    return found if found > trivial else trivial


def optimum(known: Known) -> Any:
    """The sum l_1 + .. + l_r of the r largest eigenvalues, as a ball. The optimal objective is minus this sum."""
    return total(known.l[: known.r])


def price(known: Known) -> float:
    """The optimal dual variable s, as a float: the mean of the eigenvalues l_r and l_{r+1}, or 0 if r = d."""
    l, r = known.l, known.r
    return 0.0 if r == len(l) else (float(l[r - 1]) + float(l[r])) / 2


def radius(known: Known, embedding: str, gap: float) -> float:
    """An upper bound of ||M - M*|| (Frobenius) for a metric M with this gap, and the optimal M*.

    embedding: "plain", "weighted" or "orthonormal"; both metrics have this embedding. inf if the optimum is not proved
    unique, 0 if r = d.
    """
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
