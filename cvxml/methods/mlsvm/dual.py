"""The compact dual of MLSVM for the fast solver (solvers/cone_dual.py): padded arrays, one row for each usable point.

v[r, k] >= 0 is u_ij or w_il of point i = rows[r] and its k-th neighbour J[r, k]. sign[r, k] is +1 for an
impostor, -1 for a target and 0 for padding. Units: X is centred and about 1, v as in docs/mlsvm_proof.md.
    minimise  1/(2 lam) ||P_+(G)||^2 - sum(u),   G = sum sign v X_ij,   each row in
    { v >= 0, sum u = sum w <= 1/n }.
Steps are scaled by 1 / max_k ||x_i - x_j||^4: the curvature of a row grows with the fourth power of its
longest edge, and otherwise one far point would set the step of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.mlsvm.neighborhood import Neighborhood
from cvxml.solvers.cone_dual import At, ConeDual
from cvxml.solvers.feasible_sets import TwoSides
from cvxml.solvers.newton import Derivative

FEW = 20_000  # entries of all differences, up to which they are stored


class CompactDual(ConeDual):
    """The compact dual on `X` (n, d) with weight `lam`."""

    def __init__(self, X: FloatArray, N: Neighborhood, lam: float):
        self.n, self.d = X.shape
        self.X = X - X.mean(axis=0)
        self.lam = lam
        self.cap: float = 1 / self.n
        self.rows = N.usable
        width = max((len(N.targets[i]) + len(N.impostors[i]) for i in self.rows), default=1)
        self.J = np.zeros((len(self.rows), width), dtype=np.intp)
        self.sign: FloatArray = np.zeros((len(self.rows), width))
        for r, i in enumerate(self.rows):
            impostors, targets = N.impostors[i], N.targets[i]
            end = len(impostors) + len(targets)
            self.J[r, :end] = np.concatenate([impostors, targets])
            self.sign[r, : len(impostors)] = 1.0
            self.sign[r, len(impostors) : end] = -1.0
        self.edges: FloatArray | None = None  # x_i - x_j (rows, K, d), stored if they are few
        if self.J.size * self.d <= FEW:
            self.edges = self.X[self.rows][:, None, :] - self.X[self.J]
        self.feasible: TwoSides = TwoSides(self.sign, self.cap)
        self.up, self.down = self.feasible.up, self.feasible.down
        edges = np.where(self.sign != 0, self._edge_lengths(), 0.0)
        longest = edges.max(axis=1, initial=0.0)
        floor = max(float(longest.max(initial=0.0)) * 1e-9, 1e-100)
        self.steps = (1 / np.maximum(longest, floor) ** 2)[:, None]
        self.cost = self.n * self.d**2 * 4 + 12 * self.d**3 + 5e6

    def _edge_lengths(self) -> FloatArray:
        lengths = np.empty(self.J.shape)
        for k in watched(range(self.J.shape[1])):
            difference = self.X[self.rows] - self.X[self.J[:, k]]
            lengths[:, k] = np.einsum("rd,rd->r", difference, difference)
        return lengths

    def image(self, v: FloatArray) -> FloatArray:
        """G (d, d) of v. For many points through the graph Laplacian of the weights: n d^2, not n K d^2 work."""
        used = v != 0
        if self.edges is not None:
            x = self.edges[used]
            small: FloatArray = x.T @ (x * (v * self.sign)[used][:, None])
            return small
        weights = (v * self.sign)[used]
        columns = self.J[used]
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        W = csr_array((weights, columns, starts), shape=(len(self.rows), self.n))
        degree = np.bincount(columns, weights, minlength=self.n).astype(np.float64)
        degree[self.rows] += (v * self.sign).sum(axis=1)
        half = degree[:, None] / 2 * self.X
        half[self.rows] -= W @ self.X
        G: FloatArray = self.X.T @ half
        return G + G.T

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """D_A(i, J[i]) (rows, K) for A = sum of the positive `values` times vectors vectors^T, over lam."""
        keep = values > 0
        if self.edges is not None:
            mapped = self.edges @ (vectors[:, keep] * np.sqrt(values[keep] / self.lam))
            small: FloatArray = np.einsum("rkm,rkm->rk", mapped, mapped)
            return small
        Z = self.X @ (vectors[:, keep] * np.sqrt(values[keep] / self.lam))
        D = np.empty(self.J.shape)
        Z_rows = Z[self.rows]
        for k in watched(range(self.J.shape[1])):
            difference = Z_rows - Z[self.J[:, k]]
            D[:, k] = np.einsum("rm,rm->r", difference, difference)
        return D

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        """See `ConeDual`."""
        (row, column), (weights, a, b) = entries, along[0]
        XQ = self.X @ vectors
        edges = XQ[self.rows[row]] - XQ[self.J[row, column]]
        products: FloatArray = np.take(edges, a, axis=1)
        products *= np.take(edges, b, axis=1)
        products *= weights
        products *= self.sign[row, column, None]
        return products

    def descend(self, at: At, step: float) -> FloatArray:
        """A projected gradient step.

        A reward beyond max D + 4 cap / step only says that the row goes to the cap. Shortening it to this number
        changes no projection, and keeps the digits of D if D is far below 1.
        """
        steps, D = step * self.steps, at.margins
        longest = np.where(self.sign != 0, D, 0.0).max(axis=1, keepdims=True, initial=0.0)
        with np.errstate(over="ignore"):  # with a tiny step no row goes to the cap
            reward = np.minimum(1.0, longest + 4 * self.cap / steps)
        return self.feasible.project(at.v + steps * (reward * self.up - self.sign * D))

    def reward(self, v: FloatArray) -> FloatArray:
        """1 for u. At the cap it is the same for all directions and would only cost digits, so it is left out."""
        reward: FloatArray = (self.up & ~self.feasible.at_cap(v)[:, None]).astype(np.float64)
        return reward

    def unpaid(self, v: FloatArray) -> FloatArray:
        """1/n - sum u of each row, exactly 0 at the cap."""
        total = self.feasible.total(v)
        unpaid: FloatArray = np.where(self.feasible.full(total), 0.0, self.cap - total)
        return unpaid

    def slacks(self, D: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The margin 1 + max_l D_il - min_j D_ij of each row, and the two distances in it; (rows, 1) each."""
        furthest = np.where(self.down, D, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        nearest = np.where(self.up, D, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        return 1 + furthest - nearest, furthest, nearest

    def slack(self, D: FloatArray) -> float:
        """The sum of xi / n at A = P_+(G)/lam."""
        total = float(np.maximum(0.0, self.slacks(D)[0]).sum())
        return total * self.cap

    def gap(self, at: At) -> float:
        """The gap of A and v as a sum of non-negative terms."""
        v, D = at.v, at.margins
        margin, furthest, nearest = self.slacks(D)
        xi = np.maximum(0.0, margin)
        unpriced = self.unpaid(v) @ xi[:, 0] + float(self.feasible.total(v) @ (xi - margin)[:, 0])
        away = np.where(self.up, D - nearest, np.where(self.down, furthest - D, 0.0))
        return float(unpriced) + float(np.sum(v * away))

    def saturated(self) -> FloatArray:
        """All rows at the cap, evenly: optimal for a large lam where neighbourhoods are single pairs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            u = self.up / self.up.sum(axis=1, keepdims=True)
            w = self.down / self.down.sum(axis=1, keepdims=True)
        even: FloatArray = self.cap * (u + w)
        return even
