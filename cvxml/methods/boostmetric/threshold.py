"""The threshold v* of BoostMetric: log sum_t exp(-<M, H_t>) + v tr M has an optimum for every v > v*.

    v*  =  min over u in the simplex of lambda_max(sum u_t H_t)  =  max over M psd, tr M = 1, of min_t <M, H_t>

The u_t are shares of the triplets t = (i, j, l), and H_t = X_il - X_ij with X_ij = (x_i - x_j)(x_i - x_j)^T.

Three conditions decide about v:
    v I - sum u_t H_t positive definite    v > v*, the optimum is attained: the objective is at least
                                           entropy(u) + <v I - sum u_t H_t, M>, which grows with M
    <M, H_t> > v tr M for all t            v < v*, unbounded: the objective decreases without bound along multiples of M
    <M, H_t> >= v tr M, > for some t       not attained: adding M to any metric decreases the objective
The first is proved in double precision with error bounds, the others in rationals, from a root of M in floats.

A lower and an upper bound of v* are computed together. We replace v tr M by eps/2 (tr M)^2 - c tr M, with c larger than
the absolute values of all eigenvalues of every H_t. Then an optimum M exists and is not 0, with
lambda_max(sum u_t H_t) = eps tr M - c for u = softmax(-<M, H_t>). As eps goes to 0, the trace grows, and
min_t <M, H_t> / tr M differs from this value by at most log(m) / tr M, for m triplets. A barrier keeps M positive
definite.
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

ABOVE = 2.0  # c, in units in which all eigenvalues of every H are from -1 to 1
BARRIER = 1.0  # weight of the barrier in nats, for all r eigenvalues together
FINER = 2.0  # eps is divided by this; for larger factors Newton's method starts too far from the next optimum
MAX_STEPS = 60  # largest number of steps for one eps
FINEST = 1e-9  # smallest eps
FAR = 0.5  # strict dual variables are accepted once they cover this fraction of the way from v to v*
BELOW, AT = "below", "at"


class Sides(NamedTuple):
    """Bounds lower <= v* <= upper, up to rounding.

    metric: (d, d) of trace 1, which gives the lower bound. u: shares (m,) of the triplets, which give the upper bound.
    """

    lower: float
    upper: float
    metric: FloatArray  # (d, d) of trace 1
    u: FloatArray  # (m,)


def sides(X: FloatArray, rows: Together) -> Iterator[Sides]:
    """Yield bounds of v* for the triplets `rows` of points X (n, d). Bounds never get worse."""
    of = differences(X, rows)
    r, eps, best = of.far.shape[1], 1.0, None
    M = ABOVE / r * np.eye(r)
    while eps >= FINEST:
        look()
        f = OverTriplets(of, partial(_charge, eps))
        for k, state in enumerate(islice(path(f, M, BARRIER / r, shrink=1.0), MAX_STEPS)):
            M = state.M
            # A small Newton decrement is no criterion: it ignores triplets with a share close to 0.
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
    if r < d:  # in a direction in which no points differ, every <M, H_t> is 0
        upper = max(upper, 0.0)
        if lower < 0:
            lower, A = 0.0, np.eye(d) - of.basis @ of.basis.T
    return Sides(lower, upper, A / float(np.trace(A)), u)


def _better(one: Sides | None, other: Sides) -> Sides:
    """The better bounds of `one` and `other`: the larger lower bound and the smaller upper bound.

    Each bound comes with the metric or the shares that give it. one: None stands for no bounds.
    """
    if one is None:
        return other
    low, high = max(one, other, key=lambda each: each.lower), min(one, other, key=lambda each: each.upper)
    return Sides(low.lower, high.upper, low.metric, high.u)


def gains(X: FloatArray, rows: Together, root: FloatArray, v: float) -> str:
    """What the metric M = root root^T (d, d) proves about v, exactly: `BELOW`, `AT` or "".

    `BELOW`: v < v*. `AT`: no metric attains the infimum. "": neither is proved. rows: the triplets of the points X.
    """
    if not np.isfinite(root).all() or not root.any():
        return ""
    (points, at), (own, _) = whole(X), whole(root)  # the unit of the root cancels
    D, cost = all_distances(points * own), Fraction(v) * sum_of_squares(own) / scaled(1, 2 * at)
    margins = [D[i][l] - D[i][j] for i, j, l in rows.listed.tolist()]
    if all(margin > cost for margin in margins):
        return BELOW
    return AT if min(margins) >= cost < max(margins) else ""


class Decided(NamedTuple):
    """The proved relation of v to v*, and the bounds of v*.

    what: `BELOW` if v < v* is proved, `AT` if no metric attains the infimum, "" if v is above v* or if this is not
    decided.
    """

    what: str  # `BELOW` or `AT` if that is proved; "" if v is above v*, or undecided
    sides: Sides


class AboveThreshold(Anchors):
    """The proved relation of v to v*; and for v > v*, strictly feasible dual variables u.

    Strictly feasible means that v I - sum u_t H_t is positive definite. Infeasible dual variables are mixed with u, so
    that the mixture is feasible.
    """

    @cached_property
    def strict(self) -> Anchor | None:
        """Strictly feasible dual variables, from an upper bound of v* that is below v; None without such a bound."""
        return self._found[0]

    @property
    def decided(self) -> Decided:
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
    """Yield a root R (d, d) of M = R R^T, then R without its first column, without its first two, and so on.

    The columns are in ascending order of the eigenvalues of M. A later R R^T is M without its smallest eigenvalues. It
    may prove a fact about v (`gains`) that M itself does not prove because of rounding.
    """
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    for m in watched(range(len(M))):
        yield root[:, m:]
