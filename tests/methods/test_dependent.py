"""Closed forms of features that others nearly determine: refused with the columns and the remedy, which then helps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml import datasets
from cvxml.core.dependent import least_spread, refuse_inaccurate
from cvxml.methods import get

POINTS, Y = datasets.load("wine")
POINTS = datasets.standardize(POINTS)
X = np.column_stack([POINTS, POINTS[:, 0] + POINTS[:, 1] + POINTS[:, 2]])  # a total, but for rounding
REMEDIES = {"rca": "alpha", "gmml": "mu", "lfda": "alpha"}


@pytest.mark.quick(2)
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


@pytest.mark.parametrize("method", REMEDIES)
def test_what_is_singular_is_decided_in_rationals(method: str) -> None:
    """The third feature is the sum of the others; numpy sees no difference if it is not, by 2^-26 of one point."""
    points = np.random.default_rng(0).integers(-8, 8, (12, 3)).astype(float)
    points[:, 2], y = points[:, 0] + points[:, 1], np.arange(12) % 2
    with pytest.raises(ValueError, match="2 of 3"):
        get(method).instance(points, y)
    points[3, 2] += 2.0**-26
    within = points - np.array([points[y == c].mean(axis=0) for c in (0, 1)])[y]
    assert np.linalg.matrix_rank(within.T @ within) == 2
    get(method).instance(points, y)


@pytest.mark.parametrize("unit", [1e-170, 1e170])
@pytest.mark.parametrize("method", REMEDIES)
def test_units_in_which_no_metric_is_a_float_are_refused(method: str, unit: float) -> None:
    with pytest.raises(ValueError, match="rescale"):
        cvxml.solve(method, unit * POINTS, Y)


def test_the_direction_of_least_spread_names_its_features() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4)) * [1.0, 1e6, 1e-3, 1.0]
    dependent = np.column_stack([X, np.full(30, 7.0), 1e6 * X[:, 0] - X[:, 1]])
    assert least_spread(dependent) == [0, 1, 5]
    assert least_spread(np.ones((3, 2))) == []


def test_a_dependence_of_very_many_features_names_features() -> None:
    """No entry of the direction is above .09."""
    X = np.random.default_rng(0).standard_normal((400, 150))
    assert least_spread(X - X.mean(axis=1, keepdims=True)) == list(range(150))


def test_many_points_need_no_square_table() -> None:
    """A table of every two of 30,000 points would take 7 GB."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 3))
    assert least_spread(np.column_stack([X, X[:, 0] - X[:, 2]])) == [0, 2, 3]


def test_fewer_points_than_features_have_a_direction_without_spread() -> None:
    X = np.eye(2, 3)  # the third feature is constant, the first two add up to 1
    assert least_spread(X) == [0, 1]


def test_an_optimum_of_zero_is_no_sign_of_dependent_features() -> None:
    """GMML with D = S^-1: for a weight other than 1/2 the optimum is 0, at D, and rounding leaves a gap above it."""
    X = [[0.0, 0.0], [0.7, 0.0], [0.0, 1.3], [1 / 0.7, 0.0], [0.0, 1 / 1.3]]
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}
    solution = cvxml.solve("gmml", X, None, pairs=pairs, weight=0.25)
    assert solution.status.name == "CONVERGED"
    assert solution.objective < 1e-12
    np.testing.assert_allclose(solution.metric, np.diag([1 / 0.49, 1 / 1.69]), rtol=1e-9)


def test_a_closed_form_of_infinite_objective_is_refused() -> None:
    proof = cvxml.solve("gmml", POINTS, Y).certificate
    refuse_inaccurate(proof, X, "give mu > 0")
    with pytest.raises(ValueError, match="mu > 0"):
        refuse_inaccurate(replace(proof, gap=math.inf, scale=math.inf), X, "give mu > 0")
