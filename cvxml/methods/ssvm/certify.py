"""The certificate of a metric for gerrymandering: F exactly, and a bound of its own convex step. Numpy only.

Repair. q is clipped at 0; what is no set of k other points is dropped; each point's weights are scaled to sum
1, and a point without any has its whole weight on h*_i. What is left is feasible for the dual of the CCCP step
at W, so
    bound = C sum q Delta - 1/4 ||P_+(M)||^2,
    M = C sum_i ( sum_h q_ih sum_{j in h} X_ij - sum_{j in h*_i} X_ij )
lies below the step's objective at every metric, no matter where q came from. (M = -G of the paper's terms.)

Gap. F(W) is the step's objective at W. F(W) - bound is the sum of these parts, each of them non-negative:
    ||W - P_+(M)/2||^2                  the metric is not the one the dual asks for
    <W, P_+(-M)>                        W is not zero where M is negative
    C q_ih ( max_h' [S_ih' + Delta_ih'] - S_ih - Delta_ih )     weight on a set that is not the worst
F(W) comes from the exact inference that the solver uses too (inference.py, point.py); the tests hold it against
enumeration and an integer program. Bound and gap share nothing with the solver's columns.py.

The step is strongly convex: its optimum lies within sqrt(gap) of W. Of F itself no more is
proved than F >= 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from cvxml.methods.ssvm.certify_tree import certify_tree
from cvxml.methods.ssvm.exact import zero_is_optimal
from cvxml.methods.ssvm.inference import task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import EPS, Point, point_at
from cvxml.methods.ssvm.weights import Repaired, repair
from cvxml.metric import FloatArray, IntArray, examine, unit_scale
from cvxml.result import Certificate, Dual

TINY = 1e-300  # more than all that underflow loses


def certify(p: Instance, W: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `W` (d, d) from weights `dual`: kind "stationary", its `step` of kind "subproblem".

    dual: "q" (m,) any real numbers, "q_index" (m, 1 + k): a point and its set; one with a "tree" goes to
    certify_tree.py, which bounds F itself. A slightly infeasible `W` is
    judged as P_+(W). Raises ValueError if the arrays do not match or an index is out of range.
    """
    if isinstance(dual, Mapping) and "tree" in dual:
        return certify_tree(p, W, dual)
    s = unit_scale(p.X)
    unit = p.scaled(s)
    psd, feasibility = examine(W)
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        at = point_at(unit, psd * s**2)
        repaired = repair(dual, unit, at.latent)
        bound, gap, rounding = _bound_and_gap(unit, at.W, at.latent, at.worst, repaired)
        rounding += at.rounding(unit.C) + _inference_off(unit, at)
    per = s**4
    rounding = rounding / per + TINY if math.isfinite(rounding) else math.inf
    if not psd.any() and zero_is_optimal(p, at.latent, at.worst, dual):
        bound, gap, rounding = at.F, 0.0, 0.0
    stored = {"q": repaired.q, "q_index": np.column_stack([repaired.point, repaired.sets])}
    radius = math.sqrt(gap / per + rounding) + feasibility.distance
    step = Certificate(
        "subproblem",
        at.F / per,
        bound / per,
        gap / per,
        at.norm2 / per,
        rounding,
        radius,
        feasibility,
        stored,
    )
    return Certificate(
        kind="stationary",
        objective=step.objective,
        lower_bound=0.0,
        gap=step.objective,
        scale=step.scale,
        rounding=rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual=stored,
        step=step,
    )


def _inference_off(p: Instance, at: Point) -> float:
    """What F may be off by because distances are those of images of the points.

    Images are rounded, and the nearest are chosen by products of them: a distance from i, or the choice of who is near,
    may be off by a few eps of the square of how long images are. R R^T, R as in nearest.py, may be off W itself.
    """
    values, vectors = np.linalg.eigh(at.W)
    R = vectors * np.sqrt(np.maximum(values, 0))
    off_W = np.abs(at.W - R @ R.T) + (len(R) + 2) * EPS * (np.abs(R) @ np.abs(R).T)
    size = np.abs(p.X - p.X.mean(axis=0))
    length = np.linalg.norm(size @ np.abs(R), axis=1)
    apart = size + size.max(axis=0)
    each = (2 * len(R) + 16) * EPS * (length + length.max()) ** 2 + np.sum((apart @ off_W) * apart, axis=1)
    return 2 * p.k * p.C * float(each.sum())


def _bound_and_gap(
    p: Instance, W: FloatArray, latent: IntArray, worst: FloatArray, dual: Repaired
) -> tuple[float, float, float]:
    """The bound, the gap as a sum of its parts, and what the cancellation within M may cost either."""
    n, d = p.X.shape
    M, length = np.zeros((d, d)), 0.0
    distance = np.zeros(len(dual.q))
    for j in dual.sets.T:
        to = p.X[dual.point] - p.X[j]
        M += to.T @ (to * dual.q[:, None])
        length += float(dual.q @ np.einsum("md,md->m", to, to))
        distance += np.einsum("md,md->m", to @ W, to)
    for j in latent.T:
        to = p.X - p.X[j]
        M -= to.T @ to
        length += float(np.einsum("nd,nd->", to, to))
    M *= p.C
    values, vectors = np.linalg.eigh(M)
    positive = (vectors * np.maximum(values, 0)) @ vectors.T
    negative = (vectors * np.maximum(-values, 0)) @ vectors.T
    delta = task_loss(p.y[dual.sets], p.y[dual.point], p.Lam)
    misfit = W - positive / 2
    parts = [
        float(np.sum(misfit**2)),
        max(0.0, float(np.sum(W * negative))),
        p.C * float(dual.q @ np.maximum(worst[dual.point] - delta + distance, 0.0)),
    ]
    bound = p.C * float(dual.q @ delta) - float(np.sum(np.maximum(values, 0) ** 2)) / 4
    gap = math.fsum(parts) if all(map(math.isfinite, parts)) else math.inf
    off = (8 + math.sqrt(len(dual.q) + n)) * EPS * p.C * length
    rounding = off * float(np.linalg.norm(W) + np.linalg.norm(misfit)) + off**2 / 4
    return bound, gap, rounding
