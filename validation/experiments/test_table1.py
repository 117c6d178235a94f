"""Table 1: what is fitted, to which points, by what is chosen; its report is in test_table1_report.py."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cvxml import datasets
from cvxml.core.metric import project_psd
from cvxml.methods.ssvm import algorithms
from cvxml.methods.ssvm.algorithms import sgd
from cvxml.methods.ssvm.inference import nearest, point_at
from cvxml.methods.ssvm.instance import instance
from validation.experiments import table1 as experiment
from validation.experiments import table1_claims as paper
from validation.experiments import table1_others as fitting
from validation.experiments import table1_ours as ours
from validation.experiments import table1_regularized as regularized
from validation.experiments import vote as vote
from validation.experiments.splits import FEW, Split
from validation.experiments.tasks import Task

SETTINGS: dict[str, Any] = {
    **experiment.PRESETS["small"].settings,
    "k": [3],
    "c": [10.0, 20.0],
    "steps": 3,
    "epochs": 1,
}


def blobs(n: int = 60, d: int = 4, classes: int = 3, seed: int = 0) -> Split:
    """Gaussian classes in d features, half of the points to be tested."""
    random = np.random.RandomState(seed)
    y = np.arange(n) % classes + 5
    X = random.standard_normal((n, d)) + 1.5 * random.standard_normal((classes, d))[y - 5]
    return Split(X[: n // 2], y[: n // 2], X[n // 2 :], y[n // 2 :])


def test_the_paper_s_values() -> None:
    # "Euclidean ... 75.20 ±3.0", "ours ... 17.18 ±4.7" at k = 3, "3.05 ±0.1" of letters at k = 11
    assert paper.printed("office_dslr", "Euclidean", 3) == (75.20, 3.0)
    assert paper.printed("office_dslr", "ours", 3) == (17.18, 4.7)
    assert paper.printed("letter", "ours", 11) == (3.05, 0.1)
    assert paper.printed("office_webcam", "ITML", 7) == (10.85, 3.1)
    assert paper.printed("office_caltech", "ours", 11) == (40.76, 1.8)
    assert paper.printed("wine", "ours", 3) is None
    assert paper.printed("letter", "ours", 5) is None
    assert all(len(paper.TABLE[k][name]) == 8 for k in paper.KS for name in paper.SETS)


def test_which_entries_of_isolet_are_no_count_of_its_test_points() -> None:
    """isolet has 1559 test points and usps 2007, which tells the columns apart: 3.54 % is 71 of 2007."""

    def counts(percent: float) -> list[bool]:
        return [abs(round(percent * n / 100) / n * 100 - percent) < 0.0075 for n in (1559, 2007)]

    of = {
        (method, k): [paper.TABLE[k][data][method][0] for data in ("isolet", "usps")]
        for k in paper.KS
        for method in paper.METHODS
    }
    no_count = {which for which, (isolet, _) in of.items() if not counts(isolet)[0]}
    assert no_count == {
        *(("k-NCA", 3), ("GB-LMNN", 3), ("ours", 7), ("k-NCA", 7), ("GB-LMNN", 7), ("ITML", 11)),
    }
    assert counts(of["GB-LMNN", 7][0]) == [False, True]
    both = {which for which, (isolet, usps) in of.items() if counts(isolet)[0] and counts(usps)[1]}
    assert set(of) - both == no_count | {("LMNN", 7), ("k-NCA", 11)}
    assert all(
        of[which][0] == of[which][1] or not (counts(of[which][0])[1] and counts(of[which][1])[0])
        for which in both
    )


def test_where_the_paper_does_not_dominate() -> None:
    assert paper.not_best(3) == ["isolet"]
    assert paper.not_best(7) == ["isolet", "office_webcam"]
    assert paper.not_best(11) == ["isolet", "usps", "letter"]


def plain_error(part: Split, k: int, L: np.ndarray, rule: str) -> float:
    """kNN by loops."""
    wrong = 0
    for x, label in zip(part.X_test, part.y_test, strict=True):
        squares = np.array([np.sum((L @ (x - other)) ** 2) for other in part.X])
        order = np.argsort(squares, kind="stable")[:k]
        votes = {c: sum(part.y[order] == c) for c in set(part.y[order].tolist())}
        tied = [c for c in part.y[order] if votes[c] == max(votes.values())]
        sums = {c: sum(squares[j] for j in order if part.y[j] == c) for c in tied}
        wrong += (tied[0] if rule == "nearest" else min(sums, key=lambda c: sums[c])) != label
    return wrong / len(part.y_test)


@pytest.mark.parametrize("rule", vote.RULES)
def test_the_error_is_that_of_a_plain_vote(rule: str) -> None:
    part, L = blobs(classes=5), np.random.RandomState(1).standard_normal((4, 4))
    for k in (1, 3, 4, 7):
        assert vote.error_of(part, k, rule=rule) == plain_error(part, k, np.eye(4), rule)
        assert vote.error_of(part, k, L, rule) == plain_error(part, k, L, rule)
    facts = vote.facts_of(part, (3, 7), rule, L)
    (other,) = {*vote.RULES} - {rule}
    assert facts["errors"] == {str(k): plain_error(part, k, L, rule) for k in (3, 7)}
    assert facts["other_ties"] == {str(k): plain_error(part, k, L, other) for k in (3, 7)}
    for k in (3, 7):  # each row alone
        rows = range(len(part.y_test))
        alone = [part._replace(X_test=part.X_test[[i]], y_test=part.y_test[[i]]) for i in rows]
        assert facts["wrong"][str(k)] == [i for i in rows if plain_error(alone[i], k, L, rule)]


def test_the_rules_differ_where_a_vote_ties() -> None:
    """Two votes each: the nearest point is of class 0, the other class has the less sum."""
    near = Split(
        np.array([[1.0], [-5.0], [2.0], [-2.0]]), np.array([0, 0, 1, 1]), np.zeros((1, 1)), np.array([1])
    )
    assert vote.wrong_of(near, (4,)) == {"nearest": {"4": [0]}, "sum": {"4": []}}


def test_the_measured_euclidean_error_is_that_of_a_plain_vote() -> None:
    result = experiment.measure(Task("wine", "Euclidean", 1, {**SETTINGS, "k": [3, 7]}))
    part = experiment.prepared("wine", 1)
    assert np.allclose(part.X.mean(axis=0), 0)
    assert np.allclose(part.X.std(axis=0), 1)
    assert result["errors"] == {str(k): plain_error(part, k, np.eye(13), "sum") for k in (3, 7)}
    assert result["other_ties"] == {str(k): plain_error(part, k, np.eye(13), "nearest") for k in (3, 7)}
    assert result["test"] == len(part.y_test) == 36


@pytest.mark.slow
@pytest.mark.skipif("isolet" not in datasets.names(), reason="isolet needs CVXML_DATA")
def test_the_sum_of_distances_is_the_rule_of_the_paper_s_euclidean_row_on_isolet() -> None:
    part = experiment.prepared("isolet 617", 0)
    wrong = {
        rule: {k: len(rows) for k, rows in found.items()}
        for rule, found in vote.wrong_of(part, paper.KS).items()
    }
    printed = {str(k): round(1559 * paper.TABLE[k]["isolet"]["Euclidean"][0] / 100) for k in paper.KS}
    assert wrong["sum"] == printed == {"3": 135, "7": 116, "11": 125}
    assert wrong["nearest"] != printed


def test_the_folds_cover_every_point_once() -> None:
    X, _ = datasets.load("iris")
    parts = [experiment.prepared("iris", split) for split in range(experiment.FOLDS)]
    assert sum(len(part.y_test) for part in parts) == len(X)
    assert all(len(part.y) + len(part.y_test) == len(X) for part in parts)


def test_in_the_range_of_the_training_points_the_problem_is_the_same() -> None:
    part = blobs(n=24, d=20)
    basis = fitting.range_of(part.X)
    assert basis.shape == (20, 11)
    assert np.allclose(basis.T @ basis, np.eye(11))
    small, same = ours.problem(part, 3, 50.0)
    full = instance(part.X, part.y - 5, n_neighbors=3, C=small.C)
    assert np.array_equal(same, basis)
    G = np.random.RandomState(0).standard_normal((20, 20))
    W = G @ G.T / 400
    inside = basis.T @ W @ basis
    at, here = point_at(full, W), point_at(small, inside)
    assert here.worst == pytest.approx(at.worst)
    assert here.own == pytest.approx(at.own)
    assert here.norm2 < at.norm2  # what is outside has norm and no use
    there = point_at(full, basis @ inside @ basis.T)
    assert pytest.approx(here.F) == there.F
    assert there.norm2 == pytest.approx(here.norm2)
    apart = ((part.X_test[:, None] - part.X) ** 2).sum(axis=2)
    along = (((part.X_test[:, None] - part.X) @ basis) ** 2).sum(axis=2)
    assert np.allclose(np.ptp(apart - along, axis=1), 0)  # a test point loses the same towards all


def test_sgd_printed_differs_in_the_inference_and_not_in_the_step() -> None:
    """By a loop over Algorithm 1 corrected, a point at a time, with the sets of the greedy Algorithms 2 and 3."""
    part = blobs(n=80)
    p = ours.problem(part, 3, 50.0)[0]
    W, order = np.eye(p.X.shape[1]), np.random.default_rng(2).permutation(len(p.X))
    for t, i in enumerate(order, start=1):
        near, own = nearest(p.X, p.y, p.R, W, p.k, np.array([i])), p.y[[i]]
        dW = np.zeros_like(W)
        for sign, found in (
            (1, algorithms.targeted(near, own)),
            (-1, algorithms.loss_augmented(near, own, p.Lam)),
        ):
            for j in found.sets[0]:
                dW += sign * np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j])
        eta = 1 / (2 * (t + 1))
        W = project_psd((1 - 2 * eta) * W - eta * p.C * len(p.X) * dW)
    each = {**SETTINGS, "batches": len(p.X)}
    made = ours.by_sgd(p, np.eye(len(W)), 2, each, 1, printed_inference=True)
    run = sgd(p, np.eye(len(W)), 1, random_state=2, printed_inference=True)
    np.testing.assert_allclose(run.last, W, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(made[0], run.W, rtol=1e-9, atol=1e-12)
    assert not np.allclose(sgd(p, np.eye(len(W)), 1, random_state=2).last, W)


def test_what_the_printed_inference_misses() -> None:
    # docs/errata.md, Algorithm 3: k = 2, target .1, .2, other .09, 9: Algorithm 3 sees no tie
    part = blobs(n=120, classes=6)
    p = ours.problem(part, 7, 50.0)[0]
    shares = ours.missed(p, np.eye(4))
    assert 0 < shares["h_star"] < 1
    assert 0 < shares["h_hat"] < 1
    k3 = ours.problem(part, 3, 50.0)[0]
    assert ours.missed(k3, np.eye(4))["h_star"] == 0  # k < 2 n* + 1


def test_c_means_the_same_at_every_number_of_points_and_scale() -> None:
    part = blobs()
    X = part.X
    n, d = X.shape
    centre = [sum(X[i, j] for i in range(n)) / n for j in range(d)]
    square = sum((X[i, j] - centre[j]) ** 2 for i in range(n) for j in range(d)) / n
    p = ours.problem(part, 3, 7.0)[0]
    assert pytest.approx(7.0 / (n * square**2)) == p.C
    assert pytest.approx(7.0 / (n * square)) == ours.problem(part, 3, 7.0, 2)[0].C
    # twice the points, thrice as far apart: F of W / 9 is F of W but for a factor
    many = ours.problem(part._replace(X=np.repeat(3 * X, 2, axis=0), y=np.repeat(part.y, 2)), 3, 7.0)[0]
    assert p.C * n == pytest.approx(81 * many.C * 2 * n)


def chosen(
    errors: dict[float, float], grid: list[float], factor: float, further: int
) -> tuple[fitting.Choice, list[float]]:
    """The choice for one k, and the weights that were tried in order."""
    asked: list[float] = []

    def error_of(weight: float) -> dict[str, float]:
        asked.append(weight)
        return {"3": errors.get(weight, 0.9)}

    return fitting.choose(error_of, grid, factor, further)["3"], asked


def test_a_weight_is_that_of_least_error_of_equal_ones_the_least() -> None:
    assert chosen({1.0: 0.3, 2.0: 0.2, 4.0: 0.2, 8.0: 0.5}, [1.0, 2.0, 4.0, 8.0], 2.0, 3)[0] == (2.0, False)
    # equal at both ends: nothing says that further ones are better
    assert chosen({1.0: 0.2, 2.0: 0.2, 4.0: 0.2}, [1.0, 2.0, 4.0], 2.0, 3) == ((1.0, False), [1.0, 2.0, 4.0])


def test_a_grid_goes_on_while_its_end_is_the_best() -> None:
    errors = {1.0: 0.5, 10.0: 0.4, 100.0: 0.3, 1e3: 0.2, 1e4: 0.1, 1e5: 0.05}
    assert chosen(errors, [1.0, 10.0], 10.0, 2) == ((1e3, True), [1.0, 10.0, 100.0, 1e3])
    assert chosen(errors, [1.0, 10.0], 10.0, 9) == ((1e5, False), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6])
    down = {1.0: 0.1, 0.5: 0.2, 2.0: 0.3}
    assert chosen(down, [1.0, 2.0], 2.0, 1) == ((1.0, False), [1.0, 2.0, 0.5])
    assert chosen(errors, [1.0, 10.0], 1.0, 9) == ((10.0, False), [1.0, 10.0])


@pytest.mark.parametrize("better", ["ReliefF", "zero", None])
def test_start_and_weight_are_those_of_least_error_on_a_quarter(
    better: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ReliefF only where it is better than Euclid; all of ours have the weight that SGD chooses, and one start."""
    part, asked = blobs(), []
    of_relieff = {"ReliefF": 0.3, "zero": 0.5, None: 0.4}[better]
    start = "ReliefF" if better == "ReliefF" else "zero"

    def error_of(small: Split, k: int, components: Any, rule: str) -> float:
        assert (len(small.y), len(small.y_test), k, rule) == (22, 8, 3, "sum")
        if components is None:
            return 0.4
        return {1.0: 0.3, 2.0: 0.2, 4.0: 0.5}.get(round(float(components[0, 0])), of_relieff)

    def problem(given: Split, k: int, c: float) -> Any:
        return SimpleNamespace(C=1.0, X=given.X, c=c), np.eye(4)

    def by(name: str, facts: dict[str, Any]) -> Any:
        def learnt(p: Any, W: Any, *_: Any) -> Any:
            asked.append((name, p.c, len(p.X), W))
            return np.eye(4) * p.c**2, facts

        return learnt

    monkeypatch.setattr(ours, "error_of", error_of)
    monkeypatch.setattr(ours, "problem", problem)
    monkeypatch.setattr(ours, "started", lambda p, basis, given, name: (name, len(given.y)))
    monkeypatch.setattr(ours, "missed", lambda p, W: {})
    monkeypatch.setattr(ours, "by_sgd", by("SGD", {"F": 0.5}))
    monkeypatch.setattr(ours, "by_cccp", by("CCCP", {"F": 0.5}))
    found = ours.fit_ours(3, part, 0, {**SETTINGS, "c": [1.0, 2.0, 4.0]})
    assert (found["start"], found["weight"], found["edge"]) == (start, 2.0, False)
    whole = (start, 30)
    assert asked == [
        *(("SGD", c, 22, (start, 22)) for c in (1.0, 2.0, 4.0)),
        ("CCCP", 2.0, 30, whole),
        ("SGD", 2.0, 30, whole),
        ("SGD", 2.0, 30, whole),
    ]


def test_a_start_has_its_best_size_and_where_that_is_0_its_direction() -> None:
    apart = blobs()
    random = np.random.RandomState(0)
    twins = np.repeat(random.standard_normal((15, 4)), 2, axis=0) + 0.01 * random.standard_normal((30, 4))
    mixed = Split(twins, np.arange(30) % 2, twins, np.arange(30) % 2)  # the nearest is of the other class
    for part, zero in ((apart, False), (mixed, True)):
        p, basis = ours.problem(part, 3, 100.0)
        for name in ours.STARTS:
            W = ours.started(p, basis, part, name)
            diagonal = ours.weights(part) if name == "ReliefF" else np.ones(4)
            expected = np.maximum(diagonal, 0) * np.linalg.norm(W) / np.linalg.norm(np.maximum(diagonal, 0))
            np.testing.assert_allclose(W, np.diag(expected), atol=1e-12 * np.linalg.norm(W))
            assert (0 < np.sum(W**2) < 1e-9 * ours.point_at(p, W).F) == (zero or name == "zero"), (zero, name)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_starts_that_are_one_are_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, by_cccp = [], ours.by_cccp
    of = {"zero": 0.0, "Euclid": 0.0, "ReliefF": 0.01}

    def counted(p: Any, W: Any, steps: int) -> Any:
        begun.append(W[0, 0])
        return by_cccp(p, W, steps)

    monkeypatch.setattr(ours, "by_cccp", counted)
    monkeypatch.setattr(ours, "started", lambda p, basis, given, name: of[name] * np.eye(4))
    found = ours.fit_ours(3, blobs(), 0, {**SETTINGS, "starts": True})["of"]
    assert sorted(begun) == [0.0, 0.01]
    names = {each: "CCCP" if f"CCCP from {each}" not in found else f"CCCP from {each}" for each in of}
    assert found[names["zero"]] == found[names["Euclid"]] != found[names["ReliefF"]]
    assert len(set(names.values())) == 3


def test_a_weight_is_chosen_for_every_k_on_a_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, errors = [], {0.1: {"3": 0.3, "7": 0.4}, 1.0: {"3": 0.2, "7": 0.3}, 10.0: {"3": 0.4, "7": 0.2}}

    def relative(name: str, weight: float, given: Split, tol: float) -> fitting.Fit:
        asked.append((name, weight, len(given.y), tol))
        facts = {"proved": True, "status": "CONVERGED", "steps": 3, "fit_seconds": 1.0, "rel_gap": weight}
        return fitting.Fit(np.full((1, 1), weight), facts)

    def facts_of(given: Split, ks: Any, rule: str, L: Any) -> dict[str, Any]:
        return {"errors": {str(k): errors[float(L[0, 0])][str(k)] for k in ks}}

    monkeypatch.setattr(fitting, "relative", relative)
    monkeypatch.setattr(fitting, "facts_of", facts_of)
    found = fitting.fit_other("ITML", blobs(), 0, {**SETTINGS, "k": [3, 7], "further": 0})
    choosing = [("ITML", weight, 22, fitting.CHOOSING) for weight in errors]
    assert asked[:3] == choosing
    assert sorted(asked[3:]) == [("ITML", 1.0, 30, fitting.TOL), ("ITML", 10.0, 30, fitting.TOL)]
    assert found["weight"] == {"3": 1.0, "7": 10.0}
    assert found["edge"] == {"3": False, "7": True}
    assert found["errors"] == {"3": 0.2, "7": 0.2}
    assert (found["rel_gap"], found["fit_seconds"]) == (10.0, 2.0)


@pytest.mark.parametrize(("F", "enough"), [(0.3, 0.3003), (0.999, 0.999001)])
def test_sgd_goes_on_until_a_thousandth_is_missing_of_F_and_of_what_is_won(
    monkeypatch: pytest.MonkeyPatch, F: float, enough: float
) -> None:
    """Where F is next to that of W = 0 a thousandth of it would be all that CCCP wins."""
    targets: list[float] = []

    def by_sgd(p: Any, W: Any, seed: int, settings: Any, epochs: int, target: float, printed: bool) -> Any:
        targets.append(target)
        return W, {"F": F + 0.0005, "steps": 1}

    monkeypatch.setattr(ours, "by_sgd", by_sgd)
    part = blobs()
    trial = ours.Trial(3, part, ours.inner(part, 0), 0, {**SETTINGS, "starts": True}, "zero", 10.0)
    found = ours.descended(trial, F)
    assert set(found) == {"SGD", "SGD printed", "SGD from I"}
    assert targets == pytest.approx([enough] * 3, rel=1e-12)
    assert not any(each["arrived"] for each in found.values())


def test_regularizers_start_next_to_0_in_the_direction_of_euclid(monkeypatch: pytest.MonkeyPatch) -> None:
    """At 0 itself all sets tie, and the first in order would be taken."""
    begun = []

    def descent(p: Any, W: Any, *given: Any) -> Any:
        begun.append((W, p))
        return W, [1.0]

    def solved(p: Any, W: Any, *given: Any) -> Any:
        begun.append((W, p))
        return W, {}

    monkeypatch.setattr(ours, "regularized_sgd", descent)
    monkeypatch.setattr(ours, "cccp_around_I", solved)
    part = blobs()
    found = ours.regularized(ours.Trial(3, part, ours.inner(part, 0), 0, SETTINGS, "ReliefF", 1.0))
    assert set(found) == {"SGD, tr W", "SGD, ||W||^2", "CCCP, ||W - I||^2"}
    assert len(begun) > 3
    for W, p in begun:
        assert 0 < W[0, 0] < 1e-3 * ours.problem(part, 3, 1.0)[0].X.std() ** -2
        np.testing.assert_array_equal(W, W[0, 0] * np.eye(4))
        near, plain = (nearest(p.X, p.y, p.R, metric, 3).J for metric in (W, np.eye(4)))
        np.testing.assert_array_equal(near, plain)


def test_the_paper_s_regularizer_is_descended_as_algorithm_1_does() -> None:
    p, W = ours.problem(blobs(), 3, 50.0)[0], np.diag([1.0, 2.0, 0.1, 0.5])
    best, found = regularized.regularized_sgd(p, W, regularized.REGULARIZERS["||W||^2"], 4, 5, 7)
    run = sgd(p, W, 4, 5, random_state=7)
    np.testing.assert_allclose(best, run.W, rtol=1e-9, atol=1e-12)
    assert found == pytest.approx(run.F)


@pytest.mark.parametrize("name", regularized.REGULARIZERS)
def test_each_regularizer_has_its_own_gradient_and_descent(name: str) -> None:
    chosen, (p, _) = regularized.REGULARIZERS[name], ours.problem(blobs(), 3, 50.0)
    G = np.random.RandomState(3).standard_normal((4, 4))
    W, E = G @ G.T, (G + G.T) / 1e4
    slope = (chosen.value(W + E) - chosen.value(W - E)) / 2
    assert slope == pytest.approx(float(np.sum(chosen.gradient(W) * E)), rel=1e-6)
    best, found = regularized.regularized_sgd(p, np.zeros((4, 4)), chosen, 5, 3)
    assert regularized.objective(p, best, chosen) == pytest.approx(min(found))
    assert min(found) < found[0]
    assert np.linalg.eigvalsh(best)[0] >= -1e-12


@pytest.mark.quick(1)
@pytest.mark.parametrize("c", [1.0, 30.0, 1e3])
def test_cccp_around_I_is_stationary_for_the_literal_step(c: float) -> None:
    """By cvxpy, over all sets of three neighbours: with h* fixed there is nothing to gain."""
    p = ours.problem(blobs(n=18, d=3, classes=2), 3, c, 2)[0]
    W, facts = regularized.cccp_around_I(p, np.eye(3) / 10, 1e-6, 100)
    assert facts["proved"]
    V = cp.Variable((3, 3), PSD=True)
    losses = []
    for i in range(len(p.X)):
        others = [j for j in range(len(p.X)) if j != i]
        G = {j: np.outer(p.X[i] - p.X[j], p.X[i] - p.X[j]) for j in others}
        scores, right = [], {}
        for h in combinations(others, 3):
            votes = [sum(p.y[j] == r for j in h) for r in range(p.R)]
            S = -sum(G[j] for j in h)
            lost = max(float(p.y[i] != r) for r in range(p.R) if votes[r] == max(votes))
            scores.append(cp.sum(cp.multiply(S, V)) + lost)
            if votes[p.y[i]] > max(v for r, v in enumerate(votes) if r != p.y[i]):
                right[h] = S
        star = max(right.values(), key=lambda S: float(np.sum(S * (W + 1e-9 * np.eye(3)))))  # Euclid's at 0
        losses.append(cp.max(cp.hstack(scores)) - cp.sum(cp.multiply(star, V)))
    literal = cp.Problem(cp.Minimize(cp.sum_squares(V - np.eye(3)) + p.C * sum(losses)))
    least = literal.solve(solver=cp.CLARABEL)
    here = facts["F"] * p.C * len(p.X)
    assert here == pytest.approx(least, rel=1e-5)
    assert here == pytest.approx(regularized.objective(p, W, regularized.REGULARIZERS["||W - I||^2"]))
    wrong = regularized.objective(p, W + np.eye(3) / 10, regularized.REGULARIZERS["||W - I||^2"])
    assert wrong > here * (1 + 1e-4)


def test_cccp_around_I_says_where_it_was_cut_short() -> None:
    p = ours.problem(blobs(n=60), 3, 1e3, 2)[0]
    _, cut = regularized.cccp_around_I(p, np.eye(4) / 1e6, 1e-9, 1)
    _, whole = regularized.cccp_around_I(p, np.eye(4) / 1e6, 1e-9, 100)
    assert (cut["status"], cut["proved"], cut["steps"]) == ("MAX_ITER", False, 1)
    assert cut["rel_gap"] > 1e-9 >= whole["rel_gap"]
    assert whole["F"] < cut["F"]


def test_the_objective_is_the_regularizer_and_the_losses() -> None:
    """By loops over the points and all sets of three neighbours."""
    p = ours.problem(blobs(n=24, d=2), 3, 50.0)[0]
    G = np.random.RandomState(4).standard_normal((2, 2))
    W = G @ G.T
    total = 0.0
    for i in range(len(p.X)):
        others = [j for j in range(len(p.X)) if j != i]
        cost = {j: float((p.X[i] - p.X[j]) @ W @ (p.X[i] - p.X[j])) for j in others}
        worst, own = -math.inf, -math.inf
        for h in combinations(others, 3):
            votes = [sum(p.y[j] == r for j in h) for r in range(p.R)]
            score = -sum(cost[j] for j in h)
            lost = max(float(p.y[i] != r) for r in range(p.R) if votes[r] == max(votes))
            worst = max(worst, score + lost)
            own = (
                max(own, score) if votes[p.y[i]] > max(v for r, v in enumerate(votes) if r != p.y[i]) else own
            )
        total += worst - own
    for chosen in regularized.REGULARIZERS.values():
        assert regularized.objective(p, W, chosen) == pytest.approx(chosen.value(W) + p.C * total)


def test_pairs_of_itml_are_distinct_and_of_their_kind() -> None:
    for n in (40, 3000, FEW + 1000):
        y = np.arange(n) % 3
        pairs = fitting.some_pairs(y)
        for kind, same in (("similar", True), ("dissimilar", False)):
            left, right = np.array(pairs[kind]).T
            assert len(set(zip(left.tolist(), right.tolist(), strict=True))) == len(left) == 180
            assert ((y[left] == y[right]) == same).all()
            assert (left < right).all()
