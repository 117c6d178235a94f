"""MLSVM and KernelMLSVM as scikit-learn transformers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, components_of
from cvxml.estimators.base import MetricEstimator
from cvxml.methods.kernel_mlsvm import instance as _kernel_instance


class MLSVM(MetricEstimator):
    """The metric of MLSVM (Nguyen, Guo 2008), solved to a certified gap.

    Parameters
    ----------
    lam : float, default 0.1. Weight of lam/2 ||A||^2.
    n_neighbors : int, default 4. K, the size of a neighbourhood.
    neighborhood : "knn" (default, as printed) or "per-class".
    solver : "fast" (default), "clarabel" or "scs".
    tol : float, default 1e-6. Certified gap, relative to lam/2 ||A||^2.
    max_iter : int, default 20000.
    warm_start : bool, default False. Start from the last fit, where the data have the same length.

    Attributes
    ----------
    components_ : (d, d), symmetric square root of the metric.
    certificate_ : the proof; gap_ : its absolute gap; solution_ : everything.
    n_iter_, n_features_in_, classes_ : as scikit-learn has them.
    """

    _method = "mlsvm"

    def __init__(
        self,
        lam: float = 0.1,
        n_neighbors: int = 4,
        *,
        neighborhood: str = "knn",
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 20000,
        warm_start: bool = False,
    ):
        self.lam = lam
        self.n_neighbors = n_neighbors
        self.neighborhood = neighborhood
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start

    def _method_params(self) -> dict[str, Any]:
        return {
            "lam": self.lam,
            "n_neighbors": self.n_neighbors,
            "neighborhood": self.neighborhood,
        }


class KernelMLSVM(MLSVM):
    """MLSVM in the feature space of a kernel, exact: parameters of `MLSVM`, and

    kernel : "poly" (default), <x, x'>^degree, or "rbf".
    degree : int 1 to 5, default 2. gamma : float, default None: 1/d.

    transform maps x to L K^(+1/2) k_x, as many columns as K has rank. `phi_` (n, n) is the metric of the paper,
    `X_fit_` (n, d) the training points. Give `phi_`, not
    `components_`, to `cvxml.check`: components_ (r, r) acts on K^(+1/2) k_x, not on k_x.
    """

    _method = "kernel_mlsvm"

    def __init__(
        self,
        lam: float = 0.1,
        n_neighbors: int = 4,
        *,
        kernel: str = "poly",
        degree: int = 2,
        gamma: float | None = None,
        neighborhood: str = "knn",
        solver: str = "fast",
        tol: float = 1e-6,
        max_iter: int = 20000,
        warm_start: bool = False,
    ):
        super().__init__(
            lam,
            n_neighbors,
            neighborhood=neighborhood,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
        )
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma

    def _kernel_params(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "degree": self.degree, "gamma": self.gamma}

    def _method_params(self) -> dict[str, Any]:
        return {**super()._method_params(), **self._kernel_params()}

    def _keep(self, X: FloatArray) -> None:
        self.phi_ = self.solution_.metric
        self.X_fit_ = X
        K = _kernel_instance.kernel_matrix(X, X, **self._kernel_params())
        E, self._back = _kernel_instance.factor(K)
        self.components_ = components_of(E.T @ self.phi_ @ E)

    def _features(self, X: FloatArray) -> FloatArray:
        features: FloatArray = (
            _kernel_instance.kernel_matrix(X, self.X_fit_, **self._kernel_params()) @ self._back.T
        )
        return np.ascontiguousarray(features)
