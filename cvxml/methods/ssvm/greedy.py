"""Targeted inference as printed: the one-pass greedy of Algorithm 2 (paper 001). It is not exact.

It takes the n* nearest of the target class and then, one after another, the nearest point that lets nobody overtake it.
A set with more votes for the target, which would let cheaper others in, is never reconsidered. It can miss the
optimum if and only if R >= 3 and k >= 2 n* + 2 - tau; inference.py is right. Kept for the variant `paper`.
"""

from __future__ import annotations

import numpy as np

from cvxml.methods.ssvm.inference import Table, fewest_votes
from cvxml.metric import FloatArray


def table(D: FloatArray, tau: int) -> Table:
    """The cost and votes of the greedy's set for each point and class (inf: it found none); D as in inference.py."""
    n, R, k = D.shape
    first = fewest_votes(k, R, tau)
    target = np.arange(R)
    taken = np.zeros((n, R, R), dtype=np.intp)  # (point, target class, class)
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
    return Table(cost, taken[:, target, target])
