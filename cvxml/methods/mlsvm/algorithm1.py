"""The definitions of MLSVM by loops, and Algorithm 1 of Nguyen, Guo 2008 (Pegasos-like), corrected and as printed.

Problem (2) and its slacks:

    min_{A psd}  lam/2 ||A||^2 + 1/n sum_i xi_i,     xi_i = [1 - min_j d_A(i, j) + max_l d_A(i, l)]_+

Here j runs over the impostors of point i, l over its targets, and d_A(i, j) is the squared distance in A. N holds the
lists of targets and impostors of all points. Points without targets or without impostors have xi_i = 0. Algorithm 1:

    V      = { i : min_j d_A(i, j) - max_l d_A(i, l) < 1 }
    A'     = (1 - eta_t lam) A_t + eta_t/n sum_{i in V} [ (x_i - x-)(x_i - x-)^T - (x_i - x+)(x_i - x+)^T ]
    A_t+1  = P_+(A') scaled into the ball of radius 1/sqrt(lam)       (psd first, then scale)

x- is the impostor of point i with the least d_A, and x+ is a target of point i.

Corrected (default): x+ is the argMAX of d_A over the targets, and eta_t = 1/(lam (t + 1)), so the first step does not
erase the start. As printed in our transcript (`paper=True`): x+ is the argmin and eta_t = 1/(lam t). This is no
subgradient method for (2) and stalls above the optimum. Its gap, measured against a certified lower bound, shows by how
much. The corrected gap falls about like 1/(lam t); docs/mlsvm_algorithm.md proves a bound for the best iterate. The
package solves the problem by solver.py.

All names are the paper's. This file is slow and independent: from this folder it imports only the neighbour lists.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, IntArray, project_psd
from cvxml.methods.mlsvm.neighborhood import Neighborhood


def objective(X: FloatArray, N: Neighborhood, A: FloatArray, lam: float) -> float:
    """The objective lam/2 ||A||^2 + 1/n sum_i xi_i of problem (2) at the metric `A` (d, d), with the least slacks."""
    slacks = [max(0.0, 1.0 - margin(X, N, A, i)[0]) for i in N.usable]
    return lam / 2 * float(np.sum(A**2)) + math.fsum(slacks) / len(X)


def margin(X: FloatArray, N: Neighborhood, A: FloatArray, i: int) -> tuple[float, int, int]:
    """min_j d_A(i, j) - max_l d_A(i, l) of point i, and the first impostor j and first target l that reach them."""
    to_impostors = [distance(X, A, i, j) for j in N.impostors[i]]
    to_targets = [distance(X, A, i, l) for l in N.targets[i]]
    j, l = int(np.argmin(to_impostors)), int(np.argmax(to_targets))
    return to_impostors[j] - to_targets[l], int(N.impostors[i][j]), int(N.targets[i][l])


def distance(X: FloatArray, A: FloatArray, i: int, j: int) -> float:
    """d_A(x_i, x_j) = (x_i - x_j)^T A (x_i - x_j)."""
    return float((X[i] - X[j]) @ A @ (X[i] - X[j]))


def into_ball(A: FloatArray, lam: float) -> FloatArray:
    """Return A (d, d), scaled down to norm 1/sqrt(lam) if its norm is larger."""
    norm = float(np.linalg.norm(A))
    return A * min(1.0, 1 / math.sqrt(lam) / norm) if norm > 0 else A


def evaluate(X: FloatArray, N: Neighborhood, A: FloatArray, lam: float, t: int) -> dict[str, Any]:
    """Return intermediate values at A (d, d), by name, and one corrected step of Algorithm 1 from A at iteration t.

    objective. targets, impostors: a list for each point. target_distances, impostor_distances: their squared distances.
    usable: the number of points with both. ties: the number of points with tied last neighbours. active_impostor,
    active_target (n,): the indices of x- and x+; -1 for points that are not usable. xi (n,). violated: the points in V.
    subgradient (d, d) of the objective. eta. A_third, A_two_thirds, A_next (d, d): A', P_+(A') and A_t+1 after the
    step.
    """
    n, d = X.shape
    active_impostor = np.full(n, -1)
    active_target = np.full(n, -1)
    xi = np.zeros(n)
    for i in N.usable:
        m, active_impostor[i], active_target[i] = margin(X, N, A, i)
        xi[i] = max(0.0, 1.0 - m)
    V = np.flatnonzero(xi > 0)
    push = np.zeros((d, d))
    for i in V:
        minus, plus = X[i] - X[active_impostor[i]], X[i] - X[active_target[i]]
        push += np.outer(minus, minus) - np.outer(plus, plus)
    eta = 1 / (lam * (t + 1))
    A_third = (1 - eta * lam) * A + eta / n * push
    A_two_thirds = project_psd(A_third)
    return {
        "objective": objective(X, N, A, lam),
        "targets": [listed.tolist() for listed in N.targets],
        "impostors": [listed.tolist() for listed in N.impostors],
        "usable": len(N.usable),
        "ties": N.ties,
        "target_distances": [[distance(X, A, i, j) for j in N.targets[i]] for i in range(n)],
        "impostor_distances": [[distance(X, A, i, j) for j in N.impostors[i]] for i in range(n)],
        "active_impostor": active_impostor,
        "active_target": active_target,
        "xi": xi,
        "violated": V,
        "subgradient": lam * A - push / n,
        "eta": eta,
        "A_third": A_third,
        "A_two_thirds": A_two_thirds,
        "A_next": into_ball(A_two_thirds, lam),
    }


@dataclass(frozen=True, eq=False)
class Run:
    """The result of Algorithm 1: the last metric, and its measurements after the iterations in `iterations`.

    `objectives[k]` and `gaps[k]` = objectives[k] - lower_bound belong to iteration `iterations[k]`.
    """

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
    """Run `n_steps` iterations of Algorithm 1 from the metric `start` (d, d), by default 0.

    paper: True runs the algorithm as printed, False the corrected one. every: the objective is computed after each
    `every`-th iteration and after the last.

    lower_bound: of the optimum, from a certificate of the same problem (`cvxml.solve(...).lower_bound`); the gaps are
    objectives minus this bound.
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
        A = into_ball(project_psd((1 - eta * lam) * A + eta / n * push), lam)
        if t % every == 0 or t == n_steps:
            iterations.append(t)
            objectives.append(objective(X, N, A, lam))
    values = np.array(objectives)
    return Run(A, np.array(iterations), values, values - lower_bound, lower_bound)
