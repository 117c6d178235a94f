"""ITML as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class ITML(PairsEstimator):
    """The metric of information-theoretic metric learning (Davis et al. 2007), solved to a certified gap."""

    gamma: float = 1.0
    _: KW_ONLY
    prior: Any = "identity"
    bounds: Any = None

    _method: ClassVar[str] = "itml"
