"""Slips in how a metric is written down, and how to correct each of them.

Example: a program returns the transform L as the metric. Then L^T L is the intended metric. `check` tests with these
slips if a refuted metric is optimal once it is written down correctly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, components_of, examine, project_psd

FACTOR = 1e-5  # a factor that is closer to 1 comes from an inexact solve, and is not a slip
FEW_DIGITS = 12  # entries with more digits are not taken for rounded decimals
SAME = 1e-9  # relative: two matrices with a smaller difference are equal up to rounding


class Slip(NamedTuple):
    """A possible slip: its sentence, and the function that maps the given metric (d, d) to the intended one.

    sentence: describes the slip. mend: the function. fitted: how many numbers were fitted to the metric, for example 1
    for a missing factor.

    of_metric: False if `mend` ignores the given metric and uses the given transform instead. fit: the corrected metric
    in words, with the fitted number.

    exactly: normally False. Then the slip may be named with a relative gap above the tolerance, up to `LOOSE`
    (diagnose.py). True if the corrected metric must be optimal up to the tolerance. This is the rule for a matrix that
    is not a metric, because it has no gap of its own to compare with.

    of_limits: True if the slip explains why a matrix is not an allowed metric, for example because it exceeds a budget.
    """

    sentence: str
    mend: Callable[[FloatArray], FloatArray]
    fitted: int = 0  # number of numbers that are fitted to the metric
    of_metric: bool = True  # False if `mend` ignores its argument
    fit: str = ""  # the metric with the fitted number, for a note
    exactly: bool = False  # True if the corrected metric must be optimal up to the tolerance
    of_limits: bool = False  # True if it explains why a matrix is not an allowed metric


def slips(
    metric: FloatArray,
    components: FloatArray | None,
    better: FloatArray,
    claim: str,
    allowed: Callable[[FloatArray], FloatArray],
) -> Iterator[Slip]:
    """Yield the slips that a metric (d, d) may have. The caller tests if the corrected metric is optimal or stationary.

    components: (m, d) if the user gave the transform and not the metric. better: our own metric (d, d). If the metric
    lacks a factor, the factor is fitted to `better` by least squares.

    claim: "optimal" or "stationary", the word for the sentences. allowed: `Method.allowed`, which makes a metric that
    satisfies the constraints of the method, for example a budget.
    """
    feasible = examine(metric)[1].feasible
    if not feasible and examine(_symmetric(metric))[1].feasible:
        said = f"its symmetric part is {claim}: the matrix is not symmetric"
        yield Slip(said, _symmetric, exactly=True, of_limits=True)
    elif not feasible and not _is_rounded(metric):
        said = f"its projection on the psd cone is {claim}: P_+ is missing at the end"
        yield Slip(said, project_psd, exactly=True, of_limits=True)

    def scale(each: FloatArray) -> float:
        fitted = float(np.sum(each * better)) / float(np.sum(each * each))
        return fitted * _multiple(allowed, fitted * each) if fitted > 0 else fitted

    if np.any(metric) and (factor := scale(metric)) > 0 and abs(factor - 1) > FACTOR:
        said = f"{claim} up to a factor: {factor:.6g} times it is {claim}"
        fit = f"{factor:.6g} times your metric"
        yield Slip(said, lambda each: scale(each) * each, 1, fit=fit, of_limits=True)
    if np.count_nonzero(metric - np.diag(np.diag(metric))):
        for factor, name in (
            (np.sqrt(2), "sqrt(2)"),
            (1 / np.sqrt(2), "1/sqrt(2)"),
            (2.0, "2"),
            (0.5, "1/2"),
        ):
            said = f"{claim} once its off-diagonal entries are multiplied by {name}: a svec slip"
            yield Slip(said, partial(_off_diagonal, factor))
    yield from _transforms(metric, components, claim)
    if feasible and np.linalg.cond(metric) < 1e12:
        yield Slip(f"its inverse is {claim}: M^-1 was given for M", _inverse)


def _multiple(allowed: Callable[[FloatArray], FloatArray], metric: FloatArray) -> float:
    """Return the factor c that makes the metric allowed: `allowed` returns c times the metric.

    The caller has multiplied the metric by a factor that was fitted to our own metric. This factor is accurate only to
    the tolerance, so the metric may exceed the budget of the method; c times the metric does not. If `allowed` returns
    another matrix or raises ValueError, the result is 1.
    """
    try:
        within = allowed(metric)
    except ValueError:  # for example, no multiple has determinant 1
        return 1.0
    c = float(np.linalg.norm(within) / np.linalg.norm(metric))
    return c if np.allclose(within, c * metric, rtol=SAME, atol=SAME * float(np.abs(within).max())) else 1.0


def _is_rounded(metric: FloatArray) -> bool:
    """Return True if rounded decimals explain that the matrix is not psd: then a projection need not be missing.

    Each entry is written as its shortest decimal text. If no text has more than `FEW_DIGITS` digits, the entries may be
    rounded, with errors of at most half a unit of their last digits. The result is True if such errors can be as large
    as the distance of the matrix from the psd matrices.
    """
    texts = [Decimal(repr(float(entry))).as_tuple() for entry in metric.ravel()]
    if max(len(text.digits) for text in texts) > FEW_DIGITS:
        return False
    units = np.array([10.0 ** int(text.exponent) for text in texts])
    finest = units[metric.ravel() != 0].min(initial=1.0)
    units = np.where(metric.ravel() == 0, finest, units)  # a 0 has as many decimals as the other entries
    return float(np.linalg.norm(metric - project_psd(metric))) <= float(np.linalg.norm(units / 2)) * (
        1 + SAME
    )


def _symmetric(metric: FloatArray) -> FloatArray:
    return (metric + metric.T) / 2


def _off_diagonal(factor: float, metric: FloatArray) -> FloatArray:
    other = metric * factor
    np.fill_diagonal(other, np.diag(metric))
    return other


def _inverse(metric: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.inv(metric), dtype=np.float64)


def _transforms(metric: FloatArray, components: FloatArray | None, claim: str) -> Iterator[Slip]:
    """Yield the slips that mix up the metric M and its transform L, where M = L^T L.

    One of them was given for the other, or L^T was given for L. components: (m, d) if the user gave a transform. claim:
    "optimal" or "stationary", the word for the sentences.
    """
    if components is not None and len(components) == len(metric):
        said, other = f"components L^T in place of L: L L^T is {claim}", components @ components.T
        yield Slip(said, lambda _: other, of_metric=False)
        if examine(components)[1].symmetric:
            said = f"the matrix given as components is {claim} as a metric: M was given for L"
            yield Slip(said, lambda _: components, of_metric=False)
    if components is not None:
        return
    yield Slip(f"a transform L given as the metric: L^T L is {claim}", lambda each: each.T @ each)
    yield Slip(f"a transform given as the metric: L L^T is {claim}", lambda each: each @ each.T)
    if examine(metric)[1].feasible:
        yield Slip(f"its square root is {claim}: M^T M was given for M", components_of)
        for lower, name in ((True, "lower"), (False, "upper")):
            if np.any(_turned(lower, metric)):
                turned = f"the transpose of its {name} Cholesky factor gives a metric that is {claim}"
                yield Slip(f"{turned}: L L^T was given for L^T L, or the reverse", partial(_turned, lower))


def _turned(lower: bool, metric: FloatArray) -> FloatArray:
    """Return L^T L for the triangular L with L L^T = metric; the zero matrix if there is no Cholesky factor.

    lower: True for the lower triangular L, False for the upper one.
    """
    flip = slice(None) if lower else slice(None, None, -1)
    try:
        factor = np.linalg.cholesky(metric[flip, flip])
    except np.linalg.LinAlgError:
        return np.zeros_like(metric)
    L: FloatArray = np.asarray(factor, dtype=np.float64)[flip, flip]
    return L.T @ L
