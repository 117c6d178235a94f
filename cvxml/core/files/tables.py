"""Read tables from files of all supported formats: rows of features, and a label for each row.

`_columns` decides which column holds the labels, and whether the first column only numbers the rows. It follows the
user's answers, else the names in a header, else the contents of the columns. A table that can be read in two ways is
refused.

held: the columns of a file. names: their names in the header, [] without a header. Columns have numbers from 0.
columns, features, words: lists of column numbers. left_out: the columns that --drop leaves out.

label, index: the user's answers to --label and --index, None without an answer. called: the user's word for a column.
To refuse is to raise a ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cvxml.core.files.arrays import nested, real
from cvxml.core.files.cells import NOTHING, Settled, settled
from cvxml.core.files.common import COLUMNS, REMEDIES, Path, Unsettled, naming, suffix_of
from cvxml.core.files.csv_files import DATED, Columns, load_csv, not_a_number, quantity
from cvxml.core.files.labels import (
    LIKELY,
    MISSING,
    SURE,
    array_labels,
    cell_labels,
    kept_as_text,
    list_labels,
    whole_labels,
)
from cvxml.core.files.numpy_files import load_npy, load_npz
from cvxml.core.files.strict_json import load_json
from cvxml.core.short_repr import printable

# names of a column that numbers the rows; also pandas' "Unnamed: 0"
ROWS = ("", "index", "id", "rownames", "row.names", "row_names")
INDEX = "give --{} to leave it out of the features, --index no to keep it as a feature"
LEFT_OUT = "give --index yes, which leaves it out of the features"
LABEL = "give --label first, last, a name of the header, or a number from 0 on"


class Table(NamedTuple):
    """Features X (n, d) and labels y (n,) from a file.

    where: the place of the labels in the file, in words. written: in words, the columns that were left out, how the
    file differs from most files, and whether labels were kept as text; "" if there is nothing to tell. names: the names
    of the features; empty if the file has none.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    where: str
    written: str = ""
    names: tuple[str, ...] = ()


def _text_columns(
    names: list[str], width: int, label: str | None, index: bool | None, left_out: set[int]
) -> set[int]:
    """Return the columns of a CSV file that may hold the labels; `load_csv` keeps their cells as text.

    These are column 0, and the first and the last column that are neither index nor left out. Further ones are columns
    with a usual name of labels, and those that `label` may mean. width: the number of columns.
    """
    named = [column for column, name in enumerate(names) if name.strip().lower() in (*SURE, *LIKELY, "y")]
    columns = range(bool(index), width)
    kept = {0, *_ends(columns, left_out), *named[: len(LIKELY) + 3]}
    if label is not None:
        kept.update(_columns_called(names, columns, label, left_out))
    return kept


def _ends(columns: Sequence[int], left_out: Collection[int]) -> list[int]:
    """Return the first and the last of these columns that are not left out, or [] if all are."""
    both = (next((c for c in order if c not in left_out), None) for order in (columns, reversed(columns)))
    return [column for column in both if column is not None]


def _columns_called(
    names: list[str], columns: Sequence[int], called: str, left_out: Collection[int] = ()
) -> set[int]:
    """Return the columns that `called` may mean: a name, a place in `columns` from 0 on, or "first" or "last".

    "first" and "last" are those of the columns that are not left out. Raises ValueError if several columns have the
    name `called`.
    """
    found = [column for column in columns if names and names[column].strip() == called]
    if len(found) > 1:
        raise Unsettled(f"{len(found)} columns are named {called[:40]!r}; give the number of the column")
    ends = _ends(columns, left_out)
    if ends and called in ("first", "last"):
        found.append(ends[0 if called == "first" else -1])
    if re.fullmatch(r"[0-9]{1,9}", called) and int(called) < len(columns):
        found.append(columns[int(called)])
    return set(found)


def _column_of(
    option: str, names: list[str], columns: Sequence[int], called: str, left_out: Collection[int] = ()
) -> int:
    """Return the column that the user means with an option. option: "label" or "drop".

    Raises ValueError if `called` means no column, or more than one.
    """
    asked = _columns_called(names, columns, called, left_out)
    if len(asked) != 1:
        what = "names one column and numbers another" if asked else "is no column"
        there = f" of {', '.join(printable(names[column].strip(), 40) for column in columns)}"[:200]
        give = f"give --{option} first, last, a name of the header, or a number from 0 on"
        raise Unsettled(f"--{option} {called[:40]!r} {what}{there if names else ''}; {give}")
    return asked.pop()


def _left_out(names: list[str], width: int, asked: Settled) -> set[int]:
    columns = range(bool(asked.index), width)
    return {_column_of("drop", names, columns, called) for called in asked.drop or ()}


def _label_column(held: Columns, columns: list[int], label: str | None, index: bool | None) -> int:
    """Return the column of the labels, among `columns`.

    Raises ValueError unless exactly one column is possible, and for words in columns that cannot hold labels.
    """
    if label is not None:
        every = range(bool(index), held.width)
        at = _column_of("label", held.names, every, label, held.left_out)
        if at in held.left_out:
            raise Unsettled(f"{held.called(at)} is given to --label and to --drop; {LABEL}")
        return at
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
    for column in sorted(set(columns) & held.slips.keys() - {*words}):
        raise _no_feature(held, [column], index)
    if words:
        _refuse_words(held, columns, words, index)
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


def _refuse_words(held: Columns, columns: list[int], words: list[int], index: bool | None) -> None:
    """Refuse a table if it is not certain that a column of words holds the labels.

    The words may be names of the rows, or a feature that must be turned into numbers. words: the columns of words, one
    or more.
    """
    names = index is None and words[0] == 0 and _all_differ(held.texts[0])
    if len(words) > 1:
        what = " and ".join(held.called(column) for column in words[:3])
        left = f"; if the first only names the rows, {LEFT_OUT}" if names else ""
        raise Unsettled(
            f"{what} hold words, but only one column can hold labels; {LABEL}, and turn the words of the others into "
            f"numbers{left}"
        )
    at, last = words[0], columns[-1]
    if index is None and at == 0 and 2 * len(set(held.texts[0])) > len(held.numbers) > 2:
        raise Unsettled(
            f"{held.called(0)} holds labels, or names of the rows; if they are labels, give '--label first'; if they "
            f"only name the rows, {LEFT_OUT}"
        )
    if at != last and _plausible(held, last):
        raise Unsettled(
            f"{held.called(at)} holds words, and {held.called(last)} looks like classes; {LABEL}; words of a feature "
            "must be turned into numbers"
        )


def _all_differ(cells: list[str]) -> bool:
    return len(set(cells)) == len(cells)


def _no_feature(held: Columns, columns: list[int], index: bool | None) -> Unsettled:
    """Return the error for features with cells that are not numbers.

    columns: the columns of these features. The message quotes the first such cell of columns[0].
    """
    column = columns[0]
    line, cell = held.slips[column]
    complaint = not_a_number(line, columns, cell, held.names)
    kind = quantity(cell)[0]
    missing = cell.strip().lower() in MISSING
    # a quantity such as 5 % is a feature, and a word that appears twice does not name a row
    if column == 0 and index is None and not missing and kind in ("", *DATED) and _all_differ(held.texts[0]):
        return Unsettled(f"{complaint}; if the column only names the rows, {LEFT_OUT}")
    if column == held.width - 1 and kind:
        return Unsettled(f"{complaint}; if these are classes, give --label last")
    return complaint


def _words(held: Columns, column: int, last: int) -> bool:
    """Return True if a column holds words, and not numbers or quantities such as dates.

    A word is a cell that is not a number. All cells must be words; in the column `last`, the usual place of labels, one
    word is enough. If the first word is a quantity, the result is False.
    """
    if column not in held.slips or quantity(held.slips[column][1])[0]:
        return False
    return column == last or bool(np.isnan(held.numbers[:, column]).all())


def _plausible(held: Columns, column: int) -> bool:
    """Return True if a column looks like classes: whole numbers, at least two different ones.

    On average, each different number must occur at least twice.
    """
    values = held.numbers[:, column]
    if not np.all((np.abs(values) <= 2.0**53) & (values == np.round(values))):
        return False
    # as texts, 01 and 1 are two labels
    different = set(held.texts[column]) if column in held.texts else np.unique(values)
    return 2 <= len(different) <= len(values) / 2


def _numbers_rows(values: NDArray[np.float64]) -> bool:
    """Return True if a column may number the rows; `values` (n,) are its cells.

    It must hold at least three numbers, all whole. True for consecutive integers in any order. With ten or more rows,
    also True if all values differ, or if at least nine tenths of the differences of neighbouring rows are 1.
    """
    n = len(values)
    if n < 3 or not np.all((np.abs(values) <= 2.0**53) & (values == np.round(values))):
        return False
    if np.all(np.diff(np.sort(values)) == 1):
        return True
    return n >= 10 and (len(np.unique(values)) == n or 10 * int(np.sum(np.diff(values) == 1)) >= 9 * (n - 1))


def _refuse_index(held: Columns, features: list[int], index: bool | None) -> None:
    """Refuse a table if its first feature may only number or name the rows.

    If `index` is True, column 0 is the index, and the feature is refused only if it holds the same numbers as column 0.
    If `index` is False, the feature is accepted. A single feature is always accepted.
    """
    at = features[0]
    if index is False or len(features) < 2:
        return
    if index:
        if np.array_equal(held.numbers[:, at], held.numbers[:, 0]):
            raise Unsettled(f"{held.called(at)} repeats the index; delete it from the file")
        return
    remedy = INDEX.format("index yes" if at == 0 else f"drop {at}")
    name = held.names[at].strip().lower() if held.names else None
    if name in ROWS or (name or "").startswith("unnamed:"):
        raise Unsettled(f"{held.called(at)} has the name of an index of the rows; {remedy}")
    if at not in held.slips and _numbers_rows(held.numbers[:, at]):
        raise Unsettled(f"{held.called(at)} may number the rows, or be a feature; {remedy}")


def _columns(held: Columns, label: str | None, index: bool | None) -> tuple[int, list[int]]:
    """Return the column of the labels and the columns of the features. Raises ValueError if the table is refused."""
    columns = [column for column in range(bool(index), held.width) if column not in held.left_out]
    if len(columns) < 2:
        left = " left after --drop" if held.left_out else ""
        count = "one" if columns else "no"
        raise ValueError(f"it has {count} column{left}, but a table needs features and a label")
    unnamed = held.names and not held.names[columns[0]].strip()
    if index is None and label is None and len(columns) > 2 and unnamed:
        _refuse_index(held, columns, None)
    at = _label_column(held, columns, label, index)
    features = [column for column in columns if column != at]
    _refuse_index(held, features, index)
    held.refuse_rounded(features)
    if slipped := [column for column in features if column in held.slips]:
        raise _no_feature(held, slipped, index)
    held.refuse_infinite(features)
    return at, features


def _split(held: Columns, label: str | None, index: bool | None) -> Table:
    at, features = _columns(held, label, index)
    X = np.ascontiguousarray(held.numbers[:, features])
    called = held.called(at)
    names = tuple(held.names[column] for column in features) if held.names else ()
    without = [held.called(column) for column in sorted(held.left_out)]
    left_out = f"without {', '.join(without[:5])}{' and more' if without[5:] else ''}" if without else ""
    cells = held.texts.get(at)
    if cells is None:
        y = whole_labels(held.numbers[:, at], called, held.place)
    else:
        y = cell_labels(cells, called, held.place)
    notes = (left_out, held.written, "" if cells is None else kept_as_text(cells))
    return Table(X, y, called, ", ".join(note for note in notes if note), names)


def _load_table(path: Path, suffix: str, asked: Settled) -> Table:
    label, index = asked.label, asked.index
    if suffix.startswith(COLUMNS):
        packed = suffix.endswith(".gz")

        def left_out(names: list[str], width: int) -> set[int]:
            return _left_out(names, width, asked)

        def kept(names: list[str], width: int) -> set[int]:
            return _text_columns(names, width, label, index, left_out(names, width))

        held = load_csv(path, packed, True, asked, kept, left_out)
        return _split(held, label, index)
    able = ("label", "index", "drop") if suffix == ".npy" else ()
    for name, value in asdict(asked).items():
        if value is not None and name not in able:
            what = "CSV and the like, and .npy" if name in ("label", "index", "drop") else "lines of cells"
            raise Unsettled(f"--{name} is for {what}; leave it out")
    if suffix == ".npy":
        table = real(load_npy(path))
        if table.ndim != 2 or table.shape[1] < 2:
            raise ValueError(f"shape {table.shape} is not rows of features and a label")
        width = table.shape[1]
        return _split(Columns([], table, left_out=_left_out([], width, asked)), label, index)
    loaded = load_json(path) if suffix == ".json" else load_npz(path)
    if not isinstance(loaded, dict) or not {"X", "y"} <= loaded.keys():
        names = (
            ", ".join(f"'{printable(name, 40)}'" for name in loaded)[:100] if isinstance(loaded, dict) else ""
        )
        raise Unsettled(
            f"it holds {names or 'no named arrays'}; save the features (n, d) as X and the labels (n,) as y"
        )
    if suffix == ".npz":
        X = real(loaded["X"])
        _refuse_infinite(X)
        return Table(X, array_labels(loaded["y"]), "y")
    if not isinstance(loaded["y"], list):
        raise TypeError("y is not a list of labels")
    return Table(nested(loaded["X"], "X"), list_labels(loaded["y"]), "y")


def _refuse_infinite(X: NDArray[np.float64]) -> None:
    wrong = np.argwhere(~np.isfinite(X))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        raise Unsettled(f"X{[*at]} is {X[at]:g}; drop such points, or fill in numbers")


def load_table(path: Path, asked: Settled = NOTHING) -> Table:
    """Return the features and labels of a file, where the labels were found, and how the file is written.

    .npz and .json hold X and y. In .npy and in lines of cells (.csv, .tsv, .txt, .data, with or without .gz), the
    labels are a column. A file that can be read in two ways is refused until `asked` decides; see
    `cvxml.datasets.read`.

    Labels in lines of cells are int64 if every label is an integer of up to 18 digits without leading zeros, and
    different texts are different numbers. They are float64 if all are numbers and one has decimals. Otherwise they stay
    text, such as 01 and 1. Raises ValueError, in one sentence.
    """
    suffix = suffix_of(path)
    with naming(path, "read", REMEDIES[suffix]):
        table = _load_table(path, suffix, asked)
        if table.X.ndim != 2 or table.X.size == 0 or table.y.shape != (len(table.X),):
            shapes = f"X has shape {table.X.shape} and y {table.y.shape}; they must be (n, d) and (n,)"
            raise Unsettled(f"{shapes}; give a label for every row of features")
        return table


def read_table(path: Path, **asked: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return X (n, d) float64 and y (n,), int64, float64 or str, with n and d at least 1.

    asked: the user's answers for a file that can be read in two ways: label, header, index, separator, decimal,
    encoding and drop.
    """
    return load_table(path, settled(**asked))[:2]
