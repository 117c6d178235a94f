"""The dual of a CCCP step over a few sets for each point, as the fast solver sees it.

q[i, c] >= 0, sum_c q[i, c] = 1, is the weight of the set sets[i, c] (k indices). The first set of each point is h*_i, and stays.
    minimise  1/4 ||P_+(M)||^2 - C sum q Delta,    M = C sum_i ( sum_c q_ic sum_{j in sets[i, c]} X_ij - sum_{j in h*_i} X_ij ),
over the product of simplices; W = P_+(M) / 2. In the paper's terms M = -C (sum q Psi - P).
Steps are scaled by 1 / max_c sum_{j} ||x_i - x_j||^2, the norm of a point's longest set: blocks that share one quadratic term may
each move as far as the inverse of their own norm.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cvxml.methods.ssvm.inference import task_loss
from cvxml.metric import FloatArray, IntArray


class Columns:
    """The sets in use, padded to the longest list, and what the accelerated solver asks of them (firstorder.Dual)."""

    def __init__(self, X: FloatArray, y: IntArray, C: float, Lam: FloatArray, latent: IntArray):
        self.X = X - X.mean(axis=0)
        self.y, self.C, self.Lam, self.latent = y, C, Lam, latent
        n = len(y)
        self.sets = latent[:, None, :].copy()  # (n, columns, k)
        self.real = np.ones((n, 1), dtype=bool)
        self.delta = np.zeros((n, 1))  # Delta of h*_i is 0
        self.idle = np.zeros((n, 1), dtype=np.intp)
        self.length = self._lengths(latent[:, None, :])
        self.steps = 1 / np.maximum(self.length.max(axis=1, keepdims=True), 1e-100)
        self._index_pairs()

    def _lengths(self, sets: IntArray) -> FloatArray:
        """sum_{j in h} ||x_i - x_j||^2 for sets (n, m, k)."""
        total = np.zeros(sets.shape[:2])
        for t in range(sets.shape[2]):
            difference = self.X[:, None, :] - self.X[sets[:, :, t]]
            total += np.einsum("nmd,nmd->nm", difference, difference)
        return total

    def start(self) -> FloatArray:
        """All weight on h*: M = 0."""
        q = np.zeros(self.real.shape)
        q[:, 0] = 1.0
        return q

    def add(self, q: FloatArray, sets: IntArray, wanted: np.ndarray) -> FloatArray:
        """Take in sets (n, m, k) where wanted (n, m) and new; drop long idle ones. Returns q in the new layout."""
        sets = np.sort(sets, axis=2)
        known = (self.sets[:, :, None, :] == sets[:, None, :, :]).all(axis=3) & self.real[:, :, None]
        wanted = wanted & ~known.any(axis=1)
        self.idle = np.where(q > 0, 0, self.idle + 1)
        keep = self.real & ((self.idle < 8) | (np.arange(q.shape[1]) == 0))
        delta = task_loss(self.y[sets], np.broadcast_to(self.y[:, None], sets.shape[:2]), self.Lam)
        real = np.concatenate([keep, wanted], axis=1)
        order = np.argsort(~real, axis=1, kind="stable")[:, : int(real.sum(axis=1).max())]
        none = np.zeros(wanted.shape)

        def merged(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            both = np.concatenate([old, new], axis=1)
            index = order if both.ndim == 2 else order[:, :, None]
            return np.take_along_axis(both, index, axis=1)

        self.sets, self.real = merged(self.sets, sets), merged(real[:, : q.shape[1]], wanted)
        self.delta, self.idle = merged(self.delta, delta), merged(self.idle, none.astype(np.intp))
        self.length = np.where(self.real, merged(self.length, self._lengths(sets)), 0.0)
        self.steps = 1 / np.maximum(self.length.max(axis=1, keepdims=True), 1e-100)
        self._index_pairs()
        return np.where(self.real, merged(q, none), 0.0)

    def _index_pairs(self) -> None:
        """The distinct pairs (i, j) of all sets, sorted, and where each set has its own among them."""
        n, k = self.latent.shape
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
        degree = np.bincount(self.first, weights, minlength=n) + np.bincount(self.second, weights, minlength=n)
        cross = self.X.T @ (graph @ self.X)
        M: FloatArray = self.C * (self.X.T @ (degree[:, None] * self.X) - cross - cross.T)
        return M

    def distances(self, vectors: FloatArray, values: FloatArray) -> FloatArray:
        """sum_{j in h} D_W(i, j) (n, columns) for W = sum of the positive `values` times vectors vectors^T, halved."""
        keep = values > 0
        Z = self.X @ (vectors[:, keep] * np.sqrt(values[keep] / 2))
        difference = Z[self.first] - Z[self.second]
        D = np.zeros(self.real.shape)
        D[self.rows, self.columns] = np.einsum("md,md->m", difference, difference)[self.where].sum(axis=1)
        return D

    def descent(self, q: FloatArray, image: FloatArray) -> Descent:
        """The gradient at q, whose image is given."""
        return Descent(self, q, image)

    def project(self, q: FloatArray) -> FloatArray:
        """The nearest point of the product of simplices."""
        return project_simplices(q, self.real)

    def scale(self, values: FloatArray) -> float:
        """||W||^2 = 1/4 ||P_+(M)||^2 for M with these eigenvalues."""
        return float(np.sum(np.maximum(values, 0) ** 2)) / 4


class Descent:
    """The gradient of the restricted dual at one q, ready to be followed (firstorder.py)."""

    def __init__(self, problem: Columns, q: FloatArray, image: FloatArray):
        self.problem, self.q, self.image = problem, q, image
        self.values, self.vectors = np.linalg.eigh(image)
        self.score = problem.delta - problem.distances(self.vectors, self.values)  # S + Delta

    def step(self, step: float) -> FloatArray:
        """A projected gradient step."""
        p = self.problem
        return p.project(self.q + step * p.steps * p.C * self.score)

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """1/2 ||dM||^2: P_+ does not expand."""
        return float(np.sum((new_image - self.image) ** 2)) / 2

    def gap(self) -> float:
        """Of W to the restricted dual at q: C sum_i sum_c q_ic (max_c' score - score_c), each term non-negative."""
        best = np.where(self.problem.real, self.score, -np.inf).max(axis=1, keepdims=True)
        return self.problem.C * float(np.sum(self.q * (best - self.score)))


def project_simplices(q: FloatArray, real: np.ndarray) -> FloatArray:
    """Project each row on { q >= 0, sum q = 1 }; entries that are not `real` become 0.

    The threshold is max_k (Q_k - 1) / k, Q_k the sum of the k largest.
    """
    descending = -np.sort(np.where(real, -q, np.inf), axis=1)
    sums = np.cumsum(descending, axis=1) - 1
    threshold = (sums / np.arange(1, q.shape[1] + 1)).max(axis=1, keepdims=True)
    projected: FloatArray = np.where(real, np.maximum(q - threshold, 0.0), 0.0)
    return projected
