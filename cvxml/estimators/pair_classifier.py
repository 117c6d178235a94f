"""Tell similar pairs of points from dissimilar ones, by a threshold on the learnt distance.

A pair is called similar if its distance is at most the threshold. The threshold is chosen for given pairs: each of
their distances is tried as a threshold, and the distance with the best criterion is chosen. The threshold is then moved
halfway to the next larger distance, if there is one.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from cvxml.core.inputs import check_choice
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.short_repr import cut
from cvxml.core.tuples import from_tuples
from cvxml.estimators.fitting import all_or_nothing
from cvxml.estimators.scikit import BaseEstimator, ClassifierMixin

CRITERIA = ("accuracy", "balanced_accuracy", "f1")


class PairClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of pairs (p, 2, d) into similar, 1, and dissimilar, -1, by a learnt distance and a threshold.

    Parameters
    ----------
    estimator : an estimator with `fit(X, pairs=...)`: ITML, MMC, SDML, GMML, LDML or DMLEig.
    criterion : the score that the threshold maximizes on the training pairs: "accuracy" (default),
        "balanced_accuracy" or "f1". The similar pairs are the positive class.

    Attributes
    ----------
    estimator_ : the fitted estimator, with its certificate in `estimator_.certificate_`.
    threshold_ : float. Pairs with a distance of at most this number are called similar.
    classes_ : -1 and 1.
    n_features_in_ : int, d.

    The names are those of scikit-learn, so `cross_val_score` and `GridSearchCV` take pairs (p, 2, d) as X. `score` is
    the accuracy; for the area under the ROC curve use scoring="roc_auc".

    Examples
    --------
    import cvxml
    X, y = cvxml.datasets.load("iris")
    near, far = [[i, i + 1] for i in range(50, 90)], [[i, i + 50] for i in range(50, 90)]
    pairs, similar = X[near + far], [1] * 40 + [-1] * 40
    model = cvxml.PairClassifier(cvxml.ITML()).fit(pairs, similar)
    print(model.predict(pairs[:2]), model.score(pairs, similar) > 0.8)  # -> [1 1] True
    """

    def __init__(self, estimator: BaseEstimator, criterion: str = "accuracy"):
        self.estimator = estimator
        self.criterion = criterion

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags

    @all_or_nothing
    def fit(self, pairs: ArrayLike, y: ArrayLike) -> Self:
        """Learn the distance from pairs (p, 2, d) and y (p,), 1 or -1; then choose the threshold for these pairs.

        y: (p,), 1 for similar pairs and -1 for dissimilar pairs.

        A pair that is given twice counts once for the distance, as the papers have sets of pairs. It counts twice for
        the threshold.

        Raises ValueError for bad input, and for a pair that is similar and dissimilar. Warns (ConvergenceWarning) if
        the metric is not certified to `tol`.
        """
        check_choice(self.criterion, "criterion", CRITERIA)
        _check_estimator(self.estimator)
        X, given = from_tuples(pairs, y)
        _refuse_one_kind(y)
        once = {kind: _once(rows) for kind, rows in given["pairs"].items()}
        self.estimator_ = clone(self.estimator).fit(X, pairs=once)
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.array([-1, 1])
        return self.calibrate(pairs, y)

    def calibrate(self, pairs: ArrayLike, y: ArrayLike) -> Self:
        """Choose the threshold again, for other pairs (p, 2, d) and y (p,). The learnt distance does not change.

        y: (p,), 1 for similar pairs and -1 for dissimilar pairs.

        Use pairs that were not given to `fit`: the learnt distance is fitted to the pairs of `fit`, so a threshold for
        them suits new pairs less. Raises ValueError for bad input, and if all pairs are of one kind.
        """
        check_is_fitted(self)
        check_choice(self.criterion, "criterion", CRITERIA)
        from_tuples(pairs, y)  # checks both
        similar = _refuse_one_kind(y)
        self.threshold_ = best_threshold(self.estimator_.pair_distance(pairs), similar, self.criterion)
        return self

    def decision_function(self, pairs: ArrayLike) -> FloatArray:
        """Return the threshold minus the distance (p,) of each pair in `pairs` (p, 2, d).

        A pair is called similar if the result is at least 0.
        """
        check_is_fitted(self)
        decision: FloatArray = self.threshold_ - self.estimator_.pair_distance(pairs)
        return decision

    def predict(self, pairs: ArrayLike) -> IntArray:
        """Return 1 for each pair in `pairs` (p, 2, d) that is called similar, and -1 for the others."""
        return np.where(self.decision_function(pairs) >= 0, 1, -1)


def _check_estimator(estimator: Any) -> None:
    """Raise ValueError unless `estimator` is an estimator that learns from pairs of indices."""
    fits = hasattr(estimator, "fit") and not isinstance(estimator, type)
    if not (fits and "pairs" in signature(estimator.fit).parameters):
        raise ValueError(
            f"estimator must learn from pairs, for example cvxml.ITML() or cvxml.MMC(), got {cut(repr(estimator))}"
        )


def _refuse_one_kind(y: ArrayLike) -> np.ndarray:
    """Return a mask (p,), True where y (p,) is 1 (similar pairs). Raises ValueError if all pairs are of one kind."""
    similar: np.ndarray = np.asarray(y).ravel() == 1
    if similar.all() or not similar.any():
        raise ValueError("y has pairs of one kind only; a threshold needs similar and dissimilar pairs")
    return similar


def _once(rows: IntArray) -> IntArray:
    """Return the distinct pairs of `rows` (p, 2), sorted; (i, j) and (j, i) are the same pair."""
    unique: IntArray = np.unique(np.sort(rows, axis=1), axis=0)
    return unique


def best_threshold(distances: FloatArray, similar: np.ndarray, criterion: str) -> float:
    """Return the threshold on the distance with the best criterion.

    It is halfway between one of the distances and the next larger one, or the largest distance itself. Of several
    distances with the best criterion, the smallest is taken. A threshold below all distances is taken only if it is
    better than all of these.

    distances: (p,). similar: (p,), True for similar pairs; both kinds occur.
    criterion: "accuracy", "balanced_accuracy" or "f1".
    """
    known = np.unique(distances)
    below = known[0] / 2 if known[0] > 0 else -1.0  # with this threshold, no pair is called similar
    tried = np.append(known, below)  # the last, so that it is taken only if it is better
    # the numbers of similar and of dissimilar pairs within each threshold
    hits = np.searchsorted(np.sort(distances[similar]), tried, side="right")
    false = np.searchsorted(np.sort(distances[~similar]), tried, side="right")
    p, q = int(similar.sum()), int((~similar).sum())
    if criterion == "f1":
        values = 2 * hits / (hits + false + p)
    elif criterion == "accuracy":
        values = (hits + q - false) / (p + q)
    else:
        values = (hits / p + (q - false) / q) / 2
    best = int(np.argmax(values))
    # halfway to the next distance, so that rounding of a distance does not change its side
    following = tried[best + 1] if best + 1 < len(known) else tried[best]
    return float((tried[best] + following) / 2)
