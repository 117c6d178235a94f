"""ITML: degenerate data and extreme parameters, Algorithm 1, inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods.itml import instance
from cvxml.methods.itml.projections import projections
from cvxml.solvers import logdet_path
from cvxml.solvers.logdet_costs import Ranks
from tests.instances import assert_named, objective_of, random_data, real_data
from tests.methods.itml.problems import FEW, PRIOR0, X1, dual_value, random_metric, solved

X0, Y0 = random_data(0, n=12, d=3)


DEGENERATE: dict[str, tuple[FloatArray, Any, dict[str, Any]]] = {
    "more-features-than-points": (np.random.default_rng(3).standard_normal((8, 40)), np.arange(8) % 2, {}),
    "constant-feature": (np.column_stack([X0, np.full(12, 0.1)]), Y0, {}),
    "repeated-feature": (np.column_stack([X0, X0]), Y0, {}),
    "collinear": (np.outer(np.arange(12.0) ** 1.5, [1.0, 2.0, -1.0]), Y0, {}),
    "twins-of-a-class": (np.repeat(X0, 2, axis=0), np.repeat(Y0, 2), {"bounds": (0.5, 9.0)}),
    "one-similar-pair": (X0, None, {"pairs": {"similar": [[0, 1]], "dissimilar": []}}),
    "one-dissimilar-pair": (X0, None, {"pairs": {"similar": [], "dissimilar": [[0, 1]]}, "bounds": (1, 1e4)}),
    "a-far-point": (np.vstack([X0, [[1e5, 0, 0]]]), [*Y0, 0], {}),
    "scales": (X0 * [1e-6, 1.0, 1e6], Y0, {}),
    "scales-and-bounds": (X0 * [1e-6, 1.0, 1e6], Y0, {"bounds": (1.0, 2.0)}),
    "bounds-crossed": (X0, Y0, {"bounds": (100.0, 0.01)}),
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
@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.floats(-8, 8), st.floats(-6, 6), st.floats(-6, 6))
def test_the_solver_certifies_whatever_the_parameters(
    seed: int, log_gamma: float, log_u: float, log_l: float
) -> None:
    X, y = random_data(seed, n=10, d=3)
    solved(X, y, tol=1e-6, gamma=10.0**log_gamma, bounds=(10.0**log_u, 10.0**log_l))


@pytest.mark.parametrize("pairs", [None, FEW], ids=["many", "few"])
def test_every_way_to_the_newton_step_leads_to_the_optimum(
    pairs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = random_data(2, n=14, d=6)
    plain = solved(X, y, pairs=pairs)
    for limits in ({"MOST_SQUARE": 0}, {"MOST_PAIRS": 0}, {"MOST_SQUARE": 0, "MOST_PAIRS": 0}):
        with monkeypatch.context() as patched:  # with both at 0 by conjugate gradients
            for name, limit in limits.items():
                patched.setattr(logdet_path, name, limit)
            other = solved(X, y, pairs=pairs)
        assert other.objective == pytest.approx(plain.objective, rel=1e-8)
        assert other.n_iter <= plain.n_iter + 3


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


def test_a_warm_start_from_another_gamma_is_taken_where_it_is_near() -> None:
    X, y = real_data("iris", 40)
    cold = solved(X, y, tol=1e-6)
    near = cvxml.solve("itml", X, y, gamma=1.001, tol=1e-9, warm_start=cold)
    fresh = solved(X, y, gamma=1.001)
    assert near.objective == pytest.approx(fresh.objective, rel=1e-9)
    assert near.n_iter < fresh.n_iter
    assert cvxml.solve("itml", X, y, gamma=100.0, warm_start=cold).status is Status.CONVERGED


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


@pytest.mark.slow
@pytest.mark.parametrize("gamma", [0.3, 4.0])
def test_algorithm_1_as_printed_solves_another_problem(gamma: float) -> None:
    X, _ = random_data(6, n=10, d=3)
    u, l = instance(X, None, pairs=FEW).bounds
    printed = projections(X, sweeps=200, tol=1e-9, printed=True, pairs=FEW, gamma=gamma)
    assert not printed.converged
    other = solved(X, pairs=FEW, gamma=1.0, bounds=(u / gamma, l / gamma))
    np.testing.assert_allclose(printed.metric, other.metric, rtol=1e-4, atol=1e-5)
    assert_named("itml", "printed", X, None, printed.metric, pairs=FEW, gamma=gamma)
    same = projections(X, sweeps=50, printed=True, pairs=FEW)
    np.testing.assert_allclose(same.metric, projections(X, sweeps=50, pairs=FEW).metric, rtol=1e-9)


# ---- inputs


ALONE: dict[str, list[Any]] = {"similar": [], "dissimilar": []}
UNSOLVABLE: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "equal points": (np.repeat(X0, 2, axis=0), np.tile([0, 1], 12), {"bounds": (1, 2)}, "points 0 and 1"),
    "percentile 0": (np.repeat(X0[:3], 8, axis=0), np.repeat([0, 1, 1], 8), {}, "5th percentile"),
    "singular": (X0[:3], [0, 0, 1], {"prior": "covariance"}, "singular"),
    "huge": (1e200 * X0, Y0, {}, "rescale"),
    "tiny": (1e-160 * X0, Y0, {}, "rescale"),
    "no distances": (X0[:1], None, {"pairs": ALONE}, "bounds"),
    "no labels": (X0, None, {}, "y is"),
}


@pytest.mark.parametrize("case", UNSOLVABLE)
def test_data_that_have_no_solution_or_no_bounds(case: str) -> None:
    X, y, params, says = UNSOLVABLE[case]
    with pytest.raises(ValueError, match=says):
        cvxml.solve("itml", X, y, **params)


def test_parameters_are_untouched() -> None:
    """Writing to an array that is not writeable would raise."""
    pairs = {k: np.array(v) for k, v in FEW.items()}
    params: dict[str, Any] = {"prior": PRIOR0.copy(), "bounds": np.array([1.0, 4.0]), "pairs": pairs}
    for array in (params["prior"], params["bounds"], *pairs.values()):
        array.setflags(write=False)
    best = cvxml.solve("itml", X1, None, **params)
    for array in best.dual.values():
        array.setflags(write=False)
    cvxml.certify("itml", X1, None, np.eye(3), best.dual, **params)
    cvxml.evaluate("itml", X1, None, np.eye(3), **params)
    cvxml.problem("itml", X1, None, **params)
    projections(X1, None, sweeps=1, **params)


def test_similar_twins_are_told_of_and_change_nothing() -> None:
    X, y, params = DEGENERATE["twins-of-a-class"]
    solution = solved(X, y, **params)
    assert any(note.startswith("12 similar") for note in solution.notes)
    twins = {frozenset((2 * i, 2 * i + 1)) for i in range(12)}
    pairs = instance(X, y, **params).pairs.to_dict()
    pairs["similar"] = [pair for pair in pairs["similar"] if frozenset(pair) not in twins]
    assert solved(X, None, pairs=pairs, **params).objective == pytest.approx(solution.objective, rel=1e-10)


def test_distances_that_underflow_are_not_called_copies() -> None:
    X, y = random_data(0, n=12, d=2, classes=2)
    with pytest.raises(ValueError, match=r"bounds.*rescale X"):
        cvxml.solve("itml", 1e-200 * X, y)
    with pytest.raises(ValueError, match=r"bounds.*equal"):
        cvxml.solve("itml", np.repeat(X[:2], 20, axis=0), np.repeat([0, 1], 20))
