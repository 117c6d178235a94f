"""Several metrics in blocks: against the one metric of frobenius.py, rationals, and the solver with one block."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.linalg import block_diag

from cvxml.core.metric import FloatArray
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.straight import Straight
from cvxml.family.regularizers.frobenius import Frobenius
from cvxml.family.rows.base import Duals, Weights
from cvxml.family.rows.pairs import PairRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.exact import interval
from cvxml.family.theorem.theorem import Family, Term, certify, prove, value
from cvxml.methods.plml.blocks import Blocks, Listed, examine_blocks
from cvxml.numbers.rational import plane
from cvxml.solvers.box_dual import BoxDual, Boxed
from tests.instances import fractions, random_data

SEEDS = pytest.mark.parametrize("seed", range(6))


def instance(seed: int, n: int = 9, d: int = 3, m: int = 3) -> tuple[FloatArray, FloatArray, float]:
    """Points, shares that are 0 for some, and lam; features of very different size, and a far origin."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d) + 100.0 * (seed % 2)
    W = rng.dirichlet(np.ones(m), n) * (rng.random((n, m)) < 0.7)
    W[:, 0] += 1 - W.sum(axis=1)
    return X, W, float(10.0 ** rng.integers(-2, 3))


def metric(X: FloatArray, m: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((m, X.shape[1], X.shape[1])) / X.std(axis=0)[:, None]
    M: FloatArray = block_diag(*(root @ root.T for root in roots))
    return M


def weights(X: FloatArray, seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, len(X), (20, 2))
    return Weights(pairs, rng.standard_normal(20))


def true_distance(X: Any, W: Any, M: Any, i: int, j: int) -> Any:
    """sum_b W_ib (x_i - x_j)^T M_b (x_i - x_j), as fractions if all are."""
    d, e = X.shape[1], X[i] - X[j]
    return sum(W[i, b] * (e @ M[b * d : (b + 1) * d, b * d : (b + 1) * d] @ e) for b in range(W.shape[1]))


@SEEDS
def test_distances_are_within_what_they_may_be_off_by_and_exact_ones_are_exact(seed: int) -> None:
    X, W, lam = instance(seed)
    M = metric(X, 3, seed)
    regularizer = Blocks(X, W, lam)
    every = np.array([(i, j) for i in range(9) for j in range(9)])
    D, error = regularizer.judge(M).view.pairs(every)
    exact = regularizer.exact_distances(plane(X), regularizer.exact_metric(M, np.linalg.cholesky(M)))
    own = np.linalg.cholesky(M)
    rooted = fractions(own) @ fractions(own).T
    plain = regularizer.exact_distances(plane(X), regularizer.exact_metric(M, None))
    for (i, j), found, moved in zip(every.tolist(), D, error, strict=True):
        true = true_distance(fractions(X), fractions(W), fractions(M), i, j)
        assert plain.D[i][j] * plain.unit == pytest.approx(float(true), rel=1e-9)
        assert abs(Fraction(found) - true) <= Fraction(moved)
        assert exact.D[i][j] * exact.unit == true_distance(fractions(X), fractions(W), rooted, i, j)
    assert error.max() <= 1e-12 * D.max()


def test_what_is_lost_beside_a_large_block_is_counted() -> None:
    """Each of 63 distances is less than half of the last digit of their sum."""
    X, W = np.array([[0.0], [1.0]]), np.ones((2, 64))
    M = np.diag([1.0, *[2.0**-54] * 63])
    D, error = Blocks(X, W, 1.0).judge(M).view.pairs(np.array([[0, 1]]))
    assert abs(Fraction(D[0]) - sum(map(Fraction, np.diag(M).tolist()))) <= Fraction(error[0])


def test_what_equal_blocks_are_off_by_adds_up() -> None:
    X, M = np.array([[0.0], [1.0]]), 0.7 * np.eye(64)
    for lam in (0.1, 0.3, 0.7, 1.1):
        of = Blocks(X, np.ones((2, 64)), lam)
        found = of.value(of.judge(M).view)
        true = Fraction(lam) / 2 * 64 * Fraction(0.7) ** 2
        assert abs(Fraction(found.value) - true) <= Fraction(found.error) <= true / 10**12


def test_what_the_metrics_that_are_reached_are_off_by_adds_up() -> None:
    X, w, m = np.array([[0.0], [0.7]]), 0.9, 400
    for lam in (0.1, 0.3, 0.7, 1.1):
        found, error = Blocks(X, np.full((2, m), 0.3), lam).reached(
            Weights(np.array([[0, 1]]), np.array([w]))
        )
        true = Fraction(w) * Fraction(0.3) * Fraction(0.7) ** 2 / Fraction(lam)
        away = sum((Fraction(own) - true) ** 2 for own in np.diag(found).tolist())
        assert away <= Fraction(error) ** 2


def test_a_triplet_is_off_by_what_either_of_its_pairs_is() -> None:
    """By the far pair alone, where the near one is a point twice."""
    for seed in range(6):
        X, W, lam = instance(seed)
        X[1] = X[0]
        M = metric(X, 3, seed)
        rows, view = Listed(np.array([[0, 1]]), np.arange(9)[None] > 1), Blocks(X, W, lam).judge(M).view
        (block,) = rows.blocks(view, Duals(np.zeros(0), rows.keys()[:0]))
        far = [true_distance(fractions(X), fractions(W), fractions(M), 0, k) for k in range(2, 9)]
        for v, error, true in zip(block.v.tolist(), block.error.tolist(), far, strict=True):
            assert abs(Fraction(v) - true) <= Fraction(error)


def test_how_far_blocks_are_from_a_matrix_counts_what_is_beside_them() -> None:
    X, W, lam = instance(0)
    beside = np.zeros((9, 9))
    beside[0, 4] = beside[4, 0] = 1.0
    found = Blocks(X, W, lam).exact_metric(metric(X, 3, 0) + beside, None)
    assert Fraction(found.distance) ** 2 >= 2


@SEEDS
def test_the_sums_are_those_of_the_blocks_in_rationals(seed: int) -> None:
    """R - <M, G> - r(G) is no less than 0, and what double precision has is within its rounding."""
    X, W, lam = instance(seed)
    M, G = metric(X, 3, seed), weights(X, seed)
    regularizer, exact = Blocks(X, W, lam), Blocks(X, W, Fraction(lam))
    look = regularizer.judge(M)
    squares = exact.exact_metric(M, np.linalg.cholesky(M))
    D = exact.exact_distances(plane(X), squares)
    own = exact.exact_value(squares, D)
    found = regularizer.value(look.view)
    assert abs(Fraction(found.value) - own) <= Fraction(found.error) + Fraction(1e-12) * own
    bound = exact.exact_bound(plane(X), Weights(G.pairs, fractions(G.w)))
    r = regularizer.bound(G)
    assert bound <= 0
    assert abs(Fraction(r.value) - bound) <= Fraction(r.error) - bound * Fraction(1e-9)
    excess = own - D.total(G.pairs, fractions(G.w).tolist()) - bound
    assert excess >= 0
    part = regularizer.excess(look.view, G)
    assert abs(Fraction(part.value) - excess) <= Fraction(part.error) + Fraction(1e-9) * (own - bound)


@SEEDS
def test_one_block_is_the_norm_of_one_metric(seed: int) -> None:
    X, _, lam = instance(seed)
    one, blocks = Frobenius(X, lam), Blocks(X, np.ones((9, 1)), lam)
    M, G = metric(X, 1, seed), weights(X, seed)
    assert blocks.bound(G).value == one.bound(G).value
    assert one.bound(G).error <= blocks.bound(G).error <= 1.1 * one.bound(G).error
    np.testing.assert_allclose(one.reached(G)[0], blocks.reached(G)[0], rtol=1e-12)
    assert one.judge(M).feasibility.feasible
    assert blocks.judge(M).feasibility.feasible
    assert one.excess(one.judge(M).view, G).value == pytest.approx(
        blocks.excess(blocks.judge(M).view, G).value
    )


@SEEDS
def test_the_metric_reached_leaves_nothing_and_any_other_its_distance(seed: int) -> None:
    X, W, lam = instance(seed)
    X = X / X.std(axis=0)
    regularizer, G = Blocks(X, W, lam), weights(X, seed)
    best, _ = regularizer.reached(G)
    size = lam * float(np.sum(best**2)) + 1e-300
    assert regularizer.excess(regularizer.judge(best).view, G).value <= 1e-12 * size
    away = best + metric(X, 3, seed)
    excess = regularizer.excess(regularizer.judge(away).view, G)
    assert np.linalg.norm(away - best) <= regularizer.radius(excess.value + excess.error)


def test_a_block_that_is_no_number_makes_none_of_all() -> None:
    X, W, lam = instance(0)
    M = metric(X, 3, 0)
    M[4, 4] = 1e308
    with np.errstate(all="ignore"):
        assert not Frobenius(X, lam).judge(M[3:6, 3:6]).finite
        assert not Blocks(X, W, lam).judge(M).finite


def test_what_is_no_matrix_of_psd_blocks_is_said_to_be_none() -> None:
    X, _, _ = instance(0)
    X = X / X.std(axis=0)
    M = metric(X, 3, 0)
    psd, fine = examine_blocks(M, X, 3)
    assert fine.feasible
    np.testing.assert_array_equal(block_diag(*psd), M)
    beside = M.copy()
    beside[0, 4] = beside[4, 0] = 0.01 * np.linalg.norm(M)
    found = examine_blocks(beside, X, 3)[1]
    assert not found.feasible
    assert "blocks" in str(found)
    assert found.distance >= 0.01 * np.linalg.norm(M)
    not_psd = M - 2 * np.linalg.norm(M) * np.diag(np.arange(9) == 4)
    assert not examine_blocks(not_psd, X, 3)[1].feasible
    # the noise of a metric that no point has any share of counts beside the norm of all
    faint = block_diag(M[:3, :3], 1e-9 * np.linalg.norm(M) * np.diag([1.0, -1.0, 0.0]))
    assert examine_blocks(faint, X, 2)[1].feasible


def member(seed: int, alpha2: float) -> tuple[Family, Any]:
    X, y = random_data(seed, n=12, d=3, classes=2)
    rng = np.random.default_rng(seed)
    W = rng.dirichlet([1.0, 0.3], 12)
    targets = np.array([(i, j) for i in range(12) for j in range(12) if i < j and y[i] == y[j]])
    impostors = y[targets[:, 0]][:, None] != y
    terms = [Term(Hinge(1.0), Listed(targets, impostors))]
    if alpha2:
        terms.append(Term(Straight(alpha2), PairRows(targets)))
    return Family(Blocks(X, W, 20.0), tuple(terms), of_regularizer=True), targets


@pytest.mark.parametrize("alpha2", [0.0, 0.5])
def test_any_prices_bound_every_metric_and_the_solver_closes_the_gap(alpha2: float) -> None:
    family, targets = member(1, alpha2)
    X, rng = family.regularizer.X, np.random.default_rng(0)
    rows: Any = family.terms[0].rows
    straight = (Duals(np.full(len(targets), 7.0), np.arange(len(targets))),) if alpha2 else ()
    solver = Boxed(BoxDual(family))
    while solver.step():
        pass
    best, proof = certify(family, solver.metric(), (*solver.duals(), *straight))
    assert best.proves(1e-8)
    for _ in range(20):
        duals = Duals(rng.uniform(-1, 2, len(rows.keys())), rows.keys())
        bound = prove(family, (duals, *straight)).bound
        M = metric(X, 2, int(rng.integers(1000))) / 10 ** rng.uniform(0, 3)
        assert bound.value - bound.error <= best.objective + best.rounding
        assert best.lower_bound - best.rounding <= value(family, M).value
    if alpha2:  # whatever is given, the price is the one there is
        np.testing.assert_array_equal(proof.duals[1].a, -alpha2)
    # the gradient of the dual is that of its value
    at = BoxDual(family)
    a = np.full(len(at.low), 0.3)
    here = at.descent(a, at.image(a))
    for t in range(0, len(a), 11):
        step = 1e-6 * (np.arange(len(a)) == t)
        up, down = (at.descent(a + s * step, at.image(a + s * step)).value for s in (1, -1))
        assert (up - down) / 2e-6 == pytest.approx(here.slope[t], rel=1e-4, abs=1e-6)


def test_rows_are_listed_as_they_are_searched_for() -> None:
    X, y = random_data(4, n=14, d=3, classes=2)
    targets = np.array([(i, j) for i in range(14) for j in range(14) if i != j and y[i] == y[j]])[::3]
    impostors = y[targets[:, 0]][:, None] != y
    view = Frobenius(X, 1.0).judge(np.diag([1.0, 2.0, 0.5])).view
    searched, listed = Triplets(targets, impostors), Listed(targets, impostors)
    duals = Duals(np.full(5, 0.5), searched.keys()[::30][:5])
    (block,) = listed.blocks(view, duals)
    found = [each for each in searched.blocks(view, duals, np.inf) if len(each.v)]
    np.testing.assert_allclose(
        np.sort(block.v), np.sort(np.concatenate([each.v for each in found])), atol=1e-12
    )
    priced = np.sort(np.concatenate([each.v[each.a > 0] for each in found]))
    np.testing.assert_allclose(np.sort(block.v[block.a > 0]), priced, atol=1e-12)


@SEEDS
def test_the_exact_interval_holds_what_double_precision_says(seed: int) -> None:
    family, targets = member(seed, 0.25)
    exact = Family(
        Blocks(family.regularizer.X, family.regularizer.W, Fraction(20)),  # type: ignore[attr-defined]
        (
            Term(Hinge(Fraction(1)), family.terms[0].rows),
            Term(Straight(Fraction(1, 4)), family.terms[1].rows),
        ),
        of_regularizer=True,
    )
    rows: Any = family.terms[0].rows
    duals = Duals(np.random.default_rng(seed).random(len(rows.keys())), rows.keys())
    both = (duals, Duals(np.full(len(targets), -0.25), np.arange(len(targets))))
    M = metric(family.regularizer.X, 2, seed) / 50
    proof, _ = certify(family, M, both)
    found = interval(exact, M, both)
    allowed = Fraction(proof.rounding) + Fraction(1e-12) * found.objective
    assert abs(Fraction(proof.objective) - found.objective) <= allowed
    assert abs(Fraction(proof.lower_bound) - found.lower_bound) <= allowed - found.lower_bound * Fraction(
        1e-12
    )
