"""RCA, relevant component analysis, as a scikit-learn transformer: x -> L x for the learnt metric L^T L.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from typing import ClassVar, Self

from numpy.typing import ArrayLike

from cvxml.estimators.base import Learner
from cvxml.estimators.parameters import estimator


@estimator
class RCA(Learner):
    """The metric of relevant component analysis (Bar-Hillel et al. 2005), in closed form, with its proof."""

    alpha: float = 0.0

    _method: ClassVar[str] = "rca"
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        chunklets = [i // 5 if i % 50 < 20 else -1 for i in range(150)]  # five points each; -1: in no chunklet
        model = cvxml.NAME().fit(X, chunklets=chunklets)  # or fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 4)
        """

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, chunklets: ArrayLike | None = None) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from `chunklets`; then y is ignored.

        chunklets: (n,), the number of the chunklet of each point, or -1 for a point without one.

        Raises ValueError for bad input, and if the covariance within chunklets is singular and alpha is 0. Warns
        (ConvergenceWarning) whenever tol is not met.
        """
        return self._fit_to(X, y, chunklets=chunklets)
