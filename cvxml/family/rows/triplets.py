"""Rows of triplets: v = D_il - D_ij, the squared distance to an impostor minus the one to a target.

In v = sum_p B_tp D_p over pairs p (base.py), row t has two nonzero entries: 1 at the pair (i, l), and -1 at (i, j).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.clock import watched
from cvxml.core.inputs import indexed_dual
from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.core.targets import OtherClasses
from cvxml.core.threads import side_by_side
from cvxml.family.rows.base import (
    MAX_DUAL,
    Block,
    Duals,
    Entries,
    Plain,
    Weights,
    WideView,
    between,
    places,
)
from cvxml.numbers.rounding import Products

BLOCK = 2**19  # most distances in one block of a scan, 4 MiB, if a block then has more than `FEWEST` points
FEWEST = 64  # otherwise most points in a block: products of fewer rows are slow
# a class with so many of the points of a scan is compared with the points of the other classes only
MANY = 200


def triplet_entries(i: IntArray, j: IntArray, l: IntArray) -> Entries:
    """The nonzero entries of B for the triplets (i, j, l), given as three arrays (t,)."""
    t = np.arange(len(i))
    pairs = np.stack([np.concatenate([i, i]), np.concatenate([l, j])], axis=1)
    return Entries(np.concatenate([t, t]), pairs, np.repeat([1.0, -1.0], len(i)))


class Triplets(NamedTuple):
    """v = D_il - D_ij for each target (i, j) and each of its impostors l.

    targets (p, 2): the pairs (i, j). impostors (p, n): True where the point l is an impostor of the target.
    The key of a row is n times the number of its target, plus l.
    """

    targets: IntArray  # (p, 2)
    impostors: Any  # (p, n) True where the point l is an impostor of the target

    def blocks(self, view: WideView, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """First the rows with v < kept, for some points at a time; then the other rows that have a dual variable.

        view: the points under a metric. duals: the dual variables that the blocks contain.
        """
        order = np.argsort(duals.key)
        priced, a = duals.key[order], duals.a[order]
        away = np.ones(len(priced), dtype=bool)
        for key, v, error in self._near(view, kept):
            if len(priced) == 0:
                yield Block(v, error, np.zeros(len(v)))
                continue
            place = np.minimum(np.searchsorted(priced, key), len(priced) - 1)
            has = priced[place] == key
            away[place[has]] = False
            yield Block(v, error, np.where(has, a[place], 0.0))
        if away.any():
            i, j, l = self.named(Duals(a, priced[away])).T
            near, near_error = view.pairs(np.stack([i, j], axis=1))
            far, far_error = view.pairs(np.stack([i, l], axis=1))
            yield Block(far - near, near_error + far_error + 2 * EPS * (near + far), a[away])

    def _near(self, view: WideView, kept: float) -> Iterator[tuple[IntArray, FloatArray, FloatArray]]:
        """Yield the keys, the values v, and bounds of their errors, for all rows that may have v < kept.

        For a block of points i at a time, a product of matrices finds the points l that may be near enough.
        """
        n = self.impostors.shape[1]
        D_ij, error_ij = view.pairs(self.targets)
        by_point = np.argsort(self.targets[:, 0], kind="stable")
        points, first, count = np.unique(self.targets[by_point, 0], return_index=True, return_counts=True)
        with np.errstate(over="ignore", invalid="ignore"):
            limit = kept + np.maximum.reduceat((D_ij + 2 * error_ij)[by_point], first)
        between = view.products()

        def look(part: tuple[Products, IntArray]) -> list[tuple[IntArray, FloatArray, FloatArray]]:
            (table, some), found = part, []
            own, l, D, error = table.below(points[some], limit[some])
            for extra in watched(range(int(count[some].max()))):
                has = count[some][own] > extra
                row = by_point[first[some][own[has]] + extra]
                keep = self.impostors[row, l[has]]
                row, at = row[keep], np.flatnonzero(has)[keep]
                v = D[at] - D_ij[row]
                moved = error[at] + (error_ij[row] + 2 * EPS * D_ij[row]) + 2 * EPS * np.abs(D[at])
                # written as a negation, so that rows with NaN are kept
                low = ~(v - moved - 2 * EPS * (1 + np.abs(v)) >= kept)
                found.append((row[low] * n + l[at[low]], v[low], moved[low]))
            return found

        parts = (
            (table, some)
            for table, group in self._groups(between, points)
            for some in np.array_split(group, 1 + len(group) // max(FEWEST, BLOCK // n))
            if len(some)
        )
        for found in side_by_side(look, parts):
            yield from found

    def _groups(self, between: Products, points: IntArray) -> Iterator[tuple[Products, IntArray]]:
        """Yield groups of `points`, each with a table for the distances to the points that may be its impostors.

        A group is yielded as (table, positions of its points in `points`). `between` is the table of all points; a
        table computes blocks of distances by products of matrices.

        If impostors are the points of other classes (`OtherClasses`), each class with at least `MANY` of the `points`
        is a group. Its table has the points of all other classes. The remaining points are one group, with the table
        `between`. For other impostors, all points are one group.
        """
        table = self.impostors
        if not isinstance(table, OtherClasses) or (table.own != table.codes[self.targets[:, 0]]).any():
            yield between, np.arange(len(points))
            return
        codes = table.codes
        own = codes[points]
        large = np.flatnonzero(np.bincount(own) >= MANY)
        for code in large:
            yield replace(between, among=np.flatnonzero(codes != code)), np.flatnonzero(own == code)
        yield between, np.flatnonzero(~np.isin(own, large))

    def named(self, duals: Duals) -> IntArray:
        """The triplets (i, j, l) of the keys of these dual variables, as an array (t, 3)."""
        row, l = np.divmod(duals.key, self.impostors.shape[1])
        return np.concatenate([self.targets[row], l[:, None]], axis=1)

    def read(self, dual: Mapping[str, Any]) -> Duals:
        """Read the positive dual variables "price" (t,) of "triplets" (t, 3), with entries i, j, l, from `dual`.

        Triplets that are not rows are dropped, and the dual variables of repeated triplets are added up. Raises
        ValueError if keys are missing, shapes do not match, or a point is outside 0..n - 1.
        """
        n = self.impostors.shape[1]
        price, triplets = indexed_dual(dual, "price", "triplets", (n, n, n))
        row, known = places(self.targets @ (n, 1), triplets[:, :2] @ (n, 1))
        keep = known & (price > 0)
        keep[keep] = self.impostors[row[keep], triplets[keep, 2]]
        key, place = np.unique(row[keep] * n + triplets[keep, 2], return_inverse=True)
        summed = np.bincount(place, np.minimum(price[keep], MAX_DUAL), minlength=len(key))
        return Duals(summed.astype(np.float64), key)

    def weights(self, duals: Duals) -> Weights:
        """The matrix sum_t a_t (X_il - X_ij) as weights on pairs, X_ij = (x_i - x_j)(x_i - x_j)^T."""
        triplets = self.named(duals)
        pairs = np.concatenate([triplets[:, [0, 2]], triplets[:, :2]])
        return Weights(pairs, np.concatenate([duals.a, -duals.a]), exact=True)

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        keep = self.within(labels, duals.key)
        return Duals(duals.a[keep], duals.key[keep])

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        for (i, j), counts in zip(self.targets.tolist(), self.impostors, strict=True):
            yield from (D[i][l] - D[i][j] for l in np.flatnonzero(counts).tolist())

    def within(self, labels: IntArray, key: IntArray) -> Any:
        """For each of the keys (t,) of triplets (i, j, l): True if the points i and l have equal labels.

        labels (n,): those of the regularizer, not class labels; i and j always have equal ones. A row with False must
        have the dual variable 0.
        """
        row, l = np.divmod(key, self.impostors.shape[1])
        return labels[self.targets[row, 0]] == labels[l]

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        row, l = np.divmod(key, self.impostors.shape[1])
        i, j = self.targets[row].T
        return between(z, i, l) - between(z, i, j)

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        key, v, _ = zip(*self._near(Plain(z), below), strict=True)
        keys, values = np.concatenate(key), np.concatenate(v)
        low = values < below
        return keys[low], values[low]

    @property
    def size(self) -> int:
        return len(self.targets)

    def sample(self, every: int, first: int = 0) -> Triplets:
        """The object with the rows of every `every`-th point that has targets, starting at number `first`.

        If there are at most `first` such points, counting goes on at the first one: of 5 points, number 7 is number 2.
        """
        points = np.unique(self.targets[:, 0])
        points = points[first % max(1, len(points)) :: every]
        rows = np.isin(self.targets[:, 0], points)
        some = self.impostors.of(rows) if isinstance(self.impostors, OtherClasses) else self.impostors[rows]
        return Triplets(self.targets[rows], some)

    def keys(self) -> IntArray:
        """The keys of all rows. There may be very many."""
        return np.flatnonzero(np.asarray(self.impostors))

    def entries(self, key: IntArray) -> Entries:
        return triplet_entries(*self.named(Duals(np.zeros(len(key)), key)).T)
