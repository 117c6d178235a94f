"""The two misreadings of MCML of which no bound is proved, judged by their gradient (variants.py)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from cvxml.coordinates import coordinates
from cvxml.methods.mcml.instance import Instance, Weights, instance, weights
from cvxml.metric import FloatArray, examine
from cvxml.variant import Question

MOST_POINTS = 1000
MOST_FEATURES = 64
SYMMETRIC = 1e-9  # of the largest entry, what a symmetric matrix may miss


def too_large(given: Instance) -> bool:
    return len(given.X) > MOST_POINTS or given.X.shape[1] > MOST_FEATURES


def to_first_order(kind: str) -> Callable[[Question], float]:
    """What a change as large as the metric may win to first order, as a share of the objective, for `kind`."""

    def left(question: Question) -> float:
        given = instance(question.X, question.y, **question.params)
        free = kind == "no_cone"
        if too_large(given) or examine(question.metric)[1].feasible is free:
            return math.inf
        at = coordinates(given.X)
        A = (question.metric + question.metric.T) / 2
        if np.abs(question.metric - A).max() > SYMMETRIC * np.abs(A).max():
            return math.inf
        M = at.inside(A if free else examine(A)[0])
        with np.errstate(all="ignore"):  # what is no number is refused
            objective, Z = _derivative(at.Y, weights(given.y), M, plain=not free)
            size = max(float(np.linalg.norm(M)), 1.0)
            rest = size * float(np.linalg.norm(Z)) if free else _beside(M, Z)
            share = rest / abs(objective)
        return share if math.isfinite(share) else math.inf

    return left


def _derivative(Y: FloatArray, of: Weights, M: FloatArray, plain: bool) -> tuple[float, FloatArray]:
    """The objective at M (r, r), of D or of sqrt(D), and dF/dM."""
    if plain:
        values, vectors = np.linalg.eigh(M)
        images = Y @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        D = cdist(images, images)
    else:
        inner = Y @ M @ Y.T
        D = np.diag(inner)[:, None] + np.diag(inner) - 2 * inner
    used = of.c > 0
    exponents = np.where(of.among, -D, -np.inf)
    top = exponents.max(axis=1, keepdims=True)
    total = np.exp(exponents - top).sum(axis=1, keepdims=True)
    P = np.where(used[:, None], np.exp(exponents - top) / total, 0.0)
    objective = float(np.sum(of.w * D) + np.sum((np.log(total) + top)[used]))
    N = of.w - P
    if plain:  # where points coincide, nothing depends on M
        same = cdist(Y, Y) <= 1e-12 * np.abs(Y).max()
        N = np.where(same, 0.0, N / (2 * np.where(same, 1.0, D)))
    N = N + N.T
    half = Y.T @ (N.sum(axis=1)[:, None] * Y) - Y.T @ (N @ Y)
    Z: FloatArray = (half + half.T) / 2
    return objective, Z


def _beside(M: FloatArray, Z: FloatArray) -> float:
    """What is left to first order at M psd: by changing a root of M, and by a direction that M does not use."""
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    size = max(float(np.linalg.norm(root)), 1.0)
    least = float(np.linalg.eigvalsh(Z)[0])
    return max(size * float(np.linalg.norm(2 * Z @ root)), size**2 * max(0.0, -least))
