"""Coordinates in which the points have unit covariance: only directions in which they differ, every unit gone.

A direction in which the spread is less than `RANK` of the largest, each feature in its own unit, is left out: double
precision sees no more of it than rounding. Whether the points differ in it all the same is decided in rationals
(span.py): `hidden` counts the directions in which they do. Where there is one these are coordinates of other data,
and nothing that is computed in them is a proof. What is kept of a small spread has lost digits: `lost` says how many,
and certificates allow for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.dependent import mixed
from cvxml.core.metric import FloatArray
from cvxml.core.wide import named
from cvxml.numbers.span import rank

LARGEST = 1e100
UNITS = 1e130
RANK = 1e-13


class Coordinates(NamedTuple):
    """Y (n, r) with X_i - X_j = (Y_i - Y_j) back^T, and Y = (X - X_0) to but for a shift; to, back (d, r)."""

    Y: FloatArray
    to: FloatArray
    back: FloatArray
    lost: FloatArray  # (r,) the largest spread over that of each coordinate
    hidden: int  # directions in which the points differ, and which are not among the coordinates
    entangled: tuple[int, ...] = ()  # the features of directions that are not among the coordinates

    @property
    def undecided(self) -> str:
        """Why nothing is proved in these coordinates, as a sentence; empty where something may be."""
        return hidden_directions(self.hidden, "the points", self.entangled) if self.hidden else ""

    def inside(self, Q: FloatArray, name: str = "metric") -> FloatArray:
        """The matrix (r, r) of the same distances as Q (d, d). Raises ValueError where these are next to overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            M: FloatArray = self.back.T @ Q @ self.back
        if not np.abs(M).max() <= LARGEST:
            raise ValueError(
                f"{name} is too large: the distances of these points are {np.abs(M).max():.3g} and more, of which no "
                "softmax can be computed; divide it"
            )
        return (M + M.T) / 2

    def outside(self, Q: FloatArray) -> FloatArray:
        """The matrix (d, d) of the same distances as Q (r, r), least in what the points do not show."""
        M: FloatArray = self.to @ Q @ self.to.T
        return (M + M.T) / 2


def hidden_directions(count: int, what: str, features: Sequence[int] = ()) -> str:
    """That so many directions in which these differ are lost in rounding. features: the columns of X that they mix."""
    which = f" (look at columns {named(features)} of X, counted from 0)" if features else ""
    return (
        f"{what} differ in {count} direction(s) of less than {RANK:g} of their spread, as rational numbers, and double "
        f"precision cannot see how: leave out features that others nearly determine{which}, or round them so that "
        "they do"
    )


def coordinates(X: FloatArray) -> Coordinates:
    """Those of X (n, d); one coordinate, constant, if all points are equal."""
    D = X - X[0]  # a constant feature becomes 0 exactly
    spread = np.abs(D).max(axis=0)
    unit = np.where(spread > 0, 2.0 ** np.round(np.log2(np.where(spread > 0, spread, 1.0))), 1.0)
    if not 1 / UNITS <= unit.min() <= unit.max() <= UNITS:
        raise ValueError(
            f"features spread over about {spread[spread > 0].min():.3g} to {spread.max():.3g}: a metric of such units "
            "cannot be written in double precision; rescale X"
        )
    D = D / unit
    D = D - D.mean(axis=0)
    _, s, Vt = np.linalg.svd(D, full_matrices=False)
    keep = s > RANK * s[0]
    hidden = rank(X) - int(keep.sum())
    if not keep.any():
        keep, s = np.arange(len(s)) == 0, np.ones(len(s))
    entangled = tuple(np.flatnonzero(mixed(Vt[~keep]) & (spread > 0)).tolist())
    size, V = s[keep] / np.sqrt(len(X)), Vt[keep].T
    to, back = V / size / unit[:, None], V * size * unit[:, None]
    return Coordinates(
        np.ascontiguousarray(D @ (V / size)), to, back, size[0] / size, max(hidden, 0), entangled
    )
