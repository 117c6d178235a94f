"""The contract of MCML: what cvxml.methods.Method asks, from the parts in this folder.

Reference: A. Globerson, S. Roweis, Metric Learning by Collapsing Classes, NIPS 2005.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.convex import Callback, ConvexMethod, Found, Keep, interruptible
from cvxml.coordinates import Coordinates, coordinates
from cvxml.methods.mcml import evaluate as definition
from cvxml.methods.mcml.certify import certify as certify_metric
from cvxml.methods.mcml.certify import value
from cvxml.methods.mcml.fast import Ended, collapse, inner_rows
from cvxml.methods.mcml.infinity import NOT_ATTAINED, recedes
from cvxml.methods.mcml.instance import Instance, Weights, alone, instance, weights
from cvxml.methods.mcml.statement import STATEMENT
from cvxml.methods.mcml.variants import VARIANTS
from cvxml.metric import FloatArray
from cvxml.result import Certificate, Dual, Solution, Status

NEXT_TO_NOTHING = 1e-6  # of the objective, what rounding may be in it where a metric is kept unseen


class MCML(ConvexMethod[Instance]):
    """Metric learning by collapsing classes."""

    id = "mcml"
    package = "cvxml.methods.mcml"
    TITLE = "Metric learning by collapsing classes (Globerson, Roweis 2005)"
    EXPONENTIAL = True
    PARAMETERS: ClassVar[dict[str, str]] = {}
    STATEMENT = STATEMENT
    VARIANTS = VARIANTS

    def instance(self, X: ArrayLike, y: ArrayLike | None, **params: Any) -> Instance:
        """Everything checked. Raises ValueError for bad input."""
        return instance(X, y, **params)

    def literal(self, given: Instance) -> Any:
        """problem.py."""
        from cvxml.methods.mcml.problem import literal

        return literal(given.X, given.y)

    def literal_dual(self, given: Instance) -> Any:
        """problem.py."""
        from cvxml.methods.mcml.problem import dual

        return dual(given.X, given.y)

    def naive(self, given: Instance, A: FloatArray) -> float:
        """evaluate.py."""
        return definition.objective(given.X, given.y, A)

    def intermediates(self, given: Instance, A: FloatArray) -> dict[str, Any]:
        """evaluate.py."""
        return definition.evaluate(given.X, given.y, A)

    def prove(self, given: Instance, A: FloatArray, dual: Dual) -> Certificate:
        """certify.py."""
        return certify_metric(given, A, dual)

    def fast(
        self, given: Instance, tol: float, max_iter: int, start: FloatArray | None, callback: Callback
    ) -> Found:
        """fast.py."""
        at, of = coordinates(given.X), weights(given.y)
        inside = None if start is None else at.inside(start)

        def prove(M: FloatArray, dual: Dual) -> Certificate:
            return certify_metric(given, at.outside(M), dual, at)

        def solve(keep: Keep, told: Callback) -> Found:
            ended = collapse(
                at, of, prove, tol, max_iter, inside, told, lambda M, dual: keep(at.outside(M), dual)
            )
            status, zero = ended.status, 0 * ended.M
            if status is Status.STALLED and recedes(given.X, at, of, ended.M) == NOT_ATTAINED:
                status = Status.NOT_ATTAINED
            best = zero if prove(zero, ended.dual).proves(tol) else _best(given.X, at, of, ended)
            return Found(at.outside(best), ended.dual, status, ended.n_iter, ended.history)

        return interruptible(callback, solve)

    def through_cvxpy(self, given: Instance, solver: str) -> Found:
        """The literal problem of the points in coordinates of unit covariance: the same problem, in fit units."""
        at = coordinates(given.X)
        found = super().through_cvxpy(Instance(at.Y, given.y), solver)
        return found._replace(metric=at.outside(found.metric))

    def prices(self, given: Instance, values: dict[str, FloatArray]) -> Dual:
        """q as a square, and rows to repair it with: the cone of a back end is not quite ours."""
        n, of = len(given.X), weights(given.y)
        q = np.zeros((n, n))
        for i, row in zip(of.rows, values["q"], strict=True):
            q[i, np.arange(n) != i] = row
        return {"q": q, "interior": inner_rows(coordinates(given.X), of)}

    def stored(self, given: Instance) -> dict[str, Any]:
        """There is no parameter."""
        return {}

    def notes(self, given: Instance, certificate: Certificate) -> Sequence[str]:
        """Who is left out."""
        dropped = alone(given.y)
        if not dropped:
            return ()
        return (f"{dropped} points are alone in their class: left out of the sum over i, not of the k",)

    def solve(self, X: ArrayLike, y: ArrayLike | None, **options: Any) -> Solution:
        """As any convex method, with a note where the infimum is not attained, proved to tol or not."""
        solution = super().solve(X, y, **options)
        at = coordinates(solution.X)
        said = recedes(solution.X, at, weights(solution.y), at.inside(solution.metric))
        return replace(solution, notes=(*solution.notes, said)) if said else solution


def _best(X: FloatArray, at: Coordinates, of: Weights, ended: Ended) -> FloatArray:
    """What the path ended with; or what of all its metrics, or of the parts of the last, is best in double precision.

    Where features are nearly collinear entries of the metric are so large that its distances are lost in rounding. The
    parts are those of the widest coordinates, the least of which is no metric at all.
    """

    def at_most(M: FloatArray) -> float:
        found = value(X, of, at.outside(M))
        return found.value + found.rounding if math.isfinite(found.value) else math.inf

    last = value(X, of, at.outside(ended.M))
    if ended.status is Status.CONVERGED or last.rounding <= NEXT_TO_NOTHING * abs(last.value):
        return ended.M
    masks = [np.arange(len(ended.M)) < k for k in range(len(ended.M))]
    parts = [np.where(np.outer(mask, mask), ended.M, 0.0) for mask in masks]
    return min([ended.M, *ended.tried, *parts], key=at_most)


METHOD = MCML()
