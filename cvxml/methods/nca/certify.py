"""The certificate of a metric for NCA: its objective, its stationarity, and a lower bound of its convex step.

Let X_ij = (x_i - x_j)(x_i - x_j)^T, D_ij = <Q, X_ij>, and p_ij = e^-D_ij / sum_{k != i} e^-D_ik at a metric Q = A^T A.
With the similarity s_ij, p_i = sum_j s_ij p_ij. The objective F is -f = -sum_i p_i or -g = -sum_i log p_i.

Step. At Q0, let w_ij = s_ij p_ij / p_i, and c_i = 1 for g or c_i = p_i for f. The step is

    S(Q) = const + sum_i c_i [ log sum_k e^-<Q, X_ik> + sum_j w_ij <Q, X_ij> + sum_j w_ij log(w_ij / s_ij) ].

const is 0 for g, and sum_i p_i (log p_i - 1) at Q0 for f. The step is at least the objective everywhere, and equal to
the objective at Q0. For rows q_i of the simplex, with H the entropy,

    S(Q) >= const + sum_i c_i [ H(q_i) + sum_j w_ij log(w_ij / s_ij) ]   if   Z = sum c_i (w_ij - q_ij) X_ij  is psd.

The gap at Q0 is a sum of non-negative terms, sum_i c_i KL(q_i || p_i) + <Q0, Z>.

Dual. Two symmetric matrices "R" and "interior" define the rows:

    q_i = (1 - theta) softmax(-<R, X_ik>) + theta softmax(-<interior, X_ik>),   over k != i.

Repair: theta is the smallest number that makes Z psd beyond rounding; a given theta is ignored. If no theta makes Z
psd, the bound of the objective itself is used: p_i is at most the largest s_ij.

Stationarity, in units of the objective, in coordinates where the points have unit covariance
(family/geometry/coordinates.py). There, with G = dF/dQ:

    gradient           max(|A|, 1) |dF/dA|, where dF/dA = 2 A G
    scale_derivative   d F(t A) / dt at t = 1
    dc_residual        max(trace Q, 1) max(0, -smallest eigenvalue of G): the first-order decrease by using an unused
                       row of A; 0 if A has no unused row, so that its rank cannot grow

Rounding. rows.py bounds the errors of the distances and of everything computed from them. In the certificate of the
objective, `rounding` bounds the error of the objective; in that of the step, the error of the gap. gradient and
dc_residual include their rounding errors. The rounding error of Z is subtracted before Z is called psd.

A partner of a point i is a point j with s_ij > 0. Sums over i run over the points with a partner. If each of these has
exactly one partner, -g is convex in Q and equal to the step. Then the kind of the certificate is "global", unless the
rank is limited. All values are computed from differences of points (rows.py), independently of descent.py.

Infinity. As t tends to infinity, p_i of t A tends to the mean of s_ij over the nearest neighbours of i under A. If for
every i all nearest neighbours have the largest s_ij, then f and g tend to their upper bounds. At every metric f and g
are strictly less, so no metric attains the supremum. With classes this means that every point has all its nearest
neighbours in its own class. `limit` claims it only if it holds for all points that may be nearest within the rounding
error.
There is a second case without a maximum, if the rank is not limited. Suppose that in some direction the points of each
class coincide, but not all points do. Adding more of this direction improves every metric. `collapsible` decides this
by ranks, in rationals (numbers/span.py).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from cvxml.core.inputs import dual_array
from cvxml.core.metric import EPS, FloatArray, examine
from cvxml.core.result import Certificate, Dual, Stationarity
from cvxml.family.geometry.coordinates import Coordinates, coordinates
from cvxml.family.stationary.rank import examine_rank
from cvxml.family.stationary.stationary import NOTHING, PLENTY
from cvxml.family.theorem.strict_prices import least_share
from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.rows import FirstOrder, Metric, Points, Softmax, finite
from cvxml.numbers.span import cosets, rank

CLOSE = 1e-9  # distances that differ by less than this, relative to the larger, and by rounding are ties
BLURRED = 1e-3  # a larger rounding error of the points, relative to their spread, prevents a certificate


def certify(p: Instance, Q: FloatArray, dual: Dual) -> Certificate:
    """Return the certificate of `Q` (d, d): kind "stationary", or "global" if the problem is convex.

    dual: any matrices "R" and "interior" (d, d), for the bound of the step; their symmetric parts are used. If the
    allowed rank is less than the rank of the points, the kind is "stationary", no step is bounded, and `dual` is
    ignored. If Q is slightly infeasible, the nearest metric of the allowed rank is judged. Raises ValueError for an
    array of another shape, or with entries near overflow.
    """
    # after an overflow `rounding` is infinite, and the certificate proves no bound
    with np.errstate(over="ignore", invalid="ignore"):
        return _certify(p, Q, dual)


def _certify(p: Instance, Q: FloatArray, dual: Dual) -> Certificate:
    at = coordinates(p.X)
    inside, feasibility = examine_rank(Q, p.m, at)
    metric = Metric(p, examine(Q)[0], at)
    first = metric.first_order
    objective, rounding = first.value
    above = max(objective - p.bound, 0.0)
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
    R, interior = (dual_matrix(dual, name, p.X.shape[1]) for name in ("R", "interior"))
    # a matrix that equals the metric up to rounding is replaced by the metric, because the surplus of that is known
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
    """Return the scale that tol multiplies, and whether it is larger than its rounding error.

    above: the distance of the objective to its lower bound. The scale is the smallest of three numbers:
    - `above`;
    - the distance of the objective to its limit along the multiples t Q, as t tends to infinity;
    - `PLENTY` times the sum of the absolute terms of the scale derivative.
    For large multiples of a metric, all derivatives tend to 0 as fast as these numbers. The second number depends on
    ties of distances, which rounding may hide; the third does not. For Q = 0 the scale is `above`. Otherwise it is at
    least `NOTHING`.
    """
    if first.length == 0:
        return above, True
    objective = first.value[0]
    scale = min(above, abs(objective - limit(p, metric).value), PLENTY * first.turns)
    return max(scale, NOTHING), scale > max(64 * EPS * abs(objective), NOTHING)


def _undecided(at: Coordinates, metric: Metric, resolved: bool) -> str:
    """Return a sentence on why rounding prevents any certificate; empty if it does not.

    at: the coordinates of the points. resolved: whether the scale is larger than its rounding error.
    """
    if at.hidden:
        return at.undecided
    if metric.noise > BLURRED:
        return "features are so nearly collinear that rounding moves the points in unit covariance by " + (
            f"{metric.noise:.2g}: leave out features that others nearly determine"
        )
    if not resolved:
        return (
            "in double precision the objective equals its bound, or the limit of the multiples of the metric, so a "
            "relative gap has no scale"
        )
    return ""


def _stationarity(first: FirstOrder, scale: float) -> Stationarity:
    # a typical metric has trace 1 in these coordinates, and a smaller metric may grow to that
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
    """Return theta of the repaired rows q, the gap of the step, and the rounding error of the gap.

    R, interior: the rows of "R" and "interior" that q mixes (module docstring). None stands for the rows p of the
    metric itself. Returns None, inf and 0 if no theta makes Z psd, and theta, inf and 0 if the gap overflows.
    """
    of_R = metric.surplus(R)
    of_I = metric.surplus(interior)
    theta = _smallest_theta(*(found.Z - 2 * found.rounding * np.eye(len(found.Z)) for found in (of_R, of_I)))
    if theta is None:
        return None, math.inf, 0.0
    with np.errstate(divide="ignore"):
        logs = np.log1p(-theta), np.log(theta)
    parts, error = [], []
    for at in metric.blocks():
        rows = [at.log_p if row is None else row.rows(at.rows) for row in (R, interior)]
        log_q = np.logaddexp(logs[0] + rows[0], logs[1] + rows[1])
        both = [
            at.weights(None if row is None else log) for row, log in zip((R, interior), rows, strict=True)
        ]
        weights, of_weights = ((1 - theta) * a + theta * b for a, b in zip(*both, strict=True))
        for k in range(len(at.rows)):
            part, rounding = _part(at, k, log_q[k], weights[k], of_weights[k])
            parts.append(part)
            error.append(rounding)
    if not all(map(math.isfinite, parts)):
        return theta, math.inf, 0.0
    return theta, max(0.0, math.fsum(parts)), finite(sum(error))


def _part(
    at: Points, k: int, log_q: FloatArray, weights: FloatArray, of_weights: FloatArray
) -> tuple[float, float]:
    """Return the part c_i KL(q_i || p_i) + sum_j weights_j D_ij of point i in the gap of the step, and its error bound.

    k: the position of i in the block `at`. log_q (n,): the logarithms of q_ij. weights (n,): c_i (w_ij - q_ij), with
    errors up to of_weights (n,). The weights sum to 0, so the code subtracts the least D_ij from all D_ij.
    """
    others, D, of_D = at.others[k], at.D[k], at.error[k]
    c, of_c = (float(each[k]) for each in at.c)
    nearest = int(np.where(others, D, np.inf).argmin())
    beyond, error = (D - D[nearest])[others], (of_D + of_D[nearest])[others]
    weights, of_weights, log_q, log_p = (
        weights[others],
        of_weights[others],
        log_q[others],
        at.log_p[k][others],
    )
    apart = _divergence(log_q, log_p)
    q = np.exp(log_q)
    terms = (len(D) + 16) * EPS
    rounding = float(of_weights @ (beyond + error) + np.abs(weights) @ error)
    rounding += terms * float(np.abs(weights) @ beyond)
    # the divergence has three errors: of log p, of the sums of q and p, which need not be 1, and of the terms
    of_logs = at.of_log_p[k][others] + 4 * EPS * (np.abs(log_q) + np.abs(log_p))
    of_apart = float(q @ of_logs) + terms * (2 + 4 * apart + float(q @ np.abs(log_p - log_q)))
    rounding += (c + of_c) * of_apart + of_c * apart
    return c * apart + float(weights @ beyond), rounding


def _divergence(log_q: FloatArray, log_p: FloatArray) -> float:
    """KL(q || p) as a sum of non-negative terms q (x - 1 - log x), x = p / q. log_q, log_p: finite logarithms."""
    log_x = log_p - log_q
    small = log_x < 1  # for a larger one, x may overflow although q x = p does not
    terms = np.exp(log_p) - np.exp(log_q) * (1 + log_x)
    terms[small] = np.exp(log_q[small]) * (np.expm1(log_x[small]) - log_x[small])
    return float(terms.sum())


def _smallest_theta(Z_R: FloatArray, Z_I: FloatArray) -> float | None:
    """Return nearly the smallest theta in [0, 1] with (1 - theta) Z_R + theta Z_I psd; None if none is found.

    Z_R, Z_I (r, r): Z of the module docstring for the rows of "R" and of "interior".
    """
    if np.linalg.eigvalsh(Z_R)[0] >= 0:
        return 0.0
    least = least_share(Z_I, Z_R)
    # a little larger, because theta itself is rounded
    for more in (1e-9, 1e-6, 1e-3, 1e-1):
        theta = min(1.0, least * (1 + more) + 1e-15)
        if np.linalg.eigvalsh((1 - theta) * Z_R + theta * Z_I)[0] >= 0:
            return theta
    return None


def dual_matrix(dual: Dual, name: str, d: int) -> FloatArray:
    """Return the symmetric part of `dual[name]` (d, d).

    Raises ValueError if that is not a (d, d) matrix of numbers of size at most 1e300.
    """
    M = dual_array(dual, name, (d, d))
    if np.abs(M).max() > 1e300:
        raise ValueError(f"dual {name!r} has entries up to {np.abs(M).max():.3g}; they must be at most 1e300")
    return (M + M.T) / 2


class Limit(NamedTuple):
    """The limit of the objective of t Q as t tends to infinity.

    value: the limit, where nearly equal distances count as ties.

    best: True if every p_i is proved to tend to its upper bound, for all ties that are possible within the rounding
    error.
    """

    value: float  # near ties count as ties
    best: bool  # proved for all possible ties: every p_i tends to its upper bound


def limit(p: Instance, metric: Metric) -> Limit:
    total, best = 0.0, True
    for at in metric.blocks():
        D = np.where(at.others, at.D, np.inf)
        nearest = (D + at.of_D).min(axis=1, keepdims=True)
        right = D - at.of_D <= nearest * (1 + CLOSE)
        best &= bool((np.where(right, at.s, np.inf).min(axis=1) == at.s.max(axis=1)).all())
        mean = np.where(right, at.s, 0.0).sum(axis=1) / right.sum(axis=1)
        with np.errstate(divide="ignore"):
            total -= float(np.sum(mean if p.criterion == "f" else np.log(mean)))
    return Limit(total, best)


def collapsible(p: Instance) -> bool:
    """Return True if in some direction each point coincides with its partners, but not all points coincide."""
    groups = p.y if p.similarity is None else connected_components(p.similarity > 0, directed=False)[1]
    order = np.argsort(groups, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    within = cosets(p.X, pairs[groups[pairs[:, 0]] == groups[pairs[:, 1]]])
    return within.rank < rank(p.X)
