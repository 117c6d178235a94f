"""Checks of the arguments of displays, each with a one-sentence error message."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count
from cvxml.core.metric import FloatArray, from_components


def labels_of(y: ArrayLike | None, n: int) -> np.ndarray:
    """Return the labels (n,), all strings or all numbers; one class if y is None.

    Raises ValueError for another length or shape, and for labels that are missing (None, NaN), infinite or mixed.
    """
    if y is None:
        return np.zeros(n, dtype=int)
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y is not an array of labels: {error}") from error
    if labels.shape != (n,):
        raise ValueError(f"y must have shape ({n},) for {n} points, got {labels.shape}")
    # an array made from a list has lost the types of its entries
    values = y if isinstance(y, (list, tuple)) else labels.tolist()
    kinds = {type(value) for value in values}
    if not any(all(issubclass(kind, one) for kind in kinds) for one in (str, numbers.Real)):
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"y must hold strings only or numbers only, one for each point, got {named}")
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        raise ValueError("y must hold a label for every point, got NaN or infinity; drop such points")
    return labels


def check_size(M: FloatArray, name: str) -> FloatArray:
    """Return M if matplotlib can draw it.

    Raises ValueError if an entry is above 1e280, or all are below 1e-280 and not 0.
    """
    largest = float(np.abs(M).max())
    if largest > 1e280 or 0 < largest < 1e-280:
        raise ValueError(
            f"{name} has entries of about {largest:.3g}; scale it so that they are from 1e-280 to 1e280"
        )
    return M


def check_features(features: Any, d: int) -> tuple[int, int]:
    """Return two different indices of features. Raises ValueError for other input, and if X has only one feature."""
    if d < 2:
        raise ValueError("a picture of the plane needs two features, and X has one")
    if not isinstance(features, (tuple, list, np.ndarray)) or len(features) != 2:
        raise ValueError(f"features must be two indices within 0..{d - 1}, got {features!r}")
    first, second = (check_count(f, "each of features", at_least=0, at_most=d - 1) for f in features)
    if first == second:
        raise ValueError(f"features must be two different indices, got {first} twice")
    return first, second


def names_of(X: Any, features: tuple[int, int]) -> tuple[str, str]:
    """Return the names of two features: those of a data frame, else their numbers."""
    columns = getattr(X, "columns", None)
    first, second = (f"feature {f}" if columns is None else str(columns[f]) for f in features)
    return first, second


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError, a ValueError, if an estimator is not fitted."""
    from sklearn.utils.validation import check_is_fitted  # takes a second to load

    check_is_fitted(estimator)


def metric_of(estimator: Any, kernel: bool = False) -> FloatArray:
    """Return the metric M (d, d) of a fitted estimator: its Mahalanobis matrix, or L^T L of its `components_`.

    kernel: True if a metric of kernel features is allowed.

    Raises NotFittedError, and ValueError for an estimator without a metric, or with a metric for each query.
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
