"""Which v leave  log sum_t exp(-<M, H_t>) + v tr M  an optimum: those above v*, an eigenvalue problem.

    v*  =  min over u in the simplex of lambda_max(sum u_t H_t)  =  max over M psd, tr M = 1, of min_t <M, H_t>

Proofs, each by one of the two sides:
    v I - sum u_t H_t positive definite    attained: the objective is at least H(u) + <v I - sum u_t H_t, M>, which
                                           grows with M; so v > v*
    <M, H_t> > v tr M for all t            unbounded: along multiples of M the objective falls without end; so v < v*
    <M, H_t> >= v tr M, > for some t       not attained: from any metric, more of M is better
The first is proved in double precision, with its rounding counted, the others in rationals, of a root of M in floats.

Both sides are found together. With a charge eps/2 (tr M)^2 - c tr M, c larger than every H, in place of v tr M there is
always an optimum, and at it lambda_max(sum u_t H_t) = eps tr M - c, u the softmax. As eps goes to 0 the trace grows,
and <M, H_t> / tr M is within log(m) / tr M of that. A barrier keeps M definite.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property, partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import look, watched
from cvxml.core.exact import scaled, sum_of_squares
from cvxml.core.integer_matrices import all_distances, whole
from cvxml.core.metric import FloatArray
from cvxml.family.regularizers.trace import Trace
from cvxml.family.theorem.strict_prices import Anchor, Anchors
from cvxml.methods.boostmetric.one_group import Together
from cvxml.methods.boostmetric.trace_path import Differences, OverTriplets, differences
from cvxml.solvers.barrier import path

ABOVE = 2.0  # c, where no H is larger than 1
BARRIER = 1.0  # nats, of a matrix (r, r) altogether
FINER = 2.0  # eps, from one to the next: with more Newton's method is not near
MAX_STEPS = 60  # steps for one eps
FINEST = 1e-9  # eps
FAR = 0.5  # of the way from v* to v: strict prices that are as far inside
BELOW, AT = "below", "at"


class Sides(NamedTuple):
    """lower <= v* <= upper, but for rounding, by a matrix and by shares of the triplets."""

    lower: float
    upper: float
    metric: FloatArray  # (d, d) of trace 1
    u: FloatArray  # (m,)


def sides(X: FloatArray, rows: Together) -> Iterator[Sides]:
    """Ever nearer to each other."""
    of = differences(X, rows)
    r, eps, best = of.far.shape[1], 1.0, None
    M = ABOVE / r * np.eye(r)
    while eps >= FINEST:
        look()
        f = OverTriplets(of, partial(_charge, eps))
        for k, state in enumerate(islice(path(f, M, BARRIER / r, shrink=1.0), MAX_STEPS)):
            M = state.M
            # a small decrement would say nothing of triplets whose share is next to 0
            if k and np.linalg.eigvalsh(f.gradient(f.duals(M), f.charge(float(np.trace(M)))[1]))[0] > 0:
                break
        best = _better(best, _sides(of, f, M))
        yield best
        eps, M = eps / FINER, M * FINER


def _charge(eps: float, trace: float) -> tuple[float, float, float]:
    return trace * (eps * trace / 2 - ABOVE), eps * trace - ABOVE, eps


def _sides(of: Differences, f: OverTriplets, M: FloatArray) -> Sides:
    u, (d, r) = f.duals(M), of.basis.shape
    upper = -float(np.linalg.eigvalsh(f.gradient(u, 0.0))[0]) * of.unit**2
    lower, A = float(f.margins(M).min()) / float(np.trace(M)) * of.unit**2, of.outside(M)
    if r < d:  # a direction in which no points differ gives every triplet 0
        upper = max(upper, 0.0)
        if lower < 0:
            lower, A = 0.0, np.eye(d) - of.basis @ of.basis.T
    return Sides(lower, upper, A / float(np.trace(A)), u)


def _better(one: Sides | None, other: Sides) -> Sides:
    """The better of each side."""
    if one is None:
        return other
    low, high = max(one, other, key=lambda each: each.lower), min(one, other, key=lambda each: each.upper)
    return Sides(low.lower, high.upper, low.metric, high.u)


def gains(X: FloatArray, rows: Together, root: FloatArray, v: float) -> str:
    """`BELOW` v*, `AT` v* or neither, as M = root root^T (d, r) proves it of v, in integers."""
    if not np.isfinite(root).all() or not root.any():
        return ""
    (points, at), (own, _) = whole(X), whole(root)  # the unit of the root is one of both sides
    D, cost = all_distances(points * own), Fraction(v) * sum_of_squares(own) / scaled(1, 2 * at)
    margins = [D[i][l] - D[i][j] for i, j, l in rows.listed.tolist()]
    if all(margin > cost for margin in margins):
        return BELOW
    return AT if min(margins) >= cost < max(margins) else ""


class Decided(NamedTuple):
    """What is known of v."""

    what: str  # `BELOW` or `AT` v*, which is proved; empty where it is above, or nothing is decided
    sides: Sides


class AboveThreshold(Anchors):
    """Strict prices where v is above v*; and what is known of it where there are none."""

    @cached_property
    def strict(self) -> Anchor | None:
        """Of the side from above; not next to the boundary, where that can be."""
        return self._found[0]

    @property
    def decided(self) -> Decided:
        """Of v."""
        return self._found[1]

    @cached_property
    def _found(self) -> tuple[Anchor | None, Decided]:
        assert isinstance(self.regularizer, Trace)
        assert isinstance(self.rows, Together)
        X, rows, v, found = self.regularizer.X, self.rows, float(self.regularizer.v), None
        for both in sides(X, rows):
            if both.lower > v and any(gains(X, rows, root, v) == BELOW for root in roots(both.metric)):
                return None, Decided(BELOW, both)
            if both.upper < v:
                own = self.anchor(rows.duals(both.u))
                found = own if own.surplus.psd else found
                if found is not None and v - both.upper >= (v - both.lower) * FAR:
                    break
        at = found is None and any(gains(X, rows, root, v) == AT for root in roots(both.metric))
        return found, Decided(AT if at else "", both)


def roots(M: FloatArray) -> Iterator[FloatArray]:
    """Of M (d, d), and of its largest parts."""
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    for m in watched(range(len(M))):
        yield root[:, m:]
