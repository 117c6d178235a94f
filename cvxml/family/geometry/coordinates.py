"""Coordinates of the points with unit covariance, so that the units of the features cancel.

A direction is left out if the spread in it is less than `RANK` times the largest one, with each feature in its own
unit. Double precision sees only rounding there. The points may still differ in such a direction, and this is decided in
rationals (numbers/span.py): `hidden` counts these directions. If hidden > 0, the coordinates belong to different data,
and a result in them is no proof for the points. A small spread that is kept has lost digits. `lost` is the ratio of the
largest spread to it, and certificates allow for this loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.dependent import mixed
from cvxml.core.metric import FloatArray
from cvxml.core.wide import named
from cvxml.numbers.span import rank

LARGEST = 1e100  # largest entry of a metric in the coordinates
UNITS = 1e130  # spreads of the features must be between 1 / UNITS and UNITS
RANK = 1e-13  # smallest relative spread of a direction that is kept


class Coordinates(NamedTuple):
    """Coordinates Y (n, r) of points X (n, d). `to` and `back` (d, r) are the matrices of the maps between X and Y.

    Y is X times `to`, up to a shift. X_i - X_j = (Y_i - Y_j) back^T, except for the directions left out. lost (r,): the
    largest spread divided by the spread of each coordinate.

    hidden: the number of directions left out although the points differ there. entangled: the indices of the features
    with a large entry in some direction that is left out.
    """

    Y: FloatArray
    to: FloatArray
    back: FloatArray
    lost: FloatArray  # (r,) the largest spread divided by the spread of each coordinate
    hidden: int  # number of directions that are left out although the points differ there
    entangled: tuple[int, ...] = ()  # the features that are mixed in the directions left out

    @property
    def undecided(self) -> str:
        """The reason why a result in these coordinates is no proof, as a sentence; empty without such a reason."""
        return hidden_directions(self.hidden, "the points", self.entangled) if self.hidden else ""

    def inside(self, Q: FloatArray, name: str = "metric") -> FloatArray:
        """The matrix (r, r) in the coordinates with the same distances as Q (d, d).

        name: the word for Q in messages. Raises ValueError if an entry of the result is above `LARGEST`, or NaN.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            M: FloatArray = self.back.T @ Q @ self.back
        if not np.abs(M).max() <= LARGEST:
            raise ValueError(
                f"{name} is too large: the distances of these points are {np.abs(M).max():.3g} and more, too "
                "large for a softmax; divide it by a number"
            )
        return (M + M.T) / 2

    def outside(self, Q: FloatArray) -> FloatArray:
        """The matrix (d, d) of the features with the same distances as Q (r, r), zero in the directions left out."""
        M: FloatArray = self.to @ Q @ self.to.T
        return (M + M.T) / 2


def hidden_directions(count: int, what: str, features: Sequence[int] = ()) -> str:
    """Return the message that `count` directions are lost in rounding.

    what: the subject of the sentence. features: the columns of X that the directions mix.
    """
    which = f" (look at columns {named(features)} of X, counted from 0)" if features else ""
    return (
        f"{what} differ in {count} direction(s) of less than {RANK:g} of their spread. Rational arithmetic "
        "proves these differences, but double precision cannot compute them: leave out features that others "
        f"nearly determine{which}, or round them so that others determine them exactly"
    )


def coordinates(X: FloatArray) -> Coordinates:
    """The coordinates for X (n, d). If all points are equal, there is one constant coordinate.

    Raises ValueError if the spread of a feature, rounded to a power of two, is outside 1 / UNITS to UNITS. A constant
    feature is allowed.
    """
    D = X - X[0]  # a constant feature becomes 0 exactly
    spread = np.abs(D).max(axis=0)
    unit = np.where(spread > 0, 2.0 ** np.round(np.log2(np.where(spread > 0, spread, 1.0))), 1.0)
    if not 1 / UNITS <= unit.min() <= unit.max() <= UNITS:
        raise ValueError(
            f"features spread over about {spread[spread > 0].min():.3g} to {spread.max():.3g}: a metric in "
            "these units is outside the range of double precision; rescale X"
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
