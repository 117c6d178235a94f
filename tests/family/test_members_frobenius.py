"""MLSVM, and that of a kernel, as members: the naive objective, weak duality, exact mode, the dual's names."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cvxml.core.result import Certificate
from cvxml.family.theorem.exact import interval
from cvxml.family.theorem.theorem import Proof, certify
from cvxml.methods.kernel_mlsvm.method import METHOD as KERNEL
from cvxml.methods.mlsvm.method import METHOD as MLSVM

# where the solver stops is a start as good as any
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SEEDS = pytest.mark.parametrize("seed", range(8))
EMPTY = {name: np.zeros(0) for name in ("u", "u_index", "w", "w_index")}
Dual = dict[str, np.ndarray]


def data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Few points that overlap; equal ones, features of another unit, one that is the sum of two."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((11, 3)), np.arange(11) % (2 + seed % 2)
    X[:, 0] += y
    if seed % 4 == 1:
        X[1] = X[0]
    if seed % 4 == 2:
        X[:, 2] = X[:, 0] + X[:, 1]
    if seed % 4 == 3:
        X *= [1.0, 0.02, 30.0]
    return X, y


def metrics(solution: Any, seed: int) -> list[np.ndarray]:
    A, d = solution.metric, len(solution.metric)
    B = np.random.default_rng(seed).standard_normal((d, d))
    return [A, A * (1 + 1e-6), 0 * A, B @ B.T * np.abs(A).max(), np.eye(d) * np.trace(A)]


def duals(dual: Dual, seed: int, names: tuple[str, ...]) -> list[Dual]:
    rng = np.random.default_rng(seed)
    changed = [dual]
    for change in (lambda v: v * (1 + 1e-6 * rng.standard_normal(v.shape)), lambda v: rng.random(v.shape)):
        changed.append({**dual, **{name: np.abs(change(dual[name])) for name in names}})
    return changed


def holds(
    family: Any, A: np.ndarray, found: tuple[Certificate, Proof], root: np.ndarray | None = None
) -> None:
    """The exact interval agrees with double precision, within rounding."""
    own, proof = found
    exact = interval(family, A, proof.duals, root)
    slack = Fraction(own.rounding + own.value_rounding)
    assert exact.lower_bound >= Fraction(own.lower_bound) - slack
    assert abs(exact.objective - Fraction(own.objective)) <= slack
    assert abs(exact.gap - Fraction(own.gap)) <= Fraction(own.rounding) * Fraction(1001, 1000)
    assert exact.scale == pytest.approx(own.scale, rel=1e-9)


@pytest.mark.quick(6)
@SEEDS
@pytest.mark.parametrize("neighborhood", ["knn", "per-class"])
def test_mlsvm_of_any_metric_and_prices(seed: int, neighborhood: str) -> None:
    X, y = data(seed)
    params: dict[str, Any] = {
        "lam": 0.1,
        "n_neighbors": 4 if neighborhood == "knn" else 2,
        "neighborhood": neighborhood,
    }
    given = MLSVM.instance(X, y, **params)
    solution = MLSVM.solve(given, max_iter=60)
    for A in metrics(solution, seed):
        for dual in duals(solution.dual, seed, ("u", "w")):
            found = certify(MLSVM.member(given), A, MLSVM.read(given, dual))
            naive = MLSVM.objective(given, A)
            assert found[0].objective == pytest.approx(naive, rel=1e-10)
            assert naive >= found[0].lower_bound - found[0].value_rounding - 1e-12 * naive
            holds(MLSVM.member(given, Fraction), A, found)
            again = MLSVM.read(given, MLSVM.named(given, found[1].duals[0]))
            np.testing.assert_array_equal(again[0].a, found[1].duals[0].a)


def test_where_no_metric_is_better_than_0_it_is_decided() -> None:
    X, y = (
        np.array([[0.0], [3.0], [1.0], [2.0]]),
        np.array([0, 0, 1, 1]),
    )  # each target is beyond the impostors
    given = MLSVM.instance(X, y, n_neighbors=3)
    pairs = MLSVM.named(given, MLSVM.read(given, EMPTY)[0])
    dual = {**pairs, "u": np.ones(len(pairs["u"])), "w": np.ones(len(pairs["w"]))}
    for A, zero in ((np.zeros((1, 1)), True), (np.full((1, 1), 1e-9), False)):
        found = certify(MLSVM.member(given), A, MLSVM.read(given, dual))[0]
        assert (found.gap == found.rounding == found.radius == 0) == zero
    assert interval(MLSVM.member(given, Fraction), np.zeros((1, 1)), MLSVM.read(given, dual)).gap == 0
    flat = {**dual, "u": 0.5 * dual["u"] / len(X) / 2, "w": 0.5 * dual["w"] / len(X)}  # sums of half the cap
    assert certify(MLSVM.member(given), np.zeros((1, 1)), MLSVM.read(given, flat))[0].gap >= 0
    apart = MLSVM.instance(np.array([[0.0], [1.0], [8.0], [9.0]]), y, n_neighbors=3)
    assert certify(MLSVM.member(apart), np.zeros((1, 1)), MLSVM.read(apart, dual))[0].gap > 0.1


def test_without_a_usable_point_the_optimum_is_0() -> None:
    X, y = np.array([[0.0], [1.0], [50.0], [51.0]]), np.array([0, 0, 1, 1])
    given = MLSVM.instance(X, y, n_neighbors=1)
    found, _ = certify(MLSVM.member(given), np.zeros((1, 1)), MLSVM.read(given, EMPTY))
    assert found.objective == found.lower_bound == found.gap == 0


def test_a_dual_of_mlsvm_may_name_pairs_in_any_order_twice_or_beside_the_lists() -> None:
    X, y = data(0)
    given = MLSVM.instance(X, y, n_neighbors=3)
    dual = MLSVM.solve(given).dual
    halves = {
        **dual,
        "u": np.concatenate([dual["u"][::-1] / 2, dual["u"] / 2, [0.5]]),
        "u_index": np.concatenate([dual["u_index"][::-1], dual["u_index"], [[0, 0]]]),
    }
    np.testing.assert_array_equal(MLSVM.read(given, halves)[0].a, MLSVM.read(given, dual)[0].a)
    for wrong, words in (
        ({}, "'u'"),
        ({**dual, "w": dual["w"][1:]}, "'w_index'"),
        ({**dual, "w_index": dual["w_index"] + 11}, "outside 0..10"),
    ):
        with pytest.raises(ValueError, match=words):
            MLSVM.read(given, wrong)


@pytest.mark.quick(4)
@SEEDS
@pytest.mark.parametrize("name", ["poly", "rbf"])
def test_kernel_mlsvm_of_any_metric_and_prices(seed: int, name: str) -> None:
    X, y = data(seed)
    params: dict[str, Any] = {"lam": 0.1, "n_neighbors": 4, "kernel": name}
    given = KERNEL.instance(X, y, **params)
    solution = KERNEL.solve(given, max_iter=30)
    for phi in metrics(solution, seed):
        for dual in duals(solution.dual, seed, ("u", "w")):
            found, naive = KERNEL.certify(given, phi, dual), KERNEL.objective(given, phi)
            assert abs(found.objective - naive) <= 4 * found.value_rounding + 1e-12 * naive
            assert naive >= found.lower_bound - found.value_rounding - 1e-12 * naive
            assert abs(found.gap - (naive - found.lower_bound)) <= 4 * found.value_rounding + 1e-12 * naive
            after = KERNEL.certify(given, phi, found.dual)
            assert after.lower_bound == pytest.approx(found.lower_bound, rel=1e-9, abs=1e-12)


def test_a_kernel_of_equal_points_is_decided_at_0() -> None:
    X, y = np.ones((6, 2)), np.arange(6) % 2
    for name in ("poly", "rbf"):
        given = KERNEL.instance(X, y, n_neighbors=2, neighborhood="per-class", kernel=name)
        rows = KERNEL.named(given, KERNEL.read(given, EMPTY)[0])
        dual = {**rows, "u": np.ones(len(rows["u"])), "w": np.ones(len(rows["w"]))}
        found = KERNEL.certify(given, np.zeros((6, 6)), dual)
        assert (found.gap, found.rounding, found.radius, found.objective) == (0, 0, 0, 1)
