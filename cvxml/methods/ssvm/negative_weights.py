"""Weights of sets whose matrix has clearly negative eigenvalues only: they prove the metric 0 optimal.

A set h holds k neighbours of a point i, and Delta is the loss of its vote. The convex step fixes a set h*_i for each
point (certify.py). Let X_ih be the sum of (x_i - x_j)(x_i - x_j)^T over j in h, and X_i* the same sum over j in h*_i.
The weights q_ih of each point sum to 1, and only its sets with the largest Delta have weights. The convex step is
optimal at W = 0 if the matrix

    G = sum_i (sum_h q_ih X_ih - X_i*)

is negative semidefinite for some such q. A solver makes the positive part of G small. It may end with G = 0 up to
rounding. Then rounding errors decide if exact arithmetic finds G negative semidefinite.

The method of Frank and Wolfe makes the largest eigenvalue of G small instead, through a smooth upper bound. The
gradient of this bound is a metric. Each step moves weight to the set of each point with the least sum of squared
distances in this metric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.rows.base import Weights

STEPS = 500
WORK = 2**30  # floating-point operations of a search, about: problems of many directions get fewer steps
RANK = 1e-10  # directions in which the points vary relatively less are left out
CLEARLY = 1e-9  # share of the largest eigenvalue of the sets by which that of G must be below 0
WHOLE = 2**40  # the weights are whole multiples of 1 / WHOLE, which floats add without an error


class Search(NamedTuple):
    """The result of a search: weights q (m,), or None if none are found, and `metric` (r, r), the last gradient."""

    q: FloatArray | None
    metric: FloatArray


def negative_weights(P: FloatArray, sets: IntArray, q: FloatArray, G: Weights) -> Search:
    """Search for weights q (m,) of the sets for which all eigenvalues of G are clearly negative.

    This means that the largest one is below -`CLEARLY` times the largest eigenvalue of sum q_ih X_ih at the start. If
    the search finds no such weights in its limited number of steps, the field `q` of the result is None.

    P (n, r): the points in the coordinates of `span`. sets (m, 1 + k): a point and its set. q (m,): the weights to
    start from, which sum to 1 for each point. G: the matrix of these weights, as weights on pairs of points.
    """
    r = P.shape[1]
    metric = np.eye(r)
    if r == 0:
        return Search(None, metric)
    E = P[sets[:, :1]] - P[sets[:, 1:]]
    pairs = P[G.pairs[:, 0]] - P[G.pairs[:, 1]]
    at, of_sets = (pairs.T * G.w) @ pairs, _spread(E, q)
    width = float(np.linalg.norm(of_sets, 2))
    order = np.argsort(sets[:, 0], kind="stable")
    first = np.unique(sets[order, 0], return_index=True)[1]
    affordable = WORK // (10 * r**3 + 4 * E.size * r + 1)
    for step in watched(range(min(STEPS, affordable) if width > 0 else 0)):
        w, U = np.linalg.eigh(at)
        if w[-1] < -CLEARLY * width:
            return Search(whole_shares(q, sets[:, 0]), metric)
        root = U * np.exp((w - w[-1]) * ((step + 1) / (2 * width)))
        metric = root @ root.T
        lengths = np.sum((E @ root) ** 2, axis=(1, 2))
        nearest = np.zeros(len(sets))
        for start, end in zip(first, [*first[1:], len(sets)], strict=True):
            nearest[order[start + np.argmin(lengths[order[start:end]])]] = 1.0
        part, moved = 2 / (step + 2), _spread(E, nearest) - of_sets
        q, of_sets, at = q + part * (nearest - q), of_sets + part * moved, at + part * moved
    return Search(None, metric)


def _spread(E: FloatArray, weights: FloatArray) -> FloatArray:
    """Return sum_s weights_s sum_j e e^T (r, r), with e = E[s, j], for E (m, k, r) and weights (m,) >= 0."""
    rows = E[weights > 0]
    flat = rows.reshape(-1, E.shape[2])
    spread: FloatArray = (flat.T * np.repeat(weights[weights > 0], E.shape[1])) @ flat
    return spread


def whole_shares(q: FloatArray, point: IntArray) -> FloatArray:
    """Return the weights q (m,) rounded to multiples of 2^-40, so that those of each point sum to 1 exactly.

    point (m,): the point that each weight belongs to.
    """
    whole = np.floor(q * WHOLE)
    for i in np.unique(point):
        own = np.flatnonzero(point == i)
        whole[own[np.argmax(q[own])]] += WHOLE - whole[own].sum()
    return np.asarray(whole / WHOLE, dtype=np.float64)


def span(X: FloatArray) -> FloatArray:
    """Return the points X (n, d) in coordinates of their span: P (n, r), of about unit scale.

    Each feature is divided by its largest entry first. The division and the new coordinates do not change the signs of
    the eigenvalues of G.
    """
    size = np.abs(X).max(axis=0)
    unit = X / np.where(size > 0, size, 1.0)
    unit -= unit.mean(axis=0)
    _, lengths, V = np.linalg.svd(unit, full_matrices=False)
    return np.asarray(unit @ V[lengths > RANK * lengths.max(initial=0.0)].T, dtype=np.float64)
