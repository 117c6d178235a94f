"""The inputs of MLSVM, checked, and the neighbourhoods N(i) of Nguyen, Guo 2008.

N(i) is split by class: the targets T_i have the class of x_i, the impostors I_i have other classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import (
    check_choice,
    check_count,
    check_labels,
    check_neighbors,
    check_positive,
    check_X,
    class_names,
)
from cvxml.core.metric import FloatArray, IntArray, unit_scale
from cvxml.core.neighbors import k_nearest

KINDS = ("knn", "per-class")
NearestOf = Callable[[IntArray, IntArray, int], tuple[IntArray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """The targets T_i and impostors I_i of every point, as index arrays, and the number of points with a boundary tie.

    A boundary tie: the last neighbour taken and the first one left out are at the same distance. ties is 0 for explicit
    lists.
    """

    targets: list[IntArray]
    impostors: list[IntArray]
    ties: int  # points with a boundary tie; 0 for explicit lists

    @cached_property
    def usable(self) -> IntArray:
        """The points with both targets and impostors; the constraints of other points are vacuous."""
        both = [len(t) > 0 and len(m) > 0 for t, m in zip(self.targets, self.impostors, strict=True)]
        return np.flatnonzero(both)

    @cached_property
    def pairs(self) -> tuple[IntArray, np.ndarray]:
        """The pairs (t, 2) of each usable point with its impostors and targets, and a mask (t,) of the impostors."""
        listed = [
            (i, j, kind)
            for i in self.usable.tolist()
            for kind, of in ((1, self.impostors), (0, self.targets))
            for j in of[i]
        ]
        rows = np.array(listed, dtype=np.intp).reshape(-1, 3)
        return rows[:, :2], rows[:, 2] == 1

    @property
    def lists(self) -> list[IntArray]:
        """N(i) = T_i and I_i together: an array of indices for each point i."""
        return [np.concatenate(p) for p in zip(self.targets, self.impostors, strict=True)]


def neighborhood_of(
    X: FloatArray,
    y: IntArray,
    n_neighbors: int = 4,
    neighborhood: str = "knn",
    neighbors: Sequence[Sequence[int]] | None = None,
    names: Sequence[str] | None = None,
    nearest_of: NearestOf | None = None,
) -> Neighborhood:
    """Return the neighbourhoods of all n points, for X (n, d) and class codes y (n,).

    neighborhood: "knn" takes the `n_neighbors` nearest points of any class, as in the paper. The choice "per-class"
    takes the `n_neighbors` nearest points of the same class, and the `n_neighbors` nearest points of all other classes
    together.

    neighbors: explicit lists, which take precedence. names: the classes, for messages. nearest_of(rows, columns, k):
    replaces Euclidean distances, for example by those of a kernel. It returns the k nearest of the points `columns` for
    each of the points `rows`, and a mask of the ties. Raises ValueError if n_neighbors is no integer, or too large for
    the data. In the second case the message gives the maximum.
    """
    n = len(X)
    check_choice(neighborhood, "neighborhood", KINDS)
    k_nearest_of = nearest_of or partial(k_nearest, X)
    if neighbors is not None:
        return split(check_neighbors(neighbors, n), y)
    k = check_count(n_neighbors, "n_neighbors")
    everyone = np.arange(n, dtype=np.intp)
    if neighborhood == "knn":
        check_count(k, "n_neighbors", at_most=n - 1)
        nearest, tied = k_nearest_of(everyone, everyone, k)
        return split(list(nearest), y, int(tied.sum()))
    _check_class_sizes(y, k, names)
    targets = np.empty((n, k), dtype=np.intp)
    impostors = np.empty((n, k), dtype=np.intp)
    ties = np.zeros(n, dtype=bool)
    for c in np.unique(y):
        own, others = np.flatnonzero(y == c), np.flatnonzero(y != c)
        targets[own], tied_own = k_nearest_of(own, own, k)
        impostors[own], tied_others = k_nearest_of(own, others, k)
        ties[own] = tied_own | tied_others
    return Neighborhood(list(targets), list(impostors), int(ties.sum()))


def split(lists: list[IntArray], y: IntArray, ties: int = 0) -> Neighborhood:
    """Return the neighbourhoods with the given lists N(i), each split into the targets and the impostors of point i.

    y (n,): class codes. ties: the number of points with a boundary tie, which is stored.
    """
    targets = [listed[y[listed] == y[i]] for i, listed in enumerate(lists)]
    impostors = [listed[y[listed] != y[i]] for i, listed in enumerate(lists)]
    return Neighborhood(targets, impostors, ties)


def _check_class_sizes(y: IntArray, k: int, names: Sequence[str] | None) -> None:
    classes, counts = np.unique(y, return_counts=True)
    room = np.minimum(counts - 1, len(y) - counts)
    c = int(room.argmin())
    if k > room[c]:
        raise ValueError(
            f'n_neighbors={k} is too large for neighborhood="per-class": class {names[c] if names else classes[c]} '
            f"has {counts[c]} points, and the other classes have {len(y) - counts[c]}, so the maximum is {room[c]}"
        )


class Instance(NamedTuple):
    """Checked data: X float64, y as codes, the neighbourhoods, and the parameters."""

    X: FloatArray
    y: IntArray
    N: Neighborhood
    lam: float
    n_neighbors: int | None  # None for explicit lists
    neighborhood: str  # "explicit" for these

    def stored(self) -> dict[str, Any]:
        """The parameters for a saved solution, except the neighbour lists, which the caller stores."""
        return {"lam": self.lam, "n_neighbors": self.n_neighbors, "neighborhood": self.neighborhood}


def instance(
    X: ArrayLike,
    y: ArrayLike | None,
    *,
    lam: float = 0.1,
    n_neighbors: int = 4,
    neighborhood: str = "knn",
    neighbors: Any = None,
) -> Instance:
    """Return the checked inputs. Raises ValueError for bad input.

    X (n, d), y (n,): labels of any type. lam > 0: weight of the regularizer. neighborhood: "knn" takes the n_neighbors
    nearest points of any class. The choice "per-class" takes n_neighbors points of the same class and as many of other
    classes. neighbors: explicit lists in place of these.
    """
    points = check_X(X)
    codes = check_labels(y, len(points))
    lam = check_positive(lam, "lam")
    scale = unit_scale(points)
    scaled_lam(lam, scale)
    N = neighborhood_of(points / scale, codes, n_neighbors, neighborhood, neighbors, class_names(y))
    return Instance(points, codes, N, lam, *named(n_neighbors, neighborhood, neighbors))


def scaled_lam(lam: float, scale: float) -> float:
    """lam / scale^4, the weight of the same problem on X / scale; ValueError if it over- or underflows."""
    with np.errstate(all="ignore"):
        value = float(np.float64(lam) / np.float64(scale) ** 2 / np.float64(scale) ** 2)
    if not 1e-200 < value < 1e200:
        raise ValueError(
            f"lam={lam:g} does not suit points that spread over about s = {scale:.3g}: double precision needs a "
            "lam / s^4 between 1e-200 and 1e200; give another lam"
        )
    return value


def named(n_neighbors: int, neighborhood: str, neighbors: Any) -> tuple[int | None, str]:
    """Return n_neighbors and neighborhood for a saved file: None and "explicit" if `neighbors` is given."""
    return (int(n_neighbors), neighborhood) if neighbors is None else (None, "explicit")
