"""The checked data of DML-eig: points, pairs, and that there is a maximum above 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.budget import check_units
from cvxml.inputs import check_X
from cvxml.metric import FloatArray, IntArray
from cvxml.pairs import Pairs, pairs_of
from cvxml.span import cosets


class Instance(NamedTuple):
    """Checked data: X (n, d) float64; y (n,) codes, zeros where pairs were given; the pairs.

    rank: of what the similar pairs' differences span, exactly; those of the dissimilar pairs lie in it. None: that of
    double precision, and no proof (cvxml/budget.py).
    """

    X: FloatArray
    y: IntArray
    pairs: Pairs
    by_labels: bool
    rank: int | None

    @property
    def similar(self) -> FloatArray:
        """x_i - x_j of the similar pairs (s, d)."""
        return self.X[self.pairs.similar[:, 0]] - self.X[self.pairs.similar[:, 1]]

    @property
    def dissimilar(self) -> FloatArray:
        """x_i - x_j of the dissimilar pairs (q, d)."""
        return self.X[self.pairs.dissimilar[:, 0]] - self.X[self.pairs.dissimilar[:, 1]]


def instance(X: ArrayLike, y: ArrayLike | None, *, pairs: Any = None) -> Instance:
    """Everything checked. Raises ValueError for bad input, and where the maximum is 0, or a pair moves at no cost."""
    points = check_X(X)
    found, codes = pairs_of(pairs, y, len(points))
    p = Instance(points, codes, found, pairs is None, None)
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
    span = cosets(points, found.similar)
    first, second = span.labels[found.dissimilar].T
    free = first != second
    if free.any():
        so = "the maximum is infinite" if free.all() else "no X_S^(-1/2) gives it a distance"
        raise ValueError(
            f"the dissimilar pair {found.dissimilar[free.argmax()].tolist()} differs in a direction in which no "
            f"similar pair does, so moving it apart costs nothing: {so}; give more similar pairs, or fewer features "
            "(the first principal components, say)"
        )
    check_units(similar, dissimilar)
    return p._replace(rank=span.rank)
