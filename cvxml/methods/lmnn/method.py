"""The contract of LMNN: what cvxml.methods.Method asks of a method, for the linear hinge and for the squared one.

Reference: K. Q. Weinberger, L. K. Saul, Distance metric learning for large margin nearest neighbor classification,
JMLR 10, 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.convex import Callback, ConvexMethod, Found
from cvxml.methods.lmnn.certify import certify
from cvxml.methods.lmnn.evaluate import evaluate, objective
from cvxml.methods.lmnn.fast import fast
from cvxml.methods.lmnn.instance import Instance, instance
from cvxml.methods.lmnn.literal import solve_literal
from cvxml.methods.lmnn.statement import statement
from cvxml.methods.lmnn.variants import variants
from cvxml.metric import FloatArray
from cvxml.result import Certificate, Dual
from cvxml.variant import Variant


class LMNN(ConvexMethod[Instance]):
    """Large margin nearest neighbours; squared: with the squared hinge."""

    package = "cvxml.methods.lmnn"
    PARAMETERS: ClassVar = {
        "mu": "weight of the impostors, between 0 and 1; that of the targets is 1 - mu (default 0.5)",
        "n_neighbors": "k, the number of targets of a point (default 3)",
        "targets": "explicit targets, a list of points of its class for each point; they win over n_neighbors",
    }

    def __init__(self, squared: bool):
        self.squared = squared
        self.id = "lmnn:squared_hinge" if squared else "lmnn"
        hinge = ", squared hinge" if squared else ""
        self.TITLE = f"LMNN: large margin nearest neighbours{hinge} (Weinberger, Saul 2009)"
        self.STATEMENT = statement(squared)

    @property
    def VARIANTS(self) -> dict[str, Variant]:  # type: ignore[override]
        """The misreadings (variants.py)."""
        return variants(self.squared)

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """See `instance.py`."""
        return instance(X, y, self.squared, **params)

    def literal(self, given: Instance) -> Any:
        """With all triplets; variables "M" (d, d) and "xi" (t,)."""
        from cvxml.methods.lmnn.problem import literal

        return literal(given.X, given.targets, _all(given), given.mu, given.squared)

    def literal_dual(self, given: Instance) -> Any:
        """With all triplets; variable "lambda" (t,)."""
        from cvxml.methods.lmnn.problem import dual

        return dual(given.X, given.targets, _all(given), given.mu, given.squared)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """With as many triplets as it needs (literal.py)."""
        return solve_literal(given, solver)

    def naive(self, given: Instance, A: FloatArray) -> float:
        """See `evaluate.py`."""
        return objective(given, A)

    def intermediates(self, given: Instance, A: FloatArray) -> dict[str, Any]:
        """See `evaluate.py`."""
        return evaluate(given, A)

    def prove(self, given: Instance, A: FloatArray, dual: Dual) -> Certificate:
        """See `certify.py`."""
        return certify(given, A, dual)

    def fast(
        self, given: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback
    ) -> Found:
        """See `fast.py`."""
        return fast(given, tol, max_iter, start, callback)

    def prices(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """One price a triplet."""
        return {"price": values["lambda"], "triplets": _all(given)}

    def stored(self, given: Instance) -> dict[str, Any]:
        """With explicit targets."""
        return {"mu": given.mu, "n_neighbors": given.n_neighbors, "targets": given.target_lists()}

    def tied(self, given: Instance) -> int:
        """How many points have a tie at the boundary of their targets."""
        return given.ties

    def notes(self, given: Instance, certificate: Certificate) -> Sequence[str]:
        """How many triplets there are and how many have a price; ties."""
        said = [
            f"{np.count_nonzero(given.impostors)} triplets, {np.count_nonzero(certificate.dual['price'])} with a price"
        ]
        if given.ties:
            said.append(f"{given.ties} points have targets that a tie decided, by the index")
        return said


def _all(given: Instance) -> np.ndarray:
    return given.triplets(*np.nonzero(given.impostors))


METHOD = LMNN(squared=False)
SQUARED_HINGE = LMNN(squared=True)
