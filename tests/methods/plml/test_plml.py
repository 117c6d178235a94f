"""PLML's metrics: by hand, against cvxpy from scratch, RTML where weights are hard, 0, inputs, files, misreadings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import blocks_of, in_blocks
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from tests.cli.commands import Cli
from tests.instances import checked, exact_of, random_data, real_data
from tests.recomputed import recompute

X, Y = random_data(9, n=18, d=3)
SOFT = np.random.default_rng(3).dirichlet([1.0, 0.5], 18)
SMALL: dict[str, Any] = {"alpha1": 10.0, "alpha2": 0.5, "weights": SOFT, "n_neighbors": 2}
LINE = {"weights": [[0.5, 0.5], [1, 0], [0, 1]], "triplets": [[0, 1, 2]]}


@pytest.mark.parametrize(("alpha1", "alpha2"), [(1.0, 0.5), (100.0, 1.0), (1.0, 100.0), (3.0, 0.0)])
def test_on_a_line_by_hand(alpha1: float, alpha2: float) -> None:
    """Both metrics are a, the margin is 8 a, the pull a: 2 alpha1 a^2 + [1 - 8 a]_+ + alpha2 a."""
    best = min(max((8 - alpha2) / (4 * alpha1), 0.0), 1 / 8)
    value = 2 * alpha1 * best**2 + max(0.0, 1 - 8 * best) + alpha2 * best
    points = [[0.0], [1.0], [3.0]]
    found = cvxml.solve("plml", points, None, alpha1=alpha1, alpha2=alpha2, tol=1e-9, **LINE)
    assert found.status is Status.CONVERGED
    assert found.objective == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(found.metric, best * np.eye(2), atol=1e-6)


def from_scratch(given: Any) -> float:
    """One matrix of all blocks, everything at once: a triplet sees K_t, the blocks W_ib H_t."""
    d, m = given.X.shape[1], given.m
    M = cp.Variable((m * d, m * d), PSD=True)
    mask = np.kron(np.eye(m), np.ones((d, d)))

    def seen(i: int, j: int) -> Any:
        e = given.X[i] - given.X[j]
        return np.kron(np.diag(given.W[i]), np.outer(e, e))

    margins = [cp.sum(cp.multiply(M, seen(i, l) - seen(i, j))) for i, j, l in given.triplets().tolist()]
    pairs = {(i, j) for i, j, _ in given.triplets().tolist()}
    pull = cp.sum(cp.multiply(M, sum(seen(i, j) for i, j in pairs)))
    cost = given.alpha1 * cp.sum_squares(M) + cp.sum(cp.pos(1 - cp.hstack(margins))) + given.alpha2 * pull
    return float(cp.Problem(cp.Minimize(cost), [cp.multiply(M, 1 - mask) == 0]).solve(cp.CLARABEL))


def test_against_cvxpy_from_scratch() -> None:
    of, given = checked("plml", X, Y, **SMALL)
    solution = cvxml.solve("plml", X, Y, tol=1e-8, **SMALL)
    assert from_scratch(given) == pytest.approx(solution.objective, rel=1e-5)
    assert of.objective(given, solution.metric) == pytest.approx(solution.objective, rel=1e-12)
    parts = of.evaluate(given, solution.metric)
    whole = parts["norm"] + parts["pull"] + float(np.sum(parts["losses"]))
    assert whole == pytest.approx(solution.objective, rel=1e-12)
    assert solution.certificate.scale == pytest.approx(parts["norm"], rel=1e-9)


def test_hard_weights_make_a_problem_of_each_metric() -> None:
    """Without a pull that is RTML with the hinge and lam = 2 alpha1, on the triplets of its points."""
    hard = np.eye(2)[np.arange(18) % 2]
    _, given = checked("plml", X, Y, alpha1=5.0, alpha2=0.0, weights=hard, n_neighbors=2)
    both = cvxml.solve("plml", X, Y, alpha1=5.0, alpha2=0.0, weights=hard, n_neighbors=2, tol=1e-9)
    total, triplets = 0.0, given.triplets()
    for b in range(2):
        own = triplets[triplets[:, 0] % 2 == b].tolist()
        alone = cvxml.solve("rtml", X, None, lam=10.0, width=0, triplets=own, tol=1e-9)
        total += alone.objective
        block = blocks_of(both.metric, 2)[b]
        reach = alone.certificate.radius + both.certificate.radius
        assert np.linalg.norm(block - alone.metric) <= reach
    assert both.objective == pytest.approx(total, rel=1e-8)


def test_even_weights_make_equal_metrics() -> None:
    solution = cvxml.solve("plml", X, Y, **{**SMALL, "weights": np.full((18, 2), 0.5)}, tol=1e-9)
    one, other = blocks_of(solution.metric, 2)
    assert np.linalg.norm(one - other) <= 2 * solution.certificate.radius
    alone = cvxml.solve("plml", X, Y, **{**SMALL, "alpha1": 20.0, "weights": np.ones((18, 1))}, tol=1e-9)
    assert solution.objective == pytest.approx(
        alone.objective, rel=1e-8
    )  # of their mean, the norm counts twice


def test_zero_is_optimal_where_the_pull_takes_every_positive_eigenvalue() -> None:
    params = {**SMALL, "alpha2": 1000.0}
    solution = cvxml.solve("plml", X, Y, **params)
    assert not solution.metric.any()
    assert (solution.gap, solution.status) == (0.0, Status.CONVERGED)
    assert solution.objective == solution.certificate.scale + len(solution.params["triplets"])
    assert cvxml.check("plml", X, Y, solution.metric, **params).verdict is Verdict.CERTIFIED
    assert cvxml.check("plml", X, Y, 1e-3 * np.eye(6), **params).verdict is Verdict.REFUTED
    exact = exact_of("plml", X, Y, solution.metric, solution.dual, **params)
    assert exact.gap == 0


def test_a_metric_no_point_has_a_share_of_is_zero() -> None:
    solution = cvxml.solve("plml", X, Y, **{**SMALL, "weights": np.eye(3)[[0] * 18]})
    assert not blocks_of(solution.metric, 3)[1:].any()
    assert blocks_of(solution.metric, 3)[0].any()


def test_the_default_weights_are_proved_and_there_are_two_claims() -> None:
    points, y = real_data("iris", 30)
    solution = cvxml.solve("plml", points, y, n_anchors=3, n_neighbors=2)
    own, claims = solution.notes
    assert own.startswith("the weights leave at most ")
    assert "of their own problem to gain" in own
    assert "no joint optimum is claimed" in claims
    again = cvxml.solve("plml", points, y, **solution.params)
    assert again.objective == pytest.approx(solution.objective, rel=1e-9)
    assert again.notes == solution.notes
    alone = {**solution.params, "anchors": None}
    assert "nothing is said of how they came about" in cvxml.solve("plml", points, y, **alone).notes[0]
    even = {**solution.params, "weights": np.full((30, 3), 1 / 3)}
    (own, _) = cvxml.solve("plml", points, y, **even).notes
    assert own != solution.notes[0]
    evaluation = cvxml.evaluate("plml", points, y, solution.metric, **solution.params)
    even_objective = cvxml.evaluate("plml", points, y, solution.metric, **even).weights_objective
    assert evaluation.weights_objective < even_objective


def test_metrics_may_be_given_one_by_one_and_entries_beside_the_blocks_are_refused() -> None:
    solution = cvxml.solve("plml", X, Y, **SMALL)
    metrics = blocks_of(solution.metric, 2)
    np.testing.assert_array_equal(in_blocks(metrics), solution.metric)
    assert cvxml.check("plml", X, Y, metrics, **SMALL).verdict is Verdict.CERTIFIED
    beside = solution.metric.copy()
    beside[0, 4] = beside[4, 0] = 0.01 * np.linalg.norm(beside)
    beside += 0.02 * np.linalg.norm(beside) * np.eye(6)  # still psd
    report = cvxml.check("plml", X, Y, beside, **SMALL)
    assert report.verdict is Verdict.REFUTED
    assert "beside the blocks" in str(report)
    with pytest.raises(ValueError, match="beside its 2 blocks of 3 features"):
        cvxml.evaluate("plml", X, Y, cvxml.solve("plml", X, Y, **SMALL).metric + 1.0, **SMALL)
    for wrong in (np.eye(3), metrics[:1], np.eye(9)):
        with pytest.raises(ValueError, match=r"metric must have shape \(6, 6\)"):
            cvxml.check("plml", X, Y, wrong, **SMALL)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"alpha1": 0.0}, "alpha1 must be greater than 0"),
    ({"alpha2": -1.0}, "alpha2 must be 0 or more"),
    ({"alpha2": 1e20}, "alpha2 must be 0, or within"),
    ({"lam2": 1e200}, "lam2=1e+200 with features"),
    ({"n_anchors": 19}, "n_anchors=19 is too large"),
    ({"anchors": [[1.0, 2.0]]}, r"anchors must have shape \(m, 3\)"),
    ({"anchors": [[1.0, 2.0, np.nan]]}, "anchors hold NaN"),
    ({"weights": np.ones((17, 1))}, "weights must have a row for each of the 18 points"),
    ({"weights": SOFT, "anchors": X[:3]}, "a column for each of the 3 anchors"),
    ({"weights": 0.9 * SOFT}, "add up to 0.9, not to 1"),
    ({"weights": np.array([[2.0, -1.0]] * 18)}, "weights must be finite, 0 or more"),
    ({"similarity": np.ones((18, 18))}, "0 on its diagonal"),
    ({"similarity": np.eye(3)}, r"similarity must have shape \(18, 18\)"),
    ({"graph_neighbors": 0}, "graph_neighbors must be at least 1"),
]


@pytest.mark.parametrize(("params", "says"), BAD)
def test_bad_input_is_a_sentence(params: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("+", r"\+")):
        cvxml.solve("plml", X, Y, **params)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", get("plml").MISREADINGS)
def test_a_misreading_is_named(name: str) -> None:
    """Each mistake is made, and its answer judged."""
    asked = {**SMALL, "alpha2": 1e-3} if name == "mean" else SMALL  # else the mean has the answer 0
    given = checked("plml", X, Y, **asked)[1]
    triplets = given.triplets()
    changes: dict[str, dict[str, Any]] = {
        "half": {"alpha1": 5.0},
        "mean": {"alpha1": 10.0 * len(triplets), "alpha2": 1e-3 * len(triplets)},
        "no_pull": {"alpha2": 0.0},
        "hard": {"weights": np.eye(2)[SOFT.argmax(axis=1)]},
        "even": {"weights": np.full((18, 2), 0.5)},
        "exchanged": {"triplets": triplets[:, [0, 2, 1]]},
    }
    wrong = both_ends(given) if name == "both_ends" else None
    if wrong is None:
        wrong = cvxml.solve("plml", X, Y, **{**asked, **changes[name]}, tol=1e-9).metric
    report = cvxml.check("plml", X, Y, wrong, **asked)
    assert report.verdict is Verdict.REFUTED
    said = get("plml").MISREADINGS[name].sentence
    assert any(said in line for line in report.diagnosis), report.diagnosis


def both_ends(given: Any) -> Any:
    """By cvxpy: the mean of the weights of both points of a pair."""
    M = [cp.Variable((3, 3), PSD=True) for _ in range(2)]

    def distance(i: int, j: int) -> Any:
        e, share = given.X[i] - given.X[j], (given.W[i] + given.W[j]) / 2
        return sum(s * cp.trace(np.outer(e, e) @ own) for s, own in zip(share, M, strict=True))

    slacks = [cp.pos(1 + distance(i, j) - distance(i, l)) for i, j, l in given.triplets().tolist()]
    pull = sum(distance(i, j) for i, j in given.targets.tolist())
    norm = sum(cp.sum_squares(own) for own in M)
    cp.Problem(cp.Minimize(given.alpha1 * norm + sum(slacks) + given.alpha2 * pull)).solve(cp.CLARABEL)
    return in_blocks(np.array([own.value for own in M]))


@pytest.mark.slow
def test_a_file_is_certified_and_recomputed(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "s.json"
    options = ["--n-anchors", "2", "--n-neighbors", "1", "--alpha1", "10"]
    answer = cli("solve", "plml", "iris", "--standardize", *options, "--out", str(path), "--tol", "1e-8")
    assert answer.code == 0
    assert "no joint optimum is claimed" in answer.out
    assert cli("certify", str(path)).code == 0
    code, said = recompute(path)
    assert code == 0, said
    content = json.loads(path.read_text())
    wrong = np.array(content["metric"])
    wrong[0, 0] *= 1.01
    assert recompute(path, metric=wrong.tolist()).code == 1
    assert cli("certify", str(path)).code == 1
    weights = tmp_path / "w.npy"
    np.save(weights, content["params"]["weights"])
    np.save(tmp_path / "m.npy", content["metric"])
    asked = ["iris", "--standardize", "--metric", str(tmp_path / "m.npy"), *options]
    assert cli("check", "plml", *asked, "--weights", str(weights)).code == 0


def test_metrics_for_weights_that_are_not_solved_for_are_not_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are optimal for these weights, and say nothing of those that are asked for."""
    X, y = real_data("iris", 24)
    given = {"n_anchors": 2, "n_neighbors": 2, "alpha1": 10.0}
    good = cvxml.solve("plml", X, y, **given)
    monkeypatch.setattr("cvxml.methods.plml.weights.MAX_ITER", 3)
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("plml", X, y, **given)
    assert solution.status is not Status.CONVERGED
    assert "weights" in solution.certificate.undecided
    own = {**given, "diagnosed": False}
    for exact in (False, True):
        report = cvxml.check("plml", X, y, solution.metric, exact=exact, **own)
        assert report.verdict is Verdict.INCONCLUSIVE
        assert "no proved solution of their own problem" in report.reasons[0]
    assert (
        cvxml.check("plml", X, y, claimed_objective=solution.objective, **own).verdict is Verdict.INCONCLUSIVE
    )
    weights = solution.params["weights"]
    assert cvxml.check("plml", X, y, solution.metric, weights=weights, **own).verdict is Verdict.CERTIFIED
    assert (
        cvxml.check("plml", X, y, good.metric, weights=good.params["weights"], **own).verdict
        is Verdict.CERTIFIED
    )
