"""The arguments of `check` after they were checked, and helpers for them.

The modules that judge a metric get the arguments as one tuple, `Asked`.
"""

from __future__ import annotations

import math
import time
from typing import Any, Literal, NamedTuple, TypeAlias

from numpy.typing import ArrayLike

from cvxml.core.method import Method
from cvxml.core.metric import FloatArray
from cvxml.core.result import Solution, Status
from cvxml.core.run import Callback
from cvxml.core.short_repr import cut
from cvxml.core.tolerance import TOLERANCES
from cvxml.methods import get

MIN_SECONDS = 1e-9  # a time limit must be positive; with this one a search still takes its first step
LATE = "the search for a proof ended at time_limit; raise time_limit"


Diagnosed: TypeAlias = bool | Literal["all"]


def check_diagnosed(given: Any) -> Diagnosed:
    """Return the argument `diagnosed` of `check`: whether to search for the mistake that explains a refuted metric.

    It is True (for a limited time), False, or "all" (without a limit). Raises ValueError for other input.
    """
    if given in (True, False):
        return bool(given)
    if isinstance(given, str) and given == "all":
        return "all"
    raise ValueError(f'diagnosed must be True, False or "all"; got {cut(repr(given), 40)}')


def uninterrupted(solution: Solution) -> Solution:
    """Return the solution; raises KeyboardInterrupt if Ctrl-C stopped its solver.

    A solver catches Ctrl-C and returns its best metric. Here Ctrl-C must end the judgement too.
    """
    if solution.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return solution


class Asked(NamedTuple):
    """The checked arguments of `check`: a claim about a metric, about an objective, or about both.

    X, y, params: as the user gave them. given: the same inputs in the method's own form, after `Method.instance`
    checked them. candidate: (d, d), the metric to judge.

    components: L (m, d) with M = L^T L, if the user gave L in place of the metric M. value: the claimed objective.
    claim: "optimal" or "stationary". tol: relative to the scale. exact: judge in exact arithmetic.

    diagnosed: whether to search for the mistake that explains a refuted metric; "all" means that this search has no
    time limit of its own.

    until: the end of the search for a proof, on the clock perf_counter. callback: called at each step of this search.
    """

    method: str
    # X (n, d), y (n,) and params as the user gave them; a misreading changes them
    X: ArrayLike
    y: ArrayLike | None
    params: dict[str, Any]
    given: Any  # X, y and params after `Method.instance` checked them
    candidate: FloatArray | None = None  # (d, d)
    components: FloatArray | None = None  # (m, d), if the candidate was given by components
    value: float | None = None  # the claimed objective
    claim: str = "optimal"
    tol: float = TOLERANCES["normal"]  # relative to the scale
    exact: bool = False
    diagnosed: Diagnosed = True  # "all": without a limit of its time
    until: float = math.inf  # end of the search for a proof, on the clock perf_counter
    callback: Callback = None  # called at each measured step of that search

    @property
    def left(self) -> float | None:
        """Return the seconds until `until`, at least `MIN_SECONDS`, or None without a time limit."""
        return None if self.until == math.inf else max(self.until - time.perf_counter(), MIN_SECONDS)

    @property
    def late(self) -> bool:
        return time.perf_counter() >= self.until

    @property
    def lists(self) -> str:
        """Return the name of the parameter that takes lists: "targets", "triplets" or "neighbors".

        Ties between distances may lead to other lists. In this case a report asks the user to give the lists by this
        parameter.
        """
        return next((name for name in ("targets", "triplets") if name in self.module.PARAMETERS), "neighbors")

    @property
    def module(self) -> Method[Any]:
        return get(self.method)
