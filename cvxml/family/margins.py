"""The interior-point method on the rows that matter, all others watched: for members with margins (interior.py).

A row is let in when its margin, at any iterate, is less than 1 + `ahead`: at the end every row that is left out is kept
by more than its margin, so that the optimum of those that are in is that of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.interior import Interior, Margin
from cvxml.family.rows import MarginRows, Prices

ROUNDS = 12  # of centring at the start


class Watched:
    """Points Y (n, r) in coordinates of a metric M (r, r), rows of their distances, and which of them are in."""

    def __init__(
        self, Y: FloatArray, rows: MarginRows, watched: Any, C: FloatArray, margin: Margin, ahead: float
    ):
        self.Y, self.rows, self.watched, self.ahead = Y, rows, watched, ahead
        self.key: IntArray = np.zeros(0, dtype=np.intp)  # of the rows that are in
        self.place: dict[tuple[int, int], int] = {}  # of the pairs that are in use
        self.inner = Interior.start(C, margin, np.eye(len(C)))

    def begin(self, M: FloatArray, mu: float) -> None:
        """Near the central path at mu, from M."""
        self.inner.M = M
        self.extend()
        self.inner.begin(mu / (len(M) + 2 * len(self.inner.price)), ROUNDS)
        self.extend()

    def step(self) -> bool:
        """One step, and the rows that it brings in; False where rounding allows none."""
        moved = self.inner.step()
        self.extend()
        return moved

    def extend(self) -> None:
        """Let the rows in whose margin is less than 1 + ahead."""
        v = self.rows.margins(squared_distances(self.Y, self.inner.M))
        new = np.flatnonzero(self.watched & (v < 1 + self.ahead))
        if len(new) == 0:
            return
        self.watched[new] = False
        self.key = np.concatenate([self.key, new])
        entries = self.rows.entries(new)
        old = len(self.place)
        places = np.array(
            [self.place.setdefault(pair, len(self.place)) for pair in map(tuple, entries.pairs.tolist())]
        )
        pairs = np.array(list(self.place)[old:], dtype=np.intp).reshape(-1, 2)
        B = csr_array((entries.sign, (entries.row, places)), shape=(len(new), len(self.place)))
        self.inner.add(self.Y[pairs[:, 0]] - self.Y[pairs[:, 1]], B)

    def left(self) -> float:
        """What the present iterate may still win, if the equations were met."""
        return self.inner.mu * (len(self.inner.M) + 2 * len(self.inner.price))

    def prices(self) -> Prices:
        """Of the rows that are in."""
        return Prices(self.inner.price, self.key)


def squared_distances(Y: FloatArray, M: FloatArray | None = None) -> FloatArray:
    """Of every two rows of Y (n, r), in the metric M (r, r), Euclid's by default."""
    G = Y if M is None else Y @ M
    lengths = np.sum(G * Y, axis=1)
    D: FloatArray = np.maximum(0.0, lengths[:, None] + lengths - 2 * G @ Y.T)
    return D
