"""MLSVM: what `rounding` and `value_rounding` cover, against fractions, and an optimum of 0."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from cvxml.core.result import Certificate
from tests.instances import fractions


class Posed(NamedTuple):
    """Data, lists and lam."""

    X: FloatArray
    y: np.ndarray
    neighbors: list[list[int]]
    lam: float


def exact(p: Posed, A: FloatArray, proof: Certificate) -> tuple[Fraction, Fraction]:
    """Objective at the symmetric `A`, and the bound of the prices near the stored ones that are feasible exactly."""
    X, M, n = fractions(p.X), fractions(A), len(p.X)

    def outer(i: int, j: int) -> np.ndarray:
        return np.outer(X[i] - X[j], X[i] - X[j])

    lam, slack = Fraction(p.lam), Fraction(0)
    for i, listed in enumerate(p.neighbors):
        own = [np.sum(M * outer(i, j)) for j in listed if p.y[j] == p.y[i]]
        others = [np.sum(M * outer(i, j)) for j in listed if p.y[j] != p.y[i]]
        if own and others:
            slack += max(Fraction(0), 1 + max(own) - min(others))
    objective = lam / 2 * np.sum(M * M) + slack / n

    duals: dict[str, dict[int, dict[int, Fraction]]] = {"u": {}, "w": {}}
    for name, rows in duals.items():
        for (i, j), value in zip(
            proof.dual[f"{name}_index"].tolist(), proof.dual[name].tolist(), strict=True
        ):
            rows.setdefault(i, {})[j] = Fraction(value)
    G, total = fractions(np.zeros(A.shape)), Fraction(0)
    for i in duals["u"].keys() & duals["w"].keys():
        sums = {name: sum(rows[i].values()) for name, rows in duals.items()}
        if min(sums.values()) == 0:
            continue
        s = min(*sums.values(), Fraction(1, n))
        # the stored sums are at the cap but for a few roundings, or below it by 1e-12 of it
        s = Fraction(1, n) if n * s > 1 - Fraction(1, 10**13) else s
        total += s
        for name, sign in (("u", 1), ("w", -1)):
            for j, value in duals[name][i].items():
                G = G + sign * value * s / sums[name] * outer(i, j)
    if proof.rounding == 0:  # decided exactly, or it is a mistake
        assert not A.any()
        assert is_psd(-G)
        return objective, total
    if is_psd(-G):  # S = -G; what eigenvectors are off by is more than a rounding that knows this
        return objective, total
    # the best psd S for ||G + S||, from eigenvectors: what these are off by enters squared
    size = max((abs(g) for g in G.ravel()), default=Fraction(0)) or Fraction(1)
    values, vectors = np.linalg.eigh((G / size).astype(float))
    L = fractions(vectors * np.sqrt(np.maximum(-values, 0)))
    Q = G + size * (L @ L.T)
    return objective, total - np.sum(Q * Q) / (2 * lam)


def is_psd(M: np.ndarray) -> bool:
    """By elimination, in fractions; a pivot of 0 must have nothing beside it."""
    M = M.copy()
    for k in range(len(M)):
        if M[k, k] < 0 or (M[k, k] == 0 and any(M[k, k:])):
            return False
        if M[k, k] > 0:
            M[k + 1 :, k + 1 :] = M[k + 1 :, k + 1 :] - np.outer(M[k + 1 :, k], M[k, k + 1 :]) / M[k, k]
    return True


def assert_covered(p: Posed, A: FloatArray, proof: Certificate) -> None:
    """The three figures of a certificate, to what they are said to be off by."""
    objective, bound = exact(p, A, proof)
    of_value = Fraction(max(proof.value_rounding, proof.rounding))
    assert abs(objective - Fraction(proof.objective)) <= of_value
    assert abs(bound - Fraction(proof.lower_bound)) <= of_value
    assert abs(objective - bound - Fraction(proof.gap)) <= Fraction(proof.rounding)


SHAPES = ["plain", "collinear", "graded", "offset", "duplicates", "long"]


def drawn(shape: str, seed: int) -> tuple[Posed, np.random.Generator]:
    """A small instance of a kind that costs digits."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(6, 13)), int(rng.integers(1, 5))
    X, y = rng.standard_normal((n, d)), np.arange(n) % 2
    if shape == "collinear":
        X[:, 0] = X @ rng.standard_normal(d) + 10.0 ** rng.uniform(-12, -2) * rng.standard_normal(n)
    elif shape == "graded":
        X *= 10.0 ** rng.uniform(-9, 9, d)
    elif shape == "offset":
        X += 10.0 ** rng.uniform(1, 8, d)
    elif shape == "duplicates":
        X = X[rng.integers(0, n // 2, n)]
    elif shape == "long":
        X[0] *= 10.0 ** rng.uniform(2, 8)
    spread = float(np.ptp(X, axis=0).max()) or 1.0
    lists = [
        rng.choice(np.delete(np.arange(n), i), int(rng.integers(2, 5)), replace=False).tolist()
        for i in range(n)
    ]
    lam = 10.0 ** rng.uniform(-6, 2) * spread**4
    return Posed(X, y, lists, lam), rng


def solved(p: Posed, **options: Any) -> cvxml.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cvxml.solve("mlsvm", p.X, p.y, lam=p.lam, neighbors=p.neighbors, max_iter=300, **options)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", SHAPES)
def test_rounding_covers_the_figures_of_a_solution(shape: str, seed: int) -> None:
    p, _ = drawn(shape, seed)
    solution = solved(p, tol=1e-9)
    assert_covered(p, solution.metric, solution.certificate)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", SHAPES)
def test_rounding_covers_the_figures_of_any_metric_and_prices(shape: str, seed: int) -> None:
    p, rng = drawn(shape, 1000 + seed)
    n, d = p.X.shape
    spread = np.ptp(p.X, axis=0)
    L = rng.standard_normal((d, d)) / np.where(spread > 0, spread, 1.0) * 10.0 ** rng.uniform(-3, 3)
    A = L.T @ L
    pairs = np.array([(i, j) for i, listed in enumerate(p.neighbors) for j in listed])
    own = p.y[pairs[:, 0]] == p.y[pairs[:, 1]]
    price = rng.exponential(10.0 ** rng.uniform(-3, 1) / n, len(pairs)) * (rng.random(len(pairs)) < 0.7)
    dual = {"u": price[~own], "u_index": pairs[~own], "w": price[own], "w_index": pairs[own]}
    proof = cvxml.certify("mlsvm", p.X, p.y, A, dual, lam=p.lam, neighbors=p.neighbors)
    assert_covered(p, (A + A.T) / 2, proof)


def two_far_apart() -> tuple[FloatArray, np.ndarray]:
    """No usable point: the optimum is A = 0, of objective 0."""
    return np.array([[0.0, 0], [0, 1], [9, 9], [9, 10]]), np.array([0, 0, 1, 1])


@pytest.mark.quick(3)
@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("method", ["mlsvm", "kernel_mlsvm"])
@pytest.mark.parametrize("lam", [0.1, 1e-15, 1e-60])
def test_nothing_but_zero_is_certified_where_the_optimum_is_zero(
    method: str, lam: float, exact: bool
) -> None:
    X, y = two_far_apart()
    given = {"lam": lam, "n_neighbors": 1}
    params: dict[str, Any] = {**given, "tol": "strict", "exact": exact, "diagnosed": False}
    d = 2 if method == "mlsvm" else 4
    bent = np.zeros((d, d))
    bent[:2, :2] = [[0, 5], [-7, -3]]
    report = cvxml.check(method, X, y, bent, **params)
    assert report.verdict is Verdict.REFUTED
    for size in (1.0, 1e-12, 1e-170, 5e-324):
        report = cvxml.check(method, X, y, size * np.eye(d), **params)
        assert report.verdict is not Verdict.CERTIFIED
    assert cvxml.check(method, X, y, np.zeros((d, d)), **params).verdict is Verdict.CERTIFIED
    value = cvxml.check(method, X, y, claimed_objective=1e-15, **given)
    assert value.verdict is Verdict.REFUTED


def test_a_file_of_next_to_nothing_is_not_certified_where_the_optimum_is_zero() -> None:
    X, y = two_far_apart()
    dual = solved(Posed(X, y, [[1], [0], [3], [2]], 0.1)).dual
    for size in (1e-12, 1e-170, 5e-324):
        proof = cvxml.certify("mlsvm", X, y, size * np.eye(2), dual, lam=0.1, n_neighbors=1)
        assert not proof.proves(1e-3)


@pytest.mark.quick(4)
@pytest.mark.parametrize("seed", range(8))
def test_zero_is_certified_by_prices_that_prove_it_in_fractions(seed: int) -> None:
    """Random labels: often no metric beats 0, and then prices with room for rounding show it."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((24, 3)), np.arange(24) % 2
    solution = cvxml.solve("mlsvm", X, y, lam=0.1)
    p = Posed(X, y, [listed.tolist() for listed in solution.neighbors], 0.1)
    assert_covered(p, solution.metric, solution.certificate)
    assert solution.certificate.proves(1e-6)


@pytest.mark.slow
def test_a_lam_next_to_nothing_gives_a_metric_near_that_of_none() -> None:
    """Features of 1e8 with lam = 0.1, or of scales 1e-12, 1, 1e12: once the zero matrix, after many iterations."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] + 0.5 * rng.standard_normal(40) > 0).astype(int)
    near = cvxml.solve("mlsvm", X, y, lam=1e-5)
    with pytest.warns(match="not certified"):
        large = cvxml.solve("mlsvm", 1e8 * X, y, neighbors=near.neighbors, lam=0.1)
    assert large.objective <= near.objective < 0.6
    assert large.lower_bound - large.certificate.value_rounding <= large.objective
    with pytest.warns(match="not certified"):
        graded = cvxml.solve("mlsvm", X * [1e-12, 1, 1e12], y)
    assert graded.n_iter < 2000


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
@pytest.mark.parametrize(("n", "places"), [(12, 1), (24, 2)])
def test_neighbours_at_the_same_place_leave_nothing_to_learn_in_any_kernel(
    kernel: str, n: int, places: int
) -> None:
    """Every pair of neighbours is equal: no metric changes a distance, whatever the other places are."""
    at = np.arange(n) % places
    X, y = 0.1 + 0.7 * at[:, None] + np.zeros((n, 3)), np.arange(n) // places % 2
    lists = [np.delete(np.flatnonzero(at == at[i]), i // places).tolist() for i in range(n)]
    solution = cvxml.solve("kernel_mlsvm", X, y, kernel=kernel, neighbors=lists)
    assert solution.certificate.rounding == 0
    assert solution.certificate.proves(1e-12)
    assert not solution.metric.any()
    wrong = 1e-3 * np.eye(n)
    report = cvxml.check("kernel_mlsvm", X, y, wrong, kernel=kernel, neighbors=lists, diagnosed=False)
    assert report.verdict is not Verdict.CERTIFIED


def test_points_that_differ_by_a_rounding_are_not_taken_for_one() -> None:
    X, y = np.ones((12, 1)), np.arange(12) % 2
    X[0] += np.finfo(float).eps
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = cvxml.solve("kernel_mlsvm", X, y, kernel="rbf", max_iter=300)
    assert solution.certificate.rounding > 0


@pytest.mark.parametrize("far", ["target", "impostor"])
def test_rounding_counts_the_lengths_of_targets_and_of_impostors(far: str) -> None:
    """One of the two pairs is long and all but invisible to the metric, so that its length cancels."""
    X = np.array([[0.0, 0.0], [0.0, 2e-3], [0.0, 1e-3]])
    X[1 if far == "target" else 2, 0] = 1
    turn = np.array([[np.cos(0.4), -np.sin(0.4)], [np.sin(0.4), np.cos(0.4)]])
    p = Posed(X @ turn, np.array([0, 0, 1]), [[1, 2], [], []], 1e-30)
    A, nothing = 1e6 * np.outer(turn[1], turn[1]), {name: [] for name in ("u", "u_index", "w", "w_index")}
    proof = cvxml.certify("mlsvm", p.X, p.y, A, nothing, lam=p.lam, neighbors=p.neighbors)
    assert abs(exact(p, A, proof)[0] - Fraction(proof.objective)) <= proof.rounding
