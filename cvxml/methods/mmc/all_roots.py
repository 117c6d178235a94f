"""Roots within a budget, MMC's kind, over every two points by their labels: proof and solver without a list of pairs.

The theorem is that of theorem.py with -sum sqrt(D) and the budget. Prices are those of a metric, a = 1 / (2 sqrt(D)),
in floats and no larger than some: whatever they are, they prove
    sum over dissimilar pairs of sqrt(D_A)  <=  2 sqrt( mu sum 1 / (4 a) ),
mu the largest eigenvalue of sum a_t z_t z_t^T in coordinates where the similar pairs' is the identity. The metric
itself stands for them in a dual. Every product of matrices of the solver gives such a bound too.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.moved import METRIC
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, run
from cvxml.core.threads import side_by_side
from cvxml.family.unlisted.all_budget import AllSimilar, Kept
from cvxml.family.unlisted.all_pairs import (
    ROOM,
    Descent,
    Laplacian,
    Slopes,
    Table,
    Weighed,
    error_of,
    root,
)
from cvxml.methods.mmc.budget_path import AWAY, PATIENCE
from cvxml.methods.mmc.budget_radius import radius
from cvxml.numbers.rounding import Images, Seen, least_eigenvalue, seen

SOME = 150  # points that tell how far the optimum is
WITHIN = 1 - 1e-14  # of the budget: rounding takes few metrics of a solver out of it
FAINT = 1e-8  # of the longest image: a root below counts as that, for a solver


class _Roots(NamedTuple):
    """Of a metric: the sum of roots, none below a floor, and the sum of a z z^T, a = 1/2 over each."""

    total: float
    G: Laplacian


def _reach(sight: Seen) -> float:
    """A distance is off by no more."""
    return 2 * float(error_of(sight).max())


class AllRoots:
    """Every two points of X (n, d), similar where y (n,) says so. rank: of the similar pairs' differences, exactly."""

    def __init__(self, X: FloatArray, y: IntArray, rank: int):
        self.budget = AllSimilar(X, y, rank)
        self.X, self.y, self.at, self.order = X, y, self.budget.at, self.budget.classes.order
        at, error = self.budget.images
        self.images = Images(at[self.order], error[self.order])

    @property
    def undecided(self) -> str:
        """Why nothing is proved, as a sentence."""
        return self.budget.undecided

    def roots(self, z: FloatArray, floor: float) -> _Roots:
        """At images z (n, m) of a metric."""
        table, G, totals = Table(z), Laplacian(self.images.at), []

        def look(block: tuple[slice, slice]) -> tuple[float, Weighed]:
            d = table.of(*block)
            np.maximum(np.sqrt(d, out=d), floor, out=d)
            total = float((d @ np.ones(d.shape[1])).sum())
            return total, G.part(*block, np.divide(0.5, d, out=d))

        for total, weighed in side_by_side(look, self.budget.classes.across()):
            totals.append(total)
            G.add(weighed)
        return _Roots(math.fsum(totals), G)

    def certify(self, A: FloatArray, at: FloatArray) -> Certificate:
        """Of the matrix A (d, d), with the prices of the metric `at` (d, d)."""
        judged = self.budget.judge(A)
        view = judged.view
        assert isinstance(view, Kept)
        with np.errstate(over="ignore", invalid="ignore"):
            found, sight = self._at(view.sight), seen(self.X, at)
            # The bound is a matter of the dual alone: whoever compares two gaps to it compares objectives.
            same = np.array_equal(sight.root, view.sight.root)
            priced = found if same else self._at(sight)
        reach = _reach(view.sight)
        n, mu = len(self.X), self._largest(priced)
        # A root moves by `reach` over twice itself; one below the floor by no more than that.
        total_error = reach * float(found.G.degree.sum()) + (n + 64) * EPS * found.total
        root_of = math.sqrt(view.factor)
        objective = -found.total * root_of if judged.finite else math.inf
        share = view.share + 4 * EPS
        objective_error = ((1 + share) * total_error + share * found.total) * root_of * ROOM
        bound = -math.sqrt(2 * mu * priced.total)
        bound_error = (n + 64) * EPS * abs(bound)
        proved = math.isfinite(objective + bound) and not self.undecided
        gap = objective - bound if proved else math.inf
        error = objective_error + bound_error if proved else math.inf
        return Certificate(
            kind="global",
            objective=objective,
            lower_bound=bound if proved else -math.inf,
            gap=gap,
            scale=abs(objective),
            rounding=error,
            radius=radius(self._some, self.budget, judged, max(0.0, gap) + error) if proved else math.inf,
            feasibility=judged.feasibility,
            dual={METRIC: at},
            undecided=self.undecided,
        )

    @cached_property
    def _some(self) -> FloatArray:
        """Differences (t, d) of the dissimilar pairs of some points: no row curves the other way (budget_radius.py)."""
        some = self.order[:: max(1, len(self.order) // SOME)]
        i, j = some[np.stack(np.triu_indices(len(some), 1))]
        apart = self.y[i] != self.y[j]
        E: FloatArray = self.X[i[apart]] - self.X[j[apart]]
        return E

    def _at(self, sight: Seen) -> _Roots:
        """No root is less than that of what a distance may be off by."""
        return self.roots(sight.images.at[self.order], math.sqrt(_reach(sight)))

    def _largest(self, priced: _Roots) -> float:
        """No less than mu."""
        S, error = priced.G.proved(self.images.error)
        return (
            (error - least_eigenvalue(-S)) / self.at.least * (1 + 8 * EPS) if self.at.least > 0 else math.inf
        )

    def slopes(self, M: FloatArray) -> Slopes:
        """-log sum sqrt(D) + 1/2 log trace M in coordinates where the similar pairs' sum is the identity."""
        z = self.images.at @ root(M)
        longest = float(np.linalg.norm(z, axis=1).max())
        if longest == 0:  # whatever the scale is, the value is the same; there is none
            return Slopes(math.inf, 0 * M, math.inf)
        found = self.roots(z, FAINT * longest)
        G, size = found.G.total(), float(np.trace(M))
        bound = math.sqrt(2 * found.total * float(np.linalg.eigvalsh(G)[-1]))
        left = bound * math.sqrt(size) / found.total - 1
        return Slopes(
            math.log(size) / 2 - math.log(found.total), np.eye(len(M)) / (2 * size) - G / found.total, left
        )

    def outside(self, M: FloatArray) -> FloatArray:
        """(d, d), within the budget."""
        return self.at.outside(M * (WITHIN / np.trace(M)))

    def search(self, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
        """Solve to a gap of `tol`. start: a psd matrix (d, d)."""
        r = self.images.at.shape[1]
        M = np.eye(r) / r
        if start is not None and (size := float(np.trace(inside := self.at.inside(start)))) > 0:
            M = (1 - AWAY) * inside / size + AWAY * M

        def prove(A: FloatArray, dual: Dual) -> Certificate:
            return self.certify(A, dual[METRIC])

        return run(Descent(self, M, tol), prove, tol, max_iter, callback, "all pairs", PATIENCE)
