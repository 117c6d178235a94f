"""Regularised semismooth Newton steps on the face of the compact dual that holds v (cvxml/solvers/newton.py).

Once accelerated gradient has found which u_ij and w_il are positive, the dual is smooth on the face they span, up to
P_+, and a step solves (B B^T + 1 / sigma) z = -gradient, sigma a number for each row. A step that leaves the feasible
set is projected, and the same quadratic is solved again on the smaller face where that ends: no product with the data
is needed for it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.mlsvm.dual import CompactDual, project_rows
from cvxml.solvers.newton import MAX_ENTRIES, contrasts, derivative_weights, solve_regularised

STEPS = 4  # in one model
OWN = 0.5  # of its cap: how far a row goes where no other holds it
ROUNDING = 1e-13  # of the cap: a step that is projected no further was feasible


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


def reach_of(problem: CompactDual, v: FloatArray, D: FloatArray, step: float) -> FloatArray:
    """A sigma for each row (rows,): this step at most, and about half its cap where a row goes on its own.

    Next to nothing holds a row of short edges on its face, where it would go many times its cap, and others against it:
    after the projection neither is right.
    """
    capped, positive = problem.at_cap(v)[:, None], v > 0
    slope = D - (problem.up & ~capped)
    u, w = _spread(slope, positive & problem.up), _spread(slope, positive & problem.down)
    uneven = np.where(capped[:, 0], np.maximum(u, w), _spread(slope, positive))
    with np.errstate(divide="ignore"):
        reach: FloatArray = np.minimum(step * problem.steps[:, 0], OWN * problem.cap / uneven)
    return reach


def _spread(values: FloatArray, members: np.ndarray) -> FloatArray:
    """The largest less the least of the members of each row, 0 where there is none."""
    largest = np.where(members, values, -np.inf).max(axis=1)
    return np.where(members.any(axis=1), largest - np.where(members, values, np.inf).min(axis=1), 0.0)


class Model:
    """The quadratic model of the dual at v, regularised, over the positive entries of the rows that may move."""

    def __init__(
        self,
        problem: CompactDual,
        v: FloatArray,
        D: FloatArray,
        moves: np.ndarray,
        derivative: tuple[FloatArray, IntArray, IntArray],
        vectors: FloatArray,
        reach: FloatArray,
    ):
        self.problem, self.v, self.moves = problem, v, moves
        row, column = np.nonzero(moves)
        self.place = np.cumsum(self.moves).reshape(v.shape) - 1
        self.size = np.sqrt(reach)[row]
        self.D, self.sign = D[self.moves], problem.sign[self.moves]
        weights, a, b = derivative
        XQ = problem.X @ vectors
        edges = XQ[problem.rows[row]] - XQ[problem.J[row, column]]
        self.products = np.take(edges, a, axis=1)
        self.products *= np.take(edges, b, axis=1)
        self.products *= weights
        self.products *= self.size[:, None]
        self.short = problem.deficit(v)

    def at(self, new: FloatArray) -> tuple[float, FloatArray]:
        """The model less its value at v, and the distances (m,) that it has at `new`, a point of the face."""
        x = self.sign * (new - self.v)[self.moves] / self.size
        bent = self.products @ (self.products.T @ x) + x
        value = x @ (self.size * self.D + bent / 2) + np.sum(self.problem.deficit(new) - self.short)
        return float(value), self.D + bent / self.size

    def step(self, at: FloatArray, D: FloatArray) -> FloatArray | None:
        """From `at` to the least value on its face, feasible or not; None where the face is a point."""
        problem = self.problem
        basis, row, column, _ = face_of(np.where(self.moves, at, 0.0), problem)
        if basis.shape[0] == 0:
            return None
        entry = self.place[row, column]
        # At the cap the reward is the same for all directions and would only cost digits.
        rewarded = (problem.up & ~problem.at_cap(at)[:, None])[row, column]
        size = self.size[entry]
        z = solve_regularised(basis @ self.products[entry], basis @ ((D[entry] - rewarded) * size))
        new = at.copy()
        new[row, column] -= problem.sign[row, column] * (basis.T @ z) * size
        return new


def _moves(v: FloatArray, problem: CompactDual) -> np.ndarray:
    """The positive entries of the rows that have a direction within their face (`face_of`)."""
    u, w = (v > 0) & problem.up, (v > 0) & problem.down
    most = np.where(problem.at_cap(v), np.maximum(u.sum(axis=1), w.sum(axis=1)), (u | w).sum(axis=1))
    moves: np.ndarray = (u | w) & (most > 1)[:, None]
    return moves


def model_at(
    problem: CompactDual,
    v: FloatArray,
    D: FloatArray,
    values: FloatArray,
    vectors: FloatArray,
    reach: FloatArray,
) -> Model | None:
    """The model at v; None if the face is a point, or too large.

    D: distances at v; `values`, `vectors`: eigen-decomposition of G at v. reach: sigma of each row (rows,); large
    values give the plain model.
    """
    moves, (weights, a, b) = _moves(v, problem), derivative_weights(values)
    if not moves.any() or len(a) == 0 or np.count_nonzero(moves) * len(a) > MAX_ENTRIES:
        return None
    return Model(problem, v, D, moves, (weights / np.sqrt(problem.lam), a, b), vectors, reach)


def newton_point(
    problem: CompactDual,
    v: FloatArray,
    D: FloatArray,
    values: FloatArray,
    vectors: FloatArray,
    reach: FloatArray,
) -> FloatArray | None:
    """Of what a few steps in the model at v find, the best; None where there is no model."""
    model = model_at(problem, v, D, values, vectors, reach)
    if model is None:
        return None
    at, there, lowest, best = v, model.D, np.inf, None
    for _ in watched(range(STEPS)):
        new = model.step(at, there)
        if new is None:
            break
        at = project_rows(new, np.where(at > 0, problem.sign, 0.0), problem.cap)
        value, there = model.at(at)
        if value < lowest:
            lowest, best = value, at
        if np.abs(at - new).max() <= ROUNDING * problem.cap:
            break
    return best
