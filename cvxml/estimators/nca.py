"""NCA as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from cvxml.core.metric import FloatArray
from cvxml.estimators.base import MetricEstimator


class NCA(MetricEstimator):
    """A transform x -> A x by NCA (Goldberger et al. 2004), certified as far as the truth allows.

    Parameters
    ----------
    n_components : int, default None: the number of features. Rows of A.
    criterion : "f" (default), the expected number of points classified correctly, or "g", their log-likelihood.
    solver : "fast" (default), or "clarabel" / "scs" (CCCP, each step literally; small n, n_components None).
    init : "auto" (default), "pca", "lda", "identity", "random", as in scikit-learn but for a factor; "likelihood";
        components (m, d); or a list of these: the best is kept.
    tol : float, default 1e-5. What the metric's own convex step may still gain, relative to the scale; where
        n_components limits the rank, the gradient times the norm.
    max_iter : int, default 1000. Iterations from each start.
    warm_start : bool, default False. Go on from the last fit, where the data have the same length.
    random_state : int, default 0. Of the random start.

    Attributes
    ----------
    components_ : (m, d), A: its rows along the principal axes of the metric, the longest first.
    certificate_ : with `stationarity`, and `step` where the rank is not limited. gap_ : of the objective to its trivial
        bound. solution_ : everything; its status says where the supremum is at infinity.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    _method = "nca"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        criterion: str = "f",
        solver: str = "fast",
        init: Any = "auto",
        tol: float = 1e-5,
        max_iter: int = 1000,
        warm_start: bool = False,
        random_state: int = 0,
    ):
        self.n_components = n_components
        self.criterion = criterion
        self.solver = solver
        self.init = init
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.random_state = random_state

    def _method_params(self) -> dict[str, Any]:
        return {
            "n_components": self.n_components,
            "criterion": self.criterion,
            "init": self.init,
            "random_state": self.random_state,
        }

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, similarity: ArrayLike | None = None) -> Self:
        """Learn A from X (n, d) and labels y (n,), or from who is right for whom: similarity (n, n), y then unused.

        Raises ValueError for bad input; warns of points that nothing is right for, and (ConvergenceWarning) whenever
        tol is not met, as where the supremum is at infinity.
        """
        if similarity is None:
            return super().fit(X, y)  # type: ignore[arg-type]
        points = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        self._solve(points, None, similarity=similarity)
        return self

    def _keep(self, X: FloatArray) -> None:
        assert self.solution_.components is not None
        self.components_ = self.solution_.components

    def plot(self, X: ArrayLike, y: ArrayLike | None = None, *, ax: Any = None) -> Any:
        """The first two coordinates of X (n, d) under A, a colour and a marker for each class of y; returns the axes.

        Needs matplotlib. Raises ValueError for an A of one row.
        """
        check_is_fitted(self)
        if len(self.components_) < 2:
            raise ValueError("a picture needs two components, and n_components is 1")
        from cvxml.displays._scatter import scatter

        return scatter(self.transform(X)[:, :2], y, ax=ax)
