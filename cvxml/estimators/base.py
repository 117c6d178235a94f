"""Base classes of the scikit-learn estimators: fit by a method, transform, distances."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cvxml import api
from cvxml.core.inputs import check_bool
from cvxml.core.interrupt import nothing_kept
from cvxml.core.metric import FloatArray, components_of, real_array
from cvxml.core.parameter import Pairs
from cvxml.core.result import Certificate, Solution
from cvxml.core.tolerance import Tolerance
from cvxml.core.tuples import refuse_tuples
from cvxml.estimators.distance import Features, LearntDistance
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.parameters import with_seed
from cvxml.estimators.scikit import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from cvxml.methods import get

OF_THE_INPUT = ("n_features_in_", "feature_names_in_")  # scikit-learn sets these while it checks X


def forget_fit(estimator: Any) -> None:
    """Delete the attributes of an earlier fit, so that only attributes of the new fit exist.

    The attributes that scikit-learn has just set from the new X stay.
    """
    for name in list(vars(estimator)):
        if name.endswith("_") and not name.startswith("_") and name not in OF_THE_INPUT:
            delattr(estimator, name)


class MetricEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer x -> L x for a metric M = L^T L, which `fit` learns.

    The metric acts on r coordinates of a point: its d features, or for a kernel method the coordinates in a feature
    space.
    """

    components_: FloatArray

    def _solve(self, points: FloatArray, y: Any) -> None:
        """Learn from checked points (n, d) and labels y: set `components_`, the matrix L (m, r)."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from X (n, d) and labels y (n,).

        Raises ValueError for bad input, and KeyboardInterrupt after Ctrl-C. An estimator with a solver warns
        (ConvergenceWarning) whenever tol is not met, and (UserWarning) if the metric is 0.
        """
        self._refuse_tuples(X)
        points, y = validated(self, X, y, ensure_min_samples=2)
        check_classification_targets(y)
        self._solve(points, y)
        self.classes_ = np.unique(y)
        return self

    def _refuse_tuples(self, X: Any) -> None:
        """Raise ValueError if X has three dimensions; the message shows the input of this estimator."""
        refuse_tuples(X, ())

    def _feature_map(self) -> Features | None:
        """Return the map from points (n, d) to the coordinates (n, r) of the metric; None if these are the features."""
        return None

    def _features(self, X: FloatArray) -> FloatArray:
        """Return the r coordinates (n, r) of points X (n, d) that the metric acts on."""
        mapped = self._feature_map()
        return X if mapped is None else mapped(X)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the map of X (n, d), an array (n, m) with a row L x for each row x of X.

        L is `components_`; for a kernel method it acts on the kernel features of x. Euclidean distances between the
        rows are the learnt distances.
        """
        check_is_fitted(self)
        points = validated(self, X, reset=False)
        result: FloatArray = self._features(points) @ self.components_.T
        return result

    def get_mahalanobis_matrix(self) -> FloatArray:
        """Return the metric M = L^T L (d, d); for a kernel method (r, r), in the kernel features."""
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def pair_distance(self, pairs: ArrayLike) -> FloatArray:
        """Return the learnt distance (p,), not squared, of each pair in `pairs` (p, 2, d)."""
        check_is_fitted(self)
        points = real_array(pairs, "pairs")
        if points.ndim != 3 or points.shape[1:] != (2, self.n_features_in_):
            raise ValueError(f"pairs must have shape (p, 2, {self.n_features_in_}), got {points.shape}")
        if not np.isfinite(points).all():
            raise ValueError("pairs holds NaN or infinity; every entry must be finite")
        difference = self._features(points[:, 0]) - self._features(points[:, 1])
        distances: FloatArray = np.linalg.norm(difference @ self.components_.T, axis=1)
        return distances

    def pair_score(self, pairs: ArrayLike) -> FloatArray:
        """Return a score (p,) of each pair in `pairs` (p, 2, d), larger for more similar points: minus the distance."""
        return -self.pair_distance(pairs)

    def get_metric(self) -> LearntDistance:
        """Return the learnt distance as a function of two points (d,), for the parameter `metric` of scikit-learn.

        `get_metric()(u, v, squared=True)` is the squared distance. The function can be pickled. It stays the same if
        the estimator is fitted again.
        """
        check_is_fitted(self)
        return LearntDistance(self.components_, self.n_features_in_, self._feature_map())


@dataclass(kw_only=True, eq=False, repr=False)
class Learner(MetricEstimator):
    """A transformer that learns its metric with `cvxml.solve`; `_method` is the id of the method.

    Parameters of the estimator with the name of a parameter of the method are passed to the method. The parameters
    solver, tol and max_iter are those of `cvxml.solve`. warm_start: True to start from the solution of the earlier fit,
    if it fits.

    Three class attributes are texts for the docstring of the class: `_says` describes parameters, `_attributes` is the
    section on attributes, and `_example` is the example.
    """

    solver: str = "fast"
    tol: Tolerance = 1e-6
    max_iter: int = 1000
    warm_start: bool = False

    _method: ClassVar[str]
    _says: ClassVar[
        dict[str, str]
    ] = {}  # descriptions of parameters that the method does not have, or does not describe enough
    _attributes: ClassVar[str] = """
        components_ : FloatArray (d, d). Symmetric square root of the metric.
        certificate_ : Certificate. The proof for the metric.
        gap_ : float. The absolute gap of the certificate.
        solution_ : Solution. It has all results and notes.
        n_iter_, n_features_in_ : as in scikit-learn.
        classes_ : the sorted labels, only after a fit to labels.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.NAME().fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 4)
        """  # NAME: the name of the class

    def _solve(self, points: FloatArray, y: Any, **extra: Any) -> None:
        """Solve for checked points (n, d), and set the fitted attributes. extra: more parameters of the method."""
        method = get(self._method)
        own = {*method.PARAMETERS, *method.SOLVE_PARAMETERS}
        given = with_seed(self.get_params(deep=False))
        params = {name: value for name, value in given.items() if name in own}
        options: dict[str, Any] = {"solver": self.solver, "tol": self.tol, "max_iter": self.max_iter}
        solve = partial(api.solve, self._method, points, y, **options, **params, **extra)
        earlier = getattr(self, "solution_", None) if check_bool(self.warm_start, "warm_start") else None
        solution = None
        if self._may_start_from(earlier, len(points)):
            # The earlier solution may be for other pairs or triplets, and not fit. Any other error is raised again
            # below.
            with suppress(ValueError), nothing_kept():
                solution = solve(warm_start=earlier)
        if solution is None:
            with nothing_kept():
                solution = solve()
        forget_fit(self)
        self._fitted_to = self.tol  # the tolerance at which `certify_estimator` judges the metric
        self.solution_: Solution = solution
        self.certificate_: Certificate = self.solution_.certificate
        self.gap_ = self.solution_.gap
        self.n_iter_ = max(1, self.solution_.n_iter)
        self._keep(points)
        self._n_features_out = len(self.components_)
        if not self.components_.any():
            self._warn_of_zero()

    def _warn_of_zero(self) -> None:
        warnings.warn(
            f"{type(self).__name__}: the learnt metric is 0. All points are mapped to 0, all distances are 0, and "
            "nearest neighbours say nothing. Next: other parameters, or another method (docs/which_method.md)",
            UserWarning,
            stacklevel=5,
        )

    @all_or_nothing
    def _fit_to(self, X: ArrayLike, y: ArrayLike | None, **given: Any) -> Self:
        """Learn from X (n, d) and the `given` lists of indices into X, or from labels y if all lists are None.

        given: the lists by parameter name, for example pairs=...; with a list, y is ignored.
        """
        if all(value is None for value in given.values()):
            return MetricEstimator.fit(self, X, y)  # type: ignore[arg-type]
        self._refuse_tuples(X)
        points = validated(self, X, ensure_min_samples=2)
        self._solve(points, None, **given)
        return self

    def _refuse_tuples(self, X: Any) -> None:
        refuse_tuples(X, get(self._method).PARAMETERS)

    def _may_start_from(self, start: Solution | None, n: int) -> bool:
        """Return True if `start` can be a warm start: a solution of the same method with n points."""
        return start is not None and start.method == self._method and len(start.y) == n

    def _keep(self, X: FloatArray) -> None:
        """Set `components_` (d, d) from the metric of the solution; a subclass may set a matrix of another shape.

        X (n, d): the checked points, which subclasses with a kernel need.
        """
        self.components_ = components_of(self.solution_.metric)


class PairsEstimator(Learner):
    """A transformer with a method that learns from pairs of points: given, or all pairs, made from the labels."""

    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        near, far = [[i, i + 1] for i in range(50, 90)], [[i, i + 50] for i in range(50, 90)]
        model = cvxml.NAME().fit(X, pairs={"similar": near, "dissimilar": far})  # or fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 4)
        """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, pairs: Pairs | None = None) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from `pairs`; then y is ignored.

        pairs: {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}, indices into X.

        Raises ValueError for bad input, and if the problem has no optimum. Warns (ConvergenceWarning) whenever tol is
        not met, and (UserWarning) if the metric is 0.
        """
        return self._fit_to(X, y, pairs=pairs)


class TripletsEstimator(Learner):
    """A transformer with a method that learns from triplets of points: given, or made from labels."""

    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        triplets = [[i, i + 1, i + 50] for i in range(50, 90)]  # point i is nearer to i + 1 than to i + 50
        model = cvxml.NAME().fit(X, triplets=triplets)  # or fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 4)
        """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, triplets: ArrayLike | None = None) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from `triplets`; then y is ignored.

        triplets: (t, 3), indices i, j, l into X, where j should be nearer to i than l.

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met, and (UserWarning) if the
        metric is 0.
        """
        return self._fit_to(X, y, triplets=triplets)
