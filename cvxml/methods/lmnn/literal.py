"""The literal problem of LMNN through cvxpy, with the triplets that it needs: constraint generation.

Constraints that hold by themselves may be left out. The problem is solved with those that are violated by Euclid's
metric, scaled so that targets are at 1 on average, then again with those that its answer violates, until it violates
none: the answer is that of all triplets. (Unscaled, the first rounds have wild answers, and take in ten times as many.)
"""

from __future__ import annotations

import numpy as np

from cvxml.backend import solve_problem
from cvxml.convex import Found
from cvxml.methods.lmnn.instance import Instance
from cvxml.metric import FloatArray, IntArray, project_psd
from cvxml.result import Status

VIOLATED = 1e-9  # a margin that is missed by less is kept
ROUNDS = 50


def solve_literal(p: Instance, solver: str) -> Found:
    """The optimum of the literal problem, and its prices from the literal dual of the same triplets."""
    from cvxml.methods.lmnn.problem import dual, literal

    taken = np.zeros_like(p.impostors)
    length = float(np.mean(np.sum((p.X[p.targets[:, 0]] - p.X[p.targets[:, 1]]) ** 2, axis=1)))
    M = np.eye(p.X.shape[1]) / (length or 1.0)
    for rounds in range(1, ROUNDS + 1):
        violated = (_missed(p, M) > VIOLATED) & ~taken
        if rounds > 1 and not violated.any():
            break
        taken |= violated
        triplets = _triplets(p, taken)
        M = project_psd(solve_problem(literal(p.X, p.targets, triplets, p.mu, p.squared), solver)["M"])
    prices = np.zeros(0)
    if len(triplets):
        prices = solve_problem(dual(p.X, p.targets, triplets, p.mu, p.squared), solver)["lambda"]
    return Found(M, {"price": prices, "triplets": triplets}, Status.CONVERGED, rounds)


def _missed(p: Instance, M: FloatArray) -> FloatArray:
    """1 + D_M(i, j) - D_M(i, l) of every target and point (p, n); 0 where l is no impostor."""
    found = np.zeros(p.impostors.shape)
    for row, (i, j) in enumerate(p.targets.tolist()):
        difference = p.X[i] - p.X
        D = np.einsum("na,ab,nb->n", difference, M, difference)
        found[row] = np.where(p.impostors[row], 1 + D[j] - D, 0.0)
    return found


def _triplets(p: Instance, taken: np.ndarray) -> IntArray:
    return p.triplets(*np.nonzero(taken))
