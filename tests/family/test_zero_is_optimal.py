"""Is M = 0 optimal? Dual variables prove it only if their bound is the objective at 0, without rounding.

One triplet (0, 1, 2) of the points 0, 1, 2 has the margin 4 M - 1 M = 3 M. For the regularizer beta M the prices a are
feasible if 3 a <= beta, and then the bound is k(a).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cvxml
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.smoothed_hinge import SmoothedHinge
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.regularizers.combinations import SumOfWeights
from cvxml.family.rows.base import Duals
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.zero_is_optimal import zero_is_optimal

X = np.array([[0.0], [1.0], [2.0]])
ROWS = Triplets(np.array([[0, 1]]), np.array([[False, False, True]]))
LITTLE = 2.0**-40


# k(a) is phi(0) for these prices alone: c of the hinge, 2 c of its square, 1 of the smoothed one
@pytest.mark.parametrize(
    ("loss", "price"), [(Hinge(2.0), 2.0), (SquaredHinge(0.5), 1.0), (SmoothedHinge(0.5), 1.0)]
)
def test_prices_with_a_bound_below_the_objective_at_zero_do_not_prove_it(loss: Any, price: float) -> None:
    regularizer = SumOfWeights(X, np.eye(1), Fraction(6))

    def proved(a: float) -> bool:
        return zero_is_optimal(regularizer, [(loss, ROWS)], [Duals(np.array([a]), np.array([2]))])

    assert proved(price)
    assert not proved(price - LITTLE)
    assert not proved(0.0)


def test_prices_that_are_not_feasible_do_not_prove_it() -> None:
    """At beta = 6 the price 2 is just feasible."""
    for beta, optimal in ((6.0, True), (6 - LITTLE, False), (6 + LITTLE, True)):
        regularizer = SumOfWeights(X, np.eye(1), Fraction(beta))
        assert (
            zero_is_optimal(regularizer, [(Hinge(2.0), ROWS)], [Duals(np.array([2.0]), np.array([2]))])
            == optimal
        )


def test_each_of_several_losses_is_compared() -> None:
    regularizer = SumOfWeights(X, np.eye(1), Fraction(12))
    terms, key = [(Hinge(1.0), ROWS), (Hinge(1.0), ROWS)], np.array([2])
    for first, second, optimal in ((1.0, 1.0, True), (0.5, 1.0, False), (1.0, 0.5, False)):
        duals = [Duals(np.array([first]), key), Duals(np.array([second]), key)]
        assert zero_is_optimal(regularizer, terms, duals) == optimal


def test_a_certificate_of_zero_has_no_bound_above_the_optimum() -> None:
    """For beta < 3 beta w + [1 - 3 w]_+ is least at w = 1/3. There it is beta / 3, less than the objective 1 at 0."""
    share = 1 - 2.0**-30
    given: dict[str, Any] = {"beta": 3 * share, "basis": np.eye(1), "triplets": [[0, 1, 2]]}
    proof = cvxml.certify(
        "scml", X, None, np.zeros((1, 1)), {"price": [share], "triplets": [[0, 1, 2]]}, **given
    )
    assert proof.objective == 1
    assert proof.lower_bound <= share
    assert proof.gap >= 2.0**-30 - proof.rounding > 0
