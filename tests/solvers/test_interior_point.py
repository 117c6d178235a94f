"""The linear equations of interior_point.py: a matrix with large rows costs no digits of the solution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve

from cvxml.solvers.interior_point import _System


@pytest.mark.parametrize("seed", range(6))
def test_rounding_errors_of_the_solution_are_corrected(seed: int) -> None:
    """Two rows of B are 1e5 times as long as the others. The solution in rationals is the twin."""
    rng = np.random.default_rng(seed)
    B, right = rng.standard_normal((8, 5)), rng.standard_normal(5)
    B[:2] *= 1e5
    gram = B.T @ B + np.eye(5)
    system = object.__new__(_System)
    system.B, system.factor = B, cho_factor(gram, lower=True)
    exact = solved(B, right)
    plain, refined = (
        float(np.linalg.norm(y - exact)) for y in (cho_solve(system.factor, right), system._refined(right))
    )
    assert refined <= 1e-4 * plain


def solved(B: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The solution by elimination in rationals, rounded once."""
    rows = [[Fraction(x) for x in row] for row in B.tolist()]
    n = B.shape[1]
    A = [[sum(row[a] * row[b] for row in rows) + (a == b) for b in range(n)] for a in range(n)]
    x = [Fraction(value) for value in right.tolist()]
    for k in range(n):
        for i in range(k + 1, n):
            share = A[i][k] / A[k][k]
            A[i] = [own - share * above for own, above in zip(A[i], A[k], strict=True)]
            x[i] -= share * x[k]
    for k in reversed(range(n)):
        x[k] = (x[k] - sum(A[k][j] * x[j] for j in range(k + 1, n))) / A[k][k]
    return np.array([float(value) for value in x])
