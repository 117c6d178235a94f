"""The worst ranking of a query: the dynamic programme against all rankings, without rounding too, and at ties."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.core.queries import Queried, queried
from cvxml.core.ranking import MEASURES, earned, earned_exactly
from cvxml.family.rows.base import Duals, Plain
from cvxml.methods.mlr.interleaving import Interleavings
from cvxml.methods.mlr.ranking_rows import Rankings, distances, named, read

N = 6
EVERY = pytest.mark.parametrize("measure", MEASURES)


def drawn(seed: int, ties: bool = False) -> Queried:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (N, 2)).astype(float) if ties else rng.standard_normal((N, 2))
    lists = [
        sorted(rng.choice(np.delete(np.arange(N), i), rng.integers(0, N), False).tolist()) for i in range(N)
    ]
    lists[0] = [1, 2]
    return queried(X, None, lists)


def loss(measure: str, k: int, plus: list[int], y: tuple[int, ...]) -> float:
    """From the definition, as scikit-learn and textbooks have them."""
    flags = [i in plus for i in y]
    P, M = sum(flags), len(flags) - sum(flags)
    ranks = [r for r, own in enumerate(flags, start=1) if own]
    if measure == "auc":
        return 1 - sum(sum(not other for other in flags[r:]) for r in ranks) / (P * M)
    if measure == "precision":
        return 1 - sum(flags[: min(k, P, M)]) / min(k, P, M)
    if measure == "map":
        return 1 - float(np.mean([sum(flags[:r]) / r for r in ranks]))
    if measure == "mrr":
        return 1 - 1 / min(ranks)
    gains = [1.0, *(1 / np.log2(r) for r in range(2, min(k, P) + 1))]
    return 1 - sum(gain for gain, own in zip(gains, flags, strict=False) if own) / sum(gains)


def cost(D: Any, plus: list[int], y: tuple[int, ...]) -> Any:
    """2/(P N) sum of D_j - D_i over the pairs i, j that y has the other way round."""
    place = {i: r for r, i in enumerate(y)}
    pairs = [(i, j) for i in plus for j in y if j not in plus]
    return 2 * sum(D[j] - D[i] for i, j in pairs if place[j] < place[i]) / len(pairs)


def table(X: FloatArray) -> FloatArray:
    return np.sum((X[:, None] - X) ** 2, axis=2)


@EVERY
@pytest.mark.parametrize("k", [1, 2, 9])
@pytest.mark.parametrize(("seed", "ties"), [(0, False), (1, False), (2, True)])
def test_against_all_permutations(measure: str, k: int, seed: int, ties: bool) -> None:
    asked = drawn(seed, ties)
    all_of, D = Interleavings(asked, measure, k), 0.2 * table(asked.X)
    found = all_of.worst(D[asked.queries])
    rows = Rankings(all_of, np.arange(len(asked.queries)), found.order)
    for at, q in enumerate(asked.queries.tolist()):
        plus, minus = asked.sides(q)
        every = [loss(measure, k, plus, y) - cost(D[q], plus, y) for y in permutations([*plus, *minus])]
        assert found.value[at] == pytest.approx(max(every), abs=1e-12)
        own = tuple(found.order[at].tolist())
        assert sorted(own) == sorted([*plus, *minus])
        assert rows.loss[at] == pytest.approx(loss(measure, k, plus, own), abs=1e-12)
        assert rows.unit[at] * rows.swaps[at] @ D[q] == pytest.approx(cost(D[q], plus, own), abs=1e-12)
        assert found.error[at] < 1e-12


@EVERY
def test_without_rounding(measure: str) -> None:
    asked, k = drawn(3), 2
    whole = np.round(64 * table(asked.X)).astype(int)
    all_of = Interleavings(asked, measure, k)
    exact = list(all_of.exactly(whole.tolist(), Fraction(1, 320)))
    assert [float(value) for value in exact] == pytest.approx(
        all_of.worst(whole[asked.queries] / 320).value.tolist(), abs=1e-12
    )


@pytest.mark.parametrize("measure", ["auc", "precision", "map", "mrr"])  # of NDCG the losses are no fractions
@pytest.mark.parametrize("ties", [False, True])
def test_in_fractions_against_all_permutations(measure: str, ties: bool) -> None:
    asked, k = drawn(7, ties), 2
    whole, unit = np.round(64 * table(asked.X)).astype(int).astype(object), Fraction(1, 320)
    found = Interleavings(asked, measure, k).exactly(whole.tolist(), unit)
    for q, value in zip(asked.queries.tolist(), found, strict=True):
        plus, minus = asked.sides(q)
        D = [unit * int(of) for of in whole[q]]
        every = []
        for y in permutations([*plus, *minus]):
            exact = Fraction(loss(measure, k, plus, y)).limit_denominator(1000)
            every.append(exact - Fraction(cost(D, plus, y)))
        assert value == max(every)


def test_of_ndcg_the_largest_value_is_no_less_than_it_is() -> None:
    """At distances at which some relevant point comes late; logarithms in 120 digits."""
    asked, k = drawn(3), 3
    whole = np.round(16 * table(asked.X)).astype(int).tolist()
    with localcontext() as context:
        context.prec = 120
        for q, value in zip(
            asked.queries.tolist(),
            Interleavings(asked, "ndcg", k).exactly(whole, Fraction(1, 320)),
            strict=True,
        ):
            plus, minus = asked.sides(q)
            gains = [Decimal(2).ln() / Decimal(max(r, 2)).ln() for r in range(1, min(k, len(plus)) + 1)]
            most = Decimal(-1)
            for y in permutations([*plus, *minus]):
                earned = sum((gain for gain, i in zip(gains, y, strict=False) if i in plus), Decimal(0))
                paid = Fraction(2, len(plus) * len(minus) * 320) * sum(
                    whole[q][j] - whole[q][i]
                    for t, j in enumerate(y)
                    for i in y[t:]
                    if j in minus and i in plus
                )
                lost = Decimal(paid.numerator) / paid.denominator
                most = max(most, 1 - earned / sum(gains, Decimal(0)) - lost)
            assert Decimal(value.numerator) / value.denominator >= most - Decimal("1e-110")


@EVERY
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e9])
def test_what_another_ranking_may_be_worse_by(measure: str, size: float) -> None:
    """At distances that are within `error` of those given the exact largest value is within what is said; not above."""
    asked, k, rng = drawn(8), 2, np.random.default_rng(8)
    all_of, n = Interleavings(asked, measure, k), len(asked.X)
    D = size * table(asked.X) * (1 + 1e-4 * rng.random((n, n)))
    for share in (0.0, 1e-8, 1e-2):
        error = share * D
        found = all_of.worst(D[asked.queries], error[asked.queries])
        sides = [np.ones((n, n)), -np.ones((n, n)), rng.uniform(-1, 1, (n, n))]
        sides.append(np.where(asked.relevant, 1.0, -1.0))  # what makes swaps cheap
        sides.append(-sides[-1])
        for side in sides:
            moved = [
                [int((Fraction(d) + Fraction(o) * int(s)) * 2**200) for d, o, s in zip(*rows, strict=True)]
                for rows in zip(D, error, np.sign(side), strict=True)
            ]
            exact = all_of.exactly(moved, Fraction(1, 2**200))
            for value, said, at in zip(exact, found.value.tolist(), found.error.tolist(), strict=True):
                assert abs(value - Fraction(said)) <= Fraction(at)


@EVERY
@pytest.mark.parametrize(("P", "M", "k"), [(1, 1, 1), (3, 4, 2), (4, 2, 3), (5, 3, 20)])
def test_what_is_earned_in_fractions(measure: str, P: int, M: int, k: int) -> None:
    low, high = (np.array(earned_exactly(measure, k, P, M, up)) for up in (False, True))
    own = earned(measure, k, P, M)
    assert own.shape == low.shape == (P, M + 1)
    np.testing.assert_allclose(own, low.astype(float), atol=1e-15)
    assert (low <= high).all()
    assert ((high - low) < Fraction(1, 2**200)).all()
    assert (np.diff(own, axis=1) <= 0).all()
    assert own.sum(axis=0)[0] == pytest.approx(1)
    assert (low == high).all() or measure == "ndcg"


def test_many_queries_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    asked = queried(rng.standard_normal((30, 2)), rng.integers(0, 2, 30), None)
    D = table(asked.X)
    whole = Interleavings(asked, "map", 3)
    assert len(whole.alike) == 2  # as many as sizes of classes
    monkeypatch.setattr("cvxml.methods.mlr.interleaving.BLOCK", 1000)
    parts = Interleavings(asked, "map", 3)
    assert len(parts.alike) > 2
    np.testing.assert_array_equal(parts.worst(D).order, whole.worst(D).order)


@EVERY
def test_rows_that_no_ranking_is_worse_than(measure: str) -> None:
    """`all_swapped` is the largest loss there is, by enumeration, and no other."""
    asked, k = drawn(4), 2
    all_of = Interleavings(asked, measure, k)
    for place, q in enumerate(asked.queries.tolist()):
        plus, minus = asked.sides(q)
        every = list(permutations([*plus, *minus]))
        losses = np.array([loss(measure, k, plus, y) for y in every])
        rows = Rankings(all_of, np.full(len(every), place), np.array(every))
        np.testing.assert_array_equal(rows.all_swapped, losses > losses.max() - 1e-9)
        np.testing.assert_allclose(rows.loss, losses, atol=1e-12)
        for up in (False, True):
            np.testing.assert_allclose(np.array(rows.exact_loss(up), dtype=float), losses, atol=1e-12)


def test_weights_and_exact_values_of_rows() -> None:
    """sum a V from the pairs, against sums over swapped pairs; in fractions the same."""
    asked, rng = drawn(5), np.random.default_rng(5)
    all_of = Interleavings(asked, "auc", 3)
    place = rng.integers(0, len(asked.queries), 8)
    order = np.array([rng.permutation(np.delete(np.arange(N), q)) for q in asked.queries[place]])
    rows, a = Rankings(all_of, place, order), rng.random(8)
    D = table(asked.X)
    v = [
        cost(D[q], asked.sides(q)[0], tuple(y))
        for q, y in zip(rows.query.tolist(), order.tolist(), strict=True)
    ]
    (block,) = rows.blocks(Plain(asked.X), Duals(a, np.arange(8)))
    np.testing.assert_allclose(block.v, v, atol=1e-12)
    np.testing.assert_array_equal(block.a, a)
    G = rows.weights(Duals(a, np.arange(8)))
    assert G.w @ D[tuple(G.pairs.T)] == pytest.approx(a @ v)
    exact = rows.weights(Duals(np.array([Fraction(x) for x in a]), np.arange(8)))
    np.testing.assert_array_equal(exact.pairs, G.pairs)
    np.testing.assert_allclose(exact.w.astype(float), G.w, rtol=1e-15)
    whole = np.round(64 * D).astype(int)
    scaled = [
        cost(whole[q], asked.sides(q)[0], tuple(y))
        for q, y in zip(rows.query.tolist(), order.tolist(), strict=True)
    ]
    assert [float(value) for value in rows.exactly(whole.tolist())] == pytest.approx(scaled)
    dual = named(rows, Duals(a, np.arange(8)))
    mu, again = read(all_of, dual)
    np.testing.assert_array_equal(mu, a)
    np.testing.assert_array_equal(again.swaps, rows.swaps)


def test_distances_are_those_of_the_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = drawn(6)
    monkeypatch.setattr("cvxml.methods.mlr.ranking_rows.PAIRS", 7)
    D, error = distances(Plain(asked.X), Interleavings(asked, "auc", 3))
    np.testing.assert_allclose(D, table(asked.X)[asked.queries], atol=1e-12)
    assert not error.any()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"price": [np.nan]}, "NaN"),
        ({"rankings": [[0, 1, 2, 3, 4, 4]]}, "once"),
        ({"rankings": [[0, 1, 2, 3, 4]]}, "shape"),
        ({"rankings": [[5, 0, 1, 2, 3, 4]]}, "not a query"),
    ],
)
def test_what_is_no_dual(change: dict[str, Any], says: str) -> None:
    asked = queried(np.random.default_rng(0).standard_normal((N, 2)), None, [[1], [0], [0], [0], [0], []])
    all_of = Interleavings(asked, "auc", 3)
    good = {"price": [1.0], "rankings": [[0, 1, 2, 3, 4, 5]]}
    assert len(read(all_of, good)[0]) == 1  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=says):
        read(all_of, {**good, **change})
