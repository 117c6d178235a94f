"""NCA, neighbourhood components analysis, as a scikit-learn transformer: x -> A x for the learnt matrix A (m, d).

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import TYPE_CHECKING, ClassVar, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from cvxml.core.metric import FloatArray
from cvxml.core.parameter import Starts
from cvxml.core.tolerance import Tolerance
from cvxml.estimators.base import Learner
from cvxml.estimators.fitting import all_or_nothing, validated
from cvxml.estimators.parameters import estimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@estimator
class NCA(Learner):
    """A transform x -> A x by NCA (Goldberger et al. 2004), with a certificate.

    The certificate bounds how far A^T A is from a stationary point. If the problem is convex, it bounds how far A^T A
    is from the optimum.
    """

    n_components: int | None = None
    _: KW_ONLY
    criterion: str = "f"
    init: Starts = "auto"
    tol: Tolerance = 1e-5
    random_state: int = 0

    _method: ClassVar[str] = "nca"
    _says: ClassVar = {
        "solver": '{}; "clarabel" and "scs" run CCCP with literal steps, for small n and n_components None',
        "tol": "Largest allowed gain of the convex step at the metric, relative to the scale. If n_components is "
        "less than d: largest allowed `gradient` and `dc_residual` of `certificate_.stationarity`, relative to the "
        "scale",
        "max_iter": "Iterations from each start",
    }
    _attributes: ClassVar[str] = """
        components_ : FloatArray (m, d). A; its rows lie along the principal axes of the metric, the longest first.
        certificate_ : Certificate. The proof, with `stationarity`, and with `step` if the rank is not limited.
        gap_ : float. Distance of the objective from its trivial bound.
        solution_ : Solution. It has all results and notes; its status shows if the supremum is at infinity.
        n_iter_, n_features_in_ : as in scikit-learn.
        classes_ : the sorted labels, only after a fit to labels.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.NAME().fit(X[:, :2], y)
        print(model.solution_.status.value)  # -> stationary
        print(model.transform(X[:, :2]).shape)  # -> (150, 2)
        """

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, similarity: ArrayLike | None = None) -> Self:
        """Learn A from X (n, d) and labels y (n,), or from `similarity`; then y is ignored.

        similarity: (n, n), not negative, 0 on its diagonal. The objective has p_i = sum_j similarity[i, j] p_ij,
        where p_ij is the probability that point i chooses point j.

        Raises ValueError for bad input. Warns (UserWarning) if the metric is 0, or if a point has no partner. Such a
        point is the only one of its class, or has a row of zeros in `similarity`. Warns (ConvergenceWarning) whenever
        tol is not met, for example if the supremum is at infinity.
        """
        if similarity is None:
            return super().fit(X, y)  # type: ignore[arg-type]
        self._refuse_tuples(X)
        points = validated(self, X, ensure_min_samples=2)
        self._solve(points, None, similarity=similarity)
        return self

    def _keep(self, X: FloatArray) -> None:
        self.components_ = self.solution_.components

    def plot(self, X: ArrayLike, y: ArrayLike | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the first two coordinates of A x for each row x of X, and return the axes.

        Each class has a colour and a marker.

        X: (n, d).
        y: (n,), the labels; default: one class.
        ax: axes; default: new ones. Needs matplotlib.

        Raises ValueError if A has one row.
        """
        check_is_fitted(self)
        if len(self.components_) < 2:
            raise ValueError(
                "a picture needs two components, but A has one row; fit with n_components >= 2, "
                "which needs two features or more"
            )
        from cvxml.displays._scatter import scatter

        points = validated(self, X, reset=False)  # `transform` may return a data frame
        axes: Axes = scatter(points @ self.components_[:2].T, y, ax=ax)
        return axes
