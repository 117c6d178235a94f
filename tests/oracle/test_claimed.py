"""A claimed objective: one scale for it, whether the metric is given or not, and whatever the objective is."""

from __future__ import annotations

import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.methods import get, names
from tests.instances import random_data, small

X, Y = random_data(0, n=16, d=3)


@pytest.mark.quick(4)
@pytest.mark.parametrize("method", names())
def test_a_claimed_objective_is_judged_on_the_scale_of_the_problem(method: str) -> None:
    """Half of the tolerance beside the optimum is certified; three times the tolerance is refuted."""
    params, tol = small(method), 1e-3
    best = cvxml.solve(method, X, Y, tol=1e-9, **params)
    scale, convex = best.certificate.scale, get(method).CLAIM == "optimal"
    for share, expected in ((0.5, Verdict.CERTIFIED), (3.0, Verdict.REFUTED)):
        for sign in (1, -1):
            given = {**params, "claimed_objective": best.objective + sign * share * tol * scale, "tol": tol}
            with_metric = cvxml.check(method, X, Y, best.metric, diagnosed=False, **given)
            assert with_metric.verdict is expected, (share, sign, str(with_metric))
            if convex:
                alone = cvxml.check(method, X, Y, diagnosed=False, **given)
                assert alone.verdict is expected, (share, sign, str(alone))


def test_an_objective_near_zero_is_not_judged_by_its_own_size() -> None:
    """SDML with the prior c I: the objective is about 3 - 3 log c, and 0 for some c near e."""

    def solved(c: float) -> cvxml.Solution:
        return cvxml.solve("sdml", X, Y, eta=1e-4, prior=c * np.eye(3), tol=1e-9)

    low, high = 1.0, 10.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if solved(middle).objective > 0 else (low, middle)
    best = solved(low)
    scale = best.certificate.scale
    assert abs(best.objective) < 1e-9 * scale
    claimed = best.objective + 0.5e-6 * scale
    given = {"eta": 1e-4, "prior": low * np.eye(3), "claimed_objective": claimed}
    assert cvxml.check("sdml", X, Y, best.metric, **given).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("tol", ["strict", "normal"])
def test_a_certified_metric_with_a_false_claim_is_not_called_optimal_at_a_looser_tolerance_only(
    tol: str,
) -> None:
    """The metric has the gap 0: only the claimed objective is refuted, and no note names a tolerance."""
    X, y = random_data(0, n=16, d=3)
    solution = cvxml.solve("mlsvm", X, y, tol=1e-9)
    alone = cvxml.check("mlsvm", X, y, solution.metric, tol=tol, diagnosed=False)
    claimed = cvxml.check(
        "mlsvm", X, y, solution.metric, claimed_objective=1.1 * solution.objective, tol=tol, diagnosed=False
    )
    assert (alone.verdict, claimed.verdict) == (Verdict.CERTIFIED, Verdict.REFUTED)
    assert claimed.notes == alone.notes
