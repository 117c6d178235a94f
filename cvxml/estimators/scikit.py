"""The base classes of scikit-learn, with types, which scikit-learn does not have.

A type checker lets a class with an unknown base take any argument. For example, `MLSVM(lamda=1)` would pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from cvxml.core.metric import FloatArray

    class BaseEstimator:
        n_features_in_: int

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...
        def __sklearn_is_fitted__(self) -> bool: ...

    class TransformerMixin:
        def fit_transform(
            self, X: ArrayLike, y: ArrayLike | None = None, **fit_params: Any
        ) -> FloatArray: ...
        def set_output(self, *, transform: str | None = None) -> Self: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray: ...

    class ClassifierMixin:
        def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        TransformerMixin,
    )

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "ClassifierMixin", "TransformerMixin"]
