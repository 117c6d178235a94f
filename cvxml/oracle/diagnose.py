"""Find the misreading of the problem that a refuted metric solves, or the misreadings that come nearest.

A misreading is another problem that a program may solve by mistake, for example with a factor left out. Each
explanation (explanations.py) states another problem. The relative gap of the metric in the other problem is compared
with its relative gap in the user's problem. The candidate is the metric that the user gave.

Named. An explanation is named if the metric is certified for it at the tolerance, or at `LOOSE`; in the second case the
relative gap is reported too. The second case is excluded for closed forms, which do not stop early, and for another
value of a number if the method has no search of weights (`_only_exactly`). In both cases the relative gap must be
`SURELY` times smaller than in the user's problem. The absolute gap must be smaller too. If the scale of the other
problem is large, a small relative gap may be a larger absolute gap than in the user's problem.

Fitted numbers. A number such as a factor or a weight can be fitted to the metric, and a fitted number reduces the gap
for most errors. An explanation with a fitted number is named only if its relative gap is at most the tolerance and at
most `FITTED` times that of the user's problem. It is not named if an explanation without a fitted number fits.

Nearest. If no explanation is named, the program may have stopped early. Then the explanations with a relative gap
`BETTER` times smaller are listed with their gaps.

Left out: explanations that would also fit an error in a random direction (`luck`, `by_chance`). If 0 is nearly optimal,
slips in writing down a metric are left out too.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import betainc

from cvxml.core.metric import FloatArray, examine, project_psd
from cvxml.core.misreading import LOOSE, TakesTooLong
from cvxml.core.report import Nearest
from cvxml.core.work import DIAGNOSING, doing
from cvxml.methods import get
from cvxml.oracle.asked import Asked
from cvxml.oracle.explanations import (
    Explanation,
    left_out_before,
    misread_weights,
    misreadings,
    multiples_at_weights,
    of_other_features,
    of_representation,
    other_weights,
    two_misreadings,
)
from cvxml.oracle.judge import NO_ANSWER, Judge, Left
from cvxml.oracle.reference import Reference

BETTER = 100  # a misreading is listed as nearest if its relative gap is this many times smaller
LESS = 10  # the absolute gap in the other problem must be this many times smaller
NOT_BY_LUCK = 1e-6  # largest relative gap of a named explanation if the optimum is not unique
NEARER = 10  # the gap of a metric near 0, or with a rotated error, must be this many times larger
FOR_WEIGHTS = 1 / 3  # of the time: kept for the search of weights while other explanations are tried
SURELY = 1000  # a misreading is named if its relative gap is this many times smaller
FITTED = 1e-5  # largest relative gap with a fitted number, relative to that of the user's problem
LISTED = 3  # most explanations that are listed as nearest
TURNS = 8  # random rotations of the error; an explanation must not fit any of them
NEXT_TO_0 = 1e-6  # relative to the largest eigenvalue: smaller ones count as 0
ROUNDED = 1e-3  # relative to the tolerance: a smaller gap may be noise
PART = 2  # a misreading is combined with others if its relative gap is this many times smaller
SELDOM = 1e-3  # largest value of `luck`
LISTED_LEFT_OUT = 4  # most parts that a note names
LARGEST = 1e150  # of the largest entry of a metric, because its square must not overflow
LEAST = 1e-150  # of the largest entry of a metric, because its square must not underflow


class Diagnosis(NamedTuple):
    """What the report says on other problems that the metric may solve.

    named: sentences on the problems that it solves. nearest: if it solves none of them, the nearest problems. left_out:
    the parts of the search that the time limit left out.

    times: the relative gap in the user's problem, divided by the smallest relative gap that was found in another
    problem. Problems do not count if a number in them was fitted to the metric, or if they were chosen from several
    because they fit the metric. None if no clearly smaller gap was found. unlisted: why the problem with the smallest
    gap is not listed, as a clause.

    projected: True if the metric is not allowed; then `times` is about the nearest allowed one.

    fitted: a sentence on the fitted number with the smallest gap, if its gap is small, but not small enough for a name.
    """

    named: tuple[str, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    left_out: tuple[str, ...] = ()
    times: float | None = None
    unlisted: str = ""
    projected: bool = False
    fitted: str = ""

    @property
    def found(self) -> bool:
        """True if the report names or lists a problem."""
        return bool(self.named or self.nearest)


@doing(DIAGNOSING)
def diagnose(asked: Asked, optimum: Reference | None = None, seconds: float = math.inf) -> Diagnosis:
    """Return which other problems explain the candidate.

    The zero metric and the prior have no explanation: the data have no effect on them, so every match would be luck.
    The result is empty for them, without a candidate, and for a metric with too large or too small entries
    (`answer_of_many`).

    optimum: our own solution of the user's problem, if it is known. seconds: the processor time of our own solve, which
    limits the time of the search.
    """
    metric = asked.candidate
    if metric is None or answer_of_many(asked, metric):
        return Diagnosis()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        judge = Judge(asked, optimum, seconds)
        own = judge.certain(metric)
        beside = own if math.isfinite(own.share) else judge.projected(metric)
        # a matrix that is not allowed, next to a metric that is optimal or whose gap is not known
        is_near_miss = own is not beside and not asked.tol < beside.share < math.inf
        known = own if is_near_miss else beside
        judge.sharpen(FITTED * known.share)
        # combinations with a second misreading use no larger gap, and names and `by_chance` no larger gap than a tenth
        judge.enough = max(known.share / PART, NEARER * asked.tol)
        judge.enough_to_name = max(known.share / NEARER, NEARER * asked.tol)
        others = turned(judge)
        dropped: list[Explanation] = []

        def is_exact(each: Explanation) -> bool:
            return _is_exact(each, _gap_to_explain(each, own, beside, asked.tol), asked.tol)

        def sifted(found: Iterable[Explanation]) -> list[Explanation]:
            kept = []
            for each in found:
                if _is_reportable(each, own, asked.tol) and (
                    by_chance(judge, each, others) or (is_near_miss and _fits_optimum(each, judge))
                ):
                    dropped.append(each)
                    continue
                kept.append(each)
                if is_exact(each) and _is_named(each, own, beside, judge):
                    # from now on only explanations that may be named beside this one are of use
                    judge.enough = judge.enough_to_name = NEARER * asked.tol
            return kept

        read: dict[str, Explanation] = {}
        with judge.keeping(FOR_WEIGHTS):
            # if the method is not convex, a slip takes a whole descent, and most misreadings only a step of one
            is_slow = judge.claim == "stationary"
            slips = [] if is_slow else sifted(of_representation(judge, metric))
            listed = sifted(misreadings(judge, metric, read))
            slips = sifted(of_representation(judge, metric)) if is_slow else slips
            written = [*slips, *sifted(of_other_features(judge, metric))]
        found = [*listed, *written]
        if not any(is_exact(each) for each in [*listed, *(w for w in written if not w.fitted)]):
            found += sifted(other_weights(judge, metric))
            if not any(is_exact(each) for each in found):
                found += sifted(left_out_before(judge, metric, read))
                found += sifted(multiples_at_weights(judge, metric))
        explained = any(is_exact(each) or _is_near(each, own) for each in found)
        if math.isfinite(own.share) and not explained:
            found += sifted(two_misreadings(judge, metric, read, own.share / PART))
            found += sifted(misread_weights(judge, metric, read, own.share / PART))
    found = [each._replace(exactly=_only_exactly(each, asked)) for each in found]
    diagnosis = told(found, own, asked.tol, numbers(metric), beside, dropped)
    return diagnosis._replace(left_out=tuple(judge.left_out))


def answer_of_many(asked: Asked, metric: FloatArray) -> str:
    """Return why no explanation of the metric is tried, as a clause; empty if explanations are tried.

    They are not tried for the zero metric and for the prior, because many wrong programs return these. They are also
    not tried if the largest entry of the metric is above `LARGEST` or below `LEAST`.
    """
    size = float(np.abs(metric).max())
    if size == 0:
        return "the metric is 0, the answer of many wrong programs"
    if size > LARGEST:
        return f"the metric has an entry above {LARGEST:g}"
    if size < LEAST:
        return f"all entries of the metric are below {LEAST:g}"
    prior = asked.module.without_data(asked.given)
    if prior is not None and np.allclose(
        metric, prior, rtol=NEXT_TO_0, atol=NEXT_TO_0 * float(np.abs(prior).max())
    ):
        return "the metric is the prior, the answer of many wrong programs: does your program use the data?"
    return ""


def told(
    found: Sequence[Explanation],
    own: Left,
    tol: float,
    p: int,
    beside: Left | None = None,
    dropped: Sequence[Explanation] = (),
) -> Diagnosis:
    """Choose, from the explanations `found`, those that the report names or lists.

    own: the gap in the user's problem; inf if the metric is not allowed. tol: the tolerance. p: the number of free
    numbers in the metric (`numbers`).

    beside: the gap of the nearest allowed metric in the user's problem; default: `own`. To list the nearest problems,
    gaps are compared with `beside`. To name a problem, its gap is compared with the result of `_gap_to_explain`.

    dropped: the explanations that also fit an error in a random direction, and were left out (`by_chance`).
    """
    beside = own if beside is None else beside

    def is_surely_less(each: Explanation, than: Left) -> bool:
        return _is_less(each.left, than) and luck(each, than, tol, p, len(found)) <= SELDOM

    to_explain = [(each, _gap_to_explain(each, own, beside, tol)) for each in found]
    less = [(each, gap) for each, gap in to_explain if is_surely_less(each, gap)]
    named = [(each, gap) for each, gap in less if each.left.unique or each.left.share <= NOT_BY_LUCK]
    exact = [each for each, gap in named if _is_exact(each, gap, tol)]
    near = [
        each._replace(sentence=f"{each.sentence} (relative gap {each.left.share:.2g})")
        for each, gap in named
        if tol < each.left.share <= min(LOOSE, _capped_gap(gap) / SURELY)
        and not (_is_chosen(each) or each.exactly)
    ]
    if exact or near:
        return Diagnosis(tuple(dict.fromkeys(each.sentence for each in simplest(exact or near))))
    passed = [each for each in found if is_surely_less(each, beside)]
    nearest = dict.fromkeys(
        Nearest(each.sentence, each.left.share, beside.share)
        for each in sorted(passed, key=lambda each: each.left.share)
        if _is_near(each, beside)
    )
    known = [each for each in (*found, *dropped) if math.isfinite(each.left.share)]
    others = [each for each in known if not _is_chosen(each) and _is_less(each.left, beside)]
    best = min(others, key=lambda each: each.left.share, default=None)
    smallest = max(best.left.share if best else math.inf, ROUNDED * tol)
    times = _capped_gap(beside) / smallest if math.isfinite(beside.share) else 0.0
    return Diagnosis(
        nearest=tuple(nearest)[:LISTED],
        times=times or None,
        unlisted=_unlisted(best, beside, best in passed) if best else "",
        projected=not math.isfinite(own.share),
        fitted=_fitted([each for each, _ in less], own, tol, smallest),
    )


def _gap_to_explain(each: Explanation, own: Left, beside: Left, tol: float) -> Left:
    """Return the gap in the user's problem with which the gap of the explanation `each` is compared before it is named.

    own: the gap of the metric; inf if the metric is not allowed. beside: the gap of the nearest allowed metric. The
    result is `beside` if three conditions hold. `own` is inf. The relative gap of `beside` is finite and above `tol`.
    The explanation does not state why the matrix is not allowed. Otherwise the result is `own`.
    """
    if math.isfinite(own.share) or each.of_limits or not tol < beside.share < math.inf:
        return own
    return beside


def _is_named(each: Explanation, own: Left, beside: Left, judge: Judge) -> bool:
    """Return True if the explanation `each` meets the rules for a name.

    The report may still name other explanations, without a fitted number, in its place. own, beside: as in `told`.
    """
    candidate = judge.asked.candidate
    if candidate is None:
        return False
    each = each._replace(exactly=_only_exactly(each, judge.asked))
    as_many = [each] * (len(get(judge.method).MISREADINGS) + LISTED)  # `luck` counts the explanations
    return bool(told(as_many, own, judge.tol, numbers(candidate), beside).named)


def _fits_optimum(each: Explanation, judge: Judge) -> bool:
    """Return True if the explanation `each` of a matrix that is not allowed fits our optimum nearly as well.

    Example: the optimum with one entry changed by 1.5e-6 of its norm. This matrix is nearly optimal in every problem
    with nearly the same optimum. Such a problem does not explain why the matrix is not allowed.
    """
    if each.of_limits or each.left.share > LOOSE:  # a larger gap gives no name
        return False
    try:
        return by_chance(judge, each, [judge.better], SURELY)
    except NO_ANSWER:
        return True


def _unlisted(best: Explanation, beside: Left, passed: bool) -> str:
    """Return why the explanation `best` is not listed as a nearest problem, as a clause; empty if it meets all rules.

    beside: the gap in the user's problem. passed: True if an error in a random direction would not fit as well.
    """
    if not math.isfinite(beside.share):
        return "its gap is compared with that in your problem, and this one is not known"
    limit, rule = _limit_of_list(best, beside)
    if best.left.share > limit:
        return rule
    chance = "it did not pass the tests of chance: an error in a random direction may leave as small a gap"
    return "" if passed else chance


def _fitted(less: Sequence[Explanation], own: Left, tol: float, smallest: float) -> str:
    """Return a sentence on the fitted number with the smallest gap; empty if it explains little.

    less: the explanations with a clearly smaller gap; a random error would not have so small a gap (`luck`). own: the
    gap in the user's problem. smallest: the smallest relative gap of an explanation without a fitted number.
    """
    limit = min(smallest, _capped_gap(own) / BETTER)
    fits = [each for each in less if each.fit and not each.slight and each.left.share < limit]
    if not fits:
        return ""
    # a second fitted number must reduce the gap clearly
    nearly_best = PART * min(each.left.share for each in fits)
    best = min((each for each in fits if each.left.share <= nearly_best), key=lambda each: each.fitted)
    enough = min(tol, FITTED * _capped_gap(own), math.inf if best.left.unique else NOT_BY_LUCK)
    said = f"{best.fit[0].upper()}{best.fit[1:]} has a relative gap of {best.left.share:.2g}"
    return (
        f"{said}, but a fitted number reduces the gap of other errors too: a name needs a gap of at most {enough:.2g}. "
        "If your program iterates, run it longer, and check its metric again"
    )


def simplest(found: list[Explanation]) -> list[Explanation]:
    """Return the explanations without a fitted number, or all of them if each has one.

    A fitted number lets an explanation fit more metrics, so the others are preferred.
    """
    return [each for each in found if not each.fitted] or found


def luck(explanation: Explanation, own: Left, tol: float, p: int, tried: int) -> float:
    """Return the expected number of tried explanations that would fit an error in a random direction as well.

    own: the gap in the user's problem. tol: the tolerance. p: the number of free numbers in the metric. tried: the
    number of explanations.

    Model: gaps are squared distances in p dimensions. After a best fit of f numbers, the remaining share of a random
    error has a beta distribution with parameters (p - f)/2 and f/2. Without fitted numbers, a random error comes as
    near with a probability of about the p-th power of the relative distance. This is not a proof. It measures how
    little information a few numbers contain. An explanation that was chosen from several problems counts as that many
    tries.
    """
    tried += explanation.choices - 1
    f, whole = explanation.fitted, _capped_gap(own)
    share = min(max(explanation.left.share, ROUNDED * tol) / whole, 1.0) if whole > 0 else 1.0
    if f == 0:
        return float(tried * share ** (p / 2))
    return float(tried * betainc((p - f) / 2, f / 2, share)) if p > f else tried


def numbers(metric: FloatArray) -> int:
    """Return the number of free numbers in a metric (d, d) of rank r: r d - r (r - 1)/2.

    For a diagonal metric it is the number of nonzero entries.
    """
    d = len(metric)
    if np.count_nonzero(metric - np.diag(np.diag(metric))) == 0:
        return _count(np.asarray(np.diag(metric), dtype=np.float64))
    r = _count(np.asarray(np.linalg.eigvalsh(metric / 2 + metric.T / 2), dtype=np.float64))
    return r * d - r * (r - 1) // 2


def _count(values: FloatArray) -> int:
    """Return the number of values with an absolute value above `NEXT_TO_0` times the largest one."""
    return int(np.count_nonzero(np.abs(values) > NEXT_TO_0 * np.abs(values).max()))


def turned(judge: Judge) -> list[FloatArray]:
    """Return other metrics (d, d) with errors of the same size, to test if an explanation fits them as well.

    The error is the candidate minus a better metric: the optimum, or the result of the convex step if the problem is
    not convex. `TURNS` metrics have this error rotated at random. One more lies on the way from the better metric to
    the multiple of the identity with the same trace. A program that started there and stopped early returns such a
    metric. If the candidate is not feasible or no better metric is found, these metrics are missing.

    For a metric with one free number, the list also contains twice the metric, because an explanation that fits it too
    would fit any number.
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


def by_chance(judge: Judge, each: Explanation, others: Sequence[FloatArray], times: float = NEARER) -> bool:
    """Return True if the explanation `each` fits one of the metrics `others` nearly as well as the candidate.

    Then the explanation is not used. others: usually the metrics of `turned`. times: "nearly as well" means a relative
    gap less than this many times that of the candidate.

    The result is also True if the time is too short for the test. It is False if the explanation does not depend on the
    metric. A metric without a computable gap does not count.
    """
    if each.again is None:
        return False
    enough = times * max(each.left.share, ROUNDED * judge.tol)
    for other in others:
        try:
            with judge.asking_only(enough):
                left = each.again(other)
            if left.share < enough:
                return True
        except TakesTooLong:  # an explanation that was not tested is not used
            return True
        except NO_ANSWER:
            continue
    return False


def _is_reportable(each: Explanation, own: Left, tol: float) -> bool:
    # a matrix that is not allowed has an infinite gap, and every limit below is infinite too
    known = math.isfinite(each.left.share)
    return known and _is_less(each.left, own) and each.left.share <= max(tol, own.share / BETTER)


def _is_less(left: Left, own: Left) -> bool:
    """Return True if `left` is a clearly smaller gap than `own`, the gap in the user's problem.

    Two conditions must hold. The absolute gap is `LESS` times smaller. The relative gap is `NEARER` times smaller than
    that of the zero metric in the same problem. The second condition excludes problems in which every small metric has
    a small gap.
    """
    less = left.gap is None or own.gap is None or LESS * left.gap <= own.gap
    return less and NEARER * left.share <= left.nothing


def _is_exact(each: Explanation, own: Left, tol: float) -> bool:
    """Return True if the relative gap of the explanation is small enough to name it as an exact one.

    It must be at most `tol`, and at most 1 / `SURELY` of `own`, the gap in the user's problem. For an explanation that
    was chosen to fit the metric, `FITTED` takes the place of 1 / `SURELY`. The explanation must also meet `_is_less`.
    """
    part = FITTED if _is_chosen(each) else 1 / SURELY
    return _is_less(each.left, own) and each.left.share <= min(tol, part * _capped_gap(own))


def _only_exactly(each: Explanation, asked: Asked) -> bool:
    """Return True if the explanation `each` may be named only with a gap of at most the tolerance.

    A closed form has no run that could stop early. If only a number differs from the user's problem, and weights are
    not searched for this method, another value of the number may explain the metric better.
    """
    closed_form = asked.module.MAX_ITER == 1
    return each.exactly or closed_form or (each.number and not asked.module.WEIGHTS)


def _is_near(each: Explanation, own: Left) -> bool:
    """Return True if the explanation may be listed as nearest. own: the gap in the user's problem.

    Explanations that were chosen to fit the metric are excluded. For another value of a number, and for a problem with
    many optima, the limits are stricter, because such an explanation may fit by chance.
    """
    if _is_chosen(each) or each.slight or not math.isfinite(own.share) or not _is_less(each.left, own):
        return False
    return each.left.share <= _limit_of_list(each, own)[0]


def _limit_of_list(each: Explanation, own: Left) -> tuple[float, str]:
    """Return the largest relative gap with which an explanation is listed as nearest, and this rule as a clause.

    own: the gap in the user's problem.
    """
    gap, strict = _capped_gap(own), f"and then the list needs a gap {SURELY:,} times smaller"
    if each.number:
        return gap / SURELY, f"it differs from yours in a number only, {strict}"
    if each.left.gap is not None and not each.left.unique:  # without a gap, the set of optima is not known
        return gap / SURELY, f"its optimum may not be unique, {strict}"
    return gap / BETTER, f"the list needs a gap {BETTER} times smaller"


def _is_chosen(each: Explanation) -> bool:
    """Return True if a number, or one of several problems, was chosen to fit the metric."""
    return each.fitted > 0 or each.choices > 1


def _capped_gap(own: Left) -> float:
    """Return the relative gap in the user's problem, but at most 1, because the model of `luck` fits no larger gaps."""
    return min(own.share, 1.0)


def not_tried(left_out: Sequence[str]) -> str:
    """Return the note that names the parts of the search for which the time was too short."""
    shown = "; ".join(left_out[:LISTED_LEFT_OUT])
    more = len(left_out) - LISTED_LEFT_OUT
    shown += f"; and {more} more" if more > 0 else ""
    parts = "1 part" if len(left_out) == 1 else f"{len(left_out)} parts"
    return (
        f"the search for a misreading left out {parts}, because the time was too short: {shown}; next: "
        'diagnosed="all" tries everything, in the shell --diagnose-all'
    )


def _best(diagnosis: Diagnosis) -> str:
    """Return sentences on the smallest relative gap in another problem, and on the reason why it is not listed."""
    yours = "that of the nearest metric in your problem" if diagnosis.projected else "that in your problem"
    times = diagnosis.times
    if times is None and diagnosis.unlisted:
        return f"The report does not list another problem: {diagnosis.unlisted}"
    if times is None or times <= 1:
        return (
            "No other problem that was tried, without a fitted weight or factor, has a clearly smaller relative gap "
            f"than {yours}"
        )
    said = (
        "Among the other problems that were tried, without a fitted weight or factor, the smallest relative gap is "
        f"{times:.3g} times smaller than {yours}"
    )
    return (
        f"{said}. The report does not list that problem: {diagnosis.unlisted}" if diagnosis.unlisted else said
    )


def unnamed(asked: Asked, diagnosis: Diagnosis) -> str:
    """Return the note of a report in which no misreading is named: the reason, and what the user can do next."""
    method = asked.method
    compare = (
        f"compare the parts of your program with those of `cvxml evaluate {method} DATA --metric FILE`, "
        f"in Python cvxml.evaluate({method!r}, X, y, metric), with the options of this call"
    )
    if diagnosis.nearest and get(method).MAX_ITER == 1:  # a closed form has no run that could stop early
        return f"the nearest problems are possible, and not proved. Next: {compare}"
    if diagnosis.nearest:
        return (
            "the nearest problems are possible, and not proved: your program may have stopped early. Run it longer, "
            "and check its metric again"
        )
    if asked.late:
        return "no misreading is named: not all were tried before time_limit"
    if asked.candidate is not None and (why := answer_of_many(asked, asked.candidate)):
        return f"no misreading is named: none was tried, because {why}"
    count = len(get(method).MISREADINGS)
    known = f"the {count} known ones of {method}"
    tried = f"those that were tried among {known}" if diagnosis.left_out else known
    if asked.candidate is not None and asked.candidate.size == 1:
        return (
            "no misreading is named: with one feature a metric is one number, which is too little information; "
            "use two features or more"
        )
    said = [
        f"no misreading is named: none of {tried} explains the metric",
        _best(diagnosis),
        diagnosis.fitted,
        f"Next: {compare}",
    ]
    return ". ".join(filter(None, said))
