"""Tables from files of every kind: rows of features, and a label for each.

Which column holds the labels, and whether the first one only numbers the rows, is decided in `_columns`: from what was
asked, else from the names of a header, else from what the columns hold. What may be read in two ways is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.core.files import common
from cvxml.core.files.arrays import nested, real
from cvxml.core.files.cells import NOTHING, Settled, number, settled
from cvxml.core.files.common import COLUMNS, REMEDIES, Path, Unsettled, naming, suffix_of
from cvxml.core.files.csv_files import MISSING, Columns, load_csv, not_a_number
from cvxml.core.files.numpy_files import load_npy, load_npz
from cvxml.core.files.strict_json import load_json

MAX_LABEL = 1000  # characters: numpy pads every label to the longest one
SURE = ("label",)  # a name before all others: "x,y,label" are points of the plane
LIKELY = ("labels", "class", "classes", "target", "species")
ROWS = ("", "index", "id", "rownames", "row.names", "row_names")  # and pandas' "Unnamed: 0"
INDEX = "give --index yes to leave it out, --index no to keep it"
LABEL = "give --label first, last, a name of the header, or a number from 0 on"


class Table(NamedTuple):
    """Features X (n, d), labels y (n,), and in words where the labels were and how the file is written."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    where: str
    written: str = ""


def _labels(values: Sequence[float] | Sequence[str]) -> NDArray[Any]:
    if all(isinstance(value, int) for value in values):  # False and True are classes, too
        return np.array(values, dtype=np.int64)
    if all(isinstance(value, int | float) for value in values):  # as 1.0; and real targets, as of MLKR
        numbers = np.array(values, dtype=np.float64)
        if not np.all(np.abs(numbers) <= 2.0**53):
            raise ValueError("labels that are numbers must be of -2^53 to 2^53")
        return numbers.astype(np.int64) if np.all(numbers == np.round(numbers)) else numbers
    if not all(isinstance(value, str) and 0 < len(value) <= MAX_LABEL for value in values):
        raise ValueError(f"labels must be all numbers or all strings of 1 to {MAX_LABEL} letters")
    if 4 * len(values) * max((len(str(value)) for value in values), default=0) > common.MAX_BYTES:
        raise ValueError(f"{len(values)} labels, padded to the longest, are over {common.MAX_BYTES} bytes")
    return np.array(values, dtype=np.str_)


def _cell_labels(cells: list[str]) -> NDArray[Any]:
    integers = all(re.fullmatch(r"[+-]?[0-9]{1,18}", cell) for cell in cells)
    if integers:
        return _labels([int(cell) for cell in cells])
    # Where not all numbers are written as integers they stay numbers, and whoever wants classes can refuse them.
    numbers = [number(cell) for cell in cells]
    if None not in numbers and not all(cell.lstrip("+-").isdecimal() for cell in cells):
        return np.array(numbers, dtype=np.float64)
    return _labels(cells)


def _refuse_missing(cells: list[str], called: str) -> None:
    """What stands for a missing cell is no class. Raises ValueError that says where the first is.

    "-" beside "+" is a sign.
    """
    signs = {"-"} if "+" in cells else set()
    rows = [row for row, cell in enumerate(cells) if cell and cell.lower() in {*MISSING} - signs]
    if rows:
        raise Unsettled(
            f"the labels in {called} hold {cells[rows[0]]!r} in {len(rows)} row(s), the first of them row "
            f"{rows[0] + 1} of the data; drop such lines, or give the class another word if it is one"
        )


def _kept(names: list[str], width: int, label: str | None, index: bool | None) -> set[int]:
    """The columns of a CSV file whose cells are wanted as text: wherever the labels may be."""
    lower = [name.strip().lower() for name in names]
    named = [column for column, name in enumerate(lower) if name in (*SURE, *LIKELY, "y")]
    kept = {0, width - 1, *named[: len(LIKELY) + 3]}
    if index:
        kept.add(min(1, width - 1))
    if label is not None:
        kept.update(_asked(names, list(range(bool(index), width)), label))
    return kept


def _asked(names: list[str], columns: list[int], label: str) -> set[int]:
    """The columns that `label` may mean: by name, or by place among `columns`."""
    found = [column for column in columns if names and names[column].strip() == label]
    if len(found) > 1:
        raise Unsettled(f"{len(found)} columns are named {label[:40]!r}, not one; give the number of one")
    if columns and label in ("first", "last"):
        found.append(columns[0 if label == "first" else -1])
    if re.fullmatch(r"[0-9]{1,9}", label) and int(label) < len(columns):
        found.append(columns[int(label)])
    return set(found)


def _label_column(held: Columns, columns: list[int], label: str | None, index: bool | None) -> int:
    """Where the labels are. Raises ValueError where that may be read in two ways."""
    if label is not None:
        asked = _asked(held.names, columns, label)
        if len(asked) != 1:
            what = "names one column and numbers another" if asked else "is no column"
            there = f" of {', '.join(held.names[column].strip()[:40] for column in columns)}"[:200]
            raise Unsettled(f"--label {label[:40]!r} {what}{there if held.names else ''}; {LABEL}")
        return asked.pop()
    names = {column: held.names[column].strip().lower() for column in columns} if held.names else {}
    for known in (SURE, LIKELY):
        found = [column for column, name in names.items() if name in known]
        if len(found) > 1:
            what = " and ".join(held.called(column) for column in found[:3])
            raise Unsettled(f"the labels may be in {what}; {LABEL}")
        if found:
            return found[0]
    first, last = columns[0], columns[-1]
    words = [column for column in columns if _words(held, column, last)]
    for column in set(columns) & held.slips.keys() - {*words}:
        raise not_a_number(held.slips[column][0], column, held.slips[column][1])
    if len(words) > 1:
        what = " and ".join(held.called(column) for column in words[:3])
        raise Unsettled(f"{what} hold words; give --index yes if the first only names the rows, or --label")
    if words:
        if words[0] == 0 and index is None and 2 * len(set(held.texts[0])) > len(held.numbers) > 2:
            raise Unsettled(
                f"{held.called(0)} holds names of the rows, or labels; "
                "give --index yes to leave it out, or --label first"
            )
        return words[0]
    if names.get(last) == "y":
        return last
    at_first, at_last = _plausible(held, first), _plausible(held, last)
    if at_last and not at_first:
        return last
    if at_first and not at_last and names.get(first) == "y":
        return first
    if at_first:
        also = f"and {held.called(last)} too" if at_last else f"and {held.called(last)} does not"
        raise Unsettled(f"{held.called(first)} looks like classes, {also}; {LABEL}")
    raise Unsettled(
        f"neither {held.called(first)} nor {held.called(last)} looks like classes (whole numbers, each "
        f"twice on average, or words); {LABEL}"
    )


def _words(held: Columns, column: int, last: int) -> bool:
    """True if the cells of a column are words; in the last one numbers may be among them."""
    return column in held.slips and (column == last or not np.isfinite(held.numbers[:, column]).any())


def _plausible(held: Columns, column: int) -> bool:
    """True of whole numbers, two at least, each occurring twice on average."""
    values = held.numbers[:, column]
    if not np.all((np.abs(values) <= 2.0**53) & (values == np.round(values))):
        return False
    return 2 <= len(np.unique(values)) <= len(values) / 2


def _numbers_rows(values: NDArray[np.float64]) -> bool:
    """True of 0, 1, 2, ... in any order; of ten or more whole numbers that differ, or mostly rise by one."""
    n = len(values)
    if n < 3 or not np.all((np.abs(values) <= 2.0**53) & (values == np.round(values))):
        return False
    if np.all(np.diff(np.sort(values)) == 1):
        return True
    return n >= 10 and (len(np.unique(values)) == n or 10 * int(np.sum(np.diff(values) == 1)) >= 9 * (n - 1))


def _refuse_index(held: Columns, features: list[int], index: bool | None) -> None:
    """Refuse a first feature that may only number or name the rows."""
    at = features[0]
    if index is False or len(features) < 2:
        return
    if index:
        if np.array_equal(held.numbers[:, at], held.numbers[:, 0]):
            raise Unsettled(f"{held.called(at)} repeats the index; delete it from the file")
        return
    name = held.names[at].strip().lower() if held.names else None
    if name in ROWS or (name or "").startswith("unnamed:"):
        raise Unsettled(f"{held.called(at)} has the name of an index of the rows; {INDEX}")
    if at not in held.slips and _numbers_rows(held.numbers[:, at]):
        raise Unsettled(f"{held.called(at)} numbers the rows, or is a feature; {INDEX}")


def _columns(held: Columns, label: str | None, index: bool | None) -> tuple[int, list[int]]:
    """The column of the labels and those of the features."""
    columns = list(range(bool(index), held.width))
    if len(columns) < 2:
        raise ValueError("it has one column, a table needs features and a label")
    if index is None and label is None and held.names and held.width > 2 and not held.names[0].strip():
        _refuse_index(held, columns, None)
    at = _label_column(held, columns, label, index)
    features = [column for column in columns if column != at]
    _refuse_index(held, features, index)
    held.refuse_rounded(features)
    for column in features:
        if column in held.slips:
            error = not_a_number(held.slips[column][0], column, held.slips[column][1])
            names = column == 0 and not isinstance(error, Unsettled)  # a cell that is missing names nothing
            raise Unsettled(f"{error}; if it names the rows, {INDEX}") if names else error
    return at, features


def _split(held: Columns, label: str | None, index: bool | None) -> Table:
    at, features = _columns(held, label, index)
    X = np.ascontiguousarray(held.numbers[:, features])
    if at in held.texts:
        _refuse_missing(held.texts[at], held.called(at))
        return Table(X, _cell_labels(held.texts[at]), held.called(at), held.written)
    labels = held.numbers[:, at]
    if not np.all((np.abs(labels) <= 2.0**53) & (labels == np.round(labels))):
        raise ValueError(f"the labels in {held.called(at)} are not all integers")
    return Table(X, labels.astype(np.int64), held.called(at), held.written)


def _load_table(path: Path, suffix: str, asked: Settled) -> Table:
    label, index = asked.label, asked.index
    if suffix.startswith(COLUMNS):
        packed = suffix.endswith(".gz")
        held = load_csv(path, packed, True, asked, lambda names, width: _kept(names, width, label, index))
        return _split(held, label, index)
    able = ("label", "index") if suffix == ".npy" else ()
    for name, value in asdict(asked).items():
        if value is not None and name not in able:
            what = "CSV and the like, and .npy" if name in ("label", "index") else "lines of cells"
            raise Unsettled(f"--{name} is for {what}; leave it out")
    if suffix == ".npy":
        table = real(load_npy(path))
        if table.ndim != 2 or table.shape[1] < 2:
            raise ValueError(f"shape {table.shape} is not rows of features and a label")
        return _split(Columns([], table), label, index)
    loaded = load_json(path) if suffix == ".json" else load_npz(path)
    if not isinstance(loaded, dict) or not {"X", "y"} <= loaded.keys():
        names = ", ".join(map(repr, loaded))[:100] if isinstance(loaded, dict) else ""
        raise Unsettled(
            f"it holds {names or 'nothing by name'}; save the features (n, d) as X and the labels (n,) as y"
        )
    X = nested(loaded["X"]) if suffix == ".json" else real(loaded["X"])
    y = loaded["y"] if suffix == ".json" else loaded["y"].tolist()
    if not isinstance(y, list):
        raise TypeError("y is not a list of labels")
    if all(isinstance(row, list) and len(row) == 1 for row in y):  # a column
        y = [row[0] for row in y]
    return Table(X, _labels(y), "y")


def load_table(path: Path, asked: Settled = NOTHING) -> Table:
    """Features and labels, where the labels were found, and how the file is written.

    .npz and .json hold X and y. In .npy and in lines of cells (.csv, .tsv, .txt, .data, with .gz or without) the labels
    are a column, and what may be read in two ways is refused until it is settled; `cvxml.datasets.read` says how.

    Labels are int64 if every one is an integer (of up to 18 digits). Raises ValueError, in one sentence.
    """
    suffix = suffix_of(path)
    with naming(path, "read", REMEDIES[suffix]):
        table = _load_table(path, suffix, asked)
        if table.X.ndim != 2 or table.X.size == 0 or table.y.shape != (len(table.X),):
            shapes = f"X has shape {table.X.shape} and y {table.y.shape}, not (n, d) and (n,)"
            raise Unsettled(f"{shapes}; give a label for every row of features")
        return table


def read_table(path: Path, **asked: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """X (n, d) float64 and y (n,), int64, float64 or str, n and d at least 1. asked: as `settled` takes it."""
    return load_table(path, settled(**asked))[:2]
