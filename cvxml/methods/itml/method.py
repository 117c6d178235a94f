"""The contract of ITML (Davis et al. 2007): what cvxml.convex asks, from the parts in this folder."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.backend import SolverFailure, solve_problem
from cvxml.convex import Callback, ConvexMethod, Found, interruptible
from cvxml.methods.itml import certify as _certify
from cvxml.methods.itml import evaluate as _evaluate
from cvxml.methods.itml import fast as _fast
from cvxml.methods.itml.instance import Instance, instance
from cvxml.methods.itml.statement import STATEMENT as _STATEMENT
from cvxml.methods.itml.variants import VARIANTS as _VARIANTS
from cvxml.metric import FloatArray, project_psd
from cvxml.result import Certificate, Dual, Status


class ITML(ConvexMethod[Instance]):
    """Information-theoretic metric learning."""

    id = "itml"
    package = "cvxml.methods.itml"
    TITLE = "Information-theoretic metric learning (Davis et al. 2007)"
    EXPONENTIAL = True
    PARAMETERS: ClassVar[dict[str, str]] = {
        "gamma": "weight of the slack (> 0, default 1.0)",
        "prior": 'A_0: "identity" (default), "covariance" (the inverse of the sample covariance), or positive definite '
        "(d, d)",
        "bounds": "(u, l), what squared distances of similar and dissimilar pairs are held to (default: the 5th and "
        "95th percentile of all squared distances under the prior)",
        "pairs": '{"similar": [[i, j], ...], "dissimilar": [[i, j], ...]} (default: every two points, by their labels)',
    }
    STATEMENT = _STATEMENT
    VARIANTS = _VARIANTS

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """Everything checked (instance.py)."""
        return instance(X, y, **params)

    def literal(self, given: Instance) -> Any:
        """problem.py, variables "A" and "xi"."""
        from cvxml.methods.itml.problem import literal

        return literal(given.X, given.pairs, given.prior, given.gamma, *given.bounds)

    def literal_dual(self, given: Instance) -> Any:
        """problem.py, variables "lam_S" and "lam_D"."""
        from cvxml.methods.itml.problem import dual

        return dual(given.X, given.pairs, given.prior, given.gamma, *given.bounds)

    def naive(self, given: Instance, A: FloatArray) -> float:
        """evaluate.py."""
        return _evaluate.objective(given, A)

    def intermediates(self, given: Instance, A: FloatArray) -> dict[str, Any]:
        """evaluate.py."""
        return _evaluate.evaluate(given, A)

    def prove(self, given: Instance, A: FloatArray, dual: Dual) -> Certificate:
        """certify.py."""
        return _certify.certify(given, A, dual)

    def fast(
        self, given: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback
    ) -> Found:
        """fast.py."""
        return interruptible(callback, lambda keep, told: _fast.fast(given, tol, max_iter, start, told, keep))

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """The literal metric, and of two duals the one that proves more: the literal one, and what the metric implies.

        Back ends stall on exponential cones: on the dual of forty points of iris both do.
        """
        A = project_psd(solve_problem(self.literal(given), solver, self.EXPONENTIAL)["A"])
        implied = _evaluate.evaluate(given, A)
        duals: list[Dual] = [{name: implied[name] for name in _certify.NAMES}]
        with suppress(SolverFailure):
            duals.append(
                self.prices(given, solve_problem(self.literal_dual(given), solver, self.EXPONENTIAL))
            )
        best = max(duals, key=lambda dual: self.prove(given, A, dual).lower_bound)
        return Found(A, best, Status.CONVERGED, 0)

    def prices(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """lambda of both kinds; an absent variable is one of no pairs."""
        return {name: values.get(name, np.zeros(0)) for name in _certify.NAMES}

    def stored(self, given: Instance) -> dict[str, Any]:
        """Prior and bounds as numbers; the pairs if they were given, else None: they follow from y."""
        return {
            "gamma": given.gamma,
            "prior": given.prior.tolist(),
            "bounds": list(given.bounds),
            "pairs": given.pairs.to_dict() if given.listed else None,
        }

    def notes(self, given: Instance, certificate: Certificate) -> Sequence[str]:
        """Where the prior itself is optimal, and where pairs say nothing."""
        said = []
        if all(not lam.any() for lam in certificate.dual.values()):
            said.append(
                "no bound is violated under the prior, which is the optimum: these pairs do not move it"
            )
        i, j = given.pairs.similar.T
        if twins := int(np.count_nonzero((given.X[i] == given.X[j]).all(axis=1))):
            said.append(f"{twins} similar pairs are of equal points: they keep any bound and say nothing")
        return said

    def ties(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> int:
        """None: nothing here is chosen by distance, and so nothing is looked at."""
        return 0


METHOD = ITML()
