"""The costs of continuous labels against loops, the network's derivatives against differences, and what is read off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import norm

from cvxml.methods.nca import definitions
from validation.studies import nca_digits, nca_digits_map
from validation.studies.nca_digits_map import (
    COSTS,
    NOISE,
    Pairs,
    Weights,
    begun,
    flat,
    shaped,
    slope,
    squared_distances,
)


def few(m: int = 4, pixels: int = 5, seed: int = 0) -> Pairs:
    random = np.random.RandomState(seed)
    labels = random.standard_normal((2 * m, 2)) * NOISE
    return Pairs(random.standard_normal((2 * m, pixels)), labels, random.rand(m))


def literal(name: str, pairs: Pairs, Y: np.ndarray) -> float:
    """The cost by loops."""
    n, m = len(Y), len(Y) // 2
    e = [[np.exp(-np.sum((Y[c] - Y[d]) ** 2)) for d in range(n)] for c in range(n)]
    if name == "-g":
        s = np.array(
            [
                [float(norm.pdf((a - b) / NOISE).prod() * 2 * np.pi) for b in pairs.labels]
                for a in pairs.labels
            ]
        )
        np.fill_diagonal(s, 0)
        return -definitions.g(Y, s, np.eye(2))
    total = 0.0
    for a in range(m):
        b = a + m
        if name == "one a row":
            for i, j in ((a, b), (b, a)):
                total -= pairs.w[a] / 2 * np.log(e[i][j] / sum(e[i][k] for k in range(n) if k != i))
        else:
            all_of = sum(e[c][d] for c in range(n) for d in range(n) if c != d or name == "as printed")
            total -= pairs.w[a] * np.log(e[a][b] / all_of)
    return total


@pytest.mark.parametrize("name", COSTS)
def test_costs_are_what_the_loops_say(name: str) -> None:
    pairs, Y = few(), np.random.RandomState(1).standard_normal((8, 2))
    assert COSTS[name](pairs, squared_distances(Y))[0] == pytest.approx(literal(name, pairs, Y), rel=1e-10)


def test_one_for_all_is_the_package_s_continuous_cost() -> None:
    pairs, Y = few(), np.random.RandomState(2).standard_normal((8, 2))
    w = np.zeros((8, 8))
    w[np.arange(4), np.arange(4) + 4] = pairs.w
    found = COSTS["one for all"](pairs, squared_distances(Y))[0]
    assert found == pytest.approx(definitions.continuous_cost(Y, w, np.eye(2)), rel=1e-10)


@pytest.mark.parametrize("name", COSTS)
def test_derivatives_are_differences(name: str) -> None:
    pairs, random = few(), np.random.RandomState(3)
    weights = Weights(
        random.standard_normal((5, 3)), random.standard_normal(3), random.standard_normal((3, 2))
    )

    def value(vector: np.ndarray) -> float:
        return slope(lambda D: COSTS[name](pairs, D), shaped(vector, weights), pairs.X)[0]

    by = slope(lambda D: COSTS[name](pairs, D), weights, pairs.X)[1]
    assert flat(by) == pytest.approx(approx_fprime(flat(weights), value, 1e-7), abs=2e-5)


def test_the_weights_are_of_the_step_that_is_best_for_later_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nca_digits_map, "STEPS", 30)
    train, late = few(10, seed=4), few(10, seed=5)
    found = nca_digits_map.trained("one for all", train, late, 7)

    def of(weights: Weights, pairs: Pairs) -> float:
        return COSTS["one for all"](pairs, squared_distances(nca_digits_map.outputs(weights, pairs.X)))[0]

    assert np.array_equal(flat(found.first), flat(begun(5, 7)))
    monkeypatch.setattr(nca_digits_map, "STEPS", found.step)
    again = nca_digits_map.trained("one for all", train, late, 7)
    assert again.step == found.step
    assert of(found.weights, late) == of(again.weights, late)
    monkeypatch.setattr(nca_digits_map, "STEPS", found.step + 1)
    assert nca_digits_map.trained("one for all", train, late, 7).step == found.step
    assert of(found.weights, train) < of(found.first, train)


def test_images_are_turned_anticlockwise_and_scaled_about_their_middle() -> None:
    image = np.zeros((16, 16))
    image[:, 7:9] = 1.0  # an upright bar over the whole height
    for height in (25.0, 32.0):
        upright = nca_digits.turned(image, 0.0, height)
        assert upright.shape == (35, 35)
        assert np.sum(upright[:, 17] > 0.5) == pytest.approx(height, abs=2)
    assert nca_digits.turned(image, 90.0, 25.0) == pytest.approx(
        nca_digits.turned(image, 0.0, 25.0).T, abs=1e-9
    )
    tilted = nca_digits.turned(image, 30.0, 32.0)
    rows, columns = np.nonzero(tilted > 0.5)
    top, bottom = columns[rows < 10].mean(), columns[rows > 24].mean()
    assert top < 17 < bottom  # the top goes to the left
    assert (bottom - top) / (rows[rows > 24].mean() - rows[rows < 10].mean()) == pytest.approx(
        np.tan(np.pi / 6), abs=0.05
    )


def test_a_pair_weighs_the_density_of_its_noise() -> None:
    images = np.random.RandomState(0).rand(6, 16, 16)
    rows = np.array([[0, 1], [2, 3], [4, 5]])
    pairs = nca_digits.drawn(images, rows, np.random.RandomState(1))
    first, second = pairs.labels[:3], pairs.labels[3:]
    assert np.all(np.abs(first[:, 0]) <= 45)
    assert np.all((first[:, 1] >= 25) & (first[:, 1] <= 35))
    density = norm.pdf(second - first, scale=NOISE).prod(axis=1) / norm.pdf(0, scale=NOISE).prod()
    assert pairs.w == pytest.approx(density)
    for at, image in enumerate((0, 2, 4, 1, 3, 5)):
        assert np.array_equal(pairs.X[at], nca_digits.turned(images[image], *pairs.labels[at]).ravel())


def test_farther_counts_the_others_alone() -> None:
    Y = np.array([[0.0, 0], [10, 0], [1, 0], [-1.5, 0]])  # pairs: 0 and 2, 1 and 3
    assert nca_digits.farther(Y) == [1.0, 0.0]


@pytest.mark.slow
def test_a_fan_is_read_by_polar_coordinates_and_a_grid_by_straight_ones() -> None:
    random = np.random.RandomState(0)
    labels = np.column_stack([random.uniform(-45, 45, 80), random.uniform(25, 35, 80)])
    turn = np.deg2rad(2 * labels[:, 0]) + 1
    fan = np.array([3.0, -4.0]) + (labels[:, 1:] - 20) / 5 * np.column_stack([np.cos(turn), np.sin(turn)])
    found = nca_digits.read(fan[:40], labels[:40], fan[40:], labels[40:])
    assert found.centre == pytest.approx([3, -4], abs=1e-4)
    assert found.polar.max() < 1e-6
    assert found.straight.mean() > 0.01
    grid = labels @ np.array([[0.1, 0.02], [-0.3, 0.2]])
    assert nca_digits.read(grid[:40], labels[:40], grid[40:], labels[40:]).straight.max() < 1e-12
