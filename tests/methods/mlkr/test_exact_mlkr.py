"""The exact mode of MLKR: against a twin in many digits, against first-order steps. Parts of it are those of NCA."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.balls import balls, precision
from cvxml.core.integer_matrices import whole
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.family.stationary import stationary
from tests.instances import exact_of
from tests.methods.nca.in_many_digits import (
    ZERO,
    Digits,
    assert_upper_end,
    decimals,
    first_order_gain,
    sixty_digits,
    weights,
)


def data(seed: int) -> tuple[FloatArray, FloatArray]:
    """Of which there is a stationary metric."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((14, 3))
    return X, X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.3 * rng.standard_normal(14)


X, Y = data(0)
ROWS = np.array([[1.0, 0.3, 0.0], [0.2, 0.7, 0.1], [0.0, -0.3, 0.4]])
BEST = cvxml.solve("mlkr", X, Y, tol=1e-8)


def leave_one_out_error(A: Digits) -> Decimal:
    """F of A (m, d), from the definition, in 60 digits."""
    y, F = [Decimal(v) for v in Y.tolist()], ZERO
    with sixty_digits():
        for e, own in zip(weights(X, A), y, strict=True):
            F += (sum((a * b for a, b in zip(e, y, strict=True)), ZERO) / sum(e, ZERO) - own) ** 2
    return F


@pytest.mark.parametrize(("m", "size"), [(1, 0.1), (1, 3.0), (3, 0.01), (3, 1.0)])
def test_the_interval_is_the_error_and_the_steepest_first_order_step(m: int, size: float) -> None:
    """Of full rank a free row may win more than that step."""
    A = size * ROWS[:m]
    found = exact_of("mlkr", X, Y, A.T @ A, {}, root=A.T, n_components=m)
    assert_upper_end(found, leave_one_out_error(decimals(A)))
    assert found.of_step
    gain = first_order_gain(leave_one_out_error, X, A)
    assert float(found.gap) >= gain * (1 - 1e-9)
    if m < 3:  # no row is free
        assert float(found.gap) == pytest.approx(gain, rel=1e-9)


def test_both_kinds_of_steps_at_once_gain_at_most_five_quarters() -> None:
    """By the derivatives of `evaluate`: a mixed step gains more than the larger number, and at most 5/4 of it."""
    A = np.vstack([0.1 * ROWS[:1], np.zeros((1, 3))])
    proof = cvxml.certify("mlkr", X, Y, A.T @ A, {}, n_components=2).stationarity
    most = max(proof.gradient, proof.dc_residual)
    inverse = np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True)))
    at = cvxml.evaluate("mlkr", X, Y, A.T @ A, n_components=2)
    G = inverse @ at.gradient_Q @ inverse.T
    rows = A @ np.linalg.inv(inverse)
    length = max(float(np.linalg.norm(rows)), 1.0)
    slope, least = 2 * rows[:1] @ G, np.linalg.eigh(G)[1][:, 0]
    gains = []
    for angle in np.linspace(0, np.pi / 2, 91):
        change = -length * np.cos(angle) * slope / np.linalg.norm(slope)
        row = length * np.sin(angle) * least
        gains.append(-float(np.sum(slope * change)) - float(row @ G @ row))
    assert gains[0] == pytest.approx(proof.gradient, rel=1e-6)
    assert gains[-1] == pytest.approx(proof.dc_residual, rel=1e-6)
    assert most < max(gains) <= 1.25 * most


@pytest.mark.parametrize(("method", "y"), [("mlkr", Y), ("nca", X[:, 0] > 0)])
def test_a_free_row_counts(method: str, y: Any) -> None:
    """A = 0 has no gradient; what a row wins is the least eigenvalue of dF/dQ, here by evaluate's floats."""
    inverse = np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True)))
    G = inverse @ cvxml.evaluate(method, X, y, np.zeros((3, 3)), n_components=2).gradient_Q @ inverse.T
    found = exact_of(method, X, y, np.zeros((3, 3)), {}, n_components=2)
    assert float(found.gap) == pytest.approx(-np.linalg.eigvalsh(G)[0], rel=1e-9)
    assert found.gap > 0


def test_far_out_there_is_no_scale() -> None:
    far = exact_of("mlkr", X, Y, 1e6 * np.eye(3), {})
    assert far.scale < far.objective / 10**9
    assert (
        cvxml.check("mlkr", X, Y, 1e6 * np.eye(3), exact=True, diagnosed=False).verdict
        is not Verdict.CERTIFIED
    )


def test_what_a_free_row_wins_is_no_less_than_is_so() -> None:
    """G + t C is psd without rounding: all its leading minors are positive."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        G, root = rng.standard_normal((2, 2)), rng.standard_normal((2, 2))
        G, C = G + G.T, root @ root.T + np.eye(2)
        with precision():
            t = Fraction(stationary._won(*(balls(*whole(A)) for A in (G, C))))
        (a, b), (_, c) = (
            [Fraction(g) + t * Fraction(own) for g, own in zip(*rows, strict=True)]
            for rows in zip(G.tolist(), C.tolist(), strict=True)
        )
        assert a > 0
        assert a * c > b * b


def test_a_scale_that_is_rounding_of_the_objective_is_none() -> None:
    """Neighbours are 40 nats nearer than others: e^-40 of the objective."""
    points, y = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([0.0, 1.0, 5.0, 2.0])
    for nats, resolved in ((10.0, True), (40.0, False)):
        Q = np.array([[nats / 3]])  # 0 to 1 and 3 from 1: 4 - 1 is the least difference
        scale = exact_of("mlkr", points, y, Q, {}).scale
        assert (scale > 0) == resolved
        assert cvxml.certify("mlkr", points, y, Q, {}).scale > 1e-200 or not resolved


def test_the_objective_of_a_metric_is_off_by_its_rounding_at_most() -> None:
    """B^T B is exact, and its error that of B; what is judged is a root of it in floats."""
    B = np.array([[1.0, 0.25, 0.0], [0.25, 0.75, 0.125], [0.0, -0.25, 0.5]])
    proof = cvxml.certify("mlkr", X, Y, B.T @ B, {})
    error = abs(Decimal(proof.objective) - leave_one_out_error(decimals(B)))
    assert 0 < error <= Decimal(proof.rounding)
    assert proof.rounding < 1e-12 * proof.objective


def test_a_root_of_another_rank_is_refused() -> None:
    for method, y in (("mlkr", Y), ("nca", X[:, 0] > 0)):
        with pytest.raises(ValueError, match="n_components=1"):
            exact_of(method, X, y, np.eye(3), {}, root=np.eye(3), n_components=1)
    with pytest.raises(ValueError, match="3 rows"):
        exact_of("mlkr", X, Y, np.eye(3), {}, root=np.eye(2))


@pytest.mark.parametrize("far", [0, 10**6])
def test_distances_count_from_the_nearest_point(far: int) -> None:
    """Twice the sum of |w_ik| (D_ik - min_j D_ij), if the mean distance is at least 1. Large distances cancel."""
    D = [[0, far + 3, far + 8], [far + 3, 0, far + 5], [far + 8, far + 5, 0]]
    with precision():
        W = balls(*whole(np.array([[0.0, 2.0, -1.0], [0.5, 0.0, 1.0], [1.0, -4.0, 0.0]])))
        found = float(stationary.turns(D, 0, W).mid())
        length = sum(map(sum, D)) / (2 * 3 * 3)
    terms = 1.0 * 5 + 1.0 * 2 + 1.0 * 3
    assert found * (length if length < 1 else 1.0) == pytest.approx(2 * terms)
