"""The checked inputs of kernel MLSVM, and coordinates E (n, r) of the points in the feature space, with K = E E^T.

K (n, n) is the kernel matrix, and r its rank. Kernel MLSVM is MLSVM on the rows of E. A metric is given by phi (n, n),
and E^T phi E (r, r) is the same metric in these coordinates.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_choice, check_count, check_labels, check_positive, check_X, class_names
from cvxml.core.memory import FLOAT, check_room
from cvxml.core.metric import EPS, FloatArray, IntArray, unit_scale
from cvxml.core.neighbors import inner_products, k_nearest, k_nearest_by_kernel, squared_euclidean
from cvxml.methods.mlsvm.neighborhood import Instance as Linear
from cvxml.methods.mlsvm.neighborhood import Neighborhood, named, neighborhood_of, scaled_lam

TABLES = 6  # least number of (n, n) arrays of floats in memory


class Instance(NamedTuple):
    """Checked data and the feature space: K (n, n), E (n, r) with E E^T = K, and `back`, the pseudo-inverse of E.

    y: class codes. N: the targets and impostors of each point. kernel: the parameters kernel, degree and gamma.
    """

    X: FloatArray
    y: IntArray
    K: FloatArray
    E: FloatArray
    back: FloatArray
    N: Neighborhood
    lam: float
    n_neighbors: int | None  # None if the lists are explicit
    neighborhood: str  # "explicit" if the lists are explicit
    kernel: dict[str, Any]

    @property
    def linear(self) -> Linear:
        """The same problem as checked data of MLSVM, with the rows of E as points."""
        return Linear(self.E, self.y, self.N, self.lam, self.n_neighbors, self.neighborhood)


def kernel_matrix(
    A: FloatArray, B: FloatArray, kernel: str = "poly", degree: int = 2, gamma: float | None = None
) -> FloatArray:
    """The kernel values kappa(a, b) (p, q) of all rows of A (p, d) and B (q, d).

    kernel: "poly", <a, b>^degree, or "rbf", exp(-gamma ||a - b||^2) with gamma = 1/d by default.
    """
    if kernel == "poly":
        powers: FloatArray = inner_products(A, B) ** degree
        return powers
    width = 1 / A.shape[1] if gamma is None else gamma
    values: FloatArray = np.exp(-width * squared_euclidean(A, B))
    return values


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    lam: float = 0.1,
    n_neighbors: int = 4,
    neighborhood: str = "knn",
    neighbors: Any = None,
    kernel: str = "poly",
    degree: int = 2,
    gamma: float | None = None,
) -> Instance:
    """Check the inputs and factorize K. Raises ValueError for bad input, and if K overflows or is zero.

    X (n, d), y (n,) labels, lam > 0. neighborhood: "knn" for the n_neighbors nearest points of any class. The choice
    "per-class" takes the n_neighbors nearest of the class and as many of the other classes. neighbors: explicit lists
    in place of these, one for each point. The kernel is "poly" with degree 1 to 5, or "rbf" with gamma > 0, by default
    1/d.
    """
    points = check_X(X)
    check_room(TABLES * FLOAT * len(points) ** 2, f"kernel values of all pairs of {len(points)} points")
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
    # For the rbf, distances in the feature space 2 - 2 exp(-gamma t^2) grow with t. The order by t is exact even if
    # they round to 0 or 2.
    nearest = partial(k_nearest, points) if kernel == "rbf" else partial(k_nearest_by_kernel, K)
    N = neighborhood_of(E, codes, n_neighbors, neighborhood, neighbors, class_names(y), nearest)
    names = named(n_neighbors, neighborhood, neighbors)
    return Instance(points, codes, K, E, back, N, lam, *names, settings)


def factor(K: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The coordinates in the feature space: E (n, r) with E E^T = K, r = rank K; and the pseudo-inverse (r, n) of E.

    Eigenvalues of K that rounding could explain count as 0. Raises ValueError if then K is 0.
    """
    #: [The problem in the feature space]
    #: A = sum_ij phi_ij Phi(x_i) Phi(x_j)^T,   K_ij = <Phi(x_i), Phi(x_j)> = kappa(x_i, x_j)
    #:   | \mathbf{A} = \sum_{i,j} \varphi_{ij} \Phi(\mathbf{x}_i) \Phi(\mathbf{x}_j)^T,
    #:     \quad \mathbf{K}_{ij} = \langle \Phi(\mathbf{x}_i), \Phi(\mathbf{x}_j) \rangle
    #:     = \kappa(\mathbf{x}_i, \mathbf{x}_j)
    #: min over phi, xi:  lam/2 ||K^(1/2) phi K^(1/2)||^2 + 1/n sum_i xi_i
    #:   | \min_{\varphi,\, \xi}\ \frac{\lambda}{2} \lVert \mathbf{K}^{1/2} \varphi \mathbf{K}^{1/2} \rVert_F^2
    #:     + \frac{1}{n} \sum_{i=1}^{n} \xi_i | (2)
    #: K^(1/2) phi K^(1/2) psd,  xi >= 0 | \mathbf{K}^{1/2} \varphi \mathbf{K}^{1/2} \succeq 0, \quad \xi \ge 0 | (2)
    #: for every i:  min_{j in I_i} d(i, j) >= max_{l in T_i} d(i, l) + 1 - xi_i
    #:   | \min_{j \in I_i} d(i, j) \ge \max_{l \in T_i} d(i, l) + 1 - \xi_i \quad \text{for every } i | (2)
    #: d(i, j) = (K_i - K_j)^T phi (K_i - K_j),   K_i the column i of K
    #:   | d(i, j) = (\mathbf{K}_i - \mathbf{K}_j)^T \varphi (\mathbf{K}_i - \mathbf{K}_j),
    #:     \quad \mathbf{K}_i \text{ the column } i \text{ of } \mathbf{K}

    #: [It equals the problem of mlsvm on the rows of E]
    #: below, read e_i, e_j, e_l for x_i, x_j, x_l, where e_i is the row i of E, and K = E E^T
    #:   | \text{below, read } \mathbf{e}_i, \mathbf{e}_j, \mathbf{e}_l \text{ for } \mathbf{x}_i, \mathbf{x}_j,
    #:     \mathbf{x}_l \text{, where } \mathbf{e}_i \text{ is the row } i \text{ of } E
    #:     \text{, and } \mathbf{K} = E E^T
    #: below, read M = E^T phi E for A | \text{below, read } M = E^T \varphi E \text{ for } \mathbf{A}
    #: N(e_i): the neighbours in the feature space
    #:   | \mathcal{N}(\mathbf{e}_i): \text{ the neighbours in the feature space}

    values, vectors = np.linalg.eigh((K + K.T) / 2)
    keep = values > len(K) * EPS * max(values[-1], 0.0)
    if not keep.any():
        raise ValueError(
            "the kernel matrix is zero in double precision: all points are at the origin, or so close to it "
            "that products underflow; rescale X"
        )
    root = np.sqrt(values[keep])
    #: K = E E^T,  E of full column rank with rows e_i
    #:   | \mathbf{K} = E E^T, \quad E \text{ of full column rank with rows } \mathbf{e}_i
    return vectors[:, keep] * root, (vectors[:, keep] / root).T


def in_feature_space(given: Instance, phi: FloatArray) -> FloatArray:
    """The metric E^T phi E (r, r) on the rows of E, for phi (n, n). Raises ValueError if it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        even, odd = (phi + phi.T) / 2, (phi - phi.T) / 2
        M: FloatArray = given.E.T @ even @ given.E
        M = (M + M.T) / 2  # symmetric except for rounding
        if odd.any():
            M = M + given.E.T @ odd @ given.E
    if not np.isfinite(M).all():
        raise ValueError(
            "the metric E^T phi E of the feature space overflows, because entries of phi are too large; "
            "give a smaller metric"
        )
    return M
