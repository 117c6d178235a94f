"""PLML, parametric local metric learning, as a scikit-learn classifier by nearest neighbours.

The metric of a point is a weighted sum of basis metrics; a query has the weights of its nearest training point. The
fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from cvxml import api
from cvxml.core.inputs import check_count
from cvxml.core.interrupt import nothing_kept
from cvxml.core.metric import FloatArray, blocks_of
from cvxml.core.neighbors import squared_euclidean
from cvxml.core.result import Certificate, Solution
from cvxml.core.tolerance import Tolerance
from cvxml.core.tuples import refuse_tuples
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.local import LocalMetricClassifier
from cvxml.estimators.parameters import estimator, with_seed
from cvxml.methods import get
from cvxml.methods.plml.weights import certify


@estimator
class PLML(LocalMetricClassifier):
    """Nearest neighbour classification by the local metrics of PLML (Wang, Woznica, Kalousis 2012).

    The metric of a point is a weighted sum of m basis metrics.
    """

    n_anchors: int = 5
    n_neighbors: int = 3
    _: KW_ONLY
    n_votes: int = 1
    alpha1: float = 1.0
    alpha2: float = 1.0
    lam1: float = 1.0
    lam2: float = 100.0
    anchors: ArrayLike | None = None
    graph_neighbors: int = 6
    random_state: int = 0
    n_jobs: int | None = None
    solver: str = "fast"
    tol: Tolerance = 1e-6
    max_iter: int = 1000

    _method: ClassVar[str] = "plml"
    _voters: ClassVar[str] = "n_votes"
    _says: ClassVar = {
        "n_votes": "Nearest training points that vote on a query",
        "n_jobs": "Processes, through joblib; None: 1",
        "tol": "Largest allowed gap of the certificate, relative to alpha1 times the squared norm of the metrics",
    }
    _attributes: ClassVar[str] = """
        metrics_ : FloatArray (m, d, d). The basis metrics.
        anchors_ : FloatArray (m, d).
        weights_ : FloatArray (n, m). Weights of the training points.
        certificate_ : Certificate. The proof of the metrics, for these weights.
        gap_ : float. The absolute gap of the certificate.
        weights_certificate_ : Certificate. The proof of the weights. Weights and metrics are each optimal for
            their own problem; the two together have no proof.
        solution_ : Solution. It has all results and notes.
        n_iter_, n_features_in_, classes_ : as in scikit-learn.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.PLML().fit(X[::2], y[::2])
        print(model.solution_.status.value)  # -> converged
        print(model.metrics_.shape)  # -> (5, 4, 4)
        print(round(model.score(X[1::2], y[1::2]), 2))  # -> 0.97
        """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn weights and basis metrics from X (n, d) and labels y (n,).

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met.
        """
        refuse_tuples(X, ())
        points, y = validated(self, X, y, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        check_count(self.n_votes, "n_votes", at_most=len(points))
        params = with_seed(self.get_params(deep=False))
        own = {k: v for k, v in params.items() if k in get(self._method).PARAMETERS}
        options: dict[str, Any] = {"solver": self.solver, "tol": self.tol, "max_iter": self.max_iter}
        self._fitted_to = self.tol  # the tolerance at which `certify_estimator` judges the metrics
        with nothing_kept():
            self.solution_: Solution = api.solve(self._method, points, self._codes, **options, **own)
        self._keep(points)
        self.certificate_: Certificate = self.solution_.certificate
        self.gap_ = self.solution_.gap
        self.n_iter_ = max(1, self.solution_.n_iter)
        return self

    def _keep(self, X: FloatArray) -> None:
        """Store the training points X (n, d), and their anchors, weights and basis metrics from the solution."""
        given = get(self._method).instance(X, self.solution_.y, **self.solution_.params)
        self._X: FloatArray = X
        self.anchors_: FloatArray = given.smooth.U
        self.weights_: FloatArray = given.W
        self.metrics_ = blocks_of(self.solution_.metric, given.m)
        self.weights_certificate_: Certificate = certify(given.smooth, given.W)

    def weights_at(self, X: ArrayLike) -> FloatArray:
        """Return the weights (q, m) of the basis metrics at each row of X (q, d).

        A row has the weights of its nearest training point, in Euclidean distance.
        """
        return self._weights(self._queries(X))

    def _weights(self, Q: FloatArray) -> FloatArray:
        own: FloatArray = self.weights_[squared_euclidean(Q, self._X).argmin(axis=1)]
        return own

    def _metrics(self, Q: FloatArray) -> FloatArray:
        mixed: FloatArray = np.einsum("qb,bij->qij", self._weights(Q), self.metrics_)
        return mixed
