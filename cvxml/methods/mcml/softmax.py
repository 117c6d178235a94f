"""Objectives made of softmaxes: <C, M> and log sum exp of each point, followed along the path of barrier.py.

    f(M) = sum_ij w_ij D_ij + sum_i c_i log sum_{k among i} exp(-D_ik),      D the distances of M

With images z_i of the points, e_ik = z_i - z_k, and P_ik = c_i p(k|i), at M = G G^T for M = G (I + dX) G^T, z = Y G:
    gradient   sum_ik (w_ik - P_ik) e_ik e_ik^T
    Hessian    sum_i c_i Var_{k by p_i} [ e_ik^T dX e_ik ] = sum_i c_i Var_k [ z_k^T dX z_k - 2 z_i^T dX z_k ],
since what k does not change has no variance. Multiplied out, the second needs P only against the p = r (r + 1) / 2
products of coordinates of each point, not against those of each pair: n^2 p + n p^2 operations in place of n^2 p^2.

Nothing here is believed: what comes out is certified by theorem.py.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Certificate, Dual, Status, Step, step_of
from cvxml.family.geometry.coordinates import Coordinates
from cvxml.family.geometry.symmetric import ROOT2, smat, squares
from cvxml.solvers.barrier import path

START = 1e-3  # of the trace, a dimension, added to a start that may be singular
LOOK = 20  # steps of the path for a definite gradient
PROOF_DUE = 3.0  # a proof is tried when the estimated gap is at most this many times tol
FALLEN = 1e-9  # of the objective at 0: an objective that low goes to 0
SMALLEST = 1e-100
Prove = Callable[[FloatArray, Dual], Certificate]


class Softmaxes(NamedTuple):
    """The w, c and k of the objective; a row with c_i = 0 is not there."""

    w: FloatArray  # (n, n) >= 0, rows of zeros where c is 0
    c: FloatArray  # (n,) >= 0
    among: np.ndarray  # (n, n) bool

    @property
    def rows(self) -> list[int]:
        """The points that have a row."""
        return [int(i) for i in np.flatnonzero(self.c)]


class Rows(NamedTuple):
    """The objective at images z, P (n, n), and what their entropies sum up to."""

    value: float
    P: FloatArray
    entropy: float


class Objective:
    """f as a function of M (r, r): a `cvxml.solvers.barrier.Smooth`."""

    def __init__(self, at: Coordinates, of: Softmaxes):
        self.Y, self.of = at.Y, of
        r = at.Y.shape[1]
        a, b = self.first, self.second = np.triu_indices(r)
        place = np.zeros((r, r), dtype=np.intp)  # of an entry (a, b) or (b, a) in the upper triangle
        place[a, b] = place[b, a] = np.arange(len(a))
        # of entries (a a', b b') and (a b', b a') of a matrix (p, p), for (a, b) and (a', b') in the triangle
        self.straight = place[np.ix_(a, a)] * len(a) + place[np.ix_(b, b)]
        self.crossed = place[np.ix_(a, b)] * len(a) + place[np.ix_(b, a)]
        self.factor = np.where(self.first == self.second, 1.0, ROOT2)

    def rows(self, z: FloatArray) -> Rows:
        """Everything at images z (n, r)."""
        w, c, among = self.of.w, self.of.c, self.of.among
        D = cdist(z, z, "sqeuclidean")
        per = np.where(c > 0, c, 1.0)
        pull = np.sum(w * D, axis=1) / per
        exponents = np.where(among, pull[:, None] - D, -np.inf)
        top = exponents.max(axis=1, keepdims=True)
        p = np.exp(exponents - top)
        total = p.sum(axis=1, keepdims=True)
        log_sum = np.log(total[:, 0]) + top[:, 0]
        p /= total
        # H(p_i) = log sum exp(-D) + sum_k p_ik D_ik
        entropy = c @ (log_sum - pull + np.sum(p * D, axis=1))
        return Rows(float(c @ log_sum), c[:, None] * p, float(entropy))

    def at(self, M: FloatArray) -> Rows:
        """Everything at M (r, r)."""
        values, vectors = np.linalg.eigh(M)
        return self.rows(self.Y @ (vectors * np.sqrt(np.maximum(values, 0.0))))

    def value(self, M: FloatArray) -> float:
        """f(M)."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.at(M).value if np.isfinite(M).all() else math.inf
        return found if math.isfinite(found) else math.inf

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The gradient (r, r) and the Hessian (p, p) of dX at M = G (I + dX) G^T."""
        z = self.Y @ G
        P = self.rows(z).P
        return self.gradient(z, P), self.hessian(z, P)

    def rho(self) -> float:
        """Where the path may start: the size of the gradient at the identity."""
        sizes = np.abs(np.linalg.eigvalsh(self.gradient(self.Y, self.rows(self.Y).P)))
        return max(float(sizes.mean()), SMALLEST)

    def share(self, P: FloatArray) -> FloatArray:
        """P_ik / c_i."""
        return P / np.where(self.of.c > 0, self.of.c, 1.0)[:, None]

    def gradient(self, z: FloatArray, P: FloatArray) -> FloatArray:
        """sum_ik (w_ik - P_ik) e_ik e_ik^T."""
        N = self.of.w - P
        N = N + N.T
        g: FloatArray = z.T @ (N.sum(axis=1)[:, None] * z) - z.T @ (N @ z)
        return (g + g.T) / 2

    def hessian(self, z: FloatArray, P: FloatArray) -> FloatArray:
        """sum_i c_i Var_k [ z_k^T dX z_k - 2 z_i^T dX z_k ], by svec(dX)."""
        c = self.of.c
        a, b, factor = self.first, self.second, self.factor
        products = z[:, a] * z[:, b]
        F = products * factor  # svec(z_k z_k^T)
        means, pulled = P @ z, P.T @ z
        # E[(z_k^T dX z_k)^2], and twice its product with 2 z_i^T dX z_k
        H = F.T @ (P.sum(axis=0)[:, None] * F)
        mixed = F.T @ self._both(z, pulled)
        H -= mixed + mixed.T
        # E[(2 z_i^T dX z_k)^2], from sum_ik P_ik (z_ia z_ib) (z_kc z_kd)
        T = products.T @ (P @ products)
        T = T + T.T
        four = T.take(self.straight) + T.take(self.crossed)
        H += four * np.outer(factor, factor)
        # the squares of the expectations
        mean = P @ F - self._both(z, means)
        mean /= np.sqrt(np.where(c > 0, c, 1.0))[:, None]
        H -= mean.T @ mean
        symmetric: FloatArray = (H + H.T) / 2
        return symmetric

    def _both(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """svec(u_i v_i^T + v_i u_i^T) of every row: (n, p)."""
        a, b = self.first, self.second
        both: FloatArray = (u[:, a] * v[:, b] + u[:, b] * v[:, a]) * self.factor
        return both


class OfDiagonal(Objective):
    """The same of the diagonal of M alone."""

    def value(self, M: FloatArray) -> float:
        """f(diag M)."""
        return super().value(np.diag(np.diag(M)))

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The diagonal of G (I + dX) G^T has the entries svec(g g^T) svec(I + dX), g a row of G."""
        a = np.sum(G**2, axis=1)
        g, H = super().derivatives(np.diag(np.sqrt(a)))
        on = self.first == self.second
        K = squares(G) / a[:, None]
        of_dX: FloatArray = K.T @ (H[np.ix_(on, on)] @ K)
        return smat(K.T @ np.diag(g), len(G)), of_dX


class Ended(NamedTuple):
    """What the path ended with, in the coordinates; `history` of the proofs, `tried` all its metrics."""

    M: FloatArray
    dual: Dual
    status: Status
    n_iter: int
    history: tuple[Step, ...]
    tried: tuple[FloatArray, ...] = ()


def follow(
    f: Objective,
    prove: Prove,
    tol: float,
    max_iter: int,
    start: FloatArray | None = None,
    callback: Callable[[Step], None] | None = None,
    keep: Callable[[FloatArray, Dual], None] | None = None,
) -> Ended:
    """Follow the path until `prove` of a metric (r, r) and a dual proves `tol`.

    start: a psd matrix (r, r). keep: told every metric and its dual. The rows of the dual are those of the metric
    itself; "interior", those of the last metric whose gradient was definite; if there was none, one is looked for once
    the gap seems small.
    """
    began, r = time.perf_counter(), f.Y.shape[1]
    M = np.eye(r) if start is None else start + START * max(float(np.trace(start)), 1.0) / r * np.eye(r)
    at_zero = f.value(np.zeros((r, r)))
    history: list[Step] = []
    tried: list[FloatArray] = []
    dual: dict[str, FloatArray] = {}
    status, k = Status.STALLED, 0
    for k, state in enumerate(path(f, M, f.rho())):
        M = state.M
        tried.append(M)
        rows = f.at(M)
        dual = {**dual, "q": f.share(rows.P)}
        if _definite(f.gradient(f.Y, rows.P), M):
            dual["interior"] = dual["q"]
        if keep is not None:
            keep(M, dual)
        done = state.rho * r <= EPS * abs(rows.value) or rows.value <= FALLEN * at_zero
        near = rows.value - rows.entropy <= PROOF_DUE * tol * abs(rows.value)
        if near and k > 0 and "interior" not in dual:
            dual |= _centred(f, M, max(state.rho, tol * abs(rows.value) / (4 * r)))
        if near or done or k in (0, max_iter):
            proof = prove(M, dual)
            history.append(step_of(proof, k, time.perf_counter() - began))
            if callback is not None:
                callback(history[-1])
            if proof.proves(tol):
                return Ended(M, proof.dual, Status.CONVERGED, k, tuple(history))
        if done:
            break
        if k == max_iter:
            status = Status.MAX_ITER
            break
    return Ended(M, dual, status, k, tuple(history), tuple(tried))


def _centred(f: Objective, M: FloatArray, rho: float) -> dict[str, FloatArray]:
    """ "interior": the rows of a metric near M that is in the middle of the path, whose gradient is rho over it."""
    for state in islice(path(f, M, rho, shrink=1.0), LOOK):
        P = f.at(state.M).P
        if _definite(f.gradient(f.Y, P), state.M):
            return {"interior": f.share(P)}
    return {}


def _definite(Z: FloatArray, M: FloatArray) -> bool:
    """True if Z is positive definite where it matters: scaled by a root of M, no eigenvalue far below the mean."""
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scaled = np.linalg.eigvalsh(root.T @ Z @ root)
    return bool(scaled[0] > 0.1 * scaled.mean() > 0)


def value_and_gradient(Y: FloatArray, of: Softmaxes, M: FloatArray, plain: bool) -> tuple[float, FloatArray]:
    """f at M (r, r), and df/dM; plain: of sqrt(D) in place of D. M need not be psd where it is not plain."""
    if plain:
        values, vectors = np.linalg.eigh(M)
        images = Y @ (vectors * np.sqrt(np.maximum(values, 0.0)))
        D = cdist(images, images)
    else:
        inner = Y @ M @ Y.T
        D = np.diag(inner)[:, None] + np.diag(inner) - 2 * inner
    used = of.c > 0
    exponents = np.where(of.among, -D, -np.inf)
    top = exponents.max(axis=1, keepdims=True)
    total = np.exp(exponents - top).sum(axis=1, keepdims=True)
    P = np.where(used[:, None], of.c[:, None] * np.exp(exponents - top) / total, 0.0)
    log_sums = (np.log(total) + top)[:, 0]
    objective = float(np.sum(of.w * D) + of.c[used] @ log_sums[used])
    N = of.w - P
    if plain:  # where points coincide, nothing depends on M
        same = cdist(Y, Y) <= 1e-12 * np.abs(Y).max()
        N = np.where(same, 0.0, N / (2 * np.where(same, 1.0, D)))
    N = N + N.T
    half = Y.T @ (N.sum(axis=1)[:, None] * Y) - Y.T @ (N @ Y)
    Z: FloatArray = (half + half.T) / 2
    return objective, Z
