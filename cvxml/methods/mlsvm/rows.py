"""Constraints of MLSVM as rows, whatever lists they come from: for misreadings of the problem (misreadings.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.misreading import FAR, MULTIPLES
from cvxml.methods.mlsvm.instance import Instance

Listed = Sequence[int] | IntArray


class Row(NamedTuple):
    """A constraint: a point, its targets and its impostors. A target that is the point itself is at distance 0."""

    point: int
    targets: Listed
    impostors: Listed


def usable_rows(
    given: Instance, targets: list[IntArray] | None = None, impostors: list[IntArray] | None = None
) -> list[Row]:
    """A row for every point that has both; by default those of the problem."""
    T = given.N.targets if targets is None else targets
    J = given.N.impostors if impostors is None else impostors
    return [Row(i, T[i], J[i]) for i in range(len(T)) if len(T[i]) and len(J[i])]


def losses(X: FloatArray, rows: list[Row], A: FloatArray) -> FloatArray:
    """max_l d_A - min_j d_A of every row."""
    far = _extreme(X, A, rows, [row.targets for row in rows], np.maximum)
    near = _extreme(X, A, rows, [row.impostors for row in rows], np.minimum)
    return far - near


def mean_losses(X: FloatArray, rows: list[Row], A: FloatArray) -> FloatArray:
    """The same with the mean over l."""
    far = _extreme(X, A, rows, [row.targets for row in rows], np.add) / [len(row.targets) for row in rows]
    return far - _extreme(X, A, rows, [row.impostors for row in rows], np.minimum)


def _extreme(
    X: FloatArray, A: FloatArray, rows: list[Row], lists: list[Listed], extreme: np.ufunc
) -> FloatArray:
    if not rows:
        return np.zeros(0)
    start = np.cumsum([0, *(len(listed) for listed in lists[:-1])])
    i = np.repeat([row.point for row in rows], [len(listed) for listed in lists])
    j = np.concatenate([np.asarray(listed, dtype=np.intp) for listed in lists])
    difference = X[i] - X[j]
    reduced: FloatArray = extreme.reduceat(np.sum((difference @ A) * difference, axis=1), start)
    return reduced


def stays_at_scale(
    A: FloatArray, lam: float, n: int, margins_at: Callable[[FloatArray], FloatArray], power: int = 1
) -> bool:
    """False if a multiple of A is better by so much that A is not optimal to `FAR`: no solver is needed."""
    size = lam / 2 * float(np.sum(A**2))
    if not math.isfinite(size):
        return False
    margins = margins_at(A)  # negative margin of every row, linear in A

    def value(t: float) -> float:
        return t**2 * size + float((np.maximum(0.0, 1 + t * margins) ** power).sum()) / n

    return min(value(t) for t in MULTIPLES) >= value(1.0) - 2 * FAR * size
