"""FrobMetric as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

from cvxml.estimators.base import MetricEstimator


class FrobMetric(MetricEstimator):
    """The metric of FrobMetric (Shen, Kim, Wang 2011), solved to a certified gap.

    Parameters
    ----------
    C : float, default 1.0. Weight of the mean loss over triplets.
    n_neighbors : int, default 3. Targets of a point, the nearest of its class, and as many impostors.
    solver : "fast" (default), "clarabel" or "scs".
    tol : float, default 1e-6. Certified gap, relative to half the squared norm of the metric.
    max_iter : int, default 1000.
    warm_start : bool, default False. Start from the last fit, where the data have the same length.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric.
    certificate_ : the proof; gap_ : its absolute gap; solution_ : everything.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    _method = "frobmetric"

    def __init__(
        self,
        C: float = 1.0,
        n_neighbors: int = 3,
        *,
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
    ):
        self.C = C
        self.n_neighbors = n_neighbors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _method_params(self) -> dict[str, Any]:
        return {"C": self.C, "n_neighbors": self.n_neighbors}
