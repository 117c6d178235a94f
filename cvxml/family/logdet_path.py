"""How a metric is found for a log det divergence and bounded distances, ITML's kind: Newton's method.

With A_0 = C C^T and v_t = C^T (x_i - x_j) / sqrt(bound) the metric is A = C M C^T, which minimises
    F(M) = tr M - log det M - d + gamma sum_t phi(D_t),   D_t = v_t^T M v_t,   phi(D) = D - 1 - log D,
over the violated rows, those with D > 1 (similar pairs) or D < 1 (dissimilar): convex, its derivative continuous, and
-log det keeps M positive definite. Around M = G G^T, with M' = G (I + V) G^T and unit vectors u_t along G^T v_t,
    gradient  G^T G - I + gamma sum_t (D_t - 1) u_t u_t^T,      Hessian  V -> V + gamma sum_t (u_t^T V u_t) u_t u_t^T.
A Newton step that is not almost right already is followed by a search along it, exact to a tenth: along a line
everything is a sum of logarithms. With gamma times 15 000 pairs against one log det the optimum is near the boundary of
the cone, and Newton's method from far away creeps along it. So gamma grows from where the prior is nearly optimal,
whenever the decrement is below 1, by as much as leaves all eigenvalues of the next V below 1, ten times at most: the
path of an interior point method, log det its barrier and 1 / gamma its weight. At the last gamma no pair changes sides
any more, and convergence is quadratic.

The prices are gamma (1/D_t - 1); with them the gap at M is sum phi(1 + eigenvalues of the gradient).
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual
from cvxml.core.run import Callback, Found, Start, run
from cvxml.family.bound import Family
from cvxml.family.logdet import LogDet
from cvxml.family.losses import Bounded
from cvxml.family.rows import PairRows, Prices
from cvxml.family.search import Named, Prove
from cvxml.family.symmetric import quadratic, smat, squares, svec, weighted

BLOCK = 512  # pairs at a time, where their squares are needed: they stay in the cache
MOST_SQUARE = 300  # entries of V for which the Hessian is formed; beyond, conjugate gradients were faster
MOST_PAIRS = 1500  # violated pairs for which their Gram matrix is, if they are fewer than these entries
ENOUGH = 0.1  # of the slope at the start may be left at the end of a search
GROWTH = 10.0  # of gamma, at most
LEAST_GROWTH = 1.1  # about
WITHIN = 1.0  # eigenvalues of V below this are a small step
NEAR = 1.0  # a decrement, or a gap, below this is near the optimum


class Free(NamedTuple):
    """The rows free of units, in coordinates that may leave out what no pair shows, and the weight of their slack."""

    v: FloatArray  # (t, k)
    similar: NDArray[np.bool_]  # (t,)
    gamma: float


class Curvature:
    """V -> V + gamma sum_t (f_t^T V f_t) f_t f_t^T for unit vectors f (t, k): what gamma does not change, once."""

    def __init__(self, f: FloatArray):
        self.f = f

    @cached_property
    def gram(self) -> FloatArray:
        """F F^T, the rows of F being svec(f f^T)."""
        inner: FloatArray = (self.f @ self.f.T) ** 2
        return inner

    @cached_property
    def total(self) -> FloatArray:
        """F^T F"""
        entries = self.f.shape[1] * (self.f.shape[1] + 1) // 2
        H = np.zeros((entries, entries))
        for start in range(0, len(self.f), BLOCK):
            F = squares(self.f[start : start + BLOCK])
            H += F.T @ F
        return H

    def solved(self, g: FloatArray, gamma: float) -> FloatArray:
        """The V (k, k) that becomes g, by the smallest system there is."""
        f, k = self.f, len(g)
        entries = k * (k + 1) // 2
        if len(f) < entries and len(f) <= MOST_PAIRS:  # (I + gamma F^T F)^-1
            inner = self.gram + np.eye(len(f)) / gamma
            y = cho_solve(cho_factor(inner, lower=True), quadratic(f, g)) if len(f) else np.zeros(0)
            return g - weighted(f, y)
        if entries <= MOST_SQUARE:
            H = np.eye(entries) + gamma * self.total
            return smat(cho_solve(cho_factor(H, lower=True), svec(g)), k)

        def product(vector: FloatArray) -> FloatArray:
            V = smat(np.ravel(vector), k)
            return svec(V + gamma * weighted(f, quadratic(f, V)))

        rtol = min(0.1, float(np.linalg.norm(g)))
        operator = LinearOperator((entries, entries), matvec=product, dtype=float)
        return smat(cg(operator, svec(g), rtol=rtol, maxiter=10 * k)[0], k)


class State(NamedTuple):
    """Everything at a metric M = G G^T (k, k)."""

    G: FloatArray
    D: FloatArray  # (t,)
    curvature: Curvature  # of the violated rows
    own: FloatArray  # (k, k), the part of the gradient without gamma
    slack: FloatArray  # (k, k), the part that gamma weighs
    objective: float
    gap: float


class LogDetPath:
    """D_ld(M, A_0) and bounds on distances, from above or below. start: a psd matrix (d, d), if it may be near."""

    def __init__(self, family: Family, named: Named, start: FloatArray | None):
        assert isinstance(family.regularizer, LogDet)
        self.family, self.named, self.C = family, named, family.regularizer.C
        self.basis, self.rows = _coordinates(family, self.C)
        self.at, self.gamma = _start(self.rows, self.C, self.basis, start)

    def metric(self) -> FloatArray:
        """(d, d); what no row shows stays as in the prior."""
        M, C = self.at.G @ self.at.G.T, self.C
        if self.basis is not None:
            M = np.eye(len(C)) + self.basis @ (M - np.eye(len(M))) @ self.basis.T
        A: FloatArray = C @ M @ C.T
        return (A + A.T) / 2

    def dual(self) -> Dual:
        """gamma (1 / D - 1) where a bound is violated, by its names."""
        rows, a = self.rows, self.rows.gamma * (1 / self.at.D - 1)
        a = np.where(rows.similar, np.minimum(a, 0), np.maximum(a, 0))
        counts = [len(_pairs(term.rows).listed) for term in self.family.terms]
        each = np.split(a, np.cumsum(counts)[:-1])
        return self.named(*(Prices(part, np.arange(len(part))) for part in each))

    def step(self) -> bool:
        """False where rounding allows none, or nothing is won by it."""
        before = self.at
        try:
            G, self.gamma = _newton(self.rows, before, self.gamma)
            self.at = _state(self.rows, G)
        except np.linalg.LinAlgError:  # a factorisation that rounding does not allow
            return False
        worse = self.at.objective >= before.objective and self.at.gap >= before.gap
        return self.gamma < self.rows.gamma or not worse


def search(
    family: Family,
    prove: Prove,
    named: Named,
    tol: float,
    max_iter: int,
    start: Start | None,
    callback: Callback,
) -> Found:
    """Solve to a gap of `tol`, certified after every step; the arguments are those of search.py."""
    at = LogDetPath(family, named, None if start is None else start.metric)
    return run(at, partial(prove, family), tol, max_iter, callback, "newton")


def _pairs(rows: object) -> PairRows:
    assert isinstance(rows, PairRows)
    return rows


def _coordinates(family: Family, C: FloatArray) -> tuple[FloatArray | None, Free]:
    """An orthonormal basis (d, k) of what the rows show, None for all of it, and the rows in it."""
    X = family.regularizer.X
    parts, similar, gamma = [], [], 1.0
    for loss, rows in family.terms:
        assert isinstance(loss, Bounded)
        (i, j), unit, gamma = _pairs(rows).listed.T, _pairs(rows).unit, float(loss.c)
        parts.append((X[i] - X[j]) / np.sqrt(unit))
        similar.append(np.full(len(i), loss.above))
    v, above = np.concatenate(parts) @ C, np.concatenate(similar)
    few = min(len(v), len(X) - 1)
    if few >= len(C) or few == 0:
        return None, Free(v, above, gamma)
    spanned = v if len(v) <= len(X) else (X - X[0])[1:] @ C
    basis = np.linalg.qr((spanned / np.linalg.norm(spanned, axis=1).max(initial=1e-300)).T)[0]
    return basis, Free(v @ basis, above, gamma)


def _start(
    rows: Free, C: FloatArray, basis: FloatArray | None, start: FloatArray | None
) -> tuple[State, float]:
    """The start if it is near the optimum, and gamma; else the prior, and a gamma for which that is nearly so."""
    if start is not None:
        M = np.linalg.solve(C, np.linalg.solve(C, start).T)
        M = M if basis is None else basis.T @ M @ basis
        if np.linalg.eigvalsh(M)[0] > 0:
            at = _state(rows, _cholesky((M + M.T) / 2))
            if at.gap <= NEAR:
                return at, rows.gamma
    at = _state(rows, np.eye(rows.v.shape[1]))
    return at, min(rows.gamma, 1 / max(float(np.linalg.norm(at.slack)), 1e-200))


def _state(rows: Free, G: FloatArray) -> State:
    e = rows.v @ G
    D = np.einsum("tj,tj->t", e, e)
    violated = np.where(rows.similar, D > 1, D < 1)
    u, w = e[violated] / np.sqrt(D[violated])[:, None], D[violated] - 1
    own, slack = G.T @ G - np.eye(len(G)), weighted(u, w)
    objective = float(np.sum(_phi(G.diagonal() ** 2)) + np.sum(np.tril(G, -1) ** 2))
    objective += rows.gamma * float(np.sum(_phi(D[violated])))
    values = np.linalg.eigvalsh(own + rows.gamma * slack)
    gap = float(np.sum(values - np.log1p(values))) if values[0] > -1 else np.inf
    return State(G, D, Curvature(u), own, slack, objective, gap)


def _newton(rows: Free, at: State, gamma: float) -> tuple[FloatArray, float]:
    """G (k, k) after one step; and its gamma: the same, or, where the decrement is small, a larger one.

    It grows by `GROWTH`, or by a root of that for which the step from here stays small.
    """
    V, decrement = _step(at, gamma)
    if gamma < rows.gamma and decrement < NEAR:
        growth = GROWTH
        while True:
            larger = min(rows.gamma, growth * gamma)
            V, _ = _step(at, larger)
            if np.abs(np.linalg.eigvalsh(V)).max() < WITHIN or growth < LEAST_GROWTH:
                break
            growth = float(np.sqrt(growth))
        gamma = larger
    return _moved(rows, at, V, gamma), gamma


def _step(at: State, gamma: float) -> tuple[FloatArray, float]:
    """The Newton step V (k, k) and the decrement."""
    gradient = at.own + gamma * at.slack
    V = at.curvature.solved(-gradient, gamma)
    return V, -float(np.sum(V * gradient))


def _moved(rows: Free, at: State, V: FloatArray, gamma: float) -> FloatArray:
    """The G' of G (I + t V) G^T, the step t being 1 if that is almost right, else where F is least along V."""
    along = np.linalg.eigvalsh(V)
    change = quadratic(rows.v @ at.G, V)
    trace = float(np.sum((at.G @ V) * at.G))

    def slope(t: float) -> float:
        D = at.D + t * change
        active = np.where(rows.similar, D > 1, D < 1)
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
