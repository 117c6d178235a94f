"""The baselines: the Euclidean metric, and the optimum of tr(A W) - log det A."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from cvxml.estimators.baselines import (
    Euclidean,
    WithinClass,
    euclidean,
    within_class,
    within_class_covariance,
)
from tests.instances import random_data, real_data


def by_definition(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    W = np.zeros((X.shape[1], X.shape[1]))
    for x, label in zip(X, y, strict=True):
        error = x - X[y == label].mean(axis=0)
        W += np.outer(error, error) / len(X)
    return W


@pytest.mark.parametrize("seed", range(4))
def test_the_covariance_is_that_of_its_definition(seed: int) -> None:
    X, y = random_data(seed, n=30, d=4)
    W = by_definition(X, y)
    np.testing.assert_allclose(within_class_covariance(X, y), W, rtol=1e-12)
    np.testing.assert_allclose(within_class_covariance(X + 1e6, y), W, rtol=1e-6, atol=1e-8)
    lda = LinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(X, y)
    np.testing.assert_allclose(within_class_covariance(X, y), lda.covariance_, rtol=1e-10)
    shrunk = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1.0, store_covariance=True).fit(X, y)
    assert np.trace(within_class_covariance(X, y, 1.0)) == pytest.approx(np.trace(shrunk.covariance_))


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
def test_the_metric_is_the_optimum(shrinkage: float) -> None:
    X, y = real_data("wine", 80)
    W, A = within_class_covariance(X, y, shrinkage), within_class(X, y, shrinkage)
    np.testing.assert_allclose(W - np.linalg.inv(A), 0, atol=1e-10)  # the derivative

    def objective(A: np.ndarray) -> float:
        return float(np.trace(A @ W) - np.linalg.slogdet(A)[1])

    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 0.5):
        N = size * rng.standard_normal(A.shape)
        assert objective(A + N @ A @ N.T) > objective(A)
        assert objective((1 + size) * A) > objective(A) < objective((1 - size) * A)
    assert objective(A) == pytest.approx(len(A) + np.linalg.slogdet(W)[1])


def test_units_and_turns_do_not_matter() -> None:
    X, y = random_data(1, n=30, d=3)
    A = within_class(X, y)
    T = np.random.default_rng(0).standard_normal((3, 3))
    np.testing.assert_allclose(T @ within_class(X @ T, y) @ T.T, A, rtol=1e-8)
    units = np.array([1e-9, 1.0, 1e9])
    np.testing.assert_allclose(within_class(X * units, y) * np.outer(units, units), A, rtol=1e-8)


def test_a_line_by_hand() -> None:
    X, y = np.array([[0.0], [2.0], [5.0], [9.0]]), [0, 0, 1, 1]  # variances 1 and 4
    np.testing.assert_allclose(within_class(X, y), [[1 / 2.5]])
    np.testing.assert_allclose(euclidean(X), [[1.0]])


def test_shrinkage_goes_to_the_mean_variance() -> None:
    X, y = random_data(1, n=30, d=3)
    W = within_class_covariance(X, y)
    np.testing.assert_allclose(within_class_covariance(X, y, 1.0), np.trace(W) / 3 * np.eye(3), atol=1e-15)
    np.testing.assert_allclose(
        within_class_covariance(X, y, 0.25), 0.75 * W + 0.25 * np.trace(W) / 3 * np.eye(3)
    )


@pytest.mark.parametrize(("X", "y", "says"), [
    (np.column_stack([random_data(0, n=12, d=2)[0], np.ones(12)]), np.arange(12) % 2, "feature 2"),
    (random_data(0, n=6, d=8)[0], np.arange(6) % 2, "rank 4.*8 features"),
    (np.repeat(random_data(0, n=12, d=2)[0], 2, axis=1), np.arange(12) % 2, "rank 2.*4 features"),
    (random_data(0, n=6, d=2)[0], np.arange(6), "every class"),
    (np.eye(3), [0, 0, 0], "one class"),
    (np.eye(3), [0, 1], "3 points.*2"),
    (np.full((3, 2), np.nan), [0, 0, 1], "NaN"),
    (1e200 * random_data(0, n=12, d=2)[0], np.arange(12) % 2, "too large"),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_bad_data(X: Any, y: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        within_class(X, y)


def test_shrinkage_mends_what_is_singular() -> None:
    X, y = random_data(0, n=6, d=8)
    A = within_class(X, y, 0.1)
    np.testing.assert_allclose(A @ within_class_covariance(X, y, 0.1), np.eye(8), atol=1e-10)
    for bad in (-0.1, 1.1, np.nan, "0.1", None):
        with pytest.raises(ValueError, match=r"^shrinkage"):
            within_class(X, y, bad)  # type: ignore[arg-type]


def test_the_estimators_return_the_points_and_points_white_within_classes() -> None:
    X, y = real_data("iris", 60)
    np.testing.assert_array_equal(Euclidean().fit(X).transform(X), X)
    within = WithinClass().fit(X, y)
    np.testing.assert_allclose(within.get_mahalanobis_matrix(), within_class(X, y), rtol=1e-9)
    np.testing.assert_allclose(by_definition(within.transform(X), y), np.eye(4), atol=1e-9)
    assert list(within.classes_) == sorted(set(y))
