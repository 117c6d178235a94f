"""GLML: B from its definitions, models, the closed form and its certificate."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.backend import solve_problem
from cvxml.methods.glml import definitions, problem
from cvxml.methods.glml.certify import best_dual, certify_at
from cvxml.methods.glml.instance import Mixtures, fit_gaussians, fit_mixtures
from cvxml.methods.glml.solver import Case, closed_form, curvature, pair_weights
from tests.methods.glml.local_metrics import SOLVERS, classes, definite, names, random_unit

# B


@pytest.mark.parametrize("seed", range(2))
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


@pytest.mark.parametrize("seed", range(2))
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
@pytest.mark.parametrize("seed", range(2))
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
@pytest.mark.parametrize("seed", range(2))
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
    for stated in (problem.problem, problem.dual):
        literal = stated(np.diag([0.6, -0.8]))
        solve_problem(literal, solver)
        assert literal.value == pytest.approx(0.0, abs=1e-8)


def test_the_problem_is_not_convex_in_A() -> None:
    """Half way between two metrics of determinant 1 it is not 1, and the objective is above their mean, not below."""
    ends, B = (np.diag([2.0, 0.5]), np.diag([0.5, 2.0])), -np.eye(2)
    middle = sum(ends) / 2
    assert [np.linalg.det(A) for A in (*ends, middle)] == pytest.approx([1, 1, 1.5625])
    values = [np.trace(np.linalg.inv(A) @ B) for A in (*ends, middle)]
    assert values[2] > (values[0] + values[1]) / 2 + 0.5


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


def test_any_dual_variables_bound_no_more_than_the_best_ones() -> None:
    """The bound of any of them is below that of `best_dual`, which is the optimum."""
    rng = np.random.default_rng(0)
    for seed in range(20):
        d = int(rng.integers(1, 6))
        B = definite(seed, d) if seed % 3 else rng.standard_normal((d, d))
        B = (B + B.T) / np.linalg.norm(B + B.T)
        y, u = rng.normal(size=2) * 10 ** rng.uniform(-2, 1)
        A = random_unit(rng, d)
        proof, best = certify_at(B, A, y, u), certify_at(B, A, *best_dual(B))
        assert proof.objective == pytest.approx(definitions.objective(B, A), rel=1e-8, abs=1e-12)
        assert proof.lower_bound <= proof.objective + proof.rounding
        assert proof.lower_bound <= best.lower_bound + best.rounding


@pytest.mark.parametrize("seed", range(3))
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
    # the optimum of any B within the noise differs by no more than is allowed for, whatever metric is judged
    other = certify_at(B, np.eye(3), *best_dual(B), 1e-8)
    for turn in np.random.default_rng(0).standard_normal((20, 3, 3)):
        E = turn + turn.T
        moved = B + 1e-8 * E / np.linalg.norm(E)
        best = (3 * abs(np.linalg.det(moved)) ** (1 / 3)) ** 2
        assert abs(best - vague.lower_bound) <= vague.rounding * 1.01
        assert abs(best - other.lower_bound) <= other.rounding * 1.01
    blind = certify_at(
        B, A, *best_dual(B), 1e-5
    )  # its least eigenvalue is within the noise: not called definite
    assert blind.lower_bound == 0
    assert closed_form(B[None], np.array([1e-5])).cases == [Case.SINGULAR]
