"""Draw points in the plane by class. Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray
from cvxml.displays._palette import by_class, pyplot
from cvxml.displays._texts import entries, list_entries


def scatter(points: FloatArray, y: ArrayLike | None = None, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw `points` (n, 2) with equal scales, by labels y (n,) if given, and return the axes.

    ax: default: new axes. legend: True for a legend of the classes, if y is given.

    Raises ValueError if `points` and y differ in length.
    """
    if ax is None:
        _, ax = pyplot().subplots(figsize=(5, 5), layout="constrained")
    labels = np.zeros(len(points), dtype=int) if y is None else np.asarray(y)
    if labels.shape == (len(points), 1):  # scikit-learn takes a column too
        labels = labels.ravel()
    if len(labels) != len(points):
        raise ValueError(f"X has {len(points)} points but y has {len(labels)} labels; they must match")
    drawn = by_class(ax, points, labels, s=14, alpha=0.7)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    if y is not None and legend:
        style: dict[str, Any] = {"loc": "best", "fontsize": "small", "markerscale": 1.5, "handletextpad": 0.1}
        handles, names = entries(ax, drawn)
        list_entries(ax, handles, names, **style)
    return ax
