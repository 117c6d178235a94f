"""The compact dual of MLSVM as the fast solver sees it: padded arrays, one row a usable point.

v[r, k] >= 0 is u_ij or w_il of point i = rows[r] and its k-th neighbour J[r, k]; sign[r, k] is +1 for an
impostor, -1 for a target and 0 for padding. Units: X is centred and about 1, v as in docs/mlsvm.md.
    minimise  1/(2 lam) ||P_+(G)||^2 - sum(u),   G = sum sign v X_ij,   each row in
    { v >= 0, sum u = sum w <= 1/n }.
Steps are scaled by 1 / max_k ||x_i - x_j||^4: the curvature of a row grows with the fourth power of its
longest edge, and one far point would otherwise set the step of all.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from cvxml.core.clock import look, watched
from cvxml.core.metric import FloatArray
from cvxml.methods.mlsvm.neighborhood import Neighborhood

FEW = 20_000


class CompactDual:
    """Images, gradients and projections of the compact dual on `X` (n, d) with weight `lam`."""

    def __init__(self, X: FloatArray, N: Neighborhood, lam: float):
        self.n, self.d = X.shape
        self.X = X - X.mean(axis=0)
        self.lam = lam
        self.cap = 1 / self.n
        self.rows = N.usable
        width = max((len(N.targets[i]) + len(N.impostors[i]) for i in self.rows), default=1)
        self.J = np.zeros((len(self.rows), width), dtype=np.intp)
        self.sign = np.zeros((len(self.rows), width))
        for r, i in enumerate(self.rows):
            impostors, targets = N.impostors[i], N.targets[i]
            end = len(impostors) + len(targets)
            self.J[r, :end] = np.concatenate([impostors, targets])
            self.sign[r, : len(impostors)] = 1.0
            self.sign[r, len(impostors) : end] = -1.0
        self.edges: FloatArray | None = None  # x_i - x_j (rows, K, d), kept where they are few
        if self.J.size * self.d <= FEW:
            self.edges = self.X[self.rows][:, None, :] - self.X[self.J]
        self.up = self.sign > 0
        self.down = self.sign < 0
        edges = np.where(self.sign != 0, self._edge_lengths(), 0.0)
        longest = edges.max(axis=1, initial=0.0)
        floor = max(float(longest.max(initial=0.0)) * 1e-9, 1e-100)
        self.steps = (1 / np.maximum(longest, floor) ** 2)[:, None]

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

    def distances(self, vectors: FloatArray, values: FloatArray) -> FloatArray:
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

    def descent(self, v: FloatArray, image: FloatArray) -> Descent:
        """The gradient at v, whose image is given."""
        return Descent(self, v, image)

    def descend(self, v: FloatArray, D: FloatArray, step: float) -> FloatArray:
        """A projected gradient step where D is known: the gradient is sign * D - 1 for u, sign * D for w.

        A reward beyond max D + 4 cap / step only says that the row goes to the cap. Shortening it to
        that changes no projection, and keeps the digits of D where D is far below 1.
        """
        steps = step * self.steps
        longest = np.where(self.sign != 0, D, 0.0).max(axis=1, keepdims=True, initial=0.0)
        with np.errstate(over="ignore"):  # a step next to nothing has no row at the cap
            reward = np.minimum(1.0, longest + 4 * self.cap / steps)
        return project_rows(v + steps * (reward * self.up - self.sign * D), self.sign, self.cap)

    def at_cap(self, v: FloatArray) -> np.ndarray:
        """The rows with sum u = 1/n."""
        full: np.ndarray = np.where(self.up, v, 0.0).sum(axis=1) >= self.cap * (1 - 1e-13)
        return full

    def deficit(self, v: FloatArray) -> FloatArray:
        """1/n - s_i of each row, exactly 0 at the cap."""
        s = np.where(self.up, v, 0.0).sum(axis=1)
        return np.where(self.at_cap(v), 0.0, self.cap - s)

    def value(self, v: FloatArray, values: FloatArray) -> float:
        """usable/n - dual objective at v whose G has these eigenvalues: to be minimised, never cancelling."""
        return self.quadratic(values) + float(self.deficit(v).sum())

    def quadratic(self, values: FloatArray) -> float:
        """1/(2 lam) ||P_+(G)||^2, which is also lam/2 ||A||^2 at A = P_+(G)/lam: the scale."""
        return float(np.sum(np.maximum(values, 0) ** 2)) / (2 * self.lam)

    def gap(self, v: FloatArray, D: FloatArray) -> tuple[float, float]:
        """Sum of xi / n at A = P_+(G)/lam, and the gap to the dual at v as a sum of non-negative parts."""
        furthest = np.where(self.down, D, -np.inf).max(axis=1, keepdims=True, initial=-np.inf)
        nearest = np.where(self.up, D, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        margin = 1 + furthest - nearest
        xi = np.maximum(0.0, margin)
        s = np.where(self.up, v, 0.0).sum(axis=1, keepdims=True)
        unpriced = self.deficit(v) @ xi[:, 0] + float(np.sum(s * (xi - margin)))
        away = np.where(self.up, D - nearest, np.where(self.down, furthest - D, 0.0))
        return float(xi.sum()) / self.n, float(unpriced + np.sum(v * away))

    def first_step(self) -> float:
        """1 / Lipschitz constant, by power iteration among balanced directions (sum u = sum w).

        Unbalanced directions are infeasible and can be several times steeper: they would shorten the step.
        """
        rng = np.random.default_rng(0)
        root = np.sqrt(self.steps)
        v = self._balance(rng.standard_normal(self.J.shape) * root)
        size = 1.0
        for _ in watched(range(8)):
            v /= max(float(np.linalg.norm(v / root)), 1e-300)
            G = self.image(v)
            v = self._balance(self._linear_distances(G)) * self.steps
            size = float(np.linalg.norm(v / root))
        return self.lam / size if size > 0 else self.lam

    def _linear_distances(self, G: FloatArray) -> FloatArray:
        GX = self.X @ G
        D = np.empty(self.J.shape)
        for k in watched(range(self.J.shape[1])):
            j = self.J[:, k]
            D[:, k] = np.einsum("rd,rd->r", GX[self.rows] - GX[j], self.X[self.rows] - self.X[j])
        signed: FloatArray = self.sign * D
        return signed

    def _balance(self, v: FloatArray) -> FloatArray:
        count = np.maximum(np.abs(self.sign).sum(axis=1, keepdims=True), 1)
        balanced: FloatArray = v * np.abs(self.sign) - self.sign * (
            (v * self.sign).sum(axis=1, keepdims=True) / count
        )
        return balanced

    def saturated(self) -> FloatArray:
        """All rows at the cap, evenly: optimal for a large lam where neighbourhoods are single pairs."""
        with np.errstate(invalid="ignore", divide="ignore"):
            u = self.up / self.up.sum(axis=1, keepdims=True)
            w = self.down / self.down.sum(axis=1, keepdims=True)
        even: FloatArray = self.cap * (u + w)
        return even

    def project(self, v: FloatArray) -> FloatArray:
        """The nearest feasible v, exactly, row by row."""
        return project_rows(v, self.sign, self.cap)


class Descent:
    """The gradient of the compact dual at one v, ready to be followed (solvers/first_order.py)."""

    def __init__(self, problem: CompactDual, v: FloatArray, image: FloatArray):
        self.problem, self.v, self.image = problem, v, image
        self.values, self.vectors = np.linalg.eigh(image)
        self.D = problem.distances(self.vectors, self.values)

    def step(self, step: float) -> FloatArray:
        """A projected gradient step."""
        return self.problem.descend(self.v, self.D, step)

    def curvature(self, new_image: FloatArray, enough: float) -> float:
        """||dG||^2 / lam, since P_+ does not expand; where that is too much, the term itself."""
        change = new_image - self.image
        bound = float(np.sum(change**2)) / self.problem.lam
        if bound <= enough:
            return bound
        before = self.problem.quadratic(self.values)
        values = np.asarray(np.linalg.eigvalsh(new_image), dtype=np.float64)
        after = self.problem.quadratic(values)
        slope = np.sum((change @ self.vectors) * self.vectors * np.maximum(self.values, 0))
        exact = 2 * (after - before - float(slope) / self.problem.lam)
        # a difference of nearly equal numbers is worth nothing below their rounding
        return min(bound, max(exact, 0.0) + 1e-13 * (before + after))


def project_rows(v: FloatArray, sign: FloatArray, cap: float) -> FloatArray:
    """Project each row on { v >= 0, sum over sign>0 = sum over sign<0 <= cap }; padding becomes 0.

    The projection of a on the simplex of total s is (a - alpha)_+ with alpha(s) = max_k (A_k - s) / k, A_k the sum of
    the k largest. With s given, u and w are two such projections; s is free below the cap where
    alpha(s) + beta(s) = 0, and that sum of decreasing maxima vanishes at s = max_km (m A_k + k B_m) / (k + m).
    Entries are taken less the largest of their side: a step of many caps would leave the sums no digits.
    """
    up, down = sign > 0, sign < 0
    A, most_u = _largest_sums(v, up)
    B, most_w = _largest_sums(v, down)
    s = np.clip(_balanced_total(A, B, most_u + most_w), 0.0, cap)[:, None]
    alpha = ((A - s) / np.arange(1, A.shape[1] + 1)).max(axis=1, keepdims=True)
    beta = ((B - s) / np.arange(1, B.shape[1] + 1)).max(axis=1, keepdims=True)
    left = (v - np.where(up, most_u, most_w)) - np.where(up, alpha, beta)
    projected: FloatArray = np.where(sign != 0, np.maximum(left, 0.0), 0.0)
    return projected


def _largest_sums(v: FloatArray, members: np.ndarray) -> tuple[FloatArray, FloatArray]:
    """The sum of the k largest members of each row less the largest, k = 1, 2, ..., and the largest (rows, 1).

    The sums are -inf where there are fewer, and the largest is 0 where there is none.
    """
    most = max(int(members.sum(axis=1).max(initial=0)), 1)
    ascending = np.sort(np.where(members, -v, np.inf), axis=1)[:, :most]
    first = np.where(ascending[:, :1] < np.inf, ascending[:, :1], 0.0)
    sums: FloatArray = -np.cumsum(ascending - first, axis=1)
    return sums, -first


def _balanced_total(A: FloatArray, B: FloatArray, most: FloatArray) -> FloatArray:
    """max_km (m A_k + k B_m + k m most) / (k + m) of each row, or anything below 0 where that is below 0."""
    k, m = np.arange(1.0, A.shape[1] + 1), np.arange(1.0, B.shape[1] + 1)
    if len(k) * len(m) <= 100:  # all pairs at once
        both = k[:, None] + m
        total: FloatArray = (
            A[:, :, None] * (m / both)
            + B[:, None, :] * (k[:, None] / both)
            + most[:, :, None] * (k[:, None] * m / both)
        ).max(axis=(1, 2))
        return total
    # alpha(s) + beta(s) is convex and falls: Newton from s = 0 climbs to its zero, from piece to piece
    rows, s = np.arange(len(A)), np.full(len(A), 0.0)
    while True:
        look()
        at_k = ((A - s[:, None]) / k).argmax(axis=1)
        at_m = ((B - s[:, None]) / m).argmax(axis=1)
        k_, m_ = k[at_k], m[at_m]
        zero = (m_ * A[rows, at_k] + k_ * B[rows, at_m] + k_ * m_ * most[:, 0]) / (k_ + m_)
        if not (zero > s).any():
            return s
        s = np.maximum(s, zero)
