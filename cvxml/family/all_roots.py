"""Roots within a budget, MMC's kind, over every two points by their labels: proof and solver without a list of pairs.

The theorem is that of bound.py with -sum sqrt(D) and the budget. Prices are those of a metric, a = 1 / (2 sqrt(D)), in
floats and no larger than some: whatever they are, they prove
    sum over dissimilar pairs of sqrt(D_A)  <=  2 sqrt( mu sum 1 / (4 a) ),
mu the largest eigenvalue of sum a_t z_t z_t^T in coordinates where the similar pairs' is the identity. The metric
itself stands for them in a dual. Every product of matrices of the solver gives such a bound too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found, run
from cvxml.family.all_pairs import (
    METRIC,
    ROOM,
    Descent,
    Laplacian,
    Looked,
    Table,
    classes,
    off_of,
    root,
    rounded,
)
from cvxml.family.budget import budget, examine_budget
from cvxml.family.budget_path import AWAY, PATIENCE
from cvxml.family.proved import EPS, Images, least_eigenvalue, points, seen

FAINT = 1e-8  # of the longest image: a root below counts as that, for a solver


class _Roots(NamedTuple):
    """Of a metric: the sum of roots, none below a floor, and the sum of a z z^T, a = 1/2 over each."""

    total: float
    G: Laplacian


class AllRoots:
    """Every two points of X (n, d), similar where y (n,) says so. rank: of the similar pairs' differences, exactly."""

    def __init__(self, X: FloatArray, y: IntArray, rank: int):
        self.classes = classes(y)
        self.X = X[self.classes.order]
        self.sizes = self.classes.sizes.astype(float)
        # Differences with the same sum of squares as those of all similar pairs, but for rounding.
        means = np.add.reduceat(self.X, self.classes.first[:-1]) / self.sizes[:, None]
        own = np.repeat(np.arange(len(self.sizes)), self.classes.sizes)
        self.similar = (self.X - means[own]) * np.sqrt(self.sizes)[own, None]
        self.at = budget(self.similar, rank)
        self.images = rounded(points(self.X, self.at.to))
        S, off = self.classes.scatter(self.images, self.sizes)
        self.least = least_eigenvalue(S) - off  # no eigenvalue of the similar pairs' sum is below

    @property
    def undecided(self) -> str:
        """Why nothing is proved, as a sentence."""
        return self.at._replace(least=self.least).undecided

    def roots(self, z: FloatArray, floor: float) -> _Roots:
        """At images z (n, m) of a metric."""
        table, G, totals = Table(z), Laplacian(self.images.at), []
        for rows, columns in self.classes.across():
            d = table.of(rows, columns)
            np.maximum(np.sqrt(d, out=d), floor, out=d)
            totals.append(float((d @ np.ones(d.shape[1])).sum()))
            G.add(rows, columns, np.divide(0.5, d, out=d))
        return _Roots(math.fsum(totals), G)

    def certify(self, A: FloatArray, at: FloatArray) -> Certificate:
        """Of the matrix A (d, d), with the prices of the metric `at` (d, d)."""
        judged, feasibility = examine_budget(A, self.similar)
        sight = seen(self.X, judged.matrix)
        z, reach = sight.images.at, 2 * float(off_of(sight).max())
        found = self.roots(z, math.sqrt(reach))
        priced = found if np.array_equal(A, at) else self._priced(at)
        n, mu = len(self.X), self._largest(priced)
        # A root moves by `reach` over twice itself; one below the floor by no more than that.
        total_off = reach * float(found.G.degree.sum()) + (n + 64) * EPS * found.total
        spent, spent_off = self._spent(sight.images, sight.miss, sight.P)
        scale = math.sqrt(max(1.0, spent))
        objective = -found.total / scale
        objective_off = (total_off / scale + spent_off * found.total) * ROOM
        bound = -math.sqrt(2 * mu * priced.total)
        bound_off = (n + 64) * EPS * abs(bound)
        proved = math.isfinite(bound) and not self.undecided
        gap = objective - bound if proved else math.inf
        return Certificate(
            kind="global",
            objective=objective,
            lower_bound=bound if proved else -math.inf,
            gap=gap,
            scale=abs(objective),
            rounding=objective_off + bound_off if proved else math.inf,
            radius=math.inf,
            feasibility=feasibility,
            dual={METRIC: at},
            undecided=self.undecided,
        )

    def _priced(self, at: FloatArray) -> _Roots:
        z = seen(self.X, at).images.at
        return self.roots(z, FAINT * float(np.linalg.norm(z, axis=1).max()) or 1.0)

    def _largest(self, priced: _Roots) -> float:
        """No less than mu."""
        S, off = priced.G.proved(self.images.off)
        return (off - least_eigenvalue(-S)) / self.least * (1 + 8 * EPS) if self.least > 0 else math.inf

    def _spent(self, at: Images, miss: float, P: FloatArray) -> tuple[float, float]:
        """The sum over similar pairs of a metric's distances, and what it may be off by."""
        S, off = self.classes.scatter(at, self.sizes)
        Q, Q_off = self.classes.scatter(Images(P, EPS * np.linalg.norm(P, axis=1)), self.sizes)
        wide = len(S) * off + miss * (float(np.trace(Q)) + len(Q) * Q_off)
        return float(np.trace(S)), wide * ROOM

    def look(self, M: FloatArray) -> Looked:
        """-log sum sqrt(D) + 1/2 log trace M in coordinates where the similar pairs' sum is the identity."""
        z = self.images.at @ root(M)
        found = self.roots(z, FAINT * float(np.linalg.norm(z, axis=1).max()))
        G, size = found.G.total(), float(np.trace(M))
        bound = math.sqrt(2 * found.total * float(np.linalg.eigvalsh(G)[-1]))
        left = bound * math.sqrt(size) / found.total - 1
        return Looked(
            math.log(size) / 2 - math.log(found.total), np.eye(len(M)) / (2 * size) - G / found.total, left
        )

    def outside(self, M: FloatArray) -> FloatArray:
        """(d, d), within the budget."""
        return self.at.outside(M / np.trace(M))

    def search(self, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
        """Solve to a gap of `tol`. start: a psd matrix (d, d)."""
        r = self.images.at.shape[1]
        M = np.eye(r) / r
        if start is not None and (size := float(np.trace(inside := self.at.inside(start)))) > 0:
            M = (1 - AWAY) * inside / size + AWAY * M

        def prove(A: FloatArray, dual: Dual) -> Certificate:
            return self.certify(A, dual[METRIC])

        return run(Descent(self, M, tol), prove, tol, max_iter, callback, "all pairs", PATIENCE)
