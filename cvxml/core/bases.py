"""Metrics that are combinations of given vectors: M = sum_k w_k b_k b_k^T with weights w >= 0.

These M are a cone, and which of them a matrix (d, d) stands for is decided here, for all who ask: weights are found
whose combination is nearest to it, by non-negative least squares, and where several give the same, those of the least
sum. What is judged is the combination of these weights, which is in the cone whatever they are. How far from it
the matrix was is said, and a matrix beyond `FEASIBILITY_TOL` of its norm is no metric of the method. With the unit
vectors for b_k a metric is diagonal, and the weights are its diagonal, clipped at 0: nothing is searched.

The least squares are those of M in units in which its diagonal is 1, so that entries of a feature in small units keep
their digits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog, lsq_linear, nnls

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

LONGEST = 1e12  # a vector; the shortest is one over it: fourth powers are summed
ALIKE = (
    1e-9  # lengths that differ by no more are one: then the trace of M says what the sum of its weights is
)
AS_GOOD = (
    1e-13  # of a matrix: weights that miss it by no more than this, and what was missed before, are as good
)
ROUNDING = 1e-13  # of a norm: less is not worth a word
SLIGHT = 1e-5  # of a matrix: what the cost of weights counts beside what they miss
UNUSED = 1e-9  # of the largest weight: smaller ones are none
UNDERFLOW = 1e-290  # more than underflow changes any sum here


@dataclass(frozen=True)
class ConeFeasibility(Feasibility):
    """A metric that must also be a combination of the vectors, of which `what` says which."""

    away: float  # Frobenius distance to the combination that is judged
    beyond: float  # the same as a share of the norm, in the units given or in those of the features
    what: str

    @property
    def feasible(self) -> bool:
        """True within `FEASIBILITY_TOL` of the norm, or of what has no digits."""
        return (self.beyond <= FEASIBILITY_TOL or self.away <= SMALLEST_SCALE) and super().feasible

    def __str__(self) -> str:
        if self.beyond <= ROUNDING:
            return super().__str__()
        said = f"distance to the nearest {self.what} {self.away:.3g}, {self.beyond:.3g} of the norm"
        return f"{super().__str__()}; {said}"


class Weighted(NamedTuple):
    """What a matrix is judged as."""

    w: FloatArray  # (K,) >= 0
    M: FloatArray  # (d, d) their combination, rounded
    feasibility: ConeFeasibility


def combined(B: FloatArray, w: FloatArray) -> FloatArray:
    """sum_k w_k b_k b_k^T for the rows of B (K, d)."""
    M: FloatArray = B.T @ (B * w[:, None])
    return (M + M.T) / 2


def weighted(A: FloatArray, B: FloatArray, X: FloatArray) -> Weighted:
    """The weights that A (d, d) stands for, of the rows of B (K, d); X (n, d): the points.

    How far A is from their combination is looked at in the units given and in those of the features.
    """
    features, found = is_identity(B), examine(A, X)[1]
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        w = np.maximum(np.diag(A), 0.0) if features else _weights(A, B)
        M = combined(B, w)
        error, unit = A - M, units_of(X - middle(X))
        beyond = max(_share((error, 0), (A, 0)), _share(in_units(error, unit), in_units(A, unit)))
        away = float(np.linalg.norm(error))
    what = "diagonal metric" if features else "combination of the vectors with weights >= 0"
    known = found.asymmetry, found.min_eigenvalue, found.distance, found.norm
    return Weighted(w, M, ConeFeasibility(*known, away, beyond, what))


def as_combination(metric: ArrayLike, B: FloatArray, X: FloatArray, name: str) -> FloatArray:
    """The combination that `metric` stands for. Raises ValueError for what is none beyond tolerance."""
    found = weighted(as_matrix(metric, X.shape[1], name), B, X)
    if not found.feasibility.feasible:
        raise ValueError(
            f"{name} is not a metric of this method: {found.feasibility}; allowed is {FEASIBILITY_TOL:g} of the norm"
        )
    return found.M


def check_bases(basis: ArrayLike, d: int, name: str) -> FloatArray:
    """Vectors (K, d). Raises ValueError for anything else, and for lengths that no fourth power could be taken of."""
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
    """True if the vectors are the features."""
    return B.shape[0] == B.shape[1] and bool((np.eye(len(B)) == B).all())


def _share(part: tuple[FloatArray, int], of: tuple[FloatArray, int]) -> float:
    """The norm of a part, relative to that of the whole; each is a matrix times a power of two."""
    size = float(np.abs(of[0]).max())
    if not size > 0:
        return math.inf if part[0].any() else 0.0
    ratio = np.ldexp(part[0] / size, part[1] - of[1])
    return float(np.linalg.norm(ratio) / np.linalg.norm(of[0] / size))


def _weights(A: FloatArray, B: FloatArray) -> FloatArray:
    """Those whose combination is nearest to A; of several the least."""
    S = A / 2 + A.T / 2
    diagonal = np.diag(S)
    used = diagonal > 0
    if not used.any() or not np.isfinite(S).all():
        return np.zeros(len(B))
    # A power of two, so that nothing is rounded. Where a psd matrix has a 0 on its diagonal, so has its row.
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
        w = _least(V, w, target, cost)
    whole = np.zeros(len(B))
    whole[np.flatnonzero(able)[some]] = w * cost
    return whole


def squares(B: FloatArray) -> FloatArray:
    """b b^T of every row, as a row (K, d^2)."""
    S: FloatArray = np.einsum("ki,kj->kij", B, B).reshape(len(B), B.shape[1] ** 2)
    return S


def nearest(V: FloatArray, target: FloatArray) -> FloatArray:
    """w >= 0 with the least |V w - target|."""
    if V.shape[1] == 0:
        return np.zeros(0)
    try:
        return np.asarray(nnls(V, target)[0], dtype=np.float64)
    except RuntimeError:  # too many rounds
        return np.asarray(np.maximum(lsq_linear(V, target, (0, np.inf)).x, 0.0), dtype=np.float64)


def _least(V: FloatArray, w: FloatArray, target: FloatArray, cost: FloatArray) -> FloatArray:
    """Weights of the least cost among those that give the same matrix as w, as far as a slight cost finds any."""
    slight = SLIGHT * float(np.linalg.norm(target)) / float(cost @ w) if w.any() else 0.0
    found = nearest(np.vstack([V, slight * cost]), np.append(V @ w, 0.0))
    kept = found > UNUSED * float(found.max(initial=0.0))
    other = np.zeros(len(w))
    other[kept] = nearest(V[:, kept], V @ w)
    missed = [float(np.linalg.norm(V @ each - target)) for each in (w, other)]
    as_good = missed[1] <= missed[0] + AS_GOOD * float(np.linalg.norm(target))
    return other if as_good and cost @ other < cost @ w else w


def above_least(w: FloatArray, B: FloatArray) -> float:
    """No less than what sum w is above the least sum of weights that give the same matrix, for w (K,) and B (K, d).

    For any symmetric Y (d, d) with b_k^T Y b_k <= 1 the least is at least sum w_k b_k^T Y b_k. A linear programme
    proposes Y; what vectors with an entry where the matrix is 0 say of it does not count.
    """
    if not w.any():
        return 0.0
    used = B[w > 0].any(axis=0)
    able = ~B[:, ~used].any(axis=1)
    whole = float(np.sum(w)) * (1 + len(w) * EPS)
    own, w = B[able][:, used], w[able]
    # as it is, and with features in units in which the matrix has a diagonal of about 1: powers of two
    unit = 2.0 ** -np.round(np.log2(np.maximum(w @ own**2, UNDERFLOW)) / 2)
    return min(whole, *(_above(w, each) * (1 + len(w) * EPS) for each in (own, own * unit)))


def _above(w: FloatArray, own: FloatArray) -> float:
    """By one Y; infinite where none is found."""
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
