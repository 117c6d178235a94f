"""MMC over all pairs of points, similar or dissimilar by their labels: certificate and solver without a list of pairs.

The problem is to minimize -sum sqrt(D_A) over the dissimilar pairs, for metrics A with a budget: the sum of D_A over
the similar pairs is at most 1. D_A is the squared distance in A. A metric with squared distances D_t determines the
dual variables a_t = 1 / (2 max(sqrt(D_t), floor)) of the dissimilar pairs t. The certificate takes the square root of
the error bound of the D_t for `floor`. Every a > 0, even a rounded one, gives a bound for all A within the budget
(family/theorem/theorem.py):

    sum over dissimilar pairs of sqrt(D_A)  <=  2 sqrt( mu sum 1 / (4 a) ).

mu is the largest eigenvalue of sum a_t z_t z_t^T over the dissimilar pairs t. Their differences z_t are in coordinates
where the sum of z z^T over the similar pairs is the identity. An image of a metric is a matrix z (n, m): distances in
the metric are Euclidean distances of its rows. The stored dual is the metric that determines a. Each step of the
solver also computes this bound, as an estimate without error bounds.
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

SOME = 150  # the radius is computed from the pairs of about this many points
WITHIN = 1 - 1e-14  # share of the budget that the solver spends, so that rounding rarely exceeds the budget
FAINT = 1e-8  # the solver's lower limit of a distance, relative to the longest image


class _Roots(NamedTuple):
    """Two sums over the dissimilar pairs t at a metric: `total` of r_t, and G of z_t z_t^T / (2 r_t).

    Here r_t = max(sqrt(D_t), floor), with the limit `floor` of the module docstring.
    """

    total: float  # sum of r
    G: Laplacian  # sum of 1/(2 r) z z^T


def _reach(sight: Seen) -> float:
    """Return a bound of the error of every squared distance that is computed from the images in `sight`.

    sight: the images of the points under a metric, with error bounds.
    """
    return 2 * float(error_of(sight).max())


class AllRoots:
    """Certificate and solver of MMC over all pairs of points of X (n, d), similar if their labels y (n,) are equal.

    rank: the exact rank of the differences of the similar pairs.
    """

    def __init__(self, X: FloatArray, y: IntArray, rank: int):
        self.budget = AllSimilar(X, y, rank)
        self.X, self.y, self.at, self.order = X, y, self.budget.at, self.budget.classes.order
        at, error = self.budget.images
        self.images = Images(at[self.order], error[self.order])

    @property
    def undecided(self) -> str:
        """The reason why no bound is proved, as a sentence; empty if bounds are proved."""
        return self.budget.undecided

    def roots(self, z: FloatArray, floor: float) -> _Roots:
        """Return the sums of r_t and of z_t z_t^T / (2 r_t) over the dissimilar pairs t, r_t = max(sqrt(D_t), floor).

        z (n, m): the image of the metric, with the points sorted by class (`order`). D_t is the squared distance of two
        rows of z. The differences z_t do not depend on the metric (module docstring).
        """
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
        judged = self.budget.judge(A)
        view = judged.view
        assert isinstance(view, Kept)
        with np.errstate(over="ignore", invalid="ignore"):
            found, sight = self._at(view.sight), seen(self.X, at)
            # The bound depends on the dual only, so two metrics with the same dual have the same bound.
            same = np.array_equal(sight.root, view.sight.root)
            priced = found if same else self._at(sight)
        reach = _reach(view.sight)
        n, mu = len(self.X), self._largest(priced)
        # With r = max(sqrt(D), floor), an error `reach` of D is an error of at most reach / r of the root r. The sum
        # of G.degree is the sum of 1 / r.
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
        """Differences (t, d) of the dissimilar pairs among a sample of the points.

        They are enough for the radius, a bound of the distance to the optimum. Each pair makes the objective more
        curved, so with fewer pairs the bound is only larger (budget_radius.py).
        """
        some = self.order[:: max(1, len(self.order) // SOME)]
        i, j = some[np.stack(np.triu_indices(len(some), 1))]
        apart = self.y[i] != self.y[j]
        E: FloatArray = self.X[i[apart]] - self.X[j[apart]]
        return E

    def _at(self, sight: Seen) -> _Roots:
        """Return the sums of r_t and of z_t z_t^T / (2 r_t) over the dissimilar pairs t, r_t = max(sqrt(D_t), floor).

        D_t are the squared distances computed from the images of the points in `sight`. `floor` is the square root of
        their error bound.
        """
        return self.roots(sight.images.at[self.order], math.sqrt(_reach(sight)))

    def _largest(self, priced: _Roots) -> float:
        """Return an upper bound of mu (module docstring), rounding included; inf without a proof.

        priced: the sums at the metric that determines the dual variables. mu is the largest eigenvalue of its matrix G.
        """
        S, error = priced.G.proved(self.images.error)
        return (
            (error - least_eigenvalue(-S)) / self.at.least * (1 + 8 * EPS) if self.at.least > 0 else math.inf
        )

    def slopes(self, M: FloatArray) -> Slopes:
        """Value and gradient at M (r, r) of -log sum sqrt(D) + 1/2 log trace M, and an estimate of the relative gap.

        The first sum is over the dissimilar pairs, with sqrt(D) at least `FAINT` times the longest image. M is in the
        coordinates of the z_t (module docstring), where trace M is the sum of D over the similar pairs. The function
        does not depend on the scale of M. If all distances are 0, value and estimate are inf.
        """
        z = self.images.at @ root(M)
        longest = float(np.linalg.norm(z, axis=1).max())
        if longest == 0:  # all distances are 0, so the function is infinite
            return Slopes(math.inf, 0 * M, math.inf)
        found = self.roots(z, FAINT * longest)
        G, size = found.G.total(), float(np.trace(M))
        bound = math.sqrt(2 * found.total * float(np.linalg.eigvalsh(G)[-1]))
        left = bound * math.sqrt(size) / found.total - 1
        return Slopes(
            math.log(size) / 2 - math.log(found.total), np.eye(len(M)) / (2 * size) - G / found.total, left
        )

    def outside(self, M: FloatArray) -> FloatArray:
        """Return M (r, r), from the solver's coordinates, as a metric (d, d) of the features, scaled to the budget.

        The scaled metric uses the share `WITHIN` of the budget, which is slightly less than 1.
        """
        return self.at.outside(M * (WITHIN / np.trace(M)))

    def search(self, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
        r = self.images.at.shape[1]
        M = np.eye(r) / r
        if start is not None and (size := float(np.trace(inside := self.at.inside(start)))) > 0:
            M = (1 - AWAY) * inside / size + AWAY * M

        def prove(A: FloatArray, dual: Dual) -> Certificate:
            return self.certify(A, dual[METRIC])

        return run(Descent(self, M, tol), prove, tol, max_iter, callback, "all pairs", PATIENCE)
