"""What happens at infinity: where a supremum of NCA is approached and attained nowhere.

Along t A, t to infinity, p_i tends to the average of s_ij over the nearest neighbours of i under A. If for every i
all of these have the largest s_ij there is, f and g tend to values that bound them, while every finite metric is
strictly below: the supremum is at infinity. For class labels that is: every point has its nearest neighbour in its own
class. So it is where a direction exists in which the points of a class coincide and the classes do not all: any
metric grows better along it for ever (only if the rank is not limited: it must be added to whatever is there).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from cvxml.coordinates import Coordinates
from cvxml.methods.nca.instance import Instance
from cvxml.metric import FloatArray

EPS = float(np.finfo(float).eps)
COINCIDE = 1e-12  # a spread of that share of all the points' is what rounding leaves of none
CLOSE = 1e-9  # distances nearer than this share of the larger, and of rounding, are called equal


class Limit(NamedTuple):
    """The objective of t A for t to infinity, and whether every p_i tends to the most it can be."""

    value: float
    best: bool


def limit(p: Instance, at: Coordinates, A: FloatArray) -> Limit:
    """Where multiples of A (m, r), in the coordinates, tend; what is nearly a tie counts as one."""
    images = at.Y @ A.T
    rounding = 64 * EPS * float(np.linalg.norm(A * at.lost, 2)) * float(np.abs(images).max(initial=0.0))
    total, best = 0.0, True
    for i in np.flatnonzero(p.usable).tolist():
        distances = ((images[i] - images) ** 2).sum(axis=1)
        distances[i] = np.inf
        s = p.row(i)
        right = s[distances <= distances.min() * (1 + CLOSE) + rounding]
        best &= bool(right.min() == s.max())
        with np.errstate(divide="ignore"):
            total -= float(right.mean() if p.criterion == "f" else np.log(right.mean()))
    return Limit(total, best)


def collapsible(p: Instance, at: Coordinates) -> bool:
    """True if a direction exists in which all points coincide that are right for each other, and not all points do."""
    Y = at.Y
    if not Y.any():
        return False
    groups = p.y if p.similarity is None else connected_components(p.similarity > 0, directed=False)[1]
    means = np.array([Y[groups == k].mean(axis=0) for k in range(groups.max() + 1)])
    spread = np.linalg.svd(Y - means[groups], compute_uv=False) / np.sqrt(len(Y))
    return bool(spread[-1] <= COINCIDE and float(at.lost.max()) * EPS <= COINCIDE)
