"""The dual of a CCCP step over a few sets for each point, for the solver in solvers/cone_dual.py.

q[i, c] >= 0, sum_c q[i, c] = 1, is the weight of the set sets[i, c] (k indices).
    minimise  1/4 ||P_+(M)||^2 - C sum q Delta,
    M = C sum_i ( sum_c q_ic sum_{j in sets[i, c]} X_ij - sum_{j in h*_i} X_ij ),
over the product of simplices; W = P_+(M) / 2, so lam is 2. In the paper's terms M = -C (sum q Psi - P).
Steps are scaled by 1 / max_c sum_{j} ||x_i - x_j||^2, the norm of a point's longest set: blocks that share one
quadratic term may each move as far as the inverse of their own norm.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.methods.ssvm.inference import task_loss
from cvxml.methods.ssvm.instance import Instance
from cvxml.solvers.cone_dual import At, ConeDual
from cvxml.solvers.feasible_sets import Simplices
from cvxml.solvers.newton import Derivative

IDLE = 8  # rounds
BLOCK = 512  # pairs at a time: their differences stay in a cache
OVERHEAD = 2e6  # multiplications in the time that a gradient step takes beside them


class Columns(ConeDual):
    """The sets in use, padded to the longest list, and the dual over them."""

    lam = 2.0

    def __init__(self, p: Instance, latent: IntArray):
        self.X = p.X - p.X.mean(axis=0)
        self.y, self.C, self.Lam, self.latent = p.y, p.C, p.Lam, latent
        self.sign = p.C
        n = len(p.y)
        self.sets = latent[:, None, :].copy()  # (n, columns, k), indices increasing
        self.real = np.ones((n, 1), dtype=bool)
        self.delta = np.zeros((n, 1))  # Delta of h*_i is 0
        self.idle = np.zeros((n, 1), dtype=np.intp)  # rounds without weight
        self.length = self._lengths(self.sets)
        self.q = np.ones((n, 1))
        self._index()

    def _lengths(self, sets: IntArray) -> FloatArray:
        """sum_{j in h} ||x_i - x_j||^2 for sets (n, m, k)."""
        total = np.zeros(sets.shape[:2])
        for t in watched(range(sets.shape[2])):
            difference = self.X[:, None, :] - self.X[sets[:, :, t]]
            total += np.einsum("nmd,nmd->nm", difference, difference)
        return total

    def set_latent(self, latent: IntArray) -> None:
        """Another h*: another P in M, the same sets, and h* among them."""
        self.latent = latent
        self.take_in(latent[:, None, :], np.ones((len(latent), 1), dtype=bool))

    def take_in(self, sets: IntArray, wanted: np.ndarray) -> None:
        """Add the sets (n, m, k) that are wanted (n, m) and new; drop those idle for long, except h*."""
        known = (self.sets[:, :, None, :] == sets[:, None, :, :]).all(axis=3) & self.real[:, :, None]
        wanted = wanted & ~known.any(axis=1)
        self.idle = np.where(self.q > 0, 0, self.idle + 1)
        is_latent = (self.sets == self.latent[:, None, :]).all(axis=2)
        keep = self.real & ((self.idle < IDLE) | is_latent)
        real = np.concatenate([keep, wanted], axis=1)
        order = np.argsort(~real, axis=1, kind="stable")[:, : int(real.sum(axis=1).max())]
        delta = task_loss(self.y[sets], np.broadcast_to(self.y[:, None], wanted.shape), self.Lam)

        def merged(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            both = np.concatenate([old, new], axis=1)
            return np.take_along_axis(both, order if both.ndim == 2 else order[:, :, None], axis=1)

        self.real = np.take_along_axis(real, order, axis=1)
        self.sets, self.delta = merged(self.sets, sets), merged(self.delta, delta)
        self.idle = merged(self.idle, np.zeros_like(wanted, dtype=np.intp))
        self.length = np.where(self.real, merged(self.length, self._lengths(sets)), 0.0)
        self.q = np.where(self.real, merged(self.q, np.zeros(wanted.shape)), 0.0)
        self._index()

    def _index(self) -> None:
        """The steps; the distinct pairs (i, j) of all sets, sorted, and where each set has its own among them."""
        n, k = self.latent.shape
        self.feasible = Simplices(self.real)
        self.cost = 10 * self.X.shape[1] ** 3 + 4 * self.X.shape[1] * self.sets.size + OVERHEAD
        self.steps = 1 / np.maximum(self.length.max(axis=1, keepdims=True), 1e-100)
        self.rows, self.columns = np.nonzero(self.real)
        of_sets = self.rows[:, None] * n + self.sets[self.rows, self.columns]
        of_latent = np.arange(n)[:, None] * n + self.latent
        keys, where = np.unique(np.concatenate([of_sets, of_latent]), return_inverse=True)
        self.first, self.second = np.divmod(keys, n)
        self.where = where.reshape(-1, k)[: len(self.rows)]
        self.used_by_latent = np.bincount(where.reshape(-1, k)[len(self.rows) :].ravel(), minlength=len(keys))
        self.row_ends = np.concatenate([[0], np.cumsum(np.bincount(self.first, minlength=n))])

    def image(self, q: FloatArray) -> FloatArray:
        """M (d, d), through the graph Laplacian of the weights of the pairs."""
        n, k = self.latent.shape
        weights = np.bincount(
            self.where.ravel(), np.repeat(q[self.rows, self.columns], k), minlength=len(self.first)
        )
        weights -= self.used_by_latent
        graph = csr_array((weights, self.second, self.row_ends), shape=(n, n))
        degree = np.bincount(self.first, weights, minlength=n) + np.bincount(
            self.second, weights, minlength=n
        )
        half = self.X.T @ (degree[:, None] / 2 * self.X - graph @ self.X)
        M: FloatArray = self.C * (half + half.T)
        return M

    def margins(self, values: FloatArray, vectors: FloatArray) -> FloatArray:
        """sum_{j in h} D_W(i, j) (n, columns) for W = sum of the positive `values` times vectors vectors^T, halved."""
        keep = values > 0
        Z = self.X @ (vectors[:, keep] * np.sqrt(values[keep] / 2))
        pairs = np.empty(len(self.first))
        for start in watched(range(0, len(pairs), BLOCK)):
            some = slice(start, start + BLOCK)
            difference = Z[self.first[some]] - Z[self.second[some]]
            pairs[some] = np.einsum("md,md->m", difference, difference)
        D = np.zeros(self.real.shape)
        D[self.rows, self.columns] = pairs[self.where].sum(axis=1)
        return D

    def products(
        self, entries: tuple[IntArray, ...], vectors: FloatArray, along: Sequence[Derivative]
    ) -> FloatArray:
        """See `ConeDual`."""
        (row, column), (weights, a, b) = entries, along[0]
        XQ = self.X @ vectors
        products = np.zeros((len(row), len(a)))
        for j in self.sets[row, column].T:
            edges = XQ[row] - XQ[j]
            products += edges[:, a] * edges[:, b]
        products *= weights * self.C
        return products

    def unpaid(self, q: FloatArray) -> FloatArray:
        """C sum_c q_ic (largest Delta of i - Delta_ic), (n,)."""
        below = self.delta.max(axis=1, keepdims=True) - self.delta
        unpaid: FloatArray = self.C * np.sum(q * below, axis=1)
        return unpaid

    def reward(self, q: FloatArray) -> FloatArray:
        """C Delta"""
        return self.C * self.delta

    def gap(self, at: At) -> float:
        """C sum_ic q_ic (max_c' score_ic' - score_ic), where the score S + Delta is Delta - sum of distances."""
        score = self.delta - at.margins
        best = np.where(self.real, score, -np.inf).max(axis=1, keepdims=True)
        return self.C * float(np.sum(at.v * (best - score)))

    def bound(self, at: At) -> float:
        """C sum q Delta - 1/4 ||P_+(M)||^2, a lower bound of the step over these sets."""
        return self.C * float(np.sum(at.v * self.delta)) - at.scale
