"""Enclosures against exact numbers: each result lies in its enclosure, and no radius is much wider than it must be."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest

from cvxml.core.balls import ball, precision
from cvxml.core.metric import EPS, FloatArray
from cvxml.numbers import vocabulary as of
from cvxml.numbers.enclosures import UNDERFLOW, Enclosure, choose

BITS = 2600  # enough to hold the sum of the largest and the smallest float
EXTREME = (
    0.0,
    1.0,
    1 + EPS,
    1 - EPS / 2,
    0.5,
    2.0,
    1e-5,
    1e-9,
    1e-17,
    1e-150,
    1e-290,
    1e-308,
    5e-324,
    3e4,
    1e150,
    1e290,
)
SHARES = (-1.0, 1.0, 0.0, 0.37)  # of the radius: where the true number lies


def drawn(seed: int, n: int = 160) -> Enclosure:
    """Numbers of any size and sign, near 1 and at extremes, with radii from 0 to far beyond the number."""
    rng = np.random.default_rng(seed)
    wide = rng.standard_normal(n) * 10.0 ** rng.uniform(-12, 3, n)
    near = 1 + rng.standard_normal(n) * 10.0 ** rng.uniform(-16, 0, n)
    mid = np.where(rng.random(n) < 0.5, wide, near)
    some = rng.random(n) < 0.3
    mid[some] = rng.choice(EXTREME, some.sum()) * rng.choice([1, -1], some.sum())
    rad = np.abs(mid) * 10.0 ** rng.uniform(-18, 1, n) * (rng.random(n) < 0.8)
    rad = np.where(rng.random(n) < 0.1, np.abs(mid), rad)
    rad[rng.random(n) < 0.05] = rng.choice([1e-320, 1e-30, 1.0, 40.0, 1e3])
    return Enclosure(mid, rad)


def members(x: Enclosure, share: float) -> Any:
    """A rational number in each enclosure."""
    pairs = zip(np.ravel(x.mid).tolist(), np.ravel(np.broadcast_to(x.rad, x.shape)).tolist(), strict=True)
    return of.exact(Fraction(mid) + Fraction(rad) * Fraction(share) for mid, rad in pairs)


def outside(found: Enclosure, true: Any) -> list[int]:
    """The places where a true number, rational or a ball, is proved to lie outside its enclosure."""
    mid = np.ravel(found.mid)
    rad = np.ravel(np.broadcast_to(found.rad, np.shape(found.mid)))
    wrong = []
    for k, value in enumerate(np.ravel(true)):
        if math.isfinite(mid[k]) and math.isfinite(rad[k]):
            exact = ball(value)
            if not (
                exact.is_finite()
                and abs(exact - ball(float(mid[k]))) <= ball(float(rad[k])) * (1 + ball(2.0**-900))
            ):
                wrong.append(k)
    return wrong


ONE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "negative": (lambda x: -x, lambda x: x == x),
    "plus a constant": (lambda x: 1 + x, lambda x: x == x),
    "square": (of.square, lambda x: x == x),
    "positive part": (of.pos, lambda x: x == x),
    "clip": (lambda x: of.clip(x, 0.25, 1.0), lambda x: x == x),
    "at most": (lambda x: of.at_most(x, 1.0), lambda x: x == x),
    "root": (of.sqrt, lambda x: x >= 0),
    "log": (of.log, lambda x: x > 0),
    "log1p": (of.log1p, lambda x: x > -1),
    "exp": (of.exp, lambda x: abs(x) < 10_000),
    "softplus": (of.softplus, lambda x: x == x),
    "exp excess": (of.exp_excess, lambda x: abs(x) < 10_000),
    "log excess": (of.log_excess, lambda x: x > 0),
    "x log x": (of.x_log_x, lambda x: 0 <= x <= 1),
    "entropy": (of.entropy, lambda x: 0 <= x <= 1),
}
BOUNDED = ("clip", "x log x", "entropy")  # functions whose values are known to lie within 0 and 1
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "choose": lambda x, y: of.choose(x, x * 2, y),
}
SEEDS = pytest.mark.parametrize("seed", range(3))
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers overflow here on purpose


@pytest.mark.quick(23)
@SEEDS
@pytest.mark.parametrize("name", ONE)
def test_a_function_of_a_number_lies_in_the_enclosure(name: str, seed: int) -> None:
    function, defined = ONE[name]
    x = drawn(seed)
    found = function(x)
    checked = 0
    with precision(BITS):
        for share in SHARES:
            true = members(x, share)
            some = np.flatnonzero([bool(defined(value)) for value in true])
            assert outside(found[some], function(true[some])) == []
            checked += len(some)
    assert checked > 150


@SEEDS
@pytest.mark.parametrize("name", TWO)
def test_an_operation_of_two_numbers_lies_in_the_enclosure(name: str, seed: int) -> None:
    x, y = drawn(seed), drawn(seed + 100)
    if seed == 2:
        y = Enclosure(y.mid)  # exact
    found = TWO[name](x, y)
    with precision(BITS):
        for share, other in zip(SHARES, (1.0, 1.0, -1.0, 0.0), strict=True):
            a, b = members(x, share), members(y, other)
            some = np.flatnonzero([value != 0 for value in b])
            assert outside(found[some], TWO[name](a[some], b[some])) == []


@SEEDS
def test_sums_and_extremes_of_groups_lie_in_the_enclosure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for n in (1, 7, 60, 600):
        x, group, count = drawn(seed, n), rng.integers(0, 5, n), 6
        x.rad[x.rad > 1e200] = 0.0
        x.mid[np.abs(x.mid) > 1e200] = 0.0
        if seed == 1:
            x = Enclosure(x.mid)
        with precision(BITS):
            for share in SHARES:
                true = members(x, share)
                assert outside(of.group_sum(x, group, count), of.group_sum(true, group, count)) == []
                assert outside(of.group_max(x, group, 5, 0.0), of.group_max(true, group, 5, 0.0)) == []
                if n > 7:
                    assert outside(of.group_min(x, group, 5), of.group_min(true, group, 5)) == []
                assert outside(of.total(x), of.total(true)) == []
                assert outside(of.least(x), of.least(true)) == []
    assert not math.isfinite(of.group_max(x, group, 6).rad[5])  # nothing is known of an empty group


@SEEDS
def test_a_product_of_matrices_lies_in_the_enclosure(seed: int) -> None:
    a, b = drawn(seed, 60).reshape(5, 12), drawn(seed + 9, 48).reshape(12, 4)
    for x in (a, b):
        x.mid[np.abs(x.mid) > 1e100] = 0.0
    a, b = (Enclosure(x.mid) if seed == k else x for k, x in enumerate((a, b)))
    found, turned = of.matmul(a, b), of.matmul(b.T, a.T)
    for share, other in zip(SHARES, (1.0, 1.0, -1.0, 0.0), strict=True):
        true = of.matmul(members(a, share).reshape(5, 12), members(b, other).reshape(12, 4))
        assert outside(found.reshape(20), true.ravel()) == []
        assert outside(turned.reshape(20), true.T.ravel()) == []
    one = of.matmul(Enclosure(np.ones((1, 12))), Enclosure(np.ones((12, 1))))
    assert 6 * 12 * EPS <= one.rad[0, 0] <= 30 * 12 * EPS
    assert of.like(one, Fraction(1, 3), rounded=4).rad / EPS == pytest.approx(4 / 3)
    assert of.like(one, 1 / 3).exact


def test_sums_along_an_axis_lie_in_the_enclosure() -> None:
    x = drawn(5, 60).reshape(6, 10)
    x.mid[np.abs(x.mid) > 1e200] = 0.0
    found = of.total(x, axis=1)
    for k in range(6):
        assert outside(found[k : k + 1], [of.total(members(x[k], 1.0))]) == []
    assert outside(of.total(x), [of.total(members(x.reshape(60), -1.0))]) == []


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_sum_of_exact_numbers_has_the_error_of_its_order(size: float, axis: int | None) -> None:
    """The numbers have no radius of their own, and cancel: all error is that of the sum in double precision."""
    rng = np.random.default_rng(0)
    half = size * rng.standard_normal((20, 40))
    x = np.concatenate([half, -np.roll(half, 3, axis=0) * (1 + 1e-9 * rng.standard_normal((20, 40)))])
    found = of.total(Enclosure(x), axis=axis)
    lines = [x.ravel()] if axis is None else list(np.moveaxis(x, axis, -1))
    true = [sum(map(Fraction, line.tolist()), Fraction(0)) for line in lines]
    assert outside(found, of.exact(true)) == []
    assert (np.ravel(found.rad) < 1e-10 * size).all()


def test_a_log_sum_exp_near_0_has_the_error_of_its_sum() -> None:
    """n exponentials near 1/n, or one of 0 and a tiny one: the size of the result says nothing of its error."""
    even = [np.full((1, n), -math.log(n)) for n in range(2, 60)]
    for rows in (even, [np.array([[0.0, -s]]) for s in np.linspace(34, 40, 60)]):
        outside = 0
        for x in rows:
            counts = np.ones(x.shape, dtype=bool)
            found = of.log_sum_exp(Enclosure(x), counts)
            with precision(BITS):
                true = of.log_sum_exp(of.exact(x.ravel().tolist()).reshape(x.shape), counts)[0]
                error = abs(float(true - ball(float(found.mid[0]))))
            assert error <= found.rad[0]
            outside += error > 2 * EPS * abs(found.mid[0]) + UNDERFLOW
        assert outside > 10


@SEEDS
def test_a_log_sum_exp_lies_in_the_enclosure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for size, rad in ((1.0, 0.0), (1.0, 1e-12), (30.0, 0.3), (800.0, 3.0), (1e6, 1e-9), (0.0, 1e-3)):
        x = Enclosure(size * rng.standard_normal((6, 7)), rad * rng.random((6, 7)))
        counts = rng.random((6, 7)) < 0.7
        counts[:, 0] = True
        found = of.log_sum_exp(x, counts)
        assert (found.rad <= 1.01 * rad + 1e-13 * (1 + np.abs(found.mid))).all()
        with precision(BITS):
            for share in (*SHARES, -1.0):
                true = of.log_sum_exp(members(x, share).reshape(6, 7), counts)
                assert outside(found, true) == []


def test_sums_of_whole_multiples_are_exact_and_no_others() -> None:
    rng = np.random.default_rng(0)
    unit, group = np.spacing(0.3), rng.integers(0, 3, 40)
    whole = np.floor(rng.random(40) * 0.3 / 40 / unit) * unit
    found = of.group_sum(Enclosure(whole), group, 3)
    assert found.exact
    assert outside(found, of.group_sum(of.exact(whole.tolist()), group, 3)) == []
    for other in (1e-300, 5e-324, 3e-17, unit / 8):
        more = of.group_sum(Enclosure(np.append(whole, other)), np.append(group, 0), 3)
        assert not more.exact
        assert outside(more, of.group_sum(of.exact([*whole.tolist(), other]), np.append(group, 0), 3)) == []
    large = Enclosure(np.array([2.0**60, 5e-324]))  # the second is no multiple of the unit of the first
    assert not of.group_sum(large, np.zeros(2, dtype=int), 1).exact


@pytest.mark.parametrize("name", ONE)
def test_a_radius_is_about_the_slope_times_the_radius_given(name: str) -> None:
    rng = np.random.default_rng(1)
    function, _ = ONE[name]
    mid = np.exp(rng.uniform(-3, -0.1 if name in BOUNDED else 3, 200))
    rad = mid * 10.0 ** rng.uniform(-13, -3, 200)
    found = function(Enclosure(mid, rad))
    ends = np.array([floats_of(function, mid + side * rad) for side in (-1, 1)])
    moved = np.max(np.abs(ends - floats_of(function, mid)), axis=0)
    allowed = 1.01 * moved + 20 * EPS * (np.abs(found.mid) + np.abs(mid) + 1)
    assert (found.rad <= allowed + rad * 1e-2).all()


def floats_of(function: Callable[[Any], Any], x: FloatArray) -> FloatArray:
    with precision(200):
        exact = function(of.exact(x.tolist()))
    return np.array([float(ball(value)) for value in exact])


@pytest.mark.parametrize("name", ["exp excess", "log excess"])
def test_a_flat_function_has_a_radius_of_second_order_at_its_least(name: str) -> None:
    at = 0.0 if name == "exp excess" else 1.0
    found = ONE[name][0](Enclosure(np.array([at, at + 1e-9]), np.array([1e-8, 1e-9])))
    assert found.rad[0] <= 2e-16
    assert found.rad[1] <= 3e-18 + 10 * EPS * 1e-9


def test_three_kinds_of_numbers_agree() -> None:
    rng = np.random.default_rng(2)
    x, group = np.exp(rng.uniform(-2, -0.1, 30)), rng.integers(0, 4, 30)
    for name, (function, _) in ONE.items():
        np.testing.assert_allclose(function(x), floats_of(function, x), rtol=1e-12, atol=1e-15, err_msg=name)
        np.testing.assert_allclose(
            function(Enclosure(x)).mid, function(x), rtol=1e-9, atol=1e-15, err_msg=name
        )
    for grouped in (of.group_sum, of.group_max, of.group_min):
        exact = [float(ball(value)) for value in grouped(of.exact(x.tolist()), group, 4)]
        np.testing.assert_allclose(grouped(x, group, 4), exact, rtol=1e-13)
        np.testing.assert_allclose(grouped(Enclosure(x), group, 4).mid, exact, rtol=1e-13)
    assert of.total(x) == pytest.approx(float(ball(of.total(of.exact(x.tolist())))))
    np.testing.assert_array_equal(of.floats(of.exact(x.tolist())), x)


def test_constants_enter_as_numbers_of_the_kind() -> None:
    third, x = Fraction(1, 3), np.ones(2)
    assert of.like(of.exact([1]), third) == flint.fmpq(1, 3)
    assert of.like(x, third) == 1 / 3
    found = of.like(Enclosure(x), third, rounded=True)
    assert 0 < abs(Fraction(found.mid) - third) <= Fraction(found.rad)
    assert of.like(Enclosure(x), 0.25).exact
    np.testing.assert_array_equal(of.like(of.exact([1]), [third, 0.5]), [flint.fmpq(1, 3), flint.fmpq(1, 2)])
    with pytest.raises(TypeError):
        Enclosure(x) * third
    with pytest.raises(TypeError):
        Enclosure(x) + of.exact([1, 2])
    with pytest.raises(TypeError):
        of.exact([1, 2]) * 0.5


@pytest.mark.parametrize("unknown", [math.nan, math.inf])
def test_what_is_not_known_stays_so(unknown: float) -> None:
    """No operation makes a number of a radius that is infinite or no number; a bounded range is known all the same."""
    x = Enclosure(np.array([0.3, 0.3]), np.array([unknown, 0.0]))
    group = np.zeros(2, dtype=int)
    for name, (function, _) in ONE.items():
        rad = np.broadcast_to(function(x).rad, 2)
        assert not rad[0] <= (0.75 if name in BOUNDED else 1e300), name
        assert math.isfinite(rad[1]), name
    for operation in (of.total, lambda x: of.group_sum(x, group, 1), lambda x: of.group_max(x, group, 1)):
        assert not np.all(np.isfinite(operation(x).rad))
    for name, both in TWO.items():
        assert not math.isfinite(both(x, Enclosure(np.ones(2))).rad[0]) or name == "choose"
        if name != "choose":
            assert not math.isfinite(both(Enclosure(np.ones(2)), x).rad[0])
    assert not math.isfinite((Enclosure(np.zeros(1)) * Enclosure(np.ones(1), np.array([unknown]))).rad[0])


def test_a_divisor_that_may_be_0_gives_no_number() -> None:
    found = 1 / Enclosure(np.array([1.0, 1.0, 0.0]), np.array([1.0, 2.0, 0.0]))
    assert not np.isfinite(found.rad).any()


def test_choose_takes_both_where_the_sign_is_open() -> None:
    x = Enclosure(np.array([1.0, 0.0, -1.0, 0.1, -0.1]), np.array([0.5, 0.0, 0.5, 0.2, 0.2]))
    found = choose(x, Enclosure(np.full(5, 3.0)), Enclosure(np.full(5, 7.0)))
    np.testing.assert_array_equal(found.mid, [3, 7, 7, 3, 7])
    np.testing.assert_allclose(found.rad, [0, 0, 0, 4, 4], atol=1e-13)
    assert UNDERFLOW > 0
