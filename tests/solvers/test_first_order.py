"""Accelerated projected gradient: it never searches for a step without end."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.solvers.first_order import SHORTEST, accelerated


class Steep:
    """min ||v||^2 / 2, at a point that claims a given curvature for every step."""

    steps = np.ones(1)

    def __init__(self, curvature: float, moves: float):
        self.claimed, self.moves = curvature, moves

    def image(self, v: FloatArray) -> FloatArray:
        return v

    def descent(self, v: FloatArray, image: FloatArray) -> Steep:
        self.v = v
        return self

    def step(self, step: float) -> FloatArray:
        return self.v - step * self.moves * self.v

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        return self.claimed


@pytest.mark.parametrize("curvature", [np.inf, np.nan, 1e300])
@pytest.mark.parametrize("moves", [1.0, 0.0, np.nan])
def test_a_search_for_a_step_ends(curvature: float, moves: float) -> None:
    """Also if no step is short enough, if rounding hides every step, and if a step is not a number."""
    state = next(accelerated(Steep(curvature, moves), np.ones(1), 1.0))
    assert np.isfinite(state.v).all() or np.isnan(moves)
    assert state.step >= (1.0 if moves == 0 else SHORTEST / 2)
