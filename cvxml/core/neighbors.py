"""Nearest neighbours, with one rule for ties that all methods share.

Squared distances are sums of squared differences over the features in order, in float64; equal distances are ordered by
index (docs/mlsvm.md, edge cases). Neighbour lists are part of many problems, so all methods use this module for them.

Two distances are tied if float64 cannot order them: they are equal up to TIE_TOL (1e-12, relative) and the rounding of
the points. If the features have a large offset, this rounding can be as large as the difference of two points.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray

TIE_TOL = 1e-12  # relative: two squared distances that differ by less are tied
_BLOCK = 2**20  # entries of one block of the distance matrix
GROUP = 16  # columns whose minimum stands for them, where the nearest columns are looked for


def squared_euclidean(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the squared distances (p, q) of the rows of A (p, d) to the rows of B (q, d), summed feature by feature.

    The order of summation is part of the definition. A matrix product rounds differently, and could change the order of
    tied points.
    """
    total = np.zeros((len(A), len(B)))
    for a, b in watched(zip(A.T, B.T, strict=True)):
        difference = a[:, None] - b[None, :]
        difference *= difference
        total += difference
    return total


def inner_products(A: FloatArray, B: FloatArray) -> FloatArray:
    """Return the products <a, b> (p, q) of the rows of A (p, d) and B (q, d), summed feature by feature."""
    total = np.zeros((len(A), len(B)))
    for a, b in watched(zip(A.T, B.T, strict=True)):
        total += a[:, None] * b[None, :]
    return total


def resolution(X: FloatArray) -> float:
    """Return how much a distance between two rows of X (n, d) may change by the rounding of the points to float64.

    An entry is off by half a unit in the last place, at most eps/2 times its size. So a large offset leaves few digits
    to a difference.
    """
    return EPS * float(np.abs(X).max(axis=0).sum())


def are_tied(kth: FloatArray, following: FloatArray, error: float) -> np.ndarray:
    """Return a boolean array, True where the k-th squared distance and the next one are tied.

    kth: the k-th smallest squared distances.
    following: the (k + 1)-th ones, of the same shape.
    error: the rounding error of a distance, from `resolution`.

    They are tied if following - kth <= TIE_TOL kth + 2 error (sqrt(following) + sqrt(kth)). The last term is the
    difference of the squares if the two distances differ by 2 error.
    """
    either = np.sqrt(kth) + np.sqrt(following)
    tied: np.ndarray = following - kth <= TIE_TOL * kth + 2 * error * either
    return tied


def k_nearest_by_kernel(
    K: FloatArray, rows: IntArray, columns: IntArray, k: int
) -> tuple[IntArray, np.ndarray]:
    """Return the k nearest points among `columns` for each of `rows`, in the feature space of a kernel matrix K (n, n).

    rows, columns: indices of points, 0 to n - 1. The squared distance of i and j is K_ii + K_jj - 2 K_ij.

    The first result holds indices of points (len(rows), k), ordered by distance and then by index, without the point
    itself. The second is boolean (len(rows),): True if the k-th and the next distance are tied. A tie means that their
    squares differ by at most TIE_TOL times the largest K_ii + K_jj over all j in `columns`.
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
    """Return the result of `k_nearest` by sorting all distances: a slow reference for tests.

    The arguments and results are those of `k_nearest`.
    """
    chosen, tied = [], []
    for i in rows:
        others = np.array([j for j in columns if j != i])
        distance = squared_euclidean(X[i : i + 1], X[others])[0]
        order = sorted(range(len(others)), key=lambda c: (distance[c], others[c]))
        chosen.append(others[order[:k]])
        boundary = distance[order[k - 1 : k + 1]]
        tied.append(len(boundary) == 2 and bool(are_tied(boundary[0], boundary[1], resolution(X))))
    return np.array(chosen, dtype=np.intp).reshape(len(rows), k), np.array(tied, dtype=bool)


def _at_least_smallest(rough: FloatArray, k: int) -> FloatArray:
    """Return an upper bound (p,) of the k-th smallest entry of each row of `rough` (p, q), seldom much larger than it.

    The columns are divided into groups of `GROUP`, and the bound is the k-th smallest of the minima of the groups. With
    fewer than 4 k groups, it is the k-th smallest entry itself.
    """
    groups = rough.shape[1] // GROUP
    if groups < 4 * k:
        return np.partition(rough, k - 1, axis=1)[:, k - 1]
    minima = rough[:, : GROUP * groups].reshape(-1, GROUP, groups).min(axis=1)
    return np.partition(minima, k - 1, axis=1)[:, k - 1]


def k_nearest(X: FloatArray, rows: IntArray, columns: IntArray, k: int) -> tuple[IntArray, np.ndarray]:
    """Return the k nearest points among `columns` for each of `rows`, without the point itself.

    X: the points (n, d). rows, columns: indices of points. k must be at most the number of `columns` without the point.

    The first result holds indices of points (len(rows), k), ordered by distance and then by index. The second is
    boolean (len(rows),), True if the k-th and the next distance are tied (`are_tied`).

    A matrix product selects candidates within a proved rounding bound. Then the sums of `squared_euclidean` decide the
    order.
    """
    rounded_by = resolution(X)
    Z = X - X[columns].mean(axis=0)
    squares = np.einsum("id,id->i", Z, Z)
    # bound on the error of a squared distance, for the product and the ordered sum together
    error = 16 * (X.shape[1] + 8) * EPS * 4 * float(squares.max())
    error += 64 * (X.shape[1] + 8) * 5e-324  # squares that underflow
    nearest = np.empty((len(rows), k), dtype=np.intp)
    tied = np.zeros(len(rows), dtype=bool)
    step = max(1, _BLOCK // max(1, len(columns)))
    among, own = Z[columns].T, np.full(len(X), -1)
    own[columns] = np.arange(len(columns))
    for start in watched(range(0, len(rows), step)):
        block = rows[start : start + step]
        rough = (-2 * Z[block]) @ among
        rough += squares[columns]
        rough += squares[block, None]
        itself = np.flatnonzero(own[block] >= 0)
        rough[itself, own[block[itself]]] = np.inf
        # k + 1 candidates, to see whether the next point is tied with the last neighbour
        limit = _at_least_smallest(rough, min(k + 1, len(columns)))
        limit = np.where(np.isfinite(limit), limit, np.partition(rough, k - 1, axis=1)[:, k - 1])
        near = rough <= (limit * (1 + 2 * TIE_TOL) + 2 * error)[:, None]
        r, c = np.divmod(np.flatnonzero(near), len(columns))
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
    """Return the class with the most votes in each row of `labels` (q, k), which has class codes in order of distance.

    If classes are tied, the class with the nearest point wins (the 1-NN vote of Trivedi et al. 2014, section 3).
    """
    votes = (labels[:, :, None] == np.arange(n_classes)).sum(axis=1)
    tied = votes == votes.max(axis=1, keepdims=True)
    first = np.take_along_axis(tied, labels, axis=1).argmax(axis=1)
    winner: IntArray = labels[np.arange(len(labels)), first]
    return winner
