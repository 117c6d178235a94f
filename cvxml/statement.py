"""The mathematics of a method, row by row: each formula as text and as LaTeX, and the line of code that it is.

A method's `STATEMENT` is a `Statement`; `cvxml show` (show.py) lays its rows beside the literal source.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple


class Row(NamedTuple):
    """A formula, or a remark.

    text: for a terminal; a line break, where it has one, is for the column beside the code, and a space elsewhere.
    latex: the same in LaTeX's mathematics mode, words in \\text{}. code: the beginning of the line of the literal
    source that says it, "" where no line does. equation: its number in the paper, "" where it has none.
    """

    text: str
    latex: str
    code: str = ""
    equation: str = ""

    @property
    def tag(self) -> str:
        """The number in brackets, or nothing."""
        return f"({self.equation})" if self.equation else ""


class Section(NamedTuple):
    """Rows that belong together. heading: words alone. function: of the source, which says the rows; "" where none."""

    heading: str
    rows: tuple[Row, ...]
    function: str = ""


class Statement(NamedTuple):
    """What a method is, in the order in which it is read: the problem, what its symbols mean, the dual."""

    sections: tuple[Section, ...]

    def __str__(self) -> str:
        return as_text(self)


def as_text(statement: Statement, width: int = 100) -> str:
    """The mathematics alone, for a terminal of `width` columns."""
    return "\n\n".join("\n".join(section_text(section, width)) for section in statement.sections)


def section_text(section: Section, width: int) -> list[str]:
    """The lines of one section, none longer than `width` unless a formula cannot be broken."""
    return [section.heading, *(line for row in section.rows for line in row_text(row, width))]


def row_text(row: Row, width: int, column: bool = False) -> list[str]:
    """The lines of one row, indented, the number at the right end. column: its own line breaks are kept."""
    lines = formula(row.text, width, "  ", column)
    return _numbered(lines, row.tag, width) if row.tag else lines


def formula(text: str, width: int, indent: str = "", column: bool = False) -> list[str]:
    """A formula on lines of `width`: on one if it has room, else with its own line breaks and what else it needs."""
    line = indent + " ".join(text.split("\n"))
    if len(line) <= width and not column:
        return [line]
    first, *rest = text.split("\n")
    return [*wrapped(first, width, indent), *(line for part in rest for line in wrapped(part, width, "    "))]


def _numbered(lines: list[str], tag: str, width: int) -> list[str]:
    """The number at the right end of the last line that has room for it, else on a line of its own."""
    room = [i for i, line in enumerate(lines) if len(line) + 1 + len(tag) <= width]
    at = room[-1] if room else len(lines)
    lines = [*lines, ""][: max(at + 1, len(lines))]
    lines[at] = f"{lines[at]:<{width - len(tag)}}{tag}"
    return lines


_TOGETHER = re.compile(  # no line ends within these
    r"\{[^{}]*\}|\([^()]{1,14}\)|\|\|[^|]{1,16}\|\|"  # what stands in brackets
    r"|\b(?:sum|min|max|mean|log|det|tr|over|gamma|mu|C)(?:_\{[^{}]*\}|[^\s{])* (?=\S)"  # an operator and what it is of
    r"|\b1/\w+ (?=sum_)"  # a mean
    r"|(?<= [-+=]) (?=\S)|(?<= [<>!]=) (?=\S)| (?=[)\]])"  # a sign and what follows, what precedes a bracket's end
)


def wrapped(text: str, width: int, indent: str) -> Iterator[str]:
    """The lines of a formula, broken where it hurts least; what follows the first is indented by four."""
    glued = _TOGETHER.sub(lambda found: found.group().replace(" ", "\xa0"), text)
    for line in _broken(glued, width, indent):
        fits = len(line) <= width
        yield from [line.replace("\xa0", " ")] if fits else _broken(line.replace("\xa0", " "), width, "")


def _broken(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text,
        max(width, 24),
        initial_indent=indent,
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def as_latex(statement: Statement) -> str:
    """A fragment for a document with amsmath and amssymb: a paragraph for each section, its rows in an align*."""
    return "\n\n".join(section_latex(section) for section in statement.sections)


def section_latex(section: Section) -> str:
    """One section: `\\paragraph`, and an `align*` in which a row with a number carries it as its tag."""
    rows = (f"& {row.latex}" + (rf" \tag{{{row.equation}}}" if row.equation else "") for row in section.rows)
    heading = section.heading[:1].upper() + section.heading[1:]
    body = " \\\\\n".join(rows)
    return f"\\paragraph{{{heading}}}\n\\begin{{align*}}\n{body}\n\\end{{align*}}"
