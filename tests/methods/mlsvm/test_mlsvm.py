"""MLSVM: instances with a known optimum, weak duality, invariances, the scale trap, Algorithm 1, errors of reading."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import cvxml
from cvxml.core.neighbors import k_nearest_slow
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods.mlsvm.method import algorithm1
from tests.instances import (
    NOT_OPTIMAL,
    assert_named,
    mlsvm_from_kkt,
    objective_of,
    random_data,
    real_data,
    ties,
)

BIGGER = {"d": 9, "interior": 3, "capped": 3, "slack": 4}


@pytest.mark.parametrize(("seed", "sizes"), [*((seed, {}) for seed in range(5)), (5, BIGGER)])
def test_the_optimum_built_from_kkt_is_found(seed: int, sizes: dict[str, int]) -> None:
    known = mlsvm_from_kkt(seed, **sizes)
    given = {"lam": known.lam, "neighbors": known.neighbors}
    solution = cvxml.solve("mlsvm", known.X, known.y, tol=1e-9, **given)
    distance = np.linalg.norm(solution.metric - known.A)
    assert solution.objective == pytest.approx(known.objective, rel=1e-9)
    assert distance <= solution.certificate.radius + 1e-12 * np.linalg.norm(known.A)
    assert distance <= 1e-4 * np.linalg.norm(known.A)
    report = cvxml.check("mlsvm", known.X, known.y, known.A, tol="strict", **given)
    assert report.verdict is Verdict.CERTIFIED


@pytest.mark.quick(1)
@pytest.mark.parametrize("lam", [1.0, 1e8])
def test_the_scale_trap(lam: float) -> None:
    # raw iris at lam = 1: the scale is 1e-6 of the objective; at 1e8, 1e-14: a difference of objectives has no digit
    X, y = real_data("iris", standardized=False)
    solution = cvxml.solve("mlsvm", X, y, lam=lam)
    assert solution.rel_gap <= 1e-6
    assert solution.certificate.scale < 1e-5 * solution.objective
    explicit = {"lam": lam, "neighbors": solution.neighbors, "diagnosed": False}
    assert cvxml.check("mlsvm", X, y, solution.metric, **explicit).verdict is Verdict.CERTIFIED
    for wrong in (np.zeros((4, 4)), 2 * solution.metric):
        assert cvxml.check("mlsvm", X, y, wrong, **explicit).verdict is Verdict.REFUTED


def test_zero_is_certified_where_it_is_optimal() -> None:
    # impostors coincide with their point and targets do not: every metric only makes it worse
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    y, neighbors = np.array([0, 1, 0, 1]), [[1, 2], [0, 3], [], []]
    for lam in (1e-6, 1.0, 1e6):
        given = {"lam": lam, "neighbors": neighbors}
        solution = cvxml.solve("mlsvm", X, y, **given)
        assert solution.status is Status.CONVERGED
        assert not solution.metric.any()
        assert solution.gap == 0
        report = cvxml.check("mlsvm", X, y, np.eye(2) * 1e-9, diagnosed=False, **given)
        assert report.verdict is Verdict.REFUTED
    # without a point that has both kinds of neighbours too
    solution = cvxml.solve("mlsvm", [[0.0], [0.1], [9.0], [9.1]], [0, 0, 1, 1], n_neighbors=1)
    assert solution.status is Status.CONVERGED
    assert (solution.objective, solution.metric.any()) == (0, False)


def test_ties_without_lists_never_refute() -> None:
    X, y = real_data("iris", standardized=False)
    wrong = np.eye(4)
    assert ties("mlsvm", X, y) == 29
    report = cvxml.check("mlsvm", X, y, wrong, lam=0.1, diagnosed=False)
    assert report.verdict is Verdict.INCONCLUSIVE
    assert "tie" in str(report)
    neighbors = cvxml.solve("mlsvm", X, y, lam=0.1).neighbors
    given = cvxml.check("mlsvm", X, y, wrong, lam=0.1, neighbors=neighbors, diagnosed=False)
    assert given.verdict is Verdict.REFUTED


def test_usable_points_and_the_vacuous_rest() -> None:
    X, y = real_data("iris", standardized=False)
    evaluation = cvxml.evaluate("mlsvm", X, y, np.zeros((4, 4)), lam=0.1)
    nearest = k_nearest_slow(X, np.arange(150), np.arange(150), 4)[0]
    mixed = [len(set(y[listed] == y[i])) == 2 for i, listed in enumerate(nearest)]
    assert evaluation.usable == sum(mixed)
    vacuous = [i for i in range(150) if not evaluation.targets[i] or not evaluation.impostors[i]]
    assert len(vacuous) == 150 - evaluation.usable
    assert not evaluation.xi[vacuous].any()
    assert evaluation.objective == pytest.approx(evaluation.usable / 150)


def test_the_subgradient_is_one() -> None:
    X, y = random_data(5)
    rng = np.random.default_rng(0)
    L = rng.standard_normal((5, 5)) * 0.3
    A = L.T @ L
    at = cvxml.evaluate("mlsvm", X, y, A, lam=0.1)
    for _ in range(50):
        M = rng.standard_normal((5, 5)) * rng.choice([1e-3, 1e-1, 1.0])
        B = A + M @ M.T
        linear = at.objective + np.sum(at.subgradient * (B - A))
        assert objective_of("mlsvm", X, y, B, lam=0.1) >= linear - 1e-12 * (1 + abs(linear))


@pytest.mark.parametrize("lam", [0.25, 4.0])
@pytest.mark.parametrize("size", [0.25, 0.5, 3.0, 100.0])
def test_a_step_ends_in_the_ball_of_radius_one_by_the_root_of_lam(lam: float, size: float) -> None:
    """With wide margins nothing pushes, and the step at t = 1 halves the metric. Then it is cut at the radius."""
    X, neighbors = [[0.0], [1.0], [9.0]], [[1, 2], [], []]
    given = {"lam": lam, "neighbors": neighbors, "t": 1}
    at = cvxml.evaluate("mlsvm", X, [0, 0, 1], [[size]], **given)
    assert not at.violated.any()
    radius = {0.25: 2.0, 4.0: 0.5}[lam]
    assert at.A_two_thirds[0, 0] == pytest.approx(size / 2)
    assert at.A_next[0, 0] == pytest.approx(min(size / 2, radius))


@pytest.mark.parametrize(("lam", "expected"), [(0.25, 2.0), (4.0, 0.5), (400.0, 80 / 2400)])
def test_the_first_step_of_algorithm_1_ends_in_the_ball(lam: float, expected: float) -> None:
    """From 0 the point 0 pushes by 81 - 1, and eta / n is 1 / (6 lam). The radius is 1/20 at lam = 400."""
    X, y, neighbors = [[0.0], [1.0], [9.0]], [0, 0, 1], [[1, 2], [], []]
    run = algorithm1(X, y, lam=lam, neighbors=neighbors, n_steps=1, lower_bound=0.0)
    assert run.metric[0, 0] == pytest.approx(expected)


def test_one_step_of_algorithm_1_is_the_one_evaluate_shows() -> None:
    X, y = random_data(6)
    start = np.eye(5) * 0.2
    run = algorithm1(X, y, lam=0.1, n_steps=1, start=start)
    shown = cvxml.evaluate("mlsvm", X, y, start, lam=0.1, t=1)
    np.testing.assert_allclose(run.metric, shown.A_next, rtol=1e-12, atol=1e-14)
    assert np.linalg.norm(run.metric) <= 1 / np.sqrt(0.1) * (1 + 1e-12)


def test_algorithm_1_starts_in_the_ball_of_the_paper() -> None:
    X, y = random_data(6)
    on_it = np.diag([1.0, 1, 1, 1, 0]) / 2 / np.sqrt(0.1)  # norm 1 / sqrt(lam)
    for start in (on_it, algorithm1(X, y, lam=0.1, n_steps=1, start=on_it).metric):
        assert algorithm1(X, y, lam=0.1, n_steps=1, start=start).gaps[0] >= 0
    with pytest.raises(ValueError, match=r"3\.1939.*3\.1622"):
        algorithm1(X, y, lam=0.1, n_steps=1, start=1.01 * on_it)


@pytest.mark.slow
def test_the_misprint_stalls_and_the_correction_does_not() -> None:
    X, y = random_data(7, n=40)
    corrected = algorithm1(X, y, lam=0.1, n_steps=900, every=300)
    printed = algorithm1(X, y, lam=0.1, n_steps=900, every=300, paper=True)
    assert (corrected.gaps >= 0).all()
    assert corrected.gaps[-1] <= 0.6 * corrected.gaps[0]
    assert corrected.gaps[-1] <= 1 / (0.1 * 900)
    assert printed.gaps[-1] >= 0.03 * printed.lower_bound
    assert printed.gaps[-1] >= 10 * corrected.gaps[-1]


@pytest.mark.slow
def test_the_nearest_target_alone_makes_it_stall() -> None:
    """With the corrected step; by loops that are the method's own where the target is the furthest."""
    X, y = random_data(7, n=40)
    lam, steps = 0.1, 300
    optimum = algorithm1(X, y, lam=lam, n_steps=1).lower_bound
    near = [k_nearest_slow(X, np.array([i]), np.arange(40), 4)[0][0] for i in range(40)]
    found = {}
    for name, of in (("furthest", max), ("nearest", min)):
        A = np.zeros((5, 5))
        for t in range(1, steps + 1):
            push = np.zeros((5, 5))
            for i, around in enumerate(near):
                targets = [X[i] - X[j] for j in around if y[j] == y[i]]
                impostors = [X[i] - X[j] for j in around if y[j] != y[i]]
                if not targets or not impostors:
                    continue
                D = [[z @ A @ z for z in each] for each in (targets, impostors)]
                if min(D[1]) - max(D[0]) < 1:
                    plus, minus = targets[D[0].index(of(D[0]))], impostors[D[1].index(min(D[1]))]
                    push += np.outer(minus, minus) - np.outer(plus, plus)
            eta = 1 / (lam * (t + 1))
            values, vectors = np.linalg.eigh((1 - eta * lam) * A + eta / 40 * push)
            A = (vectors * np.maximum(values, 0)) @ vectors.T
            A *= min(1.0, 1 / np.sqrt(lam) / max(np.linalg.norm(A), 1e-300))
        found[name] = objective_of("mlsvm", X, y, A, lam=lam) - optimum
    own = algorithm1(X, y, lam=lam, n_steps=steps, every=steps)
    assert found["furthest"] == pytest.approx(own.gaps[-1], rel=1e-6)
    assert found["nearest"] >= 10 * found["furthest"]


def test_the_printed_step_erases_the_start() -> None:
    X, y = random_data(8)
    starts = [1e-3 * np.eye(5), 2e-3 * np.eye(5)]  # small: every usable point violates its margin at both
    printed = [algorithm1(X, y, lam=1e-3, n_steps=1, paper=True, start=start).metric for start in starts]
    corrected = [algorithm1(X, y, lam=1e-3, n_steps=1, start=start).metric for start in starts]
    # 1 - eta_1 lam = 0 as printed: the active pairs are the same, and so is the result
    np.testing.assert_allclose(printed[0], printed[1], rtol=1e-12)
    assert np.linalg.norm(corrected[1] - corrected[0]) > 1e-6


@pytest.mark.quick(1)
@pytest.mark.parametrize(("misreading", "factor"), [("lam", 2.0), ("sum", 1 / 60), ("usable", None)])
def test_misreadings_are_named(misreading: str, factor: float | None) -> None:
    X, y = real_data("wine", 60)
    given = {"lam": 0.5, "n_neighbors": 6}
    usable = cvxml.evaluate("mlsvm", X, y, np.eye(13), **given).usable
    lam = 0.5 * (usable / 60 if factor is None else factor)
    theirs = cvxml.solve("mlsvm", X, y, lam=lam, n_neighbors=6, tol=1e-9)
    assert_named("mlsvm", misreading, X, y, theirs.metric, **given)


def test_slips_of_representation_are_named() -> None:
    X, y = real_data("wine", 60)
    best = cvxml.solve("mlsvm", X, y, lam=0.5, tol=1e-9).metric
    vector = np.linalg.eigh(best)[1][:, 0]
    slipped, skew = best * np.sqrt(2), np.triu(np.ones((13, 13)), 1)
    np.fill_diagonal(slipped, np.diag(best))
    wrong = {
        "svec": slipped,
        "factor": 3 * best,
        "P_+": best - 0.3 * np.outer(vector, vector),
        "symmetric": best + 0.01 * (skew - skew.T),
    }
    for name, metric in wrong.items():
        report = cvxml.check("mlsvm", X, y, metric, lam=0.5)
        assert report.verdict is Verdict.REFUTED
        assert any(name in line for line in report.diagnosis), name
        assert any("P_+" in line for line in report.diagnosis) == (name == "P_+")


def test_a_warm_start_along_a_path_saves_work() -> None:
    X, y = real_data("wine")
    cold = cvxml.solve("mlsvm", X, y, lam=0.09, neighborhood="per-class")
    near = cvxml.solve("mlsvm", X, y, lam=0.1, neighborhood="per-class")
    warm = cvxml.solve("mlsvm", X, y, lam=0.09, neighborhood="per-class", warm_start=near)
    again = cvxml.solve("mlsvm", X, y, lam=0.1, neighborhood="per-class", warm_start=near)
    assert again.n_iter == 0
    assert warm.n_iter < cold.n_iter
    assert warm.rel_gap <= 1e-6


@pytest.mark.slow
def test_where_rounding_exceeds_the_tolerance_nothing_is_certified() -> None:
    # at lam = 1e-16 the scale drowns in rounding: 2A* must not pass as optimal, nor A* itself be called so
    X, y = real_data("wine", 60)
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("mlsvm", X, y, lam=1e-16)
    assert solution.status is not Status.CONVERGED
    for metric in (solution.metric, 2 * solution.metric):
        report = cvxml.check("mlsvm", X, y, metric, lam=1e-16, diagnosed=False)
        assert report.verdict is not Verdict.CERTIFIED


@pytest.mark.quick(6)
@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("tol", ["strict", "loose"])
def test_rounding_covers_what_cancels_in_nearly_collinear_features(eps: float, tol: str) -> None:
    """Two triples (own at distance 1, impostor eps further up), turned out of the axes; the optimum is known.

    The optimal A is (1/eps^2) e e^T / 2 with lam = 2/6 eps^4 / .5: objective 1/4, before X is rounded. G is
    eps^2 of the terms it sums, so the bound cannot be exact, and must say so.
    """
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    X = np.array([[0, 0], [1, 0], [1, eps], [0, 0], [-1, 0], [-1, eps]]) @ turn
    y = np.array([0, 0, 1, 0, 0, 1])
    given = {"lam": 2 / 6 * eps**4 / 0.5, "neighbors": [[1, 2], [], [], [4, 5], [], []]}
    report = cvxml.check("mlsvm", X, y, claimed_objective=0.25, tol=tol, **given)
    assert report.verdict not in NOT_OPTIMAL
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        proof = cvxml.solve("mlsvm", X, y, tol=1e-9, **given).certificate
    assert proof.lower_bound - proof.rounding <= 0.25 <= proof.objective + proof.rounding
    if proof.proves(1e-6):  # never the zero metric, the optimum of which is 1/3
        assert proof.rounding <= 1e-4 * proof.scale
        assert proof.scale > 0


def test_the_number_of_constraints_is_linear_in_the_points() -> None:
    """One for every point with both kinds of neighbours, and the two of the cone and the slacks."""
    counts = {}
    for copies in (1, 2, 4):
        X, y = random_data(0, n=20, d=3)
        far = 100.0 * np.arange(copies)[:, None, None]  # so that neighbours are those of one copy
        many = (X[None] + far).reshape(-1, 3)
        counts[copies] = (
            len(cvxml.problem("mlsvm", many, np.tile(y, copies), lam=0.1, n_neighbors=4).constraints) - 2
        )
    assert 0 < counts[1] <= 20
    assert counts == {1: counts[1], 2: 2 * counts[1], 4: 4 * counts[1]}


@pytest.mark.parametrize(("lam", "told"), [(1e6, True), (1e-2, False), (1e-6, False)])
def test_only_a_metric_that_is_nearly_0_has_the_note_on_the_influence_of_the_data(
    lam: float, told: bool
) -> None:
    """For a small lam the scale is a small share of the objective too, but the metric stays as it is."""
    X, y = real_data("iris", 150)
    solution = cvxml.solve("mlsvm", X, y, lam=lam, neighborhood="per-class", n_neighbors=4)
    assert solution.status is Status.CONVERGED
    assert any("influence" in note for note in solution.notes) == told
    assert (solution.certificate.scale < 1e-4 * solution.objective) == (lam != 1e-2)
