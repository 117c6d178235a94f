"""Test whether a metric attains the infimum of MCML.

Directions of descent. Let M move to M + t U with U psd. For large t, the objective changes per unit of t by

    sum_i [ mean_j <U, X_ij> - min_k <U, X_ik> ],

where i runs over the points that are not alone in their class, j over the other points of the class of i, and k over
all points but i. No term is negative. All terms are 0 if, under U, the points of the class of each such i are equally
near to i and no point is nearer. Then the objective falls for all t, or stays constant if all points are equally far
from i for every such i. If it falls, no metric is optimal.

Examples of such a U:
- U makes each class a single point and keeps two classes apart.
- Every class has two points, and under U the nearest point of each is the other point of its class.
- Under U, the points of each class are equally far apart, and no other point is nearer.

Proof. Double precision finds U, and rational arithmetic checks it. If the differences within the classes do not span
all differences, the projection onto the orthogonal complement of their span is such a U. Otherwise U = R R^T with a
float matrix R, so the distances are integers times a power of two. Rounding seldom keeps distances equal. If the exact
check fails, only `SEEMS` is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist

from cvxml.core.exact import flint, integers
from cvxml.core.metric import FloatArray
from cvxml.family.geometry.coordinates import Coordinates
from cvxml.methods.mcml.softmax import Softmaxes
from cvxml.numbers.span import cosets

NOT_ATTAINED = (
    "the infimum is not attained: adding more of some psd matrix always lowers the objective. Under this "
    "matrix, each point has the other points of its class at equal distances, and no point is nearer"
)
SEEMS = (
    "in double precision, the infimum does not seem to be attained: adding more of the leading directions of "
    "this metric always lowers the objective. In these directions, each point has the other points of its class "
    "at equal distances, and no point is nearer"
)
EQUAL = 1e-9  # distances with a smaller relative difference count as equal
NOTHING = 1e-12  # numbers below this share of the largest one count as 0


def recedes(X: FloatArray, at: Coordinates, of: Softmaxes, M: FloatArray) -> str:
    """Return the sentence `NOT_ATTAINED` if this is proved, `SEEMS` if only double precision suggests it, else "".

    X (n, d): points. at: their coordinates of unit covariance.

    of: the weights of the problem. Row i of w has the weights of a mean over the other points of the class of i. c_i is
    1, or 0 if i is alone in its class. M (r, r): a metric in the coordinates `at`. Its leading eigenvectors are tried
    as U.
    """
    if _classes_are_apart(X, of):
        return NOT_ATTAINED
    seen = [axes for axes in _directions(at, of, M) if _falls(cdist(*[at.Y @ axes] * 2, "sqeuclidean"), of)]
    if not seen:
        return ""
    return NOT_ATTAINED if any(_falls_exactly(X, of, at.to @ axes) for axes in seen) else SEEMS


def _classes_are_apart(X: FloatArray, of: Softmaxes) -> bool:
    """True if the differences within the classes do not span the differences of all points (exact)."""
    return len(np.unique(cosets(X, np.argwhere(of.w > 0)).labels)) > 1


def _directions(at: Coordinates, of: Softmaxes, M: FloatArray) -> Iterator[FloatArray]:
    """Yield candidates R (r, m) for U = R R^T, in the coordinates `at`.

    First the directions in which no class has any spread, then the leading eigenvectors of M, scaled by the roots of
    their eigenvalues. of: the weights of the problem.
    """
    used = of.c > 0
    within = at.Y[used] - of.w[used] @ at.Y / of.w[used].sum(axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(within, full_matrices=True)
    spread = np.zeros(len(Vt))
    spread[: len(s)] = s
    yield Vt[spread <= NOTHING * np.sqrt(len(at.Y))].T
    values, vectors = np.linalg.eigh(M)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))
    for m in range(1, len(M) + 1):
        yield roots[:, -m:]


def _falls(D: FloatArray, of: Softmaxes) -> bool:
    """Return True if the objective decreases along M + t U as t grows, up to rounding.

    D (n, n): squared distances under U. The result is True if, for every i, the points of its class are equally near
    and no other point is nearer, and for some i a point is farther.

    of: the weights of the problem.
    """
    used = of.c > 0
    D = D[used]
    pull = np.sum(of.w[used] * D, axis=1) / of.w[used].sum(axis=1)
    nearest = np.where(of.among[used], D, np.inf).min(axis=1)
    furthest = np.where(of.among[used], D, -np.inf).max(axis=1)
    slack = EQUAL * pull + (16 * NOTHING) ** 2 * len(D) * float(furthest.max())
    return bool((pull - nearest <= slack).all() and (furthest - nearest > slack).any())


def _falls_exactly(X: FloatArray, of: Softmaxes, root: FloatArray) -> bool:
    """Return True if the objective is proved to decrease along M + t U as t grows, in exact arithmetic.

    U = root root^T for root (d, m). X (n, d): points. of: the weights of the problem.
    """
    if not np.isfinite(root).all():
        return False
    z = flint().fmpz_mat(integers(X)[0]) * flint().fmpz_mat(integers(root)[0])
    G = (z * z.transpose()).tolist()
    moves = False
    for i in of.rows:
        D = {k: G[i][i] + G[k][k] - 2 * G[i][k] for k in np.flatnonzero(of.among[i]).tolist()}
        nearest = min(D.values())
        if any(D[j] != nearest for j in np.flatnonzero(of.w[i]).tolist()):
            return False
        moves = moves or max(D.values()) > nearest
    return moves
