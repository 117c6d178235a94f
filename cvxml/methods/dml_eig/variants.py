"""What implementations of DML-eig compute instead: the misreadings that `check` can name.

A multiple of the solution is judged as the solution once it is scaled back. A sum or a mean in place of the minimum has
a bound of its own over the same budget: the largest eigenvalue of the sum of all X~, Fisher's discriminant, rank one.
Not named: the soft minimum of the paper's own algorithm, whose smoothing nobody can know; plain distances in the
budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cvxml.budget import budget, examine_budget, most
from cvxml.methods.dml_eig.instance import Instance, instance
from cvxml.metric import FloatArray
from cvxml.pairs import pairs_of
from cvxml.symmetric import quadratic, weighted
from cvxml.variant import Other, Question, Variant

NOT_BY_LUCK = 1e-6  # what a metric may leave where it need not be the only one


def _given(question: Question) -> Instance:
    return instance(question.X, question.y, **question.params)


def _scaled(by: Callable[[Instance, FloatArray], float]) -> Callable[[Question], Other | None]:
    """The solution but for a factor, by which the metric is multiplied first."""

    def problem(question: Question) -> Other | None:
        factor = by(_given(question), question.metric)
        if not 0 < factor < math.inf:
            return None
        return Other(question.X, question.y, question.params, metric=factor * question.metric)

    return problem


def _mean_budget(p: Instance, A: FloatArray) -> float:
    return 1 / len(p.similar)


def _unit_minimum(p: Instance, A: FloatArray) -> float:
    """Of the least similar sum with all dissimilar pairs at 1 or more; 0 where the least is not 1."""
    least = float(quadratic(p.dissimilar, A).min())
    return 1 / float(quadratic(p.similar, A).sum()) if abs(least - 1) <= 1e-3 else 0.0


def _whitened(question: Question) -> Other | None:
    """M of the coordinates in which X_S is the identity, given for the metric of the features."""
    p = _given(question)
    if np.shape(question.metric) != (p.X.shape[1],) * 2:
        return None
    values, vectors = np.linalg.eigh(weighted(p.similar, np.ones(len(p.similar))))
    if values[0] <= 1e-12 * values[-1]:
        return None
    root = (vectors / np.sqrt(values)) @ vectors.T
    A = root @ question.metric @ root
    return Other(question.X, question.y, question.params, metric=(A + A.T) / 2)


def _exchanged(question: Question) -> Other:
    pairs = pairs_of(question.params.get("pairs"), question.y, len(np.asarray(question.X)))[0]
    roles = {"similar": pairs.dissimilar.tolist(), "dissimilar": pairs.similar.tolist()}
    return Other(question.X, question.y, {**question.params, "pairs": roles})


def _half(kind: str) -> Callable[[Question], Other | None]:
    """The first half of the pairs of one kind only, as an index that stops too early leaves it."""

    def problem(question: Question) -> Other | None:
        pairs = pairs_of(question.params.get("pairs"), question.y, len(np.asarray(question.X)))[0].to_dict()
        if len(pairs[kind]) < 2:
            return None
        pairs[kind] = pairs[kind][: len(pairs[kind]) // 2]
        return Other(question.X, question.y, {**question.params, "pairs": pairs})

    return problem


def _sum(question: Question) -> float:
    """What the metric leaves of the largest sum of dissimilar squared distances, relative to it."""
    p = _given(question)
    judged, feasibility = examine_budget(question.metric, p.similar)
    if not feasibility.feasible:
        return math.inf
    largest = most(budget(p.similar, p.rank), p.dissimilar, np.ones(len(p.dissimilar))).value
    left = max(0.0, 1 - float(judged.distances(p.dissimilar)[0].sum()) / largest)
    return left if left <= NOT_BY_LUCK else math.inf


VARIANTS: dict[str, Variant] = {
    "mean_budget": Variant(
        "the mean over similar pairs in the budget where there is the sum", _scaled(_mean_budget)
    ),
    "reverse": Variant(
        "the least sum over similar pairs with every dissimilar pair at 1 or more, of which it is a multiple",
        _scaled(_unit_minimum),
    ),
    "whitened": Variant("the features: it is M, where A = X_S^(-1/2) M X_S^(-1/2) is asked for", _whitened),
    "exchanged": Variant("similar and dissimilar pairs exchanged", _exchanged),
    "half_similar": Variant("the first half of the similar pairs", _half("similar")),
    "half_dissimilar": Variant("the first half of the dissimilar pairs", _half("dissimilar")),
    "sum": Variant("the sum over dissimilar pairs where there is the minimum", left=_sum),
}
