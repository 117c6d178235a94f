"""The checked inputs of PLML. Anchors that are not given come from k-means; weights that are not given are computed.

Each of the m basis metrics belongs to an anchor, a point u_b of the feature space. The weights W (n, m) mix the basis
metrics at each point. They are optimal in a problem of their own (weights.py), unless the user gives them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import LARGEST_SEED, check_count, check_number, check_positive, check_X
from cvxml.core.memory import FLOAT, check_room
from cvxml.core.metric import FloatArray, real_array, unit_scale
from cvxml.core.neighbors import k_nearest
from cvxml.core.result import Certificate
from cvxml.core.threads import one_blas_thread
from cvxml.core.triplets import Compared, check_units, compared
from cvxml.methods.plml.weights import Smooth, certify, check_weights, solve

FURTHEST = 1e30  # largest spread of points and anchors, the same limit as for points alone
WELL = 1e-6  # largest relative gap of computed weights in their own problem
LARGEST = 1e15  # largest dimensionless weight or similarity; the smallest positive one is 1 / LARGEST


@dataclass(frozen=True, eq=False)
class Instance(Compared):
    """Checked data: points, triplets, the weights W (n, m) of the basis metrics, and the parameters.

    smooth: the problem of the weights, None if weights were given without anchors. similarity: the user's value. drawn:
    True if the anchors come from k-means.

    solved: True if the weights were computed here.
    """

    W: FloatArray  # (n, m)
    alpha1: float
    alpha2: float
    smooth: Smooth | None
    random_state: int
    graph_neighbors: int
    similarity: list[list[float]] | None  # the user's value
    lam1: float
    lam2: float
    drawn: bool
    solved: bool

    @cached_property
    def of_weights(self) -> Certificate | None:
        """The certificate of the weights in their own problem, None without anchors."""
        return None if self.smooth is None else certify(self.smooth, self.W)

    @property
    def unsolved(self) -> str:
        """A sentence if computed weights are not proved optimal within `WELL`, otherwise ""."""
        proof = self.of_weights if self.solved else None
        if proof is None or proof.rel_gap <= WELL:
            return ""
        return (
            f"the weights are not proved optimal for their own problem: their relative gap is up to "
            f"{proof.rel_gap:.2g}, allowed is {WELL:g}; give a smaller lam2, or weights"
        )

    @property
    def m(self) -> int:
        """The number of basis metrics."""
        return int(self.W.shape[1])


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    alpha1: float = 1.0,
    alpha2: float = 1.0,
    lam1: float = 1.0,
    lam2: float = 100.0,
    n_anchors: int = 5,
    anchors: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    similarity: ArrayLike | None = None,
    graph_neighbors: int = 6,
    random_state: int = 0,
    n_neighbors: int | None = 3,
    triplets: Any = None,
) -> Instance:
    """Check the inputs, and compute the anchors and weights that are missing. Raises ValueError for bad input.

    X (n, d). y (n,): labels. They give the triplets, with n_neighbors targets and n_neighbors impostors for each point,
    unless `triplets` (t, 3) are given. In the problem of the metrics, alpha1 and alpha2 are the weights of the norms
    and of the pairs. In the problem of the weights, lam1 and lam2 are the factors of the distances to anchors and of
    the graph term.

    anchors (m, d): default k-means with n_anchors means and the seed random_state. weights (n, m): default optimal.
    similarity (n, n): default 1 for neighbours in the graph of the graph_neighbors nearest points.
    """
    points, alpha1 = check_X(X), check_positive(alpha1, "alpha1")
    others = {"alpha2": alpha2, "lam1": lam1, "lam2": lam2}
    alpha2, lam1, lam2 = (_not_negative(value, name) for name, value in others.items())
    check_units(points, alpha1, "alpha1", "alpha1 / s^4")
    if lam2 > 0:
        check_units(points, lam2, "lam2", "lam2 / s^2")
    for name, value in (("alpha2", alpha2), ("lam1", lam1)):  # which have no unit
        if value > 0 and not 1 / LARGEST <= value <= LARGEST:
            raise ValueError(f"{name} must be 0, or between {1 / LARGEST:g} and {LARGEST:g}; got {value:g}")
    n, d = points.shape
    seed = check_count(random_state, "random_state", at_least=0)
    k = check_count(graph_neighbors, "graph_neighbors")
    given = compared(points, y, n_neighbors, triplets)
    U = None if anchors is None else _anchors(anchors, points)
    if U is None and weights is None:
        U = k_means(points, check_count(n_anchors, "n_anchors", at_most=n), seed)
    drawn = U is not None and anchors is None
    own = None if weights is None else check_weights(weights, n, None if U is None else len(U))
    m = len(U) if U is not None else 0 if own is None else own.shape[1]
    check_room(
        (m * d) ** 2 * FLOAT, f"a metric of {m} blocks of {d} x {d}", "give fewer anchors, or features"
    )
    soft = None if similarity is None else _similarity(similarity, n)
    smooth = None
    if U is not None:
        graph = nearest_graph(points, min(k, n - 1)) if soft is None else soft
        smooth = Smooth(points, U, graph, lam1, lam2)
    solved = own is None
    if own is None:
        assert smooth is not None
        with one_blas_thread():
            own = solve(smooth)
    listed = None if soft is None else soft.tolist()
    return Instance(**vars(given), W=own, alpha1=alpha1, alpha2=alpha2, smooth=smooth, random_state=seed,
                    graph_neighbors=k, similarity=listed, lam1=lam1, lam2=lam2, drawn=drawn, solved=solved)  # fmt: skip


def _not_negative(value: Any, name: str) -> float:
    number = check_number(value, name)
    if number < 0:
        raise ValueError(f"{name} must be 0 or more, got {number!r}")
    return number


def _anchors(anchors: ArrayLike, X: FloatArray) -> FloatArray:
    U, d = real_array(anchors, "anchors"), X.shape[1]
    if U.ndim != 2 or U.shape[1] != d or len(U) == 0:
        raise ValueError(f"anchors must have shape (m, {d}) for {d} features, got {U.shape}")
    if not np.isfinite(U).all():
        raise ValueError("anchors hold NaN or infinity; every entry must be finite")
    if (away := unit_scale(np.vstack([X, U]))) > FURTHEST:
        raise ValueError(
            f"points and anchors spread over about {away:.3g}, which cannot be computed in double precision; give "
            "anchors near the points"
        )
    return U


def _similarity(similarity: ArrayLike, n: int) -> FloatArray:
    """Return `similarity` (n, n). Raises ValueError unless it is finite, >= 0, symmetric, and 0 on the diagonal.

    Raises ValueError also if a positive entry is outside 1e-15 to 1e15.
    """
    s = real_array(similarity, "similarity")
    if s.shape != (n, n):
        raise ValueError(f"similarity must have shape ({n}, {n}) for {n} points, got {s.shape}")
    if not np.isfinite(s).all() or (s < 0).any() or (s != s.T).any() or np.diag(s).any():
        raise ValueError("similarity must be finite, 0 or more, symmetric, and 0 on its diagonal")
    if s.any() and (s[s > 0].min() < 1 / LARGEST or s.max() > LARGEST):
        raise ValueError(
            "similarity has entries outside 1e-15 to 1e15; rescale it, or set the small ones to 0"
        )
    return s


def k_means(X: FloatArray, m: int, seed: int) -> FloatArray:
    """The m means (m, d) of scikit-learn's k-means with the seed `seed`.

    Raises ValueError if X has fewer than m different points, and for a seed that scikit-learn does not take.
    """
    check_count(seed, "random_state", at_least=0, at_most=LARGEST_SEED)
    different = len(np.unique(X, axis=0))
    if different < m:
        raise ValueError(
            f"X has {different} different point(s), fewer than n_anchors={m}: lower n_anchors, or give anchors"
        )
    # imported here because scikit-learn takes a second to load
    from sklearn.cluster import KMeans

    scale, first = unit_scale(X), X[0]
    with one_blas_thread():
        found = KMeans(m, n_init=1, random_state=seed).fit((X - first) / scale)
    means: FloatArray = np.asarray(found.cluster_centers_, dtype=np.float64) * scale + first
    return means


def nearest_graph(X: FloatArray, k: int) -> FloatArray:
    """The neighbour graph (n, n): 1 if one of two points is among the k nearest of the other, else 0."""
    every = np.arange(len(X))
    near = np.zeros((len(X), len(X)))
    if k > 0:
        near[every[:, None], k_nearest(X, every, every, k)[0]] = 1.0
    both: FloatArray = np.maximum(near, near.T)
    return both
