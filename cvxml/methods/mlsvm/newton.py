"""A regularised semismooth Newton step on the face of the compact dual that holds v (cvxml/family/newton.py).

Once accelerated gradient has found which u_ij and w_il are positive, the dual is smooth on the face they span, up to
P_+. The step solves (B B^T + I / (sigma step)) z = -gradient.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.newton import MAX_ENTRIES, contrasts, derivative_weights, solve_regularised
from cvxml.methods.mlsvm.dual import CompactDual


class Face(NamedTuple):
    """Orthonormal directions within the face: `basis` (m, p) over the p entries (row[p], column[p]) of v."""

    basis: Any  # csr_array, acts on the matrices X_ij themselves, impostors and targets alike
    row: IntArray
    column: IntArray
    basis_row: IntArray  # (m,): the row of v that a direction belongs to


def face_of(v: FloatArray, problem: CompactDual) -> Face:
    """The face of the feasible set that holds v.

    A row below the cap may move while sum u = sum w: in signed terms sign * v, its positive entries move with
    zero sum. A row at the cap has two such groups, u and w. A group of m entries has m - 1 directions: the
    Helmert contrasts.
    """
    positive = v > 0
    at_cap = problem.at_cap(v)
    row, column = np.nonzero(positive)
    group = 2 * row + (problem.down[row, column] & at_cap[row])
    found = contrasts(group)
    row, column = row[found.order], column[found.order]
    return Face(found.basis, row, column, row[found.leader])


def newton_direction(
    problem: CompactDual,
    v: FloatArray,
    D: FloatArray,
    values: FloatArray,
    vectors: FloatArray,
    reach: float,
) -> FloatArray | None:
    """The step from v, in the shape of v; None if the face is a point or too large to factorise.

    D: distances at v; `values`, `vectors`: eigen-decomposition of G at v. `reach` is sigma times the
    first-order step: large values give the plain Newton step.
    """
    face = face_of(v, problem)
    weights, a, b = derivative_weights(values)
    weights = weights / np.sqrt(problem.lam)
    m = face.basis.shape[0]
    if m == 0 or len(a) == 0 or max(m, len(face.row)) * len(a) > MAX_ENTRIES:
        return None
    XQ = problem.X @ vectors
    edges = XQ[problem.rows[face.row]] - XQ[problem.J[face.row, face.column]]
    products = np.take(edges, a, axis=1)
    products *= np.take(edges, b, axis=1)
    products *= weights
    size = np.sqrt(reach * problem.steps[face.basis_row, 0])
    B = face.basis @ products
    B *= size[:, None]
    # sign * gradient; at the cap the reward is the same for all directions and would only cost digits
    rewarded = problem.up & ~problem.at_cap(v)[:, None]
    signed = (D - rewarded)[face.row, face.column]
    z = -solve_regularised(B, (face.basis @ signed) * size) * size
    direction = np.zeros_like(v)
    direction[face.row, face.column] = face.basis.T @ z
    return problem.sign * direction
