"""Nearest neighbours where each query has a metric of its own: what classifiers of local metrics share."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from cvxml.core.inputs import check_count
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import majority
from cvxml.core.threads import one_blas_thread
from cvxml.estimators.scikit import BaseEstimator, ClassifierMixin
from cvxml.methods.glml.classify import batches, nearest


class LocalMetricClassifier(ClassifierMixin, BaseEstimator):
    """A vote of the nearest training points, each query by its own metric. `fit` sets classes_, _codes and _X."""

    n_jobs: int | None

    classes_: np.ndarray
    _codes: IntArray
    _X: FloatArray

    def _metrics(self, Q: FloatArray) -> FloatArray:
        """The metric at each of some checked queries (q, d): (q, d, d)."""
        raise NotImplementedError

    def _votes(self) -> int:
        """How many neighbours vote."""
        raise NotImplementedError

    def metric_at(self, X: ArrayLike) -> FloatArray:
        """The metric at each row of X (q, d): (q, d, d)."""
        return np.concatenate(self._each(self._queries(X), self._metrics))

    def kneighbors(self, X: ArrayLike, n_neighbors: int | None = None) -> tuple[FloatArray, IntArray]:
        """Distances and indices (q, k) of the nearest training points, each row by its own metric; k that vote."""
        queries = self._queries(X)
        k = self._votes() if n_neighbors is None else n_neighbors
        k = check_count(k, "n_neighbors", at_most=len(self._X))

        def found(Q: FloatArray) -> tuple[FloatArray, IntArray]:
            return nearest(self._X, Q, self._metrics(Q), k)

        squares, indices = zip(*self._each(queries, found), strict=True)
        return np.sqrt(np.maximum(np.concatenate(squares), 0.0)), np.concatenate(indices)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The majority of the nearest training points; a tie to the nearest tied class."""
        _, indices = self.kneighbors(X)
        chosen: np.ndarray = self.classes_[majority(self._codes[indices], len(self.classes_))]
        return chosen

    def _queries(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        queries: FloatArray = validate_data(self, X, dtype=np.float64, reset=False)
        return queries

    def _each(self, queries: FloatArray, work: Any) -> list[Any]:
        """`work` on batches of the queries, in order, on `n_jobs` processes."""
        parts = [queries[part] for part in batches(len(queries), *self._X.shape)]
        if self.n_jobs in (None, 1):
            with one_blas_thread():
                return [work(part) for part in parts]
        answers: list[Any] = Parallel(n_jobs=self.n_jobs)(delayed(_alone)(work, part) for part in parts)
        return answers


def _alone(work: Any, part: FloatArray) -> Any:
    with one_blas_thread():
        return work(part)
