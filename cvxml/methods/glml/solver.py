"""The solver of GLML: B at many queries, then the closed form of the local metric.

A local metric A minimises (tr A^-1 B)^2 over the metrics of determinant |A| = 1, at a query x.

**B.** Let p_c be the densities, times their priors, and G_c = (Hessian of p_c at x) / p_c the curvature of class c.
Then B = sum_{i < j} T_ij (G_i - G_j) = sum_i a_i G_i with
    T_ij = p_i p_j (p_j - p_i),      a_i = sum_{j != i} T_ij      (T_ji = -T_ij).
The metric depends on the direction of B only. So T is divided by its largest entry, which is found in logarithms, and B
by its norm. Dividing the densities by the largest density is not enough: with alpha = 1, entries of T may be 1e-85.

With two classes B is T_12 (G_1 - G_2), and A(B) = A(-B): the direction is G_1 - G_2, and no density is needed. If
p_1 = p_2, the printed B is 0 and every metric is optimal. We take the limit G_1 - G_2, and `equal` is True.

**The closed form**, (13) of 2018. B has eigenvalues L+ > 0 (d+ of them) and L- < 0 (d- of them), with
eigenvectors U+ and U-. The metric is
    A = beta [U+ U-] diag(d+ L+, -d- L-) [U+ U-]^T,       beta such that |A| = 1.
The cases of B:
    definite     all eigenvalues have one sign: A, proportional to B or -B, is the unique optimum
    indefinite   both signs occur: the optimal value 0 is attained by many metrics, and A is the choice of the paper
    singular     some eigenvalues are 0, the others have one sign: the infimum 0 is not attained
    zero         B = 0: every metric is optimal, and A = I
Eigenvectors of eigenvalue 0 do not change tr A^-1 B. Their eigenvalue in A is the geometric mean of the others.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.methods.glml.instance import Generative, Mixtures

ROUNDING = 64 * EPS
ZERO = 1e-12  # an eigenvalue below this times d times the largest magnitude counts as 0


class Case(Enum):
    """The four kinds of B, which decide whether the optimum is attained and unique."""

    DEFINITE = "definite: the optimum is unique"
    INDEFINITE = "indefinite: the value 0 is attained, and by other metrics too"
    SINGULAR = "singular and semidefinite: the infimum 0 is not attained by any metric"
    ZERO = "zero: every metric is optimal"


class Local(NamedTuple):
    """The closed-form metrics A (q, d, d) at q queries, and the case of B at each.

    values (q, d): the eigenvalues of B, ascending.
    """

    A: FloatArray  # (q, d, d), determinant 1
    cases: list[Case]
    values: FloatArray  # (q, d): eigenvalues of B, ascending


def closed_form(B: FloatArray, noise: FloatArray | float = 0.0) -> Local:
    """Return the closed-form metrics for B (q, d, d), the case of each B, and its eigenvalues.

    Eigenvalues of B of a size up to `noise` (q,), or up to 1e-12 d times the largest size, count as 0.
    """
    values, vectors = np.linalg.eigh(B)
    weights, cases = weights_of(values, noise)
    A = (vectors * weights[:, None, :]) @ vectors.transpose(0, 2, 1)
    return Local((A + A.transpose(0, 2, 1)) / 2, cases, values)


def weights_of(values: FloatArray, noise: FloatArray | float = 0.0) -> tuple[FloatArray, list[Case]]:
    """Return the eigenvalues (q, d) of the closed form A, with product 1, and the case of B at each query.

    values (q, d): the eigenvalues of B. Those of a size up to `noise` (q,), or up to `ZERO` (1e-12) times d times the
    largest size, count as 0.
    """
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


class Curvature(NamedTuple):
    """B at q queries, with its rounding error.

    B (q, d, d): of norm 1, or 0. equal (q,): True if all densities are equal, so that the printed B is 0.

    log_scale (q,): the printed B is exp(log_scale) times B. noise (q,): the rounding error of B; smaller eigenvalues
    count as 0.

    a (q, C): the weights a_c, with the largest |T_ij| scaled to 1. norm (q,): the divisor of B, the norm of the sum
    that `weighted` returns for these weights.
    """

    B: FloatArray  # (q, d, d), Frobenius norm 1, or 0
    equal: np.ndarray  # (q,): True if all densities are equal, so that the printed B is 0
    log_scale: FloatArray  # (q,): the printed B is exp(log_scale) times B
    noise: FloatArray  # (q,): the rounding error of B, relative to its norm: smaller eigenvalues count as 0
    a: FloatArray  # (q, C): the weights of the G_c in the sum; the largest |T_ij| is 1
    norm: FloatArray  # (q,): the norm of sum_c a_c G_c, the divisor of B


def direction(model: Generative, Q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return B (q, d, d) of norm 1, or -B, at the queries Q (q, d), and a bound (q,) of its rounding error.

    B is 0 where it could be rounding. With two classes of one Gaussian each, the densities are not computed. B and -B
    have the same metric.
    """
    if isinstance(model, Mixtures) and model.n_classes == len(model.means) == 2:
        a = np.broadcast_to([1.0, -1.0], (len(Q), 2))
        B, noise, _ = normalised(*weighted(model, Q, a))
        return B, noise
    found = curvature(model, Q)
    return found.B, found.noise


def curvature(model: Generative, Q: FloatArray) -> Curvature:
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
    """Return B / ||B|| (q, d, d), its rounding error (q,), and ||B|| (q,); all 0 where rounding could explain B.

    size (q,): the sum of the norms of the terms of B. Raises ValueError if B overflows.
    """
    norm = np.linalg.norm(B, axis=(1, 2))
    if not np.isfinite(norm).all():
        raise ValueError(
            f"query {int(np.flatnonzero(~np.isfinite(norm))[0])} is too far from the data: the curvature of the "
            "densities overflows; give a nearer query"
        )
    nothing = norm <= ROUNDING * size
    divisor = np.where(nothing, 1.0, norm)
    unit = np.where(nothing[:, None, None], 0.0, B / divisor[:, None, None])
    return unit, np.where(nothing, 0.0, ROUNDING * size / divisor), np.where(nothing, 0.0, norm)


def pair_weights(log_p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights a_i = sum_j T_ij (q, C), divided by the largest |T_ij|, and the logarithm of this |T_ij| (q,).

    T_ij = p_i p_j (p_j - p_i). If all densities of a query are equal, the results are 0 and -inf. log_p (q, C): the
    logarithms of the densities.
    """
    log_T = log_sizes(log_p)[2]
    largest = log_T.max(axis=(1, 2))
    finite = np.where(np.isfinite(largest), largest, 0.0)
    T = np.sign(log_p[:, None, :] - log_p[:, :, None]) * np.exp(log_T - finite[:, None, None])
    a: FloatArray = T.sum(axis=2)
    return a, largest


def log_sizes(log_p: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the smaller and the larger of log p_i and log p_j, and log |T_ij|, (q, C, C) each, for all i and j.

    T_ij = p_i p_j (p_j - p_i), and i, j are classes. log_p (q, C): the logarithms of the densities.
    """
    first, second = log_p[:, :, None], log_p[:, None, :]
    low, high = np.minimum(first, second), np.maximum(first, second)
    with np.errstate(divide="ignore"):
        return low, high, low + 2 * high + np.log(-np.expm1(low - high))


def weighted(model: Generative, Q: FloatArray, a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return sum_c a_c G_c(x), (q, d, d), for weights a (q, C), and the sum of the norms of its terms (q,).

    G_c(x): the curvature of class c at a query x in Q (q, d). For Gaussians and mixtures that were fitted to points
    divided by a unit, the sums are multiplied by the square of this unit.
    """
    if isinstance(model, Mixtures):
        with np.errstate(over="ignore", invalid="ignore"):  # `normalised` refuses an overflow
            return model.weighted_with_size(Q, a)
    G = model.curvatures(Q)
    total: FloatArray = np.einsum("qc,qcde->qde", a, G)
    return total, np.einsum("qc,qc->q", np.abs(a), np.linalg.norm(G, axis=(2, 3)))
