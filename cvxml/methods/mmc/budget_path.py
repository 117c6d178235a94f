"""Solver of MMC: the problem without its budget, by a primal-dual path.

MMC minimizes -sum_t sqrt(D_t) over psd A with <S, A> <= 1, the budget. S is the sum of (x_i - x_j)(x_i - x_j)^T over
the similar pairs, D_t is the squared distance in A, and t runs over the dissimilar pairs. The solver minimizes
    min_{A psd}  1/2 <S, A> - sum_t sqrt(D_t)
and divides the minimizer A by <S, A>, the budget that A uses. The result is the optimum of MMC: over the multiples
k A of a metric, this objective is least at sqrt(k) = F / <S, A> with F = sum sqrt(D_t). Its least value is
-1/2 (F / sqrt<S, A>)^2, and -F / sqrt<S, A> is the objective of MMC at A / <S, A>.

In coordinates with S = I, z_t are the differences of the dissimilar pairs. The gradient is 1/2 I - sum_t a_t z_t z_t^T
with a_t = 1 / (2 sqrt(D_t)). It is positive definite on the path. So the largest eigenvalue of sum_t a_t z_t z_t^T is
below 1/2, and the a_t are feasible dual variables of this problem. solvers/barrier.py follows the path, or
diagonal_path.py if A is diagonal. The path leaves out pairs with |z_t|^2 at most `UNSEEN`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, units_of
from cvxml.core.run import Estimate, Found
from cvxml.family.geometry.budget import budget
from cvxml.family.geometry.symmetric import quadratic, squares, weighted
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.diagonal import DiagonalBudget
from cvxml.family.rows.base import Duals
from cvxml.family.rows.pairs import PairRows
from cvxml.family.theorem.theorem import Family
from cvxml.methods.mmc.diagonal_path import path as path_diagonal
from cvxml.solvers.barrier import path
from cvxml.solvers.choose_solver import within_budget
from cvxml.solvers.task import Along, Reached, Task

BLOCK = 2_000_000  # numbers in a block of rows of the Hessian's factor
AWAY = 0.1  # share of the identity that is mixed into a start, because a start must be positive definite
UNSEEN = 1e-180  # the path leaves out smaller squared distances: tiny roots with very large dual variables
PATIENCE = 5  # the solver stops after this many steps without a better gap


class Free(NamedTuple):
    """The function 1/2 trace M - sum_t sqrt(z_t^T M z_t) of M (r, r), where z_t are the rows of Z (q, r)."""

    Z: FloatArray

    def value(self, M: FloatArray) -> float:
        """The function at M (r, r), psd up to rounding."""
        D = np.maximum(quadratic(self.Z, M), 0.0)
        return float(np.trace(M)) / 2 - float(np.sqrt(D).sum())

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient (r, r) and Hessian (p, p), p = r (r + 1) / 2, of dX -> the function at G (I + dX) G^T, at dX = 0.

        G (r, r): a root of the metric M = G G^T. The Hessian is in the coordinates svec(dX), in which off-diagonal
        entries are multiplied by sqrt 2.
        """
        r = G.shape[1]
        Y = self.Z @ G
        D = np.sum(Y * Y, axis=1)
        c = 1 / np.sqrt(D)
        gradient = (G.T @ G - (Y * c[:, None]).T @ Y) / 2
        H = np.zeros((r * (r + 1) // 2,) * 2)
        root = c * np.sqrt(c) / 2  # the square root of the second derivative 1/4 D^(-3/2) of -sqrt(D)
        rows = max(1, BLOCK // len(H))
        for start in watched(range(0, len(Y), rows)):
            Q = squares(Y[start : start + rows]) * root[start : start + rows, None]
            H += Q.T @ Q
        return (gradient + gradient.T) / 2, H


def states(family: Family, start: FloatArray | None) -> Iterator[Reached]:
    """Yield a metric (d, d) within the budget, its dual variables and an estimate of its gap after every step.

    family: the problem, with points and pairs. start (d, d): a psd matrix near which the path starts; None for the
    default start. The estimate is None if no dissimilar pair is on the path.
    """
    assert isinstance(family.regularizer, Budget)
    ((_, rows),) = family.terms
    assert isinstance(rows, PairRows)
    (i, j), X = rows.listed.T, family.regularizer.X
    along = _diagonal if isinstance(family.regularizer, DiagonalBudget) else _full
    for M, a, estimate in along(X[i] - X[j], family.regularizer.E, start):
        yield Reached(M, Duals(a, np.arange(len(a))), estimate)


def search(task: Task) -> Found:
    return within_budget(task, Along(states(task.family, task.near), task.named), "path", PATIENCE)


def _full(
    E: FloatArray, similar: FloatArray, start: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray, Estimate | None]]:
    """Yield after every step a full metric A within the budget, its dual variables (q,), and an `Estimate` of its gap.

    E (q, d), similar (s, d): differences of the dissimilar and of the similar pairs. start (d, d): a psd matrix near
    which the path starts, or None. If all |z_t|^2 (module docstring) are at most `UNSEEN`, the only metric is the
    start, and its estimate is None.
    """
    at = budget(similar, None)
    Z = E @ at.to
    seen = Z[np.sum(Z**2, axis=1) > UNSEEN]
    r = Z.shape[1]
    M = np.eye(r) / r
    if start is not None and (size := float(np.trace(inside := at.inside(start)))) > 0:
        M = (1 - AWAY) * inside / size + AWAY * M
    total = float(np.sqrt(quadratic(seen, M)).sum())
    if total == 0:
        yield at.outside(M), np.full(len(E), 0.5), None
        return
    for state in path(Free(seen), M * total**2, rho=total**2 / (2 * r)):
        use = float(np.trace(state.M))
        D = quadratic(Z, state.M)
        a = _duals(D)
        most = float(np.linalg.eigvalsh(weighted(Z, a))[-1])
        yield at.outside(state.M / use), a, _estimate(D, use, most)


def _diagonal(
    E: FloatArray, similar: FloatArray, start: FloatArray | None
) -> Iterator[tuple[FloatArray, FloatArray, Estimate | None]]:
    """Yield after every step a diagonal metric A within the budget, its dual variables (q,), and an `Estimate`.

    E (q, d), similar (s, d): differences of the dissimilar and of the similar pairs. start: a psd matrix (d, d), of
    which the diagonal is used, or None. A feature has weight 0 if no similar pair differs there. If all |z_t|^2 (module
    docstring) are at most `UNSEEN`, the only metric is the start, and its estimate is None.
    """
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
        yield metric(a), np.full(len(E), 0.5), None
        return
    for found in path_diagonal(seen, a * total**2):
        D = F @ found
        duals = _duals(D)
        yield metric(found), duals, _estimate(D, float(found.sum()), float((F.T @ duals).max()))


def _estimate(D: FloatArray, use: float, most: float) -> Estimate:
    """Objective and gap of A / use, for a metric A with squared distances D (q,) that uses `use` of the budget.

    most: the largest eigenvalue of sum_t a_t z_t z_t^T (module docstring) for the dual variables a = 1 / (2 sqrt(D)).
    For any number k > 0, the dual variables k a prove the lower bound -(k most + sum sqrt(D) / (2 k)). The best k gives
    -sqrt(2 most sum sqrt(D)). The scale is minus the objective.
    """
    total = float(np.sqrt(np.maximum(D, 0.0)).sum())
    objective = -total / math.sqrt(use)
    return Estimate(objective, max(objective + math.sqrt(2 * most * total), 0.0), -objective)


def _duals(D: FloatArray) -> FloatArray:
    """The dual variables a = 1 / (2 sqrt(D)) (q,), with D limited to at least `UNSEEN`."""
    a: FloatArray = 0.5 / np.sqrt(np.maximum(D, UNSEEN))
    return a
