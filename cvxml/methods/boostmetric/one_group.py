"""The rows of BoostMetric's loss, the log sum exp over all triplets: one row, and one dual variable, for each triplet.

In family/theorem, a row is a number on which a loss depends. Here it is the difference of two squared distances. All
rows belong to one group, because the loss does not split into a sum over triplets.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.rows.base import Block, Duals, Entries, View, Weights
from cvxml.family.rows.triplets import triplet_entries


class Together(NamedTuple):
    """The triplets (i, j, l) of one loss, `listed` (m, 3). Each gives a row v = D_il - D_ij, with squared distances D.

    The key of a row is the index of its triplet.
    """

    listed: IntArray  # (m, 3)

    @property
    def near(self) -> IntArray:
        """The pairs (i, j) of the triplets, (m, 2)."""
        return self.listed[:, :2]

    @property
    def far(self) -> IntArray:
        """The pairs (i, l) of the triplets, (m, 2)."""
        return self.listed[:, [0, 2]]

    def table(self, duals: Duals) -> FloatArray:
        """The dual variables of all rows (m,), 0 for a row that `duals` does not list."""
        a = np.zeros(len(self.listed), dtype=duals.a.dtype)
        a[duals.key] = duals.a
        return a

    def duals(self, table: FloatArray) -> Duals:
        """The dual variables of all rows with their keys 0..m - 1, from an array of their m values, in any shape."""
        return Duals(table.ravel(), np.arange(table.size))

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        (near, error_near), (far, error_far) = view.pairs(self.near), view.pairs(self.far)
        error = error_near + error_far + 2 * EPS * (near + far)
        yield Block((far - near)[None], error[None], self.table(duals)[None], slice(0, 1))

    def weights(self, duals: Duals) -> Weights:
        """The matrix sum_t a_t (X_il - X_ij) for the dual variables a, as weights a_t and -a_t on pairs of points."""
        pairs = np.concatenate([self.far[duals.key], self.near[duals.key]])
        return Weights(pairs, np.concatenate([duals.a, -duals.a]))

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        """The dual variables of all rows, but -inf for a triplet of points that do not all have the same label.

        labels (n,): computed by the regularizer; they are not class labels. If the labels of a triplet differ, its dual
        variable must be 0, or the bound of the regularizer could be -inf. The loss (LogSumExp) turns -inf into 0.
        """
        i, j, l = labels[self.listed].T
        return self.duals(np.where((i == j) & (i == l), self.table(duals), -np.inf))

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[Any]:
        return (D[i][l] - D[i][j] for i, j, l in self.listed.tolist())

    def entries(self, key: IntArray) -> Entries:
        i, j, l = self.listed[key].T
        return triplet_entries(i, j, l)
