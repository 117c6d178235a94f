"""What a radius is worth: the neighbours and the votes that the exact optimum has for certain.

The optimum A* is within `radius` of the metric M, in Frobenius norm. So of two points with differences u and v from a
query, the distances of A* differ by (u^T M u - v^T M v), but for at most radius ||u u^T - v v^T||. Where that leaves no
doubt which of the two is nearer, A* says the same; from these pairs follows which points can be among the k nearest,
which must be, and what each class can have of the votes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count, real_array
from cvxml.core.metric import FloatArray, IntArray

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Predictions:
    """Of q queries, or of the n points themselves, each without itself. What is certain holds for the exact optimum."""

    n_neighbors: int
    radius: float  # within which the optimum is
    neighbors: IntArray  # (q, k) the k nearest by the metric itself, nearest first
    same_neighbors: np.ndarray  # (q,) True where they are the k nearest of the optimum, in some order
    votes: IntArray  # (q,) the class with most of them by the metric itself, the first of several
    same_vote: np.ndarray  # (q,) True where it has most, alone, by the optimum

    def __str__(self) -> str:
        if not math.isfinite(self.radius):
            return "the optimum need not be unique, and no distance from it is known: no vote is proved"
        q, votes, lists = len(self.votes), int(self.same_vote.sum()), int(self.same_neighbors.sum())
        return (
            f"of {q} votes of {self.n_neighbors} neighbours {votes} are those of the exact optimum, and so are "
            f"{lists} lists of neighbours; of the others nothing is proved"
        )


def predictions(
    X: FloatArray, codes: IntArray, M: FloatArray, radius: float, k: int, queries: ArrayLike | None = None
) -> Predictions:
    """X (n, d), codes (n,) of classes, M (d, d) psd, queries (q, d). Raises ValueError for bad input."""
    own = queries is None
    k = check_count(k, "n_neighbors", at_most=len(X) - own)
    Q = X if queries is None else np.atleast_2d(real_array(queries, "queries"))
    if Q.ndim != 2 or Q.shape[1] != X.shape[1] or not np.isfinite(Q).all():
        raise ValueError(f"queries must be finite, of shape (q, {X.shape[1]}), got {Q.shape}")
    found = []
    for i, query in enumerate(Q):
        others = np.delete(np.arange(len(X)), i) if own else np.arange(len(X))
        found.append(_of_one(query - X[others], others, codes, M, radius, k))
    neighbors, same, votes, sure = zip(*found, strict=True)
    return Predictions(k, radius, np.array(neighbors), np.array(same), np.array(votes), np.array(sure))


def _of_one(
    E: FloatArray, others: IntArray, codes: IntArray, M: FloatArray, radius: float, k: int
) -> tuple[IntArray, bool, int, bool]:
    D, nearer = np.sum((E @ M) * E, axis=1), certainly_nearer(E, M, radius)
    order = np.argsort(D, kind="stable")[:k]
    may = nearer.sum(axis=0) < k  # fewer than k are nearer for certain
    must = len(E) - 1 - nearer.sum(axis=1) < k  # fewer than k may be nearer
    of, classes = codes[others], np.unique(codes)
    least = np.array([np.sum(must & (of == c)) for c in classes])
    most = np.array(
        [min(np.sum(may & (of == c)), k - (must.sum() - low)) for c, low in zip(classes, least, strict=True)]
    )
    own_votes = np.array([np.sum(of[order] == c) for c in classes])
    vote = int(own_votes.argmax())
    sure = bool(least[vote] > np.delete(most, vote).max(initial=-1))
    return others[order], bool(must.sum() == k), int(classes[vote]), sure


def certainly_nearer(E: FloatArray, M: FloatArray, radius: float) -> np.ndarray:
    """(m, m) True where, of differences E (m, d) from a query, row a is nearer than row b by every metric around M."""
    if not math.isfinite(radius):
        return np.zeros((len(E), len(E)), dtype=bool)
    D, lengths, inner = np.sum((E @ M) * E, axis=1), np.sum(E**2, axis=1), E @ E.T
    # ||u u^T - v v^T||^2 = |u|^4 + |v|^4 - 2 (u v)^2, of which rounding may take a share of the first two
    fourth = lengths[:, None] ** 2 + lengths**2
    apart = np.sqrt(np.maximum(fourth - 2 * inner**2, 0.0) + 8 * (len(M) + 4) * EPS * fourth)
    off = 4 * (len(M) + 4) * EPS * np.sum((np.abs(E) @ np.abs(M)) * np.abs(E), axis=1)
    nearer: np.ndarray = D - D[:, None] > radius * apart * (1 + 8 * EPS) + off[:, None] + off
    return nearer
