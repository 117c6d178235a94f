"""Metrics that are combinations of given vectors: M = sum_k w_k b_k b_k^T with weights w >= 0.

These M form a convex cone. This module decides which combination M a given matrix A (d, d) stands for:

- Non-negative least squares finds the weights with the nearest combination. If several weights give the same
  combination, those with the smallest sum are preferred.
- The combination of these weights is judged: the certificate is computed for it. It is in the cone by construction.
- The distance from A to the combination is reported. A matrix farther away than `FEASIBILITY_TOL` (1e-6) times its
  norm is not a metric of the method.

If the b_k are the unit vectors, M is diagonal. Then the weights are the diagonal of A, clipped at 0.

The least-squares problem is scaled so that the diagonal of A is about 1, so features in small units keep their digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import look
from cvxml.core.metric import (
    EPS,
    FEASIBILITY_TOL,
    SMALLEST_SCALE,
    Feasibility,
    FloatArray,
    as_matrix,
    examine,
    in_units,
    middle,
    real_array,
    units_of,
)

# of an entry of a vector; 1 / LONGEST is the smallest allowed value, because fourth powers are summed
LONGEST = 1e12
ALIKE = (
    1e-9  # relative: if the vectors have equal lengths up to this share, tr M fixes the sum of the weights
)
AS_GOOD = (
    # relative to the norm of the matrix: weights may miss it by this much more than the first ones found
    1e-13
)
ROUNDING = 1e-13  # relative to the norm: smaller distances to the cone are not reported
# relative to the norm of the matrix: how much the cost of the weights counts beside the residual
SLIGHT = 1e-5
UNUSED = 1e-9  # relative to the largest weight: smaller weights count as 0
UNDERFLOW = 1e-290  # larger than the effect of underflow on any sum here
MANY = 2**22  # entries of a least-squares problem from which it is reduced to a square one first


@dataclass(frozen=True)
class ConeFeasibility(Feasibility):
    """The distance of a matrix A from the metrics of the method: psd matrices that are combinations of the b_k b_k^T.

    away: the Frobenius distance of A to the combination that is judged.
    beyond: this distance relative to the norm of A. It is measured in the user's units and in units in which every
        feature spreads over about 1. The larger value counts.
    what: the kind of the allowed metrics, in words, for example "diagonal metric".
    """

    away: float  # Frobenius distance to the combination that is judged
    # that distance relative to the norm; the larger of two values, in the user's units and in units of the features
    beyond: float
    # the set of allowed metrics, in words
    what: str

    @property
    def feasible(self) -> bool:
        """True if A is a metric of the method, up to an error of `FEASIBILITY_TOL` times its norm.

        A must be symmetric and psd up to this error, and `beyond` must be at most `FEASIBILITY_TOL`. A larger `beyond`
        is allowed if `away` is at most `SMALLEST_SCALE` = 2^-1060, where floats lose their digits.
        """
        return (self.beyond <= FEASIBILITY_TOL or self.away <= SMALLEST_SCALE) and super().feasible

    @property
    def beyond_limits(self) -> float:
        """The larger of the distances of A to the psd cone and to the combination, relative to the norm of A."""
        return max(super().beyond_limits, self.beyond)

    def __str__(self) -> str:
        if self.beyond <= ROUNDING:
            return super().__str__()
        return (
            f"{super().__str__()}, but its distance to the nearest {self.what} is {self.away:.3g}, which is "
            f"{self.beyond:.3g} of the norm"
        )


class Weighted(NamedTuple):
    """The combination M that is judged in place of a matrix A, its weights w, and its distance from A."""

    w: FloatArray  # (K,) >= 0
    M: FloatArray  # (d, d), sum_k w_k b_k b_k^T, rounded
    feasibility: ConeFeasibility


def combined(B: FloatArray, w: FloatArray) -> FloatArray:
    """Return sum_k w_k b_k b_k^T (d, d) for the rows b_k of B (K, d)."""
    M: FloatArray = B.T @ (B * w[:, None])
    return (M + M.T) / 2


def weighted(A: FloatArray, B: FloatArray, X: FloatArray) -> Weighted:
    """Return the combination that is judged in place of A (d, d), with its weights and its distance from A.

    B: (K, d), the vectors as rows.
    X: (n, d), the points.

    The relative distance is measured in the user's units and in units in which every feature spreads over about 1.
    The larger value counts.
    """
    features, found = is_identity(B), examine(A, X)[1]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        w = np.maximum(np.diag(A), 0.0) if features else _weights(A, B)
        M = combined(B, w)
        error, unit = A - M, units_of(X - middle(X))
        beyond = max(
            _relative_norm((error, 0), (A, 0)), _relative_norm(in_units(error, unit), in_units(A, unit))
        )
        away = float(np.linalg.norm(error))
    what = "diagonal metric" if features else "combination of the vectors (with weights >= 0)"
    known = found.asymmetry, found.min_eigenvalue, found.distance, found.norm
    return Weighted(w, M, ConeFeasibility(*known, away, beyond, what))


def as_combination(metric: ArrayLike, B: FloatArray, X: FloatArray, name: str) -> FloatArray:
    """Return the combination (d, d) that is judged in place of `metric`.

    B: (K, d), the vectors as rows.
    X: (n, d), the points.
    name: what a message calls `metric`.

    Raises ValueError if `metric` is not psd or not a combination, up to 1e-6 times its norm.
    """
    found = weighted(as_matrix(metric, X.shape[1], name), B, X)
    if not found.feasibility.feasible:
        raise ValueError(
            f"{name} is not a metric of this method: {found.feasibility}; allowed is {FEASIBILITY_TOL:g} of the norm"
        )
    return found.M


def check_bases(basis: ArrayLike, d: int, name: str) -> FloatArray:
    """Return the vectors `basis` as an array (K, d). name: the name of the parameter in messages.

    Raises ValueError for another shape, NaN, and infinity. The largest absolute entry of a vector must be from 1e-12
    to 1e12, because fourth powers could overflow or underflow.
    """
    B = real_array(basis, name)
    if B.ndim != 2 or B.shape[1] != d or len(B) == 0:
        raise ValueError(f"{name} must be vectors of {d} features, got shape {B.shape}")
    if not np.isfinite(B).all():
        raise ValueError(f"{name} holds NaN or infinity; every entry must be finite")
    lengths = np.abs(B).max(axis=1)
    if lengths.min() < 1 / LONGEST or lengths.max() > LONGEST:
        wrong = int(np.argmin(lengths) if lengths.min() < 1 / LONGEST else np.argmax(lengths))
        raise ValueError(
            f"{name}: vector {wrong} has the largest entry {lengths[wrong]:.3g}; it must be within {1 / LONGEST:g} "
            f"and {LONGEST:g}"
        )
    return B


def is_identity(B: FloatArray) -> bool:
    return B.shape[0] == B.shape[1] and bool((np.eye(len(B)) == B).all())


def _relative_norm(part: tuple[FloatArray, int], of: tuple[FloatArray, int]) -> float:
    """Return the Frobenius norm of `part` divided by that of `of`; if `of` is 0, return 0 or inf.

    Both are pairs (matrix, exponent), and stand for matrix * 2^exponent.
    """
    size = float(np.abs(of[0]).max())
    if not size > 0:
        return math.inf if part[0].any() else 0.0
    ratio = np.ldexp(part[0] / size, part[1] - of[1])
    return float(np.linalg.norm(ratio) / np.linalg.norm(of[0] / size))


def _weights(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return weights w (K,) >= 0 with which sum_k w_k b_k b_k^T is nearest to A (d, d), for the rows b_k of B (K, d).

    Nearness is measured in units of the features in which the diagonal of A is about 1. If several weights give the
    same combination, those with the smallest sum are preferred. Returns zeros if no diagonal entry of A is positive, or
    if A holds NaN or infinity.
    """
    S = A / 2 + A.T / 2
    diagonal = np.diag(S)
    used = diagonal > 0
    if not used.any() or not np.isfinite(S).all():
        return np.zeros(len(B))
    # Scaling by powers of two is exact. In a psd matrix, a 0 on the diagonal means a row of zeros.
    unit = np.where(used, 2.0 ** -np.round(np.log2(np.where(used, diagonal, 1.0)) / 2), 0.0)
    able = ~B[:, ~used].any(axis=1)
    own = B[able] * unit
    lengths = np.linalg.norm(own, axis=1)
    some = lengths > 0
    V = squares(own[some] / lengths[some, None]).T
    target = (S * unit[:, None] * unit).ravel()
    w = nearest(V, target)
    true = np.linalg.norm(B[able][some], axis=1)
    cost = 1 / lengths[some] ** 2
    if true.max(initial=0.0) > (1 + ALIKE) * true.min(initial=np.inf):
        w = _with_least_cost(V, w, target, cost)
    whole = np.zeros(len(B))
    whole[np.flatnonzero(able)[some]] = w * cost
    return whole


def squares(B: FloatArray) -> FloatArray:
    """Return b b^T of every row b of B (K, d), flattened to (K, d^2)."""
    S: FloatArray = np.einsum("ki,kj->kij", B, B).reshape(len(B), B.shape[1] ** 2)
    return S


def nearest(V: FloatArray, target: FloatArray) -> FloatArray:
    """Return w (K,) >= 0 that minimizes |V w - target|, for V (t, K) and target (t,)."""
    from scipy.optimize import lsq_linear, nnls  # takes a tenth of a second to load

    if V.shape[1] == 0:
        return np.zeros(0)
    if V.size > MANY and len(V) > 2 * V.shape[1]:
        Q, R = np.linalg.qr(V)  # the same w minimizes |R w - Q^T target|
        look()
        V, target = R, Q.T @ target
    try:
        return np.asarray(nnls(V, target)[0], dtype=np.float64)
    except RuntimeError:  # nnls stopped at its limit of iterations
        return np.asarray(np.maximum(lsq_linear(V, target, (0, np.inf)).x, 0.0), dtype=np.float64)


def _with_least_cost(V: FloatArray, w: FloatArray, target: FloatArray, cost: FloatArray) -> FloatArray:
    """Return cheaper weights >= 0 with nearly the same combination V w; return `w` if no cheaper ones are found.

    V: (t, K).
    w: (K,), weights with V w near `target` (t,).
    cost: (K,), the cost of one unit of each weight. The cost of the weights is the sum of cost_k w_k.

    Least squares with a small penalty on the cost propose new weights. They are returned if they cost less than `w`,
    and if |V w - target| grows by at most 1e-13 times the norm of the target.
    """
    slight = SLIGHT * float(np.linalg.norm(target)) / float(cost @ w) if w.any() else 0.0
    found = nearest(np.vstack([V, slight * cost]), np.append(V @ w, 0.0))
    kept = found > UNUSED * float(found.max(initial=0.0))
    other = np.zeros(len(w))
    other[kept] = nearest(V[:, kept], V @ w)
    missed = [float(np.linalg.norm(V @ each - target)) for each in (w, other)]
    as_good = missed[1] <= missed[0] + AS_GOOD * float(np.linalg.norm(target))
    return other if as_good and cost @ other < cost @ w else w


def above_least(w: FloatArray, B: FloatArray) -> float:
    """Return an upper bound of sum(w) - s, where s is the smallest sum of weights >= 0 that give the same M as w.

    w: (K,) >= 0; M = sum_k w_k b_k b_k^T.
    B: (K, d), the vectors b_k as rows.

    The bound uses weak duality. Let Y (d, d) be symmetric with b_k^T Y b_k <= 1 for all k. Then s is at least
    sum_k w_k b_k^T Y b_k. A linear program proposes Y. If M_ii = 0 for a feature i, every b_k with a nonzero entry i
    has weight 0 in all combinations that give M. So Y need not satisfy the constraint of this b_k.
    """
    if not w.any():
        return 0.0
    used = B[w > 0].any(axis=0)
    able = ~B[:, ~used].any(axis=1)
    whole = float(np.sum(w)) * (1 + len(w) * EPS)
    own, w = B[able][:, used], w[able]
    # in the user's units, and in units in which the diagonal of the combination is about 1 (powers of two)
    unit = 2.0 ** -np.round(np.log2(np.maximum(w @ own**2, UNDERFLOW)) / 2)
    return min(whole, *(_bound_by_one_matrix(w, each) * (1 + len(w) * EPS) for each in (own, own * unit)))


def _bound_by_one_matrix(w: FloatArray, own: FloatArray) -> float:
    """Return the bound of `above_least` from one linear program.

    w: (K,) >= 0, the weights.
    own: (K, d), the vectors b_k as rows. The features may be in any units.

    The linear program proposes Y, and the bound is the sum of w_k (1 - b_k^T Y b_k), with rounding included. Returns
    inf if no Y is found.
    """
    from scipy.optimize import linprog  # takes a tenth of a second to load

    lengths = np.maximum(np.linalg.norm(own, axis=1), UNDERFLOW)
    V = squares(own / lengths[:, None]).T
    found = linprog(1 / lengths**2, A_eq=V, b_eq=V @ (w * lengths**2), method="highs")
    if found.x is None:
        return math.inf
    Y = found.eqlin.marginals.reshape(own.shape[1], -1)
    Y, size = Y / 2 + Y.T / 2, np.abs(own)
    c = np.sum((own @ Y) * own, axis=1)
    error = (2 * len(Y) + 8) * EPS * np.sum((size @ np.abs(Y)) * size, axis=1) + UNDERFLOW
    most = float(np.max(c + error))
    if not 0 < most < math.inf:
        return math.inf
    return float(w @ (1 + 4 * EPS - (c - error) / most))
