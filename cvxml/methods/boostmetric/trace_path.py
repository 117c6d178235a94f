"""The solver for a log sum exp over triplets plus a function of the trace. It follows the path of solvers/barrier.py.

    f(M) = log sum_t exp(-<M, H_t>) + charge(tr M),      H_t = b b^T - e e^T,  b = x_i - x_l,  e = x_i - x_j

The path has the minimizers of f(M) - rho log det M, with rho decreasing to 0. `charge` is v tr M for BoostMetric, and
another function for the threshold v*.

A step from a metric G G^T leads to M = G (I + dX) G^T, with a symmetric dX. The derivatives of f in dX, at dX = 0, are

    gradient   charge' T - sum p_t G^T H_t G
    Hessian    sum p_t h_t h_t^T - (sum p_t h_t) (sum p_t h_t)^T + charge'' svec(T) svec(T)^T

with p = softmax(-<M, H_t>), T = G^T G and h_t = svec(G^T H_t G). Here charge' and charge'' are the derivatives of
`charge` at tr M. The vector svec(T) is the upper triangle of T, with the entries off the diagonal times sqrt 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, middle
from cvxml.core.result import Status
from cvxml.core.run import Estimate, Found
from cvxml.family.geometry.symmetric import quadratic, smat, squares, svec
from cvxml.family.regularizers.trace import Trace
from cvxml.family.rows.base import Duals
from cvxml.family.theorem.theorem import Family, value
from cvxml.methods.boostmetric.one_group import Together
from cvxml.solvers.barrier import path
from cvxml.solvers.task import Along, Reached, Task, inside_the_cone

ROWS = 2**20  # numbers in a block of rows h_t of the Hessian
SEEN = 1e-14  # directions with a smaller spread, relative to the largest, are treated as rounding
AWAY = 1e-3  # a start is moved this far inside the cone
PATIENCE = 5  # steps without a better gap before the solver stops
Charge = Callable[[float], tuple[float, float, float]]  # value, slope and curvature at a trace


class Differences(NamedTuple):
    """The differences of triplets in an orthonormal basis of their span, in units in which the longest has length 1.

    near (m, r): x_i - x_j. far (m, r): x_i - x_l. basis (d, r): its vectors as columns. unit: the length of the longest
    difference.
    """

    near: FloatArray  # x_i - x_j (m, r)
    far: FloatArray  # x_i - x_l (m, r)
    basis: FloatArray  # (d, r)
    unit: float

    def outside(self, M: FloatArray) -> FloatArray:
        """Convert a metric M (r, r) of the rows of `near` and `far` into the metric (d, d) of the features.

        The result is basis M basis^T / unit^2.
        """
        A: FloatArray = self.basis @ (M / self.unit**2) @ self.basis.T
        return (A + A.T) / 2

    def inside(self, A: FloatArray) -> FloatArray:
        """Convert a metric A (d, d) of the features into the metric (r, r) of the rows of `near` and `far`.

        The result is unit^2 basis^T A basis.
        """
        M: FloatArray = self.basis.T @ A @ self.basis * self.unit**2
        return (M + M.T) / 2


def differences(X: FloatArray, rows: Together) -> Differences:
    P = X - middle(X)
    near, far = (P[pairs[:, 0]] - P[pairs[:, 1]] for pairs in (rows.near, rows.far))
    largest = math.sqrt(max(float(np.max(np.sum(E**2, axis=1))) for E in (near, far))) or 1.0
    _, s, Vt = np.linalg.svd(np.linalg.qr(np.concatenate([near, far]) / largest, mode="r"))
    basis = Vt[: max(1, int(np.count_nonzero(s > SEEN * s[0])))].T
    return Differences(near @ basis / largest, far @ basis / largest, basis, largest)


class OverTriplets(NamedTuple):
    """f of the module docstring, as a function of M (r, r) that solvers/barrier.py can minimize.

    of: the differences of the triplets. charge: maps a trace to three numbers, the value of the function `charge` of
    the module docstring and its first and second derivative.
    """

    of: Differences
    charge: Charge

    def margins(self, M: FloatArray) -> FloatArray:
        """The margins <M, H_t> of the triplets, (m,)."""
        return quadratic(self.of.far, M) - quadratic(self.of.near, M)

    def duals(self, M: FloatArray) -> FloatArray:
        """The dual variables of the triplets at M: softmax(-<M, H_t>), (m,)."""
        return _softmax(self.margins(M))[1]

    def value(self, M: FloatArray) -> float:
        found = _softmax(self.margins(M))[0] + self.charge(float(np.trace(M)))[0]
        return found if math.isfinite(found) else math.inf

    def gradient(self, p: FloatArray, slope: float) -> FloatArray:
        """The gradient of f, slope I - sum_t p_t H_t (r, r), for p = `duals`(M) and slope = charge'(tr M)."""
        near, far = self.of.near, self.of.far
        Z: FloatArray = (
            slope * np.eye(far.shape[1]) - far.T @ (p[:, None] * far) + near.T @ (p[:, None] * near)
        )
        return Z

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        near, far, T = self.of.near @ G, self.of.far @ G, G.T @ G
        _, slope, curvature = self.charge(float(np.trace(T)))
        p = _softmax(np.sum(far**2, axis=1) - np.sum(near**2, axis=1))[1]
        size = len(svec(T))
        mean, H = np.zeros(size), curvature * np.outer(svec(T), svec(T))
        step = max(1, ROWS // size)
        for first in watched(range(0, len(p), step)):
            some = slice(first, first + step)
            h = squares(far[some]) - squares(near[some])
            mean += p[some] @ h
            H += (h * p[some, None]).T @ h
        H -= np.outer(mean, mean)
        return slope * T - smat(mean, len(T)), (H + H.T) / 2


def _softmax(v: FloatArray) -> tuple[float, FloatArray]:
    """log sum_t exp(-v_t), and softmax(-v) (m,)."""
    least = v.min()
    e = np.exp(least - v)
    total = e.sum()
    return float(np.log(total) - least), e / total


def states(family: Family, start: FloatArray | None) -> Iterator[Reached]:
    """Yield the metrics (d, d) on the path, each with its dual variables and an estimate of its gap.

    The dual variables of M are softmax(-<M, H_t>). family: the problem, v tr M and one log sum exp over triplets.
    start: a psd matrix (d, d) to start near, if there is one.
    """
    assert isinstance(family.regularizer, Trace)
    ((_, rows),) = family.terms
    assert isinstance(rows, Together)
    of = differences(family.regularizer.X, rows)
    v = float(family.regularizer.v) / of.unit**2
    f = OverTriplets(of, lambda trace: (v * trace, v, 0.0))
    M = np.eye(of.far.shape[1]) if start is None else inside_the_cone(of.inside(start), AWAY)
    Z = f.gradient(f.duals(M), v)
    sizes = np.abs(np.linalg.eigvalsh(M @ Z + Z @ M)) / 2
    for state in path(f, M, max(float(sizes.mean()), np.finfo(float).tiny)):
        p = f.duals(state.M)
        objective, gap = f.value(state.M), excess(state.M, f.gradient(p, v))
        scale = family.scale(v * float(np.trace(state.M)), objective)
        estimate = Estimate(objective, gap, scale, guess=state.rho * len(state.M))
        yield Reached(of.outside(state.M), Duals(p, np.arange(len(of.far))), estimate)


def excess(M: FloatArray, Z: FloatArray) -> float:
    """The gap <M, Z> of M, for Z = v I - sum_t p_t H_t with the dual variables p; inf if Z is not psd."""
    return float(np.sum(M * Z)) if np.linalg.eigvalsh(Z)[0] >= 0 else math.inf


def search(task: Task) -> Found:
    """Solve the `task` until the certified gap is at most its tolerance, or until the solver cannot go on.

    If M = 0 meets the tolerance too, and its objective is not larger, the result is M = 0.
    """
    found = task.run(Along(states(task.family, task.near), task.named), "path", PATIENCE)
    zero = found._replace(metric=0 * found.metric)
    if (
        found.status is not Status.CONVERGED
        or value(task.family, zero.metric).value > found.history[-1].objective
    ):
        return found
    return zero if task.proved(*zero[:2]).proves(task.tol) else found
