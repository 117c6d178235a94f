"""How far the optimum of -sum sqrt(D) within a budget may be from a metric within it, by the second derivative.

The second derivative of -sqrt at D_t is at least 1/4 of (the largest D_t that the budget allows)^-3/2, that is
k_t = |z_t|^-3 / 4 in coordinates z of S = I. So a metric with this gap is within sqrt(2 gap / m) of the optimum there,
m the least eigenvalue of sum_t k_t svec(z z^T) svec(z z^T)^T; inf where there are fewer coordinates than features.
"""

from __future__ import annotations

import math

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.family.geometry.budget import FLOOR, BudgetFeasibility
from cvxml.family.geometry.symmetric import squares
from cvxml.family.regularizers.base import JudgedMatrix
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.diagonal import DiagonalBudget

MOST_FEATURES = 40  # beyond, no radius is computed of a full metric


def radius(E: FloatArray, within: Budget, judged: JudgedMatrix, gap: float) -> float:
    """From the matrix looked at; inf where the optimum is not unique. E (q, d): x_i - x_j of the rows."""
    assert isinstance(judged.feasibility, BudgetFeasibility)
    of = _diagonal(E, within, gap) if isinstance(within, DiagonalBudget) else _full(E, within, gap)
    return of + judged.feasibility.away


def _full(E: FloatArray, within: Budget, gap: float) -> float:
    at = within.at
    d, r = at.to.shape
    if r < d or d > MOST_FEATURES or at.undecided:
        return math.inf
    Z, error = at.images(E)
    size = np.linalg.norm(Z, axis=1)
    moved = error * (2 * size + error)  # of z z^T
    reach = (size + error) ** 2 / at.least
    return _by_curvature(squares(Z), moved, reach, float(np.linalg.norm(at.to, 2)) ** 2, gap)


def _diagonal(E: FloatArray, within: DiagonalBudget, gap: float) -> float:
    S, unit = within.S, within.unit
    if not S.all():
        return math.inf
    F = (E / unit) ** 2 / S
    moved = (len(within.E) + 8) * EPS * np.linalg.norm(F, axis=1) + FLOOR
    return _by_curvature(F, moved, F.max(axis=1) + moved, float(np.max(1 / S / unit**2)), gap)


def _by_curvature(F: FloatArray, moved: FloatArray, reach: FloatArray, size: float, gap: float) -> float:
    """From D = F M (q, p), each row known to `moved` of its norm; reach (q,): what no D exceeds within the budget."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        k, norms = 1 / (4 * reach * np.sqrt(reach)), np.linalg.norm(F, axis=1)
        error = float(k @ ((2 * norms + moved) * moved))
        error += (len(F) + 4 * F.shape[1]) * EPS * float(k @ norms**2)
        curvature = F.T @ (k[:, None] * F)
    if not (np.isfinite(curvature).all() and math.isfinite(error)):
        return math.inf
    least = float(np.linalg.eigvalsh(curvature)[0]) - error
    return (1 + 1e-9) * size * math.sqrt(2 * gap / least) if least > 0 else math.inf
