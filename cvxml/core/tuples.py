"""Refuse tuples of points, the input of metric-learn, with a message that shows the input of this package."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from cvxml.core.metric import refuse_texts

# how a list of indices into X is given, by the name of its parameter
BY_INDICES = {
    "pairs": 'pairs={"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}',
    "triplets": "triplets=[[i, j, l], ...], where j should be nearer to i than l",
    "quadruplets": "quadruplets=[[a, b, c, d], ...], where a and b should be nearer than c and d",
    "chunklets": "chunklets=[0, 0, 1, ...], the chunklet of each point, or -1",
    "relevant": "relevant=[[j, ...], ...], the points that should be nearest to each point",
}


def refuse_tuples(X: Any, takes: Collection[str]) -> None:
    """Raise ValueError if X has three dimensions, as (t, 2, d) pairs of points have.

    takes: names of the parameters of the method. The message shows those that hold indices into X.
    """
    shape = _shape(X)
    if len(shape) != 3:
        return
    lists = [text for name, text in BY_INDICES.items() if name in takes]
    what = f"the indices of points as {'; or as '.join(lists)}" if lists else "y (n,)"
    raise ValueError(
        f"X must be two-dimensional, (points, features), got shape {shape}; in place of tuples of points give "
        f"X (n, d), each point once, and {what}"
    )


def refuse_preprocessor(given: Collection[str]) -> None:
    """Raise TypeError if `preprocessor` is among these names: a parameter of metric-learn's estimators."""
    if "preprocessor" in given:
        raise TypeError(
            "there is no preprocessor: give the points X (n, d) to `fit`; lists of pairs, triplets or quadruplets hold "
            "indices into X and are given to `fit` too, for example pairs={...} or triplets=[[i, j, l], ...]"
        )


def _shape(X: Any) -> tuple[int, ...]:
    """Return the shape of an array or of nested lists; () for anything without a shape."""
    if isinstance(X, (list, tuple)):
        try:
            refuse_texts(X, "X")
            return np.shape(X)
        except ValueError:  # texts or ragged lists, which `check_X` refuses
            return ()
    shape = getattr(X, "shape", ())
    return shape if isinstance(shape, tuple) else ()
