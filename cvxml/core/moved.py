"""The points in other coordinates, where a solver has less work or loses fewer digits.

More features than points: sixty points of a thousand features differ in 59 directions. An orthonormal basis of these
has 59 coordinates, and the metric found there is mapped back.

One feature of a large scale, for example an index up to 1e9 beside features of about 1: of its products double
precision has no digits left for the others. It is divided by a power of two.

Nothing is proved in other coordinates: the certificate is that of the metric in the features as they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from cvxml.core.metric import FloatArray, unit_scale
from cvxml.core.result import Dual
from cvxml.core.wide import Wide, wide

Given = TypeVar("Given")
METRIC = "metric"  # the part of a dual that is a metric, and stands for its prices (family/all_pairs.py)
RANK = 1e-13  # of the largest singular value: a direction with less is rounding
SPREADS = (
    2.0**5,
    2.0**10,
)  # times the spread of the other features: a wide feature once it is divided, in turn


class Moved(NamedTuple):
    """The points (n, r), and two matrices (d, r): the differences E become E to, and E is E to back^T."""

    X: FloatArray
    to: FloatArray
    back: FloatArray

    def inside(self, M: FloatArray) -> FloatArray:
        """The matrix (r, r) with the distances of M (d, d)."""
        own: FloatArray = self.back.T @ M @ self.back
        return (own + own.T) / 2

    def outside(self, M: FloatArray) -> FloatArray:
        """The matrix (d, d) with the distances of M (r, r), and 0 across the span; symmetric to the last bit."""
        own: FloatArray = self.to @ M @ self.to.T
        return (own + own.T) / 2


def moved(X: FloatArray) -> tuple[Moved, ...]:
    """The points X (n, d) where a solver should work, in turn; empty if the features as given are best.

    The first is easiest, and the last nearest to the features as given.
    """
    found = wide(X)
    if not found.columns:
        place = narrow(X)
        return () if place is None else (place,)
    return tuple(_narrower(evened(X, found, spread)) for spread in SPREADS)


def _narrower(at: Moved) -> Moved:
    """The same in the span of the differences, where that helps."""
    place = narrow(at.X)
    return at if place is None else Moved(place.X, at.to @ place.to, at.back @ place.back)


def evened(X: FloatArray, found: Wide, spread: float) -> Moved:
    """Each wide feature divided by a power of two: it spreads over `spread` times as much as the others."""
    unit = np.ones(X.shape[1])
    for column, times in zip(found.columns, found.times, strict=True):
        unit[column] = 2.0 ** np.round(np.log2(times / spread))
    return Moved(X / unit, np.diag(1 / unit), np.diag(unit))


def narrow(X: FloatArray) -> Moved | None:
    """The points X (n, d) in an orthonormal basis of their differences. None if there are fewer features than points.

    Equal points stay equal. None too where all points are equal, or their differences overflow.
    """
    n, d = X.shape
    if d < n:
        return None
    points, place = np.unique(X, axis=0, return_inverse=True)
    scale = unit_scale(X)
    with np.errstate(over="ignore", invalid="ignore"):
        D = (points - points[0]) / scale  # a constant feature becomes 0 exactly
        D = D - D.mean(axis=0)
    if not (np.isfinite(D).all() and D.any()):
        return None
    _, s, Vt = np.linalg.svd(D, full_matrices=False)
    basis = np.ascontiguousarray(Vt[s > RANK * s[0]].T)
    if basis.shape[1] == d:
        return None
    return Moved(((D @ basis) * scale)[place.reshape(-1)], basis, basis)


def with_points(given: Given, X: FloatArray) -> Given:
    """The same instance of other points: what was chosen among the points, and every parameter, stays."""
    if is_dataclass(given):
        return cast(Given, replace(cast(Any, given), X=X))
    return cast(Given, cast(Any, given)._replace(X=X))


def in_dual(dual: Dual, change: Callable[[FloatArray], FloatArray]) -> Dual:
    """The dual with its metric changed, where it has one."""
    return {**dual, METRIC: change(dual[METRIC])} if METRIC in dual else dual
