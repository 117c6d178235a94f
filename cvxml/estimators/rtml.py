"""RTML as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from cvxml.estimators.base import TripletsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class RTML(TripletsEstimator):
    """The metric of RTML (Yoshida, Takeuchi, Karasuyama 2018), solved to a certified gap."""

    lam: float = 1.0
    n_neighbors: int = 3
    _: KW_ONLY
    width: float = 0.05

    _method: ClassVar[str] = "rtml"
    _says: ClassVar = {"tol": "Certified gap, relative to lam/2 times the squared norm of the metric"}
