"""What happens at infinity: where a supremum of NCA is approached and attained nowhere.

Along t A, t to infinity, p_i tends to the average of s_ij over the nearest neighbours of i under A. If for every i
all of these have the largest s_ij there is, f and g tend to values that bound them, while every finite metric is
strictly below: the supremum is at infinity. For class labels that is: every point has its nearest neighbour in its own
class. It is said only where it is so for all that may be nearest within the proved rounding of the distances.

So it is where a direction exists in which the points of a class coincide and the classes do not all: any
metric grows better along it for ever (only if the rank is not limited: it must be added to whatever is there). Whether
there is one is a matter of ranks, decided in rationals (numbers/span.py).

The certificate of a metric for NCA: the objective exactly, how stationary it is, and a bound of its convex step.

Step. At Q0, with c_i = 1 and w_ij = s_ij p_ij / p_i (for f: c_i = p_i), the step is
    S(Q) = const + sum_i c_i [ log sum_k e^-<Q, X_ik> + sum_j w_ij <Q, X_ij> + sum_j w_ij log(w_ij / s_ij) ],
it lies above the objective everywhere and touches it at Q0. Rows q_i of the simplex give, with H the entropy,
    S(Q) >= const + sum_i c_i [ H(q_i) + sum_j w_ij log(w_ij / s_ij) ]   if   Z = sum c_i (w_ij - q_ij) X_ij  is psd,
and the difference at Q0 is a sum of non-negative parts, sum_i c_i KL(q_i || p_i) + <Q0, Z>.

Dual. The rows are given by two symmetric matrices: q = (1 - theta) softmax(-<R, X_ik>) + theta softmax(-<I, X_ik>),
"R" and "interior". Repair: theta (any that is given is not looked at) is the least that makes Z psd beyond rounding; if
none does, the bound of the objective itself is taken.

Stationarity, in units of the objective, in coordinates of unit covariance (family/geometry/coordinates.py), G = dF/dQ
there:
    gradient           max(|A|, 1) |dF/dA|, dF/dA = 2 A G
    scale_derivative   d F(t A) / dt at t = 1
    dc_residual        max(trace Q, 1) max(0, -least eigenvalue of G): what a row of A that is free would win

Rounding. What is known of the distances of the matrix given, and of all that is computed from them, is bounded in
rows.py. `rounding` covers the objective, in the step the gap; gradient and dc_residual include it; from Z it is taken
before Z is called psd.

Where every point has one other that is right for it, -g is convex in Q and the step is the problem: kind "global".
Everything is computed from differences of points, one row at a time (rows.py): nothing of fast.py is used. Numpy only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from cvxml.core.clock import watched
from cvxml.core.inputs import real_array
from cvxml.core.metric import EPS, FloatArray, examine
from cvxml.core.result import Certificate, Dual, Stationarity
from cvxml.family.geometry.coordinates import Coordinates, coordinates
from cvxml.family.stationary.rank import examine_rank
from cvxml.family.stationary.stationary import NOTHING, PLENTY
from cvxml.family.theorem.strict_prices import least_share
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.rows import FirstOrder, Metric, Point, Softmax, finite
from cvxml.numbers.span import cosets, rank

CLOSE = 1e-9  # distances nearer than this share of the larger, and of rounding, are called equal
BLURRED = 1e-3  # of the points' spread: where rounding moves them by more nothing is proved


def certify(p: Instance, Q: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `Q` (d, d): kind "stationary", or "global" where the problem is convex.

    dual: "R" and "interior" (d, d), any symmetric matrices; not looked at where the rank is limited, for which no step
    is certified. A slightly infeasible Q is judged as its nearest metric; what that has beyond the rank allowed counts
    as rounding. Raises ValueError if an array has another shape, or is next to overflow.
    """
    # Where something overflows, `rounding` is no finite number, and nothing is proved.
    with np.errstate(over="ignore", invalid="ignore"):
        return _certify(p, Q, dual)


def _certify(p: Instance, Q: FloatArray, dual: Dual) -> Certificate:
    at = coordinates(p.X)
    inside, feasibility = examine_rank(Q, p.m, at)
    metric = Metric(p, examine(Q)[0], at)
    objective, rounding = metric.value
    above = max(objective - p.bound, 0.0)
    first = metric.first_order()
    scale, resolved = _scale(p, metric, first, above)
    found = _stationarity(first, scale)
    whole = Certificate(
        kind="stationary",
        objective=objective,
        lower_bound=p.bound,
        gap=above,
        scale=scale,
        rounding=rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual={},
        stationarity=found,
        undecided=_undecided(at, metric, resolved),
    )
    if p.m < len(inside):
        return whole
    R, interior = (of_dual(dual, name, p.X.shape[1]) for name in ("R", "interior"))
    # one that is the metric but for rounding is taken to be it: then its surplus is known
    near = 1e-12 * float(np.linalg.norm(inside))
    rows = [at.inside(R, "dual 'R'"), at.inside(interior, "dual 'interior'")]
    own = [bool(np.linalg.norm(M - inside) <= near) for M in rows]
    R, interior = (
        at.outside(inside) if same else given for same, given in zip(own, (R, interior), strict=True)
    )
    theta, gap, rounding = _step_gap(
        metric, *(None if same else Softmax(at.Y, M) for same, M in zip(own, rows, strict=True))
    )
    if gap >= above:  # the bound of the objective itself
        gap, rounding = above, whole.rounding
    stored = {"R": R, "interior": interior, "theta": np.array([] if theta is None else [theta])}
    kind = "global" if p.convex else "subproblem"
    bound = objective - gap
    step = replace(whole, kind=kind, lower_bound=bound, gap=gap, rounding=finite(rounding), dual=stored)
    return step if p.convex else replace(whole, dual=stored, step=step)


def _scale(p: Instance, metric: Metric, first: FirstOrder, above: float) -> tuple[float, bool]:
    """What a tolerance is a share of, and whether it is more than rounding.

    The distance to the bound, or to where multiples of the metric tend, or what the scale derivative is the sum of,
    whichever is least. Near infinity everything is flat, and goes to 0 as these do; which of the distances are ties,
    on which the second rests, is not known there, and the third does not ask.
    """
    if first.length == 0:
        return above, True
    objective = metric.objective
    scale = min(above, abs(objective - limit(p, metric).value), PLENTY * first.turns)
    return max(scale, NOTHING), scale > max(64 * EPS * abs(objective), NOTHING)


def _undecided(at: Coordinates, metric: Metric, resolved: bool) -> str:
    """Why nothing is proved, as a sentence; empty where something may be."""
    if at.hidden:
        return at.undecided
    if metric.noise > BLURRED:
        return "features are so nearly collinear that rounding moves the points in unit covariance by " + (
            f"{metric.noise:.2g}: leave out features that others nearly determine"
        )
    if not resolved:
        return (
            "in double precision the objective is its bound, or that of all larger multiples of the metric: "
            "nothing can be a share of the difference"
        )
    return ""


def _stationarity(first: FirstOrder, scale: float) -> Stationarity:
    # in coordinates of unit covariance a metric of trace 1 is of ordinary size; a smaller one may grow to it
    size = max(first.length, 1.0)
    return Stationarity(
        gradient=size * first.gradient,
        scale_derivative=first.slope,
        dc_residual=size**2 * max(0.0, -first.least),
        of=scale,
    )


def _step_gap(
    metric: Metric, R: Softmax | None, interior: Softmax | None
) -> tuple[float | None, float, float]:
    """theta of the repaired rows, the gap they leave of the step at the metric, and how far that may be off.

    None stands for the metric's own rows. None and inf if nothing repairs.
    """
    of_R = metric.surplus(R)
    of_I = metric.surplus(interior)
    theta = _mixing(*(found.Z - 2 * found.rounding * np.eye(len(found.Z)) for found in (of_R, of_I)))
    if theta is None:
        return None, math.inf, 0.0
    with np.errstate(divide="ignore"):
        logs = np.log1p(-theta), np.log(theta)
    parts, off = [], []
    for i in watched(metric.points.tolist()):
        at = metric.point(i)
        rows = [at.log_p if row is None else row.row(i) for row in (R, interior)]
        log_q = np.logaddexp(logs[0] + rows[0], logs[1] + rows[1])
        both = [
            at.weights(None if row is None else log) for row, log in zip((R, interior), rows, strict=True)
        ]
        weights, of_weights = ((1 - theta) * a + theta * b for a, b in zip(*both, strict=True))
        part, rounding = _part(at, log_q, weights, of_weights, np.arange(len(metric.Y)) != i)
        parts.append(part)
        off.append(rounding)
    if not all(map(math.isfinite, parts)):
        return theta, math.inf, 0.0
    return theta, max(0.0, math.fsum(parts)), finite(sum(off))


def _part(
    at: Point, log_q: FloatArray, weights: FloatArray, of_weights: FloatArray, others: np.ndarray
) -> tuple[float, float]:
    """c_i KL(q_i || p_i) + sum_k weights_k D_ik, and how far it may be off. weights: c_i (w_i - q_i), of sum 0."""
    nearest = int(np.where(others, at.D, np.inf).argmin())
    beyond, off = (at.D - at.D[nearest])[others], (at.off + at.off[nearest])[others]
    weights, of_weights, log_q, log_p = weights[others], of_weights[others], log_q[others], at.log_p[others]
    apart = _divergence(log_q, log_p)
    q = np.exp(log_q)
    terms = (len(at.D) + 16) * EPS
    rounding = float(of_weights @ (beyond + off) + np.abs(weights) @ off)
    rounding += terms * float(np.abs(weights) @ beyond)
    # of the divergence: log p may be off, q and p need not have the sum 1, and what it is summed from is rounded
    of_logs = at.of_log_p[others] + 4 * EPS * (np.abs(log_q) + np.abs(log_p))
    of_apart = float(q @ of_logs) + terms * (2 + 4 * apart + float(q @ np.abs(log_p - log_q)))
    rounding += (at.c + at.of_c) * of_apart + at.of_c * apart
    return at.c * apart + float(weights @ beyond), rounding


def _divergence(log_q: FloatArray, log_p: FloatArray) -> float:
    """KL(q || p) as a sum of non-negative terms q (x - 1 - log x), x = p / q, from finite logarithms."""
    off = log_p - log_q
    near = off < 1  # beyond, x may overflow where q x does not
    terms = np.exp(log_p) - np.exp(log_q) * (1 + off)
    terms[near] = np.exp(log_q[near]) * (np.expm1(off[near]) - off[near])
    return float(terms.sum())


def _mixing(Z_R: FloatArray, Z_I: FloatArray) -> float | None:
    """About the least theta for which (1 - theta) Z_R + theta Z_I is psd; None if there is none."""
    if np.linalg.eigvalsh(Z_R)[0] >= 0:
        return 0.0
    least = least_share(Z_I, Z_R)
    # a little more, since theta itself is rounded
    for more in (1e-9, 1e-6, 1e-3, 1e-1):
        theta = min(1.0, least * (1 + more) + 1e-15)
        if np.linalg.eigvalsh((1 - theta) * Z_R + theta * Z_I)[0] >= 0:
            return theta
    return None


def of_dual(dual: Dual, name: str, d: int) -> FloatArray:
    """The symmetric part of `dual[name]` (d, d). Raises ValueError for what is none."""
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


class Limit(NamedTuple):
    """The objective of t Q for t to infinity, near ties counted as ties, and whether every p_i tends to the most."""

    value: float
    best: bool  # proved: of all that may be nearest


def limit(p: Instance, metric: Metric) -> Limit:
    """Where multiples of the metric tend."""
    total, best = 0.0, True
    for i in np.flatnonzero(p.usable).tolist():
        distances, off = metric.distances(i)
        distances[i] = np.inf
        s = p.row(i)
        nearest = (distances + off).min()
        right = s[distances - off <= nearest * (1 + CLOSE)]
        best &= bool(right.min() == s.max())
        with np.errstate(divide="ignore"):
            total -= float(right.mean() if p.criterion == "f" else np.log(right.mean()))
    return Limit(total, best)


def collapsible(p: Instance) -> bool:
    """True if a direction exists in which all points coincide that are right for each other, and not all points do."""
    groups = p.y if p.similarity is None else connected_components(p.similarity > 0, directed=False)[1]
    order = np.argsort(groups, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    within = cosets(p.X, pairs[groups[pairs[:, 0]] == groups[pairs[:, 1]]])
    return within.rank < rank(p.X)
