"""Base of methods with one loss on triplets (i, j, l): the rows of the loss, and the names of the dual variables.

In a triplet, j is a target of point i, and l an impostor. The squared distance to l should exceed that to j.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.backend import solve_problem
from cvxml.core.bases import as_combination, combined, weighted
from cvxml.core.derived import Derived
from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual, Status
from cvxml.core.run import Found
from cvxml.core.triplets import Compared, WithVectors
from cvxml.family.rows.base import Duals
from cvxml.family.rows.triplets import Triplets
from cvxml.solvers.family_method import FamilyMethod

Data = TypeVar("Data", bound=Compared)
WithBasis = TypeVar("WithBasis", bound=WithVectors)


class TripletMethod(FamilyMethod[Data]):
    """A method with one loss on triplets (i, j, l): a target j of i, and an impostor l.

    Its dual has two arrays: "triplets" (t, 3), and "price" (t,), the dual variable of each triplet. DUAL: their shapes.
    DERIVED: the fields of a saved file from which "triplets" follows, y and n_neighbors, if the user gave n_neighbors.
    """

    DUAL: ClassVar = {"price": "t", "triplets": "t 3"}
    DERIVED: ClassVar = {"triplets": Derived(("y", "n_neighbors"))}

    def derived(self, given: Data) -> tuple[str, ...]:
        """("triplets",) if the triplets were made from n_neighbors; () if the user gave them."""
        return () if given.n_neighbors is None else ("triplets",)

    def rows(self, given: Data) -> Triplets:
        return Triplets(given.targets, given.impostors)

    def literal_rows(self, given: Data) -> int:
        return given.count

    def duals(self, given: Data, values: dict[str, FloatArray]) -> Dual:
        """The dual as "price" (t,) and "triplets" (t, 3), from the value "a" (t,) that cvxpy found."""
        return {"price": values["a"], "triplets": given.triplets()}

    def read(self, given: Data, dual: Dual) -> Sequence[Duals]:
        return (self.rows(given).read(dual),)

    def named(self, given: Data, duals: Duals) -> Dual:
        return {"price": duals.a, "triplets": self.rows(given).named(duals)}

    def ties(self, given: Data) -> int:
        """The number of points with a tie for the last place among their targets or impostors."""
        return given.tied


class CombinationMethod(TripletMethod[WithBasis]):
    """A triplet method with metrics sum_k w_k b_k b_k^T, w >= 0 (core/bases.py).

    The b_k are K given vectors, the rows of `given.basis` (K, d).
    """

    def allowed(self, given: WithBasis, M: FloatArray) -> FloatArray:
        """The nearest combination sum_k w_k b_k b_k^T, w >= 0, to M (d, d), by least squares (core/bases.py)."""
        return weighted(M, given.basis, given.X).M

    def metric(self, given: WithBasis, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """The nearest combination sum_k w_k b_k b_k^T, w >= 0, to `metric` (d, d), by least squares (core/bases.py).

        Raises ValueError if `metric` differs from it beyond the tolerance. name: that of the argument, for the message.
        """
        return as_combination(metric, given.basis, given.X, name)

    def feasibility(self, given: WithBasis, M: FloatArray) -> str:
        return str(weighted(M, given.basis, given.X).feasibility)

    def through_cvxpy(self, given: WithBasis, solver: str) -> Found:
        """Solve the problem as the paper states it, and its dual, with the back end `solver` of cvxpy.

        The metric is made from the weights w of the problem, and the dual variables are those of the dual. The two are
        solved separately, so they agree only up to the tolerance of the back end.
        """
        w = solve_problem(self.problem(given), solver)["w"]
        a = solve_problem(self.dual(given), solver)["a"]
        M = combined(given.basis, np.maximum(w, 0.0))
        return Found(M, self.duals(given, {"a": a}), Status.CONVERGED, 0)
