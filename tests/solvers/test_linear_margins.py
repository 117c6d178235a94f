"""The solver of LMNN: samples, starts, heavy hinges, and the parts that it computes with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml import datasets
from cvxml.core.result import Status, Step
from cvxml.family.geometry.symmetric import squares
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem import theorem
from cvxml.methods import get
from cvxml.methods.lmnn import METHOD, instance
from cvxml.solvers import active_rows, family_method, linear_margins, multipliers, newton
from cvxml.solvers.active_rows import Active, Curvature
from cvxml.solvers.choose_solver import PARTS, _sizes
from cvxml.solvers.linear_margins import LinearMargins
from cvxml.solvers.multipliers import Multipliers

METHODS = pytest.mark.parametrize("method", ["lmnn", "lmnn:squared_hinge"])


def wide(seed: int = 0, n: int = 70, d: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Points of three classes, apart in a few of the features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, d)) * 0.97 ** np.arange(d)
    X[:, :3] += 1.2 * np.eye(3)[y]
    return X, y


@METHODS
def test_a_sample_without_a_price_is_left_at_once(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What separates the classes costs nothing, so the rest could shrink for ever: each round to a quarter."""
    monkeypatch.setattr(linear_margins, "ENOUGH_ROWS", 30)
    rng, rounds, stages = np.random.default_rng(0), [0], []
    y = np.repeat(np.arange(3), 20)
    X = np.column_stack([rng.standard_normal((60, 2)), y])
    step, enter = Multipliers.step, LinearMargins._enter

    def counted(self: Multipliers) -> bool:
        rounds[0] += 1
        return step(self)

    def noted(self: LinearMargins, every: int, *given: Any) -> None:
        stages.append(every)
        enter(self, every, *given)

    monkeypatch.setattr(Multipliers, "step", counted)
    monkeypatch.setattr(LinearMargins, "_enter", noted)
    found = cvxml.solve(method, X, y, tol=1e-6)
    assert found.certificate.proves(1e-6)
    assert stages == [4, 1]  # a sample of a quarter came first
    assert rounds[0] < 40


@METHODS
def test_a_start_that_is_near_is_gone_on_with_from_there(method: str) -> None:
    X, y = wide(d=6)
    cold, near = (cvxml.solve(method, X, y, tol=tol) for tol in (1e-7, 1e-3))
    warm = cvxml.solve(method, X, y, tol=1e-7, warm_start=near)
    assert warm.certificate.proves(1e-7)
    assert warm.n_iter < cold.n_iter
    left = []
    for gap in (1e-5, 1e-3, np.inf, np.nan):
        solver = LinearMargins(METHOD.member(instance(X, y)), 1e-6)
        solver.go_on(near.metric, gap)
        left.append(solver.solver.tau * len(solver.spread) / solver.solver.value())
    assert left[0] < 1e-5
    assert left[1] < 1e-3
    assert left[2] == left[3] > left[1]


def test_the_best_multiple_of_a_shape_is_not_above_the_first_that_is_tried() -> None:
    """Twice and half of it are no better."""
    solver = LinearMargins(METHOD.member(instance(*wide())), 1e-6)
    for shape in (np.diag(1 / solver.spread), np.eye(len(solver.spread)) * 1e-9):
        M = solver._multiple(shape, 1)
        value = solver.objective(M)
        assert value <= solver.objective(2 * M)
        assert value <= solver.objective(M / 2)


@METHODS
def test_the_estimate_is_nearly_the_gap_of_the_certificate(method: str) -> None:
    """Infeasible dual variables are scaled down. The scale is at least the smallest scale of the problem."""
    of, given = get(method), instance(*wide(d=6))
    solver = LinearMargins(of.member(given), 1e-6)
    solver.begin()
    for _ in range(4):
        solver.step()
    proof = of.certify(given, solver.metric(), of.named(given, solver.duals()))
    estimate = solver.estimate(of.member(given))
    # the certificate takes the best multiple of the dual variables
    assert proof.gap <= estimate.gap * (1 + 1e-6) <= 1.1 * proof.gap
    assert estimate.objective == pytest.approx(proof.objective, rel=1e-9)
    far_from_zero = of.member(given)._replace(least_scale=1e9)
    assert solver.estimate(far_from_zero).scale == 1e9
    solver.solver.price = 1.01 * solver.solver.slopes(solver.solver.x)  # infeasible, so they are scaled down
    proof = of.certify(given, solver.metric(), of.named(given, solver.duals()))
    estimate = solver.estimate(of.member(given))
    assert proof.gap <= estimate.gap * (1 + 1e-6) <= 10 * proof.gap
    points = solver.solver.active.Y
    solver.solver.active = solver.solver.active._replace(Y=np.full_like(points, np.nan))
    estimate = solver.estimate(of.member(given))
    assert estimate.gap == estimate.objective  # that of dual variables 0


@METHODS
def test_only_one_scan_of_all_rows_certifies_the_result(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate needs a pass over all pairs of points, which takes long for many points."""
    proved, certify = list[float](), theorem.certify

    def counted(*given: Any) -> Any:
        proved.append(1)
        return certify(*given)

    monkeypatch.setattr(family_method, "certify", counted)
    found = cvxml.solve(method, *wide(d=6), tol=1e-4)
    assert found.certificate.proves(1e-4)
    assert len(found.history) > 3
    assert len(proved) == 1


def test_the_metric_0_is_returned_if_it_is_optimal() -> None:
    """The solver ends at a small positive definite metric."""
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) % 2
    found = cvxml.solve("lmnn", X, y, mu=0.01)
    assert not found.metric.any()
    assert found.certificate.proves(1e-6)


def test_a_sample_that_begins_behind_the_last_point_begins_again() -> None:
    targets = np.array([[0, 1], [1, 0], [2, 3]])
    rows = Triplets(targets, np.ones((3, 5), dtype=bool))
    for first, points in ((0, [0, 2]), (1, [1]), (4, [1]), (5, [2]), (6, [0, 2])):
        assert rows.sample(2, first).targets[:, 0].tolist() == points


def test_an_indefinite_matrix_of_newton_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        newton._cholesky_solve(np.asfortranarray(-2 * np.eye(2)), np.ones(2))


@pytest.mark.parametrize("dense", [True, False])
def test_sums_and_products_do_not_depend_on_how_many_pairs_there_are(
    dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = some_rows()
    monkeypatch.setattr(active_rows, "DENSE", 10**9 if dense else 0)
    monkeypatch.setattr(active_rows, "CACHED", 16)
    assert rows.dense is dense
    rng = np.random.default_rng(3)
    S, a = rng.standard_normal((4, 4)), rng.standard_normal(rows.B.shape[0])
    S = S + S.T
    e = rows.Y[rows.i] - rows.Y[rows.j]
    np.testing.assert_allclose(rows.along(S), rows.B @ np.array([v @ S @ v for v in e]), atol=1e-10)
    np.testing.assert_allclose(rows.margins_between(rows.Y, rows.Y @ S), rows.along(S), atol=1e-10)
    weights = rows.B.T @ a
    direct = sum(w * np.outer(v, v) for w, v in zip(weights, e, strict=True))
    np.testing.assert_allclose(rows.total(a), direct, atol=1e-10)


def some_rows(n: int = 40) -> Active:
    rng = np.random.default_rng(2)
    y = np.arange(n) % 2
    targets = np.array([(i, j) for i in range(n) for j in range(n) if i != j and y[i] == y[j]])
    rows: Any = Triplets(targets, y[targets[:, 0]][:, None] != y)
    Y = rng.standard_normal((n, 4))
    key = rng.permutation(rows.keys())[:500]
    return Active.of(Y, rows.entries(np.sort(key)), len(key))


def test_the_diagonal_is_that_of_every_pair_or_of_enough_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows()
    often = np.asarray((rows.B**2).sum(axis=0)).ravel()
    direct = 0.1 + 2.0 * often @ squares(rows.Y[rows.i] - rows.Y[rows.j]) ** 2
    curvature = Curvature(rows, np.eye(4), 0.1, 2.0)
    np.testing.assert_allclose(curvature._diagonal(), direct, rtol=1e-10)
    monkeypatch.setattr(active_rows, "SEEN", len(rows.i) // 3)
    some = curvature._diagonal()
    assert (some != curvature.tau).all()
    assert np.abs(some / direct - 1).max() < 0.5


def test_parts_of_a_metric_are_all_where_they_are_few() -> None:
    assert _sizes(5) == [1, 2, 3, 4]
    assert _sizes(1) == []
    many = _sizes(1000)
    assert many == sorted(set(many))
    assert (many[0], many[-1]) == (1, 999)
    assert len(many) <= PARTS


def without_signal(n: int = 60, d: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Points of three classes that are not apart in any feature."""
    return np.random.default_rng(0).standard_normal((n, d)), np.arange(n) % 3


@pytest.mark.parametrize("mu", [0.99, 0.999])
def test_a_heavy_hinge_is_certified(mu: float) -> None:
    """Dual variables far below their limit: a kink that is narrow from the start ends in a stalled run."""
    X, y = without_signal()
    found = cvxml.solve("lmnn", X, y, mu=mu, tol=1e-4)
    assert found.status is Status.CONVERGED
    assert found.certificate.proves(1e-4)


@pytest.mark.parametrize(("n", "d", "mu"), [(100, 30, 0.999), (150, 40, 0.9999)])
def test_rounds_that_end_far_from_their_minimum_are_continued(n: int, d: int, mu: float) -> None:
    """The first sample has no heavy hinge, and the rounds on all rows would stall at a gap of 27 % and more."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 5
    X = rng.standard_normal((5, d))[y] + rng.standard_normal((n, d))
    solution = cvxml.solve("lmnn", X, y, mu=mu, tol=1e-3)
    assert solution.status is Status.CONVERGED
    assert solution.certificate.proves(1e-3)


@pytest.mark.slow
def test_a_first_round_does_not_run_into_rows_that_are_not_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw digits: five steps without a look at the other rows violated ten times as many as the optimum has."""
    X, y = datasets.load("digits")
    X, y = datasets.subsample(X, y, 600)
    look, held = Multipliers.look, []

    def seen(self: Multipliers) -> None:
        look(self)
        held.append(len(self.key))

    monkeypatch.setattr(Multipliers, "look", seen)
    solution = cvxml.solve("lmnn", X, y, tol=1e-3)
    assert solution.certificate.proves(1e-3)
    assert max(held) < 200_000


@pytest.mark.parametrize(
    ("mu", "heavy"), [(0.01, False), (0.5, False), (0.9, False), (0.98, True), (0.99, True)]
)
def test_the_hinge_is_heavy_only_near_mu_1(mu: float, heavy: bool) -> None:
    """At mu = .01 the optimum is 0, so no ratio of the two sums means anything."""
    X, y = without_signal()
    solver = LinearMargins(METHOD.member(instance(X, y, mu=mu)), 1e-4)
    solver.begin()
    assert (solver.solver.heavy > 1) is heavy


@pytest.mark.parametrize(("d", "heavy"), [(30, True), (20, True), (8, False), (5, False)])
def test_the_hinge_is_heavy_only_with_many_features(d: int, heavy: bool) -> None:
    """With three targets for each of 60 points, 8 features have 5 targets for each entry of the metric."""
    X, y = without_signal(d=d)
    solver = LinearMargins(METHOD.member(instance(X, y, mu=0.99)), 1e-4)
    solver.begin()
    assert (solver.solver.heavy > 1) is heavy


@pytest.mark.parametrize("g", [1.0, multipliers.NARROWEST])
def test_of_a_heavy_hinge_the_width_or_tau_falls_in_each_step(
    g: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However large the excess of the rows is. At the smallest width tau must fall, or the run never ends."""
    X, y = without_signal()
    margins = LinearMargins(METHOD.member(instance(X, y, mu=0.99)), 1e-4)
    margins.begin()
    solver = margins.solver
    solver.g, solver.decrement, tau = g, 0.0, solver.tau
    monkeypatch.setattr(solver, "rest", lambda: np.inf)
    monkeypatch.setattr(solver, "round", lambda: True)
    assert solver.step()
    assert (solver.g < g) is (g > multipliers.NARROWEST)
    assert (solver.tau < tau) is (g == multipliers.NARROWEST)


def test_of_a_heavy_hinge_a_round_is_continued_a_limited_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Although no round ends near its minimum."""
    X, y = without_signal()
    margins = LinearMargins(METHOD.member(instance(X, y, mu=0.99)), 1e-4)
    margins.begin()
    solver = margins.solver
    solver.decrement, began = np.inf, (solver.g, solver.tau)
    monkeypatch.setattr(solver, "round", lambda: True)
    for _ in range(multipliers.CONTINUED):
        assert solver.step()
        assert (solver.g, solver.tau) == began
    assert solver.step()
    assert (solver.g, solver.tau) != began


def not_to_be_kept() -> dict[str, Any]:
    """Many margins are violated at every metric, and mu is near 1: the solver of a heavy hinge may stall."""
    X, y = np.random.default_rng(8).standard_normal((40, 6)), np.arange(40) % 2
    X[:, 0] += y
    return {"X": X, "y": y, "mu": 0.9999, "n_neighbors": 2}


def stalls(monkeypatch: pytest.MonkeyPatch, second: bool = False) -> None:
    """The search with steps for a heavy hinge stalls after 20 steps, for all processors; the second one at once."""
    real, left = LinearMargins.step, [20]

    def step(self: LinearMargins) -> bool:
        if not self.may_be_heavy:
            return not second and real(self)
        left[0] -= 1
        return left[0] > 0 and real(self)

    monkeypatch.setattr(LinearMargins, "step", step)


def test_a_heavy_hinge_that_stalls_is_solved_as_one_that_is_not_heavy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stalls(monkeypatch)
    told: list[Step] = []
    found = cvxml.solve("lmnn", **not_to_be_kept(), callback=told.append)
    assert found.status is Status.CONVERGED
    assert found.certificate.proves(1e-6)
    assert [step.iteration for step in found.history] == list(range(found.n_iter + 1))
    assert told == list(found.history)


def test_the_better_of_both_searches_is_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    stalls(monkeypatch, second=True)
    with pytest.warns(ConvergenceWarning):
        found = cvxml.solve("lmnn", **not_to_be_kept())
    assert found.status is Status.STALLED
    assert found.history[-1].gap > 1.5 * min(step.gap for step in found.history)
    assert found.gap <= min(step.gap for step in found.history) * (1 + 1e-9)


def test_an_interrupt_of_the_second_search_keeps_the_result_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stalls(monkeypatch)
    real = LinearMargins.begin

    def begin(self: LinearMargins) -> None:
        if not self.may_be_heavy:
            raise KeyboardInterrupt
        real(self)

    monkeypatch.setattr(LinearMargins, "begin", begin)
    with pytest.warns(ConvergenceWarning):
        found = cvxml.solve("lmnn", **not_to_be_kept())
    assert found.status is Status.INTERRUPTED
    assert found.gap <= min(step.gap for step in found.history) * (1 + 1e-9)
