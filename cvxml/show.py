"""`cvxml show`: the mathematics of a method beside its literal source, each formula at the line that says it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import NamedTuple

from cvxml.methods import Method, get
from cvxml.statement import Row, Section, Statement, as_latex, formula, row_text, section_text

NARROWEST, WIDEST = 36, 64  # columns of mathematics beside the code; with fewer it goes above the code
PROSE = 110  # columns, at most, of what stands above and below


class Placed(NamedTuple):
    """Which rows stand where: sections without code above or below, the others at a line of the code."""

    above: list[Section]
    beside: dict[int, list[Row]]
    below: list[Section]


def show(method: str, width: int, latex: bool = False) -> str:
    """What the command prints, for a terminal of `width` columns. Raises ValueError for an unknown method."""
    module = get(method)
    if latex:
        return f"% {module.TITLE}\n{as_latex(module.STATEMENT)}"
    parts = [
        textwrap.wrap(module.TITLE, width),
        side_by_side(module.STATEMENT, module.literal_source(), width),
    ]
    return "\n\n".join("\n".join(part) for part in [*parts, _parameters(module, width)])


def side_by_side(statement: Statement, source: str, width: int) -> list[str]:
    """The lines of mathematics and code, in the order of the source, from its first function on.

    On `width` columns or fewer: two columns, where NARROWEST are left for the mathematics, else comments above the
    lines of code. Raises ValueError for a row whose line is not in the source exactly once.
    """
    code = functions_of(source)
    placed = place(statement, code)
    room = min(width - max(map(len, code)) - 3, WIDEST)
    middle = (
        _columns(placed.beside, code, room) if room >= NARROWEST else _comments(placed.beside, code, width)
    )
    parts = [_prose(placed.above, width), middle, _prose(placed.below, width)]
    lines = [line for part in parts if part for line in [*part, ""]]
    return lines[:-1]


def functions_of(source: str) -> list[str]:
    """The lines of a module from its first function on: what is above it are its docstring and its imports."""
    return source[source.index("\ndef ") :].strip("\n").splitlines()


def place(statement: Statement, code: Sequence[str]) -> Placed:
    """A heading stands at its function, a row at its line, or under the row before it."""
    placed = Placed([], {}, [])
    for section in statement.sections:
        if not section.function:
            (placed.below if placed.beside else placed.above).append(section)
            continue
        lines = _lines_of(section.function, code)
        at = lines.start
        for row in (Row(section.heading, ""), *section.rows):
            at = _line_of(row.code, code, lines) if row.code else at
            placed.beside.setdefault(at, []).append(row)
    return placed


def _lines_of(function: str, code: Sequence[str]) -> range:
    start = _line_of(f"def {function}(", code, range(len(code)))
    end = (i for i in range(start + 1, len(code)) if code[i] and not code[i].startswith((" ", ")")))
    return range(start, next(end, len(code)))


def _line_of(beginning: str, code: Sequence[str], lines: range) -> int:
    found = [i for i in lines if code[i].strip().startswith(beginning)]
    if len(found) != 1:
        raise ValueError(
            f"{len(found)} lines of the source begin with {beginning!r}; a row needs exactly one"
        )
    return found[0]


def _columns(beside: dict[int, list[Row]], code: Sequence[str], room: int) -> list[str]:
    """Mathematics on the left. Where it is longer than the code, a colon marks what is no line of the source."""
    cells = {at: [line for row in rows for line in _cell(row, room)] for at, rows in beside.items()}
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


def _cell(row: Row, room: int) -> list[str]:
    return row_text(row, room, column=True) if row.latex else formula(row.text, room)


def _comments(beside: dict[int, list[Row]], code: Sequence[str], width: int) -> list[str]:
    """Mathematics above the line that says it, after `#:`, which marks no comment of the source."""
    lines = []
    for i, line in enumerate(code):
        indent = line[: len(line) - len(line.lstrip())] + "#: "
        for row in beside.get(i, []):
            text = f"{row.text}   {row.tag}".rstrip()
            lines += [indent + part for part in formula(text, width - len(indent))]
        lines.append(line)
    return lines


def _prose(sections: Sequence[Section], width: int) -> list[str]:
    lines = [line for section in sections for line in [*section_text(section, min(width, PROSE)), ""]]
    return lines[:-1]


def _parameters(module: Method, width: int) -> list[str]:
    lines = ["parameters"] if module.PARAMETERS else ["no parameters"]
    for name, text in module.PARAMETERS.items():
        lines += textwrap.wrap(f"  {name}: {text}", min(width, PROSE), subsequent_indent="    ")
    return lines
