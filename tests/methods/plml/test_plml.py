"""PLML's metrics: against cvxpy from scratch, RTML where weights are hard, weights by default, files, misreadings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray, blocks_of, in_blocks
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from tests.cli.commands import Cli
from tests.instances import assert_named, checked, own_misreadings, random_data, real_data
from validation import recompute

X, Y = random_data(9, n=18, d=3)
SOFT = np.random.default_rng(3).dirichlet([1.0, 0.5], 18)
SMALL: dict[str, Any] = {"alpha1": 10.0, "alpha2": 0.5, "weights": SOFT, "n_neighbors": 2}


def by_cvxpy(given: Any, share: Callable[[int, int], FloatArray]) -> tuple[float, FloatArray]:
    """The optimum, a distance of i and j being the sum over b of share(i, j)_b times that in metric b."""
    M = [cp.Variable((3, 3), PSD=True) for _ in range(2)]
    entries = cp.hstack([cp.vec(own, order="C") for own in M])

    def rows(pairs: Any) -> FloatArray:
        E = [given.X[i] - given.X[j] for i, j in pairs]
        shares = [share(i, j) for i, j in pairs]
        return np.array([np.kron(s, np.outer(e, e).ravel()) for s, e in zip(shares, E, strict=True)])

    triplets = given.triplets()
    missed = cp.pos(1 + (rows(triplets[:, [0, 1]]) - rows(triplets[:, [0, 2]])) @ entries)
    pull = cp.sum(rows(np.unique(triplets[:, :2], axis=0)) @ entries)
    norm = cp.sum_squares(entries)
    problem = cp.Problem(cp.Minimize(given.alpha1 * norm + cp.sum(missed) + given.alpha2 * pull))
    return float(problem.solve(cp.CLARABEL)), in_blocks(np.array([own.value for own in M]))


def test_against_cvxpy_from_scratch() -> None:
    of, given = checked("plml", X, Y, **SMALL)
    solution = cvxml.solve("plml", X, Y, tol=1e-8, **SMALL)
    optimum, _ = by_cvxpy(given, lambda i, _: given.W[i])
    assert optimum == pytest.approx(solution.objective, rel=1e-5)
    parts = of.evaluate(given, solution.metric)
    whole = parts["norm"] + parts["pull"] + float(np.sum(parts["losses"]))
    assert whole == pytest.approx(solution.objective, rel=1e-12)
    assert solution.certificate.scale == pytest.approx(parts["norm"], rel=1e-9)


def test_hard_weights_make_a_problem_of_each_metric() -> None:
    """Without a pull that is RTML with the hinge and lam = 2 alpha1, on the triplets of its points."""
    params: dict[str, Any] = {"alpha1": 5.0, "alpha2": 0.0, "weights": np.eye(2)[np.arange(18) % 2]}
    both = cvxml.solve("plml", X, Y, n_neighbors=2, tol=1e-9, **params)
    total, triplets = 0.0, np.array(both.params["triplets"])
    for b in range(2):
        own = triplets[triplets[:, 0] % 2 == b].tolist()
        alone = cvxml.solve("rtml", X, None, lam=10.0, width=0, triplets=own, tol=1e-9)
        total += alone.objective
        reach = alone.certificate.radius + both.certificate.radius
        assert np.linalg.norm(blocks_of(both.metric, 2)[b] - alone.metric) <= reach
    assert both.objective == pytest.approx(total, rel=1e-8)


def test_even_weights_make_equal_metrics_of_which_the_norm_counts_twice() -> None:
    solution = cvxml.solve("plml", X, Y, **{**SMALL, "weights": np.full((18, 2), 0.5)}, tol=1e-9)
    one, other = blocks_of(solution.metric, 2)
    assert np.linalg.norm(one - other) <= 2 * solution.certificate.radius
    alone = cvxml.solve("plml", X, Y, **{**SMALL, "alpha1": 20.0, "weights": np.ones((18, 1))}, tol=1e-9)
    assert solution.objective == pytest.approx(alone.objective, rel=1e-8)


def test_a_metric_no_point_has_a_share_of_is_zero() -> None:
    solution = cvxml.solve("plml", X, Y, **{**SMALL, "weights": np.eye(3)[[0] * 18]})
    assert not blocks_of(solution.metric, 3)[1:].any()
    assert blocks_of(solution.metric, 3)[0].any()


def test_the_default_weights_are_proved_and_a_note_tells_where_weights_are_from() -> None:
    points, y = real_data("iris", 20)
    solution = cvxml.solve("plml", points, y, n_anchors=3, n_neighbors=1)
    again = cvxml.solve("plml", points, y, **solution.params)
    assert again.objective == pytest.approx(solution.objective, rel=1e-9)
    assert again.notes == solution.notes
    even = {**solution.params, "weights": np.full((20, 3), 1 / 3)}
    notes = {solution.notes[0]}
    for other in ({**solution.params, "anchors": None}, even):
        notes.add(cvxml.solve("plml", points, y, **other).notes[0])
    assert len(notes) == 3
    values = [
        cvxml.evaluate("plml", points, y, solution.metric, **params).weights_objective
        for params in (solution.params, even)
    ]
    assert values[0] < values[1]


def test_metrics_may_be_given_one_by_one_and_entries_beside_the_blocks_are_refused() -> None:
    metric = cvxml.solve("plml", X, Y, **SMALL).metric
    metrics = blocks_of(metric, 2)
    np.testing.assert_array_equal(in_blocks(metrics), metric)
    assert cvxml.check("plml", X, Y, metrics, **SMALL).verdict is Verdict.CERTIFIED
    beside = metric + 0.02 * np.linalg.norm(metric) * np.eye(6)
    beside[0, 4] = beside[4, 0] = 0.01 * np.linalg.norm(metric)
    assert np.linalg.eigvalsh(beside)[0] > 0
    assert cvxml.check("plml", X, Y, beside, diagnosed=False, **SMALL).verdict is Verdict.REFUTED
    with pytest.raises(ValueError, match="2 blocks"):
        cvxml.evaluate("plml", X, Y, beside, **SMALL)
    for wrong in (np.eye(3), metrics[:1], np.eye(9)):
        with pytest.raises(ValueError, match=r"\(6, 6\)"):
            cvxml.check("plml", X, Y, wrong, **SMALL)


def test_weights_have_a_column_for_each_anchor() -> None:
    with pytest.raises(ValueError, match="3 anchors"):
        cvxml.solve("plml", X, Y, weights=SOFT, anchors=X[:3])


@pytest.mark.quick(1)
@pytest.mark.parametrize("misreading", own_misreadings("plml"))
def test_a_misreading_is_named(misreading: str) -> None:
    """Each mistake is made, and its answer judged."""
    # with more pull the mean has the answer 0
    asked = {**SMALL, "alpha2": 1e-3} if misreading == "mean" else SMALL
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
    if misreading == "both_ends":
        _, wrong = by_cvxpy(given, lambda i, j: (given.W[i] + given.W[j]) / 2)
    else:
        wrong = cvxml.solve("plml", X, Y, **{**asked, **changes[misreading]}, tol=1e-9).metric
    assert_named("plml", misreading, X, Y, wrong, **asked)


@pytest.mark.slow
def test_a_file_is_certified_and_recomputed(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "s.json"
    options = ["--n-anchors", "2", "--n-neighbors", "1", "--alpha1", "10"]
    solve = ["solve", "plml", "iris", "--standardize", *options, "--out", str(path), "--tol", "1e-8"]
    assert cli(*solve).code == 0
    assert cli("certify", str(path)).code == 0
    assert recompute.main(str(path))
    content = json.loads(path.read_text())
    for name in ("weights", "metric"):
        np.save(tmp_path / f"{name}.npy", content["params"].get(name, content["metric"]))
    asked = ["--metric", str(tmp_path / "metric.npy"), "--weights", str(tmp_path / "weights.npy")]
    assert cli("check", "plml", "iris", "--standardize", *options, *asked).code == 0
    content["metric"][0][0] *= 1.01
    path.write_text(json.dumps(content))
    assert not recompute.main(str(path))
    assert cli("certify", str(path)).code == 1


def test_metrics_for_weights_that_are_not_solved_for_are_not_certified(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are optimal for these weights, and say nothing of those that are asked for."""
    X, y = real_data("iris", 24)
    given: dict[str, Any] = {"n_anchors": 2, "n_neighbors": 2, "alpha1": 10.0}
    good = cvxml.solve("plml", X, y, **given)
    monkeypatch.setattr("cvxml.methods.plml.weights.MAX_ITER", 3)
    with pytest.warns(match="not certified"):
        solution = cvxml.solve("plml", X, y, **given)
    assert solution.status is not Status.CONVERGED
    assert "weights" in solution.certificate.undecided
    given["diagnosed"] = False
    reports = [cvxml.check("plml", X, y, solution.metric, exact=exact, **given) for exact in (False, True)]
    reports.append(cvxml.check("plml", X, y, claimed_objective=solution.objective, **given))
    assert {report.verdict for report in reports} == {Verdict.INCONCLUSIVE}
    for each in (solution, good):  # of weights that are given
        report = cvxml.check("plml", X, y, each.metric, weights=each.params["weights"], **given)
        assert report.verdict is Verdict.CERTIFIED
