"""The start of LMNN in many directions, against all triplets one by one and against a solve without it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.result import Status, Step
from cvxml.family.geometry.symmetric import smat, squares, svec, triangle
from cvxml.methods.lmnn import METHOD, SQUARED_HINGE, instance
from cvxml.solvers import active_rows, factor_start, linear_margins
from cvxml.solvers.active_rows import Active, Curvature, Limits
from cvxml.solvers.factor_start import FactorStart
from cvxml.solvers.linear_margins import LinearMargins
from tests.solvers.test_linear_margins import wide, without_signal

METHODS = pytest.mark.parametrize("method", [METHOD, SQUARED_HINGE], ids=["lmnn", "squared"])


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """The start has 4 columns, also for a few features."""
    monkeypatch.setattr(linear_margins, "DIRECTIONS", 4)


def started(method: Any = METHOD, seed: int = 0) -> tuple[LinearMargins, FactorStart]:
    solver = LinearMargins(method.member(instance(*wide(seed))), 1e-6)
    solver.begin()
    assert solver.factor is not None
    return solver, solver.factor


def ended(factor: FactorStart) -> FactorStart:
    while not factor.ended:
        factor.round()
    return factor


def all_rows(factor: FactorStart) -> np.ndarray:
    """The matrix V_t (t, r, r) of every row."""
    i, j, l = factor.rows.named(_all(factor)).T
    far, near = factor.Y[i] - factor.Y[l], factor.Y[i] - factor.Y[j]
    V: np.ndarray = np.einsum("ta,tb->tab", far, far) - np.einsum("ta,tb->tab", near, near)
    return V


def _all(factor: FactorStart) -> Any:
    keys = factor.rows.keys()
    return factor.duals()._replace(a=np.zeros(len(keys)), key=keys)


@pytest.mark.usefixtures("few")
@METHODS
@pytest.mark.parametrize("seed", range(2))
def test_its_gap_is_that_of_its_metric_and_of_feasible_dual_variables(method: Any, seed: int) -> None:
    """Recomputed with every row, also those that it does not hold."""
    _, factor = started(method, seed)
    ended(factor)
    assert factor.gap < factor.objective / 4
    V, M = all_rows(factor), factor.metric()
    missed = np.maximum(0, 1 - np.einsum("tab,ab->t", V, M))
    c, squared = factor.margin.cap, factor.margin.squared
    objective = np.trace(M) + c * np.sum(missed**2 if squared else missed)
    assert factor.objective == pytest.approx(objective, rel=1e-3)  # slight columns may have joined
    duals, keys = factor.duals(), factor.rows.keys()
    a = np.zeros(len(keys))
    a[np.searchsorted(keys, duals.key)] = duals.a
    a /= max(1, np.linalg.eigvalsh(np.einsum("t,tab->ab", a, V))[-1])
    bound = a.sum() - (a @ a / (4 * c) if squared else 0)
    assert factor.gap == pytest.approx(factor.objective - bound, rel=1e-6)


@pytest.mark.usefixtures("few")
@METHODS
def test_lbfgs_gets_the_slope_of_its_function(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []

    def noted(function: Any, start: Any, **options: Any) -> Any:
        given.append((function, start))
        raise KeyboardInterrupt

    monkeypatch.setattr("scipy.optimize.minimize", noted)
    with pytest.raises(KeyboardInterrupt):
        started(method)
    ((function, start),) = given
    rng = np.random.default_rng(0)
    for _ in range(5):
        direction = rng.standard_normal(len(start))
        step = 1e-6 * np.linalg.norm(start) / np.linalg.norm(direction) * direction
        change = function(start + step)[0] - function(start - step)[0]
        assert change == pytest.approx(2 * function(start)[1] @ step, rel=1e-4)


@pytest.mark.slow
@METHODS
@pytest.mark.parametrize(("seed", "most_rows"), [(0, 1e6), (1, 1e6), (0, 300.0)])
def test_it_ends_at_the_optimum_of_a_solve_without_it(
    method: Any, seed: int, most_rows: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wide(seed)
    without = cvxml.solve(method.id, X, y, tol=1e-7)
    monkeypatch.setattr(linear_margins, "DIRECTIONS", 4)
    monkeypatch.setattr(factor_start, "MOST_ROWS", most_rows)
    found = cvxml.solve(method.id, X, y, tol=1e-7)
    for solution in (without, found):
        assert solution.status is Status.CONVERGED
        assert solution.certificate.proves(1e-7)
    # each lies between the other's bound and objective
    slack = found.certificate.rounding + without.certificate.rounding
    assert found.objective + slack >= without.lower_bound
    assert without.objective + slack >= found.lower_bound


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(("share", "heavy"), [(0.5, True), (0.1, False)])
def test_a_heavy_hinge_that_the_start_does_not_solve_is_begun_anew(share: float, heavy: bool) -> None:
    """Its metric has few violated margins, so from there the hinge is not found to be heavy, and the search stalls."""
    solver = LinearMargins(METHOD.member(instance(*without_signal(), mu=0.99)), 1e-4)
    solver.begin()
    factor = solver.factor
    assert factor is not None
    ended(factor)
    factor.gap, factor.rounds = share * factor.objective, factor_start.ROUNDS
    solver.step()
    assert solver.factor is None
    assert (solver.solver.heavy > 1) is heavy
    assert solver.solver.price.any() is np.bool_(not heavy)  # the dual variables of the start


@pytest.mark.usefixtures("few")
@METHODS
def test_rows_that_are_all_loose_cost_nothing(method: Any) -> None:
    """A feature separates the classes, so the best L is 0 in the directions with a cost."""
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    X = rng.standard_normal((60, 12))
    X[:, 0] = 10 * y
    found = cvxml.solve(method.id, X, y)
    assert found.status is Status.CONVERGED
    assert found.certificate.proves(1e-6)
    solver = LinearMargins(method.member(instance(X, y)), 1e-6)
    solver.begin()
    assert solver.factor is not None
    assert solver.factor.objective == pytest.approx(solver.objective(solver.found()), abs=1e-6)


@pytest.mark.usefixtures("few")
@METHODS
def test_targets_of_few_points_are_no_sample_without_a_point(
    method: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (linear_margins, factor_start):
        monkeypatch.setattr(module, "FIRST_SAMPLE", 10)
    monkeypatch.setattr(factor_start, "MOST_ROWS", 30)
    X, y = wide()
    triplets = [[i, j, l] for i in range(3) for j in range(i + 3, 30, 3) for l in range(70) if y[l] != y[i]]
    found = cvxml.solve(method.id, X, None, triplets=triplets, tol=1e-3)
    assert found.certificate.proves(1e-3)


@pytest.mark.usefixtures("few")
@METHODS
def test_its_objective_counts_what_the_descent_has_violated(method: Any) -> None:
    solver, factor = started(method)
    for _ in range(3):
        assert factor.objective == pytest.approx(solver.objective(solver.found()), rel=1e-3)
        factor.round()


@pytest.mark.usefixtures("few")
def test_directions_join_until_the_metric_is_near_the_optimum_over_all() -> None:
    _, factor = started()
    k = factor.L.shape[1]
    ended(factor)
    assert 4 <= k < factor.L.shape[1] <= len(factor.L)


@pytest.mark.usefixtures("few")
def test_of_too_many_rows_a_sample_is_held_and_its_gap_is_no_gap_of_the_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(factor_start, "MOST_ROWS", 40)
    _, factor = started()
    samples = []
    for _ in range(6):
        if factor.every > 1:
            samples.append(factor.every)
            rows = factor.rows.sample(factor.every, (factor.rounds - 1) % factor.every)
            of_points = len(np.unique(rows.targets[:, 0]))
            assert len(np.unique(factor.key // len(factor.Y))) <= 3 * (of_points + 1)
            missed = np.maximum(0, 1 - rows.margins(factor.Y @ factor.L, factor.key))
            push = factor.every * factor.margin.cap * missed.sum()
            assert factor.objective == pytest.approx(
                np.sum(factor.L**2) + push, rel=0.05
            )  # slight columns join
            assert factor.estimate().gap == math.inf
            assert len(factor.duals().a) == 0  # the keys of a sample name other rows of the problem
            assert not factor.ended
        factor.round()
    assert len(samples) > 1


@pytest.mark.usefixtures("few")
def test_a_start_of_unknown_gap_gives_its_directions() -> None:
    L = np.random.default_rng(0).standard_normal((40, 3))
    for gap, many in ((math.inf, True), (math.nan, True), (1e-3, False)):
        solver = LinearMargins(METHOD.member(instance(*wide())), 1e-6)
        solver.go_on(L @ L.T, gap)
        assert (solver.factor is not None) is many
    solver = LinearMargins(METHOD.member(instance(*wide(d=6))), 1e-6)
    solver.begin()
    assert solver.factor is None


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("steps", [1, 2])
def test_an_interrupt_of_the_start_loses_no_metric(steps: int) -> None:
    """The result is a metric with a proof, better than 0."""
    X, y = wide()
    seen: list[Step] = []

    def interrupt(step: Step) -> None:
        seen.append(step)
        if len(seen) == steps:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning):
        found = cvxml.solve("lmnn", X, y, tol=1e-7, callback=interrupt)
    assert found.status is Status.INTERRUPTED
    assert len(found.history) == steps
    assert 0 < found.objective < cvxml.certify("lmnn", X, y, np.zeros((40, 40)), found.dual).objective
    assert found.certificate.lower_bound > 0


@pytest.mark.parametrize("exact", [2, 5])
def test_the_last_coordinates_have_only_the_diagonal_of_their_block(
    exact: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system of conjugate gradients, against a dense matrix."""
    rng, r, tau, weight = np.random.default_rng(0), 12, 0.5, 3.0
    Y, L = rng.standard_normal((30, r)), np.diag([1.0, 0.7, 0.3, *[0.02] * 4, *[0.01] * 5])
    i, j = (rng.integers(0, 15, 60) + shift for shift in (0, 15))
    pairs = np.unique(np.stack([i, j], axis=1), axis=0)
    B: Any = active_rows.csr_array(rng.standard_normal((50, len(pairs))))
    rows = Active(Y, B, pairs[:, 0], pairs[:, 1])
    for name, value in {"MAX_ROWS_DIRECT": 0, "MAX_ROWS_STORED": 0, "FIRST": exact}.items():
        monkeypatch.setattr(active_rows, name, value)
    curvature, b = Curvature(rows, L, tau, weight), rng.standard_normal(r * (r + 1) // 2)
    found = curvature.solve(b, Limits(200, 1e-12))
    assert curvature.first == max(3, exact)
    V = B @ squares((Y[rows.i] - Y[rows.j]) @ L)
    last = triangle(r)[0] >= curvature.first
    V[:, last] = 0.0
    H = weight * V.T @ V
    H[np.diag_indices_from(H)] += np.where(last, curvature._diagonal(), tau)
    assert found == pytest.approx(np.linalg.solve(H, b), rel=1e-6)
    S = smat(b, r)
    S[curvature.first :, curvature.first :] = 0.0
    assert curvature.along(b[~last]) == pytest.approx(
        B @ (squares((Y[rows.i] - Y[rows.j]) @ L) @ svec(S)), rel=1e-6, abs=1e-9
    )
