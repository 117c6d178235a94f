"""Slips in writing a metric down: a multiple, and M for L or L for M as other programs write them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Report, Verdict
from cvxml.methods import get, names
from cvxml.oracle import judge
from cvxml.oracle.asked import Asked
from cvxml.oracle.reference import Reference
from tests.instances import objective_of, random_data, real_data, small

CONVEX = [name for name in names() if get(name).CLAIM == "optimal"]
# data on which some optima have rank one, and others a larger rank
DATA: dict[str, tuple[FloatArray, Any]] = {
    "random": random_data(9, 20, 3),
    "iris": real_data("iris", 30),
}
# the metric has at most two free numbers, or the zero metric is nearly optimal: then a multiple may be chance
TOO_LITTLE = {("mmc:diagonal", "random"), ("mmc:diagonal", "iris"), ("schultz_joachims", "random")} | {
    ("boostmetric", "random")
}


def assert_multiples_are_named(method: str, X: FloatArray, y: Any, best: FloatArray, **params: Any) -> None:
    for factor in (1 / 3, 7.0, 1 / float(np.trace(best))):
        if np.isclose(factor, 1, rtol=1e-2):
            continue
        report = cvxml.check(method, X, y, factor * best, **params)
        assert report.verdict is Verdict.REFUTED
        found = [re.search(r"(\S+) times it is optimal", line) for line in report.diagnosis]
        named = [float(each[1]) for each in found if each]
        assert named == [pytest.approx(1 / factor, rel=1e-3)], f"{factor}: {report}"


@pytest.mark.quick(3)
@pytest.mark.parametrize("of", DATA)
@pytest.mark.parametrize("method", [each for each in CONVEX if each not in ("rca", "kernel_mlsvm")])
def test_a_multiple_of_the_optimum_is_named_for_every_convex_method(method: str, of: str) -> None:
    """Every multiple is optimal for RCA."""
    if (method, of) in TOO_LITTLE:
        pytest.skip("too little information")
    X, y = real_data("iris", 12) if method == "mlr" else DATA[of]  # its search lists many rankings
    best = cvxml.solve(method, X, y, tol=1e-9, **small(method)).metric
    assert_multiples_are_named(method, X, y, best, **small(method))


@pytest.mark.parametrize(
    ("method", "data", "rank"),
    [
        ("mmc", real_data("iris", 30), 1),
        ("mmc", real_data("balance", 40), 1),
        ("mmc", real_data("wine", 40), 2),
        ("mmc:diagonal", random_data(1, 20, 5), 4),
        ("dml_eig", real_data("iris", 30), 1),
        ("dml_eig", random_data(3, 14, 3), 2),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_multiple_of_an_optimum_within_a_budget_is_named_for_every_rank(
    method: str, data: tuple[FloatArray, Any], rank: int
) -> None:
    """A factor that is fitted to a solution is accurate to its tolerance only, and may exceed the budget."""
    best = cvxml.solve(method, *data, tol=1e-9).metric
    values = np.linalg.eigvalsh(best)
    assert np.count_nonzero(values > 1e-6 * values[-1]) == rank
    assert_multiples_are_named(method, *data, best)


def rounded(M: FloatArray) -> FloatArray:
    """M with entries above the diagonal that differ from those below in the last digits of double precision."""
    return M * (1 + 4 * np.finfo(np.float64).eps * np.triu(np.ones_like(M), 1))


def in_single_precision(M: FloatArray) -> FloatArray:
    return M * (1 + float(np.finfo(np.float32).eps) * np.triu(np.ones_like(M), 1))


def printed(M: FloatArray) -> FloatArray:
    """M of a program in which it is symmetric up to rounding, as a file with 6 digits."""
    file = io.StringIO()
    np.savetxt(file, rounded(M), fmt="%.6g", delimiter=",")
    file.seek(0)
    return np.loadtxt(file, delimiter=",")


@pytest.mark.quick(2)
@pytest.mark.parametrize("written", [rounded, in_single_precision, printed])
@pytest.mark.parametrize("method", ["gmml", "rca", "mlsvm", "itml"])
def test_M_given_for_L_is_named_though_it_is_symmetric_only_up_to_rounding(
    method: str, written: Callable[[FloatArray], FloatArray]
) -> None:
    X, y = random_data(9, 30, 4)
    theirs = written(cvxml.solve(method, X, y, tol=1e-9, **small(method)).metric)
    assert written is printed or not np.array_equal(theirs, theirs.T)
    report = cvxml.check(method, X, y, components=theirs, **small(method))
    assert report.verdict is Verdict.REFUTED
    assert any("M was given for L" in line for line in report.diagnosis), str(report)


def stopped_early(method: str, X: FloatArray, y: Any, share: float, **params: Any) -> FloatArray:
    """A metric on a line from the optimum, with about this relative gap. It has full rank."""
    best = cvxml.solve(method, X, y, tol=1e-9, **params)
    d = len(best.metric)
    E = np.random.default_rng(5).standard_normal((d, d))
    away = E @ E.T / d * np.trace(best.metric) / d
    low, high = 0.0, 1.0
    for _ in range(40):
        t = (low + high) / 2
        gap = objective_of(method, X, y, (1 - t) * best.metric + t * away, **params) - best.objective
        low, high = (t, high) if gap < share * best.certificate.scale else (low, t)
    return (1 - low) * best.metric + low * away


def rows_of_eigenvectors(M: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(M)
    return np.sqrt(np.maximum(values, 0))[:, None] * vectors.T


def upper_factor(M: FloatArray) -> FloatArray:
    return np.linalg.cholesky(M).T


EARLY: dict[str, dict[str, Any]] = {"mlsvm": {"lam": 0.05}, "lmnn": {}, "frobmetric": {}}


@pytest.mark.quick(2)
@pytest.mark.parametrize("factor", [rows_of_eigenvectors, upper_factor])
@pytest.mark.parametrize("method", EARLY)
def test_L_given_for_M_is_near_though_the_program_stopped_early(
    method: str, factor: Callable[[FloatArray], FloatArray]
) -> None:
    """L is not symmetric, so it is no metric, and its gap in the problem asked is that of the nearest metric.

    The optimum of LMNN is not known to be unique, so the list needs a smaller gap.
    """
    share = 5e-5 if method == "lmnn" else 2e-3
    X, y = random_data(9, 30, 4)
    M = stopped_early(method, X, y, share, **EARLY[method])
    report = cvxml.check(method, X, y, factor(M), **EARLY[method])
    assert report.verdict is Verdict.REFUTED
    assert report.diagnosis == ()
    listed = [each for each in report.nearest if "L^T L" in each.sentence]
    assert len(listed) == 1, str(report)
    assert listed[0].share == pytest.approx(share, rel=0.1)
    assert listed[0].asked == pytest.approx(report.rel_gap, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("method", EARLY)
@pytest.mark.parametrize("seed", range(4))
def test_a_matrix_that_is_no_metric_and_no_factor_is_near_to_no_problem(method: str, seed: int) -> None:
    X, y = random_data(9, 30, 4)
    E = np.random.default_rng(seed).standard_normal((4, 4))
    best = cvxml.solve(method, X, y, tol=1e-8, **EARLY[method]).metric
    size = np.linalg.norm(best)
    turn = np.linalg.qr(E)[0]
    for wrong in (size * E, best + 0.3 * size * E, rows_of_eigenvectors(best) @ turn @ turn, turn @ best):
        report = cvxml.check(method, X, y, wrong, **EARLY[method])
        assert (report.diagnosis, report.nearest) == ((), ()), str(report)


def notes_of(report: Report, token: str) -> list[str]:
    return [note for note in report.notes if token in note.lower()]


@pytest.mark.quick(2)
@pytest.mark.parametrize("method", EARLY)
@pytest.mark.parametrize("factor", [2.0, 0.2])
def test_a_multiple_of_a_metric_that_stopped_early_is_noted_and_not_named(method: str, factor: float) -> None:
    X, y = random_data(9, 30, 4)
    M = stopped_early(method, X, y, 1e-4, **EARLY[method])
    report = cvxml.check(method, X, y, factor * M, **EARLY[method])
    assert report.verdict is Verdict.REFUTED
    assert (report.diagnosis, report.nearest) == ((), ()), str(report)
    found = re.search(r"(\S+) times your metric has a relative gap of ([^ ,]+)", " ".join(report.notes))
    assert found is not None, str(report)
    assert float(found[1]) == pytest.approx(1 / factor, rel=0.1)
    again = cvxml.check(method, X, y, float(found[1]) * factor * M, diagnosed=False, **EARLY[method])
    assert float(found[2]) == pytest.approx(again.rel_gap, rel=0.1)


def test_another_weight_of_a_metric_that_stopped_early_is_noted_and_not_named() -> None:
    X, y = random_data(9, 30, 4)
    M = stopped_early("mlsvm", X, y, 1e-4, lam=0.2)
    report = cvxml.check("mlsvm", X, y, M, lam=0.05)
    assert (report.diagnosis, report.nearest) == ((), ()), str(report)
    found = re.search(r"Your metric for lam = (\S+) has", " ".join(report.notes))
    assert found is not None, str(report)
    assert float(found[1]) == pytest.approx(0.2, rel=0.1)


def test_a_right_metric_that_stopped_early_is_told_no_factor_and_no_weight() -> None:
    X, y = random_data(9, 30, 4)
    report = cvxml.check("mlsvm", X, y, stopped_early("mlsvm", X, y, 0.05, lam=0.05), lam=0.05)
    assert report.verdict is Verdict.REFUTED
    assert not notes_of(report, "your metric for")
    assert not notes_of(report, "times your metric")


def test_a_sharper_solve_that_stalls_does_not_replace_a_better_solution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A stalled solve has a worse bound, so a multiple of the optimum would have a large gap."""
    X, y = random_data(9, 20, 3)
    best = cvxml.solve("mlsvm", X, y, tol=1e-8)
    with pytest.warns(UserWarning, match="1 iteration|converge|max_iter"):
        rough = cvxml.solve("mlsvm", X, y, tol=1e-8, max_iter=1)
    assert best.objective - rough.lower_bound > 1e-3 * best.certificate.scale
    asked = Asked("mlsvm", X, y, {}, get("mlsvm").instance(X, y), 2 * best.metric)
    monkeypatch.setattr(judge, "reference", lambda *_, **__: Reference(rough, tight=True))
    of = judge.Judge(asked, Reference(best, tight=True))
    of.sharpen(0.0)
    assert of.left(best.metric).share <= 1e-7
