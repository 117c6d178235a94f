"""Points of the plane by class: colours that the colour-blind can tell apart, and a marker each. Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.metric import FloatArray

# Okabe and Ito's palette; with more classes colours repeat and markers do not
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "*", "h")


def pyplot() -> Any:
    """The module matplotlib.pyplot. Raises ImportError that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("a picture needs matplotlib: pip install 'cvxml[plot]'") from error
    return plt


def by_class(ax: Any, points: FloatArray, labels: np.ndarray, **style: Any) -> list[Any]:
    """Draw `points` (n, 2) on `ax`, a colour and a marker for each of `labels` (n,); the artists, one a class."""
    drawn = []
    for k, label in enumerate(np.unique(labels)):
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        mine = points[labels == label]
        drawn.append(ax.scatter(*mine.T, c=colour, marker=marker, linewidths=0, label=str(label), **style))
    return drawn


def scatter(points: FloatArray, y: ArrayLike | None = None, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw `points` (n, 2), by label y (n,) where given, on `ax` (default: new axes), scales equal; returns it."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=(5, 5), layout="constrained")
    labels = np.zeros(len(points), dtype=int) if y is None else np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"X has {len(points)} points but y has {len(labels)} labels; they must match")
    by_class(ax, points, labels, s=14, alpha=0.7)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    if y is not None and legend:
        ax.legend(loc="best", fontsize="small", markerscale=1.5, handletextpad=0.1)
    return ax
