"""The interior-point method on the rows that matter, all others watched: for members with margins (interior.py).

A row is let in when its margin, at any iterate, is less than 1 + `ahead`: at the end every row that is left out is kept
by more than its margin, so that the optimum of those that are in is that of all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.interior import Interior, Margin
from cvxml.family.rows import MarginRows, Prices
from cvxml.family.symmetric import quadratic

ROUNDS = 12  # of centring at the start


class Watched:
    """Points Y (n, r) in coordinates of a metric M (r, r), rows of their distances, and which of them are in.

    counts: of keys, which of these rows are to be looked at at all.
    """

    def __init__(
        self,
        Y: FloatArray,
        rows: MarginRows,
        counts: Callable[[IntArray], Any],
        C: FloatArray,
        margin: Margin,
        ahead: float,
    ):
        self.Y, self.rows, self.counts, self.ahead = Y, rows, counts, ahead
        self.key: IntArray = np.zeros(0, dtype=np.intp)  # of the rows that are in
        self.pairs: IntArray = np.zeros(0, dtype=np.intp)  # that are in use, as numbers i n + j
        self.inner = Interior.start(C, margin, np.eye(len(C)))

    def begin(self, M: FloatArray, share: float) -> None:
        """Near the central path, from M, where about this share of the objective is still to be won."""
        self.inner.M = M
        self.extend()
        self.inner.begin(share * self.value() / (len(M) + 2 * len(self.inner.price)), ROUNDS)
        self.extend()

    def step(self) -> bool:
        """One step, and the rows that it brings in; False where rounding allows none."""
        moved = self.inner.step()
        self.extend()
        return moved

    def extend(self) -> None:
        """Let the rows in whose margin is less than 1 + ahead."""
        new, _ = self.rows.near(images(self.Y, self.inner.M), 1 + self.ahead)
        new = new[~np.isin(new, self.key)]
        new = new[self.counts(new)]
        if len(new) == 0:
            return
        self.key = np.concatenate([self.key, new])
        entries, n = self.rows.entries(new), len(self.Y)
        used = entries.pairs @ (n, 1)
        first = np.setdiff1d(used, self.pairs)
        self.pairs = np.concatenate([self.pairs, first])
        order = np.argsort(self.pairs)
        places = order[np.searchsorted(self.pairs, used, sorter=order)]
        B = csr_array((entries.sign, (entries.row, places)), shape=(len(new), len(self.pairs)))
        i, j = np.divmod(first, n)
        self.inner.add(self.Y[i] - self.Y[j], B)

    def value(self) -> float:
        """The objective, but for rows that are not in."""
        inner = self.inner
        missed = np.maximum(0.0, 1 - inner.B @ quadratic(inner.E, inner.M))
        costs = float(np.sum(inner.C * inner.M))
        if inner.margin.hard:
            return costs
        return costs + inner.margin.cap * float(np.sum(missed**2 if inner.margin.squared else missed))

    def left(self) -> float:
        """What the present iterate may still win, if the equations were met."""
        return self.inner.mu * (len(self.inner.M) + 2 * len(self.inner.price))

    def prices(self) -> Prices:
        """Of the rows that are in."""
        return Prices(self.inner.price, self.key)


def images(Y: FloatArray, M: FloatArray) -> FloatArray:
    """Y (n, r) as the positive definite M (r, r) sees it: distances of the rows are Euclid's."""
    z: FloatArray = Y @ np.linalg.cholesky(M)
    return z


def squared_distances(Y: FloatArray, M: FloatArray | None = None) -> FloatArray:
    """Of every two rows of Y (n, r), in the metric M (r, r), Euclid's by default."""
    G = Y if M is None else Y @ M
    lengths = np.sum(G * Y, axis=1)
    D: FloatArray = np.maximum(0.0, lengths[:, None] + lengths - 2 * G @ Y.T)
    return D
