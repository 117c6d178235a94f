"""The local metric of the Fisher kernel, with which the papers on GLML compare.

Let p(x) = sum_k w_k N(x; mu_k, Sigma_k) be a mixture. Its Fisher score with respect to the means is
    U_k(x) = d log p / d mu_k = r_k(x) S_k (x - mu_k),      r_k = w_k N_k / p,   S_k = Sigma_k^-1.
The kernel U(x)^T I^-1 U(x') gives nearby points the distance of the metric J(x)^T I^-1 J(x), J = dU/dx. The papers do
not print their information matrix I. We take the block diagonal one of blocks w_k S_k, which is exact if the component
of each point is known. For a single Gaussian J = I = S, and the metric is S everywhere. It depends on x for two or more
components only.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.glml.instance import Mixtures


def fisher_metrics(model: Mixtures, Q: FloatArray) -> FloatArray:
    """Return the metrics (q, d, d), of determinant 1, at queries Q (q, d)."""
    logs = model.components(Q)
    r = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    S = model.precisions
    weights = np.exp(model.log_weights - np.logaddexp.reduce(model.log_weights))
    pulls = (model.from_means(Q) @ S).transpose(1, 0, 2)  # (q, K, d)
    away = np.einsum("qk,qkd->qd", r, pulls)
    A = np.zeros((len(Q), Q.shape[1], Q.shape[1]))
    for k, (S_k, w) in enumerate(zip(S, weights, strict=True)):
        gradient = r[:, k, None] * (away - pulls[:, k])  # of r_k
        J = r[:, k, None, None] * S_k + pulls[:, k, :, None] * gradient[:, None, :]
        A += J.transpose(0, 2, 1) @ np.linalg.solve(w * S_k, J)
    A = (A + A.transpose(0, 2, 1)) / 2
    log_det = np.linalg.slogdet(A)[1]
    unit: FloatArray = A * np.exp(-log_det / Q.shape[1])[:, None, None]
    return unit
