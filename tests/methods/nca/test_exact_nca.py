"""The exact mode of NCA where the rank is limited: against a twin in many digits, against first-order steps."""

from __future__ import annotations

import warnings
from decimal import Decimal

import numpy as np
import pytest

import cvxml
from cvxml.core.balls import precision
from cvxml.core.report import Verdict
from cvxml.methods.nca import exact
from cvxml.methods.nca.instance import instance
from tests.instances import exact_of, random_data
from tests.methods.nca.in_many_digits import (
    ZERO,
    Digits,
    assert_upper_end,
    decimals,
    first_order_gain,
    sixty_digits,
    weights,
)

X, Y = random_data(3, n=16, d=3, classes=3)
ROWS = np.array([[1.0, 0.3, 0.0], [0.2, 0.7, 0.1]])


def objective(A: Digits, criterion: str) -> Decimal:
    """-f or -g of A (m, d), from the definition."""
    value = ZERO
    for e, label in zip(weights(X, A), Y, strict=True):
        own = sum((each for each, c in zip(e, Y, strict=True) if c == label), ZERO) / sum(e, ZERO)
        value -= own if criterion == "f" else own.ln()
    return value


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize(("m", "size"), [(1, 0.1), (1, 3.0), (2, 1.0)])
def test_the_steepest_first_order_step_leads_to_the_lower_end(m: int, size: float, criterion: str) -> None:
    A = size * ROWS[:m]
    found = exact_of("nca", X, Y, A.T @ A, {}, root=A.T, n_components=m, criterion=criterion)
    with sixty_digits():
        assert_upper_end(found, objective(decimals(A), criterion))
    gain = first_order_gain(lambda A: objective(A, criterion), X, A)
    assert float(found.gap) == pytest.approx(gain, rel=1e-9)
    assert found.of_step


@pytest.mark.quick(1)
@pytest.mark.parametrize(("m", "criterion"), [(2, "g"), (1, "f")])
def test_check_certifies_what_is_stationary_and_refutes_another(m: int, criterion: str) -> None:
    points, classes = random_data(3, n=24, d=3, classes=3)
    params = {"n_components": m, "criterion": criterion, "exact": True, "diagnosed": False}
    best = cvxml.solve("nca", points, classes, tol=1e-8, n_components=m, criterion=criterion).metric
    assert cvxml.check("nca", points, classes, best, **params).verdict is Verdict.CERTIFIED
    assert cvxml.check("nca", points, classes, 1.1 * best, **params).verdict is Verdict.REFUTED


def test_features_that_depend_on_each_other_limit_no_rank() -> None:
    """Two of three features: a metric of rank 2 is as free as any, and its own convex step is bounded."""
    eighths = np.round(8 * X[:, :2]) / 8
    summed = np.column_stack([eighths, eighths.sum(axis=1)])
    dual = {"R": np.eye(3), "interior": np.eye(3)}
    assert exact_of("nca", summed, Y, np.eye(3), dual, n_components=2).step == "convex step"
    assert exact_of("nca", summed, Y, np.eye(3), {}, n_components=1).step == "first-order step"


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_rows_are_mixed_where_they_prove_more_than_the_trivial_bound(seed: int) -> None:
    """For g this bound is 0. Rows of a metric that is far too large are feasible in some cases, and prove less."""
    X, y = random_data(seed, n=10, d=2, classes=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cvxml.solve("nca", X, y, criterion="g", max_iter=1 + seed)
    given = instance(X, y, criterion="g")
    large = 50 * np.eye(2)
    proved = []
    for dual in (found.dual, {**found.dual, "R": large}, {"R": large, "interior": large}):
        with precision():
            shares = exact.exact_shares(given, found.metric, dual)
        lower = exact.exact_interval(given, found.metric, dual).lower_bound
        assert (shares.mixture is not None) == (lower > 0)
        proved.append(shares.mixture is not None)
    assert proved[0]
    assert not proved[2]
