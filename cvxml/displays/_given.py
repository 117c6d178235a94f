"""What may be given to a display: every check, and its one-sentence complaint."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.inputs import check_count
from cvxml.metric import FloatArray, from_components


def labels_of(y: ArrayLike | None, n: int) -> np.ndarray:
    """Labels (n,) of any kind; one class if y is None. Raises ValueError for another length or shape."""
    labels = np.zeros(n, dtype=int) if y is None else np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have shape ({n},) for {n} points, got {labels.shape}")
    return labels


def check_features(features: Any, d: int) -> tuple[int, int]:
    """Two different indices of features. Raises ValueError, for d = 1 too."""
    if d < 2:
        raise ValueError("a picture of the plane needs two features, and X has one")
    if not isinstance(features, (tuple, list, np.ndarray)) or len(features) != 2:
        raise ValueError(f"features must be two indices within 0..{d - 1}, got {features!r}")
    first, second = (check_count(f, "each of features", at_least=0, at_most=d - 1) for f in features)
    if first == second:
        raise ValueError(f"features must be two different indices, got {first} twice")
    return first, second


def names_of(X: Any, features: tuple[int, int]) -> tuple[str, str]:
    """Names of two features: those of a data frame, else their numbers."""
    columns = getattr(X, "columns", None)
    first, second = (f"feature {f}" if columns is None else str(columns[f]) for f in features)
    return first, second


def check_fitted(estimator: Any) -> None:
    """Raises scikit-learn's NotFittedError, a ValueError, for an estimator that is not fitted."""
    from sklearn.utils.validation import check_is_fitted  # takes a second to load

    check_is_fitted(estimator)


def metric_of(estimator: Any, kernel: bool = False) -> FloatArray:
    """The one metric M (d, d) of a fitted estimator: its Mahalanobis matrix, or L^T L of its `components_`.

    kernel: a metric of kernel features will do. Raises ValueError for an estimator that has no metric, or one for each
    query, and NotFittedError.
    """
    check_fitted(estimator)
    name = type(estimator).__name__
    if hasattr(estimator, "metric_at"):
        raise ValueError(
            f"{name} has a metric for each query; use LocalMetricDisplay, or give one of metric_at(X)"
        )
    if hasattr(estimator, "phi_") and not kernel:
        raise ValueError(f"the metric of {name} acts on the features of its kernel and not on those of X")
    if hasattr(estimator, "get_mahalanobis_matrix"):
        return np.asarray(estimator.get_mahalanobis_matrix(), dtype=np.float64)
    if hasattr(estimator, "components_"):
        return from_components(estimator.components_, np.shape(estimator.components_)[-1])
    raise ValueError(f"{name} has no metric: it needs get_mahalanobis_matrix() or components_")
