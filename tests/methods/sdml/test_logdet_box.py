"""max log det over a box: against an obvious solver, where a start is to be found, and where there is none."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from cvxml.core.metric import FloatArray
from cvxml.methods.sdml.logdet_box import Solver, decided


def correlation(rng: np.random.Generator, d: int) -> FloatArray:
    root = rng.standard_normal((d, d + 2))
    S = root @ root.T
    unit = np.sqrt(S.diagonal())
    found: FloatArray = S / unit[:, None] / unit
    return found


def indefinite(rng: np.random.Generator, d: int) -> FloatArray:
    """A diagonal of 1, anything beside it."""
    S = np.triu(rng.uniform(-1.5, 1.5, (d, d)), 1)
    found: FloatArray = S + S.T + np.eye(d)
    return found


def solved(S: FloatArray, lam: float, U: FloatArray) -> Solver:
    at = Solver(S, lam, U)
    for _ in range(60):
        if at.at.gap < 1e-11 or not at.step():
            break
    return at


def slow(S: FloatArray, lam: float, start: FloatArray) -> float:
    """The maximum of log det, by a general method over the entries above the diagonal."""
    d, above = len(S), np.triu_indices(len(S), 1)

    def value(u: FloatArray) -> tuple[float, FloatArray]:
        W = S.copy()
        W[above] += u
        W.T[above] = W[above]
        sign, log_det = np.linalg.slogdet(W)
        if sign <= 0 or np.linalg.eigvalsh(W)[0] <= 0:
            return 1e3, np.zeros(len(u))
        return -float(log_det), -2 * np.linalg.inv(W)[above]

    options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-12}
    bounds = [(-lam, lam)] * (d * (d - 1) // 2)
    found = minimize(value, start[above], jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return float(-found.fun)


@pytest.mark.parametrize("d", [2, 3, 6])
@pytest.mark.parametrize("lam", [0.02, 0.2, 0.7, 3.0])
def test_it_finds_the_maximum(d: int, lam: float) -> None:
    S = correlation(np.random.default_rng(d), d)
    at = solved(S, lam, np.zeros((d, d)))
    U = at.dual()["U"]
    assert np.abs(U).max() <= lam
    assert not U.diagonal().any()
    assert np.linalg.slogdet(S + U)[1] == pytest.approx(slow(S, lam, 0 * S), abs=1e-7)
    np.testing.assert_allclose(np.linalg.inv(at.metric()), S + U, atol=1e-4)


@pytest.mark.parametrize("seed", range(8))
def test_the_metric_is_zero_where_the_box_is_not_reached(seed: int) -> None:
    """Subgradient: M_ij has the sign of U_ij where |U_ij| = lam, and is 0 elsewhere."""
    S = correlation(np.random.default_rng(seed), 5)
    at = solved(S, 0.3, np.zeros((5, 5)))
    M, U = at.metric(), at.dual()["U"]
    inside = np.abs(U) < 0.3 * (1 - 1e-9)
    np.fill_diagonal(inside, False)
    assert not M[inside].any()
    assert (M * U >= 0).all()


def test_units_of_the_entries_do_not_matter() -> None:
    S = correlation(np.random.default_rng(3), 4)
    one = solved(S, 0.1, np.zeros((4, 4)))
    other = solved(1e12 * S, 0.1e12, np.zeros((4, 4)))
    np.testing.assert_allclose(1e12 * other.metric(), one.metric(), rtol=1e-6, atol=1e-9)


def test_a_width_beyond_all_numbers_leaves_the_diagonal() -> None:
    S = correlation(np.random.default_rng(3), 4)
    at = solved(S, 1e300, np.zeros((4, 4)))
    np.testing.assert_allclose(at.metric(), np.eye(4), atol=1e-9)


def definite_on_a_grid(S: FloatArray, lam: float) -> bool:
    """True if some S + U, U of a grid, is positive definite; d = 3."""
    steps = np.linspace(-lam, lam, 25)
    for a, b, c in product(steps, steps, steps):
        W = S + np.array([[0, a, b], [a, 0, c], [b, c, 0]])
        if np.linalg.eigvalsh(W)[0] > 0:
            return True
    return False


@pytest.mark.quick(4)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("lam", [0.1, 0.3, 0.6])
def test_a_start_or_a_direction_is_found(seed: int, lam: float) -> None:
    S = indefinite(np.random.default_rng(seed), 3)
    found = decided(S, lam)
    if found.U is None:
        assert not definite_on_a_grid(S, lam)
        assert np.linalg.eigvalsh(found.D)[0] > 0
        off_diagonal = np.abs(found.D).sum() - np.trace(found.D)
        assert np.sum(S * found.D) + lam * off_diagonal < 0
    else:
        assert np.abs(found.U).max() <= lam
        assert np.linalg.eigvalsh(S + found.U)[0] > 0


def test_both_ends_of_a_decision_happen() -> None:
    found = [decided(indefinite(np.random.default_rng(seed), 3), 0.3).U is None for seed in range(6)]
    assert {True, False} == set(found)


def test_where_no_number_decides_it_says_neither() -> None:
    """Only U_12 = -1 makes [[1, 2], [2, 1]] psd, and singular."""
    assert decided(np.array([[1.0, 2.0], [2.0, 1.0]]), 1.0).U is None
