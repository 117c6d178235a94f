"""GLML: the theory of the papers, the Fisher-kernel metric, errata."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.stats import multivariate_normal, norm

from cvxml.methods.glml import definitions, theory
from cvxml.methods.glml.closed import Case, closed_form
from cvxml.methods.glml.curvature import curvature
from cvxml.methods.glml.fisher import fisher_metrics
from cvxml.methods.glml.model import fit_gaussians
from tests.methods.glml.local_metrics import classes, names

# the theory


def test_the_mean_of_a_density_over_a_sphere() -> None:
    """p~ = p + d^2/(2D) Laplacian, and not d^2/(4D)."""
    rng = np.random.default_rng(0)
    mu, Sigma, x = np.zeros(3), np.diag([1.0, 0.5, 2.0]), np.array([0.3, 0.2, -0.4])
    p, H = definitions.gaussian_density(x, mu, Sigma), definitions.gaussian_hessian(x, mu, Sigma)
    z = rng.standard_normal((40_000, 3))
    z = np.concatenate([z, -z]) / np.linalg.norm(np.concatenate([z, -z]), axis=1)[:, None]
    r = 0.1
    mean = np.mean([definitions.gaussian_density(x + r * u, mu, Sigma) for u in z[::8]])
    change = theory.density_at_distance(np.array(p), np.trace(H), r**2, 3) - p
    assert mean - p == pytest.approx(change, rel=0.1)
    assert mean - p != pytest.approx(change / 2, rel=0.3)


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


def test_lda_has_the_largest_bhattacharyya_divergence_where_covariances_are_one() -> None:
    """Of two Gaussians seen along a line, by sums over a grid."""
    S, apart = np.array([[1.0, 0.8], [0.8, 2.0]]), np.array([1.0, -0.3])

    def divergence(w: np.ndarray) -> float:
        spread, t = float(np.sqrt(w @ S @ w)), np.linspace(-12, 12, 4001)
        p = [norm(sign * (w @ apart) / 2, spread).pdf(t) for sign in (-1, 1)]
        return -float(np.log(np.sum(np.sqrt(p[0] * p[1])) * (t[1] - t[0])))

    lda = np.linalg.solve(S, apart)
    largest = divergence(lda / np.linalg.norm(lda))
    for angle in np.linspace(0, np.pi, 50):
        assert divergence(np.array([np.cos(angle), np.sin(angle)])) <= largest * (1 + 1e-9)
    assert divergence(apart / np.linalg.norm(apart)) < 0.9 * largest


@pytest.mark.parametrize("seed", range(4))
def test_the_local_metric_keeps_the_ratio_of_the_densities(seed: int) -> None:
    """(17): with two classes and an indefinite B the relative Laplacians in z = L^T x agree, so p~/p do."""
    X, y = classes(seed, 2)
    model = fit_gaussians(X, y, names(2))
    Q = X[:20]
    local = closed_form(curvature(model, Q).B)
    assert Case.INDEFINITE in local.cases
    for q, case in enumerate(local.cases):
        if case is Case.INDEFINITE:
            G = model.curvatures(Q[q : q + 1])[0]
            laplacians = [np.trace(np.linalg.solve(local.A[q], g)) for g in G]
            assert laplacians[0] == pytest.approx(laplacians[1], rel=1e-6, abs=1e-6 * np.abs(G).max())
            assert np.trace(G[0] - G[1]) != pytest.approx(0.0, abs=1e-6)


def votes_bias(p: np.ndarray, laplacians: np.ndarray, k: int) -> float:
    """How much the error of a k-neighbour vote changes per unit of d^2/(2D), each neighbour from p~: by enumeration.

    Ties go to any of the tied with equal chance.
    """
    C = len(p)
    m = p / p.sum()
    dm = (laplacians * p.sum() - p * laplacians.sum()) / p.sum() ** 2
    change = 0.0
    for labels in itertools.product(range(C), repeat=k):
        counts = np.bincount(labels, minlength=C)
        tied = np.flatnonzero(counts == counts.max())
        right = m[tied].mean()
        for j in range(k):
            change -= right * dm[labels[j]] * np.prod([m[labels[i]] for i in range(k) if i != j])
    return change


def test_odd_votes_share_the_metric_of_one_neighbour_for_two_classes_and_not_for_three() -> None:
    rng = np.random.default_rng(0)

    def direction(p: np.ndarray, G: np.ndarray, k: int) -> np.ndarray:
        """The matrix whose trace with A^-1 is the bias: linear in the Laplacians, so one class at a time."""
        unit = np.eye(len(p)) * p
        B = sum(votes_bias(p, unit[c], k) * G[c] for c in range(len(p)))
        return np.asarray(B / np.linalg.norm(B))

    for C in (2, 3):
        apart = []
        for _ in range(10):
            p = rng.uniform(0.2, 1, C)
            G = rng.standard_normal((C, 3, 3))
            G = G + G.transpose(0, 2, 1)
            one = direction(p, G, 1)
            ours = definitions.B_pairwise(np.log(p), G)
            assert abs(np.sum(one * ours)) / np.linalg.norm(ours) == pytest.approx(1.0, abs=1e-9)
            A1, A3 = (closed_form(B[None]).A[0] for B in (one, direction(p, G, 3)))
            apart.append(np.linalg.norm(A3 - A1) / np.linalg.norm(A1))
        if C == 2:
            assert max(apart) < 1e-8
        else:
            assert np.median(apart) > 0.03


# the Fisher-kernel metric


def test_the_fisher_metric_of_one_gaussian_is_its_precision_everywhere() -> None:
    X, _ = classes(0)
    model = fit_gaussians(X, np.zeros(len(X), dtype=np.intp), ["all"])
    S = np.linalg.inv(np.cov(X.T, bias=True))
    for A in fisher_metrics(model, X[:3]):
        np.testing.assert_allclose(A, S / np.linalg.det(S) ** (1 / 3), rtol=1e-8)


def test_the_fisher_metric_is_that_of_differences_of_the_score() -> None:
    X, y = classes(1, 2)
    model = fit_gaussians(X, y, names(2))
    fits = [definitions.fitted(X, y, c) for c in range(2)]
    x, step = X[0] + 0.1, 1e-6

    def score(z: np.ndarray) -> np.ndarray:
        logs = [definitions.log_gaussian(z, *g) for g in fits]
        r = np.exp(logs - np.logaddexp(*logs))
        return np.concatenate([r[c] * np.linalg.solve(Sigma, z - mu) for c, (mu, Sigma) in enumerate(fits)])

    J = np.column_stack([(score(x + step * e) - score(x - step * e)) / (2 * step) for e in np.eye(3)])
    information = np.zeros((6, 6))
    for c, (_, Sigma) in enumerate(fits):
        information[3 * c : 3 * c + 3, 3 * c : 3 * c + 3] = np.linalg.inv(Sigma) / 2
    A = J.T @ np.linalg.solve(information, J)
    np.testing.assert_allclose(fisher_metrics(model, x[None])[0], A / np.linalg.det(A) ** (1 / 3), rtol=1e-5)


# errata of the papers


def test_the_square_root_is_concave_and_the_errors_of_two_neighbours_are_two() -> None:
    """5.1 calls sqrt convex; 5.2 gives an error at x half of the sum it writes, which (2) integrates against p."""
    assert math.sqrt((1 + 4) / 2) > (math.sqrt(1) + math.sqrt(4)) / 2
    c = Circle
    at_x = c.p1 / (c.p1 + c.p2) * c.p2 / (c.p1 + c.p2)
    mean = float(np.sum((c.p1 + c.p2) / 2 * 2 * at_x) * c.volume)
    assert mean == pytest.approx(theory.asymptotic_error(c.p1, c.p2, c.volume))


def test_a_tie_of_an_even_vote_is_no_error_as_printed() -> None:
    """(20): the error is that of a strict majority for the other class, which for k = 2 leaves ties out."""
    m = (0.6, 0.4)
    printed = 0.0
    for labels in itertools.product(range(2), repeat=2):
        probability = m[labels[0]] * m[labels[1]]
        ones = labels.count(0)
        printed += m[0] * probability * (ones < 1) + m[1] * probability * (ones > 1)
    assert printed == pytest.approx(0.6 * 0.16 + 0.4 * 0.36)
    assert printed < 0.4  # less than the Bayes error: no rule can be that good
