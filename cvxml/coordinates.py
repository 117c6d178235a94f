"""Coordinates in which the points have unit covariance: only directions in which they differ, every unit gone.

A direction in which the spread is less than `RANK` of the largest, each feature in its own unit, is taken for one in
which the points do not differ: that little is what rounding makes of nothing, and what is said of a metric is said of
these data. What is kept of a small spread has lost digits: `lost` says how many, and certificates allow for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cvxml.metric import FloatArray

LARGEST = 1e100
UNITS = 1e130
RANK = 1e-13


class Coordinates(NamedTuple):
    """Y (n, r) with X_i - X_j = (Y_i - Y_j) back^T, and Y = (X - X_0) to but for a shift; to, back (d, r)."""

    Y: FloatArray
    to: FloatArray
    back: FloatArray
    lost: FloatArray  # (r,) the largest spread over that of each coordinate

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
    if not keep.any():
        keep, s = np.arange(len(s)) == 0, np.ones(len(s))
    size, V = s[keep] / np.sqrt(len(X)), Vt[keep].T
    to, back = V / size / unit[:, None], V * size * unit[:, None]
    return Coordinates(np.ascontiguousarray(D @ (V / size)), to, back, size[0] / size)
