"""Sums over all pairs of points with given labels, computed block by block, without a list of the pairs.

The image y_i of point i has coordinates in which D_ij = |y_i - y_j|^2 is the squared distance of a metric. A table of
the D_ij is computed by products of matrices. For weights w_ij on pairs,

    sum_ij w_ij (y_i - y_j)(y_i - y_j)^T  =  sum_i degree_i y_i y_i^T - Z - Z^T,    Z = sum_ij w_ij y_i y_j^T,

where degree_i is the sum of the weights of all pairs that contain i. A sum over all pairs of a class needs one pass
over its points. All rounding errors are bounded (numbers/rounding.py). The protocols and `Descent` are for methods with
such a sum as their objective.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np

from cvxml.core.metric import EPS, FloatArray, IntArray, as_matrix, examine
from cvxml.core.moved import METRIC
from cvxml.core.result import Certificate, Dual
from cvxml.core.run import Callback, Found
from cvxml.numbers.rounding import UNDERFLOW, Images, Points, Seen

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

BLOCK = 2**19  # numbers of a table computed at a time
MAX_MEMORY_STEPS = 100  # after this many steps, L-BFGS restarts without its memory
MEMORY = 30  # steps that L-BFGS remembers
PROOF_DUE = 0.5  # a proof is tried when the estimated gap is at most this fraction of tol
ROOM = 1 + 1e-6  # factor that covers the rounding of error bounds
G = TypeVar("G")
M = TypeVar("M")


class Classes(NamedTuple):
    """The points sorted by class.

    order (n,): the points in this order. first (c + 1,): the position of the first point of each of c classes, then n.
    """

    order: IntArray  # (n,)
    first: IntArray  # (c + 1,) the position of the first point of each class, then n

    @property
    def sizes(self) -> IntArray:
        return np.diff(self.first)

    def across(self) -> Iterator[tuple[slice, slice]]:
        """Yield blocks of the table of all pairs of the sorted points, each as two slices: its rows and its columns.

        Together the blocks contain each pair of points of different classes once, and no pair of one class.
        """
        n = len(self.order)
        for begin, end in zip(self.first[:-2].tolist(), self.first[1:-1].tolist(), strict=True):
            step = max(1, BLOCK // (n - end))
            for row in range(begin, end, step):
                yield slice(row, min(row + step, end)), slice(end, n)

    def scatter(self, at: Images, w: FloatArray) -> tuple[FloatArray, float]:
        """Return sum_c w_c sum_i (y_i - mean_c)(y_i - mean_c)^T over the points i of each class c, and an error bound.

        The bound is for the norm of the error, and includes the errors of the images. at: the images y (n, r), with
        bounds of their errors. mean_c: the mean image of class c. w: one weight for each class. For a class of s
        points, s times the inner sum is the sum of (y_i - y_j)(y_i - y_j)^T over all its pairs.
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
    order = np.argsort(y, kind="stable")
    first = np.unique(y[order], return_index=True)[1]
    return Classes(order, np.append(first, len(y)))


def rounded(images: Points) -> Images:
    """Round images to floats. They are given as sums of a high and a low part, to twice the working precision.

    The low parts are dropped, and their lengths are added to the error bounds.
    """
    return Images(images.high, images.error + np.linalg.norm(images.low, axis=1) * ROOM)


class Table:
    """A table (n, n) of squared distances between images z (n, r), computed block by block."""

    def __init__(self, z: FloatArray):
        length, one = np.sum(z**2, axis=1), np.ones(len(z))
        self.left = np.column_stack([-2 * z, length, one])
        self.right = np.column_stack([z, one, length]).T

    def of(self, rows: slice | IntArray, columns: slice) -> FloatArray:
        D: FloatArray = self.left[rows] @ self.right[:, columns]
        return np.maximum(D, 0.0, out=D)


def error_of(sight: Seen) -> FloatArray:
    """Bounds (n,) of the errors of a table of squared distances that is computed from the images in `sight`.

    The entry (i, k) of the table has an error of at most bound_i + bound_k.
    """
    z = sight.images.at
    reach: FloatArray = sight.reach() + (z.shape[1] + 6) * EPS * np.sum(z**2, axis=1)
    return reach * ROOM


class Weighed(NamedTuple):
    """Sums of a block of weights w_ik over some points i (`rows`) and k (`columns`), for images y of the points.

    of_rows: the sum of w_ik over k, for each i. of_columns: the sum over i, for each k. crossed (r, r): sum w_ik y_i
    y_k^T.
    """

    rows: slice | IntArray
    columns: slice
    of_rows: FloatArray
    of_columns: FloatArray
    crossed: FloatArray


class Laplacian:
    """The sum of w_ik (y_i - y_k)(y_i - y_k)^T over images y (n, r), added up from blocks of weights w >= 0."""

    def __init__(self, y: FloatArray):
        self.y = y
        self.degree = np.zeros(len(y))
        self.crossed = np.zeros((y.shape[1],) * 2)

    def part(self, rows: slice | IntArray, columns: slice, w: FloatArray) -> Weighed:
        """Return the sums of one block of weights w_ik, for the points i (`rows`) and k (`columns`).

        `add` adds them to the total. Several threads can compute parts at the same time.
        """
        ends = w @ np.ones(w.shape[1]), np.ones(len(w)) @ w
        return Weighed(rows, columns, *ends, self.y[rows].T @ (w @ self.y[columns]))

    def add(self, part: Weighed) -> None:
        self.degree[part.rows] += part.of_rows
        self.degree[part.columns] += part.of_columns
        self.crossed += part.crossed

    def total(self) -> FloatArray:
        S: FloatArray = (self.y * self.degree[:, None]).T @ self.y - self.crossed - self.crossed.T
        return (S + S.T) / 2

    def proved(self, error: FloatArray) -> tuple[FloatArray, float]:
        """Return the sum (r, r) over all added blocks, and a bound of its error in norm.

        error (n,): a bound of the error of each image y_i. The result also allows for n roundings of each weight.
        """
        n, length, most = len(self.y), np.linalg.norm(self.y, axis=1), float(error.max())
        moved = 8 * (n + 16) * EPS * float(self.degree @ length**2)
        moved += 4 * most * float(self.degree @ (length + most)) + UNDERFLOW
        return self.total(), moved * ROOM


class AllPairs(Protocol):
    """The certificate and the solver of a method with an objective that is a sum over all pairs of points."""

    def certify(self, A: FloatArray, at: FloatArray) -> Certificate:
        """Certify the matrix A (d, d) with the dual variables that the psd metric `at` (d, d) determines."""

    def search(self, tol: float, max_iter: int, start: FloatArray | None, callback: Callback) -> Found:
        """Solve to a relative gap of `tol`, in at most `max_iter` iterations.

        start: a psd matrix (d, d), if there is one. callback: is called after each step.
        """


def metric_of(dual: Dual, d: int) -> FloatArray:
    """Return the psd metric (d, d) that is stored in `dual` in place of dual variables, which the metric determines.

    Raises ValueError if the stored matrix has another shape, or is not psd up to the tolerance.
    """
    metric, feasibility = examine(as_matrix(dual[METRIC], d, f"dual {METRIC!r}"))
    if not feasibility.feasible:
        raise ValueError(f"dual {METRIC!r} must be a psd matrix; {feasibility}")
    return metric


def once(given: G, make: Callable[[G], M], name: str = "everyone") -> M:
    """Return make(given), computed once and stored in the attributes of `given` under `name`.

    For results that take a pass over all points.
    """
    kept = vars(given)
    if name not in kept:
        kept[name] = make(given)
    made: M = kept[name]
    return made


class Slopes(NamedTuple):
    """f(M), its gradient df/dM (r, r), and `left`, an estimate of the relative gap in a certificate of M."""

    value: float
    gradient: FloatArray
    left: float


class Smooth(Protocol):
    """A smooth objective f(M) of a metric M (r, r), a sum over all pairs of points.

    M acts on r coordinates of the points, which f chooses.
    """

    def slopes(self, M: FloatArray) -> Slopes:
        """The value, gradient and estimated gap of f at a psd M (r, r)."""

    def outside(self, M: FloatArray) -> FloatArray:
        """The metric (d, d) of the features for M (r, r) in the coordinates of f."""


class Descent:
    """A solver that minimizes f(L L^T) over L (r, r) by L-BFGS.

    M (r, r): the metric to start from, M = L L^T. tol: the tolerance for the relative gap. The loop of core/run.py
    calls `step` until a certificate meets tol. The method `dual` returns the metric in place of dual variables, because
    the metric determines them.
    """

    def __init__(self, f: Smooth, M: FloatArray, tol: float):
        self.f, self.tol = f, tol
        self.L = root(M)

    def metric(self) -> FloatArray:
        return self.f.outside(self.L @ self.L.T)

    def dual(self) -> Dual:
        return {METRIC: self.metric()}

    def step(self) -> bool:
        """Run L-BFGS until the estimated relative gap is at most tol / 2, for at most `MAX_MEMORY_STEPS` steps.

        With this estimate, a certificate is likely to meet the tolerance. Returns False if rounding allows no step.
        """
        from scipy.optimize import minimize  # takes a tenth of a second to load

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
    """A matrix L (r, r) with L L^T = M, for M psd up to rounding."""
    values, vectors = np.linalg.eigh(M)
    L: FloatArray = vectors * np.sqrt(np.maximum(values, 0.0))
    return L
