"""MMC as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

from cvxml.estimators.base import PairsEstimator


class MMC(PairsEstimator):
    """The metric of MMC (Xing et al. 2002), solved to a certified gap.

    Parameters
    ----------
    diagonal : bool, default False. True: A is diagonal, a weight for each feature.
    solver : "fast" (default), "clarabel" or "scs".
    tol : float, default 1e-6. Certified gap, relative to the sum of distances.
    max_iter : int, default 200.
    warm_start : bool, default False. Start from the last fit, where the data have the same length.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric.
    certificate_ : the proof; gap_ : its absolute gap; solution_ : everything.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them (no classes_ where pairs were given).
    """

    def __init__(
        self,
        diagonal: bool = False,
        *,
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 200,
        warm_start: bool = False,
    ):
        self.diagonal = diagonal
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    @property
    def _method(self) -> str:  # type: ignore[override]
        return "mmc:diagonal" if self.diagonal else "mmc"

    def _method_params(self) -> dict[str, Any]:
        return {}
