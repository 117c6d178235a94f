"""LMNN from its definition: the objective and what an implementer looks at, by explicit differences of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.methods.lmnn.instance import Instance
from cvxml.metric import FloatArray


def objective(p: Instance, M: FloatArray) -> float:
    """(1 - mu) sum D_M(i, j) + mu sum [1 + D_M(i, j) - D_M(i, l)]_+, the last squared for the squared hinge."""
    pull = push = 0.0
    for (i, j), counts in zip(p.targets.tolist(), p.impostors, strict=True):
        D = _distances(p.X, i, M)
        pull += float(D[j])
        xi = np.maximum(0.0, 1 + D[j] - D[counts])
        push += float(np.sum(xi**2 if p.squared else xi))
    return (1 - p.mu) * pull + p.mu * push


def evaluate(p: Instance, M: FloatArray) -> dict[str, Any]:
    """The intermediates at M (d, d).

    objective; pull, push: its sums without (1 - mu) and mu; targets (p, 2); target_distances (p,); triplets (t, 3) with
    xi (t,) > 0, in order; impostor_counts (p,), how many there are for each target; subgradient (d, d).
    """
    distances, triplets, slacks = [], [], []
    gradient = np.zeros_like(M)
    for (i, j), counts in zip(p.targets.tolist(), p.impostors, strict=True):
        D = _distances(p.X, i, M)
        distances.append(float(D[j]))
        xi = np.where(counts, 1 + D[j] - D, 0.0)
        X_ij = np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j])
        gradient += (1 - p.mu) * X_ij
        for l in np.flatnonzero(xi > 0).tolist():  # noqa: E741 (the paper's l)
            triplets.append((i, j, l))
            slacks.append(float(xi[l]))
            weight = 2 * slacks[-1] if p.squared else 1.0
            gradient += p.mu * weight * (X_ij - np.outer(p.X[i] - p.X[l], p.X[i] - p.X[l]))
    found = np.array(triplets, dtype=np.intp).reshape(-1, 3)
    xi_of = np.array(slacks)
    counted = dict.fromkeys(map(tuple, p.targets.tolist()), 0)
    for i, j, _ in triplets:
        counted[i, j] += 1
    pull, push = float(np.sum(distances)), float(np.sum(xi_of**2 if p.squared else xi_of))
    return {
        "objective": (1 - p.mu) * pull + p.mu * push,
        "pull": pull,
        "push": push,
        "targets": p.targets,
        "target_distances": np.array(distances),
        "triplets": found,
        "xi": xi_of,
        "impostor_counts": np.array([counted[i, j] for i, j in p.targets.tolist()], dtype=np.intp),
        "subgradient": gradient,
    }


def _distances(X: FloatArray, i: int, M: FloatArray) -> FloatArray:
    """D_M(i, l) for every l."""
    difference = X[i] - X
    D: FloatArray = np.sum((difference @ M) * difference, axis=1)
    return D
