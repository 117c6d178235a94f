"""The checked data of MMC: points, pairs, and that there is a maximum."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.budget import check_units
from cvxml.inputs import check_X
from cvxml.metric import FloatArray, IntArray
from cvxml.pairs import Pairs, pairs_of
from cvxml.span import cosets

SUGGESTION = "give more similar pairs, or fewer features (the first principal components, say)"


class Instance(NamedTuple):
    """Checked data: X (n, d) float64; y (n,) codes, zeros where pairs were given; the pairs; A diagonal or not.

    rank: of what the similar pairs' differences span, exactly; those of the dissimilar pairs lie in it. Of a diagonal A
    nothing depends on it: 0.
    """

    X: FloatArray
    y: IntArray
    pairs: Pairs
    diagonal: bool
    by_labels: bool
    rank: int

    @property
    def similar(self) -> FloatArray:
        """x_i - x_j of the similar pairs (s, d)."""
        return self.X[self.pairs.similar[:, 0]] - self.X[self.pairs.similar[:, 1]]

    @property
    def dissimilar(self) -> FloatArray:
        """x_i - x_j of the dissimilar pairs (q, d)."""
        return self.X[self.pairs.dissimilar[:, 0]] - self.X[self.pairs.dissimilar[:, 1]]


def instance(X: ArrayLike, y: ArrayLike | None, *, diagonal: bool = False, pairs: Any = None) -> Instance:
    """Everything checked. Raises ValueError for bad input, and where there is no maximum, or nothing to maximise."""
    points = check_X(X)
    found, codes = pairs_of(pairs, y, len(points))
    p = Instance(points, codes, found, diagonal, pairs is None, 0)
    of = "by the labels y" if p.by_labels else "in pairs"
    for kind in ("similar", "dissimilar"):
        if not len(getattr(found, kind)):
            raise ValueError(f"there is no {kind} pair {of}: MMC needs at least one of each kind")
    with np.errstate(over="ignore"):
        similar, dissimilar = p.similar, p.dissimilar
    if not (np.isfinite(similar).all() and np.isfinite(dissimilar).all()):
        raise ValueError("differences of points overflow; rescale X")
    if not dissimilar.any():
        raise ValueError(
            f"the points of every dissimilar pair {of} are equal: no metric moves them apart, there is nothing to learn"
        )
    if not similar.any():
        raise ValueError(
            f"the points of every similar pair {of} are equal: nothing limits the metric, and the maximum is infinite; "
            "give similar pairs that differ"
        )
    rank = 0
    if diagonal:
        _check_features(p, similar, dissimilar)
    else:
        rank = _check_bounded(p)
    check_units(similar, dissimilar)
    return p._replace(rank=rank)


def _check_features(p: Instance, similar: FloatArray, dissimilar: FloatArray) -> None:
    """ValueError where a dissimilar pair differs in a feature that costs nothing: floats differ, or do not, exactly."""
    free = np.flatnonzero(dissimilar.any(axis=0) & ~similar.any(axis=0))
    if len(free):
        feature = int(free[0])
        pair = p.pairs.dissimilar[int(np.abs(dissimilar[:, feature]).argmax())].tolist()
        raise ValueError(
            f"the maximum is infinite: the dissimilar pair {pair} differs in feature {feature}, in which no similar "
            f"pair does, so its weight costs nothing; {SUGGESTION}"
        )


def _check_bounded(p: Instance) -> int:
    """The rank; ValueError where a dissimilar pair differs in a direction that costs nothing, decided in rationals."""
    span = cosets(p.X, p.pairs.similar)
    first, second = span.labels[p.pairs.dissimilar].T
    free = np.flatnonzero(first != second)
    if len(free):
        pair = p.pairs.dissimilar[int(free[0])].tolist()
        raise ValueError(
            f"the maximum is infinite: the dissimilar pair {pair} differs in a direction in which no similar pair "
            f"does, so moving it apart costs nothing; {SUGGESTION}"
        )
    return span.rank
