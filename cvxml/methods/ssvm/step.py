"""One CCCP step to a certified gap: column generation on the dual of columns.py.

A round solves the dual over the known sets, to a share of the open gap, with the solver of solvers/cone_dual.py. It
then asks the exact inference for the worst sets at the new W. This gives the step's objective at W exactly, so its
distance to the dual is a proof. Sets that beat the known ones are added, the best of up to three classes for each
point. Sets and weights stay for the next step, which differs in h* only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.methods.ssvm.columns import Columns
from cvxml.methods.ssvm.inference import sets_of
from cvxml.methods.ssvm.instance import Instance
from cvxml.methods.ssvm.point import Point, point_at
from cvxml.solvers.cone_dual import At, Search

CLASSES = 3  # classes for each point and round that add their best set
SHARE = 0.5  # of the open gap: the gap of the restricted dual when a round ends
ENOUGH = 2.0  # a step may end if its gap is at most this many times its decrease of the objective
BATCH = (100, 1000)  # gradient steps before Newton steps; where W* = 0, Newton steps alone end next to it
LONGEST = 2000  # steps in a round
MAX_ROUNDS = 200


@dataclass(frozen=True)
class StepResult:
    """The best point of a step, the step's objective at it, and a lower bound of that objective for all metrics."""

    best: Point
    objective: float
    bound: float


class StepSolver:
    """The solver of the steps of one problem; each step starts from the sets and weights of the last one."""

    def __init__(self, p: Instance, latent: IntArray):
        self.p = p
        self.columns = Columns(p, latent)
        self.step = 0.0
        self.reach = 1e3  # gradient steps: the length of a Newton step

    def dual(self) -> tuple[FloatArray, IntArray, IntArray]:
        """Weights (m,), points (m,) and sets (m, k)."""
        rows, columns = np.nonzero(self.columns.q)
        return self.columns.q[rows, columns], rows, self.columns.sets[rows, columns]

    def solve(self, at: Point, tol: float, early: bool = True) -> StepResult:
        """Solve the step at `at` to a gap of at most tol * ||W||^2.

        early: a gap of `ENOUGH` times the decrease is enough as long as it exceeds tol * ||at.W||^2.
        """
        self.columns.set_latent(at.latent)
        start = self._objective(at, at.own)
        here, best, lowest, bound = at, at, start, -np.inf
        for _ in watched(range(MAX_ROUNDS)):
            self._take_in(here)
            W, value, solved = self._restricted(lowest, tol)
            bound = max(bound, value)
            here = point_at(self.p, W)
            objective = self._objective(here, self._latent_cost(W))
            if objective < lowest:
                best, lowest = here, objective
            gap, rounding = lowest - bound, here.rounding(self.p.C)
            if gap <= 0.5 * tol * here.norm2 + rounding or start - bound <= 0.5 * tol * at.norm2 + rounding:
                break
            if not solved or (early and gap <= ENOUGH * (start - lowest)):
                break
        return StepResult(best, lowest, bound)

    def _objective(self, here: Point, own: FloatArray) -> float:
        """The objective of the step at `here`; own (n,): the sums of distances over h*."""
        return here.norm2 + self.p.C * float(np.sum(here.worst + own))

    def _take_in(self, here: Point) -> None:
        """Add the best sets at `here` of the classes with a value above that of all known sets."""
        columns = self.columns
        values = self.p.Lam[self.p.y] - here.offending.cost
        near_to = np.argsort(-values, axis=1, kind="stable")[:, :CLASSES]
        known = np.where(columns.real, self._scores(here.W), -np.inf).max(axis=1)
        rows = np.arange(len(values))
        sets, wanted = [], []
        for r in near_to.T:
            wanted.append(values[rows, r] > known)
            r = np.where(wanted[-1], r, near_to[:, 0])  # any feasible set, because it is not added
            sets.append(sets_of(here.near, r, here.offending.votes[rows, r], 0))
        columns.take_in(np.stack(sets, axis=1), np.stack(wanted, axis=1))

    def _scores(self, W: FloatArray) -> FloatArray:
        values, vectors = np.linalg.eigh(W)
        return self.columns.delta - self.columns.margins(2 * values, vectors)

    def _latent_cost(self, W: FloatArray) -> FloatArray:
        """Sum of D_W(i, j) over j in h*_i."""
        X, total = self.p.X, np.zeros(len(self.p.X))
        for j in self.columns.latent.T:
            difference = X - X[j]
            total += np.einsum("nd,nd->n", difference @ W, difference)
        return total

    def _restricted(self, lowest: float, tol: float) -> tuple[FloatArray, float, bool]:
        """W and the bound of the restricted dual, once its gap is a share of the open gap.

        The last is False if that took too long: the scales of the problem are too far apart.
        """
        columns = self.columns
        if self.step == 0:
            self.step = 1 / (self.p.C**2 * max(float(columns.length.max(axis=1).sum()), 1e-100))
        search = Search(columns, self.step, LONGEST, BATCH)
        search.reach = self.reach
        here, enough = columns.at(columns.q), False
        for at, _ in search.points(here):
            here, enough = at, self._enough(at, lowest, tol)
            if enough:
                break
        self.step, self.reach, columns.q = search.step, search.reach, here.v
        return here.metric(), columns.bound(here), enough

    def _enough(self, here: At, lowest: float, tol: float) -> bool:
        open_gap = lowest - self.columns.bound(here)
        # if W* = 0, both gaps are rounding only
        return here.gap <= max(0.25 * tol * here.scale, SHARE * open_gap, 8 * EPS * lowest)
