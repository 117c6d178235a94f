"""LDML as a scikit-learn transformer."""

from __future__ import annotations

from typing import ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class LDML(PairsEstimator):
    """The metric of logistic discriminant metric learning (Guillaumin et al. 2009), solved to a certified gap."""

    b: float | str = "free"

    _method: ClassVar[str] = "ldml"
