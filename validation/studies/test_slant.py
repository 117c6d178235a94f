"""How far characters lean, against bars whose slope is known, and what is said of it along an axis."""

from __future__ import annotations

import numpy as np
import pytest

from validation.experiments.verdicts import Verdict
from validation.studies.slant import Axis, Rank, along, judged, slants

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


def test_correlations_are_those_of_ranks_on_all_images_and_on_each_side_of_the_median() -> None:
    z = np.array([0.0, 1, 2, 3, 4, 5, 6, 7, 8])
    slant = np.array([1.0, 2, 3, 4, 9, 8, 7, 6, 5])
    axis = along(z, slant)
    assert (axis.left.value, axis.left.count) == (pytest.approx(1.0), 5)
    assert (axis.right.value, axis.right.count) == (pytest.approx(-1.0), 4)
    # by hand: ranks of slant are the slants; 1 - 6 sum d^2 / (n (n^2 - 1))
    distance = sum((a + 1 - b) ** 2 for a, b in zip(z, slant, strict=True))
    assert axis.whole.value == pytest.approx(1 - 6 * distance / (9 * 80))
    assert axis.whole.count == 9
    mirrored = along(-z, slant)
    assert mirrored.whole.value == pytest.approx(-axis.whole.value)


@pytest.mark.slow
def test_the_interval_of_a_rank_correlation_covers() -> None:
    """Of normal pairs, whose Spearman correlation is 6/pi arcsin(r/2), nineteen times in twenty."""
    random, r = np.random.RandomState(0), 0.6
    true, inside = 6 / np.pi * np.arcsin(r / 2), 0
    for _ in range(400):
        a, b = random.standard_normal((2, 150))
        low, high = along(a, r * a + np.sqrt(1 - r * r) * b).whole.interval
        inside += low < true < high
    assert 0.91 < inside / 400 < 0.98


def made(shape: str, n: int = 1500) -> list[Axis]:
    """A picture whose first axis has slants of this shape, and whose second has nothing to say."""
    random = np.random.RandomState(1)
    z, other, noise = random.standard_normal((3, n))
    of = {
        "line": 0.8 * z,
        "flat": 0.0 * z,
        "there and back": -0.8 * np.abs(z),
        "back and there": 0.8 * np.abs(z),
        "rises, then nothing": 1.5 * np.tanh(2 * (z + 0.7)),
    }
    slant = of[shape] + noise
    return [along(z, slant), along(other, slant)]


@pytest.mark.parametrize(
    ("shape", "follows", "unfolds"),
    [
        ("line", Verdict.SUPPORTED, Verdict.UNDECIDED),
        ("flat", Verdict.CONTRADICTED, Verdict.UNDECIDED),
        ("there and back", Verdict.CONTRADICTED, Verdict.SUPPORTED),
        ("back and there", Verdict.CONTRADICTED, Verdict.UNDECIDED),
        ("rises, then nothing", Verdict.SUPPORTED, Verdict.UNDECIDED),
    ],
)
def test_verdicts(shape: str, follows: Verdict, unfolds: Verdict) -> None:
    found = judged({"GLML": made(shape)}, [("GLML", "follows"), ("GLML", "unfolds")])
    assert found == {("GLML", "follows"): follows, ("GLML", "unfolds"): unfolds}


def test_both_halves_must_be_sure() -> None:
    half = [Axis(Rank(0.5, 1500), Rank(0.6, 750), Rank(-0.01, 750))]
    assert judged({"GLML": half}, [("GLML", "unfolds")]) == {("GLML", "unfolds"): Verdict.UNDECIDED}


def test_what_no_axis_has_is_contradicted() -> None:
    straight = made("line")[:1] * 2
    assert judged({"GLML": straight}, [("GLML", "unfolds")]) == {("GLML", "unfolds"): Verdict.CONTRADICTED}


def test_all_claims_and_axes_share_the_level() -> None:
    """A correlation that is significant by itself is not among many."""
    weak = [Axis(Rank(0.55, 60), Rank(0.5, 30), Rank(0.5, 30))] * 2
    assert weak[0].whole.p_value(0.3) == pytest.approx(0.024, abs=0.001)
    assert judged({"a": weak[:1]}, [("a", "follows")])["a", "follows"] is Verdict.SUPPORTED
    many = {str(i): weak for i in range(20)}
    assert set(judged(many, [(name, "follows") for name in many]).values()) == {Verdict.UNDECIDED}
