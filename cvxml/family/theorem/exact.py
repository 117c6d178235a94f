"""The certificate in exact arithmetic: an interval that is a theorem, for every member of the family.

Points, metric and prices are floats, which are rational numbers: so are distances, and objective and bound wherever the
loss is rational; logarithms and roots are balls (core/balls.py), of which the outer end is taken. No floating point is
believed: the prices of the double-precision proof are moved into the domain exactly, and what must be psd is proved so
(core/integer_matrices.py), after a little shrinking if need be.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.balls import precision
from cvxml.core.exact import Exact, Unproved
from cvxml.core.metric import FloatArray
from cvxml.family.rows.base import Duals, Weights, joined
from cvxml.family.theorem.theorem import Family, Term
from cvxml.numbers.rational import Plane, end, plane
from cvxml.numbers.vocabulary import exact

# Prices that just miss being feasible are tried again times 1 - 2^-k, for these k; 0 stands for no change.
SHRINKING = (0, 50, 40, 30, 20, 10)
UNPROVED = "no bound is proved of these prices"


def interval(
    family: Family,
    A: FloatArray,
    duals: Sequence[Duals],
    root: ArrayLike | None = None,
    strict: Duals | None = None,
    hint: Any = None,
) -> Exact:
    """lower bound <= optimum <= objective of a family with exact constants, from repaired prices.

    The upper end is that of A (d, d) where it is feasible as rational numbers are, else of a matrix near.
    root (d, r): M with M M^T near A, if it is known. strict: repaired prices to mix with, where there are anchors.
    hint: of the regularizer's bound, if it is known. With root and hint no digit of the interval is floating point's.
    """
    regularizer, terms = family.regularizer, family.terms
    X = plane(regularizer.X)
    with precision():
        own = [_exact_duals(term, given) for term, given in zip(terms, duals, strict=True)]
        mixed = family.anchors is not None
        bound = _best_mixed(family, X, own[0], strict) if mixed else _bound(family, X, own, hint)
        metric = regularizer.exact_metric(A, root)
        at = regularizer.exact_distances(X, metric)
        of_metric = regularizer.exact_value(metric, at)
        values = [of_metric]
        values += [term.loss.exact_value(term.rows.exactly(at.D), at.unit) for term in terms]
        objective = end(values, up=True)
        of_scale = [of_metric] if family.of_regularizer else values
        # no more than what it is, whatever its sign
        least = max(end(of_scale, up=False), -end(of_scale, up=True))
    return Exact(bound, objective, metric.distance, max(least, Fraction(family.least_scale)))


def _bound(family: Family, X: Plane, own: Sequence[Duals], hint: Any) -> Fraction:
    """Of the prices, shrunk a little where they are not feasible."""
    found = _shrunk(family, X, own, hint)
    if found is not None:
        return found[1]
    r = family.regularizer.exact_bound(X, Weights(np.zeros((0, 2), dtype=np.intp), np.zeros(0, dtype=object)))
    if r is None:
        raise Unproved(UNPROVED)
    return end([r], up=False)


def _shrunk(
    family: Family, X: Plane, own: Sequence[Duals], hint: Any = None
) -> tuple[list[Duals], Fraction] | None:
    """The first of the prices, less and less of them, that are feasible, and their bound; None where none are."""
    for k in SHRINKING:
        t = 1 - Fraction(1, 1 << k) if k else Fraction(1)
        duals = [each._replace(a=each.a * t) for each in own]
        found = _bound_of(family, X, duals, hint)
        if found is not None:
            return duals, found
    return None


def feasible_duals(family: Family, duals: Sequence[Duals]) -> list[Duals]:
    """The prices, fractions, whose bound `interval` takes, from repaired ones, of a family without anchors.

    Where none are feasible they are 0, and the bound is that of R alone.
    """
    own = [_exact_duals(term, given) for term, given in zip(family.terms, duals, strict=True)]
    found = _shrunk(family, plane(family.regularizer.X), own)
    return [each._replace(a=each.a * 0) for each in own] if found is None else found[0]


def _best_mixed(family: Family, X: Plane, own: Duals, strict: Duals | None) -> Fraction:
    """Of the prices, mixed a little with strict ones where they are not feasible, or of those whose G is C."""
    assert family.anchors is not None
    tried = [own]
    if strict is not None:
        inner = _exact_duals(family.terms[0], strict).a
        shares = np.array([Fraction(1, 1 << k) for k in (*SHRINKING[1:], 0)], dtype=object)
        tried += [own._replace(a=own.a + share * (inner - own.a)) for share in shares]
    found = (_bound_of(family, X, [duals]) for duals in tried)
    bounds = [next((bound for bound in found if bound is not None), None)]
    if family.anchors.level is not None:
        bounds.append(_bound_of(family, X, [family.anchors.level]))
    proved = [bound for bound in bounds if bound is not None]
    if not proved:
        raise Unproved(UNPROVED)
    return max(proved)


def _exact_duals(term: Term, duals: Duals) -> Duals:
    a = term.loss.exact_duals([Fraction(price) for price in duals.a.tolist()])
    return duals._replace(a=np.array(a, dtype=object))


def _bound_of(family: Family, X: Plane, own: Sequence[Duals], hint: Any = None) -> Fraction | None:
    """k + r; None where prices are not feasible."""
    weights = [term.rows.weights(duals) for term, duals in zip(family.terms, own, strict=True)]
    r = family.regularizer.exact_bound(X, joined(weights), hint)
    if r is None:
        return None
    gained = [term.loss.conjugate(exact(duals.a)) for term, duals in zip(family.terms, own, strict=True)]
    return end([*gained, r], up=False)
