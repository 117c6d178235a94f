"""BoostMetric as a scikit-learn transformer."""

from __future__ import annotations

from typing import ClassVar

from cvxml.estimators.base import TripletsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class BoostMetric(TripletsEstimator):
    """The metric of BoostMetric (Shen et al. 2009, 2012), solved to a certified gap; v must be above v*."""

    v: float = 0.5
    n_neighbors: int = 3

    _method: ClassVar[str] = "boostmetric"
    _says: ClassVar = {"tol": "Certified gap, relative to the objective, and to 1 at least"}
