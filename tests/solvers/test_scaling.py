"""The scaling of interior-point methods against its definition, for matrices of very different scale."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.solvers.scaling import Scaling

SEEDS = pytest.mark.parametrize("seed", range(6))


def definite(rng: np.random.Generator, d: int, wide: float) -> FloatArray:
    """A positive definite matrix with features of different scale."""
    E = rng.standard_normal((d + 2, d)) * 10.0 ** rng.uniform(-wide, wide, d)
    return np.asarray(E.T @ E)


@SEEDS
@pytest.mark.parametrize("wide", [0.0, 2.0])
def test_both_matrices_become_the_same_diagonal(seed: int, wide: float) -> None:
    rng = np.random.default_rng(seed)
    A = definite(rng, 4, wide)
    S = definite(rng, 4, 0.5)
    scaling = Scaling(A, S, 0.7)
    R = np.linalg.inv(scaling.R_inverse)
    sigma = np.diag(scaling.sigma)
    np.testing.assert_allclose(scaling.scaled(A), sigma, atol=1e-9 * scaling.sigma.max())
    np.testing.assert_allclose(R.T @ S @ R, sigma, atol=1e-9 * scaling.sigma.max())
    assert scaling.product_after(0 * A, 0 * A, 1.0) == pytest.approx(float(np.sum(A * S)), rel=1e-9)


@SEEDS
@pytest.mark.parametrize("count", [0, 3, 30])
def test_the_equations_in_scaled_coordinates_are_those_of_the_step(seed: int, count: int) -> None:
    """lam dA + W^-1 dA W^-1 + sum_t <e_t e_t^T, dA> e_t e_t^T = R^-T K R^-1 + G."""
    rng = np.random.default_rng(seed)
    d, lam = 4, 0.3
    A, S, E = definite(rng, d, 0.3), definite(rng, d, 0.3), rng.standard_normal((count, d))
    K, G = (part + part.T for part in rng.standard_normal((2, d, d)))
    scaling = Scaling(A, S, lam)
    B = scaling.rows(E)
    dA = scaling.back(np.linalg.solve(np.eye(B.shape[1]) + B.T @ B, scaling.right(K, G)))
    inverse = scaling.R_inverse.T @ scaling.R_inverse
    left = lam * dA + inverse @ dA @ inverse
    left += (E.T * np.einsum("ta,ab,tb->t", E, dA, E)) @ E
    right = scaling.R_inverse.T @ K @ scaling.R_inverse + G
    np.testing.assert_allclose(left, right, atol=1e-8 * np.abs(right).max())
    np.testing.assert_allclose(dA, dA.T, atol=1e-12 * np.abs(dA).max())


@SEEDS
def test_the_step_ends_where_an_eigenvalue_is_0(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A, S = definite(rng, 4, 1.0), definite(rng, 4, 0.3)
    scaling = Scaling(A, S, 1.0)
    step = rng.standard_normal((4, 4))
    step = -(step @ step.T) * np.trace(A)
    length = 1 / scaling.falls(scaling.scaled(step))
    least = [np.linalg.eigvalsh(scaling.scaled(A + share * length * step))[0] for share in (0.99, 1.01)]
    assert least[0] > 0 > least[1]


@SEEDS
def test_the_target_is_met_to_first_order(seed: int) -> None:
    """sigma K + K sigma = 2 (target - sigma^2 - the symmetric part of the second-order term)."""
    rng = np.random.default_rng(seed)
    scaling = Scaling(definite(rng, 3, 0.5), definite(rng, 3, 0.5), 1.0)
    second = rng.standard_normal((3, 3))
    K = scaling.target(0.4, second)
    sigma = np.diag(scaling.sigma)
    met = (sigma @ K + K @ sigma) / 2 + sigma**2 + (second + second.T) / 2
    np.testing.assert_allclose(met, 0.4 * np.eye(3), atol=1e-10 * (1 + scaling.sigma.max() ** 2))


@pytest.mark.parametrize("which", [0, 1])
def test_a_singular_matrix_is_refused(which: int) -> None:
    both = [np.eye(2), np.eye(2)]
    both[which] = np.diag([1.0, 0.0])
    with pytest.raises(np.linalg.LinAlgError):
        Scaling(both[0], both[1], 1.0)
