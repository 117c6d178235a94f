"""Neighbourhood gerrymandering as a scikit-learn transformer and classifier.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cvxml.core.metric import FloatArray
from cvxml.core.neighbors import k_nearest, majority
from cvxml.core.parameter import Starts
from cvxml.core.tolerance import Tolerance
from cvxml.estimators.base import Learner
from cvxml.estimators.fitting import all_or_nothing
from cvxml.estimators.parameters import estimator
from cvxml.estimators.scikit import ClassifierMixin


@estimator
class Gerrymandering(ClassifierMixin, Learner):
    """A metric by neighbourhood gerrymandering (Trivedi et al. 2014), and the kNN vote it was learnt for."""

    n_neighbors: int = 3
    C: float | None = None
    _: KW_ONLY
    loss_matrix: ArrayLike | None = None
    init: Starts = "zero"
    tol: Tolerance = 1e-4
    random_state: int = 0

    _method: ClassVar[str] = "ssvm"
    _says: ClassVar = {
        "solver": '{}; "clarabel" and "scs" solve each convex step through cvxpy, for very few points. "global" '
        "searches for the global optimum by branch and bound, for about a dozen points. It stops after ten minutes, "
        "and the certificate gives the gap that is left",
        "tol": "Largest allowed gain of the convex step at the metric, relative to ||W||^2",
        "max_iter": "CCCP steps from each start",
    }
    _attributes: ClassVar[str] = """
        components_ : FloatArray (d, d). Symmetric square root of the metric W.
        certificate_ : Certificate. It is of kind "stationary"; its `step` is the proof.
        gap_ : float. F minus its trivial bound 0.
        step_gap_ : float. Gap of the convex step at the metric.
        solution_ : Solution. It has all results and notes.
        n_iter_, n_features_in_, classes_ : as in scikit-learn.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.NAME().fit(X[::2], y[::2])
        print(model.solution_.status.value)  # -> stationary
        print(round(model.score(X[1::2], y[1::2]), 2))  # -> 0.97
        """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), and store X and y for the vote.

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met, and (UserWarning) if the
        metric is 0.
        """
        super().fit(X, y)
        self._codes = np.asarray(self.solution_.y, dtype=np.intp)
        self.step_gap_ = self.solution_.step_gap
        return self

    def _keep(self, X: FloatArray) -> None:
        super()._keep(X)
        self._mapped: FloatArray = X @ self.components_.T

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the majority class (q,) of the nearest training points of each row of X (q, d).

        Distances are in the learnt metric. The number of points is the `n_neighbors` of the fit. If classes are tied,
        the one with the nearest point wins.
        """
        check_is_fitted(self)
        queries = self.transform(X)
        together = np.concatenate([self._mapped, queries])
        trained = np.arange(len(self._mapped))
        asked = np.arange(len(queries)) + len(trained)
        nearest = k_nearest(together, asked, trained, self.solution_.params["n_neighbors"])[0]
        chosen: np.ndarray = self.classes_[majority(self._codes[nearest], len(self.classes_))]
        return chosen
