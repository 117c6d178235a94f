"""The data and parameters of kernel MLSVM, checked, and the feature space: K = E E^T (kernel.py)."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.inputs import check_choice, check_count, check_labels, check_positive, check_X, class_names
from cvxml.methods.mlsvm.certify import scaled_lam
from cvxml.methods.mlsvm.neighborhood import Neighborhood, neighborhood_of
from cvxml.metric import FloatArray, IntArray, unit_scale
from cvxml.neighbors import inner_products, k_nearest_by_kernel, resolution, squared_euclidean

EPS = float(np.finfo(float).eps)  # n EPS of the largest eigenvalue of K is where its null space begins


class Instance(NamedTuple):
    """Checked data and the feature space: E (n, r) with E E^T = K, and its pseudo-inverse (r, n)."""

    X: FloatArray
    y: IntArray
    K: FloatArray
    E: FloatArray
    back: FloatArray
    N: Neighborhood
    lam: float
    kernel: dict[str, Any]


def kernel_matrix(
    A: FloatArray, B: FloatArray, kernel: str = "poly", degree: int = 2, gamma: float | None = None
) -> FloatArray:
    """kappa(a, b) for all rows of A (p, d) and B (q, d); returns (p, q)."""
    if kernel == "poly":
        powers: FloatArray = inner_products(A, B) ** degree
        return powers
    width = 1 / A.shape[1] if gamma is None else gamma
    values: FloatArray = np.exp(-width * squared_euclidean(A, B))
    return values


def instance(
    X: ArrayLike,
    y: ArrayLike,
    *,
    lam: float = 0.1,
    n_neighbors: int = 4,
    neighborhood: str = "knn",
    neighbors: Any = None,
    kernel: str = "poly",
    degree: int = 2,
    gamma: float | None = None,
) -> Instance:
    """Everything checked, K factorised. Raises ValueError for whatever is wrong."""
    points = check_X(X)
    codes = check_labels(y, len(points))
    lam = check_positive(lam, "lam")
    settings: dict[str, Any] = {
        "kernel": check_choice(kernel, "kernel", ("poly", "rbf")),
        "degree": check_count(degree, "degree", at_most=5),
        "gamma": None if gamma is None else check_positive(gamma, "gamma"),
    }
    with np.errstate(over="ignore"):
        K = kernel_matrix(points, points, **settings)
    if not np.isfinite(K).all():
        raise ValueError(
            f"the {kernel} kernel overflows on these data (largest feature "
            f"{np.abs(points).max():.3g}); scale the features down"
        )
    E, back = factor(K)
    scaled_lam(lam, unit_scale(E))
    nearest = partial(k_nearest_by_kernel, K, error=rounding_of_distances(points, **settings))
    N = neighborhood_of(E, codes, n_neighbors, neighborhood, neighbors, class_names(y), nearest)
    return Instance(points, codes, K, E, back, N, lam, settings)


def rounding_of_distances(X: FloatArray, kernel: str, degree: int, gamma: float | None) -> float:
    """What rounding of the points (n, d) may do to a squared distance in the feature space, beyond TIE_TOL.

    "poly": nothing, as that is relative to the kernel values. "rbf": 2 - 2 exp(-gamma t^2) grows by 1.72 sqrt(gamma)
    at most for each unit of t, the distance of the points.
    """
    if kernel == "poly":
        return 0.0
    width = 1 / X.shape[1] if gamma is None else gamma
    return 2 * float(np.sqrt(width)) * resolution(X)


def factor(K: FloatArray) -> tuple[FloatArray, FloatArray]:
    """E (n, r) with E E^T = K (n, n), r = rank K, and its pseudo-inverse (r, n)."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    keep = values > len(K) * EPS * max(values[-1], 0.0)
    if not keep.any():
        raise ValueError(
            "the kernel matrix is zero in double precision: all points are at the origin, or so near to it that a "
            "product of two is no float; rescale X"
        )
    root = np.sqrt(values[keep])
    return vectors[:, keep] * root, (vectors[:, keep] / root).T


def in_feature_space(given: Instance, phi: FloatArray) -> FloatArray:
    """E^T phi E (r, r): the metric that phi (n, n) is on the rows of K^(1/2)."""
    with np.errstate(over="ignore", invalid="ignore"):
        even, odd = (phi + phi.T) / 2, (phi - phi.T) / 2
        M: FloatArray = given.E.T @ even @ given.E
        M = (M + M.T) / 2  # the products of a symmetric matrix are symmetric but for rounding
        if odd.any():
            M = M + given.E.T @ odd @ given.E
    if not np.isfinite(M).all():
        raise ValueError("metric overflows in the feature space: its entries are too large")
    return M
