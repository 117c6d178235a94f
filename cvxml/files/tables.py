"""Tables from files of every kind: rows of features, and a label for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cvxml.files import common
from cvxml.files.arrays import nested, real
from cvxml.files.common import REMEDIES, Path, naming, suffix_of
from cvxml.files.csv_files import load_csv
from cvxml.files.numpy_files import load_npy, load_npz
from cvxml.files.strict_json import load_json

MAX_LABEL = 1000  # characters: numpy pads every label to the longest one


def _labels(values: Sequence[int] | Sequence[str]) -> NDArray[Any]:
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.int64)
    if not all(isinstance(value, str) and 0 < len(value) <= MAX_LABEL for value in values):
        raise ValueError(f"labels must be all integers or all strings of 1 to {MAX_LABEL} letters")
    if 4 * len(values) * max((len(str(value)) for value in values), default=0) > common.MAX_BYTES:
        raise ValueError(f"{len(values)} labels, padded to the longest, are over {common.MAX_BYTES} bytes")
    return np.array(values, dtype=np.str_)


def _cell_labels(cells: list[str]) -> NDArray[Any]:
    integers = all(re.fullmatch(r"[+-]?[0-9]{1,18}", cell) for cell in cells)
    if integers:
        return _labels([int(cell) for cell in cells])
    # numbers, not all of them written as integers, stay numbers: whoever wants classes can refuse them
    numbers = [_number(cell) for cell in cells]
    if None not in numbers and not all(cell.lstrip("+-").isdecimal() for cell in cells):
        return np.array(numbers, dtype=np.float64)
    return _labels(cells)


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _last_column(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(f"shape {table.shape} is not rows of features with the label last")
    labels = table[:, -1]
    if not np.all((np.abs(labels) <= 2.0**53) & (labels == np.round(labels))):
        raise ValueError("the labels in the last column are not all integers")
    return np.ascontiguousarray(table[:, :-1]), labels.astype(np.int64)


def _load_table(
    path: Path,
    suffix: str,
    label: str | None,
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    if suffix.startswith(".csv"):
        X, cells = load_csv(path, suffix == ".csv.gz", labelled=True, label=label)
        return X, _cell_labels(cells)
    if label is not None:
        raise ValueError(f"only CSV has a column to name {label!r}")
    if suffix == ".npy":
        return _last_column(real(load_npy(path)))
    held = load_json(path) if suffix == ".json" else load_npz(path)
    if not isinstance(held, dict) or not {"X", "y"} <= held.keys():
        raise ValueError("it does not hold both X and y")
    X = nested(held["X"]) if suffix == ".json" else real(held["X"])
    y = held["y"] if suffix == ".json" else held["y"].tolist()
    if not isinstance(y, list):
        raise TypeError("y is not a list of labels")
    return X, _labels(y)


def read_table(path: Path, *, label: str | None = None) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Features X (n, d) float64 and labels y (n,), int64 or str, with n and d at least 1.

    .csv or .csv.gz: a first line whose first cell is not a number is a header, which must hold no
    number at all; the labels are the column named `label`, by default the one named "label", else
    the last; they are int64 if every one is an integer (of up to 18 digits), else str. .npz and
    .json hold X and y, .npy holds y as its last column, in integers. Raises ValueError for anything
    else, and for a `label` that is not the name of exactly one CSV column.
    """
    suffix = suffix_of(path)
    with naming(path, "read", REMEDIES[suffix]):
        X, y = _load_table(path, suffix, label)
        if X.ndim != 2 or X.size == 0 or y.shape != (len(X),):
            raise ValueError(f"X has shape {X.shape} and y {y.shape}, not (n, d) and (n,)")
        return X, y
