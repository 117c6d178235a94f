"""The span of weighted differences of points, and coordinates that make their sum of squares close to the identity.

The sum of squares is C = sum_p w_p X_p, X_p = (x_i - x_j)(x_i - x_j)^T. Points that differ by a vector of the span are
found exactly, in rationals (numbers/span.py). A basis T (d, rank) of the span with T^T C T close to the identity is
computed in floats. T^T C T is then proved to be positive definite beyond rounding, so T covers the whole span.
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
    """The span of the differences, and coordinates in it, computed once for all certificates.

    labels (n,): x_i - x_l is in the span if and only if points i and l have equal labels. rank: the dimension of the
    span. images: the points X T, with the basis T of the module docstring.

    least: a proved lower bound of the eigenvalues of T^T C T. undecided: the reason why no such T was found, as a
    sentence; empty if it was found. If T was not found or the rank is 0, `images` has no columns, and `least` is inf.
    """

    labels: IntArray  # (n,): x_i - x_l is in the span if and only if their labels are equal
    rank: int  # dimension of the span
    images: Points  # X T, with T (d, rank) such that T^T C T is close to the identity
    least: float  # proved lower bound of the eigenvalues of T^T C T
    undecided: str  # the reason why no such T was found, as a sentence; empty if it was found


def ground(X: FloatArray, C: Weights, what: str) -> Ground:
    """Compute the span of the differences in C, and the basis T of the module docstring.

    X (n, d): the points. C: the pairs and their weights w. what: the first words of a message, for example "targets
    differ from their points". The next words are "in 3 direction(s) ...".
    """
    at, found = coordinates(X), cosets(X, C.pairs)
    r = found.rank
    nothing = Ground(found.labels, r, points(X, np.zeros((X.shape[1], 0))), math.inf, at.undecided)
    if at.hidden or r == 0:
        return nothing
    w = np.asarray(C.w, dtype=float)
    _, s, Vt = np.linalg.svd(_triangle(points(X, at.to), C.pairs, np.sqrt(w)), full_matrices=False)
    with np.errstate(all="ignore"):  # NaN makes the test least > 0 below fail
        basis = at.to @ (Vt[:r].T / s[:r])
        try:  # a second pass, because the first basis has an error of eps times the condition number
            half = np.linalg.cholesky(squares_of_pairs(points(X, basis), C.pairs, w)[0])
            images = points(X, np.linalg.solve(half, basis.T).T)
            S, moved = squares_of_pairs(images, C.pairs, w)
            least = (least_eigenvalue(S) - moved) * (1 - 4 * EPS)
        except np.linalg.LinAlgError:
            least = -math.inf
    if not least > 0:
        return nothing._replace(
            undecided=f"{what} in {r} direction(s) by rational arithmetic, but double precision does not "
            "resolve all of them: leave out features that others nearly determine"
        )
    return nothing._replace(images=images, least=least)


def _triangle(images: Points, pairs: IntArray, root: FloatArray) -> FloatArray:
    """The triangular R of the QR decomposition of the rows root_p (z_i - z_j) over pairs p = (i, j).

    z_i: the image of point i in `images`. root: the square roots of the weights. Works on some pairs at a time.
    """
    r = images.high.shape[1]
    R, step = np.zeros((0, r)), max(r, BLOCK // r)
    for first in watched(range(0, len(pairs), step)):
        part = slice(first, first + step)
        rows = root[part, None] * images.apart(*pairs[part].T).at
        R = np.asarray(np.linalg.qr(np.concatenate([R, rows]), mode="r"))
    return R
