"""Sums over the rows of a loss that a solver holds in memory, and the matrix of its Newton equations.

A row is one term of the loss, for example one triplet. The solvers multipliers.py and factor_start.py hold only the
rows with a margin that is violated or nearly violated. In a metric M (r, r), row t has the value
v_t = <V_t, M> = sum_p B_tp D_p. Here D_p is the squared distance of the pair p = (i, j) of points Y (n, r), and B_tp is
a constant, such as 1 or -1. So V_t = sum_p B_tp X_p with X_p = (y_i - y_j)(y_i - y_j)^T.

Most sums over pairs are computed from inner products of points, which is faster than from differences. svec(S) lists
the upper triangle of a symmetric matrix S, row by row. Entries off the diagonal are multiplied by sqrt 2, so that
<S, T> = svec(S)^T svec(T).
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, cg

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.work import FACTORISING, doing
from cvxml.family.geometry.symmetric import ROOT2, quadratic, smat, squares, svec, triangle, weighted
from cvxml.family.rows.base import Entries

BLOCK = 2**22  # numbers handled at a time
CACHED = 2**18  # coordinates of pairs handled at a time, so that they fit into the cache
DENSE = 20  # if at least one in this many pairs of points is used, products of whole matrices are faster
SEEN = 2**12  # about this many pairs are enough for a diagonal
FIRST = 20  # the preconditioner has the exact curvature of this many directions
MAX_ROWS_DIRECT = 1500  # up to this many rows or entries, a direct solution of the system is faster
MAX_ROWS_STORED = 3000  # up to this many rows, the matrix of the system is stored
NEGLIGIBLE = 0.3  # curvature below this share of tau is left out, but for its diagonal


class Limits(NamedTuple):
    """When conjugate gradients end: after `steps` steps, or at a residual of `residual` times the right-hand side."""

    steps: int
    residual: float  # relative to the right-hand side


CG = Limits(steps=40, residual=0.3)


class Active(NamedTuple):
    """The rows t of the loss that a solver holds, and the pairs p = (i, j) of points Y (n, r) that these rows contain.

    B: the constants B_tp, a csr_array with a row for each t. i, j: the points of each pair, sorted by i and then by j.
    """

    Y: FloatArray
    B: Any  # csr_array (t, p)
    i: IntArray  # (p,)
    j: IntArray

    @classmethod
    def of(cls, Y: FloatArray, entries: Entries, count: int) -> Self:
        """Build the rows from the nonzero entries of B.

        entries: for each entry its row t, its pair (i, j) of points, and its value (`sign`). count: the number of rows.
        """
        n = len(Y)
        pairs, place = np.unique(entries.pairs @ (n, 1), return_inverse=True)
        B = csr_array((entries.sign, (entries.row, place.reshape(-1))), shape=(count, len(pairs)))
        return cls(Y, B, *np.divmod(pairs, n))

    def part(self, rows: IntArray) -> Self:
        """Return the rows with these indices, and only the pairs that they contain."""
        B = self.B[rows]
        there = np.zeros(len(self.i), dtype=bool)
        there[B.indices] = True
        used = np.flatnonzero(there)
        place = np.cumsum(there) - 1
        B = csr_array((B.data, place[B.indices], B.indptr), shape=(len(rows), len(used)))
        return self._replace(B=B, i=self.i[used], j=self.j[used])

    def apart(self, z: FloatArray) -> FloatArray:
        """The differences z_i - z_j (p, m) of all pairs, for points z (n, m)."""
        e: FloatArray = z[self.i] - z[self.j]
        return e

    def margins_of(self, z: FloatArray) -> FloatArray:
        """The values v (t,) of the rows if ||z_i - z_j||^2 is the squared distance of the pair (i, j). z: (n, k)."""
        v: FloatArray = self.B @ self._for_pairs(z, lambda i, j: np.sum((z[i] - z[j]) ** 2, axis=1))
        return v

    def margins_between(self, z: FloatArray, w: FloatArray) -> FloatArray:
        """The values v (t,) of the rows if (z_i - z_j)^T (w_i - w_j) is the squared distance of the pair (i, j).

        z, w: (n, k). For z = Y L and w = Y L T these are the distances in the symmetric matrix L T L^T.
        """
        v: FloatArray = self.B @ self._for_pairs(
            z, lambda i, j: np.einsum("pk,pk->p", z[i] - z[j], w[i] - w[j])
        )
        return v

    def along(self, S: FloatArray) -> FloatArray:
        """The values <V_t, W> (t,) of the rows for a symmetric matrix W (r, r), computed from inner products of points.

        S (r, k): the first k columns of W. If k < r, the entries W_ab with a > k and b > k must be 0. Each value has an
        error of about the rounding error of the largest squared distance.
        """
        k = S.shape[1]
        whole = k == len(S)
        T = S if whole else S * np.where(np.arange(len(S)) < k, 1.0, 2.0)[:, None]
        # e^T S e is the sum of e_a (T^T e)_a over the first coordinates a
        v: FloatArray = self.B @ self._products(self.Y @ T, self.Y[:, :k], symmetric=whole)
        return v

    def nearly(self, z: FloatArray) -> FloatArray:
        """The values v (t,) of the rows if ||z_i - z_j||^2 is the squared distance of the pair (i, j). z: (n, k).

        They are computed from inner products z_i^T z_j, which is faster than from differences. Each distance has an
        error of about the rounding error of the largest one.
        """
        v: FloatArray = self.B @ self._products(z, z, symmetric=True)
        return v

    def _products(self, z: FloatArray, Y: FloatArray, symmetric: bool) -> FloatArray:
        """(z_i - z_j)^T (Y_i - Y_j) (p,) for all pairs (i, j).

        z, Y: (n, k). symmetric: True if z_i^T Y_j = z_j^T Y_i for all i and j.
        """
        own = np.einsum("nk,nk->n", z, Y)
        if self.dense:
            table = z @ Y.T
            products = (table if symmetric else (table + table.T) / 2)[self.i, self.j]
        else:
            products = self._for_pairs(z, lambda i, j: np.einsum("pk,pk->p", z[i], Y[j]))
            if not symmetric:
                products = (products + self._for_pairs(z, lambda i, j: np.einsum("pk,pk->p", Y[i], z[j]))) / 2
        found: FloatArray = own[self.i] + own[self.j] - 2 * products
        return found

    @property
    def dense(self) -> bool:
        """True if the rows contain so many pairs that products of whole matrices (n, n) are faster (`DENSE`)."""
        return len(self.Y) ** 2 <= DENSE * len(self.i)

    def _for_pairs(self, z: FloatArray, values: Any) -> FloatArray:
        """Return values(i, j) (p,) for all pairs, computed in blocks of pairs.

        values: a function of two arrays of indices, which reads rows of z (n, k). The block size depends on k.
        """
        found, size = np.empty(len(self.i)), max(1, CACHED // max(1, z.shape[1]))
        for start in watched(range(0, len(found), size)):
            some = slice(start, start + size)
            found[some] = values(self.i[some], self.j[some])
        return found

    def total(self, a: FloatArray) -> FloatArray:
        """sum_t a_t V_t (r, r), for weights a (t,) of the rows."""
        W, degree = self._graph(a)
        half = self.Y.T @ (degree[:, None] / 2 * self.Y - W @ self.Y)
        S: FloatArray = half + half.T
        return S

    def total_with(self, a: FloatArray, z: FloatArray) -> FloatArray:
        """sum_t a_t V_t L (r, k), for weights a (t,) of the rows and images z = Y L (n, k)."""
        W, degree = self._graph(a)
        S: FloatArray = self.Y.T @ (degree[:, None] * z - W @ z - W.T @ z)
        return S

    def _graph(self, a: FloatArray) -> tuple[Any, FloatArray]:
        """The weight sum_t a_t B_tp of each pair, and for each point the sum (n,) of the weights of its pairs.

        The weight of the pair (i, j) is the entry (i, j) of a matrix (n, n): a csr_array, or an array if `dense`.
        """
        n = len(self.Y)
        W = csr_array((self.B.T @ a, self.j, np.searchsorted(self.i, np.arange(n + 1))), shape=(n, n))
        degree = np.asarray(W.sum(axis=0)).ravel() + np.asarray(W.sum(axis=1)).ravel()
        return W.toarray() if self.dense else W, degree


class Curvature:
    """The matrix H = tau I + weight * sum_t svec(V_t) svec(V_t)^T of Newton's equations H x = b, and their solution.

    rows: the rows t in the sum. tau: the weight of the barrier. weight: the second derivative of the hinge. The V_t are
    taken in coordinates in which the metric M = L L^T is I. The columns of L (r, r) must be orthogonal, with the
    longest first. Then the first coordinates contribute most of H.

    x and b are vectors svec(S) of symmetric matrices S (r, r). Often the diagonal of H is close to tau for all entries
    S_ab with a, b > f, for some f < r. For these entries, `solve` replaces H by its diagonal. The p other entries,
    those in the first f rows of S, come first in svec(S). Conjugate gradients are used for these p entries only.
    """

    def __init__(self, rows: Active, L: FloatArray, tau: float, weight: float):
        self.rows, self.r = rows._replace(Y=rows.Y @ L), len(L)
        self.tau, self.weight = tau, weight
        self._use_first(self.r)

    def _use_first(self, first: int) -> None:
        """Restrict all products to the p entries of svec(S) in the first `first` rows of S."""
        self.first, self.p = first, first * self.r - first * (first - 1) // 2
        rows, columns = triangle(self.r)
        self.at = rows[: self.p], columns[: self.p]
        self.twin = np.flatnonzero((self.at[1] < first) & (self.at[0] != self.at[1]))
        self.scale = np.where(self.at[0] == self.at[1], 1.0, ROOT2)

    def along(self, x: FloatArray) -> FloatArray:
        """The values <V_t, S> (t,) of the rows. The first p entries of svec(S) are x (p,), and the others are 0."""
        rows, columns = self.at
        S = np.zeros((self.r, self.first))
        S[columns, rows] = x / self.scale
        S[rows[self.twin], columns[self.twin]] = S[columns[self.twin], rows[self.twin]]
        return self.rows.along(S)

    def total(self, y: FloatArray) -> FloatArray:
        """The first p entries of svec(sum_t y_t V_t), for weights y (t,) of the rows."""
        rows, columns = self.at
        whole = self.first == self.r
        S = self.rows.total(y) if whole else self.rows.total_with(y, self.rows.Y[:, : self.first])
        entries: FloatArray = S[columns, rows] * self.scale
        return entries

    def times(self, x: FloatArray) -> FloatArray:
        product: FloatArray = self.tau * x + self.weight * self.total(self.along(x))
        return product

    def solve(self, b: FloatArray, limits: Limits = CG) -> FloatArray:
        """The x with H x = b: by a direct method if the rows or the entries of b are few, else by conjugate gradients.

        b: svec of a symmetric matrix (r, r). If conjugate gradients do not end within `limits`, the direct solution is
        used, provided that there are at most `MAX_ROWS_STORED` rows or entries. Otherwise their last iterate is
        returned.
        """
        p, few = len(b), min(len(b), self.rows.B.shape[0])
        if few <= MAX_ROWS_DIRECT:
            return self._directly(b)
        diagonal = self._diagonal()
        self._choose_first(diagonal)
        p, rest = self.p, diagonal[: self.p]
        block = self._factor(min(FIRST, self.r))
        own = np.flatnonzero(self.at[1] < FIRST)

        def nearly(y: FloatArray) -> FloatArray:
            z = y / rest
            z[own] = cho_solve(block, y[own])
            return z

        H, P = (LinearOperator((p, p), matvec=matvec, dtype=float) for matvec in (self.times, nearly))
        enough = limits.residual * float(np.linalg.norm(b))
        x, unfinished = cg(H, b[:p], x0=nearly(b[:p]), rtol=0.0, atol=enough, maxiter=limits.steps, M=P)
        if unfinished and few <= MAX_ROWS_STORED:
            return self._directly(b)
        return np.concatenate([x, b[p:] / diagonal[p:]])

    def _choose_first(self, diagonal: FloatArray) -> None:
        """Choose the number f of the class docstring, and so the p entries of svec(S) for conjugate gradients.

        All entries are chosen if f would be at least r / 2. diagonal: that of H, for all entries of svec(S).
        """
        full = np.empty((self.r, self.r))
        rows, columns = triangle(self.r)
        full[rows, columns] = full[columns, rows] = diagonal
        # the largest entry of each block of last coordinates
        largest = np.maximum.accumulate(np.maximum.accumulate(full[::-1, ::-1], 0), 1).diagonal()[::-1]
        few = max(FIRST, int(np.sum(largest > (1 + NEGLIGIBLE) * self.tau)))
        self._use_first(few if 2 * few < self.r else self.r)

    def _directly(self, b: FloatArray) -> FloatArray:
        """The x with H x = b, for the matrix H of the class. b and x are symmetric matrices as vectors (`svec`).

        The linear system has one unknown for each entry of b, or one for each row; the smaller one is solved. It uses
        differences of points, so no digits are lost.
        """
        B, tau = self.rows.B, self.tau
        if len(b) <= B.shape[0]:
            direct: FloatArray = cho_solve(self._factor(self.r), b)
            return direct
        E = self.rows.apart(self.rows.Y)
        # the inner products of e e^T are the squares of those of e
        K = B @ (B @ (E @ E.T) ** 2).T
        K[np.diag_indices(len(K))] += tau / self.weight
        y = cho_solve(cho_factor(K, overwrite_a=True), B @ quadratic(E, smat(b, self.r)))
        return (b - svec(weighted(E, B.T @ y))) / tau

    def _factor(self, first: int) -> Any:
        """The Cholesky factor, as scipy returns it, of the block of H for the entries S_ab with a, b <= `first`."""
        t, p = self.rows.B.shape[0], first * (first + 1) // 2
        K, size = self.tau * np.eye(p), max(1, BLOCK // p)
        z = self.rows.Y[:, :first]
        for start in watched(range(0, t, size)):
            some = self.rows.part(np.arange(start, min(t, start + size)))
            A = some.B @ squares(some.apart(z))
            K += self.weight * (A.T @ A)
        with doing(FACTORISING):
            return cho_factor(K, overwrite_a=True)

    def _diagonal(self) -> FloatArray:
        """The diagonal of H, approximated as if each row contained one pair only.

        If there are many pairs, an evenly spaced sample of them is used.
        """
        often = np.asarray((self.rows.B**2).sum(axis=0)).ravel()
        every = -(-len(often) // SEEN)
        i, j = self.rows.i[::every], self.rows.j[::every]
        E, often = (self.rows.Y[i] - self.rows.Y[j]) ** 2, every * often[::every]
        rows, columns = triangle(self.r)
        twice: FloatArray = np.where(rows == columns, 1.0, 2.0)
        found: FloatArray = self.tau + self.weight * twice * ((E * often[:, None]).T @ E)[rows, columns]
        return found
