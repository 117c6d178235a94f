"""The certificate of stationarity of a metric Q for MLKR, in balls: numbers with a proved error bound (core/balls.py).

F is the error of the predictions (method.py), and Q = A^T A for a map A (m, d). The certificate bounds the decrease of
F, to first order, by a change of the used rows of A. It also bounds the decrease by a row of A that is not used yet, a
free row (family/stationary/stationary.py). Gaps are relative to the scale, which is the smallest of three numbers. They
are F, the distance of F to its limit along multiples of Q, and `PLENTY` (4) times `turns`. `turns` is the sum of the
absolute values of the terms of dF(tA)/dt at t = 1, divided by |A|^2 if |A| < 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.balls import ball, ends, precision, total
from cvxml.core.clock import watched
from cvxml.core.exact import flint
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import EPS, FloatArray, examine
from cvxml.core.result import Certificate, Stationarity
from cvxml.family.stationary.rank import examine_rank
from cvxml.family.stationary.stationary import (
    NOTHING,
    PLENTY,
    FirstOrder,
    components,
    first_order,
    nearest,
    resolved,
    root_inside,
    squared,
    turns,
    won_at_most,
)
from cvxml.methods.mlkr.instance import Instance
from cvxml.numbers.rational import Plane, Squares


def tends_to_0(given: Instance, Q: FloatArray) -> bool:
    """True if under Q (d, d) all nearest neighbours of each point i have its target value y_i; decided exactly.

    Then F tends to 0 along multiples of Q. The same is required of A^T A, for the rounded root A (m, d) of Q, because
    Q in floats may have a negative eigenvalue, and thus negative squared distances. For Q = 0 the result is False.
    """
    return bool(Q.any()) and all(
        _nearest_have_its_target(given, each)
        for each in (squared(components(Q, given.m, given.at)), Squares(*whole(Q), 0.0))
    )


def _nearest_have_its_target(given: Instance, Q: Squares) -> bool:
    (points, at), y = given.points, given.y
    for i, row in watched(enumerate(Plane(points, at).distances(Q).D)):
        least = min(D for k, D in enumerate(row) if k != i)
        if any(y[k] != y[i] for k, D in enumerate(row) if k != i and least == D):
            return False
    return True


class Figures(NamedTuple):
    """The objective of a metric and its first-order values, as balls.

    first: |A|^2, |dF/dA|^2, dF(tA)/dt at t = 1, and the decrease by a free row. turns: see the module docstring.

    to_limit: |F - limit of F along multiples of the metric|.
    """

    objective: Any
    first: FirstOrder
    turns: Any  # the sum of the absolute values of the terms of the scale derivative, see `turns`
    to_limit: Any  # |F - limit of F along multiples of the metric|


def objective(given: Instance, Q: Squares) -> Any:
    """F at the metric Q (d, d), given by exact integers, as a ball at the current precision."""
    (points, at), y = given.points, [ball(value) for value in given.y.tolist()]
    found, unit = [], 2 * at + Q.at
    for i, row in watched(enumerate(Plane(points, at).distances(Q).D)):
        others = [k for k in range(len(row)) if k != i]
        least = min(row[k] for k in others)
        e = [ball(flint().fmpz(least - row[k]), unit).exp() for k in others]
        error = total([a * (y[k] - y[i]) for a, k in zip(e, others, strict=True)]) / total(e)
        found.append(error * error)
    return total(found)


def figures(given: Instance, Q: Squares) -> Figures:
    """The objective F, its first-order values and its distance to the limit at the metric Q (d, d), as balls.

    Q: given by exact integers. The precision of the balls is the current one.
    """
    arb, n = flint().arb, len(given.X)
    (points, at), v_at = given.points, Q.at
    D, unit = Plane(points, at).distances(Q).D, 2 * at + v_at
    y = [ball(value) for value in given.y.tolist()]
    weights, squares, to = flint().arb_mat(n, n), [], arb(0)
    largest = max(map(max, D))
    for i, row in watched(enumerate(D)):
        least = min(row[k] for k in range(n) if k != i)
        e = [ball(flint().fmpz(least - D_ik), unit).exp() if k != i else arb(0) for k, D_ik in enumerate(row)]
        Z = total(e)
        yhat = total([a * b for a, b in zip(e, y, strict=True)]) / Z
        error = yhat - y[i]
        squares.append(error * error)
        tied = [y[k] for k in nearest(row, i, largest)]
        to += (y[i] - total(tied) / len(tied)) ** 2
        for k in range(n):
            weights[i, k] = 2 * error * e[k] / Z * (yhat - y[k])
    F = total(squares)
    first = first_order(given.points, Q, weights, given.m)
    return Figures(F, first, turns(D, unit, weights), abs(F - to))


def stationarity(of: Figures, is_zero: bool) -> Stationarity:
    """Upper bounds of the decrease of F, to first order, by the used rows and by a free row of A; and the scale.

    of: the figures of the metric. is_zero: True if the metric is 0, which has another scale (`scale`). The result also
    has dF(tA)/dt at t = 1, as a float.
    """
    (gradient, free), of_scale = won_at_most(of.first), scale(of, is_zero)
    return Stationarity(
        gradient=gradient,
        scale_derivative=float(of.first.slope),
        dc_residual=free,
        of=float(of_scale) if of_scale > 0 else NOTHING,
    )


def scale(of: Figures, is_zero: bool) -> Fraction:
    """A lower bound of the scale (module docstring), from the figures `of` of a metric.

    The result is 0 if it is so small that rounding errors may be as large. is_zero: True if the metric is 0. Then the
    scale is F.
    """
    scales = [of.objective] if is_zero else [of.objective, of.to_limit, PLENTY * of.turns]
    return resolved(of.objective, [ends(each)[0] for each in scales])


def rows_of(given: Instance, Q: FloatArray) -> FloatArray:
    """A matrix A (min(m, r), r), padded with zero rows, for which A^T A is Q (d, d) in coordinates of unit covariance.

    r: the number of these coordinates, `given.at`. If the rank of Q is above m, A^T A is the nearest metric of rank m.
    """
    A = root_inside(examine_rank(Q, given.m, given.at)[0])
    return np.vstack([A, np.zeros((min(given.m, given.at.Y.shape[1]) - len(A), A.shape[1]))])


def certify(given: Instance, Q: FloatArray) -> Certificate:
    """The certificate of stationarity of Q (d, d).

    The judged metric is A^T A for a rounded root A (m, d) of Q, so it is psd of rank at most m. The difference of F
    between A^T A and Q is included in the field `rounding` of the certificate; F itself if Q is not feasible.
    """
    feasibility, A = examine_rank(Q, given.m, given.at)[1], components(Q, given.m, given.at)
    with precision():
        of = figures(given, squared(A))
        found = stationarity(of, not A.any())
        here = examine(Q)[0]
        error = (
            abs(objective(given, Squares(*whole(here), 0.0)) - of.objective)
            if feasibility.feasible
            else of.objective
        )
        rounding = float(error) + float(error.rad()) + EPS * float(of.objective)
    F = float(of.objective)
    return Certificate(
        kind="stationary",
        objective=F,
        lower_bound=0.0,
        gap=F,
        scale=found.of,
        rounding=rounding,
        radius=math.inf,
        feasibility=feasibility,
        dual={},
        stationarity=found,
        undecided=given.at.undecided,
    )
