"""A feasible primal-dual interior-point method for MLSVM, for small d and any scaling of the features.

Gradient steps need more iterations if the features differ in scale; this method does not. In each row i (a usable point
of MLSVM, which has both impostors and targets) let

    hi_i <= D_ij for impostors j,   lo_i >= D_il for targets l,   xi_i = 1 + lo_i - hi_i >= 0,

with multipliers u_ij, w_il and r_i = 1/n - s_i. Here D are squared distances in A, and s_i is the sum of the u_ij,
which is also the sum of the w_il. Let S = lam A - G be the multiplier of A >> 0, where G is the sum of
u_ij (x_i - x_j)(x_i - x_j)^T minus the sum of w_il (x_i - x_l)(x_i - x_l)^T. At the optimum, the products

    u_ij (D_ij - hi_i),   w_il (lo_i - D_il),   r_i xi_i,   A S

are zero. The first factors are multipliers, and the second factors are their slacks; for A S the factors are matrices.
The method drives all products to zero together (Mehrotra's predictor and corrector). Arrays (rows, K) have K places for
the neighbours of each row: impostors with u, targets with w, and padding.

The linear equations for the step of A are those of solvers/scaling.py. B has one row for each neighbour, which is
centred: the weighted mean over the impostors, or over the targets, of its point is subtracted. B also has one row for
each point. All iterates are strictly feasible, so each of them gives a bound. S is recomputed in every iteration, and
never updated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray
from cvxml.core.work import FACTORISING, doing
from cvxml.solvers.scaling import Scaling


class Rows(NamedTuple):
    """One number for each neighbour (`v`) and one for each row (`r`): multipliers, or the slacks of these multipliers.

    Multipliers: v (rows, K) holds u and w, and r (rows,) holds 1/n - s_i. Slacks: v holds D - hi and lo - D, and r
    holds xi.
    """

    v: FloatArray  # (rows, K): u and w, or their slacks z
    r: FloatArray  # (rows,): r, or its slack xi


@dataclass(eq=False)
class Iterate:
    """A strictly feasible point: A (d, d), hi and lo (rows,), and the multipliers `dual` (module docstring)."""

    A: FloatArray
    hi: FloatArray
    lo: FloatArray
    dual: Rows


class Direction(NamedTuple):
    """A step: the changes of A (d, d), hi and lo (rows,), of the multipliers `dual`, and of their slacks.

    A_scaled, S_scaled: the changes of A and S in coordinates in which A and S are the same diagonal matrix.
    """

    A: FloatArray
    hi: FloatArray
    lo: FloatArray
    dual: Rows
    slack: Rows
    A_scaled: FloatArray
    S_scaled: FloatArray


def interior(
    edges: FloatArray, sign: FloatArray, lam: float, cap: float
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield feasible dual variables v (rows, K) with metrics A (d, d), until rounding stops the method.

    They approach the optimum. The metrics are positive definite, up to rounding.

    edges (rows, K, d): x_i - x_j of each neighbour. sign (rows, K): 1 for impostors, -1 for targets, 0 for padding. v:
    u for impostors, w for targets.

    cap: 1/n, the upper limit of the sum of a row's u, and of its w.
    """
    return _Interior(edges, sign, lam, cap).run()


class _Interior:
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

    def start(self) -> Iterate:
        """Return a feasible start: A is a multiple of I, so large that S is positive definite.

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
        inverse = np.where(self.real, 1 / self._slack(D, hi, lo).v, 0.0)
        total = np.where(
            self.up, self._sum(inverse, self.up)[:, None], self._sum(inverse, self.down)[:, None]
        )
        v = np.where(self.real, cap / 2 * inverse / total, 0.0)
        # an unequal v may raise the eigenvalues of G, which must stay below lam alpha
        top = float(np.linalg.eigvalsh(self.image(v))[-1])
        shrink = min(1.0, 0.5 * self.lam * alpha / max(top, 1e-300))
        return Iterate(
            alpha * np.eye(self.d), hi, lo, Rows(shrink * v, np.full(len(hi), cap * (1 - shrink / 2)))
        )

    def _extremes(self, D: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.where(self.up, D, np.inf).min(axis=1), np.where(self.down, D, -np.inf).max(axis=1)

    def _sum(self, values: FloatArray, members: np.ndarray) -> FloatArray:
        total: FloatArray = np.where(members, values, 0.0).sum(axis=1)
        return total

    def _slack(self, D: FloatArray, hi: FloatArray, lo: FloatArray) -> Rows:
        z = np.where(self.up, D - hi[:, None], np.where(self.down, lo[:, None] - D, 1.0))
        return Rows(z, 1 + lo - hi)

    def run(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        at = self.start()
        for _ in watched(range(200)):
            yield at.dual.v, at.A
            try:
                with np.errstate(all="ignore"):  # a result that is not finite ends the run
                    new = self._iterate(at)
            except (np.linalg.LinAlgError, ValueError):  # not positive, or not finite any more
                return
            if new is None or not np.isfinite(new.dual.v).all():
                return
            at = new

    def _iterate(self, at: Iterate) -> Iterate | None:
        D = self.distances(at.A)
        slack = self._slack(D, at.hi, at.lo)
        if not all((rows.v[self.real] > 0).all() and (rows.r > 0).all() for rows in (at.dual, slack)):
            return None  # rounding has left the interior
        S = self.lam * at.A - self.image(at.dual.v)
        system = _System(self, at, slack, S)
        sigma = system.scaling.sigma
        products = float(np.sum(at.dual.v * slack.v * self.real) + at.dual.r @ slack.r + sigma @ sigma)
        mu = products / (self.real.sum() + len(at.hi) + self.d)
        predictor = system.solve(0.0, None)
        length = min(1.0, system.longest(predictor))
        centring = min(1.0, max(system.products_after(predictor, length), 0.0) / products) ** 3
        direction = system.solve(centring * mu, predictor if length > 0.1 else None)
        length = min(1.0, 0.98 * system.longest(direction))
        if not length > 1e-6:
            return None
        A = at.A + length * direction.A
        return Iterate(
            (A + A.T) / 2,
            at.hi + length * direction.hi,
            at.lo + length * direction.lo,
            Rows(at.dual.v + length * direction.dual.v, at.dual.r + length * direction.dual.r),
        )


class _System:
    """The linear equations of one iteration: factorised once, and solved for the predictor and the corrector."""

    def __init__(self, outer: _Interior, at: Iterate, slack: Rows, S: FloatArray):
        self.o, self.at, self.slack = outer, at, slack
        self.scaling = Scaling(at.A, S, outer.lam)
        self.theta = np.where(outer.real, at.dual.v / slack.v, 0.0)
        self.theta_r = at.dual.r / slack.r
        self.tu, self.tw = outer._sum(self.theta, outer.up), outer._sum(self.theta, outer.down)
        self._factorise()

    def _factorise(self) -> None:
        o = self.o
        F = self.scaling.rows(o.flat).reshape(*o.real.shape, -1)
        weight_u = np.where(o.up, self.theta, 0.0) / self.tu[:, None]
        weight_w = np.where(o.down, self.theta, 0.0) / self.tw[:, None]
        mean_u, mean_w = np.einsum("rk,rkp->rp", weight_u, F), np.einsum("rk,rkp->rp", weight_w, F)
        between = 1 / (1 / self.tu + 1 / self.tw + 1 / self.theta_r)
        F -= np.where(o.up[:, :, None], mean_u[:, None, :], mean_w[:, None, :])
        F *= np.sqrt(self.theta)[:, :, None]
        B = np.concatenate([F.reshape(-1, F.shape[2]), (mean_u - mean_w) * np.sqrt(between)[:, None]])
        gram = B.T @ B
        gram[np.diag_indices_from(gram)] += 1.0
        with doing(FACTORISING):
            self.factor = cho_factor(gram, lower=True, overwrite_a=True)

    def solve(self, target: float, predictor: Direction | None) -> Direction:
        """Return the direction in which all products (module docstring) become equal to `target`, to first order.

        predictor: a direction, to include its second-order term; or None.
        """
        o, dual, slack = self.o, self.at.dual, self.slack
        rest_v, rest_r, second = target - dual.v * slack.v, target - dual.r * slack.r, None
        if predictor is not None:
            second = predictor.A_scaled @ predictor.S_scaled
            rest_v = rest_v - predictor.dual.v * predictor.slack.v
            rest_r = rest_r - predictor.dual.r * predictor.slack.r
        K = self.scaling.target(target, second)
        g_v, g_r = np.where(o.real, rest_v / slack.v, 0.0), rest_r / slack.r
        spent_u = o.cap - o._sum(dual.v, o.up) - dual.r - g_r - o._sum(g_v, o.up)
        spent_w = o.cap - o._sum(dual.v, o.down) - dual.r - g_r - o._sum(g_v, o.down)

        hi, lo = self._levels(spent_u, -spent_w)
        v = g_v - self.theta * self._slack_step(np.zeros_like(g_v), hi, lo)
        dA = self.scaling.back(cho_solve(self.factor, self.scaling.right(K, o.image(v))))

        D = o.distances(dA)
        hi, lo = self._levels(
            spent_u + o._sum(self.theta * D, o.up), -spent_w + o._sum(self.theta * D, o.down)
        )
        z = self._slack_step(D, hi, lo)
        step = Rows(g_v - self.theta * z, g_r - self.theta_r * (lo - hi))
        A_scaled = self.scaling.scaled(dA)
        return Direction(dA, hi, lo, step, Rows(z, lo - hi), A_scaled, K - A_scaled)

    def _levels(self, for_hi: FloatArray, for_lo: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the steps of hi and lo (rows,), from one linear system of two equations for each row.

        The equations are (tu + t) hi - t lo = for_hi and (tw + t) lo - t hi = for_lo. tu is the sum of the quotients
        u / slack over the impostors of the row, tw the sum of w / slack over its targets, and t is the quotient r / xi.
        """
        t = self.theta_r
        determinant = self.tu * self.tw + t * (self.tu + self.tw)
        return (
            ((self.tw + t) * for_hi + t * for_lo) / determinant,
            (t * for_hi + (self.tu + t) * for_lo) / determinant,
        )

    def _slack_step(self, D: FloatArray, hi: FloatArray, lo: FloatArray) -> FloatArray:
        step: FloatArray = np.where(self.o.up, D - hi[:, None], np.where(self.o.down, lo[:, None] - D, 0.0))
        return step

    def products_after(self, direction: Direction, length: float) -> float:
        """Return the sum of all products (module docstring) after a step of this length."""
        total = 0.0
        for value, slack, dv, dz in zip(
            self.at.dual, self.slack, direction.dual, direction.slack, strict=True
        ):
            total += float(np.sum(((value + length * dv) * (slack + length * dz))[value > 0]))
        return total + self.scaling.product_after(direction.A_scaled, direction.S_scaled, length)

    def longest(self, direction: Direction) -> float:
        """Return the step length at which the first multiplier, slack, or eigenvalue of A or S reaches 0."""
        falls = [0.0]
        for value, step in zip(
            (*self.at.dual, *self.slack), (*direction.dual, *direction.slack), strict=True
        ):
            falls.append(float(np.max(-step[value > 0] / value[value > 0], initial=0.0)))
        falls += [self.scaling.falls(scaled) for scaled in (direction.A_scaled, direction.S_scaled)]
        return 1 / max(max(falls), 1e-12)
