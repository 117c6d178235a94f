"""Every fast part of the MLSVM solver against a slow and obvious twin, on random and degenerate rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import cvxml
from cvxml import datasets
from cvxml.core.metric import FloatArray, project_psd
from cvxml.core.result import Status
from cvxml.methods.mlsvm import solver
from cvxml.methods.mlsvm.neighborhood import Neighborhood, neighborhood_of
from cvxml.methods.mlsvm.solver import CompactDual, solve_dual
from cvxml.solvers import feasible_sets
from cvxml.solvers.cone_dual import At, Model, OwnMetric, newton_point
from cvxml.solvers.feasible_sets import OWN
from tests.instances import random_data, real_data


def compact(seed: int, lam: float = 0.1, n: int = 20, d: int = 4) -> CompactDual:
    X, y = random_data(seed, n=n, d=d)
    return CompactDual(X, neighborhood_of(X, y, 5), lam)


def some_v(problem: CompactDual, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    return problem.feasible.project(rng.standard_normal(problem.J.shape) * 2 * problem.cap)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_project_rows_leaves_feasible_rows_and_is_nearest(seed: int) -> None:
    problem = compact(seed % 7)
    rng = np.random.default_rng(seed)
    v = rng.standard_normal(problem.J.shape) * problem.cap * 3
    p = problem.feasible.project(v)
    np.testing.assert_allclose(problem.feasible.project(p), p, atol=1e-15)
    for _ in range(5):  # obtuse angle with every other feasible point
        q = some_v(problem, int(rng.integers(10**6)))
        assert np.sum((v - p) * (q - p)) <= 1e-14


@pytest.mark.parametrize("seed", range(5))
def test_image_distances_and_gap_against_loops(seed: int) -> None:
    problem = compact(seed)
    v = some_v(problem, seed)
    X = problem.X
    G = np.zeros((4, 4))
    for r, i in enumerate(problem.rows):
        for k, j in enumerate(problem.J[r]):
            G += problem.sign[r, k] * v[r, k] * np.outer(X[i] - X[j], X[i] - X[j])
    np.testing.assert_allclose(problem.image(v), G, atol=1e-14)
    values = np.linalg.eigvalsh(G)
    A = project_psd(G) / problem.lam
    at = problem.at(v)
    D = at.margins
    slack = gap = 0.0
    for r, i in enumerate(problem.rows):
        d = [(X[i] - X[j]) @ A @ (X[i] - X[j]) for j in problem.J[r]]
        np.testing.assert_allclose(D[r], d, rtol=1e-10, atol=1e-13)
        up, down = problem.sign[r] > 0, problem.sign[r] < 0
        slack += max(0.0, 1 + max(np.array(d)[down]) - min(np.array(d)[up])) / problem.n
    dual = v[problem.up].sum() - problem.quadratic(values)
    gap = problem.quadratic(values) + slack - dual
    assert problem.slack(D) == pytest.approx(slack)
    assert at.gap == pytest.approx(gap, abs=1e-13)
    assert at.value == pytest.approx(len(problem.rows) / problem.n - dual, abs=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_a_descent_step_is_the_projected_gradient_step(seed: int) -> None:
    problem = compact(seed)
    v = some_v(problem, seed)
    step = problem.lam / 10

    def value(x: FloatArray) -> float:
        values = np.linalg.eigvalsh(problem.image(x))
        return problem.quadratic(values) - float(x[problem.up].sum())

    gradient = np.zeros_like(v)
    for index in zip(*np.nonzero(problem.sign), strict=True):
        e = np.zeros_like(v)
        e[index] = 1e-7
        gradient[index] = (value(v + e) - value(v - e)) / 2e-7
    expected = problem.feasible.project(v - step * problem.steps * gradient)
    np.testing.assert_allclose(problem.descent(v, problem.image(v)).step(step), expected, atol=1e-8)


@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_shortening_the_reward_changes_no_projection(lam: float) -> None:
    problem = compact(3, lam=lam)
    v = some_v(problem, 3)
    at, step = problem.at(v), problem.lam / 10
    plain = problem.feasible.project(
        v + step * problem.steps * (1.0 * problem.up - problem.sign * at.margins)
    )
    ours = problem.descend(at, step)
    np.testing.assert_allclose(ours, plain, atol=1e-12)


def test_curvature_bounds_the_second_order_term() -> None:
    problem = compact(4)
    rng = np.random.default_rng(0)
    for k in range(200):
        v, w = some_v(problem, k), some_v(problem, k + 1000)
        w = v + (w - v) * rng.choice([1e-3, 0.1, 1.0])
        G, H = problem.image(v), problem.image(w)
        P = project_psd(G)
        term = 2 * (
            problem.quadratic(np.linalg.eigvalsh(H))
            - problem.quadratic(np.linalg.eigvalsh(G))
            - np.sum(P * (H - G)) / problem.lam
        )
        cheap = np.sum((H - G) ** 2) / problem.lam
        for enough in (0.0, np.inf):
            bound = problem.descent(v, G).curvature(H, enough)
            assert term - 1e-13 <= bound <= cheap * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("few", [0, 10_000])
def test_face_directions_are_orthonormal_and_stay_feasible(
    seed: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a sparse matrix, and as a dense one, which is used for a small face."""
    monkeypatch.setattr(feasible_sets, "FEW", few)
    problem = compact(seed)
    v = some_v(problem, seed)
    v[0] = problem.feasible.project(np.where(problem.sign != 0, 10.0, 0.0))[0]  # a row at the cap
    sets = problem.feasible
    face = sets.face(v, np.zeros_like(v), sets.moves(v, np.zeros_like(v)))
    basis = face.along(np.eye(len(face.entries[0])))
    assert sparse.issparse(face.basis) == (few == 0)
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-12)
    free = 0
    for r in range(len(v)):
        u, w = (v[r] > 0) & problem.up[r], (v[r] > 0) & problem.down[r]
        capped = problem.feasible.at_cap(v)[r]
        free += max(u.sum() - 1, 0) + max(w.sum() - 1, 0) if capped else max(u.sum() + w.sum() - 1, 0)
    assert len(basis) == free
    for direction in basis:
        step = np.zeros_like(v)
        step[face.entries] = direction
        size = 0.5 * np.min(v[v > 0]) / np.abs(direction).max()
        np.testing.assert_allclose(problem.feasible.project(v + size * step), v + size * step, atol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_in_the_model_solves_the_regularised_equations(seed: int) -> None:
    problem = compact(seed, lam=0.05)
    v = some_v(problem, seed)
    at = problem.at(v)
    reach = np.repeat(
        0.3 * np.random.default_rng(seed).random((len(v), 1)) * problem.steps, v.shape[1], axis=1
    )
    model = Model.at(at, reach)
    assert model is not None
    new = model.step(v, model.pull)
    assert new is not None
    direction, face = new - v, problem.feasible.face(v, at.slope, model.moves)

    def gradient_along(x: FloatArray) -> FloatArray:
        full = problem.sign * problem.at(x).margins - problem.up
        return face.along(full[face.entries])

    step = 1e-6
    hessian_times = (gradient_along(v + step * direction) - gradient_along(v - step * direction)) / (2 * step)
    regular = face.along((direction / reach)[face.entries])
    np.testing.assert_allclose(hessian_times + regular, -gradient_along(v), atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_row_on_its_own_goes_no_further_than_its_reach(seed: int) -> None:
    problem = compact(seed, lam=0.05)
    v = some_v(problem, seed)
    v[0] = problem.feasible.project(np.where(problem.sign != 0, 10.0, 0.0))[0]  # a row at the cap
    at = problem.at(v)
    D, reach = at.margins, problem.feasible.reach(v, at.slope, 1e12 * problem.steps)
    for r in range(len(v)):
        uneven = 0.0
        for side in (
            (problem.up[r], problem.down[r]) if problem.feasible.at_cap(v)[r] else (problem.sign[r] != 0,)
        ):
            slopes = [D[r, k] - problem.up[r, k] for k in np.flatnonzero(side & (v[r] > 0))]
            uneven = max(uneven, max(slopes) - min(slopes)) if slopes else uneven
        allowed = 1e12 * problem.steps[r, 0]
        assert reach[r] == pytest.approx(min(allowed, OWN * problem.cap / uneven) if uneven else allowed)
        alone = np.zeros_like(v)
        alone[r] = v[r]
        here = At(problem, alone, at.image)  # the slopes of v, and the entries of one row
        model = Model.at(here, reach)
        new = None if model is None else model.step(alone, model.pull)
        if new is not None:
            assert np.linalg.norm(new - alone) <= OWN * problem.cap * np.sqrt(v.shape[1])


@pytest.mark.parametrize("seed", range(6))
def test_the_model_is_the_dual_to_second_order_and_a_round_of_it_is_feasible(seed: int) -> None:
    problem = compact(seed, lam=0.05)
    v = some_v(problem, seed)
    v[0] = problem.feasible.project(np.where(problem.sign != 0, 10.0, 0.0))[0]  # a row at the cap
    model = Model.at(problem.at(v), np.broadcast_to(1e12 * problem.steps, v.shape))
    goal = newton_point(model)
    assert model is not None
    assert goal is not None
    np.testing.assert_allclose(problem.feasible.project(goal), goal, atol=1e-13 * problem.cap)
    assert not goal[v == 0].any()

    def value(x: FloatArray) -> float:
        return problem.at(x).value

    short = v + 1e-4 * (goal - v)
    guessed, there = model.to(short)
    assert guessed == pytest.approx(value(short) - value(v), abs=1e-6 * abs(value(v)))
    np.testing.assert_allclose(there, problem.at(short).pull[model.moves], rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
def test_the_interior_point_method_and_the_gradient_solver_agree(lam: float) -> None:
    """Both end at the same metric: ||A - A*|| <= sqrt(2 gap / lam)."""
    X, y = real_data("iris", 60)
    problem = CompactDual(X, neighborhood_of(X, y, 6), lam)
    points = []
    for v, A in problem.interior():
        points.append(OwnMetric(problem, problem.feasible.project(v), A))
        np.testing.assert_allclose(points[-1].v, v, rtol=0, atol=1e-7 * problem.cap)  # it was feasible
    best = min(points, key=lambda at: at.gap)
    other, status, _ = solve_dual(problem, [np.zeros(problem.J.shape)], 1e-9, 1000)
    assert status is Status.CONVERGED
    assert other.scale > 0
    assert best.gap <= 1e-6 * other.scale
    away = np.linalg.norm(best.metric() - other.metric())
    assert away <= np.sqrt(2 * best.gap / lam) + np.sqrt(2 * other.gap / lam) + 1e-9 * np.linalg.norm(
        other.metric()
    )


def test_a_path_to_a_tiny_lam_that_ends_early_does_not_end_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The path starts at a lam that is larger than that of the data; it may stall where lam itself is easier."""
    X, y = random_data(0, n=20)
    tried = []

    def stalled(
        unit: FloatArray, N: Neighborhood, lam: float, *rest: object
    ) -> tuple[list[tuple[CompactDual, At]], Status]:
        tried.append(lam)
        problem = CompactDual(unit, N, 1e6 * lam)
        return [(problem, problem.at(np.zeros(problem.J.shape)))], Status.STALLED

    monkeypatch.setattr(solver, "SMALL_LAM", 1.0)
    monkeypatch.setattr(solver, "LAST_STEPS", 1)
    monkeypatch.setattr(solver, "_path_to", stalled)
    solution = cvxml.solve("mlsvm", X, y, lam=0.01)
    assert tried
    assert solution.status is Status.CONVERGED
    assert solution.certificate.proves(1e-6)


@pytest.mark.parametrize("lam", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("seed", [0, 27])
def test_features_of_very_different_scale_are_certified(seed: int, lam: float) -> None:
    """With P_+(G) / lam as the metric of the interior points, these ended at gaps of 1e-5 to 6e-2."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(15, 60)), int(rng.integers(2, 8))
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-4, 4, d) + 0.5 * y[:, None]
    assert cvxml.solve("mlsvm", X, y, lam=lam).certificate.proves(1e-6)


@pytest.mark.parametrize("lam", [pytest.param(10.0, marks=pytest.mark.slow), 1e3])
def test_a_wide_feature_is_solved_by_the_interior_point_method(lam: float) -> None:
    """Gradient and Newton steps alone stall here, at a gap of 1e-3 and more of the scale."""
    X, y = datasets.load("wine")
    keep = np.random.default_rng(0).permutation(len(X))[:60]
    X = datasets.standardize(X[keep][:, :3])
    X[:, 1] *= 1e4
    solution = cvxml.solve("mlsvm", X, y[keep], lam=lam)
    assert solution.status is Status.CONVERGED
    assert solution.certificate.proves(1e-6)
    assert "interior" in {step.phase for step in solution.history}


@pytest.mark.parametrize(
    ("y", "tightest", "room"),
    [([0] * 5 + [1] * 3 + [2] * 4, 1, 2), ([0] * 9 + [1] * 5, 1, 4), ([0] * 9 + [1] * 2 + [2], 2, 0)],
)
def test_too_many_neighbours_per_class_are_refused_with_the_tightest_class(
    y: list[int], tightest: int, room: int
) -> None:
    """With `room` neighbours all classes have enough points; a class after the first may have the fewest."""
    X = np.random.default_rng(0).standard_normal((len(y), 2))
    with pytest.raises(ValueError, match=rf"\bclass {tightest}\b.*\bmaximum is {room}\b"):
        cvxml.problem("mlsvm", X, y, neighborhood="per-class", n_neighbors=room + 1)
    if room:
        assert cvxml.problem("mlsvm", X, y, neighborhood="per-class", n_neighbors=room)
