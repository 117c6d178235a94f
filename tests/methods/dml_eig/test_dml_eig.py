"""DML-eig: its bound for any weights, degenerate pairs, its misreadings."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from tests.instances import assert_named, own_misreadings, random_data, real_data


def pairs_by(y: Any) -> tuple[list[Any], list[Any]]:
    all_pairs = [(i, j) for i in range(len(y)) for j in range(i + 1, len(y))]
    return [p for p in all_pairs if y[p[0]] == y[p[1]]], [p for p in all_pairs if y[p[0]] != y[p[1]]]


def distances(X: Any, A: Any, pairs: Any) -> np.ndarray:
    return np.array([(X[i] - X[j]) @ A @ (X[i] - X[j]) for i, j in pairs])


def by_cvxpy(X: Any, similar: Any, dissimilar: Any) -> np.ndarray:
    """argmax min_dissimilar D_A with <S, A> <= 1."""
    S = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in similar)
    A = cp.Variable(S.shape, PSD=True)
    D = cp.hstack([cp.sum(cp.multiply(np.outer(X[i] - X[j], X[i] - X[j]), A)) for i, j in dissimilar])
    exactly = {"tol_gap_rel": 1e-11, "tol_gap_abs": 1e-11, "tol_feas": 1e-11}
    cp.Problem(cp.Maximize(cp.min(D)), [cp.trace(S @ A) <= 1]).solve(solver="CLARABEL", **exactly)
    found: np.ndarray = A.value
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_any_weights_is_that_of_the_formula(seed: int) -> None:
    """Weights are repaired to max(q, 0) with sum 1; the bound is the largest eigenvalue of S^-1 sum q X."""
    rng, d = np.random.default_rng(seed), 1 + seed
    X, y = random_data(seed, n=12, d=d, classes=2)
    similar, dissimilar = pairs_by(y)
    q = rng.standard_normal(len(dissimilar)) * 10 ** rng.uniform(-3, 3)
    proof = cvxml.certify("dml_eig", X, y, np.eye(d) / distances(X, np.eye(d), similar).sum(), {"q": q})
    kept = np.maximum(q, 0) / np.maximum(q, 0).sum()
    assert proof.dual["q"] == pytest.approx(kept, rel=1e-12)
    S = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in similar)
    total = sum(w * np.outer(X[i] - X[j], X[i] - X[j]) for w, (i, j) in zip(kept, dissimilar, strict=True))
    largest = np.linalg.eigvals(np.linalg.solve(S, total)).real.max()
    assert -proof.lower_bound == pytest.approx(largest, rel=1e-8)


def test_pairs_with_a_weight_are_the_nearest() -> None:
    X, y = real_data("wine", 80)
    solution = cvxml.solve("dml_eig", X, y, tol=1e-8)
    D = distances(X, solution.metric, pairs_by(y)[1])
    # the gap is at least the sum of q (D - min D)
    assert D[solution.dual["q"] > 1e-3] == pytest.approx(D.min(), rel=1e-4)
    assert distances(X, solution.metric, pairs_by(y)[0]).sum() == pytest.approx(1.0, rel=1e-10)


def test_long_steps_do_not_end_next_to_the_boundary() -> None:
    """Eigenvalues of 1e-12 were left behind, from which no Newton step led away."""
    X, y = real_data("wine", 60)
    assert cvxml.solve("dml_eig", X, y, tol=1e-6).certificate.proves(1e-6)


def degenerate() -> dict[str, tuple[Any, Any]]:
    X, y = random_data(2, n=14, d=3, classes=2)
    # rank 3 minus one, exactly
    turned = np.round(X * 2**20) / 2**20 @ np.array([[1.0, 2, 3], [0, 1, 1], [1, 3, 4]])
    return {
        "similar twins": (np.vstack([X, X[:1]]), [*y, y[0]]),
        "constant feature": (np.column_stack([X, np.ones(14)]), y),
        "collinear": (turned, y),
        "offset": (X + 1e5, y),
        "scales": (X * [1e-6, 1.0, 1e6], y),
        "tiny": (X * 1e-30, y),
    }


@pytest.mark.parametrize("case", degenerate())
def test_degenerate_data(case: str) -> None:
    X, y = degenerate()[case]
    solution = cvxml.solve("dml_eig", X, y)
    assert solution.status is Status.CONVERGED
    similar, dissimilar = pairs_by(y)
    assert distances(X, solution.metric, similar).sum() <= 1 + 1e-6
    assert solution.objective == pytest.approx(-distances(X, solution.metric, dissimilar).min(), rel=1e-4)
    assert cvxml.check("dml_eig", X, y, solution.metric).verdict is Verdict.CERTIFIED


def test_a_metric_over_the_budget_is_refuted_and_one_of_rounding_is_not() -> None:
    X, y = random_data(2, n=14, d=3, classes=2)
    A = cvxml.solve("dml_eig", X, y, tol=1e-9).metric
    over = cvxml.check("dml_eig", X, y, 2 * A)
    assert over.verdict is Verdict.REFUTED
    assert " 2," in str(over.feasibility)
    assert any("factor" in said for said in over.diagnosis)
    assert cvxml.check("dml_eig", X, y, A * (1 + 1e-9)).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize(
    ("dissimilar", "says"), [([2, 3], "no cost"), ([2, 13], "equal")], ids=["free", "twins"]
)
def test_bad_pairs(dissimilar: list[int], says: str) -> None:
    X, y = random_data(7, n=14, d=3, classes=2)
    X[13] = X[2]
    with pytest.raises(ValueError, match=says):
        cvxml.solve("dml_eig", X, y, pairs={"similar": [[0, 1]], "dissimilar": [dissimilar]})


def misread(name: str) -> tuple[Any, Any, np.ndarray]:
    """X, y, and the metric of a program that makes the mistake."""
    X, y = random_data(21, n=14, d=2, classes=2)
    X = X * [1.0, 3.0]
    similar, dissimilar = pairs_by(y)
    S, D = (sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in pairs) for pairs in (similar, dissimilar))
    values, vectors = np.linalg.eigh(S)
    root = (vectors * np.sqrt(values)) @ vectors.T
    inverse = np.linalg.inv(root)

    def budgeted(some: Any = similar, other: Any = dissimilar) -> np.ndarray:
        found = by_cvxpy(X, some, other)
        scaled: np.ndarray = found / distances(X, found, some).sum()
        return scaled

    def of_the_sum() -> np.ndarray:
        top = inverse @ np.linalg.eigh(inverse @ D @ inverse)[1][:, -1]
        return np.outer(top, top)

    made: dict[str, Any] = {
        "mean_budget": lambda: budgeted() * len(similar),
        "reverse": lambda: budgeted() / distances(X, budgeted(), dissimilar).min(),
        "whitened": lambda: root @ budgeted() @ root,
        "exchanged": lambda: budgeted(dissimilar, similar),
        "half_similar": lambda: budgeted(some=similar[: len(similar) // 2]),
        "half_dissimilar": lambda: budgeted(other=dissimilar[: len(dissimilar) // 2]),
        "sum": of_the_sum,
    }
    return X, y, made[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", own_misreadings("dml_eig"))
def test_a_misreading_is_named(name: str) -> None:
    assert_named("dml_eig", name, *misread(name))


@pytest.mark.slow
def test_the_minimum_is_off_by_no_more_than_its_rounding() -> None:
    """Two pairs are next to equally near: which one is nearest, rounding cannot tell."""
    u, v = np.array([3.0, 5.0]), np.array([5.0, -3.0])
    X = np.array([[0.0, 0.0], u, v * 2.0**-17, u * 2.0**10, v * 2.0**-16])
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}
    rng = np.random.default_rng(0)
    for _ in range(300):
        a, b = 2.0 ** rng.uniform(20, 34) / 34**2, 2.0 ** rng.uniform(-24, -14) / 34**2
        A = a * np.outer(v, v) + b * np.outer(u, u)
        proof = cvxml.certify("dml_eig", X, None, A, {"q": np.ones(2)}, pairs=pairs)

        def D(x: np.ndarray, A: np.ndarray = A) -> Fraction:
            e = [Fraction(c) for c in x]
            return sum(
                (Fraction(A[i, j]) * e[i] * e[j] for i in range(2) for j in range(2)), start=Fraction(0)
            )

        spent = max(Fraction(1), D(X[1]) + D(X[2]))
        least = min(D(X[3]), D(X[4])) / spent
        assert abs(float(-least) - proof.objective) <= proof.rounding
