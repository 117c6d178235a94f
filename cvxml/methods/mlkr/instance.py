"""The checked inputs of MLKR: points, real targets and the largest rank m of the metric.

A metric is A^T A for a linear map A (m, d).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_count, check_targets, check_X
from cvxml.core.integer_matrices import from_the_first
from cvxml.core.memory import BALL, INTEGER, check_room
from cvxml.core.metric import FloatArray
from cvxml.family.geometry.coordinates import Coordinates, coordinates

LARGEST = 1e60  # largest difference of two targets; the smallest is 1 / LARGEST


@dataclass(frozen=True, eq=False)
class Instance:
    """Checked data: points, real targets y (n,), which are not all the same, and the number m of rows of A."""

    X: FloatArray  # (n, d)
    y: FloatArray  # (n,) targets, not all the same
    m: int  # rows of A

    @cached_property
    def at(self) -> Coordinates:
        """The coordinates in which the points have unit covariance, with the maps from and to the features."""
        return coordinates(self.X)

    @cached_property
    def points(self) -> tuple[Any, int]:
        """The points, moved so that the first is the origin, as integers (n, d) and the exponent of a power of two."""
        return from_the_first(self.X)


def instance(X: ArrayLike, y: ArrayLike | None, *, n_components: int | None = None) -> Instance:
    """Check the inputs. Raises ValueError for bad input, and if all metrics have the same objective.

    X (n, d), y (n,) real targets. n_components: m, by default d.
    """
    points = check_X(X)
    n, d = points.shape
    targets = check_targets(y, n)
    m = d if n_components is None else check_count(n_components, "n_components", at_most=d)
    if np.ptp(targets) == 0:
        raise ValueError(
            "y is the same for all points: every metric predicts it, so no metric can be learnt; "
            "give targets that differ"
        )
    if not LARGEST**-1 <= np.ptp(targets) <= LARGEST:
        raise ValueError(
            f"y: the largest minus the smallest target must be between {1 / LARGEST:g} and {LARGEST:g}, got "
            f"{np.ptp(targets):g}; rescale y, which does not change the optimal metric"
        )
    check_room((2 * INTEGER + 3 * BALL) * n**2, f"the exact distances and weights of all pairs of {n} points")
    if np.all(points == points[0]):
        raise ValueError(
            "all points are equal, so all metrics give the same distances; give points that differ"
        )
    return Instance(points, targets, m)
