"""The path of barrier.py on functions whose minimum over the psd cone is known in closed form."""

from __future__ import annotations

from itertools import islice, pairwise

import numpy as np
import pytest

from cvxml.core.metric import FloatArray, project_psd
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.solvers.barrier import SHRINK, Smooth, State, _direction, _Point, path

SEEDS = range(6)


class Quadratic:
    """|M - B|^2 / 2, least at P_+(B)."""

    def __init__(self, B: FloatArray):
        self.B = B

    def value(self, M: FloatArray) -> float:
        return float(np.sum((M - self.B) ** 2)) / 2

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        return G.T @ (G @ G.T - self.B) @ G, by_columns(len(G), lambda dX: G.T @ (G @ dX @ G.T) @ G)


class LogDet:
    """<C, M> - log det M, C positive definite: least at C^-1, inside the cone."""

    def __init__(self, C: FloatArray):
        self.C = C

    def value(self, M: FloatArray) -> float:
        return float(np.sum(self.C * M)) - float(np.linalg.slogdet(M)[1])

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        r = len(G)
        return G.T @ self.C @ G - np.eye(r), np.eye(r * (r + 1) // 2)


class Bounded:
    """<C, M> - log(1 - trace M), for trace M < 1 only; C may have negative eigenvalues."""

    def __init__(self, C: FloatArray):
        self.C = C

    def value(self, M: FloatArray) -> float:
        left = 1 - float(np.trace(M))
        return float(np.sum(self.C * M)) - float(np.log(left)) if left > 0 else np.inf

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        left = 1 - float(np.sum(G**2))
        of_trace = svec(G.T @ G)
        return G.T @ self.C @ G + G.T @ G / left, np.outer(of_trace, of_trace) / left**2


class Turned:
    """f(T M T^T)."""

    def __init__(self, f: Smooth, T: FloatArray):
        self.f, self.T = f, T

    def value(self, M: FloatArray) -> float:
        return self.f.value(self.T @ M @ self.T.T)

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.f.derivatives(self.T @ G)


def by_columns(r: int, linear: object) -> FloatArray:
    p = r * (r + 1) // 2
    return np.array([svec(linear(smat(e, r))) for e in np.eye(p)]).T  # type: ignore[operator]


def symmetric(seed: int, r: int = 5) -> FloatArray:
    B = np.random.default_rng(seed).standard_normal((r, r))
    return (B + B.T) / 2


def definite(seed: int, r: int = 5) -> FloatArray:
    B = np.random.default_rng(seed).standard_normal((r, r))
    return B @ B.T + 0.1 * np.eye(r)


def last(f: Smooth, M: FloatArray, rho: float = 1.0, least: float = 1e-13, most: int = 100) -> list[State]:
    """All states until rho is below `least`."""
    found = []
    for state in islice(path(f, M, rho), most):
        found.append(state)
        if state.rho < least:
            break
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nearest_psd_matrix_is_the_projection(seed: int) -> None:
    B = symmetric(seed)
    assert np.linalg.eigvalsh(B)[0] < 0
    states = last(Quadratic(B), np.eye(5))
    assert len(states) < 25
    best = Quadratic(B).value(project_psd(B))
    assert (
        0 <= states[-1].value - best <= 10 * states[-2].rho
    )  # 5 rho on the path; the last step is not yet on it
    assert states[-1].value - best <= 1e-9
    np.testing.assert_allclose(states[-1].M, project_psd(B), atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_minimum_inside_the_cone_is_found(seed: int) -> None:
    C = definite(seed)
    states = last(LogDet(C), np.eye(5))
    np.testing.assert_allclose(states[-1].M, np.linalg.inv(C), rtol=1e-6, atol=1e-8)


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_on_the_path_the_gradient_is_rho_over_m(seed: int) -> None:
    """With rho held (shrink = 1) the path ends where the gradient of f is rho M^-1."""
    f, rho = Quadratic(symmetric(seed)), 1e-3
    for state in islice(path(f, np.eye(5), rho, shrink=1.0), 200):  # noqa: B007
        pass
    gradient = state.M - f.B
    np.testing.assert_allclose(gradient @ state.M, state.rho * np.eye(5), atol=1e-6 * state.rho)
    assert state.decrement <= 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_a_bounded_domain_is_never_left(seed: int) -> None:
    """Everything goes to the least eigenvalue c of C, and c t - log(1 - t) is least at t = 1 + 1 / c."""
    C = symmetric(seed) - 2 * np.eye(5)
    states = last(Bounded(C), np.eye(5) / 10)
    assert all(np.trace(state.M) < 1 and np.isfinite(state.value) for state in states)
    values, vectors = np.linalg.eigh(C)
    best = (1 + 1 / values[0]) * np.outer(vectors[:, 0], vectors[:, 0])
    np.testing.assert_allclose(states[-1].M, best, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_state_is_what_it_says(seed: int) -> None:
    f = Quadratic(symmetric(seed))
    states = last(f, definite(seed))
    np.testing.assert_array_equal(states[0].M, definite(seed))
    for before, state in pairwise(states):
        assert state.value == f.value(state.M)
        assert np.linalg.eigvalsh(state.M)[0] > -1e-15
        assert state.rho >= SHRINK * before.rho * 1e-3
        assert state.decrement >= 0
    assert states[-1].rho < 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_the_path_does_not_depend_on_coordinates(seed: int) -> None:
    f, T = Quadratic(symmetric(seed)), np.random.default_rng(seed).standard_normal((5, 5))
    here = last(f, np.eye(5), least=1e-6)
    back = np.linalg.inv(T)
    there = last(Turned(f, T), back @ back.T, least=1e-6)
    assert len(here) == len(there)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(other.value, one.value, rtol=1e-6)
        np.testing.assert_allclose(T @ other.M @ T.T, one.M, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_direction_solves_the_equations_of_the_path(seed: int) -> None:
    rng, f = np.random.default_rng(seed), Quadratic(symmetric(seed))
    G, s = rng.standard_normal((5, 5)), 10.0 ** rng.uniform(-3, 1, 5)
    g, H = f.derivatives(G)
    found = _direction(f, _Point(G, f.value(G @ G.T), s), SHRINK)
    assert found is not None
    rho, dX, dS, slope = found
    S, of_dX = np.diag(s), smat(H @ svec(dX), 5)
    size = np.abs(g).max()
    np.testing.assert_allclose(of_dX + (S @ dX + dX @ S) / 2, rho * np.eye(5) - g, atol=1e-9 * size)
    np.testing.assert_allclose(dS, g + of_dX - S, atol=1e-9 * size)
    assert slope == pytest.approx(np.sum((g - rho * np.eye(5)) * dX))
    assert slope < 0
    assert 0 < rho <= s.mean()


def test_slower_is_slower() -> None:
    f = Quadratic(symmetric(0))
    slow = [s.rho for s in islice(path(f, np.eye(5), 1.0, shrink=0.5), 12)]
    assert min(b / a for a, b in pairwise(slow)) > 0.1
    assert len(last(f, np.eye(5), least=1e-3)) < len(slow)


def test_where_the_minimum_is_zero_the_rest_is_rho_times_the_rank() -> None:
    class Linear:
        def value(self, M: FloatArray) -> float:
            return float(np.sum(C * M))

        def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
            return G.T @ C @ G, np.zeros((15, 15))

    C = definite(1)
    states = list(islice(path(Linear(), np.eye(5), 1.0), 60))
    assert states[-1].value < 1e-12
    on_it = list(islice(path(Linear(), np.eye(5), 0.01, shrink=1.0), 60))[-1]
    assert on_it.value == pytest.approx(5 * on_it.rho, rel=1e-6)


@pytest.mark.parametrize(("M", "says"), [(np.diag([1.0, 0, 1, 1, 1]), "definite"), (np.eye(5), "domain")])
def test_a_bad_start_is_refused(M: FloatArray, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        next(path(Bounded(np.eye(5)), M, 1.0))


def test_what_is_no_number_ends_the_path() -> None:
    class Broken(Quadratic):
        def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
            g, H = super().derivatives(G)
            return g * np.nan, H

    assert len(list(islice(path(Broken(np.eye(5)), np.eye(5), 1.0), 9))) == 1
