"""A primal-dual interior-point method for the problem of box_dual.py, for small d and any scaling of the features.

Gradient and Newton steps may need very many iterations if the rows differ in scale; this method does not. Row t has
the value v_t = <V_t, M> and the dual variable a_t with low <= a_t <= high. Its distances to the ends of the box are
p_t = a_t - low and q_t = high - a_t, and these have the multipliers y_t and z_t. At the optimum

    v + g a - 1 = y - z,      S = lam M - G,      p y = 0,      q z = 0,      M S = 0,      all >= 0,

where G = sum_t a_t V_t - C. The method drives all products to zero together (Mehrotra's predictor and corrector). The
linear equations for the step of M are those of scaling.py, where row t of B is V_t times the square root of

    theta_t = 1 / (g + y_t / p_t + z_t / q_t).

All of p, q, y, z, M, and S stay positive, so that every iterate has a feasible a. S and the residual of the first
equation are computed anew in every iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray
from cvxml.core.work import FACTORISING, doing
from cvxml.solvers.scaling import Scaling

MOST_STEPS = 200
SHARE_TO_BOUNDARY = 0.98  # a step goes at most this fraction of the way to the boundary
SHORTEST = 1e-6  # a shorter step ends the run
REFINEMENTS = 2  # corrections of the solution of the linear equations
PREDICTED = 0.1  # the second-order term is used if the predictor may go this far


class BoxProblem(Protocol):
    """The problem of the module docstring, with m metrics (d, d) and t rows.

    A row is a sum of squared distances: v = B D, and D_p is the sum over the metrics of share times squared length of
    the row p of E.
    """

    lam: float
    low: FloatArray  # (t,)
    high: FloatArray
    width: FloatArray  # g of each row
    B: csr_array  # (t, p)
    E: FloatArray  # (p, d)
    shares: FloatArray  # (p, m)
    C: FloatArray  # (m, d, d)

    def linear(self, a: FloatArray) -> FloatArray:
        """sum_t a_t V_t (m, d, d)."""

    def values(self, M: FloatArray) -> FloatArray:
        """v (t,) of the metrics M (m, d, d)."""


class Point(NamedTuple):
    """An iterate or a step: M (m, d, d), and p, q, y, z (t,)."""

    M: FloatArray
    p: FloatArray
    q: FloatArray
    y: FloatArray
    z: FloatArray

    def after(self, step: Point, length: float) -> Point:
        M, *rest = (own + length * change for own, change in zip(self, step, strict=True))
        return Point((M + np.swapaxes(M, -1, -2)) / 2, *rest)


class Direction(NamedTuple):
    """A step, and the steps of M and S in the coordinates of the scaling, one (d, d) for each metric."""

    step: Point
    M_scaled: list[FloatArray]
    S_scaled: list[FloatArray]


def interior(problem: BoxProblem) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield feasible dual variables a (t,) with metrics M (m, d, d) that approach the optimum, until rounding stops it.

    The metrics are positive definite, up to rounding.
    """
    at = _start(problem)
    for _ in watched(range(MOST_STEPS)):
        yield _inside(problem, at), at.M
        try:
            with np.errstate(all="ignore"):  # a result that is not finite ends the run
                new = _next(problem, at)
        except (np.linalg.LinAlgError, ValueError):  # not positive, or not finite any more
            return
        if new is None or not all(np.isfinite(part).all() for part in new):
            return
        at = new


def _inside(problem: BoxProblem, at: Point) -> FloatArray:
    """The dual variables a (t,) of a point."""
    a: FloatArray = np.where(at.p < at.q, problem.low + at.p, problem.high - at.q)
    return a


def _start(problem: BoxProblem) -> Point:
    """A strictly feasible start: a is in the middle of the box, and every M is so large a multiple of I that S > 0."""
    half = (problem.high - problem.low) / 2
    G = problem.linear(problem.low + half) - problem.C
    each = np.eye(G.shape[-1])[None].repeat(len(G), axis=0)
    longest = float((problem.width * half).max(initial=0.0))
    top = max(float(np.abs(np.linalg.eigvalsh(G)).max()), 1e-100)
    M = 2 * top / problem.lam * each
    excess = problem.values(M) + problem.width * (problem.low + half) - 1
    both = 1 + longest + np.abs(excess)
    return Point(M, half, half, both + np.maximum(excess, 0), both + np.maximum(-excess, 0))


def _next(problem: BoxProblem, at: Point) -> Point | None:
    """The next iterate, or None if rounding has left the interior or allows no step."""
    if not all((part > 0).all() for part in at[1:]):
        return None
    system = _System(problem, at)
    products = system.product(None, 0.0)
    mu = products / (2 * len(at.p) + at.M.shape[0] * at.M.shape[1])
    predictor = system.solve(0.0, None)
    length = min(1.0, system.longest(predictor))
    left = max(system.product(predictor, length), 0.0) / products
    direction = system.solve(min(1.0, left) ** 3 * mu, predictor if length > PREDICTED else None)
    length = min(1.0, SHARE_TO_BOUNDARY * system.longest(direction))
    return at.after(direction.step, length) if length > SHORTEST else None


class _System:
    """The linear equations of one iteration: factorised once, and solved for the predictor and the corrector."""

    def __init__(self, problem: BoxProblem, at: Point):
        self.problem, self.at = problem, at
        self.a = _inside(problem, at)
        S = problem.lam * at.M - (problem.linear(self.a) - problem.C)
        self.scalings = [Scaling(*both, problem.lam) for both in zip(at.M, S, strict=True)]
        self.theta = 1 / (problem.width + at.y / at.p + at.z / at.q)
        self.rest = problem.values(at.M) + problem.width * self.a - 1 - at.y + at.z
        B = np.hstack(
            [
                problem.B @ (share[:, None] * scaling.rows(problem.E))
                for share, scaling in zip(problem.shares.T, self.scalings, strict=True)
            ]
        )
        B *= np.sqrt(self.theta)[:, None]
        self.B = B
        gram = B.T @ B
        gram[np.diag_indices_from(gram)] += 1.0
        with doing(FACTORISING):
            self.factor = cho_factor(gram, lower=True, overwrite_a=True)

    def solve(self, target: float, predictor: Direction | None) -> Direction:
        """Return the direction in which all products (module docstring) become equal to `target`, to first order.

        predictor: a direction whose second-order term is included; None to include no such term.
        """
        problem, at = self.problem, self.at
        low, high = target - at.p * at.y, target - at.q * at.z
        if predictor is None:
            K = [scaling.target(target, None) for scaling in self.scalings]
        else:
            ahead = predictor.step
            low, high = low - ahead.p * ahead.y, high - ahead.q * ahead.z
            both = zip(self.scalings, predictor.M_scaled, predictor.S_scaled, strict=True)
            K = [scaling.target(target, M @ S) for scaling, M, S in both]
        h = low / at.p - high / at.q - self.rest
        G = problem.linear(self.theta * h)
        right = [scaling.right(*each) for scaling, *each in zip(self.scalings, K, G, strict=True)]
        y = np.split(self._refined(np.concatenate(right)), len(self.scalings))
        dM = np.stack([scaling.back(own) for scaling, own in zip(self.scalings, y, strict=True)])
        da = self.theta * (h - problem.values(dM))
        step = Point(dM, da, -da, (low - at.y * da) / at.p, (high + at.z * da) / at.q)
        M_scaled = [scaling.scaled(own) for scaling, own in zip(self.scalings, dM, strict=True)]
        return Direction(step, M_scaled, [k - own for k, own in zip(K, M_scaled, strict=True)])

    def _refined(self, right: FloatArray) -> FloatArray:
        """The solution y of (I + B^T B) y = right. Its rounding errors are corrected, because B may have large rows."""
        y: FloatArray = cho_solve(self.factor, right)
        for _ in watched(range(REFINEMENTS)):
            y += cho_solve(self.factor, right - y - self.B.T @ (self.B @ y))
        return y

    def product(self, direction: Direction | None, length: float) -> float:
        """The sum of all products (module docstring) after a step of this length."""
        at = self.at
        if direction is None:
            return float(at.p @ at.y + at.q @ at.z + sum(each.sigma @ each.sigma for each in self.scalings))
        step = direction.step
        total = (at.p + length * step.p) @ (at.y + length * step.y)
        total += (at.q + length * step.q) @ (at.z + length * step.z)
        each = zip(self.scalings, direction.M_scaled, direction.S_scaled, strict=True)
        return float(total + sum(scaling.product_after(M, S, length) for scaling, M, S in each))

    def longest(self, direction: Direction) -> float:
        """Return the step length at which the first number, or the first eigenvalue of an M or S, reaches 0."""
        falls = [
            float(np.max(-step / own, initial=0.0))
            for own, step in zip(self.at[1:], direction.step[1:], strict=True)
        ]
        each = zip(self.scalings, direction.M_scaled, direction.S_scaled, strict=True)
        falls += [scaling.falls(own) for scaling, *both in each for own in both]
        return 1 / max(max(falls), 1e-12)
