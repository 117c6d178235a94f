"""Columns of cells, with or without a header: numbers, and the text of what may be labels."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cvxml.core.files import common
from cvxml.core.files.cells import NOTHING, Cells, Settled, number
from cvxml.core.files.common import Path, Unsettled
from cvxml.core.metric import EXACT_INTEGERS, ROUNDED, is_rounded

WHOLE = re.compile(r"[+-]?[0-9]+")
MISSING = ("", "na", "n/a", "?", "null", "none", "-", "nan")
SETTLE = "give --header yes if it names the columns, --header no if it is data"


@dataclass
class Columns:
    """Columns of numbers, the names that a header gives them, and the cells of those that may be labels."""

    names: list[str]  # none without a header
    numbers: NDArray[np.float64]  # (n, width), NaN for what is no number
    texts: dict[int, list[str]] = field(default_factory=dict)  # the cells of some columns
    # of each of those columns, the row and the text of the first cell that is no number
    slips: dict[int, tuple[int, str]] = field(default_factory=dict)
    # of each column of numbers, the line and the text of the first integer that double precision rounds
    rounded: dict[int, tuple[int, str]] = field(default_factory=dict)
    written: str = ""  # how the file is written, where that is not as most are, in words

    @property
    def width(self) -> int:
        """How many columns there are."""
        return int(self.numbers.shape[1])

    def refuse_rounded(self, columns: Iterable[int]) -> None:
        """Raise ValueError if one of these columns has an integer that double precision rounds."""
        for column in columns:
            if column in self.rounded:
                line, cell = self.rounded[column]
                raise ValueError(
                    f"line {line}, {self.called(column)}: the integer {cell.strip()[:40]}, {ROUNDED}"
                )

    def called(self, column: int) -> str:
        """A column in the words of messages."""
        if self.names:
            return f"column {column + 1} ({self.names[column].strip()[:40]!r})"
        return {0: "the first column", self.width - 1: "the last column"}.get(column, f"column {column + 1}")


def _names(line: int, cells: list[str], header: bool | None, labelled: bool) -> list[str]:
    """The cells of the first line if they are names, else nothing: then it is data, or refused later (_doubt)."""
    if header is not None:
        return cells if header else []
    words = [cell for cell in cells if number(cell) is None]
    if len(words) == len(cells):
        return cells
    if words and not (labelled and len(words) == 1):  # one word may be the label of a point
        raise _neither(line, cells) if labelled else _named(line, cells)
    return []


def _named(line: int, cells: list[str]) -> ValueError:
    """The complaint about names in what should be numbers alone, such as pandas writes beside a matrix."""
    word = next(cell for cell in cells if number(cell) is None)
    return Unsettled(
        f"line {line}: {word[:40]!r} is no number; leave names and numbers of rows and columns out, with pandas by "
        "to_csv(index=False, header=False)"
    )


def _neither(line: int, cells: list[str]) -> Unsettled:
    # It may be a slip in the data. Taken for a header the whole line would be lost.
    word = next(cell for cell in cells if number(cell) is None)
    figure = next(cell for cell in cells if number(cell) is not None)
    names = f"{word[:40]!r} is no number but {figure[:40]!r} is"
    return Unsettled(f"line {line}: {names}, so it is neither data nor a header; {SETTLE}")


def counting(cells: list[str]) -> bool:
    """True of 0, 1, 2, ... and the like: what names the columns of a table without names."""
    if len(cells) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", cell.strip()) for cell in cells):
        return False
    start = int(cells[0])
    rises = [int(cell) for cell in cells] == list(range(start, start + len(cells)))
    return rises and (len(cells) > 2 or start < 2)


def _doubt(line: int, first: list[str], found: Columns) -> None:
    """Refuse a table without a header whose first line may be one: no other line is like it."""
    word = next((column for column, cell in enumerate(first) if number(cell) is None), None)
    below = found.numbers[1:]
    if word is not None and first[word].strip() in found.texts[word][1:]:
        return  # a name of a column does not come again in it: this is a label
    if word is not None and len(below):
        numbers = np.isfinite(below[:, word])
        last = word == len(first) - 1
        if numbers.all() or (numbers.any() and not last):
            raise _neither(line, first)
    of = [column for column in range(len(first)) if column != word]
    cells, rest = [first[column] for column in of], below[:, of]
    why = ""
    if counting(cells):
        why = "counts the columns"
    elif len(rest) > 2 and len(cells) > 2:
        whole = all(re.fullmatch(r"[0-9]{1,9}", cell.strip()) for cell in cells)
        if whole and not np.any(np.all(rest == np.round(rest), axis=1)):
            why = "alone is all whole numbers"
        values = found.numbers[0, of]
        if len(rest) > 9 and np.all((values < rest.min(axis=0)) | (values > rest.max(axis=0))):
            why = "is outside of all that is below it, in every column,"
    if why:
        shown = ", ".join(cell.strip()[:20] for cell in first[:4]) + (", ..." if len(first) > 4 else "")
        raise Unsettled(f"line {line} ({shown}) {why} and may be a header or data; {SETTLE}")


def load_csv(
    path: Path,
    packed: bool,
    labelled: bool,
    settled: Settled = NOTHING,
    kept: Callable[[list[str], int], Collection[int]] = lambda names, width: (),
    square: bool = False,
) -> Columns:
    """The columns of a file; all are numbers but those that are `kept` as text, of the names and their number.

    labelled: it is a table, in which one column may be words. square: the numbers are a square matrix, whose first line
    may count.
    """
    header = settled.header
    written = Cells(path, packed, settled, labelled)
    rows = iter(written)
    first = next(rows, None)
    if first is None:
        raise ValueError("it is empty")
    names = _names(*first, header, labelled)
    width = len(first[1])
    texts: dict[int, list[str]] = {column: [] for column in kept(names, width)}
    slips: dict[int, tuple[int, str]] = {}
    rounded: dict[int, tuple[int, str]] = {}
    numbers, begun = array("d"), False
    for line, cells in rows if names else chain([first], rows):
        if len(cells) != width:
            raise _ragged(line, len(cells), width, first_below=bool(names) and not begun)
        if not begun and labelled:  # words anywhere in the first line of data may be labels
            words = [column for column, cell in enumerate(cells) if number(cell) is None]
            texts |= {column: [] for column in words[:2]}
        begun = True
        for column, cell in enumerate(cells):
            if column in texts:
                texts[column].append(cell.strip())
            value = number(cell)
            if value is None:
                if column not in texts:
                    raise not_a_number(line, column, cell)
                slips.setdefault(column, (line, cell))
                value = np.nan
            elif (
                abs(value) >= EXACT_INTEGERS
                and WHOLE.fullmatch(cell.strip())
                and is_rounded(int(cell), value)
            ):
                rounded.setdefault(column, (line, cell))
            numbers.append(value)
        if len(numbers) * 8 > common.MAX_BYTES:
            raise ValueError(f"it holds more than {common.MAX_BYTES // 8} numbers")
    if not numbers:
        raise ValueError("it has no line below its header")
    found = Columns(
        names, np.array(numbers, dtype=np.float64).reshape(-1, width), texts, slips, rounded, str(written)
    )
    if header is None and not names:
        if labelled:
            _doubt(*first, found)
        elif counting(first[1]) and len(found.numbers) != (width if square else 1):
            raise Unsettled(
                f"line {first[0]} counts the columns and may be a header or data; leave a header out, "
                "or write data with points, as 0.0"
            )
    return found


def _ragged(line: int, cells: int, width: int, first_below: bool) -> ValueError:
    message = f"line {line} has {cells} cells, the first one {width}"
    if first_below and cells == width + 1:
        return Unsettled(
            f"{message}; if the names of the rows have no name above them, as R writes it, give them one"
        )
    return ValueError(message)


def not_a_number(line: int, column: int, cell: str) -> ValueError:
    """The complaint about a cell that should be a number."""
    if cell.strip().lower() in MISSING:
        shown = repr(cell.strip()) if cell.strip() else "an empty cell"
        return Unsettled(
            f"line {line}, column {column + 1}: {shown} is no number; drop such lines, or fill them in"
        )
    return ValueError(f"line {line}, column {column + 1}: {cell[:40]!r} is no number")
