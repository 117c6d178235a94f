"""The rows of MLSVM for the interior-point method of solvers/interior_point.py, for small d and any scale of features.

Gradient steps need more iterations if the features differ in scale; this method does not. In each row i (a usable point
of MLSVM, which has both impostors and targets) let

    hi_i <= D_ij for impostors j,   lo_i >= D_il for targets l,   xi_i = 1 + lo_i - hi_i >= 0,

with multipliers u_ij, w_il and r_i = 1/n - s_i. Here D are squared distances in A, and s_i is the sum of the u_ij,
which is also the sum of the w_il. G is the sum of u_ij (x_i - x_j)(x_i - x_j)^T minus the sum of
w_il (x_i - x_l)(x_i - x_l)^T. At the optimum, the products

    u_ij (D_ij - hi_i),   w_il (lo_i - D_il),   r_i xi_i,   A (lam A - G)

are zero. Here u, w and r are dual variables, and the factors beside them are their slacks. lam A - G is the multiplier
of the constraint that A is psd. The numbers hi and lo are free. They are eliminated from the equations of a step. The
matrix B of these equations has a row for each neighbour, from its difference x_i - x_j. These rows of B are centred.
For each point, the weighted mean of the rows of its impostors is subtracted from these rows. The same holds for its
targets. B also has a row for each point, from the difference of these two means.

An array (rows, K) has K places for each usable point i: its impostors with u, its targets with w, and padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvxml.core.metric import FloatArray
from cvxml.solvers.interior_point import Pair, Rows, State
from cvxml.solvers.scaling import Scaling


class NeighborRows(Rows):
    """The rows of the module docstring. A `State` has two pairs of arrays: (u and w, their slacks) and (r, xi).

    edges (rows, K, d): x_i - x_j of each neighbour. sign (rows, K): 1 for impostors, -1 for targets, 0 for padding.

    lam: weight of the regularizer. cap: 1/n, the upper limit of the sum of a row's u, and of its w.
    """

    def __init__(self, edges: FloatArray, sign: FloatArray, lam: float, cap: float):
        self.sign, self.lam, self.cap, self.d = sign, lam, cap, edges.shape[2]
        self.up, self.down, self.real = sign > 0, sign < 0, sign != 0
        self.edges = np.where(self.real[:, :, None], edges, 0.0)
        self.flat = self.edges.reshape(-1, self.d)

    def distances(self, A: FloatArray) -> FloatArray:
        D: FloatArray = np.einsum("pd,pd->p", self.flat @ A, self.flat).reshape(self.real.shape)
        return D

    def image(self, v: FloatArray) -> FloatArray:
        G: FloatArray = self.flat.T @ (self.flat * (v * self.sign).reshape(-1, 1))
        return G

    def start(self) -> State:
        """Return a feasible start: A is a multiple of I, so large that lam A - G is positive definite.

        In each row, u and w are in inverse proportion to their slacks.
        """
        cap = self.cap
        counts = np.where(self.up, self.up.sum(axis=1)[:, None], self.down.sum(axis=1)[:, None])
        even = np.where(self.real, cap / 2 / counts, 0.0)
        top = float(np.linalg.eigvalsh(self.image(even))[-1])
        longest = float(np.einsum("pd,pd->p", self.flat, self.flat).max())
        alpha = 2 * max(top, 0.5 * cap * longest) / self.lam
        D = alpha * np.einsum("rkd,rkd->rk", self.edges, self.edges)
        nearest, furthest = self._extremes(D)
        width = 1 + 0.5 * (D * self.real).max(axis=1)
        spread = np.maximum(0.0, nearest - furthest - 1)
        hi, lo = nearest - width - spread / 2, furthest + width + spread / 2
        slack = self._slack(D, hi, lo)
        inverse = np.where(self.real, 1 / slack, 0.0)
        total = np.where(
            self.up, self._sum(inverse, self.up)[:, None], self._sum(inverse, self.down)[:, None]
        )
        v = np.where(self.real, cap / 2 * inverse / total, 0.0)
        # an unequal v may raise the eigenvalues of G, which must stay below lam alpha
        top = float(np.linalg.eigvalsh(self.image(v))[-1])
        shrink = min(1.0, 0.5 * self.lam * alpha / max(top, 1e-300))
        r = np.full(len(hi), cap * (1 - shrink / 2))
        pairs = Pair(shrink * v[self.real], slack[self.real]), Pair(r, 1 + lo - hi)
        return State(alpha * np.eye(self.d)[None], pairs, np.concatenate([hi, lo]))

    def _extremes(self, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.where(self.up, D, np.inf).min(axis=1), np.where(self.down, D, -np.inf).max(axis=1)

    def _sum(self, values: FloatArray, members: Any) -> FloatArray:
        total: FloatArray = np.where(members, values, 0.0).sum(axis=1)
        return total

    def _slack(self, D: FloatArray, hi: FloatArray, lo: FloatArray) -> FloatArray:
        """D - hi for impostors, lo - D for targets, 1 for padding (rows, K)."""
        slack: FloatArray = np.where(self.up, D - hi[:, None], np.where(self.down, lo[:, None] - D, 1.0))
        return slack

    def _padded(self, values: FloatArray) -> FloatArray:
        """The `values`, one for each neighbour, as an array (rows, K), with 0 for padding."""
        padded = np.zeros(self.real.shape)
        padded[self.real] = values
        return padded

    def duals(self, at: State) -> FloatArray:
        return self._padded(at.pairs[0].value)

    def G(self, at: State) -> FloatArray:
        return self.image(self.duals(at))[None]

    def enter(self, at: State) -> State:
        """Return `at` with slacks computed from its A, hi and lo; store the quotients of dual variables and slacks."""
        (v, _), (r, _) = at.pairs
        hi, lo = np.split(at.free, 2)
        slack, xi = self._slack(self.distances(at.M[0]), hi, lo), 1 + lo - hi
        self.v, self.slack, self.r, self.xi = self._padded(v), slack, r, xi
        self.theta, self.theta_r = self.v / slack, r / xi
        self.tu, self.tw = self._sum(self.theta, self.up), self._sum(self.theta, self.down)
        return at._replace(pairs=(Pair(v, slack[self.real]), Pair(r, xi)))

    def B(self, scalings: Sequence[Scaling]) -> FloatArray:
        F = scalings[0].rows(self.flat).reshape(*self.real.shape, -1)
        weight_u = np.where(self.up, self.theta, 0.0) / self.tu[:, None]
        weight_w = np.where(self.down, self.theta, 0.0) / self.tw[:, None]
        mean_u, mean_w = np.einsum("rk,rkp->rp", weight_u, F), np.einsum("rk,rkp->rp", weight_w, F)
        between = 1 / (1 / self.tu + 1 / self.tw + 1 / self.theta_r)
        F -= np.where(self.up[:, :, None], mean_u[:, None, :], mean_w[:, None, :])
        F *= np.sqrt(self.theta)[:, :, None]
        return np.concatenate([F.reshape(-1, F.shape[2]), (mean_u - mean_w) * np.sqrt(between)[:, None]])

    def _parts(self, rests: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return four arrays: the steps of v (rows, K) and r (rows,) if the slacks do not change, and two residuals.

        v holds u and w. The residuals (rows,) are cap - r - sum u and cap - r - sum w after these steps. The final
        steps make them 0. rests: the wanted changes of the products of each dual variable and its slack, for u and w,
        then for r.
        """
        g_v, g_r = self._padded(rests[0]) / self.slack, rests[1] / self.xi
        rest = self.cap - self.r - g_r
        left_u, left_w = (rest - self._sum(self.v + g_v, side) for side in (self.up, self.down))
        return g_v, g_r, left_u, left_w

    def unpriced(self, rests: Sequence[FloatArray]) -> FloatArray:
        g_v, _, left_u, left_w = self._parts(rests)
        slack = self._slack_step(np.zeros_like(g_v), *self._levels(left_u, -left_w))
        return self.image(g_v - self.theta * slack)[None]

    def steps(self, rests: Sequence[FloatArray], dM: FloatArray) -> tuple[tuple[Pair, ...], FloatArray]:
        g_v, g_r, left_u, left_w = self._parts(rests)
        D = self.distances(dM[0])
        moved = self.theta * D
        hi, lo = self._levels(left_u + self._sum(moved, self.up), -left_w + self._sum(moved, self.down))
        slack = self._slack_step(D, hi, lo)
        v, xi = g_v - self.theta * slack, lo - hi
        pairs = Pair(v[self.real], slack[self.real]), Pair(g_r - self.theta_r * xi, xi)
        return pairs, np.concatenate([hi, lo])

    def _levels(self, for_hi: FloatArray, for_lo: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the steps of hi and lo (rows,), from one linear system of two equations for each row.

        The equations are (tu + t) hi - t lo = for_hi and (tw + t) lo - t hi = for_lo. Here tu is the sum of the
        quotients u / slack over the impostors of the row, and tw the sum of w / slack over its targets. The number t is
        the quotient r / xi.
        """
        t = self.theta_r
        determinant = self.tu * self.tw + t * (self.tu + self.tw)
        return (
            ((self.tw + t) * for_hi + t * for_lo) / determinant,
            (t * for_hi + (self.tu + t) * for_lo) / determinant,
        )

    def _slack_step(self, D: FloatArray, hi: FloatArray, lo: FloatArray) -> FloatArray:
        step: FloatArray = np.where(self.up, D - hi[:, None], np.where(self.down, lo[:, None] - D, 0.0))
        return step
