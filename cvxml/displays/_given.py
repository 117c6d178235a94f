"""Checks of the arguments that users give to displays, and their metric, points and labels in the form to draw.

Every error message is one sentence.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count
from cvxml.core.metric import FloatArray, from_components
from cvxml.oracle import pipelines


def labels_of(y: ArrayLike | None, n: int) -> np.ndarray:
    """Return the labels (n,), all strings or all numbers; one class if y is None.

    Raises ValueError for another length or shape, and for labels that are missing (None, NaN), infinite or mixed.
    """
    if y is None:
        return np.zeros(n, dtype=int)
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise ValueError(
            f"y must be one label for each point; numpy cannot make an array of it: {error}"
        ) from error
    column = labels.shape == (n, 1)  # scikit-learn takes a column too
    labels = labels.ravel() if column else labels
    if labels.shape != (n,):
        raise ValueError(f"y must have shape ({n},) for {n} points, got {labels.shape}")
    # an array made from a list has lost the types of its entries
    listed = y if isinstance(y, (list, tuple)) and not column else labels.tolist()
    values = [value.item() if isinstance(value, np.generic) else value for value in listed]
    kinds = {type(value) for value in values}
    if not any(all(issubclass(kind, one) for kind in kinds) for one in (str, numbers.Real)):
        named = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"y must hold strings only or numbers only, one for each point, got the types {named}"
        )
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        raise ValueError("y must hold a label for every point, got NaN or infinity; drop such points")
    return labels


def check_size(M: FloatArray, name: str) -> FloatArray:
    """Return M if matplotlib can draw it. name: the name of M in the message.

    Raises ValueError if the largest absolute entry is above 1e280, or below 1e-280 and not 0.
    """
    largest = float(np.abs(M).max())
    if largest > 1e280 or 0 < largest < 1e-280:
        raise ValueError(
            f"{name} has entries of about {largest:.3g}; scale it so that they are from 1e-280 to 1e280"
        )
    return M


class Plane(NamedTuple):
    """The two features that are drawn: their indices, and their names as labels of the axes."""

    features: tuple[int, int]  # indices
    xlabel: str
    ylabel: str


def plane_of(features: Any, d: int, names: list[str] | None) -> Plane:
    """Return the plane of two different features, each given by its index or its name.

    features: two of 0..d-1, or two of `names`.
    d: the number of features of the points.
    names: the names of all d features, or None. Without names, the labels of the axes are "feature 0" and so on.

    Raises ValueError for other input, and if d = 1.
    """
    if d < 2:
        raise ValueError("a picture of the plane needs two features, and X has one")
    if not isinstance(features, (tuple, list, np.ndarray)) or len(features) != 2:
        raise ValueError(f"features must be two indices within 0..{d - 1}, or two names, got {features!r}")
    first, second = (_index_of(f, d, names) for f in features)
    if first == second:
        raise ValueError(f"features must be two different features, got {features[1]!r} twice")
    labels = [f"feature {f}" if names is None else names[f] for f in (first, second)]
    return Plane((first, second), *labels)


def _index_of(feature: Any, d: int, names: list[str] | None) -> int:
    if not isinstance(feature, str):
        return check_count(feature, "each of features", at_least=0, at_most=d - 1)
    if names is None:
        raise ValueError(
            f"features has the name {feature!r}, but X has no names: give indices within 0..{d - 1}, or a data frame"
        )
    places = [k for k, name in enumerate(names) if name == feature]
    if not places:
        raise ValueError(f"features has the name {feature!r}, and the names are {', '.join(names)}")
    if len(places) > 1:
        raise ValueError(f"features has the name {feature!r} of {len(places)} columns: give the index")
    return places[0]


def names_of(X: Any) -> list[str] | None:
    """Return the names of the columns of a data frame, or None for an array."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(name) for name in columns]


class Learner(NamedTuple):
    """A fitted metric learner, the points that its metric is for, and the names of their features."""

    estimator: Any
    X: Any
    names: list[str] | None


def frame_of(X: Any) -> Any:
    """Return X if it is a data frame, else None."""
    return X if hasattr(X, "columns") else None


def refuse_other_columns(X: Any, expected: Any, called: str, whose: str) -> None:
    """Raise ValueError if X is a data frame and its columns are not the `expected` names, in this order.

    expected: the names; None if they are not known, and then every X is accepted.
    called: the name of X in the message.
    whose: the owner of the expected names in the message, for example "the fit of this LMNN".
    """
    columns = getattr(X, "columns", None)
    if columns is None or expected is None or list(columns) == list(expected):
        return
    names = [str(name) for name in expected]
    raise ValueError(
        f"the columns of {called} are not those of {whose}: give {names[:8]!r}{' ...' if len(names) > 8 else ''}, in "
        "this order"
    )


def learner_of(estimator: Any, X: Any, attribute: str = "", called: str = "X") -> Learner:
    """Return the metric learner in a fitted estimator, the points X as it gets them, and the names of their features.

    In a Pipeline, the learner is the last step that learns a metric, and X is transformed by the steps before it. In a
    search, it is the best estimator. Any other estimator is returned itself, whatever its attributes are.

    X: the points (n, d), or None if the picture needs no points.
    attribute: the name of an attribute by which a step of a Pipeline is known to learn a metric. By default, the step
        must have get_mahalanobis_matrix, components_ or metric_at.
    called: the name of X in the message.

    Raises NotFittedError. Raises ValueError if no step of a Pipeline learns a metric, or if the learner was fitted to a
    data frame and gets one with other columns.
    """
    check_fitted(estimator)
    wanted = (attribute,) if attribute else ("get_mahalanobis_matrix", "components_", "metric_at")
    found = pipelines.found(estimator, X, lambda step: any(hasattr(step, name) for name in wanted))
    fitted = getattr(found.learner, "feature_names_in_", None)
    with pipelines.named(*found.path):
        refuse_other_columns(found.X, fitted, called, f"the fit of this {type(found.learner).__name__}")
    return Learner(found.learner, found.X, _names_at(found, X))


def _names_at(found: pipelines.Found, X: Any) -> list[str] | None:
    """Return the names of the features that the learner gets; None if they have no names.

    The names are the columns of the points that the learner gets. If these points are an array, the names that its fit
    stored are returned. If the fit stored no names, the steps before the learner make them from the columns of X.

    found: the learner, its points, and the steps before it.
    """
    fitted = getattr(found.learner, "feature_names_in_", None)
    names = names_of(found.X)
    if names is None and fitted is not None:
        names = [str(name) for name in fitted]
    if names is not None or not found.before:
        return names
    try:
        given: Any = names_of(X)
        for step in found.before:
            given = step.get_feature_names_out(given)
    except (AttributeError, ValueError):
        return None  # a step that names no features
    return [str(name) for name in given]


def check_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError, a ValueError, if an estimator is not fitted."""
    from sklearn.utils.validation import check_is_fitted  # takes a second to load

    check_is_fitted(estimator)


def metric_of(estimator: Any, kernel: bool = False) -> FloatArray:
    """Return the metric M (d, d) of a fitted estimator: its Mahalanobis matrix, or L^T L of its `components_`.

    kernel: True to allow a metric (r, r) on the r features of a kernel; otherwise ValueError is raised for it.

    Raises NotFittedError, and ValueError for an estimator without a metric, or with a metric for each query.
    """
    check_fitted(estimator)
    name = type(estimator).__name__
    if hasattr(estimator, "metric_at"):
        other = ", or use LocalMetricDisplay" if hasattr(estimator, "cases_at") else ""
        raise ValueError(
            f"{name} has a metric for each query: draw one of them, from_metric(model.metric_at(X)[0], ...){other}"
        )
    if hasattr(estimator, "phi_") and not kernel:
        raise ValueError(
            f"the metric of {name} acts on the features of its kernel and not on those of X; "
            "use SpectrumDisplay or NeighborhoodDisplay"
        )
    if hasattr(estimator, "get_mahalanobis_matrix"):
        return np.asarray(estimator.get_mahalanobis_matrix(), dtype=np.float64)
    if hasattr(estimator, "components_"):
        return from_components(estimator.components_, np.shape(estimator.components_)[-1])
    raise ValueError(f"{name} has no metric: it needs get_mahalanobis_matrix() or components_")
