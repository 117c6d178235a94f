"""Split files into lines of cells, and find their encoding, separator and decimal mark.

Python's csv module splits the lines. This module decides the rest, and refuses a file that can be read in two ways.
csv.Sniffer and pandas guess instead. To refuse is to raise a ValueError.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

from cvxml.core.files import common
from cvxml.core.files.common import Path, Unsettled, max_unpacked, open_regular
from cvxml.core.inputs import check_choice

MAX_LINE_BYTES = 16 * 1024**2  # one line of CSV, or one row that spans several lines
MAX_COLUMNS = 10**6  # most cells of a line; a cell of one letter takes 60 bytes
# allowed excess of blank lines: 2 GiB of blank lines pack into 2 MiB, and take minutes to read
MAX_BLANK = 10**5
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " "}
MARKS = ("point", "comma")
_CHUNK_BYTES = 2**20
_GZIP = b"\x1f\x8b"  # the first bytes of a gzip file
UNICODE = "utf-8-sig"  # with or without the byte order mark that Excel writes

_WITH_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}", re.ASCII)
_QUOTED = re.compile(r'"[^"]*("|$)')
_BEHIND_QUOTES = re.compile(r'"[^"]*+(?:""[^"]*+)*+"([^"].*)', re.DOTALL)
_UNCLOSED = re.compile(r'"[^"]*+(?:""[^"]*+)*+')
QUOTES = (
    'delete the quotes, or write them around the whole cell and each one within it twice, such as "a ""b"" c"'
)


@dataclass(frozen=True)
class Settled:
    """The user's answers for a file that can be read in two ways. None: decide from the file, or refuse it.

    label: the column of the labels: "first", "last", a name in the header, or a number counted from 0.
    header: True if the first line is a header. index: True if the first column only numbers or names the rows. This
    column is then left out, and is not counted in the numbers of `label` and `drop`.

    separator: "comma", "semicolon", "tab" or "space". decimal: the decimal mark, "point" or "comma". encoding: a name
    that Python knows. drop: columns that are left out, each given like `label`.
    """

    label: str | None = None  # first, last, a name in the header, or a number counted from 0
    header: bool | None = None  # True if the first line is a header
    index: bool | None = None  # True if the first column only numbers or names the rows
    separator: str | None = None  # one of SEPARATORS
    decimal: str | None = None  # one of MARKS
    encoding: str | None = None  # a name that Python knows
    drop: tuple[str, ...] | None = None  # columns that are left out, each as `label` names one


NOTHING = Settled()


def settled(
    label: str | int | None = None,
    header: str | bool | None = None,
    index: str | bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    drop: str | int | Sequence[str | int] | None = None,
) -> Settled:
    """Return the user's answers, checked. Raises ValueError for unknown words.

    header, index: also "yes" or "no". drop: a list of columns, or a text with commas between them.
    """
    if separator is not None:
        check_choice(separator, "separator", tuple(SEPARATORS))
    if decimal is not None:
        check_choice(decimal, "decimal", MARKS)
    try:
        if encoding is not None:
            "".encode(encoding)
    except LookupError:
        raise ValueError(f"encoding {encoding!r:.40} is not known; give utf-8, latin-1 or the like") from None
    asked = _choice("header", header), _choice("index", index), separator, decimal, encoding
    if isinstance(drop, (str, int)):
        drop = str(drop).split(",")
    left_out = tuple(str(column).strip() for column in drop) if drop else None
    return Settled(None if label is None else str(label), *asked, left_out)


def _choice(name: str, value: object) -> bool | None:
    if value not in (None, True, False, "yes", "no"):
        raise ValueError(f"{name} must be yes or no, got {str(value)[:40]!r}")
    return value == "yes" if isinstance(value, str) else None if value is None else bool(value)


def number(cell: str) -> float | None:
    if not cell.isascii():
        cell = cell.strip()  # web pages and word processors write a no-break space beside a number
    # float() also accepts 1_000 and digits of other scripts, which are more likely mistakes.
    if "_" in cell or not cell.isascii():
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _refuse_returns(count: int, line: str) -> None:
    """Refuse line ends of old Macs: a carriage return without a line feed, outside quotes.

    count: the number of the line, for the message.
    """
    body = line.rstrip("\r\n")
    if "\r" in body and "\r" in _QUOTED.sub("", body):
        raise Unsettled(
            f"line {count} has a carriage return without a line feed, as lines of old Macs end; save the file with "
            "the line ends of Unix or Windows (in Excel: CSV UTF-8)"
        )


def _refuse_long(line: int, total: int) -> None:
    """Refuse a line of more than MAX_LINE_BYTES, and a file of more than MAX_BYTES.

    line: the size of a line. total: the size of the file up to the end of this line.
    """
    if line > MAX_LINE_BYTES or total > common.MAX_BYTES:
        raise ValueError(f"over {MAX_LINE_BYTES} bytes in a line or {common.MAX_BYTES} in all")


def _refuse_unpacked(stream: BinaryIO) -> None:
    """Refuse a gzip file that unpacks to too many bytes, is damaged, or is not compressed by gzip.

    The whole file is unpacked once here, without keeping the bytes, because cells take even more memory and time.
    """
    most, total = max_unpacked(stream), 0
    head = stream.read(len(_GZIP))
    if head and head != _GZIP:
        raise Unsettled("it is not compressed by gzip; take .gz off its name, or compress it with gzip")
    stream.seek(0)
    unpacked = gzip.GzipFile(fileobj=stream)
    try:
        while chunk := unpacked.read(_CHUNK_BYTES):
            total += len(chunk)
            if total > most:
                raise Unsettled(
                    f"it unpacks to more than {most} bytes, the limit for a file of its size; give the unpacked file"
                )
    except EOFError:
        raise Unsettled(
            "its compressed data are cut off before their end; copy or download it again"
        ) from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise Unsettled(f"its compressed data are damaged ({error}); copy or download it again") from None
    stream.seek(0)


def _ends_by_byte(encoding: str) -> bool:
    """Return True if a line ends with the byte 10 in this encoding, as in UTF-8, and unlike in UTF-16."""
    return "a\n".encode(encoding).endswith(b"a\n")


class Cells:
    """The rows of a file: an iterator yields (line number from 1 on, list of cells). Decimal commas become points.

    Blank lines are skipped. Lines that begin with # above the first row are kept as `comments`. A # further down is
    part of a cell. packed: the file is compressed by gzip. asked: the user's answers. table: one column holds labels.
    """

    def __init__(self, path: Path, packed: bool, asked: Settled, table: bool):
        self.path, self.packed, self.asked = path, packed, asked
        # files that are not tables, such as a matrix, have no options for these choices
        self.plainly = "" if table else "write it with commas between the cells and points in the numbers"
        # comma, point: the first cell with that decimal mark
        self.separator, self.comma, self.point = ",", "", ""
        self.told_apart = False  # True once a cell with a comma cannot be a number with thousands
        self.comments: list[tuple[int, str]] = []  # the comment lines above the data, without their #

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        with open_regular(self.path) as stream:
            lines = self._lines(stream)
            skipped, first = self._preamble(0, lines)
            if named := re.fullmatch(r"sep=(.)\s*", first):  # a line that Excel writes
                skipped, first = self._preamble(skipped + 1, lines)
                self.separator = named[1]
            else:
                self.separator = self._separator(skipped + 1, first)
            yield from self._rows(skipped, chain([first], lines))
        self._settle_thousands()

    def __str__(self) -> str:
        """Return in words how the file differs from most files: its separator, decimal commas, and encoding."""
        names = {sign: name for name, sign in SEPARATORS.items()}
        said = (
            [] if self.separator == "," else [f"{names.get(self.separator, self.separator)}s between cells"]
        )
        said += ["decimal commas"] if self.comma else []
        return ", ".join([*said, *([str(self.asked.encoding)] if self.asked.encoding else [])])

    def _preamble(self, above: int, lines: Iterator[str]) -> tuple[int, str]:
        """Return the number of lines above the first line that is neither blank nor a comment, and that line.

        above: the number of lines that were read before `lines`; they are counted too. If there is no such line, the
        second result is "".
        """
        for line in lines:
            text = line.strip()
            if text and not text.startswith("#"):
                return above, line
            above = self._blank(above + 1, 0)
            if text:
                self.comments.append((above, line.strip(" \r\n").lstrip("#").strip(" ")))
        return above, ""

    def commented(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the comments above the data as cells, each with its line number.

        Call it after the first row was read.
        """
        return ((line, self._comment(text)) for line, text in self.comments if not self._is_wide(text))

    def _is_wide(self, line: str) -> bool:
        """Return True if a line has more than MAX_COLUMNS separators."""
        if self.separator == " " and line.count(" ") > MAX_COLUMNS:  # any run of blanks is one separator
            line = re.sub(" +", " ", line)
        return line.count(self.separator) > MAX_COLUMNS

    def _comment(self, text: str) -> list[str]:
        try:
            return [cell.strip() for row in self._reader([text]) for cell in row]
        except csv.Error:  # quotes as in prose
            return [text]

    def _lines(self, stream: BinaryIO) -> Iterator[str]:
        encoding = self.asked.encoding or UNICODE
        if self.packed:
            _refuse_unpacked(stream)
        unpacked: Any = gzip.GzipFile(fileobj=stream) if self.packed else stream
        lines = self._of_bytes if _ends_by_byte(encoding) else self._of_letters
        for count, line in enumerate(lines(unpacked, encoding), 1):
            _refuse_returns(count, line)
            yield line

    def _of_letters(self, unpacked: BinaryIO, encoding: str) -> Iterator[str]:
        """Yield the lines of a file in an encoding such as UTF-16, whose bytes must be decoded to find the lines."""
        text, count = io.TextIOWrapper(unpacked, encoding, newline="\n"), 0
        try:
            while line := text.readline(MAX_LINE_BYTES + 1):
                _refuse_long(len(line), unpacked.tell())
                yield line if count else line.removeprefix("\ufeff")
                count += 1
        except UnicodeError as error:
            what = f"line {count + 1} or a later one is not {encoding} ({error})"
            raise Unsettled(f"{what}; give another --encoding") from None
        finally:
            text.detach()  # the file is closed where it was opened

    def _of_bytes(self, unpacked: BinaryIO, encoding: str) -> Iterator[str]:
        total, count = 0, 0
        while raw := unpacked.readline(MAX_LINE_BYTES + 1):
            total, count = total + len(raw), count + 1
            _refuse_long(len(raw), total)
            try:
                line = raw.decode(encoding)
            except UnicodeDecodeError as error:
                raise self._undecoded(count, raw, error) from None
            yield line
            encoding = "utf-8" if encoding == UNICODE else encoding

    def _undecoded(self, line: int, raw: bytes, error: UnicodeDecodeError) -> Unsettled:
        if line == 1 and raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            or_else = "" if self.plainly else ", or give --encoding utf-16"
            return Unsettled(f"it is UTF-16; save it as UTF-8 (in Excel: CSV UTF-8){or_else}")
        or_else = "" if self.plainly else ", or give --encoding, such as latin-1"
        named = "UTF-8" if error.encoding == "utf-8" else error.encoding
        what = f"line {line} is not {named} (byte {raw[error.start]:#x})"
        return Unsettled(f"{what}; save it as UTF-8 (in Excel: CSV UTF-8){or_else}")

    def _blank(self, blank: int, line: int) -> int:
        if 2 * blank - max(line, blank) > MAX_BLANK:
            raise ValueError(f"it has {blank} blank lines or comments among its first {max(line, blank)}")
        return blank

    def _separator(self, line: int, first: str) -> str:
        """Return the separator of the cells in the text `first`, which is line number `line`.

        If the user gave a separator, it is returned. Otherwise, the signs comma, semicolon and tab are searched outside
        quotes. If the text holds none of them, the separator is a blank if the text has one, and else a comma. If it
        holds one of them, this is the separator. If it holds several, each is tried: it is possible if the cells then
        hold no other of the signs, except for decimal commas. Raises Unsettled unless exactly one is possible.
        """
        if self.asked.separator is not None:
            return SEPARATORS[self.asked.separator]
        bare = _QUOTED.sub("q", first.rstrip("\r\n"))
        found = [sign for sign in ",;\t" if sign in bare]
        if not found:
            return " " if " " in bare.strip() else ","

        def leaves_numbers(sign: str) -> bool:
            others = [cell for cell in bare.split(sign) if any(other in cell for other in found)]
            return all(_WITH_COMMA.fullmatch(cell.strip()) for cell in others)

        able = [sign for sign in found if leaves_numbers(sign)]
        if len(able) == 1:
            return able[0]
        names = [name + "s" for name, sign in SEPARATORS.items() if sign in found]
        settle = self.plainly or f"give --separator {' or '.join(name[:-1] for name in names)}"
        raise Unsettled(f"line {line} may be separated by {' or '.join(names)}; {settle}")

    def _reader(self, lines: Iterable[str]) -> Any:
        # any run of blanks is one separator
        spaced = self.separator == " "
        given = (line.strip(" \r\n") + "\n" for line in lines) if spaced else lines
        return csv.reader(given, delimiter=self.separator, skipinitialspace=spaced, strict=True)

    def _rows(self, skipped: int, lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
        since = io.StringIO()  # the text since the last row
        begin = skipped + 1  # the number of its first line
        blank = 0

        def counted() -> Iterator[str]:
            for line in lines:
                since.write(line)
                if since.tell() > MAX_LINE_BYTES:
                    raise ValueError(
                        f"the row of line {begin} has over {MAX_LINE_BYTES} letters, with line ends inside quotes"
                    )
                if self._is_wide(line):
                    raise ValueError(f"a line has over {MAX_COLUMNS} cells")
                yield line

        reader = self._reader(counted())
        try:
            for row in reader:
                since.seek(0)
                since.truncate()
                line = skipped + reader.line_num
                begin = line + 1
                if not row:
                    blank = self._blank(blank + 1, reader.line_num)
                    continue
                yield line, row if self.separator == "," else [self._with_point(line, cell) for cell in row]
        except csv.Error as error:
            raise self._not_cells(begin, skipped + reader.line_num, since.getvalue(), error) from None

    def _not_cells(self, begin: int, end: int, text: str, error: csv.Error) -> Unsettled:
        """Return the error for a row that the csv module cannot split into cells.

        begin, end: the numbers of its first line and of the line with the error. text: the lines from begin to end.
        error: the error of the csv module.
        """
        cells, limit = self._as_written(text), csv.field_size_limit()
        column = max(range(len(cells)), key=lambda k: len(cells[k]))
        if len(cells[column]) > limit:
            place, unclosed = f"line {end}, column {column + 1}", ""
            if begin < end:
                place, unclosed = (
                    f"lines {begin} to {end}, column {column + 1}",
                    "close the quotes of the cell, ",
                )
            remedy = f"{unclosed}shorten it, or delete the column from the file"
            return Unsettled(f"{place}: a cell has more than {limit} letters, the limit; {remedy}")
        for column, cell in enumerate(cells):
            if found := _BEHIND_QUOTES.fullmatch(cell):
                behind = (
                    f"{found[1][:20]!r} follows the quotes of a cell, where {self.separator!r} is expected"
                )
                return Unsettled(f"line {end}, column {column + 1}: {behind}; {QUOTES}")
            if _UNCLOSED.fullmatch(cell):
                return Unsettled(
                    f"line {begin}, column {column + 1}: the quotes of a cell are not closed; {QUOTES}"
                )
        return Unsettled(f"line {end}: {error}; {QUOTES}")

    def _as_written(self, text: str) -> list[str]:
        """Return the cells in the text of one row as they are written, with their quotes."""
        text = text.rstrip("\r\n")
        if self.separator == " ":
            text = re.sub(" +", " ", text.strip(" "))
        written = re.compile(f'(?:"[^"]*+(?:""[^"]*+)*+"?+)?[^{re.escape(self.separator)}]*+')
        cells: list[str] = []
        at = 0
        while at <= len(text):
            cells.append(written.match(text, at)[0])  # type: ignore[index]  # it matches everywhere
            at += len(cells[-1]) + 1
        return cells

    def _with_point(self, line: int, cell: str) -> str:
        if "," in cell and self.asked.decimal != "point" and _WITH_COMMA.fullmatch(cell.strip()):
            self.comma = self.comma or cell.strip()
            self.told_apart = self.told_apart or not _THOUSANDS.fullmatch(cell.strip())
            self._one_mark(line, cell)
            return cell.replace(",", ".")
        if "." in cell and not self.point and number(cell) is not None:
            self.point = cell.strip()
            self._one_mark(line, cell)
        return cell

    def _one_mark(self, line: int, cell: str) -> None:
        if self.point and (self.comma or self.asked.decimal == "comma"):
            both = "decimal commas" if not self.comma else f"{self.comma!r} and {self.point!r}"
            raise Unsettled(f"line {line}: {cell[:40]!r} in a file of {both}; write all numbers with points")

    def _settle_thousands(self) -> None:
        if self.comma and not self.told_apart and self.asked.decimal is None:
            settle = self.plainly or "give --decimal comma, or write thousands without commas"
            read = repr(float(self.comma.replace(",", ".")))  # 1.2, because 1.200 may be read as 1200
            raise Unsettled(f"{self.comma!r} may be {read} or {self.comma.replace(',', '')}; {settle}")
