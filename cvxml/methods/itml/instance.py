"""The checked inputs of ITML: pairs, prior A_0 and the bounds u and l of the squared distances of pairs.

Bounds that are not given are percentiles of squared distances under the prior.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from cvxml.core.clock import watched
from cvxml.core.inputs import check_positive
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.pairs import KINDS, Paired, paired
from cvxml.core.prior import prior_of
from cvxml.core.short_repr import cut
from cvxml.methods.itml.percentiles import Numbers, percentiles

PERCENTILES = (5.0, 95.0)
LARGEST = 1e100  # limit for gamma, bounds, squared distances relative to their bounds, and the inverses of all these


@dataclass(frozen=True, eq=False)
class Instance(Paired):
    """Checked data and parameters.

    gamma: weight of the slack. prior: A_0 (d, d), positive definite. bounds: (u, l), for squared distances.
    """

    gamma: float
    prior: FloatArray  # A_0 (d, d), positive definite
    bounds: tuple[float, float]  # u, l, for squared distances

    @property
    def xi_0(self) -> FloatArray:
        """xi_0 (pairs,): u for each similar pair, then l for each dissimilar pair."""
        u, l = self.bounds
        return np.repeat([u, l], [len(self.pairs.similar), len(self.pairs.dissimilar)])

    @cached_property
    def differ(self) -> IntArray:
        """Indices of the similar pairs with different points. Pairs of equal points satisfy any bound."""
        return np.flatnonzero(self.similar.any(axis=1))


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    prior: Any = "identity",
    bounds: Any = None,
    pairs: Any = None,
) -> Instance:
    """Check all inputs; compute the prior and the bounds. Raises ValueError for bad input.

    X (n, d); y (n,) labels, unless pairs are given. gamma > 0: weight of the slack. prior: "identity", "covariance"
    (the inverse covariance of X), or a matrix (d, d). bounds: (u, l), by default the 5th and the 95th percentile of the
    squared distances under the prior.

    pairs: {"similar": ..., "dissimilar": ...}, each a list of pairs of indices.
    """
    gamma = check_positive(gamma, "gamma")
    if not 1 / LARGEST <= gamma <= LARGEST:
        raise ValueError(f"gamma must be between {1 / LARGEST:g} and {LARGEST:g}, got {gamma:g}")
    p = paired(X, y, pairs)
    p.check_listable()  # before any distances are computed
    A_0 = prior_of(p.X, prior)
    apart = p.equal
    if len(apart):
        raise ValueError(
            f"points {apart[0, 0]} and {apart[0, 1]} are equal and a dissimilar pair: no metric can separate "
            "them, so the problem is infeasible; drop one of them, or give pairs without them"
        )
    u, l = default_bounds(p.X, A_0) if bounds is None else check_bounds(bounds)
    given = Instance(p.X, p.y, p.listed, gamma=gamma, prior=A_0, bounds=(u, l))
    _check_range(given)
    return given


def default_bounds(X: FloatArray, A_0: FloatArray) -> tuple[float, float]:
    """Return u and l, the 5th and 95th percentiles of the squared distances of all pairs of points under A_0 (d, d).

    X (n, d): the points. Raises ValueError for a single point, for a squared distance above 1e100, and if u is 0.
    """
    if len(X) < 2:
        raise ValueError("bounds: percentiles need at least two points; give bounds=(u, l)")
    rows, total = squared_distances(X, A_0)
    u, l = percentiles(Numbers(lambda: _without_overflow(rows()), total), PERCENTILES)
    if not u > 0:
        many_copies = len(np.unique(X, axis=0)) < len(X)
        raise ValueError(
            f"bounds: the {PERCENTILES[0]:g}th percentile of the squared distances is 0, because "
            + (
                "many points are equal; give bounds=(u, l), or drop the copies"
                if many_copies
                else "the squares of the distances are below the range of floats; rescale X"
            )
        )
    return u, l


def squared_distances(X: FloatArray, A_0: FloatArray) -> Numbers:
    """Return the numbers (x_i - x_j)^T A_0 (x_i - x_j) of all i < j, inf on overflow.

    They are not stored. The result has a function that computes them again at each call, one array for each i, and
    their total number.
    """
    C = np.linalg.cholesky(A_0)
    euclidean = np.array_equal(C, np.eye(len(C)))

    def rows() -> Iterator[FloatArray]:
        for i in range(len(X) - 1):
            with np.errstate(over="ignore", invalid="ignore"):
                if euclidean:
                    row = cdist(X[i : i + 1], X[i + 1 :], "sqeuclidean")[0]
                else:
                    row = np.sum(((X[i + 1 :] - X[i]) @ C) ** 2, axis=1)
            yield row

    return Numbers(rows, len(X) * (len(X) - 1) // 2)


def _without_overflow(rows: Iterator[FloatArray]) -> Iterator[FloatArray]:
    for row in rows:
        if not row.max() <= LARGEST:
            raise ValueError(
                f"X: a squared distance under the prior is above {LARGEST:g}; rescale X, or the prior with it"
            )
        yield row


def check_bounds(bounds: Any) -> tuple[float, float]:
    """Return (u, l) as floats. Raises ValueError unless these are two positive numbers."""
    values = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    if not isinstance(values, (list, tuple)) or len(values) != 2:
        raise ValueError(
            "bounds must be (u, l): u for similar and l for dissimilar pairs, two positive numbers that bound "
            f"squared distances; got {cut(repr(bounds), 60)}"
        )
    u, l = (check_positive(value, f"bounds[{k}]") for k, value in enumerate(values))
    return u, l


def _check_range(p: Instance) -> None:
    """Raise ValueError if a bound, or the ratio of a squared distance to its bound, is too large or too small.

    A bound must be from 1e-100 to 1e100 (`LARGEST`). The squared distance of a pair under the prior, divided by its
    bound, must be at most 1e100, and for a dissimilar pair at least 1e-100.
    """
    if not 1 / LARGEST <= min(p.bounds) <= max(p.bounds) <= LARGEST:
        raise ValueError(
            f"bounds must be between {1 / LARGEST:g} and {LARGEST:g}, got {p.bounds[0]:.3g} and {p.bounds[1]:.3g}; "
            "rescale X"
        )
    C = np.linalg.cholesky(p.prior)
    for kind, bound in watched(zip(KINDS, p.bounds, strict=True)):
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = np.sum((getattr(p, kind) @ C) ** 2, axis=1) / bound
        too_near = kind == "dissimilar" and ratio.min(initial=1.0) < 1 / LARGEST
        if not ratio.max(initial=0.0) <= LARGEST or too_near:
            raise ValueError(
                f"X: squared distances of {kind} pairs under the prior, divided by their bound {bound:.3g}, are from "
                f"{ratio.min():.3g} to {ratio.max():.3g}; they must be at most {LARGEST:g}, and at least "
                f"{1 / LARGEST:g} for dissimilar pairs; rescale X, or give other bounds"
            )
