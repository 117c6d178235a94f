"""What the targets' differences of LMNN span: what costs, and which triplets may have a price.

Which impostors differ from their point within the span is decided in rationals. A basis of it in which C is about 1 can
only be computed; that it shows all of the span is proved by C being definite in it, beyond rounding.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.coordinates import coordinates
from cvxml.methods.lmnn.instance import Instance
from cvxml.metric import IntArray
from cvxml.proved import EPS, Points, least_eigenvalue, points, squares_of
from cvxml.span import cosets


class Ground(NamedTuple):
    """Of an instance, once for all its certificates."""

    labels: (
        IntArray  # (n,): x_i - x_l is in the span of the targets' differences if and only if these are equal
    )
    rank: int  # of the span
    images: Points  # X T, with T (d, rank) such that T^T C T is about 1
    least: float  # no eigenvalue of T^T C T is below it
    undecided: str  # why there is no such T, as a sentence


def ground(p: Instance) -> Ground:
    """The exact part, and the basis if there is one."""
    at, found = coordinates(p.X), cosets(p.X, p.targets)
    r, (i, j) = found.rank, p.targets.T
    weight = np.full(len(i), 1 - p.mu)
    nothing = Ground(found.labels, r, points(p.X, np.zeros((p.X.shape[1], 0))), math.inf, at.undecided)
    if at.hidden or r == 0:
        return nothing
    _, s, Vt = np.linalg.svd(points(p.X, at.to).apart(i, j).at, full_matrices=False)
    with np.errstate(all="ignore"):  # what is no number is looked for
        basis = at.to @ (Vt[:r].T / (s[:r] * math.sqrt(1 - p.mu)))
        try:  # once more: the first is off by eps times the condition
            half = np.linalg.cholesky(squares_of(points(p.X, basis).apart(i, j), weight)[0])
            images = points(p.X, np.linalg.solve(half, basis.T).T)
            C, moved = squares_of(images.apart(i, j), weight)
            least = (least_eigenvalue(C) - moved) * (1 - 4 * EPS)
        except np.linalg.LinAlgError:
            least = -math.inf
    if not least > 0:
        return nothing._replace(
            undecided=f"targets differ from their points in {r} direction(s), as rational numbers, of which double "
            "precision does not see all: leave out features that others nearly determine"
        )
    return nothing._replace(images=images, least=least)
