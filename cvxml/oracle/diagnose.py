"""For a refuted metric: which misreading of the problem is it the optimum of?

A misreading is named only where the candidate is certified optimal for it, at the tolerance asked for.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.methods import get
from cvxml.metric import FloatArray, examine, project_psd


def diagnose(
    method: str, X: ArrayLike, y: ArrayLike, metric: FloatArray, tol: float, params: dict[str, Any]
) -> tuple[str, ...]:
    """Sentences, one for each variant of which `metric` is the certified optimum; often none."""
    if np.abs(metric).max() > 1e150:  # no misreading, an overflow
        return ()
    found = []
    module = get(method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sentence, variant_params in _other_problems(module, X, y, params):
            reference = module.solve(X, y, tol=tol / 10, **variant_params)
            if _optimal(module, X, y, metric, reference, tol, variant_params):
                found.append(f"optimal for {sentence}")
        reference = module.solve(X, y, tol=tol / 10, **params)
        for sentence, mended in _mended(metric, reference.metric):
            if _optimal(module, X, y, mended, reference, tol, params):
                found.append(sentence)
    return tuple(found)


def _optimal(
    module: Any,
    X: ArrayLike,
    y: ArrayLike,
    metric: FloatArray,
    reference: Any,
    tol: float,
    params: dict[str, Any],
) -> bool:
    proof = module.certify(X, y, metric, reference.dual, **params)
    return bool(
        proof.feasibility.feasible
        and reference.certificate.scale > 0
        and proof.gap <= tol * reference.certificate.scale + proof.rounding
    )


def _other_problems(
    module: Any, X: ArrayLike, y: ArrayLike, params: dict[str, Any]
) -> list[tuple[str, dict[str, Any]]]:
    lam, n = float(params.get("lam", 0.1)), len(np.asarray(y))
    usable = module.usable(X, y, **params)
    return [
        (sentence, {**params, "lam": other(lam, n, usable)})
        for sentence, other in module.VARIANTS.values()
        if other(lam, n, usable) > 0
    ]


def _mended(metric: FloatArray, optimum: FloatArray) -> list[tuple[str, FloatArray]]:
    """What the candidate would be without a slip in its own representation."""
    _, feasibility = examine(metric)
    mended = []
    symmetric = (metric + metric.T) / 2
    if not feasibility.feasible and examine(symmetric)[1].feasible:
        mended.append(("its symmetric part is optimal: the matrix is not symmetric", symmetric))
    elif not feasibility.feasible:
        mended.append(("its projection on the psd cone is optimal: P_+ is missing", project_psd(metric)))
    length = float(np.sum(metric * metric))
    if length > 0 and (scale := float(np.sum(metric * optimum)) / length) > 0:
        mended.append((f"optimal but for a factor: {scale:.6g} times it is optimal", scale * metric))
    for factor, name in ((np.sqrt(2), "sqrt(2)"), (1 / np.sqrt(2), "1/sqrt(2)"), (2.0, "2"), (0.5, "1/2")):
        other = metric * factor
        np.fill_diagonal(other, np.diag(metric))
        mended.append((f"optimal once its off-diagonal entries are multiplied by {name}: a svec slip", other))
    return mended
