"""The certificate of MMC: an upper bound of the maximum from any positive numbers c, one for each dissimilar pair.

Bound. For D, c > 0:  sqrt(D) <= 1/2 (1/c + c D). Summed over the dissimilar pairs, for every psd A within the budget,
    sum_t sqrt(D_t)  <=  1/2 ( sum_t 1/c_t + <C, A> ),   C = sum_t c_t X_t,    <C, A>  <=  mu <S, A>  <=  mu,
with mu the largest eigenvalue of C relative to S = sum_similar X; for a diagonal A, the largest C_kk / S_kk.
Repair. What is not positive becomes `LEAST` of the largest, or 1 if nothing is positive; then the best multiple of c:
with k c the bound is 1/2 (P / k + k mu), P = sum 1/c, least at k = sqrt(P / mu): it is then  sqrt(P mu).
At the optimum c_t = 1 / sqrt(D_t), and the bound is tight. A pair of equal points is at distance 0 in every metric: its
c_t is not looked at.

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

from cvxml.budget import BudgetFeasibility, budget, examine_budget, units_of
from cvxml.inputs import real_array
from cvxml.metric import FEASIBILITY_TOL, FloatArray, examine
from cvxml.result import Certificate, Dual
from cvxml.symmetric import quadratic, squares, weighted

EPS = float(np.finfo(float).eps)
LEAST = 1e-12  # of the largest c
MOST_FEATURES = 40  # beyond, no radius is computed


@dataclass(frozen=True)
class DiagonalFeasibility(BudgetFeasibility):
    """A metric that must also be diagonal: `beyond` is its largest other entry."""

    beyond: float = 0.0

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, of the norm and of the budget, or within rounding."""
        return self._diagonal and super().feasible

    @property
    def _diagonal(self) -> bool:
        return self.beyond <= FEASIBILITY_TOL * self.norm

    def __str__(self) -> str:
        if self._diagonal:
            return super().__str__()
        return f"{super().__str__()}; an entry off the diagonal is {self.beyond:.3g} (norm {self.norm:.3g})"


class Task(NamedTuple):
    """What the certificate is of: differences x_i - x_j, in any order, and whether A must be diagonal."""

    E: FloatArray  # (q, d) of the dissimilar pairs
    similar: FloatArray  # (s, d)
    diagonal: bool


def certify(p: Task, A: FloatArray, dual: Dual, radius: bool = True) -> Certificate:
    """Certificate of the metric `A` (d, d) from dual variables {"c": (q,)}, one for each dissimilar pair.

    radius: False leaves it inf, which is faster. Raises ValueError for a c that is no array of q finite numbers.
    """
    c = repair(dual, p.E)
    differ = p.E.any(axis=1)
    E = p.E[differ]
    judged, feasibility = (examine_diagonal if p.diagonal else examine_budget)(A, p.similar)
    total, off = _distances(E, judged, feasibility)
    bound = (bound_diagonal if p.diagonal else bound_full)(E, p.similar, c[differ])
    rounding = off + bound.rounding + 64 * EPS * (total + bound.value)
    gap = bound.value - total
    away = _radius(E, p.similar, p.diagonal, max(0.0, gap) + rounding) if radius else math.inf
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


def examine_diagonal(A: FloatArray, similar: FloatArray) -> tuple[FloatArray, DiagonalFeasibility]:
    """The diagonal of A (d, d), clipped at 0, over max(1, spent), and how far A was from it."""
    judged, found = examine_budget(np.diag(np.diag(A)), similar)
    whole = examine(A)[1]
    beyond = float(np.abs(A - np.diag(np.diag(A))).max())
    with np.errstate(over="ignore"):
        away = float(np.linalg.norm(A - judged))
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


def _distances(E: FloatArray, A: FloatArray, found: BudgetFeasibility) -> tuple[float, float]:
    """sum sqrt(D) of the rows of E (q, d), and what rounding may have done to it, directly and through the budget."""
    unit = units_of(E)
    own, at = E / unit, A * unit[:, None] * unit
    D = np.maximum(quadratic(own, at), 0.0)
    off = 64 * EPS * quadratic(np.abs(own), np.abs(at))
    total = float(np.sqrt(D).sum())
    away = float(np.sum(np.sqrt(D + off) - np.sqrt(np.maximum(D - off, 0.0)))) / 2
    share = found.rounded / max(1.0, found.spent) if math.isfinite(found.spent) else math.inf
    return total, away + total * share if total > 0 else away


class Bound(NamedTuple):
    """sqrt(P mu), which no metric exceeds; the multiple of c with which it is 1/2 (P + mu); what rounding may do."""

    value: float
    multiple: float
    rounding: float


def bound_full(E: FloatArray, similar: FloatArray, c: FloatArray) -> Bound:
    """The bound over psd A, from differences E (q, d), those of the similar pairs (s, d), and c (q,) > 0."""
    at = budget(similar)
    Z, Z_S = E @ at.to, similar @ at.to
    # S is the identity but for rounding, which is looked at: then the coordinates need not be exact
    mu = float(np.linalg.eigvalsh(weighted(Z, c))[-1])
    least = float(np.linalg.eigvalsh(weighted(Z_S, np.ones(len(Z_S))))[0])
    summed = [
        np.linalg.norm(z, axis=1) * np.linalg.norm(np.abs(e) @ np.abs(at.to), axis=1)
        for z, e in ((Z, E), (Z_S, similar))
    ]
    off = float(c @ summed[0]) / mu + float(summed[1].sum()) / least
    return _best(c, mu / least, off)


def bound_diagonal(E: FloatArray, similar: FloatArray, c: FloatArray) -> Bound:
    """The same over diagonal A >= 0."""
    unit = units_of(similar)
    C, S = c @ (E / unit) ** 2, np.sum((similar / unit) ** 2, axis=0)
    costs = S > 0
    return _best(c, float(np.max(C[costs] / S[costs])), 2.0)


def _best(c: FloatArray, mu: float, off: float) -> Bound:
    P = float(np.sum(1 / c))
    value = math.sqrt(P) * math.sqrt(mu)
    return Bound(value, math.sqrt(P) / math.sqrt(mu), 64 * EPS * off * value)


def _radius(E: FloatArray, similar: FloatArray, diagonal: bool, gap: float) -> float:
    """How far the optimum may be from a metric within the budget that has this gap; inf where it is not unique."""
    d = E.shape[1]
    if diagonal:
        unit = units_of(similar)
        S = np.sum((similar / unit) ** 2, axis=0)
        if not S.all():
            return math.inf
        F = (E / unit) ** 2 / S
        reach, size = F.max(axis=1), float(np.max(1 / S / unit**2))
    else:
        to = budget(similar).to
        if to.shape[1] < d or d > MOST_FEATURES:
            return math.inf
        Z = E @ to
        F, reach, size = squares(Z), np.sum(Z**2, axis=1), float(np.linalg.norm(to, 2)) ** 2
    k = 1 / (4 * reach * np.sqrt(reach))
    curvature = np.linalg.eigvalsh(F.T @ (k[:, None] * F))
    least = float(curvature[0]) - 64 * EPS * float(curvature[-1])
    return size * math.sqrt(2 * gap / least) if least > 0 and math.isfinite(gap) else math.inf
