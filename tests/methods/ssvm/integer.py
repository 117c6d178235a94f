"""The two inferences of neighbourhood gerrymandering as integer programs, through scipy's HiGHS.

z_j = 1 if j is in h, for j != i, and #c = sum of z_j over the points of class c.

Targeted inference (5.1.1):
    min sum_j D_j z_j   s.t.   sum_j z_j = k,   #r >= 1,   #c <= #r - tau for every c != r,   z binary.

Loss-augmented inference (5.1.2). Delta(y, h) is the LARGEST Lam(y, r) among the classes r tied for most votes, so
the maximum of S + Delta over h is the maximum of S + Lam(y, r) over pairs (h, r) where r is tied for most votes
in h, that is where #c <= #r for every c. Which r is a choice, and so a variable, b_r:
    max -sum_j D_j z_j + sum_r Lam(y, r) b_r
    s.t. sum_j z_j = k,   sum_r b_r = 1,   #c <= #r + k (1 - b_r) for every c != r,   z, b binary.

HiGHS stops within 1e-6 of the optimum, absolutely. The values returned are computed from the sets.

Shapes as in enumeration.py, with which only the type of a set is shared.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.enumeration import Neighbors


def targeted(D: FloatArray, y: IntArray, i: int, k: int, r: int, tau: int) -> tuple[Neighbors, float] | None:
    """The cheapest h of H_r(tau) and its sum of D; None if there is none. RuntimeError if HiGHS gives up."""
    others = np.array([j for j in range(len(y)) if j != i])
    R = int(max(y)) + 1
    of_class = np.array([[1.0 if y[j] == c else 0.0 for j in others] for c in range(R)])
    rows = [
        LinearConstraint(np.ones(len(others)), k, k),
        LinearConstraint(of_class[r], 1, np.inf),
    ]
    rows += [LinearConstraint(of_class[c] - of_class[r], -np.inf, -tau) for c in range(R) if c != r]
    z = _solve(D[others], rows)
    if z is None:
        return None
    h = _set_of(z, others)
    return h, math.fsum(D[j] for j in h)


def loss_augmented(D: FloatArray, y: IntArray, i: int, k: int, Lam: FloatArray) -> tuple[Neighbors, float]:
    """The h with the largest S + Delta, and that value. ValueError without k others; RuntimeError as above."""
    others = np.array([j for j in range(len(y)) if j != i])
    n, R = len(others), len(Lam)
    if k > n:
        raise ValueError(f"k={k} neighbours need as many other points; there are {n}")
    own = int(y[i])
    of_class = np.array([[1.0 if y[j] == c else 0.0 for j in others] for c in range(R)])
    rows = [
        LinearConstraint(np.r_[np.ones(n), np.zeros(R)], k, k),
        LinearConstraint(np.r_[np.zeros(n), np.ones(R)], 1, 1),
    ]
    for r in range(R):
        for c in range(R):
            if c != r:
                rows += [LinearConstraint(np.r_[of_class[c] - of_class[r], k * np.eye(R)[r]], -np.inf, k)]
    solution = _solve(np.r_[D[others], -Lam[own]], rows)
    if solution is None:
        raise RuntimeError("HiGHS calls the loss-augmented program infeasible; it never is")
    chosen = int(np.argmax(solution[n:]))
    h = _set_of(solution[:n], others)
    return h, math.fsum([*(-D[j] for j in h), float(Lam[own, chosen])])


def _solve(cost: FloatArray, rows: list[LinearConstraint]) -> FloatArray | None:
    """min cost.z over binary z under `rows`; None if infeasible."""
    answer = milp(
        cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, 1),
        constraints=rows,
        options={"mip_rel_gap": 0},
    )
    if answer.status == 2:
        return None
    if answer.status != 0:
        raise RuntimeError(f"HiGHS did not solve the integer program: {answer.message}")
    return np.asarray(np.round(answer.x), dtype=np.float64)


def _set_of(z: FloatArray, others: IntArray) -> Neighbors:
    return tuple(int(j) for j, chosen in zip(others, z, strict=True) if chosen == 1)
