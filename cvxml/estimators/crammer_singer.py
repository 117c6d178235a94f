"""The multiclass SVM of Crammer and Singer as a scikit-learn classifier: a baseline without a metric."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from cvxml.core.metric import FloatArray
from cvxml.core.result import Certificate
from cvxml.core.tolerance import Tolerance
from cvxml.core.tuples import refuse_tuples
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.parameters import refuse_a_preprocessor
from cvxml.estimators.scikit import BaseEstimator, ClassifierMixin
from cvxml.methods.crammer_singer import instance, solve


@refuse_a_preprocessor
class CrammerSingerSVM(ClassifierMixin, BaseEstimator):
    """The linear SVM of Crammer and Singer (2001), solved to a certified gap.

    It minimizes 1/2 ||W||^2 + C sum_i max_m ([m != y_i] + w_m x_i - w_{y_i} x_i). The row w_m of W belongs to class m.

    Parameters
    ----------
    C : float, default 1.0. Weight of the losses, the terms of the sum.
    fit_intercept : bool, default True. Whether each class has an intercept, which is regularized like the other
        weights. Give False for the problem of the paper, which has no intercept.
    tol : float, "strict", "normal" or "loose", default 1e-06. Largest allowed gap of the certificate, relative to
        1/2 ||W||^2.
    max_iter : int, default 100. Iterations of the interior point method.

    Attributes
    ----------
    coef_ : FloatArray (R, d). Weights of each of the R classes, also for R = 2. W = [coef_, intercept_].
    intercept_ : FloatArray (R,). Without intercept W = coef_, and intercept_ is 0.
    certificate_ : Certificate. The proof. The optimal W has a Frobenius distance of at most
        `certificate_.radius` from W.
    gap_ : float. Absolute gap of the certificate.
    n_iter_, n_features_in_, classes_ : as in scikit-learn.

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    model = cvxml.CrammerSingerSVM().fit(X, y)
    print(model.coef_.shape, model.certificate_.proves("normal"))  # -> (3, 4) True
    print(round(model.score(X, y), 2))  # -> 0.98
    """

    def __init__(
        self, C: float = 1.0, *, fit_intercept: bool = True, tol: Tolerance = 1e-6, max_iter: int = 100
    ):
        self.C, self.fit_intercept, self.tol, self.max_iter = C, fit_intercept, tol, max_iter

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn W from X (n, d) and labels y (n,).

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met.
        """
        refuse_tuples(X, ())
        points, y = validated(self, X, y)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        found = solve(instance(points, codes, self.C, self.fit_intercept), self.tol, self.max_iter)
        d = points.shape[1]
        self.coef_: FloatArray = found.W[:, :d]
        self.intercept_: FloatArray = found.W[:, d] if self.fit_intercept else np.zeros(len(self.classes_))
        self.certificate_: Certificate = found.certificate
        self.gap_ = found.certificate.gap
        self.n_iter_ = found.n_iter
        return self

    def decision_function(self, X: ArrayLike) -> FloatArray:
        """Return the scores (n, R) of the R classes for X (n, d); for R = 2 (n,), the second score minus the first."""
        check_is_fitted(self)
        points = validated(self, X, reset=False)
        scores: FloatArray = points @ self.coef_.T + self.intercept_
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the class with the largest score for each row of X (n, d); the first one if scores are equal."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        chosen: np.ndarray = self.classes_[best]
        return chosen
