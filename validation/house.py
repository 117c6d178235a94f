"""Measure the code: how long it is, how many functions a call goes through, and which room imports which.

    python -m validation.house

- Lines of Python in the package, the tests and the validation, without and with the experiments.
- The median number of lines of a method, of a loss and of a regularizer. A method is its file or its folder; a loss and
  a regularizer are classes of `cvxml/family`, with their docstrings.
- Files and functions of cvxml that run in `solve`, in a `check` that certifies and in one that refutes, for MLSVM,
  LMNN and gerrymandering on iris.
- The rooms, and the number of arrows between them. A room is a folder of the package, such as cvxml/core, or a folder
  in cvxml/family. An arrow is an import of one room by another. It points up if the room comes later in the order of
  `tests/test_architecture.py`.
"""

from __future__ import annotations

import ast
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import cvxml
from cvxml import datasets
from cvxml.methods import get, names

ROOT = Path(__file__).parents[1]
PACKAGE = Path(cvxml.__file__).parent
WAY = ("mlsvm", "lmnn", "ssvm")


def lines(paths: Iterator[Path]) -> int:
    """Return the number of lines of these files."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def sizes() -> dict[str, int]:
    """Return the lines of Python in each part of the repository."""
    validation = list((ROOT / "validation").rglob("*.py"))
    outside = [path for path in validation if "experiments" not in path.parts]
    return {
        "package": lines(PACKAGE.rglob("*.py")),
        "tests": lines((ROOT / "tests").rglob("*.py")),
        "validation": lines(iter(validation)),
        "validation without experiments": lines(iter(outside)),
    }


def methods() -> list[int]:
    """Return the number of lines of each method: of its file, or of all files in its folder."""
    places = set()
    for method in names():
        module = sys.modules[type(get(method)).__module__]
        path = Path(str(module.__file__))
        places.add(path if path.parent.name == "methods" else path.parent)
    return [lines(place.rglob("*.py") if place.is_dir() else iter([place])) for place in places]


def classes(room: str) -> list[int]:
    """Return the number of lines of each class in the folder `room` of cvxml/family that computes a bound.

    Base classes are not counted.
    """
    found = []
    for path in (PACKAGE / "family" / room).glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not _is_base(node):
                own = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
                if own & {"conjugate", "limits", "conjugate_at", "bound"}:
                    found.append((node.end_lineno or node.lineno) - node.lineno + 1)
    return found


def _is_base(node: ast.ClassDef) -> bool:
    """Return True if the class is a protocol, or has an abstract method."""
    marks = [mark for each in node.body if isinstance(each, ast.FunctionDef) for mark in each.decorator_list]
    names = {getattr(each, "id", "") for each in (*node.bases, *marks)}
    return bool(names & {"Protocol", "abstractmethod"})


def way(call: Callable[[], object]) -> tuple[int, int]:
    """Return how many files and how many functions of cvxml run during a call."""
    seen: set[tuple[str, str, int]] = set()

    def record(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(PACKAGE)) and not code.co_name.startswith("<"):
            seen.add((code.co_filename, code.co_name, code.co_firstlineno))

    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len({file for file, _, _ in seen}), len(seen)


def ways(method: str) -> dict[str, tuple[int, int]]:
    """Return `way` for `solve`, for a `check` that certifies, and for one that refutes, by name, on iris."""
    X, y = datasets.load("iris")
    X, y = X[::5], y[::5]
    solution = cvxml.solve(method, X, y)
    wrong = np.eye(X.shape[1])
    return {
        "solve": way(lambda: cvxml.solve(method, X, y)),
        "certified": way(lambda: cvxml.check(method, X, y, solution.metric)),
        "refuted": way(lambda: cvxml.check(method, X, y, wrong)),
    }


def room_of(module: str, order: tuple[str, ...], rooms: tuple[str, ...]) -> tuple[int, str] | None:
    """Return the place of a module's room in the order, and the room; None if the module is in no room.

    order: the folders of the package, lowest first. rooms: the folders of cvxml/family, lowest first.
    """
    parts = module.removeprefix("cvxml.").split(".")
    if parts[0] not in order:
        return None
    if parts[0] == "family":
        inner = parts[1] if len(parts) > 1 and parts[1] in rooms else ""
        return order.index("family") * 100 + (rooms.index(inner) if inner else 0), f"family/{inner}"
    return order.index(parts[0]) * 100, parts[0]


def arrows() -> tuple[set[str], set[tuple[str, str]], set[tuple[str, str]]]:
    """Return the rooms, the pairs (room, imported room), and those pairs that point up."""
    from tests.test_architecture import LAYERS, ROOMS, modules

    rooms, found, up = set(), set(), set()
    for name, imports in modules().items():
        here = room_of(name, LAYERS, ROOMS)
        if here is None:
            continue
        rooms.add(here[1])
        for other in imports:
            there = room_of(other, LAYERS, ROOMS) if other.startswith("cvxml.") else None
            if there is not None and there[1] != here[1]:
                found.add((here[1], there[1]))
                if there[0] > here[0]:
                    up.add((here[1], there[1]))
    return rooms, found, up


def main() -> None:
    """Print the figures of the module docstring."""
    for part, count in sizes().items():
        print(f"{part}: {count} lines")
    for what, each in (
        ("method", methods()),
        ("loss", classes("losses")),
        ("regularizer", classes("regularizers")),
    ):
        print(f"{what}: {len(each)}, median {statistics.median(each):g} lines, longest {max(each)}")
    warnings.simplefilter("ignore")
    for method in WAY:
        told = ", ".join(
            f"{name} {files} files and {count} functions" for name, (files, count) in ways(method).items()
        )
        print(f"{method}: {told}")
    rooms, found, up = arrows()
    print(
        f"{len(rooms)} rooms, {len(found)} arrows, {len(up)} of them up: {', '.join(map(' -> '.join, sorted(up)))}"
    )


if __name__ == "__main__":
    main()
