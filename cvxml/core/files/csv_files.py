"""Read columns of cells, with or without a header: numbers, and the text of columns that may be labels.

header: True or False if the user said whether the first line is a header, else None. labelled: True for a table, in
which one column may hold words. To refuse is to raise a ValueError.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from cvxml.core.files import common
from cvxml.core.files.cells import NOTHING, Cells, Settled, number
from cvxml.core.files.common import Path, Unsettled
from cvxml.core.files.labels import LIKELY, MISSING, SURE
from cvxml.core.metric import EXACT_INTEGERS, ROUNDED, is_rounded

WHOLE = re.compile(r"[+-]?[0-9]+")
SHARED = 10**5  # most different texts that are stored only once
WITHOUT_NAMES = (
    "leave names and numbers of rows and columns out, in pandas by to_csv(index=False, header=False), in R by "
    "write.table(sep=',', row.names=FALSE, col.names=FALSE)"
)
SETTLE = "give --header yes if it names the columns, --header no if it is data"

_MONTH = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
COMPLEX = "a complex number"
_REAL = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?"
# cells that are quantities but not numbers: their name, their pattern, and how to write them
_QUANTITIES = (
    (
        COMPLEX,
        rf"\(?({_REAL}\s*[+-]\s*)?{_REAL}\s*\*?\s*[ij]\)?",
        "write the real part, if the imaginary part is a rounding error",
    ),
    ("a percentage", r"[+-]?[0-9.,]+\s*%", "write it without the sign, all in percent or all as fractions"),
    (
        "a date",
        r"[0-9]{1,4}([-/.])[0-9]{1,2}\1[0-9]{1,4}([t ].*)?|[0-9]{4}[-/][0-9]{1,2}|[0-9]{4}[- ]?[qw][0-9]{1,2}"
        rf"|([0-9]{{1,4}}[-. ]*)?{_MONTH}[-., ]*[0-9]{{1,4}}([-., ]+[0-9]{{2,4}})?",
        "write dates as numbers, such as days since the first one",
    ),
    ("a time", r"[0-9]{1,2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?", "write times as numbers, such as seconds"),
    ("an amount of money", r"[+-]?[$€£¥]\s*[+-]?[0-9.,]+|[+-]?[0-9.,]+\s*[$€£¥]", "write the amount alone"),
    ("a number with thousands", r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?", "write it without the commas"),
)
DATED = ("a date", "a time")  # quantities that may also be names of rows


@dataclass
class Columns:
    """Columns of numbers, their names, and the texts of columns that may hold words, such as labels.

    names: the column names, from a header or from a comment above the data; [] without names.
    numbers: (n, width), NaN for a cell that is not a number.

    The keys of the dicts `texts`, `slips` and `rounded` are column numbers c.

    texts[c]: the cells of column c, if it may hold words or is left out.
    slips[c]: the line number and text of the first cell of column c that is not a number, if c is a key of `texts`.
    rounded[c]: the line number and text of the first cell of column c with an integer that double precision rounds.

    written: how the file differs from most files, in words. lines: the line number of each row; empty for .npy.
    left_out: the numbers of the columns that the user leaves out.
    """

    names: list[str]  # empty without a header
    numbers: NDArray[np.float64]  # (n, width), NaN for a cell that is not a number
    texts: dict[int, list[str]] = field(default_factory=dict)  # column: its cells
    # column: line and text of its first cell that is not a number, for the columns in `texts`
    slips: dict[int, tuple[int, str]] = field(default_factory=dict)
    # column: line and text of the first integer that double precision rounds
    rounded: dict[int, tuple[int, str]] = field(default_factory=dict)
    written: str = ""  # how the file differs from most files, in words
    lines: Sequence[int] = ()  # line number of each row, if the file has lines
    left_out: Collection[int] = ()  # columns that the user leaves out

    @property
    def width(self) -> int:
        return int(self.numbers.shape[1])

    def place(self, row: int) -> str:
        """Return a row, counted from 0, in words: "line 3, row 2 of the data"."""
        line = f"line {self.lines[row]}, " if len(self.lines) else ""
        return f"{line}row {row + 1} of the data"

    def refuse_infinite(self, columns: list[int]) -> None:
        """Raise ValueError if one of these columns of numbers holds NaN or infinity."""
        wrong = np.argwhere(~np.isfinite(self.numbers[:, columns]))
        if len(wrong):
            row, column = int(wrong[0, 0]), columns[int(wrong[0, 1])]
            value = self.numbers[row, column]
            what = "no number" if np.isnan(value) else "not finite, or beyond 1.8e308"
            raise Unsettled(
                f"{self.place(row)}, {self.called(column)}: {value:g} is {what}; drop such lines, or fill in numbers"
            )

    def refuse_rounded(self, columns: Iterable[int]) -> None:
        """Raise ValueError if one of these columns has an integer that double precision rounds."""
        for column in columns:
            if column in self.rounded:
                line, cell = self.rounded[column]
                raise ValueError(
                    f"line {line}, {self.called(column)}: the integer {cell.strip()[:40]}, {ROUNDED}"
                )

    def called(self, column: int) -> str:
        """Return a column in words for a message, such as "column 2 ('width')" or "the last column"."""
        if self.names:
            return f"column {column + 1} ({self.names[column].strip()[:40]!r})"
        return {0: "the first column", self.width - 1: "the last column"}.get(column, f"column {column + 1}")


def _names(line: int, cells: list[str], header: bool | None, labelled: bool) -> list[str]:
    """Return the cells of the first line if they are column names, and [] if the line is data or may be data.

    line: the number of the line. If `header` is None, the cells are names if no cell is a number. Raises ValueError if
    some cells are words and others are numbers, and if all cells are complex numbers. In a table a single word is
    allowed, because it may be a label.
    """
    if header is not None:
        return cells if header else []
    words = [cell for cell in cells if number(cell) is None]
    if len(words) == len(cells) and not all(quantity(word)[0] == COMPLEX for word in words):
        return cells
    if words and not (labelled and len(words) == 1):  # a single word may be the label of a point
        raise _not_data_nor_header(line, cells) if labelled else _names_among_numbers(line, cells)
    return []


def _names_among_numbers(line: int, cells: list[str]) -> ValueError:
    """Return the error for a line with words among numbers, for example the row names that pandas writes in a matrix.

    line, cells: the number of the line and its cells. If the first cell that is not a number is NA or the like, or a
    quantity such as a percentage, the message says so.
    """
    column, word = next((k, cell) for k, cell in enumerate(cells) if number(cell) is None)
    if (word.strip() and word.strip().lower() in MISSING) or quantity(word)[0]:
        return not_a_number(line, [column], word, labelled=False)
    return Unsettled(f"line {line}: {word[:40]!r} is not a number; {WITHOUT_NAMES}")


def _not_data_nor_header(line: int, cells: list[str]) -> Unsettled:
    # The word may be a mistake in the data. If the line were taken for a header, its numbers would be lost.
    word = next(cell for cell in cells if number(cell) is None)
    figure = next(cell for cell in cells if number(cell) is not None)
    names = f"{word[:40]!r} is not a number, but {figure[:40]!r} is"
    return Unsettled(f"line {line}: {names}, so it is neither data nor a header; {SETTLE}")


def _commented(written: Cells, width: int, named: bool) -> list[str]:
    """Return the column names in a comment above the data, as numpy.savetxt writes them with header=; else [].

    written: the rows of the file, of which the first was read. width: the number of cells of that row; only a comment
    with as many cells can hold names. named: True if the names will be used.

    Raises ValueError if such a comment has a number, because it may be a point. If `named` is True, also raises
    ValueError if there are two such comments.
    """
    found = [(line, cells) for line, cells in written.commented() if len(cells) == width]
    for line, cells in found:
        if any(number(cell) is not None for cell in cells):
            raise Unsettled(
                f"line {line} begins with # and has {width} cells, numbers among them: it may be a comment, a header "
                "or a point; delete the line if it is a comment, or else the #"
            )
    if named and len(found) > 1:
        raise Unsettled(
            f"lines {found[0][0]} and {found[1][0]} begin with # and have {width} cells each, so either may name the "
            "columns; delete one of them"
        )
    return found[0][1] if found else []


def _header(
    first: tuple[int, list[str]], written: Cells, header: bool | None, labelled: bool
) -> tuple[list[str], bool]:
    """Return the column names ([] without names), and True if the first line that is not a comment is a header.

    first: that line, as its number and its cells. written: the rows of the file.
    """
    line, cells = first
    if any(number(cell) is not None for cell in cells):  # a line without numbers is itself a header
        names = _commented(written, len(cells), labelled and header is not False)
        if names and header is not False:
            return names, False
    names = _names(line, cells, header, labelled)
    return names, bool(names)


def _refuse_empty(rows: list[tuple[int, list[str]]], without: Collection[int]) -> None:
    """Refuse a file with a column that is empty in its first two rows, as with two tabs between all cells.

    rows: these rows, each as its line number and its cells. without: the columns that are left out, which may be empty.
    """
    if len(rows) < 2 or len(rows[0][1]) != len(rows[1][1]):
        return
    (line, above), (other, below) = rows
    for column in range(len(above)):
        if column not in without and not above[column].strip() and not below[column].strip():
            raise Unsettled(
                f"lines {line} and {other} are empty in column {column + 1}; write one separator, such as one tab, "
                "between two cells and none at the end, or fill in the cells that are missing"
            )


def _refuse_missing(rows: list[tuple[int, list[str]]], labelled: bool) -> None:
    """Refuse a header that may instead be a point with missing numbers, such as NA,NA,A.

    A single "Na" is allowed in a header with at least two names, because it may be sodium. Empty cells are allowed in a
    header with at least two names. They are also allowed beside a single name if the cell below this name is a number.

    rows: the header and the line below it, each as its line number and its cells. labelled: the file is a table, and
    the message offers the option --header.
    """
    line, cells = rows[0]
    missing = [cell.strip() for cell in cells if cell.strip().lower() in MISSING]
    filled = [cell for cell in missing if cell]
    words = [column for column, cell in enumerate(cells) if cell.strip().lower() not in MISSING]
    if filled:
        doubtful = len(words) < 2 or [cell.lower() for cell in filled] != ["na"]
    else:
        below = [row[words[0]] for _, row in rows[1:] if words and words[0] < len(row)]
        doubtful = not words or (len(words) == 1 < len(cells) and any(number(cell) is None for cell in below))
    if doubtful:
        shown = repr(filled[0]) if filled else "an empty cell"
        remedy = SETTLE if labelled else "delete the line if it is a header, or else fill in the numbers"
        raise Unsettled(
            f"line {line} has no number and holds {shown}, so it may be a header, or a point with missing numbers; "
            f"{remedy}"
        )


def _refuse_comment(line: int, cells: list[str], width: int, start: tuple[int, bool]) -> None:
    """Refuse a line that may be a comment among the data.

    A line that begins with # is accepted only if all lines of data begin with #, and if it has `width` cells. line,
    cells: its number and its cells. width: the number of cells in the first line. start: the number of the first line
    of data, and True if that line begins with #.
    """
    begins = cells[0].startswith("#")
    if begins and (len(cells) != width or not start[1]):
        raise Unsettled(
            f"line {line} begins with #, and comments may only stand above the header and the data; if the line is a "
            "comment, delete it; if it is data, delete the #"
        )
    if start[1] and not begins:
        raise Unsettled(
            f"line {start[0]} begins with # and line {line} does not, so it may be a comment or data; if it is a "
            "comment, delete the line; if it is data, delete the #"
        )


def counting(cells: list[str]) -> bool:
    """Return True if the cells look like column numbers, such as 0, 1, 2.

    These are three or more consecutive integers in increasing order, such as 5, 6, 7, or exactly 0, 1 or exactly 1, 2.
    """
    if len(cells) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", cell.strip()) for cell in cells):
        return False
    start = int(cells[0])
    rises = [int(cell) for cell in cells] == list(range(start, start + len(cells)))
    return rises and (len(cells) > 2 or start < 2)


def _doubt(line: int, first: list[str], found: Columns) -> None:
    """Refuse a table without a header if its first line may be a header.

    line, first: the number and the cells of the first line. found: the columns, with this line as their first row.
    Columns that the user leaves out do not count. There are four reasons to refuse:

    - It has a word that is a usual name of a column of labels, such as "class", or that stands above numbers.
    - Its numbers look like column numbers (`counting`).
    - It has at least three numbers, and is the only line of whole numbers above at least three others.
    - It has at least three numbers, each outside the range of its column in at least ten other lines.

    A word that appears again in its column is a label. The line is then accepted.
    """
    used = [column for column in range(len(first)) if column not in found.left_out]
    word = next((column for column in used if number(first[column]) is None), None)
    below = found.numbers[1:]
    if word is not None and first[word].strip() in found.texts[word][1:]:
        return  # a column's name does not appear again in the column, so this is a label
    if word is not None and first[word].strip().lower() in (*SURE, *LIKELY, "y"):
        raise Unsettled(
            f"line {line}: {first[word].strip()!r} is the usual name of the column of labels, and the other cells are "
            f"numbers, so the line may be a header or data; {SETTLE}"
        )
    if word is not None and len(below):
        numbers = np.isfinite(below[:, word])
        last = word == len(first) - 1
        if numbers.all() or (numbers.any() and not last):
            raise _not_data_nor_header(line, first)
    of = [column for column in used if column != word]
    cells, rest = [first[column] for column in of], below[:, of]
    why = ""
    if counting(cells):
        why = "counts the columns"
    elif len(rest) > 2 and len(cells) > 2:
        whole = all(re.fullmatch(r"[0-9]{1,9}", cell.strip()) for cell in cells)
        if whole and not np.any(np.all(rest == np.round(rest), axis=1)):
            why = "is the only line of whole numbers"
        values = found.numbers[0, of]
        if len(rest) > 9 and np.all((values < rest.min(axis=0)) | (values > rest.max(axis=0))):
            why = "is outside the range of all lines below it, in every column,"
    if why:
        shown = ", ".join(cell.strip()[:20] for cell in first[:4]) + (", ..." if len(first) > 4 else "")
        raise Unsettled(f"line {line} ({shown}) {why} and may be a header or data; {SETTLE}")


def load_csv(
    path: Path,
    packed: bool,
    labelled: bool,
    settled: Settled = NOTHING,
    kept: Callable[[list[str], int], Collection[int]] = lambda names, width: (),
    left_out: Callable[[list[str], int], Collection[int]] = lambda names, width: (),
    square: bool = False,
) -> Columns:
    """Return the columns of a file. All cells must be numbers, except in columns that may hold words or are left out.

    packed: the file is compressed by gzip. settled: the user's answers for a file that can be read in two ways.
    kept, left_out: functions of the column names and the number of columns. `kept` returns the numbers of the columns
        that may hold words, and `left_out` those of the columns that the user leaves out. In a table, columns with a
        word in the first line of data may also hold words.
    square: the numbers are a square matrix. A first line 0, 1, 2, ... is then data if there are as many lines as
        columns.

    Raises ValueError for other cells, for lines of different lengths, and for a file that can be read in two ways.
    """
    written = Cells(path, packed, settled, labelled)
    rows = iter(written)
    top = list(islice(rows, 2))
    if not top:
        raise ValueError("all its lines begin with #" if written.comments else "it is empty")
    first, width = top[0], len(top[0][1])
    try:
        names, is_header = _header(first, written, settled.header, labelled)
    except ValueError:
        _refuse_empty(top, ())  # an empty column explains it better
        raise
    if is_header and settled.header is None:
        _refuse_missing(top, labelled)
    without = left_out(names, width)
    _refuse_empty(top, without)
    texts: dict[int, list[str]] = {column: [] for column in (*kept(names, width), *without)}
    known: dict[str, str] = {}  # equal texts are stored once, because most labels appear many times
    slips: dict[int, tuple[int, str]] = {}
    rounded: dict[int, tuple[int, str]] = {}
    numbers, lines = array("d"), array("q")
    start: tuple[int, bool] | None = None
    for line, cells in chain(top[is_header:], rows):
        start = start or (line, cells[0].startswith("#"))
        _refuse_comment(line, cells, width, start)
        if len(cells) != width:
            raise _ragged(line, cells, first[1], first_below=is_header and not lines)
        if not lines and labelled:  # words in any column of the first line of data may be labels
            words = [
                column for column, cell in enumerate(cells) if number(cell) is None and column not in without
            ]
            texts |= {column: [] for column in words[:2]}
        lines.append(line)
        for column, cell in enumerate(cells):
            if column in texts:
                text = cell.strip()
                texts[column].append(
                    known.setdefault(text, text) if len(known) < SHARED else known.get(text, text)
                )
            value = number(cell)
            if value is None:
                if column not in texts:
                    others = [
                        later
                        for later in range(column + 1, width)
                        if later not in texts and number(cells[later]) is None
                    ]
                    raise not_a_number(line, [column, *others], cell, names, labelled)
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
        raise ValueError("it has no data below its header")
    table = np.frombuffer(numbers, dtype=np.float64).reshape(-1, width)
    found = Columns(names, table, texts, slips, rounded, str(written), lines, without)
    if settled.header is None and not names:
        if labelled:
            _doubt(*first, found)
        elif counting(first[1]) and len(found.numbers) != (width if square else 1):
            raise Unsettled(
                f"line {first[0]} holds the numbers of the columns, so it may be a header or data; delete a "
                "header, or write data with points, such as 0.0"
            )
    return found


def _ragged(line: int, cells: list[str], first: list[str], first_below: bool) -> ValueError:
    message = f"line {line} has {len(cells)} cells, and the first line has {len(first)}"
    if first_below and len(cells) == len(first) + 1:
        return Unsettled(
            f"{message}; if the first column holds names of the rows, as R writes them, give it a name in the first "
            "line"
        )
    if not all(cell.strip() for cell in [*first, *cells]):
        return Unsettled(
            f"{message}, and some of them are empty; write one separator, such as one tab, between two cells"
        )
    return ValueError(message)


def not_a_number(
    line: int, columns: Sequence[int], cell: str, names: Sequence[str] = (), labelled: bool = True
) -> Unsettled:
    """Return the error for a cell that should be a number.

    line: the number of its line. columns: the number of its column, and then those of other columns with a cell that is
    not a number. names: the names of all columns, or none. If `labelled`, the message offers --drop to leave these
    columns out.
    """
    text, name = cell.strip(), names[columns[0]].strip() if names else ""
    place = f"line {line}, column {columns[0] + 1}" + (f" ({name[:40]!r})" if name else "")
    drop = ""
    if labelled:
        called = [names[column].strip() if names else "" for column in columns]
        simple = all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}", each) for each in called)
        all_names = [each.strip() for each in names]
        once = all(all_names.count(each) == 1 for each in called)
        what = "the column" if len(columns) == 1 else "columns without numbers"
        if names and once:
            given = ",".join(called[:5]) if simple else "COLUMN"
        else:
            given = f"{','.join(str(column) for column in columns[:5])} (the first column is 0)"
        drop = f"leave {what} out: --drop {given}"
    if text.lower() in MISSING:
        shown = repr(text) if text else "an empty cell"
        return Unsettled(
            f"{place}: {shown} is not a number; {_or('delete such lines', 'fill them in', drop)}"
        )
    kind, remedy = quantity(text)
    if kind:
        return Unsettled(f"{place}: {text[:40]!r} is {kind}, and no number; {_or(remedy, drop)}")
    words = (
        "turn words into numbers, such as a column of 0 and 1 for each word" if labelled else WITHOUT_NAMES
    )
    return Unsettled(f"{place}: {text[:40]!r} is not a number; {_or('correct the cell', words, drop)}")


def _or(*remedies: str) -> str:
    """Return the remedies that are not empty as one text, with commas and a last "or"."""
    *first, last = [each for each in remedies if each]
    return ", or ".join([", ".join(first), last]) if first else last


def quantity(cell: str) -> tuple[str, str]:
    """Return the kind of a quantity that is not a number, such as "a date", and how to write it; else "", ""."""
    for kind, looks, remedy in _QUANTITIES:
        if re.fullmatch(looks, cell.strip(), re.IGNORECASE):
            return kind, remedy
    return "", ""
