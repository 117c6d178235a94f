"""MMC as a scikit-learn transformer."""

from __future__ import annotations

from typing import ClassVar

from cvxml.estimators.base import PairsEstimator
from cvxml.estimators.parameters import estimator


@estimator
class MMC(PairsEstimator):
    """The metric of MMC (Xing et al. 2002), solved to a certified gap."""

    diagonal: bool = False

    _says: ClassVar = {
        "diagonal": "True: A is diagonal, a weight for each feature",
        "tol": "Certified gap, relative to the sum of distances",
    }

    @property
    def _method(self) -> str:  # type: ignore[override]
        return "mmc:diagonal" if self.diagonal else "mmc"
