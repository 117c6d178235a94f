"""The papers minimise the square (11) of the bias (9), which is signed: what that does where B is not positive.

Errors here are those of the nearest neighbour on an ellipsoid around the query, from densities averaged over it. They
use neither B nor the package's theory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import cvxml
from cvxml.core.metric import FloatArray

RADIUS = 0.05
ANGLES = np.linspace(0, 2 * np.pi, 256, endpoint=False)
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)])
# Two classes around the query 0, the first with covariance I; S is the inverse covariance of the second.
# B is p1 p2 (p2 - p1) (S - I).
NARROW, MIXED = (0.5, 0.6), (0.4, 3.0)  # variances of the second class
POSITIVE = (NARROW, [0.1, 0.9])  # p1 < p2, and S - I is positive definite
NEGATIVE = (NARROW, [0.9, 0.1])  # p1 > p2
INDEFINITE = (MIXED, [0.1, 0.9])


def points(variances: tuple[float, float]) -> FloatArray:
    """Four points with the mean 0 and these variances."""
    a, b = np.sqrt(2 * np.array(variances))
    return np.array([[a, 0.0], [-a, 0.0], [0.0, b], [0.0, -b]])


def solved(case: tuple[tuple[float, float], list[float]]) -> tuple[FloatArray, FloatArray]:
    """The GLML metric at 0, and B."""
    variances, priors = case
    X, y = np.concatenate([points((1.0, 1.0)), points(variances)]), np.repeat([0, 1], 4)
    given: dict[str, Any] = {"query": np.zeros(2), "priors": priors}
    metric = cvxml.solve("glml", X, y, **given).metric
    return metric, cvxml.evaluate("glml", X, y, metric, **given).B


def bias(case: tuple[tuple[float, float], list[float]], A: FloatArray) -> float:
    """The error at 0 of the nearest neighbour on an ellipse of the metric A, less the asymptotic error."""
    variances, priors = case
    classes = [multivariate_normal(np.zeros(2), np.diag(v)) for v in ((1.0, 1.0), variances)]
    at = [prior * density.pdf(np.zeros(2)) for prior, density in zip(priors, classes, strict=True)]
    values, vectors = np.linalg.eigh(A)
    ellipse = RADIUS * (vectors / np.sqrt(values)) @ vectors.T @ CIRCLE
    near = [prior * density.pdf(ellipse.T).mean() for prior, density in zip(priors, classes, strict=True)]
    error = (at[0] * near[1] + at[1] * near[0]) / (sum(at) * sum(near))
    return float(error - 2 * at[0] * at[1] / sum(at) ** 2)


def metrics_at_random(count: int) -> list[FloatArray]:
    """Of determinant 1."""
    rng, found = np.random.default_rng(1), []
    for _ in range(count):
        L = rng.standard_normal((2, 2))
        A = L @ L.T
        found.append(A / np.sqrt(np.linalg.det(A)))
    return [np.eye(2), *found]


OTHERS = metrics_at_random(200)


def test_the_cases_are_what_they_are_called() -> None:
    assert np.linalg.eigvalsh(solved(POSITIVE)[1])[0] > 0.1
    assert np.linalg.eigvalsh(solved(NEGATIVE)[1])[-1] < -0.1
    low, high = np.linalg.eigvalsh(solved(INDEFINITE)[1])
    assert low < -0.1 < 0.1 < high


def test_a_positive_definite_B_gives_the_least_error() -> None:
    assert 0 < bias(POSITIVE, solved(POSITIVE)[0]) < min(bias(POSITIVE, A) for A in OTHERS)


def test_a_negative_definite_B_gives_the_largest_error() -> None:
    """All biases are negative there, and the square is least where the bias is largest."""
    assert max(bias(NEGATIVE, A) for A in OTHERS) < bias(NEGATIVE, solved(NEGATIVE)[0]) < 0


def test_an_indefinite_B_stops_at_no_bias_where_other_metrics_have_a_negative_one() -> None:
    own, biases = bias(INDEFINITE, solved(INDEFINITE)[0]), [bias(INDEFINITE, A) for A in OTHERS]
    assert abs(own) < 0.02 * max(map(abs, biases))
    assert min(biases) < -10 * abs(own)


@pytest.mark.parametrize("case", [NEGATIVE, INDEFINITE])
def test_the_signed_problem_is_unbounded_below_where_B_has_a_negative_eigenvalue(case: Any) -> None:
    """M = s u u^T + v v^T / s has determinant 1; with u of a negative eigenvalue tr M B falls without bound."""
    values, vectors = np.linalg.eigh(solved(case)[1])
    u, v = vectors.T
    traces = [np.trace((s * np.outer(u, u) + np.outer(v, v) / s) @ solved(case)[1]) for s in (1e3, 1e6, 1e9)]
    assert traces == pytest.approx([values[0] * s for s in (1e3, 1e6, 1e9)], rel=1e-2)
    assert traces[2] < traces[1] < traces[0] < 0


def test_the_signed_problem_is_that_of_glml_where_B_is_positive_definite() -> None:
    """tr M B is at least 2 sqrt(det B), the mean inequality of its eigenvalues, and GLML attains it."""
    metric, B = solved(POSITIVE)
    least = 2 * np.sqrt(np.linalg.det(B))
    assert np.trace(np.linalg.inv(metric) @ B) == pytest.approx(least, rel=1e-9)
    assert all(np.trace(np.linalg.inv(A) @ B) >= least for A in OTHERS)


def test_the_metric_of_a_negative_definite_B_is_where_the_signed_problem_is_largest() -> None:
    metric, B = solved(NEGATIVE)
    most = -2 * np.sqrt(np.linalg.det(B))
    assert np.trace(np.linalg.inv(metric) @ B) == pytest.approx(most, rel=1e-9)
    assert all(np.trace(np.linalg.inv(A) @ B) <= most for A in OTHERS)
