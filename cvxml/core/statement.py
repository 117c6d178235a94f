r"""The mathematics of a method, read from its source: each formula stands above the line of code that implements it.

    #: text | latex | (equation)
    the line of code

The text is for a terminal. The LaTeX is the same formula in math mode, with words in \text{}. The equation is its
number in the paper; without a number, the formula ends with its LaTeX. Rules within a function:
- A line that begins with `#:` and more than one space continues the formula above. So text and LaTeX can have separate
  lines.
- Several formulas in one block belong to the same line of code.
- A block that begins with `#: [heading]` holds remarks without a line of code, for example the meaning of symbols or
  the statement that is proved. An empty line or the end of the function ends it.
- A formula that begins with `if flag:` or `if not flag:` belongs only to that form of the method.
The heading of a function's formulas is its docstring up to the first period or colon.

A method's `STATEMENT` is a `Statement`, which names the functions. `cvxml show` and the pages are made from it.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.abc import InspectLoader
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple


class Row(NamedTuple):
    """A formula or a remark.

    equation: its number in the paper, "" without one.
    at: the index of the line of code below it, in the lines of its `Section`; 0 for a remark.
    """

    text: str
    latex: str
    equation: str = ""
    at: int = 0

    @property
    def tag(self) -> str:
        """The number in brackets; "" without a number."""
        return f"({self.equation})" if self.equation else ""


class Section(NamedTuple):
    """The formulas of a function beside its code, or remarks without code.

    rows: the formulas or remarks; a formula with the problem itself ("min over ..", "max over ..") comes first.
    code: the lines of the function; () for remarks.
    """

    heading: str
    rows: tuple[Row, ...]
    code: tuple[str, ...] = ()

    def line(self, row: Row) -> str:
        """Return the line of code of a row; "" for a remark."""
        return self.code[row.at].strip() if self.code else ""


@dataclass(frozen=True)
class Statement:
    """The mathematics of a method: functions of a module, in reading order. The module is not imported.

    module: the name of the module, with its packages.
    functions: the names of the functions; default: all functions of the module.
    flags: the values of the flags in the formulas, for a method with more than one form.
    further: another statement, shown after this one; None if there is none.
    """

    module: str
    functions: tuple[str, ...] = ()
    flags: Mapping[str, bool] = field(default_factory=dict)
    further: Statement | None = None

    @cached_property
    def parts(self) -> tuple[Section, ...]:
        """The sections of every function, with remarks in their places, and then those of `further`.

        Raises ValueError for a malformed formula.
        """
        source = source_of(self.module)
        names = self.functions or tuple(functions_of(source))
        found = [part for name in names for part in read(source, name, self.flags)]
        return (*found, *(self.further.parts if self.further else ()))

    @property
    def places(self) -> list[str]:
        """The functions, each with file and line: the path, a colon, the line, a space, and the name.

        A file outside the folder that contains this package is given by its name alone. The places of `further` follow.
        """
        source, spec = source_of(self.module), find_spec(self.module)
        assert spec is not None
        assert spec.origin is not None
        file, root = Path(spec.origin), Path(__file__).parents[2]
        path = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        lines = functions_of(source)
        own = [f"{path}:{lines[name].lineno} {name}" for name in self.functions or lines]
        return own + (self.further.places if self.further else [])

    @property
    def sections(self) -> tuple[Section, ...]:
        """The sections that have rows."""
        return tuple(part for part in self.parts if part.rows)

    def __str__(self) -> str:
        return as_text(self)


def source_of(module: str) -> str:
    """Return the source text of a module without importing it. Raises ValueError if there is no source."""
    spec = find_spec(module)
    loader = spec.loader if spec else None
    source = loader.get_source(module) if isinstance(loader, InspectLoader) else None
    if source is None:
        raise ValueError(f"{module} has no source here, from which its mathematics could be read")
    return source


@cache
def functions_of(source: str) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def read(source: str, function: str, flags: Mapping[str, bool] | None = None) -> list[Section]:
    """Return the sections of one function: its remarks above, its formulas with its code, and its remarks below.

    source: the source text of the module. function: the name of the function. flags: {name: value} of the flags.

    Raises ValueError for a formula without text, LaTeX or a line of code, and for LaTeX with unbalanced braces. A flag
    without a value, a missing function, and a function that has formulas but no docstring raise it too.
    """
    heading, lines = _function(source, function)
    code: list[str] = []
    rows: list[Row] = []
    above: list[Section] = []
    below: list[Section] = []
    for block, line in _blocks(lines):
        remarks = bool(block) and block[0].strip().startswith("#: [")
        try:
            if remarks:
                (below if rows else above).append(_remarks(block, line, flags or {}))
            elif block:
                rows += _at_a_line(block, line, len(code), flags or {})
        except ValueError as wrong:
            raise ValueError(f"{function}: {block[0].strip()!r}: {wrong}") from None
        code += [] if line is None or remarks else [line]
    if rows and not heading:
        raise ValueError(
            f"{function}: a function with formulas needs a docstring; its first words are the heading"
        )
    rows.sort(key=lambda row: not row.text.startswith(("min over ", "max over ")))
    return [*above, Section(heading, tuple(rows), tuple(code)), *below]


def _function(source: str, name: str) -> tuple[str, list[str]]:
    """Return the heading of a function and its lines, including the `#:` comments after its last statement."""
    found = functions_of(source).get(name)
    if found is None:
        raise ValueError(f"the module has no function {name!r}")
    lines = source.splitlines()
    end = found.end_lineno or 0
    last = takewhile(lambda line: line.startswith("    #:"), lines[end:])
    heading = re.split(r"[.:]", ast.get_docstring(found) or "")[0]
    return heading, [*lines[found.lineno - 1 : end], *last]


def _blocks(lines: Sequence[str]) -> Iterator[tuple[list[str], str | None]]:
    """Yield (formulas, line) for each line that is not a `#:` line: the `#:` lines right above it, and the line.

    At the end, yield the `#:` lines after the last such line, with None.
    """
    block: list[str] = []
    for line in lines:
        if line.lstrip().startswith("#:"):
            block.append(line)
        else:
            yield block, line
            block = []
    yield block, None


def _at_a_line(block: Sequence[str], line: str | None, at: int, flags: Mapping[str, bool]) -> list[Row]:
    if (
        line is None
        or not line.strip()
        or line.lstrip().startswith("#")
        or _indent(line) != _indent(block[0])
    ):
        raise ValueError("there is no line of code below it; remarks begin with `#: [heading]`")
    return [row._replace(at=at) for row in _rows(block, flags)]


def _remarks(block: Sequence[str], line: str | None, flags: Mapping[str, bool]) -> Section:
    heading = block[0].strip()[4:]
    if not heading.endswith("]"):
        raise ValueError("a heading stands in brackets, alone on its line")
    if line:
        raise ValueError("an empty line ends remarks")
    return Section(heading[:-1], tuple(_rows(block[1:], flags)))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _rows(block: Sequence[str], flags: Mapping[str, bool]) -> Iterator[Row]:
    formulas: list[str] = []
    for line in block:
        text = line.strip().removeprefix("#:")
        if text.startswith("  ") and formulas:
            formulas[-1] += f" {text.strip()}"
        else:
            formulas.append(text.strip())
    for formula in formulas:
        flag = re.match(r"if (not )?(\w+): ", formula)
        if flag and flag[2] not in flags:
            raise ValueError(f"the statement has no value for the flag {flag[2]}")
        if not flag or flags[flag[2]] != bool(flag[1]):
            yield _row(formula[flag.end() :].strip() if flag else formula)


def _row(formula: str) -> Row:
    parts = [part.strip() for part in formula.split(" | ")]
    numbered = len(parts) == 3 and re.fullmatch(r"\(.+\)", parts[2])
    if not (len(parts) == 2 or numbered) or not all(parts) or re.fullmatch(r"\([\d, ]+\)", parts[1]):
        raise ValueError("a formula is written text | latex, or text | latex | (equation)")
    text, latex, tag = (*parts, "()")[:3]
    if not _nested(latex):
        raise ValueError("the braces of its LaTeX do not nest")
    return Row(text, latex, tag[1:-1])


def _nested(latex: str) -> bool:
    depth = 0
    for brace in re.findall(r"\\.|[{}]", latex):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if depth < 0:
            return False
    return depth == 0


def as_text(statement: Statement, width: int = 100) -> str:
    """Return the mathematics without code, for a terminal of `width` columns."""
    return "\n\n".join("\n".join(section_text(section, width)) for section in statement.sections)


def section_text(section: Section, width: int) -> list[str]:
    """Return the lines of one section. Each has at most `width` characters, unless a formula cannot be broken."""
    return [section.heading, *(line for row in section.rows for line in row_text(row, width))]


def row_text(row: Row, width: int) -> list[str]:
    """Return the indented lines of one row, with the equation number at the right end."""
    lines = list(wrapped(row.text, width, "  "))
    return _numbered(lines, row.tag, width) if row.tag else lines


def _numbered(lines: list[str], tag: str, width: int) -> list[str]:
    """Put the number at the right end of the last line that has room for it, else on a new line."""
    room = [i for i, line in enumerate(lines) if len(line) + 1 + len(tag) <= width]
    at = room[-1] if room else len(lines)
    lines = [*lines, ""][: max(at + 1, len(lines))]
    lines[at] = f"{lines[at]:<{width - len(tag)}}{tag}"
    return lines


_TOGETHER = re.compile(  # no line break within these
    r"\{[^{}]*\}|\([^()]{1,14}\)|\|\|[^|]{1,16}\|\|"  # brackets
    # an operator and its operand
    r"|\b(?:sum|min|max|mean|log|det|tr|over|gamma|mu|C)(?:_\{[^{}]*\}|[^\s{])* (?=\S)"
    r"|\b1/\w+ (?=sum_)"  # a mean
    # a sign and its right side; a blank before a closing bracket
    r"|(?<= [-+=]) (?=\S)|(?<= [<>!]=) (?=\S)| (?=[)\]])"
)


def wrapped(text: str, width: int, indent: str = "") -> Iterator[str]:
    """Yield the lines of a formula, each of at most `width` characters if possible.

    If possible, a line is not broken within brackets, or between an operator and its operand. indent: the indent of the
    first line; the lines after it are indented by four blanks.
    """
    if len(indent + text) <= width:
        yield indent + text
        return
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
    """Return LaTeX for a document with amsmath and amssymb: a paragraph for each section, its rows in an align*."""
    return "\n\n".join(section_latex(section) for section in statement.sections)


def section_latex(section: Section) -> str:
    r"""Return one section as `\paragraph` and `align*`; the number of a row is its tag."""
    rows = (f"& {row.latex}" + (rf" \tag{{{row.equation}}}" if row.equation else "") for row in section.rows)
    heading = section.heading[:1].upper() + section.heading[1:]
    body = " \\\\\n".join(rows)
    return f"\\paragraph{{{heading}}}\n\\begin{{align*}}\n{body}\n\\end{{align*}}"
