"""Of every loss: k bounds phi, the excess is what it leaves, rounding is covered, and exact arithmetic agrees."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from cvxml.core.balls import ball, ends, precision
from cvxml.core.metric import FloatArray
from cvxml.family.losses import base
from cvxml.family.losses.base import Loss, together
from cvxml.family.losses.bounded import Bounded
from cvxml.family.losses.groups import Slack, Spread
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.least import Least
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.losses.residual import Residual
from cvxml.family.losses.root import Root
from cvxml.family.losses.smoothed_hinge import SmoothedHinge
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.losses.straight import Straight
from cvxml.family.rows.base import Block
from cvxml.methods.ldml.logistic import Logistic
from cvxml.numbers.enclosures import Enclosure
from cvxml.numbers.rational import end
from cvxml.numbers.sums import accurate_sum
from cvxml.numbers.vocabulary import exact as rational
from cvxml.numbers.vocabulary import total


class Case(NamedTuple):
    """A loss, the same with exact constants, and whether v and prices may be negative."""

    loss: Loss
    exact: Loss
    signed: bool
    least: float  # of prices
    most: float


C = 0.7
CASES = {
    "hinge": Case(Hinge(C), Hinge(Fraction(C)), True, 0.0, C),
    "squared hinge": Case(SquaredHinge(C), SquaredHinge(Fraction(C)), True, 0.0, 9.0),
    "smoothed hinge": Case(SmoothedHinge(0.2), SmoothedHinge(Fraction(0.2)), True, 0.0, 1.0),
    "least": Case(Least(), Least(), False, 0.0, 9.0),
    "straight": Case(Straight(C), Straight(Fraction(C)), False, -C, -C),
    "root": Case(Root(), Root(), False, 1e-3, 9.0),
    "bounded, above": Case(Bounded(C, True), Bounded(Fraction(C), True), False, -C * (1 - 1e-9), 0.0),
    "bounded, below": Case(Bounded(C, False), Bounded(Fraction(C), False), False, 0.0, 9.0),
}
W, ALONE = np.linspace(0.1, 0.9, 5), np.arange(5) == 3
CASES["residual"] = Case(
    Residual(W, ALONE), Residual([Fraction(w) for w in W.tolist()], ALONE), False, -1.0, 0.0
)
EVERY = pytest.mark.parametrize("name", CASES)
SEEDS = pytest.mark.parametrize("seed", range(12))


def drawn(case: Case, seed: int, n: int = 10) -> tuple[FloatArray, FloatArray]:
    """v and prices: of any size, near where rows change sides, or what minimises phi + a v."""
    rng = np.random.default_rng(seed)
    v = (
        10.0 ** rng.uniform(-4, 3, n)
        if seed % 3
        else 1 + rng.standard_normal(n) * 10.0 ** -rng.integers(1, 16, n)
    )
    v = v * rng.choice([1, -1], n) if case.signed else v
    a = rng.uniform(case.least, case.most, n)
    if isinstance(case.loss, Bounded) and seed % 2:
        r = np.maximum(v, 1) if case.loss.above else np.minimum(v, 1)
        a = C * (1 / r - 1)
    if isinstance(case.loss, Root) and seed % 2:
        a = 0.5 / np.sqrt(v)
    if isinstance(case.loss, SmoothedHinge) and seed % 2:
        a = np.clip((1 - v) / 0.2, 0, 1) * (1 + 1e-8 * rng.standard_normal(n))
    if isinstance(case.loss, Residual):
        v[5:][ALONE] = 0.0
        if seed % 2:
            a[:5] = -W * np.maximum(0.0, 1 - np.sqrt(v[5:] / v[:5]))
    return v, case.loss.to_domain(a)


def exactly(case: Case, v: FloatArray, a: FloatArray) -> tuple[Fraction, Fraction, Fraction]:
    """phi, k, and a v, of these numbers as they are."""
    rows, duals = ([Fraction(x) for x in each.tolist()] for each in (v, a))
    with precision():
        phi = end([case.exact.value(rational(rows))], up=True)
        k = end([case.exact.conjugate(rational(duals))], up=False)
    return phi, k, sum((x * y for x, y in zip(rows, duals, strict=True)), Fraction(0))


@EVERY
@SEEDS
def test_the_conjugate_bounds_the_loss(name: str, seed: int) -> None:
    case = CASES[name]
    v, a = drawn(case, seed)
    with precision():
        a_exact = case.exact.exact_duals([Fraction(x) for x in a.tolist()])
        k = end([case.exact.conjugate(rational(a_exact))], up=True)
    phi = exactly(case, v, a)[0]
    linear = sum((price * Fraction(row) for price, row in zip(a_exact, v.tolist(), strict=True)), Fraction(0))
    assert phi >= k - linear - Fraction(1, 1 << 200)


@EVERY
@SEEDS
def test_value_conjugate_and_excess_are_exact_but_for_what_they_say(name: str, seed: int) -> None:
    """The rows are seen with an error, and judged by those that they stand for."""
    case, rng = CASES[name], np.random.default_rng(seed)
    v, a = drawn(case, seed)
    error = np.abs(v) * 10.0 ** -rng.integers(6, 17, len(v))
    seen = v + error * rng.uniform(-0.9, 0.9, len(v))
    part = case.loss.part(Block(seen, error + 1e-15 * np.abs(v), a))
    phi, k, linear = exactly(case, v, a)
    own = case.loss.bound(a)
    assert part.excess.value >= 0
    assert abs(phi - Fraction(part.value.value)) <= Fraction(part.value.error)
    assert abs(k - Fraction(own.value)) <= Fraction(own.error)
    assert abs(phi - k + linear - Fraction(part.excess.value)) <= Fraction(part.excess.error)
    # and no wider than slopes and sizes explain
    size = 1 + abs(float(phi)) + abs(float(k)) + float(np.abs(a) @ np.abs(v))
    at = np.maximum(np.abs(v), 1e-4)  # no less, but for the rows that are 0 in every metric
    slopes = np.abs(a) + C * (2 + 1 / at) + 1 / np.sqrt(at) + 2 * C * at
    assert (
        part.value.error + part.excess.error
        <= 20 * float(slopes @ (error + 1e-13 * np.abs(v))) + 1e-13 * size
    )


@pytest.mark.quick(54)
@EVERY
@SEEDS
def test_rows_that_stand_for_others_as_far_off_as_they_may_be_are_covered(name: str, seed: int) -> None:
    """Each at an end of what it may be, small and large errors, one row alone: no other hides what is missing."""
    case, rng = CASES[name], np.random.default_rng(seed)
    v, a = drawn(case, seed)
    for digits in (1, 3, 6, 9):
        error = np.abs(v) * 10.0**-digits
        for side in rng.choice([-1.0, 1.0], (6, len(v))):
            seen = v + 0.999 * error * side
            part = case.loss.part(Block(seen, error, a))
            phi, k, linear = exactly(case, v, a)
            assert abs(phi - Fraction(part.value.value)) <= Fraction(part.value.error)
            assert abs(phi - k + linear - Fraction(part.excess.value)) <= Fraction(part.excess.error)


@EVERY
@SEEDS
def test_rows_without_errors_are_off_by_the_rounding_of_the_loss_alone(name: str, seed: int) -> None:
    """All together, and one by one where a row is a loss."""
    case = CASES[name]
    v, a = drawn(case, seed)
    alone = [] if isinstance(case.loss, Residual) else [slice(i, i + 1) for i in range(len(v))]
    for some in (slice(None), *alone):
        part = case.loss.part(Block(v[some], np.zeros(len(v[some])), case.loss.to_domain(a[some])))
        phi, k, linear = exactly(case, v[some], case.loss.to_domain(a[some]))
        assert abs(phi - k + linear - Fraction(part.excess.value)) <= Fraction(part.excess.error)


@pytest.mark.parametrize("seed", range(40))
def test_one_row_of_a_residual_is_covered_by_its_slopes(seed: int) -> None:
    """Next to the price that belongs to it the excess is flat: what it may be off by is that of slopes alone."""
    rng = np.random.default_rng(seed)
    u, v = 10.0 ** rng.uniform(-2, 2, 2)
    s = float(
        np.clip(max(0.0, 1 - math.sqrt(v / u)) + rng.choice([-1, 1]) * 10.0 ** -rng.uniform(1, 9), 0, 0.99)
    )
    loss, exact = Residual(np.array([0.7]), np.array([False])), Residual([Fraction(0.7)], np.array([False]))
    case = Case(loss, exact, False, -1.0, 0.0)
    a = loss.to_domain(np.array([-0.7 * s, 0.0]))
    error = np.array([u, v]) * 10.0 ** -rng.uniform(1, 12)
    for side in ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)):
        if side[1] == 0:
            error = np.array([error[0], 0.0])
        if side[0] == 0:
            error = np.array([0.0, np.abs(error).max()])
        rows = np.array([u, v])
        part = loss.part(Block(rows + 0.9999 * error * side, error, a))
        phi, k, linear = exactly(case, rows, a)
        assert abs(phi - k + linear - Fraction(part.excess.value)) <= Fraction(part.excess.error)


@EVERY
def test_any_numbers_are_repaired_into_the_domain(name: str) -> None:
    loss, rng = CASES[name].loss, np.random.default_rng(0)
    nasty = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e300, -1e300, 1e-300, -1e-300, -C, C, 1.0]
    given = [np.array(nasty), np.zeros(3), np.full(2, math.nan), np.array([1e308, -1e308])]
    given += [10.0 ** rng.uniform(-200, 200, 5) * rng.choice([1, -1], 5) for _ in range(5)]
    for a in given:
        once = loss.to_domain(np.resize(a, 10))
        assert math.isfinite(loss.bound(once).value)
        assert math.isfinite(loss.part(Block(np.ones(len(once)), np.zeros(len(once)), once)).excess.value)
        np.testing.assert_allclose(loss.to_domain(once), once, rtol=1e-15)


def test_every_group_with_a_row_that_may_have_weight_gets_its_sum() -> None:
    """For any numbers: only -inf forbids weight."""
    nasty = [math.nan, math.inf, -math.inf, 0.0, -1.0, 1e300, 1e-300]
    pairs = np.array([[a, b] for a in nasty for b in nasty])
    loss = LogSumExp(np.full(len(pairs), 0.75), np.ones(pairs.shape, dtype=bool))
    sums = loss.to_domain(pairs.ravel()).reshape(pairs.shape).sum(axis=1)
    none = (pairs == -np.inf).all(axis=1)
    np.testing.assert_allclose(sums, np.where(none, 0.0, 0.75), rtol=1e-15)


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("least", "residual", "straight")])
@SEEDS
def test_a_ray_is_the_conjugate_of_the_multiples(name: str, seed: int) -> None:
    loss = CASES[name].loss
    _, a = drawn(CASES[name], seed)
    ray = loss.ray(a)
    for share in (1e-3, 0.5, 0.999):
        t = share * min(ray.longest, 3.0)
        assert ray.value(t) == pytest.approx(loss.bound(a * t).value, rel=1e-9)
        np.testing.assert_allclose(loss.to_domain(a * t), a * t, rtol=1e-15)
        both = together([ray, Hinge(C).ray(np.array([1.0]))])
        assert both.value(t) == pytest.approx(ray.value(t) + t)
        assert both.longest <= min(ray.longest, C)
    if ray.against is not None:
        t = ray.against(2.0)
        assert all(ray.value(t) - 2 * t >= ray.value(s * t) - 2 * s * t for s in (0.5, 0.99, 1.01, 2.0))


@SEEDS
def test_a_smaller_multiple_of_residual_prices_is_repaired_to_one_that_proves_more(seed: int) -> None:
    """The price of a far pair is convex in that of its near one: a share of both is more of it than is needed."""
    loss = CASES["residual"].loss
    _, a = drawn(CASES["residual"], seed)
    assert loss.ray(a).longest == 1
    for t in (1e-3, 0.5, 0.999):
        assert loss.ray(a).value(t) == 0
        repaired = loss.to_domain(t * a)
        np.testing.assert_array_equal(repaired[:5], t * a[:5])
        assert (repaired[5:] <= t * a[5:] * (1 + 1e-15)).all()
        s = -repaired[:5] / W
        expected = np.where(ALONE, 0.0, W * s / np.where(ALONE, 1.0, 1 - s))
        np.testing.assert_allclose(repaired[5:], expected, rtol=1e-13)


def test_residual_prices_are_in_the_domain_whatever_rounding_does() -> None:
    """That of v is no less than w s / (1 - s), in rationals, also where s is next to 1."""
    w = np.array([0.3, 0.7, 1e-3, 1.0])
    loss = Residual(w, np.zeros(4, dtype=bool))
    exact = Residual([Fraction(x) for x in w.tolist()], loss.alone)
    for s in (0.0, 1e-300, 1e-9, 1 / 3, 0.999, 1 - 1e-9, 1 - 1e-15, 1.0, 7.0):
        for a in (loss.to_domain(np.concatenate([-w * s, 0 * w])).tolist(),):
            for duals in ([Fraction(x) for x in a], exact.exact_duals([Fraction(x) for x in a])):
                for near, far, weight in zip(duals[:4], duals[4:], exact.w, strict=True):
                    assert 0 <= -near < weight
                    assert far >= -near * weight / (weight + near)
                    assert far <= -near * weight / (weight + near) * (1 + Fraction(1, 10**14))


def test_prices_of_a_bound_may_come_near_to_their_limit() -> None:
    """The price is next to -c: b has one digit, and the allowance knows."""
    loss, a = Bounded(0.3, True), np.array([-0.3 * (1 - 2.0**-50)])
    own: Any = loss.bound(loss.to_domain(a))
    with precision():
        exact = end([Bounded(Fraction(0.3), True).conjugate(rational(a))], up=False)
    assert abs(exact - Fraction(own.value)) <= Fraction(own.error)
    assert own.error > 1e-3


def part_of(loss: Loss, v: list[float], error: list[float], a: list[float]) -> Any:
    return loss.part(Block(np.array(v), np.array(error), np.array(a)))


def test_a_row_that_may_be_missed_counts_though_it_has_no_price() -> None:
    for loss in (Hinge(C), SquaredHinge(C)):
        at_most = part_of(loss, [1.5], [1.0], [0.0]).value
        assert at_most.value == 0
        assert at_most.error >= C * 0.25
        next_to = part_of(loss, [1 + 2.0**-52], [2.0**-52 * (1 + 2.0**-50)], [0.0]).value
        assert next_to.error > 0  # the float of v - error is 1, and the number is below
        surely_kept = part_of(loss, [3.0], [1.0], [0.0]).value
        assert surely_kept.value == 0
        assert surely_kept.error < 1e-290  # underflow alone


def test_weights_on_the_simplex_sum_to_no_less_than_1_and_what_is_more_is_counted() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 9, 40):
        for _ in range(50):
            a = Least().to_domain(rng.random(n) * 10.0 ** rng.integers(-9, 9, n))
            beyond = sum(map(Fraction, a.tolist()), Fraction(0)) - 1
            assert 0 <= beyond <= 4 * (n + 8) * Fraction(2) ** -52
            excess = part_of(Least(), [0.3] * n, [0.0] * n, a.tolist()).excess  # all are the least
            assert abs(beyond * Fraction(0.3) - Fraction(excess.value)) <= Fraction(excess.error)


def test_a_sharp_sum_says_what_it_is_off_by() -> None:
    rng = np.random.default_rng(0)
    for n in (0, 1, 5, 100, 3001):
        terms = rng.standard_normal(n) * 10.0 ** rng.integers(-12, 13, n)
        value, error = accurate_sum(terms)
        exact = sum(map(Fraction, terms.tolist()), Fraction(0))
        assert abs(Fraction(value) - exact) <= Fraction(error) + abs(exact) / 2**53
        assert error <= 1e-25 * np.abs(terms).sum()
    terms = rng.standard_normal(3000) * 10.0 ** rng.integers(0, 17, 3000)
    terms = np.concatenate([terms, -terms, 1e-9 * rng.standard_normal(3000)])  # next to nothing is left
    rng.shuffle(terms)
    value, error = accurate_sum(terms)
    assert 0 < abs(Fraction(value) - sum(map(Fraction, terms.tolist()), Fraction(0))) <= Fraction(error)
    assert math.isnan(
        accurate_sum(np.array([1e308, 1e308, -1e308])).value
    )  # as where a part of `summed` overflows
    assert math.isnan(accurate_sum(np.array([math.inf, -math.inf])).value)


def test_the_entropy_of_shares_is_rounded_by_no_more_than_is_said() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10):
        of = LogSumExp(rng.uniform(0.5, 2, 2), np.ones((2, 5), dtype=bool))
        a = of.to_domain(rng.random(10))
        found = of.bound(a)
        with precision():
            exact = LogSumExp(np.array([Fraction(c) for c in of.c.tolist()], dtype=object), of.among)
            true = ends(exact.conjugate(rational(a)))
        assert max(abs(Fraction(found.value) - end) for end in true) <= Fraction(found.error)


GROUPS = np.array([0, 0, 0, 1, 1])
OTHERS: dict[
    str, tuple[Any, Any]
] = {  # losses of groups and of labels: the same with floats and with fractions
    "spread": (lambda c: Spread(c, GROUPS, np.array([True, False, True, True, False])), True),
    "slack": (lambda c: Slack(c, GROUPS, [c, c, 0, c, 0]), True),
    "log sum exp": (
        lambda c: LogSumExp(np.array([c] * 2), np.array([[1, 1, 0], [1, 1, 1]], dtype=bool)),
        False,
    ),
    "logistic": (lambda c: Logistic(np.array([1, -1, 1, 1, -1]), c, np.array([c] * 5)), False),
    "logistic, free": (lambda c: Logistic(np.array([1, -1, 1, 1, -1]), None), False),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", [*CASES, *OTHERS])
def test_each_formula_is_one_for_three_kinds_of_numbers(name: str, seed: int) -> None:
    """Exactly, the excess is what the bound leaves; floats are near, and enclosures hold the exact number."""
    rng = np.random.default_rng(seed)
    if name in CASES:
        loss, exact = CASES[name].loss, CASES[name].exact
        v, a = drawn(CASES[name], seed)
        duals = rational(a)
    else:
        loss, exact = (OTHERS[name][0](number(0.3)) for number in (float, Fraction))
        v = rng.uniform(0, 2, 6 if name == "log sum exp" else 5)
        signs = np.where(loss.near, 1, -1) if name == "spread" else -loss.t if "logistic" in name else 1
        a = loss.to_domain(signs * rng.random(len(v)) * 0.3)
        duals = rational(exact.exact_duals([Fraction(x) for x in a.tolist()]))
    with precision():
        phi, k, left = exact.value(rational(v)), exact.conjugate(duals), exact.excess(rational(v), duals)
        paid = total(duals * rational(v))
        missed = ball(phi) - ball(k) + ball(paid) - ball(left)
        assert abs(missed) <= 1e-60 * (1 + abs(ball(phi)))
        with np.errstate(all="ignore"):
            own = (loss.value(v), loss.conjugate(a), loss.excess(v, a))
            x, y = Enclosure(v), loss.enclosed(a)
            enclosures = (loss.value(x), loss.conjugate(y), loss.excess(x, y))
        size = 1 + float(abs(ball(phi))) + abs(float(ball(k))) + float(np.abs(a) @ np.abs(v))
        for near, found, true in zip(own, enclosures, (phi, k, left), strict=True):
            assert float(near) == pytest.approx(float(ball(true)), rel=1e-9, abs=1e-12 * size)
            assert abs(ball(true) - ball(float(found.mid))) <= ball(float(found.rad)) + 1e-60


@EVERY
def test_exact_rows_are_summed_some_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as memory holds: the value is that of all rows at once."""
    exact, (v, _) = CASES[name].exact, drawn(CASES[name], 1)
    with precision():
        once = exact.value(rational(v) * 3)
        monkeypatch.setattr(base, "ROWS", 3)
        found = exact.exact_value(iter([Fraction(x) for x in v.tolist()]), Fraction(3))
        assert abs(ball(once) - ball(found)) <= 1e-60 * (1 + abs(ball(once)))


def test_an_error_below_the_last_digit_of_v_counts() -> None:
    """v = 1 may be 1 + 1e-17, which is above the bound, although the floats agree."""
    value = part_of(Bounded(1e6, True), [1.0], [1e-17], [0.0]).value
    with precision():
        true = Bounded(Fraction(10**6), True).value(rational([1 + Fraction(1, 10**17)]))
        assert 0 < true <= ball(value.error)


def test_a_share_next_to_1_of_a_rounded_weight_counts() -> None:
    """The price is the float of 1/7, which may be below 1/7: then the rest has a divergence of about its logarithm."""
    seventh, t = Fraction(1, 7), np.array([1])
    weight, v = float(seventh), 200.0
    assert Fraction(weight) < seventh
    part = Logistic(t, 0.0, np.array([weight])).part(Block(np.array([v]), np.zeros(1), np.array([-weight])))
    exact, a = Logistic(t, Fraction(0), [seventh]), rational([-weight])
    with precision(1024):
        true = exact.value(rational([v])) - exact.conjugate(a) + ball(total(a * rational([v])))
        assert abs(true - ball(part.excess.value)) <= ball(part.excess.error)


SEVENTHS = [Fraction(k, 7) for k in (1, 2, 3, 5, 6)]
NEAR_FRACTIONS: dict[
    str, tuple[Callable[[Any], Any], float]
] = {  # a loss of one constant or several, and the sign of a
    "hinge": (lambda c: Hinge(c[0]), 1.0),
    "squared hinge": (lambda c: SquaredHinge(c[0]), 1.0),
    "smoothed hinge": (lambda c: SmoothedHinge(c[3]), 1.0),
    "straight": (lambda c: Straight(c[0]), -1.0),
    "bounded, above": (lambda c: Bounded(c[0], True), -1.0),
    "bounded, below": (lambda c: Bounded(c[0], False), 1.0),
    "slack, c": (lambda c: Slack(c[0], GROUPS, np.ones(5)), 1.0),
    "slack, b": (lambda c: Slack(1.0, GROUPS, c), 1.0),
    "residual": (lambda c: Residual(c, np.zeros(len(c), dtype=bool)), -1.0),
}


KINKS = {"smoothed hinge": 1 - 5 / 7, "slack, b": np.array([float(c) for c in SEVENTHS])}


@pytest.mark.parametrize("name", NEAR_FRACTIONS)
def test_a_constant_that_is_the_float_next_to_a_fraction_is_covered(name: str) -> None:
    """Without errors of v, and with dual variables in the same proportion to the fraction."""
    of, sign = NEAR_FRACTIONS[name]
    loss, exact, rng = of(np.array([float(c) for c in SEVENTHS])), of(SEVENTHS), np.random.default_rng(0)
    scales = name not in ("smoothed hinge", "slack, b")
    for _ in range(40):
        v = rng.uniform(0, 2, 10 if name == "residual" else 5)
        if name in KINKS:
            v = np.where(rng.random(len(v)) < 0.5, v, KINKS[name])
        a = loss.to_domain(sign * rng.choice([0.0, 0.1, 1.0], len(v)) * rng.random(len(v)))
        constants = SEVENTHS * 2 if name == "residual" else SEVENTHS[:1] * 5
        ratio = [c / Fraction(float(c)) if scales else Fraction(1) for c in constants]
        duals = rational(Fraction(x) * r for x, r in zip(a.tolist(), ratio, strict=True))
        part, k = loss.part(Block(v, np.zeros(len(v)), a)), loss.bound(a)
        with precision():
            numbers = exact.value(rational(v)), exact.conjugate(duals), exact.excess(rational(v), duals)
            for found, true in zip((part.value, k, part.excess), numbers, strict=True):
                assert abs(ball(true) - ball(found.value)) <= ball(found.error) + 1e-60


def test_dual_variables_of_log_sum_exp_stand_for_numbers_whose_sums_are_exactly_c() -> None:
    """Floats can miss the sum c by a last digit; the enclosure has the numbers in the same proportion."""
    rng, missed = np.random.default_rng(3), 0
    for n in (2, 7, 60):
        of = LogSumExp(rng.uniform(0.1, 3, 5), np.ones((5, n), dtype=bool))
        a = of.to_domain(rng.uniform(0, 1, 5 * n) ** 8)
        held = of.enclosed(a)
        for g, c in enumerate(of.c.tolist()):
            row = slice(g * n, (g + 1) * n)
            floats = [Fraction(price) for price in a[row].tolist()]
            meant = [price * Fraction(c) / sum(floats) for price in floats]
            missed += meant != floats
            for one, mid, rad in zip(meant, held.mid[row].tolist(), held.rad[row].tolist(), strict=True):
                assert abs(one - Fraction(mid)) <= Fraction(rad)
    assert missed
