"""How far characters lean, against bars whose slope is known, and what is said of it along an axis."""

from __future__ import annotations

import numpy as np
import pytest

from validation.experiments.verdicts import Interval, Verdict
from validation.slant import Axis, along, judged, slants

SIDE = 28


def bar(slope: float, shift: float = 0.0) -> np.ndarray:
    """Three pixels wide, whose top is further to the right for a slope above 0."""
    image = np.zeros((SIDE, SIDE))
    for row in range(4, 24):
        middle = SIDE / 2 + shift + slope * (13.5 - row)
        for column in range(SIDE):
            image[row, column] = max(0.0, 1.5 - abs(column - middle))
    return image


def test_a_bar_leans_by_its_slope() -> None:
    slopes = np.array([-0.4, -0.1, 0.0, 0.2, 0.3])
    found = slants(np.stack([bar(s, shift=2 * s) for s in slopes]), np.zeros(5, dtype=int))
    np.testing.assert_allclose(found, slopes - slopes.mean(), atol=5e-3)


def test_the_shape_of_a_digit_is_no_slant_and_ink_has_no_unit() -> None:
    slopes = np.array([0.1, 0.3, -0.2, 0.2])
    images = np.stack([bar(s) * size for s, size in zip(slopes, (1, 5, 2, 3), strict=True)])
    found = slants(images, np.array([8, 8, 1, 1]))
    np.testing.assert_allclose(found, [-0.1, 0.1, -0.2, 0.2], atol=5e-3)


def test_an_axis_that_follows_one_that_unfolds_and_one_that_does_neither() -> None:
    random = np.random.RandomState(0)
    z = random.uniform(-1, 1, 300)
    noise = 0.1 * random.standard_normal(300)
    line, top, none = along(z, -z + noise), along(z, -((z - 0.3) ** 2) + noise), along(z, noise)
    assert line.correlation < -0.9
    assert line.p_value < 1e-10
    assert abs(line.bend) < 0.1
    assert top.bend < -0.5
    assert top.inside
    assert not along(z, -((z - 3.0) ** 2)).inside
    assert none.p_value > 0.01
    assert none.bend_p_value > 0.01
    for axis in (line, top, none):
        low, high = axis.interval
        assert low < axis.bend < high
        assert (low < 0 < high) == (axis.bend_p_value > 0.05)
    mirrored = along(-z, -((z - 0.3) ** 2) + noise)
    assert mirrored.bend == pytest.approx(top.bend)
    assert mirrored.correlation == pytest.approx(-top.correlation)


def test_the_fit_is_that_of_a_textbook() -> None:
    """The coefficient and its error by the normal equations, written out."""
    random = np.random.RandomState(1)
    z, s = random.standard_normal((2, 40))
    x, t = (z - z.mean()) / z.std(), (s - s.mean()) / s.std()
    B = np.array([[1.0, a, a * a] for a in x])
    c = np.linalg.inv(B.T @ B) @ B.T @ t
    left = sum((B @ c - t) ** 2)
    error = np.sqrt(left / 37 * np.linalg.inv(B.T @ B)[2][2])
    found = along(z, s)
    assert found.bend == pytest.approx(c[2])
    assert found.interval[1] - found.bend == pytest.approx(2.0261924 * error, rel=1e-6)  # of t with 37


SURE, NOT = 1e-9, 0.5


def axis(p: float, bend: float, bend_p: float, inside: bool = True) -> Axis:
    return Axis(0.3, p, bend, Interval(bend - 0.1, bend + 0.1), bend_p, inside)


@pytest.mark.parametrize(
    ("axes", "follows", "unfolds"),
    [
        ([axis(NOT, 0.2, NOT), axis(SURE, 0.2, NOT)], Verdict.SUPPORTED, Verdict.UNDECIDED),
        ([axis(NOT, -0.2, SURE), axis(NOT, 0.2, SURE)], Verdict.UNDECIDED, Verdict.SUPPORTED),
        (
            [axis(NOT, -0.2, SURE, inside=False), axis(NOT, 0.2, SURE)],
            Verdict.UNDECIDED,
            Verdict.CONTRADICTED,
        ),
        ([axis(0.04, -0.2, 0.04), axis(0.04, -0.2, 0.04)], Verdict.UNDECIDED, Verdict.UNDECIDED),
    ],
)
def test_verdicts(axes: list[Axis], follows: Verdict, unfolds: Verdict) -> None:
    found = judged({"GLML": axes})
    assert found == {("GLML", "follows"): follows, ("GLML", "unfolds"): unfolds}
