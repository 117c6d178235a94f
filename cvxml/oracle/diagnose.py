"""For a refuted metric: which misreading of the problem does it solve?

A misreading is named only where the candidate is certified for it, at the tolerance asked for.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.methods import get
from cvxml.metric import FloatArray, examine, project_psd


def diagnose(
    method: str, X: ArrayLike, y: ArrayLike | None, metric: FloatArray, tol: float, params: dict[str, Any]
) -> tuple[str, ...]:
    """Sentences, one for each variant of which `metric` is certified to be what the method claims; often none."""
    if np.abs(metric).max() > 1e150:  # no misreading, an overflow
        return ()
    found = []
    judge = _Judge(method, X, y, tol)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sentence, variant_params in _other_problems(method, X, y, params):
            if judge.proved(metric, variant_params):
                found.append(f"{judge.claim} for {sentence}")
        for sentence, mended in _mended(metric, judge.better_than(metric, params), judge.claim):
            if judge.proved(mended, params):
                found.append(sentence)
    return tuple(found)


class _Judge:
    """Whether a metric is what the method claims, for any parameters."""

    def __init__(self, method: str, X: ArrayLike, y: ArrayLike | None, tol: float):
        self.module, self.X, self.y, self.tol = get(method), X, y, tol
        self.claim = self.module.CLAIM
        self.solved: list[tuple[dict[str, Any], Any]] = []

    def proved(self, metric: FloatArray, params: dict[str, Any]) -> bool:
        """True if a dual of ours proves it, and the problem is not trivial."""
        if not examine(metric)[1].feasible:
            return False
        if self.claim == "stationary":
            _, dual = self.module.improve(self.X, self.y, metric, tol=self.tol / 10, early=True, **params)
            return self.module.certify(self.X, self.y, metric, dual, **params).proves(self.tol)
        reference = self._optimum(params)
        proof = self.module.certify(self.X, self.y, metric, reference.dual, **params)
        scale = reference.certificate.scale
        return bool(scale > 0 and proof.gap <= self.tol * scale + proof.rounding)

    def better_than(self, metric: FloatArray, params: dict[str, Any]) -> FloatArray:
        """The optimum; where the problem is not convex, what the convex step at `metric` gives."""
        if self.claim == "optimal":
            optimum: FloatArray = self._optimum(params).metric
            return optimum
        return self.module.improve(self.X, self.y, project_psd(metric), tol=self.tol / 10, **params)[0]

    def _optimum(self, params: dict[str, Any]) -> Any:
        for known, solution in self.solved:
            if known is params:
                return solution
        solution = self.module.solve(self.X, self.y, tol=self.tol / 10, **params)
        self.solved.append((params, solution))
        return solution


def _other_problems(
    method: str, X: ArrayLike, y: ArrayLike | None, params: dict[str, Any]
) -> list[tuple[str, dict[str, Any]]]:
    module, n = get(method), len(np.asarray(X))
    usable = module.usable(X, y, **params)
    found = []
    for sentence, name, other in module.VARIANTS.values():
        value = other(module.weight(n, **params), n, usable)
        if value > 0:
            found.append((sentence, {**params, name: value}))
    return found


def _mended(metric: FloatArray, better: FloatArray, claim: str) -> list[tuple[str, FloatArray]]:
    """What the candidate would be without a slip in its own representation."""
    _, feasibility = examine(metric)
    mended = []
    symmetric = (metric + metric.T) / 2
    if not feasibility.feasible and examine(symmetric)[1].feasible:
        mended.append((f"its symmetric part is {claim}: the matrix is not symmetric", symmetric))
    elif not feasibility.feasible:
        mended.append((f"its projection on the psd cone is {claim}: P_+ is missing", project_psd(metric)))
    length = float(np.sum(metric * metric))
    if length > 0 and (scale := float(np.sum(metric * better)) / length) > 0:
        mended.append((f"{claim} but for a factor: {scale:.6g} times it is {claim}", scale * metric))
    for factor, name in ((np.sqrt(2), "sqrt(2)"), (1 / np.sqrt(2), "1/sqrt(2)"), (2.0, "2"), (0.5, "1/2")):
        other = metric * factor
        np.fill_diagonal(other, np.diag(metric))
        mended.append((f"{claim} once its off-diagonal entries are multiplied by {name}: a svec slip", other))
    return mended
