"""The method of Schultz and Joachims as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from cvxml.estimators.base import TripletsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class SchultzJoachims(TripletsEstimator):
    """The metric of Schultz and Joachims (2003), weights of features or columns, solved to a certified gap."""

    C: float = 1.0
    n_neighbors: int = 3
    _: KW_ONLY
    A: Any = None

    _method: ClassVar[str] = "schultz_joachims"
    _says: ClassVar = {"tol": "Certified gap, relative to half the squared norm of the metric"}
