"""Tuples of points, the input of metric-learn: convert them to points and indices, or refuse them with a message."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.inputs import check_X, real_array
from cvxml.core.metric import FloatArray, IntArray, refuse_texts

# how a list of indices into X is given, by the name of its parameter
BY_INDICES = {
    "pairs": 'pairs={"similar": [[i, j], ...], "dissimilar": [[i, j], ...]}',
    "triplets": "triplets=[[i, j, l], ...], where j should be nearer to i than l",
    "quadruplets": "quadruplets=[[a, b, c, d], ...], where a and b should be nearer than c and d",
    "chunklets": "chunklets=[0, 0, 1, ...], the chunklet of each point, or -1",
    "relevant": "relevant=[[j, ...], ...], the points that should be nearest to each point",
}

LISTS = {2: "pairs", 3: "triplets", 4: "quadruplets"}  # by the number of points in a tuple
# columns of a tuple that hold two points whose distance is compared
COMPARED = {2: ((0, 1),), 3: ((0, 1), (0, 2)), 4: ((0, 1), (2, 3))}
SHOWN = 10  # most positions of wrong tuples in a message


def from_tuples(tuples: ArrayLike, y: ArrayLike | None = None) -> tuple[FloatArray, dict[str, Any]]:
    """Convert tuples of points, the input of metric-learn, to points and lists of indices.

    `X, given = cvxml.from_tuples(tuples, y)`, then `cvxml.solve("itml", X, None, **given)`, or
    `cvxml.ITML().fit(X, **given)`.

    tuples: (t, k, d), t tuples of k points with d features.
    For k = 2, they are pairs. For k = 3, they are triplets: the first point should be nearer to the second than to the
    third. For k = 4, they are quadruplets: the first two points should be nearer to each other than the last two. The
    package metric-learn has the same order.
    y: (t,), +1 for similar pairs and -1 for dissimilar pairs; None for triplets and quadruplets.

    Returns X and a dict of one keyword argument.
    X: (n, d), the points in the order of their first appearance; points with equal coordinates are one point.
    The dict has "pairs": {"similar": (p, 2), "dissimilar": (t - p, 2)}, or "triplets": (t, 3), or "quadruplets":
    (t, 4). These arrays hold indices into X, in the order of `tuples`.

    Repeated tuples stay repeated. Methods with pairs or triplets refuse a list that has an entry twice.

    Raises ValueError for another shape, for entries that are not finite numbers up to 1e300, for labels other than +1
    and -1, and for a tuple that compares a point with itself.

    Examples
    --------
    import cvxml
    X, given = cvxml.from_tuples([[[0.0], [1.0]], [[0.0], [5.0]]], [1, -1])
    print(X.ravel())  # -> [0. 1. 5.]
    print(given["pairs"]["dissimilar"])  # -> [[0 2]]
    """
    given = _checked(tuples)
    count, k, d = given.shape
    similar = _similar(y, count, k)
    X, index = _joined(given.reshape(-1, d))
    rows = index.reshape(count, k)
    _refuse_equal(rows)
    if similar is None:
        return X, {LISTS[k]: rows}
    return X, {"pairs": {"similar": rows[similar], "dissimilar": rows[~similar]}}


def _checked(tuples: ArrayLike) -> FloatArray:
    """Return the tuples as an array (t, k, d) of finite numbers, k = 2, 3 or 4. Raises ValueError for other input."""
    given = real_array(tuples, "tuples")
    must = "tuples must have shape (tuples, 2 to 4 points, features)"
    if given.ndim == 2 and given.shape[1] in LISTS and (given == np.floor(given)).all():
        raise ValueError(
            f"{must}, got shape {given.shape}; if these are indices for a preprocessor, give the points, X[tuples]"
        )
    if given.ndim != 3 or given.shape[1] not in LISTS or 0 in given.shape:
        raise ValueError(f"{must}, got shape {given.shape}")
    if not np.isfinite(given).all():
        at = np.argwhere(~np.isfinite(given))[0, 0]
        raise ValueError(f"tuples[{at}] holds NaN or infinity; leave out or impute such points")
    check_X(given.reshape(-1, given.shape[2]), "tuples")
    return given


def _similar(y: ArrayLike | None, count: int, k: int) -> np.ndarray | None:
    """Return (t,), True for similar pairs (label 1) and False for dissimilar ones (-1); None for k > 2.

    y: the labels. count: the number t of tuples. k: the points in a tuple, 2 for pairs. Raises ValueError for other
    labels, and for labels of triplets or quadruplets.
    """
    if k != 2:
        if y is not None:
            raise ValueError(f"{LISTS[k]} take no y: the order of the points states which should be nearer")
        return None
    if y is None:
        raise ValueError("y is None: pairs need y (t,), +1 for each similar and -1 for each dissimilar pair")
    labels = real_array(y, "y")
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels  # a column of a table
    if labels.shape != (count,):
        raise ValueError(f"y must be one label for each of {count} pairs, got shape {labels.shape}")
    wrong = np.flatnonzero(np.abs(labels) != 1)
    if len(wrong):
        raise ValueError(
            f"y[{wrong[0]}] is {labels[wrong[0]]:g}: y must be +1 for similar and -1 for dissimilar pairs"
        )
    return np.asarray(labels == 1)


def _joined(points: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the n different points (n, d) of m points (m, d), in order of first appearance, and the indices (m,).

    The indices give, for each of the m points, its place among the different points.
    """
    _, first, group = np.unique(points, axis=0, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))  # of each group, in order of first appearance
    return points[np.sort(first)], place[group.reshape(-1)]


def _refuse_equal(rows: IntArray) -> None:
    """Raise ValueError if a tuple of `rows` (t, k) compares a point with itself."""
    equal = [rows[:, a] == rows[:, b] for a, b in COMPARED[rows.shape[1]]]
    wrong = np.flatnonzero(np.any(equal, axis=0)).tolist()
    if wrong:
        more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
        raise ValueError(
            f"tuples that compare a point with an equal point: {wrong[:SHOWN]}{more}; their distance is 0 in every "
            "metric: leave these tuples and their labels out, with np.delete(tuples, [...], axis=0)"
        )


def refuse_tuples(X: Any, takes: Collection[str]) -> None:
    """Raise ValueError if X has three dimensions, as (t, 2, d) pairs of points have.

    takes: names of the parameters of the method. The message shows those that hold indices into X.
    """
    shape = _shape(X)
    if len(shape) != 3:
        return
    lists = [text for name, text in BY_INDICES.items() if name in takes]
    what = f"the indices of points as {'; or as '.join(lists)}" if lists else "y (n,)"
    converted = any(name in takes for name in LISTS.values())
    convert = "; cvxml.from_tuples(tuples, y) converts metric-learn's tuples" if converted else ""
    raise ValueError(
        f"X must be two-dimensional, (points, features), got shape {shape}; in place of tuples of points give "
        f"X (n, d), each point once, and {what}{convert}"
    )


def refuse_preprocessor(given: Collection[str]) -> None:
    """Raise TypeError if the names of the `given` arguments include `preprocessor`.

    This is a parameter of metric-learn's estimators. The message tells what to give in its place.
    """
    if "preprocessor" in given:
        raise TypeError(
            "there is no preprocessor: give the points X (n, d) to `fit`. Lists of pairs, triplets or "
            "quadruplets hold indices into X and are given to `fit` too, for example pairs={...} or "
            "triplets=[[i, j, l], ...]; "
            "cvxml.from_tuples(tuples, y) makes both"
        )


def _shape(X: Any) -> tuple[int, ...]:
    """Return the shape of an array or of nested lists; () for other objects, ragged lists, and lists with texts."""
    if isinstance(X, (list, tuple)):
        try:
            refuse_texts(X, "X")
            return np.shape(X)
        except ValueError:  # texts or ragged lists, which `check_X` refuses
            return ()
    shape = getattr(X, "shape", ())
    return shape if isinstance(shape, tuple) else ()
