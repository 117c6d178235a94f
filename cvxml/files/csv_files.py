"""Comma separated numbers, with or without a header, a column of labels and gzip around them."""

from __future__ import annotations

import csv
import gzip
from array import array
from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cvxml.files import common
from cvxml.files.common import Path, open_regular

MAX_LINE_BYTES = 16 * 1024**2  # one line of CSV
MAX_BLANK = 10**5  # so many more blank lines than others: 2 GiB of them pack into 2 MiB, and take minutes


def _lines(readline: Callable[[int], bytes]) -> Iterator[str]:
    total, encoding = 0, "utf-8-sig"
    while raw := readline(MAX_LINE_BYTES + 1):
        total += len(raw)
        if len(raw) > MAX_LINE_BYTES or total > common.MAX_BYTES:
            raise ValueError(f"over {MAX_LINE_BYTES} bytes in a line or {common.MAX_BYTES} in all")
        yield raw.decode(encoding)
        encoding = "utf-8"


def _rows(path: Path, packed: bool) -> Iterator[tuple[int, list[str]]]:
    with open_regular(path) as stream:
        readline = gzip.GzipFile(fileobj=stream).readline if packed else stream.readline
        reader = csv.reader(_lines(readline), strict=True)
        blank = 0
        for row in reader:
            blank += not row
            if 2 * blank - reader.line_num > MAX_BLANK:
                raise ValueError(f"it has {blank} blank lines among its first {reader.line_num}")
            if row:
                yield reader.line_num, row


def _number(cell: str) -> float | None:
    # float() also takes 1_000 and digits of other scripts, which are likelier to be mistakes.
    if "_" in cell or not cell.isascii():
        return None
    try:
        return float(cell)
    except ValueError:
        return None


def _header(line: int, cells: list[str]) -> list[str]:
    if _number(cells[0]) is not None:
        return []
    for cell in cells[1:]:
        if _number(cell) is not None:  # a slip in the data: as a header the line would be lost
            names = f"{cells[0][:40]!r} is no number but {cell[:40]!r} is"
            raise ValueError(f"line {line}: {names}, so it is neither data nor a header")
    return cells


def _label_column(header: list[str], width: int, label: str | None) -> int:
    if width < 2:
        raise ValueError("it has one column, a table needs features and a label")
    names = [name.strip() for name in header]
    wanted = "label" if label is None else label
    if names.count(wanted) == 1:
        return names.index(wanted)
    if label is None and wanted not in names:
        return width - 1
    raise ValueError(f"{names.count(wanted)} columns are named {wanted!r}, not one")


def load_csv(
    path: Path, packed: bool, labelled: bool, label: str | None = None
) -> tuple[NDArray[np.float64], list[str]]:
    rows = _rows(path, packed)
    first = next(rows, None)
    if first is None:
        raise ValueError("it is empty")
    header = _header(*first)
    width = len(first[1])
    at = _label_column(header, width, label) if labelled else -1
    numbers, labels = array("d"), list[str]()
    for line, cells in rows if header else chain([first], rows):
        if len(cells) != width:
            raise ValueError(f"line {line} has {len(cells)} cells, the first one {width}")
        for column, cell in enumerate(cells):
            if column == at:
                labels.append(cell.strip())
                continue
            value = _number(cell)
            if value is None:
                raise ValueError(f"line {line}, column {column + 1}: {cell[:40]!r} is no number")
            numbers.append(value)
        if len(numbers) * 8 > common.MAX_BYTES:
            raise ValueError(f"it holds more than {common.MAX_BYTES // 8} numbers")
    if not numbers:
        raise ValueError("it has no line below its header")
    return np.array(numbers, dtype=np.float64).reshape(-1, width - labelled), labels
