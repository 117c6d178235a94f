"""The budget of all similar pairs, and the rows of all dissimilar pairs, made from labels without a list of the pairs.

Points with equal labels are similar. The budget allows the metrics in which the squared distances of all similar pairs
have a sum of at most 1. A row is a number v on which a loss depends, here the squared distance of one dissimilar pair.
Each row has an integer key and a dual variable. all_pairs.py has the sums over these pairs. P_+ replaces negative
eigenvalues by 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray, units_of
from cvxml.core.pairs import pairs_by_labels
from cvxml.core.threads import side_by_side
from cvxml.family.geometry.budget import budget, examine_budget
from cvxml.family.regularizers.base import JudgedMatrix, Scaled
from cvxml.family.regularizers.budget import Budget
from cvxml.family.rows.base import Block, Duals, Entries, Weights, between
from cvxml.family.unlisted.all_pairs import ROOM, Classes, Table, classes, error_of, rounded
from cvxml.numbers.rounding import Distances, Images, Seen, least_eigenvalue, points, seen

KNOWN = 0.5  # if the relative error of the budget exceeds this, the bound for a divisor of 1 is used
NOISE = 64 * EPS  # error of a distance from a table, relative to the largest squared length of an image


class Kept(NamedTuple):
    """The points X (n, d) under a metric within the budget: `factor` times another metric.

    sight: the images of the points under a root of the other metric. factor: computed from the sum of the squared
    distances of all similar pairs, which is rounded. share: a bound of the relative error of a distance that this
    rounding causes.
    """

    X: FloatArray
    sight: Seen
    factor: float
    share: float  # bound of the relative change of a distance by rounding of the budget

    def pairs(self, index: IntArray) -> Distances:
        D, error = self.sight.of(self.X[index[:, 0]] - self.X[index[:, 1]])
        with np.errstate(over="ignore", invalid="ignore"):
            share = 2 * self.share + 4 * EPS
            return Distances(D * self.factor, ((1 + share) * error + share * D) * self.factor)


class AllSimilar(Budget):
    """The budget of all pairs of points of X (n, d) with equal labels y (n,).

    The difference of any two points must lie in the span of the differences of similar pairs. rank: the dimension of
    this span. If it is None, the dimension is computed in double precision, and bounds are not proved. Only solvers use
    None.
    """

    def __init__(self, X: FloatArray, y: IntArray, rank: int | None):
        self.X, self.y, self.rank = X, y, rank
        self.labels = np.zeros(len(X), dtype=np.intp)
        self.classes = classes(y)
        self.sizes = self.classes.sizes.astype(float)
        # Vectors with the same sum of squares as the differences of all similar pairs, up to rounding.
        # The first point of each class is subtracted first, so that they keep their digits for shifted points.
        own = np.repeat(np.arange(len(self.sizes)), self.classes.sizes)
        ordered, first = X[self.classes.order], self.classes.first[:-1]
        D = ordered - ordered[first[own]]
        means = np.add.reduceat(D, first) / self.sizes[:, None]
        self.E = (D - means[own]) * np.sqrt(self.sizes)[own, None]
        self.unit = units_of(np.maximum.reduceat(ordered, first) - np.minimum.reduceat(ordered, first))
        self.at = budget(self.E, rank)
        self.images = rounded(points(X, self.at.to))
        if rank is not None:
            S, error = self.classes.scatter(self.images, self.sizes)
            self.at = self.at._replace(least=least_eigenvalue(S) - error)

    @property
    def similar(self) -> IntArray:  # type: ignore[override]
        """A list of the similar pairs (s, 2), for exact arithmetic."""
        return pairs_by_labels(self.y).similar

    def seen(self) -> AllSimilar:
        return AllSimilar(self.X, self.y, None)

    def judge(self, A: FloatArray) -> JudgedMatrix:
        """Judge the metric P_+(A) / max(1, spent) in place of A (d, d), because it is within the budget.

        spent: the sum of the squared distances of the similar pairs in P_+(A). The result has the points under the
        judged metric, the feasibility of A, and whether all numbers are finite.
        """
        judged, feasibility = examine_budget(A, self.E, self.unit)
        matrix = judged.matrix
        finite = bool(np.isfinite(matrix).all())
        sight = seen(self.X, matrix if finite else 0 * np.nan_to_num(matrix))
        S, error = self.classes.scatter(sight.images, self.sizes)
        Q, Q_error = self.classes.scatter(Images(sight.P, EPS * np.linalg.norm(sight.P, axis=1)), self.sizes)
        spent = float(np.trace(S))
        wide = (len(S) * error + sight.miss * (float(np.trace(Q)) + len(Q) * Q_error)) * ROOM
        most = max(1.0, spent)  # the divisor of the distances; the exact one is at least 1
        share = wide / most if wide <= KNOWN * most else most
        view = Kept(self.X, sight, 1 / most, share)
        beyond = (most - 1 + share) * float(np.trace(matrix))
        feasibility = replace(feasibility, away=feasibility.away + beyond)
        return JudgedMatrix(view, feasibility, finite and math.isfinite(spent + wide))

    def cost(self, at: Scaled, G: Weights) -> None:
        """Return None, because no matrix C with C - G psd and <C - G, M> = 0 is known.

        M is an optimal metric, and G the matrix of its dual variables. at: points and metric. G: as weights on pairs of
        points. Neither is used.
        """


class Across(NamedTuple):
    """The rows of all pairs i < j of points of different classes: v is the squared distance of the pair.

    The key of a row is i n + j, for n points. classes: the points sorted by class.
    """

    classes: Classes

    @property
    def n(self) -> int:
        return len(self.classes.order)

    def listed(self, key: IntArray) -> IntArray:
        """Return the pairs (t, 2) of points of the rows with the keys `key` (t,)."""
        return np.stack(np.divmod(key, self.n), axis=1)

    def below(self, z: FloatArray, limit: float, error: float) -> IntArray:
        """Return the keys of all rows with v < limit, and of all rows that may have the smallest v, in ascending order.

        z (n, m): images of the points, with v = |z_i - z_j|^2. error: a bound of the error of a distance that is
        computed by a product of matrices. Because of these errors, some rows with a slightly larger v are included.
        """
        table, order = Table(z[self.classes.order]), self.classes.order
        leasts, none = [math.inf], np.zeros(0, dtype=np.intp)

        def look(block: tuple[slice, slice]) -> tuple[IntArray, FloatArray]:
            D = table.of(*block)
            lowest = float(D.min())
            leasts.append(lowest)
            some = max(limit, min(leasts)) + 2 * error
            if lowest > some:
                return none, D[:0, 0]
            i, j = np.nonzero(some >= D)
            pairs = np.sort(np.stack([order[block[0]][i], order[block[1]][j]]), axis=0)
            return pairs[0] * self.n + pairs[1], D[i, j]

        key, v = map(np.concatenate, zip(*side_by_side(look, self.classes.across()), strict=True))
        least = min(leasts)
        return np.sort(key[v <= max(limit, least) + 2 * error])

    def blocks(self, view: Kept, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """Yield one block: the rows that `duals` lists, and the rows that may have the smallest distance.

        The loss is minus the smallest distance, so it does not depend on other rows. view: the points under a metric.
        duals: the dual variables, by the keys of their rows. kept: not used.
        """
        error = 2 * float(error_of(view.sight).max())
        key = np.union1d(self.below(view.sight.images.at, -math.inf, error), duals.key)
        a = np.zeros(len(key))
        a[np.searchsorted(key, duals.key)] = duals.a
        yield Block(*view.pairs(self.listed(key)), a)

    def weights(self, duals: Duals) -> Weights:
        """Return the matrix sum_t a_t (x_i - x_j)(x_i - x_j)^T over rows t of pairs (i, j), as weights on pairs.

        duals: the dual variables a_t, by the keys of their rows.
        """
        return Weights(self.listed(duals.key), duals.a)

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """Return `duals` unchanged. In general, rows of points that differ outside a span get the dual variable 0.

        Here the span is that of the similar differences, and it contains all differences of points. labels: not used.
        """
        return duals

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        order = self.classes.order
        for rows, columns in self.classes.across():
            yield from (D[i][j] for i in order[rows].tolist() for j in order[columns].tolist())

    def within(self, labels: IntArray, key: IntArray) -> np.ndarray:
        i, j = labels[self.listed(key)].T
        same: np.ndarray = i == j
        return same

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        return between(z, *self.listed(key).T)

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        key = self.below(z, below, NOISE * float(np.sum(z**2, axis=1).max()))
        v = self.margins(z, key)
        return key[v < below], v[v < below]

    def entries(self, key: IntArray) -> Entries:
        return Entries(np.arange(len(key)), self.listed(key), np.ones(len(key)))

    def least(self, z: FloatArray) -> float:
        return float(
            self.margins(z, self.below(z, -math.inf, NOISE * float(np.sum(z**2, axis=1).max()))).min()
        )

    @property
    def size(self) -> int:
        return int(self.n**2 - np.sum(self.classes.sizes**2)) // 2

    def sample(self, every: int) -> Across:
        """Raise NotImplementedError, because no solver asks for a sample of about every `every`-th row."""
        raise NotImplementedError
