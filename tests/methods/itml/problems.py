"""What the tests of ITML share."""

from __future__ import annotations

from typing import Any

import numpy as np

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.result import Solution, Status
from tests.instances import random_data


def solved(X: Any, y: Any = None, tol: float = 1e-9, **params: Any) -> Solution:
    """A solution that is certified, its proof asked for again."""
    solution = cvxml.solve("itml", X, y, tol=tol, **params)
    assert solution.status is Status.CONVERGED
    assert solution.gap >= 0
    assert cvxml.certify("itml", X, y, solution.metric, solution.dual, **params).proves(tol)
    return solution


def random_metric(rng: np.random.Generator, d: int, size: float = 1.0) -> FloatArray:
    root = rng.standard_normal((d, d)) * size
    M: FloatArray = root @ root.T + 0.1 * size**2 * np.eye(d)
    return M


def outer(x: FloatArray) -> FloatArray:
    return np.outer(x, x)


FEW = {"similar": [[0, 3], [1, 4], [2, 5], [6, 9]], "dissimilar": [[0, 1], [0, 2], [4, 5]]}


N0 = 24  # so that n zeros among n^2 distances are less than a twentieth


X1, Y1 = random_data(0, n=N0, d=3)


PAIRS0 = {
    "similar": [[i, j] for i in range(N0) for j in range(i) if Y1[i] == Y1[j]],
    "dissimilar": [[i, j] for i in range(N0) for j in range(i) if Y1[i] != Y1[j]],
}


PRIOR0 = random_metric(np.random.default_rng(7), 3)


def dual_value(p: Any, lam_S: FloatArray, lam_D: FloatArray) -> float:
    """As the paper would print it, by loops; nan where it is not feasible."""
    (u, l), Z = p.bounds, np.linalg.inv(p.prior)
    for (i, j), lam in zip(p.pairs.similar, lam_S, strict=True):
        Z = Z + lam * outer(p.X[i] - p.X[j])
    for (i, j), lam in zip(p.pairs.dissimilar, lam_D, strict=True):
        Z = Z - lam * outer(p.X[i] - p.X[j])
    if np.linalg.eigvalsh(Z)[0] <= 0:
        return np.nan
    duals = np.sum(np.log(1 - lam_S * u / p.gamma)) + np.sum(np.log(1 + lam_D * l / p.gamma))
    return float(np.linalg.slogdet(p.prior @ Z)[1] + p.gamma * duals)
