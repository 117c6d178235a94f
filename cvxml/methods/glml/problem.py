"""The local metric of GLML at one query as an optimization problem, stated literally.

Problem (paper 003, (11); 000, (8)), B at the query from definitions.py:
    min_A  (tr[A^-1 B])^2     subject to   |A| = 1,  A >> 0.

Corrected: (11) is called a simple SDP in A, and is not convex in A; it is in M = A^-1,
    min_{M}  (tr[M B])^2      subject to   log det M >= 0,
with the same value: M / |M|^(1/D) has determinant 1, and |tr M B| is not larger there where |M| >= 1.

`dual`. For a sign s with s B >> 0, t = s tr[M B]: the Lagrangian t^2 + y (s tr[M B] - t) - u log det M is least at
M = (u / y) (s B)^-1, t = y / 2, which gives
    max_{y, u >= 0}   D u - D u log(u / y) + u log det(s B) - y^2 / 4.
If neither B nor -B is positive definite, the least value over M is -infinity for u > 0, and -y^2/4 or -infinity for
u = 0: the dual is 0.

Shapes: B, M (D, D).

Reference: Y.-K. Noh, B.-T. Zhang, D. D. Lee, Generative Local Metric Learning for Nearest Neighbor Classification, NIPS
2010; and IEEE TPAMI 40(1), 2018.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np

from cvxml.metric import FloatArray


def problem(B: FloatArray) -> cp.Problem:
    """The convex program in M = A^-1. Variable: "M" (D, D)."""
    D = len(B)
    M = cp.Variable((D, D), symmetric=True, name="M")
    return cp.Problem(cp.Minimize(cp.square(cp.trace(M @ B))), [cp.log_det(M) >= 0])


def dual(B: FloatArray) -> cp.Problem:
    """The dual of `problem`. Variables: "y" and "u", both of shape ()."""
    D = len(B)
    y, u = cp.Variable(nonneg=True, name="y"), cp.Variable(nonneg=True, name="u")
    values = np.linalg.eigvalsh(B)
    if values[0] <= 0 <= values[-1]:  # neither B nor -B is positive definite: 0 is all that y = 0 leaves
        return cp.Problem(cp.Maximize(-cp.square(y) / 4 - u), [y == 0])
    logdet = float(np.sum(np.log(np.abs(values))))
    return cp.Problem(cp.Maximize(D * u - D * cp.rel_entr(u, y) + u * logdet - cp.square(y) / 4))
