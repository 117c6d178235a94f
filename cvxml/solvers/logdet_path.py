"""How a metric is found for a log det divergence and a cost of distances: Newton's method, for ITML and LSML.

With A_0 = C C^T the metric is A = C M C^T, which minimises
    F(M) = tr M - log det M - d + gamma cost(M),
the cost (logdet_costs.py) convex, with a continuous derivative; -log det keeps M positive definite. Around M = G G^T,
with M' = G (I + V) G^T,
    gradient  G^T G - I + gamma K,      Hessian  V -> V + gamma sum_t <F_t, V> F_t,
K and F_t of rank 2 at most being those of the cost. A Newton step that is not almost right already is followed by a
search along it, exact to a tenth. With gamma times 15 000 pairs against one log det, or with features in small units,
the optimum is near the boundary of the cone, and Newton's method from far away creeps along it. So gamma grows from
where the prior is nearly optimal, whenever the decrement is below 1, by as much as leaves all eigenvalues of the next V
below 1, ten times at most: the path of an interior point method, log det its barrier and 1 / gamma its weight. At the
last gamma hardly any row changes sides any more, and convergence is quadratic.

With the prices that the cost has at M the gap is sum phi(1 + eigenvalues of the gradient), phi(x) = x - 1 - log x.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from cvxml.core.clock import look, watched
from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual
from cvxml.core.run import Found
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.family.regularizers.logdet import LogDet
from cvxml.family.rows.base import Duals
from cvxml.solvers.logdet_costs import Cost, Point, Ranks, away, cost_of
from cvxml.solvers.task import Task

BLOCK = 512  # rows at a time, where their squares are needed: they stay in the cache
MOST_SQUARE = 300  # entries of V for which the Hessian is formed; beyond, conjugate gradients were faster
MOST_PAIRS = 1500  # rows that cost something for which their Gram matrix is, if fewer than these entries
SHARE_OF_SLOPE = 0.1  # a line search ends when the slope fell to this share of its start
GROWTH = 10.0  # of gamma, at most
LEAST_GROWTH = 1.1  # about
WITHIN = 1.0  # eigenvalues of V below this are a small step
NEWTON_DECREMENT = 1.0  # a Newton decrement, or a gap, below this counts as near the optimum


class Curvature:
    """V -> V + gamma sum_t <F_t, V> F_t: what gamma does not change, once."""

    def __init__(self, F: Ranks):
        self.F = F

    @cached_property
    def gram(self) -> FloatArray:
        """<F_t, F_s> (t, t)"""
        return self.F.gram()

    @cached_property
    def total(self) -> FloatArray:
        """sum_t svec(F_t) svec(F_t)^T"""
        k = self.F.p.shape[1]
        H = np.zeros((k * (k + 1) // 2,) * 2)
        for start in watched(range(0, len(self.F), BLOCK)):
            rows = self.F.rows(slice(start, start + BLOCK))
            H += rows.T @ rows
        return H

    def solved(self, g: FloatArray, gamma: float) -> FloatArray:
        """The V (k, k) that becomes g, by the smallest system there is."""
        F, k = self.F, len(g)
        entries = k * (k + 1) // 2
        if len(F) < entries and len(F) <= MOST_PAIRS:  # (I + gamma F^T F)^-1, the rows of F being svec(F_t)
            inner = self.gram + np.eye(len(F)) / gamma
            y = cho_solve(cho_factor(inner, lower=True), F.products(g)) if len(F) else np.zeros(0)
            return g - F.total(y)
        if entries <= MOST_SQUARE:
            H = np.eye(entries) + gamma * self.total
            return smat(cho_solve(cho_factor(H, lower=True), svec(g)), k)

        def product(vector: FloatArray) -> FloatArray:
            V = smat(np.ravel(vector), k)
            return svec(V + gamma * F.total(F.products(V)))

        rtol = min(0.1, float(np.linalg.norm(g)))
        operator = LinearOperator((entries, entries), matvec=product, dtype=float)
        return smat(cg(operator, svec(g), rtol=rtol, maxiter=10 * k)[0], k)


class State(NamedTuple):
    """Everything at a metric M = G G^T (k, k)."""

    G: FloatArray
    cost: Point
    curvature: Curvature  # of the cost
    own: FloatArray  # (k, k), the part of the gradient without gamma
    objective: float
    gap: float


class LogDetPath:
    """D_ld(M, A_0) and a cost."""

    def __init__(self, task: Task):
        assert isinstance(task.family.regularizer, LogDet)
        self.named, self.C = task.named, task.family.regularizer.C
        self.basis, self.cost = cost_of(task.family, self.C)
        self.at, self.gamma = _start(self.cost, self.C, self.basis, task.near)

    def metric(self) -> FloatArray:
        """(d, d); what no row shows stays as in the prior."""
        M, C = self.at.G @ self.at.G.T, self.C
        if self.basis is not None:
            M = np.eye(len(C)) + self.basis @ (M - np.eye(len(M))) @ self.basis.T
        A: FloatArray = C @ M @ C.T
        return (A + A.T) / 2

    def dual(self) -> Dual:
        """Those at which the cost leaves nothing, by their names."""
        return self.named(*(Duals(a, np.arange(len(a))) for a in self.cost.duals(self.at.cost)))

    def step(self) -> bool:
        """False where rounding allows none, or nothing is won by it."""
        before = self.at
        try:
            G, self.gamma = _newton(self.cost, before, self.gamma)
            self.at = _state(self.cost, G)
        except np.linalg.LinAlgError:  # a factorisation that rounding does not allow
            return False
        worse = self.at.objective >= before.objective and self.at.gap >= before.gap
        return self.gamma < self.cost.gamma or not worse


def search(task: Task) -> Found:
    """Solve to a gap of `tol`, certified after every step."""
    return task.run(LogDetPath(task), "newton")


def _start(
    cost: Cost, C: FloatArray, basis: FloatArray | None, start: FloatArray | None
) -> tuple[State, float]:
    """The start if it is near the optimum, and gamma; else the prior, and a gamma for which that is nearly so."""
    if start is not None:
        M = np.linalg.solve(C, np.linalg.solve(C, start).T)
        M = M if basis is None else basis.T @ M @ basis
        if np.linalg.eigvalsh(M)[0] > 0:
            at = _state(cost, _cholesky((M + M.T) / 2))
            if at.gap <= NEWTON_DECREMENT:
                return at, cost.gamma
    at = _state(cost, np.eye(len(C) if basis is None else basis.shape[1]))
    return at, min(cost.gamma, 1 / max(float(np.linalg.norm(at.cost.K)), 1e-200))


def _state(cost: Cost, G: FloatArray) -> State:
    own, at = G.T @ G - np.eye(len(G)), cost.at(G)
    objective = float(np.sum(away(G.diagonal() ** 2)) + np.sum(np.tril(G, -1) ** 2)) + cost.gamma * at.value
    values = np.linalg.eigvalsh(own + cost.gamma * at.K)
    gap = float(np.sum(values - np.log1p(values))) if values[0] > -1 else np.inf
    return State(G, at, Curvature(at.F), own, objective, gap)


def _newton(cost: Cost, at: State, gamma: float) -> tuple[FloatArray, float]:
    """G (k, k) after one step; and its gamma: the same, or, where the decrement is small, a larger one.

    It grows by `GROWTH`, or by a root of that for which the step from here stays small.
    """
    V, decrement = _step(at, gamma)
    if gamma < cost.gamma and decrement < NEWTON_DECREMENT:
        growth = GROWTH
        while True:
            look()
            larger = min(cost.gamma, growth * gamma)
            V, _ = _step(at, larger)
            if np.abs(np.linalg.eigvalsh(V)).max() < WITHIN or growth < LEAST_GROWTH:
                break
            growth = float(np.sqrt(growth))
        gamma = larger
    return _moved(at, V, gamma), gamma


def _step(at: State, gamma: float) -> tuple[FloatArray, float]:
    """The Newton step V (k, k) and the decrement."""
    gradient = at.own + gamma * at.cost.K
    V = at.curvature.solved(-gradient, gamma)
    return V, -float(np.sum(V * gradient))


def _moved(at: State, V: FloatArray, gamma: float) -> FloatArray:
    """The G' of G (I + t V) G^T, the step t being 1 if that is almost right, else where F is least along V."""
    along, cost = np.linalg.eigvalsh(V), at.cost.along(V)
    trace = float(np.sum((at.G @ V) * at.G))

    def slope(t: float) -> float:
        return trace - float(np.sum(along / (1 + t * along))) + gamma * cost(t)

    first = slope(0.0)
    end = -1 / along[0] if along[0] < 0 else np.inf
    low, high = 0.0, min(1.0, end)
    if end > 1:
        while high < 1e100 and slope(high) < SHARE_OF_SLOPE * first:
            low, high = high, min(2 * high, (high + end) / 2)
    t = high
    for _ in watched(range(200)):
        value = slope(t) if t < end else np.inf
        if abs(value) <= SHARE_OF_SLOPE * abs(first):
            break
        low, high = (t, high) if value < 0 else (low, t)
        t = (low + high) / 2 if low > 0 or high > 0.5 else high / 4
    L: FloatArray = at.G @ _cholesky(np.eye(len(V)) + t * V)
    return L


def _cholesky(S: FloatArray) -> FloatArray:
    """L lower triangular with L L^T = S (d, d)."""
    return np.asarray(np.linalg.cholesky(S), dtype=np.float64)
