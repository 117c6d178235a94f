"""Affinities of points of a class, in balls: by the definition in floats, and where a scale is 0."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.affinity import local_scatter, members
from cvxml.core.balls import precision
from cvxml.core.metric import FloatArray


def by_pairs(own: FloatArray, k: int) -> FloatArray:
    """sum_{i<j} A_ij (x_i - x_j)(x_i - x_j)^T, pair by pair."""
    D = np.array([[np.sum((a - b) ** 2) for b in own] for a in own])
    s = [np.sqrt(np.sort(np.delete(row, i))[k - 1]) for i, row in enumerate(D)]
    total = np.zeros((own.shape[1], own.shape[1]))
    for i in range(len(own)):
        for j in range(i):
            if s[i] * s[j] > 0:
                total += np.exp(-D[i, j] / (s[i] * s[j])) * np.outer(own[i] - own[j], own[i] - own[j])
    return total


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("twins", [0, 2, 3])
def test_it_is_the_sum_over_pairs(k: int, twins: int) -> None:
    rng = np.random.default_rng(k)
    X = rng.standard_normal((14, 3)) + 1024.0
    X[:twins] = X[0]
    y = np.repeat([0, 1], 7)
    for c, of in enumerate(members(X, y, k)):
        assert len(of.scaled) == (7 - twins if c == 0 and twins > k else 7)
        with precision():
            found = local_scatter(of)
        floats = np.array([[float(entry) for entry in row] for row in found.tolist()])
        np.testing.assert_allclose(floats, by_pairs(X[y == c], k), atol=1e-9)
        assert max(float(entry.rad()) for entry in found.entries()) < 1e-60


def test_where_no_point_has_a_scale_it_is_0() -> None:
    (of,) = members(np.ones((4, 2)), np.zeros(4, dtype=np.intp), 2)
    with precision():
        assert all(entry == 0 for entry in local_scatter(of).entries())
    assert of.scaled == []
