"""What happens at infinity: where a supremum of NCA is approached and attained nowhere.

Along t A, t to infinity, p_i tends to the average of s_ij over the nearest neighbours of i under A. If for every i
all of these have the largest s_ij there is, f and g tend to values that bound them, while every finite metric is
strictly below: the supremum is at infinity. For class labels that is: every point has its nearest neighbour in its own
class. It is said only where it is so for all that may be nearest within the proved rounding of the distances.

So it is where a direction exists in which the points of a class coincide and the classes do not all: any
metric grows better along it for ever (only if the rank is not limited: it must be added to whatever is there). Whether
there is one is a matter of ranks, decided in rationals (numbers/span.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from cvxml.methods.nca.instance import Instance
from cvxml.methods.nca.rows import Metric
from cvxml.numbers.span import cosets, rank

CLOSE = 1e-9  # distances nearer than this share of the larger, and of rounding, are called equal


class Limit(NamedTuple):
    """The objective of t Q for t to infinity, near ties counted as ties, and whether every p_i tends to the most."""

    value: float
    best: bool  # proved: of all that may be nearest


def limit(p: Instance, metric: Metric) -> Limit:
    """Where multiples of the metric tend."""
    total, best = 0.0, True
    for i in np.flatnonzero(p.usable).tolist():
        distances, off = metric.distances(i)
        distances[i] = np.inf
        s = p.row(i)
        nearest = (distances + off).min()
        right = s[distances - off <= nearest * (1 + CLOSE)]
        best &= bool(right.min() == s.max())
        with np.errstate(divide="ignore"):
            total -= float(right.mean() if p.criterion == "f" else np.log(right.mean()))
    return Limit(total, best)


def collapsible(p: Instance) -> bool:
    """True if a direction exists in which all points coincide that are right for each other, and not all points do."""
    groups = p.y if p.similarity is None else connected_components(p.similarity > 0, directed=False)[1]
    order = np.argsort(groups, kind="stable")
    pairs = np.column_stack([order[:-1], order[1:]])
    within = cosets(p.X, pairs[groups[pairs[:, 0]] == groups[pairs[:, 1]]])
    return within.rank < rank(p.X)
