"""The certificate over rankings: against enumeration; no prices prove more than the optimum; where 0 is optimal."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import permutations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cvxml.core.metric import FloatArray
from cvxml.core.queries import Queried, queried
from cvxml.core.ranking import MEASURES
from cvxml.core.result import Dual
from cvxml.family.rows.base import Duals
from cvxml.methods.mlr.ranking_margins import Ranked, _Iterate
from cvxml.methods.mlr.ranking_rows import Rankings, read
from tests.instances import fractions
from tests.methods.mlr.test_interleaving import cost, loss

EVERY = pytest.mark.parametrize("measure", MEASURES)
K, C = 2, 6.0


@lru_cache
def asked() -> Queried:
    X = np.array([[0.0, 0.0], [1.0, 0.3], [0.2, 1.1], [3.0, 1.0], [2.5, 2.4]])
    return queried(X, None, [[1, 2], [0], [0, 1, 3], [], [3]])


def outer(q: int, i: int) -> FloatArray:
    E = asked().X[q] - asked().X[i]
    return np.outer(E, E)


def every_row() -> list[tuple[int, list[int], tuple[int, ...]]]:
    return [
        (q, plus, y)
        for q in asked().queries.tolist()
        for plus, minus in [asked().sides(q)]
        for y in permutations([*plus, *minus])
    ]


def V(q: int, plus: list[int], y: tuple[int, ...]) -> Any:
    """psi* - psi, pair by pair."""
    return np.zeros((2, 2)) + cost([outer(q, i) for i in range(5)], plus, y)


@lru_cache
def optimum(measure: str) -> float:
    n, rows = len(asked().queries), every_row()
    M, xi = cp.Variable((2, 2), PSD=True), cp.Variable(5, nonneg=True)
    kept = [xi[q] >= loss(measure, K, plus, y) - cp.trace(M @ V(q, plus, y)) for q, plus, y in rows]
    used = cp.sum(xi[asked().queries])
    return float(cp.Problem(cp.Minimize(cp.trace(M) + C / n * used), kept).solve(cp.CLARABEL))


def objective(measure: str, M: FloatArray) -> float:
    worst = dict.fromkeys(asked().queries.tolist(), 0.0)
    for q, plus, y in every_row():
        worst[q] = max(worst[q], loss(measure, K, plus, y) - float(np.sum(M * V(q, plus, y))))
    return float(np.trace(M)) + C * float(np.mean(list(worst.values())))


def priced(duals: FloatArray) -> Dual:
    return {"price": duals, "rankings": np.array([[q, *y] for q, _, y in every_row()])}


def candidates(count: int) -> list[FloatArray]:
    """Too large, of one row, with wrong signs, and nothing."""
    rng = np.random.default_rng(0)
    found = [np.zeros(count), np.full(count, 1e30), np.full(count, -1.0), np.full(count, C / count)]
    found += [np.where(rng.random(count) < 0.1, size * rng.random(count), 0) for size in (0.1, 1.0, 9.0)]
    return [*found, rng.standard_normal(count), *(100.0 * np.eye(count)[rng.integers(0, count, 3)])]


@pytest.mark.quick(1)
@EVERY
def test_no_prices_prove_more_than_the_optimum(measure: str) -> None:
    """In floats and exactly; what is returned is feasible, and worth what it says."""
    of, rows, n = Ranked(asked(), measure, K, C), every_row(), len(asked().queries)
    rng, best = np.random.default_rng(1), optimum(measure)
    for duals in candidates(len(rows)):
        root = rng.standard_normal((2, 2))
        M = root @ root.T
        proof = of.certify(M, priced(duals))
        assert proof.lower_bound <= best + 1e-6 * best
        assert proof.objective == pytest.approx(objective(measure, M), rel=1e-12)
        exact = of.exact(M, priced(duals), root)
        assert exact.lower_bound <= Fraction(best * (1 + 1e-6))
        assert float(exact.objective) == pytest.approx(proof.objective, rel=1e-10)
        a, index = proof.dual["price"], proof.dual["rankings"]
        assert (a >= 0).all()
        Z, worth = np.eye(2), 0.0
        for price, (q, *y) in zip(a, index.tolist(), strict=True):
            plus = asked().sides(q)[0]
            Z -= price * V(q, plus, tuple(y))
            worth += price * loss(measure, K, plus, tuple(y))
        for q in asked().queries.tolist():
            assert sum(a[index[:, 0] == q]) <= C / n * (1 + 1e-12)
        assert np.linalg.eigvalsh(Z)[0] >= -1e-9
        assert proof.lower_bound == pytest.approx(worth, abs=1e-9 * best)


@EVERY
def test_the_worst_ranking_is_listed(measure: str) -> None:
    """The objective is that of all rankings, whichever few have a price."""
    of, M = Ranked(asked(), measure, K, C), np.diag([0.7, 0.1])
    nothing: Dual = {"price": np.zeros(0), "rankings": np.zeros((0, 5), dtype=int)}
    best = {q: y for q, _, y in every_row()}
    few: Dual = {"price": np.ones(len(best)), "rankings": np.array([[q, *y] for q, y in best.items()])}
    for dual in (nothing, few):
        proof = of.certify(M, dual)
        assert proof.objective == pytest.approx(objective(measure, M), rel=1e-12)
        assert proof.gap + proof.rounding >= proof.objective - optimum(measure) * (1 + 1e-6)


def test_a_row_is_off_by_what_its_distances_are() -> None:
    root = np.random.default_rng(0).standard_normal((2, 2))
    of, M = Ranked(asked(), "auc", K, C), root @ root.T
    M = (M + M.T) / 2
    mu, rows = read(of.all_of, priced(np.zeros(len(every_row()))))
    (block,) = rows.blocks(of.trace.judge(M).view, Duals(mu, np.arange(len(mu))))
    x, exact = fractions(asked().X), fractions(M)
    for v, error, (q, plus, y) in zip(block.v.tolist(), block.error.tolist(), every_row(), strict=True):
        D = [(x[q] - other) @ exact @ (x[q] - other) for other in x]
        assert abs(Fraction(v) - cost(D, plus, y)) <= Fraction(error)


def test_a_ranking_that_only_rounding_makes_no_worst_one_is_counted() -> None:
    """A swap wins where D_2 - D_1 is below 1/2, and both are 1e8: of no swap, which is listed, nothing is rounded."""
    nothing: Dual = {"price": np.zeros(0), "rankings": np.zeros((0, 3), dtype=int)}
    M, rng = np.diag([0.75, 0.25]), np.random.default_rng(0)
    missed = []
    for _ in range(40):
        near = rng.uniform(5e3, 1e4, 2)
        X = np.array([[0.0, 0.0], near, near * np.sqrt(1 + 0.5 / (near @ M @ near))])
        proof = Ranked(queried(X, None, [[1], [], []]), "auc", 1, 1.0).certify(M, nothing)
        D_1, D_2 = (
            sum(Fraction(m) * Fraction(v) ** 2 for m, v in zip(np.diag(M).tolist(), x, strict=True))
            for x in X[1:].tolist()
        )
        missed += [max(Fraction(0), 1 - 2 * (D_2 - D_1)) + 1 - Fraction(proof.objective)]
        assert abs(missed[-1]) <= Fraction(proof.value_rounding)
    assert max(missed) > 1e-9


@pytest.mark.quick(3)
@EVERY
def test_0_is_optimal_as_long_as_the_least_feasible_prices_say_so(measure: str) -> None:
    """Against cvxpy: the largest C at which prices of rows of the largest loss, C/n a query, leave Z psd."""
    rows = every_row()
    queries, n = asked().queries.tolist(), len(asked().queries)
    top = {q: max(loss(measure, K, plus, y) for p, plus, y in rows if p == q) for q in queries}
    used = [row for row in rows if loss(measure, K, *row[1:]) > top[row[0]] - 1e-9]
    share, size = cp.Variable(len(used), nonneg=True), cp.Variable()
    G = sum(a * V(*row) for a, row in zip(share, used, strict=True))
    sums = [sum(a for a, row in zip(share, used, strict=True) if row[0] == q) == 1 / n for q in queries]
    cp.Problem(cp.Minimize(size), [size * np.eye(2) - (G + G.T) / 2 >> 0, *sums]).solve(cp.CLARABEL)
    limit = 1 / float(size.value)
    nothing: Dual = {"price": np.zeros(0), "rankings": np.zeros((0, 5), dtype=int)}
    for share_of, optimal in ((0.99, True), (1.01, False)):
        of = Ranked(asked(), measure, K, share_of * limit)
        found = of.search(1e-8, 60, None, None)
        zero = of.certify(np.zeros((2, 2)), found.dual)
        assert (zero.gap == 0 == zero.rounding) == optimal
        assert found.metric.any() != optimal
        if optimal and measure in ("auc", "map", "mrr"):  # all rows of the largest loss are alike
            assert of.zero_up_to(nothing) == pytest.approx(limit, rel=1e-6)


@EVERY
def test_the_value_of_0(measure: str) -> None:
    """By which the search knows that 0 is better."""
    of = Ranked(asked(), measure, K, C)
    at = _Iterate(of, None)
    assert at.at_zero / at.scale**2 == pytest.approx(objective(measure, np.zeros((2, 2))), rel=1e-12)


def test_prices_that_do_not_prove_that_0_is_optimal() -> None:
    """Too small ones, rows of a smaller loss, and a weight at which Z leaves the cone; the right ones do."""
    nothing: Dual = {"price": np.zeros(0), "rankings": np.zeros((0, 5), dtype=int)}
    limit = Ranked(asked(), "auc", K, 1.0).zero_up_to(nothing)
    below, above = (Ranked(asked(), "auc", K, share * limit) for share in (0.99, 1.01))
    rows, duals = below._at_zero(nothing)
    assert below._is_optimal(rows, duals)
    assert not below._is_optimal(rows, duals._replace(a=duals.a / 2))
    other = Rankings(rows.all_of, rows.place, rows.order[:, ::-1])
    assert not other.all_swapped.any()
    assert not below._is_optimal(other, duals)
    assert not above._is_optimal(*above._at_zero(nothing))


def test_exact_bounds_have_losses_that_are_no_more_than_they_are() -> None:
    """Of NDCG, whose logarithms are enclosed."""
    of = Ranked(asked(), "ndcg", K, C)
    _, rows = read(of.all_of, priced(np.zeros(len(every_row()))))
    (term,) = of.exact_family(rows).terms
    high = rows.exact_loss(up=True)
    assert all(own <= most for own, most in zip(term.loss.b, high, strict=True))
    assert any(own < most for own, most in zip(term.loss.b, high, strict=True))
