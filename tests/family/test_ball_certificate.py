"""Certificates from balls: what is known to hundreds of bits, in floats."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cvxml.core.balls import ball, precision
from cvxml.core.inputs import dual_array
from cvxml.core.metric import examine
from cvxml.core.result import Certificate
from cvxml.family.theorem.ball_certificate import certificate, definite

FEASIBILITY = examine(np.eye(2))[1]


def of(objective: Any, bound: Any) -> Certificate:
    return certificate(
        objective, bound, scale=2.0, radius=lambda gap: 10 * gap, feasibility=FEASIBILITY, dual={}
    )


def test_a_gap_keeps_digits_that_objective_and_bound_have_not() -> None:
    with precision():
        proof = of(ball(Fraction(1, 3)) + ball(Fraction(1, 2**150)), ball(Fraction(1, 3)))
    assert proof.objective == proof.lower_bound == 1 / 3
    assert proof.gap == pytest.approx(2.0**-150, rel=1e-15)
    assert 0 < proof.rounding < 1e-15 * proof.gap
    assert proof.radius >= 10 * 2.0**-150
    assert proof.proves(1e-9)


def test_a_ball_around_0_is_a_gap_of_0_but_for_rounding() -> None:
    with precision():
        proof = of(ball(2).sqrt(), ball(2).sqrt())
    assert proof.gap == 0
    assert 0 < proof.rounding < 1e-70
    assert proof.proves(1e-9)


def test_what_costs_infinity_has_a_bound_and_no_gap() -> None:
    proof = of(math.inf, ball(1))
    assert (proof.objective, proof.lower_bound, proof.gap, proof.radius) == (
        math.inf,
        1.0,
        math.inf,
        math.inf,
    )
    assert not proof.proves(1.0)


def test_a_metric_that_is_not_definite_is_not_judged_exactly() -> None:
    found = definite(np.diag([2.0, 1.0]))
    assert found.distance == 0
    assert int(found.V.det()) * Fraction(4) ** found.at == 2
    for wrong in (np.zeros((2, 2)), np.diag([1.0, 0.0])):
        with pytest.raises(ValueError, match="singular"):
            definite(wrong)


@pytest.mark.parametrize(
    ("dual", "says"),
    [
        (None, "mapping"),
        ({}, "'Y'"),
        ({"Y": np.zeros(3)}, r"shape \(2,\), got \(3,\)"),
        ({"Y": [0.0, math.nan]}, "Y.*NaN"),
        ({"Y": ["a", "b"]}, "Y.*numbers"),
    ],
)
def test_what_is_no_array_of_a_dual(dual: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        dual_array(dual, "Y", (2,))


def test_an_array_of_a_dual_may_hold_infinity() -> None:
    np.testing.assert_array_equal(dual_array({"Y": [math.inf, -1]}, "Y", (2,)), [math.inf, -1])


def test_an_objective_is_rounded_by_no_more_than_is_said() -> None:
    for third in (Fraction(1, 3), -Fraction(2, 3), Fraction(10**20, 3)):
        with precision():
            proof = of(ball(third), ball(third - 1))
        assert 0 < abs(Fraction(proof.objective) - third) <= Fraction(proof.value_rounding)
