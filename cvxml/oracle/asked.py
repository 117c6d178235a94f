"""What `check` was asked, after its inputs were looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.methods import Method, get
from cvxml.metric import FloatArray
from cvxml.result import TOLERANCES, Solution, Status


def uninterrupted(solution: Solution) -> Solution:
    """The solution: an interrupt that a solver took for its own ends the judgement too."""
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


class Asked(NamedTuple):
    """A claim about a metric, or about a value, or both."""

    method: str
    X: ArrayLike
    y: ArrayLike | None
    candidate: FloatArray | None  # (d, d)
    components: FloatArray | None  # (m, d), if the candidate was given so
    value: float | None  # the objective that is claimed
    claim: str
    tol_name: str
    exact: bool
    diagnosed: bool
    params: dict[str, Any]

    @property
    def tol(self) -> float:
        """A share of the scale."""
        return TOLERANCES[self.tol_name]

    @property
    def lists(self) -> str:
        """The parameter that takes the lists a tie may decide."""
        return "targets" if "targets" in self.module.PARAMETERS else "neighbors"

    @property
    def module(self) -> Method:
        """The method's."""
        return get(self.method)
