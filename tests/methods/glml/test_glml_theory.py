"""GLML: formulas and claims of the papers that need no study, and their errata."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from cvxml.methods.glml import definitions
from cvxml.methods.glml.instance import fit_gaussians
from cvxml.methods.glml.solver import Case, closed_form, curvature
from tests.methods.glml.local_metrics import classes, names


def test_the_mean_of_a_density_over_a_sphere() -> None:
    """p~ = p + d^2/(2D) Laplacian, and not d^2/(4D)."""
    rng = np.random.default_rng(0)
    mu, Sigma, x = np.zeros(3), np.diag([1.0, 0.5, 2.0]), np.array([0.3, 0.2, -0.4])
    p, H = definitions.gaussian_density(x, mu, Sigma), definitions.gaussian_hessian(x, mu, Sigma)
    z = rng.standard_normal((40_000, 3))
    z = np.concatenate([z, -z]) / np.linalg.norm(np.concatenate([z, -z]), axis=1)[:, None]
    r = 0.1
    mean = np.mean([definitions.gaussian_density(x + r * u, mu, Sigma) for u in z[::8]])
    change = definitions.density_at_distance(np.array(p), np.trace(H), r**2, 3) - p
    assert mean - p == pytest.approx(change, rel=0.1)
    assert mean - p != pytest.approx(change / 2, rel=0.3)


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


def votes_bias(p: np.ndarray, laplacians: np.ndarray, k: int, squared: np.ndarray | None = None) -> float:
    """The change of the error of a k-neighbour vote, if the classes of neighbours come from p~: by enumeration.

    squared (k,): d^2/(2D) of each neighbour, and ties go to the tied class with the nearest point. None: 1 for each
    neighbour, and ties go to any of the tied with equal chance.
    """
    C = len(p)
    m = p / p.sum()
    dm = (laplacians * p.sum() - p * laplacians.sum()) / p.sum() ** 2
    change = 0.0
    for labels in itertools.product(range(C), repeat=k):
        counts = np.bincount(labels, minlength=C)
        tied = np.flatnonzero(counts == counts.max())
        right = m[tied].mean() if squared is None else m[next(c for c in labels if c in tied)]
        for j, length in enumerate(np.ones(k) if squared is None else squared):
            change -= length * right * dm[labels[j]] * np.prod([m[labels[i]] for i in range(k) if i != j])
    return change


def direction(p: np.ndarray, G: np.ndarray, k: int, squared: np.ndarray | None = None) -> np.ndarray:
    """The matrix whose trace with A^-1 is the bias: linear in the Laplacians, so one class at a time."""
    unit = np.eye(len(p)) * p
    B = sum(votes_bias(p, unit[c], k, squared) * G[c] for c in range(len(p)))
    return np.asarray(B / np.linalg.norm(B))


def test_odd_votes_share_the_metric_of_one_neighbour_for_two_classes_and_not_for_three() -> None:
    rng = np.random.default_rng(0)
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


@pytest.mark.parametrize(
    ("C", "k", "shared"),
    [(2, 2, True), (2, 3, True), (2, 4, True), (2, 5, True), (3, 2, True), (3, 3, False), (3, 4, False)],
)
def test_which_votes_share_the_metric_of_one_neighbour_with_ties_to_the_nearest(
    C: int, k: int, shared: bool
) -> None:
    """Two classes: all of them, also if the neighbours are at different distances. More classes: k = 2 alone."""
    rng = np.random.default_rng(k)
    along = []
    for _ in range(5):
        p, G = rng.uniform(0.2, 1, C), rng.standard_normal((C, 3, 3))
        G = G + G.transpose(0, 2, 1)
        one = definitions.B_pairwise(np.log(p), G)
        vote = direction(p, G, k, squared=np.cumsum(rng.uniform(size=k)))
        along.append(abs(np.sum(one * vote)) / np.linalg.norm(one))
    assert min(along) == pytest.approx(1.0, abs=1e-9) if shared else min(along) < 0.999


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
