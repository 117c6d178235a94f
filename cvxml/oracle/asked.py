"""What `check` was asked, after its inputs were looked at."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from cvxml.core.method import Method
from cvxml.core.metric import FloatArray
from cvxml.core.result import Solution, Status
from cvxml.core.run import Callback
from cvxml.core.tolerance import TOLERANCES
from cvxml.methods import get

MIN_SECONDS = 1e-9  # even without time left, a search takes its first step
LATE = "the search for a proof ended at time_limit; raise time_limit"


def uninterrupted(solution: Solution) -> Solution:
    """The solution: an interrupt that a solver took for its own ends the judgement too."""
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


class Asked(NamedTuple):
    """A claim about a metric, or about a value, or both."""

    method: str
    X: ArrayLike  # with y and params: what it was asked of, which a misreading changes
    y: ArrayLike | None
    params: dict[str, Any]
    given: Any  # the same, checked
    candidate: FloatArray | None = None  # (d, d)
    components: FloatArray | None = None  # (m, d), if the candidate was given so
    value: float | None = None  # the objective that is claimed
    claim: str = "optimal"
    tol: float = TOLERANCES["normal"]  # a share of the scale
    exact: bool = False
    diagnosed: bool = True
    until: float = math.inf  # perf_counter: the search for a proof ends then
    callback: Callback = None  # told of the steps of that search

    @property
    def left(self) -> float | None:
        """Seconds, of which some are left always; None where there is no limit."""
        return None if self.until == math.inf else max(self.until - time.perf_counter(), MIN_SECONDS)

    @property
    def late(self) -> bool:
        """True once the time is up."""
        return time.perf_counter() >= self.until

    @property
    def lists(self) -> str:
        """The parameter that takes the lists a tie may decide."""
        return next((name for name in ("targets", "triplets") if name in self.module.PARAMETERS), "neighbors")

    @property
    def module(self) -> Method[Any]:
        """The method's."""
        return get(self.method)
