"""A metric under many linear margins, few of them at their kink: method of multipliers, barrier and Newton's method.

    min_{M >> 0}  <C, M> + sum_t h(1 - v_t),      h(x) = c [x]_+  or  c [x]_+^2.

M (r, r) is positive definite. Row t, for example a triplet, has the value v_t = <V_t, M> (active_rows.py) and misses
its margin 1 by x_t = 1 - v_t.

Hinge: for multipliers b and a width g, a linear hinge h(x) is replaced by the minimum over x' of

    h(x') + (c / 2g) (x - x' + b g / c)^2.

The slope of this smoothed hinge is a = b + c x / g, clipped to [0, c]. In the method of multipliers, b becomes a after
each round. For a hard margin (c = inf), a has no upper limit, and the formula has a finite number `unit` instead of c:
the first <C, M> / r. The squared hinge is smooth and is not replaced. A row is at its kink if 0 < a < c.

Barrier: -tau log det M keeps M positive definite. At the minimum,

    C - sum_t a_t V_t = tau M^-1.

So the slopes a are feasible dual variables. The gap is tau r plus the excess of the rows. The excess is a sum of
terms >= 0, which are 0 if each a_t is the slope of h at x_t. A round minimizes the sum of <C, M>, the smoothed hinges
and the barrier, for fixed b, g and tau. Only rows at their kink have curvature for Newton's method. They are few, even
if there are many rows.

Heavy hinge: the hinge is called heavy if c is far larger than the final dual variables, for example in LMNN with mu
near 1. Then the violated margins cost far more than <C, M> at the start. In this case g starts larger, multiplied by
the ratio of both costs, so that a is about as large as in the end. The first tau is a share of <C, M> instead of the
objective. A round that does not end near the minimum is continued, and only one of g and tau falls at a time. The hinge
is also treated as heavy from the first round on that ends far from its minimum. The violated margins also cost far more
than <C, M> if many are violated at every metric. Then the rounds may stall, and choose_solver.py solves again without
these changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, eigh

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.run import Estimate
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.family.rows.base import Duals, MarginRows
from cvxml.solvers.active_rows import CG, Active, Curvature, Limits

NARROWER = 4.0  # divisor from one width g to the next
NARROWEST = 1e-3  # smallest width g; below it, changing b alone is enough
TOWARDS = 4.0  # divisor from one tau to the next
ROUNDING = 1e-15  # a relative gap below this is rounding
CENTRED = 1.0  # a round ends when the Newton decrement is at most CENTRED^2 tau
LATE_DECREMENT = 2.0  # when the Newton decrement is at most this^2 tau, the rows at their kink hardly change
HEAVY = 10.0  # the hinge is heavy if violated margins cost more than this many times <C, M> at the start
FAR = 100.0  # the hinge is heavy too if a round ends with a Newton decrement above this many times tau
EMPTY = 1e6  # if they cost more than this many times <C, M>, M is 0 up to rounding and the hinge is not heavy
BALANCE = 4.0  # with a heavy hinge, g falls if the excess of the rows is above this times tau r
CONTINUED = 5  # with a heavy hinge, a round is continued at most this many times
HEAVY_CG = Limits(steps=100, residual=0.1)  # with a heavy hinge, less exact Newton directions lead nowhere
MANY_POINTS = 500  # with more points, a first round also looks at the rows after its first step
LOOK = 5  # rows are added and removed after this many Newton steps
SHORTEST = 1e-9  # shortest step, relative to the Newton step
ERROR = 1e-11  # relative error of products of points, with room: they are used while it is below the gap
MAX_NEWTON_STEPS = 30  # Newton steps of one round
HALVINGS = 40  # halvings of an interval in a line search


class Margin(NamedTuple):
    """The hinge h. cap: its weight c, which is inf for a hard margin. squared: True for the squared hinge."""

    cap: float  # weight c of the hinge; inf if no margin may be violated
    squared: bool = False

    @property
    def hard(self) -> bool:
        return bool(np.isinf(self.cap))

    def slopes(self, x: FloatArray, weight: float, b: FloatArray | float = 0.0) -> FloatArray:
        """The slope a of the smoothed hinge at each x = 1 - v, for multipliers b.

        weight: c / g, or `unit` / g for a hard margin. The squared hinge is not smoothed: its slope is 2 c [x]_+.
        """
        if self.squared:
            return 2 * self.cap * np.maximum(x, 0.0)
        return np.clip(b + weight * x, 0.0, self.cap)

    def push(self, x: FloatArray) -> float:
        """The sum of the unsmoothed hinges at x = 1 - v."""
        missed = np.maximum(0.0, x)
        return self.cap * float(np.sum(missed**2 if self.squared else missed))

    def smoothed(self, x: FloatArray, a: FloatArray, weight: float) -> float:
        """The sum of the smoothed hinges at x = 1 - v, for multipliers b = 0.

        a: their slopes at x. weight: c / g.
        """
        return self.push(x) if self.squared else float(a @ x - a @ a / (2 * weight))

    def bound(self, a: FloatArray) -> float:
        """The dual objective of feasible dual variables a, a lower bound of the optimum."""
        return float(np.sum(a) - np.sum(a * a) / (4 * self.cap)) if self.squared else float(np.sum(a))

    def rest(self, x: FloatArray, a: FloatArray) -> float:
        """The excess of rows with dual variables a at x = 1 - v: the part of the gap that is due to the hinges."""
        if self.squared:
            return 0.0
        if self.hard:
            return float(np.abs(a * x).sum())
        return float(np.sum(np.where(x > 0, self.cap - a, -a) * x))


def images(Y: FloatArray, M: FloatArray) -> FloatArray:
    """The points Y (n, r) times a root of M (r, r), psd up to rounding.

    The Euclidean distances of the images (n, r) are the distances of the points in M.
    """
    try:
        root = np.linalg.cholesky(M)
    except LinAlgError:
        values, vectors = np.linalg.eigh(M)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
    z: FloatArray = Y @ root
    return z


def _sorted_root(M: FloatArray) -> FloatArray:
    """L (r, r) with L L^T = M and orthogonal columns, the longest first. Raises LinAlgError if M is not definite."""
    L = np.asarray(np.linalg.cholesky(M), dtype=np.float64)
    root: FloatArray = L @ np.linalg.eigh(L.T @ L)[1][:, ::-1]
    return root


def _definite(Z: FloatArray) -> bool:
    try:
        np.linalg.cholesky(Z)
    except LinAlgError:
        return False
    return True


class Multipliers:
    """The solver for points Y (n, r) and a metric M (r, r). Call `begin`, and then `step` for each further round.

    The solver stores only some rows: those with v < 1 + ahead, and those with a positive multiplier b. These rows are
    "held". rows: all rows of the loss. counts: a function of the keys of rows, integers that identify them. It returns
    a mask of those that belong to the problem. C (r, r): positive definite. margin: the hinge. may_be_heavy: False if
    the hinge is never treated as heavy.
    """

    def __init__(
        self,
        Y: FloatArray,
        rows: MarginRows,
        counts: Callable[[IntArray], Any],
        C: FloatArray,
        margin: Margin,
        ahead: float,
        may_be_heavy: bool = True,
    ):
        self.Y = Y - Y.mean(axis=0)  # only differences count, and those of short vectors lose fewer digits
        self.rows, self.counts, self.C, self.margin, self.ahead = rows, counts, C, margin, ahead
        self.M: FloatArray = np.eye(len(C))
        self.inverse = np.asarray(np.linalg.inv(C), dtype=np.float64)
        self.key: IntArray = np.zeros(0, dtype=np.intp)
        self.price: FloatArray = np.zeros(0)  # the multipliers b
        self.x: FloatArray = np.zeros(0)  # 1 - v of the rows held
        self.g, self.tau, self.unit = 1.0, 1.0, margin.cap
        self.may_be_heavy = may_be_heavy and not margin.squared
        self.heavy, self.continued = 1.0, 0  # heavy: the ratio if the hinge is heavy, else 1
        self.decrement = np.inf
        self.by_differences = False  # True if margins must be computed by differences of points

    def begin(self, M: FloatArray, share: float) -> None:
        """Run the first round from M (r, r). share: an estimate of the relative gap of M.

        If the hinge was heavy for a smaller sample of the rows, the caller sets the attribute `heavy` to its value
        there, above 1. Then the first g is multiplied by `heavy` here too.
        """
        self.M = M
        self.look()
        self.g = min(1.0, np.sqrt(share))
        self.tau = 0.25 * share * self.value() / len(M)
        cost = float(np.sum(self.C * M))
        push = self.value() - cost
        if self.may_be_heavy and HEAVY * cost < push < EMPTY * cost:
            self.heavy = max(self.heavy, push / cost)
        if self.heavy > 1:
            self.g *= self.heavy
            self.tau = 0.5 * share * cost / len(M)
        if self.margin.hard:
            self.unit = self.value() / len(M)
        self.round(fresh=len(self.Y) > MANY_POINTS)

    def step(self) -> bool:
        """Run another round, with new multipliers, width and tau; False if rounding prevents a step."""
        if self.left() <= ROUNDING * self.value():
            return False
        if self.may_be_heavy and self.heavy == 1 and self.decrement > FAR * self.tau:
            self.heavy = HEAVY
        if self.heavy > 1:
            return self._heavy_step()
        self.price = self.slopes(self.x)
        rest = self.rest()
        if rest > self.tau * len(self.M):
            # Dual variables without a limit amplify the rounding of margins, so g stays larger.
            self.g = max(self.g / NARROWER, 4 * NARROWEST if self.margin.hard else NARROWEST)
        self.tau = min(self.tau, 0.25 * self.value() / len(self.M)) / TOWARDS
        self.look()
        return self.round()

    def _heavy_step(self) -> bool:
        """Continue the last round if it did not end near the minimum; else run another one with new multipliers.

        Only one of g and tau falls. If both fell, the ratio of the curvature of a row (c / g) to tau would grow by the
        product of both factors. Then conjugate gradients would find no Newton direction before the dual variables are
        right.
        """
        if self.decrement > LATE_DECREMENT**2 * self.tau and self.continued < CONTINUED:
            self.continued += 1
        else:
            self.continued = 0
            self.price = self.slopes(self.x)
            if self.rest() > BALANCE * self.tau * len(self.M) and self.g > NARROWEST:
                self.g = max(self.g / NARROWER, NARROWEST)
            else:
                self.tau /= TOWARDS
        self.look()
        return self.round()

    def away(self) -> None:
        """Add tau C^-1 to M, which increases <C, M> by tau r.

        This moves M away from the boundary of the cone. Near the boundary, Newton's method could hardly change the
        directions of M.
        """
        self.M = self.M + self.tau * self.inverse

    def look(self) -> None:
        """Add the rows with v < 1 + ahead, and remove the rows with a larger v and the multiplier b = 0."""
        z = images(self.Y, self.M)
        near, _ = self.rows.near(z, 1 + self.ahead)
        near = near[self.counts(near)]
        priced = self.price > 0
        both = np.sort(np.concatenate([near, self.key[priced]]))  # faster than np.union1d
        key = both[np.append(both[1:] != both[:-1], True)] if len(both) else both
        price = np.zeros(len(key))
        price[np.searchsorted(key, self.key[priced])] = self.price[priced]
        self.key, self.price = key, price
        self.active = Active.of(self.Y, self.rows.entries(key), len(key))
        self.x = 1 - (self.active.margins_of(z) if self.by_differences else self.active.nearly(z))

    def slopes(self, x: FloatArray) -> FloatArray:
        """The dual variable a of every row held, for x = 1 - v."""
        return self.margin.slopes(x, self.weight, self.price)

    @property
    def weight(self) -> float:
        """The second derivative, in x = 1 - v, of the hinge of a row with 0 < a < c: c / g, or 2 c if it is squared.

        For a hard margin, `unit` replaces c.
        """
        return 2 * self.margin.cap if self.margin.squared else self.unit / self.g

    def rest(self) -> float:
        return self.margin.rest(self.x, self.slopes(self.x))

    def value(self) -> float:
        cost = float(np.sum(self.C * self.M))
        return cost if self.margin.hard else cost + self.margin.push(self.x)

    def left(self) -> float:
        """The gap of the present M and dual variables, if the round ended at its minimum: tau r plus the excess."""
        return self.tau * len(self.M) + self.rest()

    def estimate(self) -> Estimate:
        """The objective of M and the gap of the present dual variables, both from the rows held only.

        If C - sum_t a_t V_t is positive definite, the gap is the product of this matrix with M, plus the excess of the
        rows. Otherwise the dual variables are scaled down until they are feasible. For a squared hinge, the feasible
        multiple with the largest lower bound is used. `guess` is the gap that `left` returns.
        """
        value, a = self.value(), self.slopes(self.x)
        G, r = self.active.total(a), len(self.C)
        try:
            largest = float(eigh(G, self.C, eigvals_only=True, subset_by_index=(r - 1, r - 1))[0])
        except (LinAlgError, ValueError):  # not finite, or C is not definite in double precision
            largest = np.inf
        if not largest < 1:
            return Estimate(value, value - self.margin.bound(a / largest), value, guess=self.left())
        gap = float(np.sum((self.C - G) * self.M)) + self.rest()
        if self.margin.squared and largest > 0:
            best = min(1 / largest, 2 * self.margin.cap * float(np.sum(a)) / float(np.sum(a * a)))
            gap -= max(0.0, self.margin.bound(best * a) - self.margin.bound(a))
        return Estimate(value, gap, value, guess=self.left())

    def duals(self) -> Duals:
        """The positive dual variables of the rows held."""
        a = self.slopes(self.x)
        return Duals(a[a > 0], self.key[a > 0])

    def round(self, fresh: bool = False) -> bool:
        """Take Newton steps until M is near the minimum for the present b, g and tau; False if no step was possible.

        Every `LOOK` steps, rows are added and removed (`look`). fresh: True for the first round with many points. Its
        first step may violate millions of rows that are not held, so rows are also added after this step.
        """
        self.decrement = before = np.inf
        for k in watched(range(MAX_NEWTON_STEPS)):
            if k and k % LOOK == 0:
                if self.decrement > before / 2:
                    self.away()
                before = self.decrement
                self.look()
            elif fresh and k == 1:
                self.look()
            with np.errstate(all="ignore"):  # NaN and inf raise an error below
                try:
                    if self.newton():
                        return True
                except (LinAlgError, ValueError):
                    return k > 0
        return True

    def newton(self) -> bool:
        """Take a Newton step. True if M was near the minimum before the step, with feasible dual variables.

        Raises ValueError or LinAlgError if rounding allows no step.
        """
        a, L = self.slopes(self.x), _sorted_root(self.M)
        Z = self.C - self.active.total(a)
        Z = L.T @ Z @ L
        slope = svec(Z - self.tau * np.eye(len(L)))
        free = self._between(a)
        if self.decrement > LATE_DECREMENT**2 * self.tau:
            # A row that had 0 < a < c before this round would return there after a step without its curvature.
            free |= self._between(self.price)
        curvature = Curvature(self.active.part(np.flatnonzero(free)), L, self.tau, self.weight)
        direction = -curvature.solve(slope, HEAVY_CG if self.heavy > 1 else CG)
        self.decrement = -float(slope @ direction)
        centred = self.decrement <= CENTRED**2 * self.tau and _definite(Z)
        change = smat(direction, len(L))
        values = np.linalg.eigvalsh(change)
        step: FloatArray = L @ change @ L.T
        dx = -self._margins(L, change)
        costs = float(np.sum(self.C * step))

        def along(t: float) -> float:
            """The derivative, in t, of the minimized function at M + t step."""
            barrier = self.tau * float(np.sum(values / (1 + t * values)))
            return costs - barrier + float(self.slopes(self.x + t * dx) @ dx)

        if not np.isfinite(dx).all():
            raise ValueError("the step overflows")
        t = _root(along, 1.0 if values[0] >= 0 else min(1e3, -0.99 / float(values[0])))
        if t < SHORTEST:
            raise ValueError("rounding allows no step")
        self.M = self.M + t * (step + step.T) / 2
        self.x = self.x + t * dx
        return bool(centred)

    def _margins(self, L: FloatArray, S: FloatArray) -> FloatArray:
        """The values v of all rows held, in the metric L S L^T.

        Products of points are faster than differences, and used while their rounding error is far below the gap.
        """
        z = self.Y @ L
        largest = float(np.einsum("nk,nk->n", z, z).max())
        self.by_differences = not ERROR * largest * self.value() < self.left()
        if self.by_differences:
            return self.active.margins_between(z, z @ S)
        return self.active._replace(Y=z).along(S)

    def _between(self, a: FloatArray) -> Any:
        """The rows with 0 < a < c, as a mask."""
        return (a > 0) if self.margin.squared else (a > 0) & (a < self.margin.cap)


def _root(along: Callable[[float], float], most: float) -> float:
    """The zero of an increasing function that is negative at 0, to 0.1 %; `most` if the zero is larger than `most`."""
    low, high = 0.0, min(1.0, most)
    while high < most and along(high) < 0:
        low, high = high, min(2 * high, most)
    if along(high) < 0:
        return high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if along(middle) < 0 else (low, middle)
        if high - low < 1e-3 * high:
            break
    return (low + high) / 2
