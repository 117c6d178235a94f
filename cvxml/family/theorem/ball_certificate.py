"""Certificates of methods whose objective and bound are known as balls (core/balls.py): floats come last.

Points, metric and dual are floats, which are rational numbers: where both ends are computed from these to 256 bits or
more, a gap has all its digits, and what is off is the last one that a float has.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from cvxml.core.balls import ends, precision
from cvxml.core.exact import SingularMetric, upward
from cvxml.core.integer_matrices import is_definite
from cvxml.core.metric import EPS, Feasibility, FloatArray
from cvxml.core.result import Certificate, Dual
from cvxml.numbers.rational import Squares, judged


def certificate(
    objective: Any,
    bound: Any,
    *,
    scale: float,
    radius: Callable[[float], float],
    feasibility: Feasibility,
    dual: Dual,
) -> Certificate:
    """objective, bound: balls, the first inf for a metric that costs infinity. radius: by the gap, rounded upward."""
    if math.isinf(float(objective)):
        figures = math.inf, float(bound), math.inf, scale, 0.0, math.inf
        return Certificate("global", *figures, feasibility, dual)
    with precision():
        gap = objective - bound
    value = max(0.0, float(gap))
    return Certificate(
        kind="global",
        objective=float(objective),
        lower_bound=float(bound),
        gap=value,
        scale=scale,
        rounding=float(gap.rad()) + EPS * value,
        radius=radius(max(0.0, upward(ends(gap)[1]))) + feasibility.distance,
        feasibility=feasibility,
        dual=dual,
        value_rounding=EPS * abs(float(objective)),
    )


def definite(A: FloatArray, root: ArrayLike | None = None) -> Squares:
    """The metric A (d, d) as exact arithmetic judges it. Raises SingularMetric for a singular one."""
    metric = judged(A, root)
    if not is_definite(metric.V):
        raise SingularMetric("the metric is singular, so its objective is infinite")
    return metric
