"""The misreadings of PLML: problems that implementations solve in its place, and that `check` can name.

A `Question` holds a refuted metric, with the data and parameters that it was judged with. method.py has one more
misreading, `BothEnds`, a subclass of PLML.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.core.misreading import Misreading, OtherProblem, Question, changed, triplets_exchanged
from cvxml.core.other_lists import TRIPLETS
from cvxml.methods.plml.instance import Instance, instance


def _weights(change: Callable[[Instance], FloatArray]) -> Any:
    """Return the misreading in which change(instance) gives other weights (n, m).

    The misreading is a function of the question. The function returns None, which means "does not apply", if the other
    weights equal those of the problem.
    """

    def value(question: Question) -> Any:
        given = question.checked(instance)
        other = change(given)
        return None if np.array_equal(other, given.W) else other.tolist()

    return changed("weights", value)


def _hard(given: Instance) -> FloatArray:
    """Weights (n, m) that are 1 for the largest weight of a point, else 0."""
    W: FloatArray = np.eye(given.m)[given.W.argmax(axis=1)]
    return W


def _mean(question: Question) -> OtherProblem:
    given = question.checked(instance)
    alphas = {"alpha1": given.alpha1 * given.count, "alpha2": given.alpha2 * given.count}
    return OtherProblem(question.X, question.y, {**question.params, **alphas})


MISREADINGS = {
    "half": Misreading(
        "alpha1/2 where the method has alpha1", changed("alpha1", lambda q: q.checked(instance).alpha1 / 2)
    ),
    "mean": Misreading("the mean over triplets where the method has the sum", _mean),
    "no_pull": Misreading(
        "the pull of the pairs left out",
        changed("alpha2", lambda q: 0.0 if q.checked(instance).alpha2 > 0 else None),
    ),
    "hard": Misreading(
        "only the metric of the largest weight, where the method mixes metrics", _weights(_hard)
    ),
    "even": Misreading(
        "the mean of the basis metrics at every point",
        _weights(lambda given: np.full(given.W.shape, 1 / given.m)),
    ),
    "exchanged": triplets_exchanged(instance),
    **TRIPLETS,
}
