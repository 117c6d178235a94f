"""Metrics with a budget: sum over similar pairs of D_A(i, j) is at most 1. Feasibility, and coordinates for it.

A sum over pairs of D_A is <S, A> with S = sum e e^T over their differences e = x_i - x_j, in any units of the features.
Only directions in which a similar pair differs cost anything. In coordinates of these directions in which S is the
identity the budget is the trace; a pair that differs in another direction can be moved apart at no cost at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cvxml.coordinates import RANK, UNITS
from cvxml.metric import FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.symmetric import quadratic

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class BudgetFeasibility(Feasibility):
    """A metric that must also keep to the budget: `spent` is its sum over similar pairs, at most 1."""

    spent: float = 0.0
    rounded: float = 0.0  # what rounding may have done to `spent`
    away: float = 0.0  # Frobenius distance of the metric that is judged

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL`, of the norm and of the budget, or within rounding."""
        return self._within and super().feasible

    @property
    def _within(self) -> bool:
        return self.spent <= 1 + FEASIBILITY_TOL + self.rounded

    def __str__(self) -> str:
        if self._within:
            return super().__str__()
        return f"{super().__str__()}; sum over similar pairs {self.spent:.6g}, allowed 1"


def examine_budget(A: FloatArray, similar: FloatArray) -> tuple[FloatArray, BudgetFeasibility]:
    """P_+(A) / max(1, spent), and how far A (d, d) was from it; similar (s, d): differences of the similar pairs.

    The projection is that of the features in units of their own, powers of two: in the units given, rounding of a
    feature that is small would be all there is of one that is large. A symmetric psd matrix within budget comes back
    unchanged. Beyond all floats it is the zero matrix, spent inf.
    """
    unit = units_of(similar)
    found = examine(A)[1]
    with np.errstate(over="ignore", invalid="ignore"):
        own = A * unit[:, None] * unit
        largest = float(np.abs(own).max())
        if not math.isfinite(largest):
            beyond = BudgetFeasibility(
                found.asymmetry, found.min_eigenvalue, found.distance, found.norm, math.inf, 0.0, found.norm
            )
            return np.zeros_like(A), beyond
        size = 2.0 ** np.floor(np.log2(largest)) if largest > 0 else 1.0  # exact, and nothing overflows
        psd, E = examine(own / size)[0], similar / unit
        share = max(0.0, float(np.sum(quadratic(E, psd))))
        off = 64 * EPS * float(np.sum(quadratic(np.abs(E), np.abs(psd))))
        spent = share * size
        judged = (psd * size if spent <= 1 else psd / share) / unit[:, None] / unit
        away = float(np.linalg.norm(A - judged))
    return judged, BudgetFeasibility(
        found.asymmetry, found.min_eigenvalue, found.distance, found.norm, spent, off * size, away
    )


class Budget(NamedTuple):
    """Coordinates z (r,) of differences e = back z, with sum z z^T = I over the similar pairs.

    A metric M (r, r) of z is A = to M to^T of e, and sum_similar D_A = trace M.
    """

    to: FloatArray  # (d, r): z = e to
    back: FloatArray  # (d, r): to^T back = I
    unit: FloatArray  # (d,) of each feature, powers of two
    span: FloatArray  # (d, r): orthonormal, of the differences in these units

    def inside(self, A: FloatArray) -> FloatArray:
        """The matrix (r, r) of the same distances as A (d, d)."""
        M: FloatArray = self.back.T @ A @ self.back
        return (M + M.T) / 2

    def outside(self, M: FloatArray) -> FloatArray:
        """The matrix (d, d) of the same distances as M (r, r), zero where no similar pair differs."""
        A: FloatArray = self.to @ M @ self.to.T
        return (A + A.T) / 2

    def free(self, E: FloatArray) -> np.ndarray:
        """Which rows of E (t, d) differ in a direction in which no similar pair does: (t,) of True and False.

        Or differ there so little, `RANK` of the row, that it is as good as nothing.
        """
        own, unlimited = E / self.unit, ~self.span.any(axis=1)  # features in which no similar pair differs
        beyond = np.linalg.norm(own - own @ self.span @ self.span.T, axis=1)
        far = np.linalg.norm(E @ self.to, axis=1) > 1 / RANK
        tilted = beyond > RANK * np.linalg.norm(own, axis=1)
        return np.asarray(tilted | far | E[:, unlimited].any(axis=1))


def budget(similar: FloatArray) -> Budget:
    """The coordinates for differences `similar` (s, d) of the similar pairs, at least one of them not zero.

    A spread below `RANK` of the largest, each feature in its own unit, is taken for none.
    Raises ValueError where a metric of these units cannot be written in double precision.
    """
    unit = units_of(similar)
    if not 1 / UNITS <= unit.min() <= unit.max() <= UNITS:
        raise ValueError(
            f"similar pairs differ by about {unit.min():.3g} to {unit.max():.3g} in a feature: a metric of such units "
            "cannot be written in double precision; rescale X"
        )
    # the triangle has the same S, and is small
    _, s, Vt = np.linalg.svd(np.linalg.qr(similar / unit, mode="r"), full_matrices=False)
    keep = s > RANK * s[0]
    s, V = s[keep], Vt[keep].T
    return Budget(V / s / unit[:, None], V * s * unit[:, None], unit, V)


def units_of(E: FloatArray) -> FloatArray:
    """A power of two (d,) near the largest entry of each column of E (t, d); 1 where all are zero."""
    largest = np.abs(E).max(axis=0)
    seen = largest > 0
    unit: FloatArray = np.where(seen, 2.0 ** np.round(np.log2(np.where(seen, largest, 1.0))), 1.0)
    return unit
