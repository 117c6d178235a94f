"""What an implementer of LFDA compares, from the definition."""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.lfda.definitions import affinity, scatters
from cvxml.methods.lfda.embedding import axes, eigen, transformation
from cvxml.methods.lfda.instance import Instance


def objective(given: Instance, M: FloatArray) -> float:
    """-tr (T^T S_w T)^-1 T^T S_b T, T (d, r) the r directions in which M (d, d) is largest."""
    return float(evaluate(given, M)["objective"])


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediates at M (d, d).

    objective; T (d, r): a basis of the range, eigenvectors with the largest eigenvalue first, of the embedding asked
    for; l (d,): all eigenvalues of (S_b, S_w), falling; S_w, S_b (d, d); A (n, n): the affinity.
    """
    S_w, S_b = scatters(given.X, given.y, given.k, given.alpha)
    T = axes(S_w, M, given.r)
    return {
        "objective": -float(np.trace(np.linalg.solve(T.T @ S_w @ T, T.T @ S_b @ T))),
        "T": transformation(S_w, S_b, T, given.embedding),
        "l": eigen(S_w, S_b)[0][::-1],
        "S_w": S_w,
        "S_b": S_b,
        "A": affinity(given.X, given.y, given.k),
    }
