"""The objective of PLML's metrics and its intermediate values, computed from the definition.

M (m d, m d) has the basis metrics M_b on its diagonal; `metrics` (m, d, d) is the array of the M_b. With the weights W
(n, m), M(x_i) = sum_b W_ib M_b is the metric at point i. A triplet t = (i, j, l) has the pair (i, j) and
H_t = X_il - X_ij, X_ij = (x_i - x_j)(x_i - x_j)^T. Sums over pairs count each pair once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, blocks_of, in_blocks
from cvxml.methods.plml import weights as of_weights
from cvxml.methods.plml.instance import Instance


def objective(given: Instance, M: FloatArray) -> float:
    """alpha1 sum ||M_b||^2 + sum_t [1 - <M(x_i), H_t>]_+ + alpha2 times the sum of <M(x_i), X_ij> over the pairs."""
    metrics = blocks_of(M, given.m)
    norm = given.alpha1 * sum(float(np.sum(M_b**2)) for M_b in metrics)
    losses = [max(0.0, 1 - v) for v in _margins(given, metrics)]
    return norm + float(np.sum(losses)) + given.alpha2 * _pull(given, metrics)


def local(given: Instance, metrics: FloatArray, i: int) -> FloatArray:
    """The metric M(x_i) = sum_b W_ib M_b (d, d) at point i."""
    M: FloatArray = sum((share * M_b for share, M_b in zip(given.W[i], metrics, strict=True)), 0 * metrics[0])
    return M


def _margins(given: Instance, metrics: FloatArray) -> list[float]:
    """The margin <M(x_i), H_t> of every triplet t."""
    X, found = given.X, []
    for i, j, l in given.triplets().tolist():
        M, far, near = local(given, metrics, i), X[i] - X[l], X[i] - X[j]
        found.append(float(far @ M @ far - near @ M @ near))
    return found


def _pull(given: Instance, metrics: FloatArray) -> float:
    """The squared distance (x_i - x_j)^T M(x_i) (x_i - x_j), summed over the pairs of the triplets."""
    X, found = given.X, []
    for i, j in given.targets.tolist():
        found.append(float((X[i] - X[j]) @ local(given, metrics, i) @ (X[i] - X[j])))
    return float(np.sum(found))


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (m d, m d), by name.

    objective. norm, pull: its parts with the factors alpha1 and alpha2. triplets (t, 3). margins (t,): <M(x_i), H_t>.
    losses (t,): 1 minus the margin, or 0 if that is negative. metrics (m, d, d).

    weights (n, m): W. weights_objective: the objective of W in the problem of the weights; None without anchors.
    subgradient (m d, m d): of the objective in M.
    """
    X, metrics = given.X, blocks_of(M, given.m)
    margins = np.array(_margins(given, metrics))
    slope = 2 * given.alpha1 * metrics
    for (i, j, l), v in zip(given.triplets().tolist(), margins.tolist(), strict=True):
        far, near = X[i] - X[l], X[i] - X[j]
        slope = slope - (v < 1) * given.W[i][:, None, None] * (np.outer(far, far) - np.outer(near, near))
    for i, j in given.targets.tolist():
        slope = slope + given.alpha2 * given.W[i][:, None, None] * np.outer(X[i] - X[j], X[i] - X[j])
    smooth = given.smooth
    return {
        "objective": objective(given, M),
        "norm": given.alpha1 * float(np.sum(metrics**2)),
        "pull": given.alpha2 * _pull(given, metrics),
        "triplets": given.triplets(),
        "margins": margins,
        "losses": np.maximum(0.0, 1 - margins),
        "metrics": metrics,
        "weights": given.W,
        "weights_objective": None if smooth is None else of_weights.objective(smooth, given.W),
        "subgradient": in_blocks(slope),
    }
