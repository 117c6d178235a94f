"""Means, standard errors, paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from cvxml.core.metric import FloatArray

LEVEL = 0.05


class Mean(NamedTuple):
    """A mean over splits and its standard error: standard deviation (ddof 1) over the root of their number."""

    value: float
    error: float

    def __str__(self) -> str:
        return percent(self.value, self.error)


def mean(values: Sequence[float]) -> Mean:
    """Of at least one value; of a single one the standard error is nan."""
    count = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
    return Mean(float(np.mean(values)), error)


def percents(trials: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each share over the trials, in per cent."""
    found = list(trials)
    return {name: 100 * float(np.mean([each[name] for each in found])) for name in found[0]}


def p_value(a: Sequence[float] | FloatArray, b: Sequence[float] | FloatArray, overlap: float = 0.0) -> float:
    """Of the two-sided paired t-test that two methods have the same mean over the splits; 1 where all are equal.

    overlap: as of `corrected_error`.
    """
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    if len(difference) < 2 or not difference.any():
        return 1.0
    if np.ptp(difference) == 0:
        return 0.0  # the same difference on every split: t is infinite
    error = corrected_error(difference, overlap)
    return float(2 * student.sf(abs(difference.mean()) / error, len(difference) - 1))


def corrected_error(difference: FloatArray, overlap: float) -> float:
    """The standard error of the mean of a difference over splits, at least two.

    overlap: 0 for the mean over all splits of the points at hand, of which those are a sample. For new points from the
    same source, as splits of the same points share most of them: test points over training points. The standard error
    is then s sqrt(1/splits + overlap) (Nadeau, Bengio, Inference for the generalization error, Machine Learning 2003).
    """
    return float(difference.std(ddof=1) * np.sqrt(1 / len(difference) + overlap))


def not_worse(values: dict[str, Sequence[float]], level: float = LEVEL) -> list[str]:
    """The methods whose errors do not differ from those of the least mean at this level; the least first."""
    best = min(values, key=lambda name: float(np.mean(values[name])))
    others = [name for name in values if name != best and p_value(values[name], values[best]) >= level]
    return [best, *others]


def differs(ours: Mean, paper: float, paper_error: float = 0.0) -> bool:
    """Beyond two standard errors, the paper's included where it prints one."""
    return bool(abs(ours.value - paper) > 2 * np.hypot(ours.error, paper_error))


def percent(value: float, error: float | None = None) -> str:
    """A share as "12.34", or with its standard error "12.34 ± 0.56"."""
    if error is None or np.isnan(error):
        return f"{100 * value:.2f}"
    return f"{100 * value:.2f} ± {100 * error:.2f}"


def in_points(share: float) -> str:
    """A difference of shares in per cent, with its sign; 0 has that of more."""
    return f"{round(100 * share, 2) + 0.0:+.2f}"
