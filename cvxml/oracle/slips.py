"""Slips in how a metric is written down: what the candidate would be without each of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cvxml.core.metric import FloatArray, components_of, examine, project_psd

FACTOR = 1e-5  # what is nearer to 1 is no slip but a metric that is not exact, and would be written as 1


def slips(
    metric: FloatArray, components: FloatArray | None, better: FloatArray, claim: str
) -> Iterator[tuple[str, FloatArray, int]]:
    """What was done, the metric (d, d) that would be `claim` if it was, and how many numbers were fitted.

    The caller finds out whether it is.

    better (d, d): the metric that the candidate's factor is measured against.
    """
    feasible = examine(metric)[1].feasible
    symmetric = (metric + metric.T) / 2
    if not feasible and examine(symmetric)[1].feasible:
        yield f"its symmetric part is {claim}: the matrix is not symmetric", symmetric, 0
    elif not feasible:
        yield f"its projection on the psd cone is {claim}: P_+ is missing at the end", project_psd(metric), 0
    length = float(np.sum(metric * metric))
    if length > 0 and (scale := float(np.sum(metric * better)) / length) > 0 and abs(scale - 1) > FACTOR:
        yield f"{claim} but for a factor: {scale:.6g} times it is {claim}", scale * metric, 1
    if np.count_nonzero(metric - np.diag(np.diag(metric))):
        for factor, name in (
            (np.sqrt(2), "sqrt(2)"),
            (1 / np.sqrt(2), "1/sqrt(2)"),
            (2.0, "2"),
            (0.5, "1/2"),
        ):
            other = metric * factor
            np.fill_diagonal(other, np.diag(metric))
            yield f"{claim} once its off-diagonal entries are multiplied by {name}: a svec slip", other, 0
    yield from _transforms(metric, components, claim)
    if feasible and np.linalg.cond(metric) < 1e12:
        yield (
            f"its inverse is {claim}: M^-1 was given for M",
            np.asarray(np.linalg.inv(metric), dtype=np.float64),
            0,
        )


def _transforms(
    metric: FloatArray, components: FloatArray | None, claim: str
) -> Iterator[tuple[str, FloatArray, int]]:
    """M for L, L for M, and L for L^T."""
    if components is not None and len(components) == len(metric):
        yield f"components L^T in place of L: L L^T is {claim}", components @ components.T, 0
        if np.array_equal(components, components.T):
            yield f"the matrix given as components is {claim} as a metric: M was given for L", components, 0
    if components is not None:
        return
    yield f"a transform L given as the metric: L^T L is {claim}", metric.T @ metric, 0
    yield f"a transform given as the metric: L L^T is {claim}", metric @ metric.T, 0
    if examine(metric)[1].feasible:
        yield f"its square root is {claim}: M^T M was given for M", components_of(metric), 0
        for lower, name in ((True, "lower"), (False, "upper")):
            L = _cholesky(metric, lower)
            if L is not None:
                turned = f"the transpose of its {name} Cholesky factor gives a metric that is {claim}"
                yield f"{turned}: L L^T was given for L^T L, or the reverse", L.T @ L, 0


def _cholesky(metric: FloatArray, lower: bool) -> FloatArray | None:
    """L lower or upper triangular with L L^T = metric; None where there is none."""
    flip = slice(None) if lower else slice(None, None, -1)
    try:
        factor = np.linalg.cholesky(metric[flip, flip])
    except np.linalg.LinAlgError:
        return None
    turned: FloatArray = np.asarray(factor, dtype=np.float64)[flip, flip]
    return turned
