"""How a metric is found for roots within a budget, MMC's kind: the problem without its budget, by a primal-dual path.

By homogeneity: over the multiples k A of a metric, 1/2 <S, k A> - sum sqrt(D_kA) is least at sqrt(k) = F / <S, A>, with
F = sum sqrt(D_A), where it is -1/2 (F / sqrt<S, A>)^2. So the minimiser of
    min_{A psd}  1/2 <S, A> - sum_t sqrt(D_t)
divided by <S, A> is the optimum within <S, A> <= 1. In coordinates of S = I its gradient is 1/2 I - G,
G = sum_t a_t z_t z_t^T with a_t = 1 / (2 sqrt(D_t)). On the path it is positive definite, so the largest eigenvalue of
G is below 1/2 and a are prices without any repair. The path is that of barrier.py, or of diagonal_path.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, units_of
from cvxml.core.run import Found
from cvxml.family.geometry.budget import budget
from cvxml.family.geometry.symmetric import quadratic, squares
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.diagonal import DiagonalBudget
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family
from cvxml.methods.mmc.diagonal_path import path as path_diagonal
from cvxml.solvers.barrier import path
from cvxml.solvers.choose_solver import within_budget
from cvxml.solvers.task import Along, Task

BLOCK = 2_000_000  # numbers in a block of rows of the Hessian's factor
AWAY = 0.1  # of a start, so that it is no boundary point
UNSEEN = 1e-180  # a squared distance that the path leaves out: its root is nothing beside others, its price very large
PATIENCE = 5  # steps without a better gap


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
        for start in watched(range(0, len(Y), rows)):
            Q = squares(Y[start : start + rows]) * root[start : start + rows, None]
            H += Q.T @ Q
        return (gradient + gradient.T) / 2, H


def states(family: Family, start: FloatArray | None) -> Iterator[tuple[FloatArray, Duals]]:
    """Metrics (d, d) within a budget along the path of -sum sqrt(D), and 1 / (2 sqrt(D)).

    start: a psd matrix (d, d).
    """
    assert isinstance(family.regularizer, Budget)
    ((_, rows),) = family.terms
    assert isinstance(rows, PairRows)
    (i, j), X = rows.listed.T, family.regularizer.X
    along = _diagonal if isinstance(family.regularizer, DiagonalBudget) else _full
    for M, a in along(X[i] - X[j], family.regularizer.E, start):
        yield M, Duals(a, np.arange(len(a)))


def search(task: Task) -> Found:
    """Solve to a gap of `tol`, certified after every step."""
    return within_budget(task, Along(states(task.family, task.near), task.named), "path", PATIENCE)


def _full(
    E: FloatArray, similar: FloatArray, start: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """A within the budget, and prices, after every step."""
    at = budget(similar, None)
    Z = E @ at.to
    seen = Z[np.sum(Z**2, axis=1) > UNSEEN]
    r = Z.shape[1]
    M = np.eye(r) / r
    if start is not None and (size := float(np.trace(inside := at.inside(start)))) > 0:
        M = (1 - AWAY) * inside / size + AWAY * M
    total = float(np.sqrt(quadratic(seen, M)).sum())
    if total == 0:
        yield at.outside(M), np.full(len(E), 0.5)
        return
    for state in path(Free(seen), M * total**2, rho=total**2 / (2 * r)):
        yield at.outside(state.M / np.trace(state.M)), _duals(quadratic(Z, state.M))


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
        yield metric(a), np.full(len(E), 0.5)
        return
    for found in path_diagonal(seen, a * total**2):
        yield metric(found), _duals(F @ found)


def _duals(D: FloatArray) -> FloatArray:
    """1 / (2 sqrt(D))"""
    a: FloatArray = 0.5 / np.sqrt(np.maximum(D, UNSEEN))
    return a
