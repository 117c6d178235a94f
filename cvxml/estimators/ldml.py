"""LDML, logistic discriminant metric learning, as a scikit-learn transformer: x -> L x for the learnt metric L^T L.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from typing import ClassVar, Self

from numpy.typing import ArrayLike

from cvxml.core.parameter import Pairs
from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class LDML(PairsEstimator):
    """The metric of logistic discriminant metric learning (Guillaumin et al. 2009), solved to a certified gap."""

    b: float | str = "free"
    losses: str = "sum"
    self_pairs: float = 0.0

    _method: ClassVar[str] = "ldml"

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: Pairs | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from `pairs`; then y is ignored.

        pairs: {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}, indices into X.
        weights: (p,), one for each of these pairs, similar pairs first.

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met, and if no metric attains
        the infimum, and (UserWarning) if the metric is 0.
        """
        if pairs is None and weights is not None:
            raise ValueError("weights belong to pairs: give pairs too")
        return self._fit_to(X, y, pairs=pairs, weights=weights)
