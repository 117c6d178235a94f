"""Gerrymandering as a scikit-learn transformer and classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.neighbors import k_nearest, majority
from cvxml.estimators.base import MetricEstimator


class Gerrymandering(ClassifierMixin, MetricEstimator):  # type: ignore[misc]
    """A metric by neighbourhood gerrymandering (Trivedi et al. 2014), and the kNN vote it was learnt for.

    Parameters
    ----------
    n_neighbors : int, default 3. The size of a vote.
    C : float, default None: 1/n. Weight of the sum of losses beside ||W||^2.
    loss_matrix : (R, R), default None: 0/1. Cost of predicting r for class y, in the order of `classes_`.
    solver : "fast" (default), "clarabel" or "scs" (the literal steps, for tiny n), or "global" (a dozen points: the
        optimum, or its gap after ten minutes).
    init : "zero" (default), "identity", "relieff", "random", a metric (d, d), or a list of these: the best is kept.
    tol : float, default 1e-4. What the metric's own convex step may still gain, relative to ||W||^2.
    max_iter : int, default 1000. CCCP steps from each start.
    warm_start : bool, default False. Go on from the last fit, where the data have the same length.
    random_state : int, default 0. Of the random start.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric W.
    certificate_ : stationary, its `step` the proof; gap_ : F - 0; step_gap_ : of the step.
    solution_ : everything.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    _method = "ssvm"

    def __init__(
        self,
        n_neighbors: int = 3,
        C: float | None = None,
        *,
        loss_matrix: Any = None,
        solver: str = "fast",
        init: Any = "zero",
        tol: float = 1e-4,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: int = 0,
    ):
        self.n_neighbors = n_neighbors
        self.C = C
        self.loss_matrix = loss_matrix
        self.solver = solver
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state

    def _method_params(self) -> dict[str, Any]:
        return {
            "n_neighbors": self.n_neighbors,
            "C": self.C,
            "loss_matrix": self.loss_matrix,
            "init": self.init,
            "random_state": self.random_state,
        }

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from X (n, d) and y (n,), and keep both for the vote; as `MetricEstimator.fit`."""
        super().fit(X, y)
        self._codes: IntArray = self.solution_.y
        self.step_gap_ = self.solution_.step_gap
        return self

    def _keep(self, X: FloatArray) -> None:
        super()._keep(X)
        self._mapped: FloatArray = X @ self.components_.T

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The majority of the k nearest training points of each row of X (q, d); a tie to the nearest tied class."""
        check_is_fitted(self)
        queries = self.transform(X)
        together = np.concatenate([self._mapped, queries])
        trained = np.arange(len(self._mapped))
        asked = np.arange(len(queries)) + len(trained)
        nearest = k_nearest(together, asked, trained, self.solution_.params["n_neighbors"])[0]
        chosen: np.ndarray = self.classes_[majority(self._codes[nearest], len(self.classes_))]
        return chosen
