"""SCML as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from cvxml.estimators.base import TripletsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class SCML(TripletsEstimator):
    """The metric of SCML, global (Shi, Bellet, Sha 2014), solved to a certified gap."""

    beta: float = 1e-5
    n_neighbors: int = 3
    _: KW_ONLY
    basis: Any = None
    n_basis: int | None = None

    _method: ClassVar[str] = "scml"
