"""Exact inference over sets of k neighbours, for all points and all classes at once (section 5.1).

Everything starts from the k nearest points of each class (nearest.py): D (n, R, k), ascending, inf where there are
none. H_r(tau) = {h : #r >= 1, #c <= #r - tau for c != r}; tau = 1: r wins strictly, tau = 0: ties allowed.

With m votes for r the cheapest set takes the m nearest of r and, of the rest, the k - m nearest with at most m - tau of
a class: going by distance and skipping full classes is exact there, since those sets are the bases of a
truncated partition matroid. What is not exact is to settle m on the way, as Algorithm 2 of the paper does
(study/greedy.py); here every m from n* = ceil((k + tau (R - 1)) / R) to k is tried. The proof is in
docs/gerrymandering_inference.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.nearest import Nearest


class Table(NamedTuple):
    """For each point and class r, the cheapest set of H_r(tau): its cost (inf: there is none) and its votes for r."""

    cost: FloatArray  # (n, c), (n, R) of all classes
    votes: IntArray  # the same


class Chosen(NamedTuple):
    """One set a point."""

    sets: IntArray  # (n, k), increasing
    value: FloatArray  # (n,): the cost of a targeted set; S + Delta of a loss-augmented one


def fewest_votes(k: int, R: int, tau: int) -> int:
    """n*: with fewer of k votes than this no class of R can win (tau = 1) or be tied for most (tau = 0)."""
    return -(-(k + tau * (R - 1)) // R)


def table(D: FloatArray, tau: int, classes: IntArray | None = None) -> Table:
    """The least sum of distances over H_r(tau), for each point and each r; of equal ones that with fewest votes.

    classes (n, c): the r of each point that are asked for; default: all R, in order.
    """
    n, R, k = D.shape
    if classes is None:
        classes = np.broadcast_to(np.arange(R), (n, R))
    own = np.cumsum(np.take_along_axis(D, classes[:, :, None], axis=1), axis=2)
    cost, votes = np.full(classes.shape, np.inf), np.zeros(classes.shape, dtype=np.intp)
    for m in range(fewest_votes(k, R, tau), k + 1):
        total = own[:, :, m - 1] + _rest(D, classes, k - m, m - tau)
        better = total < cost
        cost[better], votes[better] = total[better], m
    return Table(cost, votes)


def _rest(D: FloatArray, classes: IntArray, count: int, most: int) -> FloatArray:
    """(n, c): the `count` least distances outside each class r, at most `most` of a class; inf where there are too few.

    classes (n, c): the r of each point.
    """
    n = len(D)
    if count == 0:
        return np.zeros(classes.shape)
    if most <= 0:
        return np.full(classes.shape, np.inf)
    pool = D[:, :, :most].reshape(n, -1)
    enough = min(count + most, pool.shape[1])  # r itself takes up at most `most` places
    if enough < pool.shape[1]:
        near = np.argpartition(pool, enough - 1, axis=1)[:, :enough]
    else:
        near = np.tile(np.arange(enough), (n, 1))
    distance = np.take_along_axis(pool, near, axis=1)
    order = np.argsort(distance, axis=1)
    distance = np.take_along_axis(distance, order, axis=1)
    label = np.take_along_axis(near, order, axis=1) // most
    left = np.full(classes.shape, count)
    total = np.zeros(classes.shape)
    for t in range(enough):
        take = (left > 0) & (label[:, t, None] != classes)
        total += np.where(take, distance[:, t, None], 0.0)
        left -= take
    total[left > 0] = np.inf
    return total


def sets_of(near: Nearest, r: IntArray, votes: IntArray, tau: int) -> IntArray:
    """The set (n, k) that a table means: class r (n,) with `votes` (n,). Indices increasing."""
    n, _, k = near.D.shape
    sets = np.empty((n, k), dtype=np.intp)
    for m in np.unique(votes).tolist():
        rows = np.flatnonzero(votes == m)
        own = near.J[rows, r[rows], :m]
        most = max(m - tau, 0)
        D, J = near.D[rows, :, :most].copy(), near.J[rows, :, :most]
        D[np.arange(len(rows)), r[rows]] = np.inf
        order = np.argsort(D.reshape(len(rows), -1), axis=1, kind="stable")[:, : k - m]
        sets[rows, :m] = own
        sets[rows, m:] = np.take_along_axis(J.reshape(len(rows), -1), order, axis=1)
    return np.sort(sets, axis=1)


def targeted(near: Nearest, r: IntArray, tau: int = 1) -> Chosen:
    """The cheapest set of H_r(tau) for the class r (n,) of each point. ValueError where there is none."""
    found = table(near.D, tau, r[:, None])
    cost, votes = found.cost[:, 0], found.votes[:, 0]
    if not np.isfinite(cost).all():
        i = int(np.flatnonzero(~np.isfinite(cost))[0])
        raise ValueError(f"no set of {near.D.shape[2]} neighbours of point {i} lets class {r[i]} win")
    return Chosen(sets_of(near, r, votes, tau), cost)


def loss_augmented(near: Nearest, y: IntArray, Lam: FloatArray) -> Chosen:
    """The set with the largest S + Delta: the best of the cheapest sets with r tied for most votes, over r (11)."""
    cost, votes = table(near.D, 0)
    values = Lam[y] - cost
    r = values.argmax(axis=1)
    rows = np.arange(len(y))
    return Chosen(sets_of(near, r, votes[rows, r], 0), values[rows, r])


def task_loss(labels: IntArray, own: IntArray, Lam: FloatArray) -> FloatArray:
    """Delta(y, h), pessimistic, of sets whose points have `labels` (..., k), for points of class `own` (...)."""
    votes = np.stack([(labels == c).sum(axis=-1) for c in range(len(Lam))], axis=-1)
    tied = votes == votes.max(axis=-1, keepdims=True)
    loss: FloatArray = np.where(tied, Lam[own], -np.inf).max(axis=-1)
    return loss
