"""The data and parameters of ITML, checked: pairs, prior and bounds made explicit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.inputs import check_choice, check_positive, check_X
from cvxml.metric import FloatArray, IntArray, as_matrix
from cvxml.pairs import Pairs, pairs_of

PERCENTILES = (5.0, 95.0)
PRIORS = ("identity", "covariance")
RANK = 1e-13  # of a matrix of unit diagonal: below this a least eigenvalue may be 0
LARGEST = 1e100  # of gamma, of a bound, of a squared distance relative to its bound, and of their inverses


class Instance(NamedTuple):
    """Checked data: X float64, y as codes (zeros where pairs were given), the pairs, and every parameter."""

    X: FloatArray
    y: IntArray
    pairs: Pairs
    listed: bool  # the pairs were given, not made from y
    gamma: float
    prior: FloatArray  # A_0 (d, d), positive definite
    bounds: tuple[float, float]  # u, l: of squared distances

    @property
    def xi_0(self) -> FloatArray:
        """u for every similar pair, then l for every dissimilar one."""
        u, l = self.bounds  # noqa: E741
        return np.repeat([u, l], [len(self.pairs.similar), len(self.pairs.dissimilar)])


def instance(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    gamma: float = 1.0,
    prior: Any = "identity",
    bounds: Any = None,
    pairs: Any = None,
) -> Instance:
    """Everything checked. Raises ValueError saying what was given, what is allowed and what to do."""
    points = check_X(X)
    gamma = check_positive(gamma, "gamma")
    if not 1 / LARGEST <= gamma <= LARGEST:
        raise ValueError(f"gamma must be within {1 / LARGEST:g} to {LARGEST:g}, got {gamma:g}")
    found, codes = pairs_of(pairs, y, len(points))
    A_0 = prior_of(points, prior)
    apart = found.dissimilar[(points[found.dissimilar[:, 0]] == points[found.dissimilar[:, 1]]).all(axis=1)]
    if len(apart):
        raise ValueError(
            f"points {apart[0, 0]} and {apart[0, 1]} are equal and a dissimilar pair: no metric keeps them apart, so "
            "the problem is infeasible; drop one of them, or give pairs without them"
        )
    u, l = default_bounds(points, A_0) if bounds is None else check_bounds(bounds)  # noqa: E741
    given = Instance(points, codes, found, pairs is not None, gamma, A_0, (u, l))
    _check_range(given)
    return given


def prior_of(X: FloatArray, prior: Any) -> FloatArray:
    """A_0 (d, d). Raises ValueError unless it is positive definite."""
    if isinstance(prior, str) or prior is None:
        check_choice(prior, "prior", PRIORS)
        return np.eye(X.shape[1]) if prior == "identity" else inverse_covariance(X)
    A_0 = as_matrix(prior, X.shape[1], "prior")
    asymmetry = float(np.abs(A_0 - A_0.T).max())
    if asymmetry > 1e-9 * float(np.abs(A_0).max()):
        raise ValueError(f"prior must be symmetric, it is off by {asymmetry:.3g}; give (P + P.T) / 2")
    A_0 = A_0 / 2 + A_0.T / 2
    if not definite(A_0):
        raise ValueError(
            "prior must be positive definite, by more than rounding: D_ld is infinite everywhere else; "
            "add a multiple of the identity"
        )
    return A_0


def inverse_covariance(X: FloatArray) -> FloatArray:
    """The inverse of the sample covariance (divisor n - 1) of X (n, d). Raises ValueError where it is singular."""
    centred = X - X[0]
    centred = centred - centred.mean(axis=0)
    spread = np.abs(centred).max(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    S = (centred / unit).T @ (centred / unit) / max(len(X) - 1, 1)
    if not definite(S):
        raise ValueError(
            f"prior 'covariance': the covariance of these {len(X)} points in {X.shape[1]} features is singular; "
            "use prior='identity', or give a positive definite matrix"
        )
    inverse = np.linalg.inv(S)
    A_0: FloatArray = (inverse + inverse.T) / 2 / np.outer(unit, unit)
    return A_0


def definite(S: FloatArray) -> bool:
    """True if the symmetric S (d, d), scaled to unit diagonal, has no eigenvalue below `RANK`."""
    diagonal = S.diagonal()
    if not (diagonal > 0).all():
        return False
    root = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(S / root[:, None] / root)[0] > RANK)


def default_bounds(X: FloatArray, A_0: FloatArray) -> tuple[float, float]:
    """u and l: the 5th and the 95th percentile of the squared distances of all i < j under A_0."""
    if len(X) < 2:
        raise ValueError("bounds: one point has no distances to take percentiles of; give bounds=(u, l)")
    distances = squared_distances(X, A_0)
    if not distances.max() <= LARGEST:
        raise ValueError("X: squared distances under the prior overflow; rescale X, or the prior with it")
    u, l = np.percentile(distances, PERCENTILES)  # noqa: E741
    if not u > 0:
        raise ValueError(
            f"bounds: the {PERCENTILES[0]:g}th percentile of the squared distances is 0, as many points are equal; "
            "give bounds=(u, l), or drop the copies"
        )
    return float(u), float(l)


def squared_distances(X: FloatArray, A_0: FloatArray) -> FloatArray:
    """(x_i - x_j)^T A_0 (x_i - x_j) of all i < j, row by row."""
    C = np.linalg.cholesky(A_0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([np.sum(((X[i + 1 :] - X[i]) @ C) ** 2, axis=1) for i in range(len(X))])


def check_bounds(bounds: Any) -> tuple[float, float]:
    """(u, l). Raises ValueError unless these are two positive numbers."""
    values = bounds.tolist() if isinstance(bounds, np.ndarray) else bounds
    if not isinstance(values, (list, tuple)) or len(values) != 2:
        raise ValueError(
            "bounds must be (u, l): u for similar and l for dissimilar pairs, two positive numbers that bound "
            f"squared distances; got {bounds!r:.60}"
        )
    u, l = (check_positive(value, f"bounds[{k}]") for k, value in enumerate(values))  # noqa: E741
    return u, l


def _check_range(p: Instance) -> None:
    """Raise ValueError where a distance of a pair, relative to its bound, is beyond double precision."""
    if not 1 / LARGEST <= min(p.bounds) <= max(p.bounds) <= LARGEST:
        raise ValueError(
            f"bounds: {p.bounds[0]:.3g} and {p.bounds[1]:.3g} are beyond {1 / LARGEST:g} to {LARGEST:g}; rescale X"
        )
    C = np.linalg.cholesky(p.prior)
    for listed, bound in zip(p.pairs, p.bounds, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            ratio = np.sum(((p.X[listed[:, 0]] - p.X[listed[:, 1]]) @ C) ** 2, axis=1) / bound
        if not ratio.max(initial=0.0) <= LARGEST or (
            listed is p.pairs.dissimilar and ratio.min(initial=1.0) < 1 / LARGEST
        ):
            raise ValueError(
                f"X: squared distances under the prior are up to {ratio.max():.3g} and down to {ratio.min():.3g} of "
                f"the bound {bound:.3g}; rescale X, or give other bounds"
            )
