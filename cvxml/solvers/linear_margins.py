"""<C, M> with hinges over triplets, by multipliers: at once where it is small, else from samples and few directions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import look
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.targets import count
from cvxml.family.geometry.coordinates import coordinates
from cvxml.family.geometry.symmetric import weighted
from cvxml.family.losses.hinge import Hinge
from cvxml.family.losses.squared_hinge import SquaredHinge
from cvxml.family.regularizers.linear import Linear
from cvxml.family.rows.base import Duals, MarginRows
from cvxml.family.rows.triplets import Triplets
from cvxml.family.theorem.theorem import Family
from cvxml.solvers.active_rows import Active
from cvxml.solvers.multipliers import Margin, Multipliers, images

AHEAD = 0.5  # of a margin of 1, where rows are let in
ENOUGH_ROWS = 300  # targets of a sample
ROWS_A_FEATURE = 4  # or more, where that is more
STEP = 4  # from one sample to the next
ROUGH_GAP = 0.1  # first estimate of the relative gap that the optimum of a sample has in a larger sample
NEAREST = 1e-6  # of the objective: a start is made no better use of where less is left
CLOSE = 0.03  # to the optimum of a sample, of its objective
NOISE = 64 * EPS  # of a coordinate that has lost no digits
IDLE = 1e-3  # of what is left of the gap, as a share of M: without such a direction it is as good
FAINT = 1e-6  # of a metric that is given: a direction that has less is none of it
SLIGHT = 1e-3  # of a direction: what is that near to others is no new one
CHANGES = 100  # of directions, after which all are taken
DIRECTIONS = 64  # of the first metric, where there are more than twice as many


class Stage(NamedTuple):
    """What is looked at: one point's rows in so many, M = W M' W^T; None: every direction."""

    every: int
    W: FloatArray | None  # (r, k)


WHOLE = Stage(1, None)


class LinearMargins:
    """<C, M> with a hinge, linear or squared, on rows of which each is a pair less pairs that C has.

    Where C leaves a direction free, distances in it cost nothing: the rows with a pair that differs in it, exactly
    (span_coordinates.py), are made to keep their margin there, if double precision shows by how much, and only the
    others are solved for.
    """

    def __init__(self, family: Family, tol: float):
        assert isinstance(family.regularizer, Linear)
        ((loss, rows),), self.C = family.terms, family.regularizer.C
        assert isinstance(loss, (Hinge, SquaredHinge))
        assert isinstance(rows, Triplets)
        self.rows = rows
        X, on = family.regularizer.X, family.regularizer.ground
        self.at = coordinates(X)
        self.enough = tol if on.undecided else 0.0  # of the objective: no certificate will say when to stop
        pairs = self.at.Y[self.C.pairs[:, 0]] - self.at.Y[self.C.pairs[:, 1]]
        values, vectors = np.linalg.eigh(weighted(pairs, self.C.w))
        noise = NOISE * float(self.at.lost.max())
        # As many directions as C has rank, without those that double precision does not see.
        costs = (np.arange(len(values))[::-1] < on.rank) & (values > noise**2 * max(values[-1], 0.0))
        self.costs = bool(costs.any())
        self.basis, self.free = vectors[:, costs], vectors[:, ~costs]
        self.spread = values[costs]
        self.Y = self.at.Y @ self.basis
        self.seen = noise**2 * float(np.sum(self.at.Y**2, axis=1).max())
        self.labels = on.labels
        self.hinge = Margin(float(loss.c), isinstance(loss, SquaredHinge))
        self.stage, self.changes = WHOLE, 0
        self.solver = self._solver()

    def _solver(self) -> Multipliers:
        """Of what the stage looks at, in coordinates W."""
        every, W = self.stage
        rows = self.rows if every == 1 else self.rows.sample(every)
        Y, C = (self.Y, np.diag(self.spread)) if W is None else (self.Y @ W, np.eye(W.shape[1]))
        return Multipliers(Y, rows, partial(self.needed, rows), C / every, self.hinge, AHEAD)

    def _enter(self, stage: Stage, M: FloatArray, share: float) -> None:
        """Solve what a stage looks at, from M (r, r), where about this share of the objective is still to be won."""
        before, self.stage = self.stage, stage
        key, price = self.solver.key, self.solver.slopes(self.solver.x)
        self.solver = self._solver()
        if before.every == stage.every:
            self.solver.key, self.solver.price = key, price
        inside = np.eye(len(M)) if stage.W is None else stage.W.T * self.spread
        self.solver.begin(inside @ M @ inside.T, share)

    def found(self) -> FloatArray:
        """M (r, r)"""
        W, M = self.stage.W, self.solver.M
        return M if W is None else W @ M @ W.T

    def needed(self, rows: MarginRows, key: IntArray) -> Any:
        """True but for the loose rows, whose margin costs nothing."""
        needed = rows.within(self.labels, key)
        if not needed.all():
            needed |= ~(self._apart(rows, key) > self.seen)
        return needed

    def _apart(self, rows: MarginRows, key: IntArray) -> FloatArray:
        """v of rows in the free directions."""
        return rows.margins(self.at.Y @ self.free, key)

    def go_on(self, start: FloatArray, gap: float) -> None:
        """From the metric `start` (d, d), where no more than this share of the objective is still to be won."""
        if not start.any():
            self.begin()
            return
        given = self.basis.T @ self.at.back.T @ start @ self.at.back @ self.basis
        share = max(gap, NEAREST) if gap < ROUGH_GAP else ROUGH_GAP
        M = self._mixed(given, share)
        if share == ROUGH_GAP:  # what is far from the optimum may be of another size altogether
            M = self._multiple(M, 1)
        self._enter(Stage(1, self._of(given)), M, share)

    def begin(self) -> None:
        """From the best multiple of a shape that C gives."""
        W = self._first() if len(self.spread) > 2 * DIRECTIONS else None
        every, enough = 1, max(ENOUGH_ROWS, ROWS_A_FEATURE * (len(self.spread) if W is None else DIRECTIONS))
        while self.rows.size >= enough * every * STEP:
            look()
            every *= STEP
        shapes = [1 / self.spread, np.ones(len(self.spread)), 1 / (self.spread + self.spread.mean())]
        rows = self.rows.sample(every)
        starts = [self._multiple(np.diag(shape), every) for shape in shapes[: 3 if W is None else 1]]
        M = min(starts, key=lambda M: self._objective(rows, every, M))
        self._enter(Stage(every, W), M, 1.0)
        while self.stage.every > 1:
            look()
            self.step()

    def _of(self, M: FloatArray) -> FloatArray | None:
        """(r, k), of C-length 1: the directions that M has, where these are at most half of many."""
        unit = np.sqrt(self.spread)
        lengths, vectors = np.linalg.eigh(M * np.outer(unit, unit))
        has = lengths > FAINT * lengths.sum()
        return vectors[:, has] / unit[:, None] if 2 * max(DIRECTIONS, has.sum()) < len(unit) else None

    def _first(self) -> FloatArray:
        """(r, k), of C-length 1: the directions in which the points are furthest apart for what C asks."""
        z = (self.Y - self.Y.mean(axis=0)) / np.sqrt(self.spread)
        W: FloatArray = np.linalg.eigh(z.T @ z)[1][:, -DIRECTIONS:] / np.sqrt(self.spread)[:, None]
        return W

    def _more(self) -> bool:
        """Other directions, where some that are left out would win more than is left: these, and those that M has."""
        if self.changes == CHANGES:
            self._enter(WHOLE, self._mixed(self.found(), ROUGH_GAP), ROUGH_GAP)
            return True
        self.changes += 1
        W, left, unit = self.stage.W, self.solver.left() / self.solver.value(), np.sqrt(self.spread)
        assert W is not None
        duals = self.solver.duals()
        pull = Active.of(self.Y, self.rows.entries(duals.key), len(duals.key)).total(duals.a)
        slopes, vectors = np.linalg.eigh(np.eye(len(unit)) - pull / np.outer(unit, unit))
        lengths, kept = np.linalg.eigh(self.solver.M)
        W = W @ kept[:, lengths > IDLE * left * lengths.sum()]
        # Of the directions that win something, what is not in those that stay already.
        wins, old = vectors[:, slopes < -left / 2][:, : max(DIRECTIONS, W.shape[1])], W * unit[:, None]
        new, part, _ = np.linalg.svd(wins - old @ (old.T @ wins), full_matrices=False)
        new = new[:, part > SLIGHT] / unit[:, None]
        if slopes[0] >= -left or new.shape[1] == 0:
            return False
        share = min(ROUGH_GAP, -float(slopes[0]))
        M = self.found() + share * float(lengths.sum()) / new.shape[1] * new @ new.T
        self._enter(Stage(1, np.concatenate([W, new], axis=1)), M, share)
        return True

    def _mixed(self, M: FloatArray, share: float) -> FloatArray:
        """M and as little of C^-1: what other rows had no use for is slow to grow from next to 0."""
        return M + share * float(self.spread @ np.diag(M)) / len(M) * np.diag(1 / self.spread)

    def _multiple(self, M: FloatArray, every: int) -> FloatArray:
        """The best multiple of M for a sample, from large ones, in which few margins are missed, downwards."""
        rows = self.rows.sample(every)
        # What costs more by itself than 0 does is no better than 0.
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

    def _larger(self, M: FloatArray, every: int) -> FloatArray:
        """M, or a multiple of it that is better for a sample: a smaller one had fewer impostors."""
        rows, scale = self.rows.sample(every), 1.0
        value = self._objective(rows, every, M)
        while (doubled := self._objective(rows, every, 2 * scale * M)) < value:
            look()
            scale, value = 2 * scale, doubled
        return scale * M

    def objective(self, M: FloatArray) -> float:
        """Of the rows that are solved for, at M."""
        return self._objective(self.rows, 1, M)

    def at_zero(self) -> float:
        """The objective of the matrix 0."""
        return self._at_zero(self.rows)

    def _at_zero(self, rows: Triplets) -> float:
        return self.hinge.cap * count(rows.impostors)

    def _objective(self, rows: MarginRows, every: int, M: FloatArray) -> float:
        key, v = rows.near(images(self.Y, M), 1.0)
        missed = 1 - v[self.needed(rows, key)]
        push = float(np.sum(missed**2 if self.hinge.squared else missed))
        return float(np.sum(self.spread * np.diag(M))) / every + self.hinge.cap * push

    def step(self) -> bool:
        """False where rounding allows no step, or nothing is to be won."""
        if self.stage.every == 1 and self.stage.W is None:
            if self.solver.left() <= self.enough * self.objective(self.solver.M):
                return False
            return self.solver.step()
        every, W = self.stage
        # Of a sample without a price all that is looked at could shrink for ever.
        nothing = NEAREST * self._at_zero(self.rows.sample(every)) if every > 1 else 0.0
        if self.solver.left() > max(CLOSE * self.solver.value(), nothing) and self.solver.step():
            return True
        if every > 1:
            stage = Stage(every // STEP, W)
            self._enter(
                stage,
                self._larger(self._mixed(self.found(), ROUGH_GAP), stage.every),
                ROUGH_GAP,
            )
            return True
        return self._more() or self.solver.step()

    def whole(self) -> FloatArray:
        """(r, r) in the coordinates, with what the free directions need."""
        M = self.found()
        whole: FloatArray = self.basis @ M @ self.basis.T
        if self.free.shape[1]:
            whole = whole + self._enough(M) * self.free @ self.free.T
        return whole

    def _enough(self, M: FloatArray) -> float:
        """A multiple of distances in the free directions that keeps the margins of the loose; it costs nothing."""
        key, v = self.rows.near(images(self.Y, M), 1.0)
        loose = ~self.needed(self.rows, key)
        return float(np.max((1 - v[loose]) / self._apart(self.rows, key[loose]), initial=0.0)) * 2

    def metric(self) -> FloatArray:
        """(d, d)"""
        return self.at.outside(self.whole())

    def duals(self) -> Duals:
        """Of the rows that are in; where nothing costs anything, of all that are no loose ones: their margin is 0."""
        if self.costs:
            return self.solver.duals()
        twins, _ = self.rows.near(self.Y, 1.0)
        twins = twins[self.needed(self.rows, twins)]
        return Duals(np.full(len(twins), self.hinge.cap * (2 if self.hinge.squared else 1)), twins)
