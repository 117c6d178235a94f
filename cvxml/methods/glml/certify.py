"""The certificate of a local metric: how far |tr A^-1 B| is from what no metric of determinant 1 goes below.

B is normalised first (curvature.py), so that the figures mean something. With M = A^-1 and D the dimension:

definite B    for s B >> 0 and any y, u >= 0 (problem.py, `dual`), every M with |M| >= 1 has
                  (tr M B)^2  >=  D u - D u log(u / y) + u log det(s B) - y^2 / 4;
              the best of these is the arithmetic-geometric mean, (D |det B|^(1/D))^2. Scale: the bound at its best.
otherwise     the bound is 0. Scale: |tr M B| ||M||, so that gap / scale is |tr M B| / ||M||, the cosine of M and B.
              For a B that is singular and semidefinite no metric has gap 0: the infimum is not attained.

Repair. y and u are set to 0 where the sign of y is not that of a definite B, or u is negative or no number.

Radius, for definite B. With r = |tr M B| / (D |det B|^(1/D)), the eigenvalues m of M relative to the optimum have mean
r and product 1, so sum (m - 1 - log m) = D (r - 1). Those of A relative to A* are 1/m, hence with a > 1 the root of
1/a - 1 + log a = D (r - 1):   ||A - A*|| <= (a - 1) ||A*||_2   (the Frobenius norm on the left).

The metric must have determinant 1, to 1e-6 of its scale; it is divided by |A|^(1/D) before it is judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from cvxml.metric import FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.result import Certificate

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class UnitFeasibility(Feasibility):
    """A metric that must also have determinant 1: log_det / D is the logarithm of its scale."""

    log_det: float = 0.0
    d: int = 1
    rounded: float = 0.0  # what rounding its entries may have done to log_det

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, relative to the norm and to the scale, or within rounding."""
        return self._unit and super().feasible

    @property
    def _unit(self) -> bool:
        allowed = FEASIBILITY_TOL * self.d + self.rounded
        return math.isfinite(self.log_det) and abs(self.log_det) <= allowed

    def __str__(self) -> str:
        if self._unit:
            return super().__str__()
        det = (
            f"its determinant is exp({self.log_det:.6g}), not 1"
            if math.isfinite(self.log_det)
            else "it is singular"
        )
        return f"{super().__str__()}; {det}"


def examine_unit(A: FloatArray) -> tuple[FloatArray, UnitFeasibility]:
    """P_+(A), and how far A (d, d) is from a metric of determinant 1."""
    psd, found = examine(A)
    values = np.linalg.eigvalsh(psd)
    log_det = float(np.sum(np.log(values))) if values[0] > 0 else -math.inf
    # an eigenvalue is off by eps of the largest, and its logarithm by that over itself
    rounded = EPS * float(np.sum(values[-1] / values)) if values[0] > 0 else 0.0
    return psd, UnitFeasibility(
        found.asymmetry,
        found.min_eigenvalue,
        found.distance,
        found.norm,
        log_det=log_det,
        d=len(A),
        rounded=rounded,
    )


def certify_at(B: FloatArray, A: FloatArray, y: float, u: float, noise: float = 0.0) -> Certificate:
    """Certificate of the metric A (d, d) for B (d, d) of norm 1 (or 0), from any dual variables y and u.

    noise: by how much, in norm, rounding may have moved B itself.
    """
    d = len(B)
    psd, feasibility = examine_unit(A)
    values, vectors = np.linalg.eigh(psd)
    log_det = feasibility.log_det
    if not math.isfinite(log_det):
        nothing = {"y": np.zeros(1), "u": np.zeros(1)}
        return Certificate("global", math.inf, 0.0, math.inf, 1.0, 0.0, math.inf, feasibility, nothing)
    inverse = math.exp(log_det / d) / values
    along = np.einsum("de,dk,ek->k", B, vectors, vectors)
    t, size = float(inverse @ along), float(np.linalg.norm(inverse))
    off = ((64 + d) * EPS + noise) * size  # of t: ||B|| is 1
    # eigenvalues and eigenvectors are off by eps of the largest: A^-1 by its condition number times that
    off += 4 * EPS * float(inverse.max() * values[-1] / values[0]) + abs(t) * feasibility.rounded / d
    y, u, best, log_off = _repaired(B, y, u, noise)
    bound = max(0.0, _bound(B, y, u))
    gap = max(0.0, t**2 - bound)
    scale = best if best > 0 else size * max(abs(t), off)
    rounding = (2 * abs(t) + off) * off + best * log_off
    radius = _radius(B, t, best, rounding) if best > 0 else math.inf
    return Certificate(
        kind="global",
        objective=t**2,
        lower_bound=bound,
        gap=gap,
        scale=scale,
        rounding=rounding,
        # judged is P_+(A) of determinant 1
        radius=radius + feasibility.distance + feasibility.norm * abs(math.expm1(-log_det / d)),
        feasibility=feasibility,
        dual={"y": np.array([y]), "u": np.array([u])},
    )


def best_dual(B: FloatArray, noise: float = 0.0) -> tuple[float, float]:
    """y and u of the best bound: y = 2 D b, u = b y with b = |det B|^(1/D); 0 where B is not definite."""
    values = np.linalg.eigvalsh(B)
    if not _is_definite(values, noise):
        return 0.0, 0.0
    b = math.exp(float(np.mean(np.log(np.abs(values)))))
    y = 2 * len(B) * b
    return math.copysign(y, values[0]), b * y


def _is_definite(values: np.ndarray, noise: float) -> bool:
    """All of one sign, by more than rounding and `noise`."""
    allowed = noise + 64 * EPS * float(np.abs(values).max())
    return bool(values[0] > allowed or values[-1] < -allowed)


def _repaired(B: FloatArray, y: float, u: float, noise: float) -> tuple[float, float, float, float]:
    """y, u, the best bound, and what rounding may do to it, relatively."""
    values = np.linalg.eigvalsh(B)
    if not _is_definite(values, noise):
        return 0.0, 0.0, 0.0, 0.0
    d = len(B)
    best = (d * math.exp(float(np.mean(np.log(np.abs(values)))))) ** 2
    log_off = 2 / d * float(np.sum((64 * EPS + noise) / np.abs(values)))
    usable = math.isfinite(y) and math.isfinite(u) and u > 0 and y * values[0] > 0
    return (y, u, best, log_off) if usable else (0.0, 0.0, best, log_off)


def _bound(B: FloatArray, y: float, u: float) -> float:
    if u == 0:
        return 0.0
    d, log_det = len(B), float(np.sum(np.log(np.abs(np.linalg.eigvalsh(B)))))
    value = d * u - d * u * (math.log(u) - math.log(abs(y))) + u * log_det - y * y / 4
    return value if math.isfinite(value) else 0.0


def _radius(B: FloatArray, t: float, best: float, rounding: float) -> float:
    d = len(B)
    excess = d * (math.sqrt((t**2 + rounding) / best) - 1)
    if excess <= 0:
        return 0.0

    def missing(log_a: float) -> float:
        return math.expm1(-log_a) + log_a - excess

    log_a = float(brentq(missing, 0.0, 1 + excess, xtol=1e-15, rtol=8 * EPS))
    size = np.abs(np.linalg.eigvalsh(B))
    largest = float(size.max()) / math.exp(float(np.mean(np.log(size))))  # of A*
    return math.expm1(log_a) * largest if log_a < 700 else math.inf
