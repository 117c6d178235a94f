"""What every scikit-learn estimator here shares: fitting through a method, transform, distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from cvxml import api
from cvxml.core.metric import FloatArray, components_of
from cvxml.core.result import Certificate, Solution


class MetricEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer x -> L x with M = L^T L the metric that a method learns.

    Subclasses name the method and, in `_method_params`, its parameters.
    """

    _method: str
    solution_: Solution
    components_: FloatArray

    def _method_params(self) -> dict[str, Any]:
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from X (n, d) and labels y (n,).

        Raises ValueError for bad input; warns (ConvergenceWarning) whenever tol is not met.
        """
        points, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        self._solve(points, y)
        return self

    def _solve(self, points: FloatArray, y: Any, **extra: Any) -> None:
        """Solve for checked points (n, d), and set the attributes of a fit. extra: of the method, beside its own."""
        start = getattr(self, "solution_", None) if self.warm_start else None
        self.solution_ = api.solve(
            self._method,
            points,
            y,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            warm_start=start if self._may_start_from(start, len(points)) else None,
            **self._method_params(),
            **extra,
        )
        self.certificate_: Certificate = self.solution_.certificate
        self.gap_ = self.solution_.gap
        self.n_iter_ = max(1, self.solution_.n_iter)
        self._keep(points)
        self._n_features_out = len(self.components_)

    def _may_start_from(self, start: Solution | None, n: int) -> bool:
        """True for a solution of the same method with as many points."""
        return start is not None and start.method == self._method and len(start.y) == n

    def _keep(self, X: FloatArray) -> None:
        """Set `components_` (m, features the metric acts on) from the solution."""
        self.components_ = components_of(self.solution_.metric)

    def _features(self, X: FloatArray) -> FloatArray:
        """The coordinates that the metric acts on, (n, m)."""
        return X

    def transform(self, X: ArrayLike) -> FloatArray:
        """L x for each row; Euclidean distances between results are the learnt distances."""
        check_is_fitted(self)
        points = validate_data(self, X, dtype=np.float64, reset=False)
        result: FloatArray = self._features(points) @ self.components_.T
        return result

    def get_mahalanobis_matrix(self) -> FloatArray:
        """The metric M = L^T L: (d, d), in the coordinates that `transform` starts from."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_distance(self, pairs: ArrayLike) -> FloatArray:
        """The learnt distance (not squared) of each pair in `pairs` (p, 2, d); returns (p,)."""
        check_is_fitted(self)
        points = np.asarray(pairs, dtype=np.float64)
        if points.ndim != 3 or points.shape[1:] != (2, self.n_features_in_):
            raise ValueError(f"pairs must have shape (p, 2, {self.n_features_in_}), got {points.shape}")
        difference = self._features(points[:, 0]) - self._features(points[:, 1])
        distances: FloatArray = np.linalg.norm(difference @ self.components_.T, axis=1)
        return distances

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """A function of two points (d,) that returns their learnt distance: for scikit-learn's `metric=`."""
        check_is_fitted(self)

        def distance(a: ArrayLike, b: ArrayLike) -> float:
            return float(self.pair_distance(np.array([[a, b]], dtype=np.float64))[0])

        return distance


class PairsEstimator(MetricEstimator):
    """A transformer whose method learns from pairs of points: given, or every two points by their labels."""

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, pairs: Any = None) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from pairs, y then unused.

        pairs: {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}, indices into X. Raises ValueError for bad input,
        and where the problem of the method has no optimum; warns (ConvergenceWarning) whenever tol is not met.
        """
        if pairs is None:
            return super().fit(X, y)  # type: ignore[arg-type]
        points = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._solve(points, None, pairs=pairs)
        return self
