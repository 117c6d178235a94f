"""The logistic loss of pairs: its bound, what it leaves, the best b, derivatives, and separated pairs in integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from cvxml.core.balls import ball, ends, precision, total
from cvxml.family.rows.base import Block, Weights
from cvxml.methods.ldml.logistic import Labelled, Logistic, _slope, best
from cvxml.methods.ldml.logistic_path import MiddleOfThePath, of_pairs, separated
from cvxml.methods.ldml.no_regularizer import Free
from cvxml.numbers.rational import plane
from cvxml.numbers.vocabulary import exact as rational
from tests.family.derivatives import assert_derivatives
from tests.instances import random_data

T = np.array([1, 1, -1, -1, -1, 1, -1])
ONES = np.ones(len(T))
# numbers that are no powers of two, one of them large beside the others
UNLIKE = np.array([0.3, 1.0, 1 / 7, 40.0, 0.9, 3.0, 2.5])
either_weights = pytest.mark.parametrize("w", [ONES, UNLIKE], ids=["ones", "unlike"])


def entropy(x: float) -> float:
    return -sum(p * math.log(p) for p in (x, 1 - x) if p > 0)


def loss(D: np.ndarray, b: float, w: np.ndarray = ONES) -> float:
    return sum(c * math.log(1 + math.exp(t * (d - b))) for t, d, c in zip(T, D, w, strict=True))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("b", [None, 0.7, -2.0])
@either_weights
def test_value_bound_and_what_they_leave(seed: int, b: float | None, w: np.ndarray) -> None:
    rng = np.random.default_rng(seed)
    D, of = rng.uniform(0, 6, len(T)), Logistic(T, b, w)
    a = of.to_domain(rng.standard_normal(len(T)) * 10.0 ** rng.uniform(-6, 1))
    alpha = -T * a
    assert alpha.min() >= 0
    assert (alpha <= w).all()
    if b is None:
        assert Fraction(0) == sum(map(Fraction, a.tolist()))
    at = (
        float(minimize_scalar(lambda b: loss(D, b, w), bounds=(-20, 30), method="bounded").x)
        if b is None
        else b
    )
    gained = float(w @ np.vectorize(entropy)(alpha / w)) - at * float(T @ alpha)
    k = of.bound(a)
    assert abs(k.value - gained) <= k.error + 1e-12
    with precision():
        true = of.conjugate(rational(a))
        assert max(abs(Fraction(k.value) - end) for end in ends(true)) <= Fraction(k.error)
    ray = of.ray(a)
    assert ray.longest * (alpha / w).max() == pytest.approx(1)
    assert ray.value(0.5) == pytest.approx(of.bound(a / 2).value, rel=1e-12)
    part = of.part(Block(D, np.zeros(len(D)), a))
    assert part.value.value == pytest.approx(loss(D, at, w), abs=1e-9)
    assert part.excess.value == pytest.approx(loss(D, at, w) - k.value + float(a @ D), abs=1e-9)
    with precision():
        low, high = ends(of.value(rational(D)))
        assert float(low) <= part.value.value + 1e-12
        assert float(high) == pytest.approx(part.value.value, abs=1e-9)
        duals = of.exact_duals(list(map(Fraction, a.tolist())))
        assert float(ends(of.conjugate(rational(duals)))[0]) == pytest.approx(k.value, abs=1e-12)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("b", [None, 0.7])
@pytest.mark.parametrize("size", [1e-6, 1e-2, 1.0, 30.0])
@either_weights
def test_what_distances_are_off_by_moves_value_and_excess_by_no_more_than_is_said(
    side: int, b: float | None, size: float, w: np.ndarray
) -> None:
    rng, of = np.random.default_rng(0), Logistic(T, b, w)
    D = rng.uniform(0, 6, len(T))
    error = size * rng.random(len(T))
    a = of.to_domain(-T * w * rng.random(len(T)))
    said = of.part(Block(D, error, a))
    other = of.part(Block(D + side * error, 0 * error, a))
    assert abs(other.value.value - said.value.value) <= said.value.error + other.value.error
    assert abs(other.excess.value - said.excess.value) <= said.excess.error + other.excess.error


def test_entropy_that_the_shift_takes_away_is_counted_as_rounded() -> None:
    for alpha in np.linspace(0.01, 0.99, 30):
        of, a = Logistic(T[:1], entropy(alpha) / alpha), np.array([-alpha])
        k = of.bound(a)
        with precision():
            true = of.conjugate(rational([-alpha]))
            assert max(abs(Fraction(k.value) - end) for end in ends(true)) <= Fraction(k.error)


@either_weights
def test_exact_prices_with_b_free_add_up_to_0(w: np.ndarray) -> None:
    rng, exact = np.random.default_rng(0), [Fraction(c) for c in w.tolist()]
    for _ in range(5):
        a = [Fraction(price) for price in (-T * w * rng.uniform(-0.2, 2, len(T))).tolist()]
        found = Logistic(T, None, np.array(exact)).exact_duals(a)
        assert sum(found) == 0
        assert any(found)
        assert all(0 <= -t * price <= c for t, price, c in zip(T.tolist(), found, exact, strict=True))


@pytest.mark.parametrize("share", [1e-6, 0.3, 0.999999, 1 - 2.0**-52, 1.0])
def test_a_weight_that_is_rounded_moves_the_bound_by_no_more_than_is_said(share: float) -> None:
    """Of a weight of 1/3 or 1/7 the float is the nearest; the price is the same float."""
    for count in (3, 7, 49):
        for b in (None, 0.7):
            near, exact = (Logistic(T[:1], b, np.array([w])) for w in (1 / count, Fraction(1, count)))
            a = np.array([-share * (1 / count)])
            k = near.bound(a)
            with precision():
                true = exact.conjugate(rational([max(Fraction(a[0]), -Fraction(1, count))]))
                assert max(abs(Fraction(k.value) - end) for end in ends(true)) <= Fraction(k.error)


def test_a_weight_whose_float_is_1_is_rounded_too() -> None:
    """The class mean of the weights 1 and 1e-17 gives 1 / (1 + 1e-17), whose float is 1."""
    exact = 1 / (1 + Fraction(10) ** -17)
    assert float(exact) == 1 != exact
    a = np.array([-(1 - 2.0**-53)])
    k = Logistic(T[:1], 0.7, np.ones(1)).bound(a)
    with precision():
        true = Logistic(T[:1], 0.7, np.array([exact])).conjugate(rational([-exact]))
        assert max(abs(Fraction(k.value) - end) for end in ends(true)) <= Fraction(k.error)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("kind", ["ones", "floats", "fractions"])
def test_value_and_excess_are_those_of_exact_numbers_but_for_what_is_said(kind: str, size: float) -> None:
    """At prices next to the slopes, which leave nothing but rounding."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        exact = [Fraction(int(k), int(n)) for k, n in rng.integers(1, 9, (len(T), 2))]
        if kind != "fractions":
            exact = [Fraction(float(each)) if kind == "floats" else Fraction(1) for each in exact]
        w = np.array([float(each) for each in exact])
        b = float(rng.uniform(-size, size))
        D = b + size * rng.uniform(-1, 1, len(T))
        a = -T * w / (1 + np.exp(-T * (D - b)))
        part = Logistic(T, b, 1 if kind == "ones" else w).part(Block(D, np.zeros(len(D)), a))
        of, at, duals = Logistic(T, b, np.array(exact)), list(map(Fraction, D)), list(map(Fraction, a))
        with precision():
            value, paid = of.value(rational(at)), sum(x * y for x, y in zip(duals, at, strict=True))
            left = value - of.conjugate(rational(duals)) + ball(paid)
            for said, true in ((part.value, value), (part.excess, left)):
                assert max(abs(Fraction(said.value) - end) for end in ends(true)) <= Fraction(said.error)


def test_the_slope_lies_between_its_ends() -> None:
    """Of far pairs every share is next to 1 or to 0, so that the sum alone is rounded."""
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0, 100.0):
        for _ in range(50):
            w, D, b = (
                10.0 ** rng.uniform(-1, 3, len(T)),
                rng.uniform(-size, size, len(T)),
                float(rng.uniform(-1, 1)),
            )
            low, high = _slope(T, D, w, b)
            with precision():
                z = [ball(-int(t) * (Fraction(d) - Fraction(b))) for t, d in zip(T, D, strict=True)]
                parts = [
                    ball(-int(t) * Fraction(c)) / (1 + each.exp()) for t, c, each in zip(T, w, z, strict=True)
                ]
                true = ends(total(parts))
            assert Fraction(low) <= true[0]
            assert true[1] <= Fraction(high)


def test_one_heavy_row_leaves_the_others_their_digits() -> None:
    """With b free prices are multiples of a power of two. It is small beside all prices, not beside the weight."""
    w = np.where(np.arange(len(T)) == 0, 1e9, 1.0)
    alpha = np.where(T > 0, 1 / 3, 1 / 4)
    kept = np.abs(Logistic(T, None, w).to_domain(-T * alpha))
    np.testing.assert_allclose(kept, alpha, rtol=1e-14)
    # nor beside the sum of the heavier kind, which is shrunk
    shrunk = np.abs(Logistic(T, None, w).to_domain(-T * np.where(T > 0, w, 1e-9)))
    np.testing.assert_allclose(shrunk[T < 0], 1e-9, rtol=1e-14)


def test_where_the_slope_is_flat_by_rounding_the_best_b_is_not_known() -> None:
    """One similar pair far off and one dissimilar near: by symmetry the best b is 500, and a sum is 1000 + 2 e^-500."""
    b, missed = best(np.array([1, -1]), np.array([1000.0, 0.0]), np.ones(2))
    above = math.exp(-b) + math.exp(b - 1000)
    assert above / 2 <= missed or above < 1e-200


def test_prices_at_the_slopes_leave_nothing() -> None:
    D = np.linspace(0, 5, len(T))
    of = Logistic(T, 1.5)
    part = of.part(Block(D, np.zeros(len(D)), -T / (1 + np.exp(-T * (D - 1.5)))))
    assert part.excess.value <= 1e-14


def test_the_heavier_kind_is_shrunk() -> None:
    a = Logistic(T, None).to_domain(np.where(T > 0, -1.0, 0.25))
    assert np.abs(a[T < 0]) == pytest.approx(0.25)
    assert np.abs(a[T > 0]) == pytest.approx(1 / 3)
    assert not Logistic(T, None).to_domain(np.where(T > 0, -1.0, 0.0)).any()


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e6])
@either_weights
def test_the_best_b(size: float, w: np.ndarray) -> None:
    D = np.random.default_rng(0).uniform(0, size, len(T))
    b, missed = best(T, D, w)
    for other in (b - 1e-3, b + 1e-3):
        assert loss(D / 1, b, w) <= loss(D, other, w) + missed if size < 100 else missed >= 0
    assert missed <= 1e-6 * (1 + size)


def test_the_best_b_is_beyond_all_distances_where_one_kind_is_light() -> None:
    """All at 0: the best b is the logarithm of the ratio of the weights."""
    for ratio in (1e-30, 1e-6, 1e6, 1e30):
        w = np.where(T > 0, ratio / np.sum(T > 0), 1 / np.sum(T < 0))
        assert best(T, np.zeros(len(T)), w)[0] == pytest.approx(math.log(ratio), rel=1e-9)


@pytest.mark.parametrize("b", [None, 0.5])
@either_weights
def test_derivatives_are_those_of_differences_of_values(b: float | None, w: np.ndarray) -> None:
    X, _ = random_data(4, n=8, d=3, classes=2)
    rng = np.random.default_rng(4)
    rows = Labelled(np.array([[i, i + 1] for i in range(7)]))
    f, G = of_pairs(Logistic(T, b, w), rows, X), rng.standard_normal((3, 3))
    assert_derivatives(f, G, rng, first=1e-5, second=1e-3)


def test_separated_is_decided_to_the_last_digit() -> None:
    t, rows, root = np.array([1, -1, -1]), Labelled(np.array([[0, 1], [1, 2], [2, 3]])), np.ones((1, 1))
    X = np.array([[0.0], [1.0], [2.0], [4.0]])
    assert separated(X, rows, t, root)
    assert not separated(
        X - np.array([[2.0**-50], [0], [0], [0]]), rows, t, root
    )  # the similar pair is further
    assert not separated(X[[0, 1, 2, 1]], rows, t, root)  # all are equally far: nothing to gain


def test_what_underflows_is_not_called_0() -> None:
    """log(1 + exp(-1000)) is no float; beside a scale of 0 nothing is decided."""
    of = Logistic(np.array([1, -1]), 1000.0)
    part = of.part(Block(np.array([0.0, 3000.0]), np.zeros(2), np.zeros(2)))
    assert part.value.value == 0 < part.value.error
    assert part.excess.value == 0 < part.excess.error
    assert of.bound(np.array([-5e-324, 5e-324])).error > 0


def test_a_pair_of_two_labels_has_no_price() -> None:
    rows = Labelled(np.array([[0, 1], [1, 2], [2, 3]]))
    np.testing.assert_array_equal(
        rows.within_span(np.array([0, 0, 1, 1]), rows.duals(np.ones(3))).a, [1, 0, 1]
    )


def test_prices_bound_only_where_the_sum_of_their_pairs_is_psd() -> None:
    """Exactly: of a similar pair of length 1 beside a dissimilar one of length 2, by a last bit."""
    X, pairs = np.array([[0.0], [1.0], [3.0]]), np.array([[0, 1], [1, 2]])
    of = Free(X, pairs[:1])
    for far, bound in ((0.25, 0), (0.25 + 2.0**-54, None), (1.0, None), (0.0, 0)):
        assert of.exact_bound(plane(X), Weights(pairs, np.array([-1.0, far]))) == bound


def test_where_nothing_is_strict_prices_that_are_not_feasible_are_dropped() -> None:
    """The pairs are separated; shares 1 and 1/2, 1/2 add up, and the sum of their pairs is 1 - 1/2 - 4/2."""
    X, t = np.array([[0.0], [1.0], [2.0], [4.0]]), np.array([1, -1, -1])
    rows = Labelled(np.array([[0, 1], [1, 2], [2, 3]]))
    anchors = MiddleOfThePath(Free(X, rows.listed[:1]), Logistic(t, None), rows, rows.duals(np.zeros(3)))
    assert anchors.shown.separates
    (found,) = anchors.feasible(rows.duals(np.array([-1.0, 0.5, 0.5])), [])
    assert not found.a.any()
