"""B of many queries, in logarithms and normalised.

With p_c the densities, priors folded in, B = sum_{i < j} T_ij (G_i - G_j) = sum_i a_i G_i, where
    T_ij = p_i p_j (p_j - p_i),      a_i = sum_{j != i} T_ij      (T_ji = -T_ij).
Only the direction of B matters to the metric: T is divided by its largest entry, found in logarithms, and then B
by its norm. A shift by the largest density alone leaves as little as 1e-85 on the digits (alpha = 1).

Two classes: B is T_12 (G_1 - G_2), and A(B) = A(-B), so G_1 - G_2 is the direction whatever the densities. Where p_1 =
p_2 the printed B is 0 and every metric optimal; the limit is taken, and `equal` says so.

The closed form of the local metric: (13) of the paper of 2018, every case named, determinant 1.

With eigenvalues l of B, d+ of them positive, d- negative,
    A = beta [U+ U-] diag(d+ L+, -d- L-) [U+ U-]^T,       beta so that |A| = 1.
definite     all of one sign: the unique optimum, A proportional to |B|
indefinite   both signs: the optimal value 0, attained by A and by many others; this one is the paper's
singular     of one sign but for zeros, and not all zero: the infimum 0 is not attained
zero         B = 0: every metric is optimal, A = I
Zero eigenvalues get the geometric mean of the others before the determinant is made 1: they pull in no direction.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.methods.glml.instance import Generative, Mixtures

ROUNDING = 64 * EPS


class Curvature(NamedTuple):
    """B of q queries."""

    B: FloatArray  # (q, d, d), Frobenius norm 1, or 0
    equal: np.ndarray  # (q,): all densities are equal, the printed B is 0
    log_scale: FloatArray  # (q,): the printed B is exp(log_scale) times B
    noise: (
        FloatArray  # (q,): what cancelled in the sum, as a share of B: eigenvalues that small count as zero
    )
    a: FloatArray  # (q, C): the weights of the curvatures G_c in the sum, the largest pair's 1
    norm: FloatArray  # (q,): of the sum that B is divided by


def direction(model: Generative, Q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """B (q, d, d) up to its sign, and its noise: all that the metric needs. Gaussians of two classes: no densities."""
    if isinstance(model, Mixtures) and model.n_classes == len(model.means) == 2:
        a = np.broadcast_to([1.0, -1.0], (len(Q), 2))
        B, noise, _ = normalised(*weighted(model, Q, a))
        return B, noise
    found = curvature(model, Q)
    return found.B, found.noise


def curvature(model: Generative, Q: FloatArray) -> Curvature:
    """B at the queries Q (q, d)."""
    with np.errstate(over="ignore", invalid="ignore"):
        log_p = model.log_densities(Q)
        a, log_size = pair_weights(log_p)
    equal = ~np.isfinite(log_size)
    if log_p.shape[1] == 2:
        a[equal] = [1.0, -1.0]
    B, noise, norm = normalised(*weighted(model, Q, a))
    with np.errstate(divide="ignore"):
        in_units = 2 * np.log(model.unit) if isinstance(model, Mixtures) else 0.0
        log_scale = np.where(equal, -np.inf, log_size + np.log(norm) - in_units)
    return Curvature(B, equal, log_scale, noise, a, norm)


def normalised(B: FloatArray, size: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """B over its norm, what rounding may have done to it, and the norm; 0 where nothing but rounding is left."""
    norm = np.linalg.norm(B, axis=(1, 2))
    if not np.isfinite(norm).all():
        raise ValueError(
            f"query {int(np.flatnonzero(~np.isfinite(norm))[0])} is too far from the data: the curvature of the "
            "densities overflows there"
        )
    nothing = norm <= ROUNDING * size
    divisor = np.where(nothing, 1.0, norm)
    unit = np.where(nothing[:, None, None], 0.0, B / divisor[:, None, None])
    return unit, np.where(nothing, 0.0, ROUNDING * size / divisor), np.where(nothing, 0.0, norm)


def pair_weights(log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """a (q, C), divided by the largest |T_ij|, and its logarithm (q,); 0 and -inf where all densities are equal."""
    first, second = log_p[:, :, None], log_p[:, None, :]
    low, high = np.minimum(first, second), np.maximum(first, second)
    with np.errstate(divide="ignore"):
        log_T = low + 2 * high + np.log(-np.expm1(low - high))
    largest = log_T.max(axis=(1, 2))
    finite = np.where(np.isfinite(largest), largest, 0.0)
    T = np.sign(second - first) * np.exp(log_T - finite[:, None, None])
    a: FloatArray = T.sum(axis=2)
    return a, largest


def weighted(model: Generative, Q: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """sum_c a_c G_c(x), (q, d, d), and the size (q,) of what is summed."""
    if isinstance(model, Mixtures):
        with np.errstate(over="ignore", invalid="ignore"):  # `normalised` says what is too far away
            return model.weighted_with_size(Q, a)
    G = model.curvatures(Q)
    total: FloatArray = np.einsum("qc,qcde->qde", a, G)
    return total, np.einsum("qc,qc->q", np.abs(a), np.linalg.norm(G, axis=(2, 3)))


ZERO = 1e-12  # an eigenvalue below this times d and the largest in magnitude is zero


class Case(Enum):
    """What kind of matrix B is, and so what the metric is."""

    DEFINITE = "definite: the optimum is unique"
    INDEFINITE = "indefinite: the value 0 is attained, not by this metric alone"
    SINGULAR = "singular and semidefinite: the infimum 0 is not attained by any metric"
    ZERO = "zero: every metric is optimal"


class Local(NamedTuple):
    """Metrics of q queries."""

    A: FloatArray  # (q, d, d), determinant 1
    cases: list[Case]
    values: FloatArray  # (q, d): eigenvalues of B, ascending


def closed_form(B: FloatArray, noise: FloatArray | float = 0.0) -> Local:
    """The local metrics for B (q, d, d); `noise` (q,): eigenvalues that small are zero too."""
    values, vectors = np.linalg.eigh(B)
    weights, cases = weights_of(values, noise)
    A = (vectors * weights[:, None, :]) @ vectors.transpose(0, 2, 1)
    return Local((A + A.transpose(0, 2, 1)) / 2, cases, values)


def weights_of(values: FloatArray, noise: FloatArray | float = 0.0) -> tuple[FloatArray, list[Case]]:
    """Eigenvalues of A (q, d), of product 1, for eigenvalues of B (q, d), and the cases."""
    d = values.shape[1]
    size = np.abs(values)
    least = np.maximum(ZERO * d * size.max(axis=1), noise)
    zero = size <= least[:, None]
    positive, negative = (values > 0) & ~zero, (values < 0) & ~zero
    n_plus, n_minus = positive.sum(axis=1), negative.sum(axis=1)
    factor = np.where(positive, n_plus[:, None], n_minus[:, None])
    logs = np.where(zero, 0.0, np.log(np.where(zero, 1.0, factor * size)))
    mean = logs.sum(axis=1, keepdims=True) / np.maximum(d - zero.sum(axis=1, keepdims=True), 1)
    weights: FloatArray = np.exp(np.where(zero, 0.0, logs - mean))
    return weights, [_case(*counts, d) for counts in zip(n_plus.tolist(), n_minus.tolist(), strict=True)]


def _case(n_plus: int, n_minus: int, d: int) -> Case:
    if n_plus == n_minus == 0:
        return Case.ZERO
    if n_plus and n_minus:
        return Case.INDEFINITE
    return Case.DEFINITE if n_plus + n_minus == d else Case.SINGULAR
