"""ITML: closed forms, optima built from KKT, weak duality, the radius, invariances, degenerate data, Algorithm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

import cvxml
from cvxml.methods.itml import fast
from cvxml.methods.itml.estimator import ITML
from cvxml.methods.itml.instance import instance
from cvxml.methods.itml.method import METHOD
from cvxml.methods.itml.projections import projections
from cvxml.metric import FloatArray
from cvxml.oracle.saved import recertify
from cvxml.report import Verdict
from cvxml.result import SavedSolution, Solution, Status
from tests.instances import random_data, real_data


def solved(X: Any, y: Any = None, tol: float = 1e-9, **params: Any) -> Solution:
    """A solution that is certified, its proof asked for again."""
    solution = cvxml.solve("itml", X, y, tol=tol, **params)
    assert solution.status is Status.CONVERGED
    assert solution.gap >= 0
    assert cvxml.certify("itml", X, y, solution.metric, solution.dual, **params).proves(tol)
    return solution


def random_metric(rng: np.random.Generator, d: int, size: float = 1.0) -> FloatArray:
    root = rng.standard_normal((d, d)) * size
    M: FloatArray = root @ root.T + 0.1 * size**2 * np.eye(d)
    return M


def outer(x: FloatArray) -> FloatArray:
    return np.outer(x, x)


ONE = {"similar": [[0, 1]], "dissimilar": []}
OTHER = {"similar": [], "dissimilar": [[0, 1]]}


# ---- optima that are known


@pytest.mark.parametrize("gamma", [1e-3, 0.3, 1.0, 40.0])
@pytest.mark.parametrize("prior", [0.5, 1.0, 3.0])
def test_one_pair_on_a_line_by_hand(gamma: float, prior: float) -> None:
    """D_ld(a, a_0) + gamma phi(a x^2 / b) has the derivative 1/a_0 - 1/a + gamma (x^2 / b - 1/a)."""
    X = np.array([[0.0], [2.0]])
    for pairs, bounds, kind in ((ONE, (1.0, 9.0), "lam_S"), (OTHER, (0.1, 50.0), "lam_D")):
        b = bounds[0] if kind == "lam_S" else bounds[1]
        a = (1 + gamma) / (1 / prior + gamma * 4 / b)
        assert (4 * a > b) == (kind == "lam_S")  # the bound is violated, as is assumed
        solution = solved(X, gamma=gamma, prior=[[prior]], bounds=bounds, pairs=pairs)
        assert abs(solution.metric[0, 0] - a) <= solution.certificate.radius <= 1e-3 * a
        by_hand = a / prior - np.log(a / prior) - 1 + gamma * (4 * a / b - np.log(4 * a / b) - 1)
        assert solution.objective == pytest.approx(by_hand, rel=1e-9)
        assert solution.dual[kind] == pytest.approx([gamma * abs(1 / b - 1 / (4 * a))], rel=1e-4)


def test_pairs_along_different_axes_do_not_meet() -> None:
    """For one similar pair along the first axis and one dissimilar along the second, each entry is that of a line."""
    X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    gamma, u, l = 0.7, 1.0, 6.0  # noqa: E741
    pairs = {"similar": [[0, 1]], "dissimilar": [[0, 2]]}
    solution = solved(X, gamma=gamma, bounds=(u, l), pairs=pairs)
    expected = [(1 + gamma) / (1 + gamma * 4 / u), (1 + gamma) / (1 + gamma / l)]
    np.testing.assert_allclose(solution.metric, np.diag(expected), atol=1e-5)


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
    u, l = float(np.median(D["similar"])), float(np.median(D["dissimilar"]))  # noqa: E741
    push = np.zeros((d, d))
    for (i, j), D_ij in zip(pairs["similar"], D["similar"], strict=True):
        push += max(1 / u - 1 / D_ij, 0) * outer(X[i] - X[j])
    for (i, j), D_ij in zip(pairs["dissimilar"], D["dissimilar"], strict=True):
        push -= max(1 / D_ij - 1 / l, 0) * outer(X[i] - X[j])
    inverse = np.linalg.inv(A)
    gamma = 0.5 / max(float(np.linalg.eigvals(A @ push).real.max()), 0.1)
    prior = np.linalg.inv(inverse - gamma * push)
    return X, A, {"gamma": gamma, "bounds": (u, l), "pairs": pairs, "prior": (prior + prior.T) / 2}


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_built_from_kkt_is_found(seed: int) -> None:
    X, A, params = built_from_kkt(seed)
    solution = solved(X, **params)
    distance = np.linalg.norm(solution.metric - A)
    assert distance <= 1e-4 * np.linalg.norm(A)
    assert distance <= solution.certificate.radius + 1e-12 * np.linalg.norm(A)
    assert cvxml.check("itml", X, None, A, tol="strict", **params).verdict is Verdict.CERTIFIED
    assert np.abs(METHOD.evaluate(X, None, A, **params).gradient).max() <= 1e-10 * np.abs(A).max()


def test_where_no_bound_is_violated_the_prior_is_optimal() -> None:
    X, y = random_data(0, n=12, d=3)
    params: dict[str, Any] = {"bounds": (1e3, 1e-3)}
    solution = solved(X, y, **params)
    assert solution.objective == solution.lower_bound == 0
    np.testing.assert_array_equal(solution.metric, np.eye(3))
    assert "no bound is violated" in solution.notes[0]
    assert solution.certificate.scale == 3e-6
    for factor, tol, verdict in (
        (1.0, "strict", Verdict.CERTIFIED),
        (1 + 1e-7, "normal", Verdict.CERTIFIED),
        (1 + 1e-5, "normal", Verdict.REFUTED),
        (1 + 1e-5, "loose", Verdict.CERTIFIED),
        (1.01, "loose", Verdict.REFUTED),
    ):
        assert cvxml.check("itml", X, y, factor * np.eye(3), tol=tol, **params).verdict is verdict


def test_no_pairs_leave_the_prior() -> None:
    X, _ = random_data(0, n=5, d=2)
    prior = np.array([[2.0, 0.5], [0.5, 1.0]])
    none: dict[str, Any] = {"similar": [], "dissimilar": []}
    solution = solved(X, pairs=none, prior=prior)
    np.testing.assert_allclose(solution.metric, prior, rtol=1e-14)
    assert cvxml.problem("itml", X, None, pairs=none, prior=prior).solve(solver="CLARABEL") == pytest.approx(
        0, abs=1e-6
    )
    literal = cvxml.solve("itml", X, None, pairs=none, prior=prior, solver="clarabel", tol=1e-3)
    assert literal.objective <= 1e-7


@pytest.mark.parametrize("solver", ["clarabel", "scs"])
@pytest.mark.parametrize("kinds", [("similar", "dissimilar"), ("similar",), ("dissimilar",)])
def test_the_literal_problem_agrees_for_any_kind_of_pairs(solver: str, kinds: tuple[str, ...]) -> None:
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
    literal = cvxml.solve("itml", X, None, solver=solver, tol=1e-3, **params)
    assert ours.lower_bound - 1e-12 <= literal.objective <= ours.objective * (1 + 1e-4)
    assert literal.lower_bound <= ours.objective + 1e-12
    dual = cvxml.problem("itml", X, None, dual=True, **params)
    assert dual.solve(solver="CLARABEL") == pytest.approx(ours.objective, rel=1e-6)


# ---- the proof


def random_dual(rng: np.random.Generator, p: int, q: int) -> dict[str, FloatArray]:
    size = 10.0 ** rng.uniform(-6, 3)
    return {"lam_S": size * rng.standard_normal(p), "lam_D": size * rng.standard_normal(q)}


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.floats(-4, 4), st.floats(-3, 3))
def test_weak_duality_for_any_metric_and_any_dual(seed: int, log_gamma: float, log_size: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, n=10, d=3)
    params: dict[str, Any] = {"gamma": 10.0**log_gamma, "bounds": tuple(10.0 ** rng.uniform(-2, 2, 2))}
    params["prior"] = random_metric(rng, 3, 10.0 ** rng.uniform(-2, 2))
    A = random_metric(rng, 3, 10.0**log_size)
    given_ = instance(X, y, **params)
    dual = random_dual(rng, len(given_.pairs.similar), len(given_.pairs.dissimilar))
    proof = METHOD.certify(X, y, A, dual, **params)
    objective = METHOD.objective(X, y, A, **params)
    assert proof.objective == pytest.approx(objective, rel=1e-10, abs=proof.rounding)
    assert 0 <= proof.lower_bound <= objective * (1 + 1e-12) + proof.rounding
    assert proof.gap == proof.objective - proof.lower_bound
    assert proof.gap >= 0
    again = METHOD.certify(X, y, A, proof.dual, **params)
    assert again.lower_bound == pytest.approx(proof.lower_bound, rel=1e-9, abs=proof.rounding)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(-2, 0.5))
def test_prices_near_the_best_prove_nearly_as_much(seed: int, log_noise: float) -> None:
    """And never more: the bound of any prices lies below the optimum."""
    rng = np.random.default_rng(seed)
    X, y = random_data(seed, n=10, d=3)
    best = cvxml.solve("itml", X, y, tol=1e-9)
    noise = 10.0**log_noise
    dual = {name: lam * (1 + noise * rng.standard_normal(len(lam))) for name, lam in best.dual.items()}
    proof = METHOD.certify(X, y, best.metric, dual)
    assert proof.lower_bound <= best.objective + best.certificate.rounding
    if noise <= 0.03:
        assert proof.lower_bound >= 0.9 * best.lower_bound


def dual_value(p: Any, lam_S: FloatArray, lam_D: FloatArray) -> float:
    """As the paper would print it, by loops; nan where it is not feasible."""
    (u, l), Z = p.bounds, np.linalg.inv(p.prior)  # noqa: E741
    for (i, j), lam in zip(p.pairs.similar, lam_S, strict=True):
        Z = Z + lam * outer(p.X[i] - p.X[j])
    for (i, j), lam in zip(p.pairs.dissimilar, lam_D, strict=True):
        Z = Z - lam * outer(p.X[i] - p.X[j])
    if np.linalg.eigvalsh(Z)[0] <= 0:
        return np.nan
    prices = np.sum(np.log(1 - lam_S * u / p.gamma)) + np.sum(np.log(1 + lam_D * l / p.gamma))
    return float(np.linalg.slogdet(p.prior @ Z)[1] + p.gamma * prices)


@pytest.mark.parametrize("params", [{}, {"gamma": 0.1, "prior": "covariance"}, {"bounds": (3.0, 0.5)}])
def test_the_bound_is_the_dual_and_the_gap_a_sum_of_parts(params: dict[str, Any]) -> None:
    X, y = random_data(1, n=12, d=3)
    p, rng = instance(X, y, **params), np.random.default_rng(0)
    best = cvxml.solve("itml", X, y, **params)
    for _ in range(10):
        A = random_metric(rng, 3, 0.7)
        dual = {k: lam * rng.uniform(0.5, 1.5, len(lam)) for k, lam in best.dual.items()}
        proof = METHOD.certify(X, y, A, dual, **params)
        lam_S, lam_D = proof.dual["lam_S"], proof.dual["lam_D"]
        assert proof.lower_bound == pytest.approx(dual_value(p, lam_S, lam_D), rel=1e-10)
        assert dual_value(p, 1.001 * lam_S, 1.001 * lam_D) <= proof.lower_bound * (1 + 1e-9)
        assert dual_value(p, 0.999 * lam_S, 0.999 * lam_D) <= proof.lower_bound * (1 + 1e-9)

        def phi(r: Any) -> Any:
            return r - 1 - np.log(r)

        at, (u, l), gamma = METHOD.evaluate(X, y, A, **params), p.bounds, p.gamma  # noqa: E741
        Z = np.linalg.inv(p.prior)
        for (i, j), lam in zip([*p.pairs.similar, *p.pairs.dissimilar], [*lam_S, *-lam_D], strict=True):
            Z = Z + lam * outer(X[i] - X[j])
        parts = [
            float(np.sum(phi(np.linalg.eigvals(A @ Z).real))),
            gamma * float(np.sum(phi(at.xi_S / u * (1 - lam_S * u / gamma)))),
            gamma * float(np.sum(phi(at.xi_D / l * (1 + lam_D * l / gamma)))),
            float(lam_S @ (at.xi_S - at.d_S)),
            float(lam_D @ (at.d_D - at.xi_D)),
        ]
        assert min(parts) >= 0
        assert sum(parts) == pytest.approx(proof.gap, rel=1e-9)


@pytest.mark.parametrize(("lam_S", "lam_D"), [(0.0, np.inf), (np.inf, 0.0), (1.7e308, 1.7e308), (-1.0, -np.inf),
                                              (1e-323, 1e-323), (-1e300, 1e300), (1e3, 1e-3)])  # fmt: skip
def test_no_dual_lifts_the_bound_above_the_optimum(lam_S: float, lam_D: float) -> None:
    X, y = random_data(0, n=10, d=3)
    best = solved(X, y)
    dual = {
        "lam_S": np.full_like(best.dual["lam_S"], lam_S),
        "lam_D": np.full_like(best.dual["lam_D"], lam_D),
    }
    for A in (best.metric, np.eye(3), 0 * best.metric, 1e200 * best.metric):
        proof = METHOD.certify(X, y, A, dual)
        assert 0 <= proof.lower_bound <= best.objective
        assert not proof.proves(1e-6)
        assert np.isfinite(np.concatenate(list(proof.dual.values()))).all()


def test_the_metric_is_the_inverse_of_what_the_prices_make() -> None:
    X, y = real_data("iris", 40)
    solution = solved(X, y, gamma=0.1, prior="covariance")
    p = instance(X, y, gamma=0.1, prior="covariance")
    assert dual_value(p, solution.dual["lam_S"], solution.dual["lam_D"]) == pytest.approx(
        solution.lower_bound, rel=1e-10
    )
    Z = np.linalg.inv(p.prior)
    index = np.concatenate([p.pairs.similar, p.pairs.dissimilar])
    for (i, j), lam in zip(index, np.r_[solution.dual["lam_S"], -solution.dual["lam_D"]], strict=True):
        Z += lam * outer(X[i] - X[j])
    np.testing.assert_allclose(solution.metric @ Z, np.eye(4), atol=1e-4)


def test_the_radius_holds_the_optimum() -> None:
    X, y = random_data(2, n=14, d=4)
    best = solved(X, y, tol=1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 0.3):
        for _ in range(20):
            N = rng.standard_normal((4, 4)) * size
            A = best.metric + N @ best.metric @ N.T
            proof = METHOD.certify(X, y, A, best.dual)
            assert np.linalg.norm(A - best.metric) <= proof.radius + best.certificate.radius


@pytest.mark.parametrize("log_ratio", [-5.0, -2.0, -1e-1, -1e-3])
def test_the_radius_is_attained_where_one_eigenvalue_takes_the_whole_gap(log_ratio: float) -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    A = np.diag([1.0, np.exp(log_ratio)])  # the optimum is the prior, diag(1, e^log_ratio / e^log_ratio)
    prior, pairs = np.eye(2), {"similar": [[0, 1]], "dissimilar": []}
    A, prior = (
        A / np.exp(log_ratio),
        prior / np.exp(log_ratio),
    )  # now ||A|| is 1 / e^log_ratio in the other direction
    A[0, 0] = 1.0
    prior[0, 0] = 1.0
    proof = METHOD.certify(
        X,
        None,
        A,
        {"lam_S": np.zeros(1), "lam_D": np.zeros(0)},
        prior=prior,
        pairs=pairs,
        bounds=(5.0, 1.0),
    )
    assert proof.lower_bound == 0
    assert proof.gap == pytest.approx(np.exp(log_ratio) - 1 - log_ratio, rel=1e-6)
    assert proof.radius == pytest.approx(np.linalg.norm(A - prior), rel=1e-5)


def test_wrong_metrics_are_refuted() -> None:
    X, y = random_data(5, n=14, d=3)
    best = solved(X, y)
    tilted = best.metric + 1e-2 * np.diag([1.0, -1.0, 0.0])
    rank_one = outer(np.linalg.eigh(best.metric)[1][:, -1])
    for wrong in (np.eye(3), 1.01 * best.metric, 0.99 * best.metric, tilted, 0 * best.metric, rank_one,
                  np.diag(np.diag(best.metric)), best.metric - 2 * np.eye(3)):  # fmt: skip
        report = cvxml.check("itml", X, y, wrong)
        assert report.verdict is Verdict.REFUTED
        str(report)
        report.to_json()
    assert cvxml.check("itml", X, y, best.metric, tol="strict").verdict is Verdict.CERTIFIED


def test_a_singular_metric_has_an_infinite_objective() -> None:
    X, y = random_data(5, n=10, d=3)
    A = outer(np.array([1.0, 2.0, -1.0]))
    dual = solved(X, y).dual
    proof = METHOD.certify(X, y, A, dual)
    assert proof.objective == proof.gap == proof.radius == np.inf
    assert proof.lower_bound > 0
    assert not proof.proves(1e-3)
    zero = METHOD.evaluate(X, y, 0 * A)
    assert zero.objective == np.inf
    assert np.isnan(zero.gradient).all()


# ---- the definitions


def test_the_gradient_is_that_of_the_objective() -> None:
    X, y = random_data(3, n=9, d=3)
    rng = np.random.default_rng(0)
    params: dict[str, Any] = {"gamma": 0.4, "prior": random_metric(rng, 3)}
    for _ in range(5):
        A, E = random_metric(rng, 3), rng.standard_normal((3, 3))
        E, h = E + E.T, 1e-6
        slope = (
            METHOD.objective(X, y, A + h * E, **params) - METHOD.objective(X, y, A - h * E, **params)
        ) / (2 * h)
        assert np.sum(METHOD.evaluate(X, y, A, **params).gradient * E) == pytest.approx(slope, rel=1e-5)


def test_xi_is_the_best_there_is() -> None:
    X, y = random_data(3, n=8, d=2)
    A = np.array([[0.5, 0.1], [0.1, 2.0]])
    at = METHOD.evaluate(X, y, A)

    def slack(r: FloatArray) -> FloatArray:
        values: FloatArray = r - np.log(r) - 1
        return values

    for xi, xi_0, D, sign in ((at.xi_S, at.u, at.d_S, 1), (at.xi_D, at.l, at.d_D, -1)):
        assert (sign * (xi - D) >= 0).all()
        for factor in (0.99, 1.01):
            moved = np.where(sign * (factor * xi - D) >= 0, factor * xi, xi)
            assert (slack(moved / xi_0) >= slack(xi / xi_0) - 1e-15).all()
    total = np.sum(slack(at.xi_S / at.u)) + np.sum(slack(at.xi_D / at.l))
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


def test_units_do_not_matter_where_prior_and_bounds_follow() -> None:
    X, y = random_data(4, n=14, d=4)
    prior, bounds = random_metric(np.random.default_rng(0), 4), (0.7, 9.0)
    plain = solved(X, y, prior=prior, bounds=bounds)
    for s in (1e-8, 1e-3, 1e5):
        bounds_s = tuple(b * s**2 for b in bounds)
        same = solved(s * X, y, prior=prior, bounds=bounds_s)
        assert same.objective == pytest.approx(
            solved(X, y, prior=prior * s**2, bounds=bounds_s).objective, rel=1e-8
        )
        scaled = solved(s * X, y, prior=prior / s**2, bounds=bounds)
        assert scaled.objective == pytest.approx(plain.objective, rel=1e-9)
        np.testing.assert_allclose(scaled.metric * s**2, plain.metric, rtol=1e-4)
    units = np.array([1e-6, 1e-2, 1.0, 1e6])
    mixed = solved(X * units, y, prior=prior / np.outer(units, units), bounds=bounds)
    assert mixed.objective == pytest.approx(plain.objective, rel=1e-9)


def test_the_covariance_prior_knows_no_coordinates() -> None:
    X, y = random_data(4, n=16, d=3)
    T = np.random.default_rng(1).standard_normal((3, 3))
    plain = solved(X, y, prior="covariance")
    turned = solved(X @ T + 100.0, y, prior="covariance")
    assert turned.objective == pytest.approx(plain.objective, rel=1e-8)
    np.testing.assert_allclose(T @ turned.metric @ T.T, plain.metric, rtol=1e-3, atol=1e-4)
    solved(X * [1e-6, 1.0, 1e6] + [1e-3, 5.0, 1e8], y, prior="covariance", tol=1e-6)


def test_rotation_translation_and_order_change_nothing() -> None:
    X, y = random_data(4, n=16, d=3)
    plain = solved(X, y)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    order = np.random.default_rng(0).permutation(16)
    for other, labels in ((X @ Q, y), (X + 1024.0, y), (X[order], y[order]), (X[:, ::-1], y)):
        assert solved(other, labels).objective == pytest.approx(plain.objective, rel=1e-8)
    far = solved(X + 1e7, y, tol=1e-6)
    assert far.objective == pytest.approx(plain.objective, rel=1e-6)


def test_more_weight_means_less_slack() -> None:
    X, y = real_data("iris", 30)
    path = [METHOD.evaluate(X, y, solved(X, y, gamma=g).metric, gamma=g) for g in (1e-3, 0.1, 1.0, 1e2, 1e5)]
    assert (np.diff([at.D_ld_xi for at in path]) < 0).all()
    assert (np.diff([at.D_ld for at in path]) > 0).all()
    nearly = solved(X, y, gamma=1e-9)
    np.testing.assert_allclose(nearly.metric, np.eye(4), atol=1e-5)


# ---- degenerate data and extreme parameters

X0, Y0 = random_data(0, n=12, d=3)
DEGENERATE: dict[str, tuple[FloatArray, Any, dict[str, Any]]] = {
    "more-features-than-points": (np.random.default_rng(3).standard_normal((8, 40)), np.arange(8) % 2, {}),
    "constant-feature": (np.column_stack([X0, np.full(12, 0.1)]), Y0, {}),
    "repeated-feature": (np.column_stack([X0, X0]), Y0, {}),
    "collinear": (np.outer(np.arange(12.0) ** 1.5, [1.0, 2.0, -1.0]), Y0, {}),
    "twins-of-a-class": (np.repeat(X0, 2, axis=0), np.repeat(Y0, 2), {"bounds": (0.5, 9.0)}),
    "two-points": (X0[:2], [0, 1], {"bounds": (1.0, 50.0)}),
    "one-similar-pair": (X0, None, {"pairs": {"similar": [[0, 1]], "dissimilar": []}}),
    "one-dissimilar-pair": (X0, None, {"pairs": {"similar": [], "dissimilar": [[0, 1]]}, "bounds": (1, 1e4)}),
    "far-from-the-origin": (X0 + 1e6, Y0, {}),
    "a-far-point": (np.vstack([X0, [[1e5, 0, 0]]]), [*Y0, 0], {}),
    "scales": (X0 * [1e-6, 1.0, 1e6], Y0, {}),
    "scales-and-bounds": (X0 * [1e-6, 1.0, 1e6], Y0, {"bounds": (1.0, 2.0)}),
    "bounds-crossed": (X0, Y0, {"bounds": (100.0, 0.01)}),
    "bounds-tiny": (X0, Y0, {"bounds": (1e-9, 1e-8)}),
    "bounds-huge": (X0, Y0, {"bounds": (1e8, 1e9)}),
    "bounds-apart": (X0, Y0, {"bounds": (1e-4, 1e4)}),
    "gamma-tiny": (X0, Y0, {"gamma": 1e-12}),
    "gamma-huge": (X0, Y0, {"gamma": 1e8}),
    "near-twins-of-two-classes": (np.vstack([X0, X0[:1] + 1e-9]), [*Y0, 1], {}),
}


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_data(case: str) -> None:
    X, y, params = DEGENERATE[case]
    solution = solved(X, y, tol=1e-6, **params)
    assert cvxml.check("itml", X, y, solution.metric, **params).verdict is Verdict.CERTIFIED
    naive = METHOD.objective(X, y, solution.metric, **params)
    assert naive == pytest.approx(solution.objective, rel=1e-6, abs=1e-9)


def test_what_no_pair_shows_stays_as_in_the_prior() -> None:
    solution = solved(*DEGENERATE["constant-feature"][:2])
    np.testing.assert_allclose(solution.metric[3], [0, 0, 0, 1], atol=1e-9)
    X, y, _ = DEGENERATE["more-features-than-points"]
    wide = solved(X, y)
    unseen = np.linalg.svd(X - X.mean(axis=0))[2][8:]
    np.testing.assert_allclose(wide.metric @ unseen.T, unseen.T, atol=1e-9)
    rotated = solved((X - X[0]) @ np.linalg.svd(X - X[0])[2].T[:, :8], y)
    assert rotated.objective == pytest.approx(wide.objective, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-8, 8), st.floats(-6, 6), st.floats(-6, 6))
def test_the_solver_certifies_whatever_the_parameters(
    seed: int, log_gamma: float, log_u: float, log_l: float
) -> None:
    X, y = random_data(seed, n=10, d=3)
    solved(X, y, tol=1e-6, gamma=10.0**log_gamma, bounds=(10.0**log_u, 10.0**log_l))


@pytest.mark.parametrize("name", ["MOST_SQUARE", "MOST_PAIRS"])
def test_every_way_to_the_newton_step_leads_to_the_optimum(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = random_data(2, n=14, d=6)
    pairs = {
        "similar": [[0, 3], [1, 4], [2, 5], [6, 9]],
        "dissimilar": [[0, 1], [0, 2], [1, 2], [3, 4], [7, 8]],
    }
    plain = solved(X, y), solved(X, y, pairs=pairs)
    monkeypatch.setattr(fast, name, 0)
    other = solved(X, y), solved(X, y, pairs=pairs)
    monkeypatch.setattr(fast, "MOST_SQUARE", 0)
    monkeypatch.setattr(fast, "MOST_PAIRS", 0)  # conjugate gradients
    for way in (other, (solved(X, y), solved(X, y, pairs=pairs))):
        for a, b in zip(plain, way, strict=True):
            assert b.objective == pytest.approx(a.objective, rel=1e-8)
            assert b.n_iter <= a.n_iter + 3


def test_a_warm_start_is_taken_where_it_is_near() -> None:
    X, y = real_data("iris", 60)
    cold = solved(X, y, tol=1e-6)
    assert cvxml.solve("itml", X, y, warm_start=cold).n_iter == 0
    near = cvxml.solve("itml", X, y, gamma=1.001, tol=1e-9, warm_start=cold)
    fresh = solved(X, y, gamma=1.001)
    assert near.objective == pytest.approx(fresh.objective, rel=1e-9)
    assert near.n_iter < fresh.n_iter
    far = cvxml.solve("itml", X, y, gamma=100.0, warm_start=cold)
    assert far.status is Status.CONVERGED


def test_the_history_tells_the_truth() -> None:
    X, y = real_data("iris", 40)
    steps: list[Any] = []
    solution = cvxml.solve("itml", X, y, callback=steps.append)
    assert tuple(steps) == solution.history
    assert len(steps) == solution.n_iter + 1
    for step in steps:
        assert step.gap == step.objective - step.lower_bound
        assert step.lower_bound <= solution.objective
        assert step.objective >= solution.lower_bound


# ---- Algorithm 1


FEW = {"similar": [[0, 3], [1, 4], [2, 5], [6, 9]], "dissimilar": [[0, 1], [0, 2], [4, 5]]}


@pytest.mark.parametrize("gamma", [0.1, 1.0, 3.0])
def test_the_projections_tend_to_the_certified_optimum(gamma: float) -> None:
    X, _ = random_data(6, n=10, d=3)
    params: dict[str, Any] = {
        "pairs": FEW,
        "gamma": gamma,
        "prior": random_metric(np.random.default_rng(1), 3),
    }
    best = solved(X, **params)
    found = projections(X, sweeps=2000, tol=1e-9, **params)
    assert found.converged
    assert len(found.history) > 1
    assert found.certificate.proves(1e-9)
    assert np.linalg.norm(found.metric - best.metric) <= (found.certificate.radius + best.certificate.radius)
    at = METHOD.evaluate(X, None, found.metric, **params)
    np.testing.assert_allclose(found.xi, [*at.xi_S, *at.xi_D], rtol=1e-3)
    assert all(step.lower_bound <= best.objective + 1e-12 for step in found.history)


def test_each_projection_keeps_its_pair_and_lifts_the_dual() -> None:
    from cvxml.methods.itml.projections import _Point

    X, _ = random_data(6, n=10, d=3)
    p = instance(X, None, pairs=FEW, gamma=0.6)
    at, value = _Point(p, printed=False), 0.0
    for c in [*range(7), *range(7), *range(7)]:
        at.project(c)
        i, j = at.pairs[c]
        D = (X[i] - X[j]) @ at.A @ (X[i] - X[j])
        assert pytest.approx(at.xi[c]) == D or at.lam[c] == 0
        assert (at.lam >= 0).all()
        after = dual_value(p, at.lam[:4], at.lam[4:])
        assert after >= value - 1e-12
        value = after
    assert value > 0


@pytest.mark.parametrize("gamma", [0.3, 4.0])
def test_algorithm_1_as_printed_solves_another_problem(gamma: float) -> None:
    X, _ = random_data(6, n=10, d=3)
    u, l = instance(X, None, pairs=FEW).bounds  # noqa: E741
    printed = projections(X, sweeps=500, tol=1e-9, printed=True, pairs=FEW, gamma=gamma)
    assert not printed.converged
    other = solved(X, pairs=FEW, gamma=1.0, bounds=(u / gamma, l / gamma))
    np.testing.assert_allclose(printed.metric, other.metric, rtol=1e-4, atol=1e-5)
    report = cvxml.check("itml", X, None, printed.metric, pairs=FEW, gamma=gamma)
    assert report.verdict is Verdict.REFUTED
    assert any("Algorithm 1 as it is printed" in line for line in report.diagnosis)
    same = projections(X, sweeps=50, printed=True, pairs=FEW)
    np.testing.assert_allclose(same.metric, projections(X, sweeps=50, pairs=FEW).metric, rtol=1e-9)


# ---- misreadings


def as_metric_learn(X: FloatArray, pairs: dict[str, Any], gamma: float) -> FloatArray:
    """What that package computes: bounds from the full matrix of plain distances."""
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    u, l = np.percentile(distances, (5, 95))  # noqa: E741
    A, lam, xi = np.eye(X.shape[1]), {}, {}
    for _ in range(1000):
        for kind, sign, start in (("similar", 1.0, u), ("dissimilar", -1.0, l)):
            for i, j in pairs[kind]:
                v, b = X[i] - X[j], xi.get((i, j), start)
                p = v @ A @ v
                alpha = min(lam.get((i, j), 0.0), sign * gamma / (gamma + 1) * (1 / p - 1 / b))
                lam[i, j] = lam.get((i, j), 0.0) - alpha
                xi[i, j] = 1 / (1 / b + sign * alpha / gamma)
                A = A + sign * alpha / (1 - sign * alpha * p) * np.outer(A @ v, A @ v)
    return A


def test_the_answer_of_metric_learn_is_named() -> None:
    X, _ = random_data(0, n=25, d=2)
    params: dict[str, Any] = {"gamma": 0.3, "pairs": {"similar": [[k, k + 3] for k in range(9)],
                                                      "dissimilar": [[k, k + 13] for k in range(12)]}}  # fmt: skip
    A = as_metric_learn(X, params["pairs"], 0.3)
    report = cvxml.check("itml", X, None, A, **params)
    assert report.verdict is Verdict.REFUTED
    assert any("metric-learn" in line for line in report.diagnosis), report.diagnosis
    u, l = np.percentile(np.linalg.norm(X[:, None] - X, axis=2), (5, 95))  # noqa: E741
    assert cvxml.check("itml", X, None, A, bounds=(u, l), **params).verdict is Verdict.CERTIFIED


N0 = 24  # so that n zeros among n^2 distances are less than a twentieth
X1, Y1 = random_data(0, n=N0, d=3)
PAIRS0 = {
    "similar": [[i, j] for i in range(N0) for j in range(i) if Y1[i] == Y1[j]],
    "dissimilar": [[i, j] for i in range(N0) for j in range(i) if Y1[i] != Y1[j]],
}
D0 = np.array([np.sum((X1[i] - X1[j]) ** 2) for i in range(N0) for j in range(i)])
FULL0 = np.concatenate([D0, D0, np.zeros(N0)])
PRIOR0 = random_metric(np.random.default_rng(7), 3)
U0, L0 = np.percentile(D0, (5, 95))
MADE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # asked for, solved instead
    "mean": ({"gamma": 20.0}, {"gamma": 20.0 / len(D0)}),
    "inverse_gamma": ({"gamma": 0.1}, {"gamma": 10.0}),
    "no_gamma": ({"gamma": 0.1}, {"gamma": 1.0}),
    "twice": ({"gamma": 0.7}, {"gamma": 1.4}),
    "half": ({"gamma": 0.7}, {"gamma": 0.35}),
    "printed": ({"gamma": 0.5}, {"gamma": 1.0, "bounds": (2 * U0, 2 * L0)}),
    "roots": ({"bounds": (2.0, 9.0)}, {"bounds": (np.sqrt(2.0), 3.0)}),
    "squares": ({"bounds": (2.0, 9.0)}, {"bounds": (4.0, 81.0)}),
    "exchanged_bounds": ({}, {"bounds": (L0, U0)}),
    "exchanged_pairs": (
        {},
        {"pairs": {"similar": PAIRS0["dissimilar"], "dissimilar": PAIRS0["similar"]}},
    ),
    "similar_only": ({}, {"pairs": {**PAIRS0, "dissimilar": []}}),
    "dissimilar_only": ({}, {"pairs": {**PAIRS0, "similar": []}}),
    "plain_percentiles": ({}, {"bounds": tuple(np.percentile(np.sqrt(D0), (5, 95)))}),
    "whole_matrix": ({}, {"bounds": tuple(np.percentile(FULL0, (5, 95)))}),
    "plain_whole_matrix": ({}, {"bounds": tuple(np.percentile(np.sqrt(FULL0), (5, 95)))}),
    "euclidean_bounds": ({"prior": PRIOR0}, {"prior": PRIOR0, "bounds": (U0, L0)}),
    "extremes": ({}, {"bounds": (D0.min(), D0.max())}),
    "tenths": ({}, {"bounds": tuple(np.percentile(D0, (10, 90)))}),
    "identity_prior": ({"prior": PRIOR0}, {}),
    "covariance_prior": ({}, {"prior": np.linalg.inv(np.cov(X1.T))}),
    "inverse_prior": ({"prior": "covariance"}, {"prior": np.cov(X1.T)}),
    "divisor": (
        {"prior": "covariance", "bounds": (0.5, 9.0), "gamma": 0.01},
        {"prior": np.linalg.inv(np.cov(X1.T, ddof=0)), "bounds": (0.5, 9.0), "gamma": 0.01},
    ),
    "hard": ({"pairs": FEW, "bounds": (3.0, 5.0)}, {"pairs": FEW, "bounds": (3.0, 5.0), "gamma": 1e9}),
}  # fmt: skip


def test_every_misreading_is_made() -> None:
    assert set(MADE) == set(METHOD.VARIANTS)


@pytest.mark.parametrize("name", MADE)
def test_a_misreading_is_named(name: str) -> None:
    asked, instead = MADE[name]
    A = cvxml.solve("itml", X1, Y1, tol=1e-9, **instead).metric
    report = cvxml.check("itml", X1, Y1, A, **asked)
    assert report.verdict is Verdict.REFUTED
    assert any(METHOD.VARIANTS[name].sentence in line for line in report.diagnosis), report.diagnosis


def test_random_wrong_metrics_get_no_diagnosis() -> None:
    rng = np.random.default_rng(0)
    for _ in range(15):
        A = random_metric(rng, 3, 10.0 ** rng.uniform(-1, 1))
        for params in ({}, {"gamma": 0.2, "prior": PRIOR0}):
            report = cvxml.check("itml", X1, Y1, A, **params)
            assert report.verdict is Verdict.REFUTED
            assert report.diagnosis == ()


# ---- inputs, files, the estimator


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "gamma-0": ({"gamma": 0}, "gamma must be greater than 0"),
    "gamma-nan": ({"gamma": np.nan}, "gamma must be a finite number"),
    "gamma-text": ({"gamma": "1"}, "gamma must be a finite number"),
    "gamma-huge": ({"gamma": 1e200}, "gamma must be within"),
    "prior-name": ({"prior": "cov"}, "'identity', 'covariance'"),
    "prior-none": ({"prior": None}, "'identity', 'covariance'"),
    "prior-shape": ({"prior": np.eye(2)}, r"prior must have shape \(3, 3\)"),
    "prior-asymmetric": ({"prior": np.eye(3) + np.eye(3, k=1)}, "prior must be symmetric"),
    "prior-singular": ({"prior": np.diag([1.0, 1.0, 0.0])}, "prior must be positive definite"),
    "prior-rank": ({"prior": np.ones((3, 3))}, "prior must be positive definite"),
    "prior-negative": ({"prior": -np.eye(3)}, "prior must be positive definite"),
    "prior-nan": ({"prior": np.nan * np.eye(3)}, "prior holds NaN"),
    "bounds-one": ({"bounds": (1.0,)}, "bounds must be"),
    "bounds-number": ({"bounds": 1.0}, "bounds must be"),
    "bounds-text": ({"bounds": "12"}, "bounds must be"),
    "bounds-zero": ({"bounds": (0.0, 1.0)}, r"bounds\[0\] must be greater than 0"),
    "bounds-nan": ({"bounds": (1.0, np.nan)}, r"bounds\[1\] must be a finite number"),
    "bounds-huge": ({"bounds": (1.0, 1e150)}, "rescale X"),
    "pairs-list": ({"pairs": [[0, 1]]}, "pairs must be"),
    "pairs-outside": ({"pairs": {"similar": [[0, 12]], "dissimilar": []}}, "outside 0..11"),
    "pairs-both": ({"pairs": {"similar": [[0, 1]], "dissimilar": [[1, 0]]}}, "as similar and as dissimilar"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters(case: str) -> None:
    params, says = BAD[case]
    for call in (METHOD.solve, METHOD.problem, METHOD.dual_problem):
        with pytest.raises(ValueError, match=says):
            call(X0, Y0, **params)
    with pytest.raises(ValueError, match=says):
        cvxml.check("itml", X0, Y0, np.eye(3), **params)


def test_data_that_have_no_solution_or_no_bounds() -> None:
    X, y = np.repeat(X0, 2, axis=0), np.tile([0, 1], 12)
    with pytest.raises(ValueError, match="points 0 and 1 are equal and a dissimilar pair"):
        METHOD.solve(X, y, bounds=(1.0, 2.0))
    with pytest.raises(ValueError, match="5th percentile of the squared distances is 0"):
        METHOD.solve(np.repeat(X0[:3], 8, axis=0), np.repeat([0, 1, 1], 8))
    with pytest.raises(ValueError, match="is singular"):
        METHOD.solve(X0[:3], [0, 0, 1], prior="covariance")
    with pytest.raises(ValueError, match="rescale X"):
        METHOD.solve(1e200 * X0, Y0)
    with pytest.raises(ValueError, match="rescale X"):
        METHOD.solve(1e-160 * X0, Y0)
    with pytest.raises(ValueError, match="give bounds"):
        METHOD.solve(X0[:1], None, pairs={"similar": [], "dissimilar": []})
    with pytest.raises(ValueError, match="y is None"):
        METHOD.solve(X0, None)


BAD_DUALS: dict[str, Any] = {
    "none": None,
    "empty": {},
    "no-lam_D": {"lam_S": np.zeros(len(PAIRS0["similar"]))},
    "scalar": {"lam_S": 1.0, "lam_D": 1.0},
    "short": {"lam_S": np.zeros(3), "lam_D": np.zeros(len(PAIRS0["dissimilar"]))},
    "NaN": {"lam_S": np.zeros(len(PAIRS0["similar"])), "lam_D": np.full(len(PAIRS0["dissimilar"]), np.nan)},
    "text": {"lam_S": ["a"] * len(PAIRS0["similar"]), "lam_D": np.zeros(len(PAIRS0["dissimilar"]))},
}


@pytest.mark.parametrize("case", BAD_DUALS)
def test_what_is_no_dual(case: str) -> None:
    with pytest.raises(ValueError, match="dual"):
        METHOD.certify(X1, Y1, np.eye(3), BAD_DUALS[case])


def test_inputs_are_untouched() -> None:
    prior, bounds = PRIOR0.copy(), np.array([1.0, 4.0])
    pairs = {k: np.array(v) for k, v in PAIRS0.items()}
    X, A = X1.copy(), np.eye(3)
    best = METHOD.solve(X, None, prior=prior, bounds=bounds, pairs=pairs)
    dual = {k: v.copy() for k, v in best.dual.items()}
    arrays = [X, A, prior, bounds, *pairs.values(), *dual.values()]
    before = [a.copy() for a in arrays]
    for a in arrays:
        a.setflags(write=False)
    METHOD.solve(X, None, prior=prior, bounds=bounds, pairs=pairs)
    METHOD.certify(X, None, A, dual, prior=prior, bounds=bounds, pairs=pairs)
    METHOD.evaluate(X, None, A, prior=prior, bounds=bounds, pairs=pairs)
    METHOD.problem(X, None, prior=prior, bounds=bounds, pairs=pairs)
    projections(X, None, sweeps=1, prior=prior, bounds=bounds, pairs=pairs)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


@pytest.mark.parametrize(
    "params", [{"prior": "covariance", "gamma": 0.3}, {"pairs": PAIRS0, "prior": PRIOR0}, {"bounds": (1, 2)}]
)
def test_a_solution_holds_all_that_its_proof_needs(params: dict[str, Any]) -> None:
    y = None if "pairs" in params else Y1
    content = solved(X1, y, **params).to_dict()
    saved = SavedSolution(
        method="itml",
        params=content["params"],
        X=np.array(content["X"]),
        y=np.array(content["y"]),
        neighbors=[],
        metric=np.array(content["metric"]),
        dual={k: np.array(v) for k, v in content["dual"].items()},
        claimed={k: content[k] for k in ("objective", "lower_bound", "gap", "radius")},
    )
    assert set(content["params"]) == set(METHOD.PARAMETERS)
    assert recertify(saved, 1e-9).verdict is Verdict.CERTIFIED
    lie = SavedSolution(**{**saved.__dict__, "metric": 1.1 * saved.metric})
    assert recertify(lie, 1e-9).verdict is Verdict.REFUTED


def test_similar_twins_are_told_of_and_change_nothing() -> None:
    X, y, params = DEGENERATE["twins-of-a-class"]
    solution = solved(X, y, **params)
    assert any("12 similar pairs are of equal points" in note for note in solution.notes)
    twins = {frozenset((2 * i, 2 * i + 1)) for i in range(12)}
    pairs = instance(X, y, **params).pairs.to_dict()
    pairs["similar"] = [pair for pair in pairs["similar"] if frozenset(pair) not in twins]
    assert solved(X, None, pairs=pairs, **params).objective == pytest.approx(solution.objective, rel=1e-10)


@pytest.mark.filterwarnings("ignore")  # the checks warn on purpose
@parametrize_with_checks([ITML()])
def test_scikit_learn_checks(estimator: object, check: object) -> None:
    check(estimator)  # type: ignore[operator]


def test_the_estimator() -> None:
    X, y = real_data("iris", 40)
    model = ITML(0.5, prior="covariance").fit(X, y)
    np.testing.assert_allclose(model.get_mahalanobis_matrix(), model.solution_.metric, rtol=1e-9, atol=1e-12)
    assert model.certificate_.proves(1e-6)
    Z = model.transform(X)
    expected = np.linalg.norm(Z[:20] - Z[20:], axis=1)
    np.testing.assert_allclose(model.pair_distance(np.stack([X[:20], X[20:]], axis=1)), expected)
    pairs = {"similar": [[0, 1], [2, 3]], "dissimilar": [[0, 2]]}
    of_pairs = ITML(bounds=(0.1, 9.0)).fit(X, pairs=pairs)
    assert of_pairs.solution_.params["pairs"] == pairs
    again = ITML(0.5, prior="covariance", warm_start=True).fit(X, y)
    assert again.fit(X, y).solution_.n_iter == 0
