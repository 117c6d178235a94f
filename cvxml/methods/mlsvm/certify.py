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

Rounding. The sum above is an identity for any psd S in place of P_+(-G), with G + S in place of P_+(G), and any
symmetric A. So no eigenvalue has to be right: S is the psd matrix that the computed eigenvectors make, A' = R R^T one
near A, and the prices are those near the computed ones whose sums agree exactly. How far the computed numbers may be
from these is bounded entry by entry from what was summed, not from what is left (the error of a sum of m products, in
whatever order, is at most m eps/2 of the sum of their sizes). `rounding` covers the gap of A', `value_rounding` the
objective and the bound.
A gap of exactly 0 with rounding 0 is of A = 0 only, and decided in integers (zero.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cvxml.inputs import real_array
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.methods.mlsvm.zero import AT_THE_CAP, signed, zero_is_optimal
from cvxml.metric import FloatArray, IntArray, examine, unit_scale
from cvxml.result import Certificate, Dual

EPS = float(np.finfo(float).eps)
TINY = 1e-300  # more than all that underflow loses


class Repaired(NamedTuple):
    """Feasible dual variables over all pairs of the neighbour lists."""

    u: FloatArray  # (p,)
    u_index: IntArray  # (p, 2): i, j
    w: FloatArray  # (q,)
    w_index: IntArray  # (q, 2): i, l
    s: FloatArray  # (n,)


def certify(
    X: FloatArray, N: Neighborhood, A: FloatArray, dual: Dual, lam: float, units: bool = True
) -> Certificate:
    """Certificate of the metric `A` (d, d) from dual variables `dual`.

    dual: "u" (p,) with "u_index" (p, 2) of pairs (i, impostor j), "w" (q,) with "w_index" (q, 2) of pairs
    (i, target l); any real numbers. A slightly infeasible `A` is judged as P_+(A), and the radius grows by
    the distance between the two. units: it must be a metric in the units of the features too (not of a kernel, whose
    features have none). Raises ValueError if the arrays do not match or an index is out of range.
    """
    scale = unit_scale(X)
    lam_unit = scaled_lam(lam, scale)
    unit = X / scale
    repaired = repair(dual, N)
    with np.errstate(over="ignore", invalid="ignore"):  # an absurd metric gets an infinite objective
        psd, feasibility = examine(A, X if units else None)
        found = _figures(unit, N, psd * scale**2, repaired, lam_unit)
    usable = N.usable
    nearly = found.gap <= 1e-6 * found.objective
    if not psd.any() and nearly and zero_is_optimal(X, usable, signed(repaired[:4])):
        value = len(usable) / len(X)
        found = _Figures(value, value, 0.0, 0.0, 0.0, len(X) * EPS * value)
    radius = math.sqrt(2 * (max(found.gap, 0.0) + found.rounding) / lam_unit) / scale**2
    return Certificate(
        kind="global",
        objective=found.objective,
        lower_bound=found.bound,
        gap=found.gap,
        scale=found.scale,
        rounding=found.rounding,
        radius=radius + feasibility.distance,
        feasibility=feasibility,
        value_rounding=found.value_rounding,
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
    s = np.where(s >= AT_THE_CAP / n, 1 / n, s)
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


class _Figures(NamedTuple):
    """What a certificate says of one metric and one feasible dual."""

    objective: float
    bound: float
    gap: float
    scale: float
    rounding: float  # of the gap
    value_rounding: float  # of objective and bound


class _Edges:
    """Differences of points, one a pair, and squared distances along them with what they may be off by."""

    def __init__(self, X: FloatArray, index: IntArray, price: FloatArray):
        self.point, self.price = index[:, 0], price
        self.differences = X[index[:, 0]] - X[index[:, 1]]

    def push(self, of: FloatArray) -> FloatArray:
        """sum of price e e^T, for the differences e or their absolute values."""
        used = self.price > 0
        pushed: FloatArray = of[used].T @ (of[used] * self.price[used, None])
        return pushed

    def distances(self, A: FloatArray, off_A: FloatArray) -> tuple[FloatArray, FloatArray]:
        """e^T A e and what it may be off by, where A may be by `off_A`, entry by entry."""
        size, terms = np.abs(self.differences), A.shape[0] + 3
        unsure = off_A + terms * EPS * np.abs(A)
        return _quadratic(self.differences, A), _quadratic(size, unsure) + TINY


def _quadratic(e: FloatArray, A: FloatArray) -> FloatArray:
    values: FloatArray = np.sum((e @ A) * e, axis=1)
    return values


def _figures(X: FloatArray, N: Neighborhood, A: FloatArray, dual: Repaired, lam: float) -> _Figures:
    """Objective, bound, gap, and what each may be off by, in units where X is about 1."""
    n, d = X.shape
    up, down = _Edges(X, dual.u_index, dual.u), _Edges(X, dual.w_index, dual.w)
    most = max(int(np.bincount(index[:, 0], minlength=n).max()) for index in (dual.u_index, dual.w_index))
    own = (most + 4) * EPS  # a price is this near to one that is feasible exactly
    off_A = _off_square(A)

    G = up.push(up.differences) - down.push(down.differences)
    values, vectors = np.linalg.eigh(G)
    negative = (vectors * np.maximum(-values, 0)) @ vectors.T
    off_S = (d + 2) * EPS * (np.abs(vectors) * np.maximum(-values, 0)) @ np.abs(vectors).T
    Q = G + negative
    terms = np.count_nonzero(dual.u) + np.count_nonzero(dual.w)
    sums = up.push(np.abs(up.differences)) + down.push(np.abs(down.differences))
    off_G = (own + (terms / 2 + 4) * EPS) * sums + TINY
    off_Q = off_G + off_S + EPS * np.abs(Q)
    if values[-1] / 2 < -float(np.linalg.norm(Q) + np.linalg.norm(off_Q)):  # surely -G is psd: S = -G
        negative, off_S = -G, off_G
        Q, off_Q = 0 * Q, 0 * off_Q

    # the quadratic part, with the root of lam on either side: squares underflow late
    root = math.sqrt(lam)
    misfit = root * A - Q / root
    off_misfit = root * off_A + off_Q / root + 2 * EPS * (root * np.abs(A) + np.abs(Q) / root)
    overlap = A * negative
    quadratic, scale, paid = (_sum(M**2) / 2 for M in (misfit, root * A, Q / root))
    off_quadratic = _sum(np.abs(misfit) * off_misfit + off_misfit**2 / 2) + 4 * EPS * quadratic
    off_overlap = _sum(np.abs(A) * off_S + off_A * (np.abs(negative) + off_S) + EPS * np.abs(overlap))
    off_scale = _sum(lam * (np.abs(A) * off_A + off_A**2 / 2)) + 4 * EPS * scale
    off_paid = _sum((np.abs(Q) * off_Q + off_Q**2 / 2) / lam) + 4 * EPS * paid

    # the rows
    usable = N.usable
    D_u, off_u = up.distances(A, off_A)
    D_w, off_w = down.distances(A, off_A)
    nearest, furthest, off_D = np.full(n, np.inf), np.full(n, -np.inf), np.zeros((2, n))
    np.minimum.at(nearest, up.point, D_u)
    np.maximum.at(furthest, down.point, D_w)
    np.maximum.at(off_D[0], up.point, off_u)
    np.maximum.at(off_D[1], down.point, off_w)
    near, far, s = nearest[usable], furthest[usable], dual.s[usable]
    margin = 1 + far - near
    xi = np.maximum(0, margin)
    off_sum = 2 * EPS * (1 + np.abs(far) + np.abs(near))
    off_distances = off_D.sum(axis=0)[usable]
    off_margin = off_sum + off_distances
    active = margin > -off_margin  # or may be
    away_u = np.where(dual.u > 0, dual.u * (D_u - nearest[up.point]), 0.0)
    away_w = np.where(dual.w > 0, dual.w * (furthest[down.point] - D_w), 0.0)
    free = s < 1 / n  # at the bound the unpriced rest is exactly 0, and so is what it may be off by
    rows = [*((1 / n - s) * xi), *(s * (xi - margin)), *away_u, *away_w]

    gap = _fsum([quadratic, _sum(overlap), *rows])
    # a margin that is surely positive counts 1/n - s in the gap, one that is surely negative s
    sure = np.where(margin > off_margin, 1 / n - s, np.where(margin < -off_margin, s, 1 / n))
    rounding = off_quadratic + off_overlap + max(0.0, -_sum(overlap))
    rounding += float(dual.u @ off_u + dual.w @ off_w + off_distances[active].sum() / n + sure @ off_sum)
    rounding += (own + 4 * EPS) * _fsum(rows) + 2 * EPS * float(xi[free].sum()) / n + TINY
    objective, bound = scale + float(xi.sum()) / n, float(s.sum()) - paid
    value_rounding = n * EPS * (objective + float(s.sum()) + paid)
    value_rounding += max(off_scale + float(off_margin[active].sum()) / n, off_paid)
    if not math.isfinite(gap):
        # a difference of infinities is no number: the metric is absurd, and so is what it costs
        objective, scale = (value if math.isfinite(value) else math.inf for value in (objective, scale))
        return _Figures(objective, bound, math.inf, scale, 0.0, 0.0)
    return _Figures(objective, bound, gap, scale, 1.01 * rounding, 1.01 * value_rounding)


def _off_square(A: FloatArray) -> FloatArray:
    """How far some R R^T, which is psd whatever R is, may be from `A` (d, d), entry by entry.

    Eigenvectors of A with a unit diagonal find R: entries that are small because their features are large keep digits.
    """
    if not np.isfinite(A).all():
        return np.full(A.shape, np.inf)
    diagonal = np.diag(A)
    unit = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    values, vectors = np.linalg.eigh(A / unit / unit[:, None])
    R = unit[:, None] * vectors * np.sqrt(np.maximum(values, 0))
    square = R @ R.T
    off: FloatArray = np.abs(A - square) + (len(A) + 2) * EPS * (np.abs(R) @ np.abs(R).T)
    return off


def _sum(M: FloatArray) -> float:
    """The sum of the entries of a matrix, to the last digit."""
    return _fsum(M.ravel().tolist())


def _fsum(values: list[float]) -> float:
    return math.fsum(values) if all(map(math.isfinite, values)) else math.inf
