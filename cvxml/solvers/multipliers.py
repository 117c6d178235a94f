"""A metric under many linear margins, of which few are at their kink: multipliers, a barrier, and Newton's method.

    min_{M >> 0}  <C, M> + sum_t h(1 - v_t),      h(x) = c [x]_+  or  c [x]_+^2,      v = B D.
For prices b of the rows and a width g the hinge is replaced by the least of h(x') + (c / 2g) (x - x' + b g / c)^2,
whose slope is the price a = b + c x / g moved into 0 .. c: the method of multipliers, in which b becomes a after each
round. A margin that may not be missed has prices without a limit. The squared hinge is smooth as it is. A barrier
-tau log det M keeps M definite. Where all slopes cancel,
    C - sum_t a_t V_t = tau M^-1,
so that the prices are feasible, and the gap is tau times the size of M and what the rows leave, of which no part is
negative. Newton's method sees the curvature of the rows between their ends only: a few, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from cvxml.core.clock import watched
from cvxml.core.metric import FloatArray, IntArray
from cvxml.family.geometry.symmetric import smat, svec
from cvxml.family.rows.base import Duals, MarginRows
from cvxml.solvers.active_rows import Active, Curvature

NARROWER = 4.0  # from one width to the next
NARROWEST = 1e-3  # of the margin of 1: then multipliers alone are enough
TOWARDS = 4.0  # from one tau to the next
ROUNDING = 1e-15  # of the objective: no less can be won
CENTRED = 1.0  # Newton decrement at which a round ends
LATE_DECREMENT = 2.0  # below this Newton decrement, the rows at their kink hardly change
LOOK = 5  # Newton steps after which rows are let in and out
SHORTEST = 1e-9  # of a Newton step
MAX_NEWTON_STEPS = 30  # Newton steps of one round
HALVINGS = 40  # of an interval in which a slope changes its sign


class Margin(NamedTuple):
    """How a margin that is missed counts."""

    cap: float  # weight of the hinge; inf: no margin may be missed
    squared: bool = False

    @property
    def hard(self) -> bool:
        """True where no margin may be missed."""
        return bool(np.isinf(self.cap))


def images(Y: FloatArray, M: FloatArray) -> FloatArray:
    """Y (n, r) as M (r, r) sees it, psd but for rounding: distances of the rows are Euclid's."""
    values, vectors = np.linalg.eigh(M)
    z: FloatArray = Y @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    return z


class Multipliers:
    """Points Y (n, r) in coordinates of a metric M (r, r), and the rows whose margins are less than 1 + ahead.

    counts: of keys, which of these rows are to be looked at at all.
    """

    def __init__(
        self,
        Y: FloatArray,
        rows: MarginRows,
        counts: Callable[[IntArray], Any],
        C: FloatArray,
        margin: Margin,
        ahead: float,
    ):
        self.Y, self.rows, self.counts, self.C, self.margin, self.ahead = Y, rows, counts, C, margin, ahead
        self.M: FloatArray = np.eye(len(C))
        self.inverse = np.asarray(np.linalg.inv(C), dtype=np.float64)
        self.key: IntArray = np.zeros(0, dtype=np.intp)
        self.price: FloatArray = np.zeros(0)
        self.x: FloatArray = np.zeros(0)  # 1 - v of the rows that are in
        self.g, self.tau, self.unit = 1.0, 1.0, margin.cap

    def begin(self, M: FloatArray, share: float) -> None:
        """From M, where about this share of the objective is still to be won."""
        self.M = M
        self.look()
        self.g = min(1.0, np.sqrt(share))
        self.tau = 0.25 * share * self.value() / len(M)
        if self.margin.hard:
            self.unit = self.value() / len(M)
        self.round()

    def step(self) -> bool:
        """Another round, with other multipliers; False where rounding allows no step."""
        if self.left() <= ROUNDING * self.value():
            return False
        self.price = self.slopes(self.x)
        rest = self.rest()
        if rest > self.tau * len(self.M):
            # Prices without a limit take up more of what rounding does to a margin.
            self.g = max(self.g / NARROWER, 4 * NARROWEST if self.margin.hard else NARROWEST)
        self.tau = min(self.tau, 0.25 * self.value() / len(self.M)) / TOWARDS
        self.look()
        return self.round()

    def away(self) -> None:
        """Leave the boundary, where a long step may have led: next to it M could hardly turn. It costs tau r."""
        self.M = self.M + self.tau * self.inverse

    def look(self) -> None:
        """Let the rows in whose margin is less than 1 + ahead, and out those that are kept and have no price."""
        near, _ = self.rows.near(images(self.Y, self.M), 1 + self.ahead)
        near = near[self.counts(near)]
        priced = self.price > 0
        both = np.sort(np.concatenate([near, self.key[priced]]))  # faster than a set of numpy's is
        key = both[np.append(both[1:] != both[:-1], True)] if len(both) else both
        price = np.zeros(len(key))
        price[np.searchsorted(key, self.key[priced])] = self.price[priced]
        self.key, self.price = key, price
        self.active = Active.of(self.Y, self.rows.entries(key), len(key))
        self.x = 1 - self.active.margins(self.M)

    def slopes(self, x: FloatArray) -> FloatArray:
        """The price of every row."""
        if self.margin.squared:
            return 2 * self.margin.cap * np.maximum(x, 0.0)
        return np.clip(self.price + self.weight * x, 0.0, self.margin.cap)

    @property
    def weight(self) -> float:
        """The curvature of a row between its ends."""
        return 2 * self.margin.cap if self.margin.squared else self.unit / self.g

    def rest(self) -> float:
        """What the rows leave of the gap."""
        if self.margin.squared:
            return 0.0
        a = self.slopes(self.x)
        if self.margin.hard:
            return float(np.abs(a * self.x).sum())
        return float(np.sum(np.where(self.x > 0, self.margin.cap - a, -a) * self.x))

    def value(self) -> float:
        """The objective."""
        if self.margin.hard:
            return float(np.sum(self.C * self.M))
        missed = np.maximum(0.0, self.x)
        push = float(np.sum(missed**2 if self.margin.squared else missed))
        return float(np.sum(self.C * self.M)) + self.margin.cap * push

    def left(self) -> float:
        """What the present iterate may still win, if the slopes cancelled."""
        return self.tau * len(self.M) + self.rest()

    def duals(self) -> Duals:
        """Of the rows that are in."""
        a = self.slopes(self.x)
        return Duals(a[a > 0], self.key[a > 0])

    def round(self) -> bool:
        """Newton steps until the slopes cancel; False where there was none."""
        self.decrement = before = np.inf
        for k in watched(range(MAX_NEWTON_STEPS)):
            if k and k % LOOK == 0:
                if self.decrement > before / 2:
                    self.away()
                before = self.decrement
                self.look()
            with np.errstate(all="ignore"):  # what is no number is looked for
                try:
                    if self.newton():
                        return True
                except (LinAlgError, ValueError):
                    return k > 0
        return True

    def newton(self) -> bool:
        """A Newton step; True if prices were feasible before it and M near the centre."""
        a = self.slopes(self.x)
        L = np.asarray(np.linalg.cholesky(self.M), dtype=np.float64)
        L = L @ np.linalg.eigh(L.T @ L)[1][:, ::-1]
        Z = self.C - self.active.total(a)
        Z = L.T @ Z @ L
        slope = svec(Z - self.tau * np.eye(len(L)))
        free = self._between(a)
        if self.decrement > LATE_DECREMENT**2 * self.tau:
            # A row that was between its ends before this round would be there again after a step that forgot it.
            free |= self._between(self.price)
        curvature = Curvature(self.active.part(np.flatnonzero(free)), L, self.tau, self.weight)
        direction = -curvature.solve(slope)
        self.decrement = -float(slope @ direction)
        centred = self.decrement <= CENTRED**2 * self.tau and np.linalg.eigvalsh(Z)[0] > 0
        change = smat(direction, len(L))
        values = np.linalg.eigvalsh(change)
        step: FloatArray = L @ change @ L.T
        dx = -self.active.margins(step)
        costs = float(np.sum(self.C * step))

        def along(t: float) -> float:
            """The slope of the function after t of the step."""
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

    def _between(self, a: FloatArray) -> Any:
        """Where prices are at neither end."""
        return (a > 0) if self.margin.squared else (a > 0) & (a < self.margin.cap)


def _root(along: Callable[[float], float], most: float) -> float:
    """Where an increasing function, negative at 0, has its root; the end where it has none before."""
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
