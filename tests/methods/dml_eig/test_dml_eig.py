"""DML-eig: by hand, against its dual from scratch, its bound for any weights, degenerate pairs, its misreadings."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cvxml
from cvxml.core.report import Verdict
from cvxml.core.result import Status
from cvxml.methods import get
from tests.instances import random_data, real_data

seeds = st.integers(0, 10**6)


def pairs_by(y: Any) -> tuple[list[Any], list[Any]]:
    all_pairs = [(i, j) for i in range(len(y)) for j in range(i + 1, len(y))]
    return [p for p in all_pairs if y[p[0]] == y[p[1]]], [p for p in all_pairs if y[p[0]] != y[p[1]]]


def distances(X: Any, A: Any, pairs: Any) -> np.ndarray:
    return np.array([(X[i] - X[j]) @ A @ (X[i] - X[j]) for i, j in pairs])


def by_cvxpy(X: Any, similar: Any, dissimilar: Any, budget: Any = None) -> np.ndarray:
    """argmax min_dissimilar D_A with <S, A> <= 1, another matrix in place of S on request."""
    S = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in similar) if budget is None else budget
    A = cp.Variable(S.shape, PSD=True)
    D = cp.hstack([cp.sum(cp.multiply(np.outer(X[i] - X[j], X[i] - X[j]), A)) for i, j in dissimilar])
    exactly = {"tol_gap_rel": 1e-11, "tol_gap_abs": 1e-11, "tol_feas": 1e-11}
    cp.Problem(cp.Maximize(cp.min(D)), [cp.trace(S @ A) <= 1]).solve(solver="CLARABEL", **exactly)
    found: np.ndarray = A.value
    return found


def test_on_a_line_there_is_one_metric() -> None:
    """Points 0, 1 | 3, 5: S = 1 + 4, a = 1/5; the nearest dissimilar pair is 1, 3, at 4 a."""
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1]
    solution = cvxml.solve("dml_eig", X, y, tol=1e-9)
    assert solution.metric[0, 0] == pytest.approx(0.2, rel=1e-9)
    assert solution.objective == pytest.approx(-0.8, rel=1e-9)


def test_two_pairs_at_right_angles_by_hand() -> None:
    """S = I, dissimilar along the axes, of squared length 1 and 4: A = diag(4, 1) / 5, both at 4/5; q = (4, 1) / 5."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 2.0], [-1.0, 0.0]])
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[4, 0], [3, 0]]}
    solution = cvxml.solve("dml_eig", X, None, pairs=pairs, tol=1e-10)
    assert solution.objective == pytest.approx(-0.8, rel=1e-9)
    assert np.diag(solution.metric) == pytest.approx([0.8, 0.2], rel=1e-4)
    assert solution.dual["q"] == pytest.approx([0.8, 0.2], rel=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_cvxpy_from_scratch(seed: int) -> None:
    X, y = random_data(seed, n=16, d=3, classes=2)
    similar, dissimilar = pairs_by(y)
    A = by_cvxpy(X, similar, dissimilar)
    A = A / distances(X, A, similar).sum()
    solution = cvxml.solve("dml_eig", X, y, tol=1e-9)
    assert solution.objective == pytest.approx(-distances(X, A, dissimilar).min(), rel=1e-6)
    assert cvxml.check("dml_eig", X, y, A, tol="loose").verdict is Verdict.CERTIFIED


@pytest.mark.slow
@given(seeds)
@settings(max_examples=30, deadline=None)
def test_any_weights_bound_any_metric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    X, y = random_data(seed, n=int(rng.integers(d + 4, 14)), d=d, classes=2)
    similar, dissimilar = pairs_by(y)
    root = rng.standard_normal((d, d))
    A = root @ root.T
    A = A / distances(X, A, similar).sum()
    q = rng.standard_normal(len(dissimilar)) * 10 ** rng.uniform(-3, 3)
    proof = cvxml.certify("dml_eig", X, y, A, {"q": q})
    assert proof.objective == pytest.approx(-distances(X, A, dissimilar).min(), rel=1e-8)
    best = cvxml.solve("dml_eig", X, y, tol=1e-7)
    assert proof.lower_bound <= best.objective + 1e-12 * abs(best.objective)
    # what is stored proves it with numpy alone
    kept = proof.dual["q"]
    S = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in similar)
    total = sum(w * np.outer(X[i] - X[j], X[i] - X[j]) for w, (i, j) in zip(kept, dissimilar, strict=True))
    assert kept * np.maximum(q, 0).sum() == pytest.approx(np.maximum(q, 0), rel=1e-12)
    assert kept.sum() == pytest.approx(1.0, rel=1e-12)
    largest = np.linalg.eigvals(np.linalg.solve(S, total)).real.max()
    assert -proof.lower_bound == pytest.approx(largest, rel=1e-8)


def test_pairs_with_a_weight_are_the_nearest() -> None:
    X, y = real_data("wine", 80)
    solution = cvxml.solve("dml_eig", X, y, tol=1e-8)
    D = distances(X, solution.metric, pairs_by(y)[1])
    # the gap is at least the sum of q (D - min D)
    assert D[solution.dual["q"] > 1e-3] == pytest.approx(D.min(), rel=1e-4)
    assert distances(X, solution.metric, pairs_by(y)[0]).sum() == pytest.approx(1.0, rel=1e-10)


@pytest.mark.parametrize("n", [40, 60, 100])
def test_long_steps_do_not_end_next_to_the_boundary(n: int) -> None:
    """With 60 points eigenvalues of 1e-12 were left behind, from which no Newton step led away."""
    X, y = real_data("wine", n)
    assert cvxml.solve("dml_eig", X, y, tol=1e-6).certificate.proves(1e-6)


def degenerate() -> dict[str, tuple[Any, Any, dict[str, Any]]]:
    X, y = random_data(2, n=14, d=3, classes=2)
    # rank 3 minus one, exactly
    turned = np.round(X * 2**20) / 2**20 @ np.array([[1.0, 2, 3], [0, 1, 1], [1, 3, 4]])
    return {
        "similar twins": (np.vstack([X, X[:1]]), [*y, y[0]], {}),
        "constant feature": (np.column_stack([X, np.ones(14)]), y, {}),
        "collinear": (turned, y, {}),
        "offset": (X + 1e5, y, {}),
        "scales": (X * [1e-6, 1.0, 1e6], y, {}),
        "tiny": (X * 1e-30, y, {}),
    }


@pytest.mark.parametrize("case", degenerate())
def test_degenerate_data(case: str) -> None:
    X, y, params = degenerate()[case]
    solution = cvxml.solve("dml_eig", X, y, **params)
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
    assert "sum over similar pairs 2, allowed 1" in str(over)
    assert any("factor" in said for said in over.diagnosis)
    assert cvxml.check("dml_eig", X, y, A * (1 + 1e-9)).verdict is Verdict.CERTIFIED


BAD: dict[str, tuple[Any, str]] = {
    "no similar": ({"similar": [], "dissimilar": [[0, 1]]}, "no similar pair"),
    "no dissimilar": ({"similar": [[0, 1]], "dissimilar": []}, "no dissimilar pair"),
    "free": ({"similar": [[0, 1]], "dissimilar": [[2, 3]]}, "costs nothing"),
    "twins": ({"similar": [[0, 1]], "dissimilar": [[2, 13]]}, "are equal: the least distance is 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_pairs(case: str) -> None:
    X, y = random_data(7, n=14, d=3, classes=2)
    X[13] = X[2]
    pairs, says = BAD[case]
    with pytest.raises(ValueError, match=re.escape(says)):
        cvxml.solve("dml_eig", X, y, pairs=pairs)


def misread() -> dict[str, tuple[np.ndarray, Any, Any]]:
    """name -> a metric made with cvxpy or by hand, X, y."""
    X, y = random_data(21, n=14, d=2, classes=2)
    X = X * [1.0, 3.0]
    similar, dissimilar = pairs_by(y)
    A = by_cvxpy(X, similar, dissimilar)
    A = A / distances(X, A, similar).sum()
    S = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in similar)
    values, vectors = np.linalg.eigh(S)
    root = (vectors * np.sqrt(values)) @ vectors.T

    def budgeted(some: Any, other: Any) -> np.ndarray:
        found = by_cvxpy(X, some, other)
        scaled: np.ndarray = found / distances(X, found, some).sum()
        return scaled

    D = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in dissimilar)
    top = np.linalg.eigh(np.linalg.inv(root) @ D @ np.linalg.inv(root))[1][:, -1]
    w = np.linalg.inv(root) @ top
    made = {
        "mean_budget": A * len(similar),
        "reverse": A / distances(X, A, dissimilar).min(),
        "whitened": root @ A @ root,
        "exchanged": budgeted(dissimilar, similar),
        "half_similar": budgeted(similar[: len(similar) // 2], dissimilar),
        "half_dissimilar": budgeted(similar, dissimilar[: len(dissimilar) // 2]),
        "sum": np.outer(w, w),
    }
    return {name: (M, X, y) for name, M in made.items()}


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", misread())
def test_a_misreading_is_named(name: str) -> None:
    M, X, y = misread()[name]
    report = cvxml.check("dml_eig", X, y, M, tol="normal")
    assert report.verdict is Verdict.REFUTED
    sentence = get("dml_eig").MISREADINGS[name].sentence
    assert any(sentence in said for said in report.diagnosis), str(report)


def test_every_misreading_is_tested() -> None:
    assert set(get("dml_eig").MISREADINGS) == set(misread())


@pytest.mark.slow
def test_the_minimum_is_off_by_no_more_than_its_rounding() -> None:
    """Two pairs are next to equally near: which one is nearest, rounding cannot tell."""
    u, v = np.array([3.0, 5.0]), np.array([5.0, -3.0])
    X = np.array([[0.0, 0.0], u, v * 2.0**-17, u * 2.0**10, v * 2.0**-16])
    pairs = {"similar": [[0, 1], [0, 2]], "dissimilar": [[0, 3], [0, 4]]}
    rng = np.random.default_rng(0)
    for _ in range(1000):
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
