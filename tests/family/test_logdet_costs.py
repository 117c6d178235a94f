"""What distances cost beside log det: slopes and curvature against differences, sums of ranks against matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cvxml.family.logdet_costs import Bounds, Ranks, Residuals
from cvxml.family.symmetric import svec

SEEDS = pytest.mark.parametrize("seed", range(6))


def matrices(F: Ranks) -> list[Any]:
    minus = np.zeros_like(F.p) if F.m is None else F.m
    return [np.outer(p, p) - np.outer(m, m) for p, m in zip(F.p, minus, strict=True)]


@pytest.mark.parametrize("two", [False, True])
def test_sums_of_ranks_are_those_of_the_matrices(two: bool) -> None:
    rng = np.random.default_rng(0)
    F = Ranks(rng.standard_normal((7, 4)), rng.standard_normal((7, 4)) if two else None)
    V, y = rng.standard_normal((4, 4)), rng.standard_normal(7)
    V = V + V.T
    each = matrices(F)
    assert len(F) == 7
    np.testing.assert_allclose(F.gram(), [[np.sum(a * b) for b in each] for a in each], atol=1e-12)
    np.testing.assert_allclose(F.products(V), [np.sum(a * V) for a in each], atol=1e-12)
    np.testing.assert_allclose(F.total(y), sum(c * a for c, a in zip(y, each, strict=True)), atol=1e-12)
    np.testing.assert_allclose(F.rows(slice(2, 5)), [svec(a) for a in each[2:5]], atol=1e-12)


def costs(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((8, 3))
    residuals = rows.copy()
    residuals[7] = 0.0  # a far pair of equal points
    return [
        Bounds(rows, np.arange(8) % 2 == 0, [8], 0.7),
        Residuals(residuals, rng.uniform(0.1, 1.0, 4)),
    ]


@SEEDS
@pytest.mark.parametrize("kind", [0, 1])
def test_slope_and_curvature_are_those_of_the_cost(kind: int, seed: int) -> None:
    """At G (I + t V) G^T, whose root is another G."""
    cost, rng = costs(seed)[kind], np.random.default_rng(100 + seed)
    G, V = rng.standard_normal((2, 3, 3))
    V = (V + V.T) / 10
    at = cost.at(G)

    def there(t: float) -> float:
        return float(cost.at(np.linalg.cholesky(G @ (np.eye(3) + t * V) @ G.T)).value)

    h = 1e-4
    slope, bent = (there(h) - there(-h)) / (2 * h), (there(h) - 2 * there(0.0) + there(-h)) / h**2
    assert float(np.sum(at.K * V)) == pytest.approx(slope, rel=1e-5, abs=1e-7)
    assert at.along(V)(0.0) == pytest.approx(slope, rel=1e-5, abs=1e-7)
    assert float(np.sum(at.F.products(V) ** 2)) == pytest.approx(bent, rel=1e-4, abs=1e-5)
    later = at.along(V)(0.5)
    assert later == pytest.approx((there(0.5 + h) - there(0.5 - h)) / (2 * h), rel=1e-5, abs=1e-7)
