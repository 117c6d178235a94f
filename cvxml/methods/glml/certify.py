"""T with T S T^T = I, and a proved bound of what is missing to that.

The certificate of a local metric: how far |tr A^-1 B| is from what no metric of determinant 1 goes below.

B is normalised first (curvature.py), so that the figures mean something. With M = A^-1 and D the dimension:

definite B    for s B >> 0 and any y, u >= 0 (problem.py, `dual`), every M with |M| >= 1 has
                  (tr M B)^2  >=  D u - D u log(u / y) + u log det(s B) - y^2 / 4;
              the best of these is the arithmetic-geometric mean, (D |det B|^(1/D))^2. Scale: the bound at its best.
otherwise     the bound is 0. Scale: |tr M B| ||M||, so that gap / scale is |tr M B| / ||M||, the cosine of M and B.
              For a B that is singular and semidefinite no metric has gap 0: the infimum is not attained.
Which of the two it is must be proved for every B within `noise` (`sign_of`): where neither is, the bound is 0, which
holds for both, and the certificate says that it decides nothing, for the scales are not the same.

Rounding. With T A T^T = I + E, looked at afterwards (whitening.py), and F = (I + E)^-1, all that the condition of A
does is in e' = ||F - I||: A^-1 = T^T F T, so tr A^-1 B = tr F (T B T^T) is off by e' ||T B T^T||, and log |A| by
sqrt(D) e'. The same of sB for log |sB|, where ||E|| < 1 is the proof that sB is definite.

Repair. y and u are set to 0 where the sign of y is not that of a definite B, or u is negative or no number.

Radius, for definite B. With r = |tr M B| / (D |det B|^(1/D)), the eigenvalues m of M relative to the optimum have mean
r and product 1, so sum (m - 1 - log m) = D (r - 1). Those of A relative to A* are 1/m, hence with a > 1 the root of
1/a - 1 + log a = D (r - 1):   ||A - A*|| <= (a - 1) ||A*||_2   (the Frobenius norm on the left).

The metric must have determinant 1, to 1e-6 of its scale; it is divided by |A|^(1/D) before it is judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from cvxml.core.balls import balls, pivots, precision, total
from cvxml.core.metric import EPS, FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.core.result import Certificate
from cvxml.core.squares import whole

ENOUGH = 100  # the least singular value must be more than this many times the rounding error


def whitening(S: FloatArray) -> FloatArray:
    """T (d, d), lower triangular, with T S T^T = I up to rounding. Raises LinAlgError where none is found."""
    T: FloatArray = np.linalg.inv(np.linalg.cholesky(S))
    return np.tril(T)


def whitening_of(D: FloatArray, ridge: float) -> FloatArray | None:
    """The same of S = D^T D / n + ridge I, from the rows of D (n, d): D has the square root of the condition of S.

    None where double precision has no inverse of the rows either.
    """
    n, d = D.shape
    rows = np.vstack([D / math.sqrt(n), math.sqrt(ridge) * np.eye(d)])
    unit = np.linalg.norm(rows, axis=0)
    if not unit.all():
        return None
    R = np.linalg.qr(rows / unit, mode="r")
    values = np.linalg.svd(R, compute_uv=False)
    if len(R) < d or values[-1] <= ENOUGH * d * EPS * values[0]:
        return None
    T: FloatArray = np.tril(np.linalg.inv(R).T / unit)
    return T


def departure(T: FloatArray, S: FloatArray, off: FloatArray | float = 0.0) -> float:
    """A bound of ||T S* T^T - I||_F for every S* (d, d) within `off` of the symmetric S, entry by entry.

    Below 1 it proves that all of them are positive definite. The products are off by 2 (d + 1) eps of their sizes.
    """
    d, size = len(S), np.abs(T)
    with np.errstate(all="ignore"):
        missing = np.abs(T @ S @ T.T - np.eye(d))
        allowed = 2 * (d + 2) * EPS * np.abs(S) + off
        bound = float(np.linalg.norm(missing + size @ allowed @ size.T)) * (1 + (d + 8) * EPS)
    return bound if math.isfinite(bound) else math.inf


LARGEST = 64  # a metric that is all but singular is looked at exactly up to this size


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
            else "it is singular, where the determinant must be 1"
        )
        return f"{super().__str__()}; {det}"


def examine_unit(A: FloatArray) -> tuple[FloatArray, UnitFeasibility]:
    """P_+(A), and how far A (d, d) is from a metric of determinant 1."""
    psd, found = examine(A)
    known = _factor(psd)
    if known is None:
        log_det, rounded = _log_det_exactly((A + A.T) / 2 if found.feasible else psd), 0.0
    else:
        log_det, rounded = known.log_det, known.log_off
    unit = UnitFeasibility(
        found.asymmetry,
        found.min_eigenvalue,
        found.distance,
        found.norm,
        log_det=log_det,
        d=len(A),
        rounded=rounded,
    )
    return psd, unit


class Factor(NamedTuple):
    """Of a matrix that is proved positive definite, and of all that it may be instead."""

    T: FloatArray  # T S T^T = I + E
    inverse_off: float  # ||(I + E)^-1 - I||
    log_det: float
    log_off: float  # what log_det may be off by


def _factor(S: FloatArray, off: FloatArray | float = 0.0) -> Factor | None:
    """None where S (d, d), within `off` entry by entry, is not proved positive definite."""
    try:
        T = whitening(S)
    except np.linalg.LinAlgError:
        return None
    missing = departure(T, S, off)
    if not missing < 0.5:
        return None
    inverse_off = missing / (1 - missing)
    logs = np.log(T.diagonal())
    log_off = math.sqrt(len(S)) * inverse_off + (len(S) + 4) * EPS * float(np.abs(logs).sum())
    return Factor(T, inverse_off, -2 * float(logs.sum()), log_off)


def _log_det_exactly(S: FloatArray) -> float:
    """Of a symmetric matrix that double precision cannot tell from a singular one; -inf if it is not definite.

    Its minors are whole numbers of some unit, which so many bits tell from 0. In many dimensions that takes too long.
    """
    if not np.isfinite(S).all() or len(S) > LARGEST:
        return -math.inf
    rows, exponent = whole(S)
    bits = max(abs(int(entry)) for entry in rows.entries()).bit_length() + 8
    with precision(2 * len(S) * bits + 64):
        found = pivots(balls(rows, exponent))
        return -math.inf if found is None else float(total([pivot.log() for pivot in found]))


class Sign(NamedTuple):
    """What B is proved to be: the sign s with s B positive definite, or 0 where it is indefinite, or 0 itself."""

    s: int
    factor: Factor | None = None  # of s B


def sign_of(B: FloatArray, noise: FloatArray | float = 0.0) -> Sign | None:
    """What every symmetric matrix within `noise` of B (d, d) is, entry by entry; None where that is not proved."""
    off = np.broadcast_to(noise, B.shape)
    if not off.any() and not B.any():
        return Sign(0)
    s = 1 if float(np.trace(B)) > 0 else -1
    factor = _factor(s * B, off + 4 * EPS * EPS)
    if factor is not None:
        return Sign(s, factor)
    values = np.linalg.eigvalsh(B)
    # the Rayleigh quotients of the two eigenvectors, whatever else these are
    allowed = float(np.linalg.norm(off)) + (4 * len(B) + 64) * EPS * float(np.linalg.norm(B))
    return Sign(0) if values[0] < -allowed and values[-1] > allowed else None


SEMIDEFINITE = (
    "whether B is definite is not decided: its least eigenvalue is within what rounding may have done to it"
)
UNKNOWN = "B cannot be told from 0"
ILL = "the metric is so near to singular that double precision cannot compute with its inverse"


def certify_at(
    B: FloatArray,
    A: FloatArray,
    y: float,
    u: float,
    noise: FloatArray | float = 0.0,
    singular: bool = False,
) -> Certificate:
    """Certificate of the metric A (d, d) for B (d, d) of norm 1 (or 0), from any dual variables y and u.

    noise: by how much rounding may have moved B itself, entry by entry, (d, d) or one number. singular: B is known to
    be semidefinite and singular, exactly.
    """
    d = len(B)
    psd, feasibility = examine_unit(A)
    log_det, known = feasibility.log_det, _factor(psd)
    off = np.broadcast_to(noise, B.shape)
    if known is None or not np.isfinite(off).all():
        nothing = {"y": np.zeros(1), "u": np.zeros(1)}
        said = "" if not math.isfinite(log_det) else ILL if known is None else UNKNOWN
        return Certificate(
            "global", math.inf, 0.0, math.inf, 1.0, 0.0, math.inf, feasibility, nothing, undecided=said
        )
    t, t_off, size = _trace(B, off, known)
    sign = Sign(0) if singular else sign_of(B, off)
    if sign is None or sign.factor is None:
        y, u, bound, bound_off, scale = 0.0, 0.0, 0.0, 0.0, size * max(abs(t), t_off)
        radius = math.inf
    else:
        if not (math.isfinite(y) and math.isfinite(u) and u > 0 and y * sign.s > 0):
            y, u = 0.0, 0.0
        bound, bound_off = _bound(sign.factor, d, y, u)
        scale = (d * math.exp(sign.factor.log_det / d)) ** 2
        radius = _radius(B, off, sign.factor, (abs(t) + t_off) ** 2)
    return Certificate(
        kind="global",
        objective=t**2,
        lower_bound=bound,
        gap=max(0.0, t**2 - bound),
        scale=scale,
        rounding=(2 * abs(t) + t_off) * t_off + bound_off,
        # judged is P_+(A) of determinant 1
        radius=radius + feasibility.distance + feasibility.norm * abs(math.expm1(-log_det / d)),
        feasibility=feasibility,
        dual={"y": np.array([y]), "u": np.array([u])},
        undecided="" if sign is not None else SEMIDEFINITE,
    )


def _trace(B: FloatArray, off: FloatArray, known: Factor) -> tuple[float, float, float]:
    """tr A^-1 B of the metric over its |A|^(1/d), what that may be off by, and ||A^-1||."""
    d, T = len(B), known.T
    unit = math.exp(known.log_det / d)
    inverse = T.T @ T
    seen = T @ B @ T.T
    size = float(np.linalg.norm(inverse))
    t = float(np.trace(seen))
    added = np.abs(T) @ np.abs(B) @ np.abs(T).T
    wrong = known.inverse_off * float(np.linalg.norm(seen) + np.linalg.norm(added) * d * EPS)
    wrong += 2 * (d + 2) * EPS * float(np.trace(added))
    # of A^-1 = T^T F T entry by entry: T^T T, and at most ||T^T T|| e'
    reach = np.abs(inverse) + (known.inverse_off + 2 * d * EPS) * np.linalg.norm(T) ** 2
    wrong += float(np.sum(reach * off))
    share = math.expm1(known.log_off / d + 4 * EPS)  # of the unit
    return unit * t, unit * (wrong * (1 + share) + abs(t) * share) * (1 + 8 * EPS), unit * size


def best_dual(B: FloatArray, noise: FloatArray | float = 0.0) -> tuple[float, float]:
    """y and u of the best bound: y = 2 D b, u = b y with b = |det B|^(1/D); 0 where B is not proved definite."""
    sign = sign_of(B, noise)
    if sign is None or sign.factor is None:
        return 0.0, 0.0
    b = math.exp(sign.factor.log_det / len(B))
    y = 2 * len(B) * b
    return sign.s * y, b * y


def _bound(B: Factor, d: int, y: float, u: float) -> tuple[float, float]:
    """What y and u prove, at least 0, rounding taken off; and by how much more they may prove."""
    if u == 0:
        return 0.0, 0.0
    parts = (d * u, -d * u * math.log(u), d * u * math.log(abs(y)), u * B.log_det, -y * y / 4)
    if not sum(map(abs, parts)) < 1e300:
        return 0.0, 0.0
    value = math.fsum(parts)
    off = u * B.log_off + 4 * EPS * math.fsum(map(abs, parts))
    if not math.isfinite(value + off):
        return 0.0, 0.0
    return max(0.0, value - off), 2 * off


def _radius(B: FloatArray, off: FloatArray, factor: Factor, above: float) -> float:
    """above: at least the true objective."""
    d = len(B)
    b = math.exp((factor.log_det - factor.log_off) / d)  # at most the true one
    excess = d * (math.sqrt(above) / (d * b) - 1)
    if excess <= 0:
        return 0.0
    if not math.isfinite(excess):
        return math.inf

    def missing(log_a: float) -> float:
        return math.expm1(-log_a) + log_a - excess

    log_a = float(brentq(missing, 0.0, 1 + excess, xtol=1e-15, rtol=8 * EPS))
    largest = float(np.linalg.norm(B, 2) + np.linalg.norm(off)) / b  # of A*
    return math.expm1(log_a) * largest * (1 + 64 * EPS) if log_a < 700 else math.inf
