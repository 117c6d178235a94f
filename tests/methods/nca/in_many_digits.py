"""For the exact modes of NCA and MLKR: weights of neighbours and first-order steps in 60 digits, by loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from cvxml.core.exact import Exact
from cvxml.core.metric import FloatArray

ZERO = Decimal(0)
Digits = list[list[Decimal]]


@contextmanager
def sixty_digits() -> Iterator[None]:
    with localcontext() as context:
        context.prec = 60
        yield


def decimals(A: FloatArray) -> Digits:
    return [[Decimal(a) for a in row] for row in A.tolist()]


def weights(X: FloatArray, A: Digits) -> Digits:
    """exp(-|A x_i - A x_j|^2), 0 for j = i."""
    E = [[sum((a * v for a, v in zip(row, x, strict=True)), ZERO) for row in A] for x in decimals(X)]
    D = [[sum(((a - b) ** 2 for a, b in zip(e, other, strict=True)), ZERO) for other in E] for e in E]
    return [[(-D[i][j]).exp() if j != i else ZERO for j in range(len(X))] for i in range(len(X))]


def first_order_gain(F: Callable[[Digits], Decimal], X: FloatArray, A: FloatArray) -> float:
    """max(|A|, 1) |dF/dA| in coordinates of unit covariance, by differences in 60 digits."""
    root, h = np.linalg.cholesky(np.cov(X.T, bias=True)), Decimal("1e-20")
    gradient: list[float] = []
    with sixty_digits():
        at = F(decimals(A))
        for unit in np.eye(A.size).reshape(-1, *A.shape):
            rows = zip(decimals(A), decimals(unit @ np.linalg.inv(root)), strict=True)
            moved = [[a + h * b for a, b in zip(*row, strict=True)] for row in rows]
            gradient.append(float((F(moved) - at) / h))
    return max(float(np.linalg.norm(A @ root)), 1.0) * float(np.linalg.norm(gradient))


def assert_upper_end(found: Exact, value: Any) -> None:
    """The upper end of the interval is this value, to 50 digits."""
    with sixty_digits():
        end = Decimal(found.objective.numerator) / found.objective.denominator
        assert abs(end - value) < Decimal("1e-50")
