"""The feasible sets of the solver in cone_dual.py: projections against slow twins, faces and their directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from cvxml.core.metric import FloatArray
from cvxml.solvers.feasible_sets import project_rows, project_simplices
from tests.solvers.test_cone_dual import SETS, SHAPE, feasible_set


def project_row_slow(v: FloatArray, sign: FloatArray, cap: float) -> FloatArray:
    """By bisection on the two multipliers."""

    def simplex(x: FloatArray, total: float) -> FloatArray:
        if total <= 0:
            return np.zeros_like(x)
        low, high = x.min() - total - 1, x.max() + 1
        theta = brentq(lambda t: np.maximum(x - t, 0).sum() - total, low, high, xtol=1e-15, rtol=1e-15)
        return np.maximum(x - theta, 0)

    a, b = v[sign > 0], v[sign < 0]
    result = np.zeros_like(v)
    if len(a) == 0 or len(b) == 0:
        return result

    def balance(alpha: float) -> float:
        return float(np.maximum(a - alpha, 0).sum() - np.maximum(b + alpha, 0).sum())

    size = np.abs(v).max() + 1
    alpha = brentq(balance, -2 * size, 2 * size, xtol=1e-15, rtol=1e-15)
    total = min(np.maximum(a - alpha, 0).sum(), np.maximum(b + alpha, 0).sum(), cap)
    result[sign > 0] = simplex(a, total)
    result[sign < 0] = simplex(b, total)
    return result


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.01, 0.3, 5.0]), st.booleans(), st.sampled_from([7, 45]))
def test_project_rows_against_bisection(seed: int, cap: float, integers: bool, width: int) -> None:
    """Few neighbours and many take different ways through the code."""
    rng = np.random.default_rng(seed)
    v = rng.standard_normal((6, width))
    if integers:  # ties and breakpoints that coincide
        v = np.round(v * 2) / 2
    sign = rng.choice([-1.0, 0.0, 1.0], size=v.shape)
    projected = project_rows(v, sign, cap)
    for row, s, result in zip(v, sign, projected, strict=True):
        np.testing.assert_allclose(result, project_row_slow(row, s, cap), atol=1e-9)
    assert (projected >= 0).all()
    np.testing.assert_allclose((projected * sign).sum(axis=1), 0, atol=1e-12)
    assert (np.where(sign > 0, projected, 0).sum(axis=1) <= cap * (1 + 1e-12)).all()


@pytest.mark.parametrize("sides", [(1, 6), (6, 1), (0, 4), (40, 3), (3, 40)])
@pytest.mark.parametrize("cap", [0.1, 50.0])
def test_sides_of_unequal_size_are_projected_too(sides: tuple[int, int], cap: float) -> None:
    rng = np.random.default_rng(sum(sides))
    sign = np.repeat([1.0, -1.0, 0.0], [*sides, 2])[None]
    v = rng.standard_normal(sign.shape) + np.where(sign < 0, 1.0, 0.0)
    expected = project_row_slow(v[0], sign[0], cap)
    np.testing.assert_allclose(project_rows(v, sign, cap)[0], expected, atol=1e-9)


@pytest.mark.parametrize("width", [7, 45])
def test_a_long_step_leaves_the_projection_its_digits(width: int) -> None:
    """At the cap what all entries of a side have in common changes nothing, be it many times the cap."""
    rng = np.random.default_rng(width)
    cap = 2.0**-10
    sign = rng.choice([-1.0, 1.0], size=(6, width))
    sign[:, :2] = 1.0, -1.0
    v = rng.integers(0, 8, size=sign.shape) * cap / 8
    expected = project_rows(v + 4 * cap, sign, cap)
    np.testing.assert_allclose(np.where(sign > 0, expected, 0).sum(axis=1), cap, rtol=1e-14)
    np.testing.assert_allclose(project_rows(v + 2.0**20, sign, cap), expected, rtol=0, atol=1e-14 * cap)


@pytest.mark.parametrize("seed", range(4))
def test_simplices_are_projected_exactly(seed: int) -> None:
    """Optimality: sum 1, and a common threshold t with q = max(v - t, 0)."""
    rng = np.random.default_rng(seed)
    v = np.round(rng.standard_normal((40, 6)) * 4) / 4 if seed % 2 else rng.standard_normal((40, 6))
    real = rng.random((40, 6)) < 0.7
    real[:, 0] = True
    q = project_simplices(v, real)
    assert (q >= 0).all()
    assert (q[~real] == 0).all()
    np.testing.assert_allclose(q.sum(axis=1), 1, rtol=1e-12)
    for row, projected, members in zip(v, q, real, strict=True):
        t = (row - projected)[projected > 0]
        np.testing.assert_allclose(t, t[0], atol=1e-12)
        assert (row[members & (projected == 0)] <= t[0] + 1e-12).all()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_a_projection_is_feasible_and_nearest(name: str, seed: int) -> None:
    """The angle between v - P(v) and the way to any other feasible point is at least 90 degrees."""
    rng = np.random.default_rng(seed)
    sets = feasible_set(name, rng)
    for _ in range(10):
        v = 2 * rng.standard_normal(SHAPE)
        p = sets.project(v)
        np.testing.assert_allclose(sets.project(p), p, atol=1e-14)
        for _ in range(5):
            q = sets.project(2 * rng.standard_normal(SHAPE))
            assert np.sum((v - p) * (q - p)) <= 1e-13


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("seed", range(3))
def test_directions_of_a_face_are_orthonormal_and_stay_on_it(name: str, seed: int) -> None:
    """A small step along a direction is feasible; in a box, a step against the gradient."""
    rng = np.random.default_rng(seed)
    sets = feasible_set(name, rng)
    v = sets.project(rng.uniform(0.0, 1.0, SHAPE))
    slope = np.ones(SHAPE)
    moves = sets.moves(v, slope)
    face = sets.face(v, slope, moves)
    assert face.size > 0
    directions = np.stack([face.back(unit) for unit in np.eye(face.size)])
    np.testing.assert_allclose(directions @ directions.T, np.eye(face.size), atol=1e-12)
    np.testing.assert_allclose(face.along(directions.T), np.eye(face.size), atol=1e-12)
    for entries in directions:
        step = np.zeros(SHAPE)
        step[face.entries] = entries
        assert not step[~moves].any()
        inside = -slope * 1e-6 * np.abs(step) if name == "boxes" else 1e-6 * step
        np.testing.assert_allclose(sets.project(v + inside), v + inside, atol=1e-13)
