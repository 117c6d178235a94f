"""The certificate of MMC: an upper bound of the maximum from any positive numbers c, one for each dissimilar pair.

Bound. For D, c > 0:  sqrt(D) <= 1/2 (1/c + c D). Summed over the dissimilar pairs, for every psd A within the budget,
    sum_t sqrt(D_t)  <=  1/2 ( sum_t 1/c_t + <C, A> ),   C = sum_t c_t X_t,    <C, A>  <=  mu <S, A>  <=  mu,
with mu the largest eigenvalue of C relative to S = sum_similar X (cvxml/budget.py); for a diagonal A, the largest
C_kk / S_kk. What rounding may have done to mu is added to it: the bound is one of the data as they are.
Repair. What is not positive becomes `LEAST` of the largest, or 1 if nothing is positive; then the best multiple of c:
with k c the bound is 1/2 (P / k + k mu), P = sum 1/c, least at k = sqrt(P / mu): it is then  sqrt(P mu).
At the optimum c_t = 1 / sqrt(D_t), and the bound is tight: pairs that are far nearer than others have a far larger c.
A pair of equal points is at distance 0 in every metric: its c_t is not looked at.

Metric. Judged is P_+(A) / max(1, spent), spent = sum_similar D_A (cvxml/budget.py); for a diagonal A, its diagonal.

Radius. The second derivative of -sqrt at D_t is at least 1/4 of (the largest D_t that the budget allows)^-3/2, that is
k_t = |z_t|^-3 / 4 in coordinates z of S = I. So a metric with this gap is within sqrt(2 gap / m) of the optimum there,
m the least eigenvalue of sum_t k_t svec(z z^T) svec(z z^T)^T; inf where there are fewer coordinates than features.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cvxml.budget import (
    EPS,
    FLOOR,
    Budget,
    BudgetFeasibility,
    Judged,
    Most,
    budget,
    examine_budget,
    most,
)
from cvxml.inputs import real_array
from cvxml.metric import FEASIBILITY_TOL, FloatArray, in_units, units_of
from cvxml.result import Certificate, Dual
from cvxml.symmetric import squares

LEAST = 1e-100  # of the largest c; a bound is finite for every c
MOST_FEATURES = 40  # beyond, no radius is computed


@dataclass(frozen=True)
class DiagonalFeasibility(BudgetFeasibility):
    """A metric that must also be diagonal: `beyond` is its largest other entry, as a share of the norm."""

    beyond: float = 0.0

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, of the norm and of the budget, or within rounding."""
        return self._diagonal and super().feasible

    @property
    def _diagonal(self) -> bool:
        return self.beyond <= FEASIBILITY_TOL

    def __str__(self) -> str:
        if self._diagonal:
            return super().__str__()
        return f"{super().__str__()}; an entry off the diagonal is {self.beyond:.3g} of the norm"


class Task(NamedTuple):
    """What the certificate is of: differences x_i - x_j, in any order, and whether A must be diagonal."""

    E: FloatArray  # (q, d) of the dissimilar pairs
    similar: FloatArray  # (s, d)
    diagonal: bool
    rank: (
        int | None
    )  # of the similar pairs' span, which holds E too, exactly; None: of `budget`, and no proof


def certify(p: Task, A: FloatArray, dual: Dual, radius: bool = True) -> Certificate:
    """Certificate of the metric `A` (d, d) from dual variables {"c": (q,)}, one for each dissimilar pair.

    radius: False leaves it inf, which is faster. Raises ValueError for a c that is no array of q finite numbers.
    """
    c = repair(dual, p.E)
    differ = p.E.any(axis=1)
    E = p.E[differ]
    judged, feasibility = (examine_diagonal if p.diagonal else examine_budget)(A, p.similar)
    total, off = _sum(*judged.distances(E), judged.share)
    at = None if p.diagonal else budget(p.similar, p.rank)
    bound = bound_diagonal(E, p.similar, c[differ]) if at is None else bound_full(E, at, c[differ])
    rounding = off + bound.rounding + 4 * EPS * (total + bound.value)
    gap = bound.value - total
    left, away = max(0.0, gap) + rounding, math.inf
    if radius and math.isfinite(left):
        away = radius_diagonal(E, p.similar, left) if at is None else radius_full(E, at, left)
    return Certificate(
        kind="global",
        objective=-total,
        lower_bound=-bound.value,
        gap=gap,
        scale=total,
        rounding=rounding,
        radius=away + feasibility.away,
        feasibility=feasibility,
        dual={"c": np.where(differ, c * bound.multiple, 1.0)},
        undecided="" if at is None else at.undecided,
    )


def repair(dual: Dual, E: FloatArray) -> FloatArray:
    """c (q,), positive, the largest 1. Raises ValueError for what is not one finite number for each row of E (q, d)."""
    if not isinstance(dual, Mapping) or "c" not in dual:
        raise ValueError("the dual must be a mapping with \"c\"; there is no 'c'")
    c = real_array(dual["c"], "dual 'c'")
    if c.shape != (len(E),):
        raise ValueError(
            f"dual 'c' must have shape ({len(E)},), a number for each dissimilar pair, got {c.shape}"
        )
    if not np.isfinite(c).all():
        raise ValueError("dual 'c' holds NaN or infinity; every entry must be finite")
    c = np.where(E.any(axis=1), c, 0.0)
    largest = float(c.max())
    return np.maximum(c / largest, LEAST) if largest > 0 else np.ones(len(c))


def examine_diagonal(A: FloatArray, similar: FloatArray) -> tuple[Judged, DiagonalFeasibility]:
    """The diagonal of A (d, d), clipped at 0, over max(1, spent), and how far A was from it.

    What is off the diagonal is looked at in the units given and in those of the features.
    """
    other = A - np.diag(np.diag(A))
    judged, found = examine_budget(A - other, similar)
    whole = examine_budget(A, similar)[1]
    own = in_units(A, judged.unit)[0]
    beyond = max(_share(other, A), _share(own - np.diag(np.diag(own)), own))
    with np.errstate(over="ignore"):
        away = found.away + float(np.linalg.norm(other))
    return judged, DiagonalFeasibility(
        whole.asymmetry,
        whole.min_eigenvalue,
        whole.distance,
        whole.norm,
        found.spent,
        found.rounded,
        away,
        beyond,
    )


def _share(part: FloatArray, whole: FloatArray) -> float:
    """The largest entry of a part, relative to the norm of the whole; 0 of nothing."""
    size = float(np.abs(whole).max())
    return float(np.abs(part).max() / size / np.linalg.norm(whole / size)) if size > 0 else 0.0


def _sum(D: FloatArray, off: FloatArray, share: float) -> tuple[float, float]:
    """sum sqrt(D), and what rounding may have done to it: `off` to each D, `share` of each through the budget."""
    roots = np.sqrt(D)
    total = float(roots.sum())
    below, above = np.sqrt(np.maximum(D - off, 0.0)), np.sqrt(D + off)
    wide = float(np.maximum(roots - below, above - roots).sum())
    return total, wide + (share * total if total > 0 else 0.0) + (len(D) + 4) * EPS * total


class Bound(NamedTuple):
    """sqrt(P mu), which no metric exceeds; the multiple of c with which it is 1/2 (P + mu); `rounding` of it."""

    value: float
    multiple: float
    rounding: float


def bound_full(E: FloatArray, at: Budget, c: FloatArray) -> Bound:
    """The bound over psd A, from differences E (q, d), coordinates of the similar pairs, and c (q,) > 0."""
    return _best(c, most(at, E, c))


def bound_diagonal(E: FloatArray, similar: FloatArray, c: FloatArray) -> Bound:
    """The same over diagonal A >= 0, from differences (s, d) of the similar pairs: sums of squares, and a quotient."""
    unit = units_of(similar)
    with np.errstate(over="ignore"):
        C, S = c @ (E / unit) ** 2 + FLOOR, np.sum((similar / unit) ** 2, axis=0)
    mu = float(np.max(C[S > 0] / S[S > 0]))
    off = (len(E) + len(similar) + 8) * EPS * mu
    return _best(c, Most(mu + off, off))


def _best(c: FloatArray, mu: Most) -> Bound:
    """Of the largest eigenvalue or quotient: the bound with the best multiple of c, rounded up."""
    P = float(np.sum(1 / c)) * (1 + (len(c) + 8) * EPS)
    value = math.sqrt(P) * math.sqrt(mu.value)
    if not 0 < value < math.inf:
        return Bound(math.inf, 1.0, math.inf)
    sure = math.sqrt(P) * math.sqrt(max(0.0, mu.value - mu.off))
    return Bound(value, math.sqrt(P) / math.sqrt(mu.value), value - sure + (len(c) + 8) * EPS * value)


def radius_full(E: FloatArray, at: Budget, gap: float) -> float:
    """How far the optimum may be from a metric within the budget that has this gap; inf where it is not unique."""
    d, r = at.to.shape
    if r < d or d > MOST_FEATURES or at.undecided:
        return math.inf
    Z, off = at.images(E)
    size = np.linalg.norm(Z, axis=1)
    moved = off * (2 * size + off)  # of z z^T
    return _radius(squares(Z), moved, (size + off) ** 2 / at.least, float(np.linalg.norm(at.to, 2)) ** 2, gap)


def radius_diagonal(E: FloatArray, similar: FloatArray, gap: float) -> float:
    """The same for a diagonal one."""
    unit = units_of(similar)
    S = np.sum((similar / unit) ** 2, axis=0)
    if not S.all():
        return math.inf
    F = (E / unit) ** 2 / S
    moved = (len(similar) + 8) * EPS * np.linalg.norm(F, axis=1) + FLOOR
    return _radius(F, moved, F.max(axis=1) + moved, float(np.max(1 / S / unit**2)), gap)


def _radius(F: FloatArray, moved: FloatArray, reach: FloatArray, size: float, gap: float) -> float:
    """From D = F M (q, p), each row known to `moved` of its norm; reach (q,): what no D exceeds within the budget."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        k, norms = 1 / (4 * reach * np.sqrt(reach)), np.linalg.norm(F, axis=1)
        off = float(k @ ((2 * norms + moved) * moved))
        off += (len(F) + 4 * F.shape[1]) * EPS * float(k @ norms**2)
        curvature = F.T @ (k[:, None] * F)
    if not (np.isfinite(curvature).all() and math.isfinite(off)):
        return math.inf
    least = float(np.linalg.eigvalsh(curvature)[0]) - off
    return (1 + 1e-9) * size * math.sqrt(2 * gap / least) if least > 0 else math.inf
