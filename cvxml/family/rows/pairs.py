"""Rows of pairs: v is the squared distance of a pair, divided by a unit.

base.py explains rows, their keys, and dual variables. X_t = (x_i - x_j)(x_i - x_j)^T for the pair t = (i, j).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray
from cvxml.family.rows.base import (
    UNSEEN,
    Block,
    Duals,
    Entries,
    View,
    Weights,
    between,
)


class PairRows(NamedTuple):
    """v_t is the squared distance of the t-th pair of `listed` (p, 2), divided by `unit`. The key of the row is t."""

    listed: IntArray  # (p, 2)
    unit: Any = 1.0  # a float, or a fraction for exact arithmetic

    def blocks(self, view: View, duals: Duals, kept: float = math.inf) -> Iterator[Block]:
        """One block with all rows, because a loss may need their minimum.

        view: the points under a metric. duals: the dual variables that the block contains. kept: not used.
        """
        D, error = view.pairs(self.listed)
        a = np.zeros(len(D))
        a[duals.key] = duals.a
        if self.unit == 1:
            yield Block(D, error, a)
        else:
            yield Block(D / self.unit, (error + 2 * EPS * np.abs(D)) / self.unit, a)

    def weights(self, duals: Duals) -> Weights:
        """The matrix sum_t a_t X_t / unit as weights on pairs, for dual variables a."""
        return Weights(self._pairs_of(duals.key), duals.a if self.unit == 1 else duals.a / self.unit)

    def _pairs_of(self, key: IntArray) -> IntArray:
        """The pairs (t, 2) of these keys.

        For all keys in ascending order, it is the object `listed` itself, because a regularizer may store results for
        this object.
        """
        whole = len(key) == len(self.listed) and bool((key[1:] > key[:-1]).all())
        return self.listed if whole else self.listed[key]

    def within_span(self, labels: IntArray, duals: Duals) -> Duals:
        keep = self.within(labels, duals.key)
        return duals if keep.all() else Duals(duals.a[keep], duals.key[keep])

    def exactly(self, D: Sequence[Sequence[int]]) -> Iterator[int | Fraction]:
        unit = Fraction(self.unit)
        return (D[i][j] / unit for i, j in self.listed.tolist())

    def within(self, labels: IntArray, key: IntArray) -> Any:
        i, j = labels[self._pairs_of(key)].T
        return i == j

    def margins(self, z: FloatArray, key: IntArray) -> FloatArray:
        return between(z, *self._pairs_of(key).T) / float(self.unit)

    def near(self, z: FloatArray, below: float) -> tuple[IntArray, FloatArray]:
        v = between(z, *self.listed.T) / float(self.unit)
        key = np.flatnonzero(v < below)
        return key, v[key]

    def keys(self) -> IntArray:
        return np.arange(len(self.listed))

    def entries(self, key: IntArray) -> Entries:
        return Entries(np.arange(len(key)), self.listed[key], np.full(len(key), 1 / float(self.unit)))

    def least(self, z: FloatArray) -> float:
        v = between(z, *self.listed.T) / float(self.unit)
        return float(np.min(v, where=v > UNSEEN, initial=math.inf))

    @property
    def size(self) -> int:
        return len(self.listed)

    def sample(self, every: int) -> PairRows:
        return PairRows(self.listed[::every], self.unit)
