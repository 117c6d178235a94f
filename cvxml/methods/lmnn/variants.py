"""What implementations of LMNN compute instead: the misreadings that `check` can name, for either hinge.

Weights are another mu: only the ratio of the two matters. Other triplets are the same problem with other rows, solved
and proved by its own means. Another margin is a factor of the metric, which is named for every method.
Not named: a metric by gradient steps on L that has not arrived, which is no optimum of anything; a diagonal metric;
plain distances in the hinge, which make it non-convex.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cvxml.methods.lmnn.certify import certify
from cvxml.methods.lmnn.fast import fast
from cvxml.methods.lmnn.instance import Instance, instance
from cvxml.metric import FloatArray, IntArray
from cvxml.neighbors import squared_euclidean
from cvxml.variant import Other, Question, Variant, changed

NOT_BY_LUCK = 1e-6  # what a metric may leave where it need not be the only one
MAX_ITER = 100


def variants(squared: bool) -> dict[str, Variant]:
    """By name, for the linear or the squared hinge."""

    def given(question: Question) -> Instance:
        return instance(question.X, question.y, squared, **question.params)

    def weights(ratio: Callable[[Instance], float | None]) -> Callable[[Question], Other | None]:
        """Impostors `ratio` times as heavy as targets."""

        def mu(question: Question) -> float | None:
            r = ratio(given(question))
            return None if r is None or not 1e-9 < r < 1e9 else r / (1 + r)

        return changed("mu", mu)

    def rows(change: Callable[[Question, Instance], Instance | None]) -> Callable[[Question], float]:
        return lambda question: _left(question, change(question, given(question)))

    other = "lmnn" if squared else "lmnn:squared_hinge"
    hinge = "the plain hinge where it is squared" if squared else "the squared hinge where it is plain"
    return {
        "mu_exchanged": Variant(
            "mu as the weight of the targets and 1 - mu as that of the impostors", weights(_exchanged)
        ),
        "targets_1": Variant("weight 1 for the targets where it is 1 - mu", weights(lambda p: p.mu)),
        "impostors_1": Variant(
            "weight 1 for the impostors where it is mu", weights(lambda p: 1 / (1 - p.mu))
        ),
        "means": Variant("means over targets and over triplets where there are sums", weights(_means)),
        "push_mean": Variant("the mean over triplets where there is their sum", weights(_push_mean)),
        "push_per_point": Variant(
            "the sum over triplets divided by n", weights(lambda p: _ratio(p) / len(p.X))
        ),
        "hinge": Variant(hinge, lambda q: Other(q.X, q.y, q.params, method=other)),
        "k_less": Variant("n_neighbors - 1 targets of each point", _another_k(-1)),
        "k_more": Variant("n_neighbors + 1 targets of each point", _another_k(1)),
        "self": Variant("targets of which each point is its own first", left=rows(_self_first)),
        "nearest_only": Variant("impostors of the nearest target only", left=rows(_only(min))),
        "furthest_only": Variant("impostors of the furthest target only", left=rows(_only(max))),
        "frozen": Variant("those impostors only that Euclid's metric has", left=rows(_frozen)),
        "one_way": Variant("pairs of a target listed both ways counted once", left=rows(_one_way)),
    }


def _ratio(p: Instance) -> float:
    return p.mu / (1 - p.mu)


def _exchanged(p: Instance) -> float | None:
    return None if p.mu == 0.5 else 1 / _ratio(p)


def _means(p: Instance) -> float:
    return _ratio(p) * len(p.targets) / float(np.count_nonzero(p.impostors))


def _push_mean(p: Instance) -> float:
    return _ratio(p) / float(np.count_nonzero(p.impostors))


def _another_k(more: int) -> Callable[[Question], Other | None]:
    def k(question: Question) -> int | None:
        if question.params.get("targets") is not None:
            return None
        return int(question.params.get("n_neighbors", 3)) + more or None

    return changed("n_neighbors", k)


def _with(p: Instance, targets: IntArray, impostors: Any) -> Instance:
    return p._replace(targets=targets, impostors=impostors)


def _self_first(question: Question, p: Instance) -> Instance | None:
    """The point itself in place of the last of its targets: its distance is 0."""
    if question.params.get("targets") is not None:
        return None
    lists = p.target_lists()
    targets = np.array([(i, j) for i, listed in enumerate(lists) for j in (i, *listed[:-1])], dtype=np.intp)
    return _with(p, targets, p.y[targets[:, 0], None] != p.y)


def _euclid(p: Instance) -> FloatArray:
    return squared_euclidean(p.X, p.X)


def _only(choose: Callable[..., Any]) -> Callable[[Question, Instance], Instance]:
    """Triplets of one target of each point: the nearest or furthest by Euclid's metric."""

    def change(question: Question, p: Instance) -> Instance:
        D = _euclid(p)
        chosen = {
            (i, choose(listed, key=lambda j: D[i, j])) for i, listed in enumerate(p.target_lists()) if listed
        }
        keep = np.array([pair in chosen for pair in map(tuple, p.targets.tolist())])
        return _with(p, p.targets, p.impostors & keep[:, None])

    return change


def _frozen(question: Question, p: Instance) -> Instance:
    D = _euclid(p)
    i, j = p.targets.T
    return _with(p, p.targets, p.impostors & (D[i] < 1 + D[i, j][:, None]))


def _one_way(question: Question, p: Instance) -> Instance | None:
    """Of i, j and j, i the first only, with its triplets."""
    seen: set[tuple[int, ...]] = set()
    keep = []
    for pair in p.targets.tolist():
        keep.append(tuple(sorted(pair)) not in seen)
        seen.add(tuple(sorted(pair)))
    kept = np.array(keep)
    return None if kept.all() else _with(p, p.targets[kept], p.impostors[kept])


def _left(question: Question, p: Instance | None) -> float:
    """What the metric may still gain with these rows, relative to the objective; inf unless next to nothing."""
    if p is None:
        return math.inf
    found = fast(p, question.tol / 10, MAX_ITER, None, None)
    proof = certify(p, question.metric, found.dual)
    if not (proof.feasibility.feasible and proof.scale > 0 and proof.decides(question.tol)):
        return math.inf
    left = max(0.0, proof.gap - proof.rounding) / proof.scale
    return left if left <= NOT_BY_LUCK else math.inf
