"""The certificate of a metric for NCA: the objective exactly, how stationary it is, and a bound of its convex step.

Step. At Q0, with c_i = 1 and w_ij = s_ij p_ij / p_i (for f: c_i = p_i), the step is
    S(Q) = const + sum_i c_i [ log sum_k e^-<Q, X_ik> + sum_j w_ij <Q, X_ij> + sum_j w_ij log(w_ij / s_ij) ],
it lies above the objective everywhere and touches it at Q0. Rows q_i of the simplex give, with H the entropy,
    S(Q) >= const + sum_i c_i [ H(q_i) + sum_j w_ij log(w_ij / s_ij) ]   if   Z = sum c_i (w_ij - q_ij) X_ij  is psd,
and the difference at Q0 is a sum of non-negative parts, sum_i c_i KL(q_i || p_i) + <Q0, Z>.

Dual. The rows are given by two symmetric matrices: q = (1 - theta) softmax(-<R, X_ik>) + theta softmax(-<I, X_ik>),
"R" and "interior". Repair: theta (any that is given is not looked at) is the least that makes Z psd beyond rounding; if
none does, the bound of the objective itself is taken.

Stationarity, in units of the objective, in coordinates of unit covariance (coordinates.py), G = dF/dQ there:
    gradient           max(|A|, 1) |dF/dA|, dF/dA = 2 A G
    scale_derivative   d F(t A) / dt at t = 1
    dc_residual        max(trace Q, 1) max(0, -least eigenvalue of G): what a row of A that is free would win

Where every point has one other that is right for it, -g is convex in Q and the step is the problem: kind "global".
Everything is computed from differences of points, one row at a time (rows.py): nothing of fast.py is used. Numpy only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from cvxml.coordinates import Coordinates, coordinates
from cvxml.inputs import real_array
from cvxml.methods.nca.infinity import limit
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.rows import EPS, FirstOrder, Metric, Softmax, Surplus
from cvxml.metric import FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.result import Certificate, Dual, Stationarity

NOTHING = 1e-300  # a scale that nothing can be a share of


@dataclass(frozen=True)
class RankFeasibility(Feasibility):
    """A metric whose rank is limited: `beyond` is the largest eigenvalue that should not be there.

    It is that of the metric in coordinates of unit covariance, relative to the norm there.
    """

    rank: int = 0
    beyond: float = 0.0

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, relative to the norm."""
        return self.beyond <= FEASIBILITY_TOL and super().feasible

    def __str__(self) -> str:
        if self.beyond <= FEASIBILITY_TOL:
            return super().__str__()
        return (
            f"{super().__str__()}; rank {self.rank} is asked for, and eigenvalue {self.rank + 1}, in units of the "
            f"points' covariance, is {self.beyond:.3g} of the norm"
        )


def certify(p: Instance, Q: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `Q` (d, d): kind "stationary", or "global" where the problem is convex.

    dual: "R" and "interior" (d, d), any symmetric matrices; not looked at where the rank is limited, for which no step
    is certified. A slightly infeasible Q is judged as its nearest metric of the rank allowed. Raises ValueError if an
    array has another shape, or is next to overflow.
    """
    at = coordinates(p.X)
    inside, feasibility = examine_rank(Q, p.m, at)
    metric = Metric(p, inside, at)
    above = max(metric.objective - p.bound, 0.0)
    scale = _scale(p, at, metric, above)
    first = metric.first_order()
    found = _stationarity(first, scale)
    # a coordinate of small spread has lost digits, which matters as far as the metric looks at it
    reach = (
        float(np.linalg.norm(metric.A, 2) * np.linalg.norm(metric.A * at.lost, 2)) if metric.A.any() else 0.0
    )
    rounding = EPS * (8 + math.sqrt(len(p.X))) * (reach * first.G.size + abs(metric.objective))
    whole = Certificate(
        kind="stationary",
        objective=metric.objective,
        lower_bound=p.bound,
        gap=above,
        scale=scale,
        rounding=rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual={},
        stationarity=found,
    )
    if p.m < len(metric.Q):
        return whole
    R, interior = (_checked(dual, name, p.X.shape[1]) for name in ("R", "interior"))
    # one that is the metric but for rounding is taken to be it: then its surplus is known
    near = 1e-12 * float(np.linalg.norm(metric.Q))
    rows = [at.inside(R, "dual 'R'"), at.inside(interior, "dual 'interior'")]
    rows = [metric.Q if np.linalg.norm(M - metric.Q) <= near else M for M in rows]
    R, interior = (
        at.outside(M) if M is metric.Q else given for M, given in zip(rows, (R, interior), strict=True)
    )
    theta, gap = _step_gap(metric, first.G, float(at.lost.max()), *rows)
    gap = min(gap, above)
    stored = {"R": R, "interior": interior, "theta": np.array([] if theta is None else [theta])}
    kind = "global" if p.convex else "subproblem"
    step = replace(whole, kind=kind, lower_bound=metric.objective - gap, gap=gap, dual=stored)
    return step if p.convex else replace(whole, dual=stored, step=step)


def examine_rank(Q: FloatArray, m: int, at: Coordinates) -> tuple[FloatArray, Feasibility]:
    """The nearest metric of rank m at most, in the coordinates, (r, r), and how far Q (d, d) was from it."""
    found = examine(Q)[1]
    values, vectors = np.linalg.eigh(at.inside(Q))
    values = np.maximum(values, 0)
    norm = float(np.linalg.norm(values))
    limited = max(0, len(values) - m)
    beyond = float(values[limited - 1]) / norm if limited and norm > 0 else 0.0
    values[:limited] = 0
    metric = (vectors * values) @ vectors.T
    distance = found.distance
    if beyond > FEASIBILITY_TOL:
        distance = float(np.linalg.norm(Q - at.outside(metric)))
    feasibility = RankFeasibility(
        found.asymmetry, found.min_eigenvalue, distance, found.norm, rank=m, beyond=beyond
    )
    return (metric + metric.T) / 2, feasibility


def _scale(p: Instance, at: Coordinates, metric: Metric, above: float) -> float:
    """What a tolerance is a share of: the distance to the bound, or to where multiples of the metric tend if less.

    Near infinity everything is flat, and goes to 0 as that distance does. All but there nothing can be decided.
    """
    if not metric.A.any():
        return above
    to_limit = abs(metric.objective - limit(p, at, metric.A).value)
    return max(min(above, to_limit if to_limit > 64 * EPS * abs(metric.objective) else 0.0), NOTHING)


def _stationarity(first: FirstOrder, scale: float) -> Stationarity:
    # in coordinates of unit covariance a metric of trace 1 is of ordinary size; a smaller one may grow to it
    size = max(float(np.linalg.norm(first.A)), 1.0)
    return Stationarity(
        gradient=size * float(np.linalg.norm(first.of_A)),
        scale_derivative=float(np.sum(first.of_A * first.A)),
        dc_residual=size**2 * max(0.0, -first.least),
        of=scale,
    )


def _step_gap(
    metric: Metric, own: Surplus, lost: float, R: FloatArray, interior: FloatArray
) -> tuple[float | None, float]:
    """theta of the repaired rows, and the gap they leave of the step at the metric; None and inf if nothing repairs.

    lost: the most that a coordinate has lost in digits (coordinates.py).
    """
    rows = Softmax(metric.Y, R), Softmax(metric.Y, interior)
    (Z_R, size_R), (Z_I, size_I) = (
        own if M is metric.Q else metric.surplus(q) for M, q in zip((R, interior), rows, strict=True)
    )
    n = len(metric.Y)
    theta = _mixing(Z_R, Z_I, _allowance(n, lost, max(size_R, size_I)))
    if theta is None:
        return None, math.inf
    Z = (1 - theta) * Z_R + theta * Z_I
    parts = [float(np.sum(metric.Q * Z))]
    with np.errstate(divide="ignore"):
        logs = np.log1p(-theta), np.log(theta)
    for i in metric.points.tolist():
        at = metric.point(i)
        q = np.logaddexp(logs[0] + rows[0].row(i), logs[1] + rows[1].row(i))
        others = np.arange(n) != i
        parts.append(at.c * _divergence(q[others], at.log_p[others]))
    gap = math.fsum(parts) if all(map(math.isfinite, parts)) else math.inf
    return theta, max(0.0, gap)


def _allowance(n: int, lost: float, size: float) -> float:
    """What rounding may be in a surplus that is summed from terms of this size."""
    return (8 + math.sqrt(n)) * EPS * lost * size


def _divergence(log_q: FloatArray, log_p: FloatArray) -> float:
    """KL(q || p) as a sum of non-negative terms q (x - 1 - log x), x = p / q, from finite logarithms."""
    off = log_p - log_q
    near = off < 1  # beyond, x may overflow where q x does not
    terms = np.exp(log_p) - np.exp(log_q) * (1 + off)
    terms[near] = np.exp(log_q[near]) * (np.expm1(off[near]) - off[near])
    return float(terms.sum())


def _mixing(Z_R: FloatArray, Z_I: FloatArray, allowance: float) -> float | None:
    """About the least theta for which (1 - theta) Z_R + theta Z_I is positive by `allowance`; None if there is none."""
    shift = 2 * allowance * np.eye(len(Z_R))  # theta itself is rounded
    if np.linalg.eigvalsh(Z_R)[0] >= allowance:
        return 0.0
    try:
        L = np.linalg.cholesky(Z_I - shift)
    except np.linalg.LinAlgError:
        return None
    half = np.linalg.solve(L, Z_R - shift)
    least = float(np.linalg.eigvalsh(np.linalg.solve(L, half.T))[0])
    theta = min(1.0, max(0.0, -least / (1 - least)) * (1 + 1e-9) + 1e-15)
    mixed = (1 - theta) * Z_R + theta * Z_I
    return theta if np.linalg.eigvalsh(mixed)[0] >= allowance else None


def _checked(dual: Dual, name: str, d: int) -> FloatArray:
    if not isinstance(dual, Mapping) or name not in dual:
        raise ValueError(f'the dual must be a mapping with "R" and "interior"; there is no {name!r}')
    M = real_array(dual[name], f"dual {name!r}")
    if M.shape != (d, d) or not np.isfinite(M).all():
        raise ValueError(f"dual {name!r} must be a finite matrix of shape ({d}, {d}), got shape {M.shape}")
    if np.abs(M).max() > 1e300:
        raise ValueError(
            f"dual {name!r} has entries of {np.abs(M).max():.3g}; no softmax of these can be computed"
        )
    return (M + M.T) / 2
