"""Common misreadings of a method: other problems that an implementation may have solved by mistake.

If `check` refutes a metric, it looks for a misreading with an optimum near the metric, and names it in the report. A
method lists its misreadings in `MISREADINGS`; the functions here make them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray
from cvxml.core.pairs import MAX_POINTS_LISTED, Pairs, pairs_of
from cvxml.core.triplets import Compared

MULTIPLES = (0.5, 0.9, 0.97, 1.03, 1.1, 2.0)  # factors of a metric that are tried before a solver runs
TOWARD_IT = (0.01, 0.1, 0.5)  # shares of the way from a metric to the optimum of the user's problem
BESIDE = 1e-3  # relative size of a small random change of a metric
DIRECTIONS = 4  # random changes; the reverse of each is tried too
BACK_END_WORK = 2e8  # multiplications of `Question.check_back_end` that a back end does in a second
FAR = 0.1  # relative to the scale: a misreading with a larger gap does not explain the metric
# The weight of a ridge is sought from SMALLEST to MOST times the largest eigenvalue of the matrix to which the ridge is
# added, and must differ from the given weight by more than SAME. For a large weight the metric tends to the metric of
# the ridge alone, so that metric would have the name of a large weight.
SMALLEST, MOST, SAME = 1e-10, 10.0, 1e-3
LOOSE = 1e-3  # relative gap up to which a metric counts as the answer of a problem
MOST_KEPT = 32  # problems with checked inputs in the memory
FEW_KEPT = 4  # the same for more than `MAX_POINTS_LISTED` points, because each may hold large arrays

Given = TypeVar("Given")


class TakesTooLong(ValueError):
    """The solver of a misreading takes longer than the time that is left."""


class CheckedInputs:
    """The checked data and parameters of the last few problems.

    The search for a misreading needs the checked inputs of the same problem many times, and checking often takes longer
    than computing a gap. Problems with the same objects X, y and params count as equal, so these objects must not be
    changed later.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[tuple[Any, ...], Any]] = []  # the last one is the latest

    def of(self, instance: Callable[..., Given], X: ArrayLike, y: Any, params: dict[str, Any]) -> Given:
        """Return `instance(X, y, **params)`; the result for the same objects is computed once and kept for a while.

        instance: the function `instance` of a method, which checks data and parameters.
        """
        for place, (problem, given) in enumerate(self._kept):
            same_function, *same_objects = problem
            if same_function == instance and all(
                one is other for one, other in zip(same_objects, (X, y, params), strict=True)
            ):
                self._kept.append(self._kept.pop(place))
                return cast("Given", given)
        new = instance(X, y, **params)
        most = FEW_KEPT if np.shape(X)[0] > MAX_POINTS_LISTED else MOST_KEPT
        self._kept = [*self._kept, ((instance, X, y, params), new)][-most:]
        return new


class Question(NamedTuple):
    """A refuted metric, the data and parameters that it was judged with, and the tolerance.

    metric: the refuted metric, (d, d) for most methods.
    optimum: the optimal metric of the user's problem, if it is known.
    enough: the largest relative gap with which a misreading explains the metric. A function that computes the gap of
        the metric in a misreading may return inf for every larger gap, without a solve.
    seconds: the processor time that is left for a solve.
    inputs: the checked inputs of the last problems; None if they are not kept.
    """

    X: ArrayLike
    y: Any  # labels (n,); None if the method needs no labels
    metric: FloatArray
    tol: float
    params: dict[str, Any]
    optimum: FloatArray | None = None
    enough: float = math.inf
    seconds: float = math.inf
    inputs: CheckedInputs | None = None

    def checked(self, instance: Callable[..., Given]) -> Given:
        """Return the checked data and parameters. instance: the function `instance` of the method."""
        if self.inputs is None:
            return instance(self.X, self.y, **self.params)
        return self.inputs.of(instance, self.X, self.y, self.params)

    def check_back_end(self, rows: int, d: int) -> None:
        """Raise TakesTooLong if Clarabel or SCS needs more than `seconds` for a dual problem on matrices (d, d).

        rows: the number of dual variables. In the dual constraint, each of them multiplies a symmetric matrix (d, d).

        These solvers cannot be stopped, so their time is estimated in advance. The estimate is the time of entries^3 +
        rows entries^2 multiplications, where entries = d (d + 1) / 2, at `BACK_END_WORK` (2e8) multiplications a
        second.
        """
        entries = d * (d + 1) / 2
        if entries**3 + rows * entries**2 > BACK_END_WORK * self.seconds:
            raise TakesTooLong(
                f"{rows} rows of matrices ({d}, {d}) are too many for the back end in this time"
            )


class OtherProblem(NamedTuple):
    """Another problem in which the refuted metric of a `Question` is judged: other inputs, or another method.

    metric: the metric that is judged in this problem, in the form that its method needs; by default that of the
        question.
    method: the id of the other method; by default the method of the question.

    choices: the number of problems that this one was chosen from.
    told: the end of the sentence that names this choice, for example ": the pair [0, 1]".
    """

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
    """Another problem that an implementation may have solved by mistake, stated as `problem`, `several` or `left`.

    sentence: what differs, for the report, for example "X where the paper has Y".
    problem: the misreading is the method itself with other inputs. The function returns None if it does not apply.
    several: the misreading is the method itself with one of several inputs; `check` takes the likeliest. Arguments of
        the function: the question, its checked inputs, and all parameters as explicit values from `Method.stored`.
    left: any other problem. The function returns a proved upper bound of the relative gap of the metric in that
        problem, less a rounding error that double precision decides at the tolerance; or inf.
    fits: the name of the parameter that `problem` chooses to fit the metric; the report gives its value. "" if there is
        no such parameter.

    exactly: a misreading may also be named if the relative gap is above the tolerance, up to 1e-3. With True, this one
        is named only up to the tolerance. For example, the hinge is the limit of smoothed hinges, so it nearly explains
        the metric of every small width.
    """

    sentence: str
    problem: Callable[[Question], OtherProblem | None] | None = None
    left: Callable[[Question], float] | None = None
    fits: str = ""
    several: Callable[[Question, Any, dict[str, Any]], Iterable[OtherProblem]] | None = None
    exactly: bool = False


def weight_of_ridge(slope: Callable[[float], float], largest: float, given: float) -> float | None:
    """Return the weight of a ridge for which the gap of the user's metric is smallest.

    A ridge is a fixed matrix times a weight that a method adds to another matrix, for example alpha I for RCA. Returns
    None if the best weight is not between 1e-10 and 10 times `largest`, or if it equals `given` up to 0.1 %.

    slope: returns the derivative of the gap at a weight. It must increase with the weight.
    largest: the largest eigenvalue of the matrix to which the ridge is added.
    given: the weight of the user's problem.
    """
    from scipy.optimize import brentq  # takes a tenth of a second to load

    def at_power(u: float) -> float:
        return slope(math.exp(u))

    low, high = (math.log(by * largest) for by in (SMALLEST, MOST))
    if not at_power(low) < 0 < at_power(high):
        return None
    weight = math.exp(brentq(at_power, low, high, xtol=1e-14))
    return None if math.isclose(weight, given, rel_tol=SAME) else weight


def tried_before_a_solve(M: FloatArray, optimum: FloatArray | None) -> Iterator[FloatArray]:
    """Yield metrics (d, d) that may have a smaller objective than the psd metric M (d, d) in a misreading's problem.

    optimum: the optimum of the user's problem, if it is known. The metrics are the optimum, multiples of it and of M,
    mixtures of both, and small random changes of M.
    """
    if optimum is not None and optimum.shape == M.shape:
        yield optimum
        yield from (t * optimum for t in MULTIPLES)
        yield from ((1 - t) * M + t * optimum for t in TOWARD_IT)
    yield from (t * M for t in MULTIPLES)
    rng = np.random.default_rng(0)
    for _ in range(DIRECTIONS):
        E = rng.standard_normal(M.shape)
        for step in (BESIDE, -BESIDE):
            turn = np.eye(len(M)) + step * E / np.linalg.norm(E)
            yield turn @ M @ turn.T


def is_improved(
    objective: Callable[[FloatArray], float], question: Question, M: FloatArray, scale: float
) -> bool:
    """Return True if some other metric proves that the relative gap of M in the misreading is above `question.enough`.

    objective: the objective of the misreading's problem, a function of a metric (d, d). scale: the number that the gap
    is divided by to get the relative gap.

    The metrics of `tried_before_a_solve` are tried, for example multiples of M. One of them is a proof if its objective
    is below that of M by more than `question.enough` times the scale, because the gap of M is at least this difference.
    The result is False if `question.enough` is inf, or if the scale is not positive and finite.
    """
    if not question.enough < math.inf or not 0 < scale < math.inf:
        return False
    most = objective(M) - question.enough * scale
    return any(objective(each) < most for each in tried_before_a_solve(M, question.optimum))


def changed(name: str, value: Callable[[Question], Any]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that makes the user's problem with another value of the parameter `name`.

    value: returns the other value, or None if the misreading does not apply.
    """

    def problem(question: Question) -> OtherProblem | None:
        other = value(question)
        if other is None:
            return None
        return OtherProblem(question.X, question.y, {**question.params, name: other})

    return problem


def other_pairs(change: Callable[[Pairs], Pairs | None]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that makes the user's problem with the pairs `change(pairs)`.

    change: returns None if the misreading does not apply.
    """

    def value(question: Question) -> Any:
        n = len(np.asarray(question.X))
        other = change(pairs_of(question.params.get("pairs"), question.y, n))
        return None if other is None else other.to_dict()

    return changed("pairs", value)


def exchanged(pairs: Pairs) -> Pairs:
    return Pairs(pairs.dissimilar, pairs.similar)


def triplets_exchanged(instance: Callable[..., Compared]) -> Misreading:
    """Return the misreading in which the last two points of each triplet are exchanged.

    instance: the function `instance` of a method with triplets.
    """

    def value(question: Question) -> Any:
        return question.checked(instance).triplets()[:, [0, 2, 1]].tolist()

    return Misreading(
        "j and l exchanged: the point that should be far is given first", changed("triplets", value)
    )


def multiple(factor: Callable[[Question], float | None]) -> Callable[[Question], OtherProblem | None]:
    """Return a function that states the user's problem for another metric: the user's metric times `factor(question)`.

    For a program that returns a multiple of the optimum: the user's metric is multiplied first, and then judged in the
    unchanged problem. If `factor` returns None, or a number that is not positive and finite, the misreading does not
    apply, and the returned function returns None.
    """

    def problem(question: Question) -> OtherProblem | None:
        by = factor(question)
        if by is None or not 0 < by < math.inf:
            return None
        return OtherProblem(question.X, question.y, question.params, metric=by * question.metric)

    return problem
