"""Targets of points, an input of LMNN and related methods: the nearest points of the same class, or given lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.inputs import check_neighbors
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import k_nearest


class OtherClasses:
    """A boolean table (p, n), True at (a, b) if row a and point b have different classes. It is not stored.

    Its entries are computed when it is indexed: by rows, or by rows and columns of equal shape. As an array it takes
    p n bytes.

    own: (p,), class codes of the rows. codes: (n,), class codes of all points.
    """

    def __init__(self, own: IntArray, codes: IntArray):
        self.own, self.codes = own, codes
        self.shape = len(own), len(codes)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, tuple):
            row, column = at
            return self.own[row] != self.codes[column]
        own = self.own[at]
        return own != self.codes if np.ndim(own) == 0 else own[:, None] != self.codes

    def of(self, rows: Any) -> OtherClasses:
        """Return the table with these rows only."""
        return OtherClasses(self.own[rows], self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)

    def count(self) -> int:
        return int(np.sum(len(self.codes) - np.bincount(self.codes)[self.own]))


def count(counts: Any) -> int:
    """Return the number of entries that are True, of a boolean array or an `OtherClasses`."""
    return counts.count() if isinstance(counts, OtherClasses) else int(np.count_nonzero(counts))


def nearest_of_class(
    X: FloatArray, codes: IntArray, k: int, names: list[str], instead: str = "targets"
) -> tuple[IntArray, int]:
    """Return pairs (n k, 2) of each point and its k nearest points of the same class, and the number of ties.

    A tie is a point with a k-th and a next neighbour at equal distance. names: class names, for messages. instead: the
    parameter that a message offers in place of n_neighbors. Raises
    ValueError if a class has at most k points.
    """
    sizes = np.bincount(codes)
    if sizes.min() <= k:
        least = int(sizes.argmin())
        raise ValueError(
            f"class {names[least]} has {sizes[least]} point(s), so at most {sizes[least] - 1} targets "
            f"each, not n_neighbors={k}: lower n_neighbors, leave the class out, or give {instead}"
        )
    nearest, ties = np.empty((len(X), k), dtype=np.intp), 0
    for code in watched(range(len(sizes))):
        members = np.flatnonzero(codes == code)
        nearest[members], tied = k_nearest(X, members, members, k)
        ties += int(tied.sum())
    return np.stack([np.repeat(np.arange(len(X)), k), nearest.ravel()], axis=1), ties


def given_targets(targets: Any, codes: IntArray) -> IntArray:
    """Return the pairs (p, 2) of a point and its target, from a list of targets for each point.

    codes: (n,), class codes. Raises ValueError for bad lists, and for targets of another class.
    """
    lists = check_neighbors(targets, len(codes), "targets")
    pairs = np.array([(i, j) for i, listed in enumerate(lists) for j in listed.tolist()], dtype=np.intp)
    if len(pairs) == 0:
        raise ValueError("targets is empty: give at least one target")
    wrong = np.flatnonzero(codes[pairs[:, 0]] != codes[pairs[:, 1]])
    if len(wrong):
        i, j = pairs[wrong[0]].tolist()
        raise ValueError(
            f"targets[{i}] lists {j}, a point of another class: targets are of the point's own class"
        )
    return pairs
