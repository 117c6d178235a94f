"""The data and parameters of MLSVM, checked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_labels, check_positive, check_X, class_names
from cvxml.core.metric import FloatArray, IntArray, unit_scale
from cvxml.methods.mlsvm.neighborhood import Neighborhood, neighborhood_of


class Instance(NamedTuple):
    """Checked data: X float64, y as codes, the neighbourhoods, lam; and what named the neighbourhoods."""

    X: FloatArray
    y: IntArray
    N: Neighborhood
    lam: float
    n_neighbors: int | None  # None for explicit lists
    neighborhood: str  # "explicit" for these

    def stored(self) -> dict[str, Any]:
        """What a saved solution says of its parameters; the lists are stored beside them."""
        return {"lam": self.lam, "n_neighbors": self.n_neighbors, "neighborhood": self.neighborhood}


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    lam: float = 0.1,
    n_neighbors: int = 4,
    neighborhood: str = "knn",
    neighbors: Any = None,
) -> Instance:
    """Everything checked. Raises ValueError for whatever is wrong (core/inputs.py, neighborhood.py)."""
    points = check_X(X)
    codes = check_labels(y, len(points))
    lam = check_positive(lam, "lam")
    scale = unit_scale(points)
    scaled_lam(lam, scale)
    N = neighborhood_of(points / scale, codes, n_neighbors, neighborhood, neighbors, class_names(y))
    return Instance(points, codes, N, lam, *named(n_neighbors, neighborhood, neighbors))


def scaled_lam(lam: float, scale: float) -> float:
    """lam / scale^4, the weight of the same problem on X / scale; ValueError where that is no number."""
    with np.errstate(all="ignore"):
        value = float(np.float64(lam) / np.float64(scale) ** 2 / np.float64(scale) ** 2)
    if not 1e-200 < value < 1e200:
        raise ValueError(
            f"lam={lam:g} with features that spread over about {scale:.3g} cannot be computed in double "
            "precision; rescale: X / s with lam / s^4 is the same problem"
        )
    return value


def named(n_neighbors: int, neighborhood: str, neighbors: Any) -> tuple[int | None, str]:
    """What names the neighbourhoods: explicit lists win over the other two."""
    return (int(n_neighbors), neighborhood) if neighbors is None else (None, "explicit")
