"""LFDA, local Fisher discriminant analysis, as a scikit-learn transformer to `n_components` dimensions.

The fields of the class are the parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from typing import ClassVar

from cvxml.core.metric import FloatArray
from cvxml.estimators.base import Learner
from cvxml.estimators.parameters import estimator


@estimator
class LFDA(Learner):
    """A map to few dimensions by local Fisher discriminant analysis (Sugiyama 2007), with its proof."""

    n_components: int | None = None
    n_neighbors: int | None = None
    embedding: str = "weighted"
    alpha: float = 0.0

    _method: ClassVar[str] = "lfda"
    _attributes: ClassVar[str] = """
        components_ : FloatArray (n_components, d). T^T, the map from x to r coordinates.
            Except for "orthonormal", the rows are in descending order of the eigenvalues of (S_b, S_w).
        certificate_ : Certificate. The proof for the metric.
        gap_ : float. The absolute gap of the certificate.
        solution_ : Solution. It has all results and notes.
        n_iter_, n_features_in_, classes_ : as in scikit-learn.
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.NAME(n_components=2).fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 2)
        """

    def _keep(self, X: FloatArray) -> None:
        self.components_ = self.solution_.components
