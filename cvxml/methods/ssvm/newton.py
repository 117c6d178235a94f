"""A regularised semismooth Newton step on the face of the restricted dual that holds q (cvxml/solvers/newton.py)."""

from __future__ import annotations

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.methods.ssvm.columns import Columns, Descent
from cvxml.solvers.newton import MAX_ENTRIES, contrasts, derivative_weights, solve_regularised


def gradient_steps(columns: Columns, here: Descent) -> float:
    """How many gradient steps take as long as one Newton step, roughly, by counting multiplications."""
    weights, d, positive = np.count_nonzero(here.q), len(here.values), np.count_nonzero(here.values > 0)
    pairs = positive * d
    return float(weights * pairs * min(weights, pairs) / (10 * d**3 + 4 * d * columns.sets.size))


def newton_direction(columns: Columns, here: Descent, reach: float) -> FloatArray | None:
    """The step from here.q, in its shape; None if the face is a point or too large. `reach`: in first-order steps."""
    row, column = np.nonzero(here.q)
    found = contrasts(row)
    row, column = row[found.order], column[found.order]
    weights, a, b = derivative_weights(here.values)
    m = found.basis.shape[0]
    if m == 0 or len(a) == 0 or len(row) * len(a) > MAX_ENTRIES:
        return None
    XQ = columns.X @ here.vectors
    products = np.zeros((len(row), len(a)))
    for j in columns.sets[row, column].T:
        edges = XQ[row] - XQ[j]
        products += edges[:, a] * edges[:, b]
    # 1/4 ||P_+||^2 has half of P_+ as its gradient
    products *= weights * (columns.C / np.sqrt(2))
    size = np.sqrt(reach * columns.steps[row[found.leader], 0])
    B = found.basis @ products
    B *= size[:, None]
    gradient = -columns.C * here.score[row, column]
    z = -solve_regularised(B, (found.basis @ gradient) * size) * size
    direction = np.zeros_like(here.q)
    direction[row, column] = found.basis.T @ z
    return direction
