"""Points by class, with colours that colour-blind people can distinguish and a marker for each class.

Needs matplotlib.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.displays._texts import literal

# Okabe and Ito's palette. A class has the k-th colour and the k-th marker: 8 colours and 11 markers repeat after 88
# classes.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
PALE = "#F0E442"  # gets a black edge, because yellow is hard to see on white
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "<", ">", "*", "h")


def pyplot() -> Any:
    """Return the module matplotlib.pyplot. Raises ImportError with the way to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("a picture needs matplotlib: pip install matplotlib") from error
    return plt


def by_class(ax: Any, points: FloatArray, labels: np.ndarray, **style: Any) -> list[Any]:
    """Draw `points` (n, 2) on `ax`, with a colour and a marker for each label; return one artist for each class."""
    drawn = []
    for k, label in enumerate(np.unique(labels)):
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        mine = points[labels == label]
        edge = {"edgecolors": "#000000", "linewidths": 0.5} if colour == PALE else {"linewidths": 0}
        artist = ax.scatter(*mine.T, c=colour, marker=marker, **edge, **style)
        artist.set_label(literal(str(label)))
        drawn.append(artist)
    return drawn
