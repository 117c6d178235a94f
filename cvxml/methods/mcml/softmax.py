"""Solver of MCML and its misreadings: <C, M> plus log sum exp of each point, along the central path of barrier.py.

    f(M) = sum_ij w_ij D_ij + sum_i c_i log sum_{k among i} exp(-D_ik),   D the squared distances of M

Here <C, M> is the first sum, C = sum_ij w_ij (x_i - x_j)(x_i - x_j)^T. A misreading is a problem that implementations
solve in place of MCML. The weights w, c and the pairs "k among i" are a `Softmaxes`: k is among i if it may be the
neighbour of i. The solver minimizes f(M) - rho log det M for decreasing rho, by Newton steps.

Derivatives at M = G G^T with respect to dX, for M = G (I + dX) G^T. Let Y (n, r) be the points in coordinates of unit
covariance and z = Y G their images. Let e_ik = z_i - z_k, p(.|i) the softmax of -D_ik over k among i, and
P_ik = c_i p(k|i).

    gradient   sum_ik (w_ik - P_ik) e_ik e_ik^T
    Hessian    sum_i c_i Var_k [ e_ik^T dX e_ik ] = sum_i c_i Var_k [ z_k^T dX z_k - 2 z_i^T dX z_k ]

Var_k is the variance over k with the probabilities p(k|i). The second form leaves out a term that does not depend on k,
because it does not change the variance. The first form needs products of coordinates of e_ik for each pair i, k. The
second form needs them for each point only: P is multiplied by a matrix (n, s) of the s = r (r + 1) / 2 products of
coordinates of z. This takes n^2 s + n s^2 operations in place of n^2 s^2.

The results are certified elsewhere (theorem.py), so an error here cannot lead to a false certificate.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray
from cvxml.core.result import Certificate, Dual, Status, Step, step_of
from cvxml.family.geometry.coordinates import Coordinates
from cvxml.family.geometry.symmetric import ROOT2, smat, squares
from cvxml.solvers.barrier import path

START = 1e-3  # share of the mean eigenvalue that is added to a start, which may be singular
LOOK = 20  # at most so many steps of the path to find a positive definite gradient
PROOF_DUE = 3.0  # a proof is tried when the estimated gap is at most this many times tol
FALLEN = 1e-9  # the path ends below this share of the objective at 0, because the objective goes to 0
SMALLEST = 1e-100  # least rho at the start
BLOCK = 2**22  # positions at a time, between two looks at the clock
Prove = Callable[[FloatArray, Dual], Certificate]


class Softmaxes(NamedTuple):
    """The constants of f in the module docstring: weights w (n, n) and c (n,), and a mask `among` (n, n).

    among_ik is True if k is in the sum of exponentials of i. If c_i = 0, row i of w is 0, and point i adds nothing to
    f.
    """

    w: FloatArray  # (n, n) >= 0, zeros in row i if c_i = 0
    c: FloatArray  # (n,) >= 0
    among: np.ndarray  # (n, n) bool, True if k is in the sum of i

    @property
    def rows(self) -> list[int]:
        """The indices of the points i with c_i > 0."""
        return [int(i) for i in np.flatnonzero(self.c)]


class Rows(NamedTuple):
    """f, P_ik = c_i p(k|i) (n, n), and the sum of c_i times the entropy of p(.|i), at images z of the points."""

    value: float
    P: FloatArray
    entropy: float


class Objective:
    """f of the module docstring as a function of M (r, r), with the derivatives that the path of barrier.py needs."""

    def __init__(self, at: Coordinates, of: Softmaxes):
        self.Y, self.of = at.Y, of
        r = at.Y.shape[1]
        a, b = self.first, self.second = np.triu_indices(r)
        place = np.zeros((r, r), dtype=np.intp)  # the position of (a, b) or (b, a) in the upper triangle
        place[a, b] = place[b, a] = np.arange(len(a))
        # Flat positions of (a a', b b') and (a b', b a') in a matrix (s, s), for (a, b) and (a', b') in the triangle.
        s = len(a)
        self.straight, self.crossed = np.empty((s, s), dtype=np.intp), np.empty((s, s), dtype=np.intp)
        rows = max(1, BLOCK // s)
        for start in watched(range(0, s, rows)):
            some = slice(start, start + rows)
            self.straight[some] = place[np.ix_(a[some], a)] * s + place[np.ix_(b[some], b)]
            self.crossed[some] = place[np.ix_(a[some], b)] * s + place[np.ix_(b[some], a)]
        self.factor = np.where(self.first == self.second, 1.0, ROOT2)

    def rows(self, z: FloatArray) -> Rows:
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
        """f, P and the entropy at M (r, r), which is psd up to rounding."""
        values, vectors = np.linalg.eigh(M)
        return self.rows(self.Y @ (vectors * np.sqrt(np.maximum(values, 0.0))))

    def value(self, M: FloatArray) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.at(M).value if np.isfinite(M).all() else math.inf
        return found if math.isfinite(found) else math.inf

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        z = self.Y @ G
        P = self.rows(z).P
        return self.gradient(z, P), self.hessian(z, P)

    def rho(self) -> float:
        """The weight of the barrier at the start of the path: the mean absolute eigenvalue of the gradient at I."""
        sizes = np.abs(np.linalg.eigvalsh(self.gradient(self.Y, self.rows(self.Y).P)))
        return max(float(sizes.mean()), SMALLEST)

    def share(self, P: FloatArray) -> FloatArray:
        """The softmax p(k|i) = P_ik / c_i, (n, n); 0 in row i if c_i = 0."""
        return P / np.where(self.of.c > 0, self.of.c, 1.0)[:, None]

    def gradient(self, z: FloatArray, P: FloatArray) -> FloatArray:
        """The gradient (r, r), sum_ik (w_ik - P_ik) e_ik e_ik^T, at images z (n, r), with e_ik = z_i - z_k."""
        N = self.of.w - P
        N = N + N.T
        g: FloatArray = z.T @ (N.sum(axis=1)[:, None] * z) - z.T @ (N @ z)
        return (g + g.T) / 2

    def hessian(self, z: FloatArray, P: FloatArray) -> FloatArray:
        """The Hessian (s, s) of the module docstring, for svec(dX) of s = r (r + 1) / 2 entries, at images z (n, r).

        P (n, n): c_i p(k|i). svec: the upper triangle of a symmetric matrix, off the diagonal times sqrt 2.
        """
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
        """svec(u_i v_i^T + v_i u_i^T) for every row i: (n, s), with s = r (r + 1) / 2."""
        a, b = self.first, self.second
        both: FloatArray = (u[:, a] * v[:, b] + u[:, b] * v[:, a]) * self.factor
        return both


class OfDiagonal(Objective):
    """f of the diagonal of M, for problems in which the metric must be diagonal."""

    def value(self, M: FloatArray) -> float:
        return super().value(np.diag(np.diag(M)))

    def derivatives(self, G: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return gradient (r, r) and Hessian (s, s) with respect to dX of f(diagonal of G (I + dX) G^T), at dX = 0.

        The entries of the diagonal of G (I + dX) G^T are svec(g g^T)^T svec(I + dX), where g runs over the rows of G.
        The vectors svec have s = r (r + 1) / 2 entries.
        """
        a = np.sum(G**2, axis=1)
        g, H = super().derivatives(np.diag(np.sqrt(a)))
        on = self.first == self.second
        K = squares(G) / a[:, None]
        of_dX: FloatArray = K.T @ (H[np.ix_(on, on)] @ K)
        return smat(K.T @ np.diag(g), len(G)), of_dX


class Ended(NamedTuple):
    """The result of `follow`: the last metric M (r, r), in the coordinates Y, its dual, the status and the history.

    n_iter: the number of steps. history: a step for each proof. tried: all metrics of the path; empty if a certificate
    proved the tolerance. proof: this certificate, else None.
    """

    M: FloatArray  # (r, r)
    dual: Dual
    status: Status
    n_iter: int
    history: tuple[Step, ...]  # one step for each proof
    tried: tuple[FloatArray, ...] = ()  # all metrics of the path; empty if it converged
    proof: Certificate | None = None  # that of M and the dual, if it proved the tolerance


def follow(
    f: Objective,
    prove: Prove,
    tol: float,
    max_iter: int,
    start: FloatArray | None = None,
    callback: Callable[[Step], None] | None = None,
    keep: Callable[[FloatArray, Dual], None] | None = None,
) -> Ended:
    """Follow the central path of f until a certificate proves `tol`, for at most `max_iter` steps.

    prove: (metric (r, r), dual) -> certificate. start: a psd matrix (r, r), if there is one. callback: called with a
    `Step` after every proof.

    keep: called with every metric and its dual. A dual has "q" (n, n), the softmax of the metric, and maybe "interior"
    (n, n), the softmax of the last metric with a positive definite gradient. Such dual variables are strict, and others
    can be mixed with them. If no metric had such a gradient, "interior" is looked for when the estimated gap is small.
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
                return Ended(M, proof.dual, Status.CONVERGED, k, tuple(history), proof=proof)
        if done:
            break
        if k == max_iter:
            status = Status.MAX_ITER
            break
    return Ended(M, dual, status, k, tuple(history), tuple(tried))


def _centred(f: Objective, M: FloatArray, rho: float) -> dict[str, FloatArray]:
    """Return {"interior": q}, where q (n, n) is the softmax of a metric near M and close to the central path.

    rho: the weight of the barrier. On the central path, the gradient is rho M^-1, so it is positive definite. The dict
    is empty if no metric with a positive definite gradient is found in `LOOK` (20) steps.
    """
    for state in islice(path(f, M, rho, shrink=1.0), LOOK):
        P = f.at(state.M).P
        if _definite(f.gradient(f.Y, P), state.M):
            return {"interior": f.share(P)}
    return {}


def _definite(Z: FloatArray, M: FloatArray) -> bool:
    """Return True if the gradient Z (r, r) is clearly positive definite, in coordinates in which M is the identity.

    Clearly: the least eigenvalue of R^T Z R, with M = R R^T, is above a tenth of the mean of its eigenvalues.
    """
    values, vectors = np.linalg.eigh(M)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    scaled = np.linalg.eigvalsh(root.T @ Z @ root)
    return bool(scaled[0] > 0.1 * scaled.mean() > 0)


def value_and_gradient(Y: FloatArray, of: Softmaxes, M: FloatArray, plain: bool) -> tuple[float, FloatArray]:
    """Return f of the module docstring at M (r, r), and df/dM (r, r), for points Y (n, r) and the weights `of`.

    plain: the distances sqrt(D) replace D; then M must be psd up to rounding. Otherwise M can be any symmetric matrix.
    """
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
    if plain:  # the distance of equal points does not depend on M
        same = cdist(Y, Y) <= 1e-12 * np.abs(Y).max()
        N = np.where(same, 0.0, N / (2 * np.where(same, 1.0, D)))
    N = N + N.T
    half = Y.T @ (N.sum(axis=1)[:, None] * Y) - Y.T @ (N @ Y)
    Z: FloatArray = (half + half.T) / 2
    return objective, Z
