"""Starts of descents: names, arrays, lists of both."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.solvers.starts import each_start, given_components, named_components


@pytest.mark.parametrize("m", [1, 2, 4])
def test_pca_gives_the_principal_axes_of_points_with_an_offset(m: int) -> None:
    """The covariance is diagonal in these axes, and the variances fall; m may exceed the rank of the points."""
    X = 100 + np.random.default_rng(0).standard_normal((3, 4)) @ np.diag([3.0, 2.0, 1.0, 0.5])
    A = named_components("pca", X, m, 0)
    np.testing.assert_allclose(A @ A.T, np.eye(m), atol=1e-12)
    covariance = A @ np.cov(X.T, bias=True) @ A.T
    np.testing.assert_allclose(covariance, np.diag(np.diag(covariance)), atol=1e-10)
    largest = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1][:m]
    np.testing.assert_allclose(np.diag(covariance), largest, atol=1e-10)


def test_identity_and_random_have_the_shape_asked() -> None:
    X = np.zeros((5, 3))
    np.testing.assert_array_equal(named_components("identity", X, 2, 0), np.eye(2, 3))
    one, two = (named_components("random", X, 2, seed) for seed in (1, 2))
    assert one.shape == (2, 3)
    assert not np.array_equal(one, two)
    np.testing.assert_array_equal(one, named_components("random", X, 2, 1))


def test_a_list_of_names_and_matrices_is_several_starts_and_a_matrix_is_one() -> None:
    A = np.eye(2)
    assert each_start("pca", 0) == ["pca"]
    assert [type(one) for one in each_start(["pca", A], 0)] == [str, np.ndarray]
    assert len(each_start(A, 0)) == 1
    assert each_start(A.tolist(), 0) == [A.tolist()]
    assert each_start([], 0) == [[]]
    with pytest.raises(ValueError, match="random_state"):
        each_start("pca", -1)


@pytest.mark.parametrize(
    "bad", [np.ones((2, 2)), np.full((2, 3), np.nan), np.zeros((2, 3)), np.full((2, 3), 1e200)]
)
def test_other_components_are_refused(bad: np.ndarray) -> None:
    with pytest.raises(ValueError, match="init"):
        given_components(bad, 2, 3)
