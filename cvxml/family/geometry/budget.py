"""Metrics with a budget: the sum of D_A over similar pairs is at most 1. Their feasibility, and coordinates for them.

D_A is a squared distance in the metric A. The sum over similar pairs is <S, A> with S = sum e e^T over their
differences e = x_i - x_j, in any units of the features. Only directions in which a similar pair differs use the budget.
A dissimilar pair that differs in another direction could be moved apart without limit. The methods find such pairs in
rational numbers (numbers/span.py), and refuse them.

Proof. Let r be the rank of S, and T (d, r) any floats with T^T S T positive definite. Then e -> z = T^T e is one to one
on the span of the similar differences. For weights w of other differences in that span, and every psd A,

    sum_t w_t D_A(t)  <=  mu sum_similar D_A,    mu = lambda_max(sum_t w_t z_t z_t^T) / lambda_min(sum_similar z z^T),

if mu >= 0. T makes the second matrix the identity up to rounding. Both matrices are computed with error bounds. With
the unit of rounding u = 2^-53, the errors are at most:
- z = T^T e: (d + 2) u times |T|^T |e|.
- A sum of n products: n u times the sum of their absolute values.
- Eigenvalues: r u times the norm of the matrix.
- Numbers too small for a float: `FLOOR`.
The code uses EPS = 2 u, which leaves room for the rounding of the bounds themselves.
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

FLOOR = 2.0**-1000  # above the error of underflow in a few products of numbers near 1
FARTHEST = 1e50  # largest difference of a dissimilar pair, in units of the similar ones
BLOCK = 512  # rows summed at a time; rounding grows with the number of terms of a sum


@dataclass(frozen=True)
class BudgetFeasibility(Feasibility):
    """The feasibility of a metric A with a budget: how far it is from the psd cone, and how much it spends.

    spent: the sum over similar pairs of the squared distances in the psd matrix nearest to A. rounded: a bound of the
    rounding error of `spent`. away: a bound of the Frobenius distance between A and the metric that is judged in place
    of it (`examine_budget`).
    """

    spent: float = 0.0
    rounded: float = 0.0  # bound of the rounding error of `spent`
    away: float = 0.0  # bound of the Frobenius distance between the metric given and the metric judged

    @property
    def feasible(self) -> bool:
        """True if the metric is psd and `spent` is at most 1, up to rounding and tolerance.

        The tolerance is `FEASIBILITY_TOL`: relative to the norm for psd, and absolute for `spent`.
        """
        return self._within and super().feasible

    @property
    def _within(self) -> bool:
        return math.isfinite(self.spent) and self.spent <= 1 + FEASIBILITY_TOL + self.rounded

    @property
    def beyond_limits(self) -> float:
        """The larger of two numbers: `spent` - 1, and the distance from the psd cone divided by the norm of the matrix.

        The result is inf for the zero matrix.
        """
        return max(super().beyond_limits, self.spent - 1)

    def __str__(self) -> str:
        if self._within:
            return super().__str__()
        digits = 6 if self.spent > 1.00001 else 12
        spent = f"the sum over similar pairs is {self.spent:.{digits}g}, and at most 1 is allowed"
        return f"it is psd, but {spent}" if self.exact else f"{super().__str__()}; {spent}"


class MetricWithinBudget(NamedTuple):
    """The metric A that is judged: A_kl = factor psd_kl / (unit_k unit_l), with `unit` (d,) the units of the features.

    The sum of its squared distances over similar pairs is at most 1 + share, where `share` is due to rounding.

    Rounding may also make `psd` (d, d) slightly indefinite. But it is close to an exactly positive semidefinite matrix
    P: |e^T (P - psd) e| <= slack (sum_k |e_k| sqrt(psd_kk))^2 for all differences e, divided by `unit`.
    """

    psd: FloatArray  # (d, d), the largest entry between 1 and 2, or all 0
    unit: FloatArray  # (d,)
    factor: float
    slack: float
    share: float  # bound of the relative change of a distance by rounding of the budget

    def distances(self, E: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The squared distances (t,) e^T A e of the rows e of E (t, d), and bounds (t,) of their errors.

        The bounds do not include the relative error `share` of the budget.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            D, error = _distances(E / self.unit, self.psd, self.slack)
            return D * self.factor, error * self.factor

    @property
    def matrix(self) -> FloatArray:
        """The matrix (d, d) in the given units of the features, rounded."""
        with np.errstate(over="ignore"):
            A: FloatArray = self.psd * self.factor / self.unit[:, None] / self.unit
        return A


def _distances(E: FloatArray, psd: FloatArray, slack: float) -> tuple[FloatArray, FloatArray]:
    """The values e^T psd e (t,) of the rows e of E (t, d), clipped at 0, and bounds (t,) of their errors.

    psd (d, d): the floats of `MetricWithinBudget`, close to an exactly positive semidefinite P. The exact value is
    e^T P e, and |e^T (P - psd) e| <= slack (sum_k |e_k| sqrt(psd_kk))^2. E is in the same units of the features.
    """
    if slack == 0:  # psd is diagonal
        squares = E**2
        D = squares @ np.diag(psd)
        least = FLOOR * 2 * (1 + len(psd) * squares.sum(axis=1))  # at least FLOOR (1 + sum |e|)^2
        return D, (len(psd) + 3) * EPS * D + least * bool(psd.any())
    size, root = np.abs(E), np.sqrt(np.diag(psd))
    rounded = (len(psd) + 3) * EPS * quadratic(size, np.abs(psd))
    error = rounded + slack * (size @ root) ** 2 + FLOOR * (1 + size.sum(axis=1)) ** 2 * bool(psd.any())
    return np.maximum(quadratic(E, psd), 0.0), error


def examine_budget(
    A: FloatArray, similar: FloatArray, unit: FloatArray | None = None
) -> tuple[MetricWithinBudget, BudgetFeasibility]:
    """The metric P_+(A) / max(1, spent) that is judged in place of A (d, d), and the feasibility of A.

    P_+(A) is the psd matrix nearest to A. spent: the sum over similar pairs of the squared distances in P_+(A).
    similar (s, d): the differences e of the similar pairs, or other vectors with the same sum of e e^T.
    unit (d,): the units of the features, powers of two; default: near the largest entry of each column of `similar`.
    It must be given if `similar` holds other vectors.

    The projection is computed with each feature divided by its unit. In the given units, the rounding of a large
    feature could exceed the entries of a small one. For the same reason, A is tested twice: in the given units and in
    those of the features. It must be symmetric and psd, within tolerance, in both. An exactly symmetric and psd A is
    judged unchanged if the computed `spent` is at most 1.
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
    """The psd projection Q = P_+(own) of a matrix in feature units, (d, d), and a bound `slack` of its rounding error.

    Q is close to an exactly psd matrix P: |e^T (P - Q) e| <= slack (sum_k |e_k| sqrt(Q_kk))^2 for every vector e.

    A diagonal Q has the slack 0. Otherwise the result of `examine` is scaled to a unit diagonal. If the scaled matrix
    is psd up to rounding, Q is the result of `examine`. Else it is projected once more. This projection is a product
    T T^T, so it differs from a psd matrix by the rounding of the product only.
    """
    d = len(own)
    psd = examine(own)[0]
    if np.array_equal(psd, np.diag(np.diag(psd))):
        return np.maximum(psd, 0.0), 0.0
    root = np.sqrt(np.maximum(np.diag(psd), 0.0))
    size = np.outer(root, root)
    scaled = np.divide(psd, size, out=np.zeros_like(psd), where=size > 0)
    # A matrix with an entry twice as large as its diagonal allows is not psd, even if computed eigenvalues are >= 0.
    if (np.abs(psd) > 2 * size).any() or np.linalg.eigvalsh(scaled)[0] < -d * d * EPS:
        psd = project_psd(psd)
    return psd, 2 * d * (d + 1) * EPS


class BudgetCoordinates(NamedTuple):
    """Coordinates z (r,) of differences e = back z, with sum z z^T = I over the similar pairs, up to rounding.

    to, back (d, r): z = to^T e and to^T back = I. A metric M (r, r) of z is the metric A = to M to^T of e, and
    sum_similar D_A = trace M.

    unit (d,): the unit of each feature, a power of two. least: a proved lower bound of the eigenvalues of sum z z^T.

    hidden: the number of directions that are left out although similar pairs differ there.
    """

    to: FloatArray  # (d, r): z = e to
    back: FloatArray  # (d, r): to^T back = I
    unit: FloatArray  # (d,) the unit of each feature, powers of two
    least: float  # proved lower bound of the eigenvalues of sum z z^T
    hidden: int  # number of directions that are left out although similar pairs differ there

    @property
    def undecided(self) -> str:
        """The reason why a result in these coordinates is no proof, as a sentence; empty without such a reason."""
        if self.hidden:
            return hidden_directions(self.hidden, "similar pairs")
        if not self.least > 0:
            return (
                "similar pairs differ so little in a direction that the difference may be rounding: leave out "
                "features that others nearly determine, or round them so that others determine them exactly"
            )
        return ""

    def inside(self, A: FloatArray) -> FloatArray:
        """The metric of z (r, r) with the same distances as the metric A (d, d), for every difference e = back z."""
        M: FloatArray = self.back.T @ A @ self.back
        return (M + M.T) / 2

    def outside(self, M: FloatArray) -> FloatArray:
        """The metric to M to^T (d, d) of e, for a metric M (r, r) of z."""
        A: FloatArray = self.to @ M @ self.to.T
        return (A + A.T) / 2

    def images(self, E: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The coordinates z (t, r) of the rows of E (t, d), and a bound (t,) of the distance of each to the exact z."""
        with np.errstate(over="ignore", invalid="ignore"):
            wide: FloatArray = np.linalg.norm(np.abs(E) @ np.abs(self.to), axis=1)
            return E @ self.to, (len(E.T) + 3) * EPS * wide + FLOOR


class Most(NamedTuple):
    """An upper bound of sum_t w_t D_A(t), for weights w_t of pairs t and every metric A within the budget.

    value: the bound; inf if no bound is proved. error: the part of `value` that allows for rounding.
    """

    value: float  # inf if there is no proved bound
    error: float


def check_units(similar: FloatArray, dissimilar: FloatArray) -> None:
    """Raise ValueError if a metric for these differences, or their distances, would overflow or underflow.

    similar, dissimilar: the differences x_i - x_j of the similar and of the dissimilar pairs, as rows.
    """
    unit = units_of(similar)
    if not 1 / UNITS <= unit.min() <= unit.max() <= UNITS:
        raise ValueError(
            f"similar pairs differ by about {unit.min():.3g} to {unit.max():.3g} in a feature: a metric in "
            "these units is outside the range of double precision; rescale X"
        )
    if (np.abs(dissimilar) > FARTHEST * unit).any():
        raise ValueError(
            f"a dissimilar pair differs by more than {FARTHEST:g} times the largest difference of similar pairs "
            "in a feature: its distance is outside the range of double precision; leave out such points"
        )


def budget(similar: FloatArray, rank: int | None) -> BudgetCoordinates:
    """The coordinates for the differences `similar` (s, d) of the similar pairs, which are not all zero.

    rank: the exact rank of their span (numbers/span.py). A direction is left out if its spread is below `RANK` times
    the largest spread, with each feature in its own unit. If the rank shows that the pairs differ there, the direction
    is counted as hidden. If rank is None, the number of coordinates is taken as the rank, and sum z z^T = I is assumed.
    Only solvers use None, because bounds are then not proved.
    """
    unit = units_of(similar)
    # R of a QR decomposition has the same S as all pairs, and is small.
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
    """An upper bound mu >= 0: sum_t w_t D_A(t) <= mu sum_similar D_A for every psd A; inf without a proof.

    Row t of E (m, d) is a difference in the span of the similar ones, with the weight w_t in [-1, 1].
    """
    C, error = _form(at, E, w)
    if at.undecided or not (math.isfinite(error) and np.isfinite(C).all()):
        return Most(math.inf, math.inf)
    largest = float(np.linalg.eigvalsh(C)[-1])
    value = max(0.0, largest + error) / at.least * (1 + 4 * EPS)
    return Most(value, max(0.0, value - largest))


def _form(at: BudgetCoordinates, E: FloatArray, w: FloatArray) -> tuple[FloatArray, float]:
    """The matrix sum_t w_t z_t z_t^T (r, r) and an error bound of its eigenvalues.

    z_t are the coordinates `at` of row t of E (m, d), and w_t is its weight in w (m,).
    """
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
    """Remove the lower bound and the gap from a step of a solver's history.

    Solvers use `budget` with rank=None, so their bounds are not proved.
    """
    return replace(step, lower_bound=-math.inf, gap=math.inf)
