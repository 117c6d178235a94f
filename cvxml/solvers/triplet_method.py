"""Members of one loss on triplets: what their rows are, and what their prices are called in files."""

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
    """A method whose dual is "price" (t,) with "triplets" (t, 3)."""

    DUAL: ClassVar = {"price": "t", "triplets": "t 3"}
    DERIVED: ClassVar = {"triplets": Derived(("y", "n_neighbors"))}

    def derived(self, given: Data) -> tuple[str, ...]:
        """The triplets, where a number of neighbours names them."""
        return () if given.n_neighbors is None else ("triplets",)

    def rows(self, given: Data) -> Triplets:
        """All of them."""
        return Triplets(given.targets, given.impostors)

    def literal_rows(self, given: Data) -> int:
        """The triplets."""
        return given.count

    def duals(self, given: Data, values: dict[str, FloatArray]) -> Dual:
        """One price a triplet."""
        return {"price": values["a"], "triplets": given.triplets()}

    def read(self, given: Data, dual: Dual) -> Sequence[Duals]:
        """ "price" (t,) with "triplets" (t, 3)."""
        return (self.rows(given).read(dual),)

    def named(self, given: Data, duals: Duals) -> Dual:
        """The triplets that have a price."""
        return {"price": duals.a, "triplets": self.rows(given).named(duals)}

    def ties(self, given: Data) -> int:
        """How many points have a tie at the boundary of their targets or impostors."""
        return given.tied


class CombinationMethod(TripletMethod[WithBasis]):
    """The same, of metrics that are combinations of the vectors `basis` (K, d) with weights >= 0 (core/bases.py)."""

    def allowed(self, given: WithBasis, M: FloatArray) -> FloatArray:
        """The combination nearest to M."""
        return weighted(M, given.basis, given.X).M

    def metric(self, given: WithBasis, metric: ArrayLike, name: str = "metric") -> FloatArray:
        """A candidate as the combination it stands for. Raises ValueError for what is none."""
        return as_combination(metric, given.basis, given.X, name)

    def feasibility(self, given: WithBasis, M: FloatArray) -> str:
        """How far M is from such a metric, as a sentence."""
        return str(weighted(M, given.basis, given.X).feasibility)

    def through_cvxpy(self, given: WithBasis, solver: str) -> Found:
        """Of the metric the weights are taken: what a back end says of both agrees but for its tolerance."""
        w = solve_problem(self.problem(given), solver)["w"]
        a = solve_problem(self.dual(given), solver)["a"]
        M = combined(given.basis, np.maximum(w, 0.0))
        return Found(M, self.duals(given, {"a": a}), Status.CONVERGED, 0)
