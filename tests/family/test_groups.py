"""Losses over groups of rows: weak duality, and every figure of double precision against fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cvxml.family.losses.groups import Slack, Spread
from cvxml.family.rows.base import Block
from cvxml.numbers.rational import end
from cvxml.numbers.vocabulary import exact as rational

SIZES = (2, 3, 5, 2, 7)  # of groups
GROUP = np.repeat(np.arange(len(SIZES)), SIZES)
NEAR = np.arange(len(GROUP)) - np.repeat(np.cumsum(SIZES) - SIZES, SIZES) < np.repeat(
    np.array(SIZES) // 2, SIZES
)
B = np.arange(len(GROUP)) % 3 / 3


def spread(c: Any) -> Spread:
    return Spread(c, GROUP, NEAR)


def slack(c: Any) -> Slack:
    b = B if isinstance(c, float) else np.array([Fraction(value) for value in B.tolist()], dtype=object)
    return Slack(c, GROUP, b)


LOSSES = pytest.mark.parametrize("loss_of", [spread, slack])
SEEDS = pytest.mark.parametrize("seed", range(12))


def nasty(seed: int) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """c, prices of any sign and size, v that tie and differ in their last digits, and what they may be off by."""
    rng = np.random.default_rng(seed)
    c = float(rng.choice([1.0, 1 / 3, 1e-9, 7e12]))
    a = c * rng.standard_normal(len(GROUP)) * 10.0 ** rng.integers(-20, 3, len(GROUP))
    v = rng.choice([0.0, 1.0, 1 / 3], len(GROUP)) * (1 + 1e-15 * rng.integers(-3, 4, len(GROUP)))
    error = 10.0 ** rng.integers(-18, -1) * rng.random(len(GROUP))
    return c, np.where(NEAR, np.abs(a), -np.abs(a)) if seed % 2 else np.abs(a), v, error


def fractions(values: np.ndarray) -> list[Fraction]:
    return [Fraction(value) for value in values.tolist()]


def value_of(loss: Any, v: list[Fraction]) -> Fraction:
    return end([loss.value(rational(v))], up=True)


def k_of(loss: Any, a: list[Fraction]) -> Fraction:
    return end([loss.conjugate(rational(a))], up=True)


def product(a: list[Fraction], v: list[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(a, v, strict=True)), Fraction(0))


@LOSSES
@SEEDS
def test_repaired_prices_are_in_the_domain_exactly(loss_of: Any, seed: int) -> None:
    c, a, _, _ = nasty(seed)
    own = fractions(loss_of(c).to_domain(a))
    for g in range(len(SIZES)):
        of_group = [(price, up) for price, up, of in zip(own, NEAR, GROUP, strict=True) if of == g]
        if loss_of is spread:
            u, w = (sum(price for price, up in of_group if up == side) for side in (True, False))
            assert u == -w <= Fraction(c)
            assert all(price >= 0 if up else price <= 0 for price, up in of_group)
        else:
            assert all(price >= 0 for price, _ in of_group)
            assert sum(price for price, _ in of_group) <= Fraction(c)
    assert loss_of(Fraction(c)).exact_duals(own) == own


@LOSSES
@SEEDS
def test_what_is_repaired_stays(loss_of: Any, seed: int) -> None:
    c, a, _, _ = nasty(seed)
    loss = loss_of(c)
    own = loss.to_domain(a)
    assert own.any() or not loss_of(c).to_domain(a * 1e30).any()
    np.testing.assert_allclose(loss.to_domain(own), own, rtol=1e-12, atol=8 * np.spacing(c))
    np.testing.assert_array_equal(loss.to_domain(np.full(len(a), np.nan)), 0 * a)


@LOSSES
@SEEDS
def test_a_price_bounds_the_loss_from_below(loss_of: Any, seed: int) -> None:
    c, a, v, _ = nasty(seed)
    loss = loss_of(Fraction(c))
    for at in (v, -v, v**20 * 1e3):
        for given in (a, np.abs(a) * np.where(NEAR, 1, -1), -a):
            own = loss.exact_duals(fractions(given))
            assert value_of(loss, fractions(at)) >= k_of(loss, own) - product(own, fractions(at))


@LOSSES
@SEEDS
def test_double_precision_says_what_it_may_be_off_by(loss_of: Any, seed: int) -> None:
    c, a, v, error = nasty(seed)
    loss, exact = loss_of(c), loss_of(Fraction(c))
    own = loss.to_domain(a)
    k = k_of(exact, fractions(own))
    assert abs(Fraction(loss.bound(own).value) - k) <= Fraction(loss.bound(own).error)
    part, rng = loss.part(Block(v, error, own)), np.random.default_rng(seed)
    for _ in range(20):
        true = [
            x + Fraction(y) * Fraction(rng.choice([-1.0, 1.0]))
            for x, y in zip(fractions(v), error, strict=True)
        ]
        value = value_of(exact, true)
        excess = value - k + product(fractions(own), true)
        assert excess >= 0
        assert abs(Fraction(part.value.value) - value) <= Fraction(part.value.error)
        assert abs(Fraction(part.excess.value) - excess) <= Fraction(part.excess.error)
    assert part.excess.value >= 0


@LOSSES
def test_a_tight_price_has_no_excess_and_no_rounding_to_speak_of(loss_of: Any) -> None:
    v = np.where(NEAR, 0.5, 0.25) if loss_of is spread else B - 0.5
    first = np.array(
        [np.flatnonzero((g == GROUP) & side)[0] for g in range(len(SIZES)) for side in (NEAR, ~NEAR)]
    )
    a = np.zeros(len(GROUP))
    a[first] = np.where(NEAR[first], 1.0, -1.0 if loss_of is spread else 1.0)
    loss = loss_of(1.0)
    part = loss.part(Block(v, np.zeros(len(v)), loss.to_domain(a)))
    assert part.excess.value == 0
    assert part.excess.error < 1e-14
    assert part.value.value == pytest.approx(0.75 * len(SIZES) if loss_of is spread else 0.5 * len(SIZES))


@LOSSES
@SEEDS
def test_the_ray_is_k_of_multiples_up_to_its_end(loss_of: Any, seed: int) -> None:
    c, a, _, _ = nasty(seed)
    loss = loss_of(c)
    own = loss.to_domain(a)
    ray = loss.ray(own)
    for t in (0.3, 1.0, min(ray.longest, 1e3)):
        if t <= ray.longest:
            assert loss.bound(loss.to_domain(own * t)).value == pytest.approx(ray.value(t), abs=1e-13 * c)
    assert ray.longest >= 1
    if own.any() and ray.longest < 1e6:
        beyond = loss.bound(loss.to_domain(own * ray.longest * 2)).value
        assert beyond < ray.value(2 * ray.longest)


def test_a_group_without_rows_takes_no_price_from_others() -> None:
    loss = Slack(1.0, np.array([2, 0, 2]), np.ones(3))
    np.testing.assert_array_equal(loss.to_domain(np.array([0.25, 0.5, 0.75])), [0.25, 0.5, 0.75])


def test_sums_at_the_cap_but_for_rounding_are_the_cap() -> None:
    a = np.where(NEAR, 1.0, -1.0) / np.array(
        [np.sum(NEAR[g == GROUP] == s) for g, s in zip(GROUP, NEAR, strict=True)]
    )
    third = Fraction(1, 3)
    loss = spread(float(third))
    own = loss.to_domain(a / 3 * (1 - 1e-14))
    np.testing.assert_array_equal(np.bincount(GROUP[NEAR], own[NEAR]), float(third))
    exact = spread(third).exact_duals(fractions(own))
    assert k_of(spread(third), exact) == third * len(SIZES) == value_of(spread(third), [Fraction(0)] * len(a))


@LOSSES
@SEEDS
def test_margins_next_to_nothing_are_off_by_the_digits_of_distances(loss_of: Any, seed: int) -> None:
    """The distances are known: 1 + the furthest - the nearest is rounded all the same."""
    rng = np.random.default_rng(seed)
    c, none = 1 / 3, np.zeros(len(GROUP))
    loss, exact = loss_of(c), loss_of(Fraction(c))
    for _ in range(20):
        least = np.where(NEAR, 1.0, 0.0) if loss_of is spread else B
        v = least + 10.0 ** rng.integers(-9, -2) * rng.random(len(GROUP))
        own = loss.to_domain(c * rng.random(len(GROUP)) * np.where(NEAR | (loss_of is slack), 1, -1))
        part, value = loss.part(Block(v, none, own)), value_of(exact, fractions(v))
        excess = value - k_of(exact, fractions(own)) + product(fractions(own), fractions(v))
        assert abs(Fraction(part.value.value) - value) <= Fraction(part.value.error)
        assert abs(Fraction(part.excess.value) - excess) <= Fraction(part.excess.error)


def test_a_group_that_may_be_missed_counts() -> None:
    loss = Spread(0.5, np.array([0, 0]), np.array([True, False]))
    v, error = np.array([1.0 + 2.0**-10, 0.0]), np.full(2, 2.0**-10)
    part = loss.part(Block(v, error, np.zeros(2)))
    assert part.value.value == 0
    assert min(part.value.error, part.excess.error) >= 0.5 * 2.0**-10
