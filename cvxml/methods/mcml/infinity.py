"""Where the infimum of MCML is approached and not attained by any metric.

Along M + t U, t to infinity, the objective changes by  sum_i [ mean_j <U, X_ij> - min_k <U, X_ik> ]  for each unit of t
in the end; no term is negative. If all are 0 (to every i the others of its class are equally near and nobody is nearer)
the objective falls for ever, or stays, if U makes all points equally far. So it is where U shows the classes apart
and each of them as one point, for classes of two where every point has its partner as its nearest, and for larger ones
where U makes the points of each equally far apart and no others nearer.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from cvxml.coordinates import Coordinates
from cvxml.methods.mcml.instance import Weights
from cvxml.metric import FloatArray

EQUAL = 1e-9  # of a distance: what differs by less is called equal
NOTHING = 1e-12  # of the largest: what is taken for rounding of 0


def recedes(at: Coordinates, of: Weights, M: FloatArray) -> bool:
    """True if the objective falls for ever along M (r, r), its largest parts, or where no class has any spread."""
    return any(_falls(images, of) for images in _directions(at, of, M))


def _directions(at: Coordinates, of: Weights, M: FloatArray) -> Iterator[FloatArray]:
    """Images of the points under some U."""
    used = of.c > 0
    within = at.Y[used] - of.w[used] @ at.Y / of.w[used].sum(axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(within, full_matrices=True)
    spread = np.zeros(len(Vt))
    spread[: len(s)] = s
    yield at.Y @ Vt[spread <= NOTHING * np.sqrt(len(at.Y))].T
    values, vectors = np.linalg.eigh(M)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))
    for m in range(1, len(M) + 1):
        yield at.Y @ roots[:, -m:]


def _falls(images: FloatArray, of: Weights) -> bool:
    """True if nobody is nearer than the class, which is all as near, and not everybody is."""
    if images.shape[1] == 0:
        return False
    used = of.c > 0
    D = cdist(images, images, "sqeuclidean")[used]
    pull = np.sum(of.w[used] * D, axis=1) / of.w[used].sum(axis=1)
    nearest = np.where(of.among[used], D, np.inf).min(axis=1)
    furthest = np.where(of.among[used], D, -np.inf).max(axis=1)
    slack = EQUAL * pull + (16 * NOTHING) ** 2 * len(D) * float(furthest.max())
    return bool((pull - nearest <= slack).all() and (furthest - nearest > slack).any())
