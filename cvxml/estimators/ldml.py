"""LDML as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class LDML(PairsEstimator):
    """The metric of logistic discriminant metric learning (Guillaumin et al. 2009), solved to a certified gap."""

    b: float | str = "free"
    _: KW_ONLY
    max_iter: int = 1000

    _method: ClassVar[str] = "ldml"
