"""Targeted inference as printed: the one-pass greedy of Algorithm 2. It is not exact.

It takes the n* nearest of the target class and then, one after another, the nearest point that lets nobody
overtake it. A set with more votes for the target, which would let cheaper others in, is never reconsidered. It
can miss the optimum if and only if R >= 3 and k >= 2 n* + 2 - tau; inference.py is right. Kept for the variant
`paper`.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.inference import Chosen, fewest_votes
from cvxml.methods.ssvm.nearest import Nearest


def table(D: FloatArray, tau: int) -> tuple[FloatArray, IntArray]:
    """The cost (n, R) of the greedy's set for each point and target class, and its votes (n, R, R).

    D as in inference.py; a cost is inf where no set was found; the last axis of the votes is the class voted for.
    """
    n, R, k = D.shape
    first = fewest_votes(k, R, tau)
    target = np.arange(R)
    taken = np.zeros((n, R, R), dtype=np.intp)
    taken[:, target, target] = first
    cost = D[:, :, :first].sum(axis=2)
    beyond = np.concatenate([D, np.full((n, R, 1), np.inf)], axis=2)
    point, classes = np.arange(n)[:, None, None], np.arange(R)[None, None, :]
    for _ in range(first, k):
        next_one = beyond[point, classes, taken]
        own = taken[:, target, target][:, :, None]
        open_to = (taken < own - tau) | (classes == target[None, :, None])
        offered = np.where(open_to, next_one, np.inf)
        chosen = offered.argmin(axis=2)
        cost += np.take_along_axis(offered, chosen[:, :, None], axis=2)[:, :, 0]
        taken[point[:, :, 0], target[None, :], chosen] += 1
    return cost, taken


def targeted(near: Nearest, r: IntArray, tau: int = 1) -> Chosen:
    """Algorithm 2 for the class r (n,) of each point. It finds a set wherever there is one."""
    cost, taken = table(near.D, tau)
    rows = np.arange(len(r))
    return Chosen(_sets(near, taken[rows, r]), cost[rows, r])


def loss_augmented(near: Nearest, y: IntArray, Lam: FloatArray, tau: int = 1) -> Chosen:
    """Algorithm 3 with the tau = 1 of its code: sets with a tie for most votes are not looked at."""
    cost, taken = table(near.D, tau)
    values = Lam[y] - cost
    r = values.argmax(axis=1)
    rows = np.arange(len(y))
    return Chosen(_sets(near, taken[rows, r]), values[rows, r])


def _sets(near: Nearest, votes: IntArray) -> IntArray:
    """The nearest votes[i, c] points of each class c, (n, k), increasing."""
    n, _, k = near.J.shape
    chosen = np.arange(k) < votes[:, :, None]
    return np.sort(near.J[chosen].reshape(n, k), axis=1)
