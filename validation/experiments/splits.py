"""Splits and scalings that the experiments share; what is fitted to data is fitted to the training part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray

FEW = 4000  # points whose pairs are all listed to draw from


class Split(NamedTuple):
    """Training and test part: X (n, d), y (n,), and those to be tested."""

    X: FloatArray
    y: IntArray
    X_test: FloatArray
    y_test: IntArray


def shuffled(X: FloatArray, y: IntArray, seed: int, share: float = 0.5) -> Split:
    """The first n share rows (rounded down) of RandomState(seed).permutation(n) to train on, the rest to test."""
    order = np.random.RandomState(seed).permutation(len(X))
    train, test = np.split(order, [int(share * len(X))])
    return Split(X[train], y[train], X[test], y[test])


def z_scored(split: Split, centred: bool = True) -> Split:
    """Each feature less its mean (if centred), over its standard deviation (ddof 0), of the training part.

    A feature that is constant there becomes 0 if centred, and is left as it is otherwise.
    """
    spread = split.X.std(axis=0)
    varies = (np.ptp(split.X, axis=0) > 0) & (spread > 0)
    centre = split.X.mean(axis=0) if centred else np.zeros(split.X.shape[1])
    factor = np.where(varies, 1 / np.where(varies, spread, 1.0), 0.0 if centred else 1.0)
    return split._replace(X=(split.X - centre) * factor, X_test=(split.X_test - centre) * factor)


def some_pairs(y: IntArray, seed: int = 0) -> dict[str, list[list[int]]]:
    """20 c^2 pairs i < j of each kind for c classes, or all where there are fewer, drawn without replacement.

    Of more than `FEW` points, whose pairs are too many to list: as many as 4 c draws for each pair wanted find.
    """
    n, c = len(y), len(np.unique(y))
    random, most = np.random.RandomState(seed), 20 * c**2
    if n <= FEW:
        i, j = np.triu_indices(n, 1)
    else:
        drawn = np.sort(random.randint(n, size=(4 * c * most, 2)), axis=1)
        i, j = np.unique(drawn[drawn[:, 0] < drawn[:, 1]], axis=0).T

    def of(mask: np.ndarray) -> list[list[int]]:
        chosen = np.sort(random.permutation(np.flatnonzero(mask))[:most])
        pairs: list[list[int]] = np.column_stack([i[chosen], j[chosen]]).tolist()
        return pairs

    return {"similar": of(y[i] == y[j]), "dissimilar": of(y[i] != y[j])}
