"""Nearest neighbours, and THE tie-break: sums of squared differences over features in order, float64,
then the index (docs/mlsvm.md, edge cases). Neighbour lists are inputs of every problem, so
this one file serves everybody.

A tie is what float64 cannot tell: equal to TIE_TOL, or equal but for the rounding of the points themselves, which
is all that is left of a difference where the features have a large offset.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray

TIE_TOL = 1e-12  # relative: closer than this, two squared distances are a tie
_BLOCK = 2**22  # entries of one block of the distance matrix


def squared_euclidean(A: FloatArray, B: FloatArray) -> FloatArray:
    """Squared distances of every row of A (p, d) to every row of B (q, d), summed feature by feature.

    The order of summation is part of the definition: a matrix product rounds differently and turns
    ties around.
    """
    total = np.zeros((len(A), len(B)))
    for a, b in watched(zip(A.T, B.T, strict=True)):
        difference = a[:, None] - b[None, :]
        difference *= difference
        total += difference
    return total


def inner_products(A: FloatArray, B: FloatArray) -> FloatArray:
    """<a, b> for every row of A (p, d) and B (q, d), summed feature by feature, for the same reason."""
    total = np.zeros((len(A), len(B)))
    for a, b in watched(zip(A.T, B.T, strict=True)):
        total += a[:, None] * b[None, :]
    return total


def resolution(X: FloatArray) -> float:
    """By how much a distance of two rows of X (n, d) may differ from that of the points they were rounded from.

    An entry is off by half an ulp, at most eps/2 of its size: a large offset leaves few digits to a difference.
    """
    return EPS * float(np.abs(X).max(axis=0).sum())


def are_tied(kth: FloatArray, following: FloatArray, error: float) -> np.ndarray:
    """Where the k-th squared distance and the next one cannot be told apart, given the `resolution` of the points.

    Equal to TIE_TOL, relatively, or distances (not squared) that differ by at most 2 `error`, one for each.
    """
    either = np.sqrt(kth) + np.sqrt(following)
    tied: np.ndarray = following - kth <= TIE_TOL * kth + 2 * error * either
    return tied


def k_nearest_by_kernel(
    K: FloatArray, rows: IntArray, columns: IntArray, k: int
) -> tuple[IntArray, np.ndarray]:
    """As `k_nearest` in the feature space of a kernel matrix K (n, n): distance K_ii + K_jj - 2 K_ij, then index.

    A tie is a difference of at most TIE_TOL times K_ii + K_jj, the numbers whose difference the distance is.
    """
    diagonal = np.diag(K)
    size = diagonal[rows, None] + diagonal[columns]
    distance = size - 2 * K[np.ix_(rows, columns)]
    distance[rows[:, None] == columns] = np.inf
    slack = TIE_TOL * size.max(axis=1)
    order = np.argsort(distance, axis=1, kind="stable")
    ordered = np.take_along_axis(distance, order, axis=1)
    if ordered.shape[1] > k:
        with np.errstate(invalid="ignore"):
            tied = ordered[:, k] - ordered[:, k - 1] <= slack
    else:
        tied = np.zeros(len(rows), dtype=bool)
    return columns[order[:, :k]], tied


def k_nearest_slow(X: FloatArray, rows: IntArray, columns: IntArray, k: int) -> tuple[IntArray, np.ndarray]:
    """The k nearest points among `columns` for each of `rows`: the obvious twin of `k_nearest`."""
    chosen, tied = [], []
    for i in rows:
        others = np.array([j for j in columns if j != i])
        distance = squared_euclidean(X[i : i + 1], X[others])[0]
        order = sorted(range(len(others)), key=lambda c: (distance[c], others[c]))
        chosen.append(others[order[:k]])
        boundary = distance[order[k - 1 : k + 1]]
        tied.append(len(boundary) == 2 and bool(are_tied(boundary[0], boundary[1], resolution(X))))
    return np.array(chosen, dtype=np.intp).reshape(len(rows), k), np.array(tied, dtype=bool)


def k_nearest(X: FloatArray, rows: IntArray, columns: IntArray, k: int) -> tuple[IntArray, np.ndarray]:
    """The k nearest points among `columns` for each of `rows`, never the point itself.

    Returns the indices (len(rows), k), ordered by distance and then by index, and a boolean (len(rows),):
    True where the k-th and the next distance are a tie (`are_tied`).
    A matrix product preselects candidates within a rigorous rounding bound; the order is decided by
    the exact sums of `squared_euclidean`. Needs k <= number of columns other than the point itself.
    """
    rounded_by = resolution(X)
    Z = X - X[columns].mean(axis=0)
    squares = np.einsum("id,id->i", Z, Z)
    # |computed - true| of a squared distance, by the product and by the ordered sum together
    error = 16 * (X.shape[1] + 8) * EPS * 4 * float(squares.max())
    error += 64 * (X.shape[1] + 8) * 5e-324  # squares that underflow
    nearest = np.empty((len(rows), k), dtype=np.intp)
    tied = np.zeros(len(rows), dtype=bool)
    step = max(1, _BLOCK // max(1, len(columns)))
    for start in watched(range(0, len(rows), step)):
        block = rows[start : start + step]
        rough = squares[block, None] + squares[columns] - 2 * Z[block] @ Z[columns].T
        rough[block[:, None] == columns] = np.inf
        # One more than k is taken, to see whether the next point ties with the last neighbour.
        enough = min(k + 1, len(columns)) - 1
        limit = np.partition(rough, enough, axis=1)[:, enough]
        limit = np.where(np.isfinite(limit), limit, np.partition(rough, k - 1, axis=1)[:, k - 1])
        r, c = np.nonzero(rough <= (limit * (1 + 2 * TIE_TOL) + 2 * error)[:, None])
        exact = np.zeros(len(r))
        for feature in X.T:
            difference = feature[block[r]] - feature[columns[c]]
            exact += difference * difference
        order = np.lexsort((columns[c], exact, r))
        r, c, exact = r[order], c[order], exact[order]
        first = np.searchsorted(r, np.arange(len(block)))
        nearest[start : start + step] = columns[c[first[:, None] + np.arange(k)]]
        kth, after = exact[first + k - 1], np.minimum(first + k, len(r) - 1)
        has_next = r[after] == np.arange(len(block))
        tied[start : start + step] = (
            has_next & (after > first + k - 1) & are_tied(kth, exact[after], rounded_by)
        )
    return nearest, tied


def majority(labels: IntArray, n_classes: int) -> IntArray:
    """The class with most votes in each row of `labels` (q, k), codes in order of distance.

    A tie goes to the tied class that has the nearest point (the 1-NN vote of Trivedi et al. 2014, section 3).
    """
    votes = (labels[:, :, None] == np.arange(n_classes)).sum(axis=1)
    tied = votes == votes.max(axis=1, keepdims=True)
    first = np.take_along_axis(tied, labels, axis=1).argmax(axis=1)
    winner: IntArray = labels[np.arange(len(labels)), first]
    return winner
