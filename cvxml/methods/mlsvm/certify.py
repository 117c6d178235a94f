"""The certificate of MLSVM: a lower bound from any (u, w), and the gap of a metric to it. Numpy only.

Repair. u and w are clipped at 0; entries outside the neighbour lists are dropped; each point's u_i and w_i are
scaled to the same sum s_i = min(sum u_i, sum w_i, 1/n). What is left is feasible for the dual, so
    bound = sum_i s_i - 1/(2 lam) ||P_+(G)||^2,     G = sum_i ( sum_j u_ij X_ij - sum_l w_il X_il )
lies below the objective of every metric (weak duality), no matter where (u, w) came from.

Gap. objective - bound is the sum of these parts, each of them non-negative (Fenchel and Young):
    lam/2 ||A - P_+(G)/lam||^2          the metric is not the one the dual asks for
    <A, P_+(-G)>                        A is not zero where G is negative
    (1/n - s_i) xi_i                    a slack that is not fully priced
    s_i (xi_i - 1 - max_l D_il + min_j D_ij)   a price on a constraint that is not active
    u_ij (D_ij - min_j D_ij)            a price on an impostor that is not the nearest
    w_il (max_l D_il - D_il)            a price on a target that is not the furthest
Summed so, the gap keeps its digits even where it is 1e-20 of the objective, where a difference of two
objectives has none left. Strong convexity turns it into a distance: ||A - A*|| <= sqrt(2 gap / lam).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cvxml.inputs import real_array
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.metric import FloatArray, IntArray, examine, unit_scale
from cvxml.result import Certificate, Dual

EPS = float(np.finfo(float).eps)


class Repaired(NamedTuple):
    """Feasible dual variables over all pairs of the neighbour lists."""

    u: FloatArray  # (p,)
    u_index: IntArray  # (p, 2): i, j
    w: FloatArray  # (q,)
    w_index: IntArray  # (q, 2): i, l
    s: FloatArray  # (n,)


def certify(X: FloatArray, N: Neighborhood, A: FloatArray, dual: Dual, lam: float) -> Certificate:
    """Certificate of the metric `A` (d, d) from dual variables `dual`.

    dual: "u" (p,) with "u_index" (p, 2) of pairs (i, impostor j), "w" (q,) with "w_index" (q, 2) of pairs
    (i, target l); any real numbers. A slightly infeasible `A` is judged as P_+(A), and the radius grows by
    the distance between the two. Raises ValueError if the arrays do not match or an index is out of range.
    """
    scale = unit_scale(X)
    lam_unit = scaled_lam(lam, scale)
    unit = X / scale
    repaired = repair(dual, N)
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        psd, feasibility = examine(A)
        parts = _Parts(unit, N, psd * scale**2, repaired, lam_unit)
        own_scale = lam_unit / 2 * float(np.sum((psd * scale**2) ** 2))
    radius = math.sqrt(2 * (parts.gap + parts.rounding) / lam_unit) / scale**2 + feasibility.distance
    return Certificate(
        kind="global",
        objective=parts.objective,
        lower_bound=parts.bound,
        gap=parts.gap,
        scale=own_scale,
        rounding=parts.rounding,
        radius=radius,
        feasibility=feasibility,
        dual={
            "u": repaired.u,
            "u_index": repaired.u_index,
            "w": repaired.w,
            "w_index": repaired.w_index,
        },
    )


def scaled_lam(lam: float, scale: float) -> float:
    """lam / scale^4, the weight of the same problem on X / scale; ValueError where that is no number."""
    with np.errstate(all="ignore"):
        value = float(np.float64(lam) / np.float64(scale) ** 2 / np.float64(scale) ** 2)
    if not 1e-200 < value < 1e200:
        raise ValueError(
            f"lam={lam:g} with features that spread over about {scale:.3g} cannot be computed in double "
            "precision; rescale: X / s with lam / s^4 is the same problem"
        )
    return value


def repair(dual: Dual, N: Neighborhood) -> Repaired:
    """The nearest use of `dual` that is feasible: clip, drop, scale (see the top of this file)."""
    n = len(N.targets)
    u_index, u = _on_lists(dual, "u", N.impostors, n)
    w_index, w = _on_lists(dual, "w", N.targets, n)
    su = np.bincount(u_index[:, 0], u, minlength=n).astype(np.float64)
    sw = np.bincount(w_index[:, 0], w, minlength=n).astype(np.float64)
    s = np.minimum(np.minimum(su, sw), 1 / n)
    # at the bound up to rounding is at the bound: the unpriced rest (1/n - s_i) is then exactly 0
    s = np.where(s >= (1 - 1e-12) / n, 1 / n, s)
    s[s < 1e-200] = 0.0  # a ratio of smaller numbers has lost its digits
    with np.errstate(divide="ignore", invalid="ignore"):
        scale_u = np.where(s > 0, s / su, 0.0)
        scale_w = np.where(s > 0, s / sw, 0.0)
    return Repaired(u * scale_u[u_index[:, 0]], u_index, w * scale_w[w_index[:, 0]], w_index, s)


def _on_lists(dual: Dual, name: str, lists: list[IntArray], n: int) -> tuple[IntArray, FloatArray]:
    """The values of `dual` on the pairs of `lists`, non-negative and at most n times too large."""
    values, given = _checked(dual, name, n)
    index = np.array([(i, j) for i in range(n) for j in lists[i]], dtype=np.intp).reshape(-1, 2)
    keys = (index[:, 0] * n + index[:, 1]).tolist()
    found: dict[int, float] = dict.fromkeys(keys, 0.0)
    # no price exceeds 1/n, and sums of anything much larger could overflow
    for key, value in zip(
        (given[:, 0] * n + given[:, 1]).tolist(), np.minimum(values, 1.0).tolist(), strict=True
    ):
        if key in found and value > 0:
            found[key] += value
    return index, np.array([found[key] for key in keys], dtype=np.float64)


def _checked(dual: Dual, name: str, n: int) -> tuple[FloatArray, IntArray]:
    missing = [part for part in (name, f"{name}_index") if not isinstance(dual, Mapping) or part not in dual]
    if missing:
        raise ValueError(
            f'the dual must be a mapping with "u", "u_index", "w", "w_index"; there is no {missing[0]!r}'
        )
    values = real_array(dual[name], f"dual {name!r}")
    given = np.asarray(dual[f"{name}_index"])
    if given.size == 0:
        given = given.reshape(0, 2).astype(np.intp)
    if values.ndim != 1 or given.shape != (len(values), 2) or given.dtype.kind not in "iu":
        raise ValueError(
            f"dual {name!r} must be one number a pair, with {name}_index of shape (p, 2) and integers; "
            f"got shapes {values.shape} and {given.shape}, dtype {given.dtype}"
        )
    if len(given) and (given.min() < 0 or given.max() >= n):
        raise ValueError(f"{name}_index names a point outside 0..{n - 1}")
    return values, given.astype(np.intp)


class _Parts:
    """Objective, bound and gap of one metric and one feasible dual, in units where X is about 1."""

    def __init__(self, X: FloatArray, N: Neighborhood, A: FloatArray, dual: Repaired, lam: float):
        n = len(X)
        to_impostors = X[dual.u_index[:, 0]] - X[dual.u_index[:, 1]]
        to_targets = X[dual.w_index[:, 0]] - X[dual.w_index[:, 1]]
        G = to_impostors.T @ (to_impostors * dual.u[:, None])
        G -= to_targets.T @ (to_targets * dual.w[:, None])
        values, vectors = np.linalg.eigh(G)
        positive = (vectors * np.maximum(values, 0)) @ vectors.T
        negative = (vectors * np.maximum(-values, 0)) @ vectors.T

        D_u = np.sum((to_impostors @ A) * to_impostors, axis=1)
        D_w = np.sum((to_targets @ A) * to_targets, axis=1)
        nearest = np.full(n, np.inf)
        np.minimum.at(nearest, dual.u_index[:, 0], D_u)
        furthest = np.full(n, -np.inf)
        np.maximum.at(furthest, dual.w_index[:, 0], D_w)
        usable = N.usable
        nearest, furthest, s = nearest[usable], furthest[usable], dual.s[usable]
        margin = 1 + furthest - nearest
        xi = np.maximum(0, margin)

        # prices are zero but at usable points
        u, w = dual.u > 0, dual.w > 0
        place = np.zeros(n, dtype=np.intp)
        place[usable] = np.arange(len(usable))
        away_u = D_u[u] - nearest[place[dual.u_index[u, 0]]]
        away_w = furthest[place[dual.w_index[w, 0]]] - D_w[w]
        misfit = A - positive / lam

        self.objective = lam / 2 * float(np.sum(A**2)) + float(xi.sum()) / n
        self.bound = float(s.sum()) - float(np.sum(np.maximum(values, 0) ** 2)) / (2 * lam)
        parts = [
            lam / 2 * float(np.sum(misfit**2)),
            max(0.0, float(np.sum(A * negative))),
            float(np.sum((1 / n - s) * xi)),
            float(np.sum(s * (xi - margin))),
            float(dual.u[u] @ away_u),
            float(dual.w[w] @ away_w),
        ]
        self.gap = math.fsum(parts) if all(map(math.isfinite, parts)) else math.inf
        # every part is a product of computed numbers of this size
        size = (
            lam * float(np.sum(A**2))
            + float(np.sum(values**2)) / lam * EPS
            + float(np.linalg.norm(A) * np.linalg.norm(values))
            + float(np.sum((1 / n - s) * (1 + np.abs(furthest) + np.abs(nearest))))
            + float(np.sum(s * (np.abs(furthest) + np.abs(nearest))))
        )
        lengths = np.sum(to_impostors**2, axis=1), np.sum(to_targets**2, axis=1)
        cancelled = _cancelled(dual, lengths, float(np.linalg.norm(A)), float(np.linalg.norm(misfit)), lam)
        self.rounding = 64 * EPS * size + cancelled if math.isfinite(size + cancelled) else 0.0


def _cancelled(
    dual: Repaired, lengths: tuple[FloatArray, FloatArray], norm: float, misfit: float, lam: float
) -> float:
    """What objective, bound and gap may lose because G and the distances are small rests of large sums.

    They are off by eps of what was summed, not of what is left. `lengths`: ||x_i - x_j||^2 of the pairs of u and w.
    """
    n = len(dual.s)
    up, down = np.zeros(n), np.zeros(n)
    np.maximum.at(up, dual.u_index[:, 0], lengths[0])
    np.maximum.at(down, dual.w_index[:, 0], lengths[1])
    usable = np.isin(np.arange(n), dual.u_index[:, 0]) & np.isin(np.arange(n), dual.w_index[:, 0])
    longest = np.where(usable, np.maximum(up, down), 0.0)
    terms = np.count_nonzero(dual.u) + np.count_nonzero(dual.w)
    off_G = (8 + math.sqrt(terms)) * EPS * float(dual.u @ lengths[0] + dual.w @ lengths[1])
    off_D = 16 * EPS * float(longest.sum()) / n  # of 1/n sum_i xi_i, in units of ||A||
    return norm * (off_G + off_D) + misfit * off_G + off_G**2 / (2 * lam)
