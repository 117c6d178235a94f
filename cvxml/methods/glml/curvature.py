"""B of many queries, in logarithms and normalised.

With p_c the densities, priors folded in, B = sum_{i < j} T_ij (G_i - G_j) = sum_i a_i G_i, where
    T_ij = p_i p_j (p_j - p_i),      a_i = sum_{j != i} T_ij      (T_ji = -T_ij).
Only the direction of B matters to the metric: T is divided by its largest entry, found in logarithms, and then B
by its norm. A shift by the largest density alone leaves as little as 1e-85 on the digits (alpha = 1).

Two classes: B is T_12 (G_1 - G_2), and A(B) = A(-B), so G_1 - G_2 is the direction whatever the densities. Where p_1 =
p_2 the printed B is 0 and every metric optimal; the limit is taken, and `equal` says so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.methods.glml.model import Generative, Mixtures

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
