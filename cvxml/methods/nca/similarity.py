"""Who is right for whom, where classes do not say it: regression, and labels that are partly unknown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_positive, real_array
from cvxml.core.metric import FloatArray


def by_target(y: ArrayLike, width: float) -> FloatArray:
    """s_ij = exp(-(y_i - y_j)^2 / (2 width^2)), j != i, for real targets y (n,): (n, n), 0 where it is below 1e-12.

    Raises ValueError for targets that are not finite numbers, one a point, or a width that is not positive.
    """
    targets = real_array(y, "y")
    if targets.ndim != 1 or not np.isfinite(targets).all():
        raise ValueError(f"y must be one finite number a point, got shape {targets.shape}")
    s: FloatArray = np.exp(-(((targets[:, None] - targets) / check_positive(width, "width")) ** 2) / 2)
    s[s < 1e-12] = 0.0
    np.fill_diagonal(s, 0.0)
    return s


def by_known_class(y: ArrayLike, unknown: Any = -1) -> FloatArray:
    """s_ij = 1 where i and j != i have the same label and it is not `unknown`: (n, n).

    Points without a label are right for nobody, and stand among those that a point may choose.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, one label a point, got shape {labels.shape}")
    s: FloatArray = ((labels[:, None] == labels) & (labels != unknown)) * 1.0
    np.fill_diagonal(s, 0.0)
    return s
