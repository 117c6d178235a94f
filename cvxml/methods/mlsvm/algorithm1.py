"""Algorithm 1 of Nguyen, Guo 2008 (Pegasos-like), corrected and as printed, with its certified gap as it goes.

    V      = { i : min_j d_A(i, j) - max_l d_A(i, l) < 1 }
    A'     = (1 - eta_t lam) A_t + eta_t/n sum_{i in V} [ (x_i - x-)(x_i - x-)^T - (x_i - x+)(x_i - x+)^T ]
    A_t+1  = P_+(A') scaled into the ball of radius 1/sqrt(lam)       (psd first, then scale)
Corrected (default): x+ is the argMAX of d_A over the same-class neighbours, and eta_t = 1/(lam (t + 1)), so
that the first step does not erase the start.
As printed (`paper=True`): x+ is the argmin, eta_t = 1/(lam t). It is then no subgradient method for (2) and
stalls above the optimum: its gap, measured against a certified lower bound, shows by how much.
Corrected, the gap is seen to fall like 1/(lam t); docs/mlsvm_algorithm.md proves a bound for the best
iterate. An algorithm to keep, not the fast solver.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.methods.mlsvm.evaluate import objective
from cvxml.methods.mlsvm.neighborhood import Neighborhood


@dataclass(frozen=True, eq=False)
class Run:
    """What Algorithm 1 did. `gaps[k]` is objective - lower_bound after iteration `iterations[k]`."""

    metric: FloatArray  # (d, d), the last iterate
    iterations: IntArray
    objectives: FloatArray
    gaps: FloatArray
    lower_bound: float


def algorithm1(
    X: FloatArray,
    N: Neighborhood,
    lam: float,
    lower_bound: float,
    n_steps: int = 1000,
    paper: bool = False,
    start: FloatArray | None = None,
    every: int = 1,
) -> Run:
    """Run `n_steps` iterations from `start` (default 0), measured each `every` against `lower_bound`.

    `lower_bound` comes from a certificate of the same problem (`cvxml.solve(...).lower_bound`).
    """
    n, d = X.shape
    usable = N.usable
    A = np.zeros((d, d)) if start is None else start.copy()
    iterations, objectives = [], []
    for t in range(1, n_steps + 1):
        push = np.zeros((d, d))
        for i in usable:
            to_impostors = X[i] - X[N.impostors[i]]
            to_targets = X[i] - X[N.targets[i]]
            D_j = np.sum((to_impostors @ A) * to_impostors, axis=1)
            D_l = np.sum((to_targets @ A) * to_targets, axis=1)
            if D_j.min() - D_l.max() < 1:
                minus = to_impostors[np.argmin(D_j)]
                plus = to_targets[np.argmin(D_l) if paper else np.argmax(D_l)]
                push += np.outer(minus, minus) - np.outer(plus, plus)
        eta = 1 / (lam * t) if paper else 1 / (lam * (t + 1))
        A = project_psd((1 - eta * lam) * A + eta / n * push)
        norm = float(np.linalg.norm(A))
        if norm > 0:
            A *= min(1.0, 1 / math.sqrt(lam) / norm)
        if t % every == 0 or t == n_steps:
            iterations.append(t)
            objectives.append(objective(X, N, A, lam))
    values = np.array(objectives)
    return Run(A, np.array(iterations), values, values - lower_bound, lower_bound)
