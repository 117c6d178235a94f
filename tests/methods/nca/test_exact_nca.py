"""The exact mode of NCA where the rank is limited: against a twin in many digits, against first-order steps."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest

import cvxml
from cvxml.core.metric import FloatArray
from cvxml.core.report import Verdict
from tests.instances import exact_of, random_data

X, Y = random_data(3, n=16, d=3, classes=3)
ROWS = np.array([[1.0, 0.3, 0.0], [0.2, 0.7, 0.1]])
ZERO = Decimal(0)


def objective(A: list[list[Decimal]], criterion: str) -> Decimal:
    """-f or -g of A (m, d), from the definition, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        points = [[Decimal(v) for v in x] for x in X.tolist()]
        E = [[sum((a * v for a, v in zip(row, x, strict=True)), ZERO) for row in A] for x in points]
        value = ZERO
        for i in range(len(X)):
            D = [sum(((a - b) ** 2 for a, b in zip(E[i], other, strict=True)), ZERO) for other in E]
            e = [(-D[k]).exp() if k != i else ZERO for k in range(len(X))]
            own = sum((each for each, c in zip(e, Y, strict=True) if c == Y[i]), ZERO) / sum(e, ZERO)
            value -= own if criterion == "f" else own.ln()
        return value


def decimals(A: FloatArray) -> list[list[Decimal]]:
    return [[Decimal(a) for a in row] for row in A.tolist()]


def slope(A: FloatArray, step: FloatArray, criterion: str) -> float:
    """Along `step`, by a difference in 60 digits."""
    with localcontext() as context:
        context.prec, h = 60, Decimal("1e-20")
        rows = zip(decimals(A), decimals(step), strict=True)
        moved = [[a + h * b for a, b in zip(*row, strict=True)] for row in rows]
        return float((objective(moved, criterion) - objective(decimals(A), criterion)) / h)


@pytest.mark.parametrize("criterion", ["f", "g"])
@pytest.mark.parametrize(("m", "size"), [(1, 0.1), (1, 3.0), (2, 1.0)])
def test_the_steepest_first_order_step_leads_to_the_lower_end(m: int, size: float, criterion: str) -> None:
    """By differences, in coordinates of unit covariance."""
    root = np.linalg.cholesky(np.cov(X.T, bias=True))
    A = size * ROWS[:m]
    found = exact_of("nca", X, Y, A.T @ A, {}, root=A.T, n_components=m, criterion=criterion)
    with localcontext() as context:
        context.prec = 60
        end = Decimal(found.objective.numerator) / found.objective.denominator
        assert abs(end - objective(decimals(A), criterion)) < Decimal("1e-50")
    length, inside = max(float(np.linalg.norm(A @ root)), 1.0), np.linalg.inv(root)
    gradient = [slope(A, unit @ inside, criterion) for unit in np.eye(3 * m).reshape(-1, m, 3)]
    assert float(found.gap) == pytest.approx(length * float(np.linalg.norm(gradient)), rel=1e-9)
    assert found.of_step
    assert "first-order step" in str(found)


def test_a_free_row_counts() -> None:
    """A = 0 has no gradient; what a row wins is the least eigenvalue of dF/dQ, here by evaluate's floats."""
    inverse, sides = np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True))), X[:, 0] > 0
    G = inverse @ cvxml.evaluate("nca", X, sides, np.zeros((3, 3)), n_components=2).gradient_Q @ inverse.T
    found = exact_of("nca", X, sides, np.zeros((3, 3)), {}, n_components=2)
    assert float(found.gap) == pytest.approx(-np.linalg.eigvalsh(G)[0], rel=1e-9)
    assert found.gap > 0


@pytest.mark.quick(1)
@pytest.mark.parametrize(("m", "criterion"), [(1, "g"), (2, "g"), (1, "f")])
def test_check_certifies_what_is_stationary_and_refutes_another(m: int, criterion: str) -> None:
    points, classes = random_data(3, n=24, d=3, classes=3)
    params = {"n_components": m, "criterion": criterion}
    best = cvxml.solve("nca", points, classes, tol=1e-8, **params).metric
    report = cvxml.check("nca", points, classes, best, exact=True, **params)
    assert report.verdict is Verdict.CERTIFIED
    assert "its first-order step is certified" in report.reasons[0]
    worse = cvxml.check("nca", points, classes, 1.1 * best, exact=True, **params)
    assert worse.verdict is Verdict.REFUTED


def test_features_that_depend_on_each_other_limit_no_rank() -> None:
    """Two of three features: a metric of rank 2 is as free as any, and its own convex step is bounded."""
    eighths = np.round(8 * X[:, :2]) / 8
    summed = np.column_stack([eighths, eighths.sum(axis=1)])
    dual = {"R": np.eye(3), "interior": np.eye(3)}
    assert exact_of("nca", summed, Y, np.eye(3), dual, n_components=2).step == "convex step"
    assert exact_of("nca", summed, Y, np.eye(3), {}, n_components=1).step == "first-order step"


def test_a_root_of_another_rank_is_refused() -> None:
    with pytest.raises(ValueError, match="of rank 3, and n_components=1"):
        exact_of("nca", X, Y, np.eye(3), {}, root=np.eye(3), n_components=1)
