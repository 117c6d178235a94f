"""LSML, metric learning from relative comparisons, as a scikit-learn transformer: x -> L x for the learnt metric L^T L.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar, Self

from numpy.typing import ArrayLike

from cvxml.estimators.base import Learner
from cvxml.estimators.parameters import estimator


@estimator
class LSML(Learner):
    """The metric of relative comparisons by squared residual (Liu et al. 2012), solved to a certified gap."""

    prior: str | ArrayLike = "identity"
    _: KW_ONLY
    losses: str = "mean"
    n_quadruplets: int | None = None
    random_state: int = 0

    _method: ClassVar[str] = "lsml"
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        quadruplets = [[i, i + 1, i, i + 50] for i in range(50, 90)]  # points i and i + 1 are nearer than i and i + 50
        model = cvxml.NAME().fit(X, quadruplets=quadruplets)  # or fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 4)
        """

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        quadruplets: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric from X (n, d) and labels y (n,), or from `quadruplets`; then y is ignored.

        quadruplets: (q, 4), indices a, b, c, d into X, where a and b should be nearer to each other than c and d.
        weights: (q,), one for each quadruplet.

        Raises ValueError for bad input. Warns (ConvergenceWarning) whenever tol is not met, and (UserWarning) if the
        metric is 0.
        """
        if quadruplets is None and weights is not None:
            raise ValueError("weights belong to quadruplets: give quadruplets too")
        return self._fit_to(X, y, quadruplets=quadruplets, weights=weights)
