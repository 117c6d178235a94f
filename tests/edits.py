"""Edits of a saved file, one field at a time: every field at every depth, with edits that fit its type."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from cvxml.core.result import Status
from cvxml.methods import names

# words that replace a word: names of methods and statuses, and every word that a parameter of some method accepts
WORDS = (
    *names(),
    *Status.__members__,
    *("fast", "clarabel", "scs", "f", "g", "auc", "map", "mrr", "ndcg", "precision", "knn", "per-class"),
    *(
        "explicit",
        "weighted",
        "plain",
        "orthonormalized",
        "free",
        "poly",
        "rbf",
        "linear",
        "gaussian",
        "fisher",
    ),
    "another word",
)


class Edit(NamedTuple):
    """One change of a file."""

    field: str  # the path of names, joined by points
    kind: str  # up, down, another word, null, a number, swapped, shorter, longer, removed, unknown
    old: Any  # the value before the edit
    new: Any  # the value after the edit; None if the field is removed
    content: dict[str, Any]  # content of the edited file


def edits(content: dict[str, Any], scale: float, few: int) -> Iterator[Edit]:
    """Yield every edit of a file. few: most entries of a list that are edited. scale: the scale of the problem."""
    for path, value in _places(content, (), few):
        field = ".".join(name for name in path if isinstance(name, str))
        if path and isinstance(path[-1], str):
            yield Edit(field, "removed", value, None, _removed(content, path))
        for kind, new in _others(path, value, scale):
            yield Edit(field, kind, value, new, _put(content, path, new))


def swapped(value: list[Any]) -> list[Any]:
    """Swap the first entry and the next different entry: for example, two labels of different classes."""
    k = next(k for k, entry in enumerate(value) if entry != value[0])
    return [value[k], *value[1:k], value[0], *value[k + 1 :]]


def _places(value: Any, path: tuple[Any, ...], few: int) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, value
    if isinstance(value, dict):
        for name in value:
            yield from _places(value[name], (*path, name), few)
    if isinstance(value, list):
        at = np.unique(np.linspace(0, len(value) - 1, min(few, len(value))).round().astype(int))
        for k in at.tolist():
            yield from _places(value[k], (*path, k), few)


def _others(path: tuple[Any, ...], value: Any, scale: float) -> Iterator[tuple[str, Any]]:
    """Yield the kind of each edit of a value, and the new value."""
    if isinstance(value, dict):
        yield "unknown", {**value, "unknown": 1}
    elif isinstance(value, list):
        yield from _other_lists(path, value)
    elif isinstance(value, bool):
        yield "another word", not value
    elif isinstance(value, (int, float)):
        step: float = 1
        if isinstance(value, float):
            step = 0.1 * abs(value) or 0.1
        if len(path) == 1:  # a figure of the solution
            step = max(step, 1e-3 * scale)
        yield "up", value + step
        yield "down", value - step
        yield "null", None
    elif isinstance(value, str):
        for word in WORDS:
            if word != value:
                yield "another word", word
        yield "null", None
    else:
        for number in (1, 2, 0.5):
            yield "a number", number
        yield "a list", []


def _other_lists(path: tuple[Any, ...], value: list[Any]) -> Iterator[tuple[str, Any]]:
    if any(entry != value[0] for entry in value):
        yield "swapped", swapped(value)
    if value:
        yield "shorter", value[:-1]
        yield "longer", [*value, value[-1]]
    else:
        yield "longer", [1]
    yield "null", None


def _put(content: dict[str, Any], path: tuple[Any, ...], new: Any) -> dict[str, Any]:
    if not path:
        changed: dict[str, Any] = copy.deepcopy(new)
        return changed
    changed = copy.deepcopy(content)
    part: Any = changed
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = new
    return changed


def _removed(content: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = copy.deepcopy(content)
    part: Any = changed
    for name in path[:-1]:
        part = part[name]
    del part[path[-1]]
    return changed
