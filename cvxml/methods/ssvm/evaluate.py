"""Everything an implementer of gerrymandering compares line by line, by the paper's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.methods.ssvm.inference import loss_augmented, task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import point_at


def evaluate(p: Instance, W: FloatArray, t: int) -> dict[str, Any]:
    """Intermediates at `W` (d, d): inferences, losses, features, subgradient, a step of Algorithm 1 at `t`."""
    at = point_at(p, W)
    h_hat = loss_augmented(at.near, p.y, p.Lam).sets
    Psi_star, Psi_hat = sum_of_Psi(p.X, at.latent), sum_of_Psi(p.X, h_hat)
    subgradient = 2 * W + p.C * (Psi_hat - Psi_star)
    eta = 1 / (2 * (t + 1))
    W_half = W - eta * subgradient
    return {
        "objective": at.F,
        "h_star": at.latent,
        "h_hat": h_hat,
        "S_star": scores(p.X, W, at.latent),
        "S_hat": scores(p.X, W, h_hat),
        "Delta": task_loss(p.y[h_hat], p.y, p.Lam),
        "L": at.worst + at.own,
        "Psi_star": Psi_star,
        "Psi_hat": Psi_hat,
        "subgradient": subgradient,
        "eta": eta,
        "W_half": W_half,
        "W_next": project_psd(W_half),
    }


def scores(X: FloatArray, W: FloatArray, sets: IntArray) -> FloatArray:
    """S_W(x_i, h_i) = - sum_{j in h_i} D_W(x_i, x_j), (n,), for sets (n, k): equation (2)."""
    S = np.zeros(len(X))
    for j in sets.T:
        difference = X - X[j]
        S -= np.sum((difference @ W) * difference, axis=1)
    return S


def sum_of_Psi(X: FloatArray, sets: IntArray) -> FloatArray:
    """sum_i Psi(x_i, h_i), (d, d): equation (8)."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for j in sets.T:
        difference = X - X[j]
        total -= difference.T @ difference
    return total
