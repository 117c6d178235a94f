"""What may be given as data and parameters: every check, and its one-sentence complaint."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.metric import FloatArray, IntArray


def check_X(X: ArrayLike, name: str = "X") -> FloatArray:
    """`X` as a finite float64 C-ordered array (n, d), n and d at least 1; the input is untouched.

    Raises ValueError for sparse, complex, object or string data, for any other number of
    dimensions, for an empty array, and for NaN or infinity.
    """
    if hasattr(X, "toarray"):
        raise ValueError(f"{name} is a sparse matrix; a dense array is needed: use {name}.toarray()")
    array = np.asarray(X)
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold real numbers, got dtype {array.dtype}; encode categories as numbers"
        )
    if array.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, (points, features), got {array.ndim} dimension(s)")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"{name} is empty: shape {array.shape}; give at least one point and feature")
    array = np.ascontiguousarray(array, dtype=np.float64)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name} holds NaN or infinity, first at row {row}, column {column}; drop or impute such points"
        )
    return array


def check_labels(y: ArrayLike, n: int) -> IntArray:
    """`y` (n,) as class codes 0..R-1, R >= 2; integers, booleans or strings, or whole floats.

    Raises ValueError for a wrong length or shape, NaN, fractional (continuous) values, labels of
    mixed types, or a single class.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, one label a point, got shape {labels.shape}")
    if len(labels) != n:
        raise ValueError(f"X has {n} points but y has {len(labels)} labels; they must match")
    if labels.dtype.kind == "O":
        labels = _plain(labels)
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            raise ValueError("y holds NaN or infinity; every point needs a label")
        if (labels != np.floor(labels)).any():
            raise ValueError("y is continuous; class labels are needed: integers or strings")
    elif labels.dtype.kind not in "iubUS":
        raise ValueError(f"y has dtype {labels.dtype}; class labels must be integers or strings")
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only ({classes[0]!s}); at least two classes are needed to learn a metric"
        )
    return codes.astype(np.intp)


def _plain(labels: np.ndarray[Any, np.dtype[Any]]) -> np.ndarray[Any, np.dtype[Any]]:
    kinds = {type(v) for v in labels.tolist()}
    if any(v is None or v != v for v in labels.tolist()):
        raise ValueError("y holds a missing label (None or NaN); every point needs a label")
    if kinds <= {str}:
        return labels.astype(str)
    if all(issubclass(k, numbers.Real) for k in kinds):
        return labels.astype(np.float64)
    raise ValueError(
        f"y mixes labels of types {sorted(k.__name__ for k in kinds)}; use all strings or all integers"
    )


def check_positive(value: Any, name: str) -> float:
    """`value` as a finite float > 0; ValueError otherwise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ValueError(f"{name} must be a number greater than 0, got {value!r}")
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be finite and greater than 0, got {number!r}")
    return number


def check_count(value: Any, name: str, at_least: int = 1, at_most: int | None = None) -> int:
    """`value` as an int within [at_least, at_most]; ValueError otherwise (never clipped)."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be an integer of at least {at_least}, got {value!r}")
    count = int(value)
    if count < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}")
    if at_most is not None and count > at_most:
        raise ValueError(f"{name}={value} is too large: the maximum here is {at_most}")
    return count


def check_choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    """`value` if it is one of `allowed`; ValueError otherwise."""
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}; got {value!r}")
    return str(value)


def check_neighbors(neighbors: Sequence[Sequence[int]], n: int) -> list[IntArray]:
    """Explicit neighbour lists, one a point: n lists of distinct indices in 0..n-1, never the point itself.

    Raises ValueError naming the first list that is wrong.
    """
    if len(neighbors) != n:
        raise ValueError(f"neighbors must hold one list a point: {n} lists, got {len(neighbors)}")
    lists = []
    for i, given in enumerate(neighbors):
        listed = np.asarray(given)
        if listed.size == 0:
            listed = listed.reshape(0).astype(np.intp)
        if listed.ndim != 1 or listed.dtype.kind not in "iu":
            raise ValueError(f"neighbors[{i}] must be a list of integer indices, got {given!r}")
        if ((listed < 0) | (listed >= n)).any():
            raise ValueError(f"neighbors[{i}] has an index outside 0..{n - 1}: {listed.tolist()}")
        if (listed == i).any():
            raise ValueError(f"neighbors[{i}] lists the point itself; it is never its own neighbour")
        if len(np.unique(listed)) != len(listed):
            raise ValueError(f"neighbors[{i}] lists a point twice: {listed.tolist()}")
        lists.append(listed.astype(np.intp))
    return lists
