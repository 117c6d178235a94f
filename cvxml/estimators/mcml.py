"""MCML as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

from cvxml.estimators.base import MetricEstimator


class MCML(MetricEstimator):
    """The metric that collapses classes best (Globerson, Roweis 2005), solved to a certified gap.

    Parameters
    ----------
    solver : "fast" (default), or "clarabel" / "scs" (literally; small n).
    tol : float, default 1e-6. Certified gap, relative to the objective.
    max_iter : int, default 200. Newton steps.
    warm_start : bool, default False. Start from the last fit, where the data have the same length.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric.
    certificate_ : the proof; gap_ : its absolute gap; solution_ : everything; its notes say where no metric is optimal.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    _method = "mcml"

    def __init__(
        self, *, solver: str = "fast", tol: float = 1e-6, max_iter: int = 200, warm_start: bool = False
    ):
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _method_params(self) -> dict[str, Any]:
        return {}
