"""The closed form of the local metric: (13) of the paper of 2018, every case named, determinant 1.

With eigenvalues l of B, d+ of them positive, d- negative,
    A = beta [U+ U-] diag(d+ L+, -d- L-) [U+ U-]^T,       beta so that |A| = 1.
definite     all of one sign: the unique optimum, A proportional to |B|
indefinite   both signs: the optimal value 0, attained by A and by many others; this one is the paper's
singular     of one sign but for zeros, and not all zero: the infimum 0 is not attained
zero         B = 0: every metric is optimal, A = I
Zero eigenvalues get the geometric mean of the others before the determinant is made 1: they pull in no direction.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray

ZERO = 1e-12  # an eigenvalue below this times d and the largest in magnitude is zero


class Case(Enum):
    """What kind of matrix B is, and so what the metric is."""

    DEFINITE = "definite: the optimum is unique"
    INDEFINITE = "indefinite: the value 0 is attained, not by this metric alone"
    SINGULAR = "singular and semidefinite: the infimum 0 is not attained by any metric"
    ZERO = "zero: every metric is optimal"


class Local(NamedTuple):
    """Metrics of q queries."""

    A: FloatArray  # (q, d, d), determinant 1
    cases: list[Case]
    values: FloatArray  # (q, d): eigenvalues of B, ascending


def closed_form(B: FloatArray, noise: FloatArray | float = 0.0) -> Local:
    """The local metrics for B (q, d, d); `noise` (q,): eigenvalues that small are zero too."""
    values, vectors = np.linalg.eigh(B)
    weights, cases = weights_of(values, noise)
    A = (vectors * weights[:, None, :]) @ vectors.transpose(0, 2, 1)
    return Local((A + A.transpose(0, 2, 1)) / 2, cases, values)


def weights_of(values: FloatArray, noise: FloatArray | float = 0.0) -> tuple[FloatArray, list[Case]]:
    """Eigenvalues of A (q, d), of product 1, for eigenvalues of B (q, d), and the cases."""
    d = values.shape[1]
    size = np.abs(values)
    least = np.maximum(ZERO * d * size.max(axis=1), noise)
    zero = size <= least[:, None]
    positive, negative = (values > 0) & ~zero, (values < 0) & ~zero
    n_plus, n_minus = positive.sum(axis=1), negative.sum(axis=1)
    factor = np.where(positive, n_plus[:, None], n_minus[:, None])
    logs = np.where(zero, 0.0, np.log(np.where(zero, 1.0, factor * size)))
    mean = logs.sum(axis=1, keepdims=True) / np.maximum(d - zero.sum(axis=1, keepdims=True), 1)
    weights: FloatArray = np.exp(np.where(zero, 0.0, logs - mean))
    return weights, [_case(*counts, d) for counts in zip(n_plus.tolist(), n_minus.tolist(), strict=True)]


def _case(n_plus: int, n_minus: int, d: int) -> Case:
    if n_plus == n_minus == 0:
        return Case.ZERO
    if n_plus and n_minus:
        return Case.INDEFINITE
    return Case.DEFINITE if n_plus + n_minus == d else Case.SINGULAR
