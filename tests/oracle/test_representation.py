"""Slips in writing a metric down: a multiple of the optimum."""

from __future__ import annotations

import re
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
