"""`cvxml show`: the mathematics of a method beside its literal source, each formula at the line that implements it.

The statement of a method has sections. A section is prose, or the source code of a function with the rows of
mathematics that its lines implement.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

from cvxml.core.method import Method
from cvxml.core.statement import Row, Section, Statement, as_latex, row_text, section_text, wrapped
from cvxml.methods import get

# columns of mathematics beside the code; with fewer columns, it goes above the code
NARROWEST, WIDEST = 36, 64
PROSE = 110  # most columns of the text above and below


class Placed(NamedTuple):
    """The statement of a method, arranged for printing.

    above: the sections of prose before the first section of code. below: all later sections of prose. code: the lines
    of all sections of code. beside: {index in `code`: the rows of mathematics that this line implements}.
    """

    above: list[Section]
    code: list[str]
    beside: dict[int, list[Row]]
    below: list[Section]


def show(method: str, width: int, latex: bool = False) -> str:
    """Return the text that `cvxml show METHOD` prints, for a terminal of `width` columns.

    latex: the mathematics alone, in LaTeX. Raises ValueError for an unknown method.
    """
    module = get(method)
    if latex:
        return f"% {module.TITLE}\n{as_latex(module.STATEMENT)}"
    parts = [
        textwrap.wrap(module.TITLE, width),
        textwrap.wrap(
            "source: " + ", ".join(module.STATEMENT.places), min(width, PROSE), break_on_hyphens=False
        ),
        side_by_side(module.STATEMENT, width),
    ]
    return "\n\n".join("\n".join(part) for part in [*parts, _parameters(module, width)])


def side_by_side(statement: Statement, width: int) -> list[str]:
    """Return the lines that show a statement: its mathematics beside its code, and the prose above and below them.

    If at least NARROWEST columns are left for the mathematics, it stands in a column to the left of the code. Otherwise
    it stands above the lines of code as comments, as in the source. Lines have at most `width` columns, unless the code
    is wider.
    """
    placed = place(statement)
    room = min(width - max(map(len, placed.code)) - 3, WIDEST)
    middle = (
        _columns(placed.beside, placed.code, room)
        if room >= NARROWEST
        else _comments(placed.beside, placed.code, width)
    )
    parts = [_prose(placed.above, width), middle, _prose(placed.below, width)]
    lines = [line for part in parts if part for line in [*part, ""]]
    return lines[:-1]


def place(statement: Statement) -> Placed:
    """Arrange the parts of a statement: the code, the mathematics at its lines, the prose above and below the code."""
    placed = Placed([], [], {}, [])
    for part in statement.parts:
        if not part.code:
            (placed.below if placed.code else placed.above).append(part)
            continue
        placed.code.extend(["", ""] if placed.code else [])
        start = len(placed.code)
        placed.code.extend(part.code)
        for row in part.rows:
            placed.beside.setdefault(start + row.at, []).append(row)
    return placed


def _columns(beside: dict[int, list[Row]], code: Sequence[str], room: int) -> list[str]:
    """Return lines with the mathematics on the left and the code on the right.

    beside: {index in `code`: the rows of mathematics of this line}. room: columns for the mathematics. If there is no
    line of code left beside a line of mathematics, a colon stands after the mathematics.
    """
    cells = {at: [line for row in rows for line in row_text(row, room)] for at, rows in beside.items()}
    width = max(len(line) for cell in cells.values() for line in cell)
    lines: list[str] = []
    waiting: list[str] = []
    for i, line in enumerate(code):
        if i in cells:
            lines += [f"{cell:<{width}} :" for cell in waiting]
            waiting = cells[i]
        cell, waiting = (waiting[0], waiting[1:]) if waiting else ("", [])
        lines.append(f"{cell:<{width}} | {line}".rstrip())
    return lines + [f"{cell:<{width}} :" for cell in waiting]


def _comments(beside: dict[int, list[Row]], code: Sequence[str], width: int) -> list[str]:
    """Return the lines of code, with the mathematics of each line above it, after `#:`.

    In the source, these comments also have LaTeX, which is left out here. beside: {index in `code`: the rows of
    mathematics of this line}.
    """
    lines = []
    for i, line in enumerate(code):
        indent = line[: len(line) - len(line.lstrip())] + "#: "
        for row in beside.get(i, []):
            text = f"{row.text}   {row.tag}".rstrip()
            lines += [indent + part for part in wrapped(text, width - len(indent))]
        lines.append(line)
    return lines


def _prose(sections: Sequence[Section], width: int) -> list[str]:
    lines = [line for section in sections for line in [*section_text(section, min(width, PROSE)), ""]]
    return lines[:-1]


def _parameters(module: Method[Any], width: int) -> list[str]:
    lines = ["parameters"] if module.PARAMETERS else ["no parameters"]
    for name, text in module.PARAMETERS.items():
        lines += textwrap.wrap(f"  {name}: {text}", min(width, PROSE), subsequent_indent="    ")
    return lines
