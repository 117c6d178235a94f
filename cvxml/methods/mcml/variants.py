"""What somebody may have minimised instead of MCML: what `check` can name.

Most of them have other weights in the same problem (instance.py), are convex, and are solved and bounded as it is:
`left` is a proved gap there. Two are not: with plain distances the problem is not convex, and without A psd no rows of
a dual are feasible but for rounding; of these is proved that to first order no change of A, as large as A (or as a
metric of trace 1 in coordinates of unit covariance), wins more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cvxml.coordinates import Coordinates, coordinates
from cvxml.methods.mcml.certify import prove, value
from cvxml.methods.mcml.fast import collapse
from cvxml.methods.mcml.first_order import to_first_order, too_large
from cvxml.methods.mcml.instance import Instance, Weights, instance, weights
from cvxml.metric import FloatArray, examine
from cvxml.result import Certificate, Dual
from cvxml.variant import LOOSE, Other, Question, Variant

PATIENCE = 200
BY_LUCK = 1e-5  # of the objective, which is large: a metric may leave no more than that by luck
BETTER = 100  # times what is left in a misreading must be won there, against no metric at all
DIAGONAL = 1e-9  # of the norm, what is not on the diagonal of a diagonal matrix


class Misread(NamedTuple):
    """Other weights, and what the metric is times there."""

    of: Weights
    times: float = 1.0


def with_weights(change: Callable[[Weights, Instance], Misread]) -> Callable[[Question], float]:
    """What the metric leaves to gain with other weights, as a share of the objective there; proved."""

    def left(question: Question) -> float:
        given = instance(question.X, question.y, **question.params)
        feasibility = examine(question.metric)[1]
        if not feasibility.feasible or too_large(given):
            return math.inf
        of, times = change(weights(given.y), given)
        at = _features(given) if of.diagonal else coordinates(given.X)
        if of.diagonal and not _is_diagonal(question.metric):
            return math.inf
        A = times * examine(question.metric)[0]
        at.inside(A)  # refuses what is too large
        here = value(given.X, of, A)
        if not _stays_at_scale(given.X, of, A, here.value):
            return math.inf

        def proof(A: FloatArray, dual: Dual) -> Certificate:
            return prove(given.X, at, of, A, list(dual.values()), feasibility)

        def of_path(M: FloatArray, dual: Dual) -> Certificate:
            return proof(at.outside(np.diag(np.diag(M)) if of.diagonal else M), dual)

        ended = collapse(at, of, of_path, min(question.tol / 10, LOOSE / 10), PATIENCE)
        found = proof(A, ended.dual)
        if not (math.isfinite(found.gap) and found.scale > 0 and found.decides(question.tol)):
            return math.inf
        won = value(given.X, of, 0 * A).value - here.value
        share = (found.gap + found.rounding) / found.scale
        return share if share <= BY_LUCK and found.gap <= won / BETTER else math.inf

    return left


def _is_diagonal(A: FloatArray) -> bool:
    return float(np.linalg.norm(A - np.diag(np.diag(A)))) <= DIAGONAL * float(np.linalg.norm(A))


def _features(given: Instance) -> Coordinates:
    """The features themselves, centred, in units of their spread: what is diagonal stays so."""
    D = given.X - given.X[0]
    D = D - D.mean(axis=0)
    size = np.sqrt(np.mean(D**2, axis=0))
    size = np.where(size > 0, size, 1.0)
    return Coordinates(D / size, np.diag(1 / size), np.diag(size), np.ones(len(size)), 0)


def _stays_at_scale(X: FloatArray, of: Weights, A: FloatArray, here: float) -> bool:
    """False where a multiple of A is better by more than `LOOSE`: A is then no optimum."""
    best = min(value(X, of, t * A).value for t in (0.5, 0.9, 1.1, 2.0))
    return bool(best >= here - 2 * LOOSE * abs(here))


def _counts(given: Instance) -> FloatArray:
    """n_c of every point."""
    return np.bincount(given.y)[given.y].astype(np.float64)


def _others(w: Weights, given: Instance) -> FloatArray:
    """n_c - 1 where it is not 0, else 1: (n, 1)."""
    return np.maximum(_counts(given) - 1, 1.0)[:, None]


def _self(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(among=np.ones_like(w.among)))


def _self_in_both(w: Weights, given: Instance) -> Misread:
    return Misread(Weights(w.w * (1 - 1 / _counts(given))[:, None], w.c, np.ones_like(w.among)))


def _self_in_p0(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w * (1 - 1 / _counts(given))[:, None]))


def _sum(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w * _others(w, given)))


def _pairs(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w * _others(w, given), c=w.c * _others(w, given)[:, 0]))


def _per_class(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w / _counts(given)[:, None], c=w.c / _counts(given)))


def _half_exponent(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(w=2 * w.w), 0.5)


def _half_pull(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(w=w.w / 2))


def _impostors(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(among=given.y[:, None] != given.y))


def _diagonal(w: Weights, given: Instance) -> Misread:
    return Misread(w._replace(diagonal=True))


def _gaussian(question: Question) -> Other:
    return Other(question.X, question.y, question.params, np.asarray(question.metric) / 2)


def _differs(change: Callable[[Weights, Instance], Misread]) -> Callable[[Question], float]:
    """As `with_weights`, but not where all classes are of one size: then it is the problem itself."""

    def left(question: Question) -> float:
        given = instance(question.X, question.y, **question.params)
        sizes = np.bincount(given.y)
        return math.inf if np.ptp(sizes[sizes > 1]) == 0 else with_weights(change)(question)

    return left


VARIANTS: dict[str, Variant] = {
    "plain": Variant(
        "exp(-d_A) and d_A where the paper has the squared distance", left=to_first_order("plain")
    ),
    "self": Variant("the point itself among the k, where the paper has k != i", left=with_weights(_self)),
    "self_in_both": Variant(
        "the point itself among the k and in its own class, p0 = 1 / n_c, where the paper has j, k != i",
        left=with_weights(_self_in_both),
    ),
    "self_in_p0": Variant(
        "the sum of D_A over the class divided by n_c where the mean is over the n_c - 1 others",
        left=with_weights(_self_in_p0),
    ),
    "sum": Variant(
        "the sum of D_A over the class where the mean is asked for: p0 not normalised",
        left=with_weights(_sum),
    ),
    "pairs": Variant(
        "the sum of -log p_A(j|i) over all pairs of a class where the mean over j is asked for",
        left=_differs(_pairs),
    ),
    "per_class": Variant(
        "the mean over the points of each class where the sum over all points is asked for",
        left=_differs(_per_class),
    ),
    "gaussian": Variant("exp(-D_A / 2) in p_A where the paper has exp(-D_A)", problem=_gaussian),
    "half_exponent": Variant(
        "exp(-D_A / 2) in the logarithm of the sum alone where the paper has exp(-D_A)",
        left=with_weights(_half_exponent),
    ),
    "half_pull": Variant(
        "half of the mean of D_A over the class where it counts whole", left=with_weights(_half_pull)
    ),
    "impostors": Variant(
        "the sum over the k of other classes where it is over all k != i", left=with_weights(_impostors)
    ),
    "diagonal": Variant("a diagonal A where it may be any psd matrix", left=with_weights(_diagonal)),
    "no_cone": Variant(
        "the problem without A psd: P_+ is missing, at the end and in every step",
        left=to_first_order("no_cone"),
    ),
}
