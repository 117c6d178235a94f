"""The contract of DML-eig: what cvxml.methods.Method asks of a method.

Reference: Y. Ying, P. Li, Distance metric learning with eigenvalue optimization, JMLR 13, 2012.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.convex import Callback, ConvexMethod, Found
from cvxml.methods.dml_eig.certify import certify
from cvxml.methods.dml_eig.evaluate import evaluate, objective
from cvxml.methods.dml_eig.fast import fast
from cvxml.methods.dml_eig.instance import Instance, instance
from cvxml.methods.dml_eig.statement import STATEMENT
from cvxml.methods.dml_eig.variants import VARIANTS
from cvxml.metric import FloatArray, project_psd
from cvxml.result import Certificate, Dual, Status


class DMLEig(ConvexMethod[Instance]):
    """The metric that moves the nearest dissimilar pair apart."""

    id = "dml_eig"
    package = "cvxml.methods.dml_eig"
    TITLE = "DML-eig: metric learning with eigenvalue optimization (Ying, Li 2012)"
    PARAMETERS: ClassVar = {
        "pairs": '{"similar": [[i, j], ...], "dissimilar": [[i, j], ...]} (default: every two points, by their labels)',
    }
    STATEMENT = STATEMENT
    VARIANTS: ClassVar = VARIANTS

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance.py`."""
        return instance(X, y, **params)

    def literal(self, given: Instance) -> Any:
        """Variables "M" (r, r) and "least"."""
        from cvxml.methods.dml_eig.problem import literal

        return literal(given.X, given.pairs)

    def literal_dual(self, given: Instance) -> Any:
        """Variable "q", one for each dissimilar pair."""
        from cvxml.methods.dml_eig.problem import dual

        return dual(given.X, given.pairs)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """The literal M, as a metric of the features: A = X_S^-1/2 M X_S^-1/2."""
        from cvxml.backend import solve_problem
        from cvxml.methods.dml_eig.problem import inverse_root

        root = inverse_root(given.X, given.pairs)
        M = project_psd(solve_problem(self.literal(given), solver)["M"])
        q = solve_problem(self.literal_dual(given), solver)["q"]
        A = root.T @ M @ root
        return Found((A + A.T) / 2, {"q": q}, Status.CONVERGED, 0)

    def naive(self, given: Instance, A: FloatArray) -> float:
        """See `evaluate.py`."""
        return objective(given.X, given.pairs, A)

    def intermediates(self, given: Instance, A: FloatArray) -> dict[str, Any]:
        """See `evaluate.py`."""
        return evaluate(given.X, given.pairs, A)

    def prove(self, given: Instance, A: FloatArray, dual: Dual) -> Certificate:
        """See `certify.py`."""
        return certify(given, A, dual)

    def fast(
        self, given: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback
    ) -> Found:
        """See `fast.py`."""
        return fast(given, tol, max_iter, start, callback)

    def prices(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """One weight for each dissimilar pair."""
        return {"q": values["q"]}

    def stored(self, given: Instance) -> dict[str, Any]:
        """The pairs, where they were given."""
        return {"pairs": None if given.by_labels else given.pairs.to_dict()}

    def notes(self, given: Instance, certificate: Certificate) -> Sequence[str]:
        """How many pairs there are, and how many hold the metric."""
        held = np.count_nonzero(certificate.dual["q"] > 1e-6)
        return (f"{len(given.pairs.dissimilar)} dissimilar pairs, {held} with a weight above 1e-6",)


METHOD = DMLEig()
