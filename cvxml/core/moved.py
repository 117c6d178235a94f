"""Move the points to other coordinates, in which a solver has less work or loses fewer digits.

More features than points: for example, sixty points with a thousand features differ in 59 directions. In an orthonormal
basis of these directions the solver works with 59 coordinates, and the metric is mapped back.

One feature with a large scale: for example, a row number up to 1e9 beside features of about 1. Products of that
feature use all digits of double precision, and the other features are lost in rounding. The wide feature is divided by
a power of two.

The proof does not use the other coordinates: the certificate is computed for the metric of the original features.
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
# an entry of a dual that holds a metric; the multipliers follow from this metric (family/unlisted/all_pairs.py)
METRIC = "metric"
RANK = 1e-13  # relative to the largest singular value: a direction with a smaller one is rounding
# spread of a wide feature after the division, relative to the other features; each is tried in turn
SPREADS = (2.0**5, 2.0**10)


class Moved(NamedTuple):
    """The moved points X (n, r), and the matrices `to` and `back` (d, r) that map between the coordinates.

    Differences E (m, d) of the original points become E @ to, and E = E @ to @ back.T.
    """

    X: FloatArray
    to: FloatArray
    back: FloatArray

    def inside(self, M: FloatArray) -> FloatArray:
        """Return the matrix (r, r) that gives the moved points the distances of M (d, d)."""
        own: FloatArray = self.back.T @ M @ self.back
        return (own + own.T) / 2

    def outside(self, M: FloatArray) -> FloatArray:
        """Return the matrix (d, d) that gives the original points the distances of M (r, r).

        It is symmetric to the last bit, and 0 on the orthogonal complement of the columns of `to`. For `narrow`, these
        columns span the differences of the points.
        """
        own: FloatArray = self.to @ M @ self.to.T
        return (own + own.T) / 2


def moved(X: FloatArray) -> tuple[Moved, ...]:
    """Return the coordinates in which a solver should try the points X (n, d); empty if the original ones are best.

    The first entry is the easiest for a solver, and the last is the closest to the original features.
    """
    found = wide(X)
    if not found.columns:
        place = narrow(X)
        return () if place is None else (place,)
    return tuple(_narrower(evened(X, found, spread)) for spread in SPREADS)


def _narrower(at: Moved) -> Moved:
    """Return the points of `at` in the fewer coordinates of `narrow`. If `narrow` returns None, return `at` itself."""
    place = narrow(at.X)
    return at if place is None else Moved(place.X, at.to @ place.to, at.back @ place.back)


def evened(X: FloatArray, found: Wide, spread: float) -> Moved:
    """Divide wide features of X (n, d) by powers of two, so that they spread about `spread` times as widely as others.

    found: the wide features, each with the ratio of its spread to that of the others.
    """
    unit = np.ones(X.shape[1])
    for column, times in zip(found.columns, found.times, strict=True):
        unit[column] = 2.0 ** np.round(np.log2(times / spread))
    return Moved(X / unit, np.diag(1 / unit), np.diag(unit))


def narrow(X: FloatArray) -> Moved | None:
    """Return the points X (n, d) in an orthonormal basis of their differences. Equal points stay equal.

    The points are shifted, so that the mean of the different points is 0. Directions with a singular value of at most
    `RANK` (1e-13) times the largest one are left out as rounding errors.

    Returns None if there are fewer features than points, if the differences span all features, if all points are equal,
    or if their differences overflow.
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
    """Return the checked data `given` with the points X; its parameters and its lists of points stay."""
    if is_dataclass(given):
        return cast(Given, replace(cast(Any, given), X=X))
    return cast(Given, cast(Any, given)._replace(X=X))


def in_dual(dual: Dual, change: Callable[[FloatArray], FloatArray]) -> Dual:
    """Return the dual with `change` applied to its entry "metric", a matrix from which some methods compute their dual.

    A dual without this entry is returned unchanged.
    """
    return {**dual, METRIC: change(dual[METRIC])} if METRIC in dual else dual
