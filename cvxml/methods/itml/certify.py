"""The certificate of ITML: a lower bound from any lambda, and the gap of a metric to it. Numpy only.

Everything is computed free of units. With A_0 = C C^T, e_t = C^T (x_i - x_j) / sqrt(xi_0), M = C^-1 A C^-T and
q_t = lambda_t xi_0 / gamma, where the prior is I and every bound is 1, the two problems are

    objective = D_ld(M, I) + gamma sum_t phi(r_t),   phi(r) = r - 1 - log r,   r_t = e_t^T M e_t moved to the bound
                                                     1 where it keeps it: max(., 1) similar, min(., 1) dissimilar
    bound     = log det Z + gamma sum_S log(1 - q_t) + gamma sum_D log(1 + q_t),
                Z = I + gamma sum_S q_t e_t e_t^T - gamma sum_D q_t e_t e_t^T,   q >= 0, q_S < 1, Z positive definite.

Weak duality. tr M = tr(M Z) - gamma sum +-q_t e_t^T M e_t, so objective - bound is the sum of D_ld(M, Z^-1), of
gamma phi(r_t (1 - q_t)) and gamma q_t (r_t - e_t^T M e_t) over S, and of gamma phi(r_t (1 + q_t)) and
gamma q_t (e_t^T M e_t - r_t) over D: none of them is negative, whatever M and q.

Repair. lambda is clipped at 0 and (similar) below gamma / u; then t lambda is taken for the t that makes the bound
largest, a concave function of one number on the interval where Z and 1 - t q stay positive: t = 0 gives the bound 0.

Radius. objective - optimum >= D_ld(A, A*) (the rest is convex). With w_i the logarithms of the eigenvalues of A*
relative to A this is sum_i (w_i + e^-w_i - 1) <= gap, and ||A - A*|| <= ||A||_2 ||e^w - 1||. The ratio of
(e^w - 1)^2 to w + e^-w - 1 grows with w, so the worst is one w that takes the whole gap: radius = ||A||_2 (e^w - 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from cvxml.inputs import real_array
from cvxml.methods.itml.instance import Instance
from cvxml.metric import FloatArray, examine
from cvxml.result import Certificate, Dual

EPS = float(np.finfo(float).eps)
BLOCK = 50_000  # pairs at a time
NAMES = ("lam_S", "lam_D")
BELOW_ONE = 1 - 1e-6  # what a price of a similar pair at or beyond its limit gamma / u becomes
MOST = 1e100  # q beyond this is as good as infinite
UNMOVED = 1e-6  # times d: the least scale, for problems whose optimum is the prior, where the objective is 0


def certify(p: Instance, A: FloatArray, dual: Dual) -> Certificate:
    """Certificate of the metric `A` (d, d) from dual variables `dual`.

    dual: "lam_S" and "lam_D", one number a similar and a dissimilar pair, in their order; any but NaN. A slightly
    infeasible `A` is judged as P_+(A), and the radius grows by the distance between the two; a singular one has an
    infinite objective. Raises ValueError for arrays of another shape.
    """
    rows = _Rows(p)
    q = np.concatenate([_prices(dual, name, p, k) for k, name in enumerate(NAMES)])
    psd, feasibility = examine(A)
    with np.errstate(all="ignore"):  # an absurd metric or price gives an infinite objective or the bound 0
        below = _bound(rows, q)
        above = _objective(rows, psd)
    rounding = 64 * EPS * (above.size + below.size)
    bound = below.value
    if above.value < bound <= above.value + rounding:  # equal, but for rounding
        bound = above.value
    gap = above.value - bound
    u, l = p.bounds  # noqa: E741
    n_S = len(p.pairs.similar)
    return Certificate(
        kind="global",
        objective=above.value,
        lower_bound=bound,
        gap=gap,
        scale=max(abs(above.value), UNMOVED * len(A)),
        rounding=rounding,
        radius=_radius(psd, gap + rounding) + feasibility.distance,
        feasibility=feasibility,
        dual={"lam_S": below.q[:n_S] * (p.gamma / u), "lam_D": below.q[n_S:] * (p.gamma / l)},
    )


def _prices(dual: Dual, name: str, p: Instance, k: int) -> FloatArray:
    """q = lambda xi_0 / gamma of one kind of pair, clipped."""
    if not isinstance(dual, Mapping) or name not in dual:
        raise ValueError(f'the dual must be a mapping with "lam_S" and "lam_D"; there is no {name!r}')
    lam, count = real_array(dual[name], f"dual {name!r}"), len(p.pairs[k])
    if lam.shape != (count,):
        raise ValueError(f"dual {name!r} must be one number for each of {count} pairs, got shape {lam.shape}")
    if np.isnan(lam).any():
        raise ValueError(f"dual {name!r} holds NaN")
    with np.errstate(over="ignore"):
        q: FloatArray = np.clip(lam, 0, np.finfo(float).max) * (p.bounds[k] / p.gamma)
    return np.where(q >= 1, BELOW_ONE, q) if k == 0 else np.minimum(q, MOST)


class _Rows:
    """The rows e_t of an instance, free of units, a block at a time."""

    def __init__(self, p: Instance):
        self.p, self.C = p, np.linalg.cholesky(p.prior)
        self.count = len(p.pairs.similar) + len(p.pairs.dissimilar)
        self.similar = np.arange(self.count) < len(p.pairs.similar)
        self.index = np.concatenate([p.pairs.similar, p.pairs.dissimilar])
        self.root = np.sqrt(p.xi_0)

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Where, the rows e_t (t, d), and for rounding the same summed without signs."""
        for start in range(0, self.count, BLOCK):
            at = slice(start, start + BLOCK)
            i, j = self.index[at].T
            x = (self.p.X[i] - self.p.X[j]) / self.root[at, None]
            yield at, x @ self.C, np.abs(x) @ np.abs(self.C)


class _Above(NamedTuple):
    value: float
    size: float  # what rounding is a share of


class _Below(NamedTuple):
    value: float
    size: float
    q: FloatArray  # repaired


def _objective(rows: _Rows, A: FloatArray) -> _Above:
    """The objective at a psd A (d, d); inf where A, relative to the prior, is singular."""
    p, d = rows.p, len(A)
    C_inverse = solve_triangular(rows.C, np.eye(d), lower=True)
    M = C_inverse @ A @ C_inverse.T
    M = (M + M.T) / 2
    root = np.sqrt(np.maximum(M.diagonal(), 0))
    if not (np.isfinite(M).all() and root.all() and _least(M, root) > 64 * EPS * d):
        return _Above(math.inf, 0.0)
    L = np.linalg.cholesky(M)
    off = np.abs(np.eye(d) - np.linalg.inv(M))  # the derivative of D_ld, by which the rounding of M counts
    D_ld = float(np.sum(_phi(L.diagonal() ** 2)) + np.sum(np.tril(L, -1) ** 2))
    size = D_ld + float(
        root @ off @ root + np.sum(off * (np.abs(C_inverse) @ np.abs(A) @ np.abs(C_inverse.T)))
    )
    parts = [D_ld]
    for at, e, unsigned in rows.blocks():
        distance = np.sum((e @ L) ** 2, axis=1)
        r = np.where(rows.similar[at], np.maximum(distance, 1), np.minimum(distance, 1))
        parts.append(p.gamma * float(np.sum(_phi(r))))
        slope = np.abs(1 - 1 / r)
        size += p.gamma * float(np.sum(_phi(r)) + slope @ (unsigned @ root) ** 2)
    value = math.fsum(parts) if all(map(math.isfinite, parts)) else math.inf
    return _Above(value, size if math.isfinite(value + size) else 0.0)


def _bound(rows: _Rows, q: FloatArray) -> _Below:
    """The value of the repaired dual, at least 0."""
    gamma, d, S = rows.p.gamma, len(rows.C), rows.similar
    q = q.copy()
    W, unsigned = np.zeros((d, d)), np.zeros((d, d))
    for at, e, sizes in rows.blocks():
        q[at][~sizes.any(axis=1)] = 0.0  # similar twins keep any bound: a price on them only costs
        W += e.T @ (np.where(S[at], q[at], -q[at])[:, None] * e) * gamma
        unsigned += sizes.T @ (q[at][:, None] * sizes) * gamma
    nothing = _Below(0.0, 0.0, 0 * q)
    if not (np.isfinite(W).all() and W.any()):
        return nothing
    t = _multiple(np.asarray(np.linalg.eigvalsh(W), dtype=np.float64), q[S], q[~S], gamma)
    for _ in range(60):
        Z = np.eye(d) + t * W
        root = np.sqrt(np.maximum(Z.diagonal(), 0))
        if root.all() and _least(Z, root) > EPS * d:
            break
        t *= 0.9
    else:
        return nothing
    logs = np.log(np.linalg.cholesky(Z).diagonal() ** 2)
    at_S, at_D = t * q[S], t * q[~S]
    prices = np.sum(np.log1p(-at_S)), np.sum(np.log1p(at_D))
    value = float(logs.sum()) + gamma * float(prices[0] + prices[1])
    inverse = np.abs(np.linalg.inv(Z))
    size = float(np.abs(logs).sum() + root @ inverse @ root + np.sum(inverse * t * unsigned))
    size += gamma * float(np.sum(at_S / (1 - at_S)) - prices[0] + prices[1])
    return _Below(value, size, t * q) if value > 0 and math.isfinite(size) else nothing


def _multiple(w: FloatArray, q_S: FloatArray, q_D: FloatArray, gamma: float) -> float:
    """t >= 0 with the largest  sum log(1 + t w) + gamma sum log(1 - t q_S) + gamma sum log(1 + t q_D),  concave."""

    def value(t: float) -> float:
        costs = np.sum(np.log1p(-t * q_S)) + np.sum(np.log1p(t * q_D))
        return float(np.sum(np.log1p(t * w)) + gamma * costs)

    def slope(t: float) -> float:
        costs = np.sum(q_D / (1 + t * q_D)) - np.sum(q_S / (1 - t * q_S))
        return float(np.sum(w / (1 + t * w)) + gamma * costs)

    low, high = 0.0, 1 / max(-w[0], q_S.max(initial=0.0))
    end = high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        if high - low <= 1e-13 * high:
            break
    # prices that are as good as the best multiple of them stay as they are
    return 1.0 if end > 1 and value(1.0) >= value(low) * (1 - 1e-13) else low


def _least(S: FloatArray, root: FloatArray) -> float:
    """The least eigenvalue of S (d, d) scaled to unit diagonal; root: that of its diagonal."""
    return float(np.linalg.eigvalsh(S / root[:, None] / root)[0])


def _phi(r: FloatArray) -> FloatArray:
    """r - 1 - log r, with its digits near r = 1 as well as near 0."""
    off = r - 1
    values: FloatArray = off - np.where(np.abs(off) < 0.5, np.log1p(np.maximum(off, -0.5)), np.log(r))
    return values


def _radius(A: FloatArray, gap: float) -> float:
    """||A||_2 (e^w - 1) for the w > 0 with w + e^-w - 1 = gap; Newton from above stays above."""
    if not gap < 700:
        return math.inf
    w = gap + math.sqrt(2 * gap)
    for _ in range(100):
        step = (w + math.expm1(-w) - gap) / -math.expm1(-w) if w > 0 else 0.0
        if step <= 1e-15 * w:
            break
        w -= step
    return float(np.linalg.norm(A, 2)) * math.expm1(w)
