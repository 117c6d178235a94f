"""Where no metric attains the infimum of softmaxes (softmax.py) that pull to neighbours as near as the nearest: MCML.

w_i is a mean over some j, the class of i, and c is 1.

Along M + t U, t to infinity, the objective changes by  sum_i [ mean_j <U, X_ij> - min_k <U, X_ik> ]  for each unit of t
in the end; no term is negative. If all are 0 (to every i the others of its class are equally near and nobody is nearer)
the objective falls for ever, or stays, if U makes all points equally far. So it is where U shows the classes apart
and each of them as one point, for classes of two where every point has its partner as its nearest, and for larger ones
where U makes the points of each equally far apart and no others nearer.

Double precision finds such a U; that it is one is decided in rationals: where the differences within the classes do not
span those of all points, U is the projection on what is across; else U = R R^T of a root R in floats, whose distances
are integers times a power of two. Equal distances seldom survive rounding: then no more is said than what was seen.
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
    "the infimum is not attained: more of what this metric is largest in, or of what shows no class any spread, lowers "
    "the objective for ever, since there no point is nearer to any than the others of its class, which are all as near"
)
SEEMS = (
    "as far as double precision sees, the infimum is not attained: more of what this metric is largest in lowers the "
    "objective for ever, since there no point is nearer to any than the others of its class, which are all as near"
)
EQUAL = 1e-9  # of a distance: what differs by less is called equal
NOTHING = 1e-12  # of the largest: what is taken for rounding of 0


def recedes(X: FloatArray, at: Coordinates, of: Softmaxes, M: FloatArray) -> str:
    """`NOT_ATTAINED` where it is proved, `SEEMS` where M (r, r) only seems to show it, else nothing."""
    if _classes_are_apart(X, of):
        return NOT_ATTAINED
    seen = [axes for axes in _directions(at, of, M) if _falls(cdist(*[at.Y @ axes] * 2, "sqeuclidean"), of)]
    if not seen:
        return ""
    return NOT_ATTAINED if any(_falls_exactly(X, of, at.to @ axes) for axes in seen) else SEEMS


def _classes_are_apart(X: FloatArray, of: Softmaxes) -> bool:
    """True if the differences within the classes do not span those of all points."""
    return len(np.unique(cosets(X, np.argwhere(of.w > 0)).labels)) > 1


def _directions(at: Coordinates, of: Softmaxes, M: FloatArray) -> Iterator[FloatArray]:
    """Roots (r, m) of some U."""
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
    """True if nobody is nearer than the class, which is all as near, and not everybody is, but for rounding."""
    used = of.c > 0
    D = D[used]
    pull = np.sum(of.w[used] * D, axis=1) / of.w[used].sum(axis=1)
    nearest = np.where(of.among[used], D, np.inf).min(axis=1)
    furthest = np.where(of.among[used], D, -np.inf).max(axis=1)
    slack = EQUAL * pull + (16 * NOTHING) ** 2 * len(D) * float(furthest.max())
    return bool((pull - nearest <= slack).all() and (furthest - nearest > slack).any())


def _falls_exactly(X: FloatArray, of: Softmaxes, root: FloatArray) -> bool:
    """The same of distances under root root^T (d, d), in integers."""
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
