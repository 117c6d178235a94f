"""Solver for a log det divergence plus a cost of distances: Newton's method, for ITML and LSML.

Let A_0 = C C^T be the prior (d, d). The metric is A = C M C^T, and M minimises

    f(M) = tr M - log det M - d + gamma cost(M).

The cost (logdet_costs.py) is convex with a continuous derivative, and -log det keeps M positive definite. At M = G G^T,
a step V leads to G (I + V) G^T. As functions of V,

    gradient  G^T G - I + gamma K,      Hessian  V -> V + gamma sum_t <F_t, V> F_t.

K is the gradient of the cost. The matrices F_t, of rank 2 at most, give its Hessian. If the quadratic model is
inaccurate at a Newton step, a line search reduces the slope to a tenth of its first value.

If gamma times the cost of many pairs (15 000, say) is larger than log det, or if features have small units, the optimum
is near the boundary of the cone. Newton's method from a distant start makes little progress there. So gamma starts at a
small value for which the prior is nearly optimal, and grows to the given one. Whenever the Newton decrement is below 1,
gamma grows by a factor of up to 10, as long as all eigenvalues of the next V have absolute values below 1. This is the
path of an interior-point method with the barrier log det and the weight 1 / gamma. At the last gamma, few rows start or
stop violating their bound, and convergence is quadratic.

With the dual variables of the cost at M, the gap is the sum of v - log(1 + v) over the eigenvalues v of the gradient.
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
from cvxml.core.run import Estimate, Found
from cvxml.core.work import FACTORISING, doing
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.family.regularizers.logdet import LogDet
from cvxml.family.rows.base import Duals
from cvxml.solvers.logdet_costs import Cost, Point, Ranks, away, cost_of
from cvxml.solvers.task import Task

BLOCK = 512  # rows squared at a time, so that they fit into the cache
MOST_SQUARE = 300  # the Hessian is formed up to this many entries of V; else conjugate gradients were faster
MOST_PAIRS = 1500  # up to this many active rows, if fewer than the entries of V, their Gram matrix is used
SHARE_OF_SLOPE = 0.1  # a line search ends when the slope has fallen to this fraction of its start
GROWTH = 10.0  # largest growth of gamma
LEAST_GROWTH = 1.1  # the search for a growth ends about here
WITHIN = 1.0  # a step V is small if its eigenvalues have absolute values below this
NEWTON_DECREMENT = 1.0  # a Newton decrement, or a gap, below this counts as near the optimum


class Curvature:
    """The Hessian V -> V + gamma sum_t <F_t, V> F_t, for the matrices F_t. Parts without gamma are computed once."""

    def __init__(self, F: Ranks):
        self.F = F

    @cached_property
    def gram(self) -> FloatArray:
        return self.F.gram()

    @cached_property
    def total(self) -> FloatArray:
        """sum_t svec(F_t) svec(F_t)^T, the part of the Hessian that is multiplied by gamma.

        svec(F): the upper triangle of F as a vector, with entries off the diagonal times sqrt 2.
        """
        k = self.F.p.shape[1]
        H = np.zeros((k * (k + 1) // 2,) * 2)
        for start in watched(range(0, len(self.F), BLOCK)):
            rows = self.F.rows(slice(start, start + BLOCK))
            H += rows.T @ rows
        return H

    def solved(self, g: FloatArray, gamma: float) -> FloatArray:
        """The V (k, k) that the Hessian maps to g (k, k).

        It comes from a linear system with one unknown for each F_t, or for each entry of V, whichever is small. If both
        are large, conjugate gradients are used.
        """
        F, k = self.F, len(g)
        entries = k * (k + 1) // 2
        if len(F) < entries and len(F) <= MOST_PAIRS:  # (I + gamma F^T F)^-1, the rows of F being svec(F_t)
            inner = self.gram + np.eye(len(F)) / gamma
            y = cho_solve(cho_factor(inner, lower=True), F.products(g)) if len(F) else np.zeros(0)
            return g - F.total(y)
        if entries <= MOST_SQUARE:
            H = np.eye(entries) + gamma * self.total
            with doing(FACTORISING):
                factor = cho_factor(H, lower=True)
            return smat(cho_solve(factor, svec(g)), k)

        def product(vector: FloatArray) -> FloatArray:
            V = smat(np.ravel(vector), k)
            return svec(V + gamma * F.total(F.products(V)))

        rtol = min(0.1, float(np.linalg.norm(g)))
        operator = LinearOperator((entries, entries), matvec=product, dtype=float)
        return smat(cg(operator, svec(g), rtol=rtol, maxiter=10 * k)[0], k)


class State(NamedTuple):
    """The iterate M = G G^T (k, k), with its cost, Hessian (`curvature`), objective and gap.

    own (k, k): the part of the gradient without gamma.
    """

    G: FloatArray
    cost: Point
    curvature: Curvature  # the Hessian
    own: FloatArray  # (k, k), the part of the gradient without gamma
    objective: float
    gap: float


class LogDetPath:
    """A run of the solver for the problem of a task: a log det divergence from the prior A_0 plus a cost."""

    def __init__(self, task: Task):
        assert isinstance(task.family.regularizer, LogDet)
        self.family, self.named, self.C = task.family, task.named, task.family.regularizer.C
        self.basis, self.cost = cost_of(task.family, self.C)
        self.at, self.gamma = _start(self.cost, self.C, self.basis, task.near)

    def metric(self) -> FloatArray:
        """The metric (d, d), C M C^T. In directions orthogonal to all rows (logdet_costs.py) M is the identity."""
        M, C = self.at.G @ self.at.G.T, self.C
        if self.basis is not None:
            M = np.eye(len(C)) + self.basis @ (M - np.eye(len(M))) @ self.basis.T
        A: FloatArray = C @ M @ C.T
        return (A + A.T) / 2

    def dual(self) -> Dual:
        """The method's dual, with the dual variables that are optimal for the cost at the metric."""
        return self.named(*(Duals(a, np.arange(len(a))) for a in self.cost.duals(self.at.cost)))

    def estimate(self) -> Estimate:
        """The objective, gap and scale of the metric. For a log det divergence the scale is the objective."""
        objective = self.at.objective
        return Estimate(objective, self.at.gap, self.family.scale(objective, objective))

    def step(self) -> bool:
        """One Newton step; False if rounding prevents it.

        Also False if gamma has reached its given value, and the step decreased neither the objective nor the gap.
        """
        before = self.at
        try:
            G, self.gamma = _newton(self.cost, before, self.gamma)
            self.at = _state(self.cost, G)
        except np.linalg.LinAlgError:  # a factorisation fails because of rounding
            return False
        worse = self.at.objective >= before.objective and self.at.gap >= before.gap
        return self.gamma < self.cost.gamma or not worse


def search(task: Task) -> Found:
    return task.run(LogDetPath(task), "newton")


def _start(
    cost: Cost, C: FloatArray, basis: FloatArray | None, start: FloatArray | None
) -> tuple[State, float]:
    """The first iterate, and its gamma.

    start: a metric (d, d), if there is one. If its gap is small, it is the first iterate, with the last gamma. Else the
    first iterate is the prior C C^T, with a gamma so small that the prior is nearly optimal. basis (d, k): coordinates
    of M; None: all coordinates.
    """
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
    """The new G (k, k) after one step from the iterate `at`, and the new gamma.

    gamma grows if the Newton decrement is small: by 10 (`GROWTH`), or else by the first of 10^(1/2), 10^(1/4), ... for
    which all eigenvalues of the step have absolute values below 1.
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
    """The Newton step V (k, k) for this gamma, and the Newton decrement."""
    gradient = at.own + gamma * at.cost.K
    V = at.curvature.solved(-gradient, gamma)
    return V, -float(np.sum(V * gradient))


def _moved(at: State, V: FloatArray, gamma: float) -> FloatArray:
    """The new G (k, k), with the new metric G (I + t V) G^T for the G of `at`.

    t = 1 if the quadratic model is accurate there. Otherwise t nearly minimizes the objective along V.
    """
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
    return np.asarray(np.linalg.cholesky(S), dtype=np.float64)
