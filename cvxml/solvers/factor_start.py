"""A start for problems with large metrics: a metric M = L L^T near the optimum with few columns of L, by L-BFGS.

linear_margins.py uses it for <C, M> plus hinges h on triplets, in coordinates in which C is I. Row t of the loss has
the value v_t = <V_t, M> in a metric M (active_rows.py). With M = L L^T and L (r, k) the problem is

    min_L  ||L||^2 + sum_t h(1 - v_t),      v_t = <V_t, L L^T>.

The hinge h is smoothed with the width g as in multipliers.py, with all multipliers b = 0. The problem is not convex in
L. But suppose that its gradient is 0, and that the slopes a_t of the hinges are feasible dual variables:

    sum_t a_t V_t <= I  (I minus the sum is psd).

Then L L^T is a minimum over all metrics, with the smoothed hinge. If an eigenvalue of the sum is above 1, its
eigenvector may become a column of L.

A step needs products with the k columns of L only. Newton's method in multipliers.py needs all of M, but ends at a
smaller gap. So it continues from M and a. Nothing is proved here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.run import Estimate
from cvxml.family.rows.base import Duals
from cvxml.family.rows.triplets import Triplets
from cvxml.solvers.active_rows import Active
from cvxml.solvers.multipliers import Margin

NEAR = 0.1  # the start ends at this relative gap
ROUNDS = 15  # or after this many rounds
STEPS = 25  # steps of L-BFGS in a round, before rows are added and removed
EARLY = 3  # this many first rounds are short, and those on a sample: rows that are not held would be violated
EARLY_STEPS = 8  # steps of a short round
PREVIOUS = 10  # L-BFGS keeps this many pairs of vectors
TRIES = 4  # at most this many other samples are tried in a round
MOST_ROWS = 1e6  # if more rows have v < 1 + ahead, a sample is used
FIRST_SAMPLE = 1000  # number of targets of the first sample
AHEAD_IN_SAMPLE = 0.1  # rows of a sample with v < 1 + this are held
NARROWER = 4.0  # divisor from one width g of the smoothed hinge to the next (g is that of multipliers.py)
NARROWEST = 1e-3  # smallest width g
SETTLED = 3.0  # g falls if what is infeasible costs at most this many times the excess of the rows
EXCESS = 0.3  # a direction joins if its eigenvalue exceeds 1 by this share of the largest excess
OUTSIDE = 0.3  # and if this fraction of it is orthogonal to the columns
MOST_NEW = 16  # at most this many columns join at a time
SLIGHT = 1e-2  # length of a new column, relative to the others


class FactorStart:
    """The search for a start, for points Y (n, r) in coordinates in which C is I. The constructor runs one round.

    needed: a function of rows and their keys, the integers that identify them. It returns a mask of the rows that
    belong to the problem. margin: the hinge. ahead: rows with v < 1 + ahead are held. L (r, k): gives the first metric.
    """

    def __init__(
        self,
        Y: FloatArray,
        rows: Triplets,
        needed: Callable[[Triplets, IntArray], Any],
        margin: Margin,
        ahead: float,
        L: FloatArray,
    ):
        self.Y = Y - Y.mean(axis=0)  # only differences count, and those of short vectors lose fewer digits
        self.rows, self.needed, self.margin, self.ahead, self.L = rows, needed, margin, ahead, L
        self.g, self.rounds = 1.0, 0
        self.points = len(np.unique(rows.targets[:, 0]))
        self.every = self._at_most(rows.size // FIRST_SAMPLE)
        self.objective = self.gap = math.inf
        self.round()

    @property
    def ended(self) -> bool:
        """True if the relative gap is at most `NEAR`, or after `ROUNDS` rounds."""
        return self.rounds == ROUNDS or self.gap <= NEAR * self.objective

    def metric(self) -> FloatArray:
        """The present metric M = L L^T (r, r)."""
        M: FloatArray = self.L @ self.L.T
        return M

    def duals(self) -> Duals:
        """The positive dual variables; a multiple of them is feasible.

        Empty while a sample of the rows is used, because the keys of a row in the sample and in the problem differ.
        """
        positive = self.a > 0 if self.every == 1 else np.zeros(len(self.a), dtype=bool)
        return Duals(self.a[positive], self.key[positive])

    def estimate(self) -> Estimate:
        """The objective and gap of the metric.

        While only a sample of the rows is used, in the first rounds, the gap is inf and the objective is rough.
        """
        return Estimate(self.objective, self.gap, self.objective)

    def round(self) -> None:
        """Choose the rows, take steps of L-BFGS, and change the width g of the hinge and the columns of L."""
        rows, self.key = self._held()
        active = Active.of(self.Y, rows.entries(self.key), len(self.key))
        margin = self.margin._replace(cap=self.margin.cap * self.every)
        self.L = self._descend(active, margin)
        x = 1 - active.margins_of(self.Y @ self.L)
        self.a = margin.slopes(x, margin.cap / self.g)
        values, vectors = np.linalg.eigh(active.total(self.a))
        largest = max(1.0, float(values[-1]))
        held = float(np.sum(self.L**2)) + margin.push(x)
        self.objective = self._objective() if self.every == 1 else held
        self.gap = self.objective - margin.bound(self.a / largest) if self.every == 1 else math.inf
        self.rounds += 1
        rest = margin.rest(x, self.a)
        if self.every == 1 and rest > NEAR / 4 * held and (largest - 1) * held < SETTLED * rest:
            self.g = max(self.g / NARROWER, NARROWEST)
        self._join(vectors[:, values > 1 + max(NEAR / 2, EXCESS * (largest - 1))][:, -MOST_NEW:])

    def _objective(self) -> float:
        """The objective of the problem (not smoothed) at L L^T, with all rows, also those left out of L-BFGS."""
        key, v = self.rows.near(self.Y @ self.L, 1.0)
        return float(np.sum(self.L**2)) + self.margin.push(1 - v[self.needed(self.rows, key)])

    def _held(self) -> tuple[Triplets, IntArray]:
        """The rows of all points or of a sample of points, and the keys of those with v < 1 + ahead.

        In a sample, `AHEAD_IN_SAMPLE` replaces `ahead`. The sample is as large as `MOST_ROWS` allows. Each round draws
        another one.
        """
        tries = 0
        while True:
            look()
            rows = self.rows if self.every == 1 else self.rows.sample(self.every, self.rounds % self.every)
            key, _ = rows.near(self.Y @ self.L, 1 + (self.ahead if self.every == 1 else AHEAD_IN_SAMPLE))
            every = self._at_most(math.ceil(len(key) * self.every / MOST_ROWS))
            large = self.every == 1 or 1 < every >= self.every / 2  # the sample is as large as it can be
            few = len(key) <= 2 * MOST_ROWS or every == self.every
            if tries == TRIES or (large and few):
                return rows, key[self.needed(rows, key)]
            self.every, tries = every, tries + 1

    def _at_most(self, every: int) -> int:
        """`every`, limited so that a sample with one point in `every` has at least one point."""
        return min(max(1, every), max(1, self.points))

    def _descend(self, active: Active, margin: Margin) -> FloatArray:
        """L (r, k) after some steps of L-BFGS on the rows `active`."""
        from scipy.optimize import minimize  # takes long to load

        weight = margin.cap / self.g

        def smoothed(flat: FloatArray) -> tuple[float, FloatArray]:
            look()
            L = flat.reshape(self.L.shape)
            z = self.Y @ L
            x = 1 - active.nearly(z)
            a = margin.slopes(x, weight)
            value = float(np.sum(L**2)) + margin.smoothed(x, a, weight)
            return value, 2 * (L - active.total_with(a, z)).ravel()

        steps = STEPS if self.every == 1 and self.rounds >= EARLY else EARLY_STEPS
        options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": PREVIOUS, "gtol": 0.0, "ftol": 0.0}
        L: FloatArray = minimize(smoothed, self.L.ravel(), jac=True, method="L-BFGS-B", options=options).x
        return L.reshape(self.L.shape)

    def _join(self, directions: FloatArray) -> None:
        """Add short multiples of some of the unit vectors `directions` (r, m) to L, as new columns.

        A vector is added if its part orthogonal to the columns of L is longer than `OUTSIDE`, and if k < r.
        """
        within = np.linalg.lstsq(self.L, directions, rcond=None)[0]
        new = np.linalg.norm(directions - self.L @ within, axis=0) > OUTSIDE
        if new.any() and self.L.shape[1] < len(self.L):
            length = SLIGHT * float(np.linalg.norm(self.L)) / math.sqrt(self.L.shape[1])
            self.L = np.concatenate([self.L, length * directions[:, new]], axis=1)
