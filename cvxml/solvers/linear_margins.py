"""Solver for <C, M> plus hinges on triplets (i, j, l): it prepares the problem for multipliers.py and factor_start.py.

C = sum_p w_p X_p is psd. The pairs p = (i, j) are points with their targets, the w_p > 0 are weights, and
X_p = (x_i - x_j)(x_i - x_j)^T. The number r counts the directions in which C is positive beyond rounding. `Multipliers`
(Newton's method) and `FactorStart` (L-BFGS for a metric of low rank) solve for a metric M (r, r) in these directions.

A row is one triplet, with the value v = D_il - D_ij of squared distances. With few directions, the solver begins with a
sample of the rows, and goes on with larger samples up to all rows. A sample consists of the rows of one point in
`every`. With many directions, it begins with a metric of low rank.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.run import Estimate
from cvxml.core.targets import count
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.geometry.symmetric import weighted
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, MarginRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family
from cvxml.solvers.factor_start import FIRST_SAMPLE, FactorStart
from cvxml.solvers.multipliers import Margin, Multipliers, images

AHEAD = 0.5  # rows with v < 1 + AHEAD are added
ENOUGH_ROWS = 300  # a sample has at least this many targets
ROWS_A_FEATURE = 4  # and at least this many for each feature
STEP = 4  # factor from one sample to the next larger one
ROUGH_GAP = 0.1  # first estimate of the relative gap that the optimum of a sample has in a larger sample
NEAREST = 1e-6  # smallest relative gap that is assumed; an objective below this times that at 0 counts as 0
CLOSE = 0.03  # a sample is solved to this relative gap
NOISE = 64 * EPS  # relative error of a coordinate that has lost no digits
TINY = float(np.finfo(np.float64).tiny)  # divisors are at least this
FAILED = 0.25  # a start in many directions with a larger gap than this is not used
FEW = 4.0  # the hinge can be heavy only with at most this many targets for each entry of the metric
DIRECTIONS = 64  # with more than twice as many directions, the start has a factor of this many columns


class LinearMargins:
    """Solver for <C, M> with a hinge, linear or squared, on triplets (i, j, l). The pairs (i, j) must be pairs of C.

    A direction with C = 0 up to rounding is free: distances along it do not change <C, M>. Triplets for which x_i - x_l
    has a part in a free direction are found exactly (geometry/span_coordinates.py). If double precision shows this part
    too, the triplet is loose: its margin is kept by a large distance in the free direction. The problem is solved for
    the other triplets.

    tol: the relative gap at which to stop if no certificate can be computed. may_be_heavy: False if the hinge is never
    treated as heavy (multipliers.py). It is not treated as heavy either if the number of pairs (i, j) is above `FEW`
    times r (r + 1) / 2, the number of free entries of the metric.
    """

    def __init__(self, family: Family, tol: float, may_be_heavy: bool = True):
        assert isinstance(family.regularizer, Linear)
        ((loss, rows),), self.C = family.terms, family.regularizer.C
        assert isinstance(loss, (Hinge, SquaredHinge))
        assert isinstance(rows, Triplets)
        self.rows = rows
        X, on = family.regularizer.X, family.regularizer.ground
        self.at = coordinates(X)
        self.enough = tol if on.undecided else 0.0  # without a certificate, stop at this relative gap
        pairs = self.at.Y[self.C.pairs[:, 0]] - self.at.Y[self.C.pairs[:, 1]]
        values, vectors = np.linalg.eigh(weighted(pairs, self.C.w))
        noise = NOISE * float(self.at.lost.max())
        # As many directions as the rank of C, without those within rounding of 0.
        costs = (np.arange(len(values))[::-1] < on.rank) & (values > noise**2 * max(values[-1], 0.0))
        self.costs = bool(costs.any())
        self.basis, self.free = vectors[:, costs], vectors[:, ~costs]
        self.spread = values[costs]
        self.Y = self.at.Y @ self.basis
        self.seen = noise**2 * float(np.sum(self.at.Y**2, axis=1).max())
        self.labels = on.labels
        self.hinge = Margin(float(loss.c), isinstance(loss, SquaredHinge))
        entries = len(self.spread) * (len(self.spread) + 1) / 2
        self.may_be_heavy = may_be_heavy and len(self.C.w) <= FEW * entries
        self.every = 1  # the rows of one point in `every` are solved for
        self.factor: FactorStart | None = None
        self.solver = self._solver()

    def _solver(self) -> Multipliers:
        """A new solver `Multipliers` for the present sample, or for all rows."""
        rows = self.rows if self.every == 1 else self.rows.sample(self.every)
        needed, C = partial(self.needed, rows), np.diag(self.spread) / self.every
        return Multipliers(self.Y, rows, needed, C, self.hinge, AHEAD, self.may_be_heavy)

    def _enter(self, every: int, M: FloatArray, share: float) -> None:
        """Solve for the sample with one point in `every` (1: for all rows), from M (r, r).

        share: an estimate of the relative gap of M there.
        """
        heavy, self.every = self.solver.heavy, every
        self.solver = self._solver()
        self.solver.heavy = heavy
        self.solver.begin(M, share)

    def found(self) -> FloatArray:
        """The present metric M (r, r)."""
        return self.solver.M if self.factor is None else self.factor.metric() / self._units()

    def _units(self) -> FloatArray:
        """Factors (r, r): M times these, entry by entry, is the metric in coordinates in which C is I."""
        unit = np.sqrt(self.spread)
        return np.outer(unit, unit)

    def estimate(self, family: Family) -> Estimate | None:
        """The objective, gap and scale of the present metric. family: gives the least scale.

        `Multipliers` computes them from the rows that it holds, and leaves out all other rows.
        """
        at = self.solver.estimate() if self.factor is None else self.factor.estimate()
        return at._replace(scale=max(at.scale, family.least_scale))

    def needed(self, rows: MarginRows, key: IntArray) -> Any:
        """A mask of the rows with the keys `key`: True if the row must be solved for, False if it is loose.

        A key is an integer that identifies a row.
        """
        needed = rows.within(self.labels, key)
        if not needed.all():
            needed |= ~(self._free_margins(rows, key) > self.seen)
        return needed

    def _free_margins(self, rows: MarginRows, key: IntArray) -> FloatArray:
        """The values v of the rows with the keys `key`, from Euclidean distances within the free directions only."""
        return rows.margins(self.at.Y @ self.free, key)

    def go_on(self, start: FloatArray, gap: float) -> None:
        """Start from the metric `start` (d, d). gap: an upper bound of its relative gap.

        If the gap is not below `ROUGH_GAP`, the best multiple of `start` is used, or with many directions a
        `FactorStart` from its largest eigenvectors. If `start` is 0, the simple start of `begin` is used.
        """
        M = self.basis.T @ self.at.back.T @ start @ self.at.back @ self.basis
        if not M.any():
            self.begin()
            return
        if self._many and not gap < ROUGH_GAP:
            values, vectors = np.linalg.eigh(M * self._units())
            self._begin_factor(vectors[:, -DIRECTIONS:] * np.sqrt(np.maximum(values[-DIRECTIONS:], 0.0)))
            return
        share = max(gap, NEAREST) if gap < ROUGH_GAP else ROUGH_GAP
        M = self._mixed(M, share)
        if share == ROUGH_GAP:  # the scale of such a start may be wrong
            M = self._multiple(M, 1)
        self._enter(1, M, share)

    @property
    def _many(self) -> bool:
        """True if there are more than 2 `DIRECTIONS` directions; the solver then begins with a metric of low rank."""
        return len(self.spread) > 2 * DIRECTIONS

    def begin(self) -> None:
        """Start from a simple metric on a small sample of the rows, and solve larger samples up to all rows.

        The metric is the best multiple of C^-1, I or (C + c I)^-1, with the mean eigenvalue c of C. With many
        directions, a `FactorStart` begins instead, in the directions with the largest spread of the points relative to
        C.
        """
        if self._many:
            z = (self.Y - self.Y.mean(axis=0)) / np.sqrt(self.spread)
            self._begin_factor(np.linalg.eigh(z.T @ z)[1][:, -DIRECTIONS:])
            return
        every, enough = 1, max(ENOUGH_ROWS, ROWS_A_FEATURE * len(self.spread))
        while self.rows.size >= enough * every * STEP:
            look()
            every *= STEP
        shapes = [1 / self.spread, np.ones(len(self.spread)), 1 / (self.spread + self.spread.mean())]
        rows = self.rows.sample(every)
        starts = [self._multiple(np.diag(shape), every) for shape in shapes]
        M = min(starts, key=lambda M: self._objective(rows, every, M))
        self._enter(every, M, 1.0)
        while self.every > 1:
            look()
            self.step()

    def _begin_factor(self, L: FloatArray) -> None:
        """Begin a `FactorStart` with the best multiple of L L^T, for L (r, k) in coordinates in which C is I."""
        M = L @ L.T / self._units()
        every = max(1, self.rows.size // FIRST_SAMPLE)
        length = float(self.spread @ np.diag(self._multiple(M, every))) / max(float(np.sum(L**2)), TINY)
        unit = np.sqrt(self.spread)
        self.factor = FactorStart(
            self.Y / unit, self.rows, self.needed, self.hinge, AHEAD, math.sqrt(length) * L
        )

    def _end_factor(self, factor: FactorStart) -> None:
        """Go on with Newton's method, in all directions, from the metric and the dual variables of the start `factor`.

        If the gap of the start is known and large, the hinge may be heavy (multipliers.py). Then Newton's method begins
        anew, with a multiple of C^-1.
        """
        M, share, duals = self.found(), min(1.0, factor.gap / max(factor.objective, TINY)), factor.duals()
        self.factor = None
        if factor.every == 1 and share > FAILED:
            self._enter(1, self._multiple(np.diag(1 / self.spread), 1), 1.0)
            return
        self.solver.key, self.solver.price = duals.key, duals.a
        self.solver.begin(self._mixed(M, share), share)

    def _mixed(self, M: FloatArray, share: float) -> FloatArray:
        """M (r, r) plus a multiple of C^-1, so that no direction of the metric is close to 0.

        The multiple is c C^-1 with <C, c C^-1> = share * <C, M>. An interior-point method enlarges a direction close to
        0 only slowly, and other rows may need this direction.
        """
        return M + share * float(self.spread @ np.diag(M)) / len(M) * np.diag(1 / self.spread)

    def _multiple(self, M: FloatArray, every: int) -> FloatArray:
        """The multiple of M with the smallest objective found, on the sample with one point in `every`.

        The search starts from large multiples, which violate few margins, and halves them.
        """
        rows = self.rows.sample(every)
        # A multiple with <C, M> above the objective at 0 is worse than 0.
        at_zero = self._at_zero(rows)
        most = at_zero * every / float(self.spread @ np.diag(M))
        scale = 2.0 ** min(30, math.ceil(math.log2(most))) if 0 < most < math.inf else 2.0**30
        best, least = M, math.inf
        while scale > 2.0**-30 and least > NEAREST * at_zero:
            look()
            value = self._objective(rows, every, scale * M)
            if value > least:
                break
            best, least, scale = scale * M, value, scale / 2
        return best

    def _larger_multiple(self, M: FloatArray, every: int) -> FloatArray:
        """A start for the sample with one point in `every`: M, or a multiple 2^k M with a smaller objective.

        M is near the optimum of a smaller sample. This is often too small, because that sample had fewer impostors. So
        the objective is computed on rows of the new sample that were not in the smaller one.
        """
        few = every * STEP
        rows, scale = self.rows.sample(few, every), 1.0
        value = self._objective(rows, few, M)
        while (doubled := self._objective(rows, few, 2 * scale * M)) < value:
            look()
            scale, value = 2 * scale, doubled
        return scale * M

    def objective(self, M: FloatArray) -> float:
        """The objective of M (r, r), without the loose rows."""
        return self._objective(self.rows, 1, M)

    def at_zero(self) -> float:
        """The objective of M = 0, with all rows."""
        return self._at_zero(self.rows)

    def _at_zero(self, rows: Triplets) -> float:
        return self.hinge.cap * count(rows.impostors)

    def _objective(self, rows: MarginRows, every: int, M: FloatArray) -> float:
        key, v = rows.near(images(self.Y, M), 1.0)
        missed = 1 - v[self.needed(rows, key)]
        push = float(np.sum(missed**2 if self.hinge.squared else missed))
        return float(np.sum(self.spread * np.diag(M))) / every + self.hinge.cap * push

    def step(self) -> bool:
        """One round of the present solver; False if rounding prevents a step, or if the gap is small enough."""
        if self.factor is not None:
            if self.factor.ended:
                self._end_factor(self.factor)
            else:
                self.factor.round()
            return True
        if self.every == 1:
            if self.enough > 0 and self.solver.left() <= self.enough * self.objective(self.solver.M):
                return False
            return self.solver.step()
        # If a sample has no violated margin, M would shrink without bound.
        nothing = NEAREST * self._at_zero(self.rows.sample(self.every))
        if self.solver.left() > max(CLOSE * self.solver.value(), nothing) and self.solver.step():
            return True
        every = self.every // STEP
        self._enter(every, self._larger_multiple(self._mixed(self.found(), ROUGH_GAP), every), ROUGH_GAP)
        return True

    def whole(self) -> FloatArray:
        """The present metric (k, k) in the coordinates `self.at.Y` (n, k) of the points, free directions included."""
        M = self.found()
        whole: FloatArray = self.basis @ M @ self.basis.T
        if self.free.shape[1]:
            whole = whole + self._factor_for_loose_rows(M) * self.free @ self.free.T
        return whole

    def _factor_for_loose_rows(self, M: FloatArray) -> float:
        """A weight c >= 0, so that M (r, r) plus c times the identity in the free directions has v >= 1 in loose rows.

        Loose rows and free directions are those of the class docstring. c is twice the smallest such weight; it is 0 if
        M alone has v >= 1 in these rows.
        """
        key, v = self.rows.near(images(self.Y, M), 1.0)
        loose = ~self.needed(self.rows, key)
        return float(np.max((1 - v[loose]) / self._free_margins(self.rows, key[loose]), initial=0.0)) * 2

    def metric(self) -> FloatArray:
        return self.at.outside(self.whole())

    def duals(self) -> Duals:
        """The positive dual variables of the rows.

        If C is 0 up to rounding, all rows that are not loose have v = 0 and the largest possible dual variable.
        """
        if self.factor is not None:
            return self.factor.duals()
        if self.costs:
            return self.solver.duals()
        twins, _ = self.rows.near(self.Y, 1.0)
        twins = twins[self.needed(self.rows, twins)]
        return Duals(np.full(len(twins), self.hinge.cap * (2 if self.hinge.squared else 1)), twins)
