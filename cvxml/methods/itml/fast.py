"""The fast solver of ITML: Newton's method on the metric alone, the prices read off it.

With A_0 = C C^T and v_t = C^T (x_i - x_j) / sqrt(xi_0) the metric is A = C M C^T, and eliminating xi leaves
    F(M) = tr M - log det M - d + gamma sum_t phi(D_t),   D_t = v_t^T M v_t,   phi(D) = D - 1 - log D,
over the violated pairs, those with D > 1 (similar) or D < 1 (dissimilar): convex, with a continuous derivative, and
-log det keeps M positive definite. Around M = G G^T, with M' = G (I + V) G^T and unit vectors u_t along G^T v_t,
    gradient  G^T G - I + gamma sum_t (D_t - 1) u_t u_t^T,      Hessian  V -> V + gamma sum_t (u_t^T V u_t) u_t u_t^T.
A Newton step that is not almost right already is followed by a search along it, exact to a tenth: along a line
everything is a sum of logarithms. With gamma times 15 000 pairs against one log det the optimum is near the boundary of
the cone, and Newton's method from far away creeps along it. So gamma grows from where the prior is nearly optimal,
whenever the decrement is below 1, by as much as leaves all eigenvalues of the next V below 1, ten times at most: the
path of an interior point method, log det its barrier and 1 / gamma its weight. At the last gamma no pair changes sides
any more, and convergence is quadratic.

Where M is the metric and q_t = |1 - 1/D_t| the prices, the gap is sum phi(1 + eigenvalues of the gradient).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from cvxml.convex import Callback, Found, Keep
from cvxml.methods.itml.instance import Instance
from cvxml.metric import FloatArray
from cvxml.result import Dual, Status, Step
from cvxml.symmetric import quadratic, smat, squares, svec, weighted

BLOCK = 8192  # pairs at a time, where their squares are needed
MOST_SQUARE = 300  # entries of V for which the Hessian is formed; beyond, conjugate gradients were faster
MOST_PAIRS = 1500  # violated pairs for which their Gram matrix is, if they are fewer than these entries
ENOUGH = 0.1  # of the slope at the start may be left at the end of a search
GROWTH = 10.0  # of gamma, at most
LEAST_GROWTH = 1.1  # about
WITHIN = 1.0  # eigenvalues of V below this are a small step
NEAR = 1.0  # a decrement, or a gap, below this is near the optimum
SURPLUS = 0.1  # of tol: what is asked of the solver's own gap
UNMOVED = 1e-6  # times d: the least scale


class Pairs(NamedTuple):
    """The pairs free of units, in coordinates that may leave out what no pair shows, and the weight of their slack."""

    v: FloatArray  # (t, k)
    similar: NDArray[np.bool_]  # (t,)
    gamma: float


class State(NamedTuple):
    """Everything at a metric M = G G^T (k, k)."""

    G: FloatArray
    D: FloatArray  # (t,)
    u: FloatArray  # (violated, k), unit vectors
    own: FloatArray  # (k, k), the part of the gradient without gamma
    slack: FloatArray  # (k, k), the part that gamma weighs
    objective: float
    gap: float


def fast(
    p: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback, keep: Keep
) -> Found:
    """The metric (d, d) and its prices. start: a psd matrix (d, d), used if it is near the optimum already."""
    C = _cholesky(p.prior)
    basis, pairs = _coordinates(p, C)
    began, status = time.perf_counter(), Status.MAX_ITER
    history: list[Step] = []
    at, gamma = _start(pairs, C, basis, start)
    for iteration in range(max_iter + 1):
        below = max(0.0, at.objective - at.gap)
        step = Step(
            iteration,
            time.perf_counter() - began,
            at.objective,
            below,
            at.objective - below,
            f"gamma {gamma:.3g}",
        )
        history.append(step)
        keep(_outside(at, C, basis), _prices(p, at.D))
        if callback is not None:
            callback(step)
        if step.gap <= SURPLUS * tol * max(at.objective, UNMOVED * len(C)):
            status = Status.CONVERGED
            break
        if iteration == max_iter:
            break
        before = at
        try:
            G, gamma = _newton(pairs, at, gamma)
            at = _state(pairs, G)
        except np.linalg.LinAlgError:  # a factorisation that rounding does not allow
            status = Status.STALLED
            break
        if gamma == p.gamma and at.objective >= before.objective and at.gap >= before.gap:
            status = Status.STALLED
            break
    return Found(_outside(at, C, basis), _prices(p, at.D), status, iteration, tuple(history))


def _outside(at: State, C: FloatArray, basis: FloatArray | None) -> FloatArray:
    """The metric (d, d); what no pair shows stays as in the prior."""
    M = at.G @ at.G.T
    if basis is not None:
        M = np.eye(len(C)) + basis @ (M - np.eye(len(M))) @ basis.T
    A: FloatArray = C @ M @ C.T
    return (A + A.T) / 2


def _prices(p: Instance, D: FloatArray) -> Dual:
    """lambda = gamma / xi_0 times 1 - 1 / D (similar) or 1 / D - 1 (dissimilar), where that is positive."""
    n_S, (u, l) = len(p.pairs.similar), p.bounds  # noqa: E741
    with np.errstate(divide="ignore"):  # of similar twins
        return {
            "lam_S": p.gamma / u * np.maximum(1 - 1 / D[:n_S], 0),
            "lam_D": p.gamma / l * np.maximum(1 / D[n_S:] - 1, 0),
        }


def _coordinates(p: Instance, C: FloatArray) -> tuple[FloatArray | None, Pairs]:
    """An orthonormal basis (d, k) of what the pairs show, None for all of it, and the pairs in it."""
    i, j = np.concatenate([p.pairs.similar, p.pairs.dissimilar]).T
    v = (p.X[i] - p.X[j]) / np.sqrt(p.xi_0)[:, None] @ C
    similar = np.arange(len(v)) < len(p.pairs.similar)
    few = min(len(v), len(p.X) - 1)
    if few >= len(C) or few == 0:
        return None, Pairs(v, similar, p.gamma)
    spanned = v if len(v) <= len(p.X) else (p.X - p.X[0])[1:] @ C
    basis = np.linalg.qr((spanned / np.linalg.norm(spanned, axis=1).max(initial=1e-300)).T)[0]
    return basis, Pairs(v @ basis, similar, p.gamma)


def _start(
    pairs: Pairs, C: FloatArray, basis: FloatArray | None, start: FloatArray | None
) -> tuple[State, float]:
    """The start if it is near the optimum, and gamma; else the prior, and a gamma for which that is nearly so."""
    if start is not None:
        M = np.linalg.solve(C, np.linalg.solve(C, start).T)
        M = M if basis is None else basis.T @ M @ basis
        if np.linalg.eigvalsh(M)[0] > 0:
            at = _state(pairs, _cholesky((M + M.T) / 2))
            if at.gap <= NEAR:
                return at, pairs.gamma
    at = _state(pairs, np.eye(pairs.v.shape[1]))
    return at, min(pairs.gamma, 1 / max(float(np.linalg.norm(at.slack)), 1e-200))


def _state(pairs: Pairs, G: FloatArray) -> State:
    e = pairs.v @ G
    D = np.sum(e**2, axis=1)
    violated = np.where(pairs.similar, D > 1, D < 1)
    u, w = e[violated] / np.sqrt(D[violated])[:, None], D[violated] - 1
    own, slack = G.T @ G - np.eye(len(G)), weighted(u, w)
    objective = float(np.sum(_phi(G.diagonal() ** 2)) + np.sum(np.tril(G, -1) ** 2))
    objective += pairs.gamma * float(np.sum(_phi(D[violated])))
    values = np.linalg.eigvalsh(own + pairs.gamma * slack)
    gap = float(np.sum(values - np.log1p(values))) if values[0] > -1 else np.inf
    return State(G, D, u, own, slack, objective, gap)


def _newton(pairs: Pairs, at: State, gamma: float) -> tuple[FloatArray, float]:
    """G (k, k) after one step; and its gamma: the same, or, where the decrement is small, a larger one.

    It grows by `GROWTH`, or by a root of that for which the step from here stays small.
    """
    V, decrement = _step(at, gamma)
    if gamma < pairs.gamma and decrement < NEAR:
        growth = GROWTH
        while True:
            larger = min(pairs.gamma, growth * gamma)
            V, _ = _step(at, larger)
            if np.abs(np.linalg.eigvalsh(V)).max() < WITHIN or growth < LEAST_GROWTH:
                break
            growth = float(np.sqrt(growth))
        gamma = larger
    return _moved(pairs, at, V, gamma), gamma


def _step(at: State, gamma: float) -> tuple[FloatArray, float]:
    """The Newton step V (k, k) and the decrement."""
    gradient = at.own + gamma * at.slack
    V = _solved(at.u, -gradient, gamma)
    return V, -float(np.sum(V * gradient))


def _solved(f: FloatArray, g: FloatArray, gamma: float) -> FloatArray:
    """V (k, k) with V + gamma sum_t (f_t^T V f_t) f_t f_t^T = g, by the smallest system there is."""
    k = len(g)
    entries = k * (k + 1) // 2
    if len(f) < entries and len(f) <= MOST_PAIRS:  # (I + gamma F^T F)^-1, the rows of F being svec(f f^T)
        inner = (f @ f.T) ** 2 + np.eye(len(f)) / gamma
        y = cho_solve(cho_factor(inner, lower=True), quadratic(f, g)) if len(f) else np.zeros(0)
        return g - weighted(f, y)
    if entries <= MOST_SQUARE:
        H = np.eye(entries)
        for start in range(0, len(f), BLOCK):
            F = squares(f[start : start + BLOCK])
            H += gamma * (F.T @ F)
        return smat(cho_solve(cho_factor(H, lower=True), svec(g)), k)

    def product(vector: FloatArray) -> FloatArray:
        V = smat(np.ravel(vector), k)
        return svec(V + gamma * weighted(f, quadratic(f, V)))

    rtol = min(0.1, float(np.linalg.norm(g)))
    operator = LinearOperator((entries, entries), matvec=product, dtype=float)
    return smat(cg(operator, svec(g), rtol=rtol, maxiter=10 * k)[0], k)


def _moved(pairs: Pairs, at: State, V: FloatArray, gamma: float) -> FloatArray:
    """The G' of G (I + t V) G^T, the step t being 1 if that is almost right, else where F is least along V."""
    along = np.linalg.eigvalsh(V)
    change = quadratic(pairs.v @ at.G, V)
    trace = float(np.sum((at.G @ V) * at.G))

    def slope(t: float) -> float:
        D = at.D + t * change
        active = np.where(pairs.similar, D > 1, D < 1)
        with np.errstate(divide="ignore"):
            slack = float(np.sum((1 - 1 / D[active]) * change[active]))
        return trace - float(np.sum(along / (1 + t * along))) + gamma * slack

    first = slope(0.0)
    end = -1 / along[0] if along[0] < 0 else np.inf
    low, high = 0.0, min(1.0, end)
    if end > 1:
        while high < 1e100 and slope(high) < ENOUGH * first:
            low, high = high, min(2 * high, (high + end) / 2)
    t = high
    for _ in range(200):
        value = slope(t) if t < end else np.inf
        if abs(value) <= ENOUGH * abs(first):
            break
        low, high = (t, high) if value < 0 else (low, t)
        t = (low + high) / 2 if low > 0 or high > 0.5 else high / 4
    L: FloatArray = at.G @ _cholesky(np.eye(len(V)) + t * V)
    return L


def _cholesky(S: FloatArray) -> FloatArray:
    """L lower triangular with L L^T = S (d, d)."""
    return np.asarray(np.linalg.cholesky(S), dtype=np.float64)


def _phi(D: FloatArray) -> FloatArray:
    """D - 1 - log D, without loss near 1."""
    w = D - 1
    near = np.abs(w) < 0.1
    values: FloatArray = w - np.log(D)
    values[near] = w[near] - np.log1p(w[near])
    return values
