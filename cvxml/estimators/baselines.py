"""Baselines for a learnt metric: the Euclidean metric, and the Mahalanobis metric within classes.

Both have a closed form. The second is also an optimum. Let W (d, d) be the pooled within-class covariance. Then

    min_{A psd}  tr(A W) - log det A        has the unique solution        A = W^-1,

because the problem is convex and its derivative W - A^-1 is zero there. Among all metrics with the same determinant, A
minimizes the mean squared distance of the points from the means of their classes. Linear discriminant analysis uses
this metric.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_labels, check_number, check_X
from cvxml.core.metric import FloatArray, components_of
from cvxml.estimators.base import MetricEstimator
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.parameters import refuse_a_preprocessor

RANK = 1e-13  # for W (d, d) scaled to unit diagonal: an eigenvalue of at most d times this may be 0


def euclidean(X: ArrayLike) -> FloatArray:
    """Return the identity (d, d). Raises ValueError for bad X (n, d)."""
    return np.eye(check_X(X).shape[1])


def within_class_covariance(X: ArrayLike, y: ArrayLike, shrinkage: float = 0.0) -> FloatArray:
    """Return the pooled within-class covariance W (d, d), shrunk towards the multiple of I with the same trace.

    W = 1/n sum_i (x_i - m_i)(x_i - m_i)^T, where m_i is the mean of the class of point i.

    X: (n, d).
    y: (n,), the labels.
    shrinkage: s from 0 to 1, default 0 (no shrinkage); the result is (1 - s) W + s (tr W / d) I.

    Raises ValueError for bad input.
    """
    points = check_X(X)
    codes = check_labels(y, len(points))
    s = check_number(shrinkage, "shrinkage")
    if not 0 <= s <= 1:
        raise ValueError(f"shrinkage must be within 0 to 1, got {s:g}")
    centred = points - points[0]  # removes a large offset, which would add rounding errors
    for c in range(codes.max() + 1):
        centred[codes == c] -= centred[codes == c].mean(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        W: FloatArray = centred.T @ centred / len(points)
    if not np.isfinite(W).all():
        raise ValueError("X is too large: its squares overflow; rescale it")
    d = len(W)
    shrunk: FloatArray = (1 - s) * W + s * (np.trace(W) / d) * np.eye(d)
    return shrunk


def within_class(X: ArrayLike, y: ArrayLike, shrinkage: float = 0.0) -> FloatArray:
    """Return A = W^-1 (d, d), the optimum of tr(A W) - log det A.

    Raises ValueError for bad input, and if W is singular.
    """
    W = within_class_covariance(X, y, shrinkage)
    deviation = np.sqrt(W.diagonal())
    constant = np.flatnonzero(deviation == 0)
    if len(constant):
        raise ValueError(
            f"feature {constant[0]} is constant within every class: the within-class covariance is singular, and the "
            "infimum is not attained; drop the feature, or give shrinkage > 0"
        )
    values = np.linalg.eigvalsh(W / deviation[:, None] / deviation)
    rank = int(np.count_nonzero(values > RANK * len(W)))
    if rank < len(W):
        raise ValueError(
            f"the within-class covariance is singular, of rank {rank} for {len(W)} features, and the infimum is not "
            "attained; give shrinkage > 0, or drop dependent features"
        )
    inverse = np.linalg.inv(W / deviation[:, None] / deviation)
    A: FloatArray = (inverse + inverse.T) / 2 / deviation[:, None] / deviation
    return A


class _Baseline(MetricEstimator):
    """A metric in closed form, without a solver and without a certificate."""

    def _set(self, metric: FloatArray) -> None:
        self.metric_ = metric
        self.components_ = components_of(metric)
        self._n_features_out = len(metric)


@refuse_a_preprocessor
class Euclidean(_Baseline):
    """The Euclidean metric: the identity matrix.

    Attributes
    ----------
    metric_ : FloatArray (d, d). The identity.
    components_ : FloatArray (d, d). The identity.
    n_features_in_ : as in scikit-learn.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.Euclidean().fit(X)
    print(model.pair_distance([[X[0], X[50]]]).round(2))  # -> [4.]
    """

    def __init__(self) -> None:
        pass

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Take the number of features from X (n, d); y is ignored. Raises ValueError for bad X."""
        self._refuse_tuples(X)
        self._set(euclidean(validated(self, X)))
        return self


@refuse_a_preprocessor
class WithinClass(_Baseline):
    """The Mahalanobis metric of the pooled within-class covariance W, A = W^-1.

    `fit` raises ValueError if W is singular.

    Parameters
    ----------
    shrinkage : float within 0 to 1, default 0.0. s: W is replaced by (1 - s) W + s (tr W / d) I.

    Attributes
    ----------
    metric_ : FloatArray (d, d). A.
    components_ : FloatArray (d, d). The symmetric square root of A.
    n_features_in_, classes_ : as in scikit-learn.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.WithinClass().fit(X, y)
    print(model.pair_distance([[X[0], X[50]]]).round(2))  # -> [9.79]
    """

    def __init__(self, shrinkage: float = 0.0):
        self.shrinkage = shrinkage

    def _solve(self, points: FloatArray, y: Any, **extra: Any) -> None:
        self._set(within_class(points, y, self.shrinkage))
