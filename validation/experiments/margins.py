"""Claims with a margin: more by so much, never less, alike; each with a verdict, Holm within the claim.

The tests are those of `verdicts.difference`, moved to the margin.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np

from validation.experiments.verdicts import LEVEL, Difference, Name, Verdict, difference, holm, more


class Compared(NamedTuple):
    """The values of two methods on the same splits; overlap: as `verdicts.difference` has it."""

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


Claims = Mapping[Name, Compared]
Judge = Callable[[Claims[Name]], dict[Name, Verdict]]


def more_than(claims: Claims[Name], margin: float) -> dict[Name, Verdict]:
    """Of each claim that the first is more than the second by more than the margin, which may be negative."""
    return more({name: each.beyond(margin) for name, each in claims.items()})


def never_less(claims: Claims[Name], within: float) -> dict[Name, Verdict]:
    """Of each claim that the first is not less than the second.

    Contradicted where it is less significantly, however little. Supported where it is not, and is less by no more than
    `within` significantly: what is not less at all no test can tell from what is a little less.
    """
    plain, near = ({name: each.beyond(margin) for name, each in claims.items()} for margin in (0.0, -within))
    return apart(near, plain)


def apart(favour: Mapping[Name, Difference], against: Mapping[Name, Difference]) -> dict[Name, Verdict]:
    """Of each claim that the first is more than the second, with one margin to support it and one to contradict it.

    A margin that is ours, and not the paper's, can so be asked for without making a tie a contradiction.
    """
    supports, contradicts = more(favour), more(against)
    return {
        name: contradicts[name]
        if contradicts[name] is Verdict.CONTRADICTED
        else _only_support(supports[name])
        for name in favour
    }


def _only_support(found: Verdict) -> Verdict:
    return Verdict.SUPPORTED if found is Verdict.SUPPORTED else Verdict.UNDECIDED


def alike(claims: Claims[Name], within: float) -> dict[Name, Verdict]:
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


def together(found: Collection[Verdict]) -> Verdict:
    """Of a claim that all of several hold: contradicted where one is, supported where all are."""
    if Verdict.CONTRADICTED in found:
        return Verdict.CONTRADICTED
    return Verdict.UNDECIDED if Verdict.UNDECIDED in found else Verdict.SUPPORTED
