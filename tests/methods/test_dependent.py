"""Closed forms of features that others nearly determine: refused with the columns and the remedy, which then helps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.dependent import least_spread

POINTS, Y = datasets.load("wine")
POINTS = datasets.standardize(POINTS)
X = np.column_stack([POINTS, POINTS[:, 0] + POINTS[:, 1] + POINTS[:, 2]])  # a total, but for rounding
REMEDIES = {"rca": "alpha", "gmml": "mu", "lfda": "alpha"}


@pytest.mark.parametrize("method", REMEDIES)
def test_nearly_dependent_features_are_refused_with_the_remedy(method: str) -> None:
    remedy = REMEDIES[method]
    with pytest.raises(ValueError, match=rf"columns 0, 1, 2, 13 .*{remedy} > 0"):
        cvxml.solve(method, X, Y)
    without = cvxml.solve(method, X[:, :-1], Y)
    given: dict[str, Any] = {remedy: 1e-3}
    with_remedy = cvxml.solve(method, X, Y, **given)
    for solution in (without, with_remedy):
        assert solution.status.name == "CONVERGED"
        assert np.abs(solution.metric).max() < 1e9


def test_the_direction_of_least_spread_names_its_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) * [1.0, 1e6, 1e-3, 1.0]
    dependent = np.column_stack([X, np.full(30, 7.0), 1e6 * X[:, 0] - X[:, 1]])
    assert least_spread(dependent) == [0, 1, 5]
    assert least_spread(np.ones((3, 2))) == []
