"""The one certificate of the family: a lower bound from any prices of any rows, and the gap of any matrix to it.

    min_{M psd}  R(M) + sum_m phi_m(v_m),      v_t = sum_p B_tp D_p,   D_p = <M, X_p> over pairs p of points.

Theorem. For prices a in the domain of k and G = sum_t a_t V_t, V_t = sum_p B_tp X_p,
    inf  >=  k(a) + r(G),
because phi(v) >= k(a) - a v (losses/base.py) and R(M) - <M, G> >= r(G) (regularizers/base.py).
The gap of M is the sum of what the two inequalities leave: none of its terms is negative, and each is computed as such.

Repair. Prices are moved into the domain; rows that have a pair across the range of the regularizer get none, which is
decided in rationals (span.py); then the multiple of the prices is taken that is feasible and has the best bound. Where
no multiple is in the domain and C - G must be psd, prices are mixed with strict ones (strict_prices.py).

Rounding. Distances are those of the features as they are, each with what it may be off by (rounding.py, budget.py); a
term of the gap moves by its slope times that. The gap is also the objective less the bound: whichever of the two
rounding moves less is taken. That 0 is optimal is decided in rationals (zero_is_optimal.py): its gap is then 0, and not
rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Certificate
from cvxml.family.losses.base import Loss, together
from cvxml.family.regularizers.base import JudgedMatrix, Regularizer
from cvxml.family.rows.base import Duals, Rows, Weights, joined
from cvxml.family.theorem.strict_prices import Anchors
from cvxml.family.theorem.zero_is_optimal import zero_is_optimal
from cvxml.numbers.sums import Approximate, summed

NEARLY = 1e-6  # of the objective: a gap at 0 that is worth exact arithmetic


NO_BOUND = Approximate(-math.inf, 0.0)
UNPRICED = Duals(np.zeros(0), np.zeros(0, dtype=np.intp))


class Term(NamedTuple):
    """A loss on its rows."""

    loss: Loss
    rows: Rows


def unknown(judged: JudgedMatrix, gap: float) -> float:
    """No radius."""
    return math.inf


class Family(NamedTuple):
    """A convex method on its data."""

    regularizer: Regularizer
    terms: tuple[Term, ...]
    least_scale: float = 0.0  # of the objective, where that is next to 0
    anchors: Anchors | None = None  # of a loss of which no multiple of prices is in the domain
    # from a matrix looked at and a bound of its gap: how far the optimum may be from it
    radius: Callable[[JudgedMatrix, float], float] = unknown
    of_regularizer: bool = False  # the scale is R(M), without the losses


class Proof(NamedTuple):
    """Repaired prices of each term, their bound, and G."""

    duals: tuple[Duals, ...]
    bound: Approximate
    G: Weights


class _Value(NamedTuple):
    """Of a matrix: R, the objective, and the gap summed from its parts."""

    own: float
    objective: Approximate
    gap: Approximate


def certify(
    family: Family, A: FloatArray, duals: Sequence[Duals], strict: Sequence[Duals] = ()
) -> tuple[Certificate, Proof]:
    """The certificate of the matrix A (d, d) from any prices, and the repaired prices; its dual is left empty.

    strict: other prices, to mix with, where there are anchors.
    """
    proof = prove(family, duals, strict)
    judged = family.regularizer.judge(A)
    value = _at(family, judged, proof)
    objective, bound = value.objective, proof.bound
    # A bound above the objective by no more than both may be off by is equal to it, but for rounding.
    if objective.value < bound.value <= objective.value + objective.error + bound.error:
        bound = Approximate(objective.value, bound.error)
    apart = _difference(objective, bound)
    # Without a bound the parts are those of prices that are not feasible: then the difference is infinite, and counts.
    gap = min(apart, value.gap, key=lambda way: way.error)
    # A bound clearly above an objective that is attained is a mistake. A sum of parts that are not negative
    # could not show it, so the difference is reported.
    if apart.value < -apart.error:
        gap = apart
    near = gap.value <= NEARLY * objective.value < math.inf
    if judged.zero and near and zero_is_optimal(family.regularizer, family.terms, proof.duals):
        bound, gap = objective, Approximate(0.0, 0.0)
    left = max(0.0, gap.value) + gap.error
    return (
        Certificate(
            kind="global",
            objective=objective.value,
            lower_bound=bound.value,
            gap=gap.value,
            scale=max(value.own if family.of_regularizer else abs(objective.value), family.least_scale),
            rounding=gap.error,
            value_rounding=max(objective.error, bound.error),
            radius=family.radius(judged, left) if math.isfinite(left) else math.inf,
            feasibility=judged.feasibility,
            dual={},
            undecided=""
            if gap.value <= gap.error < math.inf
            else family.regularizer.undecided or judged.undecided,
        ),
        proof,
    )


def value(family: Family, A: FloatArray) -> Approximate:
    """The objective at the matrix A (d, d); infinite where its distances overflow."""
    judged = family.regularizer.judge(A)
    if not judged.finite:
        return Approximate(math.inf, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # without a price
        parts = [family.regularizer.value(judged.view)]
        for loss, rows in family.terms:
            parts += [
                loss.part(block).value for block in rows.blocks(judged.view, UNPRICED, loss.inactive_above)
            ]
    return added(parts)


def prove(family: Family, duals: Sequence[Duals], strict: Sequence[Duals] = ()) -> Proof:
    """The bound of the prices that are nearest in the domain, feasible, and the best multiple or mixture of them."""
    repaired = in_domain(family, duals)
    if family.anchors is not None:
        return _best_of(family, repaired[0], family.anchors.feasible(repaired[0], list(strict)))
    rays = [term.loss.ray(own.a) for term, own in zip(family.terms, repaired, strict=True)]
    t = family.regularizer.best_multiple(_weights(family, repaired), together(rays))
    if t != 1:
        repaired = [
            Duals(term.loss.to_domain(own.a * t), own.key)
            for term, own in zip(family.terms, repaired, strict=True)
        ]
    return _of(family, repaired)


def in_domain(family: Family, duals: Sequence[Duals]) -> list[Duals]:
    """The nearest prices in the domain, of rows within the range of the regularizer."""
    repaired = []
    for term, given in zip(family.terms, duals, strict=True):
        inside = term.rows.within_span(family.regularizer.labels, given)
        repaired.append(Duals(term.loss.to_domain(inside.a), inside.key))
    return repaired


def _of(family: Family, kept: Sequence[Duals]) -> Proof:
    """The bound of feasible prices."""
    G = _weights(family, kept)
    parts = [term.loss.bound(own.a) for term, own in zip(family.terms, kept, strict=True)]
    bound = added([*parts, family.regularizer.bound(G)])
    return Proof(tuple(kept), bound if math.isfinite(bound.value + bound.error) else NO_BOUND, G)


def _weights(family: Family, duals: Sequence[Duals]) -> Weights:
    """G of all terms."""
    return joined([term.rows.weights(own) for term, own in zip(family.terms, duals, strict=True)])


def _best_of(family: Family, own: Duals, feasible: Sequence[Duals]) -> Proof:
    """The best bound of feasible prices; that of those given is -inf where there are none."""
    (term,) = family.terms
    if not feasible:
        return Proof((own,), NO_BOUND, term.rows.weights(own))
    return _of(family, [max(feasible, key=lambda duals: term.loss.bound(duals.a).value)])


def _at(family: Family, judged: JudgedMatrix, proof: Proof) -> _Value:
    if not judged.finite:
        return _Value(math.inf, Approximate(math.inf, 0.0), Approximate(math.inf, 0.0))
    with np.errstate(over="ignore", invalid="ignore"):
        own, beyond = family.regularizer.value(judged.view), family.regularizer.excess(judged.view, proof.G)
        values, excesses = [own], [Approximate(max(0.0, beyond.value), beyond.error)]
        for term, duals in zip(family.terms, proof.duals, strict=True):
            for block in term.rows.blocks(judged.view, duals, term.loss.inactive_above):
                part = term.loss.part(block)
                values.append(part.value)
                excesses.append(part.excess)
    return _Value(own.value, added(values), added(excesses))


def added(parts: Sequence[Approximate]) -> Approximate:
    """The sum of sums; infinite where one is no number."""
    value, error = (summed(numbers) for numbers in zip(*parts, strict=True))
    if not math.isfinite(value):
        return Approximate(math.inf, 0.0)
    return Approximate(
        value, (error + 4 * EPS * abs(value)) * (1 + 1e-6) if math.isfinite(error) else math.inf
    )


def _difference(objective: Approximate, bound: Approximate) -> Approximate:
    value = objective.value - bound.value
    return (
        Approximate(value, objective.error + bound.error + 2 * EPS * abs(value))
        if math.isfinite(value)
        else Approximate(math.inf, 0.0)
    )
