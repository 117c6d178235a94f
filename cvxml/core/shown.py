"""What a prompt shows of an object: ten lines at most, whatever it holds."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

LINES, WIDTH, LETTERS = 10, 110, 60


def brief(value: Any) -> str:
    """A number or a word as it is; of what is long, what it is."""
    if isinstance(value, np.ndarray):
        return f"array[{','.join(map(str, value.shape))}]" if value.size > 1 else str(value.tolist())
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {brief(each)}' for name, each in value.items())}}}"
    if isinstance(value, (list, tuple)) and len(str(value)) > LETTERS:
        return f"{type(value).__name__} of {len(value)}"
    said = repr(str(value)) if isinstance(value, str) else str(value)
    if dataclasses.is_dataclass(value) and len(said) > LETTERS:
        return type(value).__name__
    return cut(said)


def cut(said: str, letters: int = LETTERS) -> str:
    """The text, or as many of its letters and a sign that there are more."""
    return said if len(said) <= letters else f"{said[:letters]}..."


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
