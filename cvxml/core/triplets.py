"""Triplets (i, j, l) of points: j should be nearer to i than l. Given, or made from labels.

They are the input of methods such as BoostMetric and SCML. j is called a target of i, and l an impostor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import watched
from cvxml.core.inputs import check_count, check_labels, check_rows, class_names
from cvxml.core.memory import check_room
from cvxml.core.metric import FloatArray, IntArray, unit_scale
from cvxml.core.neighbors import k_nearest
from cvxml.core.parameter import COUNT, INDICES, Parameter
from cvxml.core.targets import nearest_of_class

LARGEST = 1e30  # limit of the spread of the features; a weight may be up to its third power
GIVEN_TRIPLETS = Parameter(
    "explicit triplets, a list of [i, j, l], none twice: j should be nearer to i than l; they replace n_neighbors",
    INDICES,
)
BY_TRIPLETS = {
    "n_neighbors": Parameter(
        "number of targets (nearest points of its class) and of impostors (nearest points of other classes) of "
        "each point",
        COUNT,
        3,
    ),
    "triplets": GIVEN_TRIPLETS,
}
BAD_TRIPLETS: dict[str, tuple[Any, ...]] = {
    "n_neighbors": (0, 99),
    "triplets": ([[0, 1]], [[0, 1, 99]], [[0, 0, 1]], [[0, 3, 1], [0, 3, 1]]),
}


@dataclass(frozen=True, eq=False)
class Compared:
    """Checked data of a method that learns from triplets (i, j, l).

    targets: (p, 2), the different pairs i, j.
    impostors: (p, n), True at (a, l) if (i, j, l) is a triplet, where i, j is row a of `targets`.
    y: (n,) class codes; zeros without labels. n_neighbors: None if triplets were given.
    tied: the number of points with a tie at the boundary of their targets, plus that for impostors.

    H_t = (x_i - x_l)(x_i - x_l)^T - (x_i - x_j)(x_i - x_j)^T for the triplet t = (i, j, l).
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) class codes; zeros if triplets were given without labels
    targets: IntArray  # (p, 2): i and its target j
    impostors: np.ndarray  # (p, n) True if (i, j, l) is a triplet
    n_neighbors: int | None  # None if triplets were given
    tied: int  # number of points with a tie at the boundary of their targets, plus that for impostors

    @property
    def count(self) -> int:
        return int(np.count_nonzero(self.impostors))

    def triplets(self) -> IntArray:
        """Return the triplets (m, 3) as i, j, l."""
        row, l = np.nonzero(self.impostors)
        return np.concatenate([self.targets[row], l[:, None]], axis=1)

    def margins(self, M: FloatArray) -> FloatArray:
        """Return <M, H_t> (m,) for every triplet t, in the order of `triplets`."""
        X, found = self.X, []
        for i, j, l in self.triplets().tolist():
            far, near = X[i] - X[l], X[i] - X[j]
            found.append(far @ M @ far - near @ M @ near)
        return np.array(found)

    def weighted_sum(self, weights: FloatArray) -> FloatArray:
        """Return sum_t weight_t H_t (d, d) over the triplets, for weights (m,)."""
        X, total = self.X, np.zeros((self.X.shape[1],) * 2)
        for (i, j, l), weight in zip(self.triplets().tolist(), weights.tolist(), strict=True):
            far, near = X[i] - X[l], X[i] - X[j]
            total += weight * (np.outer(far, far) - np.outer(near, near))
        return total

    @property
    def stored(self) -> dict[str, Any]:
        """The parameters to save: n_neighbors, and the triplets, sorted by (i, j, l)."""
        return {"n_neighbors": self.n_neighbors, "triplets": sorted(self.triplets().tolist())}


@dataclass(frozen=True, eq=False)
class WithVectors(Compared):
    """Checked data of a method that learns a metric sum_k w_k b_k b_k^T from triplets, for given vectors b_k."""

    @property
    def basis(self) -> FloatArray:
        """The vectors b_k (K, d)."""
        raise NotImplementedError


def compared(X: FloatArray, y: ArrayLike | None, n_neighbors: int | None, triplets: Any) -> Compared:
    """Return the checked data, with the given triplets, or with triplets made from the labels.

    By labels, the triplets combine each target of a point (its n_neighbors nearest points of the same class) with each
    of its n_neighbors nearest points of other classes. X: (n, d), checked. Raises ValueError for bad input.
    """
    if y is None and triplets is None:
        raise ValueError("y is None: it must be one-dimensional, one label for each point, or give triplets")
    n = len(X)
    codes = np.zeros(n, dtype=np.intp) if y is None else check_labels(y, n)
    if triplets is not None:
        return Compared(X, codes, *given_triplets(triplets, n), None, 0)
    k = check_count(n_neighbors, "n_neighbors")
    targets, ties = nearest_of_class(X, codes, k, class_names(y), instead="triplets")
    check_room((1 + k) * n**2, f"tables of {n} points, and of {n * k} targets, beside {n} points")
    near, tied = nearest_of_the_rest(X, codes, k, class_names(y))
    return Compared(X, codes, targets, near[targets[:, 0]], k, ties + tied)


def check_units(X: FloatArray, weight: float, name: str, follows: str) -> None:
    """Raise ValueError if a weight, or the spread of the features, is too large or too small for double precision.

    The spread (`unit_scale`) must be from 1e-30 to 1e30, and the weight from 1e-90 to 1e90.

    weight: a parameter of the objective. The method computes its square, and the fourth power of the spread.
    name: the name of the weight.
    follows: the rescaled weight for points X / s, for example "C s^4".
    """
    s = unit_scale(X)
    if not 1 / LARGEST <= s <= LARGEST:
        raise ValueError(
            f"X: the features spread over about s = {s:.3g}, but double precision needs {1 / LARGEST:g} to "
            f"{LARGEST:g}; rescale: X / s with {follows} in place of {name} is the same problem"
        )
    if not LARGEST**-3 <= weight <= LARGEST**3:
        raise ValueError(
            f"{name}={weight:g}, but double precision needs {LARGEST**-3:g} to {LARGEST**3:g}; give another {name}"
        )


def nearest_of_the_rest(X: FloatArray, codes: IntArray, k: int, names: list[str]) -> tuple[np.ndarray, int]:
    """Return the table of the k nearest points of other classes, and the number of ties.

    The table is (n, n), True at (i, l) if l is one of the k points of other classes nearest to i. The number of ties
    counts the points i with a k-th and a next point at equal distance.

    names: class names, for messages.

    Raises ValueError if there are fewer than k points outside a class.
    """
    near, ties = np.zeros((len(X), len(X)), dtype=bool), 0
    for code in watched(range(int(codes.max()) + 1)):
        members, rest = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        if len(rest) < k:
            raise ValueError(
                f"there are {len(rest)} point(s) outside class {names[code]}, fewer than n_neighbors={k}: "
                "lower n_neighbors"
            )
        nearest, tied = k_nearest(X, members, rest, k)
        near[members[:, None], nearest] = True
        ties += int(tied.sum())
    return near, ties


def given_triplets(triplets: Any, n: int) -> tuple[IntArray, np.ndarray]:
    """Return `targets` (p, 2) and `impostors` (p, n) of `Compared` for explicit triplets (m, 3) of n points.

    The rows i, j of `targets` are sorted. Raises ValueError for bad input, and for a triplet that is listed twice.
    """
    given = check_rows(triplets, "triplets", "three indices i, j, l", n)
    same = np.flatnonzero((given[:, 0] == given[:, 1]) | (given[:, 0] == given[:, 2]))
    if len(same):
        raise ValueError(
            f"triplets[{same[0]}] is {given[same[0]].tolist()}: a point is not its own neighbour"
        )
    pairs, row = np.unique(given[:, :2], axis=0, return_inverse=True)
    check_room(
        len(pairs) * n,
        f"a table of {len(pairs)} pairs i, j beside {n} points l",
        "give fewer triplets, or points",
    )
    counts = np.zeros((len(pairs), n), dtype=bool)
    counts[row.reshape(-1), given[:, 2]] = True
    if counts.sum() != len(given):
        first = np.unique(given, axis=0, return_index=True)[1]
        k = min(set(range(len(given))) - set(first.tolist()))
        raise ValueError(f"triplets[{k}], {given[k].tolist()}, is listed before; list each triplet once")
    return pairs, counts
