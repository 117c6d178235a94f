"""The fast inference of gerrymandering against two slow twins: enumeration and an integer program."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pytest

from cvxml.methods.ssvm import algorithms, enumeration
from cvxml.methods.ssvm.inference import (
    Nearest,
    fewest_votes,
    loss_augmented,
    nearest,
    sets_of,
    table,
    targeted,
    task_loss,
)
from tests.methods.ssvm import integer

Case = tuple[np.ndarray, np.ndarray, int, int]


def drawn(seed: int, largest: int = 26) -> Case:
    """X, y, R, k: R = 2..8, k = 1..9; every other one on a coarse grid, where distances tie; some classes too small."""
    rng = np.random.default_rng(seed)
    R, k = int(rng.integers(2, 9)), int(rng.integers(1, 10))
    n = int(rng.integers(max(k + 2, R), max(largest, k + 3)))
    y = np.concatenate([np.arange(R), rng.integers(0, R, n - R)])
    X = rng.integers(0, 3, (n, 2)).astype(float) if seed % 2 else rng.standard_normal((n, 2))
    return X, y, R, k


def one(near: Nearest, i: int) -> Nearest:
    return Nearest(near.D[i : i + 1], near.J[i : i + 1])


def same(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 1e-12 * (1 + abs(a))


@pytest.mark.slow
@pytest.mark.parametrize("tau", [0, 1])
def test_targeted_is_the_cheapest_set_by_vote_counts(tau: int) -> None:
    """A thousand (point, class) pairs, feasible or not; the set that is returned is in H_r and has that cost."""
    infeasible = 0
    for seed in range(16):
        X, y, R, k = drawn(seed)
        near = nearest(X, y, R, np.eye(2), k)
        found = table(near.D, tau)
        for i, r in itertools.product(range(0, len(y), 3), range(R)):
            D = enumeration.distances(X, np.eye(2), i)
            slow = enumeration.targeted(D, y, i, k, r, tau, enumeration.nearest_sets)
            if slow is None:
                infeasible += 1
                assert found.cost[i, r] == np.inf
                continue
            assert same(found.cost[i, r], slow[1])
            h = sets_of(one(near, i), np.array([r]), found.votes[i : i + 1, r], tau)[0]
            assert i not in h
            assert enumeration.in_H(enumeration.votes(y, tuple(h), R), r, tau)
            assert same(float(D[h].sum()), slow[1])
    assert infeasible > 0


@pytest.mark.parametrize("seed", range(15))
def test_both_inferences_agree_with_all_sets_and_with_the_integer_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, y, R, k = drawn(seed, largest=12)
    k = min(k, 5)
    Lam = rng.uniform(0.1, 2, (R, R)) * (1 - np.eye(R))
    near = nearest(X, y, R, np.eye(2), k)
    worst = loss_augmented(near, y, Lam)
    i, tau, r = int(rng.integers(len(y))), int(rng.integers(2)), int(rng.integers(R))
    D = enumeration.distances(X, np.eye(2), i)
    fast = table(near.D, tau).cost[i, r]
    for slow in (enumeration.targeted(D, y, i, k, r, tau), integer.targeted(D, y, i, k, r, tau)):
        assert same(fast, np.inf if slow is None else slow[1])
    for _, value in (enumeration.loss_augmented(D, y, i, k, Lam), integer.loss_augmented(D, y, i, k, Lam)):
        assert same(worst.value[i], value)
    h = worst.sets[i]
    assert same(task_loss(y[h], y[i], Lam) - D[h].sum(), worst.value[i])


@pytest.mark.parametrize("seed", range(5))
def test_task_loss_is_pessimistic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    R, k = int(rng.integers(2, 6)), int(rng.integers(1, 7))
    Lam = rng.uniform(0.1, 2, (R, R)) * (1 - np.eye(R))
    labels, own = rng.integers(0, R, (30, k)), rng.integers(0, R, 30)
    expected = [
        enumeration.task_loss([int((row == c).sum()) for c in range(R)], int(o), Lam)
        for row, o in zip(labels, own, strict=True)
    ]
    np.testing.assert_array_equal(task_loss(labels, own, Lam), expected)


def algorithm2(D: np.ndarray, y: np.ndarray, i: int, k: int, r: int, tau: int) -> float:
    """The paper's one-pass greedy, as printed: its cost, infinite where it runs out of points."""
    R = int(y.max()) + 1
    h: list[int] = []
    for step in range(k):
        count = enumeration.votes(y, tuple(h), R)
        first = step < math.ceil((k + tau * (R - 1)) / R)
        allowed = [
            j
            for j in range(len(y))
            if j != i and j not in h and (y[j] == r or (not first and count[y[j]] < count[r] - tau))
        ]
        if not allowed:
            return math.inf
        h.append(min(allowed, key=lambda j: (D[j], j)))
    return math.fsum(D[h])


@pytest.mark.parametrize("tau", [0, 1])
def test_the_greedy_is_algorithm_2_of_the_paper(tau: int) -> None:
    """Where no two distances tie; of tied points the greedy may take either."""
    for seed in range(0, 60, 2):
        X, y, R, k = drawn(seed, largest=12)
        cost = algorithms.table(nearest(X, y, R, np.eye(2), k).D, tau)[0]
        for i, r in itertools.product(range(0, len(y), 3), range(R)):
            D = enumeration.distances(X, np.eye(2), i)
            assert same(cost[i, r], algorithm2(D, y, i, k, r, tau)), (seed, i, r)


def test_the_example_that_the_greedy_gets_wrong() -> None:
    """k = 5, tau = 1; target 0 at 1, 1, 1.1, 1.2; class 1 at .1, .1, .1; 2 at 1.05; 3 at 1.06: 4.21 against 3.30."""
    inf = np.inf
    D = np.array(
        [
            [
                [1, 1, 1.1, 1.2, inf],
                [0.1, 0.1, 0.1, inf, inf],
                [1.05, inf, inf, inf, inf],
                [1.06, inf, inf, inf, inf],
            ]
        ]
    )
    assert table(D, 1).cost[0, 0] == pytest.approx(3.30)
    assert algorithms.table(D, 1)[0][0, 0] == pytest.approx(4.21)


@pytest.mark.parametrize("tau", [0, 1])
def test_the_greedy_is_never_better_and_fails_only_where_it_can(tau: int) -> None:
    wrong, right_where_it_may_fail = 0, 0
    for seed in range(100):
        X, y, R, k = drawn(seed)
        near = nearest(X, y, R, np.eye(2), k)
        exact, (cost, _) = table(near.D, tau).cost, algorithms.table(near.D, tau)
        assert (np.isfinite(exact) == np.isfinite(cost)).all()
        finite = np.isfinite(exact)
        assert (cost[finite] >= exact[finite] * (1 - 1e-12)).all()
        fails = int((cost[finite] > exact[finite] * (1 + 1e-9)).sum())
        if R >= 3 and k >= 2 * fewest_votes(k, R, tau) + 2 - tau:
            wrong += fails
            right_where_it_may_fail += int(finite.sum()) - fails
        else:
            assert fails == 0
    assert wrong > 50
    assert right_where_it_may_fail > 50


@pytest.mark.parametrize("seed", range(5))
def test_the_sets_of_the_greedy_are_what_it_counts(seed: int) -> None:
    X, y, R, k = drawn(2 * seed)
    near = nearest(X, y, R, np.eye(2), k)
    enough = np.isfinite(algorithms.table(near.D, 1)[0][np.arange(len(y)), y])
    rows = np.flatnonzero(enough)
    chosen = algorithms.targeted(Nearest(near.D[rows], near.J[rows]), y[rows])
    for i, h, cost in zip(rows, chosen.sets, chosen.value, strict=True):
        assert len(set(h.tolist())) == k
        assert i not in h
        assert same(float(enumeration.distances(X, np.eye(2), i)[h].sum()), cost)


@pytest.mark.parametrize("seed", range(6))
def test_nearest_of_each_class_is_a_sort(seed: int) -> None:
    """In any metric, singular ones too; ties to the lower index where distances are exact."""
    rng = np.random.default_rng(seed)
    n, d, R, k = 40, 3, 4, 5
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = np.concatenate([np.arange(R), rng.choice(R, n - R, p=[0.6, 0.3, 0.07, 0.03])])
    root = np.diag([1.0, 2.0, 0.0]) if seed % 2 else rng.standard_normal((d, d))
    W = root.T @ root
    rows = rng.permutation(n)[:7] if seed % 3 else None
    near = nearest(X, y, R, W, k, rows)
    for place, i in enumerate(range(n) if rows is None else rows):
        D = enumeration.distances(X, W, int(i))
        for c in range(R):
            others = [j for j in np.flatnonzero(y == c) if j != i]
            expected = np.sort(D[others])[:k]
            found = near.D[place, c]
            np.testing.assert_allclose(found[: len(expected)], expected, rtol=1e-9, atol=1e-12)
            assert (found[len(expected) :] == np.inf).all()
            assert (near.J[place, c, len(expected) :] == -1).all()
            chosen = near.J[place, c, : len(expected)]
            assert set(chosen.tolist()) <= set(map(int, others))
            np.testing.assert_allclose(D[chosen], expected, rtol=1e-9, atol=1e-12)


def test_blocks_of_points_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), np.arange(50) % 3
    whole = nearest(X, y, 3, np.eye(4), 4)
    monkeypatch.setattr(sys.modules[nearest.__module__], "BLOCK", 60)
    parts = nearest(X, y, 3, np.eye(4), 4)
    np.testing.assert_array_equal(whole.J, parts.J)
    np.testing.assert_allclose(whole.D, parts.D, rtol=1e-13)


def test_an_infeasible_target_is_named() -> None:
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 0, 0, 1])
    near = nearest(X, y, 2, np.eye(1), 3)
    with pytest.raises(ValueError, match="of point 0 lets class 1 win"):
        targeted(near, np.array([1, 0, 0, 0, 0]))
