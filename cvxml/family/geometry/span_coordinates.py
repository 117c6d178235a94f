"""What weighted differences of points span, and coordinates in which their sum of squares is about 1.

Which points differ within the span is decided in rationals (span.py). A basis of it in which C = sum w_p X_p is about 1
can only be computed; that it shows all of the span is proved by C being definite in it, beyond rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.rows.base import Weights
from cvxml.numbers.rounding import BLOCK, Points, least_eigenvalue, points, squares_of_pairs
from cvxml.numbers.span import cosets


class Ground(NamedTuple):
    """Of points and weights, once for all certificates."""

    labels: IntArray  # (n,): x_i - x_l is in the span if and only if these are equal
    rank: int  # of the span
    images: Points  # X T, with T (d, rank) such that T^T C T is about 1
    least: float  # no eigenvalue of T^T C T is below it
    undecided: str  # why there is no such T, as a sentence


def ground(X: FloatArray, C: Weights, what: str) -> Ground:
    """The exact part, and the basis if there is one. what: whose differences these are, for the sentence."""
    at, found = coordinates(X), cosets(X, C.pairs)
    r = found.rank
    nothing = Ground(found.labels, r, points(X, np.zeros((X.shape[1], 0))), math.inf, at.undecided)
    if at.hidden or r == 0:
        return nothing
    w = np.asarray(C.w, dtype=float)
    _, s, Vt = np.linalg.svd(_triangle(points(X, at.to), C.pairs, np.sqrt(w)), full_matrices=False)
    with np.errstate(all="ignore"):  # what is no number is looked for
        basis = at.to @ (Vt[:r].T / s[:r])
        try:  # once more: the first is off by eps times the condition
            half = np.linalg.cholesky(squares_of_pairs(points(X, basis), C.pairs, w)[0])
            images = points(X, np.linalg.solve(half, basis.T).T)
            S, moved = squares_of_pairs(images, C.pairs, w)
            least = (least_eigenvalue(S) - moved) * (1 - 4 * EPS)
        except np.linalg.LinAlgError:
            least = -math.inf
    if not least > 0:
        return nothing._replace(
            undecided=f"{what} in {r} direction(s), as rational numbers, of which double precision does not see all: "
            "leave out features that others nearly determine"
        )
    return nothing._replace(images=images, least=least)


def _triangle(images: Points, pairs: IntArray, root: FloatArray) -> FloatArray:
    """R of a QR decomposition of the differences over pairs, times `root`, some at a time."""
    r = images.high.shape[1]
    R, step = np.zeros((0, r)), max(r, BLOCK // r)
    for first in watched(range(0, len(pairs), step)):
        part = slice(first, first + step)
        rows = root[part, None] * images.apart(*pairs[part].T).at
        R = np.asarray(np.linalg.qr(np.concatenate([R, rows]), mode="r"))
    return R
