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
from typing import NamedTuple

import numpy as np

from cvxml.inputs import real_array
from cvxml.methods.ssvm.certify_tree import certify_tree
from cvxml.methods.ssvm.inference import task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import EPS, point_at
from cvxml.metric import FloatArray, IntArray, examine, unit_scale
from cvxml.result import Certificate, Dual


class Repaired(NamedTuple):
    """Feasible weights: q (m,) > 0 on the set (m, k) of point (m,)."""

    q: FloatArray
    point: IntArray
    sets: IntArray


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
    per = s**4
    rounding = (rounding + at.rounding(unit.C)) / per
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


def repair(dual: Dual, p: Instance, latent: IntArray) -> Repaired:
    """The nearest use of `dual` that is feasible (see the top of this file)."""
    q, index = _checked(dual, len(p.X), p.k)
    point, sets = index[:, 0], np.sort(index[:, 1:], axis=1)
    # no weight exceeds 1, and sums of anything much larger could overflow
    q = np.clip(q, 0.0, 1.0)
    proper = (np.diff(sets, axis=1) > 0).all(axis=1) & (sets != point[:, None]).all(axis=1)
    kept = proper & (q > 0)
    q, point, sets = q[kept], point[kept], sets[kept]
    total = np.bincount(point, q, minlength=len(p.X))
    q = q / total[point]
    bare = np.flatnonzero(total == 0)
    return Repaired(
        np.concatenate([q, np.ones(len(bare))]),
        np.concatenate([point, bare]),
        np.concatenate([sets, latent[bare]]),
    )


def _checked(dual: Dual, n: int, k: int) -> tuple[FloatArray, IntArray]:
    for name in ("q", "q_index"):
        if not isinstance(dual, Mapping) or name not in dual:
            raise ValueError(f'the dual must be a mapping with "q" and "q_index"; there is no {name!r}')
    q, index = real_array(dual["q"], "dual 'q'"), np.asarray(dual["q_index"])
    if index.size == 0:
        index = index.reshape(0, k + 1).astype(np.intp)
    if q.ndim != 1 or index.shape != (len(q), k + 1) or index.dtype.kind not in "iu":
        raise ValueError(
            f"dual 'q' must be one number a set, with q_index of shape (m, {k + 1}) and integers; "
            f"got shapes {q.shape} and {index.shape}, dtype {index.dtype}"
        )
    if len(index) and (index.min() < 0 or index.max() >= n):
        raise ValueError(f"q_index names a point outside 0..{n - 1}")
    if not np.isfinite(q).all():
        raise ValueError("dual 'q' holds NaN or infinity")
    return q, index.astype(np.intp)


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
