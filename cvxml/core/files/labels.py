"""Read labels from columns of cells, arrays and JSON lists. Different labels stay different.

If two classes became one, such as 01 and 1, the certificate would be for another problem.

To refuse is to raise a ValueError. called: the words for the column in a message. place: a function that returns the
words for a row in a message; rows are counted from 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cvxml.core.files import common
from cvxml.core.files.cells import number
from cvxml.core.files.common import Unsettled
from cvxml.core.metric import is_rounded, refuse_texts

MAX_LABEL = 1000  # characters: numpy pads every label to the longest one
# names of the column of labels
SURE = ("label",)  # preferred to all other names: in "x,y,label", x and y are points of the plane
LIKELY = ("labels", "class", "classes", "target", "species")
MISSING = ("", "na", "n/a", "?", "null", "none", "-", "nan")
_LETTER = 4  # bytes of a letter in an array of texts
_PADDING = 4  # an array of labels may have this many times the letters of all labels, beyond FREE_BYTES
LARGEST = 2**53  # double precision holds every integer up to this one
ANEW = "number the classes anew with np.unique(y, return_inverse=True)[1]"

_WHOLE = re.compile(r"[+-]?[0-9]+")
_PLAIN = re.compile(r"0|[+-]?[1-9][0-9]{0,17}")  # an integer of up to 18 digits, without leading zeros
_REMARK = re.compile(r"(.*\S)\s+#.*")


def integers(texts: Sequence[str]) -> NDArray[np.int64] | None:
    """Return the texts as integers; None if one is no plain integer, or if two different texts are the same integer.

    A plain integer has at most 18 digits and no leading zero; 01 and -0 are not plain. +1 is read as 1. If 1 is one of
    the texts too, the result is None.
    """
    if not all(map(_PLAIN.fullmatch, texts)):
        return None
    different = set(texts)
    if len({int(text) for text in different}) < len(different):
        return None
    return np.array([int(text) for text in texts], dtype=np.int64)


def kept_as_text(texts: Sequence[str]) -> str:
    """Return a note if all texts are whole numbers, but `integers` does not read them; else "".

    The note quotes a label that explains this: the first that is no plain integer, such as 01, or else the first with
    +.
    """
    if not all(map(_WHOLE.fullmatch, texts)) or integers(texts) is not None:
        return ""
    changed = next((text for text in texts if not _PLAIN.fullmatch(text)), "")
    changed = changed or next(text for text in texts if text.startswith("+"))
    return f"labels kept as text, because a number would change {changed[:40]!r}"


def cell_labels(cells: Sequence[str], called: str, place: Callable[[int], str]) -> NDArray[Any]:
    """Return the labels in a column (n,) as int64, str or float64. cells: the n cells, without blanks at their ends.

    They are int64 if `integers` reads all of them. Otherwise they stay str if one is not a number, or if all are whole
    numbers without a decimal point, such as 01 and 1. They are float64 in all other cases, for example 1.5 and 2.

    Raises ValueError, for example, for missing labels, and for 1 and 1.0 if all labels of the column are whole numbers.
    """
    _refuse_missing(cells, called, place)
    _refuse_remark(cells, called, place)
    whole = integers(cells)
    if whole is not None:
        return whole
    numbers = [number(cell) for cell in cells]
    if None in numbers or all(map(_WHOLE.fullmatch, cells)):
        return _texts(cells, lambda row: f"{place(row)}, {called}")
    # Decimals stay numbers: some methods take real targets, and methods that need classes refuse them.
    values = np.array(numbers, dtype=np.float64)
    refuse_extreme(values, called, place)
    if np.all(values == np.round(values)):
        _refuse_two_ways(cells, values, called, place)
    return values


def _refuse_missing(cells: Sequence[str], called: str, place: Callable[[int], str]) -> None:
    """Refuse cells that mean a missing label, such as NA. A "-" beside "+" is a sign, and is allowed."""
    signs = {"-"} if "+" in cells else set()
    rows = [row for row, cell in enumerate(cells) if cell.lower() in {*MISSING} - signs]
    if rows:
        shown = repr(cells[rows[0]]) if cells[rows[0]] else "an empty cell"
        raise Unsettled(
            f"the labels in {called} hold {shown} in {len(rows)} row(s), first in {place(rows[0])}; "
            "drop such points; if it is the name of a class, use another name"
        )


def _refuse_remark(cells: Sequence[str], called: str, place: Callable[[int], str]) -> None:
    """Refuse a cell such as `1 # seen twice`, a label with a remark behind it: it would be another class than 1.

    The part before the # must be another cell of the column, or a number.
    """
    known = set(cells)
    for row, cell in enumerate(cells):
        found = _REMARK.fullmatch(cell) if "#" in cell else None
        if found and (found[1] in known or number(found[1]) is not None):
            raise Unsettled(
                f"{place(row)}, {called}: {cell[:40]!r} may be {found[1][:40]!r} with a remark behind it; delete the "
                "remark, or write the # of a label without a blank before it"
            )


def _refuse_two_ways(
    cells: Sequence[str], values: NDArray[np.float64], called: str, place: Callable[[int], str]
) -> None:
    """Refuse two different cells that are the same number, such as 1 and 1.0: they may be one class or two.

    values: the cells as numbers.
    """
    first: dict[float, int] = {}
    for row, value in enumerate(values.tolist()):
        before = first.setdefault(value, row)
        if cells[before] != cells[row]:
            raise Unsettled(
                f"the labels in {called} hold {cells[before][:40]!r} ({place(before)}) and {cells[row][:40]!r} "
                f"({place(row)}), which are the same number; write each class in one way, or give the classes names"
            )


def refuse_extreme(values: NDArray[np.float64], called: str, place: Callable[[int], str]) -> None:
    """Raise ValueError for labels that are NaN, infinite, or beyond 2^53, where double precision rounds."""
    rows = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if len(rows):
        value = float(values[rows[0]])
        what = "drop such points" if np.isnan(value) else "labels must be from -2^53 to 2^53"
        raise Unsettled(
            f"the labels in {called} hold {value} in {len(rows)} row(s), first in {place(int(rows[0]))}; {what}"
        )


def whole_labels(values: NDArray[np.float64], called: str, place: Callable[[int], str]) -> NDArray[np.int64]:
    """Return the labels in a column of numbers as int64.

    Raises ValueError for fractions, NaN and numbers beyond 2^53.
    """
    refuse_extreme(values, called, place)
    rows = np.flatnonzero(values != np.round(values))
    if len(rows):
        value = float(values[rows[0]])
        raise Unsettled(
            f"the labels in {called} are not all integers: {value} in {place(int(rows[0]))}; give --label for another "
            "column, or save X and y in .npz if y are real numbers"
        )
    return values.astype(np.int64)


def array_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return the labels (n,) in a numpy array (n,) or (n, 1) from a file: int64, float64 or str.

    Floats become int64 if all are whole. Raises ValueError for anything else.
    """
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise _not_one_each(y)
    if y.dtype.kind == "S":
        raise Unsettled('y holds bytes, but labels must be text or numbers; save np.char.decode(y, "utf-8")')
    if y.dtype.kind not in "biufU":
        raise Unsettled(
            f"y has dtype {y.dtype}, but labels must be integers, real numbers or text; save one of these"
        )
    if y.dtype.kind == "f" and y.dtype.itemsize > 8:
        raise Unsettled(
            f"y has dtype {y.dtype}, which double precision rounds; save y.astype(float), or {ANEW}"
        )
    if y.dtype.kind == "U":
        return list_labels(y.tolist())
    if y.dtype.kind == "f":
        return _whole_if_all_are(y.astype(np.float64))
    if y.dtype == np.uint64:
        return _within_int64(y.tolist())
    return y.astype(np.int64)


def list_labels(values: list[Any]) -> NDArray[Any]:
    """Return the labels (n,) in a list, or in a list of one-label lists: int64, float64 or str.

    Raises ValueError for other labels. The message gives the place of the error, such as y[3].
    """
    if values and all(isinstance(value, list) and len(value) == 1 for value in values):
        values = [value[0] for value in values]
    if any(isinstance(value, list) for value in values):
        raise _not_one_each(values)
    _refuse_other_types(values)
    if all(isinstance(value, str) for value in values):
        _refuse_missing(values, "y", "y[{}]".format)
        return _texts(values, "y[{}]".format)
    if all(isinstance(value, int) for value in values):
        return _within_int64(values)
    return _reals(values)


def _refuse_other_types(values: list[Any]) -> None:
    """Raise ValueError unless the labels are all booleans, all numbers, or all text."""
    kinds: dict[str, int] = {}
    for place, value in enumerate(values):
        kinds.setdefault(_kind(value), place)
    known = {"numbers", "text", "true or false"}
    for kind, place in kinds.items():
        if kind not in known:
            raise Unsettled(
                f"y[{place}] is {kind}, but a label must be text or a number; give every point a label"
            )
    if len(kinds) > 1:
        told = " and ".join(f"{kind} (y[{place}])" for kind, place in kinds.items())
        raise Unsettled(f"y mixes {told}; give labels that are all text or all numbers")


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "numbers"
    return "text" if isinstance(value, str) else f"{str(value)[:40]!r}"


def _within_int64(values: list[int]) -> NDArray[np.int64]:
    """Return integers, or booleans as 0 and 1. Raises ValueError for an integer outside int64."""
    for place, value in enumerate(values):
        if not -(2**63) <= value < 2**63:
            raise Unsettled(
                f"y[{place}] is {value!r:.40}, but integer labels must be from -2^63 to 2^63 - 1; {ANEW}"
            )
    return np.array(values, dtype=np.int64)


def _reals(values: list[float]) -> NDArray[Any]:
    """Return numbers as float64, or as int64 if all are whole. Raises ValueError for an integer that float64 rounds."""
    for place, value in enumerate(values):
        if isinstance(value, int) and abs(value) >= LARGEST and is_rounded(value, float(value)):
            raise Unsettled(
                f"y[{place}] is {value!r:.40}; y also holds numbers that are not integers, so all are read in double "
                f"precision, which rounds this one; {ANEW}"
            )
    return _whole_if_all_are(np.array(values, dtype=np.float64))


def _whole_if_all_are(numbers: NDArray[np.float64]) -> NDArray[Any]:
    """Return numbers as int64 if all are whole, else unchanged. Raises ValueError for NaN and numbers beyond 2^53."""
    refuse_extreme(numbers, "y", "y[{}]".format)
    return numbers.astype(np.int64) if np.all(numbers == np.round(numbers)) else numbers


def _texts(values: Sequence[str], place: Callable[[int], str]) -> NDArray[Any]:
    for row, value in enumerate(values):
        if not 0 < len(value) <= MAX_LABEL:
            raise Unsettled(
                f"{place(row)}: a label must have 1 to {MAX_LABEL} letters, but this one has {len(value)}"
            )
        # numpy removes null characters at the end of a text, so two labels could become equal
        if "\0" in value:
            raise Unsettled(f"{place(row)}: a label holds a null character; delete it, or write another one")
    longest, letters = max(map(len, values), default=0), sum(map(len, values))
    if _LETTER * len(values) * longest > common.FREE_BYTES + _PADDING * _LETTER * letters:
        raise Unsettled(
            f"{len(values)} labels take too much memory, because numpy stores each with the length of the longest, "
            f"{longest} characters; shorten the longest labels"
        )
    return np.array(values, dtype=np.str_)


def _not_one_each(y: Any) -> Unsettled:
    """Return the error for labels y that are not one for each point, but a matrix or nested lists."""
    try:
        refuse_texts(y, "y")
        table = np.asarray(y)
    except ValueError:
        return Unsettled(
            "y holds lists of different lengths, or lists of texts; give one label for each point"
        )
    shape = f"y has shape {table.shape}; it must have shape (n,), one label for each point"
    one_hot = table.ndim == 2 and table.dtype.kind in "biuf" and np.all((table == 0) | (table == 1))
    if one_hot and table.size and np.all(table.sum(axis=1) == 1):
        return Unsettled(f"{shape}: if the labels are one-hot, save np.asarray(y).argmax(axis=1)")
    return Unsettled(f"{shape}; give one label for each point, such as one column of y")
