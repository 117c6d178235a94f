"""Gerrymandering, the fast side: parts against slow twins, steps, CCCP, SGD, starts, errors."""

from __future__ import annotations

import itertools
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import fmpz_mat
from scipy.optimize import minimize_scalar

import cvxml
from cvxml.core.metric import FloatArray, project_psd
from cvxml.core.neighbors import majority
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.core.run import Found
from cvxml.methods.ssvm import enumeration
from cvxml.methods.ssvm.algorithms import mean_change, sgd
from cvxml.methods.ssvm.inference import (
    Point,
    best_scale,
    loss_augmented,
    nearest,
    point_at,
    rescaled,
    scores,
    targeted,
)
from cvxml.methods.ssvm.instance import Instance, instance
from cvxml.methods.ssvm.solver import LiteralSteps, notes_on, relieff
from cvxml.methods.ssvm.step import Columns, StepResult, StepSolver, cccp
from tests.instances import objective_of, real_data


def some(seed: int, n: int = 24, d: int = 3, R: int = 3, k: int = 3, C: float = 0.1) -> Instance:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % R
    X = rng.standard_normal((n, d)) + 0.8 * rng.standard_normal((R, d))[y]
    Lam = rng.uniform(0.5, 2, (R, R)) * (1 - np.eye(R))
    return instance(X, y, n_neighbors=k, C=C, loss_matrix=Lam)


def random_psd(seed: int, d: int = 3, size: float = 0.3) -> np.ndarray:
    root = np.random.default_rng(seed).standard_normal((d, d))
    return size * root @ root.T


@pytest.mark.parametrize("seed", range(4))
def test_a_point_is_what_the_definition_says(seed: int) -> None:
    p, W = some(seed), random_psd(seed)
    at = point_at(p, W)
    assert pytest.approx(enumeration.objective(p.X, p.y, W, p.k, p.C, p.Lam), rel=1e-12) == at.F
    slow = enumeration.h_star(p.X, p.y, W, p.k)
    np.testing.assert_allclose(scores(p.X, W, at.latent), scores(p.X, W, np.array(slow)), rtol=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_the_best_scale_is_the_minimum_along_the_ray(seed: int) -> None:
    p, W = some(seed), random_psd(seed, size=10.0 ** (2 * seed - 4))
    at = point_at(p, W)
    s = best_scale(p, at)

    def F(t: float) -> float:
        return point_at(p, t * W).F

    found = minimize_scalar(F, bounds=(0, 3 * s + 1e-3), method="bounded", options={"xatol": 1e-12})
    assert F(s) <= found.fun + 1e-12 * abs(found.fun)
    assert rescaled(p, at).F <= at.F
    # convex along the ray
    t = np.linspace(0, 2 * s + 1, 30)
    values = np.array([F(x) for x in t])
    assert (values[2:] + values[:-2] - 2 * values[1:-1] >= -1e-9 * np.abs(values).max()).all()


def test_a_start_whose_best_multiple_is_0_keeps_its_sets() -> None:
    # the noisy feature is worth nothing, and a metric that has it alone is best at 0; its nearest sets are its own
    rng = np.random.default_rng(3)
    y = np.arange(24) % 2
    X = np.column_stack([y + 0.1 * rng.standard_normal(24), rng.standard_normal(24)])
    p = instance(X, y, n_neighbors=3, C=1e-3)
    at = point_at(p, np.diag([0.0, 1.0]))
    best, zero = rescaled(p, at), point_at(p, np.zeros((2, 2)))
    assert best.norm2 == 0
    assert np.array_equal(best.latent, at.latent)
    assert not np.array_equal(best.latent, zero.latent)  # those of the identity
    assert best.F == zero.F < at.F
    one, other = (cvxml.solve("ssvm", X, y, n_neighbors=3, C=1e-3, init=init) for init in (at.W, "zero"))
    assert one.status.name == other.status.name == "STATIONARY"


@pytest.mark.quick(2)
@pytest.mark.parametrize("solver", ["fast", "clarabel"])
@pytest.mark.parametrize(("seed", "leaves"), [(0, False), (9, True)])
def test_what_ends_at_0_is_stationary_for_the_sets_of_its_certificate(
    seed: int, leaves: bool, solver: str
) -> None:
    """From 0 with the sets of another start no step goes on; with those of the identity it may."""
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.standard_normal((8, 2)), 1), np.arange(8) % 2
    given = {"n_neighbors": 1, "C": 1.0, "init": np.diag([0.0, 1.0])}
    solution = cvxml.solve("ssvm", X, y, solver=solver, **given)
    assert solution.status.name == "STATIONARY"
    assert (solution.objective < 7.0) == leaves
    assert solution.metric.any() == leaves
    plain = cvxml.solve("ssvm", X, y, **{**given, "init": "zero"})
    assert solution.objective == pytest.approx(plain.objective)


def with_columns(p: Instance, seed: int) -> tuple[Columns, np.ndarray]:
    """Columns with the worst sets at a few metrics, and random weights on them."""
    columns = Columns(p, point_at(p, np.eye(3)).latent)
    for k in range(3):
        worst = loss_augmented(point_at(p, random_psd(seed + k)).near, p.y, p.Lam).sets
        columns.take_in(worst[:, None, :], np.ones((len(p.y), 1), dtype=bool))
    return columns, columns.feasible.project(np.random.default_rng(seed).random(columns.real.shape))


@pytest.mark.parametrize("seed", range(5))
def test_image_scores_value_and_gap_against_loops(seed: int) -> None:
    p = some(seed)
    columns, q = with_columns(p, seed)
    M, W = np.zeros((3, 3)), random_psd(seed)
    for i in range(len(p.y)):
        for h, weight, real in zip(columns.sets[i], q[i], columns.real[i], strict=True):
            assert real or weight == 0
            M += p.C * weight * sum(np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j]) for j in h)
        M -= p.C * sum(np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j]) for j in columns.latent[i])
    np.testing.assert_allclose(columns.image(q), M, atol=1e-12)
    values, vectors = np.linalg.eigh(2 * W)
    D = columns.margins(values, vectors)
    for i, c in zip(*np.nonzero(columns.real), strict=True):
        h = columns.sets[i, c]
        assert D[i, c] == pytest.approx(enumeration.distances(p.X, W, int(i))[h].sum(), rel=1e-10)
        assert columns.delta[i, c] == enumeration.task_loss(
            enumeration.votes(p.y, tuple(h), 3), int(p.y[i]), p.Lam
        )
    here = columns.at(q)
    positive = project_psd(M)
    bound = p.C * np.sum(q * columns.delta) - np.sum(positive**2) / 4
    assert columns.bound(here) == pytest.approx(bound, rel=1e-10)
    largest = np.sum(p.C * columns.delta.max(axis=1))
    assert here.value == pytest.approx(largest - bound, rel=1e-10)
    numeric = np.zeros_like(q)
    for i, c in zip(*np.nonzero(columns.real), strict=True):
        for sign in (1, -1):
            moved = q.copy()
            moved[i, c] += sign * 1e-6
            numeric[i, c] -= sign * columns.bound(columns.at(moved)) / 2e-6
    np.testing.assert_allclose(here.slope[columns.real], numeric[columns.real], atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_curvature_bounds_the_second_order_term(seed: int) -> None:
    p = some(seed)
    columns, q = with_columns(p, seed)
    rng = np.random.default_rng(seed)
    M = columns.image(q)
    P = project_psd(M)
    for size in (1e-3, 0.1, 1.0):
        other = columns.feasible.project(q + size * rng.standard_normal(q.shape))
        H = columns.image(other)
        term = 2 * (np.sum(project_psd(H) ** 2) / 4 - np.sum(P**2) / 4 - np.sum(P * (H - M)) / 2)
        cheap = np.sum((H - M) ** 2) / 2
        for enough in (0.0, np.inf):
            bound = columns.descent(q, M).curvature(H, enough)
            assert term - 1e-12 * (1 + np.sum(P**2)) <= bound <= cheap * (1 + 1e-12)


def test_columns_are_taken_in_once_and_dropped_when_idle() -> None:
    p = some(0)
    columns, q = with_columns(p, 0)
    before = columns.real.sum()
    columns.q = q
    columns.take_in(columns.sets[:, :1], np.ones((len(p.y), 1), dtype=bool))
    assert columns.real.sum() == before
    np.testing.assert_allclose(columns.q.sum(axis=1), 1)
    columns.q = np.where((columns.sets == columns.latent[:, None, :]).all(axis=2), 1.0, 0.0)
    for _ in range(10):
        columns.take_in(columns.latent[:, None, :], np.zeros((len(p.y), 1), dtype=bool))
    assert (columns.real.sum(axis=1) == 1).all()
    assert (columns.sets[:, 0] == columns.latent).all()


@pytest.mark.quick(2)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
def test_a_step_is_solved_to_its_tolerance(seed: int, tol: float) -> None:
    p = some(seed)
    at = point_at(p, random_psd(seed))
    solver = StepSolver(p, at.latent)
    result = solver.solve(at, tol, early=False)
    majorant = enumeration.majorant(
        p.X, p.y, result.best.W, p.k, p.C, p.Lam, [tuple(h) for h in at.latent.tolist()]
    )
    assert result.objective == pytest.approx(majorant, rel=1e-10)
    assert result.objective - result.bound <= tol * max(result.best.norm2, at.norm2) + 1e-12
    assert result.bound <= majorant + 1e-12
    assert result.objective + 1e-12 >= result.best.F  # the step majorises F
    for k in range(20):  # and the bound holds for every metric
        other = random_psd(100 + k, size=0.05 * k)
        value = enumeration.majorant(p.X, p.y, other, p.k, p.C, p.Lam, [tuple(h) for h in at.latent.tolist()])
        assert result.bound <= value


@pytest.mark.quick(3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("start", ["zero", "identity", "relieff", "random"])
def test_cccp_never_increases_F_and_ends_stationary(seed: int, start: str) -> None:
    p = some(seed)
    solution = cvxml.solve(
        "ssvm", p.X, p.y, n_neighbors=p.k, C=p.C, loss_matrix=p.Lam, init=start, tol=1e-7, random_state=seed
    )
    F = [step.objective for step in solution.history]
    assert all(later <= earlier for earlier, later in itertools.pairwise(F))
    assert solution.status is Status.STATIONARY
    assert solution.certificate.step is not None
    assert solution.step_gap <= 1e-7 * solution.certificate.scale + solution.certificate.rounding
    assert solution.lower_bound == 0
    assert solution.objective == pytest.approx(
        enumeration.objective(p.X, p.y, solution.metric, p.k, p.C, p.Lam), rel=1e-10
    )


def test_both_solvers_of_a_step_run_the_same_cccp_and_keep_the_best_metric_of_an_interrupted_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At the second step of a back end the metric of the first is kept; at the first step there is none."""
    p, start = some(0, n=6, d=2, R=2, k=1), random_psd(0, d=2)
    literal = partial(LiteralSteps, solver="clarabel")
    ends = [cccp(p, start, 1e-6, 100, steps_from=steps) for steps in (StepSolver, literal)]
    assert [run.status for run in ends] == [Status.STATIONARY] * 2
    assert pytest.approx(ends[1].at.F, rel=1e-5) == ends[0].at.F
    assert ends[1].steps > 1
    solve, calls = LiteralSteps.solve, list[int]()

    def interrupted(self: LiteralSteps, at: Point, tol: float) -> StepResult:
        calls.append(1)
        if len(calls) == last:
            raise KeyboardInterrupt
        return solve(self, at, tol)

    monkeypatch.setattr(LiteralSteps, "solve", interrupted)
    last = 2
    run = cccp(p, start, 1e-6, 100, steps_from=literal)
    assert (run.status, run.steps) == (Status.INTERRUPTED, 1)
    assert ends[1].at.F <= run.at.F < point_at(p, start).F
    calls.clear()
    last = 1
    with pytest.raises(KeyboardInterrupt):
        cccp(p, start, 1e-6, 100, steps_from=literal)


@pytest.mark.slow
def test_the_best_of_several_starts_is_kept() -> None:
    X, y = real_data("iris", 60)
    runs = {
        start: cvxml.solve("ssvm", X, y, C=0.1, init=start, tol=1e-4)
        for start in ("zero", "identity", "random")
    }
    together = cvxml.solve("ssvm", X, y, C=0.1, init=list(runs), tol=1e-4)
    assert together.objective == min(run.objective for run in runs.values())
    assert any("F by start" in note for note in together.notes)


def test_at_zero_h_star_is_that_of_the_identity() -> None:
    """All sets tie there; the run, the certificate and `check` take the same."""
    p = some(3)
    zero, identity = point_at(p, np.zeros((3, 3))), point_at(p, np.eye(3))
    np.testing.assert_array_equal(zero.latent, identity.latent)
    assert pytest.approx(p.C * p.Lam[p.y].max(axis=1).sum()) == zero.F


def test_where_the_data_are_hopeless_the_metric_is_zero() -> None:
    """Labels without any relation to the points: at a small C nothing beats W = 0, and that is said."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.standard_normal((5, 2)), 4, axis=0), np.tile([0, 1], 10)
    solution = cvxml.solve("ssvm", X, y, C=1e-3, n_neighbors=2, init="identity")
    assert solution.status is Status.STATIONARY
    assert not solution.metric.any()
    assert cvxml.check("ssvm", X, y, solution.metric, C=1e-3, n_neighbors=2).verdict is Verdict.CERTIFIED


def test_the_parts_of_evaluate_make_its_loss_and_its_step() -> None:
    p, W = some(2), random_psd(5)
    evaluation = cvxml.evaluate("ssvm", p.X, p.y, W, n_neighbors=p.k, C=p.C, loss_matrix=p.Lam)
    np.testing.assert_allclose(
        evaluation.L, evaluation.S_hat + evaluation.Delta - evaluation.S_star, rtol=1e-10
    )
    np.testing.assert_allclose(np.sum(W * evaluation.Psi_star), evaluation.S_star.sum(), rtol=1e-10)
    np.testing.assert_allclose(evaluation.W_half, W - evaluation.eta * evaluation.subgradient)


@pytest.mark.slow
def test_sgd_corrected_descends_and_as_printed_does_not() -> None:
    X, y = real_data("iris", 60)
    p = instance(X, y, n_neighbors=3, C=1 / 60)
    right = sgd(p, np.zeros((4, 4)), 30)
    printed = sgd(p, np.zeros((4, 4)), 30, paper=True)
    optimum = cvxml.solve("ssvm", X, y, C=1 / 60, init=["zero", "identity"]).objective
    assert min(right.F) <= right.F[-1] <= 1.05 * optimum
    assert printed.F[-1] > 1.5 * optimum  # it comes near in its first pass, and drifts away
    assert pytest.approx(min(right.F)) == point_at(p, right.W).F
    step_alone = sgd(p, np.zeros((4, 4)), 30, paper=True, printed_inference=False)
    assert step_alone.F[-1] > 1.5 * optimum
    inference_alone = sgd(p, np.zeros((4, 4)), 30, printed_inference=True)
    assert inference_alone.F[-1] < 1.5 * optimum


@pytest.mark.parametrize("seed", range(3))
def test_a_change_of_sgd_is_the_derivative_of_the_mean_loss(seed: int) -> None:
    """(12): differences of F from its definition, where no two sets tie, so that it has a derivative."""
    p, rng = some(seed), np.random.default_rng(seed)
    W, E = random_psd(seed) + 0.1 * np.eye(3), rng.standard_normal((3, 3))
    E, n = (E + E.T) / 2, len(p.y)
    given: dict[str, Any] = {"n_neighbors": p.k, "C": p.C, "loss_matrix": p.Lam}
    h = 1e-6
    ahead, behind = (objective_of("ssvm", p.X, p.y, W + t * E, **given) for t in (h, -h))
    slope = np.sum((2 * W + p.C * n * mean_change(p, W, np.arange(n))) * E)
    assert (ahead - behind) / (2 * h) == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_a_full_batch_of_sgd_is_the_subgradient_step() -> None:
    p, W = some(4), random_psd(4)
    evaluation = cvxml.evaluate("ssvm", p.X, p.y, W, n_neighbors=p.k, C=p.C, loss_matrix=p.Lam, t=1)
    run = sgd(p, W, 1, batch_size=len(p.y))
    np.testing.assert_allclose(run.last, evaluation.W_next, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("paper", [False, True])
def test_each_pass_of_sgd_takes_each_point_once_also_as_printed(
    paper: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The paper draws each sample from all points: docs/errata.md says that a pass here does not."""
    p, taken = some(1), []

    def recorded(p: Any, W: FloatArray, batch: Any, *given: Any) -> FloatArray:
        taken.extend(batch.tolist())
        return mean_change(p, W, batch, *given)

    monkeypatch.setattr("cvxml.methods.ssvm.algorithms.mean_change", recorded)
    n = len(p.y)
    sgd(p, np.eye(3), 2, paper=paper)
    assert sorted(taken[:n]) == sorted(taken[n:]) == list(range(n))
    assert taken[:n] != taken[n:]


def test_an_update_has_rank_2k_at_most() -> None:
    """Section 5.1.3: twice the points of h^ that h* has not. For one sample: not for a batch."""
    k, rng = 3, np.random.default_rng(0)
    p = instance(rng.integers(-4, 5, (40, 12)), np.arange(40) % 3, n_neighbors=k)
    W, found = np.eye(12), []
    near = nearest(p.X, p.y, p.R, W, k)
    star, hat = targeted(near, p.y).sets, loss_augmented(near, p.y, p.Lam).sets
    for i in range(40):
        dW = mean_change(p, W, np.array([i]))
        assert (dW == dW.astype(int)).all()  # of points in integers: the rank is exact
        apart = k - len(set(star[i]) & set(hat[i]))
        assert fmpz_mat(dW.astype(int).tolist()).rank() == 2 * apart
        found.append(apart)
    assert 0 < max(found) <= k
    batch = 40 * mean_change(p, W, np.arange(40))
    assert fmpz_mat(batch.round().astype(int).tolist()).rank() > 2 * k


def test_relieff_finds_the_feature_that_matters() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.standard_normal((60, 4))
    X[:, 2] += 6 * y
    weights = relieff(X, y, 3)
    assert weights.argmax() == 2
    assert weights[2] > 3 * np.delete(weights, 2).max()
    assert (weights >= 0).all()
    np.testing.assert_allclose(
        relieff(X * [1, 50, 0.1, 3], y, 3), weights, rtol=1e-12
    )  # ranges do not matter
    np.testing.assert_array_equal(relieff(np.zeros((6, 2)), np.arange(6) % 2, 2), [1, 1])


def test_a_tie_of_votes_goes_to_the_nearest_tied_class() -> None:
    labels = np.array([[0, 1, 1], [2, 1, 0], [1, 2, 2], [0, 1, 2]])
    np.testing.assert_array_equal(majority(labels, 3), [1, 2, 2, 0])
    np.testing.assert_array_equal(majority(np.array([[2, 0, 1, 0, 1]]), 3), [0])


@pytest.mark.parametrize("seed", range(4))
def test_who_can_win_is_what_enumeration_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        R, k = int(rng.integers(2, 5)), int(rng.integers(1, 6))
        y = np.concatenate([np.arange(R), rng.integers(0, R, int(rng.integers(2, 6)))])
        if k > len(y) - 1:
            continue
        X = rng.standard_normal((len(y), 2))
        possible = all(enumeration.targeted(np.ones(len(y)), y, i, k, int(y[i]), 1) for i in range(len(y)))
        if possible:
            assert instance(X, y, n_neighbors=k).k == k
        else:
            with pytest.raises(ValueError, match="cannot win"):
                instance(X, y, n_neighbors=k)


@pytest.mark.slow
def test_check_judges_the_claim_to_be_optimal_apart() -> None:
    X, y = real_data("iris", 150)
    runs = [
        cvxml.solve("ssvm", X, y, C=1.0, init=start, tol=1e-8) for start in ("zero", "identity", "random")
    ]
    best, *_, worse = sorted(runs, key=lambda run: run.objective)
    assert worse.objective > 1.05 * best.objective, "the starts lead to one value: no longer a test"
    assert cvxml.check("ssvm", X, y, worse.metric, C=1.0).verdict is Verdict.CERTIFIED
    report = cvxml.check("ssvm", X, y, worse.metric, C=1.0, claim="optimal", diagnosed=False)
    assert report.verdict is Verdict.REFUTED


def test_a_claimed_value_is_judged_beside_its_metric() -> None:
    X, y = real_data("iris", 30)
    solution = cvxml.solve("ssvm", X, y, tol=1e-8)
    for factor, verdict in ((1.0, Verdict.CERTIFIED), (0.9, Verdict.REFUTED)):
        claimed = factor * solution.objective
        report = cvxml.check("ssvm", X, y, solution.metric, claimed_objective=claimed, diagnosed=False)
        assert report.verdict is verdict


def test_the_radius_of_a_step_is_reached() -> None:
    """All points are equal: the optimum is 0, and the gap of any W is ||W||^2."""
    dual = {"q": np.ones(6), "q_index": np.array([[i, (i + 3) % 6] for i in range(6)])}
    proof = cvxml.certify(
        "ssvm", np.ones((6, 2)), [0, 0, 0, 1, 1, 1], np.diag([3.0, 4.0]), dual, n_neighbors=1, C=1.0
    )
    assert proof.step is not None
    assert proof.step.gap == pytest.approx(25)
    assert proof.step.radius == pytest.approx(5)


@pytest.mark.parametrize(("C", "told"), [(1e-6, True), (1.0, False), (1e4, False)])
def test_only_a_metric_that_is_nearly_0_has_the_note_on_the_influence_of_the_data(
    C: float, told: bool
) -> None:
    X, y = np.random.default_rng(0).standard_normal((16, 3)), np.arange(16) % 2
    solution = cvxml.solve("ssvm", X, y, C=C)
    assert solution.status is Status.STATIONARY
    assert any("influence" in note for note in solution.notes) == told


@pytest.mark.parametrize(("status", "told"), [(Status.STATIONARY, 2), (Status.STALLED, 1)])
def test_a_run_that_stalls_at_0_has_no_note_on_the_influence_of_the_data(status: Status, told: int) -> None:
    """A larger C would not help: the step was not solved."""
    found = Found(np.zeros((2, 2)), {}, status, 1)
    certificate: Any = SimpleNamespace(objective=16.0, scale=0.0)
    assert len(notes_on(found, certificate, lambda: 16.0)) == told
