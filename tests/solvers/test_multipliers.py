"""Multipliers: problems whose optimum is known without a solver, and its parts against obvious twins."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cvxml.core.targets import OtherClasses, count
from cvxml.family.geometry.symmetric import quadratic, smat, squares, svec, weighted
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows import triplets as triplet_rows
from cvxml.family.rows.base import Duals, Plain
from cvxml.family.rows.pairs import PairRows
from cvxml.family.rows.triplets import Triplets
from cvxml.solvers import active_rows
from cvxml.solvers.active_rows import Curvature, Limits
from cvxml.solvers.multipliers import Margin, Multipliers

UNPRICED = Duals(np.zeros(0), np.zeros(0, dtype=np.intp))


def solved(Y: np.ndarray, rows: PairRows | Triplets, C: np.ndarray, margin: Margin) -> Multipliers:
    at = Multipliers(Y, rows, lambda key: np.ones(len(key), dtype=bool), C, margin, 0.5)
    at.begin(np.eye(len(C)), 1.0)
    for _ in range(80):
        if at.left() < 1e-12 * at.value() or not at.step():
            break
    return at


def axes(lengths: list[float]) -> tuple[np.ndarray, PairRows]:
    """PairRows along the axes."""
    Y = np.vstack([np.zeros(len(lengths)), np.diag(lengths)])
    return Y, PairRows(np.array([(0, 1 + k) for k in range(len(lengths))]))


def triplets(seed: int, n: int = 14, d: int = 3) -> tuple[np.ndarray, Triplets]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    rng.shuffle(y)
    targets = np.array([(i, j) for i in range(n) for j in range(n) if i != j and y[i] == y[j]])
    targets = targets[rng.permutation(len(targets))[: 2 * n]]
    return rng.standard_normal((n, d)), Triplets(targets, OtherClasses(y[targets[:, 0]], y))


def table(rows: Triplets, z: np.ndarray) -> dict[int, float]:
    """v by key, one after the other."""
    n = len(z)
    return {
        row * n + l: float(np.sum((z[i] - z[l]) ** 2) - np.sum((z[i] - z[j]) ** 2))
        for row, (i, j) in enumerate(rows.targets.tolist())
        for l in range(n)
        if np.asarray(rows.impostors)[row, l]
    }


def test_vectors_and_matrices_have_the_same_inner_product() -> None:
    rng = np.random.default_rng(0)
    S, T = (A + A.T for A in rng.standard_normal((2, 4, 4)))
    assert svec(S) @ svec(T) == pytest.approx(np.sum(S * T), rel=1e-13)
    assert smat(svec(S), 4) == pytest.approx(S, rel=1e-15)
    E, w = rng.standard_normal((6, 4)), rng.standard_normal(6)
    assert squares(E) @ svec(S) == pytest.approx([e @ S @ e for e in E], rel=1e-12)
    assert quadratic(E, S) == pytest.approx([e @ S @ e for e in E], rel=1e-12)
    assert weighted(E, w) == pytest.approx(
        sum(a * np.outer(e, e) for a, e in zip(w, E, strict=True)), rel=1e-12
    )


def test_other_classes_are_a_table_that_is_not_stored() -> None:
    y = np.array([0, 2, 1, 1, 0])
    own = y[[3, 0, 1]]
    some, whole = OtherClasses(own, y), own[:, None] != y
    np.testing.assert_array_equal(np.asarray(some), whole)
    np.testing.assert_array_equal(some[1], whole[1])
    np.testing.assert_array_equal(some[np.array([2, 0])], whole[[2, 0]])
    np.testing.assert_array_equal(some[np.array([2, 0]), np.array([4, 2])], whole[[2, 0], [4, 2]])
    np.testing.assert_array_equal(np.asarray(some.of(np.array([True, False, True]))), whole[[0, 2]])
    assert count(some) == count(whole) == whole.sum()
    assert some.shape == whole.shape


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("below", [-0.5, 1.0, 4.0, math.inf])
def test_near_rows_are_those_of_a_loop(seed: int, below: float) -> None:
    z, rows = triplets(seed)
    known = {key: v for key, v in table(rows, z).items() if v < below}
    key, v = rows.near(z, below)
    assert sorted(key.tolist()) == sorted(known)
    assert v == pytest.approx([known[k] for k in key.tolist()], rel=1e-9, abs=1e-9)
    assert rows.margins(z, key) == pytest.approx(v, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_large_classes_are_compared_with_the_other_classes_only(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of other classes gives the rows of the table of all entries, for large and small classes together."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2, 3], [9, 2, 6, 1])
    z, targets = rng.standard_normal((18, 2)), np.array([[0, 1], [0, 2], [3, 0], [9, 10], [11, 12], [12, 14]])
    monkeypatch.setattr(triplet_rows, "MANY", 2)
    some = Triplets(targets, OtherClasses(y[targets[:, 0]], y))
    whole = Triplets(targets, y[targets[:, 0]][:, None] != y)
    for below in (0.5, math.inf):
        found, known = (
            dict(zip(*(each.tolist() for each in rows.near(z, below)), strict=True)) for rows in (some, whole)
        )
        assert found == pytest.approx(known, rel=1e-12)
    assert len(known) == count(whole.impostors)
    # a row may have another class than its point
    strange = Triplets(targets, OtherClasses(y[targets[:, 1]] * 0 + 2, y))
    assert len(strange.near(z, math.inf)[0]) == count(strange.impostors)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("view", ["plain", "frobenius"])
def test_rows_with_a_price_are_there_however_far(seed: int, view: str) -> None:
    """Blocks hold each row that is not surely kept once, and each priced one with its price."""
    z, rows = triplets(seed)
    known = table(rows, z)
    rng = np.random.default_rng(seed)
    priced = rng.permutation(np.array(sorted(known)))[:9]
    seen = Plain(z) if view == "plain" else Frobenius(z, 1.0).judge(np.eye(3)).view
    scale = 1.0 if view == "plain" else Frobenius(z, 1.0).scale ** 2
    blocks = list(rows.blocks(seen, Duals(np.arange(1.0, 10), priced), 1.0))
    v, a = (np.concatenate([getattr(block, name) for block in blocks]) for name in ("v", "a"))
    missed = [value for value in known.values() if value < 1]
    # Frobenius has units in which the points are about 1: the metric is then larger
    assert scale > 0
    assert sorted(v[(v < 1) & (a == 0)]) == pytest.approx(
        sorted(value for key, value in known.items() if value < 1 and key not in priced), rel=1e-9, abs=1e-9
    )
    assert dict(zip(a[a > 0].tolist(), v[a > 0].tolist(), strict=True)) == pytest.approx(
        {1.0 + k: known[key] for k, key in enumerate(priced.tolist())}, rel=1e-9, abs=1e-9
    )
    assert len(missed) > 0


def test_the_curvature_is_that_of_a_dense_matrix() -> None:
    z, rows = triplets(5)
    at = Multipliers(z, rows, lambda key: np.ones(len(key), dtype=bool), np.eye(3), Margin(0.7), 0.5)
    at.begin(np.eye(3), 1.0)
    rows = at.active
    L = np.linalg.cholesky(at.M)
    dense = rows.B @ squares((z[rows.i] - z[rows.j]) @ L)
    b = np.random.default_rng(0).standard_normal(6)
    for free in (np.arange(len(at.key)), np.array([1, 4])):  # more rows than entries, and fewer
        H = at.tau * np.eye(6) + 3.0 * dense[free].T @ dense[free]
        curvature = Curvature(rows.part(free), L, at.tau, 3.0)
        assert curvature.times(b) == pytest.approx(H @ b, rel=1e-9)
        assert curvature.solve(b) == pytest.approx(np.linalg.solve(H, b), rel=1e-7)


@pytest.mark.parametrize("first", [1, 2, 3])
def test_conjugate_gradients_find_what_a_dense_matrix_does(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, rows = triplets(5)
    at = Multipliers(z, rows, lambda key: np.ones(len(key), dtype=bool), np.eye(3), Margin(0.7), 0.5)
    at.begin(np.eye(3), 1.0)
    L = np.linalg.cholesky(at.M)
    V = at.active.B @ squares((z[at.active.i] - z[at.active.j]) @ L)
    b = np.random.default_rng(0).standard_normal(6)
    expected = np.linalg.solve(at.tau * np.eye(6) + 3.0 * V.T @ V, b)
    limits = {"MAX_ROWS_DIRECT": 0, "MAX_ROWS_STORED": 0}
    for name, value in {**limits, "FIRST": first}.items():
        monkeypatch.setattr(active_rows, name, value)
    assert Curvature(at.active, L, at.tau, 3.0).solve(b, Limits(100, 1e-12)) == pytest.approx(
        expected, rel=1e-6
    )


@pytest.mark.parametrize("margin", [Margin(0.7), Margin(0.7, squared=True)])
def test_sums_over_pairs_are_the_slope_of_the_rows(margin: Margin) -> None:
    """By differences along random directions, of <C, M> and what the rows cost at their slopes."""
    z, rows = triplets(6)
    at = Multipliers(z, rows, lambda key: np.ones(len(key), dtype=bool), np.eye(3), margin, 0.5)
    at.begin(np.eye(3), 1.0)
    S = np.random.default_rng(1).standard_normal((3, 3))
    S = S + S.T
    gathered = float(np.sum(at.active.total(at.slopes(at.x)) * S))
    for v in (at.active.along(S), at.active.margins_between(at.Y, at.Y @ S)):
        assert gathered == pytest.approx(float(at.slopes(at.x) @ v), rel=1e-10)
    one_by_one = [v for k, v in table(rows, z @ np.linalg.cholesky(at.M)).items() if k in at.key]
    assert 1 - at.x == pytest.approx(one_by_one, rel=1e-6, abs=1e-7)


def test_hard_margins_on_the_axes() -> None:
    """min tr M with m_kk e_k^2 >= 1: m_kk = 1 / e_k^2, prices the same."""
    at = solved(*axes([1.0, 2.0, 0.5]), np.eye(3), Margin(math.inf))
    assert np.diag(at.M) == pytest.approx([1, 0.25, 4], rel=1e-8)
    assert at.duals().a == pytest.approx([1, 0.25, 4], rel=1e-8)


@pytest.mark.parametrize(("cap", "m", "price"), [(2.0, 0.25, 0.25), (0.1, 0.0, 0.1)])
def test_one_hinge_by_hand(cap: float, m: float, price: float) -> None:
    """min m + cap [1 - 4 m]_+: at the margin if 4 cap > 1, else 0 with the price at its limit."""
    at = solved(*axes([2.0]), np.eye(1), Margin(cap))
    assert at.M[0, 0] == pytest.approx(m, abs=1e-9)
    assert at.duals().a == pytest.approx([price], rel=1e-6)


def test_one_squared_hinge_by_hand() -> None:
    """min m + 2 (1 - 4 m)^2: 16 (1 - 4 m) = 1, price 1/4."""
    at = solved(*axes([2.0]), np.eye(1), Margin(2.0, squared=True))
    assert at.M[0, 0] == pytest.approx(15 / 64, rel=1e-7)
    assert at.duals().a == pytest.approx([0.25], rel=1e-7)


@pytest.mark.parametrize("margin", [Margin(0.2), Margin(5.0), Margin(0.2, squared=True)])
@pytest.mark.parametrize("seed", range(3))
def test_the_end_satisfies_the_optimality_conditions(margin: Margin, seed: int) -> None:
    z, rows = triplets(seed)
    pulled = z[rows.targets[:, 0]] - z[rows.targets[:, 1]]
    C = weighted(pulled, np.ones(len(pulled)))
    at = solved(z, rows, C, margin)
    duals = at.duals()
    G = rows.weights(duals)
    Z = C - weighted(z[G.pairs[:, 0]] - z[G.pairs[:, 1]], G.w)
    v = rows.margins(at.Y @ np.linalg.cholesky(at.M), duals.key)
    objective = at.value()
    assert np.linalg.eigvalsh(Z)[0] >= -1e-8 * np.trace(C)
    assert abs(np.sum(Z * at.M)) <= 1e-8 * objective
    assert (duals.a >= 0).all()
    assert margin.squared or (duals.a <= margin.cap).all()
    lost = float(np.sum(duals.a**2)) / (4 * margin.cap) if margin.squared else 0.0
    assert duals.a.sum() - lost == pytest.approx(objective, rel=1e-8)
    assert np.sum(duals.a * np.maximum(0.0, v - 1)) <= 1e-8 * objective


def far_apart(distance: float) -> tuple[np.ndarray, Triplets]:
    """Two clusters, `distance` from each other on the last axis. Impostors are in the same cluster."""
    z, rows = triplets(7, n=12)
    z = np.concatenate([z, z + np.array([0, 0, distance])])
    impostors = np.asarray(rows.impostors)
    other = np.zeros_like(impostors)
    both = np.block([[impostors, other], [other, impostors]])
    return z, Triplets(np.concatenate([rows.targets, rows.targets + 12]), both)


def test_margins_of_far_clusters_keep_their_digits() -> None:
    """Products of points lose the digits of the distance: the margins would be wrong by 1e-6."""
    z, rows = far_apart(1e6)
    at = solved(z, rows, np.eye(3), Margin(0.7))
    pairs = z[at.active.i] - z[at.active.j]
    assert at.x == pytest.approx(1 - at.active.B @ quadratic(pairs, at.M), abs=1e-8)
    assert at.value() == pytest.approx(solved(*far_apart(0.0), np.eye(3), Margin(0.7)).value(), rel=3e-9)


def test_margins_by_products_are_those_by_differences_up_to_rounding() -> None:
    at = solved(*triplets(5), np.eye(3), Margin(0.7))
    z = at.Y @ np.linalg.cholesky(at.M)
    assert at.active.nearly(z) == pytest.approx(at.active.margins_of(z), abs=1e-12)
    assert at.x == pytest.approx(1 - at.active.margins_of(z), abs=1e-9)
