"""Values that a saved file derives again: equal up to rounding, and no further."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.derived import SAME, alike
from cvxml.core.parameter import LISTS, NUMBER


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_numbers_may_differ_by_a_share_of_the_largest(size: float) -> None:
    values = size * np.array([[1.0, 0.0], [0.25, -0.5]])
    assert alike(NUMBER, values + 0.5 * SAME * size, values)
    assert not alike(NUMBER, values + 2 * SAME * size, values)
    assert not alike(NUMBER, values[:1], values)


def test_lists_may_be_in_any_order() -> None:
    assert alike(LISTS, [[2, 1], []], [[1, 2], []])
    assert not alike(LISTS, [[2, 1], []], [[2], [1]])
    assert alike(LISTS, None, None)
    assert not alike(LISTS, None, [[1]])
