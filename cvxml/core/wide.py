"""Find features with a much larger spread than the others, and write column numbers for a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray

NAMED = 10  # most columns that a message lists
WIDE = 1e4  # a feature is wide if its spread is more than this many times that of the other features


def named(columns: Sequence[int]) -> str:
    """Return the first `NAMED` of these column numbers as text."""
    return ", ".join(map(str, columns[:NAMED])) + (", ..." if len(columns) > NAMED else "")


class Wide(NamedTuple):
    """The wide columns of X (see `wide`), and for each the ratio of its spread to the (lower) median spread."""

    columns: list[int]
    times: list[float]

    @property
    def warning(self) -> str:
        """A sentence that lists the wide columns; empty if there are none."""
        if not self.columns:
            return ""
        what = "columns" if len(self.columns) > 1 else "column"
        spread = "spread" if len(self.columns) > 1 else "spreads"
        return (
            f"{what} {named(self.columns)} of X (counted from 0) {spread} up to {max(self.times):.1g} times as far as "
            "the other features: standardize X, or leave the feature out"
        )


def wide(X: FloatArray) -> Wide:
    """Return the features of X (n, d) with a spread of more than `WIDE` (10,000) times the (lower) median spread.

    The spread of a feature is its largest value minus its smallest. Features with a spread of 0, or with one that
    overflows, are ignored. If only two features vary, the wider one is compared with the other one.
    """
    with np.errstate(over="ignore"):
        return wide_of(X.max(axis=0) - X.min(axis=0))


def wide_of(spread: FloatArray) -> Wide:
    """Return the result of `wide` for features with these spreads (d,). Spreads of 0 or infinity are ignored."""
    varying = np.flatnonzero((spread > 0) & np.isfinite(spread))
    if len(varying) == 0:
        return Wide([], [])
    of_half = float(np.sort(spread[varying])[(len(varying) - 1) // 2])
    columns = varying[spread[varying] / WIDE > of_half]
    return Wide(columns.tolist(), (spread[columns] / of_half).tolist())
