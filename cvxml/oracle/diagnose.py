"""For a refuted metric: which misreading of the problem does it solve, or which is it nearest to?

Of everything that may explain it (explanations.py), what the metric leaves to gain there is compared with what it
leaves in the problem itself, each as a share of its own scale. A misreading is named where the metric is certified for
it at the tolerance asked for, or to `LOOSE`, with the figure; in both cases it must explain the metric a thousand times
better. A number that was fitted to the metric, such as a factor or a weight, explains much of most errors: it is named
only where it leaves at most the tolerance, and `FITTED` of what the problem itself leaves, and only where no misreading
without such a number explains the metric. The gap must be less as a number too: a tolerance of a problem of a large
scale may be more than all that is wrong. Where 0 is as good as optimal, no slip in how a metric is written down is
named.

Where none is named, a program may have stopped early: then those are listed that leave a hundred times less than the
problem itself, with what they leave. None is told that an error in some random direction would be as near to (`luck`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from cvxml.core.metric import FloatArray, examine, project_psd
from cvxml.core.misreading import LOOSE
from cvxml.core.report import Nearest
from cvxml.methods import get
from cvxml.oracle.asked import Asked
from cvxml.oracle.explanations import (
    Explanation,
    misread_weights,
    misreadings,
    multiples_at_weights,
    of_representation,
    other_weights,
    two_misreadings,
)
from cvxml.oracle.judge import NO_ANSWER, Judge, Left
from cvxml.oracle.reference import Reference

BETTER = 100  # times less of its scale must be left in what is listed as nearest
LESS = 10  # times less must be left in a misreading, as a number
NOT_BY_LUCK = 1e-6  # what may be left where the optimum is not unique
NEARER = 10  # times less must be left than a metric next to 0, or a turned error, leaves
SURELY = 1000  # times less must be left, as a share, in what is named
FITTED = 1e-5  # of what the metric leaves in the problem itself: the most that a fitted number may leave
LISTED = 3  # of these at most
TURNS = 8  # of an error, none of which is explained nearly as well
NEXT_TO_0 = 1e-6  # of the largest eigenvalue
ROUNDED = 1e-3  # of the tolerance: what is left may be noise
PART = 2  # times less must be left in one misreading before it is tried together with another
SELDOM = 1e-3  # of random errors are explained as well by one of all that were tried


class Diagnosis(NamedTuple):
    """What a metric is the answer of, as sentences; else what it is nearest to."""

    named: tuple[str, ...] = ()
    nearest: tuple[Nearest, ...] = ()


def diagnose(asked: Asked, optimum: Reference | None = None) -> Diagnosis:
    """What explains the candidate. optimum: of the problem itself, if it is known."""
    metric = asked.candidate
    if metric is None or np.abs(metric).max() > 1e150:  # no misreading, an overflow
        return Diagnosis()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = Judge(asked, optimum)
        own = judge.certain(metric)
        judge.sharpen(FITTED * own.share)
        others = turned(judge)

        def sifted(found: Iterable[Explanation]) -> list[Explanation]:
            return [
                each
                for each in found
                if not (_is_told(each, own, asked.tol) and by_chance(each, others, asked.tol))
            ]

        read = [*misreadings(judge, metric)]
        listed, written = sifted(read), sifted(of_representation(judge, metric))
        found = [*listed, *written]
        if not any(
            _is_exact(each, own, asked.tol) for each in [*listed, *(w for w in written if not w.fitted)]
        ):
            found += sifted(other_weights(judge, metric))
            if not any(_is_exact(each, own, asked.tol) for each in found):
                found += sifted(multiples_at_weights(judge, metric))
        explained = any(_is_exact(each, own, asked.tol) or _is_near(each, own) for each in found)
        if math.isfinite(own.share) and not explained:
            shares = [each.left.share for each in read]
            found += sifted(two_misreadings(judge, metric, shares, own.share / PART))
            found += sifted(misread_weights(judge, metric, shares, own.share / PART))
    return told(found, own, asked.tol, numbers(metric))


def told(found: list[Explanation], own: Left, tol: float, p: int) -> Diagnosis:
    """What is said of all that was found. own: what is left in the problem itself. p: numbers that the metric holds."""
    less = [
        each for each in found if _is_less(each.left, own) and luck(each, own, tol, p, len(found)) <= SELDOM
    ]
    named = [each for each in less if each.left.unique or each.left.share <= NOT_BY_LUCK]
    exact = [each for each in named if _is_exact(each, own, tol)]
    near = [
        each._replace(sentence=f"to {each.left.share:.2g} of the scale, {each.sentence}")
        for each in named
        if tol < each.left.share <= min(LOOSE, _whole(own) / SURELY) and not _is_chosen(each)
    ]
    if exact or near:
        return Diagnosis(tuple(dict.fromkeys(each.sentence for each in simplest(exact or near))))
    nearest = dict.fromkeys(
        Nearest(each.sentence, each.left.share, own.share)
        for each in sorted(less, key=lambda each: each.left.share)
        if _is_near(each, own)
    )
    return Diagnosis(nearest=tuple(nearest)[:LISTED])


def simplest(found: list[Explanation]) -> list[Explanation]:
    """Those for which no number was fitted, if there are any: with a number of its own more fits a metric."""
    return [each for each in found if not each.fitted] or found


def luck(explanation: Explanation, own: Left, tol: float, p: int, tried: int) -> float:
    """How many of all that were tried would explain an error in a random direction as well, but for noise.

    If gaps are squares of distances, what is left after the best fit of f numbers is a beta variable of the other p - f
    directions and these f; and a misreading is a point, that as near to hits by the p-th power of the distance. That
    is no proof, but a measure of how little few numbers can tell. One of several problems counts as all of them.
    """
    tried += explanation.choices - 1
    f, whole = explanation.fitted, _whole(own)
    share = min(max(explanation.left.share, ROUNDED * tol) / whole, 1.0) if whole > 0 else 1.0
    if f == 0:
        return float(tried * share ** (p / 2))
    return float(tried * betainc((p - f) / 2, f / 2, share)) if p > f else tried


def numbers(metric: FloatArray) -> int:
    """How many a metric (d, d) of its rank r holds: r d - r (r - 1)/2; where it is diagonal, how many are not 0."""
    d = len(metric)
    if np.count_nonzero(metric - np.diag(np.diag(metric))) == 0:
        return _count(np.asarray(np.diag(metric), dtype=np.float64))
    r = _count(np.asarray(np.linalg.eigvalsh(metric / 2 + metric.T / 2), dtype=np.float64))
    return r * d - r * (r - 1) // 2


def _count(values: FloatArray) -> int:
    """Of those that are not next to 0 beside the largest."""
    return int(np.count_nonzero(np.abs(values) > NEXT_TO_0 * np.abs(values).max()))


def turned(judge: Judge) -> list[FloatArray]:
    """Metrics (d, d) with the error of the candidate, what it is more than the best, in other directions.

    The last is on the way to the multiple of the identity with the trace of the best: what a program may return that
    began there and stopped early. A metric of one number is explained by chance if twice the metric is: then any
    number is.
    """
    metric = judge.asked.candidate
    if metric is None:
        return []
    twice = [2 * metric] if numbers(metric) == 1 else []
    if not examine(metric)[1].feasible:
        return twice
    try:
        error = metric - judge.better
    except NO_ANSWER:
        return twice
    rng = np.random.default_rng(0)
    turns = (np.linalg.qr(rng.standard_normal(metric.shape))[0] for _ in range(TURNS))
    plain = np.trace(judge.better) / len(metric) * np.eye(len(metric)) - judge.better
    size = float(np.linalg.norm(plain))
    way = [judge.better + min(1.0, float(np.linalg.norm(error)) / size) * plain] if size > 0 else []
    return [*twice, *(project_psd(judge.better + turn @ error @ turn.T) for turn in turns), *way]


def by_chance(each: Explanation, others: Sequence[FloatArray], tol: float) -> bool:
    """True if one of the turned metrics is explained nearly as well: then it is no explanation."""
    if each.again is None:
        return False
    enough = NEARER * max(each.left.share, ROUNDED * tol)
    for other in others:
        try:
            if each.again(other).share < enough:
                return True
        except NO_ANSWER:
            continue
    return False


def _is_told(each: Explanation, own: Left, tol: float) -> bool:
    """True of all that may be named or listed."""
    return _is_less(each.left, own) and each.left.share <= max(tol, own.share / BETTER)


def _is_less(left: Left, own: Left) -> bool:
    """True where the gap is, as a number too, and less than that of a metric next to 0."""
    less = left.gap is None or own.gap is None or LESS * left.gap <= own.gap
    return less and NEARER * left.share <= left.nothing


def _is_exact(each: Explanation, own: Left, tol: float) -> bool:
    """True where the metric is the answer to `tol`, and what is left is next to nothing of what is to be explained."""
    part = FITTED if _is_chosen(each) else 1 / SURELY
    return _is_less(each.left, own) and each.left.share <= min(tol, part * _whole(own))


def _is_near(each: Explanation, own: Left) -> bool:
    """True of what may be listed: nothing chosen to fit. Another number, or one of many optima, is near by luck."""
    if _is_chosen(each) or each.slight or not math.isfinite(own.share) or not _is_less(each.left, own):
        return False
    if each.number:
        return each.left.share <= min(LOOSE, _whole(own) / SURELY)
    many = each.left.gap is not None and not each.left.unique  # of a bound alone the optima are not known
    return each.left.share <= _whole(own) / (SURELY if many else BETTER)


def _is_chosen(each: Explanation) -> bool:
    """True where a number of it, or one of several problems, was chosen to fit the metric."""
    return each.fitted > 0 or each.choices > 1


def _whole(own: Left) -> float:
    """What is to be explained, as a share of the scale; beyond the scale gaps are no squares of distances."""
    return min(own.share, 1.0)


def unnamed(asked: Asked) -> str:
    """What a report says where none was found."""
    if asked.late:
        return "no misreading is named: not all were tried before time_limit"
    method = asked.method
    count = len(get(method).MISREADINGS)
    if asked.candidate is not None and asked.candidate.size == 1:
        return (
            "no misreading is named: with one feature a metric is one number, which tells too little of what was "
            "computed; judge it with two features or more"
        )
    return (
        f"no misreading is named: none of the {count} that are known of {method} leaves {BETTER} times less to gain "
        "than the problem itself, and less than an error in some other direction would; next: compare the parts of "
        f"your program with those of `cvxml evaluate {method} DATA --metric FILE`, in Python "
        f"cvxml.evaluate({method!r}, X, y, metric)"
    )
