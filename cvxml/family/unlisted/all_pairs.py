"""Sums over every two points by their labels, some rows of a table at a time: nothing is listed.

A table of distances is a product of matrices, and sum_p w_p X_p = sum_i degree_i y_i y_i^T less what is crossed,
another; that over the pairs of a class takes a pass over its points. What rounding does to each is bounded
(rounding.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from cvxml.core.metric import EPS, FloatArray, IntArray, as_matrix, examine
from cvxml.core.moved import METRIC
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found
from cvxml.numbers.rounding import UNDERFLOW, Images, Points, Seen

BLOCK = 2**19  # numbers of a table at a time
MAX_MEMORY_STEPS = 100  # after this many steps, the descent starts anew without its memory of the curvature
MEMORY = 30  # of these
PROOF_DUE = 0.5  # a proof is tried when the estimated gap is at most this share of tol
ROOM = 1 + 1e-6
G = TypeVar("G")
M = TypeVar("M")


class Classes(NamedTuple):
    """Points in the order of their classes."""

    order: IntArray  # (n,)
    first: IntArray  # (c + 1,): where each class begins in that order; at last n

    @property
    def sizes(self) -> IntArray:
        """(c,)"""
        return np.diff(self.first)

    def across(self) -> Iterator[tuple[slice, slice]]:
        """Rows and columns, in the order, that together are every two points of two classes, once."""
        n = len(self.order)
        for begin, end in zip(self.first[:-2].tolist(), self.first[1:-1].tolist(), strict=True):
            step = max(1, BLOCK // (n - end))
            for row in range(begin, end, step):
                yield slice(row, min(row + step, end)), slice(end, n)

    def scatter(self, at: Images, w: FloatArray) -> tuple[FloatArray, float]:
        """sum_c w_c sum_i (y_i - mean_c)(y_i - mean_c)^T over images (n, r), and what it may be off by, in norm.

        Over the pairs of a class there is as often more as it has points.
        """
        y, error = at.at[self.order], at.error[self.order]
        own = np.repeat(np.arange(len(w)), self.sizes)
        means = np.add.reduceat(y, self.first[:-1]) / self.sizes[:, None]
        V = y - means[own]
        S = (V * w[own, None]).T @ V
        length = np.linalg.norm(V, axis=1)
        moved = 2 * float(error.max()) + (len(y) + 4) * EPS * float(np.linalg.norm(y, axis=1).max())
        each = (2 * length + moved) * moved + (len(y) + 16) * EPS * length**2 + UNDERFLOW
        return (S + S.T) / 2, float(w[own] @ each) * ROOM


def classes(y: IntArray) -> Classes:
    """Of codes (n,)."""
    order = np.argsort(y, kind="stable")
    first = np.unique(y[order], return_index=True)[1]
    return Classes(order, np.append(first, len(y)))


def rounded(images: Points) -> Images:
    """As floats."""
    return Images(images.high, images.error + np.linalg.norm(images.low, axis=1) * ROOM)


class Table:
    """Squared distances of images z (n, r)."""

    def __init__(self, z: FloatArray):
        length, one = np.sum(z**2, axis=1), np.ones(len(z))
        self.left = np.column_stack([-2 * z, length, one])
        self.right = np.column_stack([z, one, length]).T

    def of(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        """Of some rows."""
        D: FloatArray = self.left[rows] @ self.right[:, columns]
        return np.maximum(D, 0.0, out=D)


def error_of(sight: Seen) -> FloatArray:
    """(n,): an entry of the table of these images is off by no more than those of its two points."""
    z = sight.images.at
    reach: FloatArray = sight.reach() + (z.shape[1] + 6) * EPS * np.sum(z**2, axis=1)
    return reach * ROOM


class Weighed(NamedTuple):
    """Of a block of weights: their sums over rows and columns, and sum w_ik y_i y_k^T."""

    rows: slice | IntArray
    columns: slice
    of_rows: FloatArray
    of_columns: FloatArray
    crossed: FloatArray


class Laplacian:
    """sum w_ik (y_i - y_k)(y_i - y_k)^T over images y (n, r), from blocks of w >= 0."""

    def __init__(self, y: FloatArray):
        self.y = y
        self.degree = np.zeros(len(y))
        self.crossed = np.zeros((y.shape[1],) * 2)

    def part(self, rows: slice | IntArray, columns: slice, w: FloatArray) -> Weighed:
        """What some of the weights add."""
        ends = w @ np.ones(w.shape[1]), np.ones(len(w)) @ w
        return Weighed(rows, columns, *ends, self.y[rows].T @ (w @ self.y[columns]))

    def add(self, part: Weighed) -> None:
        """It is added."""
        self.degree[part.rows] += part.of_rows
        self.degree[part.columns] += part.of_columns
        self.crossed += part.crossed

    def total(self) -> FloatArray:
        """The sum."""
        S: FloatArray = (self.y * self.degree[:, None]).T @ self.y - self.crossed - self.crossed.T
        return (S + S.T) / 2

    def proved(self, error: FloatArray) -> tuple[FloatArray, float]:
        """The sum for images that are off by `error` (n,), and what it may be off by, in norm.

        Also where each w is rounded as often as there are points.
        """
        n, length, most = len(self.y), np.linalg.norm(self.y, axis=1), float(error.max())
        moved = 8 * (n + 16) * EPS * float(self.degree @ length**2)
        moved += 4 * most * float(self.degree @ (length + most)) + UNDERFLOW
        return self.total(), moved * ROOM


class AllPairs(Protocol):
    """Proof and solver of a method on every two points."""

    def certify(self, A: FloatArray, at: FloatArray) -> Certificate:
        """Of the matrix A (d, d), with the prices of the psd metric `at` (d, d)."""

    def search(self, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
        """Solve to a gap of `tol`. start: a psd matrix (d, d)."""


def metric_of(dual: Dual, d: int) -> FloatArray:
    """The psd metric (d, d) that stands for its prices. Raises ValueError for what is none."""
    metric, feasibility = examine(as_matrix(dual[METRIC], d, f"dual {METRIC!r}"))
    if not feasibility.feasible:
        raise ValueError(f"dual {METRIC!r} must be a psd matrix; {feasibility}")
    return metric


def once(given: G, make: Callable[[G], M], name: str = "everyone") -> M:
    """What `make` makes of checked data, kept beside them by a name: it takes a pass over all points."""
    kept = vars(given)
    if name not in kept:
        kept[name] = make(given)
    made: M = kept[name]
    return made


class Slopes(NamedTuple):
    """A function at M: f(M), df/dM, and about what a proof would leave of the objective."""

    value: float
    gradient: FloatArray
    left: float


class Smooth(Protocol):
    """A function of every two points, in coordinates of its own."""

    def slopes(self, M: FloatArray) -> Slopes:
        """At M (r, r), psd."""

    def outside(self, M: FloatArray) -> FloatArray:
        """M as a metric (d, d)."""


class Descent:
    """An `Iterate` of core/run.py: L-BFGS on M = L L^T, from M. The metric stands for its prices in a dual."""

    def __init__(self, f: Smooth, M: FloatArray, tol: float):
        self.f, self.tol = f, tol
        self.L = root(M)

    def metric(self) -> FloatArray:
        """(d, d)"""
        return self.f.outside(self.L @ self.L.T)

    def dual(self) -> Dual:
        """See `Descent`."""
        return {METRIC: self.metric()}

    def step(self) -> bool:
        """Until a proof seems near, or `MAX_MEMORY_STEPS` steps; False where rounding allows none."""
        shape, near = self.L.shape, [False]

        def value_and_gradient(entries: FloatArray) -> tuple[float, FloatArray]:
            L = entries.reshape(shape)
            with np.errstate(over="ignore", invalid="ignore"):
                value, gradient, left = self.f.slopes(L @ L.T)
            near[0] = left <= PROOF_DUE * self.tol
            return value, (2 * gradient @ L).ravel()

        def callback(intermediate_result: OptimizeResult) -> None:
            if near[0]:
                raise StopIteration

        options = {"maxiter": MAX_MEMORY_STEPS, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
        found = minimize(
            value_and_gradient,
            self.L.ravel(),
            jac=True,
            method="L-BFGS-B",
            options=options,
            callback=callback,
        )
        self.L = found.x.reshape(shape)
        return bool(found.nit > 0)


def root(M: FloatArray) -> FloatArray:
    """L with L L^T = M, psd but for rounding."""
    values, vectors = np.linalg.eigh(M)
    L: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return L
