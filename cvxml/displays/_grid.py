"""Compute queries on a grid in the plane of two features, and the densities of the classes there, to be drawn.

A query is a point at which GLML has a local metric. This module does not draw.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.displays._draw import width
from cvxml.methods.glml.instance import Mixtures


class Densities(NamedTuple):
    """Logarithms `log_p` (C, b, a) of the densities of C classes on a grid with the sides x (a,) and y (b,)."""

    x: FloatArray  # (a,)
    y: FloatArray  # (b,)
    log_p: FloatArray  # (C, b, a)


def length_for(Q: FloatArray, X: FloatArray) -> float:
    """Return the length of the longest semi-axis of each ellipse that is drawn at the queries Q (q, 2).

    It is 0.45 times the median distance of a query to its nearest query. The length is at least 3 % and at most 20 % of
    the width of X. X: (n, 2), the points.
    """
    wide = width(X)
    between = np.linalg.norm(Q[:, None] - Q, axis=2)
    np.fill_diagonal(between, np.inf)
    return float(np.clip(0.45 * np.median(between.min(axis=1)), 0.03 * wide, 0.2 * wide))


def grid(X: FloatArray, features: tuple[int, int], count: int) -> FloatArray:
    """Return queries (q, d) on a square grid over X in two features, with the other features at their mean.

    count: number of queries along the longer side.
    """
    low, high = X[:, features].min(axis=0), X[:, features].max(axis=0)
    step = float((high - low).max()) / count or 1.0
    sides = []
    for least, most in zip(low, high, strict=True):
        n = max(1, round((most - least) / step))
        sides.append((least + most) / 2 + step * (np.arange(n) - (n - 1) / 2))
    return placed(X, features, *sides)


def placed(X: FloatArray, features: tuple[int, int], x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the points (b * a, d) whose two `features` are all pairs of x (a,) and y (b,), with y as the outer loop.

    The other features are at their mean over X (n, d).
    """
    a, b = np.meshgrid(x, y)
    Q: FloatArray = np.tile(X.mean(axis=0), (a.size, 1))
    Q[:, features] = np.column_stack([a.ravel(), b.ravel()])
    return Q


def densities_of(model: Any, X: FloatArray, features: tuple[int, int], count: int = 80) -> Densities:
    """Return the densities of the classes of GLML's `model` on a grid over the range of X (n, d) in two features.

    On each side, the range is widened by a tenth of the larger range of the two features.

    features: the two that vary; the others are at their mean. count: number of grid points in each direction.

    Raises ValueError for a density model that the user wrote: its densities are not normalized.
    """
    if not isinstance(model, Mixtures):
        raise ValueError(
            "contours need normalized densities; a model of your own gives them only up to a factor at each point"
        )
    low, high = X[:, features].min(axis=0), X[:, features].max(axis=0)
    pad = 0.1 * width(X[:, features])
    x, y = (np.linspace(a, b, count) for a, b in zip(low - pad, high + pad, strict=True))
    log_p = model.log_densities(placed(X, features, x, y))
    return Densities(x, y, log_p.T.reshape(-1, count, count))
