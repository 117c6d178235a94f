"""Show an object at a prompt, in at most ten lines, and show a string on a terminal, with printable characters."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

LINES, WIDTH, LETTERS = 10, 110, 60
PRINTED = 80  # characters of a string that a file holds


def brief(value: Any) -> str:
    """A number or a word as it is; of what is long, what it is."""
    if isinstance(value, np.ndarray):
        return (
            f"array[{','.join(map(str, value.shape))}]"
            if value.size > 1
            else printable(value.tolist(), LETTERS)
        )
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{printable(name)}: {brief(each)}' for name, each in value.items())}}}"
    if isinstance(value, (list, tuple)) and len(str(value)) > LETTERS:
        return f"{type(value).__name__} of {len(value)}"
    said = repr(str(value)) if isinstance(value, str) else str(value)
    if dataclasses.is_dataclass(value) and len(said) > LETTERS:
        return type(value).__name__
    return cut(said)


def cut(said: str, letters: int = LETTERS) -> str:
    """The text, or as many of its letters and a sign that there are more."""
    return said if len(said) <= letters else f"{said[:letters]}..."


def escaped(said: str) -> str:
    """The text with an escape, such as \\x1b or \\n, for each character that a terminal obeys or does not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in said)


def one_line(said: str) -> str:
    """A message on one line: a blank for each run of blanks and line ends, and else `escaped`."""
    return escaped(" ".join(said.split()))


def printable(value: object, letters: int = PRINTED, tail: bool = False) -> str:
    """A string that comes from a file, or names one, as messages and reports show it: `escaped`, and cut.

    It has at most `letters` characters: the first ones and a sign that there are more, or with `tail` the last ones.
    """
    said = escaped(str(value))
    if len(said) <= letters:
        return said
    return f"...{said[3 - letters :]}" if tail else f"{said[: letters - 3]}..."


def few(lines: Iterable[str], rest: str) -> str:
    """The lines, or as many as there is room for, and where the rest is."""
    given = list(lines)
    return "\n".join(given if len(given) <= LINES else [*given[: LINES - 1], f"... {rest}"])


def listed(name: str, values: Mapping[str, Any]) -> str:
    """The name, and each value with its own name."""
    said = ", ".join(f"{key}={brief(value)}" for key, value in values.items())
    lines = textwrap.wrap(f"{name}({said})", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return few(lines, "and more)")


def shown(self: Any) -> str:
    """The `__repr__` of a dataclass: each of its fields."""
    fields = [field.name for field in dataclasses.fields(self) if field.repr]
    return listed(type(self).__name__, {name: getattr(self, name) for name in fields})
