"""LMNN as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

from cvxml.estimators.base import MetricEstimator


class LMNN(MetricEstimator):
    """The metric of LMNN (Weinberger, Saul 2009), solved to a certified gap.

    Parameters
    ----------
    mu : float, default 0.5. Weight of the impostors; that of the targets is 1 - mu.
    n_neighbors : int, default 3. Targets of a point: the nearest of its class.
    squared_hinge : bool, default False. True: the formula "lmnn:squared_hinge".
    solver : "fast" (default), "clarabel" or "scs".
    tol : float, default 1e-6. Certified gap, relative to the objective.
    max_iter : int, default 200.
    warm_start : bool, default False. Start from the last fit, where the data have the same length.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric.
    certificate_ : the proof; gap_ : its absolute gap; solution_ : everything.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    def __init__(
        self,
        mu: float = 0.5,
        n_neighbors: int = 3,
        *,
        squared_hinge: bool = False,
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 200,
        warm_start: bool = False,
    ):
        self.mu = mu
        self.n_neighbors = n_neighbors
        self.squared_hinge = squared_hinge
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    @property
    def _method(self) -> str:  # type: ignore[override]
        return "lmnn:squared_hinge" if self.squared_hinge else "lmnn"

    def _method_params(self) -> dict[str, Any]:
        return {"mu": self.mu, "n_neighbors": self.n_neighbors}
