"""The rows of the interior-point method (interior_point.py) for losses sum_i cap max_c (reward_ic - v_ic).

A row (i, c) has the value v_ic = <V_ic, M>, a constant reward_ic, and a dual variable u_ic >= 0. The rows of one i
form a group, and their dual variables have the sum cap. level_i is an unknown of any sign. At the optimum it is
max_c (reward_ic - v_ic). The multiplier of u_ic is the slack

    s_ic = level_i - reward_ic + v_ic >= 0,      and at the optimum u_ic s_ic = 0.

A step dM of the metric and dlevel_i of the levels leads to du = g - theta (dlevel_i + <V_ic, dM>) with theta = u / s.
Here g does not depend on dM and dlevel_i. The sum of u stays cap, which gives dlevel_i. So the matrix B in the
equations of scaling.py has a row for each (i, c). It is V_ic minus the mean of V_ic over c with the weights theta,
times the square root of theta.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.solvers.interior_point import Pair, Rows, State
from cvxml.solvers.scaling import Scaling


class SimplexRows(Rows):
    """The t rows of such losses. The only pair of a state is (u, s), and `free` holds the levels (groups,).

    lam: the weight of the squared norm. cap: the sum of the dual variables of a group. group (t,): the number i of the
    group of each row, from 0. reward (t,): the rewards. length (t,): the trace of V for each row. Every V is psd.
    """

    def __init__(self, lam: float, cap: float, group: IntArray, reward: FloatArray, length: FloatArray):
        self.lam, self.cap, self.group, self.reward, self.length = lam, cap, group, reward, length
        self.groups = int(group.max(initial=-1)) + 1

    @abstractmethod
    def image(self, u: FloatArray) -> FloatArray:
        """The sum of u V over all rows (d, d), for dual variables u (t,)."""

    @abstractmethod
    def constant(self) -> FloatArray:
        """G minus the sum of u V over all rows (d, d). It is negative semidefinite and does not depend on u."""

    @abstractmethod
    def values(self, M: FloatArray) -> FloatArray:
        """The values v (t,) of the rows in a metric M (d, d)."""

    @abstractmethod
    def features(self, scaling: Scaling) -> FloatArray:
        """The matrices V of all rows in the coordinates of the scaling (t, p), as `Scaling.rows` gives them."""

    def _sum(self, x: FloatArray) -> FloatArray:
        """The sums of x (t,) over the groups."""
        total: FloatArray = np.bincount(self.group, x, minlength=self.groups).astype(np.float64)
        return total

    def start(self) -> State:
        """The start: M is a multiple of I so large that S is positive definite for every feasible u.

        The levels make every slack s positive. In each group, u is proportional to 1 / s and has the sum cap.
        """
        longest = np.zeros(self.groups)
        np.maximum.at(longest, self.group, self.length)
        d = len(self.constant())
        alpha = 2 * max(self.cap * float(longest.sum()), 1e-100) / self.lam
        score = self.reward - alpha * self.length
        top, low = np.full(self.groups, -np.inf), np.full(self.groups, np.inf)
        np.maximum.at(top, self.group, score)
        np.minimum.at(low, self.group, score)
        level = top + 1 + (top - low) / 2
        s = level[self.group] - score
        u = self.cap / s / self._sum(1 / s)[self.group]
        return State(alpha * np.eye(d)[None], (Pair(u, s),), level)

    def duals(self, at: State) -> FloatArray:
        return at.pairs[0].value

    def G(self, at: State) -> FloatArray:
        return (self.image(at.pairs[0].value) + self.constant())[None]

    def enter(self, at: State) -> State:
        u = at.pairs[0].value
        s = at.free[self.group] - self.reward + self.values(at.M[0])
        self.s, self.theta = s, u / s
        self.total = self._sum(self.theta)
        self.missing = self.cap - self._sum(u)
        return at._replace(pairs=(Pair(u, s),))

    def B(self, scalings: Sequence[Scaling]) -> FloatArray:
        F = self.features(scalings[0])
        mean = np.zeros((self.groups, F.shape[1]))
        np.add.at(mean, self.group, self.theta[:, None] * F)
        mean /= self.total[:, None]
        F -= mean[self.group]
        return F * np.sqrt(self.theta)[:, None]

    def unpriced(self, rests: Sequence[FloatArray]) -> FloatArray:
        g = rests[0] / self.s
        return self.image(g - self.theta * self._level(g)[self.group])[None]

    def _level(self, moved: FloatArray) -> FloatArray:
        """The step of the levels (groups,).

        moved (t,): the step of u for unchanged levels. A step of the level changes it to moved - theta * step. The step
        returned makes the sum of u in each group equal to cap.
        """
        level: FloatArray = (self._sum(moved) - self.missing) / self.total
        return level

    def steps(self, rests: Sequence[FloatArray], dM: FloatArray) -> tuple[tuple[Pair, ...], FloatArray]:
        g, dv = rests[0] / self.s, self.values(dM[0])
        level = self._level(g - self.theta * dv)
        ds = level[self.group] + dv
        return (Pair(g - self.theta * ds, ds),), level
