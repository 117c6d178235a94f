"""ITML: optima built from KKT, the bound, the radius, the definitions, invariances."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.methods.itml import instance
from tests.instances import random_data
from tests.methods.itml.problems import dual_value, outer, random_metric, solved

# ---- optima that are known


def built_from_kkt(seed: int, d: int = 4, n: int = 9) -> tuple[FloatArray, FloatArray, dict[str, Any]]:
    """X, an optimum A*, and parameters: bounds give every pair its price, and the prior is what is then missing.

    A*^-1 = A_0^-1 + sum_S lambda X - sum_D lambda X with lambda = gamma |1/xi_0 - 1/d_A*| where a bound is violated.
    """
    rng = np.random.default_rng(seed)
    X, A = rng.standard_normal((n, d)), random_metric(rng, d)
    index = [[i, j] for i in range(n) for j in range(i)]
    rng.shuffle(index)
    pairs = {"similar": index[:12], "dissimilar": index[12:24]}
    D = {k: [float((X[i] - X[j]) @ A @ (X[i] - X[j])) for i, j in v] for k, v in pairs.items()}
    u, l = float(np.median(D["similar"])), float(np.median(D["dissimilar"]))
    push = np.zeros((d, d))
    for (i, j), D_ij in zip(pairs["similar"], D["similar"], strict=True):
        push += max(1 / u - 1 / D_ij, 0) * outer(X[i] - X[j])
    for (i, j), D_ij in zip(pairs["dissimilar"], D["dissimilar"], strict=True):
        push -= max(1 / D_ij - 1 / l, 0) * outer(X[i] - X[j])
    inverse = np.linalg.inv(A)
    gamma = 0.5 / max(float(np.linalg.eigvals(A @ push).real.max()), 0.1)
    prior = np.linalg.inv(inverse - gamma * push)
    return X, A, {"gamma": gamma, "bounds": (u, l), "pairs": pairs, "prior": (prior + prior.T) / 2}


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_built_from_kkt_is_found(seed: int) -> None:
    X, A, params = built_from_kkt(seed)
    solution = solved(X, **params)
    distance = np.linalg.norm(solution.metric - A)
    assert distance <= 1e-4 * np.linalg.norm(A)
    assert distance <= solution.certificate.radius + 1e-12 * np.linalg.norm(A)
    assert cvxml.check("itml", X, None, A, tol="strict", **params).verdict is Verdict.CERTIFIED
    assert np.abs(cvxml.evaluate("itml", X, None, A, **params).gradient).max() <= 1e-10 * np.abs(A).max()


def test_where_no_bound_is_violated_the_prior_is_optimal() -> None:
    X, y = random_data(0, n=12, d=3)
    params: dict[str, Any] = {"bounds": (1e3, 1e-3)}
    solution = solved(X, y, **params)
    assert solution.objective == solution.lower_bound == 0
    np.testing.assert_array_equal(solution.metric, np.eye(3))
    assert len(solution.notes) == 1
    assert solution.certificate.scale == 3e-6
    for error, tol, verdict in (
        (0.0, "strict", Verdict.CERTIFIED),
        (1e-5, "normal", Verdict.CLOSE),
        (1e-5, "loose", Verdict.CERTIFIED),
        (0.01, "loose", Verdict.REFUTED),
    ):
        assert cvxml.check("itml", X, y, (1 + error) * np.eye(3), tol=tol, **params).verdict is verdict


@pytest.mark.parametrize("kinds", [("similar", "dissimilar"), ("similar",), ("dissimilar",)])
def test_the_literal_problem_agrees_for_any_kind_of_pairs(kinds: tuple[str, ...]) -> None:
    X, _ = random_data(3, n=10, d=3)
    pairs = {"similar": [[0, 1], [2, 3], [4, 5]], "dissimilar": [[0, 2], [6, 7]]}
    params: dict[str, Any] = {
        "pairs": {k: v if k in kinds else [] for k, v in pairs.items()},
        "prior": random_metric(np.random.default_rng(0), 3),
        "bounds": (0.5, 20.0),
        "gamma": 0.7,
    }
    ours = solved(X, **params)
    assert ours.objective > 0
    literal = cvxml.solve("itml", X, None, solver="clarabel", tol=1e-3, **params)
    assert ours.lower_bound - 1e-12 <= literal.objective <= ours.objective * (1 + 1e-4)
    assert literal.lower_bound <= ours.objective + 1e-12
    dual = cvxml.problem("itml", X, None, dual=True, **params)
    assert dual.solve(solver="CLARABEL") == pytest.approx(ours.objective, rel=1e-6)


# ---- the proof


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 0.5))
def test_prices_near_the_best_prove_nearly_as_much(seed: int, log_noise: float) -> None:
    """And never more: the bound of any prices lies below the optimum."""
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, n=10, d=3)
    best = cvxml.solve("itml", X, y, tol=1e-9)
    noise = 10.0**log_noise
    dual = {name: lam * (1 + noise * rng.standard_normal(len(lam))) for name, lam in best.dual.items()}
    proof = cvxml.certify("itml", X, y, best.metric, dual)
    assert proof.lower_bound <= best.objective + best.certificate.rounding
    if noise <= 0.03:
        assert proof.lower_bound >= 0.9 * best.lower_bound


@pytest.mark.parametrize("params", [{}, {"gamma": 0.1, "prior": "covariance"}, {"bounds": (3.0, 0.5)}])
def test_the_bound_is_the_dual_at_the_best_multiple(params: dict[str, Any]) -> None:
    X, y = random_data(1, n=12, d=3)
    p, rng = instance(X, y, **params), np.random.default_rng(0)
    best = cvxml.solve("itml", X, y, **params)
    for _ in range(5):
        dual = {k: lam * rng.uniform(0.5, 1.5, len(lam)) for k, lam in best.dual.items()}
        proof = cvxml.certify("itml", X, y, random_metric(rng, 3, 0.7), dual, **params)
        lam_S, lam_D = proof.dual["lam_S"], proof.dual["lam_D"]
        assert proof.lower_bound == pytest.approx(dual_value(p, lam_S, lam_D), rel=1e-10)
        for multiple in (0.999, 1.001):
            assert dual_value(p, multiple * lam_S, multiple * lam_D) <= proof.lower_bound * (1 + 1e-9)


@pytest.mark.parametrize("log_ratio", [-5.0, -0.1, -1e-3])
def test_the_radius_is_attained_where_one_eigenvalue_takes_the_whole_gap(log_ratio: float) -> None:
    """The optimum is the prior, diag(1, e^-r); the metric is I."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    prior = np.diag([1.0, np.exp(-log_ratio)])
    params: dict[str, Any] = {"pairs": {"similar": [[0, 1]], "dissimilar": []}, "bounds": (5.0, 1.0)}
    dual = {"lam_S": np.zeros(1), "lam_D": np.zeros(0)}
    proof = cvxml.certify("itml", X, None, np.eye(2), dual, prior=prior, **params)
    assert proof.lower_bound == 0
    assert proof.gap == pytest.approx(np.exp(log_ratio) - 1 - log_ratio, rel=1e-6)
    assert proof.radius == pytest.approx(np.linalg.norm(np.eye(2) - prior), rel=1e-5)


def test_a_singular_metric_has_an_infinite_objective() -> None:
    X, y = random_data(5, n=10, d=3)
    A = outer(np.array([1.0, 2.0, -1.0]))
    dual = solved(X, y).dual
    proof = cvxml.certify("itml", X, y, A, dual)
    assert proof.objective == proof.gap == proof.radius == np.inf
    assert proof.lower_bound > 0
    assert not proof.proves(1e-3)
    zero = cvxml.evaluate("itml", X, y, 0 * A)
    assert zero.objective == np.inf
    assert np.isnan(zero.gradient).all()


# ---- the definitions


def test_xi_is_the_best_there_is() -> None:
    """xi keeps to its side of the distance, and no other xi that does is nearer to the bound."""
    X, y = random_data(3, n=8, d=2)
    at = cvxml.evaluate("itml", X, y, np.array([[0.5, 0.1], [0.1, 2.0]]))

    def divergence(r: FloatArray) -> FloatArray:
        values: FloatArray = r - np.log(r) - 1
        return values

    total = 0.0
    for xi, bound, D, sign in ((at.xi_S, at.u, at.d_S, 1), (at.xi_D, at.l, at.d_D, -1)):
        for factor in (0.99, 1.0, 1.01):
            allowed = sign * (factor * xi - D) >= 0
            assert allowed.all() or factor != 1
            assert (divergence(factor * xi / bound) >= divergence(xi / bound) - 1e-15)[allowed].all()
        total += float(np.sum(divergence(xi / bound)))
    assert at.D_ld_xi == pytest.approx(total)
    assert at.objective == pytest.approx(at.D_ld + total)
    assert at.violated_S == np.count_nonzero(at.lam_S > 0) > 0


def test_default_bounds_are_percentiles_of_squared_distances_under_the_prior() -> None:
    X, y = random_data(0, n=13, d=3)
    for prior in ("identity", "covariance", random_metric(np.random.default_rng(0), 3)):
        p = instance(X, y, prior=prior)
        D = [(X[j] - X[i]) @ p.prior @ (X[j] - X[i]) for i in range(13) for j in range(i + 1, 13)]
        np.testing.assert_allclose(p.bounds, np.percentile(D, (5, 95)), rtol=1e-12)
    np.testing.assert_allclose(
        instance(X, y, prior="covariance").prior, np.linalg.inv(np.cov(X.T)), rtol=1e-10
    )


# ---- invariances


def test_the_covariance_prior_knows_no_coordinates() -> None:
    X, y = random_data(4, n=16, d=3)
    T = np.random.default_rng(1).standard_normal((3, 3))
    plain = solved(X, y, prior="covariance")
    turned = solved(X @ T + 100.0, y, prior="covariance")
    assert turned.objective == pytest.approx(plain.objective, rel=1e-8)
    np.testing.assert_allclose(T @ turned.metric @ T.T, plain.metric, rtol=1e-3, atol=1e-4)
    solved(X * [1e-6, 1.0, 1e6] + [1e-3, 5.0, 1e8], y, prior="covariance", tol=1e-6)


def test_an_offset_of_ten_million_changes_little() -> None:
    X, y = random_data(4, n=16, d=3)
    far = solved(X + 1e7, y, tol=1e-6)
    assert far.objective == pytest.approx(solved(X, y).objective, rel=1e-6)
