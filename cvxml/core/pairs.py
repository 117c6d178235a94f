"""Pairs of points that should be near each other (similar) or far apart (dissimilar): given, or made from labels.

Methods such as ITML and MMC take them as the parameter `pairs`. Without it, every two points are a pair by their
labels; many facts about all these pairs are computed here without a list of them.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.clock import watched
from cvxml.core.exact import flint
from cvxml.core.inputs import check_labels, check_X, from_one
from cvxml.core.integer_matrices import whole, within_groups
from cvxml.core.memory import FLOAT, TooLarge, check_room, said
from cvxml.core.metric import FloatArray, IntArray
from cvxml.core.parameter import PAIRS, Parameter
from cvxml.core.short_repr import cut

KINDS = ("similar", "dissimilar")
BLOCK = 2**18  # most differences that are computed at a time
MOST_ENTRIES_PER_PAIR = 8  # of the Laplacian of the pairs, up to which it is used for their sum of squares
MAX_POINTS_LISTED = 500  # above this number of points, solvers and proofs do not list the pairs of all points
MAX_POINTS_ALL_PAIRS = 5000  # above this number of points, the list of the pairs of all points is refused
BY_PAIRS = {
    "pairs": Parameter(
        '{"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}, no pair twice; y is then ignored',
        PAIRS,
        otherwise="all pairs of points, by their labels",
    )
}
BAD_PAIRS: dict[str, tuple[Any, ...]] = {
    "pairs": (
        {"similar": [[0, 99]], "dissimilar": [[0, 1]]},
        {"similar": [[0, 0]], "dissimilar": [[0, 1]]},
        {"similar": [[0, 1]], "dissimilar": [[0, 1]]},
        {"alike": [[0, 1]], "dissimilar": [[0, 1]]},
    )
}
BAD_PAIRS_OF_ONE_KIND = {
    "pairs": (
        *BAD_PAIRS["pairs"],
        {"similar": [[0, 3]], "dissimilar": []},
        {"similar": [], "dissimilar": [[0, 1]]},
    )
}


class Pairs(NamedTuple):
    """Indices of similar pairs (p, 2) and dissimilar pairs (q, 2), each pair once, in the given order."""

    similar: IntArray
    dissimilar: IntArray

    def to_dict(self) -> dict[str, list[list[int]]]:
        """Return the pairs in the form of the parameter `pairs`."""
        return {kind: getattr(self, kind).tolist() for kind in KINDS}


@dataclass(frozen=True, eq=False)
class Paired:
    """Checked data of a method that learns from pairs.

    y: (n,) class codes; zeros if pairs were given.
    listed: the given pairs; None if every two points are a pair, by their labels.
    """

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) class codes; zeros if pairs were given
    listed: Pairs | None  # the given pairs; None: every two points are a pair, by their labels

    @cached_property
    def pairs(self) -> Pairs:
        """All pairs. Raises TooLarge if the pairs by labels are too many for a list (`check_listable`)."""
        if self.listed is not None:
            return self.listed
        self.check_listable()
        return pairs_by_labels(self.y)

    def check_listable(self) -> None:
        """Raise TooLarge if the pairs by labels are too many for a list; given pairs always pass.

        They are too many above `MAX_POINTS_ALL_PAIRS` points, or if the list does not fit into memory.
        """
        if self.listed is not None:
            return
        n, d = self.X.shape
        needed = n * (n - 1) // 2 * (2 + d) * FLOAT
        if n > MAX_POINTS_ALL_PAIRS:
            raise TooLarge(
                f"{n} points have {n * (n - 1) // 2} pairs, a list of {said(needed)}; at most "
                f"{MAX_POINTS_ALL_PAIRS} points are allowed for such a list: give pairs, or fewer points"
            )
        check_room(
            needed,
            f"a list of all pairs of {n} points, with their differences in {d} features,",
            "give pairs, or fewer points",
        )

    @property
    def similar(self) -> FloatArray:
        """Differences x_i - x_j (s, d) of the similar pairs."""
        return self._differences(self.pairs.similar)

    @property
    def dissimilar(self) -> FloatArray:
        """Differences x_i - x_j (q, d) of the dissimilar pairs."""
        return self._differences(self.pairs.dissimilar)

    def _differences(self, listed: IntArray) -> FloatArray:
        E = np.empty((len(listed), self.X.shape[1]))
        with np.errstate(over="ignore"):  # callers that need finite differences check for overflow
            for first in watched(range(0, len(listed), BLOCK)):
                i, j = listed[first : first + BLOCK].T
                E[first : first + BLOCK] = self.X[i] - self.X[j]
        return E

    @property
    def by_labels(self) -> bool:
        """True if the pairs are all pairs of points, made from the labels."""
        return self.listed is None

    @property
    def many(self) -> bool:
        """True if solvers and proofs should not list the pairs: more than 500 points, with pairs by labels."""
        return self.by_labels and len(self.X) > MAX_POINTS_LISTED

    @property
    def source(self) -> str:
        """The origin of the pairs, in words for a message."""
        return "by the labels y" if self.by_labels else "in pairs"

    @property
    def stored(self) -> dict[str, list[list[int]]] | None:
        """The given pairs in the form of the parameter `pairs`; None if the pairs follow from the labels."""
        return None if self.listed is None else self.listed.to_dict()

    def sum_of_squares(self, kind: str) -> tuple[Any, int]:
        """Return S (d, d) and e with 2^e S = sum (x_i - x_j)(x_i - x_j)^T over the pairs of a kind, without rounding.

        S is a matrix of integers of python-flint. kind: "similar" or "dissimilar".
        """
        if self.listed is None:
            found, at = self._within_classes
            return (found if kind == "similar" else within_groups(self.X, 0 * self.y, [1])[0] - found), at
        points, at = whole(self.X)
        listed = getattr(self.listed, kind)
        is_dense = len(listed) * MOST_ENTRIES_PER_PAIR >= len(self.X) ** 2
        return (_by_laplacian if is_dense else _by_differences)(points, listed), 2 * at

    @cached_property
    def _within_classes(self) -> tuple[Any, int]:
        """S (d, d) and e, as from `sum_of_squares`, for the sum over all pairs of points of the same class."""
        return within_groups(self.X, self.y, [1] * (int(self.y.max()) + 1))

    # Facts about all pairs that checks need, computed without listing the pairs.

    @property
    def linked(self) -> IntArray:
        """Some similar pairs (s, 2). Their graph has the same connected components as that of all such pairs."""
        if self.listed is not None:
            return self.listed.similar
        order = np.argsort(self.y, kind="stable")
        # position of the first point of the class, in this order
        first = np.searchsorted(self.y[order], self.y[order])
        linked: IntArray = np.stack([order[first], order], axis=1)[first != np.arange(len(order))]
        return linked

    @property
    def parted(self) -> IntArray:
        """Some dissimilar pairs (s, 2). Their graph has the same connected components as that of all such pairs."""
        if self.listed is not None:
            return self.listed.dissimilar
        other = np.flatnonzero(self.y != self.y[0])
        if len(other) == 0:
            return np.zeros((0, 2), dtype=np.intp)
        own = np.flatnonzero(self.y == self.y[0])
        ends = np.concatenate([np.zeros_like(other), np.full_like(own, other[0])])
        parted: IntArray = np.stack([ends, np.concatenate([other, own])], axis=1)
        return parted

    def widest(self, kind: str) -> FloatArray:
        """Return differences (t, d) that bound the differences of all pairs of a kind, feature by feature.

        In each feature, the largest absolute value over the t rows is at least that over all pairs of the kind.
        kind: "similar" or "dissimilar".

        For given pairs, the rows are their differences. For pairs by labels, the rows are ranges of the features. For
        "similar", each class of two or more points has a row, with the ranges in this class. For "dissimilar", there is
        one row, with the ranges over all points, or no row if there is one class. Such a range can exceed all
        dissimilar differences. Then it is the difference of some similar pair.
        """
        if self.listed is not None:
            return self.similar if kind == "similar" else self.dissimilar
        order = np.argsort(self.y, kind="stable")
        first = np.unique(self.y[order], return_index=True)[1]
        if kind == "dissimilar":
            first = first[:1] if len(first) > 1 else np.zeros(0, dtype=np.intp)
            return self._ends(self.X, first)
        return self._ends(self.X[order], first)[np.diff(first, append=len(order)) > 1]

    def _ends(self, X: FloatArray, first: IntArray) -> FloatArray:
        if not len(first):
            return np.zeros((0, X.shape[1]))
        with np.errstate(over="ignore"):
            ends: FloatArray = np.maximum.reduceat(X, first) - np.minimum.reduceat(X, first)
        return ends

    @cached_property
    def equal(self) -> IntArray:
        """The dissimilar pairs (t, 2) of equal points."""
        if self.listed is not None:
            return self.listed.dissimilar[~self.dissimilar.any(axis=1)]
        group = np.unique(self.X, axis=0, return_inverse=True)[1].reshape(-1)
        order = np.argsort(group, kind="stable")
        found = [np.zeros((0, 2), dtype=np.intp)]
        for twins in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
            if len(twins) > 1:
                i, j = twins[np.stack(np.triu_indices(len(twins), 1))]
                found.append(np.stack([i, j], axis=1)[self.y[i] != self.y[j]])
        pairs = np.concatenate(found)
        return pairs[np.lexsort(pairs.T[::-1])]


def _by_differences(points: Any, listed: IntArray) -> Any:
    """Return sum (x_i - x_j)(x_i - x_j)^T (d, d) over pairs (m, 2), for points (n, d) of flint integers."""
    rows = np.array(points.tolist(), dtype=object).reshape(points.nrows(), points.ncols())
    E = flint().fmpz_mat([*(rows[listed[:, 0]] - rows[listed[:, 1]]).tolist(), [0] * points.ncols()])
    return E.transpose() * E


def _by_laplacian(points: Any, listed: IntArray) -> Any:
    """Return the sum of `_by_differences` as X^T L X, with the Laplacian L (n, n) of the graph of the pairs.

    This is faster for many pairs. `sum_of_squares` uses it for at least n^2 / `MOST_ENTRIES_PER_PAIR` (8) pairs.
    """
    L = np.zeros((points.nrows(),) * 2, dtype=np.int64)
    i, j = listed.T
    for row, column, entry in ((i, j, -1), (j, i, -1), (i, i, 1), (j, j, 1)):
        np.add.at(L, (row, column), entry)
    return points.transpose() * (flint().fmpz_mat(L.tolist()) * points)


def paired(X: ArrayLike, y: ArrayLike | None, pairs: Any) -> Paired:
    """Check the points X (n, d) and the pairs, or the labels if no pairs are given. Raises ValueError for bad input."""
    points = check_X(X)
    n = len(points)
    if pairs is not None:
        return Paired(points, np.zeros(n, dtype=np.intp), check_pairs(pairs, n))
    return Paired(points, _labels(y, n), None)


def check_budget(given: Paired, needed_by: str) -> None:
    """Raise ValueError unless there are pairs of both kinds, and a similar pair of different points.

    If the points of every similar pair are equal, a budget on the distances of similar pairs does not limit the metric.
    Raises ValueError also if a difference overflows.

    needed_by: the name of the method, for the message.
    """
    widest = {kind: given.widest(kind) for kind in KINDS}
    for kind in KINDS:
        if not len(widest[kind]):
            raise ValueError(
                f"there is no {kind} pair {given.source}: {needed_by} needs at least one pair of each kind"
            )
    if not all(np.isfinite(E).all() for E in widest.values()):
        raise ValueError("differences of points overflow; rescale X")
    if not widest["similar"].any():
        raise ValueError(
            f"the points of every similar pair {given.source} are equal, so the metric has no limit and the "
            "maximum is infinite; give similar pairs of different points"
        )


def pairs_of(pairs: Any, y: ArrayLike | None, n: int) -> Pairs:
    """Return the given pairs, or all pairs of points, made from their labels `y` (n,).

    pairs: {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}; y is then ignored.

    Raises ValueError for other input.
    """
    return pairs_by_labels(_labels(y, n)) if pairs is None else check_pairs(pairs, n)


def _labels(y: ArrayLike | None, n: int) -> IntArray:
    if y is None:
        raise ValueError(
            "y is None: it must be one-dimensional, one label for each point, if no pairs are given"
        )
    return check_labels(y, n)


def pairs_by_labels(codes: IntArray) -> Pairs:
    """Return all pairs of points, similar if their codes (n,) are equal."""
    i, j = np.triu_indices(len(codes), 1)
    same = codes[i] == codes[j]
    index = np.stack([i, j], axis=1)
    return Pairs(index[same], index[~same])


def check_pairs(pairs: Any, n: int) -> Pairs:
    """Return `pairs` as arrays. Raises ValueError that names the first wrong pair."""
    if not isinstance(pairs, Mapping) or set(pairs) != set(KINDS):
        raise ValueError(
            'pairs must be {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}, got '
            f"{sorted(map(str, pairs)) if isinstance(pairs, Mapping) else type(pairs).__name__}"
        )
    checked = Pairs(*(_check_kind(pairs[kind], kind, n) for kind in KINDS))
    both = np.intersect1d(_codes(checked.similar, n), _codes(checked.dissimilar, n))
    if len(both):
        pair = [int(both[0]) // n, int(both[0]) % n]
        raise ValueError(f"pairs lists {pair} both as similar and as dissimilar; remove one of them")
    return checked


def _codes(pairs: IntArray, n: int) -> IntArray:
    """Return a number (m,) for each pair of `pairs` (m, 2), the same for both orders of its two points."""
    codes: IntArray = pairs.min(axis=1, initial=n) * n + pairs.max(axis=1, initial=0)
    return codes


def _is_correct(pairs: IntArray, n: int) -> bool:
    """Return True if the pairs (m, 2) are different, and each consists of two of n points."""
    inside = (pairs >= 0).all() and (pairs < n).all()
    return bool(
        inside and (pairs[:, 0] != pairs[:, 1]).all() and len(np.unique(_codes(pairs, n))) == len(pairs)
    )


def _check_kind(given: Any, kind: str, n: int) -> IntArray:
    """Return the pairs of a kind as an array (m, 2). Raises ValueError that names the first wrong pair."""
    pairs = _as_array(given)
    return pairs if pairs is not None and _is_correct(pairs, n) else _check_each(given, kind, n)


def _as_array(given: Any) -> IntArray | None:
    """Return the pairs as an array (m, 2).

    None if they are neither an integer array (m, 2) nor a list of lists of two Python ints.
    """
    is_plain_list = isinstance(given, list) and all(
        type(pair) is list and len(pair) == 2 and type(pair[0]) is int and type(pair[1]) is int
        for pair in given
    )
    array = np.array(given) if is_plain_list or isinstance(given, np.ndarray) else np.zeros(0)
    return array.astype(np.intp) if array.dtype.kind in "iu" and array.shape[1:] == (2,) else None


def _check_each(given: Any, kind: str, n: int) -> IntArray:
    """Check the pairs of a kind one by one, with the result and the errors of `_check_kind`."""
    values = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"pairs[{kind!r}] must be a list of pairs [i, j], got {type(given).__name__}")
    for at, pair in enumerate(values):
        if (
            not isinstance(pair, (list, tuple))
            or len(pair) != 2
            or not all(isinstance(i, numbers.Integral) and not isinstance(i, (bool, np.bool_)) for i in pair)
        ):
            raise ValueError(f"pairs[{kind!r}][{at}] must be two integer indices, got {cut(repr(pair), 80)}")
    seen: set[tuple[int, ...]] = set()
    for at, pair in enumerate(values):
        if min(pair) < 0 or max(pair) >= n:
            counted = from_one([i for each in values for i in each], n)
            raise ValueError(
                f"pairs[{kind!r}][{at}] has an index outside 0..{n - 1}: {cut(repr(pair), 80)}{counted}"
            )
        if pair[0] == pair[1]:
            raise ValueError(f"pairs[{kind!r}][{at}] is a point with itself: {cut(repr(pair), 80)}")
        if tuple(sorted(pair)) in seen:
            raise ValueError(
                f"pairs[{kind!r}] lists {cut(repr(pair), 80)} twice; the order of the two points "
                "does not matter"
            )
        seen.add(tuple(sorted(pair)))
    return np.array([list(pair) for pair in values], dtype=np.intp).reshape(-1, 2)
