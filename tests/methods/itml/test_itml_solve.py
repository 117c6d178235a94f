"""ITML: degenerate data and extreme parameters, Algorithm 1, inputs, files, the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import SavedSolution, Status
from cvxml.family import logdet_path
from cvxml.family.logdet_costs import Ranks
from cvxml.methods.itml import METHOD, instance
from cvxml.methods.itml.projections import projections
from cvxml.oracle.saved import recertify
from tests.instances import objective_of, random_data, real_data
from tests.methods.itml.problems import FEW, PAIRS0, PRIOR0, X1, Y1, dual_value, random_metric, solved

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


@pytest.mark.quick(6)
@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_data(case: str) -> None:
    X, y, params = DEGENERATE[case]
    solution = solved(X, y, tol=1e-6, **params)
    assert cvxml.check("itml", X, y, solution.metric, **params).verdict is Verdict.CERTIFIED
    naive = objective_of("itml", X, y, solution.metric, **params)
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


@pytest.mark.slow
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
    monkeypatch.setattr(logdet_path, name, 0)
    other = solved(X, y), solved(X, y, pairs=pairs)
    monkeypatch.setattr(logdet_path, "MOST_SQUARE", 0)
    monkeypatch.setattr(logdet_path, "MOST_PAIRS", 0)  # conjugate gradients
    for way in (other, (solved(X, y), solved(X, y, pairs=pairs))):
        for a, b in zip(plain, way, strict=True):
            assert b.objective == pytest.approx(a.objective, rel=1e-8)
            assert b.n_iter <= a.n_iter + 3


@pytest.mark.parametrize("violated", [0, 2, 5, 40])
def test_a_newton_step_solves_its_equations_at_every_weight(
    violated: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was kept of the weight before; few pairs, many, many in blocks, and by conjugate gradients."""
    rng = np.random.default_rng(violated)
    f = rng.standard_normal((violated, 3))
    f /= np.linalg.norm(f, axis=1)[:, None]
    g = random_metric(rng, 3) - 2 * np.eye(3)
    for name, value in (("BLOCK", 512), ("BLOCK", 7), ("MOST_PAIRS", 0)):
        monkeypatch.setattr(logdet_path, name, value)
        curvature = logdet_path.Curvature(Ranks(f))
        for gamma in (1.0, 30.0, 1e-3):
            V = curvature.solved(g, gamma)
            again = V + gamma * sum((e @ V @ e * np.outer(e, e) for e in f), np.zeros((3, 3)))
            np.testing.assert_allclose(again, g, atol=1e-8)
    monkeypatch.setattr(logdet_path, "MOST_SQUARE", 0)
    V = logdet_path.Curvature(Ranks(f)).solved(g, 1.0)
    again = V + sum((e @ V @ e * np.outer(e, e) for e in f), np.zeros((3, 3)))
    assert np.linalg.norm(again - g) <= 0.2 * np.linalg.norm(g)  # as near as a step needs it


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


# ---- Algorithm 1


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
    at = cvxml.evaluate("itml", X, None, found.metric, **params)
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


@pytest.mark.quick(1)
@pytest.mark.parametrize("gamma", [0.3, 4.0])
def test_algorithm_1_as_printed_solves_another_problem(gamma: float) -> None:
    X, _ = random_data(6, n=10, d=3)
    u, l = instance(X, None, pairs=FEW).bounds
    printed = projections(X, sweeps=500, tol=1e-9, printed=True, pairs=FEW, gamma=gamma)
    assert not printed.converged
    other = solved(X, pairs=FEW, gamma=1.0, bounds=(u / gamma, l / gamma))
    np.testing.assert_allclose(printed.metric, other.metric, rtol=1e-4, atol=1e-5)
    report = cvxml.check("itml", X, None, printed.metric, pairs=FEW, gamma=gamma)
    assert report.verdict is Verdict.REFUTED
    assert any("Algorithm 1 as it is printed" in line for line in report.diagnosis)
    same = projections(X, sweeps=50, printed=True, pairs=FEW)
    np.testing.assert_allclose(same.metric, projections(X, sweeps=50, pairs=FEW).metric, rtol=1e-9)


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
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters(case: str) -> None:
    params, says = BAD[case]
    for call in (cvxml.solve, cvxml.problem):
        with pytest.raises(ValueError, match=says):
            call("itml", X0, Y0, **params)
    with pytest.raises(ValueError, match=says):
        cvxml.check("itml", X0, Y0, np.eye(3), **params)


def test_data_that_have_no_solution_or_no_bounds() -> None:
    X, y = np.repeat(X0, 2, axis=0), np.tile([0, 1], 12)
    with pytest.raises(ValueError, match="points 0 and 1 are equal and a dissimilar pair"):
        cvxml.solve("itml", X, y, bounds=(1.0, 2.0))
    with pytest.raises(ValueError, match="5th percentile of the squared distances is 0"):
        cvxml.solve("itml", np.repeat(X0[:3], 8, axis=0), np.repeat([0, 1, 1], 8))
    with pytest.raises(ValueError, match="is singular"):
        cvxml.solve("itml", X0[:3], [0, 0, 1], prior="covariance")
    with pytest.raises(ValueError, match="rescale X"):
        cvxml.solve("itml", 1e200 * X0, Y0)
    with pytest.raises(ValueError, match="rescale X"):
        cvxml.solve("itml", 1e-160 * X0, Y0)
    with pytest.raises(ValueError, match="give bounds"):
        cvxml.solve("itml", X0[:1], None, pairs={"similar": [], "dissimilar": []})
    with pytest.raises(ValueError, match="y is None"):
        cvxml.solve("itml", X0, None)


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
        cvxml.certify("itml", X1, Y1, np.eye(3), BAD_DUALS[case])


def test_inputs_are_untouched() -> None:
    prior, bounds = PRIOR0.copy(), np.array([1.0, 4.0])
    pairs = {k: np.array(v) for k, v in PAIRS0.items()}
    X, A = X1.copy(), np.eye(3)
    best = cvxml.solve("itml", X, None, prior=prior, bounds=bounds, pairs=pairs)
    dual = {k: v.copy() for k, v in best.dual.items()}
    arrays = [X, A, prior, bounds, *pairs.values(), *dual.values()]
    before = [a.copy() for a in arrays]
    for a in arrays:
        a.setflags(write=False)
    cvxml.solve("itml", X, None, prior=prior, bounds=bounds, pairs=pairs)
    cvxml.certify("itml", X, None, A, dual, prior=prior, bounds=bounds, pairs=pairs)
    cvxml.evaluate("itml", X, None, A, prior=prior, bounds=bounds, pairs=pairs)
    cvxml.problem("itml", X, None, prior=prior, bounds=bounds, pairs=pairs)
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
