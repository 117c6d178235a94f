"""The data and parameters of MLSVM, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.inputs import check_labels, check_positive, check_X, class_names
from cvxml.methods.mlsvm.certify import scaled_lam
from cvxml.methods.mlsvm.neighborhood import Neighborhood, neighborhood_of
from cvxml.metric import FloatArray, IntArray, unit_scale


class Instance(NamedTuple):
    """Checked data: X float64, y as codes, the neighbourhoods, lam."""

    X: FloatArray
    y: IntArray
    N: Neighborhood
    lam: float


def instance(
    X: ArrayLike,
    y: ArrayLike,
    *,
    lam: float = 0.1,
    n_neighbors: int = 4,
    neighborhood: str = "knn",
    neighbors: Any = None,
) -> Instance:
    """Everything checked. Raises ValueError for whatever is wrong (inputs.py, neighborhood.py)."""
    points = check_X(X)
    codes = check_labels(y, len(points))
    lam = check_positive(lam, "lam")
    scale = unit_scale(points)
    scaled_lam(lam, scale)
    N = neighborhood_of(points / scale, codes, n_neighbors, neighborhood, neighbors, class_names(y))
    return Instance(points, codes, N, lam)
