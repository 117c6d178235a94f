"""A primal-dual interior-point method for a metric under linear margins, for small d.

    min_{M >> 0}  <C, M> + sum_t h(1 - v_t),   v = B D,   D_p = e_p^T M e_p for differences e_p of pairs of points,
where h punishes a margin v_t < 1, in one of three ways with prices lambda_t >= 0 that sum up to the lower bound:
    hinge   h = cap [.]_+          lambda <= cap
    squared h = cap [.]_+^2        the bound loses sum lambda^2 / (4 cap)
    hard    v_t >= 1 is required   (cap infinite)
With slacks  s = v - 1 + xi (+ lambda / (2 cap) where squared),  xi >= 0 only of the hinge, and
Z = C - sum_t lambda_t V_t for the psd cone, all products  lambda s, (cap - lambda) xi, M Z  go to zero together
(Mehrotra's predictor and corrector; Nesterov-Todd scaling, in which M and Z are the same diagonal matrix). The Newton
system has one unknown for each entry of M, however many rows there are; rows may be added on the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular
from scipy.sparse import csr_array, vstack

from cvxml.core.metric import FloatArray
from cvxml.family.symmetric import quadratic, smat, squares, svec, weighted

HEAVY = 1e6  # a row that weighs so much more than the identity is kept out of the normal equations
FAR = 0.5  # where the share of mu to aim at is more, the step is one to the centre
BACK_OFF = 0.98  # of the longest step that keeps everything positive


class Margin(NamedTuple):
    """How a margin that is missed counts."""

    cap: float  # weight of the hinge; inf: no margin may be missed
    squared: bool = False

    @property
    def hard(self) -> bool:
        """True where no margin may be missed."""
        return not self.squared and math.isinf(self.cap)

    @property
    def limit(self) -> float:
        """No price exceeds it."""
        return math.inf if self.squared else self.cap

    @property
    def softness(self) -> float:
        """What a price may miss of the margin, for each unit of it."""
        return 1 / (2 * self.cap) if self.squared else 0.0


class Direction(NamedTuple):
    """A step in everything; psd parts in the scaled space."""

    M: FloatArray
    Z: FloatArray
    price: FloatArray
    slack: FloatArray
    missed: FloatArray


@dataclass
class Interior:
    """The state: all of it positive, linear equations met only in the end."""

    C: FloatArray  # (d, d)
    margin: Margin
    M: FloatArray  # (d, d)
    Z: FloatArray  # (d, d)
    E: FloatArray  # (p, d) differences of the pairs in use
    B: Any  # csr (rows, p)
    price: FloatArray  # lambda (rows,)
    slack: FloatArray  # s (rows,)
    missed: FloatArray  # xi (rows,); zeros where prices have no limit

    @classmethod
    def start(cls, C: FloatArray, margin: Margin, M: FloatArray) -> Interior:
        """No rows yet."""
        none, d = np.zeros(0), len(C)
        return cls(C, margin, M, np.eye(d), np.zeros((0, d)), csr_array((0, 0)), none, none, none)

    @property
    def mu(self) -> float:
        """The mean of the products that go to zero."""
        total = float(np.sum(self.M * self.Z)) + float(self.price @ self.slack)
        count = len(self.M) + len(self.price)
        if math.isfinite(self.margin.limit):
            total += float((self.margin.limit - self.price) @ self.missed)
            count += len(self.price)
        return total / count

    def add(self, E: FloatArray, B: Any) -> None:
        """New pairs E (q, d) and rows B (r, p + q) over the old and the new pairs, centred at the present mu."""
        mu, old = self.mu, self.B.shape[0]
        self.E = np.vstack([self.E, E])
        self.B = vstack(
            [csr_array((self.B.data, self.B.indices, self.B.indptr), shape=(old, len(self.E))), B],
            format="csr",
        )
        spare = B @ quadratic(self.E, self.M) - 1
        price, slack, missed = self._centred(spare, mu)
        self.price = np.concatenate([self.price, price])
        self.slack = np.concatenate([self.slack, slack])
        self.missed = np.concatenate([self.missed, missed])

    def _centred(self, spare: FloatArray, mu: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Price, slack and what is missed with all products mu, where v - 1 = spare."""
        none = np.zeros(len(spare))
        limit, soft = self.margin.limit, self.margin.softness
        if math.isfinite(limit):  # mu / price - mu / (limit - price) = spare
            root = np.hypot(spare * limit, 2 * mu)
            half = np.where(spare > 0, 2 * mu * limit / (spare * limit + 2 * mu + root), 0.0)
            other = np.where(spare > 0, 0.0, 2 * mu * limit / (-spare * limit + 2 * mu + root))
            price = np.where(spare > 0, half, limit - other)
            return price, mu / price, mu / np.where(spare > 0, limit - price, other)
        if soft > 0:  # mu / price - soft price = spare
            price = 2 * mu / (np.hypot(spare, 2 * math.sqrt(soft * mu)) + spare)
            return price, mu / price, none
        slack = np.maximum(spare, math.sqrt(mu))
        return mu / slack, slack, none

    def begin(self, mu: float, rounds: int) -> None:
        """From the best multiple of M towards the point where all products are mu."""
        spare = self.B @ quadratic(self.E, self.M)
        self.M = min(
            (2.0**e * self.M for e in np.arange(-8, 20, 0.5)),
            key=lambda M: self._smooth(M, M[0, 0] / self.M[0, 0] * spare - 1, mu),
        )
        self.centre(mu, rounds)

    def centre(self, mu: float, rounds: int) -> None:
        """Newton steps on M alone, towards the point where all products are mu; everything else follows from M.

        The function that they minimise, <C, M> - mu log det M + what the rows add, is self-concordant: a line search
        makes it converge from anywhere. It stops where a full Newton step would do, or after `rounds`.
        """
        for _ in range(rounds):
            self._follow(mu)
            try:
                G = np.linalg.cholesky(self.M)
                # With this G both G^-1 M G^-T and G^T Z G are sqrt(mu) times the identity: M Z = mu.
                newton = _Newton(self, G / mu**0.25, np.full(len(G), math.sqrt(mu)))
                go = newton.direction(mu, None)
            except (LinAlgError, ValueError):
                break
            change = G @ go.M @ G.T / math.sqrt(mu)
            spare = self.B @ quadratic(self.E, self.M) - 1
            along = self.B @ quadratic(self.E, change)
            decrement = math.sqrt(max(0.0, -self._slope(change, along) / mu))
            if decrement <= 1:
                break
            t = min(1.0, 0.95 * _psd_length(newton.v, go.M))
            if self.margin.hard:
                t = min(t, 0.95 * _length(spare, along))
            here = self._smooth(self.M, spare, mu)
            while self._smooth(self.M + t * change, spare + t * along, mu) > here and t > 1e-10:
                t /= 2
            self.M = _symmetric(self.M + t * change)
        self._follow(mu)

    def _follow(self, mu: float) -> None:
        """Z, prices and slacks as M has them at mu."""
        self.Z = _symmetric(mu * np.linalg.inv(self.M))
        spare = self.B @ quadratic(self.E, self.M) - 1
        self.price, self.slack, self.missed = self._centred(spare, mu)

    def _slope(self, change: FloatArray, along: FloatArray) -> float:
        """Of the function that `centre` minimises."""
        return float(np.sum((self.C - self.Z) * change)) - float(self.price @ along)

    def _smooth(self, M: FloatArray, spare: FloatArray, mu: float) -> float:
        """The function that `centre` minimises; inf where M is not positive definite."""
        try:
            log_det = 2 * float(np.sum(np.log(np.diag(np.linalg.cholesky(M)))))
        except LinAlgError:
            return math.inf
        if self.margin.hard and not (spare > 0).all():
            return math.inf
        price, slack, missed = self._centred(spare, mu)
        rows = float(np.sum(self.margin.softness * price**2 / 2 - mu * np.log(slack)))
        if math.isfinite(self.margin.limit):
            rows += float(np.sum(self.margin.limit * missed - mu * np.log(missed)))
        return float(np.sum(self.C * M)) - mu * log_det + rows

    def step(self) -> bool:
        """One predictor-corrector step; False where rounding allows none."""
        with np.errstate(all="ignore"):  # what is no number is looked for
            try:
                return self._step()
            except (LinAlgError, ValueError):
                return False

    def _step(self) -> bool:
        G, v = scaling(self.M, self.Z)
        newton = _Newton(self, G, v)
        affine = newton.direction(0.0, None)
        primal, dual = newton.longest(affine)
        mu = self.mu
        sigma = min(1.0, (newton.mu_after(affine, primal, dual) / mu) ** 3)
        # In a step towards the centre the residual of the equations shrinks only as fast as mu does: to remove all
        # of it at once would keep that step short.
        found = newton.direction(sigma * mu, affine, 1 - sigma if sigma > FAR else 1.0)
        primal, dual = (min(1.0, BACK_OFF * length) for length in newton.longest(found))
        if not all(np.isfinite(part).all() for part in found) or max(primal, dual) < 1e-8:
            return False
        G_inverse = np.linalg.inv(G)
        self.M = _symmetric(self.M + primal * G @ found.M @ G.T)
        self.Z = _symmetric(self.Z + dual * G_inverse.T @ found.Z @ G_inverse)
        self.price = self.price + dual * found.price
        self.slack = self.slack + primal * found.slack
        self.missed = self.missed + primal * found.missed
        return True


class _Newton:
    """The linear system of one state."""

    def __init__(self, at: Interior, G: FloatArray, v: FloatArray):
        self.at, self.v = at, v
        limit = at.margin.limit
        self.room = limit - at.price if math.isfinite(limit) else np.ones(len(at.price))
        self.F = squares(at.E @ G)
        spare = at.B @ quadratic(at.E, at.M) - 1
        self.unmet = spare + at.missed + at.margin.softness * at.price - at.slack
        R = at.C - weighted(at.E, at.B.T @ at.price) - at.Z
        self.R = svec(_symmetric(G.T @ R @ G))
        self.w = 1 / (at.slack / at.price + at.missed / self.room + at.margin.softness)
        self.system = _LeastSquares(self.F, at.B, self.w)

    def direction(self, rho: float, affine: Direction | None, share: float = 1.0) -> Direction:
        """Towards all products rho, with the second order of the affine direction, if it is known.

        share: of what the linear equations miss.
        """
        at, v, R, unmet = self.at, self.v, share * self.R, share * self.unmet
        d, finite = len(v), math.isfinite(at.margin.limit)
        wanted = np.diag(rho - v**2)
        cross = missed_cross = np.zeros(len(at.price))
        if affine is not None:
            product = affine.M @ affine.Z
            wanted = wanted - (product + product.T) / 2
            cross = affine.price * affine.slack
            missed_cross = affine.price * affine.missed
        target = svec(2 * wanted / (v[:, None] + v))
        to_missed = (rho - self.room * at.missed + missed_cross) / self.room if finite else 0 * self.w
        b = (rho - at.price * at.slack - cross) / at.price - to_missed - unmet
        x, left = self.system.solve(target - R, b)
        change = at.B @ (self.F @ x)
        price = self.w * left
        missed = to_missed + at.missed / self.room * price if finite else 0 * self.w
        slack = change + missed + at.margin.softness * price + unmet
        Z = target - x
        return Direction(smat(x, d), smat(Z, d), price, slack, missed)

    def longest(self, go: Direction) -> tuple[float, float]:
        """How far M, slack and missed can go, and Z and prices, until one of them is no longer positive."""
        at = self.at
        primal = min(_psd_length(self.v, go.M), _length(at.slack, go.slack), _length(at.missed, go.missed))
        dual = min(_psd_length(self.v, go.Z), _length(at.price, go.price))
        if math.isfinite(at.margin.limit):
            dual = min(dual, _length(self.room, -go.price))
        return primal, dual

    def mu_after(self, go: Direction, primal: float, dual: float) -> float:
        """mu at the end of a step."""
        at = self.at
        primal, dual = min(1.0, primal), min(1.0, dual)
        V = np.diag(self.v)
        price, slack = at.price + dual * go.price, at.slack + primal * go.slack
        total = float(np.sum((V + primal * go.M) * (V + dual * go.Z))) + float(price @ slack)
        count = len(V) + len(price)
        if math.isfinite(at.margin.limit):
            total += float((self.room - dual * go.price) @ (at.missed + primal * go.missed))
            count += len(price)
        return max(total, 0.0) / count


class _LeastSquares:
    """min_x |x - t|^2 + sum_r w_r (rows_r x - b_r)^2 for rows = B F.

    Rows of great weight would swallow the identity in the normal equations: they go through a QR decomposition. Where
    there are none, the Cholesky factor of the normal equations serves, which costs half as much in all.
    """

    def __init__(self, F: FloatArray, B: Any, w: FloatArray):
        self.F, self.B, self.w = F, B, w
        bound = w * (abs(B) @ np.sqrt(np.sum(F**2, axis=1))) ** 2
        self.heavy = np.flatnonzero(bound > HEAVY)
        self.heavy = self.heavy[np.argsort(-bound[self.heavy])]
        self.light = np.where(bound > HEAVY, 0.0, w)
        K = F.T @ ((B.T @ (B * self.light[:, None]).tocsr()) @ F)
        K[np.diag_indices(len(K))] += 1.0
        self.R = cholesky(K, overwrite_a=True)
        self.root = np.sqrt(w[self.heavy])[:, None]
        if len(self.heavy):
            self.Q, self.U, self.order = qr(
                np.vstack([self.root * (B[self.heavy] @ F), self.R]), mode="economic", pivoting=True
            )

    def solve(self, t: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x (p,) for t (p,) and b (rows,), and b - rows x, which is small where rows are heavy, to all its digits."""
        light = solve_triangular(self.R, t + self.F.T @ (self.B.T @ (self.light * b)), trans="T")
        if not len(self.heavy):
            x = solve_triangular(self.R, light)
            return x, b - self.B @ (self.F @ x)
        right = np.concatenate([self.root[:, 0] * b[self.heavy], light])
        x, along = np.empty(len(t)), self.Q.T @ right
        x[self.order] = solve_triangular(self.U, along)
        left: FloatArray = b - self.B @ (self.F @ x)
        left[self.heavy] = (right - self.Q @ along)[: len(self.heavy)] / self.root[:, 0]
        return x, left


def scaling(M: FloatArray, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """G and v with G^-1 M G^-T = G^T Z G = diag(v), M and Z being positive definite (Nesterov and Todd)."""
    L, R = np.linalg.cholesky(M), np.linalg.cholesky(Z)
    _, v, Vt = np.linalg.svd(R.T @ L)
    G: FloatArray = L @ Vt.T / np.sqrt(v)
    return G, v


def _length(x: FloatArray, change: FloatArray) -> float:
    """The largest t with x + t change >= 0, for x >= 0."""
    falling = change < 0
    return float(np.min(-x[falling] / change[falling], initial=math.inf))


def _psd_length(v: FloatArray, change: FloatArray) -> float:
    """The largest t with diag(v) + t change psd."""
    root = np.sqrt(v)
    least = float(np.linalg.eigvalsh(change / np.outer(root, root))[0])
    return math.inf if least >= 0 else -1 / least


def _symmetric(S: Any) -> FloatArray:
    symmetric: FloatArray = (S + S.T) / 2
    return symmetric
