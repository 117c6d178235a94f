"""How far written characters lean, and whether that follows an axis of a picture of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from scipy.stats import norm as normal
from scipy.stats import spearmanr

from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.verdicts import LEVEL, Interval, Verdict, holm

SEEN = 0.3  # a correlation of less is not seen in a picture; the number is ours
# the standard error of artanh of Spearman's correlation, times sqrt(n - 3) (Fieller, Hartley, Pearson 1957)
FIELLER = 1.03
Claim = tuple[str, str]  # a picture; "follows" or "unfolds"


class Rank(NamedTuple):
    """Spearman's correlation of so many images."""

    value: float
    count: int

    @property
    def stretched(self) -> float:
        """artanh of the value, which is nearly normal; infinite for 1 and -1."""
        with np.errstate(divide="ignore"):
            return float(np.arctanh(self.value))

    @property
    def error(self) -> float:
        """Of what is stretched."""
        return FIELLER / float(np.sqrt(self.count - 3))

    @property
    def interval(self) -> Interval:
        """95 %."""
        middle, reach = self.stretched, float(normal.isf(LEVEL / 2)) * self.error
        return Interval(float(np.tanh(middle - reach)), float(np.tanh(middle + reach)))

    def p_value(self, size: float = 0.0) -> float:
        """Of the two-sided test that its size is this one."""
        return float(2 * normal.sf(abs(abs(self.stretched) - np.arctanh(size)) / self.error))


class Axis(NamedTuple):
    """The correlation of the slant with the place on an axis: of all images, and on either side of their median."""

    whole: Rank
    left: Rank
    right: Rank


def slants(images: FloatArray, y: IntArray) -> FloatArray:
    """(n,) how far each image (n, side, side), ink above 0, leans to the right, less the mean of its digit.

    The slope of x on the height in the moments of the ink, what is taken out when digits are set upright. A digit of
    its own shape may have such a slope without leaning, hence the difference.
    """
    side = images.shape[1]
    ink = images / images.sum(axis=(1, 2), keepdims=True)
    right, up = np.meshgrid(np.arange(side, dtype=float), -np.arange(side, dtype=float))
    x, h = (right - _mean(ink, right)[:, None, None]), (up - _mean(ink, up)[:, None, None])
    lean = _mean(ink, x * h) / _mean(ink, h * h)
    found: FloatArray = lean.copy()
    for digit in np.unique(y):
        found[y == digit] -= lean[y == digit].mean()
    return found


def _mean(ink: FloatArray, values: FloatArray) -> FloatArray:
    """(n,) of values over the ink of each image."""
    mean: FloatArray = np.sum(ink * values, axis=(1, 2))
    return mean


def along(z: FloatArray, slant: FloatArray) -> Axis:
    """What an axis z (n,) of a picture says of the slants (n,)."""
    left = z <= np.median(z)
    return Axis(
        *(
            Rank(float(spearmanr(z[some], slant[some]).statistic), int(some.sum()))
            for some in (np.ones(len(z), dtype=bool), left, ~left)
        )
    )


def judged(pictures: dict[str, list[Axis]], claims: Collection[Claim]) -> dict[Claim, Verdict]:
    """A verdict on each claim, that it holds of an axis of its picture; 5 % for all claims and axes together (Holm).

    follows: the correlation is above `SEEN` in size; contradicted where it is below on every axis. unfolds: clockwise
    up to the middle, and back from there, which is a correlation above 0 on the left and below 0 on the right;
    contradicted where every axis has two others.
    """
    tests = {
        (claim, i): max(axis.left.p_value(), axis.right.p_value())
        if claim[1] == "unfolds"
        else axis.whole.p_value(SEEN)
        for claim in claims
        for i, axis in enumerate(pictures[claim[0]])
    }
    adjusted, found = holm(tests), {}
    for claim in claims:
        held = [
            holds(axis, claim[1]) if adjusted[claim, i] < LEVEL else None
            for i, axis in enumerate(pictures[claim[0]])
        ]
        found[claim] = Verdict.UNDECIDED
        if True in held:
            found[claim] = Verdict.SUPPORTED
        elif None not in held:
            found[claim] = Verdict.CONTRADICTED
    return found


def holds(axis: Axis, what: str) -> bool:
    """Of the correlations as they are."""
    if what == "unfolds":
        return axis.left.value > 0 > axis.right.value
    return abs(axis.whole.value) > SEEN
