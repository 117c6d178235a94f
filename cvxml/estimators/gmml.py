"""GMML as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class GMML(PairsEstimator):
    """The metric of geometric mean metric learning (Zadeh et al. 2016), in closed form, with its proof."""

    weight: float = 0.5
    mu: float = 0.0
    prior: Any = "identity"

    _method: ClassVar[str] = "gmml"
    _says: ClassVar = {"max_iter": "Of no effect: the solution is a closed form"}
