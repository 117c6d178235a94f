"""The interior-point method: problems whose optimum is known without a solver, and its parts against obvious twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from cvxml.family.interior import Interior, Margin, _LeastSquares, _Newton, scaling
from cvxml.family.symmetric import quadratic, smat, squares, svec, weighted


def eye_rows(count: int) -> csr_array:
    return csr_array(np.eye(count))


def solved(C: np.ndarray, margin: Margin, E: np.ndarray, B: csr_array) -> Interior:
    at = Interior.start(C, margin, np.eye(len(C)))
    at.add(E, B)
    at.begin(1.0, 12)
    for _ in range(80):
        if at.mu < 1e-12 or not at.step():
            break
    return at


def value(at: Interior) -> float:
    missed = np.maximum(0.0, 1 - at.B @ quadratic(at.E, at.M))
    push = (
        0.0 if at.margin.hard else at.margin.cap * float(np.sum(missed**2 if at.margin.squared else missed))
    )
    return float(np.sum(at.C * at.M)) + push


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


def test_the_scaling_makes_both_the_same_diagonal() -> None:
    rng = np.random.default_rng(1)
    M, Z = (R @ R.T + 0.1 * np.eye(4) for R in rng.standard_normal((2, 4, 4)))
    G, v = scaling(M, Z)
    assert G @ np.diag(v) @ G.T == pytest.approx(M, rel=1e-9, abs=1e-12)
    assert pytest.approx(np.diag(v), rel=1e-9, abs=1e-9) == G.T @ Z @ G


@pytest.mark.parametrize("margin", [Margin(0.7), Margin(0.7, squared=True), Margin(math.inf)])
@pytest.mark.parametrize("share", [1.0, 0.3, 0.0])
def test_a_full_step_leaves_the_rest_of_what_the_equations_miss(margin: Margin, share: float) -> None:
    rng = np.random.default_rng(2)
    E = rng.standard_normal((5, 3))
    at = Interior.start(np.eye(3), margin, np.diag([1.0, 2.0, 3.0]))
    at.add(E, eye_rows(5))
    at.Z, at.slack = np.diag([2.0, 0.5, 1.0]), at.slack + rng.uniform(0.1, 1.0, 5)

    def missed() -> tuple[np.ndarray, np.ndarray]:
        R = at.C - weighted(at.E, at.price) - at.Z
        spare = quadratic(at.E, at.M) - 1 + at.missed + margin.softness * at.price
        return R, spare - at.slack

    R, unmet = missed()
    G, v = scaling(at.M, at.Z)
    go = _Newton(at, G, v).direction(0.1, None, share)
    inverse = np.linalg.inv(G)
    at.M, at.Z = at.M + G @ go.M @ G.T, at.Z + inverse.T @ go.Z @ inverse
    at.price, at.slack, at.missed = at.price + go.price, at.slack + go.slack, at.missed + go.missed
    left_R, left_unmet = missed()
    assert np.abs(R).max() > 0.1
    assert np.abs(unmet).max() > 0.1
    np.testing.assert_allclose(left_R, (1 - share) * R, atol=1e-12)
    np.testing.assert_allclose(left_unmet, (1 - share) * unmet, atol=1e-12)


@pytest.mark.parametrize("heaviest", [1.0, 1e8, 1e15])
def test_heavy_rows_and_light_rows_are_solved_together(heaviest: float) -> None:
    """Against a least-squares solver on all rows, and the rest of heavy rows to all its digits."""
    rng = np.random.default_rng(2)
    F, B = rng.standard_normal((8, 6)), csr_array(rng.integers(-1, 2, (5, 8)).astype(float))
    w = np.array([1.0, heaviest, 1e-3, heaviest / 3, 2.0])
    t, b = rng.standard_normal(6), rng.standard_normal(5) / np.sqrt(w)
    x, left = _LeastSquares(F, B, w).solve(t, b)
    stacked = np.vstack([np.eye(6), np.sqrt(w)[:, None] * (B @ F)])
    wanted = np.linalg.lstsq(stacked, np.concatenate([t, np.sqrt(w) * b]), rcond=None)[0]
    assert x == pytest.approx(wanted, rel=1e-6, abs=1e-7)
    # the condition for a minimum: x - t = (B F)^T (w (b - B F x))
    assert x - t == pytest.approx((B @ F).T @ (w * left), rel=1e-7, abs=1e-8)


def test_hard_margins_on_the_axes() -> None:
    """min tr M with m_kk e_k^2 >= 1: m_kk = 1 / e_k^2, prices the same."""
    E = np.diag([1.0, 2.0, 0.5])
    at = solved(np.eye(3), Margin(math.inf), E, eye_rows(3))
    assert np.diag(at.M) == pytest.approx([1, 0.25, 4], rel=1e-8)
    assert at.price == pytest.approx([1, 0.25, 4], rel=1e-8)
    assert value(at) == pytest.approx(at.price.sum(), rel=1e-10)


@pytest.mark.parametrize(("cap", "m", "price"), [(2.0, 0.25, 0.25), (0.1, 0.0, 0.1)])
def test_one_hinge_by_hand(cap: float, m: float, price: float) -> None:
    """min m + cap [1 - 4 m]_+: at the margin if 4 cap > 1, else 0 with the price at its limit."""
    at = solved(np.eye(1), Margin(cap), np.array([[2.0]]), eye_rows(1))
    assert at.M[0, 0] == pytest.approx(m, abs=1e-9)
    assert at.price[0] == pytest.approx(price, rel=1e-6)


def test_one_squared_hinge_by_hand() -> None:
    """min m + 2 (1 - 4 m)^2: 16 (1 - 4 m) = 1, price 1/4."""
    at = solved(np.eye(1), Margin(2.0, squared=True), np.array([[2.0]]), eye_rows(1))
    assert at.M[0, 0] == pytest.approx(15 / 64, rel=1e-7)
    assert at.price[0] == pytest.approx(0.25, rel=1e-7)


@pytest.mark.parametrize("margin", [Margin(0.3), Margin(0.3, squared=True)])
def test_rows_added_on_the_way_end_at_the_same_optimum(margin: Margin) -> None:
    rng = np.random.default_rng(4)
    E = rng.standard_normal((12, 3))
    B = csr_array(np.hstack([np.eye(6), -0.3 * np.eye(6)]))
    whole = solved(np.eye(3), margin, E, B)
    at = Interior.start(np.eye(3), margin, np.eye(3))
    at.add(E[:4], csr_array((0, 4)))
    at.add(E[4:], B[:2])
    at.begin(1.0, 12)
    for k in range(80):
        if k == 3:
            at.add(np.zeros((0, 3)), B[2:])
        if at.mu < 1e-12 or not at.step():
            break
    assert value(at) == pytest.approx(value(whole), rel=1e-8)


@pytest.mark.parametrize("margin", [Margin(0.2), Margin(5.0), Margin(0.2, squared=True)])
def test_the_end_satisfies_the_optimality_conditions(margin: Margin) -> None:
    rng = np.random.default_rng(5)
    E, B = rng.standard_normal((40, 4)), csr_array(np.hstack([np.eye(20), -np.eye(20)]))
    at = solved(weighted(E[20:], np.ones(20)), margin, E, B)
    Z = at.C - weighted(E, B.T @ at.price)
    v = B @ quadratic(E, at.M)
    assert np.linalg.eigvalsh(Z)[0] >= -1e-8
    assert abs(np.sum(Z * at.M)) <= 1e-8
    assert (at.price >= 0).all()
    lost = float(np.sum(at.price**2)) * margin.softness / 2
    assert at.price.sum() - lost == pytest.approx(value(at), rel=1e-8)
    assert np.sum(at.price * np.maximum(0.0, v - 1)) <= 1e-8


def test_centring_arrives_where_all_products_are_equal() -> None:
    rng = np.random.default_rng(6)
    E, B = rng.standard_normal((20, 3)), csr_array(np.hstack([np.eye(10), -np.eye(10)]))
    at = Interior.start(weighted(E[10:], np.ones(10)), Margin(0.4), np.eye(3))
    at.add(E, B)
    for _ in range(12):
        at.centre(0.05, 20)
    assert pytest.approx(0.05 * np.eye(3), abs=1e-9) == at.M @ at.Z
    assert at.price * at.slack == pytest.approx(0.05, rel=1e-9)
    assert (0.4 - at.price) * at.missed == pytest.approx(0.05, rel=1e-9)
