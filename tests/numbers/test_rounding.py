"""What double precision may be off by, against fractions: every bound holds, and none is far too wide."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from cvxml.family.regularizers.base import SeenBy
from cvxml.numbers import rounding
from cvxml.numbers.rounding import (
    EPS,
    Images,
    Points,
    Products,
    Seen,
    _by_points,
    _squared,
    doubled,
    images,
    least_eigenvalue,
    lengths,
    points,
    seen,
    squares_of,
    squares_of_pairs,
    two_product,
)

SEEDS = pytest.mark.parametrize("seed", range(8))


def whole(values: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(value) for value in row] for row in values.tolist()]


def nearly_flat(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points next to a line, some near 0, and a matrix with a column that cancels along it; nothing of it dyadic."""
    rng = np.random.default_rng(seed)
    x, h = rng.standard_normal(7) ** 3, 2.0 ** -rng.integers(5, 40)
    return np.column_stack([x, x + h * rng.standard_normal(7)]) + 0.1, np.array(
        [[1.0, 1 / h / 3], [0.1, -1 / h / 3]]
    )


@SEEDS
def test_differences_of_images_keep_their_digits(seed: int) -> None:
    X, T = nearly_flat(seed)
    exact, t = whole(X), whole(T)
    for i in range(7):
        z, error = points(X, T).apart(i, np.arange(7))
        for k in range(7):
            e = [a - b for a, b in zip(exact[i], exact[k], strict=True)]
            missed = [sum(e[a] * t[a][c] for a in range(2)) - Fraction(float(z[k, c])) for c in range(2)]
            assert sum(m**2 for m in missed) <= Fraction(float(error[k])) ** 2
            assert error[k] <= 1e-14 * (1 + np.linalg.norm(z[k]))


@SEEDS
def test_distances_are_those_of_the_metric_as_it_is(seed: int) -> None:
    X, T = nearly_flat(seed)
    A = T @ T.T
    sight, entries, exact = seen(X, A), whole(A), whole(X)
    reach, z = sight.reach(), sight.images.at
    for i in range(7):
        near, direct = sight.from_points(np.arange(7)), sight.of(X[i] - X)
        for k in range(7):
            e = [a - b for a, b in zip(exact[i], exact[k], strict=True)]
            D = sum(entries[a][b] * e[a] * e[b] for a in range(2) for b in range(2))
            for distance, error in ((near.D[i, k], near.error[i, k]), (direct.D[k], direct.error[k])):
                assert abs(Fraction(float(distance)) - D) <= Fraction(float(error))
            product = float(z[i] @ z[i] + z[k] @ z[k] - 2 * z[i] @ z[k])
            assert abs(Fraction(product) - D) <= Fraction(float(reach[i] + reach[k]))


@SEEDS
def test_images_of_rows_that_floats_round_are_off_by_no_more_than_is_said(seed: int) -> None:
    """The rows are known to half an ulp, and the product is rounded too; the columns of T have any size."""
    rng = np.random.default_rng(seed)
    P, T = rng.standard_normal((6, 4)), rng.standard_normal((4, 3)) * 10.0 ** rng.integers(-6, 7, 3)
    z, error = images(P, T)
    rows, columns = whole(P), whole(T.T)
    half_ulps = whole(np.spacing(np.abs(P)) / 2)
    for i, row in enumerate(rows):
        for sign in (-1, 0, 1):
            exact = [entry + sign * half for entry, half in zip(row, half_ulps[i], strict=True)]
            missed = [
                sum(p * t for p, t in zip(exact, column, strict=True)) - Fraction(float(z[i, c]))
                for c, column in enumerate(columns)
            ]
            assert sum(m**2 for m in missed) <= Fraction(float(error[i])) ** 2
    assert (error <= 1e-14 * np.linalg.norm(np.abs(P) @ np.abs(T), axis=1)).all()


def test_an_image_that_cancels_is_off_by_half_an_ulp_of_what_cancelled() -> None:
    """1 + 2^-53 is 1 as a float: its difference from 1 is 2^-53, and the image says 0."""
    z, error = images(np.array([[1.0, 1.0]]), np.array([[1.0], [-1.0]]))
    assert z[0, 0] == 0
    assert 2.0**-53 <= error[0] <= 1e-14


@pytest.mark.parametrize("reach", [(0.25, 0.0), (0.0, 0.25), (0.125, 0.125)])
def test_distances_that_may_be_less_than_a_limit_are_listed(reach: tuple[float, float]) -> None:
    """The points 0 and 1 are 1 apart but for 1/4, so 3/4 or 5/4 apart."""
    z = np.array([[0.0], [1.0]])
    products = Products(z, z, z[:, 0] ** 2, np.array(reach))
    for limit, listed in ((-1.0, False), (0.8, True), (0.99, True), (1.2, True)):
        own, k, D, error = products.below(np.array([0]), np.array([limit]))
        assert (1 in k.tolist()) == listed
        assert not own.any()
        np.testing.assert_array_equal(D, np.where(k == 1, 1.0, 0.0))
        assert (error[k == 1] == 0.25).all()


@SEEDS
def test_the_pairs_below_a_limit_are_those_of_a_loop_over_all_pairs(seed: int) -> None:
    """The error bounds differ between the points, and one may be infinite."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((12, 2))
    reach = rng.random(12) * 10.0 ** rng.integers(-16, 1, 12)
    reach[0] = np.inf if seed % 2 else 0.0
    products = Products(z, z, np.sum(z**2, axis=1), reach)
    some, limit = np.arange(1, 12, 2), rng.random(6) * 4
    own, k, D, error = products.below(some, limit)
    pairs = list(zip(own.tolist(), k.tolist(), strict=True))
    for o, i in enumerate(some.tolist()):
        for j in range(12):
            room = limit[o] - np.sum((z[i] - z[j]) ** 2) + 4 * (reach[i] + reach[j])
            assert ((o, j) in pairs) == (room > 0), "no pair here is within rounding of its limit"
    np.testing.assert_allclose(D, np.sum((z[some[own]] - z[k]) ** 2, axis=1), rtol=0, atol=1e-13)
    assert (error == reach[some[own]] + reach[k]).all()


@SEEDS
def test_distances_below_a_limit_are_those_of_fractions(seed: int) -> None:
    """Far from the origin the products lose nearly all digits; the limit is just above an exact distance."""
    rng = np.random.default_rng(seed)
    z = 1e6 + rng.standard_normal((8, 2))
    sight = Seen(np.eye(2), np.ones(2), 0.0, Images(z, np.full(8, 1e-290)), z)
    products, exact = SeenBy(z, sight).products(), whole(z)
    for i in range(8):
        D = [sum((a - b) ** 2 for a, b in zip(exact[i], other, strict=True)) for other in exact]
        for limit in np.nextafter([float(one) for one in D], np.inf).tolist():
            nearer = {k for k in range(8) if D[k] < Fraction(limit)}
            assert nearer <= set(products.below(np.array([i]), np.array([limit]))[1].tolist())


CLOUDS = {
    "of length 1": lambda z: z,
    "far from the origin": lambda z: z + 1e4,
    "with a long column": lambda z: z * np.array([1e6, 1.0, 1.0]),
    "tiny": lambda z: 1e-20 * z,
    "huge": lambda z: 1e25 * z,
    "with one far point": lambda z: np.where(np.arange(len(z))[:, None] == 7, 1e18, z),
    "with one point that is no number": lambda z: np.where(np.arange(len(z))[:, None] == 7, np.nan, z),
}


@pytest.mark.parametrize("cloud", CLOUDS)
@pytest.mark.parametrize("among", [None, np.arange(3, 400, 3)])
def test_single_precision_finds_the_pairs_of_double_precision(
    cloud: str, among: np.ndarray | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits are distances of pairs themselves, so some pairs are within rounding of their limit."""
    rng = np.random.default_rng(0)
    z = CLOUDS[cloud](rng.standard_normal((400, 3)))
    reach = np.where(rng.random(400) < 0.5, 1e-15, 1e-2) * np.sum(z**2, axis=1)
    products = Products(z, z, np.sum(z**2, axis=1), reach, among)
    some = np.arange(0, 400, 9)
    D = np.sum((z[some][:, None] - z) ** 2, axis=2)
    limit = np.sort(D, axis=1)[:, 5]
    limit[:3] = np.inf, -np.inf, np.nan
    kept = products.below(some, limit)
    monkeypatch.setattr(rounding, "MANY_POINTS", 10)
    monkeypatch.setattr(rounding, "SPARSE", 1)
    monkeypatch.setattr(rounding, "TABLE", 2**12)
    found = replace(products).below(some, limit)
    for one, other in zip(kept[:2], found[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    rounded = 1e-13 * (np.sum(z**2, axis=1)[some[kept[0]]] + np.sum(z**2, axis=1)[kept[1]])
    assert not (np.abs(kept[2] - found[2]) > rounded).any()
    np.testing.assert_array_equal(kept[3], found[3])


@pytest.mark.parametrize("factors", [(1e-44, 1e44), (1e-20, 1e20), (1e20, 1e20), (1e35, 1e-35)])
def test_single_precision_takes_no_factor_for_0_or_infinite(
    factors: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two factors of the products may be far larger or smaller than the distances."""
    monkeypatch.setattr(rounding, "MANY_POINTS", 10)
    monkeypatch.setattr(rounding, "SPARSE", 1)
    z, one, other = np.random.default_rng(0).standard_normal((60, 3)), *factors
    length = one * other * np.sum(z**2, axis=1)
    products = Products(one * z, other * z, length, 1e-15 * length)
    D = one * other * np.sum((z[:, None] - z) ** 2, axis=2)
    limit = np.sort(D, axis=1)[:, 5] * (1 + 1e-9)
    own, k, _, _ = products.below(np.arange(60), limit)
    assert set(zip(own.tolist(), k.tolist(), strict=True)) == set(
        zip(*np.nonzero(limit[:, None] > D), strict=True)
    )


@SEEDS
def test_single_precision_loses_no_pair_below_its_limit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is just above an exact distance, and single precision is off by far more than the distance.

    From a point near c to a point near 2c, the limit is about the squared length of the point, so their difference says
    nothing about the size of the products.
    """
    monkeypatch.setattr(rounding, "MANY_POINTS", 10)
    monkeypatch.setattr(rounding, "SPARSE", 1)
    rng = np.random.default_rng(seed)
    z = 1e3 * np.repeat([1, 2], 15)[:, None] * rng.standard_normal(2) + 1e-3 * rng.standard_normal((30, 2))
    products, exact = Products(z, z, np.sum(z**2, axis=1), 1e-15 * np.sum(z**2, axis=1)), whole(z)
    for i in range(30):
        D = [sum((a - b) ** 2 for a, b in zip(exact[i], other, strict=True)) for other in exact]
        for limit in np.nextafter([float(one) for one in D], np.inf).tolist():
            nearer = {k for k in range(30) if D[k] < Fraction(limit)}
            assert nearer <= set(products.below(np.array([i]), np.array([limit]))[1].tolist())


@pytest.mark.parametrize("many", [1, 100])
@pytest.mark.parametrize("limit", [np.inf, 1e308])
def test_a_distance_that_overflows_is_below_a_limit_that_overflows(
    limit: float, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is known of such a pair. Here the limit of point 0 overflows when its error is added."""
    monkeypatch.setattr(rounding, "MANY_POINTS", many)
    z = np.array([[1e154], [-1e154], [-0.9e154]])
    length = z[:, 0] ** 2
    found = Products(z, z, length, 0.3 * length).below(np.array([0]), np.array([limit]))
    assert found[1].tolist() == [0, 1, 2]


def test_the_rounding_of_a_limit_loses_no_pair() -> None:
    """The distance is exactly 1, without an error. The limit is the next float, and the lengths are far larger."""
    z = np.array([[2.0**26], [2.0**26 + 1]])
    products = Products(z, z, z[:, 0] ** 2, np.zeros(2))
    for i in (0, 1):
        found = products.below(np.array([i]), np.array([np.nextafter(1.0, 2.0)]))
        assert found[1].tolist() == [0, 1]


@SEEDS
def test_sums_of_squares_and_their_least_eigenvalue(seed: int) -> None:
    rng = np.random.default_rng(seed)
    L, w = rng.standard_normal((50, 2)), rng.standard_normal(50) * 10.0 ** rng.integers(-3, 4, 50)
    S, error = squares_of(Images(L, np.zeros(50)), w)
    rows, weight = whole(L), [Fraction(value) for value in w.tolist()]
    exact = [
        [sum(v * row[a] * row[b] for v, row in zip(weight, rows, strict=True)) for b in range(2)]
        for a in range(2)
    ]
    assert (
        sum((exact[a][b] - Fraction(float(S[a, b]))) ** 2 for a in range(2) for b in range(2))
        <= Fraction(error) ** 2
    )
    least = least_eigenvalue(S)
    p, q, r = (Fraction(float(value)) for value in (S[0, 0], S[1, 1], S[0, 1]))
    p, q = p - Fraction(least), q - Fraction(least)
    assert min(p, q) >= 0
    assert p * q >= r * r
    assert least >= np.linalg.eigvalsh(S)[0] - 1e-12 * np.linalg.norm(S)


@pytest.mark.quick(1)
@SEEDS
def test_few_directions_of_many_features_lose_no_more_digits_than_of_few(seed: int) -> None:
    rng = np.random.default_rng(seed)
    L, X = rng.standard_normal((2, 150)), np.vstack([np.zeros(150), rng.choice([-1.0, 1.0], (3, 150))])
    A = L.T @ L
    sight, entries, exact = seen(X, A), whole(A), whole(X)
    near = sight.from_points(np.arange(1))
    for k in range(1, 4):
        e = exact[k]
        D = sum(entries[a][b] * e[a] * e[b] for a in range(150) for b in range(150))
        assert abs(Fraction(float(near.D[0, k])) - D) <= Fraction(float(near.error[0, k]))
    # (d + 4) eps of the trace would be 150 eps and more, and its root has two columns
    assert sight.root.shape == (150, 2)
    assert sight.miss <= 40 * EPS * np.sum(sight.root**2 / sight.unit[:, None] ** 2)


def test_a_matrix_that_is_psd_but_for_rounding_is_seen_as_it_is_too() -> None:
    """Along (1, -1) it is -2^-46, and what sees it is psd: either may be meant."""
    X = np.array([[0.0, 0.0], [1.0, -1.0], [3.0, 1.0]])
    sight = seen(X, np.array([[1.0, 1 + 2.0**-47], [1 + 2.0**-47, 1.0]]))
    for D, error in (sight.of(X[[0]] - X[[1]]), (part[0, [1]] for part in sight.from_points(np.array([0])))):
        assert D[0] - error[0] <= -(2.0**-46)
        assert D[0] + error[0] >= 0


def test_what_images_are_off_by_is_in_all_that_is_made_of_them() -> None:
    assert squares_of(Images(np.ones((1, 1)), np.array([1e-3])), np.ones(1))[1] >= 2e-3
    assert _squared(np.ones(1), np.array([1e-3]), 1)[0] >= 2e-3
    z, none = np.array([[1.0], [0.0]]), np.zeros((2, 1))
    for error in ([0.0, 1e-3], [1e-3, 0.0], [1e-3, 1e-3]):
        sight = Seen(np.eye(1), np.ones(1), 0.0, Images(z, np.array(error)), none)
        assert sight.reach().sum() >= (1 + sum(error)) ** 2 - 1


@pytest.mark.parametrize("seed", range(8))
def test_products_of_images_lose_digits_and_say_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((6, 2)) * 10.0 ** -rng.integers(0, 8) + 1e3
    sight = Seen(np.eye(2), np.ones(2), 0.0, Images(z, np.full(6, 1e-290)), np.zeros((6, 2)))
    D, error = SeenBy(z, sight).from_points(np.arange(6))
    for i in range(6):
        for j in range(6):
            exact = sum(
                (Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z[i].tolist(), z[j].tolist(), strict=True)
            )
            assert abs(exact - Fraction(float(D[i, j]))) <= Fraction(float(error[i, j]))


def test_the_second_half_of_the_digits_is_rounded_too() -> None:
    """Where it cancels the first, that is all there is."""
    rng = np.random.default_rng(0)
    for _ in range(400):
        high = np.array([[1.0], [1.0 + 2.0**-52]])
        low = rng.random((2, 1)) * 2.0 ** -np.array([[54.0], [53.0]]) * [[1.0], [-1.0]]
        low[0] = 2.0**-52 + low[1] * (1 + rng.standard_normal() * 2.0**-20)
        z, error = Points(high, low, np.zeros(2)).apart(np.array([0]), np.array([1]))
        (a, b), (c, d) = high.ravel().tolist(), low.ravel().tolist()
        exact = Fraction(a) + Fraction(c) - Fraction(b) - Fraction(d)
        assert abs(exact - Fraction(float(z[0, 0]))) <= Fraction(float(error[0]))


@SEEDS
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_sums_over_pairs_by_points_are_those_of_fractions(seed: int, far: float) -> None:
    """Pairs given twice and both ways, weights of either sign, points far from the origin: all within the room."""
    rng = np.random.default_rng(seed)
    high = far + rng.standard_normal((9, 3)) * 10.0 ** rng.integers(-2, 3, 3)
    images = Points(high, high * 2.0**-54 * rng.uniform(-1, 1, high.shape), np.full(9, 1e-12))
    pairs = rng.integers(0, 9, (60, 2))
    pairs = np.concatenate([pairs, pairs[:5], pairs[5:10, ::-1]])
    w = rng.standard_normal(70) * 10.0 ** rng.integers(-3, 4, 70)
    S, error = _by_points(images, pairs, w)
    # one of the points that these may be, at the end of what they may be off by
    moved = [[(-1) ** (i + a) * Fraction(1, 2 * 10**12) for a in range(3)] for i in range(9)]
    z = [
        [Fraction(h) + Fraction(low) + m for h, low, m in zip(*rows, strict=True)]
        for rows in zip(high.tolist(), images.low.tolist(), moved, strict=True)
    ]
    missed = Fraction(0)
    for a in range(3):
        for b in range(3):
            exact = sum(
                Fraction(v) * (z[i][a] - z[j][a]) * (z[i][b] - z[j][b])
                for v, (i, j) in zip(w.tolist(), pairs.tolist(), strict=True)
            )
            missed += (exact - Fraction(float(S[a, b]))) ** 2
    assert missed <= Fraction(error) ** 2
    apart = np.sum(np.abs(w) * (np.linalg.norm(high, axis=1) ** 2)[pairs].sum(axis=1))
    assert error <= 1e-13 * apart + 1e-10 * np.sqrt(apart * np.abs(w).sum())


def test_two_points_that_are_off_on_both_ends_are_within_the_room() -> None:
    """Both factors of a sum are off, each by as much: neither share of the room is to spare."""
    away = 1e-3
    images = Points(np.array([[1.0], [-1.0]]), np.zeros((2, 1)), np.full(2, away))
    S, error = _by_points(images, np.array([[0, 1]]), np.ones(1))
    assert S[0, 0] == 4.0
    assert (2 + 2 * away) ** 2 - 4 <= error <= 1.01 * ((2 + 2 * away) ** 2 - 4)


def test_sums_over_many_pairs_in_many_directions_are_those_by_blocks() -> None:
    rng = np.random.default_rng(0)
    images = points(rng.standard_normal((40, 110)), rng.standard_normal((110, 105)))
    pairs, w = rng.integers(0, 40, (900, 2)), rng.standard_normal(900)
    found, error = squares_of_pairs(images, pairs, w)
    z, away = images.apart(*pairs.T)
    direct, beside = squares_of(Images(z, away), w)
    np.testing.assert_array_equal(found, _by_points(images, pairs, w)[0])
    assert 0 < np.linalg.norm(found - direct) <= error + beside


@SEEDS
def test_distances_between_images_to_twice_the_digits_are_those_of_the_metric(seed: int) -> None:
    X, T = nearly_flat(seed)
    A = T @ T.T
    sight, entries, exact = seen(X, A), whole(A), whole(X)
    i, k = np.divmod(np.arange(49), 7)
    D, error = sight.between(points(X, sight.root), i, k)
    for t in range(49):
        e = [a - b for a, b in zip(exact[i[t]], exact[k[t]], strict=True)]
        true = sum(entries[a][b] * e[a] * e[b] for a in range(2) for b in range(2))
        assert abs(Fraction(float(D[t])) - true) <= Fraction(float(error[t]))


@pytest.mark.slow
def test_wide_points_are_seen_as_narrow_ones_are() -> None:
    """A metric of rank 5 in 120 features: roots that only rounding made are left out, and are counted."""
    rng = np.random.default_rng(1)
    X, L = rng.standard_normal((30, 120)), rng.standard_normal((120, 5))
    sight = seen(X, L @ L.T)
    assert sight.root.shape == (120, 5)
    view, index = SeenBy(X, sight), rng.integers(0, 30, (50, 2))
    D, error = view.pairs(index)
    direct = sight.of(X[index[:, 0]] - X[index[:, 1]])
    assert (np.abs(D - direct.D) <= error + direct.error).all()
    assert (error <= 1e-10 * D.max()).all()
    for (i, k), d, o in zip(index[:12].tolist(), D, error, strict=False):
        e = [Fraction(a) - Fraction(b) for a, b in zip(X[i].tolist(), X[k].tolist(), strict=True)]
        A = whole(L @ L.T)
        image = [sum(x * y for x, y in zip(row, e, strict=True)) for row in A]
        assert abs(sum(x * y for x, y in zip(e, image, strict=True)) - Fraction(float(d))) <= Fraction(
            float(o)
        )


@SEEDS
def test_sums_by_halves_are_right_to_twice_the_digits(seed: int) -> None:
    """Of rows whose sum is nothing beside their entries; against sums of fractions."""
    rng = np.random.default_rng(seed)
    for n in (0, 1, 2, 3, 7, 64, 177, 1000):
        terms = rng.standard_normal((3, n)) * 10.0 ** rng.integers(-8, 9, (3, n))
        terms = np.concatenate([terms, -terms * (1 + 1e-12)], axis=1)[:, rng.permutation(2 * n)]
        for row, found in zip(terms, doubled(terms), strict=True):
            exact, size = (
                sum(map(Fraction, row.tolist()), Fraction(0)),
                sum(map(Fraction, np.abs(row).tolist())),
            )
            allowed = Fraction(EPS) / 2 * abs(exact) + (2 * n + 16) * 16 * Fraction(EPS) ** 2 * size
            assert abs(Fraction(float(found)) - exact) <= allowed
            assert float(found) == doubled(row)


def test_a_sum_of_squares_does_not_depend_on_its_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, pairs, w = rng.standard_normal((40, 3)), np.argwhere(np.triu(np.ones((40, 40)), 1)), rng.random(780)
    at = points(X, np.eye(3))
    whole_of, error = squares_of_pairs(at, pairs, w)
    monkeypatch.setattr(rounding, "CACHED", 0)
    S, moved = squares_of_pairs(at, pairs, w)
    assert np.abs(S - whole_of).max() <= error + moved < 1e-8
    slow = sum(a * np.outer(X[i] - X[j], X[i] - X[j]) for (i, j), a in zip(pairs, w, strict=True))
    assert np.abs(S - slow).max() <= moved


@SEEDS
def test_products_and_their_rounding_errors_are_exact_together(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(20) * 10.0 ** rng.integers(-60, 60, 20) for _ in range(2))
    p, e = two_product(a, b)
    for factors, product, error in zip(zip(a, b, strict=True), p, e, strict=True):
        assert Fraction(float(factors[0])) * Fraction(float(factors[1])) == Fraction(
            float(product)
        ) + Fraction(float(error))


@SEEDS
def test_squares_of_differences_keep_twice_the_digits(seed: int) -> None:
    X, T = nearly_flat(seed)
    exact, t = whole(X), whole(T)
    w = np.random.default_rng(seed).standard_normal(7)
    for i in range(7):
        own = points(X, T).squares_apart(i, np.arange(7))
        for terms, factors in ((own, np.ones(7)), (own.times(w[:, None]), w)):
            for k in range(7):
                e = [a - b for a, b in zip(exact[i], exact[k], strict=True)]
                for c in range(2):
                    square = Fraction(float(factors[k])) * sum(e[a] * t[a][c] for a in range(2)) ** 2
                    near = Fraction(float(terms.high[k, c])) + Fraction(float(terms.low[k, c]))
                    assert abs(near - square) <= Fraction(float(terms.error[k, c]))
                    size = float(np.sum((np.abs(X[i]) + np.abs(X[k])) @ np.abs(T)))
                    assert terms.error[k, c] <= 1e-28 * (1 + abs(factors[k])) * size**2


@SEEDS
def test_entries_of_differences_have_an_error_of_their_own_size(seed: int) -> None:
    X, T = nearly_flat(seed)
    T = T * [1.0, 1e-9]  # a column that is far smaller
    exact, t = whole(X), whole(T)
    z, error = points(X, T).entries_apart(0, np.arange(1, 7))
    for k in range(6):
        e = [a - b for a, b in zip(exact[0], exact[k + 1], strict=True)]
        for c in range(2):
            missed = sum(e[a] * t[a][c] for a in range(2)) - Fraction(float(z[k, c]))
            assert abs(missed) <= Fraction(float(error[k, c]))
            assert error[k, c] <= 1e-15 * abs(z[k, c]) + 1e-24 * np.abs(T).max()


@pytest.mark.parametrize("size", [1e-170, 1.0, 1e170])
def test_lengths_neither_underflow_nor_overflow(size: float) -> None:
    A = size * np.array([[3.0, 4.0], [0.0, 0.0], [0.0, -2.0]])
    assert lengths(A) == pytest.approx(size * np.array([5.0, 0.0, 2.0]), rel=1e-12, abs=0)


def test_the_errors_of_tiny_images_are_counted() -> None:
    """The squares of the errors underflow."""
    X, T = np.array([[0.1e-70], [0.7e-70], [0.3e-70]]), np.array([[1 / 3 * 1e-70]])
    z, error = points(X, T).entries_apart(0, np.array([1, 2]))
    for k, one in enumerate((1, 2)):
        exact = (Fraction(float(X[0, 0])) - Fraction(float(X[one, 0]))) * Fraction(float(T[0, 0]))
        assert abs(Fraction(float(z[k, 0])) - exact) <= Fraction(float(error[k, 0]))
    assert (points(X, T).error > 1e-200).all()


def test_a_square_of_a_difference_in_the_low_parts_only_is_within_its_error() -> None:
    own = Points(np.ones((2, 1)), np.array([[2.0**-60], [0.0]]), np.zeros(2))
    square = own.squares_apart(np.array([0]), np.array([1]))
    found = Fraction(float(square.high[0, 0])) + Fraction(float(square.low[0, 0]))
    assert abs(found - Fraction(2) ** -120) <= Fraction(float(square.error[0, 0]))
