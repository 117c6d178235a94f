"""Derivatives against differences of values."""

from __future__ import annotations

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.family.geometry.symmetric import svec
from cvxml.solvers.barrier import Smooth

STEP = 1e-4


def assert_derivatives(
    f: Smooth, G: FloatArray, rng: np.random.Generator, *, first: float, second: float
) -> None:
    """Of f at G G^T along a matrix at random, to these relative errors."""
    gradient, H = f.derivatives(G)
    E = rng.standard_normal(gradient.shape)
    E = E + E.T

    def along(t: float) -> float:
        return f.value(G @ (np.eye(len(E)) + t * E) @ G.T)

    slope = (along(STEP) - along(-STEP)) / (2 * STEP)
    assert np.sum(gradient * E) == pytest.approx(slope, rel=first)
    curvature = (along(STEP) - 2 * along(0) + along(-STEP)) / STEP**2
    assert svec(E) @ H @ svec(E) == pytest.approx(curvature, rel=second)
