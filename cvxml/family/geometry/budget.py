"""Metrics with a budget: sum over similar pairs of D_A(i, j) is at most 1. Feasibility, and coordinates for it.

A sum over pairs of D_A is <S, A> with S = sum e e^T over their differences e = x_i - x_j, in any units of the features.
Only directions in which a similar pair differs cost anything; whether a dissimilar pair differs in another, and could
be moved apart at no cost at all, is a fact about rational numbers (span.py), and is taken for decided here.

Proof. Let r be the rank of S, and T (d, r) any floats such that T^T S T is positive definite: then e -> z = T^T e is
one to one on the span of the similar differences. For weights w of other differences in that span, and every psd A,
    sum_t w_t D_A(t)  <=  mu sum_similar D_A,    mu = lambda_max(sum_t w_t z_t z_t^T) / lambda_min(sum_similar z z^T).
T makes the second matrix the identity but for rounding. Both are computed, with a bound of what rounding did to them:
    z = T^T e is off by (d + 2) units of rounding of |T|^T |e|, a product of matrices by as many as there are terms,
    eigenvalues by r units of the matrix; a number too small for a float counts as `FLOOR`.
EPS is two units of rounding, which leaves room for the rounding of the bounds themselves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import (
    EPS,
    FEASIBILITY_TOL,
    Feasibility,
    FloatArray,
    examine,
    in_units,
    project_psd,
    units_of,
)
from cvxml.core.result import Step
from cvxml.family.geometry.coordinates import RANK, UNITS, hidden_directions
from cvxml.family.geometry.symmetric import quadratic, weighted

FLOOR = 2.0**-1000  # more than what underflows in a few products of numbers near 1
FARTHEST = 1e50  # of a dissimilar pair, in units of the similar ones: powers of it are no overflow
BLOCK = 512  # rows that are summed before blocks are: rounding grows with the terms of a sum


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
        return math.isfinite(self.spent) and self.spent <= 1 + FEASIBILITY_TOL + self.rounded

    def __str__(self) -> str:
        if self._within:
            return super().__str__()
        return f"{super().__str__()}; sum over similar pairs {self.spent:.6g}, allowed 1"


class MetricWithinBudget(NamedTuple):
    """The metric that is judged: factor * psd in units of the features, within the budget but for `share`.

    A psd matrix is near: P with |e^T (P - psd) e| <= slack (sum_k |e_k| sqrt(psd_kk))^2 for all e.
    """

    psd: FloatArray  # (d, d), the largest entry between 1 and 2, or all 0
    unit: FloatArray  # (d,)
    factor: float
    slack: float
    share: float  # of a distance: what rounding of the budget may do to it

    def distances(self, E: FloatArray) -> tuple[FloatArray, FloatArray]:
        """D of the rows of E (t, d), and what rounding may have done to each, that of the budget left out."""
        with np.errstate(over="ignore", invalid="ignore"):
            D, error = _distances(E / self.unit, self.psd, self.slack)
            return D * self.factor, error * self.factor

    @property
    def matrix(self) -> FloatArray:
        """(d, d), of the features; rounded."""
        with np.errstate(over="ignore"):
            A: FloatArray = self.psd * self.factor / self.unit[:, None] / self.unit
        return A


def _distances(E: FloatArray, psd: FloatArray, slack: float) -> tuple[FloatArray, FloatArray]:
    """e^T psd e of every row of E, floored at 0, and how far that of the psd matrix near may be from it."""
    if slack == 0:  # psd is diagonal
        squares = E**2
        D = squares @ np.diag(psd)
        least = FLOOR * 2 * (1 + len(psd) * squares.sum(axis=1))  # of numbers e at least (1 + sum |e|)^2
        return D, (len(psd) + 3) * EPS * D + least * bool(psd.any())
    size, root = np.abs(E), np.sqrt(np.diag(psd))
    rounded = (len(psd) + 3) * EPS * quadratic(size, np.abs(psd))
    error = rounded + slack * (size @ root) ** 2 + FLOOR * (1 + size.sum(axis=1)) ** 2 * bool(psd.any())
    return np.maximum(quadratic(E, psd), 0.0), error


def examine_budget(
    A: FloatArray, similar: FloatArray, unit: FloatArray | None = None
) -> tuple[MetricWithinBudget, BudgetFeasibility]:
    """P_+(A) / max(1, spent), and how far A (d, d) was from it; similar (s, d): differences of the similar pairs.

    unit (d,): of these, where others are given that have the same sum of squares.

    The projection is that of the features in units of their own, powers of two: in the units given, rounding of a
    feature that is small would be all there is of one that is large. So is what is symmetric and psd within
    tolerance: it must be so in these units too. A symmetric psd matrix within budget is judged unchanged.
    """
    unit = units_of(similar) if unit is None else unit
    found = examine(A)[1]
    own, exponent = in_units(A, unit)
    here = examine(own)[1]
    if found.feasible and not here.feasible:
        found = here
    psd, slack = _psd(own)
    D, error = _distances(similar / unit, psd, slack)
    with np.errstate(over="ignore", invalid="ignore"):
        share, size = float(D.sum()), float(np.ldexp(1.0, exponent)) if psd.any() else 0.0
        wide = float(error.sum()) + (len(D) + 2) * EPS * share
        spent, rounded = share * size if share else 0.0, wide * size  # size may be inf
        factor = size if spent <= 1 else 1 / share
        relative = rounded / max(1.0, spent) if math.isfinite(spent) else math.inf
        judged = MetricWithinBudget(psd, unit, factor, slack, relative)
        matrix = judged.matrix
        away = float(np.linalg.norm(A - matrix)) + (slack + relative) * float(np.trace(matrix))
    return judged, BudgetFeasibility(
        found.asymmetry, found.min_eigenvalue, found.distance, found.norm, spent, rounded, away
    )


def _psd(own: FloatArray) -> tuple[FloatArray, float]:
    """P_+(own) and the slack of `MetricWithinBudget`.

    If `own` has no negative eigenvalue, this must hold in units of its diagonal too.

    Else a projection is taken, G G^T of floats but for the rounding of a product.
    """
    d = len(own)
    psd = examine(own)[0]
    if np.array_equal(psd, np.diag(np.diag(psd))):
        return np.maximum(psd, 0.0), 0.0
    root = np.sqrt(np.maximum(np.diag(psd), 0.0))
    size = np.outer(root, root)
    scaled = np.divide(psd, size, out=np.zeros_like(psd), where=size > 0)
    # A matrix with an entry twice as large as its diagonal allows is not psd, whatever computed eigenvalues say.
    if (np.abs(psd) > 2 * size).any() or np.linalg.eigvalsh(scaled)[0] < -d * d * EPS:
        psd = project_psd(psd)
    return psd, 2 * d * (d + 1) * EPS


class BudgetCoordinates(NamedTuple):
    """Coordinates z (r,) of differences e = back z, with sum z z^T = I over the similar pairs, but for rounding.

    A metric M (r, r) of z is A = to M to^T of e, and sum_similar D_A = trace M.
    """

    to: FloatArray  # (d, r): z = e to
    back: FloatArray  # (d, r): to^T back = I
    unit: FloatArray  # (d,) of each feature, powers of two
    least: float  # no eigenvalue of sum z z^T is below; proved
    hidden: int  # directions in which similar pairs differ, and which are not among the coordinates

    @property
    def undecided(self) -> str:
        """Why nothing is proved in these coordinates, as a sentence; empty where something may be."""
        if self.hidden:
            return hidden_directions(self.hidden, "similar pairs")
        if not self.least > 0:
            return (
                "similar pairs differ so little in a direction that rounding may be all there is of it: leave out "
                "features that others nearly determine, or round them so that they do"
            )
        return ""

    def inside(self, A: FloatArray) -> FloatArray:
        """The matrix (r, r) of the same distances as A (d, d)."""
        M: FloatArray = self.back.T @ A @ self.back
        return (M + M.T) / 2

    def outside(self, M: FloatArray) -> FloatArray:
        """The matrix (d, d) of the same distances as M (r, r), zero where no similar pair differs."""
        A: FloatArray = self.to @ M @ self.to.T
        return (A + A.T) / 2

    def images(self, E: FloatArray) -> tuple[FloatArray, FloatArray]:
        """z of the rows of E (t, d), and how far each may be from it."""
        with np.errstate(over="ignore", invalid="ignore"):
            wide: FloatArray = np.linalg.norm(np.abs(E) @ np.abs(self.to), axis=1)
            return E @ self.to, (len(E.T) + 3) * EPS * wide + FLOOR


class Most(NamedTuple):
    """A bound of a sum of distances, for each unit of the budget; `error` of it is an allowance for rounding."""

    value: float  # inf where nothing is proved
    error: float


def check_units(similar: FloatArray, dissimilar: FloatArray) -> None:
    """Raises ValueError where a metric of these differences, or their distances, are no floats."""
    unit = units_of(similar)
    if not 1 / UNITS <= unit.min() <= unit.max() <= UNITS:
        raise ValueError(
            f"similar pairs differ by about {unit.min():.3g} to {unit.max():.3g} in a feature: a metric of such units "
            "cannot be written in double precision; rescale X"
        )
    if (np.abs(dissimilar) > FARTHEST * unit).any():
        raise ValueError(
            f"a dissimilar pair differs by more than {FARTHEST:g} times what similar pairs do in a feature: its "
            "distance cannot be written in double precision; leave out such points"
        )


def budget(similar: FloatArray, rank: int | None) -> BudgetCoordinates:
    """The coordinates for differences `similar` (s, d) of the similar pairs, at least one of them not zero.

    rank: that of their span, exactly (span.py). A spread below `RANK` of the largest, each feature in its own unit, is
    no coordinate; where the rank says that there is one, it is hidden. None: it is the number of coordinates, whose
    S is taken for I, which is for a solver and proves nothing.
    """
    unit = units_of(similar)
    # The triangle of a QR decomposition has the same S as all the pairs, and is small.
    _, s, Vt = np.linalg.svd(np.linalg.qr(similar / unit, mode="r"), full_matrices=False)
    count = int(np.count_nonzero(s > RANK * s[0]))
    kept = count if rank is None else min(count, rank)
    s, V = s[:kept], Vt[:kept].T
    at = BudgetCoordinates(V / s / unit[:, None], V * s * unit[:, None], unit, 1.0, 0)
    if rank is None:
        return at
    S, error = _form(at, similar, np.ones(len(similar)))
    return at._replace(least=float(np.linalg.eigvalsh(S)[0]) - error, hidden=rank - kept)


def most(at: BudgetCoordinates, E: FloatArray, w: FloatArray) -> Most:
    """mu with sum_t w_t D_A(t) <= mu sum_similar D_A for every psd A within the budget, mu >= 0.

    w (t,) in [-1, 1], differences E (t, d).
    """
    C, error = _form(at, E, w)
    if at.undecided or not (math.isfinite(error) and np.isfinite(C).all()):
        return Most(math.inf, math.inf)
    largest = float(np.linalg.eigvalsh(C)[-1])
    value = max(0.0, largest + error) / at.least * (1 + 4 * EPS)
    return Most(value, max(0.0, value - largest))


def _form(at: BudgetCoordinates, E: FloatArray, w: FloatArray) -> tuple[FloatArray, float]:
    """sum_t w_t z_t z_t^T (r, r), and how far its eigenvalues, as computed, may be from the true ones."""
    Z, error = at.images(E)
    r = Z.shape[1]
    M = np.zeros((r, r))
    with np.errstate(over="ignore", invalid="ignore"):
        for start in watched(range(0, len(Z), BLOCK)):
            M += weighted(Z[start : start + BLOCK], w[start : start + BLOCK])
        size, w = np.linalg.norm(Z, axis=1), np.abs(w)
        terms = min(len(Z), BLOCK) + len(Z) / BLOCK + 8
        moved = float(w @ ((2 * size + error) * error)) + FLOOR * float((1 + size).sum())
        return M, moved + (terms + 4 * r) * EPS * float(w @ size**2)


def unproved(step: Step) -> Step:
    """The step of a solver whose bound is one of `budget` with rank None, without it."""
    return replace(step, lower_bound=-math.inf, gap=math.inf)
