"""Docstrings here are plain text, made to be read in a terminal. For autodoc they become reStructuredText."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

NAMED = re.compile(r"^(\w+(?:, \w+)*) ?: (.+)$")  # "lam : float, default 0.1. The weight"


def escaped(text: str) -> str:
    """Text in which `code` is literal and no other character means anything."""
    parts = re.split(r"`([^`]+)`", text)
    plain = [re.sub(r"([\\*|_`])", r"\\\1", part) for part in parts[::2]]
    quoted = [f"``{part}``" for part in parts[1::2]]
    return "".join(a + b for a, b in zip(plain, [*quoted, ""], strict=True))


def section(lines: list[str]) -> list[str]:
    """The lines under "Parameters": a list, with an item for each name."""
    out: list[str] = []
    for line in lines:
        found = NAMED.match(line)
        if found:
            out += ["", f"- **{escaped(found[1])}** : {escaped(found[2])}"]
        elif line.strip():
            out.append(f"  {escaped(line.strip())}")
    return [*out, ""]


def paragraph(text: str, names: list[str]) -> list[str]:
    """A paragraph, with a line of its own for each of `names` that it explains: "tol: a gap. exact: in fractions"."""
    if not names:
        return [escaped(text), ""]
    listed = "|".join(map(re.escape, names))
    parts = re.split(rf"(?:^|(?<=[.;:] ))((?:{listed})(?:, (?:{listed}))*): ", text)
    out = [escaped(parts[0]), ""] if parts[0] else []
    for name, said in zip(parts[1::2], parts[2::2], strict=True):
        out += [f"- **{escaped(name)}** : {escaped(said)}", ""]
    return out


def readable(lines: list[str], names: list[str]) -> list[str]:
    """A docstring as reStructuredText; `names` are those of the arguments."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", "\n".join(lines)):
        given = block.strip("\n").splitlines()
        if len(given) > 1 and given[1] and set(given[1]) == {"-"}:
            out += [f".. rubric:: {given[0]}", "", *section(given[2:])]
        elif any(NAMED.match(line) and line.endswith(".") for line in given[:1]) and not names:
            out += section(given)
        else:
            out += paragraph(" ".join(line.strip() for line in given), names)
    return out


def fields(item: Any) -> Iterator[str]:
    """The fields of a dataclass, each with the comment beside it."""
    source = inspect.getsource(item)
    for node in ast.parse(source).body[0].body:  # type: ignore[attr-defined]
        if isinstance(node, ast.AnnAssign):
            text = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
            comment = re.search(r"# (.*)", text)
            kind = ast.unparse(node.annotation)
            yield f"{ast.unparse(node.target)} : {kind}{', ' + comment[1] if comment else ''}"


def process(app: Any, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    given = list(lines)
    if what == "class" and dataclasses.is_dataclass(item) and "Parameters" not in given:
        given += ["", "Fields", "------", *fields(item)]
    if what == "class" and issubclass(item, Enum):
        given += ["", "Values", "------", *(f"{member.name} : {member.value}" for member in item)]
    named = what in ("function", "method")
    lines[:] = readable(given, list(inspect.signature(item).parameters) if named else [])


def skip(app: Any, what: str, name: str, item: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn adds to every estimator."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"parallel_read_safe": True}
