"""Pairs of points that should be near each other (similar), or far apart: inputs of a problem, like neighbour lists."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_labels
from cvxml.core.metric import IntArray

KINDS = ("similar", "dissimilar")


class Pairs(NamedTuple):
    """Indices (p, 2) and (q, 2), none listed twice, in the order given."""

    similar: IntArray
    dissimilar: IntArray

    def to_dict(self) -> dict[str, list[list[int]]]:
        """As `pairs` takes them."""
        return {kind: getattr(self, kind).tolist() for kind in KINDS}


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
