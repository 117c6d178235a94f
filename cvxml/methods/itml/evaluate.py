"""The objective of ITML from its definition, and everything an implementer compares line by line.

Written as the paper reads, one pair after another; nothing here is fast and nothing is shared with the solver or the
certificate. The best xi at a given A is put in: xi_c = max(d_A, u) for a similar pair, min(d_A, l) for a dissimilar.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cvxml.methods.itml.instance import Instance
from cvxml.metric import FloatArray


def objective(p: Instance, A: FloatArray) -> float:
    """D_ld(A, A_0) + gamma D_ld(diag(xi), diag(xi_0)) at A (d, d) and the best xi; inf where A is singular."""
    u, l = p.bounds  # noqa: E741
    slack = [diagonal(max(distance(p.X, A, i, j), u) / u) for i, j in p.pairs.similar]
    slack += [diagonal(min(distance(p.X, A, i, j), l) / l) for i, j in p.pairs.dissimilar]
    return divergence(A, p.prior) + p.gamma * math.fsum(slack)


def divergence(A: FloatArray, A_0: FloatArray) -> float:
    """D_ld(A, A_0) = tr(A A_0^-1) - log det(A A_0^-1) - d; inf where A is singular."""
    sign, log_det = np.linalg.slogdet(A)
    if sign <= 0:
        return math.inf
    ratio = np.linalg.solve(A_0, A)
    return float(np.trace(ratio) - log_det + np.linalg.slogdet(A_0)[1] - len(A))


def diagonal(ratio: float) -> float:
    """One term of D_ld between diagonal matrices: xi / xi_0 - log(xi / xi_0) - 1."""
    return ratio - math.log(ratio) - 1 if ratio > 0 else math.inf


def distance(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """d_A(x_i, x_j) = (x_i - x_j)^T A (x_i - x_j), squared."""
    return float((X[i] - X[j]) @ A @ (X[i] - X[j]))


def evaluate(p: Instance, A: FloatArray) -> dict[str, Any]:
    """Intermediates at A: distances, xi, the prices lambda they imply, the two divergences, the gradient in A."""
    (u, l), gamma = p.bounds, p.gamma  # noqa: E741
    d_S = np.array([distance(p.X, A, i, j) for i, j in p.pairs.similar])
    d_D = np.array([distance(p.X, A, i, j) for i, j in p.pairs.dissimilar])
    xi_S, xi_D = np.maximum(d_S, u), np.minimum(d_D, l)
    with np.errstate(divide="ignore"):
        lam_S, lam_D = gamma * (1 / u - 1 / xi_S), gamma * (1 / xi_D - 1 / l)
    F = objective(p, A)
    if math.isfinite(F):
        gradient = np.linalg.inv(p.prior) - np.linalg.inv(A)
        for (i, j), lam in zip(p.pairs.similar, lam_S, strict=True):
            gradient += lam * np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j])
        for (i, j), lam in zip(p.pairs.dissimilar, lam_D, strict=True):
            gradient -= lam * np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j])
    else:
        gradient = np.full_like(A, np.nan)
    of_metric = divergence(A, p.prior)
    return {
        "objective": F,
        "D_ld": of_metric,
        "D_ld_xi": math.fsum(map(diagonal, [*(xi_S / u), *(xi_D / l)])),
        "u": u,
        "l": l,
        "A_0": p.prior,
        "similar": p.pairs.similar,
        "dissimilar": p.pairs.dissimilar,
        "d_S": d_S,
        "d_D": d_D,
        "xi_S": xi_S,
        "xi_D": xi_D,
        "violated_S": int(np.count_nonzero(d_S > u)),
        "violated_D": int(np.count_nonzero(d_D < l)),
        "lam_S": lam_S,
        "lam_D": lam_D,
        "gradient": gradient,
    }
