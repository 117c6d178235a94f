"""The objective of LFDA and its intermediate values, computed from the definition in floats.

S_w and S_b are the local scatter matrices within and between classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.lfda.definitions import affinity, scatters
from cvxml.methods.lfda.embedding import axes, eigen, transformation
from cvxml.methods.lfda.instance import Instance


def objective(given: Instance, M: FloatArray) -> float:
    """-tr (T^T S_w T)^-1 T^T S_b T at M (d, d), where T (d, r) has the range of M (`axes` in embedding.py)."""
    return float(evaluate(given, M)["objective"])


def evaluate(given: Instance, M: FloatArray) -> dict[str, Any]:
    """Intermediate values at M (d, d), by name.

    objective; T (d, r); l (d,); S_w and S_b (d, d); A (n, n), the affinities. T is the matrix of the embedding
    (embedding.py) with the range of M. The vector l has all eigenvalues of S_b v = l S_w v in descending order.
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
