"""Features of another scale than the others, and how a message names columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray

NAMED = 10  # features in a message
WIDE = 1e4  # times the spread of the other features: a feature of another scale


def named(columns: Sequence[int]) -> str:
    """The first of these columns of X, for a message."""
    return ", ".join(map(str, columns[:NAMED])) + (", ..." if len(columns) > NAMED else "")


class Wide(NamedTuple):
    """Columns of X, and how many times as wide as the other features each is."""

    columns: list[int]
    times: list[float]

    @property
    def warning(self) -> str:
        """A sentence; empty if there is none."""
        if not self.columns:
            return ""
        what = "columns" if len(self.columns) > 1 else "column"
        spread = "spread" if len(self.columns) > 1 else "spreads"
        return (
            f"{what} {named(self.columns)} of X (counted from 0) {spread} up to {max(self.times):.1g} times as far as "
            "the other features: standardize X, or leave the feature out"
        )


def wide(X: FloatArray) -> Wide:
    """The features of X (n, d) whose spread is more than `WIDE` times that of half of the features.

    Constant features do not count. Of two features the wider is compared with the other.
    """
    with np.errstate(over="ignore"):
        return wide_of(X.max(axis=0) - X.min(axis=0))


def wide_of(spread: FloatArray) -> Wide:
    """The same of features with these spreads (d,)."""
    varying = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if len(varying) == 0:
        return Wide([], [])
    of_half = float(np.sort(spread[varying])[(len(varying) - 1) // 2])
    columns = varying[spread[varying] / WIDE > of_half]
    return Wide(columns.tolist(), (spread[columns] / of_half).tolist())
