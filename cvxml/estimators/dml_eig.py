"""DML-eig as a scikit-learn transformer."""

from __future__ import annotations

from typing import ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class DMLEig(PairsEstimator):
    """The metric of DML-eig (Ying, Li 2012), solved to a certified gap."""

    _method: ClassVar[str] = "dml_eig"
    _says: ClassVar = {"tol": "Certified gap, relative to the least squared distance"}
