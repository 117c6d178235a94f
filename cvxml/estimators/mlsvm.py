"""MLSVM and KernelMLSVM as scikit-learn transformers: x -> L x for the learnt metric L^T L.

The fields of each class are its parameters. The decorator `@estimator` appends their descriptions to its docstring.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from cvxml.core.metric import FloatArray, components_of
from cvxml.estimators.base import Learner
from cvxml.estimators.distance import Features
from cvxml.estimators.parameters import estimator
from cvxml.methods.kernel_mlsvm import instance as _kernel_instance


@estimator
class MLSVM(Learner):
    """The metric of MLSVM (Nguyen, Guo 2008), solved to a certified gap."""

    lam: float = 0.1
    n_neighbors: int = 4
    _: KW_ONLY
    neighborhood: str = "knn"
    max_iter: int = 20000

    _method: ClassVar[str] = "mlsvm"
    _says: ClassVar = {"tol": "Largest allowed gap of the certificate, relative to lam/2 ||A||^2"}


@dataclass(frozen=True, eq=False)
class KernelFeatures:
    """The map x -> K^(+1/2) k_x to the r coordinates that the metric of a kernel method acts on.

    K is the kernel matrix of the n training points, K^(+1/2) (r, n) a root of its pseudo-inverse, and k_x (n,) holds
    the kernel values of x and each training point.

    points: the training points (n, d). back: K^(+1/2). kernel: the kernel with its parameters.
    """

    points: FloatArray  # training points (n, d)
    back: FloatArray  # K^(+1/2), (r, n)
    kernel: dict[str, Any]

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return the coordinates (q, r) of points X (q, d)."""
        features: FloatArray = _kernel_instance.kernel_matrix(X, self.points, **self.kernel) @ self.back.T
        return np.ascontiguousarray(features)


@estimator
class KernelMLSVM(MLSVM):
    """MLSVM in the feature space of a kernel, solved to a certified gap.

    K is the kernel matrix of the training points, and k_x (n,) holds the kernel values of x and each of them.
    `transform` maps x to L K^(+1/2) k_x, where L is `components_`; the number of columns is the rank of K. Give `phi_`,
    not `components_`, to `cvxml.check`: components_ (r, r) acts on K^(+1/2) k_x, not on k_x.
    """

    _: KW_ONLY
    kernel: str = "poly"
    degree: int = 2
    gamma: float | None = None

    _method: ClassVar[str] = "kernel_mlsvm"
    _attributes: ClassVar[str] = f"""
        phi_ : FloatArray (n, n). The metric of the paper.
        X_fit_ : FloatArray (n, d). The training points.
        {Learner._attributes.strip().replace("(d, d)", "(r, r)")}
        """
    _example: ClassVar[str] = """
        import cvxml
        X, y = cvxml.datasets.load("iris")
        model = cvxml.NAME(degree=2).fit(X, y)
        print(model.solution_.status.value)  # -> converged
        print(model.transform(X).shape)  # -> (150, 10)
        """

    def _kernel_params(self) -> dict[str, Any]:
        """Return the parameters kernel, degree and gamma of the last fit; `set_params` does not change them."""
        return {name: self.solution_.params[name] for name in ("kernel", "degree", "gamma")}

    def _keep(self, X: FloatArray) -> None:
        self.phi_ = self.solution_.metric
        self.X_fit_ = X
        K = _kernel_instance.kernel_matrix(X, X, **self._kernel_params())
        E, self._back = _kernel_instance.factor(K)
        self.components_ = components_of(E.T @ self.phi_ @ E)

    def _feature_map(self) -> Features:
        return KernelFeatures(self.X_fit_, self._back, self._kernel_params())
