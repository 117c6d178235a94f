"""MLKR, metric learning for kernel regression, as a scikit-learn transformer: x -> A x for the learnt A (m, d).

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar, Self

from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray
from cvxml.core.parameter import Starts
from cvxml.estimators.base import Learner
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.parameters import estimator


@estimator
class MLKR(Learner):
    """A transform x -> A x for kernel regression by MLKR (Weinberger, Tesauro 2007), proved to be stationary."""

    n_components: int | None = None
    _: KW_ONLY
    init: Starts = "auto"
    random_state: int = 0

    _method: ClassVar[str] = "mlkr"
    _says: ClassVar = {
        "tol": "Largest allowed `gradient` and `dc_residual` of `certificate_.stationarity`, relative to the scale",
        "max_iter": "Iterations from each start",
    }
    _attributes: ClassVar[str] = """
        components_ : FloatArray (m, d). A; its rows lie along the principal axes of the metric, the longest first.
        certificate_ : Certificate. The proof, with `stationarity`.
        gap_ : float. Objective minus its trivial bound 0.
        solution_ : Solution. It has all results and notes; its status shows if the infimum is at infinity.
        n_iter_, n_features_in_ : as in scikit-learn.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, _ = cvxml.datasets.load("iris")
        model = cvxml.NAME(n_components=1).fit(X[:, :3], X[:, 3])  # the last feature is the target
        print(model.solution_.status.value)  # -> stationary
        print(model.transform(X[:, :3]).shape)  # -> (150, 1)
        """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn A from X (n, d) and real targets y (n,).

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met, for example if the infimum
        is at infinity. Warns (UserWarning) if the metric is 0.
        """
        self._refuse_tuples(X)
        points, targets = validated(self, X, y, ensure_min_samples=2, y_numeric=True)
        self._solve(points, targets)
        return self

    def _keep(self, X: FloatArray) -> None:
        self.components_ = self.solution_.components
