"""Targets of points, an input of LMNN and its relatives: the nearest of a point's class, or given."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.inputs import check_neighbors
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import k_nearest


class OtherClasses:
    """For each of some points, which of all points are of another class: a table (p, n) that is not stored.

    Indexed as one: by rows, or by rows and columns of equal shape. As an array it takes p n bytes.
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
        """Some of the rows."""
        return OtherClasses(self.own[rows], self.codes)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype)

    def count(self) -> int:
        """How many entries are True."""
        return int(np.sum(len(self.codes) - np.bincount(self.codes)[self.own]))


def count(counts: Any) -> int:
    """How many entries of a table are True."""
    return counts.count() if isinstance(counts, OtherClasses) else int(np.count_nonzero(counts))


def nearest_of_class(X: FloatArray, codes: IntArray, k: int, names: list[str]) -> tuple[IntArray, int]:
    """(n k, 2) the k nearest points of its class for every point, and how many boundaries are ties.

    names: of the classes, for the ValueError that a class is too small.
    """
    sizes = np.bincount(codes)
    if sizes.min() <= k:
        least = int(sizes.argmin())
        raise ValueError(
            f"class {names[least]} has {sizes[least]} point(s), so at most {sizes[least] - 1} targets "
            f"each, not n_neighbors={k}: lower n_neighbors, leave the class out, or give targets"
        )
    nearest, ties = np.empty((len(X), k), dtype=np.intp), 0
    for code in watched(range(len(sizes))):
        members = np.flatnonzero(codes == code)
        nearest[members], tied = k_nearest(X, members, members, k)
        ties += int(tied.sum())
    return np.stack([np.repeat(np.arange(len(X)), k), nearest.ravel()], axis=1), ties


def given_targets(targets: Any, codes: IntArray) -> IntArray:
    """(p, 2) the pairs of explicit lists, one a point, of points of its class. Raises ValueError for others."""
    lists = check_neighbors(targets, len(codes), "targets")
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
