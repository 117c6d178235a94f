"""A bound of the distance from a metric to the optimum of MMC, from the second derivative of the objective.

Take coordinates z of the differences of points in which the sum S of z z^T over the similar pairs is I. Every metric
within the budget has D_t <= |z_t|^2 for a dissimilar pair t. So the second derivative of -sqrt at D_t is at least k_t =
|z_t|^-3 / 4. Let m be the least eigenvalue of sum_t k_t svec(z_t z_t^T) svec(z_t z_t^T)^T. In these coordinates, a
metric with a given gap is within sqrt(2 gap / m) of the optimum. For a diagonal metric, the squares of the entries of
z_t replace svec(z_t z_t^T). The radius is inf if the similar differences do not span all features, or if a full metric
has more than `MOST_FEATURES` features.
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

MOST_FEATURES = 40  # with more features, a full metric gets no radius


def radius(E: FloatArray, within: Budget, judged: JudgedMatrix, gap: float) -> float:
    """Return a bound of the Frobenius distance from the metric given to the optimum; inf without a proof.

    E (q, d): x_i - x_j of the dissimilar pairs. within: the budget, with its coordinates z. judged: the metric that was
    certified in place of the metric given.

    gap: the gap of the judged metric, plus its rounding error. The bound includes the distance of the two metrics.
    """
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
    moved = error * (2 * size + error)  # error bound of z z^T, in norm
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
    """Return the radius sqrt(2 gap / m) of the module docstring, in units of the features; inf without a proof.

    F (q, p): squared distances of the dissimilar pairs are D = F M, with M (p,) the entries of a metric in the
    coordinates of the module docstring.

    moved (q,): error bounds of the rows of F, in norm. reach (q,): upper bounds of D within the budget.

    size: factor that turns a bound of a distance in these coordinates into a bound for metrics of the features.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        k, norms = 1 / (4 * reach * np.sqrt(reach)), np.linalg.norm(F, axis=1)
        error = float(k @ ((2 * norms + moved) * moved))
        error += (len(F) + 4 * F.shape[1]) * EPS * float(k @ norms**2)
        curvature = F.T @ (k[:, None] * F)
    if not (np.isfinite(curvature).all() and math.isfinite(error)):
        return math.inf
    least = float(np.linalg.eigvalsh(curvature)[0]) - error
    return (1 + 1e-9) * size * math.sqrt(2 * gap / least) if least > 0 else math.inf
