"""The fast solver of MMC: the problem without its budget, by a primal-dual path.

By homogeneity: over the multiples k A of a metric, 1/2 <S, k A> - sum sqrt(D_kA) is least at sqrt(k) = F / <S, A>, with
F = sum sqrt(D_A), where it is -1/2 (F / sqrt<S, A>)^2. So the minimiser of
    min_{A psd}  1/2 <S, A> - sum_t sqrt(D_t)
divided by <S, A> is the optimum of MMC. In coordinates of S = I its gradient is 1/2 (I - C), C = sum_t c_t z_t z_t^T
with c_t = 1 / sqrt(D_t). On the path it is positive definite, so the largest eigenvalue of C is below 1 and c is a dual
without any repair. The path is that of cvxml/barrier.py, or of diagonal.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from cvxml.barrier import path
from cvxml.budget import budget
from cvxml.convex import Callback, Found
from cvxml.methods.mmc.diagonal import path as path_diagonal
from cvxml.metric import FloatArray, units_of
from cvxml.result import Certificate, Dual, Status, Step
from cvxml.symmetric import quadratic, squares

BLOCK = 2_000_000  # numbers in a block of rows of the Hessian's factor
AWAY = 0.1  # of a start, so that it is no boundary point
UNSEEN = (
    1e-180  # a squared distance that the path leaves out: its root is nothing beside others, its c very large
)
PATIENCE = 5  # steps without a better gap, after which rounding is to blame

Prove = Callable[[FloatArray, Dual], Certificate]


class Free(NamedTuple):
    """1/2 trace M - sum_t sqrt(z_t^T M z_t) over the rows of Z (q, r)."""

    Z: FloatArray

    def value(self, M: FloatArray) -> float:
        """At M (r, r) psd."""
        D = np.maximum(quadratic(self.Z, M), 0.0)
        return float(np.trace(M)) / 2 - float(np.sqrt(D).sum())

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (r, r) and Hessian (p, p) at G G^T, by dX in G (I + dX) G^T."""
        r = G.shape[1]
        Y = self.Z @ G
        D = np.sum(Y * Y, axis=1)
        c = 1 / np.sqrt(D)
        gradient = (G.T @ G - (Y * c[:, None]).T @ Y) / 2
        H = np.zeros((r * (r + 1) // 2,) * 2)
        root = c * np.sqrt(c) / 2  # of the second derivative of -sqrt(D)
        rows = max(1, BLOCK // len(H))
        for start in range(0, len(Y), rows):
            Q = squares(Y[start : start + rows]) * root[start : start + rows, None]
            H += Q.T @ Q
        return (gradient + gradient.T) / 2, H


def fast(
    E: FloatArray,
    similar: FloatArray,
    diagonal: bool,
    prove: Prove,
    tol: float,
    max_iter: int,
    start: FloatArray | None = None,
    callback: Callback = None,
) -> Found:
    """The metric and c, from differences E (q, d) of the dissimilar pairs and those of the similar ones (s, d).

    prove: the certificate of a metric and a dual; its gap is the stopping rule.
    """
    differ = E.any(axis=1)
    began = time.perf_counter()
    history: list[Step] = []
    best: tuple[float, FloatArray, Dual] | None = None
    status, without = Status.STALLED, 0
    for A, c_differ in (_diagonal if diagonal else _full)(E[differ], similar, start):
        c = np.ones(len(E))
        c[differ] = c_differ
        found = prove(A, {"c": c})
        seconds = time.perf_counter() - began
        history.append(Step(len(history) + 1, seconds, found.objective, found.lower_bound, found.gap, "path"))
        if callback is not None:
            callback(history[-1])
        without += 1
        if best is None or found.gap < best[0]:
            best, without = (found.gap, A, {"c": c}), 0
        if found.proves(tol):
            status = Status.CONVERGED
        elif len(history) >= max_iter:
            status = Status.MAX_ITER
        if status is not Status.STALLED or without >= PATIENCE:
            break
    assert best is not None
    return Found(best[1], best[2], status, len(history), tuple(history))


def _full(
    E: FloatArray, similar: FloatArray, start: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A within the budget, and c, after every step."""
    at = budget(similar, None)
    Z = E @ at.to
    seen = Z[np.sum(Z**2, axis=1) > UNSEEN]
    r = Z.shape[1]
    M = np.eye(r) / r
    if start is not None and (size := float(np.trace(inside := at.inside(start)))) > 0:
        M = (1 - AWAY) * inside / size + AWAY * M
    total = float(np.sqrt(quadratic(seen, M)).sum())
    if total == 0:
        yield at.outside(M), np.ones(len(E))
        return
    for state in path(Free(seen), M * total**2, rho=total**2 / (2 * r)):
        yield at.outside(state.M / np.trace(state.M)), _prices(quadratic(Z, state.M))


def _diagonal(
    E: FloatArray, similar: FloatArray, start: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """The same where A is diagonal; a feature in which no pair differs has weight 0."""
    unit = units_of(similar)
    S = np.sum((similar / unit) ** 2, axis=0)
    costs = np.flatnonzero(S)
    unit, S = unit[costs], S[costs]
    F = (E[:, costs] / unit) ** 2 / S
    seen = F[F.sum(axis=1) > UNSEEN]
    a = np.full(len(S), 1 / len(S))
    if start is not None and (size := float((given := np.diag(start)[costs] * unit**2 * S).sum())) > 0:
        a = (1 - AWAY) * given / size + AWAY * a

    def metric(a: FloatArray) -> FloatArray:
        weights = np.zeros(E.shape[1])
        weights[costs] = a / a.sum() / S / unit**2
        return np.diag(weights)

    total = float(np.sqrt(seen @ a).sum())
    if total == 0:
        yield metric(a), np.ones(len(E))
        return
    for found in path_diagonal(seen, a * total**2):
        yield metric(found), _prices(F @ found)


def _prices(D: FloatArray) -> FloatArray:
    """c = 1 / sqrt(D)."""
    c: FloatArray = 1 / np.sqrt(np.maximum(D, UNSEEN))
    return c
