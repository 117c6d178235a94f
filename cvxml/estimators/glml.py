"""GLML, a local metric from generative models, as a scikit-learn classifier: nearest neighbours, a metric per query.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets

from cvxml.core.inputs import check_count, check_number
from cvxml.core.metric import FloatArray
from cvxml.core.tuples import refuse_tuples
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.local import LocalMetricClassifier
from cvxml.estimators.parameters import estimator, with_seed
from cvxml.methods.glml.instance import Generative, fitted_model
from cvxml.methods.glml.solver import Case, Local, closed_form, direction

LARGEST = 1e140  # the largest entry of X: sums of squares of many features do not overflow


@estimator
class GLML(LocalMetricClassifier):
    """Nearest neighbour classification by the generative local metric (Noh, Zhang, Lee 2010; 2018, Algorithm 1)."""

    n_neighbors: int = 1
    gamma: float = 0.0
    alpha: float = 0.0
    _: KW_ONLY
    priors: str | ArrayLike | None = None
    model: str | Generative = "gaussian"
    n_components: int = 2
    random_state: int = 0
    n_jobs: int | None = None

    _method: ClassVar[str] = "glml"
    _says: ClassVar = {
        "n_neighbors": "Number of neighbours that vote. The paper derives the metric for one neighbour. For two "
        "classes this metric is optimal for every number (2018, section 7, corrected). For three or more classes it is "
        "not optimal for more than 2",
        "gamma": "Not negative. The metric used is A + gamma I, with det A = 1",
        "random_state": "Seed for the fit of a mixture",
        "n_jobs": "Processes, through joblib; None: 1",
    }
    _attributes: ClassVar[str] = """
        model_ : Generative. The fitted densities of the classes.
        classes_, n_features_in_ : as in scikit-learn.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.GLML(n_neighbors=3).fit(X[::2], y[::2])
        print(round(model.score(X[1::2], y[1::2]), 2))  # -> 0.96
        print(model.metric_at(X[1::2]).shape)  # -> (75, 4, 4)
        """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the densities of the classes to X (n, d) and labels y (n,), and store them with X and y.

        A `model` that is an object is not fitted, but stored.

        Raises ValueError for bad input. With "gaussian" or "mixture" it also raises for a class with too few points,
        and for a singular covariance (the message names class and rank).
        """
        refuse_tuples(X, ())
        points, y = validated(self, X, y, ensure_min_samples=2)
        check_classification_targets(y)
        if np.abs(points).max() > LARGEST:
            raise ValueError(
                f"X has entries up to {np.abs(points).max():.3g}, whose squares overflow; rescale X to entries of at "
                f"most {LARGEST:g}"
            )
        self.classes_, self._codes = np.unique(y, return_inverse=True)
        check_count(self.n_neighbors, "n_neighbors", at_most=len(points))
        self._shift()
        self._X: FloatArray = points
        self.model_: Generative = fitted_model(
            points,
            self._codes,
            [str(c) for c in self.classes_],
            self.model,
            self.alpha,
            self.priors,
            self.n_components,
            with_seed({"random_state": self.random_state})["random_state"],
        )
        return self

    def cases_at(self, X: ArrayLike) -> list[Case]:
        """Return the Case (an Enum) of each row of X (q, d): DEFINITE, INDEFINITE, SINGULAR or ZERO.

        The metric at a query x has determinant 1 and minimizes (tr A^-1 B)^2 for a matrix B, computed from the
        densities at x. If B is definite, the minimizer is unique. If B is indefinite, other metrics have the value 0
        too. If B is 0, every metric does. If B is singular and semidefinite, no metric attains the infimum 0.
        """
        return [case for part in self._each(self._queries(X), self._cases) for case in part]

    def _cases(self, Q: FloatArray) -> list[Case]:
        return self._local(Q).cases

    def _local(self, Q: FloatArray) -> Local:
        return closed_form(*direction(self.model_, Q))

    def _shift(self) -> float:
        """Return the parameter gamma, the multiple of I that is added to a metric. Raises ValueError if it is negative.

        Each use checks gamma, because `set_params` may have changed it since the fit.
        """
        gamma = check_number(self.gamma, "gamma")
        if gamma < 0:
            raise ValueError(f"gamma must be a number that is 0 or more, got {self.gamma!r}")
        return gamma

    def _metrics(self, Q: FloatArray) -> FloatArray:
        A = self._local(Q).A
        A[:, np.arange(A.shape[1]), np.arange(A.shape[1])] += self._shift()
        return A
