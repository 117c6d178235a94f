"""Everything an implementer of NCA compares line by line, by the note's names; row by row, from the definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from cvxml.core.metric import FloatArray
from cvxml.methods.nca.instance import Instance


def evaluate(p: Instance, A: FloatArray) -> dict[str, Any]:
    """Intermediates at A (m, d)."""
    X, n, d = p.X, *p.X.shape
    p_ij, w_ij, log_p_i = np.zeros((n, n)), np.zeros((n, n)), np.full(n, -np.inf)
    of_f, of_g = np.zeros((d, d)), np.zeros((d, d))
    nearest = np.zeros(n, dtype=np.intp)
    for i in range(n):
        x_i = X[i] - X
        distances = ((x_i @ A.T) ** 2).sum(axis=1)
        distances[i] = np.inf
        nearest[i] = int(distances.argmin())
        log_p = -distances - logsumexp(-distances)
        p_ij[i] = np.exp(log_p)
        if not p.usable[i]:
            continue
        s = p.row(i)
        log_p_i[i] = logsumexp(log_p, b=s)
        with np.errstate(divide="ignore"):
            w_ij[i] = np.exp(np.log(s) + log_p - log_p_i[i])
        of_f += x_i.T @ (((np.exp(log_p_i[i])) * (p_ij[i] - w_ij[i]))[:, None] * x_i)
        of_g += x_i.T @ ((p_ij[i] - w_ij[i])[:, None] * x_i)
    f, g = float(np.exp(log_p_i).sum()), float(log_p_i[p.usable].sum())
    G = -of_f if p.criterion == "f" else -of_g
    return {
        "objective": -f if p.criterion == "f" else -g,
        "f": f,
        "g": g,
        "A": A,
        "p_ij": p_ij,
        "p_i": np.exp(log_p_i),
        "w_ij": w_ij,
        "gradient_f": 2 * A @ of_f,
        "gradient_g": 2 * A @ of_g,
        "gradient_Q": G,
        "scale_derivative": 2 * float(np.sum(G * (A.T @ A))),
        "nearest": nearest,
        "continuous_cost": _continuous_cost(p, A),
    }


def _continuous_cost(p: Instance, A: FloatArray) -> float:
    """The cost that the note prints for pairs, with one distribution over all of them: - sum s_ab log q_ab."""
    images = p.X @ A.T
    of_row = np.empty(len(images))  # log of the sum over d of e^-|y_c - y_d|^2
    weighted, total = 0.0, 0.0
    for c in range(len(images)):
        distances = ((images[c] - images) ** 2).sum(axis=1)
        s = p.row(c)
        weighted += float(s @ distances)
        total += float(s.sum())
        distances[c] = np.inf
        of_row[c] = logsumexp(-distances)
    return weighted + total * float(logsumexp(of_row))
