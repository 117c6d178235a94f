"""Nearest neighbours with a separate metric for each query: the base class of classifiers with local metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cvxml.core.clock import watched
from cvxml.core.inputs import check_count
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.neighbors import majority
from cvxml.core.threads import one_blas_thread
from cvxml.estimators.fitting import validated
from cvxml.estimators.scikit import BaseEstimator, ClassifierMixin

BYTES = 200_000_000  # most bytes of the largest arrays of a batch
TINY = 5e-324  # the smallest positive float


class LocalMetricClassifier(ClassifierMixin, BaseEstimator):
    """A vote of the nearest training points, with a separate metric for each query.

    In `fit`, subclasses set the classes `classes_`, the training points _X (n, d), and their class codes _codes (n,),
    which are indices into `classes_`. n_jobs: the number of processes.
    """

    n_jobs: int | None

    _voters: ClassVar[str] = "n_neighbors"  # the parameter with the number of neighbours that vote
    classes_: np.ndarray
    _codes: IntArray
    _X: FloatArray

    def _metrics(self, Q: FloatArray) -> FloatArray:
        """Return the metrics (q, d, d) at the queries Q (q, d), which are validated floats. Subclasses define it."""
        raise NotImplementedError

    def metric_at(self, X: ArrayLike) -> FloatArray:
        """Return the metric (q, d, d) at each row of X (q, d)."""
        return np.concatenate(self._each(self._queries(X), self._metrics))

    def kneighbors(self, X: ArrayLike, n_neighbors: int | None = None) -> tuple[FloatArray, IntArray]:
        """Return distances and indices (q, k) of the nearest training points of each row of X (q, d).

        Each row is measured with its own metric.

        n_neighbors: k; default: the number of neighbours that vote.

        Raises ValueError for bad input, and if k is not an integer from 1 to the number of training points.
        """
        queries = self._queries(X)
        if n_neighbors is None:
            k = check_count(getattr(self, self._voters), self._voters, at_most=len(self._X))
        else:
            k = check_count(n_neighbors, "n_neighbors", at_most=len(self._X))

        def found(Q: FloatArray) -> tuple[FloatArray, IntArray]:
            return nearest(self._X, Q, self._metrics(Q), k)

        squares, indices = zip(*self._each(queries, found), strict=True)
        return np.sqrt(np.maximum(np.concatenate(squares), 0.0)), np.concatenate(indices)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the majority class (q,) of the nearest training points of each row of X (q, d).

        If classes are tied, the one with the nearest point wins.
        """
        _, indices = self.kneighbors(X)
        chosen: np.ndarray = self.classes_[majority(self._codes[indices], len(self.classes_))]
        return chosen

    def _queries(self, X: ArrayLike) -> FloatArray:
        check_is_fitted(self)
        queries: FloatArray = validated(self, X, reset=False)
        return queries

    def _each(self, queries: FloatArray, work: Any) -> list[Any]:
        """Return [work(batch), ...] for consecutive batches (rows) of the queries (q, d).

        `n_jobs` processes call the function `work`, each with one thread for linear algebra.
        """
        parts = [queries[part] for part in batches(len(queries), *self._X.shape)]
        if self.n_jobs in (None, 1):
            with one_blas_thread():
                return [work(part) for part in parts]
        answers: list[Any] = Parallel(n_jobs=self.n_jobs)(delayed(_alone)(work, part) for part in parts)
        return answers


def _alone(work: Any, part: FloatArray) -> Any:
    with one_blas_thread():
        return work(part)


def batches(q: int, n: int, d: int) -> Iterator[slice]:
    """Yield consecutive slices that cover 0..q - 1, for q queries, n training points and d features.

    The metrics and mapped points of the queries of a slice take at most `BYTES`, or the slice has one query.
    """
    size = max(1, BYTES // (8 * d * (n + 16 * d)))
    for start in watched(range(0, q, size)):
        yield slice(start, min(start + size, q))


def squared_distances(X: FloatArray, Q: FloatArray, A: FloatArray) -> FloatArray:
    """Return the squared distances (x_i - z_j)^T A_j (x_i - z_j) of points x_i and queries z_j: (q, n), at [j, i].

    X: (n, d), the points. Q: (q, d), the queries. A: (q, d, d), the metric of each query.

    The value is x^T A x - 2 x^T A z + z^T A z after centring X and Q. Its rounding error is relative to the largest of
    these terms, which may be much larger than the distance. So `nearest` computes the relevant distances again.
    """
    q, d = Q.shape
    centre = X.mean(axis=0)
    X, Q = X - centre, Q - centre
    XA = X @ A.transpose(1, 0, 2).reshape(d, q * d)  # one product: (n, q d)
    squares = np.einsum("nqd,nd->qn", XA.reshape(len(X), q, d), X)
    pulled = (A @ Q[:, :, None])[:, :, 0]
    total: FloatArray = squares - 2 * pulled @ X.T + np.sum(pulled * Q, axis=1)[:, None]
    return total


def nearest(X: FloatArray, Q: FloatArray, A: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return squared distances and indices (q, k) of the k nearest rows of X, nearest first, equal ones by index.

    X: (n, d), the points. Q: (q, d), the queries. A: (q, d, d), the metric of each query. k: at most n.

    The candidates of a query are the rows whose `squared_distances` exceed the k-th smallest by at most twice a bound
    of the rounding error. Their distances are computed again, from the differences x - q.
    """
    D = squared_distances(X, Q, A)
    kth = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    near = ~(D - kth > 2 * _rounding(X, Q, A)[:, None])
    width = int(near.sum(axis=1).max(initial=k))
    # the candidates of a query first, by index; then rows that are farther than its k nearest
    candidates = np.argsort(~near, axis=1, kind="stable")[:, :width]
    to = X[candidates] - Q[:, None, :]
    exact = np.einsum("qkd,qkd->qk", to @ A, to)
    order = np.argsort(exact, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(exact, order, axis=1), np.take_along_axis(candidates, order, axis=1)


def _rounding(X: FloatArray, Q: FloatArray, A: FloatArray) -> FloatArray:
    """Return a bound (q,) of the rounding errors of `squared_distances`, and of the distances computed again.

    It is 16 (d + 8) eps ||A|| (largest ||x|| + ||q||)^2 for centred points x and queries q, and the largest error of
    numbers that underflow.
    """
    d = X.shape[1]
    centre = X.mean(axis=0)
    reach = np.linalg.norm(X - centre, axis=1).max() + np.linalg.norm(Q - centre, axis=1)
    size = np.linalg.norm(A, axis=(1, 2)) * reach**2
    bound: FloatArray = 16 * (d + 8) * (EPS * size + d * TINY)
    return bound
