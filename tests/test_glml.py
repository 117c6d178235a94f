"""GLML: B from its definitions, the closed form and its certificate, models, the classifier, the theory."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import cvxml
from cvxml.backend import solve_problem
from cvxml.methods import get
from cvxml.methods.glml import definitions, problem, theory
from cvxml.methods.glml.certify import best_dual, certify_at
from cvxml.methods.glml.classify import nearest, squared_distances
from cvxml.methods.glml.closed import Case, closed_form
from cvxml.methods.glml.curvature import curvature, pair_weights
from cvxml.methods.glml.fisher import fisher_metrics
from cvxml.methods.glml.model import Generative, Mixtures, fit_gaussians, fit_mixtures
from cvxml.report import Verdict
from cvxml.result import Status
from tests.commands import Cli, refused
from tests.instances import real_data
from tests.test_recompute import recompute

SOLVERS = pytest.mark.parametrize("solver", ["clarabel", "scs"])


def classes(seed: int, C: int = 3, d: int = 3, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, C, d])
    y = np.arange(n * C) % C
    roots = np.eye(d) + 0.5 * rng.standard_normal((C, d, d)) / np.sqrt(d)
    X = np.einsum("nd,nde->ne", rng.standard_normal((n * C, d)), roots[y]) + rng.standard_normal((C, d))[y]
    return X, y


def names(C: int) -> list[str]:
    return [str(c) for c in range(C)]


def definite(seed: int, d: int, spread: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng([seed, d])
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    B = (turn * 10 ** rng.uniform(-spread, 0, d)) @ turn.T
    return (-1) ** seed * (B + B.T) / np.linalg.norm(B + B.T)


def random_unit(rng: np.random.Generator, d: int) -> np.ndarray:
    root = rng.standard_normal((d, d))
    A = root @ root.T
    return A / np.linalg.det(A) ** (1 / d)


# B


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("C", [2, 3, 5])
def test_B_as_printed_over_pairs_and_batched_are_one_direction(seed: int, C: int) -> None:
    X, y = classes(seed, C)
    model = fit_gaussians(X, y, names(C))
    x = np.random.default_rng(seed).standard_normal(3)
    fits = [definitions.fitted(X, y, c) for c in range(C)]
    p = np.array([definitions.gaussian_density(x, *g) for g in fits])
    H = np.array([definitions.gaussian_hessian(x, *g) for g in fits])
    printed = definitions.B_printed(p, H)
    pairs = definitions.local_B(x, fits, [0.0] * C)
    np.testing.assert_allclose(printed / np.linalg.norm(printed), pairs, atol=1e-9)
    if C == 2:
        np.testing.assert_allclose(
            definitions.B_two_classes(p, H), printed, atol=1e-12 * np.linalg.norm(printed)
        )
    found = curvature(model, x[None])
    np.testing.assert_allclose(found.B[0], pairs, atol=1e-9)
    equal_priors = 3 * math.log(1 / C)
    assert found.log_scale[0] == pytest.approx(math.log(np.linalg.norm(printed)) + equal_priors, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_hessians_are_second_differences(seed: int) -> None:
    X, y = classes(seed, 2)
    step = 1e-3
    for model in (fit_gaussians(X, y, names(2)), fit_mixtures(X, y, names(2))):
        x = np.random.default_rng(seed).standard_normal(3)

        def density(z: np.ndarray, model: Any = model, at: np.ndarray = x) -> np.ndarray:
            return np.exp(model.log_densities(z[None])[0] - model.log_densities(at[None])[0])

        G = model.curvatures(x[None])[0]
        for a, b in itertools.product(range(3), repeat=2):
            e, f = step * np.eye(3)[a], step * np.eye(3)[b]
            second = (density(x + e + f) - density(x + e - f) - density(x - e + f) + density(x - e - f)) / (
                4 * step**2
            )
            np.testing.assert_allclose(G[:, a, b], second, atol=1e-3 * np.abs(G).max())


def test_a_mixture_of_one_is_a_gaussian() -> None:
    X, y = classes(0)
    one, gaussian = fit_mixtures(X, y, names(3), n_components=1), fit_gaussians(X, y, names(3))
    # scikit-learn adds 1e-6 to its covariances
    np.testing.assert_allclose(one.log_densities(X), gaussian.log_densities(X), rtol=1e-3)
    np.testing.assert_allclose(one.curvatures(X[:5]), gaussian.curvatures(X[:5]), rtol=1e-3, atol=1e-3)


def test_log_densities_are_those_of_the_definition() -> None:
    X, y = classes(1)
    priors = np.array([0.2, 0.3, 0.5])
    model = fit_gaussians(X, y, names(3), alpha=0.1, priors=priors)
    for c in range(3):
        g = definitions.fitted(X, y, c, 0.1)
        slow = [definitions.log_gaussian(x, *g) + math.log(priors[c]) for x in X[:10]]
        np.testing.assert_allclose(model.log_densities(X[:10])[:, c], slow, rtol=1e-10)


def test_plain_densities_vanish_where_logarithms_do_not() -> None:
    """d = 500: printed, B is 0; over pairs it has norm 1, and a metric that the certificate proves."""
    rng = np.random.default_rng(0)
    d = 500
    y = np.arange(60) % 2
    X = rng.standard_normal((60, d)) * (1 + y[:, None])
    fits = [definitions.fitted(X, y, c, 1.0) for c in range(2)]
    x = X[0]
    p = np.array([definitions.gaussian_density(x, mu, np.diag(np.diag(Sigma))) for mu, Sigma in fits])
    H = np.array([p[c] * definitions.gaussian_G(x, *fits[c]) for c in range(2)])
    assert not definitions.B_printed(p, H).any()
    found = curvature(fit_gaussians(X, y, names(2), alpha=1.0), x[None])
    assert np.linalg.norm(found.B[0]) == pytest.approx(1.0)
    local = closed_form(found.B)
    assert np.linalg.slogdet(local.A[0])[1] == pytest.approx(0.0, abs=1e-6)
    proof = certify_at(found.B[0], local.A[0], *best_dual(found.B[0]))
    assert proof.proves(1e-6)


def test_the_digits_have_a_direction_everywhere() -> None:
    X, y = real_data("digits", 300, standardized=False)
    found = curvature(fit_gaussians(X, y, names(10), alpha=0.1), X[:40])
    np.testing.assert_allclose(np.linalg.norm(found.B, axis=(1, 2)), 1.0)
    assert found.log_scale.min() < -300


def test_pair_weights_are_antisymmetric_sums() -> None:
    log_p = np.random.default_rng(0).normal(size=(7, 4))
    a, size = pair_weights(log_p)
    p = np.exp(log_p)
    for row in range(7):
        T = [[p[row, i] * p[row, j] * (p[row, j] - p[row, i]) for j in range(4)] for i in range(4)]
        np.testing.assert_allclose(a[row] * np.exp(size[row]), np.sum(T, axis=1), rtol=1e-10)
    np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-12)


def test_two_gaussians_need_no_densities(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes(0, 2)
    model = cvxml.GLML().fit(X, y)
    expected = closed_form(curvature(model.model_, X[:9]).B).A

    def forbidden(*_: Any) -> Any:
        raise AssertionError("a density was asked for")

    monkeypatch.setattr(Mixtures, "log_densities", forbidden)
    monkeypatch.setattr(Mixtures, "components", forbidden)
    np.testing.assert_allclose(model.metric_at(X[:9]), expected, rtol=1e-9)


def test_two_classes_of_equal_density_take_the_limit() -> None:
    X, y = classes(0, 2)
    model = fit_gaussians(X, y, names(2))
    low, high = X[0], X[1]
    for _ in range(200):  # bisect for p_1 = p_2
        middle = (low + high) / 2
        sign = [np.sign(np.diff(model.log_densities(z[None])[0]))[0] for z in (low, middle)]
        low, high = (middle, high) if sign[0] == sign[1] else (low, middle)
    near, far = curvature(model, low[None]), curvature(model, high[None])
    cosine = float(np.sum(near.B * far.B))
    assert abs(cosine) == pytest.approx(1.0, abs=1e-9)
    same = np.repeat(X[:1], 4, axis=0) + np.arange(4)[:, None] ** 2 * np.eye(3)[0]
    twins = fit_gaussians(np.concatenate([same, same]), np.repeat([0, 1], 4), names(2), alpha=1.0)
    equal = curvature(twins, X[:2])
    assert equal.equal.all()
    assert closed_form(equal.B).cases == [Case.ZERO, Case.ZERO]


# the closed form


@pytest.mark.parametrize("d", [1, 2, 3, 6])
@pytest.mark.parametrize("seed", range(4))
def test_a_definite_B_has_its_absolute_value_as_metric(seed: int, d: int) -> None:
    B = definite(seed, d)
    local = closed_form(B[None])
    assert local.cases == [Case.DEFINITE]
    A = local.A[0]
    assert np.linalg.det(A) == pytest.approx(1.0)
    np.testing.assert_allclose(A / np.linalg.norm(A), B * np.sign(np.trace(B)) / np.linalg.norm(B), atol=1e-9)
    assert definitions.objective(B, A) == pytest.approx((d * abs(np.linalg.det(B)) ** (1 / d)) ** 2, rel=1e-9)
    proof = certify_at(B, A, *best_dual(B))
    assert proof.proves(1e-12)
    assert proof.radius < 1e-4 * np.linalg.norm(A)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        assert definitions.objective(B, random_unit(rng, d)) >= proof.lower_bound * (1 - 1e-12)


@pytest.mark.parametrize("signs", [(1, -1), (1, 1, -1), (-1, -1, -1, 1), (1, -1, 0), (2, 1, -3, 0, 0)])
def test_an_indefinite_B_has_value_0(signs: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    d = len(signs)
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    values = np.array(signs) * rng.uniform(0.5, 2, d)
    B = (turn * values) @ turn.T
    B = (B + B.T) / np.linalg.norm(B + B.T)
    local = closed_form(B[None])
    assert local.cases == [Case.INDEFINITE]
    assert np.linalg.det(local.A[0]) == pytest.approx(1.0)
    assert definitions.objective(B, local.A[0]) < 1e-20
    proof = certify_at(B, local.A[0], *best_dual(B))
    assert proof.proves(1e-9)
    assert proof.lower_bound == 0
    assert proof.radius == math.inf
    # the paper's own formula on the range of B
    U, plus, minus = turn, values > 0, values < 0
    weights = np.where(plus, plus.sum() * values, np.where(minus, -minus.sum() * values, 0.0))
    printed = (U * weights) @ U.T
    used = U[:, plus | minus]
    ratio = np.diag(used.T @ local.A[0] @ used) / np.diag(used.T @ printed @ used)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_a_singular_semidefinite_B_is_flagged_and_not_certified() -> None:
    B = np.diag([0.6, 0.8, 0.0])
    local = closed_form(B[None])
    assert local.cases == [Case.SINGULAR]
    proof = certify_at(B, local.A[0], *best_dual(B))
    assert not proof.proves(1e-3)
    # the infimum is 0: ever longer metrics come near it
    values = [definitions.objective(B, np.diag([t, t, t**-2.0])) for t in (1.0, 10.0, 100.0)]
    assert values[0] > values[1] > values[2] > 0
    assert values[2] < 1e-3


def test_a_zero_B_takes_any_metric() -> None:
    local = closed_form(np.zeros((1, 3, 3)))
    assert local.cases == [Case.ZERO]
    np.testing.assert_array_equal(local.A[0], np.eye(3))
    assert certify_at(np.zeros((3, 3)), local.A[0], 0.0, 0.0).proves(1e-9)
    assert certify_at(np.zeros((3, 3)), random_unit(np.random.default_rng(0), 3), 1.0, 1.0).proves(1e-9)


def test_equal_covariances_leave_rank_two() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    half = rng.standard_normal((40, 5))
    X = np.repeat(half, 2, axis=0) + 2.0 * y[:, None] * np.eye(5)[0]
    found = closed_form(curvature(fit_gaussians(X, y, names(2)), X[:3] + 0.1).B)
    assert all(case is Case.INDEFINITE for case in found.cases)
    zero = np.abs(found.values) <= 1e-10
    assert (zero.sum(axis=1) == 3).all()
    np.testing.assert_allclose(np.linalg.det(found.A), 1.0, rtol=1e-6)


# certificate


@SOLVERS
@pytest.mark.parametrize("seed", range(3))
def test_literal_and_closed_form_have_one_value(seed: int, solver: str) -> None:
    B = definite(seed, 3)
    literal = problem.problem(B)
    M = solve_problem(literal, solver)["M"]
    best = certify_at(B, closed_form(B[None]).A[0], *best_dual(B))
    assert literal.value == pytest.approx(best.objective, rel=1e-5)
    A = np.linalg.inv(M) * np.linalg.det(M) ** (1 / 3)
    assert certify_at(B, (A + A.T) / 2, *best_dual(B)).proves(1e-3)
    dual = problem.dual(B)
    values = solve_problem(dual, solver)
    assert dual.value == pytest.approx(best.objective, rel=1e-5)
    y = math.copysign(float(values["y"]), np.trace(B))
    assert certify_at(B, closed_form(B[None]).A[0], y, float(values["u"])).gap <= 1e-4 * best.objective


@SOLVERS
def test_the_literal_value_of_an_indefinite_B_is_0(solver: str) -> None:
    B = np.diag([0.6, -0.8])
    literal = problem.problem(B)
    solve_problem(literal, solver)
    assert literal.value == pytest.approx(0.0, abs=1e-8)
    dual = problem.dual(B)
    solve_problem(dual, solver)
    assert dual.value == pytest.approx(0.0, abs=1e-8)


def test_the_problem_in_M_has_the_value_of_that_in_A() -> None:
    """|M| >= 1 in place of |A| = 1: dividing M by |M|^(1/D) never raises the objective."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        B = definite(seed, 4) if seed % 2 else rng.standard_normal((4, 4))
        B = (B + B.T) / 2
        root = rng.standard_normal((4, 4))
        M = root @ root.T
        M *= max(1.0, rng.uniform(1, 3) * np.linalg.det(M) ** -0.25)
        M *= max(1.0, np.linalg.det(M) ** -0.25)
        unit = M / np.linalg.det(M) ** 0.25
        assert np.linalg.det(M) >= 1 - 1e-9
        assert np.trace(unit @ B) ** 2 <= np.trace(M @ B) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_any_dual_variables_bound_any_metric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    B = definite(seed, d) if seed % 3 else rng.standard_normal((d, d))
    B = (B + B.T) / np.linalg.norm(B + B.T)
    for _ in range(30):
        y, u = rng.normal(size=2) * 10 ** rng.uniform(-2, 1)
        A = random_unit(rng, d)
        proof = certify_at(B, A, y, u)
        assert proof.objective == pytest.approx(definitions.objective(B, A), rel=1e-8, abs=1e-12)
        assert proof.lower_bound <= proof.objective + proof.rounding
        best = certify_at(B, A, *best_dual(B))
        assert proof.lower_bound <= best.lower_bound + best.rounding


@pytest.mark.parametrize("seed", range(10))
def test_the_optimum_lies_within_the_radius(seed: int) -> None:
    rng = np.random.default_rng(seed)
    B = definite(seed, 4)
    optimum = closed_form(B[None]).A[0]
    for size in (1e-6, 1e-3, 0.1, 1.0):
        turn = rng.standard_normal((4, 4))
        root = np.linalg.cholesky(optimum) @ (np.eye(4) + size * turn)
        A = root @ root.T
        A /= np.linalg.det(A) ** 0.25
        radius = certify_at(B, A, *best_dual(B)).radius
        assert np.linalg.norm(A - optimum) <= radius * (1 + 1e-6)
        assert radius < 100 * np.linalg.norm(A - optimum) * np.linalg.cond(optimum) or size == 1.0


def test_what_is_no_metric_of_determinant_1_is_not_feasible() -> None:
    B = definite(0, 3)
    A = closed_form(B[None]).A[0]
    dual = best_dual(B)
    for wrong, says in (
        (2 * A, "determinant"),
        (0 * A, "singular"),
        (-A, "singular"),
        (A + np.triu(A, 1), "asymmetry"),
    ):
        proof = certify_at(B, wrong, *dual)
        assert not proof.feasibility.feasible
        assert says in str(proof.feasibility)
        assert not proof.proves(1.0)
    assert certify_at(B, (1 + 1e-9) * A, *dual).proves(1e-6)
    worse = random_unit(np.random.default_rng(0), 3)
    assert not certify_at(B, worse, *dual).proves(1e-3)


def test_what_rounding_may_have_done_to_B_is_allowed_for() -> None:
    B = np.diag([0.8, 0.6 - 1e-6, 1e-6])
    B /= np.linalg.norm(B)
    A = closed_form(B[None]).A[0]
    sharp, vague = (certify_at(B, A, *best_dual(B), noise) for noise in (0.0, 1e-8))
    assert 0 < sharp.rounding < vague.rounding
    # the optimum of any B within the noise differs by no more than is allowed for
    for turn in np.random.default_rng(0).standard_normal((20, 3, 3)):
        E = turn + turn.T
        moved = B + 1e-8 * E / np.linalg.norm(E)
        best = (3 * abs(np.linalg.det(moved)) ** (1 / 3)) ** 2
        assert abs(best - vague.lower_bound) <= vague.rounding * 1.01
    blind = certify_at(
        B, A, *best_dual(B), 1e-5
    )  # its least eigenvalue is within the noise: not called definite
    assert blind.lower_bound == 0
    assert closed_form(B[None], np.array([1e-5])).cases == [Case.SINGULAR]


# distances and the classifier


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_by_local_metrics_are_those_of_the_loop(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(0, 4, (40, 3)).astype(float) + 100.0, rng.integers(0, 4, (7, 3)).astype(float) + 100.0
    A = np.array([random_unit(rng, 3) for _ in range(7)])
    slow = np.array([[(x - q) @ M @ (x - q) for x in X] for q, M in zip(Q, A, strict=True)])
    np.testing.assert_allclose(squared_distances(X, Q, A), slow, atol=1e-10)
    D, J = nearest(X, Q, A, 5)
    np.testing.assert_allclose(D, np.sort(slow, axis=1)[:, :5], atol=1e-10)
    np.testing.assert_allclose(np.take_along_axis(slow, J, axis=1), D, atol=1e-10)


def test_equal_points_come_in_the_order_of_their_index() -> None:
    X = np.zeros((30, 2))
    _, J = nearest(X, np.ones((1, 2)), np.eye(2)[None], 4)
    assert J.tolist() == [[0, 1, 2, 3]]


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@parametrize_with_checks(
    [cvxml.GLML(alpha=0.1), cvxml.GLML(3, gamma=1.0, alpha=1.0, model="mixture", n_components=1)]
)
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_metrics_have_determinant_1_before_gamma() -> None:
    X, y = real_data("iris", 60)
    model = cvxml.GLML(alpha=0.01).fit(X, y)
    np.testing.assert_allclose(np.linalg.det(model.metric_at(X[:5])), 1.0, rtol=1e-6)
    regular = cvxml.GLML(alpha=0.01, gamma=3.0).fit(X, y)
    np.testing.assert_allclose(regular.metric_at(X[:5]), model.metric_at(X[:5]) + 3.0 * np.eye(4), atol=1e-9)


def test_a_large_gamma_is_the_euclidean_metric() -> None:
    from sklearn.neighbors import KNeighborsClassifier

    X, y = real_data("wine", 120)
    euclid = KNeighborsClassifier(1).fit(X[:80], y[:80]).predict(X[80:])
    np.testing.assert_array_equal(
        cvxml.GLML(gamma=1e12, alpha=0.1).fit(X[:80], y[:80]).predict(X[80:]), euclid
    )


def test_batches_processes_and_the_whole_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = real_data("iris", 90)
    whole = cvxml.GLML(3, alpha=0.1).fit(X[:60], y[:60])
    distances, indices = whole.kneighbors(X[60:])
    import sys

    monkeypatch.setattr(sys.modules["cvxml.methods.glml.classify"], "BYTES", 8 * 4 * (60 + 64) * 7)
    assert len(whole._each(X[60:], lambda Q: len(Q))) == 5
    some, same = whole.kneighbors(X[60:])
    np.testing.assert_allclose(some, distances, rtol=1e-12)
    np.testing.assert_array_equal(same, indices)
    shared = cvxml.GLML(3, alpha=0.1, n_jobs=2).fit(X[:60], y[:60]).kneighbors(X[60:])[1]
    np.testing.assert_array_equal(shared, indices)


class Student:
    """A model of the user's own: classes of Student densities (1 + |x - mu|^2)^-s."""

    def __init__(self, means: np.ndarray, s: float = 2.0):
        self.means, self.s = means, s

    def log_densities(self, Q: np.ndarray) -> np.ndarray:
        return np.stack([-self.s * np.log1p(((Q - m) ** 2).sum(axis=1)) for m in self.means], axis=1)

    def curvatures(self, Q: np.ndarray) -> np.ndarray:
        found = []
        for m in self.means:
            z = Q - m
            u = 1 + (z**2).sum(axis=1)
            outer = z[:, :, None] * z[:, None, :]
            found.append(
                4 * self.s * (self.s + 1) * outer / u[:, None, None] ** 2
                - 2 * self.s * np.eye(Q.shape[1]) / u[:, None, None]
            )
        return np.stack(found, axis=1)


def test_a_model_of_ones_own() -> None:
    X, y = real_data("iris", 60)
    means = np.array([X[y == c].mean(axis=0) for c in np.unique(y)])
    own = Student(means)
    assert isinstance(own, Generative)
    model = cvxml.GLML(model=own, gamma=0.1).fit(X[:40], y[:40])
    assert model.score(X, y) > 0.8
    B = curvature(own, X[:1]).B[0]
    slow = definitions.B_pairwise(own.log_densities(X[:1])[0], own.curvatures(X[:1])[0])
    np.testing.assert_allclose(B, slow / np.linalg.norm(slow), atol=1e-12)


def test_errors_say_what_is_wrong() -> None:
    X, y = real_data("iris", 30)
    flat = np.column_stack([X, X[:, :1]])
    with pytest.raises(ValueError, match=r"covariance of class .* is singular: rank 4 of 5; give alpha"):
        cvxml.GLML().fit(flat, y)
    assert cvxml.GLML(alpha=0.1).fit(flat, y).score(flat, y) > 0.8
    with pytest.raises(ValueError, match="has one point"):
        cvxml.GLML(alpha=0.1).fit(X, np.r_[7, np.arange(29) % 2])
    with pytest.raises(ValueError, match="expecting 4 features"):
        cvxml.GLML(alpha=0.1).fit(X, y).predict(X[:, :3])
    for wrong, says in (
        ({"gamma": -1.0}, "gamma must be"),
        ({"alpha": -0.1}, "alpha must be"),
        ({"alpha": np.nan}, "alpha"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 31}, "n_neighbors"),
        ({"priors": [1, 2]}, "priors must be 3 positive numbers"),
        ({"priors": [1, 2, -1]}, "priors must be 3 positive numbers"),
        ({"priors": "uniform"}, "priors must be None"),
        ({"model": "kde"}, "model must be"),
        ({"model": object()}, "model must be"),
        ({"model": "mixture", "n_components": 0}, "n_components"),
        ({"model": "mixture", "n_components": 20}, "fewer than n_components"),
    ):
        with pytest.raises(ValueError, match=says):
            cvxml.GLML(**{"alpha": 0.1, **wrong}).fit(X, y)


@pytest.mark.parametrize(
    ("s", "model"),
    [
        *((s, "gaussian") for s in (2.0**-200, 1e-3, 1e5, 2.0**200)),
        # scikit-learn adds 1e-6 to a covariance, in units that are a power of two
        *((s, "mixture") for s in (2.0**-200, 2.0**10, 2.0**200)),
    ],
)
def test_units_do_not_matter(s: float, model: str) -> None:
    X, y = classes(0)
    one = cvxml.solve("glml", X, y, query=X[:4] + 0.1, alpha=0.1, model=model)
    other = cvxml.solve("glml", s * X, y, query=s * (X[:4] + 0.1), alpha=0.1 * s * s, model=model)
    np.testing.assert_allclose(other.metric, one.metric, rtol=1e-6)
    assert other.objective == pytest.approx(one.objective, rel=1e-6, abs=1e-12)
    log_p = [
        cvxml.evaluate(
            "glml", t * X, y, one.metric[0], query=t * (X[0] + 0.1), alpha=0.1 * t * t, model=model
        ).log_p
        for t in (1.0, s)
    ]
    np.testing.assert_allclose(log_p[1], log_p[0] - 3 * math.log(s), rtol=1e-9)


def test_what_overflows_is_said() -> None:
    X, y = classes(0)
    with pytest.raises(ValueError, match="query 1 is too far from the data"):
        cvxml.solve("glml", X, y, query=[X[0], 1e200 * np.ones(3)])
    with pytest.raises(ValueError, match=r"alpha=1e\+200"):
        cvxml.solve("glml", X, y, alpha=1e200)


def test_priors_enter_B() -> None:
    X, y = classes(0)
    equal = cvxml.GLML().fit(X, y).metric_at(X[:3])
    given = cvxml.GLML(priors=[0.98, 0.01, 0.01]).fit(X, y).metric_at(X[:3])
    assert not np.allclose(equal, given, rtol=1e-3)
    np.testing.assert_allclose(cvxml.GLML(priors="empirical").fit(X, y).metric_at(X[:3]), equal, rtol=1e-9)


# solve, check, certify, evaluate, files, commands


def test_many_queries_are_many_problems() -> None:
    X, y = classes(0)
    Q = X[:6] + 0.1
    whole = cvxml.solve("glml", X, y, query=Q)
    assert whole.metric.shape == (6, 3, 3)
    singles = [cvxml.solve("glml", X, y, query=q) for q in Q]
    np.testing.assert_allclose(whole.metric, [s.metric for s in singles], rtol=1e-9)
    assert whole.objective == pytest.approx(sum(s.objective for s in singles), abs=1e-12)
    assert whole.certificate.proves(1e-6)
    assert len(whole.certificate.parts) == 6
    assert get("glml").objective(X, y, whole.metric, query=Q) == pytest.approx(whole.objective, abs=1e-12)
    evaluation = cvxml.evaluate("glml", X, y, whole.metric, query=Q)
    assert evaluation.B.shape == (6, 3, 3)
    assert len(evaluation.case) == 6


def test_a_certificate_of_many_is_as_good_as_the_worst() -> None:
    X, y = classes(0)
    Q = X[:4]
    solution = cvxml.solve("glml", X, y, query=Q)
    wrong = solution.metric.copy()
    wrong[2] = np.eye(3)
    proof = cvxml.certify("glml", X, y, wrong, solution.dual, query=Q)
    assert not proof.proves(1e-3)
    assert [part.proves(1e-6) for part in proof.parts] == [True, True, False, True]
    report = cvxml.check("glml", X, y, wrong, query=Q)
    assert report.verdict is Verdict.REFUTED
    assert report.reasons[0] == "4 queries: 3 certified, 1 refuted, 0 inconclusive"
    assert report.reasons[1].startswith("query 2: refuted")
    assert report.witness is not None
    assert report.witness.metric.shape == (3, 3)
    assert cvxml.check("glml", X, y, solution.metric, query=Q).verdict is Verdict.CERTIFIED
    L = np.linalg.cholesky(solution.metric).transpose(0, 2, 1)
    assert cvxml.check("glml", X, y, components=L, query=Q).verdict is Verdict.CERTIFIED
    with pytest.raises(ValueError, match="one metric for each of the 4 rows of query"):
        cvxml.check("glml", X, y, wrong[0], query=Q)


def test_check_names_a_wrong_determinant_and_what_is_right_but_for_it() -> None:
    X, y = classes(0, 2)
    A = cvxml.solve("glml", X, y).metric
    report = cvxml.check("glml", X, y, 3 * A)
    assert report.verdict is Verdict.REFUTED
    assert "determinant" in report.reasons[0]
    assert any("but for a factor" in line for line in report.diagnosis)
    inverse = cvxml.check("glml", X, y, np.linalg.inv(A))
    assert inverse.verdict is Verdict.REFUTED


def test_an_indefinite_candidate_is_judged_by_its_cosine() -> None:
    """|tr A^-1 B| / ||A^-1|| is what tol bounds, whatever our own metric leaves of it."""
    X, y = classes(0)
    query = X[next(i for i in range(30) if "indefinite" in cvxml.solve("glml", X, y, query=X[i]).notes[0])]
    best = cvxml.solve("glml", X, y, query=query)
    B = cvxml.evaluate("glml", X, y, best.metric, query=query).B
    for size, right in ((1e-9, Verdict.CERTIFIED), (1e-4, Verdict.REFUTED)):
        A = best.metric + size * np.linalg.norm(best.metric) * np.eye(3)
        A /= np.linalg.det(A) ** (1 / 3)
        M = np.linalg.inv(A)
        report = cvxml.check("glml", X, y, A, query=query)
        assert report.rel_gap == pytest.approx(abs(np.trace(M @ B)) / np.linalg.norm(M), rel=1e-3)
        assert report.verdict is right


def test_where_the_infimum_is_not_attained_the_status_says_so() -> None:
    """Two Gaussians of one mean that differ along one axis: at the mean B has rank one."""
    rng = np.random.default_rng(0)
    half = rng.standard_normal((200, 3))
    half -= half.mean(axis=0)
    half = half @ np.linalg.inv(np.linalg.cholesky(np.cov(half.T, bias=True))).T
    X = np.concatenate([half, half * [1, 1, 2]])
    y = np.repeat([0, 1], 200)
    with pytest.warns(ConvergenceWarning, match="not attained"):
        solution = cvxml.solve("glml", X, y, query=np.zeros(3))
    assert solution.status is Status.NOT_ATTAINED
    assert "singular" in solution.notes[0]
    report = cvxml.check("glml", X, y, solution.metric, query=np.zeros(3))
    assert report.verdict is not Verdict.CERTIFIED


@SOLVERS
@pytest.mark.parametrize("seed", range(3))
def test_the_literal_solvers_are_certified_at_several_queries(seed: int, solver: str) -> None:
    X, y = classes(seed, 2)
    solution = cvxml.solve("glml", X, y, query=X[:3], solver=solver, tol=1e-3)
    assert solution.certificate.proves(1e-3)
    assert cvxml.check("glml", X, y, solution.metric, query=X[:3], tol="loose").verdict is Verdict.CERTIFIED


def test_the_literal_problem_is_stated_at_one_query() -> None:
    X, y = classes(0)
    assert cvxml.problem("glml", X, y, query=X[0]).is_dcp()
    with pytest.raises(ValueError, match="at one query, got 2"):
        cvxml.problem("glml", X, y, query=X[:2])


def test_saved_local_metrics_are_judged_again(cli: Cli, tmp_path: Any) -> None:
    X, y = classes(0)
    np.savez(tmp_path / "three.npz", X=X, y=y)
    np.save(tmp_path / "Q.npy", X[:3])
    for ending in ("json", "npz"):
        name = f"s.{ending}"
        answer = cli("solve", "glml", "three.npz", "--query", "Q.npy", "--alpha", "0.1", "--out", name)
        assert answer.code == 0, answer.err
        assert cli("certify", name).code == 0
        assert recompute().main(str(tmp_path / name))
    content = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert np.shape(content["metric"]) == (3, 3, 3)
    np.save(tmp_path / "A.npy", content["metric"])
    given = ("three.npz", "--query", "Q.npy", "--metric", "A.npy")
    assert cli("check", "glml", *given, "--alpha", "0.1").code == 0
    assert cli("check", "glml", *given, "--alpha", "5").code == 1
    evaluation = json.loads(cli("evaluate", "glml", *given, "--alpha", "0.1", "--json").out)
    assert np.shape(evaluation["G"]) == (3, 3, 3, 3)
    content["metric"][1] = np.eye(3).tolist()
    (tmp_path / "s.json").write_text(json.dumps(content), encoding="utf-8")
    assert cli("certify", "s.json").code == 1
    assert not recompute().main(str(tmp_path / "s.json"))
    one = cli("solve", "glml", "three.npz", "--query", "0.1,0.2,-0.3", "--priors", "1,2,3", "--json")
    assert np.shape(json.loads(one.out)["metric"]) == (3, 3)
    for wrong in (["--query", "0.1,x,3"], ["--query", "1,2"], ["--priors", "1,2"], ["--priors", "some"]):
        assert refused(cli("solve", "glml", "three.npz", *wrong))


def test_a_model_of_ones_own_cannot_be_saved(tmp_path: Any) -> None:
    X, y = classes(0)
    solution = cvxml.solve("glml", X, y, model=Student(np.eye(3)))
    assert solution.status in (Status.CONVERGED, Status.NOT_ATTAINED)
    with pytest.raises(ValueError, match="model"):
        solution.save(tmp_path / "s.json")


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
    for _ in range(600):
        points, asked = sample(N), sample(4000)
        _, j = cKDTree(points, boxsize=[1, 1]).query(asked)
        m, near = (a / (a + b) for a, b in (densities(asked), densities(points)))
        errors.append(np.mean(m * (1 - near[j]) + (1 - m) * near[j]))
    measured = np.mean(errors) - theory.asymptotic_error(p1, p2, 1 / 2000)
    standard = np.std(errors) / np.sqrt(len(errors))
    inside, printed = (theory.bias(p1, p2, B, 1 / 2000, N, 2, inside=where) for where in (True, False))
    assert abs(measured - inside) <= 4 * standard + 0.05 * inside
    assert abs(measured - printed) > 8 * standard


def test_the_bias_in_two_dimensions_by_monte_carlo() -> None:
    """On a torus, with the metric I and with another: tr[A^-1 B] is what changes."""
    rng = np.random.default_rng(0)
    w, N, queries, rounds = 2 * np.pi, 150, 4000, 600

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


@pytest.mark.parametrize("seed", range(4))
def test_the_local_metric_keeps_the_ratio_of_the_densities(seed: int) -> None:
    """(17): with two classes and an indefinite B the relative Laplacians in z = L^T x agree, so p~/p do."""
    X, y = classes(seed, 2)
    model = fit_gaussians(X, y, names(2))
    Q = X[:20]
    local = closed_form(curvature(model, Q).B)
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
