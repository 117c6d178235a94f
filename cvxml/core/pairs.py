"""Pairs of points that should be near each other (similar), or far apart: inputs of a problem, like neighbour lists."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_labels, check_X
from cvxml.core.metric import FloatArray, IntArray, real_array

KINDS = ("similar", "dissimilar")


class Pairs(NamedTuple):
    """Indices (p, 2) and (q, 2), none listed twice, in the order given."""

    similar: IntArray
    dissimilar: IntArray

    def to_dict(self) -> dict[str, list[list[int]]]:
        """As `pairs` takes them."""
        return {kind: getattr(self, kind).tolist() for kind in KINDS}


@dataclass(frozen=True)
class Paired:
    """Checked data of a method that learns from pairs."""

    X: FloatArray  # (n, d)
    y: IntArray  # (n,) codes, zeros where pairs were given
    pairs: Pairs
    by_labels: bool  # every two points are a pair

    @property
    def similar(self) -> FloatArray:
        """x_i - x_j of the similar pairs (s, d)."""
        return self._differences(self.pairs.similar)

    @property
    def dissimilar(self) -> FloatArray:
        """x_i - x_j of the dissimilar pairs (q, d)."""
        return self._differences(self.pairs.dissimilar)

    def _differences(self, listed: IntArray) -> FloatArray:
        with np.errstate(over="ignore"):  # what overflows is seen by whoever needs it finite
            return self.X[listed[:, 0]] - self.X[listed[:, 1]]

    @property
    def source(self) -> str:
        """Where the pairs come from, for a sentence."""
        return "by the labels y" if self.by_labels else "in pairs"

    @property
    def stored(self) -> dict[str, list[list[int]]] | None:
        """The pairs where they were given, as `pairs` takes them; by labels, the labels say it."""
        return None if self.by_labels else self.pairs.to_dict()


def paired(X: ArrayLike, y: ArrayLike | None, pairs: Any) -> Paired:
    """Checked. Raises ValueError for bad input."""
    points = check_X(X)
    found, codes = pairs_of(pairs, y, len(points))
    return Paired(points, codes, found, pairs is None)


def check_budget(given: Paired, needed_by: str) -> None:
    """ValueError unless there are pairs of both kinds, and similar ones that differ: these cost something."""
    for kind in KINDS:
        if not len(getattr(given.pairs, kind)):
            raise ValueError(
                f"there is no {kind} pair {given.source}: {needed_by} needs at least one of each kind"
            )
    if not (np.isfinite(given.similar).all() and np.isfinite(given.dissimilar).all()):
        raise ValueError("differences of points overflow; rescale X")
    if not given.similar.any():
        raise ValueError(
            f"the points of every similar pair {given.source} are equal: nothing limits the metric, and the maximum is "
            "infinite; give similar pairs that differ"
        )


def pairs_of(pairs: Any, y: ArrayLike | None, n: int) -> tuple[Pairs, IntArray]:
    """The pairs given, or every two points by their labels `y` (n,); and the labels as codes (zeros without any).

    pairs: {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}; y is then not looked at.
    Raises ValueError for what is neither.
    """
    if pairs is not None:
        return check_pairs(pairs, n), np.zeros(n, dtype=np.intp)
    if y is None:
        raise ValueError("y is None: it must be one-dimensional, one label a point, where no pairs are given")
    codes = check_labels(y, n)
    i, j = np.triu_indices(n, 1)
    same = codes[i] == codes[j]
    index = np.stack([i, j], axis=1)
    return Pairs(index[same], index[~same]), codes


def check_pairs(pairs: Any, n: int) -> Pairs:
    """`pairs` as arrays. Raises ValueError naming the first that is wrong."""
    if not isinstance(pairs, Mapping) or set(pairs) != set(KINDS):
        raise ValueError(
            'pairs must be {"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}, got '
            f"{sorted(map(str, pairs)) if isinstance(pairs, Mapping) else type(pairs).__name__}"
        )
    checked = Pairs(*(_of_one_kind(pairs[kind], kind, n) for kind in KINDS))
    both = {tuple(sorted(pair)) for pair in checked.similar.tolist()} & {
        tuple(sorted(pair)) for pair in checked.dissimilar.tolist()
    }
    if both:
        raise ValueError(f"pairs lists {list(min(both))} as similar and as dissimilar")
    return checked


def _of_one_kind(given: Any, kind: str, n: int) -> IntArray:
    values = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(values, (list, tuple)):
        raise ValueError(f"pairs[{kind!r}] must be a list of pairs [i, j], got {type(given).__name__}")
    seen: set[tuple[int, ...]] = set()
    for at, pair in enumerate(values):
        if (
            not isinstance(pair, (list, tuple))
            or len(pair) != 2
            or not all(isinstance(i, numbers.Integral) and not isinstance(i, (bool, np.bool_)) for i in pair)
        ):
            raise ValueError(f"pairs[{kind!r}][{at}] must be two integer indices, got {pair!r:.80}")
        if min(pair) < 0 or max(pair) >= n:
            raise ValueError(f"pairs[{kind!r}][{at}] has an index outside 0..{n - 1}: {pair!r:.80}")
        if pair[0] == pair[1]:
            raise ValueError(f"pairs[{kind!r}][{at}] is a point with itself: {pair!r:.80}")
        if tuple(sorted(pair)) in seen:
            raise ValueError(f"pairs[{kind!r}] lists {pair!r:.80} twice, one way or the other")
        seen.add(tuple(sorted(pair)))
    return np.array([list(pair) for pair in values], dtype=np.intp).reshape(-1, 2)


def price_of_each(dual: Any, name: str, count: int) -> FloatArray:
    """`dual[name]` (count,), a number a pair, not NaN. Raises ValueError for what is none."""
    if not isinstance(dual, Mapping) or name not in dual:
        raise ValueError(f'the dual must be a mapping with "{name}"; there is no {name!r}')
    price = real_array(dual[name], f"dual {name!r}")
    if price.shape != (count,):
        raise ValueError(
            f"dual {name!r} must have shape ({count},), a number for each pair, got {price.shape}"
        )
    if np.isnan(price).any():
        raise ValueError(f"dual {name!r} holds NaN")
    return price
