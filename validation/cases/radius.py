"""How far the optimum of a golden case may be from its metric, by the gap of its exact interval: rounded upward."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from cvxml.core.balls import ball, precision
from cvxml.core.exact import Exact, flint, root_upward, scaled, sum_of_squares
from cvxml.core.integer_matrices import is_psd
from cvxml.family.losses.root import Root
from cvxml.family.regularizers.budget import Budget
from cvxml.family.regularizers.combinations import NormOfCombination
from cvxml.family.regularizers.diagonal import DiagonalBudget
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.regularizers.logdet import LogDet
from cvxml.family.theorem.theorem import Family
from cvxml.numbers.rational import Squares, least_factor, plane

Integers = Any  # an array of integers of any size


def radius(family: Family, metric: Squares, found: Exact) -> Fraction | None:
    """metric: that of which `found` is the interval. None where none is known: the optimum need not be unique."""
    R = family.regularizer
    if isinstance(R, Frobenius):
        own = Fraction(root_upward(2 * found.gap / Fraction(R.lam)))
    elif isinstance(R, NormOfCombination):
        own = Fraction(root_upward(2 * found.gap))
    elif isinstance(R, LogDet):
        own = relative(found.gap) * norm(metric)
    elif isinstance(R, Budget) and isinstance(family.terms[0].loss, Root) and (inverse := flatness(family)):
        own = Fraction(root_upward(2 * found.gap * inverse)) + beyond(R, metric)
    else:
        return None
    return own + Fraction(metric.distance)


def norm(metric: Squares) -> Fraction:
    """An upper bound of the Frobenius norm."""
    return Fraction(root_upward(scaled(sum_of_squares(metric.V), 2 * metric.at)))


def relative(gap: Fraction) -> Fraction:
    """s with log(1 + s) - s/(1 + s), which grows with s, at least the gap: e^w - 1 of family/regularizers/logdet.py."""
    s = Fraction(root_upward(2 * gap))
    s *= 1 + s
    with precision():
        while not ball(1 + s).log() - ball(s / (1 + s)) >= ball(gap):
            s *= 2
    return s


def beyond(within: Budget, metric: Squares) -> Fraction:
    """How far what is judged, the metric over max(1, spent), is from it."""
    spent = plane(within.X).distances(metric).total(within.similar, [Fraction(1)] * len(within.similar))
    return (1 - 1 / max(Fraction(1), spent)) * norm(metric)


def flatness(family: Family) -> Fraction | None:
    """1/m, where -sum sqrt D within the budget has a second derivative of at least m ||A||^2 along A; None for m = 0.

    That of -sqrt is at least k = reach^-3/2 / 4, reach being the largest D within the budget
    (methods/mmc/budget_radius.py).
    """
    within, (term,) = family.regularizer, family.terms
    assert isinstance(within, Budget)
    X = plane(within.X)
    points = np.array([[int(v) for v in row] for row in X.points.tolist()], dtype=object)
    E, similar = (points[i] - points[j] for i, j in (term.rows.listed.T, within.similar.T))
    diagonal = isinstance(within, DiagonalBudget)
    reach = (reach_of_diagonal if diagonal else reach_of_psd)(E, similar)
    if reach is None:
        return None
    # D = features . entries of A; an entry off the diagonal is there twice, in D and in ||A||^2
    i, j = np.diag_indices(E.shape[1]) if diagonal else np.triu_indices(E.shape[1])
    times = np.where(i == j, 1, 2).astype(object)
    features = E[:, i] * E[:, j] * times
    k = [Fraction(math.nextafter(float(1 / (4 * Fraction(root_upward(r**3)))), 0.0)) for r in reach]
    common = math.lcm(*(v.denominator for v in k))
    weights = np.array([int(v * common) for v in k], dtype=object)
    curvature = flint().fmpz_mat((features.T @ (weights[:, None] * features)).tolist())
    sizes = flint().fmpz_mat(np.diag(times).tolist())
    if int(curvature.det()) == 0:
        return None
    unit = scaled(1, 4 * X.at) / common
    return least_factor(lambda f: is_psd(curvature * f.numerator - sizes * f.denominator), Fraction(1)) / unit


def reach_of_psd(E: Integers, similar: Integers) -> list[Fraction] | None:
    """e^T S^-1 e of every row of E (q, d), S = sum of e e^T over the similar pairs; None where that is singular."""
    S = flint().fmpz_mat((similar.T @ similar).tolist())
    det = int(S.det())
    if det == 0:
        return None
    adjugate = np.array([[int(v * det) for v in row] for row in S.inv().tolist()], dtype=object)
    return [Fraction(int(e @ adjugate @ e), det) for e in E]


def reach_of_diagonal(E: Integers, similar: Integers) -> list[Fraction] | None:
    """max_k e_k^2 / S_kk; None where a feature costs nothing."""
    S = np.sum(similar**2, axis=0)
    return [max(Fraction(v, s) for v, s in zip(e**2, S, strict=True)) for e in E] if S.all() else None
