"""The same promises for every method: a new one gets this suite by adding an entry to INSTANCES."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.methods import get, names
from cvxml.report import Verdict
from cvxml.result import Status
from tests.instances import random_data, real_data

INSTANCES: dict[str, list[tuple[Any, dict[str, Any]]]] = {
    "mlsvm": [
        (random_data(0), {"lam": 0.1}),
        (random_data(1, n=24, d=30), {"lam": 0.01, "n_neighbors": 6}),
        (real_data("iris", 50), {"lam": 0.1, "neighborhood": "per-class", "n_neighbors": 3}),
        (real_data("wine", 60, standardized=False), {"lam": 1.0, "n_neighbors": 5}),
        (real_data("balance", 60, standardized=False), {"lam": 1.0}),
    ],
    "kernel_mlsvm": [
        (random_data(2, n=20), {"lam": 0.1, "degree": 2}),
        (real_data("iris", 12), {"lam": 0.1, "kernel": "rbf", "gamma": 0.5}),
    ],
}
CASES = [
    pytest.param(method, X, y, params, id=f"{method}-{k}")
    for method, instances in INSTANCES.items()
    for k, ((X, y), params) in enumerate(instances)
]
every_case = pytest.mark.parametrize(("method", "X", "y", "params"), CASES)


def test_every_method_is_covered() -> None:
    assert set(INSTANCES) == set(names())


@every_case
@pytest.mark.parametrize("solver", ["clarabel", "scs"])
def test_literal_equals_fast_within_the_certified_gaps(
    method: str, X: Any, y: Any, params: dict[str, Any], solver: str
) -> None:
    fast = cvxml.solve(method, X, y, tol=1e-8, **params)
    literal = cvxml.solve(method, X, y, solver=solver, tol=1e-3, **params)
    assert fast.rel_gap <= 1e-8
    assert literal.rel_gap <= 1e-3
    slip = 1e-13 * (1 + abs(fast.objective))
    assert literal.lower_bound <= fast.objective + slip
    assert fast.lower_bound <= literal.objective + slip


@every_case
def test_the_literal_problem_has_the_certified_value(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    fast = cvxml.solve(method, X, y, tol=1e-8, **params)
    primal, dual = cvxml.problem(method, X, y, **params), cvxml.problem(method, X, y, dual=True, **params)
    for problem in (primal, dual):
        value = problem.solve(solver="CLARABEL")
        assert value == pytest.approx(fast.objective, rel=1e-5, abs=1e-7)


@every_case
def test_the_objective_is_what_the_certificate_says(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    from_definition = get(method).objective(X, y, solution.metric, **params)
    assert from_definition == pytest.approx(solution.objective, rel=1e-10)
    assert solution.gap == pytest.approx(solution.objective - solution.lower_bound, abs=1e-14)
    assert solution.lower_bound <= solution.objective


@every_case
def test_check_certifies_the_optimum_and_refutes_worse_points(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, tol=1e-9, **params)
    explicit = {**params, "neighbors": solution.neighbors}
    for tol in ("strict", "normal", "loose"):
        report = cvxml.check(method, X, y, solution.metric, tol=tol, **explicit)
        assert report.verdict is Verdict.CERTIFIED, (tol, str(report))
    for wrong in (
        0 * solution.metric,
        1.1 * solution.metric,
        2 * solution.metric,
        np.eye(len(solution.metric)),
    ):
        report = cvxml.check(method, X, y, wrong, **explicit)
        assert report.verdict is Verdict.REFUTED
        assert report.witness is not None
        theirs = get(method).objective(X, y, wrong, **explicit)
        ours = get(method).objective(X, y, report.witness.metric, **explicit)
        assert theirs - ours == pytest.approx(report.witness.better_by, rel=1e-6, abs=1e-12)
        assert report.witness.better_by > 0


@every_case
def test_the_metric_is_psd_and_saved_proofs_hold(
    method: str, X: Any, y: Any, params: dict[str, Any], tmp_path: Any
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    assert solution.certificate.feasibility.feasible
    assert np.array_equal(solution.metric, solution.metric.T)
    for name in ("s.json", "s.npz"):
        solution.save(tmp_path / name)
        saved = cvxml.load(tmp_path / name)
        again = cvxml.certify(
            method,
            saved.X,
            saved.y,
            saved.metric,
            saved.dual,
            **{**params, "neighbors": saved.neighbors},
        )
        assert again.proves(1e-6)
        assert again.lower_bound == pytest.approx(solution.lower_bound, rel=1e-12)


@every_case
def test_inputs_are_untouched_and_results_repeat(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    before = X.copy(), y.copy()
    X.setflags(write=False)
    first = cvxml.solve(method, X, y, **params)
    second = cvxml.solve(method, X, y, **params)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])
    assert np.array_equal(first.metric, second.metric)
    assert first.lower_bound == second.lower_bound


@every_case
def test_permuting_the_points_permutes_nothing_else(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    order = np.random.default_rng(0).permutation(len(X))
    place = np.argsort(order)
    solution = cvxml.solve(method, X, y, tol=1e-9, **params)
    moved = [[int(place[j]) for j in solution.neighbors[i]] for i in order]
    other = cvxml.solve(method, X[order], y[order], tol=1e-9, **{**params, "neighbors": moved})
    assert other.objective == pytest.approx(solution.objective, rel=1e-9)


@every_case
def test_evaluate_agrees_with_the_certificate(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    solution = cvxml.solve(method, X, y, **params)
    evaluation = cvxml.evaluate(method, X, y, solution.metric, **params)
    assert evaluation.objective == pytest.approx(solution.objective, rel=1e-9)
    assert set(evaluation.to_dict()) >= {"method", "objective"}


@every_case
def test_not_converging_always_warns(method: str, X: Any, y: Any, params: dict[str, Any]) -> None:
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="not certified"):
        solution = cvxml.solve(method, X, y, max_iter=2, tol=1e-9, **params)
    assert solution.status is Status.MAX_ITER
    assert not solution.certificate.proves(1e-9)
    assert solution.lower_bound <= solution.objective


@every_case
def test_a_claimed_value_below_the_bound_is_refuted(
    method: str, X: Any, y: Any, params: dict[str, Any]
) -> None:
    solution = cvxml.solve(method, X, y, **params)
    explicit = {**params, "neighbors": solution.neighbors}
    honest = cvxml.check(method, X, y, claimed_objective=solution.objective, **explicit)
    assert honest.verdict is Verdict.CERTIFIED
    low = solution.lower_bound - 0.01 * solution.certificate.scale
    report = cvxml.check(method, X, y, solution.metric, claimed_objective=low, **explicit)
    assert report.verdict is Verdict.REFUTED
    assert "below the certified lower bound" in str(report)


@pytest.mark.parametrize("method", names())
def test_a_method_tells_its_statement_and_source(method: str) -> None:
    module = get(method)
    assert "cp.Problem(" in module.literal_source()
    assert "min" in module.STATEMENT
    assert module.PARAMETERS
