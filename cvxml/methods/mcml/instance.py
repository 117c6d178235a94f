"""The checked data of MCML, and its weights: who pulls whom, and who is in whose softmax."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.inputs import check_labels, check_X
from cvxml.metric import FloatArray, IntArray


class Instance(NamedTuple):
    """Checked data: X (n, d) float64, y (n,) codes."""

    X: FloatArray
    y: IntArray


class Weights(NamedTuple):
    """Those of  sum_ij w_ij D_ij + sum_i c_i log sum_{k among i} exp(-D_ik); a row with c_i = 0 is not there.

    MCML has w_ij = p0(j|i), c_i = 1 and all k != i. Its misreadings have others (variants.py).
    """

    w: FloatArray  # (n, n) >= 0, rows of zeros where c is 0
    c: FloatArray  # (n,) >= 0
    among: np.ndarray  # (n, n) bool
    diagonal: bool = False  # of A only the diagonal counts

    @property
    def rows(self) -> list[int]:
        """The points that have a row."""
        return [int(i) for i in np.flatnonzero(self.c)]


def instance(X: ArrayLike, y: ArrayLike | None) -> Instance:
    """Everything checked. Raises ValueError for bad input (inputs.py), and where every class is a single point."""
    points = check_X(X)
    if y is None:
        raise ValueError("y is None: it must be one-dimensional, one label a point")
    codes = check_labels(y, len(points))
    if np.bincount(codes).max() < 2:
        raise ValueError(
            "every class has a single point: none can collapse; give at least one class two points"
        )
    return Instance(points, codes)


def weights(y: IntArray) -> Weights:
    """p0, uniform in the class of i without i itself; points that are alone in their class have no row."""
    n = len(y)
    mates = (y[:, None] == y) & ~np.eye(n, dtype=bool)
    count = mates.sum(axis=1)
    return Weights(mates / np.maximum(count, 1)[:, None], (count > 0) * 1.0, ~np.eye(n, dtype=bool))


def alone(y: IntArray) -> int:
    """How many points are alone in their class."""
    return int(np.sum(np.bincount(y)[y] == 1))
