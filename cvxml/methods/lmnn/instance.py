"""The checked data of LMNN: points, targets, which points count as impostors, mu."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.inputs import check_count, check_labels, check_neighbors, check_number, check_X, class_names
from cvxml.metric import FloatArray, IntArray
from cvxml.neighbors import k_nearest

LEAST = 1e-12  # of mu and of 1 - mu


class Instance(NamedTuple):
    """Checked data. A triplet is a row of `targets` and a point l that counts as an impostor for it."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes
    targets: IntArray  # (p, 2): i and a target j
    impostors: np.ndarray  # (p, n) True where l counts
    mu: float
    squared: bool
    n_neighbors: int | None  # None where targets were given
    ties: int

    def triplets(self, rows: IntArray, columns: IntArray) -> IntArray:
        """(t, 3) the triplets i, j, l of rows of `targets` and points l."""
        return np.concatenate([self.targets[rows], columns[:, None]], axis=1)

    def target_lists(self) -> list[list[int]]:
        """The targets of every point, as `targets` takes them."""
        lists: list[list[int]] = [[] for _ in self.X]
        for i, j in self.targets.tolist():
            lists[i].append(j)
        return lists


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    squared: bool,
    *,
    mu: float = 0.5,
    n_neighbors: int | None = 3,
    targets: Any = None,
) -> Instance:
    """Everything checked. Raises ValueError for bad input."""
    points = check_X(X)
    if y is None:
        raise ValueError("y is None: it must be one-dimensional, one label a point")
    codes = check_labels(y, len(points))
    if not LEAST <= check_number(mu, "mu") <= 1 - LEAST:
        raise ValueError(
            f"mu must lie between 0 and 1, at least {LEAST:g} from both, got {mu!r}: "
            "(1 - mu) weighs the targets, mu the impostors"
        )
    if targets is None:
        n_neighbors = check_count(n_neighbors, "n_neighbors")
        pairs, ties = _nearest_of_class(points, codes, n_neighbors, class_names(y))
    else:
        n_neighbors, pairs, ties = None, _given(targets, codes), 0
    impostors = codes[pairs[:, 0], None] != codes
    return Instance(points, codes, pairs, impostors, float(mu), squared, n_neighbors, ties)


def _nearest_of_class(X: FloatArray, codes: IntArray, k: int, names: list[str]) -> tuple[IntArray, int]:
    """(n k, 2) the k nearest points of its class for every point, and how many boundaries are ties."""
    sizes = np.bincount(codes)
    if sizes.min() <= k:
        least = int(sizes.argmin())
        raise ValueError(
            f"class {names[least]!s:.40} has {sizes[least]} point(s), so at most {sizes[least] - 1} targets each, "
            f"not n_neighbors={k}: lower n_neighbors, leave the class out, or give targets"
        )
    nearest, ties = np.empty((len(X), k), dtype=np.intp), 0
    for code in range(len(sizes)):
        members = np.flatnonzero(codes == code)
        nearest[members], tied = k_nearest(X, members, members, k)
        ties += int(tied.sum())
    return np.stack([np.repeat(np.arange(len(X)), k), nearest.ravel()], axis=1), ties


def _given(targets: Any, codes: IntArray) -> IntArray:
    """Explicit lists, one a point, of points of the same class."""
    try:
        lists = check_neighbors(targets, len(codes))
    except ValueError as error:
        raise ValueError(str(error).replace("neighbors", "targets")) from None
    pairs = np.array([(i, j) for i, listed in enumerate(lists) for j in listed.tolist()], dtype=np.intp)
    if len(pairs) == 0:
        raise ValueError("targets lists no point at all: give at least one target")
    wrong = np.flatnonzero(codes[pairs[:, 0]] != codes[pairs[:, 1]])
    if len(wrong):
        i, j = pairs[wrong[0]].tolist()
        raise ValueError(
            f"targets[{i}] lists {j}, a point of another class: targets are of the point's own class"
        )
    return pairs
