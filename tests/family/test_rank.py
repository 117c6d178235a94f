"""The nearest matrix of a given rank."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.family.stationary.rank import of_rank


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_the_nearest_of_a_rank_keeps_the_largest_eigenvalues(rank: int) -> None:
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    values = np.array([5.0, 2.0, 0.5])
    near = of_rank((turn * values) @ turn.T, rank)
    assert np.array_equal(near, near.T)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(near)[::-1], np.where(np.arange(3) < rank, values, 0), atol=1e-12
    )
