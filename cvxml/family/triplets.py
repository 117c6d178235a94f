"""Members of one loss on triplets: what their rows are, and what their prices are called in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from cvxml.core.metric import FloatArray
from cvxml.core.result import Dual
from cvxml.core.triplets import Compared
from cvxml.family.method import FamilyMethod
from cvxml.family.rows import Prices, Triplets

Data = TypeVar("Data", bound=Compared)


class TripletMethod(FamilyMethod[Data]):
    """A method whose dual is "price" (t,) with "triplets" (t, 3)."""

    def rows(self, given: Data) -> Triplets:
        """All of them."""
        return Triplets(given.targets, given.impostors)

    def literal_rows(self, given: Data) -> int:
        """The triplets."""
        return given.count

    def prices(self, given: Data, values: dict[str, FloatArray]) -> Dual:
        """One price a triplet."""
        return {"price": values["a"], "triplets": given.triplets()}

    def read(self, given: Data, dual: Dual) -> Sequence[Prices]:
        """ "price" (t,) with "triplets" (t, 3)."""
        return (self.rows(given).read(dual),)

    def named(self, given: Data, prices: Prices) -> Dual:
        """The triplets that have a price."""
        return {"price": prices.a, "triplets": self.rows(given).named(prices)}

    def ties(self, given: Data) -> int:
        """How many points have a tie at the boundary of their targets or impostors."""
        return given.tied
