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

Rounding. C is what Cholesky's method returns, and is exact: C C^T = A_0 is not, it is off by (d + 2) eps |C| |C|^T.
With A_0 = C (I + E) C^T, |E| <= (d + 2) eps K K^T for K = |C^-1| |C|: what the condition of the prior does. Then
    D_ld(A, A_0) = D_ld(M, I + E),        log det(A_0 Z) = log det(I + (I + E) W),  W = Z - I above,
which differ from what is computed by tr E (I - M) and tr E (I - Z^-1), but for squares of E. That ||E|| < 1, and the
same of all that rounding does to M and Z, is the proof that the prior, M and Z are positive definite. Where it is not
to be had the certificate says that it decides nothing.

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
from cvxml.squares import is_singular
from cvxml.symmetric import quadratic

EPS = float(np.finfo(float).eps)
BLOCK = 4096  # pairs at a time: the fewer, the less a sum of so many can be off
PRIOR = "the prior is so near to singular that it is not known in double precision what is proved"
METRIC = (
    "the metric is so near to singular, beside the prior, that double precision does not know its objective"
)
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
    psd, feasibility = examine(A, p.X)
    with np.errstate(all="ignore"):  # an absurd metric or price gives an infinite objective or the bound 0
        below = _bound(rows, q)
        above = _objective(rows, psd)
    rounding = above.off + below.off
    bound = below.value
    if above.value < bound <= above.value + rounding:  # equal, but for rounding
        bound = above.value
    gap = above.value - bound
    u, l = p.bounds  # noqa: E741
    n_S = len(p.pairs.similar)
    undecided = PRIOR if not rows.beyond < 0.5 else "" if math.isfinite(rounding) else METRIC
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
        undecided=undecided,
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
    """The rows e_t of an instance, free of units, a block at a time, and what is known of the prior."""

    def __init__(self, p: Instance):
        self.p, self.C = p, np.linalg.cholesky(p.prior)
        d = len(self.C)
        self.count = len(p.pairs.similar) + len(p.pairs.dissimilar)
        self.similar = np.arange(self.count) < len(p.pairs.similar)
        self.index = np.concatenate([p.pairs.similar, p.pairs.dissimilar])
        self.root = np.sqrt(p.xi_0)
        self.few = (d + 4) * EPS
        self.inverse = solve_triangular(self.C, np.eye(d), lower=True)
        # of a triangular inverse, entry by entry, off by (d + 1) eps times |C^-1| |C| |C^-1|
        self.K = np.abs(self.inverse) @ np.abs(self.C)
        self.K = self.K @ (np.eye(d) + 4 * self.few * self.K)
        self.E = self.few * self.K @ self.K.T
        self.beyond = float(
            np.linalg.norm(self.E)
        )  # of ||E||: from 1 on the prior is not proved positive definite

    def blocks(self) -> Iterator[tuple[slice, FloatArray, FloatArray, FloatArray]]:
        """Where, x_t, the rows e_t (t, d), and for rounding these summed without signs."""
        for start in range(0, self.count, BLOCK):
            at = slice(start, start + BLOCK)
            i, j = self.index[at].T
            x = (self.p.X[i] - self.p.X[j]) / self.root[at, None]
            yield at, x, x @ self.C, np.abs(x) @ np.abs(self.C)


class _Above(NamedTuple):
    value: float
    off: float  # by which rounding may have moved it; inf where that is not known


class _Below(NamedTuple):
    value: float
    off: float
    q: FloatArray  # repaired


class _Moved(NamedTuple):
    """A matrix of floats that may be off."""

    inverse: FloatArray  # without signs, at least
    from_one: FloatArray  # |I - inverse|, at least
    log_det: float
    off: float  # what that may be off by


def _moved(S: FloatArray, off: FloatArray) -> _Moved | None:
    """For S (d, d) that may be off by `off`, entry by entry; None where it is not proved positive definite."""
    d = len(S)
    root = np.sqrt(np.maximum(S.diagonal(), 0))
    if not (np.isfinite(S).all() and root.all() and _least(S, root) > EPS * d):
        return None
    try:
        L = np.linalg.cholesky(S)
    except np.linalg.LinAlgError:
        return None
    whitening = solve_triangular(L, np.eye(d), lower=True)
    inverse = whitening.T @ whitening
    few = (d + 4) * EPS
    # L L^T is off by few |L| |L|^T at most
    off = off + few * np.abs(L) @ np.abs(L).T
    beyond = np.abs(whitening) @ off @ np.abs(whitening).T
    missing = np.linalg.norm(whitening @ S @ whitening.T - np.eye(d))
    missing += np.linalg.norm(3 * few * np.abs(whitening) @ np.abs(S) @ np.abs(whitening).T)
    share = float(missing + np.linalg.norm(beyond))
    if not share < 0.5:
        return None
    # the true inverse is W^T (I + E)^-1 W with ||E|| <= share
    lengths = np.linalg.norm(whitening, axis=0)
    wrong = (share / (1 - share) + 2 * few) * np.outer(lengths, lengths)
    logs = np.log(L.diagonal() ** 2)
    log_off = float(np.sum((np.abs(inverse) + wrong) * off) + share**2) + 4 * few * float(np.abs(logs).sum())
    return _Moved(np.abs(inverse) + wrong, np.abs(np.eye(d) - inverse) + wrong, float(logs.sum()), log_off)


def _objective(rows: _Rows, A: FloatArray) -> _Above:
    """The objective at a psd A (d, d); inf where A is singular, and where double precision does not know if it is."""
    p, d, few = rows.p, len(A), rows.few
    M = rows.inverse @ A @ rows.inverse.T
    M = (M + M.T) / 2
    root = np.sqrt(np.maximum(M.diagonal(), 0))
    if not np.isfinite(M).all():
        return _Above(math.inf, 0.0)
    if not (root.all() and _least(M, root) > 64 * EPS * d):
        return _Above(math.inf, 0.0 if is_singular(A) else math.inf)
    size = np.abs(rows.inverse) @ np.abs(A) @ np.abs(rows.inverse).T
    M_off = few * (rows.K @ size + size @ rows.K.T + 2 * size)
    known = _moved(M, M_off)
    L = np.linalg.cholesky(M)
    D_ld = float(np.sum(_phi(L.diagonal() ** 2)) + np.sum(np.tril(L, -1) ** 2))
    parts, off = [D_ld], math.inf
    if known is not None and rows.beyond < 0.5:
        # of D_ld(M, I): its derivative is I - M^-1; Cholesky's method is off like M is
        rounded = M_off + 2 * few * np.abs(L) @ np.abs(L).T
        ridge = np.sum(known.from_one * rounded) + 2 * np.sum(known.inverse * rounded) ** 2
        # of D_ld(M, I + E) beside it; tr M is no less than ||M||, whose squares may overflow
        prior = np.sum(rows.E * (np.abs(np.eye(d) - M) + M_off)) + 4 * rows.beyond**2 * (1 + np.trace(M))
        off = float(ridge + prior) + 4 * few * D_ld
    for at, x, _, _ in rows.blocks():
        r, r_off = quadratic(x, A), 2 * few * quadratic(np.abs(x), np.abs(A))
        kept, low, high = (_kept(each, rows.similar[at]) for each in (r, r - r_off, r + r_off))
        slack = _phi(kept)
        parts.append(p.gamma * math.fsum(slack.tolist()))
        slope = np.maximum(np.abs(1 - 1 / low), np.abs(1 - 1 / high))
        wrong = np.where(low > 0, (high - low) * slope, np.inf) + 8 * EPS * (slack + np.abs(kept - 1))
        off += p.gamma * math.fsum(wrong.tolist())
    value = math.fsum(parts) if all(map(math.isfinite, parts)) else math.inf
    return _Above(value, off if math.isfinite(value) else 0.0)


def _kept(r: FloatArray, similar: np.ndarray) -> FloatArray:
    """Distances moved to the bound 1 where they keep it."""
    return np.where(similar, np.maximum(r, 1), np.minimum(r, 1))


def _bound(rows: _Rows, q: FloatArray) -> _Below:
    """The value of the repaired dual, at least 0."""
    gamma, d, S = rows.p.gamma, len(rows.C), rows.similar
    q = q.copy()
    W, unsigned = np.zeros((d, d)), np.zeros((d, d))
    for at, _, e, sizes in rows.blocks():
        q[at][~sizes.any(axis=1)] = 0.0  # similar twins keep any bound: a price on them only costs
        W += e.T @ (np.where(S[at], q[at], -q[at])[:, None] * e) * gamma
        unsigned += sizes.T @ (q[at][:, None] * sizes) * gamma
    nothing = _Below(0.0, 0.0, 0 * q)
    if not (np.isfinite(W).all() and W.any() and rows.beyond < 0.5):
        return nothing
    W_off = (min(rows.count, BLOCK) + rows.count / BLOCK + 2 * d + 16) * EPS * unsigned
    t = _multiple(np.asarray(np.linalg.eigvalsh(W), dtype=np.float64), q[S], q[~S], gamma)
    E = rows.E / (1 - rows.beyond)
    for _ in range(60):
        Z = np.eye(d) + t * W
        known = _moved(Z, t * W_off + 2 * EPS * np.abs(Z) + E)
        if known is not None:
            break
        t *= 0.9
    else:
        return nothing
    Z_off = t * W_off + 2 * EPS * np.abs(Z) + 2 * rows.few * np.sqrt(np.outer(Z.diagonal(), Z.diagonal()))
    off = float(
        np.sum(known.inverse * Z_off) + np.sum(known.from_one * E) + np.sum(known.inverse * (Z_off + E)) ** 2
    )
    off += 2 * rows.beyond**2 * float(1 + np.linalg.norm(known.inverse))
    at_S, at_D = t * q[S], t * q[~S]
    prices = [gamma * math.fsum(np.log1p(each).tolist()) for each in (-at_S, at_D)]
    value = math.fsum([known.log_det, *prices])
    off += 8 * EPS * (abs(known.log_det) + prices[1] - prices[0])
    return _Below(value, off, t * q) if value > 0 and math.isfinite(off) else nothing


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
