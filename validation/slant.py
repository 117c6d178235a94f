"""How far written characters lean, and whether that follows an axis of a picture of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import spearmanr
from scipy.stats import t as student

from cvxml.core.metric import FloatArray, IntArray
from validation.experiments.verdicts import LEVEL, Interval, Verdict, holm


class Axis(NamedTuple):
    """Along an axis: Spearman's correlation with the slant, of either sign, and the parabola through it.

    bend: the coefficient of the square, of an axis and slants of unit variance; interval: 95 %. inside: its extremum is
    between the least and the largest place on the axis.
    """

    correlation: float
    p_value: float
    bend: float
    interval: Interval
    bend_p_value: float
    inside: bool


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
    rank = spearmanr(z, slant)
    x, s = ((values - values.mean()) / values.std() for values in (z, slant))
    basis = np.stack([np.ones_like(x), x, x * x], axis=1)
    fitted = np.linalg.lstsq(basis, s, rcond=None)[0]
    free = len(x) - 3
    error = np.sqrt(np.sum((s - basis @ fitted) ** 2) / free * np.linalg.inv(basis.T @ basis)[2, 2])
    bend, slope = float(fitted[2]), float(fitted[1])
    reach = float(student.isf(LEVEL / 2, free) * error)
    peak = -slope / (2 * bend) if bend else np.inf
    return Axis(
        float(rank.statistic),
        float(rank.pvalue),
        bend,
        Interval(bend - reach, bend + reach),
        float(2 * student.sf(abs(bend) / error, free)),
        bool(x.min() < peak < x.max()),
    )


def judged(pictures: dict[str, list[Axis]]) -> dict[tuple[str, str], Verdict]:
    """(picture, "follows" or "unfolds") -> a verdict, by Holm over all of them and their axes.

    follows: the slant goes with an axis; no correlation contradicts nothing. unfolds: clockwise up to the middle of an
    axis, and back from there, a parabola with its top inside; contradicted where no axis has that, and one has the
    reverse.
    """
    adjusted = holm(
        {
            (name, i, what): p
            for name, axes in pictures.items()
            for i, axis in enumerate(axes)
            for what, p in (("follows", axis.p_value), ("unfolds", axis.bend_p_value))
        }
    )
    found = {}
    for name, axes in pictures.items():
        follows = any(adjusted[name, i, "follows"] < LEVEL for i in range(len(axes)))
        bends = [
            axis.bend for i, axis in enumerate(axes) if axis.inside and adjusted[name, i, "unfolds"] < LEVEL
        ]
        found[name, "follows"] = Verdict.SUPPORTED if follows else Verdict.UNDECIDED
        found[name, "unfolds"] = Verdict.UNDECIDED
        if bends:
            found[name, "unfolds"] = Verdict.SUPPORTED if min(bends) < 0 else Verdict.CONTRADICTED
    return found
