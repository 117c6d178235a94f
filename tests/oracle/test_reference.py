"""A rough solution is enough to refute most metrics, and for nothing else: verdicts are those beside a tight one."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import Verdict
from cvxml.core.result import Status
from cvxml.methods import get, names
from cvxml.oracle import reference as module
from cvxml.oracle.asked import Asked
from cvxml.oracle.judge import Judge
from cvxml.oracle.reference import ROUGH, reference
from tests.instances import checked, random_data

CONVEX = [m for m in names() if get(m).CLAIM == "optimal" and m != "glml" and not m.startswith("kernel")]


def data() -> tuple[np.ndarray, np.ndarray]:
    return random_data(5, n=24, d=3, classes=2)


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every set of points has many."""
    monkeypatch.setattr(module, "MAX_POINTS_LISTED", 0)


@pytest.mark.quick(1)
@pytest.mark.parametrize("method", CONVEX)
def test_verdicts_are_those_beside_a_tight_solution(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    best = cvxml.solve(method, X, y, tol=1e-8).metric
    size = float(np.trace(best)) or 1.0
    diagonal = np.diag(np.diag(best))
    one = np.eye(len(best))
    candidates = [best, diagonal * 1.001, best / 2, one * size / 3, 1e3 * best, -one]
    tight = [cvxml.check(method, X, y, M, diagnosed=False).verdict for M in candidates]
    monkeypatch.setattr(module, "MAX_POINTS_LISTED", 0)
    rough = [cvxml.check(method, X, y, M, diagnosed=False).verdict for M in candidates]
    assert rough == tight
    assert tight[0] is Verdict.CERTIFIED
    assert tight[-1] is Verdict.REFUTED


def solves(monkeypatch: pytest.MonkeyPatch, method: str) -> list[dict[str, Any]]:
    """What the method is asked to solve, from now on."""
    of, told = get(method), []
    solve = type(of).solve

    def noted(self: Any, given: Any, **options: Any) -> Any:
        told.append(options)
        return solve(self, given, **options)

    monkeypatch.setattr(type(of), "solve", noted)
    return told


@pytest.mark.usefixtures("many")
def test_what_is_far_from_optimal_is_refuted_by_a_rough_solution_and_what_is_near_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = data()
    best = cvxml.solve("lmnn", X, y, tol=1e-8).metric
    told = solves(monkeypatch, "lmnn")
    assert cvxml.check("lmnn", X, y, 9 * best, diagnosed=False).verdict is Verdict.REFUTED
    assert [options["tol"] for options in told] == [ROUGH]
    told.clear()
    assert cvxml.check("lmnn", X, y, best, diagnosed=False).verdict is Verdict.CERTIFIED
    assert [options["tol"] for options in told] == [ROUGH, pytest.approx(1e-7)]
    assert told[1]["warm_start"].certificate.proves(ROUGH)
    # a claimed value is judged by the bound, which therefore is tight, with a metric and without
    for metric in (None, 9 * best):
        told.clear()
        report = cvxml.check("lmnn", X, y, metric, claimed_objective=1.0, diagnosed=False)
        assert report.verdict is Verdict.REFUTED
        assert [options["tol"] for options in told] == [pytest.approx(1e-7)]


def test_few_points_have_a_tight_solution_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    told = solves(monkeypatch, "lmnn")
    cvxml.check("lmnn", X, y, np.eye(3), diagnosed=False)
    assert [options["tol"] for options in told] == [pytest.approx(1e-7)]


@pytest.mark.slow
@pytest.mark.usefixtures("many")
def test_what_is_known_serves_another_metric_where_it_is_tight_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, given = checked("lmnn", *data())
    far, best = 100 * np.eye(3), cvxml.solve("lmnn", *data(), tol=1e-8).metric
    told = solves(monkeypatch, "lmnn")
    first = reference(of, given, far, 1e-6)
    assert not first.tight
    assert reference(of, given, 2 * far, 1e-6, first) is first
    assert len(told) == 1
    # a little worse than a rough solution may be as good as optimal
    for factor in (0.998, 1.002):
        assert reference(of, given, factor * first.solution.metric, 1e-6, first).tight
    second = reference(of, given, best, 1e-6, first)
    assert second.tight
    assert second.solution.certificate.proves(1e-7)
    assert reference(of, given, far, 1e-6, second) is second
    assert reference(of, given, best, 1e-6, second) is second
    assert len(told) == 4


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("method", [m for m in CONVEX if get(m).MAX_ITER == 1])
def test_a_closed_form_is_solved_once(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = solves(monkeypatch, method)
    cvxml.check(method, *data(), np.diag([1.0, 2.0, 3.0]), diagnosed=False)
    assert [options["tol"] for options in told] == [pytest.approx(1e-7)]


@pytest.mark.usefixtures("many")
def test_a_rough_solution_that_ended_at_the_time_limit_is_the_last_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, given = checked("lmnn", *data())
    best = of.solve(given)
    told, late = list[float](), dataclasses.replace(best, status=Status.TIME_LIMIT)

    def solve(self: Any, given: Any, *, tol: float, **_: Any) -> Any:
        told.append(tol)
        return late

    monkeypatch.setattr(type(of), "solve", solve)
    found = reference(of, given, best.metric, 1e-6)
    assert found.solution is late
    assert told == [ROUGH]


@pytest.mark.usefixtures("many")
def test_a_rough_solution_refutes_nothing_where_double_precision_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of, given = checked("lmnn", *data())
    first = reference(of, given, 100 * np.eye(3), 1e-6)
    assert not first.tight
    certify, said = type(of).certify, iter(["no digits"])

    def undecided(self: Any, *asked: Any) -> Any:
        return dataclasses.replace(certify(self, *asked), undecided=next(said, ""))

    monkeypatch.setattr(type(of), "certify", undecided)
    assert reference(of, given, 100 * np.eye(3), 1e-6, first).tight


@pytest.mark.quick(1)
@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("size", [0.1, 3.0, 100.0])
def test_what_a_metric_loses_is_not_overstated_beside_a_rough_solution(size: float) -> None:
    X, y = data()
    of, given = checked("lmnn", X, y)
    best = cvxml.solve("lmnn", X, y, tol=1e-8)
    M = size * np.eye(3)
    lost = of.objective(given, M) - best.objective
    judge = Judge(Asked("lmnn", X, y, {}, given, M), reference(of, given, 1e3 * M, 1e-6))
    assert not judge.solved[judge._key(judge.itself)][1].tight
    own, upper = judge.certain(M), judge.left(M)
    assert own.gap is not None
    assert upper.gap is not None
    assert lost - 2 * ROUGH * best.certificate.scale <= own.gap <= lost <= upper.gap


@pytest.mark.slow
def test_diagnoses_are_those_beside_tight_solutions(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = data()
    best = cvxml.solve("lmnn", X, y, tol=1e-9).metric
    wrong = [best / 2, cvxml.solve("lmnn", X, y, n_neighbors=2, tol=1e-9).metric, np.eye(3)]
    tight = [cvxml.check("lmnn", X, y, M).diagnosis for M in wrong]
    monkeypatch.setattr(module, "MAX_POINTS_LISTED", 0)
    assert [cvxml.check("lmnn", X, y, M).diagnosis for M in wrong] == tight
    assert "2 times" in tight[0][0]
    assert "n_neighbors - 1" in tight[1][0]
    assert tight[2] == ()
