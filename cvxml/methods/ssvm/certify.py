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

from cvxml.core.metric import FloatArray, examine, unit_scale
from cvxml.core.result import Certificate, Dual
from cvxml.methods.ssvm.exact import zero_is_optimal
from cvxml.methods.ssvm.inference import task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import EPS
from cvxml.methods.ssvm.rounding import ROOM, Judged, bound_of, judge, pushed, share_off, total
from cvxml.methods.ssvm.tree.certify import certify_tree
from cvxml.methods.ssvm.weights import Repaired, repair

TINY = 1e-300  # more than all that underflow loses


def certify(p: Instance, W: FloatArray, dual: Dual) -> Certificate:
    """Certificate of `W` (d, d) from weights `dual`: kind "stationary", its `step` of kind "subproblem".

    dual: "q" (m,) any real numbers, "q_index" (m, 1 + k): a point and its set; one with a "tree" goes to
    tree/certify.py, which bounds F itself. A slightly infeasible `W` is
    judged as P_+(W). Raises ValueError if the arrays do not match or an index is out of range.
    """
    if isinstance(dual, Mapping) and "tree" in dual:
        return certify_tree(p, W, dual)
    s = unit_scale(p.X)
    unit = p.scaled(s)
    psd, feasibility = examine(W, p.X)
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        judged = judge(unit, psd * s**2)
        repaired = repair(dual, unit, judged.at.latent)
        found = _figures(unit, judged, repaired)
    if not psd.any() and zero_is_optimal(p, judged.at.latent, judged.at.worst, dual):
        found = _Figures(judged.F, 0.0, 0.0, judged.off)
    per = s**4
    rounding, off = found.rounding / per, max(judged.off, found.bound_off) / per + TINY
    if found.rounding > 0:  # 0 is exact
        rounding = rounding + TINY if math.isfinite(rounding) else math.inf
    stored = {"q": repaired.q, "q_index": np.column_stack([repaired.point, repaired.sets])}
    step = Certificate(
        kind="subproblem",
        objective=judged.F / per,
        lower_bound=found.bound / per,
        gap=found.gap / per,
        scale=judged.norm2 / per,
        rounding=rounding,
        radius=math.sqrt(found.gap / per + rounding) + feasibility.distance,
        feasibility=feasibility,
        dual=stored,
        value_rounding=off,
    )
    return Certificate(
        kind="stationary",
        objective=step.objective,
        lower_bound=0.0,
        gap=step.objective,
        scale=step.scale,
        rounding=judged.off / per + TINY,
        radius=math.inf,
        feasibility=feasibility,
        dual=stored,
        step=step,
    )


class _Figures(NamedTuple):
    """Of the step: its bound and gap, and what each may be off by."""

    bound: float
    gap: float
    rounding: float  # of the gap
    bound_off: float


def _figures(p: Instance, judged: Judged, dual: Repaired) -> _Figures:
    """The bound, the gap as a sum of its parts, with Q = M + S, S = L L^T near P_+(-M), in place of P_+(M)."""
    at, W, n = judged.at, judged.at.W, len(p.X)
    own = share_off(np.bincount(dual.point, minlength=n))
    i = np.concatenate([np.repeat(dual.point, p.k), np.repeat(np.arange(n), p.k)])
    j = np.concatenate([dual.sets.ravel(), at.latent.ravel()])
    e, q = p.X[i] - p.X[j], np.repeat(dual.q, p.k)
    found = pushed(e, np.concatenate([p.C * q, np.full(n * p.k, -p.C)]), own)
    delta = task_loss(p.y[dual.sets], p.y[dual.point], p.Lam)
    bound, bound_off = bound_of(p.C * total((dual.q * delta).tolist()), found, own)

    misfit = W - found.Q / 2
    off_misfit = found.off / 2 + EPS * float(np.linalg.norm(W) + np.linalg.norm(found.Q))
    away, overlap = total((misfit**2).ravel().tolist()), total((W * found.S).ravel().tolist())
    D, off_D = (each.reshape(-1, p.k).sum(axis=1) for each in judged.seen.of(e[: len(q)]))
    worst = at.worst[dual.point]
    weight = p.C * dual.q
    short = weight * np.maximum(worst - delta + D, 0)
    off_short = judged.worst_off[dual.point] + off_D + (p.k + 4) * EPS * (np.abs(worst) + delta + D)

    gap = total([away, max(0.0, overlap), *short.tolist()])
    rounding = judged.off + (2 * math.sqrt(away) + off_misfit) * off_misfit + 4 * EPS * away
    rounding += float(np.sum(np.abs(W) * (found.off_S + EPS * np.abs(found.S)))) + max(0.0, -overlap)
    rounding += float(weight @ off_short) + (own + 4 * EPS) * float(short.sum()) + EPS * gap
    return _Figures(bound, gap, ROOM * rounding if math.isfinite(gap) else math.inf, bound_off)
