"""Checks of the data and parameters that a user gives, each with a one-sentence error message.

In every check, n is the number of points, and `name` is what the message calls the parameter. A class code is the
position of a label in the sorted list of the different labels, from 0.
"""

from __future__ import annotations

import numbers
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cvxml.core.metric import FloatArray, IntArray, refuse_masked, refuse_texts
from cvxml.core.metric import real_array as real_array  # offered here with the other checks
from cvxml.core.short_repr import cut, printable

LARGEST_SEED = 2**32 - 1  # of scikit-learn
MIN_LIKENESS = 0.7  # least similarity of a suggested name; random_state and warm_start have 0.64


def check_X(X: ArrayLike, name: str = "X") -> FloatArray:
    """Return `X` as a finite float64 C-ordered array (n, d) with n >= 1 and d >= 1; the input is not changed.

    Raises ValueError for sparse, complex, object or string data, for another number of dimensions, and for an empty
    array. NaN and infinity are refused too. The largest absolute value must be 0, or from 1e-300 to 1e300.
    """
    array = real_array(X, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, (points, features), got {array.ndim} dimension(s)")
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise ValueError(f"{name} is empty: shape {array.shape}; give at least one point and feature")
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name} holds NaN or infinity, first at row {row}, column {column}; drop or impute such points"
        )
    largest = float(np.abs(array).max())
    if largest > 1e300 or 0 < largest < 1e-300:
        raise ValueError(
            f"{name} has entries of about {largest:.3g}; scale the features into 1e-300 to 1e300"
        )
    return array


def check_labels(y: ArrayLike | None, n: int) -> IntArray:
    """Return the labels `y` (n,) as class codes 0..R-1 with R >= 2.

    Labels are integers, booleans, strings, or floats with whole values. A column (n, 1) gives a DataConversionWarning,
    as in scikit-learn. Raises ValueError for a wrong length or another shape, NaN, fractional (continuous) values,
    labels of mixed types, or a single class.
    """
    values = _label_list(y)
    _warn_of_a_column(y)
    if len(values) != n:
        raise ValueError(f"X has {n} points but y has {len(values)} labels; they must match")
    _refuse_mixed(values)
    if any(isinstance(v, float) and not np.isfinite(v) for v in values):
        raise ValueError("y holds NaN or infinity; every point needs a label")
    if any(isinstance(v, float) and v != np.floor(v) for v in values):
        raise ValueError("y is continuous; class labels are needed: integers or strings")
    classes = sorted(set(values))
    if len(classes) < 2:
        raise ValueError(
            f"y has only one class ({printable(classes[0], 40)}); at least two classes are needed to learn a metric"
        )
    place = {label: code for code, label in enumerate(classes)}
    return np.array([place[v] for v in values], dtype=np.intp)


def refuse_mixed_labels(y: ArrayLike | None) -> None:
    """Raise ValueError for masked labels, labels of mixed types, and missing labels in a list or an array of objects.

    scikit-learn would convert some of them to labels of one type.
    """
    refuse_masked(y, "y")
    of_objects = isinstance(y, (list, tuple)) or getattr(getattr(y, "dtype", None), "kind", "O") == "O"
    if of_objects and np.ndim(np.asarray(y, dtype=object)) == 1:
        _refuse_mixed(_label_list(y))


def _refuse_mixed(values: list[Any]) -> None:
    kinds = {type(v) for v in values}
    if not (
        kinds <= {str} or kinds <= {bool} or all(k is not bool and issubclass(k, numbers.Real) for k in kinds)
    ):
        raise ValueError(
            f"y holds labels of types {sorted(k.__name__ for k in kinds)}; "
            "use only strings or only integers, without missing labels"
        )


def check_callback(callback: Any) -> None:
    """Raise ValueError if `callback` is neither None nor a function."""
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be a function of a Step, got {type(callback).__name__}")


def check_bool(value: Any, name: str) -> bool:
    """Return `value` if it is True or False, also of numpy. Raises ValueError otherwise."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {cut(repr(value))}")
    return bool(value)


def check_targets(y: ArrayLike | None, n: int) -> FloatArray:
    """Return the targets `y` (n,) of a regression as finite float64 numbers.

    A column (n, 1) gives a DataConversionWarning, as in scikit-learn. Raises ValueError for None, a wrong length or
    another shape, entries that are not numbers, NaN, and infinity.
    """
    if y is None:
        raise ValueError("y is None: it must be one-dimensional, one number for each point")
    targets = _flat(real_array(y, "y"))
    if targets.ndim != 1:
        raise ValueError(f"y must be one-dimensional, one number for each point, got shape {targets.shape}")
    _warn_of_a_column(y)
    if len(targets) != n:
        raise ValueError(f"X has {n} points but y has {len(targets)} numbers; they must match")
    if not np.isfinite(targets).all():
        raise ValueError("y holds NaN or infinity; every point needs a number")
    return targets


def class_names(y: ArrayLike | None) -> list[str]:
    """Return the label of each class as text for messages, in the order of the class codes; long ones are shortened."""
    return [printable(label) for label in class_sizes(y)]


def class_sizes(y: ArrayLike | None) -> dict[str, int]:
    """Return the number of points of each label, in the order of the class codes. The keys are the labels as text."""
    return {str(label): count for label, count in sorted(Counter(_label_list(y)).items())}


def _label_list(y: ArrayLike | None) -> list[Any]:
    """Return the labels as Python objects, one for each point. Raises ValueError for None and another shape or type.

    A list is not converted to an array, because numpy would convert labels of different types to one type.
    """
    if isinstance(y, (list, tuple)) and not any(map(_is_listed, y)):
        return [v.item() if isinstance(v, np.generic) else v for v in y]
    refuse_masked(y, "y")
    if y is None:
        raise ValueError("y is None: it must be one-dimensional, one label for each point")
    if hasattr(y, "toarray"):
        raise ValueError("y is a sparse matrix; one label for each point is needed: use y.toarray().ravel()")
    if isinstance(y, (list, tuple)):  # each label may be a list of one entry
        if all(isinstance(v, (list, tuple)) and len(v) == 1 and not _is_listed(v[0]) for v in y):
            return _label_list([v[0] for v in y])
        refuse_texts([v for v in y if not isinstance(v, str)], "y as lists")
    try:
        labels = _flat(np.asarray(y))
    except (ValueError, TypeError) as error:
        raise ValueError(f"y is not an array of labels: {error}") from error
    if labels.ndim != 1:
        raise ValueError(f"y must be one-dimensional, one label for each point, got shape {labels.shape}")
    if labels.dtype.kind not in "fiubOUS":
        raise ValueError(f"y has dtype {labels.dtype}; class labels must be integers or strings")
    try:
        return [v.decode("utf-8") if isinstance(v, bytes) else v for v in labels.tolist()]
    except UnicodeDecodeError as error:
        raise ValueError(
            f"y holds the label {error.object!r}, which is not UTF-8: decode labels to text"
        ) from None


def _is_listed(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _flat(values: np.ndarray) -> np.ndarray:
    """Return a column (n, 1) as an array (n,), and other arrays unchanged."""
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _warn_of_a_column(y: Any) -> None:
    # A list is not converted to an array: numpy would give every text the length of the longest one.
    if any(map(_is_listed, y)) if isinstance(y, (list, tuple)) else np.ndim(y) == 2:
        # imported here, because scikit-learn takes a second to load and valid input does not need it
        from sklearn.exceptions import DataConversionWarning

        warnings.warn(
            "y is a column, (n, 1), where one label for each point was expected, (n,): use y.ravel()",
            DataConversionWarning,
            stacklevel=3,
        )


def check_number(value: Any, name: str) -> float:
    """Return `value` as a finite float. Raises ValueError otherwise."""
    try:
        number = (
            np.nan if type(value) in (bool, np.bool_) or not isinstance(value, numbers.Real) else float(value)
        )
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {cut(repr(value), 40)}")
    return number


def check_positive(value: Any, name: str) -> float:
    """Return `value` as a finite float > 0. Raises ValueError otherwise."""
    number = check_number(value, name)
    if number <= 0:
        raise ValueError(f"{name} must be greater than 0, got {number!r}")
    return number


def check_count(value: Any, name: str, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `value` as an int within [at_least, at_most]. Raises ValueError otherwise; the value is never clipped."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ValueError(f"{name} must be an integer of at least {at_least}, got {cut(repr(value))}")
    count = int(value)
    if count < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}")
    if at_most is not None and count > at_most:
        raise ValueError(f"{name}={value} is too large: the maximum here is {at_most}")
    return count


def check_choice(value: Any, name: str, allowed: Sequence[str]) -> str:
    """Return `value` if it is one of `allowed`. Raises ValueError otherwise."""
    if value not in allowed:
        near = did_you_mean(value, allowed)
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, allowed))}; got {cut(repr(value))}{near}"
        )
    return str(value)


def did_you_mean(given: object, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    """Return the end of a message, such as "; did you mean 'this'?", if `given` is similar to a `known` name; else "".

    shown: {known name: the words that the message has in its place}.
    """
    by_letters = {each.lower(): each for each in known if each != str(given)}
    near = get_close_matches(str(given)[:100].lower(), by_letters, n=1, cutoff=MIN_LIKENESS)
    if not near:
        return ""
    found = by_letters[near[0]]
    return f"; did you mean '{printable(shown[found] if shown else found)}'?"


def check_rows(rows: Any, name: str, columns: str, n: int) -> IntArray:
    """Return `rows` as an integer array (m, q) of indices from 0 to n - 1. Raises ValueError for other input.

    columns: the q columns in words, for example "three indices i, j, l". q is the number of commas plus 1.
    """
    width = columns.count(",") + 1
    must = f"{name} must be rows of {columns}"
    refuse_texts(rows, name)
    try:
        given = np.asarray(rows)
    except ValueError as error:
        raise ValueError(f"{must}, all of the same length; numpy: {error}") from None
    if given.ndim != 2 or given.shape[1] != width or len(given) == 0 or given.dtype.kind not in "iu":
        raise ValueError(f"{must}, got shape {given.shape}, {given.dtype}")
    if given.min() < 0 or given.max() >= n:
        raise ValueError(
            f"{name} must hold indices within 0..{n - 1}, got {given.min()} to {given.max()}"
            + from_one(given.ravel(), n)
        )
    return given.astype(np.intp)


def _without(dual: Any, name: str) -> str:
    """Return a message that `dual` has no array `name`."""
    if not isinstance(dual, Mapping):
        kind = type(dual).__name__
        return f"dual must be a mapping of names to arrays with {name!r}, such as Solution.dual, got {kind}"
    return f"dual has no {name!r}; it has: {', '.join(map(repr, dual)) or 'nothing'}"


def dual_array(dual: Any, name: str, shape: tuple[int, ...]) -> FloatArray:
    """Return the dual variables `dual[name]` as floats of this shape. Infinity is allowed.

    dual: a mapping of names to arrays. Raises ValueError if the array is missing, has another shape, or holds NaN.
    """
    if not isinstance(dual, Mapping) or name not in dual:
        raise ValueError(_without(dual, name))
    values = real_array(dual[name], f"dual {name!r}")
    if values.shape != shape:
        raise ValueError(f"dual {name!r} must have shape {shape}, got {values.shape}")
    if np.isnan(values).any():
        raise ValueError(f"dual {name!r} holds NaN; give a number or infinity in each place")
    return values


def indexed_dual(dual: Any, name: str, index: str, ends: Sequence[int]) -> tuple[FloatArray, IntArray]:
    """Return the dual variables `dual[name]` (m,) and their indices `dual[index]` (m, q).

    dual: a mapping of names to arrays. Row k of the indices belongs to the dual variable k.
    ends: q numbers; column c of `dual[index]` holds integers from 0 to ends[c] - 1.

    Raises ValueError if an array is missing or has another form. The signs of the dual variables are not checked.
    """
    for part in (name, index):
        if not isinstance(dual, Mapping) or part not in dual:
            raise ValueError(_without(dual, part))
    values, rows = real_array(dual[name], f"dual {name!r}"), np.asarray(dual[index])
    width = len(ends)
    if rows.size == 0:
        rows = rows.reshape(0, width).astype(np.intp)
    if values.ndim != 1 or rows.shape != (len(values), width) or rows.dtype.kind not in "iu":
        raise ValueError(
            f"dual {name!r} must be one number for each row of {index!r}, which has shape (m, {width}) and integers; "
            f"got shapes {values.shape} and {rows.shape}, dtype {rows.dtype}"
        )
    outside = (rows < 0) | (rows >= np.array(ends))
    if outside.any():
        row, column = np.argwhere(outside)[0].tolist()
        raise ValueError(
            f"dual {index!r} has {rows[row, column]} in row {row}, column {column}, outside 0..{ends[column] - 1}"
        )
    return values, rows.astype(np.intp)


def check_neighbors(neighbors: Any, n: int, name: str = "neighbors") -> list[IntArray]:
    """Return the neighbour lists of n points as n arrays of distinct indices in 0..n-1, without the point itself.

    Raises ValueError that names the first wrong list.
    """
    is_list = isinstance(neighbors, (list, tuple)) or (
        isinstance(neighbors, np.ndarray) and neighbors.ndim > 0
    )
    if not is_list or len(neighbors) != n:
        given = len(neighbors) if is_list else cut(repr(neighbors), 40)
        raise ValueError(f"{name} must hold one list for each point: {n} lists, got {given}")
    try:
        return [_neighbor_list(f"{name}[{i}]", i, listed, n) for i, listed in enumerate(neighbors)]
    except Elsewhere as error:
        plain = [listed.tolist() if isinstance(listed, np.ndarray) else listed for listed in neighbors]
        lists = [listed for listed in plain if isinstance(listed, (list, tuple))]
        whole = [j for listed in lists for j in listed if isinstance(j, numbers.Integral)]
        raise ValueError(f"{error}{from_one(whole, n)}") from None


class Elsewhere(ValueError):
    """An index is outside 0..n-1, or a point lists itself. Perhaps the user counts points from 1."""


def from_one(indices: Sequence[Any] | IntArray, n: int) -> str:
    """Return the end of a message about wrong indices of n points. It tells the user that points are counted from 0.

    If the smallest index is at least 1 and the largest is n, it adds that the indices seem to be counted from 1.
    """
    if len(indices) and min(indices) >= 1 and max(indices) == n:
        return "; they are counted from 0, and these seem to be counted from 1: subtract 1"
    return "; points are counted from 0"


def _neighbor_list(name: str, i: int, given: Any, n: int) -> IntArray:
    values = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(values, (list, tuple)) or not all(
        isinstance(j, numbers.Integral) and not isinstance(j, (bool, np.bool_)) for j in values
    ):
        raise ValueError(f"{name} must be a list of integer indices, got {cut(repr(given), 80)}")
    if any(j < 0 or j >= n for j in values):
        raise Elsewhere(f"{name} has an index outside 0..{n - 1}: {cut(repr(given), 80)}")
    if i in values:
        raise Elsewhere(f"{name} lists the point itself; a point is never its own neighbour")
    if len(set(values)) != len(values):
        raise ValueError(f"{name} lists a point twice: {cut(repr(given), 80)}")
    return np.array(values, dtype=np.intp)
