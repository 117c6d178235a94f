"""FrobMetric as a scikit-learn transformer."""

from __future__ import annotations

from typing import ClassVar

from cvxml.estimators.base import TripletsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class FrobMetric(TripletsEstimator):
    """The metric of FrobMetric (Shen, Kim, Wang 2011), solved to a certified gap."""

    C: float = 1.0
    n_neighbors: int = 3

    _method: ClassVar[str] = "frobmetric"
    _says: ClassVar = {"tol": "Certified gap, relative to half the squared norm of the metric"}
