"""An interior-point method for metrics sum_k w_k b_k b_k^T: it finds the weights w >= 0 of K given vectors b_k.

It solves problems with a hinge on m triplets. The regularizer is a linear function of the weights w (SCML), or half the
squared norm of the metric (Schultz and Joachims):

    min_{w >= 0, xi >= 0}  1/2 w^T L w + q^T w + sum xi,      y = H w + xi - 1 >= 0.

H_tk is the margin of triplet t in the metric b_k b_k^T. For the linear regularizer q^T w, L = 0. For the squared norm,
q = 0 and L_kl is (b_k^T b_l)^2. The weights and the objective are scaled: the hinge has the weight 1, and the largest
absolute entry of every column of H is 1.

The dual variables are a for y, r = 1 - a for xi, and z for w, all >= 0. At the optimum z = L w + q - H^T a. On the
central path, all products a y, r xi and z w are equal to rho. Each step is Mehrotra's predictor-corrector step. First a
step towards rho = 0 is computed. It shows how small the next rho may be, and how large the error of the linear model
is. The final step aims at this rho and corrects the error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cvxml.core.bases import combined
from cvxml.core.metric import EPS, FloatArray, middle
from cvxml.core.run import Estimate
from cvxml.core.work import FACTORISING, doing
from cvxml.family.losses.hinge import Hinge
from cvxml.family.regularizers.combinations import NormOfCombination, SumOfWeights
from cvxml.family.rows.base import Duals
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family

SHARE_TO_BOUNDARY = 0.995  # a step goes at most this fraction of the way to the boundary
NOISE = 1e-12  # a sum below this fraction of its terms has an uncertain sign
DEAREST = 1e130  # vectors are left out if the norm of a metric that changes a margin by about 1 exceeds this
LEAST_STEP = 1e-10  # a shorter step ends the solver


class Point(NamedTuple):
    """An iterate or a step: w (K,), y and xi (m,), and their dual variables z (K,), a and r = 1 - a (m,).

    On the central path the products w z, y a and xi r are equal to rho.
    """

    w: FloatArray  # (K,)
    z: FloatArray
    y: FloatArray  # (m,)
    a: FloatArray
    xi: FloatArray
    r: FloatArray  # 1 - a, kept separately so that it has all digits

    @property
    def products(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The products z w (K,), a y (m,) and r xi (m,), with r = 1 - a."""
        return self.w * self.z, self.a * self.y, self.r * self.xi


class Combining:
    """A run of the interior-point method for `family`: a hinge on triplets, and one of the two regularizers.

    Vectors b_k that change no margin, or only with a huge metric (`DEAREST`), get the weight 0. The first iterate is
    w = 0 if the dual variables a = 1 are feasible there.
    """

    def __init__(self, family: Family):
        of, ((hinge, rows),) = family.regularizer, family.terms
        assert isinstance(of, (SumOfWeights, NormOfCombination))
        assert isinstance(hinge, Hinge)
        assert isinstance(rows, Triplets)
        self.B, self.cap = of.B, float(hinge.c)
        self.key = rows.keys()
        i, j, l = rows.named(Duals(np.zeros(0), self.key)).T
        z = (of.X - middle(of.X)) @ of.B.T
        H = (z[i] - z[l]) ** 2 - (z[i] - z[j]) ** 2
        largest = np.abs(H).max(axis=0)
        with np.errstate(over="ignore", divide="ignore"):
            cost = np.sum(of.B**2, axis=1) / largest / np.sqrt(self.cap)
        self.used = (largest > 0) & (cost < DEAREST)  # the other vectors have the weight 0
        self.unit = 1 / largest[self.used]
        self.H: FloatArray = H[:, self.used] * self.unit
        own = of.B[self.used] * np.sqrt(self.unit)[:, None]
        K = len(own)
        self.L: FloatArray = np.zeros((K, K))
        self.q: FloatArray = np.zeros(K)
        if isinstance(of, SumOfWeights):
            self.q = float(of.beta) / self.cap * self.unit
        else:
            self.L = (own @ own.T / np.sqrt(self.cap)) ** 2
        K, all_duals = len(own), np.ones(len(self.key))
        # w = 0 is tried first if the largest dual variables leave every gradient >= 0
        unpaid = self._gradient(np.zeros(K), all_duals) + NOISE * (np.abs(self.H).T @ all_duals + self.q)
        self.none = bool((unpaid >= 0).all())
        self.at = self._begin()

    def _begin(self) -> Point:
        m, K = self.H.shape
        w, a = np.full(K, 1 / max(K, 1)), np.full(m, 0.5)
        # a multiple that keeps the parts of the objective of similar size
        square, straight = float(w @ self.L @ w), float(self.q @ w)
        w *= min(1.0, m / straight if straight > 0 else 1.0, np.sqrt(m / square) if square > 0 else 1.0)
        margins = self.H @ w
        xi = np.maximum(1 - margins, 0.0) + 0.5
        z = np.maximum(self._gradient(w, a), 0.0)
        rho = float(a @ (margins + xi - 1)) / m
        return Point(w, np.maximum(z, rho / w if K else z), margins + xi - 1, a, xi, 1 - a)

    def _gradient(self, w: FloatArray, a: FloatArray) -> FloatArray:
        gradient: FloatArray = self.L @ w + self.q - self.H.T @ a
        return gradient

    def step(self) -> bool:
        """One step of Mehrotra's method. False if rounding prevents a step, or if every vector has the weight 0.

        If the present iterate is w = 0 (class docstring), the step goes to the start of the method.
        """
        if self.none:
            self.none = False
            return True
        w, z, y, a, xi, r = self.at
        count = len(w) + 2 * len(a)
        if not len(w):
            return False
        with np.errstate(all="ignore"):
            D = 1 / (y / a + xi / r)
            normal = self.L + (self.H.T * D) @ self.H
            scale = np.sqrt(np.diag(normal) + z / w)
            # scaled to a unit diagonal, with 16 EPS added so that it is positive definite despite rounding
            normal = normal / scale / scale[:, None]
            normal[np.diag_indices_from(normal)] += z / w / scale**2 + 16 * EPS
            try:
                with doing(FACTORISING):
                    factor = cho_factor(normal)
            except (np.linalg.LinAlgError, ValueError):
                return False
            rest = self._gradient(w, a) - z

            def towards(t_w: FloatArray, t_y: FloatArray, t_xi: FloatArray) -> Point:
                """The Newton step to a point with z w = t_w, a y = t_y and r xi = t_xi, to first order."""
                g = t_y / a - y - t_xi / r + xi
                dw = (
                    cho_solve(factor, (self.H.T @ (D * g) + t_w / w - z - rest) / scale, check_finite=False)
                    / scale
                )
                da = D * (g - self.H @ dw)
                dxi = t_xi / r - xi + xi / r * da
                return Point(dw, t_w / w - z - z / w * dw, self.H @ dw + dxi, da, dxi, -da)

            none = np.zeros(len(w)), np.zeros(len(a)), np.zeros(len(a))
            ahead = towards(*none)
            rho = sum(float(product.sum()) for product in self.at.products) / count
            after = self._after(ahead, *self._lengths(ahead, 1.0))
            left = sum(float(product.sum()) for product in after.products) / count
            target = rho * min(1.0, max(left / rho, 0.0)) ** 3
            missed = ahead.products
            step = towards(*(target - product for product in missed))
            lengths = self._lengths(step, SHARE_TO_BOUNDARY)
            there = self._after(step, *lengths)
        if not all(np.isfinite(part).all() for part in there) or max(lengths) < LEAST_STEP:
            return False
        self.at = there
        return True

    def _lengths(self, step: Point, most: float) -> tuple[float, float]:
        """The largest primal and dual step lengths, at most 1.

        most: the fraction of the way to the boundary that a step may go.
        """
        at = self.at
        primal = [(at.w, step.w), (at.y, step.y), (at.xi, step.xi)]
        dual = [(at.z, step.z), (at.a, step.a), (at.r, step.r)]
        far = [min(_longest(x, dx) for x, dx in side) for side in (primal, dual)]
        if self.L.any():  # the gradient couples w and z, so both lengths are equal
            far = [min(far)] * 2
        return min(1.0, most * far[0]), min(1.0, most * far[1])

    def _after(self, step: Point, primal: float, dual: float) -> Point:
        at = self.at
        return Point(
            at.w + primal * step.w,
            at.z + dual * step.z,
            at.y + primal * step.y,
            at.a + dual * step.a,
            at.xi + primal * step.xi,
            at.r + dual * step.r,
        )

    def estimate(self, family: Family) -> Estimate | None:
        """The objective, gap and scale of the present weights; None if they are all 0. family: gives the scale.

        If u >= 0 satisfies L u + q >= H^T a, the dual variables a prove the lower bound sum a - 1/2 u^T L u. If L is
        not 0, then q = 0 and all entries of L are >= 0: a vector u is made from w by enlarging entries. If L = 0, a
        multiple of a satisfies q >= H^T a. In both cases the multiple of a with the best bound is taken.
        """
        if self.none or not len(self.at.w):
            return None
        w, a = self.at.w, np.clip(self.at.a, 0.0, 1.0)
        own = float(w @ self.L @ w) / 2 + float(self.q @ w)
        objective = own + float(np.maximum(1 - self.H @ w, 0.0).sum())
        total, longest = float(a.sum()), 1 / max(float(a.max()), EPS)
        gains = self.H.T @ a
        if self.L.any():
            u = w + np.maximum(gains - self.L @ w, 0.0) / np.diag(self.L)
            paid = float(u @ self.L @ u)
            t = min(longest, total / max(paid, EPS))
            bound = t * total - t * t * paid / 2
        else:
            bound = total * min(longest, float(np.min(self.q / np.maximum(gains, EPS * self.q))))
        own, objective, bound = (self.cap * each for each in (own, objective, bound))
        return Estimate(objective, max(objective - bound, 0.0), family.scale(own, objective))

    def weights(self) -> FloatArray:
        w = np.zeros(len(self.B))
        if not self.none:
            w[self.used] = self.at.w * self.unit
        return w

    def metric(self) -> FloatArray:
        return combined(self.B, self.weights())

    def duals(self) -> Duals:
        a = np.ones(len(self.key)) if self.none else np.clip(self.at.a, 0.0, 1.0)
        return Duals(a * self.cap, self.key)


def _longest(x: FloatArray, dx: FloatArray) -> float:
    """The largest t with x + t dx >= 0, for x >= 0; inf if no entry of dx is negative."""
    falls = dx < 0
    return float(np.min(-x[falls] / dx[falls], initial=np.inf))
