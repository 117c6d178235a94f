"""Short texts: objects in at most ten lines for a prompt, strings with printable characters for a terminal."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

LINES, WIDTH, LETTERS = 10, 110, 60
PRINTED = 80  # most characters of a string from a file


def brief(value: Any) -> str:
    """Return a value as short text: floats with 6 significant digits, and strings in quotes.

    Arrays with more than one entry become array[3,4], with their shape. Lists with a text of more than `LETTERS` (60)
    characters become "list of 100", and dataclasses with so long a text the name of their type. Other texts are cut to
    this length.
    """
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
    """Return the text, or its first letters and "..." if it is longer than `letters`."""
    return said if len(said) <= letters else f"{said[:letters]}..."


def escaped(said: str) -> str:
    r"""Return the text with escapes, such as \x1b or \n, for characters that a terminal obeys or does not show."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in said)


def one_line(said: str) -> str:
    """Return a message on one line, with a blank for each run of blanks and line ends.

    Other characters that a terminal does not show become escapes.
    """
    return escaped(" ".join(said.split()))


def printable(value: object, letters: int = PRINTED, tail: bool = False) -> str:
    """Return a string that comes from a file, or names a file, in a form that is safe for messages and reports.

    It is cut to `letters` characters: the first ones and "...", or with `tail` the last ones after "...". Characters
    that a terminal obeys or does not show become escapes.
    """
    said = escaped(str(value))
    if len(said) <= letters:
        return said
    return f"...{said[3 - letters :]}" if tail else f"{said[: letters - 3]}..."


def few(lines: Iterable[str], rest: str) -> str:
    """Return the lines as text, in at most `LINES` lines.

    If there are more, the first ones are followed by a last line with "... " and the text `rest`.
    """
    given = list(lines)
    return "\n".join(given if len(given) <= LINES else [*given[: LINES - 1], f"... {rest}"])


def listed(name: str, values: Mapping[str, Any]) -> str:
    """Return "name(key=value, ...)" with brief values, in at most `LINES` lines."""
    said = ", ".join(f"{key}={brief(value)}" for key, value in values.items())
    lines = textwrap.wrap(f"{name}({said})", WIDTH, subsequent_indent="    ", break_on_hyphens=False)
    return few(lines, "and more)")


def shown(self: Any) -> str:
    """Return the text of a dataclass with its fields, for use as `__repr__`."""
    fields = [field.name for field in dataclasses.fields(self) if field.repr]
    return listed(type(self).__name__, {name: getattr(self, name) for name in fields})
