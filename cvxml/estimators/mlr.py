"""MLR, metric learning to rank, as a scikit-learn transformer: x -> L x for the learnt metric L^T L.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from typing import ClassVar, Self

from numpy.typing import ArrayLike

from cvxml.estimators.base import Learner
from cvxml.estimators.parameters import estimator


@estimator
class MLR(Learner):
    """The metric that ranks relevant points first (McFee, Lanckriet 2010), solved to a certified gap."""

    measure: str = "auc"
    k: int = 3
    C: float = 1.0

    _method: ClassVar[str] = "mlr"
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.NAME().fit(X[::3], y[::3])
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 4)
        """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, relevant: ArrayLike | None = None) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from lists of relevant points; then y is ignored.

        relevant: n lists of indices into X, the points that should be nearest to each point.

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met, and (UserWarning) if the
        metric is 0.
        """
        return self._fit_to(X, y, relevant=relevant)
