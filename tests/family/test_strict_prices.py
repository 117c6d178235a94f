"""The search for strict dual variables: the largest proved eigenvalue is taken."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from cvxml.family.regularizers.base import Surplus
from cvxml.family.theorem.strict_prices import LARGE_EIGENVALUE, MULTIPLES, strictest


class Made(NamedTuple):
    """Dual variables at the multiple s, with a surplus of a known least eigenvalue."""

    s: float
    surplus: Surplus


@pytest.mark.parametrize("at", range(len(MULTIPLES)))
def test_the_largest_eigenvalue_is_taken(at: int) -> None:
    values = dict.fromkeys(MULTIPLES, 0.2 * LARGE_EIGENVALUE) | {MULTIPLES[at]: 0.5 * LARGE_EIGENVALUE}
    found = strictest(lambda s: Made(s, Surplus(np.diag([values[s], 1.0]), 0.0)))
    assert found is not None
    assert found.s == MULTIPLES[at]


def test_an_error_is_subtracted_and_nothing_below_it_is_strict() -> None:
    def made(s: float) -> Made:
        return Made(s, Surplus(np.diag([0.05, 1.0]), 0.0 if s == MULTIPLES[2] else 0.04))

    found = strictest(made)
    assert found is not None
    assert found.s == MULTIPLES[2]
    assert strictest(lambda s: Made(s, Surplus(np.diag([0.05, 1.0]), 0.06))) is None
