"""The distance of a fitted estimator, as a separate object that can be pickled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray

Features = Callable[[FloatArray], FloatArray]


class LearntDistance:
    """The distance of two points under a learnt metric, for the parameter `metric` of scikit-learn.

    It holds a copy of the map L, so it stays the same if the estimator is fitted again. It can be pickled, as can a
    nearest neighbour classifier that has it as its `metric`.
    """

    def __init__(self, components: FloatArray, n_features: int, features: Features | None = None):
        """Keep a copy of the matrix L (m, r), and the number d of features.

        features: for a kernel method, the map from points (n, d) to the r coordinates (n, r) on which L acts. None if L
            acts on the d features.
        """
        self.components = components.copy()
        self.n_features = n_features
        self.features = features

    def __call__(self, u: ArrayLike, v: ArrayLike, squared: bool = False) -> float:
        """Return the learnt distance of the points u (d,) and v (d,), or its square.

        squared: True for the square. Raises ValueError for another shape, NaN or infinity.
        """
        points = np.stack([self._point(u, "u"), self._point(v, "v")])
        if self.features is not None:
            points = self.features(points)
        mapped = self.components @ (points[0] - points[1])
        distance = float(np.linalg.norm(mapped))
        return distance * distance if squared else distance

    def _point(self, given: ArrayLike, name: str) -> FloatArray:
        point = np.asarray(given, dtype=np.float64)
        if point.shape != (self.n_features,):
            raise ValueError(
                f"{name} must be one point of shape ({self.n_features},), got shape {point.shape}; "
                "`pair_distance` takes many pairs at once"
            )
        if not np.isfinite(point).all():
            raise ValueError(f"{name} holds NaN or infinity; every entry must be finite")
        return point
