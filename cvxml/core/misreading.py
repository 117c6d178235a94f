"""A common misreading of a method: another problem, whose answer a refuted metric may turn out to be."""

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

MULTIPLES = (0.5, 0.9, 0.97, 1.03, 1.1, 2.0)  # of a metric, tried before a solver is
FAR = 0.1  # of the scale: what leaves more to gain in a misreading is not explained by it
LOOSE = 1e-3  # what a metric may leave to gain, relative to the scale, to be called the answer of anything

Given = TypeVar("Given")


class Question(NamedTuple):
    """A refuted metric (d, d), the inputs it was judged with, and the tolerance asked for."""

    X: ArrayLike
    y: Any  # labels (n,); None where the method needs none
    metric: FloatArray
    tol: float
    params: dict[str, Any]

    def checked(self, instance: Callable[..., Given]) -> Given:
        """The inputs, as `instance` of the method has them."""
        return instance(self.X, self.y, **self.params)


class OtherProblem(NamedTuple):
    """The same method with other inputs; or another method, and the metric in its terms."""

    X: ArrayLike
    y: Any  # labels (n,); None where the method needs none
    params: dict[str, Any]
    metric: FloatArray | None = None  # that of the question
    method: str | None = None  # that of the question
    told: str = ""  # the choice among several problems, for the sentence: ": the pair [0, 1]"
    choices: int = 1  # the number of problems from which this one was chosen


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
    """The same inputs but for one parameter; a `value` of None says that the misreading does not apply."""

    def problem(question: Question) -> OtherProblem | None:
        other = value(question)
        if other is None:
            return None
        return OtherProblem(question.X, question.y, {**question.params, name: other})

    return problem


def other_pairs(change: Callable[[Pairs], Pairs | None]) -> Callable[[Question], OtherProblem | None]:
    """The same inputs but for the pairs."""

    def value(question: Question) -> Any:
        n = len(np.asarray(question.X))
        other = change(pairs_of(question.params.get("pairs"), question.y, n))
        return None if other is None else other.to_dict()

    return changed("pairs", value)


def exchanged(pairs: Pairs) -> Pairs:
    """Similar ones for dissimilar ones."""
    return Pairs(pairs.dissimilar, pairs.similar)


def triplets_exchanged(instance: Callable[..., Compared]) -> Misreading:
    """The last two of each triplet, of a method that takes triplets."""

    def value(question: Question) -> Any:
        return question.checked(instance).triplets()[:, [0, 2, 1]].tolist()

    return Misreading(
        "j and l exchanged: the point that should be far is given first", changed("triplets", value)
    )


def multiple(factor: Callable[[Question], float | None]) -> Callable[[Question], OtherProblem | None]:
    """The solution but for a factor: the metric times `factor` would be it; None, or no positive number: it is not."""

    def problem(question: Question) -> OtherProblem | None:
        by = factor(question)
        if by is None or not 0 < by < math.inf:
            return None
        return OtherProblem(question.X, question.y, question.params, metric=by * question.metric)

    return problem
