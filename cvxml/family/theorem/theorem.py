"""The certificate of the family: a lower bound from any dual variables, and the gap of any matrix to it.

    min_{M psd}  R(M) + sum_m phi_m(v_m),      v_t = sum_p B_tp D_p,   D_p = <M, X_p> over pairs p of points.

X_p = (x_i - x_j)(x_i - x_j)^T for p = (i, j). Each row t of the loss m has a value v_t and a dual variable a_t. A term
is a loss with its rows. A `Duals` holds dual variables of one term, with the keys of their rows.

Theorem. For dual variables a in the domain of k and G = sum_t a_t V_t, V_t = sum_p B_tp X_p,

    inf  >=  k(a) + r(G),

because phi(v) >= k(a) - a v (losses/base.py) and R(M) - <M, G> >= r(G) (regularizers/base.py).
The gap of M is the sum of the excesses of these inequalities. Each excess is computed as a sum of terms >= 0.

Repair. Dual variables become feasible in three steps.
- Some regularizers have a range: a subspace, for example the range of C in R(M) = <C, M>. If x_i - x_j is outside it
  for a pair of a row, the row gets the dual variable 0. This is decided in rationals (numbers/span.py).
- The dual variables are moved into the domain of k.
- The best feasible multiple is taken. If the domain contains no other multiples and C - G must be psd, the dual
  variables are mixed with strict ones, for which C - G is positive definite. The object `anchors` of the family finds
  them (strict_prices.py).

Rounding. Every distance has an error bound (numbers/rounding.py, geometry/budget.py), and a term of the gap changes by
at most its slope times this bound. The gap is also the objective minus the bound. The one of the two gaps with the
smaller error bound is used. If M = 0 is proved optimal in rationals (zero_is_optimal.py), the gap is exactly 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Certificate
from cvxml.core.work import PROVING, doing
from cvxml.family.losses.base import Loss, together
from cvxml.family.regularizers.base import JudgedMatrix, Regularizer
from cvxml.family.rows.base import Duals, Rows, Weights, joined
from cvxml.family.theorem.strict_prices import Anchors
from cvxml.family.theorem.zero_is_optimal import zero_is_optimal
from cvxml.numbers.sums import Approximate, summed

NEARLY = 1e-6  # if M = 0 and the relative gap is at most this, optimality is checked in exact arithmetic


NO_BOUND = Approximate(-math.inf, 0.0)
UNPRICED = Duals(np.zeros(0), np.zeros(0, dtype=np.intp))


class Term(NamedTuple):
    """A loss phi(v), and its rows, which define v."""

    loss: Loss
    rows: Rows


def unknown(judged: JudgedMatrix, gap: float) -> float:
    """Return inf, for families without a known bound of the distance between the optimum and a judged matrix."""
    return math.inf


class Family(NamedTuple):
    """A convex method on its data: a regularizer and losses on rows.

    least_scale: a lower limit of the scale, the number that gaps are relative to. of_regularizer: True if the scale is
    R(M), without the losses.

    anchors: finds strict dual variables to mix with, for a loss whose domain does not contain the multiples of its dual
    variables; see the module docstring.

    radius: maps a judged matrix, and a bound of its gap, to a bound of the distance of the optimum from the user's
    matrix. The judged matrix may differ from the user's matrix by rounding.
    """

    regularizer: Regularizer
    terms: tuple[Term, ...]
    least_scale: float = 0.0  # lower limit of the scale, for objectives near 0
    anchors: Anchors | None = None  # given if the domain of the loss contains no other multiples
    # (judged matrix, bound of its gap) -> a bound of the distance of the optimum from the matrix
    radius: Callable[[JudgedMatrix, float], float] = unknown
    of_regularizer: bool = False  # True: the scale is R(M), without the losses

    def scale(self, own: float, objective: float) -> float:
        """The number that gaps are relative to. own: R(M). objective: the objective at M."""
        return max(own if self.of_regularizer else abs(objective), self.least_scale)


class Proof(NamedTuple):
    """The repaired dual variables of each term, their lower bound k(a) + r(G), and the matrix G."""

    duals: tuple[Duals, ...]
    bound: Approximate
    G: Weights


class _Value(NamedTuple):
    """For one matrix M: R(M) (`own`), the objective, and the gap as a sum of excesses."""

    own: float
    objective: Approximate
    gap: Approximate


@doing(PROVING)
def certify(
    family: Family, A: FloatArray, duals: Sequence[Duals], strict: Sequence[Duals] = ()
) -> tuple[Certificate, Proof]:
    """Certify the matrix A (d, d) with any dual variables, given for each term.

    strict: dual variables to mix with if their C - G is positive definite; used only if the family has anchors. Returns
    the certificate, with an empty field `dual`, and the proof, which has the repaired dual variables.
    """
    proof = prove(family, duals, strict)
    judged = family.regularizer.judge(A)
    value = _at(family, judged, proof)
    objective, bound = value.objective, proof.bound
    # A bound that exceeds the objective by at most both error bounds is replaced by the objective.
    if objective.value < bound.value <= objective.value + objective.error + bound.error:
        bound = Approximate(objective.value, bound.error)
    apart = _difference(objective, bound)
    # Without a feasible bound the excesses prove no gap. Then the difference is inf with error 0, so it is chosen.
    gap = min(apart, value.gap, key=lambda way: way.error)
    # A bound clearly above an attained objective is a mistake. A sum of terms >= 0 cannot show it, so the difference
    # is reported.
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
            scale=family.scale(value.own, objective.value),
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
    """The objective at the matrix A (d, d); inf if its distances overflow, or if R is infinite or unknown there."""
    judged = family.regularizer.judge(A)
    if not judged.finite:
        return Approximate(math.inf, 0.0)
    # `part` also computes the excess, which may be infinite at a = 0 and is not used.
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        parts = [family.regularizer.value(judged.view)]
        for loss, rows in family.terms:
            parts += [
                loss.part(block).value for block in rows.blocks(judged.view, UNPRICED, loss.inactive_above)
            ]
    return added(parts)


def scale(family: Family, A: FloatArray) -> float:
    """The number that the gap of the matrix A (d, d) is relative to.

    inf if the scale needs distances or an R(A) that overflow, or if R is infinite or unknown there.
    """
    if not family.of_regularizer:
        return family.scale(0.0, value(family, A).value)
    judged = family.regularizer.judge(A)
    return family.scale(family.regularizer.value(judged.view).value, 0.0) if judged.finite else math.inf


def prove(family: Family, duals: Sequence[Duals], strict: Sequence[Duals] = ()) -> Proof:
    """Repair the dual variables and compute their lower bound, for the best multiple or mixture of them.

    strict: dual variables to mix with if their C - G is positive definite; used only if the family has anchors.
    """
    repaired = in_domain(family, duals)
    if family.anchors is not None:
        return _best_proof(family, repaired[0], family.anchors.feasible(repaired[0], list(strict)))
    rays = [term.loss.ray(own.a) for term, own in zip(family.terms, repaired, strict=True)]
    G = _weights(family, repaired)
    t = family.regularizer.best_multiple(G, together(rays))
    if t == 1:
        return _of(family, repaired, G)
    repaired = [
        Duals(term.loss.to_domain(own.a * t), own.key)
        for term, own in zip(family.terms, repaired, strict=True)
    ]
    return _of(family, repaired, _weights(family, repaired))


def in_domain(family: Family, duals: Sequence[Duals]) -> list[Duals]:
    """Move the dual variables of each term into the domain of its loss.

    A row gets the dual variable 0 if the points of one of its pairs differ outside the range of the regularizer.
    """
    repaired = []
    for term, given in zip(family.terms, duals, strict=True):
        inside = term.rows.within_span(family.regularizer.labels, given)
        repaired.append(Duals(term.loss.to_domain(inside.a), inside.key))
    return repaired


def _of(family: Family, kept: Sequence[Duals], G: Weights) -> Proof:
    """The lower bound and the matrix G of feasible dual variables, as a proof.

    kept: the dual variables of each term. G: the matrix that belongs to them, as weights on pairs. The bound is -inf
    (`NO_BOUND`) if it or its error is not finite.
    """
    parts = [term.loss.bound(own.a) for term, own in zip(family.terms, kept, strict=True)]
    bound = added([*parts, family.regularizer.bound(G)])
    return Proof(tuple(kept), bound if math.isfinite(bound.value + bound.error) else NO_BOUND, G)


def _weights(family: Family, duals: Sequence[Duals]) -> Weights:
    """G = sum_t a_t V_t over the rows of all terms, as weights on pairs."""
    return joined([term.rows.weights(own) for term, own in zip(family.terms, duals, strict=True)])


def _best_proof(family: Family, own: Duals, feasible: Sequence[Duals]) -> Proof:
    """The best lower bound among several choices of feasible dual variables, for a family with one term.

    If `feasible` is empty, the bound is -inf, and the dual variables of the proof are `own`.
    """
    (term,) = family.terms
    if not feasible:
        return Proof((own,), NO_BOUND, term.rows.weights(own))
    kept = [max(feasible, key=lambda duals: term.loss.bound(duals.a).value)]
    return _of(family, kept, _weights(family, kept))


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
    """The sum of numbers with error bounds; inf if the sum is not finite."""
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
