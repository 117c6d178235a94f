"""What implementations of gerrymandering compute instead of (10): the misreadings that `check` can name.

Some are (10) again with other inputs. With S averaged over the k neighbours and W = k V,
    ||W||^2 + C sum_i L_i(W / k)  =  k^2 ( ||V||^2 + C / k^2 sum_i L_i(V) ):
the method with C / k^2, and the metric W / k.
The others have other sets, another Delta, or no cone: misread_step.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray, examine, unit_scale
from cvxml.core.misreading import FAR, Misreading, OtherProblem, Question, changed
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.misread_step import Misread, step_gap
from cvxml.methods.ssvm.point import best_scale, point_at

Problem = Callable[[Question], OtherProblem | None]


def _unless_a_multiple_is_better(problem: Problem) -> Problem:
    """None where that shows at once that the metric is not stationary to `FAR`: along a ray the step is F."""

    def checked(question: Question) -> OtherProblem | None:
        other = problem(question)
        if other is None:
            return None
        p = instance(other.X, other.y, **other.params)
        psd, feasibility = examine(question.metric if other.metric is None else other.metric)
        if not (feasibility.feasible and feasibility.norm > 0):
            return None
        s = unit_scale(p.X)
        unit, W = p.scaled(s), psd * s**2
        at = point_at(unit, W)
        best = best_scale(unit, at)
        # F lies above F(s W) by ||W||^2 (1 - s)^2 at least
        return None if abs(1 - best) > math.sqrt(2 * FAR) else other

    return checked


def _with(name: str, value: Callable[[Question, Instance], Any]) -> Problem:
    """(10) with another parameter; a `value` of None says that the misreading does not apply."""

    def found(question: Question) -> Any:
        return value(question, question.checked(instance))

    return _unless_a_multiple_is_better(changed(name, found))


def _C_times(factor: Callable[[Instance], float]) -> Problem:
    def value(_: Question, p: Instance) -> float | None:
        return p.C * factor(p) if factor(p) != 1 else None

    return _with("C", value)


def _averaged(question: Question) -> OtherProblem | None:
    p = question.checked(instance)
    if p.k == 1:
        return None
    params = {**question.params, "C": p.C / p.k**2}
    return OtherProblem(question.X, question.y, params, question.metric / p.k)


def _transposed(_: Question, p: Instance) -> FloatArray | None:
    return None if np.array_equal(p.Lam, p.Lam.T) else p.Lam.T


def _zero_one(_: Question, p: Instance) -> FloatArray | None:
    one = 1 - np.eye(p.R)
    return None if np.array_equal(p.Lam, one) else one


def _largest_one(_: Question, p: Instance) -> FloatArray | None:
    return None if p.Lam.max() == 1 else p.Lam / p.Lam.max()


def _class_weights(_: Question, p: Instance) -> FloatArray | None:
    """The losses of a class times n / (classes n_c)."""
    sizes = np.bincount(p.y)
    return None if sizes.min() == sizes.max() else p.Lam * (len(p.y) / (len(sizes) * sizes))[:, None]


def _more_neighbors(by: int) -> Problem:
    """k + by; where a class cannot win such a vote the ValueError says that the misreading has no answer."""

    def value(_: Question, p: Instance) -> int | None:
        return p.k + by if 0 < p.k + by < len(p.X) else None

    return _with("n_neighbors", value)


def _read(sentence: str, **how: bool) -> Misreading:
    return Misreading(sentence, left=partial(step_gap, Misread(**how)))


MISREADINGS: dict[str, Misreading] = {
    "half": Misreading("1/2 ||W||^2 where the paper has ||W||^2", _C_times(lambda p: 2.0)),
    "mean": Misreading("C/n sum_i L_i where the paper has C sum_i L_i", _C_times(lambda p: 1 / len(p.X))),
    "half_mean": Misreading(
        "1/2 ||W||^2 + C/n sum_i L_i where the paper has ||W||^2 + C sum_i L_i",
        _C_times(lambda p: 2 / len(p.X)),
    ),
    "C_on_norm": Misreading(
        "C ||W||^2 + sum_i L_i where the paper has ||W||^2 + C sum_i L_i", _C_times(lambda p: 1 / p.C**2)
    ),
    "per_neighbor": Misreading("C/k sum_i L_i where the paper has C sum_i L_i", _C_times(lambda p: 1 / p.k)),
    "averaged": Misreading(
        "S_W the mean over the k neighbours where the paper has the sum",
        _unless_a_multiple_is_better(_averaged),
    ),
    "transposed": Misreading(
        "loss_matrix transposed: Lam(r, y) where the paper has Lam(y, r)", _with("loss_matrix", _transposed)
    ),
    "zero_one": Misreading("0/1 loss where loss_matrix was given", _with("loss_matrix", _zero_one)),
    "largest_one": Misreading("loss_matrix divided by its largest entry", _with("loss_matrix", _largest_one)),
    "class_weights": Misreading(
        "classes that weigh the same, whatever their sizes, where every point weighs the same",
        _with("loss_matrix", _class_weights),
    ),
    "fewer": Misreading(
        "k - 1 neighbours: the point itself took a place, without a vote", _more_neighbors(-1)
    ),
    "more": Misreading("k + 1 neighbours", _more_neighbors(1)),
    "self": _read("the point itself as one of its k neighbours, at distance 0 and with a vote", itself=True),
    "strict": _read(
        "ties left out of the first max, tau = 1 as in Algorithm 3: the paper takes the max over every h",
        strict=True,
    ),
    "tied": _read("the second max over ties too, where the paper has the sets in which y_i wins", tied=True),
    "optimistic": _read(
        "Delta = 0 for a tie that includes the own class, where it costs the most it could",
        optimistic=True,
        tied=True,
    ),
    "optimistic_loss": _read(
        "Delta = 0 in the first max for a tie that includes the own class, where it costs the most it could",
        optimistic=True,
    ),
    "once": _read(
        "h*_i chosen once, by Euclid: one step of CCCP, where h*_i is that of the metric itself", once=True
    ),
    "no_cone": _read("the problem without W psd: P_+ is missing, at the end and in every step", cone=False),
}
