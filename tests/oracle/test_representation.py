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
from cvxml.core.report import Verdict
from cvxml.methods import get, names
from tests.instances import random_data, real_data, small

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
        report = cvxml.check(method, X, y, factor * best, **params)
        if np.isclose(factor, 1, rtol=1e-2):
            continue
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
    X, y = DATA[of]
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
