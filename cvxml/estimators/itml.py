"""ITML as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

from cvxml.estimators.base import PairsEstimator


class ITML(PairsEstimator):
    """The metric of information-theoretic metric learning (Davis et al. 2007), solved to a certified gap.

    Parameters
    ----------
    gamma : float, default 1.0. Weight of the slack.
    prior : "identity" (default), "covariance" (the inverse of the sample covariance), or a positive definite (d, d).
    bounds : (u, l), what squared distances of similar and dissimilar pairs are held to; default None: the 5th and the
        95th percentile of all squared distances under the prior.
    solver : "fast" (default), "clarabel" or "scs".
    tol : float, default 1e-6. Certified gap, relative to the objective.
    max_iter : int, default 1000.
    warm_start : bool, default False. Start from the last fit, where the data have the same length.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric.
    certificate_ : the proof; gap_ : its absolute gap; solution_ : everything.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    _method = "itml"

    def __init__(
        self,
        gamma: float = 1.0,
        *,
        prior: Any = "identity",
        bounds: Any = None,
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 1000,
        warm_start: bool = False,
    ):
        self.gamma = gamma
        self.prior = prior
        self.bounds = bounds
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _method_params(self) -> dict[str, Any]:
        return {"gamma": self.gamma, "prior": self.prior, "bounds": self.bounds}
