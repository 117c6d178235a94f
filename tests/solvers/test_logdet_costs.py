"""What distances cost beside log det: slopes and curvature against differences, sums of ranks against matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cvxml.family.geometry.symmetric import svec
from cvxml.methods import itml
from cvxml.solvers import logdet_costs
from cvxml.solvers.logdet_costs import APART, Bounds, Ends, Ranks, Residuals, cost_of, ends_if_quicker

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


@pytest.fixture(autouse=True)
def of_few_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows by their ends, however few features they have."""
    monkeypatch.setattr(logdet_costs, "FEWEST", 1)


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
    both = Ranks(rows, 2 * rows, ends)
    np.testing.assert_allclose(both.products(V), -3 * plain.products(V), atol=1e-11)
    np.testing.assert_allclose(both.total(w), -3 * total, atol=1e-11)


def test_ends_are_those_of_the_rows_that_cost_something() -> None:
    ends, rows = between(4, 80)
    G = np.random.default_rng(2).standard_normal((3, 3))
    cost = Bounds(rows, np.arange(80) % 2 == 0, [80], 0.7, ends)
    at = cost.at(G)
    assert at.F.ends is not None
    V = np.diag([1.0, 2.0, -1.0])
    assert 0 < len(at.F) < 80
    np.testing.assert_allclose(at.F.products(V), [e @ V @ e for e in at.F.p], atol=1e-12)


def test_ends_are_left_where_they_save_nothing_or_points_are_far_from_a_short_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends, _ = between(4, 80)
    G, every = np.eye(3), np.ones(80, dtype=bool)
    D = np.ones(80)
    assert ends_if_quicker(ends, G, every, D) is not None
    assert ends_if_quicker(ends, G, np.arange(80) < 10, D) is None
    for length in (1e-2 / APART, 0.0, np.nan):
        short = np.where(np.arange(80) == 3, length, 1.0)
        assert ends_if_quicker(ends, G, every, short) is None
    assert ends_if_quicker(ends, G, np.zeros(80, dtype=bool), D) is None
    same = Ends(np.zeros((4, 3)), ends.pairs, ends.c)  # 0 times infinity
    assert ends_if_quicker(same, G, every, np.zeros(80)) is None
    monkeypatch.setattr(logdet_costs, "FEWEST", 4)
    assert ends_if_quicker(ends, G, every, D) is None


@pytest.mark.parametrize(("n", "d"), [(12, 5), (8, 30)], ids=["all-of-space", "a-basis"])
def test_the_ends_of_a_problem_are_its_rows(n: int, d: int) -> None:
    """Two terms of different units, a prior, and what the rows show where that is less than space."""
    rng = np.random.default_rng(n)
    X, root = 3 + rng.standard_normal((n, d)), rng.standard_normal((d, d))
    i, j = np.triu_indices(n, 1)
    kinds = {"similar": (i + j) % 2 == 0, "dissimilar": (i + j) % 2 == 1}
    pairs = {kind: np.column_stack([i[some], j[some]]).tolist() for kind, some in kinds.items()}
    given = itml.instance(X, prior=root @ root.T + np.eye(d), bounds=(0.3, 70.0), pairs=pairs)
    family = itml.METHOD.family(given)
    basis, cost = cost_of(family, family.regularizer.C)
    assert (basis is None) == (n > d)
    assert isinstance(cost, Bounds)
    k = cost.rows.shape[1]
    G = rng.standard_normal((k, k))
    V = G + G.T
    np.testing.assert_allclose(cost.ends.quadratic(V), [e @ V @ e for e in cost.rows], rtol=1e-9, atol=1e-9)
    D = np.sum((cost.rows @ G) ** 2, axis=1)
    often = Ends(
        cost.ends.x, np.repeat(cost.ends.pairs, 9, axis=0), np.repeat(cost.ends.c, 9)
    )  # worth it then
    found = ends_if_quicker(often, G, np.ones(9 * len(D), dtype=bool), np.repeat(D, 9))
    assert found is not None
    u = cost.rows @ G / np.sqrt(D)[:, None]
    np.testing.assert_allclose(found.quadratic(V)[::9], [e @ V @ e for e in u], rtol=1e-9, atol=1e-9)


def costs(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((8, 3))
    residuals = rows.copy()
    residuals[7] = 0.0  # a far pair of equal points
    ends, many = between(4, 40)
    return [
        Bounds(many, np.arange(40) % 2 == 0, [40], 0.7, ends),
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
