"""How a metric is found for members with margins: <C, M> or ||M||^2 with hinges, and a least distance in a budget.

Everything is in coordinates in which nothing has a unit. Nothing is proved here: a certificate says after every step
how far the iterate is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Certificate, Dual, Status
from cvxml.core.run import Callback, Found, Iterate, run
from cvxml.core.targets import count
from cvxml.family.bound import Family
from cvxml.family.boxed import BoxDual, Boxed
from cvxml.family.budget import budget, unproved
from cvxml.family.coordinates import coordinates
from cvxml.family.frobenius import Frobenius
from cvxml.family.losses import Hinge, SquaredHinge
from cvxml.family.multipliers import Margin, Multipliers, images
from cvxml.family.regularizers import Budget, Linear
from cvxml.family.rows import UNSEEN, MarginRows, Nearest, Prices, Triplets
from cvxml.family.symmetric import weighted

AHEAD = 0.5  # of a margin of 1, where rows are let in
AHEAD_OF_LEAST = 2.0
ENOUGH_ROWS = 300  # targets of a sample
ROWS_A_FEATURE = 4  # or more, where that is more
PATIENCE = 20  # rounds without a better gap, after which rounding is to blame
STEP = 4  # from one sample to the next
NEAR = 0.1  # what the optimum of a sample leaves of the objective of a larger one
CLOSE = 0.03  # to the optimum of a sample, of its objective
NOISE = 64 * float(np.finfo(float).eps)  # of a coordinate that has lost no digits

Prove = Callable[[Family, FloatArray, Dual], Certificate]
Named = Callable[..., Dual]  # of the prices of each term


class LinearMargins:
    """<C, M> with a hinge, linear or squared, on rows of which each is a pair less pairs that C has.

    Where C leaves a direction free, distances in it cost nothing: the rows with a pair that differs in it, exactly
    (ground.py), are made to keep their margin there, if double precision shows by how much, and only the others are
    solved for.
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
        self.solver = self._solver(1)

    def _solver(self, every: int) -> Multipliers:
        """Of one row in so many, and of C as much: a problem with nearly the same optimum."""
        rows = self.rows if every == 1 else self.rows.sample(every)
        C = np.diag(self.spread / every)
        return Multipliers(self.Y, rows, partial(self.needed, rows), C, self.hinge, AHEAD)

    def needed(self, rows: MarginRows, key: IntArray) -> Any:
        """True but for the loose rows, whose margin costs nothing."""
        needed = rows.within(self.labels, key)
        if not needed.all():
            needed |= ~(self._apart(rows, key) > self.seen)
        return needed

    def _apart(self, rows: MarginRows, key: IntArray) -> FloatArray:
        """v of rows in the free directions."""
        return rows.margins(self.at.Y @ self.free, key)

    def begin(self, start: FloatArray | None) -> None:
        """From `start` (d, d), or from what smaller samples of the rows have, and they from a multiple of C^-1."""
        every, share = 1, 1.0
        if start is not None and start.any():
            given = self.basis.T @ self.at.back.T @ start @ self.at.back @ self.basis
            M, share = self._multiple(self._mixed(given), every), NEAR
        else:
            enough = max(ENOUGH_ROWS, ROWS_A_FEATURE * len(self.spread))
            while self.rows.size >= enough * every * STEP:
                every *= STEP
            shapes = (1 / self.spread, np.ones(len(self.spread)), 1 / (self.spread + self.spread.mean()))
            rows = self.rows.sample(every)
            starts = [self._multiple(np.diag(shape), every) for shape in shapes]
            M = min(starts, key=lambda M: self._objective(rows, every, M))
        while every > 1:
            solver = self._solver(every)
            solver.begin(M, share)
            while solver.left() > CLOSE * solver.value() and solver.step():
                pass
            every //= STEP
            M, share = self._larger(self._mixed(solver.M), every), NEAR
        self.solver.begin(M, share)

    def _mixed(self, M: FloatArray) -> FloatArray:
        """M and a little of C^-1: what other rows had no use for is slow to grow from next to 0."""
        return M + NEAR * float(self.spread @ np.diag(M)) / len(M) * np.diag(1 / self.spread)

    def _multiple(self, M: FloatArray, every: int) -> FloatArray:
        """The best multiple of M for a sample, from large ones, in which few margins are missed, downwards."""
        rows, scale = self.rows.sample(every), 2.0**30
        best, least = M, math.inf
        while scale > 2.0**-30:
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
            scale, value = 2 * scale, doubled
        return scale * M

    def objective(self, M: FloatArray) -> float:
        """Of the rows that are solved for, at M."""
        return self._objective(self.rows, 1, M)

    def at_zero(self) -> float:
        """The objective of the matrix 0."""
        return self.hinge.cap * count(self.rows.impostors)

    def _objective(self, rows: MarginRows, every: int, M: FloatArray) -> float:
        key, v = rows.near(images(self.Y, M), 1.0)
        missed = 1 - v[self.needed(rows, key)]
        push = float(np.sum(missed**2 if self.hinge.squared else missed))
        return float(np.sum(self.spread * np.diag(M))) / every + self.hinge.cap * push

    def step(self) -> bool:
        """False where rounding allows no step, or nothing is to be won."""
        if self.solver.left() <= self.enough * self.objective(self.solver.M):
            return False
        return self.solver.step()

    def whole(self) -> FloatArray:
        """(r, r) in the coordinates, with what the free directions need."""
        M = self.solver.M
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

    def prices(self) -> Prices:
        """Of the rows that are in; where nothing costs anything, of all that are no loose ones: their margin is 0."""
        if self.costs:
            return self.solver.prices()
        twins, _ = self.rows.near(self.Y, 1.0)
        twins = twins[self.needed(self.rows, twins)]
        return Prices(np.full(len(twins), self.hinge.cap * (2 if self.hinge.squared else 1)), twins)


class LeastMargin:
    """-min D within the budget: with M / least in place of M it is min tr M with every D at 1 or more."""

    def __init__(self, family: Family, start: FloatArray | None):
        assert isinstance(family.regularizer, Budget)
        rows: Nearest = family.terms[0].rows  # type: ignore[assignment]
        X = family.regularizer.X
        self.at = budget(family.regularizer.E, None)
        Y = (X - X[0]) @ self.at.to
        least = rows.least(Y)
        if not math.isfinite(least):
            raise ValueError("no pair differs in anything that double precision sees; rescale X")
        Y, r = Y / math.sqrt(least), Y.shape[1]
        M: FloatArray = np.eye(r)
        if start is not None and start.any():
            given = self.at.inside(start)
            M = given / float(np.trace(given)) + 1e-2 / r * M
        M *= 2 / rows.least(images(Y, M))
        # A pair whose difference double precision does not see is left out.
        self.solver = Multipliers(
            Y, rows, lambda key: rows.margins(Y, key) > UNSEEN, np.eye(r), Margin(math.inf), AHEAD_OF_LEAST
        )
        self.solver.begin(M, 1.0)

    def step(self) -> bool:
        """False where rounding allows none."""
        return self.solver.step()

    def metric(self) -> FloatArray:
        """(d, d), within the budget."""
        M = self.solver.M
        return self.at.outside(M / float(np.trace(M)))

    def prices(self) -> Prices:
        """Of any sum."""
        return self.solver.prices()


class _Iterate(NamedTuple):
    """A solver under way, its prices by the method's own names."""

    solver: LinearMargins | LeastMargin | Boxed
    named: Named

    def metric(self) -> FloatArray:
        return self.solver.metric()

    def dual(self) -> Dual:
        return self.named(self.solver.prices())

    def step(self) -> bool:
        return self.solver.step()


def search(
    family: Family,
    prove: Prove,
    named: Named,
    tol: float,
    max_iter: int,
    start: FloatArray | None,
    callback: Callback,
) -> Found:
    """Solve to a gap of `tol`, certified after every step. start: a psd matrix (d, d) that may be near the optimum.

    prove: the certificate of a metric and a dual of a family. named: prices as the method's dual.
    """
    if isinstance(family.regularizer, Linear):
        return _linear(family, partial(prove, family), named, tol, max_iter, start, callback)
    if isinstance(family.regularizer, Frobenius):
        at = _Iterate(Boxed(BoxDual(family)), named)
        found = run(at, partial(prove, family), tol, max_iter, callback, "dual")
        zero = found._replace(metric=0 * found.metric, status=Status.CONVERGED)
        unproved_yet = found.status is not Status.CONVERGED
        return zero if unproved_yet and prove(family, zero.metric, zero.dual).proves(tol) else found
    at = _Iterate(LeastMargin(family, start), named)
    return within_budget(at, family, prove, tol, max_iter, callback, "multipliers", PATIENCE)


def within_budget(
    at: Iterate,
    family: Family,
    prove: Prove,
    tol: float,
    max_iter: int,
    callback: Callback,
    phase: str,
    patience: float = math.inf,
) -> Found:
    """Run a solver of a budget, which may be one of which double precision proves nothing."""
    if not family.regularizer.undecided:
        return run(at, partial(prove, family), tol, max_iter, callback, phase, patience)
    # The solver needs a gap to stop by. It proves nothing, so nobody else is told of it.
    told = None if callback is None else lambda step: callback(unproved(step))
    assert isinstance(family.regularizer, Budget)
    seen = family._replace(regularizer=family.regularizer.seen())
    found = run(at, partial(prove, seen), tol, max_iter, told, phase, patience)
    return found._replace(history=tuple(map(unproved, found.history)))


def _linear(
    family: Family,
    prove: Callable[[FloatArray, Dual], Certificate],
    named: Named,
    tol: float,
    max_iter: int,
    start: FloatArray | None,
    callback: Callback,
) -> Found:
    """What is found; or M = 0 where that is optimal, or what is best in double precision.

    Where features are nearly collinear entries of the metric are so large that its distances are lost in rounding.
    Tried in its place are its parts in the widest coordinates, the least of which is no metric at all.
    """
    solver = LinearMargins(family, tol)
    at = _Iterate(solver, named)
    if not solver.costs:  # nothing that C has differs: any large metric is optimal
        return Found(at.metric(), at.dual(), Status.CONVERGED, 0)
    solver.begin(start)
    found = run(at, prove, tol, max_iter, callback, "multipliers", PATIENCE)
    zero = 0 * found.metric
    # At 0 every margin is missed: of many rows that is looked at where it may be as good only.
    if solver.at_zero() <= 2 * solver.objective(solver.solver.M) and prove(zero, found.dual).proves(tol):
        return found._replace(metric=zero)
    if found.status is Status.CONVERGED:
        return found

    def at_most(M: FloatArray) -> float:
        proof = prove(M, found.dual)
        return proof.objective + proof.rounding

    whole = solver.whole()
    masks = [np.arange(len(whole)) < k for k in range(1, len(whole))]
    parts = [solver.at.outside(np.where(np.outer(mask, mask), whole, 0.0)) for mask in masks]
    return found._replace(metric=min([found.metric, zero, *parts], key=at_most))
