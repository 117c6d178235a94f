"""The certificate of a local metric A for a given B: a lower bound of (tr A^-1 B)^2 over all metrics of determinant 1.

B is symmetric (D, D) and normalised first, because only its direction matters (solver.py). |A| is the determinant, and
||A|| the Frobenius norm. Let M = A^-1:

definite B    Let s B be positive definite, s = 1 or -1. For any y, u >= 0 every M with |M| >= 1 satisfies
                  (tr M B)^2  >=  D u - D u log(u / y) + u log det(s B) - y^2 / 4       (problem.py, `dual`).
              The best y and u give (D |det B|^(1/D))^2, by the inequality of the arithmetic and geometric mean. Scale:
              that best bound.
otherwise     The bound is 0. Scale: |tr M B| ||M||, so gap / scale is |tr M B| / ||M||, the cosine between M and B.
              If B is singular and semidefinite, no metric has gap 0, because the infimum is not attained.

In the functions, y has the sign s, and the formula uses |y|. `sign_of` proves which case holds for every B within
`noise`, a bound of the error of its entries. If neither case is proved, the bound is 0, which holds in both cases. Then
the certificate proves no gap, because the two cases have different scales; its field `undecided` has the reason.

Rounding. We compute T with T A T^T = I + E, and bound ||E|| afterwards (`departure`). Let F = (I + E)^-1. Then
A^-1 = T^T F T, and the condition number of A enters through e' = ||F - I|| only. The error of tr A^-1 B, which is
tr F (T B T^T), is at most e' ||T B T^T||, and the error of log |A| at most sqrt(D) e'. The same holds for s B and log
|s B|, where ||E|| < 1 proves that s B is positive definite.

Repair. y and u are replaced by 0 if the sign of y is not the sign s, or if u is not a positive number.

Radius, for definite B. A* is the optimum. Let r = |tr M B| / (D |det B|^(1/D)). The eigenvalues m of M relative to the
optimum have mean r and product 1, so sum (m - 1 - log m) = D (r - 1). The eigenvalues of A relative to A* are 1/m.
Let a > 1 be the root of 1/a - 1 + log a = D (r - 1). Then ||A - A*|| <= (a - 1) ||A*||_2, with the spectral norm on the
right.

The metric must have determinant 1: its scale |A|^(1/D) must be 1 up to 1e-6. Objective and gap are those of the metric
A / |A|^(1/D). The radius is for A itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from cvxml.core.balls import balls, pivots, precision, total
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import EPS, FEASIBILITY_TOL, Feasibility, FloatArray, examine
from cvxml.core.result import Certificate

MIN_RATIO_TO_ERROR = 100  # the least singular value must exceed its rounding error by this factor
LARGEST = 64  # most features for which the determinant of a nearly singular metric is computed exactly
TINY = 1e-100  # the largest entry of a metric below which it is scaled up before it is inverted
NOT_DECIDED = (
    "double precision does not decide whether B is definite: its least eigenvalue is smaller than its "
    "rounding error"
)
PERHAPS_ZERO = "B cannot be distinguished from 0"
NEARLY_SINGULAR = "the metric is nearly singular: its inverse cannot be computed in double precision"


def certify_at(
    B: FloatArray,
    A: FloatArray,
    y: float,
    u: float,
    noise: FloatArray | float = 0.0,
    singular: bool = False,
) -> Certificate:
    """Return the certificate of the metric A (d, d) for B (d, d) of norm 1 (or 0), from any dual variables y and u.

    noise: a bound of the error of B, entry by entry, (d, d) or one number.

    singular: True if B is proved to be semidefinite and singular, in exact arithmetic; then the bound is 0.
    """
    d = len(B)
    psd, feasibility = examine_unit(A)
    log_det, factor = feasibility.log_det, _factor(_scaled_up(psd))
    error = np.broadcast_to(noise, B.shape)
    if factor is None or not np.isfinite(error).all():
        zeros = {"y": np.zeros(1), "u": np.zeros(1)}
        reason = "" if not math.isfinite(log_det) else NEARLY_SINGULAR if factor is None else PERHAPS_ZERO
        return Certificate(
            "global", math.inf, 0.0, math.inf, 1.0, 0.0, math.inf, feasibility, zeros, undecided=reason
        )
    t, t_error, size = _trace(B, error, factor)
    sign = Sign(0) if singular else sign_of(B, error)
    if sign is None or sign.factor is None:
        y, u, bound, bound_error, scale = 0.0, 0.0, 0.0, 0.0, size * max(abs(t), t_error)
        radius = math.inf
    else:
        if not (math.isfinite(y) and math.isfinite(u) and u > 0 and y * sign.s > 0):
            y, u = 0.0, 0.0
        bound, bound_error = _bound(sign.factor, d, y, u)
        scale = (d * math.exp(sign.factor.log_det / d)) ** 2
        radius = _radius(B, error, sign.factor, (abs(t) + t_error) ** 2)
    return Certificate(
        kind="global",
        objective=t**2,
        lower_bound=bound,
        gap=max(0.0, t**2 - bound),
        scale=scale,
        rounding=(2 * abs(t) + t_error) * t_error + bound_error,
        # the certificate is for the psd part of A, scaled to determinant 1
        radius=radius + feasibility.distance + feasibility.norm * _relative_change(-log_det / d),
        feasibility=feasibility,
        dual={"y": np.array([y]), "u": np.array([u])},
        undecided="" if sign is not None else NOT_DECIDED,
    )


def best_dual(B: FloatArray, noise: FloatArray | float = 0.0) -> tuple[float, float]:
    """Return y = 2 s D b and u = 2 D b^2 with b = |det B|^(1/D), the dual variables of the best bound.

    s = 1 or -1 is the sign that makes s B (D, D) positive definite. If this is not proved for either sign, y and u are
    0. noise: a bound of the error of B, entry by entry.
    """
    sign = sign_of(B, noise)
    if sign is None or sign.factor is None:
        return 0.0, 0.0
    b = math.exp(sign.factor.log_det / len(B))
    y = 2 * len(B) * b
    return sign.s * y, b * y


def _relative_change(log_factor: float) -> float:
    """Return |exp(log_factor) - 1|; inf where that overflows."""
    with np.errstate(over="ignore"):
        return abs(float(np.expm1(log_factor)))


def _scaled_up(A: FloatArray) -> FloatArray:
    """Return A; or, if all entries of A are tiny, A times a power of two, so that its inverse does not overflow.

    Only A / |A|^(1/d) matters to the caller.
    """
    largest = float(np.abs(A).max())
    if 0 < largest < TINY:
        scaled: FloatArray = np.ldexp(A, -math.frexp(largest)[1])
        return scaled
    return A


def _trace(B: FloatArray, error: FloatArray, factor: Factor) -> tuple[float, float, float]:
    """Return tr A^-1 B, a bound of its error, and ||A^-1||, for the metric A divided by |A|^(1/d).

    factor: the proof that A is positive definite, which also gives A^-1. error (d, d): a bound of the error of B, entry
    by entry.
    """
    d, T = len(B), factor.T
    unit = math.exp(factor.log_det / d)
    inverse = T.T @ T
    mapped = T @ B @ T.T
    size = float(np.linalg.norm(inverse))
    t = float(np.trace(mapped))
    absolute = np.abs(T) @ np.abs(B) @ np.abs(T).T
    trace_error = factor.inverse_error * float(np.linalg.norm(mapped) + np.linalg.norm(absolute) * d * EPS)
    trace_error += 2 * (d + 2) * EPS * float(np.trace(absolute))
    # the entries of A^-1 = T^T F T are at most those of |T^T T| plus e' ||T||^2
    largest = np.abs(inverse) + (factor.inverse_error + 2 * d * EPS) * np.linalg.norm(T) ** 2
    trace_error += float(np.sum(largest * error))
    share = math.expm1(factor.log_error / d + 4 * EPS)  # relative error of `unit`
    return unit * t, unit * (trace_error * (1 + share) + abs(t) * share) * (1 + 8 * EPS), unit * size


def _bound(B: Factor, d: int, y: float, u: float) -> tuple[float, float]:
    """Return the lower bound from y and u after subtraction of its rounding error, and twice this error.

    A negative lower bound is replaced by 0. Both numbers are 0 if u is 0, or if a number overflows. B: not the matrix,
    but the proof that the matrix B or -B (d, d) is positive definite.
    """
    if u == 0:
        return 0.0, 0.0
    parts = (d * u, -d * u * math.log(u), d * u * math.log(abs(y)), u * B.log_det, -y * y / 4)
    if not sum(map(abs, parts)) < 1e300:
        return 0.0, 0.0
    value = math.fsum(parts)
    error = u * B.log_error + 4 * EPS * math.fsum(map(abs, parts))
    if not math.isfinite(value + error):
        return 0.0, 0.0
    return max(0.0, value - error), 2 * error


def _radius(B: FloatArray, error: FloatArray, factor: Factor, above: float) -> float:
    """Return an upper bound of ||A - A*|| for each metric A with an objective of at most `above`; A* is the optimum.

    B is definite, with errors up to `error`, entry by entry; factor: the proof that B or -B is positive definite.
    """
    d = len(B)
    b = math.exp((factor.log_det - factor.log_error) / d)  # at most the true one
    excess = d * (math.sqrt(above) / (d * b) - 1)
    if excess <= 0:
        return 0.0
    if not math.isfinite(excess):
        return math.inf

    def missing(log_a: float) -> float:
        return math.expm1(-log_a) + log_a - excess

    log_a = float(brentq(missing, 0.0, 1 + excess, xtol=1e-15, rtol=8 * EPS))
    largest = float(np.linalg.norm(B, 2) + np.linalg.norm(error)) / b  # of A*
    return math.expm1(log_a) * largest * (1 + 64 * EPS) if log_a < 700 else math.inf


class Sign(NamedTuple):
    """A proof about B: s B is positive definite for s = 1 or -1, or s = 0 and B is not definite.

    factor: the bounds that prove s B positive definite; None for s = 0. With s = 0, B is proved to be indefinite, or
    singular and semidefinite, or 0.
    """

    s: int
    factor: Factor | None = None  # of s B, if that is positive definite


def sign_of(B: FloatArray, noise: FloatArray | float = 0.0) -> Sign | None:
    """Return a `Sign` for all symmetric matrices within `noise` of B (d, d); None without a proof.

    Its s is 1 if all of them are proved positive definite, and -1 if all are proved negative definite. It is 0 if all
    are proved indefinite, or if B and the noise are 0. noise: a bound for each entry of B, or one number.
    """
    error = np.broadcast_to(noise, B.shape)
    if not error.any() and not B.any():
        return Sign(0)
    s = 1 if float(np.trace(B)) > 0 else -1
    factor = _factor(s * B, error + 4 * EPS * EPS)
    if factor is not None:
        return Sign(s, factor)
    values = np.linalg.eigvalsh(B)
    # a vector with a positive and one with a negative Rayleigh quotient; they need not be exact eigenvectors
    allowed = float(np.linalg.norm(error)) + (4 * len(B) + 64) * EPS * float(np.linalg.norm(B))
    return Sign(0) if values[0] < -allowed and values[-1] > allowed else None


class Factor(NamedTuple):
    """A proof that a matrix S, and every symmetric matrix within given bounds of its entries, is positive definite.

    T (d, d): T S T^T = I + E with ||E|| < 1/2. inverse_error: a bound of ||(I + E)^-1 - I||.

    log_det: the logarithm of the determinant of S. log_error: a bound of the error of log_det. T and both bounds hold
    for S and for each of the other matrices.
    """

    T: FloatArray  # T S T^T = I + E
    inverse_error: float  # a bound of ||(I + E)^-1 - I||
    log_det: float
    log_error: float  # a bound of the error of log_det


def _factor(S: FloatArray, error: FloatArray | float = 0.0) -> Factor | None:
    """Return a proof that all matrices within `error` of S (d, d) are positive definite; None if there is no proof.

    error: a bound for each entry.
    """
    try:
        T = whitening(S)
    except np.linalg.LinAlgError:
        return None
    missing = departure(T, S, error)
    if not missing < 0.5:
        return None
    inverse_error = missing / (1 - missing)
    logs = np.log(T.diagonal())
    log_error = math.sqrt(len(S)) * inverse_error + (len(S) + 4) * EPS * float(np.abs(logs).sum())
    return Factor(T, inverse_error, -2 * float(logs.sum()), log_error)


@dataclass(frozen=True)
class UnitFeasibility(Feasibility):
    """The feasibility of a metric (d, d) that must be psd and have determinant 1.

    log_det: the logarithm of the determinant; log_det / d is the logarithm of the scale |A|^(1/d) of the metric A.
    rounded: a bound of the rounding error of log_det.
    """

    log_det: float = 0.0
    d: int = 1
    rounded: float = 0.0  # a bound of the rounding error of log_det

    @property
    def feasible(self) -> bool:
        """True if the metric is psd and has determinant 1, both up to a tolerance.

        The tolerance is `FEASIBILITY_TOL`, relative to the norm for the first condition, and to the scale for the
        second one. For the second one, the rounding error of log_det is added.
        """
        return self._unit and super().feasible

    @property
    def _unit(self) -> bool:
        allowed = FEASIBILITY_TOL * self.d + self.rounded
        return math.isfinite(self.log_det) and abs(self.log_det) <= allowed

    @property
    def beyond_limits(self) -> float:
        """The larger of two numbers: the distance to the psd matrices relative to the norm, and |log_det| / d."""
        return max(super().beyond_limits, abs(self.log_det) / self.d)

    def __str__(self) -> str:
        if self._unit:
            return super().__str__()
        det = (
            f"its determinant is exp({self.log_det:.6g}), not 1"
            if math.isfinite(self.log_det)
            else "the nearest psd matrix is singular, but the determinant must be 1"
        )
        return f"{super().__str__()}; {det}"


def examine_unit(A: FloatArray) -> tuple[FloatArray, UnitFeasibility]:
    """Return the psd part of A (d, d), and how far A is from a psd metric of determinant 1."""
    psd, found = examine(A)
    factor = _factor(psd)
    if factor is None:
        log_det, rounded = _log_det_exactly((A + A.T) / 2 if found.feasible else psd), 0.0
    else:
        log_det, rounded = factor.log_det, factor.log_error
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


def _log_det_exactly(S: FloatArray) -> float:
    """Return log det S of a nearly singular symmetric S, correct up to rounding; -inf if S is not positive definite.

    It is also -inf if S has more than `LARGEST` rows, or an entry that is not finite. log det S is computed in balls.
    The minors of S are integers times a power of two, so enough bits distinguish them from 0.
    """
    if not np.isfinite(S).all() or len(S) > LARGEST:
        return -math.inf
    rows, exponent = whole(S)
    bits = max(abs(int(entry)) for entry in rows.entries()).bit_length() + 8
    with precision(2 * len(S) * bits + 64):
        found = pivots(balls(rows, exponent))
        return -math.inf if found is None else float(total([pivot.log() for pivot in found]))


def departure(T: FloatArray, S: FloatArray, error: FloatArray | float = 0.0) -> float:
    """Return a bound of ||T S* T^T - I||_F for every S* (d, d) within `error` of the symmetric S, entry by entry.

    A bound below 1 proves that every S* is positive definite. The computed products have an error of at most
    2 (d + 1) eps times the product of the absolute values.
    """
    d, size = len(S), np.abs(T)
    with np.errstate(all="ignore"):
        missing = np.abs(T @ S @ T.T - np.eye(d))
        allowed = 2 * (d + 2) * EPS * np.abs(S) + error
        bound = float(np.linalg.norm(missing + size @ allowed @ size.T)) * (1 + (d + 8) * EPS)
    return bound if math.isfinite(bound) else math.inf


def whitening(S: FloatArray) -> FloatArray:
    """Return T (d, d), lower triangular, with T S T^T = I up to rounding. Raises LinAlgError if Cholesky fails."""
    T: FloatArray = np.linalg.inv(np.linalg.cholesky(S))
    return np.tril(T)


def whitening_of(D: FloatArray, ridge: float) -> FloatArray | None:
    """Return T with T S T^T = I for S = D^T D / n + ridge I, computed from the rows of D (n, d).

    S is not formed, because its condition number is the square of that of D. T is computed from a QR factor of the
    rows. Returns None if this factor is so nearly singular that double precision cannot invert it.
    """
    n, d = D.shape
    rows = np.vstack([D / math.sqrt(n), math.sqrt(ridge) * np.eye(d)])
    unit = np.linalg.norm(rows, axis=0)
    if not unit.all():
        return None
    R = np.linalg.qr(rows / unit, mode="r")
    values = np.linalg.svd(R, compute_uv=False)
    if len(R) < d or values[-1] <= MIN_RATIO_TO_ERROR * d * EPS * values[0]:
        return None
    T: FloatArray = np.tril(np.linalg.inv(R).T / unit)
    return T
