"""LMNN as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from cvxml.estimators.base import TripletsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class LMNN(TripletsEstimator):
    """The metric of LMNN (Weinberger, Saul 2009), solved to a certified gap."""

    mu: float = 0.5
    n_neighbors: int = 3
    _: KW_ONLY
    squared_hinge: bool = False

    _says: ClassVar = {"squared_hinge": 'True: the formula "lmnn:squared_hinge"'}

    @property
    def _method(self) -> str:  # type: ignore[override]
        return "lmnn:squared_hinge" if self.squared_hinge else "lmnn"
