"""The certificate in exact arithmetic: a proved interval around the optimum, for every member of the family.

As in theorem.py, the objective is R(M) plus losses; a term is a loss with its rows. Dual variables a give the lower
bound k(a) + r(G), where the matrix G is linear in a. A `Duals` holds the dual variables of one term. Points, metric and
dual variables are floats, so they are rational numbers. The distances are then rational too, and so are objective and
bound if the loss is rational. Logarithms and roots are balls, which are intervals with a proved radius (core/balls.py),
and the outer end of each ball is used. No result depends on floating-point accuracy.

The dual variables of the double-precision proof are moved into the domain exactly. A matrix that must be psd is proved
psd (core/integer_matrices.py). If it is not psd, the dual variables are made a little smaller. If the domain of the
loss contains no multiples of them, they are mixed with strict ones instead, for which the matrix is positive definite.
Such a family has `anchors` (strict_prices.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

# Dual variables that are not quite feasible are multiplied by 1 - 2^-k, for these k in turn; 0 means no change.
SHRINKING = (0, 50, 40, 30, 20, 10)
UNPROVED = "the dual variables are not feasible in exact arithmetic, so they prove no bound"


def interval(
    family: Family,
    A: FloatArray,
    duals: Sequence[Duals],
    root: ArrayLike | None = None,
    strict: Duals | None = None,
    hint: Any = None,
) -> Exact:
    """Prove lower bound <= optimum <= objective, for a family with constants that are fractions.

    The upper end is the objective of a feasible matrix near A (d, d): of the one that `root` gives, else usually of A
    itself if A is exactly feasible.
    - duals: the dual variables of each term, feasible up to rounding.
    - root (d, r): M with M M^T near A, if known.
    - strict: dual variables to mix with. The matrix that must be psd is positive definite for them. They are used
      only if the family has anchors.
    - hint: data from floats that make r(G) easy to bound, if known; for example, a root of the negative part of G. With
      root and hint, no digit of the interval depends on floats.

    Raises Unproved if no dual variables are feasible, and SingularMetric if R is infinite because the metric is
    singular.
    """
    regularizer, terms = family.regularizer, family.terms
    X = plane(regularizer.X)
    with precision():
        own = [_exact_duals(term, given) for term, given in zip(terms, duals, strict=True)]
        mixed = family.anchors is not None
        bound = _best_mixed(family, X, own[0], strict)[1] if mixed else _bound(family, X, own, hint)
        metric = regularizer.exact_metric(A, root)
        at = regularizer.exact_distances(X, metric)
        of_metric = regularizer.exact_value(metric, at)
        values = [of_metric]
        values += [term.loss.exact_value(term.rows.exactly(at.D), at.unit) for term in terms]
        objective = end(values, up=True)
        of_scale = [of_metric] if family.of_regularizer else values
        # a lower bound of the absolute value
        least = max(end(of_scale, up=False), -end(of_scale, up=True))
    return Exact(bound, objective, metric.distance, max(least, Fraction(family.least_scale)))


def _bound(family: Family, X: Plane, own: Sequence[Duals], hint: Any) -> Fraction:
    """The lower bound of feasible dual variables: `own`, multiplied by the first factor that makes them feasible.

    The factors are those of `_shrunk`. own: the dual variables of each term, as fractions. X: the points in rationals.
    hint: data that make r(G) easy to bound, or None.

    If no factor makes `own` feasible, the result is the bound of a = 0. Raises Unproved if this bound is -inf.
    """
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
    """The dual variables times the first factor 1 or 1 - 2^-k that makes them feasible, and their lower bound.

    k: the numbers of `SHRINKING` in turn; 0 means the factor 1. own: the dual variables of each term, as fractions. X:
    the points in rationals. hint: data that make r(G) easy to bound, or None. Returns None if no factor is found.
    """
    for k in SHRINKING:
        t = 1 - Fraction(1, 1 << k) if k else Fraction(1)
        duals = [each._replace(a=each.a * t) for each in own]
        found = _bound_of(family, X, duals, hint)
        if found is not None:
            return duals, found
    return None


def feasible_duals(family: Family, duals: Sequence[Duals], strict: Duals | None = None) -> list[Duals]:
    """The feasible dual variables of each term, as fractions, that give the lower bound of the exact interval.

    duals: the given ones of each term, feasible up to rounding. strict: dual variables to mix with, if the family has
    anchors (`interval`). If no multiple of `duals` is feasible, all dual variables of the result are 0. Raises Unproved
    if the family has anchors and no dual variables are feasible.
    """
    own = [_exact_duals(term, given) for term, given in zip(family.terms, duals, strict=True)]
    if family.anchors is not None:
        return [_best_mixed(family, plane(family.regularizer.X), own[0], strict)[0]]
    found = _shrunk(family, plane(family.regularizer.X), own)
    return [each._replace(a=each.a * 0) for each in own] if found is None else found[0]


def _best_mixed(family: Family, X: Plane, own: Duals, strict: Duals | None) -> tuple[Duals, Fraction]:
    """The feasible dual variables with the best bound, and this bound, for a family with anchors.

    The first candidate is `own`, or a mixture of it with `strict` if it is not feasible. The second is the `level` of
    the anchors, if they have one: dual variables for which the matrix that must be psd is 0. X: the points in
    rationals. Raises Unproved if no candidate is feasible.
    """
    assert family.anchors is not None

    def tried() -> Iterator[Duals]:
        yield own
        if strict is not None:
            inner = _exact_duals(family.terms[0], strict).a
            for k in (*SHRINKING[1:], 0):
                yield own._replace(a=own.a + Fraction(1, 1 << k) * (inner - own.a))

    found = ((duals, _bound_of(family, X, [duals])) for duals in tried())
    proved = [next(((duals, bound) for duals, bound in found if bound is not None), None)]
    if family.anchors.level is not None:
        level = _bound_of(family, X, [family.anchors.level])
        proved.append(None if level is None else (family.anchors.level, level))
    feasible = [each for each in proved if each is not None]
    if not feasible:
        raise Unproved(UNPROVED)
    return max(feasible, key=lambda each: each[1])


def _exact_duals(term: Term, duals: Duals) -> Duals:
    a = term.loss.exact_duals([Fraction(dual) for dual in duals.a.tolist()])
    return duals._replace(a=np.array(a, dtype=object))


def _bound_of(family: Family, X: Plane, own: Sequence[Duals], hint: Any = None) -> Fraction | None:
    """The lower bound k(a) + r(G); None if the dual variables are not feasible.

    own: the dual variables of each term, as fractions. X: the points in rationals. hint: data that make r(G) easy to
    bound, or None.
    """
    weights = [term.rows.weights(duals) for term, duals in zip(family.terms, own, strict=True)]
    r = family.regularizer.exact_bound(X, joined(weights), hint)
    if r is None:
        return None
    gained = [term.loss.conjugate(exact(duals.a)) for term, duals in zip(family.terms, own, strict=True)]
    return end([*gained, r], up=False)
