"""The asymptotic error and the bias of the papers on GLML, against sums and Monte Carlo."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import multivariate_normal

from validation.studies import glml_theory as theory


class Circle:
    """Two densities on [0, 1) that wrap around: bounded below, so that every integral of (8) exists."""

    x = (np.arange(4000) + 0.5) / 4000
    w = 2 * np.pi
    p1 = 1 + 0.8 * np.cos(w * x)
    p2 = 1 + 0.8 * np.sin(w * x)
    second1 = -0.8 * w**2 * np.cos(w * x)
    second2 = -0.8 * w**2 * np.sin(w * x)
    volume = 1 / 4000
    B = p1**2 * second2 + p2**2 * second1 - p1 * p2 * (second1 + second2)


def nearest_neighbour_error_on_the_circle(N: int) -> float:
    """Exactly, by summation: the nearest of N points is at distance t, on either side, with its own density."""
    c, m = Circle, 4000
    p, total = (c.p1 + c.p2) / 2, np.concatenate([[0.0], np.cumsum((c.p1 + c.p2) / 2) / m])
    share = c.p1 / (c.p1 + c.p2)
    error = 0.0
    for i in range(0, m, 8):
        shift = np.arange(1, m // 2)
        right, left = (i + shift) % m, (i - shift) % m
        within = np.cumsum((p[right] + p[left]) / m) + p[i] / m
        alive = np.clip(1 - within, 0, 1) ** (N - 1)
        weight = N * alive / m
        wrong = share[i] * (1 - share) + (1 - share[i]) * share
        near = np.sum(weight * (p[right] * wrong[right] + p[left] * wrong[left]))
        norm = np.sum(weight * (p[right] + p[left]))
        error += p[i] * near / norm * 8 / m
    assert total[-1] == pytest.approx(1.0)
    return error


def test_the_bias_in_one_dimension_has_the_mean_distance_inside_the_integral() -> None:
    c, N = Circle, 200
    asymptotic = theory.asymptotic_error(c.p1, c.p2, c.volume)
    measured = nearest_neighbour_error_on_the_circle(N) - asymptotic
    inside = theory.bias(c.p1, c.p2, c.B, c.volume, N, 1)
    printed = theory.bias(c.p1, c.p2, c.B, c.volume, N, 1, inside=False)
    assert measured == pytest.approx(inside, rel=0.05)
    assert measured != pytest.approx(printed, rel=0.2)


@pytest.mark.slow
def test_the_bias_in_two_dimensions_has_the_mean_distance_inside_the_integral_too() -> None:
    """Monte Carlo on a torus, densities whose sum is not constant."""
    rng, w, N, size = np.random.default_rng(0), 2 * np.pi, 300, 0.95

    def densities(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return 1 + size * np.cos(w * z[:, 0]), 1 + size * np.sin(w * z[:, 0])

    def sample(n: int) -> np.ndarray:
        z = rng.uniform(size=(4 * n, 2))
        kept: np.ndarray = z[rng.uniform(size=4 * n) * (1 + size) < sum(densities(z)) / 2][:n]
        assert len(kept) == n
        return kept

    grid = (np.arange(2000) + 0.5) / 2000
    p1, p2 = densities(np.column_stack([grid, 0 * grid]))
    H1, H2 = -size * w**2 * np.cos(w * grid), -size * w**2 * np.sin(w * grid)
    B = p1**2 * H2 + p2**2 * H1 - p1 * p2 * (H1 + H2)
    errors = []
    for _ in range(300):
        points, asked = sample(N), sample(4000)
        _, j = cKDTree(points, boxsize=[1, 1]).query(asked)
        m, near = (a / (a + b) for a, b in (densities(asked), densities(points)))
        errors.append(np.mean(m * (1 - near[j]) + (1 - m) * near[j]))
    measured = np.mean(errors) - theory.asymptotic_error(p1, p2, 1 / 2000)
    standard = np.std(errors) / np.sqrt(len(errors))
    inside, printed = (theory.bias(p1, p2, B, 1 / 2000, N, 2, inside=where) for where in (True, False))
    assert abs(measured - inside) <= 4 * standard + 0.05 * inside
    assert abs(measured - printed) > 8 * standard


@pytest.mark.slow
def test_the_bias_in_two_dimensions_by_monte_carlo() -> None:
    """On a torus, with the metric I and with another: tr[A^-1 B] is what changes."""
    rng = np.random.default_rng(0)
    w, N, queries, rounds = 2 * np.pi, 150, 4000, 300

    def densities(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return 1 + 0.9 * np.cos(w * z[:, 0]), 1 - 0.9 * np.cos(w * z[:, 0])

    grid = (np.arange(400) + 0.5) / 400
    z = np.column_stack([grid, np.zeros(400)])
    p1, p2 = densities(z)
    H1 = -0.9 * w**2 * np.cos(w * grid)  # the only entry of the Hessian, (0, 0); that of p2 is its negative
    B = p1**2 * -H1 + p2**2 * H1
    asymptotic = theory.asymptotic_error(p1, p2, 1 / 400)
    for stretch in (1.0, 2.0):
        A = np.diag([stretch, 1 / stretch])  # det 1
        predicted = theory.bias(p1, p2, B / stretch, 1 / 400, N, 2)
        box = np.sqrt(np.diag(A))
        errors = []
        for _ in range(rounds):
            points, asked = rng.uniform(size=(N, 2)), rng.uniform(size=(queries, 2))  # p1 + p2 is constant
            _, j = cKDTree(points * box, boxsize=box).query(asked * box)
            m, near = densities(asked)[0] / 2, densities(points)[0][j] / 2
            errors.append(np.mean(m * (1 - near) + (1 - m) * near))
        standard = np.std(errors) / np.sqrt(rounds)
        assert abs(np.mean(errors) - asymptotic - predicted) <= 4 * standard + 0.1 * abs(predicted)
        assert abs(predicted) > 8 * standard


def test_the_asymptotic_error_is_one_minus_a_divergence_and_no_metric_moves_it() -> None:
    c = Circle
    error = theory.asymptotic_error(c.p1, c.p2, c.volume)
    assert theory.asymptotic_accuracy(c.p1, c.p2, c.volume) == pytest.approx(1 - error)
    # stretched by 3: densities a third, volumes three times
    assert theory.asymptotic_error(c.p1 / 3, c.p2 / 3, 3 * c.volume) == pytest.approx(error)
    assert theory.asymptotic_error(c.p1, c.p1, c.volume) == pytest.approx(0.5)


def test_stretching_space_moves_neither_the_asymptotic_error_nor_a_divergence() -> None:
    """Figs. 1, 2 and (16): two Gaussians and their images under a map, each on a grid of its own."""
    means, covariances = ([0.0, 0.0], [1.5, 0.5]), (np.diag([1.0, 0.5]), np.array([[0.7, 0.3], [0.3, 1.2]]))
    divergences = {
        "Kullback, Leibler": lambda t: t * np.log(np.maximum(t, 1e-300)),
        "total variation": lambda t: np.abs(t - 1) / 2,
        "Hellinger": lambda t: (np.sqrt(t) - 1) ** 2,
    }

    def found(L: np.ndarray) -> list[float]:
        reach = (
            7 * np.sqrt(max(np.linalg.eigvalsh(L @ S @ L.T)[-1] for S in covariances)) + np.abs(L).sum() * 2
        )
        side = np.linspace(-reach, reach, 801)
        grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
        volume = (side[1] - side[0]) ** 2
        p1, p2 = (
            multivariate_normal(L @ mean, L @ S @ L.T).pdf(grid)
            for mean, S in zip(means, covariances, strict=True)
        )
        some = p2 > 1e-14 * p2.max()
        values = [float(np.sum(p2[some] * f(p1[some] / p2[some])) * volume) for f in divergences.values()]
        return [theory.asymptotic_error(p1, p2, volume), *values]

    plain = found(np.eye(2))
    assert 0.1 < plain[0] < 0.4
    assert min(plain[1:]) > 0.1
    for L in (np.diag([3.0, 0.4]), np.array([[1.0, 2.0], [-0.5, 1.0]])):
        assert found(L) == pytest.approx(plain, rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_asymptotic_error_is_at_most_twice_that_of_bayes(seed: int) -> None:
    p1, p2 = np.random.default_rng(seed).dirichlet(np.full(30, 0.3), 2)
    bayes = float(np.minimum(p1, p2).sum()) / 2
    assert bayes < theory.asymptotic_error(p1, p2, 1.0) < 2 * bayes
    apart = np.array([[1.0, 1e-6], [0.0, 1.0]])  # the bound is sharp where the classes hardly meet
    assert theory.asymptotic_error(*apart, 1.0) == pytest.approx(float(np.minimum(*apart).sum()), rel=1e-5)


def test_the_square_root_is_concave_and_the_errors_of_two_neighbours_are_two() -> None:
    """5.1 calls sqrt convex; 5.2 gives an error at x half of the sum it writes, which (2) integrates against p."""
    assert math.sqrt((1 + 4) / 2) > (math.sqrt(1) + math.sqrt(4)) / 2
    c = Circle
    at_x = c.p1 / (c.p1 + c.p2) * c.p2 / (c.p1 + c.p2)
    mean = float(np.sum((c.p1 + c.p2) / 2 * 2 * at_x) * c.volume)
    assert mean == pytest.approx(theory.asymptotic_error(c.p1, c.p2, c.volume))
