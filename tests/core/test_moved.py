"""The points in other coordinates: distances stay, metrics go there and back, and wide features are named."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.core.moved import moved
from cvxml.core.prior import nearest_to_prior
from cvxml.core.wide import wide

RNG = np.random.default_rng(0)
TWINS = RNG.standard_normal((6, 9))[[0, 1, 2, 3, 4, 5, 2, 5]]
CONSTANT = RNG.standard_normal((8, 20)) * (np.arange(20) % 2) + 3.0
FLAT = RNG.integers(-9, 9, (8, 3)) @ RNG.integers(-9, 9, (3, 12)).astype(float)
TINY = RNG.standard_normal((8, 11)) * 1e-120
HUGE = np.column_stack([RNG.standard_normal((8, 3)), RNG.integers(0, 10**9, 8)])
BOTH = np.column_stack([RNG.standard_normal((8, 10)), RNG.integers(0, 10**9, 8)])
MOVED = {
    "one more": (RNG.standard_normal((8, 9)), 7),
    "twins": (TWINS, 5),
    "constant": (CONSTANT, 7),
    "flat": (FLAT, 3),
    "tiny": (TINY, 7),
    "wide": (HUGE, 4),
    "wide and many": (BOTH, 7),
}


def distances(X: FloatArray, M: FloatArray) -> FloatArray:
    """Compute all squared distances of M by the definition."""
    return np.array([[(a - b) @ M @ (a - b) for b in X] for a in X])


@pytest.mark.parametrize("name", MOVED)
def test_distances_are_those_of_the_features(name: str) -> None:
    X, r = MOVED[name]
    for at in moved(X):
        assert at.X.shape == (len(X), r)
        M = RNG.standard_normal((r, r))
        M = M @ M.T
        outside = at.outside(M)
        assert (outside == outside.T).all()
        ours, there = distances(X, outside), distances(at.X, M)
        assert np.abs(ours - there).max() <= 1e-10 * there.max()
        assert np.abs(at.inside(outside) - M).max() <= 1e-9 * np.abs(M).max()
    assert moved(X)


def test_equal_points_stay_equal() -> None:
    (at,) = moved(TWINS)
    assert (at.X[2] == at.X[6]).all()
    assert (at.X[5] == at.X[7]).all()


@pytest.mark.parametrize(
    "X",
    [RNG.standard_normal((9, 9))[:, :8], np.ones((3, 5)), np.zeros((2, 1)), np.eye(4)[:, :3]],
    ids=["fewer features", "equal points", "one feature", "three features"],
)
def test_the_features_as_given_are_best(X: FloatArray) -> None:
    assert moved(X) == ()


def test_a_wide_feature_is_named_with_the_remedy() -> None:
    X = RNG.standard_normal((20, 5)) * [1.0, 3e6, 1.0, 0.0, 2.0]
    found = wide(X)
    assert found.columns == [1]
    assert 1e6 < found.times[0] < 1e7
    assert "column 1 " in found.warning
    assert "standardize" in found.warning
    assert wide(X[:, [0, 2, 3, 4]]).warning == ""
    assert wide(np.ones((3, 2))).columns == []
    assert wide(X[:, [1]]).columns == []
    assert wide(X[:, [0, 1]]).columns == [1]


def log_det_divergence(A: FloatArray, B: FloatArray) -> float:
    """Compute the log-det divergence by the definition."""
    ratio = A @ np.linalg.inv(B)
    return float(np.trace(ratio) - np.linalg.slogdet(ratio)[1] - len(A))


def test_the_matrix_nearest_to_a_prior_has_the_distances_and_the_least_divergence() -> None:
    """Compare the divergence of this matrix with those of other matrices that have the same distances."""
    X = RNG.standard_normal((5, 8))
    (at,) = moved(X)
    root = RNG.standard_normal((8, 8))
    prior = root @ root.T + np.eye(8)
    half = RNG.standard_normal((4, 4))
    M = half @ half.T + np.eye(4)
    A = nearest_to_prior(prior, at, M)
    assert (A == A.T).all()
    assert np.abs(at.inside(A) - M).max() <= 1e-10 * np.abs(M).max()
    least = log_det_divergence(A, prior)
    assert least == pytest.approx(log_det_divergence(M, at.inside(prior)), rel=1e-9)
    across = np.eye(8) - at.back @ at.back.T
    for _ in range(20):
        change = RNG.standard_normal((8, 8))
        beside = across @ change @ at.back @ at.back.T
        other = A + 1e-3 * (across @ change @ change.T @ across + beside + beside.T)
        assert np.abs(at.inside(other) - M).max() <= 1e-9 * np.abs(M).max()
        assert log_det_divergence(other, prior) > least
