"""SDML as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class SDML(PairsEstimator):
    """The metric of sparse distance metric learning (Qi et al. 2009), solved to a certified gap."""

    eta: float | None = None
    lam: float = 0.01
    prior: Any = "identity"

    _method: ClassVar[str] = "sdml"
