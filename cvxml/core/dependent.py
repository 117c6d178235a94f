"""Nearly dependent features: find them, and refuse a closed form that is inaccurate because of them.

Closed forms (GMML, RCA, LFDA) invert matrices of the data. These are nearly singular if features are nearly dependent.
"""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate
from cvxml.core.wide import named

MIXED = 0.1  # of the largest entry of a direction: a feature with a larger entry belongs to the direction
INACCURATE = 1e-2  # relative to the scale: a closed form farther from the optimum is refused


def mixed(directions: FloatArray) -> FloatArray:
    """Return a mask (d,): True for each feature that belongs to one of the directions, the rows (k, d).

    In absolute value, the entry of such a feature is above 0.1 times the largest entry of the direction.
    """
    size = np.abs(directions)
    belongs: FloatArray = (size > MIXED * size.max(axis=1, keepdims=True, initial=0.0)).any(axis=0)
    return belongs


def least_spread(X: FloatArray) -> list[int]:
    """Return the indices of those columns of X (n, d) that are nearest to a linear dependence.

    Constant columns are left out. Each other column is centred, and divided by its largest absolute value. Let v be the
    unit vector in the direction in which these points vary least. A column is returned if it belongs to v (`mixed`).
    The function does not test whether these columns are nearly dependent. If all columns are constant, the list is
    empty.
    """
    D = X - X.mean(axis=0)
    spread = np.abs(D).max(axis=0)
    used = np.flatnonzero(spread > 0)
    if len(used) == 0:
        return []
    triangle = np.linalg.qr(
        D[:, used] / spread[used], mode="r"
    )  # the triangle has few rows, so the SVD needs little memory
    direction = np.linalg.svd(triangle, full_matrices=True)[2][-1:]
    columns: list[int] = used[mixed(direction)].tolist()
    return columns


def refuse_inaccurate(proof: Certificate, X: FloatArray, remedy: str) -> None:
    """Raise ValueError if the certified gap of a closed form in floats is above 1e-2 times the scale, or not finite.

    proof: the certificate, with the gap and the scale of the problem.
    X: (n, d), the points; the message names their nearly dependent features.
    remedy: another way out, for the end of the message.
    """
    if np.isfinite(proof.gap) and proof.gap <= INACCURATE * proof.scale:
        return
    raise ValueError(
        "features are nearly dependent, so the closed form in double precision is inaccurate (gap "
        f"{proof.gap:.3g}, scale {proof.scale:.3g}): leave out one of the columns {named(least_spread(X))} of X "
        f"(counted from 0), or {remedy}"
    )
