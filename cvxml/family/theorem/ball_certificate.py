"""Certificates of methods with objective and bound given as balls.

A ball is an interval with a midpoint and a proved radius (core/balls.py). Points, metric and dual variables are floats,
so they are rational numbers. Objective and bound are computed from them to at least 256 bits, and are rounded to floats
at the end. The gap then has all digits of a float, and its error bound is that of the last rounding.
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
    """The certificate of a metric, from its objective and a lower bound of the optimum. Both are balls.

    objective: inf for a metric that is infeasible or has an infinite objective.
    scale: the number that gaps are relative to.
    radius: maps an upper bound of the gap to a bound of the distance to the optimum.
    feasibility: that of the metric. dual: the dual variables that the certificate stores.
    """
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
    """The positive definite matrix that exact arithmetic judges in place of the metric A (d, d).

    If A is exactly psd and no root is given, it is A itself. Otherwise it is M M^T, where M (d, r) is `root`, or else a
    computed root of A. Raises SingularMetric if this matrix is singular.
    """
    metric = judged(A, root)
    if not is_definite(metric.V):
        raise SingularMetric("the metric is singular, so its objective is infinite")
    return metric
