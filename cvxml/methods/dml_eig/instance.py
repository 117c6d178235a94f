"""The checked data of DML-eig: points, pairs, and that there is a maximum above 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.budget import budget
from cvxml.inputs import check_X
from cvxml.metric import FloatArray, IntArray
from cvxml.pairs import Pairs, pairs_of


class Instance(NamedTuple):
    """Checked data: X (n, d) float64; y (n,) codes, zeros where pairs were given; the pairs."""

    X: FloatArray
    y: IntArray
    pairs: Pairs
    by_labels: bool

    @property
    def similar(self) -> FloatArray:
        """x_i - x_j of the similar pairs (s, d)."""
        return self.X[self.pairs.similar[:, 0]] - self.X[self.pairs.similar[:, 1]]

    @property
    def dissimilar(self) -> FloatArray:
        """x_i - x_j of the dissimilar pairs (q, d)."""
        return self.X[self.pairs.dissimilar[:, 0]] - self.X[self.pairs.dissimilar[:, 1]]


def instance(X: ArrayLike, y: ArrayLike | None, *, pairs: Any = None) -> Instance:
    """Everything checked. Raises ValueError for bad input, and where the maximum is 0, or may be infinite."""
    points = check_X(X)
    found, codes = pairs_of(pairs, y, len(points))
    p = Instance(points, codes, found, pairs is None)
    of = "by the labels y" if p.by_labels else "in pairs"
    for kind in ("similar", "dissimilar"):
        if not len(getattr(found, kind)):
            raise ValueError(f"there is no {kind} pair {of}: DML-eig needs at least one of each kind")
    with np.errstate(over="ignore"):
        similar, dissimilar = p.similar, p.dissimilar
    if not (np.isfinite(similar).all() and np.isfinite(dissimilar).all()):
        raise ValueError("differences of points overflow; rescale X")
    equal = np.flatnonzero(~dissimilar.any(axis=1))
    if len(equal):
        raise ValueError(
            f"the points of the dissimilar pair {found.dissimilar[equal[0]].tolist()} are equal: the least distance is "
            "0 in every metric; leave such pairs out"
        )
    if not similar.any():
        raise ValueError(
            f"the points of every similar pair {of} are equal: nothing limits the metric, and the maximum is infinite; "
            "give similar pairs that differ"
        )
    free = budget(similar).free(dissimilar)
    if free.any():
        raise ValueError(
            f"the dissimilar pair {found.dissimilar[free.argmax()].tolist()} differs in a direction in which no "
            "similar pair does, so moving it apart costs nothing and there may be no maximum; give more similar pairs, "
            "or fewer features (the first principal components, say)"
        )
    return p
