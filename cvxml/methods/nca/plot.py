"""Points of the plane by class: colours that the colour-blind can tell apart, and a marker each. Needs matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.metric import FloatArray

# Okabe and Ito's palette; with more classes colours repeat and markers do not
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "*", "h")


def scatter(points: FloatArray, y: ArrayLike | None = None, *, ax: Any = None, legend: bool = True) -> Any:
    """Draw `points` (n, 2), by label y (n,) where given, on `ax` (default: new axes), scales equal; returns it."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5, 5), layout="constrained")
    labels = np.zeros(len(points), dtype=int) if y is None else np.asarray(y)
    if len(labels) != len(points):
        raise ValueError(f"X has {len(points)} points but y has {len(labels)} labels; they must match")
    for k, label in enumerate(np.unique(labels)):
        mine = points[labels == label]
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        ax.scatter(*mine.T, s=14, c=colour, marker=marker, alpha=0.7, linewidths=0, label=str(label))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    if y is not None and legend:
        ax.legend(loc="best", fontsize="small", markerscale=1.5, handletextpad=0.1)
    return ax
