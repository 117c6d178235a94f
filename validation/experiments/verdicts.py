"""Three verdicts on what a paper claims, with what the data can tell: supported, contradicted, undecided.

A claim here is that one method has less error than another. It is supported where that is significant, contradicted
where the reverse is, at 5 % for all comparisons of a table together (Holm, A simple sequentially rejective multiple
test procedure, Scandinavian Journal of Statistics 1979), and else undecided, which is never "does not hold".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.stats import binomtest
from scipy.stats import norm as normal
from scipy.stats import t as student

from validation.experiments.statistics import LEVEL, corrected_error, p_value

Name = TypeVar("Name", bound=Hashable)


class Verdict(StrEnum):
    """What becomes of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"


class Answer(StrEnum):
    """Whether a claim holds, over all its comparisons or sets; from the best for the claim to the worst."""

    YES = "yes"
    MOSTLY = "mostly"
    IN_PART = "in part"
    UNDECIDED = "undecided"
    NO = "no"
    UNTESTED = "untested"


def answer(found: Sequence[Verdict]) -> Answer:
    """Return how far a claim holds: in every case, in more than half, in some, or in none."""
    supported, contradicted = (found.count(kind) for kind in (Verdict.SUPPORTED, Verdict.CONTRADICTED))
    if not found:
        return Answer.UNTESTED
    if supported == len(found):
        return Answer.YES
    if 2 * supported > len(found):
        return Answer.MOSTLY
    if contradicted > supported:
        return Answer.NO
    return Answer.IN_PART if supported else Answer.UNDECIDED


def worst(answers: Collection[Answer]) -> Answer:
    """Return the answer that is the worst for the claim, of several solvers or scalings."""
    return max(answers, key=list(Answer).index, default=Answer.UNTESTED)


NO_VERDICT = "no verdict"  # for example because a method was not run
LEGEND = (
    "*Legend.* S, supported: a significant difference as the paper says. C, contradicted: a significant difference "
    "against it. U, undecided: neither, which is not evidence for either side."
)


def legend(*tests: str) -> str:
    """Return the meaning of the verdicts, for the top of a table; tests: those of the letters of a cell, in order."""
    return LEGEND + (f" Letters stand in the order of the tests: {', '.join(tests)}." if tests else "")


def letters(*found: Verdict) -> str:
    """Return one letter for each verdict."""
    return "".join(each[0].upper() for each in found)


class Interval(NamedTuple):
    """From, to."""

    low: float
    high: float


def share_interval(wrong: int, of: int) -> Interval:
    """Of a share of so many points, 95 %, exact (Clopper, Pearson 1934)."""
    found = binomtest(wrong, of).proportion_ci(1 - LEVEL)
    return Interval(float(found.low), float(found.high))


class Pair(NamedTuple):
    """Two metrics on the same test points: those that only the first gets wrong, only the second, and all."""

    first: int
    second: int
    points: int

    @property
    def difference(self) -> float:
        """The error of the first less that of the second, as shares."""
        return (self.first - self.second) / self.points

    @property
    def mean(self) -> float:
        """How much less error the first has: what a claim that it is better is about."""
        return -self.difference

    @property
    def p_value(self) -> float:
        """Of McNemar's exact test, two-sided: a point that only one gets wrong is as likely the one's as the other's.

        The metrics are taken as given, learnt from these training points; the test is of new points.
        """
        apart = self.first + self.second
        return float(binomtest(self.first, apart).pvalue) if apart else 1.0

    @property
    def interval(self) -> Interval:
        """Of the difference, 95 %, for new points: Wald's after half a point more of each of the four kinds.

        Agresti, Min, Simple improved confidence intervals for comparing matched proportions, Statistics in Medicine
        2005. Near 5 % it may decide otherwise than McNemar's test, which is exact.
        """
        first, second, points = self.first + 0.5, self.second + 0.5, self.points + 2
        middle = (first - second) / points
        reach = float(normal.isf(LEVEL / 2)) * float(
            np.sqrt((first + second) / points - middle**2) / np.sqrt(points)
        )
        return Interval(middle - reach, middle + reach)


def pair(first: Collection[Hashable], second: Collection[Hashable], points: int) -> Pair:
    """From the points that each gets wrong."""
    a, b = set(first), set(second)
    return Pair(len(a - b), len(b - a), points)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
    """Adjusted so that all below a level are significant together at that level."""
    adjusted: dict[Name, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = largest
    return adjusted


class Difference(NamedTuple):
    """The mean difference of two methods over splits of the same points, the interval for new points, and its p."""

    mean: float
    interval: Interval
    p_value: float

    def shown(self, digits: int) -> str:
        """Return the mean and the interval, in points."""
        mean, low, high = (f"{100 * value:+.{digits}f}" for value in (self.mean, *self.interval))
        return f"{mean} ({low} to {high})"


def difference(first: Sequence[float], second: Sequence[float], overlap: float) -> Difference:
    """Of the first less the second, split by split; overlap: as of `corrected_error`. Needs two splits."""
    each = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    reach = float(student.isf(LEVEL / 2, len(each) - 1)) * corrected_error(each, overlap)
    mean = float(each.mean())
    return Difference(mean, Interval(mean - reach, mean + reach), p_value(first, second, overlap))


def more(claims: Mapping[Name, Difference | Pair]) -> dict[Name, Verdict]:
    """Of the claims of one table, each that the first method has more than the second, or of a pair less error."""
    adjusted = holm({name: each.p_value for name, each in claims.items()})
    found = {}
    for name, each in claims.items():
        sure = Verdict.SUPPORTED if each.mean > 0 else Verdict.CONTRADICTED
        found[name] = sure if adjusted[name] < LEVEL else Verdict.UNDECIDED
    return found


# --- claims with a margin; the tests are those of `difference`, moved to the margin


class Compared(NamedTuple):
    """The values of two methods on the same splits; overlap: as `difference` has it."""

    first: list[float]
    second: list[float]
    overlap: float

    def beyond(self, margin: float = 0.0) -> Difference:
        """Of the first less the second, less the margin. Rounded, so that what is the margin exactly is no more."""
        apart = np.round(np.array(self.first) - np.array(self.second) - margin, 12)
        return difference(apart.tolist(), [0.0] * len(apart), self.overlap)

    @property
    def effect(self) -> float:
        """The mean difference in standard deviations (ddof 1) of it over the splits: inf where it does not vary."""
        apart = np.round(np.array(self.first) - np.array(self.second), 12)
        spread = float(apart.std(ddof=1))
        if np.ptp(apart) == 0:
            return float(np.sign(apart[0]) * np.inf) if apart[0] else 0.0
        return float(apart.mean()) / spread


def these(claims: Mapping[Name, Compared]) -> dict[Name, Compared]:
    """The same comparisons for the points at hand, of whose splits those that were run are a sample."""
    return {name: each._replace(overlap=0.0) for name, each in claims.items()}


def paired(
    first: Mapping[int, float | None], second: Mapping[int, float | None], overlap: float
) -> Compared | None:
    """Return the values of two methods on the realisations of both; None for fewer than two.

    first, second: realisation -> accuracy, None where there is no metric. overlap: as of `corrected_error`.
    """
    both = [
        (a, b)
        for split in sorted(first)
        if (a := first[split]) is not None and (b := second.get(split)) is not None
    ]
    return Compared([a for a, _ in both], [b for _, b in both], overlap) if len(both) > 1 else None


def judged(
    claims: Mapping[Name, Compared], favour: float, against: float | None = None
) -> dict[Name, Verdict]:
    """Of each claim that the first is more than the second by more than `favour`, which may be negative.

    against: it is contradicted where the first is significantly less than the second and this; `favour`, if not given.
    So a margin that is ours, and not the paper's, can be asked for without making a tie a contradiction.
    """
    found = more({name: each.beyond(favour) for name, each in claims.items()})
    if against is None:
        return found
    contrary = more({name: each.beyond(against) for name, each in claims.items()})
    for name, verdict in found.items():
        if contrary[name] is Verdict.CONTRADICTED:
            found[name] = contrary[name]
        elif verdict is not Verdict.SUPPORTED:
            found[name] = Verdict.UNDECIDED
    return found


def alike(claims: Mapping[Name, Compared], within: float) -> dict[Name, Verdict]:
    """Of each claim that the two differ by no more than `within`: significantly inside, outside, or neither.

    The p-value of either is that of the end of the range that is nearer, so the larger one.
    """
    ends = {name: (each.beyond(-within), each.beyond(within)) for name, each in claims.items()}
    adjusted = holm({name: max(low.p_value, high.p_value) for name, (low, high) in ends.items()})

    def verdict(name: Name) -> Verdict:
        low, high = ends[name]
        if adjusted[name] >= LEVEL:
            return Verdict.UNDECIDED
        return Verdict.SUPPORTED if low.mean > 0 > high.mean else Verdict.CONTRADICTED

    return {name: verdict(name) for name in claims}


# --- how many are needed

Need = Callable[[int], int]  # of so many, how many


def every(count: int) -> int:
    """All of them."""
    return count


def most(count: int) -> int:
    """More than half."""
    return count // 2 + 1


def half(count: int) -> int:
    """At least half."""
    return (count + 1) // 2


NEEDS: dict[str, Need] = {"every": every, "most": most, "half": half}


def joined(found: Sequence[Verdict], need: Need, of: int | None = None) -> Verdict | None:
    """The verdict on a sentence that holds of as many as are needed; None of nothing.

    of: how many the sentence speaks of, where not all were compared. The others may hold or not.
    """
    if not found:
        return None
    of = len(found) if of is None else of
    needed = need(of)
    if sum(verdict is Verdict.SUPPORTED for verdict in found) >= needed:
        return Verdict.SUPPORTED
    impossible = sum(verdict is Verdict.CONTRADICTED for verdict in found)
    return Verdict.CONTRADICTED if of - impossible < needed else Verdict.UNDECIDED
