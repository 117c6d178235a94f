"""What distances cost beside log det: slopes and curvature against differences, sums of ranks against matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cvxml.family.logdet_costs import APART, Bounds, Ends, Ranks, Residuals, quicker
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


def of_rows(rows: Any) -> Ends:
    """Each from a point of its own to 0."""
    n = len(rows)
    points = np.vstack([rows, np.zeros(rows.shape[1])])
    return Ends(points, np.column_stack([np.arange(n), np.full(n, n)]), np.ones(n))


def between(n: int, t: int) -> tuple[Ends, Any]:
    """Pairs of a few points, and their rows one by one."""
    rng = np.random.default_rng(n)
    x, c = rng.standard_normal((n, 3)), rng.uniform(0.1, 2.0, t)
    pairs = np.array([rng.choice(n, 2, replace=False) for _ in range(t)])
    rows = np.array([np.sqrt(a) * (x[i] - x[j]) for a, (i, j) in zip(c, pairs, strict=True)])
    return Ends(x, pairs, c), rows


def test_rows_by_their_ends_are_the_rows() -> None:
    ends, rows = between(5, 60)
    rng = np.random.default_rng(1)
    V, w = rng.standard_normal((3, 3)), rng.standard_normal(60)
    V = V + V.T
    plain, few = Ranks(rows), Ranks(rows, ends=ends)
    np.testing.assert_allclose(few.products(V), [e @ V @ e for e in rows], atol=1e-12)
    total = sum(a * np.outer(e, e) for a, e in zip(w, rows, strict=True))
    np.testing.assert_allclose(few.total(w), total, atol=1e-12)
    np.testing.assert_allclose(few.gram(), plain.gram())


def test_ends_are_those_of_the_rows_that_cost_something() -> None:
    ends, rows = between(4, 80)
    G = np.random.default_rng(2).standard_normal((3, 3))
    cost = Bounds(rows, np.arange(80) % 2 == 0, [80], 0.7, ends)
    at = cost.at(G)
    assert at.F.ends is not None
    V = np.diag([1.0, 2.0, -1.0])
    assert 0 < len(at.F) < 80
    np.testing.assert_allclose(at.F.products(V), [e @ V @ e for e in at.F.p], atol=1e-12)


def test_ends_are_left_where_they_save_nothing_or_points_are_far_from_a_short_row() -> None:
    ends, _ = between(4, 80)
    G, every = np.eye(3), np.ones(80, dtype=bool)
    D = np.ones(80)
    assert quicker(ends, G, every, D) is not None
    assert quicker(ends, G, np.arange(80) < 10, D) is None
    short = np.where(np.arange(80) == 3, 1e-2 / APART, 1.0)
    assert quicker(ends, G, every, short) is None
    assert quicker(ends, G, np.zeros(80, dtype=bool), D) is None


def costs(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((8, 3))
    residuals = rows.copy()
    residuals[7] = 0.0  # a far pair of equal points
    return [
        Bounds(rows, np.arange(8) % 2 == 0, [8], 0.7, of_rows(rows)),
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
