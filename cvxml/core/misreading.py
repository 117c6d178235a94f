"""Common misreadings of a method: other problems that may explain a refuted metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray
from cvxml.core.pairs import Pairs, pairs_of
from cvxml.core.triplets import Compared

MULTIPLES = (0.5, 0.9, 0.97, 1.03, 1.1, 2.0)  # factors of a metric that are tried before a solver runs
FAR = 0.1  # relative to the scale: a misreading with a larger gap does not explain the metric
LOOSE = 1e-3  # relative gap up to which a metric counts as the answer of a problem

Given = TypeVar("Given")


class Question(NamedTuple):
    """A refuted metric (d, d), the data and parameters that it was judged with, and the tolerance."""

    X: ArrayLike
    y: Any  # labels (n,); None if the method needs no labels
    metric: FloatArray
    tol: float
    params: dict[str, Any]

    def checked(self, instance: Callable[..., Given]) -> Given:
        """Return data and parameters as `instance` of the method returns them."""
        return instance(self.X, self.y, **self.params)


class OtherProblem(NamedTuple):
    """Another problem: the method with other inputs, or another method with the metric in the form that it needs."""

    X: ArrayLike
    y: Any  # labels (n,); None if the method needs no labels
    params: dict[str, Any]
    metric: FloatArray | None = None  # None: the metric of the question
    method: str | None = None  # None: the method of the question
    # end of the sentence that names the choice among several problems, for example ": the pair [0, 1]"
    told: str = ""
    choices: int = 1  # number of problems from which this one was chosen


@dataclass(frozen=True)
class Misreading:
    """Another problem that an implementation may have solved by mistake, stated in one of three ways.

    sentence: "X where the paper has Y".
    problem: the misreading is the method itself with other inputs. The function returns None if it does not apply.
    several: the misreading is the method itself with one of several inputs; the oracle takes the likeliest. Arguments
        of the function: the question, its checked inputs, and all parameters as explicit values from `Method.stored`.
    left: any other problem. The function returns a proved upper bound of the relative gap of the metric, or inf.
    fits: the parameter that `problem` chooses to fit the metric; the report gives its value.
    """

    sentence: str
    problem: Callable[[Question], OtherProblem | None] | None = None
    left: Callable[[Question], float] | None = None
    fits: str = ""
    several: Callable[[Question, Any, dict[str, Any]], Iterable[OtherProblem]] | None = None


def changed(name: str, value: Callable[[Question], Any]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that makes the problem with another value of one parameter.

    value: returns the other value, or None if the misreading does not apply.
    """

    def problem(question: Question) -> OtherProblem | None:
        other = value(question)
        if other is None:
            return None
        return OtherProblem(question.X, question.y, {**question.params, name: other})

    return problem


def other_pairs(change: Callable[[Pairs], Pairs | None]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that makes the problem with other pairs; `change` returns None if it does not apply."""

    def value(question: Question) -> Any:
        n = len(np.asarray(question.X))
        other = change(pairs_of(question.params.get("pairs"), question.y, n))
        return None if other is None else other.to_dict()

    return changed("pairs", value)


def exchanged(pairs: Pairs) -> Pairs:
    """Return the pairs with similar and dissimilar exchanged."""
    return Pairs(pairs.dissimilar, pairs.similar)


def triplets_exchanged(instance: Callable[..., Compared]) -> Misreading:
    """Return the misreading in which the last two points of each triplet are exchanged, for a method with triplets."""

    def value(question: Question) -> Any:
        return question.checked(instance).triplets()[:, [0, 2, 1]].tolist()

    return Misreading(
        "j and l exchanged: the point that should be far is given first", changed("triplets", value)
    )


def multiple(factor: Callable[[Question], float | None]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that multiplies the metric by `factor` before it is judged on the same problem.

    factor: returns None, or a number that is not positive and finite, if the misreading does not apply.
    """

    def problem(question: Question) -> OtherProblem | None:
        by = factor(question)
        if by is None or not 0 < by < math.inf:
            return None
        return OtherProblem(question.X, question.y, question.params, metric=by * question.metric)

    return problem
