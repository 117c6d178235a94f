"""Log sum exp of each point: the loss, its prices mixed with strict ones, and MCML as a member of the family."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.datasets import load_wine

from cvxml.core.balls import ends, precision
from cvxml.family.losses.log_sum_exp import LogSumExp
from cvxml.family.regularizers.base import SeenBy, Surplus
from cvxml.family.rows import by_point
from cvxml.family.rows.base import Block, Duals
from cvxml.family.rows.by_point import ByPoint
from cvxml.family.theorem import strict_prices
from cvxml.family.theorem.exact import interval
from cvxml.family.theorem.strict_prices import Anchor, _mixed, least_share
from cvxml.family.theorem.theorem import certify, prove
from cvxml.methods.mcml import METHOD, Instance, family, instance, objective, weights
from cvxml.methods.mcml.softmax import Softmaxes
from cvxml.numbers import rational, rounding
from cvxml.numbers.vocabulary import exact

EPS = float(np.finfo(float).eps)


def loss_of(rng, g: int = 4, n: int = 6) -> LogSumExp:
    """Groups of several sizes and weights."""
    among = rng.random((g, n)) < 0.7
    among[:, 0] = True
    return LogSumExp(rng.uniform(0.2, 5, g), among)


def block_of(loss: LogSumExp, rng, size: float, error: float = 0.0) -> Block:
    v = size * rng.exponential(size=loss.among.shape)
    a = loss.to_domain(rng.exponential(size=v.shape).ravel() ** 8).reshape(v.shape)
    return Block(v, error * v, a)


def naive(loss: LogSumExp, v) -> float:
    each = [logsumexp(-row[counts]) for row, counts in zip(v, loss.among, strict=True)]
    return float(loss.c @ each)


def exact_parts(loss: LogSumExp, v: list[Fraction], a) -> tuple[Fraction, Fraction]:
    """Value and excess of v and of the simplex's prices that a are but for rounding, right to many digits."""
    a = [Fraction(price) for price in a.ravel().tolist()]
    n = loss.among.shape[1]
    for g, c in enumerate(loss.c):
        row = a[g * n : g * n + n]
        a[g * n : g * n + n] = [price * Fraction(c) / sum(row) for price in row]
    with precision(2000):
        value = loss.value(exact(v))
        excess = ends(value - loss.conjugate(exact(a)))[1]
        value = ends(value)[1]
    return value, excess + sum(price * one for price, one in zip(a, v, strict=True))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1e-12, 1e-3, 1.0, 50.0, 1e4])
def test_the_bound_holds_and_the_excess_is_what_it_leaves(seed, size):
    rng = np.random.default_rng(seed)
    loss = loss_of(rng)
    block = block_of(loss, rng, size)
    part, k = loss.part(block), loss.bound(block.a.ravel())
    value = naive(loss, block.v)
    left = value - k.value + float(np.sum(block.a * block.v))
    assert part.value.value == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert part.excess.value >= 0
    assert part.excess.value == pytest.approx(left, rel=1e-9, abs=1e-12 * (1 + abs(value)))


@pytest.mark.parametrize("seed", range(5))
def test_of_its_own_prices_nothing_is_left(seed):
    rng = np.random.default_rng(seed)
    loss = loss_of(rng)
    block = block_of(loss, rng, 3.0)
    own = loss.to_domain(loss.slopes(block).ravel()).reshape(block.v.shape)
    part = loss.part(block._replace(a=own))
    assert part.excess.value < 1e-29
    assert part.excess.error < 1e-26  # with no error of v it is far below eps


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("size", "error"),
    [(1.0, 0.0), (1.0, 1e-12), (1.0, 1e-3), (40.0, 1e-9), (800.0, 0.1), (1e5, 1e-15), (3.0, 2.0)],
)
def test_rounding_covers_every_v_that_there_may_be(seed, size, error):
    rng = np.random.default_rng(seed)
    loss = loss_of(rng)
    block = block_of(loss, rng, size, error)
    if seed % 2:  # next to its own prices
        block = block._replace(a=loss.to_domain(loss.slopes(block).ravel()).reshape(block.v.shape))
    part = loss.part(block)
    share = rng.choice([-1.0, 1.0], size=block.v.shape)
    v = [
        Fraction(one) + Fraction(s) * Fraction(e)
        for one, s, e in zip(block.v.ravel(), share.ravel(), block.error.ravel(), strict=True)
    ]
    value, excess = exact_parts(loss, v, block.a)
    assert abs(value - Fraction(part.value.value)) <= Fraction(part.value.error)
    assert abs(excess - Fraction(part.excess.value)) <= Fraction(part.excess.error)


@pytest.mark.parametrize("seed", range(5))
def test_the_conjugate_is_right_within_its_rounding(seed):
    rng = np.random.default_rng(seed)
    loss = loss_of(rng, 5, 30)
    a = block_of(loss, rng, 1.0).a
    k = loss.bound(a.ravel())
    zero = [Fraction(0)] * a.size
    value, excess = exact_parts(loss, zero, a)
    assert abs(value - excess - Fraction(k.value)) <= Fraction(k.error)
    assert k.error < 1e-12


def test_any_numbers_name_prices_of_the_simplex():
    loss = LogSumExp(np.array([1.0, 3.0, 1 / 3, 2.0]), np.arange(5) != np.array([[0], [1], [2], [4]]))
    a = np.array(
        [
            [9, np.nan, np.inf, 1, -4],
            [0, 5, 0, -1, -np.inf],
            [1e300, 1e300, 0, 1e300, 1e-300],
            [-np.inf, -np.inf, -np.inf, 1e-320, 7],
        ]
    )
    found = loss.to_domain(a.ravel()).reshape(4, 5)
    assert found[0].tolist() == [0, 0, 1, pytest.approx(1e-300), 0]
    assert found[1].tolist() == [1, 0, 1, 1, 0]
    assert found[3].tolist() == [0, 0, 0, 2, 0]
    for row, c in zip(found, loss.c, strict=True):
        assert abs(sum(map(Fraction, row)) - Fraction(c)) <= 2 * EPS * c


def test_a_group_that_may_have_no_price_has_no_bound():
    loss = LogSumExp(np.ones(2), np.ones((2, 2), dtype=bool))
    a = loss.to_domain(np.array([-np.inf, -np.inf, 1.0, 1.0]))
    assert a.tolist() == [0, 0, 0.5, 0.5]
    assert loss.bound(a).value == -math.inf


def test_exact_prices_are_on_the_simplex():
    rng = np.random.default_rng(0)
    loss = loss_of(rng)
    a = block_of(loss, rng, 1.0).a.ravel()
    exact = LogSumExp(np.array([Fraction(c) for c in loss.c], dtype=object), loss.among)
    found = exact.exact_duals([Fraction(price) for price in a])
    for g, c in enumerate(exact.c):
        assert sum(found[6 * g : 6 * g + 6]) == c
    assert all(price >= 0 for price in found)
    assert np.abs(np.array(found, dtype=float) - a).max() <= 1e-14


# rows, by point


def test_the_rows_are_the_distances_of_points(monkeypatch):
    rng = np.random.default_rng(0)
    X, points = rng.standard_normal((7, 3)), np.array([0, 2, 6])
    own, a = ByPoint(points, 7), rng.random((3, 7))
    given = own.duals(a)
    M = np.diag([1.0, 2.0, 0.5])
    D = np.array([[(x - z) @ M @ (x - z) for z in X] for x in X])
    monkeypatch.setattr(by_point, "BLOCK", 14)  # two groups at a time
    blocks = list(own.blocks(SeenBy(X, rounding.seen(X, M)), given))
    assert [block.groups for block in blocks] == [slice(0, 2), slice(2, 4)]
    assert np.concatenate([block.v for block in blocks]) == pytest.approx(D[points], abs=1e-12)
    assert np.concatenate([block.a for block in blocks]).tolist() == a.tolist()
    listed = own.weights(given)
    each = zip(listed.pairs, listed.w, strict=True)
    G = sum(one * np.outer(X[i] - X[k], X[i] - X[k]) for (i, k), one in each)
    assert float(np.sum(G * M)) == pytest.approx(float(np.sum(a * D[points])))
    assert list(own.exactly([list(range(10 * i, 10 * i + 7)) for i in range(7)]))[7:14] == list(range(20, 27))


def test_sums_of_squares_in_blocks(monkeypatch):
    rng = np.random.default_rng(0)
    X, w = rng.standard_normal((9, 3)), rng.standard_normal(36)
    pairs, images = np.argwhere(np.triu(np.ones((9, 9)), 1)), rounding.points(X, np.eye(3))
    whole, _ = rounding.squares_of_pairs(images, pairs, w)
    monkeypatch.setattr(rounding, "BLOCK", 15)
    S, error = rounding.squares_of_pairs(images, pairs, w)
    exact = sum(one * np.outer(X[i] - X[k], X[i] - X[k]) for (i, k), one in zip(pairs, w, strict=True))
    assert np.linalg.norm(S - exact) <= error < 1e-12
    assert np.linalg.norm(S - whole) <= error


# mixing


def test_a_mixture_is_as_large_as_it_may_be_and_proved():
    Z0, Z = np.diag([1.0, 1.0]), np.diag([2.0, -3.0])
    assert least_share(Z0, Z) == pytest.approx(0.75)
    key = np.arange(2)
    own = Anchor(Duals(np.array([1.0, 0.0]), key), Surplus(Z, 1e-9))
    anchor = Anchor(Duals(np.array([0.0, 1.0]), key), Surplus(Z0, 1e-9))
    mixed = _mixed(anchor, own)
    assert mixed is not None
    t = float(mixed.a[0])
    assert 0.25 - 1e-8 < t < 0.25 - 2e-10  # less by what the matrices may be off by
    assert _mixed(anchor._replace(surplus=Surplus(Z0, 2.0)), own) is None


def noisy(q, size: float, seed: int = 0):
    rng = np.random.default_rng(seed)
    return {"q": np.abs(q * (1 + size * rng.standard_normal(q.shape)))}


def test_noise_in_the_prices_costs_no_more_than_the_noise():
    X, y = load_wine(return_X_y=True)
    given = instance(X, y)
    solution = METHOD.solve(given, tol=1e-10)
    assert solution.certificate.proves(1e-10)
    for seed in range(4):
        dual = noisy(solution.dual["q"], 1e-9, seed)
        new = METHOD.certify(given, solution.metric, dual)
        assert new.proves(1e-8)
        again = METHOD.certify(given, solution.metric, new.dual)  # what comes out is feasible
        assert again.lower_bound == pytest.approx(new.lower_bound, abs=1e-9)


def test_mixed_prices_are_feasible_in_exact_arithmetic():
    rng = np.random.default_rng(3)
    given = instance(rng.standard_normal((15, 3)), np.arange(15) % 3)
    own, found = weights(given.y, Fraction), METHOD.member(given)
    for seed in range(5):
        wild = METHOD.read(given, {"q": np.random.default_rng(seed).random((15, 15)) ** 4})
        kept = prove(found, wild).duals[0]
        assert kept.a.max() < 1  # no trivial ones
        exact = METHOD.member(given, Fraction)
        (loss, by_point), plane = exact.terms[0], rational.plane(given.X)
        a = np.array(loss.exact_duals([Fraction(price) for price in kept.a]), dtype=object)
        G = by_point.weights(Duals(a, kept.key))
        assert exact.regularizer.exact_bound(plane, G) == 0
        twice = G._replace(w=2 * G.w)
        assert exact.regularizer.exact_bound(plane, twice) is None
    assert [sum(row) for row in own.w] == [1] * 15


# MCML


def problem(kind: str, seed: int) -> Instance:
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((14, 3)), np.arange(14) % 3
    if kind == "alone":
        y = np.append(np.arange(13) % 3, 7)
    elif kind == "scales":
        X = X * np.array([1e-6, 1.0, 1e5])
    elif kind == "collinear":
        X = np.column_stack([np.round(X * 16) / 16, np.round(X * 16) @ [1, -2, 3] / 16])
    elif kind == "twins":
        X[1:7] = X[0]
    elif kind == "apart":
        X = np.column_stack([X, y])
    return instance(X, y)


KINDS = ("plain", "alone", "scales", "collinear", "twins", "apart")


def trivial_bound(given: Instance) -> float:
    return sum(math.log(m - 1) for m in np.bincount(given.y)[given.y] if m > 1)


def metrics(given: Instance, rng):
    d = given.X.shape[1]
    size = np.maximum(np.ptp(given.X, axis=0), 1e-300)
    for scale in (0.0, 0.01, 1.0, 30.0):
        L = rng.standard_normal((d, d)) / size
        yield scale * L.T @ L


def some_duals(n: int, rng):
    yield {"q": np.zeros((n, n))}
    yield {"q": rng.random((n, n))}
    yield {"q": rng.standard_normal((n, n)) ** 3, "interior": rng.random((n, n))}
    yield {"q": np.eye(n)}


@pytest.mark.quick(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_no_bound_is_above_any_value_and_none_below_the_trivial_one(kind, seed):
    rng = np.random.default_rng(seed)
    given = problem(kind, seed)
    n, trivial = len(given.X), trivial_bound(given)
    for dual in some_duals(n, rng):
        for A in metrics(given, rng):
            new = METHOD.certify(given, A, dual)
            value = objective(given.X, given.y, A)
            assert new.objective == pytest.approx(value, rel=1e-10, abs=1e-10)
            assert new.lower_bound <= value + new.value_rounding
            assert new.gap == pytest.approx(new.objective - new.lower_bound, abs=1e-9 * (1 + abs(value)))
            assert new.lower_bound >= trivial * (1 - 1e-13)
            assert new.dual["q"].sum(axis=1) == pytest.approx(weights(given.y).c)


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", KINDS)
def test_exact_arithmetic_agrees(kind):
    rng = np.random.default_rng(0)
    given = problem(kind, 1)
    for A in metrics(given, rng):
        for dual in some_duals(len(given.X), rng):
            new, sure = METHOD.certify(given, A, dual), METHOD.exact(given, A, dual)
            assert sure.lower_bound >= Fraction(new.lower_bound) - Fraction(new.value_rounding)
            assert sure.objective <= Fraction(new.objective) + Fraction(new.value_rounding)
            assert sure.gap <= Fraction(new.gap) + Fraction(new.rounding)
            assert sure.gap >= 0


def test_the_exact_bound_of_what_is_not_feasible():
    given = problem("plain", 0)
    solution, n, trivial = METHOD.solve(given), len(given.X), trivial_bound(given)
    near = solution.dual["q"] + 1e-6 * np.eye(n, k=5)
    (own,), found, exact = (
        METHOD.read(given, {"q": near}),
        METHOD.member(given),
        METHOD.member(given, Fraction),
    )
    loss, inner = found.terms[0].loss, found.anchors.strict
    own = own._replace(a=loss.to_domain(own.a))
    alone = interval(exact, solution.metric, [own])
    assert float(alone.lower_bound) == pytest.approx(trivial, rel=1e-15)
    assert inner is not None
    mixed = interval(exact, solution.metric, [own], strict=inner.duals)
    assert 0 <= mixed.gap < 1e-2 * alone.gap


def test_what_is_across_the_classes_has_no_price_and_the_rest_has_a_better_bound():
    given = problem("apart", 0)
    dual = {"q": np.ones((14, 14))}
    A = np.zeros((4, 4))
    new = METHOD.certify(given, A, dual)
    assert not new.dual["q"][given.y[:, None] != given.y].any()
    assert new.lower_bound == pytest.approx(trivial_bound(given))  # all that is left are the trivial ones

    X = np.column_stack([given.X, given.y == 0])  # two classes are one coset
    wider = Instance(X[:, [0, 1, 2, 4]], given.y)
    new = METHOD.certify(wider, A, dual)
    assert not new.dual["q"][(wider.y == 0)[:, None] != (wider.y == 0)].any()
    assert new.lower_bound > trivial_bound(wider) + 1
    far = np.diag([0.0, 0.0, 0.0, 1e6])  # the infimum over what shows the coset apart
    for M in metrics(wider, np.random.default_rng(0)):
        assert new.lower_bound <= objective(wider.X, wider.y, M + far) + 1e-9


def test_where_no_prices_are_feasible_nothing_is_proved():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((8, 2)) + 100 * np.arange(8)[:, None] // 4, np.arange(8) // 4
    of = weights(y)
    impostors = Softmaxes(of.w, of.c, y[:, None] != y)
    found = family(X, impostors)
    new, _ = certify(found, np.eye(2), [found.terms[0].rows.duals(np.ones((8, 8)))])
    assert found.anchors.level is None
    assert math.isfinite(new.objective)
    assert new.lower_bound == -math.inf
    assert new.gap == math.inf
    assert not new.proves(1e-3)


def test_directions_that_double_precision_does_not_see_leave_the_trivial_bound():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    X = np.column_stack([X, X[:, 0] * (1 + 2.0**-50 * rng.integers(0, 4, 12))])
    y = np.arange(12) % 2
    given = instance(X, y)
    new = METHOD.certify(given, np.zeros((3, 3)), {"q": np.ones((12, 12))})
    assert new.undecided
    assert new.lower_bound == pytest.approx(12 * math.log(5))


@pytest.mark.parametrize("seed", range(6))
def test_of_any_weights_no_bound_is_above_any_value(seed):
    rng = np.random.default_rng(seed)
    X, n = rng.standard_normal((10, 2)), 10
    among = (rng.random((n, n)) < 0.7) | np.eye(n, k=1, dtype=bool)
    c = rng.uniform(0.1, 3, n)
    w = rng.exponential(size=(n, n)) * (rng.random((n, n)) < 0.5)
    found = family(X, Softmaxes(w, c, among))
    assert found.anchors.level is None
    loss, by_point = found.terms[0]
    new = prove(found, [by_point.duals(rng.random((n, n)))])
    assert math.isfinite(new.bound.value)
    for scale in (0.0, 0.03, 0.3, 1.0, 10.0):
        L = rng.standard_normal((2, 2))
        M = scale * L.T @ L
        D = np.array([[(x - z) @ M @ (x - z) for z in X] for x in X])
        assert new.bound.value <= float(np.sum(w * D)) + naive(loss, D) + 1e-12


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_of_diagonal_metrics_no_bound_is_above_any_value(seed, flat):
    """A feature in which no class differs, if there is one, is as long as it likes: nothing is priced across it."""
    rng = np.random.default_rng(seed)
    y = np.arange(12) % 2
    X = rng.standard_normal((12, 3)) @ (np.eye(3) + 1.0)
    X[:, 2] = y if flat else X[:, 2]
    of = weights(y)
    found, free = family(X, of, diagonal=True), family(X, of)
    loss, by_point = found.terms[0]
    given = by_point.duals(rng.random((12, 12)))
    new = prove(found, [given])
    assert math.isfinite(new.bound.value)
    table = by_point.table(new.duals[0])
    assert not (flat and table[y[:, None] != y].any())
    D = (X[:, None] - X) ** 2
    left = np.einsum("ij,ijk->k", of.w - table, D)
    assert left.min() >= -1e-12
    if (
        not flat
    ):  # less is asked of prices than of those for any metric; flat, all that is left are the trivial ones
        assert new.bound.value > prove(free, [given]).bound.value + 1e-3
    exact = family(X, weights(y, Fraction), diagonal=True)
    a = np.array(loss.exact_duals([Fraction(price) for price in new.duals[0].a]), dtype=object)
    G = by_point.weights(Duals(a, new.duals[0].key))
    # C - G of the trivial ones is 0 but for their last bits
    assert flat or exact.regularizer.exact_bound(rational.plane(X), G) == 0
    assert exact.regularizer.exact_bound(rational.plane(X), G._replace(w=3 * G.w)) is None
    for scale in (0.0, 0.03, 1.0, 30.0):
        m = scale * rng.random(3) + np.array([0, 0, 1e6 * flat])
        certificate, _ = certify(found, np.diag(m), [given])
        value = objective(X, y, np.diag(m))
        assert certificate.objective == pytest.approx(value, rel=1e-10)
        assert new.bound.value <= value + certificate.value_rounding
        assert certificate.gap == pytest.approx(value - new.bound.value, rel=1e-9, abs=1e-9)


def test_a_mixture_is_looked_at_again(monkeypatch):
    """Whatever is taken for the largest share: what rounding may have moved is not passed over."""
    none = np.zeros(1, dtype=np.intp)
    inner = Anchor(Duals(np.zeros(1), none), Surplus(np.eye(2), 0.01))
    own = Anchor(Duals(np.ones(1), none), Surplus(-np.eye(2), 0.3))
    for share, kept in ((0.2, True), (0.45, False), (0.6, False)):
        monkeypatch.setattr(strict_prices, "least_share", lambda *_, share=share: 1 - share)
        found = _mixed(inner, own)
        assert found is not None
        assert found.a[0] == pytest.approx(share if kept else 0.0)
